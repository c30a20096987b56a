//! Runs a command with a recorder inside its interpreter, in place of a debugger outside of it.
//!
//! Where a language lets code run at its start, a few lines of its own see every failure, the frames and which line set
//! each variable, in one run and nearly at the program's own speed. What they saw is written to a private folder, one
//! file per process, so that child processes and commands behind wrappers are seen too.

mod bash;
mod node;
mod python;
pub(crate) mod records;
mod ruby;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::process::{self, Ending, Environment, KeepOutput, ProgramCall, UserSignal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::failure::{StopSnapshot, without_debugger};
use crate::launch::LaunchPlan;
use crate::launch_config::Resolved;
use crate::sandbox::{Isolation, SessionSandbox, private_folder};
use crate::session::ProgramStdin;
use crate::values::without_escapes;
use crate::{Debugger, Error, Result, Wait};
pub(crate) use node::Probe;
use records::Record;

/// Output that is kept of each run.
const OUTPUT: usize = 256 * 1024;
/// Records that are read of one process.
const MOST_RECORDED: u64 = 32 * 1024 * 1024;
/// Disk space at which the beginning of a trace is given up: its end matters, and a script may run for hours.
const LONGEST_TRACE: u64 = 8 * 1024 * 1024;
/// Bytes at the end of a trace that are never given up.
const KEPT_TRACE: u64 = 2 * 1024 * 1024;
const LOOK_AT_SIZES: Duration = Duration::from_millis(100);
const MOST_PROCESSES: usize = 256;
/// How long a program that does not end may take to say where it is.
const HANG_ANSWER: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A command whose interpreter can be recorded.
#[derive(Clone, Debug)]
pub(crate) struct RecordedCommand {
    program: PathBuf,
    arguments: Vec<OsString>,
    folder: PathBuf,
    environment: Environment,
    language: RecordedLanguage,
    /// What the program reads on its standard input; nothing where it is empty.
    input: Vec<u8>,
    /// What a second run of Node looks at.
    probes: Vec<Probe>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordedLanguage {
    Python,
    Bash,
    Ruby,
    Node,
}

/// What a recorded run left.
#[derive(Debug)]
pub(crate) struct RecordedRun {
    pub ending: Ending,
    pub output: String,
    pub records: Vec<Record>,
    /// Where a program was that did not end, as a debugger saw it.
    pub hang: Option<StopSnapshot>,
}

/// Returns the command of a configuration, where its interpreter can be recorded.
pub(crate) fn command_of(resolved: &Resolved, debugger: &Debugger) -> Option<RecordedCommand> {
    match resolved.kind.as_str() {
        "python" | "debugpy" => python::command_of(resolved, &debugger.options().search),
        "bashdb" => bash::command_of(resolved, &debugger.options().search),
        "rdbg" => ruby::command_of(resolved, &debugger.options().search),
        "node" | "pwa-node" => node::command_of(resolved, &debugger.options().search),
        _ => None,
    }
}

/// Returns the command of a configuration for Node, also where a debugger runs it: what it sees is told by both, but only
/// the recorder sees a program end itself.
pub(crate) fn node_command_of(resolved: &Resolved, debugger: &Debugger) -> Option<RecordedCommand> {
    let is_node = matches!(resolved.kind.as_str(), "node" | "pwa-node");
    is_node.then(|| node::any_command_of(resolved, &debugger.options().search)).flatten()
}

impl RecordedCommand {
    pub(crate) fn with_input(mut self, stdin: &ProgramStdin) -> Self {
        if let ProgramStdin::Text(text) = stdin {
            self.input = text.as_bytes().to_vec();
        }
        self
    }

    pub(crate) fn language(&self) -> RecordedLanguage {
        self.language
    }

    /// Follows these functions alone, each given by its file and first line, and for longer.
    pub(crate) fn focus(&mut self, functions: &[(String, i64)]) {
        if self.language == RecordedLanguage::Python {
            python::focus(&mut self.environment, functions);
        }
    }
}

impl RecordedCommand {
    /// Records the values of names at lines instead of exceptions.
    pub(crate) fn follow(&mut self, probes: Vec<Probe>) {
        self.probes = probes;
    }
}

impl Debugger {
    /// Runs the command to its end, or until it is asked where it hangs.
    pub(crate) async fn run_recorded(
        &self,
        command: &RecordedCommand,
        plan: &LaunchPlan,
        wait: &Wait,
    ) -> Result<RecordedRun> {
        let sandbox = match &plan.sandbox {
            Some(source) => Some(Isolation::new(Arc::clone(source)).opened().await?.1),
            None => None,
        };
        let folder = private_folder("stepwell-record-", sandbox.as_deref());
        let folder = folder.map_err(|error| Error::Launch {
            reason: format!("no folder for the recording can be made: {error}"),
            hint: None,
        })?;
        let mut environment = command.environment.clone();
        match command.language {
            RecordedLanguage::Python => {
                python::instrument(&mut environment, folder.path(), &self.options().search)?;
            }
            RecordedLanguage::Bash => bash::instrument(&mut environment, folder.path())?,
            RecordedLanguage::Ruby => ruby::instrument(&mut environment, folder.path())?,
            RecordedLanguage::Node => {
                node::instrument(&mut environment, folder.path(), &self.options().search, &command.probes)?;
            }
        }
        environment.removed.extend(self.options().removed_variables.iter().map(Into::into));
        let mut call = ProgramCall {
            program: command.program.clone().into(),
            arguments: command.arguments.clone(),
            folder: command.folder.clone(),
            environment,
            input: Some(command.input.clone()),
            time_limit: wait.deadline.saturating_duration_since(Instant::now()) + 2 * HANG_ANSWER,
            keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
        };
        plan.secrets.expand_call(&mut call);
        let call = self.shared.wrapped_command(call, sandbox.as_deref());
        let cancel = wait.cancel.child_token();
        let mut output = String::new();
        let mut seen_hang = None;
        let run = process::run(call, &cancel, |_, text| push_bounded(&mut output, text));
        let finished = {
            tokio::pin!(run);
            tokio::select! {
                finished = &mut run => finished,
                never = bound_traces(folder.path()) => match never {},
                () = tokio::time::sleep_until(wait.deadline) => {
                    let hang = async {
                        if command.language == RecordedLanguage::Node && sandbox.is_none() {
                            seen_hang = self.snapshot_of_node(recorded_processes(folder.path()), plan).await;
                        } else {
                            ask_where_it_hangs(command.language, folder.path(), sandbox.as_deref(), &cancel).await;
                        }
                    };
                    tokio::pin!(hang);
                    tokio::select! {
                        // It ended by itself after all.
                        finished = &mut run => finished,
                        () = &mut hang => {
                            cancel.cancel();
                            run.await
                        }
                    }
                }
            }
        }?;
        if let Some(sandbox) = &sandbox {
            sandbox.close().await;
        }
        if wait.cancel.is_cancelled() {
            return Err(Error::State {
                what: "interrupted".to_owned(),
                hint: "nothing is left running".to_owned(),
            });
        }
        let ending = if finished.ending == Ending::Cancelled { Ending::TimedOut } else { finished.ending };
        let (output, records) = (without_debugger(&without_escapes(&output)), read_records(folder.path()));
        Ok(RecordedRun { ending, output, records, hang: seen_hang })
    }
}

/// Returns the variables that a configuration sets or removes.
fn environment_of(resolved: &Resolved) -> Environment {
    let mut environment = Environment::default();
    if let Some(Value::Object(variables)) = resolved.arguments.get("env") {
        for (name, value) in variables {
            match value {
                Value::Null => environment.removed.push(name.into()),
                Value::String(value) => environment.set.push((name.into(), value.into())),
                other => environment.set.push((name.into(), other.to_string().into())),
            }
        }
    }
    environment
}

/// Returns a list variable with an element before those it has.
fn leading(environment: &Environment, name: &str, first: &OsStr, separator: &str) -> OsString {
    let set = environment.set.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let inherited =
        || std::env::var_os(name).filter(|_| !environment.removed.iter().any(|gone| gone == name));
    let mut list = first.to_owned();
    if let Some(rest) = set.or_else(inherited).filter(|rest| !rest.is_empty()) {
        list.push(separator);
        list.push(rest);
    }
    list
}

/// Returns a list of words of a configuration.
fn words_of(resolved: &Resolved, name: &str) -> Vec<OsString> {
    let words = resolved.arguments.get(name).and_then(Value::as_array);
    words.into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
}

/// Keeps the end of the output, and what came first as long as it fits.
fn push_bounded(output: &mut String, text: &str) {
    output.push_str(text);
    if output.len() > 2 * OUTPUT {
        let cut = crate::output::floor_boundary(output, output.len() - OUTPUT);
        output.drain(..cut);
    }
}

/// Keeps traces of commands from taking up the disk. Only their beginning is given up: the end tells what failed.
async fn bound_traces(folder: &Path) -> std::convert::Infallible {
    let mut looks = tokio::time::interval(LOOK_AT_SIZES);
    loop {
        looks.tick().await;
        for path in files::list_dir(folder).unwrap_or_default() {
            let is_trace = path.extension().is_some_and(|end| end == "xtrace");
            let on_disk = |file: std::fs::Metadata| file.blocks() * 512;
            if is_trace && files::metadata(&path).is_ok_and(|file| on_disk(file) > LONGEST_TRACE) {
                files::free_beginning(&path, KEPT_TRACE).or_else(|_| files::empty(&path)).ok();
            }
        }
    }
}

/// Asks every recorded process for its frames and waits until one has answered.
async fn ask_where_it_hangs(
    language: RecordedLanguage,
    folder: &Path,
    sandbox: Option<&dyn SessionSandbox>,
    cancel: &CancellationToken,
) {
    // The others do not answer: bash takes the signal for its end, and its trace already says where it is.
    if language != RecordedLanguage::Python {
        return;
    }
    for pid in recorded_processes(folder) {
        // One that has ended, or handles the signal in its own way, is not asked.
        match sandbox {
            // The number counts inside alone.
            Some(sandbox) => sandbox.ask_by_user_signal(pid, UserSignal::Second).await.ok(),
            None => process::ask_by_user_signal(pid, UserSignal::Second).ok(),
        };
    }
    let mut looks = tokio::time::interval(LOOK_AGAIN);
    let answered = async {
        loop {
            if read_records(folder).iter().any(|record| matches!(record, Record::Hang(_))) {
                return;
            }
            looks.tick().await;
        }
    };
    tokio::select! {
        _ = tokio::time::timeout(HANG_ANSWER, answered) => {}
        () = cancel.cancelled() => {}
    }
}

/// Returns the processes that have written records, the last started first.
fn recorded_processes(folder: &Path) -> Vec<u32> {
    let records = files::list_dir(folder).unwrap_or_default().into_iter();
    let records = records.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let number = |path: PathBuf| path.file_stem()?.to_str()?.parse().ok();
    let mut pids: Vec<u32> = records.filter_map(number).take(MOST_PROCESSES).collect();
    pids.sort_unstable_by(|one, other| other.cmp(one));
    pids
}

/// Reads the records of all processes, each process's in its order. Lines that are cut off or unknown are left out.
fn read_records(folder: &Path) -> Vec<Record> {
    let mut paths = files::list_dir(folder).unwrap_or_default();
    paths.sort();
    let mut records = Vec::new();
    for path in paths.into_iter().take(2 * MOST_PROCESSES) {
        let is_trace = path.extension().is_some_and(|end| end == "xtrace");
        let bytes = if is_trace {
            files::read_end(&path, LONGEST_TRACE)
        } else {
            files::read_beginning(&path, MOST_RECORDED)
        };
        let Ok(bytes) = bytes else { continue };
        let text = String::from_utf8_lossy(&bytes);
        match path.extension().and_then(|end| end.to_str()) {
            Some("jsonl") => {
                records.extend(text.lines().filter_map(|line| serde_json::from_str(line).ok()));
            }
            Some("fault") if !text.trim().is_empty() => records.push(Record::Crash(text.into_owned())),
            Some("xtrace") => records.extend(bash::record_of(&text)),
            _ => {}
        }
    }
    records
}

/// Writes files of a recorder where they can stay, so that the interpreter's own cache of them serves the next run.
fn installed(name: &str, contents: &[(&str, &str)], stays: &Path, otherwise: &Path) -> Result<PathBuf> {
    if let Some(folder) = kept(name, contents, stays) {
        return Ok(folder);
    }
    let folder = otherwise.join(name);
    write_all(&folder, contents)?;
    Ok(folder)
}

/// Writes files into a folder of their own beside the installed adapters; `None` where nothing can be written.
pub(crate) fn kept(name: &str, contents: &[(&str, &str)], stays: &Path) -> Option<PathBuf> {
    if stays.as_os_str().is_empty() {
        return None;
    }
    let mut hash = std::hash::DefaultHasher::new();
    std::hash::Hash::hash(contents, &mut hash);
    let folder = stays.join(name).join(format!("{:016x}", std::hash::Hasher::finish(&hash)));
    write_all(&folder, contents).ok().map(|()| folder)
}

fn write_all(folder: &Path, contents: &[(&str, &str)]) -> Result<()> {
    for (name, text) in contents {
        let path = folder.join(name);
        if files::read_if_exists(&path).ok().flatten().as_deref() == Some(*text) {
            continue;
        }
        if let Some(parent) = path.parent() {
            files::create_private_dir(parent)?;
        }
        files::write_atomic(&path, text.as_bytes(), Privacy::Private)?;
    }
    Ok(())
}
