//! The service behind the debugger's tools: the debugger, the workspace, and how an outcome becomes an answer.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use stepwell_debug::breakpoints::LineBreakpoint;
use stepwell_debug::ids::{AdapterFrameId, BreakpointId, FrameId, SessionId};
use stepwell_debug::session::{Binding, Phase, Session, Stop};
use stepwell_debug::stop_report::{Detail, printed};
use stepwell_debug::{Debugger, DebuggerOptions, Error, Outcome, Result, Wait};
use stepwell_protocol::{
    BreakpointItem, DebugSessionState, DebugSessionSummary, Event, Preview, StopSummary,
};
use stepwell_tool_runtime::ToolContext;
use stepwell_workspace::{Workspace, files};
use tokio::time::Instant;

use super::answer::{RunAnswer, RunOutcome, stop_summary};
use super::functions::SyntaxFunctions;
use super::sources::hidden_sources;
use super::started::SessionOwner;
use crate::shell::BackgroundCommands;
use crate::shell::confine::Confinement;

/// The longest any call waits; its own deadline is shorter.
pub const LONGEST_CALL: Duration = Duration::from_secs(660);
pub const OUTPUT_LIMIT: usize = 48 * 1024;
const LONGEST_WAIT: u64 = 600;
/// How long a start, a continuation or a step is waited for by default, in seconds.
pub const START_WAIT: u64 = 60;
pub const RUN_WAIT: u64 = 60;
pub const STEP_WAIT: u64 = 30;

/// What the tools must know of the settings.
#[derive(Clone, Debug, Default)]
pub struct DebugOptions {
    pub debugger: DebuggerOptions,
    /// The person trusts the folder, so its launch.json may run programs.
    pub trusted: bool,
    /// How programs are confined: as commands are.
    pub confinement: Confinement,
    /// The commands in the background, whose processes may be attached to.
    pub background: BackgroundCommands,
}

pub struct DebugService {
    pub debugger: Arc<Debugger>,
    pub workspace: Workspace,
    pub trusted: bool,
    pub(super) confinement: Confinement,
    pub(super) background: BackgroundCommands,
    /// The sessions as front ends were last shown them.
    shown: Mutex<Vec<DebugSessionSummary>>,
    /// Who started each session.
    /// The last stop that was reported of each session, by its serial number.
    stops: Mutex<HashMap<SessionId, (u64, StopSummary)>>,
    pub(super) owners: Mutex<HashMap<SessionId, SessionOwner>>,
}

impl DebugService {
    pub fn new(workspace: Workspace, options: &DebugOptions) -> Arc<Self> {
        let mut debugger_options = options.debugger.clone();
        debugger_options.function_finder.get_or_insert_with(|| Arc::new(SyntaxFunctions));
        debugger_options.hidden_sources = hidden_sources(&workspace, &options.confinement);
        let debugger = Arc::new(Debugger::new(debugger_options));
        Arc::new(Self {
            debugger,
            workspace,
            trusted: options.trusted,
            confinement: options.confinement.clone(),
            background: options.background.clone(),
            shown: Mutex::default(),
            stops: Mutex::default(),
            owners: Mutex::default(),
        })
    }

    /// The breakpoints that are set, a line each.
    pub fn breakpoint_lines(&self) -> Vec<String> {
        let store = self.debugger.breakpoints();
        let lines = store.lines().into_iter().map(|set| {
            let condition = set.condition.map(|condition| format!(" if {condition}")).unwrap_or_default();
            format!("{}:{}{condition} (id {})", set.path.display(), set.line, set.id)
        });
        let functions = store.functions().into_iter().map(|set| format!("{} (id {})", set.name, set.id));
        lines.chain(functions).collect()
    }

    /// Breakpoints of lines as front ends show them.
    pub fn breakpoint_items(&self) -> Vec<BreakpointItem> {
        let item = |set: LineBreakpoint| BreakpointItem {
            id: set.id.to_string(),
            file: set.path.display().to_string(),
            line: u32::try_from(set.line).unwrap_or_default(),
            condition: set.condition,
            log_message: set.log_message,
        };
        self.debugger.breakpoints().lines().into_iter().map(item).collect()
    }

    /// The sessions as front ends list them.
    pub fn summaries(&self) -> Vec<DebugSessionSummary> {
        let state = |session: &Session| match session.phase() {
            Phase::Idle | Phase::Starting => DebugSessionState::Starting,
            Phase::Running => DebugSessionState::Running,
            Phase::Stopped => DebugSessionState::Stopped,
            Phase::Terminating | Phase::Terminated => DebugSessionState::Terminated,
        };
        let summary = |session: &Arc<Session>| DebugSessionSummary {
            session_id: session.id.to_string(),
            name: session.name.clone(),
            adapter: session.adapter.name().to_owned(),
            state: state(session),
            stop: session.stop().map(|stop| self.summary_of(session, &stop)),
        };
        self.debugger.sessions().iter().map(summary).collect()
    }

    /// A stop with place and variables where it was reported, else with what its event says.
    fn summary_of(&self, session: &Session, stop: &Stop) -> StopSummary {
        let reported = self.stops.lock().get(&session.id).cloned();
        match reported {
            Some((serial, summary)) if serial == stop.serial => summary,
            _ => StopSummary {
                session_id: session.id.to_string(),
                reason: stop.reason.to_string(),
                description: stop.description.clone().or_else(|| stop.text.clone()),
                thread_id: stop.thread.map(|thread| thread.0),
                ..StopSummary::default()
            },
        }
    }

    /// Keeps a reported stop for who lists the sessions.
    fn keep_stop(&self, session: &Session, stop: &Stop, summary: StopSummary) {
        let known = self.debugger.sessions();
        let mut stops = self.stops.lock();
        stops.retain(|id, _| known.iter().any(|session| session.id == *id));
        stops.insert(session.id.clone(), (stop.serial, summary));
    }

    /// Shows front ends the sessions that changed since they were last shown.
    pub fn show_sessions(&self, ctx: &ToolContext) {
        let now = self.summaries();
        let mut shown = self.shown.lock();
        let is_gone =
            |known: &&DebugSessionSummary| now.iter().all(|session| session.session_id != known.session_id);
        let ended = shown.iter().filter(is_gone).map(|known| DebugSessionSummary {
            state: DebugSessionState::Terminated,
            stop: None,
            ..known.clone()
        });
        let changed = now.iter().filter(|session| !shown.contains(session)).cloned();
        for session in ended.chain(changed).collect::<Vec<_>>() {
            ctx.host.show(Event::DebugSession { session });
        }
        *shown = now;
    }

    /// The preview of a call that only looks into a session, or moves its program on.
    pub fn plain_preview<T>(&self, name: &str, _input: &T) -> Preview {
        Preview { summary: name.replace('_', " "), continues_approved: true, ..Preview::default() }
    }

    /// A file named from the workspace's root or absolutely; sources of libraries may be outside.
    pub fn file(&self, path: &str) -> Result<PathBuf> {
        let given = PathBuf::from(path);
        let absolute = if given.is_absolute() { given } else { self.workspace.root().join(given) };
        let resolved = files::resolved(&absolute);
        if let Some(reason) = self.debugger.options().hidden_sources.of(&resolved) {
            return Err(Error::Parameter {
                what: reason,
                hint: Some("the person keeps it from you; go on without it".to_owned()),
            });
        }
        if !resolved.is_file() {
            return Err(Error::Parameter {
                what: format!("there is no file `{path}`"),
                hint: Some(
                    "give the path of a source file, absolute or from the workspace's root".to_owned(),
                ),
            });
        }
        Ok(resolved)
    }

    /// Returns the frame of that number, or the top frame of the session that is stopped.
    pub async fn frame_or_top(
        &self,
        frame: Option<FrameId>,
        session: Option<&SessionId>,
    ) -> Result<(Arc<Session>, AdapterFrameId)> {
        if let Some(id) = frame {
            let (session, frame) = self.debugger.frame(id)?;
            return Ok((session, frame.adapter_id));
        }
        let session = self.debugger.session_to_resume(session)?;
        let frame = session.top_frame().await?.id;
        Ok((session, frame))
    }

    pub fn wait(ctx: &ToolContext, given: Option<f64>, default: u64) -> Wait {
        let time = given
            .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
            .map_or(Duration::from_secs(default), |seconds| {
                Duration::from_secs_f64(seconds.min(LONGEST_WAIT as f64))
            });
        Wait { deadline: Instant::now() + time, cancel: ctx.cancel.clone() }
    }

    /// How much of a stop is reported.
    pub fn detail(brief: Option<bool>) -> Detail {
        if brief == Some(true) { Detail::COMPACT } else { Detail::WHOLE }
    }

    /// As [`DebugService::detail`] for a program that went on from a stop: a brief answer tells what is new.
    pub fn detail_of_step(brief: Option<bool>) -> Detail {
        if brief == Some(true) { Detail::NEWS } else { Detail::WHOLE }
    }

    /// Reports how a run went on: the stop with its stack and variables, or how the program ended.
    pub async fn answer(
        &self,
        outcome: Outcome,
        session: &Arc<Session>,
        detail: Detail,
    ) -> Result<RunAnswer> {
        let session_id = session.id.clone();
        let outcome = match outcome {
            Outcome::Stopped(session, stop) => {
                let stop_event_data = Box::new(session.report(&stop, detail).await?);
                self.keep_stop(&session, &stop, stop_summary(&stop_event_data));
                RunOutcome::Stopped { session_id: session.id.clone(), stop_event_data }
            }
            Outcome::Completed(ending) => RunOutcome::Completed {
                session_id,
                message: match ending.exit_code {
                    Some(code) => format!("the program ended with exit code {code}"),
                    None => "the program ended".to_owned(),
                },
                exit_code: ending.exit_code,
                new_output: self.new_output(session),
            },
            Outcome::Failed(ending) => {
                return Err(Error::Launch {
                    reason: ending.failure.unwrap_or_else(|| "the session failed".to_owned()),
                    hint: ending.hint,
                });
            }
            Outcome::TimedOut => {
                let outcome = RunOutcome::Timeout {
                    session_id,
                    message: "the program neither stopped nor ended in time; it goes on".into(),
                    state: session.phase(),
                    new_output: self.new_output(session),
                };
                let hint = "`wait_for_stop` waits on, `pause_debugging` stops it, `stop_debugging` ends it";
                return Ok(RunAnswer { outcome, hint: Some(hint.into()) });
            }
            Outcome::Interrupted => RunOutcome::Interrupted {
                session_id,
                message: "the waiting was ended; the program goes on".into(),
                state: session.phase(),
            },
        };
        Ok(RunAnswer { outcome, hint: None })
    }

    /// What a session and its children printed that was in no answer yet.
    fn new_output(&self, session: &Arc<Session>) -> Option<String> {
        let tree = self.debugger.tree(session);
        let texts: Vec<String> = tree
            .iter()
            .filter_map(|session| printed(&session.take_new_output(), Detail::COMPACT.output * 2))
            .collect();
        (!texts.is_empty()).then(|| texts.concat())
    }
}

impl std::fmt::Debug for DebugService {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("DebugService").finish_non_exhaustive()
    }
}

/// A line breakpoint, as the tools list it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BreakpointRow {
    pub id: BreakpointId,
    pub verified: bool,
    pub source: SourceRow,
    pub line: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
}

/// A source file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SourceRow {
    pub path: String,
}

impl BreakpointRow {
    pub fn of(breakpoint: LineBreakpoint, binding: Option<Binding>) -> Self {
        let verified = binding.as_ref().is_some_and(|binding| binding.verified);
        let line = binding.as_ref().map_or(breakpoint.line, |binding| binding.line);
        let message = match &binding {
            None => Some("it will be set when a session starts".to_owned()),
            Some(binding) if line != breakpoint.line => {
                let said =
                    binding.message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
                Some(format!("line {} has no code; the next that has is {line}{said}", breakpoint.line))
            }
            Some(binding) if !verified => {
                let reason =
                    binding.message.as_deref().filter(|message| !message.contains("provisionalBreakpoint"));
                Some(
                    reason.map_or_else(
                        || "not bound yet: the code may not be loaded".to_owned(),
                        str::to_owned,
                    ),
                )
            }
            Some(_) => None,
        };
        Self {
            id: breakpoint.id,
            verified,
            source: SourceRow { path: breakpoint.path.to_string_lossy().into_owned() },
            line,
            column: breakpoint.column,
            message,
            condition: breakpoint.condition,
            hit_condition: breakpoint.hit_condition,
            log_message: breakpoint.log_message,
        }
    }
}
