//! Which debug adapters there are, and which of them can stand in for a `type` of VS Code.

use std::fmt;
use std::str::FromStr;

use super::ConfiguredAdapter;

/// A debug adapter we know how to start and to talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AdapterKind {
    Debugpy,
    LldbDap,
    CodeLldb,
    Gdb,
    Delve,
    JsDebug,
    /// Node's own inspector, spoken to directly.
    Node,
    /// Known by its command alone.
    Configured(&'static ConfiguredAdapter),
}

impl AdapterKind {
    /// The adapters that can serve a configuration of this `type`, the best first; none for a type we do not know. What the
    /// person configured goes before what is built in.
    pub fn from_type(kind: &str, configured: &[&'static ConfiguredAdapter]) -> Vec<Self> {
        let own =
            configured.iter().filter(|adapter| adapter.serves(kind)).map(|adapter| Self::Configured(adapter));
        let mut kinds: Vec<Self> = own.collect();
        kinds.extend(Self::built_in_for(kind));
        match kind {
            "rdbg" | "ruby_lsp" | "ruby" => kinds.push(Self::Configured(ConfiguredAdapter::rdbg())),
            "bashdb" | "bash" => kinds.push(Self::Configured(ConfiguredAdapter::bash())),
            _ => {}
        }
        kinds
    }

    fn built_in_for(kind: &str) -> &'static [Self] {
        match kind {
            "python" | "debugpy" => &[Self::Debugpy],
            "lldb" | "codelldb" => &[Self::CodeLldb, Self::LldbDap, Self::Gdb],
            "lldb-dap" | "lldb-vscode" => &[Self::LldbDap, Self::CodeLldb, Self::Gdb],
            "cppdbg" | "gdb" => &[Self::Gdb, Self::LldbDap, Self::CodeLldb],
            "go" | "delve" => &[Self::Delve],
            // What Node alone cannot do is left to js-debug, by the configuration.
            "node" | "pwa-node" | "node2" => &[Self::Node, Self::JsDebug],
            "js-debug" | "node-terminal" | "pwa-extensionHost" | "extensionHost" | "chrome"
            | "pwa-chrome" | "msedge" | "pwa-msedge" => &[Self::JsDebug],
            _ => &[],
        }
    }

    /// Those that are built in.
    pub const BUILT_IN: [Self; 7] =
        [Self::Debugpy, Self::LldbDap, Self::CodeLldb, Self::Gdb, Self::Delve, Self::Node, Self::JsDebug];

    pub fn languages(self) -> &'static [&'static str] {
        match self {
            Self::Debugpy => &["Python"],
            Self::LldbDap | Self::CodeLldb | Self::Gdb => &["C", "C++", "Rust"],
            Self::Delve => &["Go"],
            Self::JsDebug | Self::Node => &["JavaScript", "TypeScript"],
            Self::Configured(adapter) => match adapter.name.as_str() {
                "rdbg" => &["Ruby"],
                "bash" => &["Bash"],
                _ => &[],
            },
        }
    }

    /// Every adapter there is: what is built in, what is known by its command, what the person configured.
    pub fn all(configured: &[&'static ConfiguredAdapter]) -> Vec<Self> {
        let known = [ConfiguredAdapter::rdbg(), ConfiguredAdapter::bash()];
        let others = known.into_iter().chain(configured.iter().copied()).map(Self::Configured);
        Self::BUILT_IN.into_iter().chain(others).collect()
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
            Self::Node => "node",
            Self::Configured(adapter) => &adapter.name,
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
        let known = || Self::BUILT_IN.map(Self::name).join(", ");
        Self::BUILT_IN
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
        for kind in AdapterKind::BUILT_IN {
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
            ("node", "node js-debug"),
            ("pwa-node", "node js-debug"),
            ("js-debug", "js-debug"),
            ("node-terminal", "js-debug"),
            ("chrome", "js-debug"),
            ("rdbg", "rdbg"),
            ("ruby_lsp", "rdbg"),
            ("java", ""),
            ("bashdb", "bash"),
            ("perl", "mine"),
            ("cppvsdbg", ""),
            ("coreclr", ""),
        ];
        let mine = ConfiguredAdapter {
            name: "mine".to_owned(),
            types: vec!["perl".to_owned(), "python".to_owned()],
            ..ConfiguredAdapter::default()
        };
        let mine = [mine.kept()];
        let names = |kinds: Vec<AdapterKind>| -> String {
            kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(AdapterKind::from_type("python", &mine)), "mine debugpy");
        for (kind, adapters) in rows {
            let mine: &[&ConfiguredAdapter] = if kind == "perl" { &mine } else { &[] };
            let found: Vec<_> =
                names(AdapterKind::from_type(kind, mine)).split(' ').map(str::to_owned).collect();
            assert_eq!(found.join(" "), adapters, "{kind}");
        }
    }
}
