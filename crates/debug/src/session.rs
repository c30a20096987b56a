//! A debug session: one connection to an adapter about one program, as a state machine.
//!
//! Events change the state in the order they arrive, without waiting. Whoever waits for a change watches the counter in
//! `Shared`. Requests are sent by the callers of the session's methods.

mod bindings;
mod control;
mod emulation;
mod in_process;
mod inspect;
mod memory;
mod start;
mod stdin;
mod terminal;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use stepwell_workspace::process::Companion;

use crate::adapters::{Adapter, StartMode};
use crate::dap::types::{
    BreakpointEvent, Capabilities, ContinuedEvent, ExitedEvent, OutputEvent, ProcessEvent, StoppedEvent,
    ThreadEvent,
};
use crate::dap::{Client, Listener, ReverseRequest};
use crate::ids::{BreakpointId, SessionId, ThreadId};
use crate::launch_config::{Resolved, ServerReadyWatch};
use crate::output::{OutputBuffer, OutputCategory, TracebackFilters};
use crate::sandbox::SessionSandbox;
use crate::shared::Shared;
use crate::stop_reason::StopReason;
use crate::{Error, Result};

pub use bindings::{Binding, UserBreakpoints};
pub use control::Step;
pub use emulation::is_true;
pub(crate) use emulation::same_file;
pub use inspect::Evaluation;
pub use inspect::Paging;
pub use memory::{Access, DataBreakpoint};
pub use memory::{Instruction, Memory};
pub use start::{Connection, LinkFactory, SessionStart};
pub use stdin::ProgramStdin;

/// Deadline of a request about a stopped program.
pub(crate) const ANSWER: Duration = Duration::from_secs(15);
/// Lines of the adapter's error stream that are kept to explain a failure.
const KEPT_MESSAGES: usize = 40;

/// Stops at emulated breakpoints that are evaluated at the same time. Further ones are shown without evaluation.
const MAX_EVALUATING: usize = 32;

/// The states of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Phase {
    Idle,
    Starting,
    Running,
    Stopped,
    Terminating,
    Terminated,
}

impl Phase {
    /// Whether the session has ended, or is about to.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Terminating | Self::Terminated)
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, formatter)
    }
}

/// A stop of the program, as shown to whoever waits for one.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Increases over all sessions, so that stops can be ordered.
    pub serial: u64,
    pub reason: StopReason,
    pub thread: Option<ThreadId>,
    pub description: Option<String>,
    pub text: Option<String>,
    pub all_threads_stopped: Option<bool>,
    /// The breakpoints that were hit, where known.
    pub hit_breakpoints: Vec<BreakpointId>,
    /// Milliseconds since the epoch.
    pub at: i64,
}

/// How a session ended.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    pub exit_code: Option<i64>,
    /// Why it failed; `None` where the program ended by itself.
    pub failure: Option<String>,
    pub hint: Option<String>,
}

pub struct Session {
    pub id: SessionId,
    pub name: String,
    pub adapter: &'static dyn Adapter,
    pub how: StartMode,
    pub parent: Option<SessionId>,
    /// The options it was started with, for a restart.
    pub(crate) opening: SessionStart,
    panic_functions: Vec<&'static str>,
    pub(crate) shared: Arc<Shared>,
    client: OnceLock<Client>,
    state: Mutex<State>,
    /// The adapter's process, and programs that run in terminals for it.
    companions: Mutex<Vec<Companion>>,
    /// Cancelled when the adapter prints that the start has failed.
    start_failed: tokio_util::sync::CancellationToken,
    /// Serializes requests to adapters whose scope references belong to the frame asked about last.
    frame_turn: tokio::sync::Semaphore,
    /// The socket of the adapter, for child sessions.
    socket: OnceLock<PathBuf>,
    /// The sandbox of the session, until it has ended.
    sandbox: Mutex<Option<Arc<dyn SessionSandbox>>>,
}

struct State {
    phase: Phase,
    capabilities: Capabilities,
    initialized: bool,
    /// Set while the configuration is sent again after a second `initialized` event.
    reconfiguring: bool,
    /// Number of stops at emulated breakpoints that are being evaluated.
    evaluating: usize,
    stop: Option<Stop>,
    ending: Ending,
    process: Option<ProcessEvent>,
    output: OutputBuffer,
    tracebacks: TracebackFilters,
    /// Position up to which the output has been reported.
    reported_output: u64,
    adapter_messages: VecDeque<String>,
    /// Bindings of each file's breakpoints, in the order they were sent.
    bound: BTreeMap<PathBuf, Vec<Binding>>,
    bound_functions: Vec<Binding>,
    /// Temporary function and line breakpoints of tools, beside the person's own.
    function_probes: Vec<String>,
    probes: BTreeMap<PathBuf, Vec<i64>>,
    hits: HashMap<BreakpointId, u64>,
    threads: BTreeMap<ThreadId, String>,
    /// The thread that stopped last.
    last_thread: Option<ThreadId>,
    /// Set while a pause was requested; adapters report it with different reasons.
    pausing: bool,
    stepping: Option<emulation::Stepping>,
    /// The exception filters in force.
    exception_filters: Vec<String>,
    /// What was reported of the last stop, to find what changed.
    reported_stop: Option<ReportedStop>,
    data_breakpoints: Vec<DataBreakpoint>,
    /// Whether the person's breakpoints are set. A tool that follows the program by itself suspends them.
    user_breakpoints: bool,
    input: Option<terminal::Input>,
    spare_terminal: Option<stepwell_workspace::process::SpareTerminal>,
    pumps: Vec<tokio::task::JoinHandle<()>>,
    server_watch: Option<ServerReadyWatch>,
    /// The address of the program's server, by `serverReadyAction`.
    server_address: Option<String>,
}

/// What was reported of a stop: the variables of the top frame, and the callers.
#[derive(Clone, Debug)]
pub(crate) struct ReportedStop {
    pub thread: ThreadId,
    pub function: String,
    pub path: Option<PathBuf>,
    pub values: Vec<(String, String)>,
    /// Names and lines of the frames below the top one.
    pub callers: Vec<(String, i64)>,
}

impl Session {
    pub(crate) fn new(shared: Arc<Shared>, opening: &SessionStart, parent: Option<SessionId>) -> Arc<Self> {
        let id = SessionId(format!("s{}", shared.next_session.fetch_add(1, Ordering::Relaxed)));
        Arc::new(Self {
            id,
            name: opening.name.clone(),
            adapter: opening.adapter,
            how: opening.how,
            parent,
            opening: opening.clone(),
            panic_functions: opening.adapter.panic_functions(&opening.arguments, &shared.options.search),
            shared,
            client: OnceLock::new(),
            state: Mutex::new(State {
                probes: opening.probes.clone(),
                function_probes: opening.functions.clone(),
                phase: Phase::Idle,
                capabilities: Capabilities::default(),
                initialized: false,
                reconfiguring: false,
                evaluating: 0,
                stop: None,
                ending: Ending::default(),
                process: None,
                output: OutputBuffer::default(),
                tracebacks: TracebackFilters::default(),
                reported_output: 0,
                adapter_messages: VecDeque::new(),
                bound: BTreeMap::new(),
                bound_functions: Vec::new(),
                hits: HashMap::new(),
                threads: BTreeMap::new(),
                last_thread: None,
                pausing: false,
                stepping: None,
                exception_filters: Vec::new(),
                reported_stop: None,
                data_breakpoints: Vec::new(),
                user_breakpoints: opening.breakpoints,
                input: None,
                spare_terminal: None,
                pumps: Vec::new(),
                server_watch: None,
                server_address: None,
            }),
            companions: Mutex::default(),
            start_failed: tokio_util::sync::CancellationToken::new(),
            frame_turn: tokio::sync::Semaphore::new(1),
            socket: OnceLock::new(),
            sandbox: Mutex::default(),
        })
    }

    pub fn phase(&self) -> Phase {
        self.state.lock().phase
    }

    pub fn stop(&self) -> Option<Stop> {
        self.state.lock().stop.clone()
    }

    pub fn ending(&self) -> Ending {
        self.state.lock().ending.clone()
    }

    pub fn process_id(&self) -> Option<i64> {
        self.state.lock().process.as_ref().and_then(|process| process.system_process_id)
    }

    pub fn can(&self, capability: &str) -> bool {
        self.state.lock().capabilities.has(capability)
    }

    pub fn capabilities(&self) -> Capabilities {
        self.state.lock().capabilities.clone()
    }

    pub(crate) fn client(&self) -> Result<&Client> {
        self.client.get().ok_or_else(|| Error::State {
            what: format!("session {} has not started yet", self.id),
            hint: "wait for it with `wait_for_stop`".to_owned(),
        })
    }

    /// Returns the current stop. Fails where the program is running or has ended.
    pub fn stopped(&self) -> Result<Stop> {
        let state = self.state.lock();
        match (&state.stop, state.phase) {
            (Some(stop), _) => Ok(stop.clone()),
            (None, Phase::Terminating | Phase::Terminated) => Err(Error::State {
                what: format!("session {} is over", self.id),
                hint: "start the program again with `restart_debugging` or `start_debugging`".to_owned(),
            }),
            (None, _) => Err(Error::State {
                what: format!("the program of session {} is running", self.id),
                hint: "stop it with `pause_debugging`, or wait for a breakpoint with `wait_for_stop`"
                    .to_owned(),
            }),
        }
    }

    fn changed(&self) {
        self.shared.changed();
    }

    /// Returns the exception filters in force.
    pub fn exception_filters(&self) -> Vec<String> {
        self.state.lock().exception_filters.clone()
    }

    /// Whether the program's input can be written to.
    pub fn takes_input(&self) -> bool {
        self.state.lock().input.is_some()
    }

    /// Appends to the recorded output.
    pub(crate) fn print(&self, category: OutputCategory, text: &str) {
        let mut state = self.state.lock();
        let filtered;
        let mut text = text;
        if self.adapter.quirks().is_in_tracebacks
            && let Some(filter) = state.tracebacks.of(category)
        {
            filtered = filter.push(text);
            text = &filtered;
        }
        if let Some(address) = state.server_watch.as_mut().and_then(|watch| watch.push(text)) {
            state.server_address = Some(address);
        }
        state.output.push(category, text);
    }

    /// Watches the output for the address of a server.
    pub(crate) fn watch_server(&self, resolved: &Resolved) {
        if let Some(ready) = &resolved.server_ready {
            self.state.lock().server_watch = ServerReadyWatch::new(&resolved.name, ready).ok();
        }
    }

    pub fn server_address(&self) -> Option<String> {
        self.state.lock().server_address.clone()
    }

    /// Returns the output since the last report, and how many bytes of it were dropped.
    pub fn take_new_output(&self) -> (Vec<crate::output::OutputPiece>, u64) {
        let mut state = self.state.lock();
        let since = state.reported_output;
        state.reported_output = state.output.end();
        state.output.since(since)
    }

    pub fn output_since(&self, position: u64) -> (Vec<crate::output::OutputPiece>, u64, u64) {
        let state = self.state.lock();
        let (pieces, gone) = state.output.since(position);
        (pieces, gone, state.output.end())
    }

    /// Stores what is reported of a stop, and returns the previous report if it was in the same function.
    pub(crate) fn swap_reported_stop(&self, new: ReportedStop) -> Option<ReportedStop> {
        let mut state = self.state.lock();
        let old = state.reported_stop.replace(new.clone());
        old.filter(|old| old.function == new.function && old.path == new.path)
    }

    /// Publishes a stop to everyone who waits for one.
    fn publish(&self, event: StoppedEvent, hit_breakpoints: Vec<BreakpointId>) {
        let serial = self.shared.serial.fetch_add(1, Ordering::Relaxed) + 1;
        let mut state = self.state.lock();
        if state.phase.is_over() {
            return;
        }
        let reason = if std::mem::take(&mut state.pausing) && !hit_is_breakpoint(&event, &hit_breakpoints) {
            StopReason::Pause
        } else if is_data_stop(&event.reason, &state.data_breakpoints, &hit_breakpoints) {
            StopReason::DataBreakpoint
        } else {
            event.reason
        };
        state.stepping = None;
        state.last_thread = event.thread_id.or(state.last_thread);
        state.phase = Phase::Stopped;
        state.stop = Some(Stop {
            serial,
            reason,
            thread: event.thread_id,
            description: event.description,
            text: event.text,
            all_threads_stopped: event.all_threads_stopped,
            hit_breakpoints,
            at: crate::clock::now_millis(),
        });
        drop(state);
        self.shared.touch(&self.id);
        self.changed();
    }

    /// Marks the program as running; identifiers of the stop expire.
    fn mark_running(&self) {
        let mut state = self.state.lock();
        if !state.phase.is_over() {
            state.phase = Phase::Running;
        }
        state.stop = None;
        drop(state);
        self.shared.ids.forget(&self.id);
        self.changed();
    }

    fn record_adapter_message(&self, line: &str) {
        let mut state = self.state.lock();
        if state.adapter_messages.len() >= KEPT_MESSAGES {
            state.adapter_messages.pop_front();
        }
        state.adapter_messages.push_back(line.chars().take(500).collect());
    }

    /// Returns the last lines of the adapter's error stream.
    pub fn adapter_messages(&self) -> String {
        self.state.lock().adapter_messages.iter().cloned().collect::<Vec<_>>().join("\n")
    }

    /// Marks the session as ended; the first failure given is kept.
    pub(crate) fn end_with(&self, failure: Option<String>, hint: Option<String>) {
        let mut state = self.state.lock();
        if state.phase == Phase::Terminated {
            return;
        }
        state.phase = Phase::Terminated;
        state.stop = None;
        if state.ending.failure.is_none() {
            state.ending.failure = failure;
            state.ending.hint = hint;
        }
        for (category, held) in state.tracebacks.finish() {
            state.output.push(category, &held);
        }
        drop(state);
        // The last of a launch to let go ends everything inside.
        self.sandbox.lock().take();
        self.shared.ids.forget(&self.id);
        self.changed();
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Session")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Whether a stop is at a data breakpoint. Adapters report different reasons; that no other breakpoint was hit decides.
fn is_data_stop(reason: &StopReason, places: &[DataBreakpoint], hit: &[BreakpointId]) -> bool {
    !places.is_empty() && hit.is_empty() && reason.may_be_data_breakpoint()
}

fn hit_is_breakpoint(event: &StoppedEvent, hit_breakpoints: &[BreakpointId]) -> bool {
    !hit_breakpoints.is_empty() || event.reason.is_breakpoint()
}

/// Passes an adapter's messages to its session; ignores them once the session is gone.
struct SessionListener(Weak<Session>);

impl Listener for SessionListener {
    fn event(&self, name: &str, body: Option<&RawValue>) {
        if let Some(session) = self.0.upgrade() {
            session.handle_event(name, body.map_or("{}", RawValue::get));
        }
    }

    fn reverse_request(&self, request: ReverseRequest) {
        let Some(session) = self.0.upgrade() else { return };
        match request.command.as_str() {
            "runInTerminal" => session.run_in_terminal(request),
            "startDebugging" => session.start_child(request),
            _ => drop(request.reply),
        }
    }

    fn garbled(&self, reason: &str) {
        if let Some(session) = self.0.upgrade() {
            session.record_adapter_message(&format!("a message of the adapter is no JSON: {reason}"));
        }
    }

    fn closed(&self, reason: &str) {
        if let Some(session) = self.0.upgrade() {
            session.connection_lost(reason);
        }
    }
}

fn parsed<T: serde::de::DeserializeOwned + Default>(body: &str) -> T {
    serde_json::from_str(body).unwrap_or_default()
}

impl Session {
    /// Handles an event of the adapter, without waiting.
    fn handle_event(self: &Arc<Self>, name: &str, body: &str) {
        match name {
            "initialized" => {
                let again = std::mem::replace(&mut self.state.lock().initialized, true);
                // js-debug says it a second time when its target is there, and wants everything again.
                if again && !std::mem::replace(&mut self.state.lock().reconfiguring, true) {
                    let session = Arc::clone(self);
                    tokio::spawn(async move { session.reconfigure().await });
                }
                self.changed();
            }
            "stopped" => self.handle_stopped(parsed(body)),
            "continued" => {
                let event: ContinuedEvent = parsed(body);
                let state = self.state.lock();
                let other_thread = event.all_threads_continued == Some(false)
                    && state.stop.as_ref().is_some_and(|stop| stop.thread != event.thread_id);
                drop(state);
                if !other_thread && self.phase() == Phase::Stopped {
                    self.mark_running();
                }
            }
            "output" => {
                let event: OutputEvent = parsed(body);
                self.handle_output(&event);
            }
            "exited" => {
                let event: ExitedEvent = parsed(body);
                self.state.lock().ending.exit_code = Some(event.exit_code);
                self.changed();
            }
            "terminated" => self.handle_terminated(),
            "thread" => {
                let event: ThreadEvent = parsed(body);
                let mut state = self.state.lock();
                if event.reason == "exited" {
                    state.threads.remove(&event.thread_id);
                } else if state.threads.len() < 10_000 {
                    state.threads.entry(event.thread_id).or_default();
                }
            }
            "process" => self.state.lock().process = Some(parsed(body)),
            "capabilities" => {
                #[derive(serde::Deserialize, Default)]
                struct Body {
                    #[serde(default)]
                    capabilities: Capabilities,
                }
                let event: Body = parsed(body);
                self.state.lock().capabilities.merge(event.capabilities);
            }
            "breakpoint" => {
                let event: BreakpointEvent = parsed(body);
                self.handle_breakpoint(&event);
            }
            _ => {}
        }
    }

    fn handle_stopped(self: &Arc<Self>, event: StoppedEvent) {
        let mut state = self.state.lock();
        if state.phase.is_over() {
            return;
        }
        // The same stop told twice is one stop.
        if let (Some(stop), Phase::Stopped) = (&state.stop, state.phase)
            && stop.thread == event.thread_id
            && stop.reason == event.reason
        {
            return;
        }
        let may_evaluate = state.evaluating < MAX_EVALUATING;
        let is_exit = may_evaluate && state.is_exit_exception(&event, self.adapter.quirks());
        let must_evaluate = may_evaluate && !is_exit && state.needs_evaluation(&event);
        if must_evaluate {
            state.stop = None;
        }
        state.evaluating += usize::from(is_exit || must_evaluate);
        drop(state);
        let session = Arc::clone(self);
        if is_exit || must_evaluate {
            tokio::spawn(async move {
                if is_exit {
                    session.resume_silently(event).await;
                } else {
                    session.evaluate_stop(event).await;
                }
                session.state.lock().evaluating -= 1;
            });
        } else {
            let ids = event.hit_breakpoint_ids.clone().unwrap_or_default();
            let hits = self.our_breakpoints(&ids);
            if hits.is_empty() && self.is_panic(&ids) {
                self.publish(StoppedEvent { reason: StopReason::Exception, ..event }, hits);
            } else {
                self.publish(event, hits);
            }
        }
    }

    fn handle_output(&self, event: &OutputEvent) {
        let category = match event.category.as_deref() {
            Some("stdout") => OutputCategory::Stdout,
            Some("stderr") => OutputCategory::Stderr,
            Some("telemetry") => return,
            _ => OutputCategory::Console,
        };
        // Delve tells the exit code in words alone.
        if category == OutputCategory::Console
            && let Some((_, code)) = event.output.split_once("has exited with status ")
            && let Ok(code) = code.trim_matches(|c: char| !c.is_ascii_digit() && c != '-').parse()
        {
            self.state.lock().ending.exit_code.get_or_insert(code);
            return;
        }
        let output = (self.adapter.quirks().clean_output)(category, &event.output);
        if output.is_empty() {
            return;
        }
        let has_failed = |text: &str| event.output.contains(text);
        if self.adapter.quirks().attach_failure.is_some_and(has_failed) && self.phase() == Phase::Starting {
            self.start_failed.cancel();
        }
        // Before there is a program, it is the debugger that speaks.
        if category == OutputCategory::Console && self.phase() == Phase::Starting {
            output
                .lines()
                .filter(|line| !line.trim().is_empty())
                .for_each(|line| self.record_adapter_message(line));
            return;
        }
        self.print(category, &output);
        self.changed();
    }

    fn handle_terminated(self: &Arc<Self>) {
        {
            let mut state = self.state.lock();
            if state.phase.is_over() {
                return;
            }
            state.phase = Phase::Terminating;
            state.stop = None;
        }
        self.changed();
        let session = Arc::clone(self);
        tokio::spawn(async move {
            if session.adapter.quirks().prints_after_exit {
                session.close_reason().await;
            }
            session.finish(None).await;
        });
    }

    fn connection_lost(self: &Arc<Self>, reason: &str) {
        let phase = self.phase();
        if phase.is_over() {
            return;
        }
        if self.adapter.quirks().closes_at_exit && matches!(phase, Phase::Running | Phase::Stopped) {
            self.handle_terminated();
            return;
        }
        let session = Arc::clone(self);
        let reason = format!("the debug adapter {} ended by itself: {reason}", self.adapter.kind());
        tokio::spawn(async move {
            // Its last words come on other pipes.
            session.drain_pumps().await;
            let mut adapter_messages = session.adapter_messages();
            if let Some(sandbox) = session.sandbox() {
                adapter_messages.push_str(&sandbox.messages());
            }
            let reason =
                if adapter_messages.is_empty() { reason } else { format!("{reason}\n{adapter_messages}") };
            session.finish(Some(reason)).await;
        });
    }
}
