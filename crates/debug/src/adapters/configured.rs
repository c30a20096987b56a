//! Debuggers that are named by their command alone: those of the settings, and Ruby's and Bash's own.
//!
//! Nothing is known of their ways, so Stepwell relies on as little as the protocol allows: it counts hits and prints log
//! messages itself.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};

use super::{
    Adapter, AdapterKind, How, Located, LogDialect, Manners, Reach, Search, manners, missing, text_argument,
};
use crate::Result;

/// A debugger by its command. In its words `{socket}` or `{port}` stands for where it must listen, `{program}` for what is
/// debugged, and a word `{args}` for its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfiguredAdapter {
    pub name: String,
    pub command: Vec<String>,
    /// Values of `type` that it serves; its name by default.
    pub types: Vec<String>,
    /// It is told to attach, whatever the configuration says: its command runs the program by itself.
    pub always_attaches: bool,
    /// What to do where its command is not found.
    pub hint: String,
}

impl ConfiguredAdapter {
    /// This adapter for as long as Stepwell runs; the same one for the same words, so that nothing grows.
    pub fn kept(self) -> &'static Self {
        static KEPT: Mutex<Vec<&'static ConfiguredAdapter>> = Mutex::new(Vec::new());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.iter().find(|known| ***known == self) {
            return known;
        }
        let new: &'static Self = Box::leak(Box::new(self));
        kept.push(new);
        new
    }

    pub fn serves(&self, kind: &str) -> bool {
        self.name == kind || self.types.iter().any(|known| known == kind)
    }

    /// Whether its command runs the program by itself, so that it cannot be started without one.
    pub fn needs_program(&self) -> bool {
        self.command.iter().any(|word| word.contains("{program}"))
    }

    /// Ruby's own debugger.
    pub(super) fn rdbg() -> &'static Self {
        let words = ["rdbg", "--open", "--sock-path={socket}", "--", "{program}", "{args}"];
        Self {
            name: "rdbg".to_owned(),
            command: words.map(str::to_owned).to_vec(),
            types: Vec::new(),
            always_attaches: true,
            hint: "install it: `gem install debug` or `apt install ruby`".to_owned(),
        }
        .kept()
    }

    /// A debugger for Bash scripts that is a package of PyPI.
    pub(super) fn bash() -> &'static Self {
        Self {
            name: "bash".to_owned(),
            command: vec!["bash-dap".to_owned()],
            types: Vec::new(),
            always_attaches: false,
            hint: "install it: `pip install bash-dap`".to_owned(),
        }
        .kept()
    }
}

impl Adapter for ConfiguredAdapter {
    fn kind(&self) -> AdapterKind {
        AdapterKind::Configured(self.clone().kept())
    }

    fn locate(&self, search: &Search, arguments: &Map<String, Value>) -> Result<Located> {
        let (program, words) = self.command.split_first().ok_or_else(|| {
            missing(self.kind(), "its command is empty", "look at `debug.custom` in your settings")
        })?;
        let given = PathBuf::from(program);
        // Debian gives Ruby's debugger a number.
        let numbered: Vec<String> = (0..=9).rev().map(|minor| format!("{program}3.{minor}")).collect();
        let names: Vec<&str> =
            std::iter::once(program.as_str()).chain(numbered.iter().map(String::as_str)).collect();
        let found =
            if given.is_absolute() { given.is_file().then_some(given) } else { search.program(&names) };
        let program = found.ok_or_else(|| {
            missing(self.kind(), format!("`{program}` is not installed"), self.hint.clone())
        })?;
        let debugged =
            ["program", "script", "mainClass"].iter().find_map(|key| text_argument(arguments, key));
        let mut filled: Vec<OsString> = Vec::new();
        for word in words {
            if word == "{args}" {
                let args = arguments.get("args").and_then(Value::as_array).into_iter().flatten();
                filled.extend(args.filter_map(Value::as_str).map(Into::into));
            } else {
                filled.push(word.replace("{program}", debugged.unwrap_or_default()).into());
            }
        }
        let environment = arguments.get("env").and_then(Value::as_object).into_iter().flatten();
        let environment =
            environment.filter_map(|(name, value)| Some((name.into(), value.as_str()?.into()))).collect();
        Ok(Located { program, arguments: filled, environment, version: None })
    }

    fn reach(&self) -> Reach {
        let says = |what: &str| self.command.iter().any(|word| word.contains(what));
        if says("{socket}") {
            Reach::Socket
        } else if says("{port}") {
            Reach::Port
        } else {
            Reach::Pipes
        }
    }

    fn with_address(&self, words: Vec<OsString>, address: &str) -> Vec<OsString> {
        let port = address.rsplit_once(':').map_or(address, |(_, port)| port);
        let fill = |word: OsString| match word.into_string() {
            Ok(word) => word.replace("{socket}", address).replace("{port}", port).into(),
            Err(word) => word,
        };
        words.into_iter().map(fill).collect()
    }

    fn adapter_id(&self) -> &'static str {
        &self.clone().kept().name
    }

    fn request(&self, how: How) -> How {
        if self.always_attaches { How::Attach } else { how }
    }

    fn folder(&self, arguments: &Map<String, Value>) -> Option<PathBuf> {
        text_argument(arguments, "cwd").map(PathBuf::from).filter(|folder| folder.is_dir())
    }

    fn manners(&self) -> &'static Manners {
        const APART: Manners = Manners {
            logs: LogDialect::Never,
            repl_is_command_line: false,
            scopes_follow_last_request: false,
            walks_plain_paths: false,
            pages_variables: false,
            exception_filters: &[],
            prints_for_the_program: false,
            closes_at_the_end: false,
            prints_late: false,
            clean_output: manners::as_it_is,
            passing_exceptions: &[],
        };
        const IN_THE_PROGRAM: Manners = Manners {
            prints_for_the_program: true,
            closes_at_the_end: true,
            clean_output: without_debuggers_lines,
            ..APART
        };
        if self.always_attaches { &IN_THE_PROGRAM } else { &APART }
    }
}

/// What Ruby's debugger says of itself.
fn without_debuggers_lines(output: &str) -> Cow<'_, str> {
    if !output.contains("DEBUGGER: ") {
        return Cow::Borrowed(output);
    }
    Cow::Owned(output.split_inclusive('\n').filter(|line| !line.starts_with("DEBUGGER: ")).collect())
}
