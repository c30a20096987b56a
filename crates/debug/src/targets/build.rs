//! Builds a program before it is debugged, and learns from cargo's messages where it is.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};
use stepwell_protocol::OutputStream;
use stepwell_workspace::process::Ending;

use super::error::{Result, TargetError};
use super::{binary, text};
use crate::launch_config::tasks::{TaskCommand, TaskOutput, TaskRun};
use crate::launch_config::{LaunchError, PlannedCommand, PlannedRun, Resolved, RunRole, shell_words};

/// Cargo's messages for the largest of workspaces are some megabytes.
const MOST_MESSAGES: usize = 64 * 1024 * 1024;
const MOST_TAIL: usize = 4 * 1024;
/// Test binaries that are asked for their tests.
const MOST_LISTED: usize = 200;

/// A command that makes the program to debug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildStep {
    pub program: String,
    pub arguments: Vec<String>,
    pub folder: PathBuf,
    pub environment: Vec<(String, Option<String>)>,
    pub(super) choice: Choice,
    /// Of several test programs the first that fails is taken; its path, once it is known.
    pub(super) first_failing: Option<Arc<OnceLock<PathBuf>>>,
}

/// Which of the programs built is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Program {
        name: Option<String>,
    },
    Tests {
        filter: Option<String>,
        exact: bool,
    },
    /// By the `filter` of CodeLLDB's `cargo` key.
    Artifact {
        name: Option<String>,
        kind: Option<String>,
    },
}

/// A program that cargo has built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    pub program: PathBuf,
    /// The name of the binary, or of the crate or file whose tests it has.
    pub name: String,
    /// What cargo calls it: `bin`, `lib`, `test`, `example`.
    pub kind: String,
    /// The folder of the package.
    pub package: PathBuf,
}

impl BuildStep {
    /// The build a configuration of CodeLLDB asks for with its `cargo` key.
    pub(crate) fn of_configuration(resolved: &Resolved) -> Result<Option<Self>> {
        let cargo = match resolved.arguments.get("cargo") {
            Some(cargo) if matches!(resolved.kind.as_str(), "lldb" | "codelldb") => cargo,
            _ => return Ok(None),
        };
        let bad =
            || TargetError::not_debuggable(&resolved.name, "its `cargo` key needs `args`, a list of texts");
        // The key may be the list of arguments itself.
        let written = if cargo.is_array() { Some(cargo) } else { cargo.get("args") };
        let words = written.and_then(Value::as_array).ok_or_else(bad)?;
        let mut arguments: Vec<String> =
            words.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
        let command = arguments.first().cloned().ok_or_else(bad)?;
        if arguments.len() != words.len() || command == "run" {
            return Err(bad());
        }
        arguments.insert(1, "--message-format=json-render-diagnostics".to_owned());
        if command == "test" && !arguments.iter().any(|word| word == "--no-run") {
            arguments.insert(1, "--no-run".to_owned());
        }
        let texts = |fields: Option<&Value>| fields.and_then(Value::as_object).cloned().unwrap_or_default();
        let environment = texts(cargo.get("env"));
        let filter = texts(cargo.get("filter"));
        let of_filter = |key: &str| filter.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
        let folder = cargo
            .get("cwd")
            .and_then(Value::as_str)
            .map_or_else(|| resolved.folder.clone(), |cwd| resolved.folder.join(cwd));
        Ok(Some(Self {
            program: "cargo".to_owned(),
            arguments,
            folder,
            environment: environment
                .into_iter()
                .map(|(name, value)| (name, value.as_str().map(ToOwned::to_owned)))
                .collect(),
            choice: Choice::Artifact { name: of_filter("name"), kind: of_filter("kind") },
            first_failing: None,
        }))
    }

    /// Takes the first that fails where several test programs are built. Clones share what was found.
    pub(crate) fn take_first_failing(&mut self) {
        self.first_failing = Some(Arc::default());
    }

    /// What a person is shown before it is run.
    pub fn runs(&self) -> PlannedRun {
        let line = self.command_line();
        PlannedRun {
            role: RunRole::Task,
            key: "build".to_owned(),
            text: format!("{line} (in {})", self.folder.display()),
            command: Some(PlannedCommand { line, folder: self.folder.clone() }),
            warning: None,
        }
    }

    /// The command line as one would type it.
    pub fn command_line(&self) -> String {
        shell_words::joined(std::iter::once(&self.program).chain(&self.arguments).map(String::as_str))
    }

    /// What the build's standard output says was built, only what can be meant.
    pub fn read(&self, messages: &str) -> Vec<Built> {
        messages
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter_map(|line| self.artifact(&line))
            .collect()
    }

    fn artifact(&self, message: &Value) -> Option<Built> {
        if message.get("reason")?.as_str()? != "compiler-artifact" {
            return None;
        }
        let program = PathBuf::from(message.get("executable")?.as_str()?);
        let target = message.get("target")?;
        let kind = target.get("kind")?.get(0)?.as_str()?.to_owned();
        let name = target.get("name")?.as_str()?.to_owned();
        let is_test = message.get("profile")?.get("test")?.as_bool()?;
        let fits = match &self.choice {
            Choice::Program { name: None } => !is_test && kind == "bin",
            Choice::Program { name: Some(wanted) } => !is_test && name == *wanted,
            Choice::Tests { .. } => is_test,
            Choice::Artifact { name: wanted, kind: wanted_kind } => {
                wanted.as_ref().is_none_or(|wanted| name == *wanted)
                    && wanted_kind.as_ref().is_none_or(|wanted| kind == *wanted)
            }
        };
        let manifest = message.get("manifest_path").and_then(Value::as_str).unwrap_or_default();
        let package = Path::new(manifest).parent().unwrap_or(Path::new("")).to_path_buf();
        fits.then_some(Built { program, name, kind, package })
    }

    /// Builds, finds the one program that is meant, and puts it into the configuration. Gives warnings about it.
    pub async fn build(&self, resolved: &mut Resolved, run: &TaskRun) -> Result<Vec<String>> {
        let command = TaskCommand {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            folder: self.folder.clone(),
            environment: self.environment.clone(),
            shown: self.command_line(),
            background: None,
        };
        let messages = carry_out(&command, run).await?;
        let built = self.choose(self.read(&messages), &resolved.arguments, run).await?;
        let fields = &mut resolved.arguments;
        fields.insert("program".to_owned(), json!(text(&built.program)));
        if matches!(self.choice, Choice::Tests { .. }) && !built.package.as_os_str().is_empty() {
            // Cargo runs tests in the folder of their package and tells them so.
            fields.insert("cwd".to_owned(), json!(text(&built.package)));
            let variables = fields.entry("env").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(variables) = variables {
                variables.entry("CARGO_MANIFEST_DIR").or_insert(json!(text(&built.package)));
            }
        }
        Ok(match binary::FileKind::of(&built.program)? {
            binary::FileKind::Binary(binary) => binary::warnings(&binary, &built.name),
            _ => Vec::new(),
        })
    }

    async fn choose(
        &self,
        mut built: Vec<Built>,
        fields: &Map<String, Value>,
        run: &TaskRun,
    ) -> Result<Built> {
        let detail = match &self.choice {
            Choice::Tests { filter: Some(filter), exact } if built.len() > 1 => {
                let mut with_test = Vec::new();
                for candidate in built.into_iter().take(MOST_LISTED) {
                    if has_test(&candidate, filter, *exact, self, run).await? {
                        with_test.push(candidate);
                    }
                }
                built = with_test;
                format!(": no test matches `{filter}`")
            }
            Choice::Program { name: None } if built.len() > 1 => {
                if let Some(wanted) = default_run(&built[0].package) {
                    built.retain(|candidate| candidate.name == wanted);
                }
                String::new()
            }
            _ => String::new(),
        };
        if let (Choice::Tests { .. }, Some(known), true) =
            (&self.choice, &self.first_failing, built.len() > 1)
        {
            return self.first_failing(built, known, fields, run).await;
        }
        if built.len() > 1 {
            built.sort_by(|one, other| one.name.cmp(&other.name));
            let flag = |built: &Built| match built.kind.as_str() {
                "bin" => format!("`--bin {}`", built.name),
                "test" => format!("`--test {}`", built.name),
                "example" => format!("`--example {}`", built.name),
                _ => format!("`-p {} --lib`", built.name),
            };
            return Err(TargetError::Ambiguous {
                what: "what to debug".to_owned(),
                choices: built.iter().map(flag).collect(),
            });
        }
        built.pop().ok_or(TargetError::NothingBuilt { detail })
    }

    /// Runs test programs in cargo's order until one does not pass, and returns that; the last where all pass.
    async fn first_failing(
        &self,
        mut built: Vec<Built>,
        known: &OnceLock<PathBuf>,
        fields: &Map<String, Value>,
        run: &TaskRun,
    ) -> Result<Built> {
        let order = |built: &Built| ["lib", "bin", "test"].iter().position(|kind| *kind == built.kind);
        built.sort_by_key(|one| (order(one).unwrap_or(3), one.name.clone()));
        if let Some(at) = built.iter().position(|one| known.get() == Some(&one.program)) {
            return Ok(built.swap_remove(at));
        }
        let words = fields.get("args").and_then(Value::as_array).into_iter().flatten();
        let arguments: Vec<String> = words.filter_map(Value::as_str).map(ToOwned::to_owned).collect();
        // The debugger shows their output again.
        let quiet = TaskRun { on_output: Arc::new(|_| {}), ..run.clone() };
        let mut last = None;
        for candidate in built {
            let mut environment = self.environment.clone();
            environment.push(("CARGO_MANIFEST_DIR".to_owned(), Some(text(&candidate.package))));
            let command = TaskCommand {
                program: text(&candidate.program),
                arguments: arguments.clone(),
                folder: candidate.package.clone(),
                environment,
                shown: format!("the tests of {}", candidate.name),
                background: None,
            };
            let passed = match carry_out(&command, &quiet).await {
                Ok(_) => true,
                Err(TargetError::Launch(
                    LaunchError::TaskFailed { .. } | LaunchError::TaskTimedOut { .. },
                )) => false,
                Err(error) => return Err(error),
            };
            if !passed {
                known.set(candidate.program.clone()).ok();
                return Ok(candidate);
            }
            last = Some(candidate);
        }
        last.ok_or_else(|| TargetError::NothingBuilt { detail: String::new() })
    }
}

/// The binary that `cargo run` takes of several.
fn default_run(package: &Path) -> Option<String> {
    let manifest = stepwell_workspace::files::read_if_exists(&package.join("Cargo.toml")).ok()??;
    let value = manifest
        .lines()
        .find_map(|line| line.trim().strip_prefix("default-run")?.trim().strip_prefix('='))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

/// Asks a test binary for its tests.
async fn has_test(built: &Built, filter: &str, exact: bool, step: &BuildStep, run: &TaskRun) -> Result<bool> {
    let mut arguments = vec![filter.to_owned(), "--list".to_owned(), "--format=terse".to_owned()];
    arguments.extend(exact.then(|| "--exact".to_owned()));
    let command = TaskCommand {
        program: text(&built.program),
        arguments,
        folder: built.package.clone(),
        environment: step.environment.clone(),
        shown: String::new(),
        background: None,
    };
    // A harness of its own may not know how to list; then it has no test by that name for us.
    match carry_out(&command, run).await {
        Ok(listed) => Ok(listed.lines().any(|line| line.ends_with(": test") || line.ends_with(": bench"))),
        Err(TargetError::Launch(LaunchError::TaskFailed { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Runs a command to its end and gives its standard output; the rest is passed on.
async fn carry_out(command: &TaskCommand, run: &TaskRun) -> Result<String> {
    let label = if command.shown.is_empty() { &command.program } else { &command.shown };
    let mut output = String::new();
    let mut tail = String::new();
    let mut on_output = |stream, piece: &str| match stream {
        OutputStream::Stdout => {
            if output.len() + piece.len() <= MOST_MESSAGES {
                output.push_str(piece);
            }
        }
        OutputStream::Stderr => {
            tail.push_str(piece);
            let cut = tail.len().saturating_sub(MOST_TAIL);
            let cut = (cut..=tail.len()).find(|cut| tail.is_char_boundary(*cut)).unwrap_or(0);
            tail.drain(..cut);
            (run.on_output)(TaskOutput { label, stream, text: piece });
        }
    };
    let ending = run.runner.run(command, run.time_limit, &run.cancel, &mut on_output).await?;
    let label = label.clone();
    let how = match ending {
        Ending::Exited(0) => return Ok(output),
        Ending::Exited(code) => format!("ended with exit code {code}"),
        Ending::Signalled(signal) => format!("was ended by signal {signal}"),
        Ending::TimedOut => {
            return Err(
                LaunchError::TaskTimedOut { label, awaited: "done", limit: run.time_limit, tail }.into()
            );
        }
        Ending::Cancelled => return Err(LaunchError::TaskCancelled { label }.into()),
    };
    Err(LaunchError::TaskFailed { label, how, tail }.into())
}
