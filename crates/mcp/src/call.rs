//! One tool call: started, driven to its end, its questions carried to the client and back.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitResult, InputRequest, InputRequests,
    InputRequiredResult,
};
use rmcp::service::ServiceError;
use serde_json::Value;
use stepwell_protocol::{TaskId, ToolCall, ToolCallId};
use stepwell_tool_runtime::{CallEnv, CallSetup, LoopGuard, LoopLimits, Outcome, RegisteredTool};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::asking::{Pending, can_ask};
use crate::connection::Client;
use crate::host::{CallHost, Signal, WAITING_SIGNALS};
use crate::parked::PATIENCE;
use crate::ports::ServedWorkspace;
use crate::result::call_result;
use crate::server::Shared;

/// The name of the one question in `inputRequests`.
const QUESTION: &str = "answer";
/// Progress is told at most this often.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);
/// A call that is silent this long says that it still runs.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// A call that runs. Dropping it cancels it: nothing runs for nobody.
pub(crate) struct Run {
    tool: Arc<RegisteredTool>,
    arguments: Value,
    outcome: JoinHandle<Outcome>,
    signals: mpsc::Receiver<Signal>,
    cancel: CancellationToken,
    started: Instant,
    /// Its place among the calls that may run at once.
    _place: OwnedSemaphorePermit,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Run {
    fn start(
        shared: &Shared,
        workspace: &Arc<ServedWorkspace>,
        task: TaskId,
        tool: Arc<RegisteredTool>,
        arguments: Value,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let (sender, signals) = mpsc::channel(WAITING_SIGNALS);
        let cancel = shared.cancel.child_token();
        let setup = CallSetup {
            task,
            host: Arc::new(CallHost::new(sender, Arc::clone(&shared.artifacts))),
            cancel: cancel.clone(),
            permission: Arc::clone(&workspace.permission),
            // Whether a model goes in circles is seen by the client, which has the conversation.
            loop_guard: Arc::new(LoopGuard::new(LoopLimits::OFF)),
            hooks: Arc::clone(&workspace.hooks),
            permission_mode: workspace.permission_mode,
            transcript_path: PathBuf::new(),
            tools: Arc::clone(&shared.gate),
        };
        let env = CallEnv::new(Arc::clone(&workspace.services), setup);
        let call = ToolCall {
            id: ToolCallId::generate(),
            name: tool.name().to_owned(),
            arguments: arguments.clone(),
            opaque: None,
        };
        let executor = Arc::clone(&workspace.services.executor);
        let outcome = shared.tracker.spawn(async move { executor.execute(&call, &env).await });
        Self { tool, arguments, outcome, signals, cancel, started: Instant::now(), _place: place }
    }

    pub(crate) fn is_for(&self, name: &str, arguments: &Value) -> bool {
        (self.tool.name() == name || self.tool.spec().aliases.contains(&name)) && self.arguments == *arguments
    }
}

/// Answers `tools/call`.
pub(crate) async fn answer(
    shared: &Arc<Shared>,
    workspace: &Arc<ServedWorkspace>,
    mut params: CallToolRequestParams,
    client: &Client<'_>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = Value::Object(params.arguments.take().unwrap_or_default());
    if params.request_state.is_some() {
        return resume(shared, params, &arguments, client).await;
    }
    let tool = find(shared, workspace, &params.name)?;
    let place = place(shared, client).await?;
    let run = Run::start(shared, workspace, client.task(), tool, arguments, place);
    drive(shared, run, client).await
}

/// Goes on with a call that waits for the answer this request brings.
async fn resume(
    shared: &Arc<Shared>,
    params: CallToolRequestParams,
    arguments: &Value,
    client: &Client<'_>,
) -> Result<CallToolResponse, ErrorData> {
    let state = params.request_state.unwrap_or_default();
    let Some((run, pending)) = shared.parked.take(&state, &params.name, arguments) else {
        return Err(ErrorData::invalid_params(
            "no call waits for this requestState: it was answered, came too late, or belongs to another call; make the \
             call again without it",
            None,
        ));
    };
    let given = params.input_responses.unwrap_or_default();
    let answer =
        given.get(QUESTION).and_then(|value| serde_json::from_value::<ElicitResult>(value.clone()).ok());
    let Some(answer) = answer else { return park(shared, run, pending) };
    pending.answer(&answer);
    drive(shared, run, client).await
}

/// Calls that may run at once, and that may wait for that.
#[derive(Debug)]
pub(crate) struct Places {
    running: Arc<Semaphore>,
    known: Semaphore,
}

impl Default for Places {
    fn default() -> Self {
        Self { running: Arc::new(Semaphore::new(64)), known: Semaphore::new(512) }
    }
}

/// Waits for a place, in turn. A client that sends more calls than can wait is told so.
async fn place(shared: &Shared, client: &Client<'_>) -> Result<OwnedSemaphorePermit, ErrorData> {
    let too_many = || ErrorData::internal_error("too many calls wait already; wait for their answers", None);
    let _known = shared.places.known.try_acquire().map_err(|_| too_many())?;
    tokio::select! {
        place = Arc::clone(&shared.places.running).acquire_owned() => place.map_err(|_| too_many()),
        () = client.cancelled() => Err(ErrorData::internal_error("the call was cancelled before it ran", None)),
    }
}

fn find(shared: &Shared, workspace: &ServedWorkspace, name: &str) -> Result<Arc<RegisteredTool>, ErrorData> {
    let registry = workspace.services.executor.registry();
    let message = match registry.get(name) {
        Some(tool) if tool.is_enabled() && shared.gate.check(&tool).is_ok() => return Ok(tool),
        Some(tool) => shared.offer.why_not(workspace, &tool),
        None => {
            let near = registry.suggestions(name);
            let help = if near.is_empty() {
                "tools/list has them all".to_owned()
            } else {
                format!("did you mean {}?", near.join(" or "))
            };
            format!("there is no tool `{name}`; {help}")
        }
    };
    Err(ErrorData::invalid_params(message, None))
}

/// Lets the call run on without a client that waits, and asks for the answer.
fn park(shared: &Arc<Shared>, run: Run, pending: Pending) -> Result<CallToolResponse, ErrorData> {
    let Some(form) = pending.form() else {
        pending.nobody();
        return Err(ErrorData::internal_error("the question cannot be put into a form", None));
    };
    let state = shared.parked.keep(run, pending).ok_or_else(|| {
        ErrorData::internal_error("too many calls wait for an answer; answer those first", None)
    })?;
    let requests =
        InputRequests::from([(QUESTION.to_owned(), InputRequest::Elicitation(ElicitRequest::new(form)))]);
    Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
}

/// Follows a call until it ends, is cancelled or has to wait for the client's next request.
async fn drive(
    shared: &Arc<Shared>,
    mut run: Run,
    client: &Client<'_>,
) -> Result<CallToolResponse, ErrorData> {
    let mut progress = Progress::new(client, run.started);
    loop {
        tokio::select! {
            outcome = &mut run.outcome => return ended(outcome, &run.tool),
            Some(signal) = run.signals.recv() => match signal {
                Signal::Progress(line) => progress.tell(line).await,
                Signal::Notice(text) => client.notice(&text).await,
                Signal::Approve(request, reply) => {
                    let pending = Pending::Approval(request, reply);
                    if let Some(pending) = ask(client, &mut progress, pending).await {
                        return park(shared, run, pending);
                    }
                }
                Signal::Ask(question, reply) => {
                    let pending = Pending::Question(question, reply);
                    if let Some(pending) = ask(client, &mut progress, pending).await {
                        return park(shared, run, pending);
                    }
                }
            },
            () = progress.next_beat() => progress.beat().await,
            () = client.cancelled() => {
                run.cancel.cancel();
                // The executor gives a tool its grace and then drops it, so this ends.
                let outcome = (&mut run.outcome).await;
                return ended(outcome, &run.tool);
            }
        }
    }
}

fn ended(
    outcome: Result<Outcome, tokio::task::JoinError>,
    tool: &RegisteredTool,
) -> Result<CallToolResponse, ErrorData> {
    match outcome {
        Ok(outcome) => Ok(call_result(outcome, tool).into()),
        Err(error) => Err(ErrorData::internal_error(format!("the call broke off: {error}"), None)),
    }
}

/// Carries a question to the person. Gives it back when the client must be answered first.
async fn ask(client: &Client<'_>, progress: &mut Progress<'_>, pending: Pending) -> Option<Pending> {
    if !can_ask(client.capabilities().as_ref()) {
        pending.nobody();
        return None;
    }
    if client.is_stateless() {
        return Some(pending);
    }
    let Some(form) = pending.form() else {
        pending.nobody();
        return None;
    };
    match progress.while_waiting(client.elicit(form, PATIENCE)).await {
        Some(Ok(result)) => pending.answer(&result),
        Some(Err(ServiceError::Timeout { .. })) | None => pending.too_late(),
        Some(Err(_)) => pending.nobody(),
    }
    None
}

/// Tells the client that a call goes on, where it wants to know.
struct Progress<'a> {
    client: &'a Client<'a>,
    started: Instant,
    count: u32,
    last: Option<Instant>,
    waiting: Option<String>,
    ticks: Interval,
}

impl<'a> Progress<'a> {
    fn new(client: &'a Client<'a>, started: Instant) -> Self {
        let mut ticks = tokio::time::interval_at(Instant::now() + PROGRESS_PAUSE, PROGRESS_PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { client, started, count: 0, last: None, waiting: None, ticks }
    }

    async fn tell(&mut self, line: String) {
        if self.last.is_some_and(|last| last.elapsed() < PROGRESS_PAUSE) {
            // The newest line counts; it is told with the next beat.
            self.waiting = Some(line);
        } else {
            self.send(line).await;
        }
    }

    /// Waits for the time to tell something; for ever where nobody wants to know.
    async fn next_beat(&mut self) {
        if self.client.wants_progress() {
            self.ticks.tick().await;
        } else {
            std::future::pending::<()>().await;
        }
    }

    async fn beat(&mut self) {
        if let Some(line) = self.waiting.take() {
            self.send(line).await;
        } else if self.last.unwrap_or(self.started).elapsed() >= HEARTBEAT {
            self.send(format!("still running after {} s", self.started.elapsed().as_secs())).await;
        }
    }

    async fn send(&mut self, line: String) {
        self.waiting = None;
        self.last = Some(Instant::now());
        self.count += 1;
        self.client.progress(f64::from(self.count), line).await;
    }

    /// Goes on telling that the call runs while something is waited for. `None` when the client cancels.
    async fn while_waiting<T>(&mut self, wait: impl Future<Output = T>) -> Option<T> {
        let client = self.client;
        let mut wait = std::pin::pin!(wait);
        loop {
            tokio::select! {
                done = &mut wait => return Some(done),
                () = client.cancelled() => return None,
                () = self.next_beat() => self.beat().await,
            }
        }
    }
}
