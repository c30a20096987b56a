//! The list of debug adapters, and which of them serve a `type` of launch.json.

use std::fmt;
use std::str::FromStr;

use super::{Adapter, ConfiguredAdapter};

/// Declares the built-in adapters. A new one is its file, its `mod` line in `adapters.rs`, and its line here.
macro_rules! built_in_adapters {
    ($($kind:ident => $adapter:expr,)*) => {
        /// A debug adapter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum AdapterKind {
            $($kind,)*
            /// Known by its command alone.
            Configured(&'static ConfiguredAdapter),
        }

        impl AdapterKind {
            /// The built-in adapters.
            pub(crate) const BUILT_IN: &'static [Self] = &[$(Self::$kind),*];

            /// Returns the definition of the adapter.
            pub fn adapter(self) -> &'static dyn Adapter {
                match self {
                    $(Self::$kind => &$adapter,)*
                    Self::Configured(adapter) => adapter,
                }
            }
        }
    };
}

built_in_adapters! {
    Debugpy => super::debugpy::Debugpy,
    LldbDap => super::lldb_dap::LldbDap,
    CodeLldb => super::codelldb::CodeLldb,
    Gdb => super::gdb::Gdb,
    Delve => super::delve::Delve,
    Node => super::node::Node,
    JsDebug => super::js_debug::JsDebug,
}

impl AdapterKind {
    /// Returns the adapters that can serve a configuration of this `type`, the best first; none for an unknown type. What
    /// the person configured comes before what is built in.
    pub fn from_type(kind: &str, configured: &[&'static ConfiguredAdapter]) -> Vec<Self> {
        let rank = |adapter: &Self| {
            let types = adapter.adapter().types();
            types.iter().find(|(served, _)| *served == kind).map(|(_, rank)| *rank)
        };
        let mut built_in: Vec<(u8, Self)> =
            Self::BUILT_IN.iter().filter_map(|adapter| Some((rank(adapter)?, *adapter))).collect();
        built_in.sort_by_key(|(rank, _)| *rank);
        let serves = |adapter: &&&'static ConfiguredAdapter| adapter.serves(kind);
        let own = configured.iter().filter(serves).map(|adapter| Self::Configured(adapter));
        let known = ConfiguredAdapter::known();
        let known = known.iter().filter(serves).map(|adapter| Self::Configured(adapter));
        own.chain(built_in.into_iter().map(|(_, adapter)| adapter)).chain(known).collect()
    }

    /// Returns the languages it debugs.
    pub fn languages(self) -> &'static [&'static str] {
        self.adapter().languages()
    }

    /// Returns every adapter there is: built in, known by its command, configured by the person.
    pub fn all(configured: &[&'static ConfiguredAdapter]) -> Vec<Self> {
        let by_command = ConfiguredAdapter::known().into_iter().chain(configured.iter().copied());
        Self::BUILT_IN.iter().copied().chain(by_command.map(Self::Configured)).collect()
    }

    /// Returns the name that people read and write.
    pub fn name(self) -> &'static str {
        self.adapter().name()
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
        let known = || Self::BUILT_IN.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        let found = Self::BUILT_IN.iter().copied().find(|kind| kind.name() == name);
        found.ok_or_else(|| format!("there is no adapter `{name}`; known are {}", known()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_everywhere() {
        for kind in AdapterKind::BUILT_IN {
            assert_eq!(kind.name().parse(), Ok(*kind));
            assert_eq!(kind.adapter().kind(), *kind);
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
        let mine = [mine.interned()];
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
