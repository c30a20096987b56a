//! Variables that the person keeps for programs. The model learns names, never values: a value goes from the encrypted
//! store into the environment of commands, once the person lets the task have it.

mod check;
mod get;
mod request;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fmt::Debug;
use std::sync::Arc;

use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use stepwell_protocol::TaskId;
use stepwell_tool_runtime::ToolError;

pub use check::CheckEnvVars;
pub use get::GetEnvVar;
pub use request::RequestEnvVar;

/// Where values are kept, for tasks of one workspace.
pub trait VariableKeeper: Debug + Send + Sync {
    /// The names that are set, with who sees them: `project` or `person`.
    fn names(&self) -> Result<Vec<(String, &'static str)>, String>;

    fn value(&self, name: &str) -> Result<Option<SecretString>, String>;
}

/// The variables that each task may use.
#[derive(Clone, Debug)]
pub struct TaskVariables {
    keeper: Arc<dyn VariableKeeper>,
    loaded: Arc<Mutex<Loaded>>,
}

/// Values by task and name.
type Loaded = HashMap<TaskId, BTreeMap<String, SecretString>>;

impl TaskVariables {
    pub fn new(keeper: Arc<dyn VariableKeeper>) -> Self {
        Self { keeper, loaded: Arc::default() }
    }

    /// The environment that a task's commands get besides the usual one.
    pub(crate) fn environment(&self, task: &TaskId) -> Vec<(OsString, OsString)> {
        let loaded = self.loaded.lock();
        let of_task = loaded.get(task).into_iter().flatten();
        of_task.map(|(name, value)| (name.into(), value.expose_secret().into())).collect()
    }

    fn names(&self) -> Result<Vec<(String, &'static str)>, ToolError> {
        self.keeper.names().map_err(ToolError::execution)
    }

    fn value(&self, name: &str) -> Result<Option<SecretString>, ToolError> {
        self.keeper.value(name).map_err(ToolError::execution)
    }

    fn load(&self, task: &TaskId, name: &str, value: SecretString) {
        self.loaded.lock().entry(task.clone()).or_default().insert(name.to_owned(), value);
    }

    fn is_loaded(&self, task: &TaskId, name: &str) -> bool {
        self.loaded.lock().get(task).is_some_and(|names| names.contains_key(name))
    }
}

/// Whether a shell takes a word for the name of a variable.
fn checked_name(name: &str) -> Result<(), ToolError> {
    let mut letters = name.chars();
    let is_name = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && name.len() <= 128;
    if is_name {
        return Ok(());
    }
    Err(ToolError::parameter(format!("`{}` is no name of a variable", name.escape_debug())))
}

/// Names that decide which programs run, or with which code: a value for them would change more than one command.
fn checked_use(name: &str) -> Result<(), ToolError> {
    const STEERING: &[&str] = &[
        "PATH",
        "HOME",
        "SHELL",
        "IFS",
        "ENV",
        "BASH_ENV",
        "PROMPT_COMMAND",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
        "RUBYOPT",
        "PERL5OPT",
        "PERL5LIB",
        "CLASSPATH",
        "JAVA_TOOL_OPTIONS",
        "RUSTC_WRAPPER",
        "EDITOR",
        "PAGER",
    ];
    let name = name.to_ascii_uppercase();
    let steers = STEERING.contains(&name.as_str())
        || ["LD_", "DYLD_", "GIT_", "STEPWELL"].iter().any(|start| name.starts_with(start));
    if steers {
        return Err(ToolError::permission(format!("`{name}` steers programs and is not given to commands")));
    }
    Ok(())
}
