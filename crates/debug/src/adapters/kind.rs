//! Which debug adapters there are, and which of them can stand in for a `type` of VS Code.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A debug adapter we know how to start and to talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdapterKind {
    Debugpy,
    LldbDap,
    #[serde(rename = "codelldb")]
    CodeLldb,
    Gdb,
    Delve,
    JsDebug,
    Rdbg,
    Java,
    Bash,
}

impl AdapterKind {
    pub const ALL: [Self; 9] = [
        Self::Debugpy,
        Self::LldbDap,
        Self::CodeLldb,
        Self::Gdb,
        Self::Delve,
        Self::JsDebug,
        Self::Rdbg,
        Self::Java,
        Self::Bash,
    ];

    /// The adapters that can serve a configuration of this `type`, the best first; none for a type we do not know.
    pub fn from_type(kind: &str) -> &'static [Self] {
        match kind {
            "python" | "debugpy" => &[Self::Debugpy],
            "lldb" | "codelldb" => &[Self::CodeLldb, Self::LldbDap, Self::Gdb],
            "lldb-dap" | "lldb-vscode" => &[Self::LldbDap, Self::CodeLldb, Self::Gdb],
            "cppdbg" | "gdb" => &[Self::Gdb, Self::LldbDap, Self::CodeLldb],
            "go" | "delve" => &[Self::Delve],
            "node" | "pwa-node" | "node2" | "node-terminal" | "pwa-extensionHost" | "extensionHost"
            | "chrome" | "pwa-chrome" | "msedge" | "pwa-msedge" => &[Self::JsDebug],
            "rdbg" | "ruby_lsp" | "ruby" => &[Self::Rdbg],
            "java" => &[Self::Java],
            "bashdb" | "bash" => &[Self::Bash],
            _ => &[],
        }
    }

    /// Those that are built in.
    pub const BUILT_IN: [Self; 6] =
        [Self::Debugpy, Self::LldbDap, Self::CodeLldb, Self::Gdb, Self::Delve, Self::JsDebug];

    pub fn languages(self) -> &'static [&'static str] {
        match self {
            Self::Debugpy => &["Python"],
            Self::LldbDap | Self::CodeLldb | Self::Gdb => &["C", "C++", "Rust"],
            Self::Delve => &["Go"],
            Self::JsDebug => &["JavaScript", "TypeScript"],
            Self::Rdbg => &["Ruby"],
            Self::Java => &["Java"],
            Self::Bash => &["Bash"],
        }
    }

    /// The name people read and write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Debugpy => "debugpy",
            Self::LldbDap => "lldb-dap",
            Self::CodeLldb => "codelldb",
            Self::Gdb => "gdb",
            Self::Delve => "delve",
            Self::JsDebug => "js-debug",
            Self::Rdbg => "rdbg",
            Self::Java => "java",
            Self::Bash => "bash",
        }
    }
}

impl fmt::Display for AdapterKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for AdapterKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| format!("there is no adapter `{name}`; known are {}", known()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_everywhere() {
        for kind in AdapterKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert!("windbg".parse::<AdapterKind>().unwrap_err().contains("lldb-dap"));
    }

    #[test]
    fn every_type_of_the_table_has_its_adapters() {
        let rows = [
            ("python", "debugpy"),
            ("debugpy", "debugpy"),
            ("lldb", "codelldb lldb-dap gdb"),
            ("lldb-dap", "lldb-dap codelldb gdb"),
            ("lldb-vscode", "lldb-dap codelldb gdb"),
            ("cppdbg", "gdb lldb-dap codelldb"),
            ("gdb", "gdb lldb-dap codelldb"),
            ("go", "delve"),
            ("node", "js-debug"),
            ("pwa-node", "js-debug"),
            ("node-terminal", "js-debug"),
            ("chrome", "js-debug"),
            ("rdbg", "rdbg"),
            ("ruby_lsp", "rdbg"),
            ("java", "java"),
            ("bashdb", "bash"),
            ("cppvsdbg", ""),
            ("coreclr", ""),
        ];
        for (kind, adapters) in rows {
            let found: Vec<_> = AdapterKind::from_type(kind).iter().map(|kind| kind.name()).collect();
            assert_eq!(found.join(" "), adapters, "{kind}");
        }
    }
}
