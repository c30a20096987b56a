//! Execution control: continue, step, pause, run to a line, stop, and the list of sessions.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::ids::{SessionId, ThreadId};
use stepwell_debug::session::{Phase, Session, Step};
use stepwell_debug::{Error, Outcome, Result, StopReason};
use stepwell_protocol::Risk;
use stepwell_tool_runtime::ToolContext;

use super::answer::{MessageBody, RunAnswer, Success};
use super::debug_tool;
use super::service::{DebugService, RUN_WAIT, STEP_WAIT};

/// How long `stop_debugging` waits for the end of a session.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// Lets the program run to the next stop or its end.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ContinueInput {
    session_id: Option<SessionId>,
    /// From `stop_event_data`; the thread that stopped by default.
    thread_id: Option<ThreadId>,
    /// Seconds to wait; 60 by default.
    timeout: Option<f64>,
    /// Only what is new since the last stop.
    brief: Option<bool>,
}

/// Makes one step and tells where the program is then.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct StepInput {
    session_id: Option<SessionId>,
    thread_id: Option<ThreadId>,
    step_type: StepType,
    /// So many steps, unless something else stops the program; 1 by default.
    count: Option<u32>,
    timeout: Option<f64>,
    /// Only what is new since the last stop.
    brief: Option<bool>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepType {
    Over,
    Into,
    Out,
}

/// Waits for a running program to stop or end.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct WaitInput {
    session_id: Option<SessionId>,
    timeout: Option<f64>,
    brief: Option<bool>,
}

/// Stops a running program where it is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct PauseInput {
    session_id: Option<SessionId>,
    thread_id: Option<ThreadId>,
    timeout: Option<f64>,
    brief: Option<bool>,
}

/// Lets the program run until it reaches a line, without a lasting breakpoint.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct RunToInput {
    #[schemars(extend("x-aliases" = ["path", "file"]))]
    file_path: String,
    #[schemars(extend("x-aliases" = ["line"]))]
    line_number: i64,
    session_id: Option<SessionId>,
    timeout: Option<f64>,
    brief: Option<bool>,
}

/// Ends a session and its program, or lets go of one that was attached to; all sessions where none is named.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct StopInput {
    session_id: Option<SessionId>,
}

/// Lists debug sessions and their state.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ListSessionsInput {}

debug_tool!(
    ContinueDebugging,
    "continue_debugging",
    &[],
    ContinueInput => RunAnswer,
    Risk::Execute,
    continue_debugging,
    plain_preview
);
debug_tool!(StepExecution, "step_execution", &[], StepInput => RunAnswer, Risk::Execute, step_execution, plain_preview);
debug_tool!(WaitForStop, "wait_for_stop", &[], WaitInput => RunAnswer, Risk::Read, wait_for_stop, plain_preview);
debug_tool!(PauseDebugging, "pause_debugging", &[], PauseInput => RunAnswer, Risk::Execute, pause_debugging, plain_preview);
debug_tool!(
    RunToLocation,
    "run_to_location",
    &["debug_run_to"],
    RunToInput => RunAnswer,
    Risk::Execute,
    run_to_location,
    plain_preview
);
debug_tool!(StopDebugging, "stop_debugging", &[], StopInput => Success<MessageBody>, Risk::Execute, stop_debugging, plain_preview);
debug_tool!(ListSessions, "list_sessions", &[], ListSessionsInput => Success<SessionsBody>, Risk::Read, list_sessions, plain_preview);

/// All debug sessions, the ended ones included as long as they are remembered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionsBody {
    sessions: Vec<SessionRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SessionRow {
    session_id: SessionId,
    name: String,
    adapter: &'static str,
    state: Phase,
    /// The session that started it, for a child process.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// The address of the program's server, by `serverReadyAction`.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

impl SessionRow {
    fn of(session: &Arc<Session>) -> Self {
        let ending = session.ending();
        Self {
            session_id: session.id.clone(),
            name: session.name.clone(),
            adapter: session.adapter.kind().name(),
            state: session.phase(),
            parent: session.parent.clone(),
            process_id: session.process_id(),
            exit_code: ending.exit_code,
            server: session.server_address(),
            failure: ending.failure,
        }
    }
}

impl DebugService {
    async fn continue_debugging(&self, ctx: &ToolContext, input: ContinueInput) -> Result<RunAnswer> {
        let session = self.debugger.session_to_resume(input.session_id.as_ref())?;
        let wait = Self::wait(ctx, input.timeout, RUN_WAIT);
        let after = self.debugger.serial();
        session.resume(input.thread_id).await?;
        let outcome = self.debugger.wait(&session, after, &wait).await;
        self.answer(outcome, &session, Self::detail_of_step(input.brief)).await
    }

    async fn step_execution(&self, ctx: &ToolContext, input: StepInput) -> Result<RunAnswer> {
        let session = self.debugger.session_to_resume(input.session_id.as_ref())?;
        let wait = Self::wait(ctx, input.timeout, STEP_WAIT);
        let step = match input.step_type {
            StepType::Over => Step::Over,
            StepType::Into => Step::Into,
            StepType::Out => Step::Out,
        };
        let mut left = input.count.unwrap_or(1).clamp(1, 1000);
        loop {
            let after = self.debugger.serial();
            session.step(input.thread_id, step).await?;
            let outcome = self.debugger.wait(&session, after, &wait).await;
            left -= 1;
            let goes_on = matches!(&outcome, Outcome::Stopped(stopped, stop) if stopped.id == session.id && stop.reason == StopReason::Step);
            if left == 0 || !goes_on {
                return self.answer(outcome, &session, Self::detail_of_step(input.brief)).await;
            }
        }
    }

    async fn wait_for_stop(&self, ctx: &ToolContext, input: WaitInput) -> Result<RunAnswer> {
        let session = self.debugger.session_to_resume(input.session_id.as_ref())?;
        let wait = Self::wait(ctx, input.timeout, RUN_WAIT);
        // A stop that is there already is what was waited for.
        let after = session.stop().map_or(self.debugger.serial(), |stop| stop.serial - 1);
        let outcome = self.debugger.wait(&session, after, &wait).await;
        self.answer(outcome, &session, Self::detail(input.brief)).await
    }

    async fn pause_debugging(&self, ctx: &ToolContext, input: PauseInput) -> Result<RunAnswer> {
        let session = self.debugger.session_in_tree(input.session_id.as_ref())?;
        let wait = Self::wait(ctx, input.timeout, STEP_WAIT);
        let detail = Self::detail(input.brief);
        if let Some(stop) = session.stop() {
            if let Some(thread) = input.thread_id {
                session.check_thread(thread).await?;
            }
            return self.answer(Outcome::Stopped(Arc::clone(&session), stop), &session, detail).await;
        }
        let outcome = self.debugger.pause(&session, input.thread_id, &wait).await?;
        self.answer(outcome, &session, detail).await
    }

    async fn run_to_location(&self, ctx: &ToolContext, input: RunToInput) -> Result<RunAnswer> {
        let session = self.debugger.session_to_resume(input.session_id.as_ref())?;
        let wait = Self::wait(ctx, input.timeout, RUN_WAIT);
        let path = self.file(&input.file_path)?;
        session.stopped()?;
        let bindings = session.set_probes(&path, vec![input.line_number]).await?;
        let bound = bindings.iter().find(|binding| binding.wanted_line == input.line_number);
        if let Some(binding) = bound
            && !binding.verified
            && let Some(message) = &binding.message
        {
            let message = message.clone();
            session.set_probes(&path, Vec::new()).await?;
            return Err(Error::parameter(format!(
                "line {} cannot be stopped at: {message}",
                input.line_number
            )));
        }
        let after = self.debugger.serial();
        session.resume(None).await?;
        let outcome = self.debugger.wait(&session, after, &wait).await;
        // The place is taken back even if the program never came there.
        session.set_probes(&path, Vec::new()).await.ok();
        self.answer(outcome, &session, Self::detail_of_step(input.brief)).await
    }

    async fn stop_debugging(&self, _: &ToolContext, input: StopInput) -> Result<Success<MessageBody>> {
        let ending: Vec<Arc<Session>> = match &input.session_id {
            Some(id) => vec![self.debugger.session(Some(id))?],
            None => self.debugger.sessions(),
        };
        let ending: Vec<_> = ending.into_iter().filter(|session| !session.phase().is_over()).collect();
        if ending.is_empty() {
            return Err(Error::State {
                what: match &input.session_id {
                    Some(id) => format!("session {id} is over already"),
                    None => "there is no debug session to stop".to_owned(),
                },
                hint: "`list_sessions` lists them; `start_debugging` starts one".to_owned(),
            });
        }
        let told = match ending.as_slice() {
            [session] => format!("session {}", session.id),
            several => format!("{} sessions", several.len()),
        };
        // Adapters may take seconds to let go; the end goes on while the answer is read.
        let debugger = Arc::clone(&self.debugger);
        let work = tokio::spawn(async move { debugger.end_each(&ending).await });
        let message = match tokio::time::timeout(ANSWER_WITHIN, work).await {
            Ok(_) => format!("ended {told}"),
            Err(_) => format!("{told} was asked to end and is ending"),
        };
        Ok(Success::new(MessageBody { message }))
    }

    async fn list_sessions(&self, _: &ToolContext, _: ListSessionsInput) -> Result<Success<SessionsBody>> {
        let sessions = self.debugger.sessions().iter().map(SessionRow::of).collect();
        Ok(Success::new(SessionsBody { sessions }))
    }
}
