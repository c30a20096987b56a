//! Adapters that are named by their command alone: those of the settings, Ruby's and Bash's.
//!
//! Nothing else is known of them, so Stepwell relies on plain breakpoints: it counts hits and prints log messages itself.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};

use super::{
    Adapter, AdapterKind, AdapterQuirks, Located, Search, StartMode, Transport, missing, text_argument,
};
use crate::Result;
use crate::launch_config::resolve::text;
use crate::launch_config::translate::{
    Translated, absolute_program, arguments_list, bad, leave_out, script_arguments,
};
use crate::launch_config::{self, Request, Resolved};
use crate::output::OutputCategory;

/// An adapter by its command. In it `{socket}` or `{port}` stands for the address to listen on, `{program}` for the
/// program, and an argument `{args}` for the program's arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfiguredAdapter {
    pub name: String,
    pub command: Vec<String>,
    /// Values of `type` that it serves; its name by default.
    pub types: Vec<String>,
    /// Send `attach` always: its command runs the program.
    pub always_attaches: bool,
    /// What to do where its command is not found.
    pub hint: String,
    /// The languages it debugs, where they are known.
    pub languages: &'static [&'static str],
}

impl ConfiguredAdapter {
    /// Returns a copy that lives as long as the process, the same one for equal adapters.
    pub fn interned(self) -> &'static Self {
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

    /// The adapters that are known by their command alone.
    pub(super) fn known() -> [&'static Self; 2] {
        [Self::rdbg(), Self::bash()]
    }

    /// Ruby's own debugger.
    fn rdbg() -> &'static Self {
        let words = ["rdbg", "--open", "--sock-path={socket}", "--", "{program}", "{args}"];
        Self {
            name: "rdbg".to_owned(),
            command: words.map(str::to_owned).to_vec(),
            types: vec!["ruby_lsp".to_owned(), "ruby".to_owned()],
            always_attaches: true,
            hint: "install it: `gem install debug` or `apt install ruby`".to_owned(),
            languages: &["Ruby"],
        }
        .interned()
    }

    /// A debugger for Bash scripts that is a package of PyPI.
    fn bash() -> &'static Self {
        Self {
            name: "bash".to_owned(),
            command: vec!["bash-dap".to_owned()],
            types: vec!["bashdb".to_owned()],
            always_attaches: false,
            hint: "install it: `pip install bash-dap`".to_owned(),
            languages: &["Bash"],
        }
        .interned()
    }
}

impl Adapter for ConfiguredAdapter {
    fn kind(&self) -> AdapterKind {
        AdapterKind::Configured(self.clone().interned())
    }

    fn name(&self) -> &'static str {
        &self.clone().interned().name
    }

    fn languages(&self) -> &'static [&'static str] {
        self.languages
    }

    /// Its types are not known before the settings are read: see [`ConfiguredAdapter::serves`].
    fn types(&self) -> &'static [(&'static str, u8)] {
        &[]
    }

    fn starts_only_with_program(&self) -> bool {
        self.command.iter().any(|word| word.contains("{program}"))
    }

    fn translate(&self, resolved: &Resolved) -> launch_config::Result<Translated> {
        match resolved.kind.as_str() {
            "rdbg" | "ruby_lsp" | "ruby" => rdbg(resolved),
            "java" => java(resolved),
            "bashdb" | "bash" => bash(resolved),
            _ => as_written(resolved),
        }
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

    fn reach(&self) -> Transport {
        let says = |what: &str| self.command.iter().any(|word| word.contains(what));
        if says("{socket}") {
            Transport::Socket
        } else if says("{port}") {
            Transport::Port
        } else {
            Transport::Pipes
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
        self.name()
    }

    fn request(&self, how: StartMode) -> StartMode {
        if self.always_attaches { StartMode::Attach } else { how }
    }

    fn folder(&self, arguments: &Map<String, Value>) -> Option<PathBuf> {
        text_argument(arguments, "cwd").map(PathBuf::from).filter(|folder| folder.is_dir())
    }

    fn quirks(&self) -> &'static AdapterQuirks {
        const IN_THE_PROGRAM: AdapterQuirks = AdapterQuirks {
            stdio_is_program_output: true,
            closes_at_exit: true,
            clean_output: without_debuggers_lines,
            ..AdapterQuirks::NONE
        };
        if self.always_attaches { &IN_THE_PROGRAM } else { &AdapterQuirks::NONE }
    }
}

/// Removes the messages of Ruby's debugger.
fn without_debuggers_lines(_: OutputCategory, output: &str) -> Cow<'_, str> {
    if !output.contains("DEBUGGER: ") {
        return Cow::Borrowed(output);
    }
    Cow::Owned(output.split_inclusive('\n').filter(|line| !line.starts_with("DEBUGGER: ")).collect())
}

fn rdbg(resolved: &Resolved) -> launch_config::Result<Translated> {
    let mut arguments = script_arguments(resolved)?;
    // The language server's extension writes a whole command line into `program`.
    if let Some(line) =
        arguments.shift_remove("program").and_then(|line| line.as_str().map(ToOwned::to_owned))
    {
        let mut words = arguments_list(resolved, Some(json!(line)))?.into_iter().peekable();
        if words.next_if(|word| word == "ruby").is_none()
            && let Some(command) =
                words.next_if(|word| Path::new(word).extension().is_none_or(|end| end != "rb"))
        {
            arguments.insert("command".to_owned(), json!(command));
        }
        if let Some(script) = words.next() {
            arguments.insert("script".to_owned(), json!(script));
        }
        let rest: Vec<String> = words.collect();
        if !rest.is_empty() {
            arguments.insert("args".to_owned(), json!(rest));
        }
    }
    if resolved.request == Request::Launch
        && !arguments.contains_key("script")
        && !arguments.contains_key("command")
    {
        return Err(bad(resolved, "names no `script`".to_owned()));
    }
    let debugger = text(&arguments, "rdbgPath");
    arguments.insert("localfs".to_owned(), json!(true));
    Ok(Translated { arguments, debugger, request: resolved.request, ..Translated::default() })
}

/// Passes a configuration on as it is written.
fn as_written(resolved: &Resolved) -> launch_config::Result<Translated> {
    let arguments = script_arguments(resolved)?;
    Ok(Translated { arguments, request: resolved.request, ..Translated::default() })
}

fn java(resolved: &Resolved) -> launch_config::Result<Translated> {
    let mut arguments = script_arguments(resolved)?;
    if resolved.request == Request::Launch && text(&arguments, "mainClass").is_none() {
        return Err(bad(resolved, "names no `mainClass`".to_owned()));
    }
    // Java's extension lists the class path; a virtual machine takes one text.
    let paths: Vec<_> = arguments
        .get("classPaths")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    // `$Auto` and its like stand for what the extension computes.
    let paths: Vec<_> = paths.into_iter().filter(|path| !path.starts_with('$')).collect();
    if !paths.is_empty() {
        let joined = paths.join(":");
        arguments.insert("classpath".to_owned(), json!(joined));
    }
    let debugger = text(&arguments, "javaExec");
    Ok(Translated { arguments, debugger, request: resolved.request, ..Translated::default() })
}

fn bash(resolved: &Resolved) -> launch_config::Result<Translated> {
    let mut arguments = script_arguments(resolved)?;
    if resolved.request == Request::Attach {
        return Err(bad(resolved, "attaches, which a shell script's debugger cannot".to_owned()));
    }
    if text(&arguments, "program").is_none_or(|program| program.is_empty()) {
        return Err(bad(resolved, "names no `program`".to_owned()));
    }
    absolute_program(resolved, &mut arguments);
    let debugger = text(&arguments, "pathBash");
    let mut notes = Vec::new();
    arguments.shift_remove("pathBash");
    let keys = ["pathBashdb", "pathBashdbLib", "pathCat", "pathMkfifo", "pathPkill", "terminalKind"];
    leave_out(&mut arguments, &keys, "bash-dap", &mut notes);
    Ok(Translated { arguments, debugger, notes, request: resolved.request, ..Translated::default() })
}
