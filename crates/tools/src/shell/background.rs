//! Commands that run on while the agent does other things: started, listed, read, written to and ended by id.
//!
//! They belong to the workspace: every task in it sees them, and they end when the last one lets go of it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use stepwell_protocol::{BackgroundCommand, CommandEnd, Event, OutputStream, TaskId, Timestamp};
use stepwell_tool_runtime::{Host, ToolError, WorkspaceAccess};
use stepwell_workspace::files;
use stepwell_workspace::process::{self, Ending, Interaction, OutputFilters, ProgramCall};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::confine::Confined;

/// Running at once in one workspace.
const MOST_RUNNING: usize = 32;
/// Ended ones that are remembered, so that their last words can be read.
const MOST_ENDED: usize = 64;
/// Bytes of output kept for reading; older ones are given up.
const KEPT: usize = 256 * 1024;
/// Nothing runs longer than this.
const LONGEST: Duration = Duration::from_hours(24);
const INPUT_QUEUE: usize = 64;
const MOST_ENVIRONMENT: u64 = 4 * 1024 * 1024;

/// The variable by which the processes of background commands are known.
const MARK: &str = "STEPWELL_BACKGROUND";

/// The background commands of a workspace.
#[derive(Clone)]
pub struct BackgroundCommands {
    inner: Arc<Mutex<Commands>>,
    /// The value of [`MARK`], which nobody else knows.
    mark: Arc<str>,
}

impl Default for BackgroundCommands {
    fn default() -> Self {
        // Each of these has keys of its own, from the system's source of randomness.
        let random = || RandomState::new().build_hasher().finish();
        Self { inner: Arc::default(), mark: format!("{:016x}{:016x}", random(), random()).into() }
    }
}

impl std::fmt::Debug for BackgroundCommands {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("BackgroundCommands").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Commands {
    last: u32,
    all: BTreeMap<u32, Arc<Command>>,
}

/// One command.
pub(super) struct Command {
    pub id: u32,
    task: TaskId,
    pub line: String,
    /// Whether it may write in the workspace.
    pub access: WorkspaceAccess,
    started: Instant,
    started_at: Timestamp,
    input: mpsc::Sender<Vec<u8>>,
    output: Mutex<Output>,
    state: watch::Receiver<State>,
    /// Ends the command when the last holder lets go.
    _end: DropGuard,
    end: CancellationToken,
}

/// Output that was not read yet.
#[derive(Default)]
struct Output {
    text: String,
    /// Bytes that had to be given up.
    lost: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Running {
        /// Grows with the output, so that who waits for it wakes up.
        bytes: u64,
    },
    Ended(Ending),
    Failed(String),
}

/// What is to be started.
pub(super) struct Start {
    pub task: TaskId,
    pub line: String,
    pub confined: Confined,
    pub filters: OutputFilters,
    pub terminal: bool,
    pub access: WorkspaceAccess,
    /// Who is told of its start and its end.
    pub host: Arc<dyn Host>,
}

impl BackgroundCommands {
    /// Whether a process was started by one of these commands.
    pub fn started(&self, pid: u32) -> bool {
        let path = format!("/proc/{pid}/environ");
        let Ok(variables) = files::read_beginning(Path::new(&path), MOST_ENVIRONMENT) else { return false };
        let mark = format!("{MARK}={}", self.mark);
        variables.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    }

    /// Starts a command. `show` gets its output as long as it returns true.
    pub(super) fn start(
        &self,
        start: Start,
        mut show: impl FnMut(OutputStream, &str) -> bool + Send + 'static,
    ) -> Result<Arc<Command>, ToolError> {
        let mut commands = self.inner.lock();
        let running = commands.all.values().filter(|command| command.is_running()).count();
        if running >= MOST_RUNNING {
            return Err(ToolError::execution(format!(
                "{running} commands run in the background already; end one with `process_kill` first"
            )));
        }
        commands.last += 1;
        let id = commands.last;
        let (input, receiver) = mpsc::channel(INPUT_QUEUE);
        let (state, states) = watch::channel(State::Running { bytes: 0 });
        let end = CancellationToken::new();
        let command = Arc::new(Command {
            id,
            task: start.task,
            line: start.line,
            access: start.access,
            started: Instant::now(),
            started_at: Timestamp::now(),
            input,
            output: Mutex::default(),
            state: states,
            _end: end.clone().drop_guard(),
            end: end.clone(),
        });
        commands.all.insert(id, Arc::clone(&command));
        commands.forget_old();
        drop(commands);

        start.host.show(Event::BackgroundCommand { command: command.summary() });
        let weak = Arc::downgrade(&command);
        let host = start.host;
        let Confined { call, proxy } = start.confined;
        let mut call = ProgramCall { time_limit: LONGEST, ..call };
        call.environment.set.push((MARK.into(), self.mark.as_ref().into()));
        let interaction = Interaction { input: receiver, terminal: start.terminal };
        tokio::spawn(async move {
            let mut shows = true;
            let mut bytes = 0;
            let ran = process::run_interactive(call, start.filters, interaction, &end, |stream, text| {
                shows = shows && show(stream, text);
                bytes += text.len() as u64;
                if let Some(command) = weak.upgrade() {
                    command.output.lock().add(text);
                }
                state.send_replace(State::Running { bytes });
            })
            .await;
            drop(proxy);
            state.send_replace(match ran {
                Ok(finished) => State::Ended(finished.ending),
                Err(error) => State::Failed(error.to_string()),
            });
            if let Some(command) = weak.upgrade() {
                host.show(Event::BackgroundCommand { command: command.summary() });
            }
        });
        Ok(command)
    }

    /// A command by its number.
    pub(super) fn find(&self, id: u32) -> Result<Arc<Command>, ToolError> {
        let commands = self.inner.lock();
        commands.all.get(&id).cloned().ok_or_else(|| {
            let ids: Vec<String> = commands.all.keys().map(ToString::to_string).collect();
            let known = if ids.is_empty() { "none was started".to_owned() } else { ids.join(", ") };
            ToolError::validation(format!("there is no background command {id}; known: {known}"))
        })
    }

    pub(super) fn list(&self) -> Vec<Arc<Command>> {
        self.inner.lock().all.values().cloned().collect()
    }

    /// The commands as front ends list them.
    pub fn summaries(&self) -> Vec<BackgroundCommand> {
        self.list().iter().map(|command| command.summary()).collect()
    }

    /// Output that nobody has read yet. It stays to be read.
    pub fn unread(&self, id: u32) -> Option<String> {
        self.find(id).ok().map(|command| command.output.lock().text.clone())
    }

    /// Ends every command that runs and waits for that.
    pub async fn stop_all(&self) {
        let running: Vec<_> = self.list().into_iter().filter(|command| command.is_running()).collect();
        // All are told before the first is waited for.
        for command in &running {
            command.end.cancel();
        }
        for command in running {
            command.kill().await;
        }
    }

    /// Ends a command; `false` when there is none of this number.
    pub async fn stop(&self, id: u32) -> bool {
        let Ok(command) = self.find(id) else { return false };
        command.kill().await;
        true
    }
}

impl Commands {
    fn forget_old(&mut self) {
        let ended: Vec<u32> =
            self.all.values().filter(|command| !command.is_running()).map(|command| command.id).collect();
        for id in ended.iter().take(ended.len().saturating_sub(MOST_ENDED)) {
            self.all.remove(id);
        }
    }
}

impl Output {
    fn add(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() > 2 * KEPT {
            let cut = self.text.ceil_char_boundary(self.text.len() - KEPT);
            self.lost += cut as u64;
            self.text.drain(..cut);
        }
    }
}

impl Command {
    /// The command as front ends show it.
    pub(super) fn summary(&self) -> BackgroundCommand {
        let ended = match self.state() {
            State::Running { .. } => None,
            State::Ended(Ending::Exited(code)) => Some(CommandEnd::Exited { code }),
            State::Ended(Ending::Signalled(signal)) => Some(CommandEnd::Signalled { signal }),
            State::Ended(Ending::TimedOut | Ending::Cancelled) | State::Failed(_) => {
                Some(CommandEnd::Stopped)
            }
        };
        BackgroundCommand {
            process_id: self.id,
            task: self.task.clone(),
            command: self.line.clone(),
            started_at: self.started_at,
            ended,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(*self.state.borrow(), State::Running { .. })
    }

    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub(super) fn seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// The output since it was last read, and how many bytes before it were lost.
    pub(super) fn read(&self) -> (String, u64) {
        let mut output = self.output.lock();
        (std::mem::take(&mut output.text), std::mem::take(&mut output.lost))
    }

    pub(super) fn has_output(&self) -> bool {
        !self.output.lock().text.is_empty()
    }

    /// Waits until there is output to read and no more follows at once, or the command ends, or the time is over.
    pub(super) async fn wait(&self, time: Duration) {
        const QUIET: Duration = Duration::from_millis(100);
        let mut states = self.state.clone();
        let waiting = async {
            while self.is_running() {
                let patience = if self.has_output() { QUIET } else { time };
                match tokio::time::timeout(patience, states.changed()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) | Err(_) => return,
                }
            }
        };
        tokio::time::timeout(time, waiting).await.ok();
    }

    /// Waits for the end, or until the time is over.
    pub(super) async fn ended(&self, time: Duration) -> bool {
        let mut states = self.state.clone();
        let ended = states.wait_for(|state| !matches!(state, State::Running { .. }));
        tokio::time::timeout(time, ended).await.is_ok()
    }

    pub(super) async fn write(&self, text: String) -> Result<(), ToolError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        if !self.is_running() {
            return Err(ToolError::validation(format!("command {} has ended", self.id)));
        }
        match tokio::time::timeout(PATIENCE, self.input.send(text.into_bytes())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(ToolError::validation(format!("command {} reads no input any more", self.id))),
            Err(_) => Err(ToolError::execution(format!("command {} does not read its input", self.id))),
        }
    }

    /// Ends the command with all its children.
    pub(super) async fn kill(&self) {
        const PATIENCE: Duration = Duration::from_secs(6);
        self.end.cancel();
        self.ended(PATIENCE).await;
    }
}
