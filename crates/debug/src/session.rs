//! One conversation with an adapter about one program: its state, and what changes it.
//!
//! Events change the state in the order they come and never wait; whoever waits for a change watches the house's
//! counter. Requests are sent by whoever uses the session.

mod bind;
mod control;
mod decide;
mod inside;
mod inspect;
mod memory;
mod start;
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

use crate::adapters::{Adapter, How};
use crate::dap::types::{
    BreakpointEvent, Capabilities, ContinuedEvent, ExitedEvent, OutputEvent, ProcessEvent, StoppedEvent,
    ThreadEvent,
};
use crate::dap::{Client, Listener, ReverseRequest};
use crate::house::House;
use crate::ids::{BreakpointId, SessionId, ThreadId};
use crate::launch_config::{Resolved, ServerReadyWatch};
use crate::output::{OutputBuffer, OutputCategory};
use crate::stop_reason::StopReason;
use crate::{Error, Result};

pub use bind::Binding;
pub use control::Step;
pub use decide::{is_true, same_file};
pub use inspect::{Evaluation, Paging, ValueRow};
pub use memory::{Access, DataBreakpoint, Instruction, Memory};
pub use start::{LinkMaker, Opening, Way};

/// How long an adapter may take for one answer about a stopped program.
pub(crate) const ANSWER: Duration = Duration::from_secs(15);
/// Lines of what an adapter says on its error stream that are kept for a failure's explanation.
const KEPT_COMPLAINTS: usize = 40;

/// Stops at breakpoints that are judged at the same time; each asks the adapter questions. Any further one is shown.
const MOST_JUDGED: usize = 32;

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
    /// Rises over all sessions, so that a later stop is known from an earlier one.
    pub serial: u64,
    pub reason: StopReason,
    pub thread: Option<ThreadId>,
    pub description: Option<String>,
    pub text: Option<String>,
    pub all_threads_stopped: Option<bool>,
    /// Our numbers.
    pub hit_breakpoints: Vec<BreakpointId>,
    /// Milliseconds since the epoch.
    pub at: i64,
}

/// How a session came to its end.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    pub exit_code: Option<i64>,
    /// Why, where it was not the program's own end.
    pub failure: Option<String>,
    pub hint: Option<String>,
}

pub struct Session {
    pub id: SessionId,
    pub name: String,
    pub adapter: &'static dyn Adapter,
    pub how: How,
    pub parent: Option<SessionId>,
    /// What it was started with, to start it again.
    pub(crate) opening: Opening,
    panic_functions: Vec<&'static str>,
    pub(crate) house: Arc<House>,
    client: OnceLock<Client>,
    state: Mutex<State>,
    /// The adapter's process, and programs run in terminals for it.
    companions: Mutex<Vec<Companion>>,
    /// For adapters whose references of scopes mean the frame last asked about.
    frame_turn: tokio::sync::Semaphore,
    /// Where the adapter listens, for child sessions.
    socket: OnceLock<PathBuf>,
}

struct State {
    phase: Phase,
    capabilities: Capabilities,
    initialized: bool,
    /// Everything is being said once more.
    configuring_again: bool,
    /// Stops at breakpoints that are being judged.
    judging: usize,
    stop: Option<Stop>,
    ending: Ending,
    process: Option<ProcessEvent>,
    output: OutputBuffer,
    /// Where the output begins that was in no report yet.
    reported_output: u64,
    complaints: VecDeque<String>,
    /// What is bound in each file, in the order it was sent.
    bound: BTreeMap<PathBuf, Vec<Binding>>,
    bound_functions: Vec<Binding>,
    /// Functions and places that a tool needs for a while, beside the person's breakpoints.
    function_probes: Vec<String>,
    probes: BTreeMap<PathBuf, Vec<i64>>,
    hits: HashMap<BreakpointId, u64>,
    threads: BTreeMap<ThreadId, String>,
    /// The thread that stopped last.
    last_thread: Option<ThreadId>,
    /// We asked for a pause, whatever the adapter calls it.
    pausing: bool,
    stepping: Option<decide::Stepping>,
    /// The exception filters in force.
    exception_filters: Vec<String>,
    /// Of the last stop, to tell what changed.
    last_told: Option<LastTold>,
    data_breakpoints: Vec<DataBreakpoint>,
    input: Option<terminal::Input>,
    spare_terminal: Option<stepwell_workspace::process::SpareTerminal>,
    pumps: Vec<tokio::task::JoinHandle<()>>,
    server_watch: Option<ServerReadyWatch>,
    /// Where the program serves, by its configuration's `serverReadyAction`.
    server_address: Option<String>,
}

/// What was told of a stop: the top frame's variables, and who called.
#[derive(Clone, Debug)]
pub struct LastTold {
    pub thread: ThreadId,
    pub function: String,
    pub path: Option<PathBuf>,
    pub values: Vec<(String, String)>,
    /// Names and lines of the frames below the top one.
    pub callers: Vec<(String, i64)>,
}

impl Session {
    pub(crate) fn new(house: Arc<House>, opening: &Opening, parent: Option<SessionId>) -> Arc<Self> {
        let id = SessionId(format!("s{}", house.next_session.fetch_add(1, Ordering::Relaxed)));
        Arc::new(Self {
            id,
            name: opening.name.clone(),
            adapter: opening.adapter,
            how: opening.how,
            parent,
            opening: opening.clone(),
            panic_functions: opening.adapter.panic_functions(&opening.arguments, &house.options.search),
            house,
            client: OnceLock::new(),
            state: Mutex::new(State {
                probes: opening.probes.clone(),
                function_probes: opening.functions.clone(),
                phase: Phase::Idle,
                capabilities: Capabilities::default(),
                initialized: false,
                configuring_again: false,
                judging: 0,
                stop: None,
                ending: Ending::default(),
                process: None,
                output: OutputBuffer::default(),
                reported_output: 0,
                complaints: VecDeque::new(),
                bound: BTreeMap::new(),
                bound_functions: Vec::new(),
                hits: HashMap::new(),
                threads: BTreeMap::new(),
                last_thread: None,
                pausing: false,
                stepping: None,
                exception_filters: Vec::new(),
                last_told: None,
                data_breakpoints: Vec::new(),
                input: None,
                spare_terminal: None,
                pumps: Vec::new(),
                server_watch: None,
                server_address: None,
            }),
            companions: Mutex::default(),
            frame_turn: tokio::sync::Semaphore::new(1),
            socket: OnceLock::new(),
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

    /// The stop, or an error that says what the program is doing instead.
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
        self.house.changed();
    }

    /// The exception filters in force.
    pub fn exception_filters(&self) -> Vec<String> {
        self.state.lock().exception_filters.clone()
    }

    /// Whether the program has a terminal of ours.
    pub fn takes_input(&self) -> bool {
        self.state.lock().input.is_some()
    }

    /// Adds to the program's output, or to what the debugger says.
    pub(crate) fn print(&self, category: OutputCategory, text: &str) {
        let mut state = self.state.lock();
        if let Some(address) = state.server_watch.as_mut().and_then(|watch| watch.push(text)) {
            state.server_address = Some(address);
        }
        state.output.push(category, text);
    }

    /// Looks for the address of a server in what the program prints.
    pub(crate) fn watch_server(&self, resolved: &Resolved) {
        if let Some(ready) = &resolved.server_ready {
            self.state.lock().server_watch = ServerReadyWatch::new(&resolved.name, ready).ok();
        }
    }

    pub fn server_address(&self) -> Option<String> {
        self.state.lock().server_address.clone()
    }

    /// The output that was in no report yet.
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

    /// Remembers what is told of a stop and gives what was told of the one before, if that was in the same function.
    pub fn swap_last_told(&self, new: LastTold) -> Option<LastTold> {
        let mut state = self.state.lock();
        let old = state.last_told.replace(new.clone());
        old.filter(|old| old.function == new.function && old.path == new.path)
    }

    /// Makes a stop visible to whoever waits.
    fn publish(&self, event: StoppedEvent, hit_breakpoints: Vec<BreakpointId>) {
        let serial = self.house.serial.fetch_add(1, Ordering::Relaxed) + 1;
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
        self.house.touch(&self.id);
        self.changed();
    }

    /// The program runs again: what belonged to the stop is gone.
    fn mark_running(&self) {
        let mut state = self.state.lock();
        if !state.phase.is_over() {
            state.phase = Phase::Running;
        }
        state.stop = None;
        drop(state);
        self.house.ids.forget(&self.id);
        self.changed();
    }

    fn complain(&self, line: &str) {
        let mut state = self.state.lock();
        if state.complaints.len() >= KEPT_COMPLAINTS {
            state.complaints.pop_front();
        }
        state.complaints.push_back(line.chars().take(500).collect());
    }

    /// What the adapter said on its error stream, for whoever must explain a failure.
    pub fn complaints(&self) -> String {
        self.state.lock().complaints.iter().cloned().collect::<Vec<_>>().join("\n")
    }

    /// The session is over; the first reason given stays.
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
        drop(state);
        self.house.ids.forget(&self.id);
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

/// Adapters call it a breakpoint, a watchpoint or an exception; that it is none of ours tells it apart.
fn is_data_stop(reason: &StopReason, places: &[DataBreakpoint], hit: &[BreakpointId]) -> bool {
    !places.is_empty() && hit.is_empty() && reason.may_be_data_breakpoint()
}

fn hit_is_breakpoint(event: &StoppedEvent, hit_breakpoints: &[BreakpointId]) -> bool {
    !hit_breakpoints.is_empty() || event.reason.is_breakpoint()
}

/// Hears the adapter for a session; a session that is gone hears nothing.
struct Ears(Weak<Session>);

impl Listener for Ears {
    fn event(&self, name: &str, body: Option<&RawValue>) {
        if let Some(session) = self.0.upgrade() {
            session.hear(name, body.map_or("{}", RawValue::get));
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
            session.complain(&format!("a message of the adapter is no JSON: {reason}"));
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
    /// Takes an event of the adapter. It must not wait.
    fn hear(self: &Arc<Self>, name: &str, body: &str) {
        match name {
            "initialized" => {
                let again = std::mem::replace(&mut self.state.lock().initialized, true);
                // js-debug says it a second time when its target is there, and wants everything again.
                if again && !std::mem::replace(&mut self.state.lock().configuring_again, true) {
                    let session = Arc::clone(self);
                    tokio::spawn(async move { session.configure_again().await });
                }
                self.changed();
            }
            "stopped" => self.hear_stopped(parsed(body)),
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
                self.hear_output(&event);
            }
            "exited" => {
                let event: ExitedEvent = parsed(body);
                self.state.lock().ending.exit_code = Some(event.exit_code);
                self.changed();
            }
            "terminated" => self.hear_terminated(),
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
                self.hear_breakpoint(&event);
            }
            _ => {}
        }
    }

    fn hear_stopped(self: &Arc<Self>, event: StoppedEvent) {
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
        let may_judge = state.judging < MOST_JUDGED;
        let passes = may_judge && state.passes(&event, self.adapter.manners());
        let must_decide = may_judge && !passes && state.decides_about(&event);
        if must_decide {
            state.stop = None;
        }
        state.judging += usize::from(passes || must_decide);
        drop(state);
        let session = Arc::clone(self);
        if passes || must_decide {
            tokio::spawn(async move {
                if passes {
                    session.pass(event).await;
                } else {
                    session.decide(event).await;
                }
                session.state.lock().judging -= 1;
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

    fn hear_output(&self, event: &OutputEvent) {
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
        let output = (self.adapter.manners().clean_output)(&event.output);
        if output.is_empty() {
            return;
        }
        // Before there is a program, it is the debugger that speaks.
        if category == OutputCategory::Console && self.phase() == Phase::Starting {
            output.lines().filter(|line| !line.trim().is_empty()).for_each(|line| self.complain(line));
            return;
        }
        self.print(category, &output);
        self.changed();
    }

    fn hear_terminated(self: &Arc<Self>) {
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
            if session.adapter.manners().prints_late {
                session.last_words().await;
            }
            session.finish(None).await;
        });
    }

    fn connection_lost(self: &Arc<Self>, reason: &str) {
        let phase = self.phase();
        if phase.is_over() {
            return;
        }
        if self.adapter.manners().closes_at_the_end && matches!(phase, Phase::Running | Phase::Stopped) {
            self.hear_terminated();
            return;
        }
        let session = Arc::clone(self);
        let reason = format!("the debug adapter {} ended by itself: {reason}", self.adapter.kind());
        tokio::spawn(async move {
            // Its last words come on other pipes.
            session.drain_pumps().await;
            let complaints = session.complaints();
            let reason = if complaints.is_empty() { reason } else { format!("{reason}\n{complaints}") };
            session.finish(Some(reason)).await;
        });
    }
}
