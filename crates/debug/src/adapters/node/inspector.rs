//! The adapter itself: takes requests of the Debug Adapter Protocol and asks Node's inspector.
//!
//! What changes the program is done in the order it was asked for; what only looks is answered side by side, so that an
//! expression that does not end keeps nobody else from pausing or leaving.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream, WriteHalf};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::breakpoints::BreakpointTable;
use super::cdp::{Failure, Wire};
use super::exceptions::PauseOn;
use super::launch::LaunchMode;
use super::target::Target;
use super::values::References;
use crate::adapters::in_process::{CloseReason, ProgramHost};
use crate::adapters::{Located, in_process};
use crate::dap::{Envelope, Incoming, Link, MessageReader, frame};

/// Messages that may wait until the session reads them.
const WRITE_QUEUE: usize = 256;
/// Requests that change something and wait for their turn.
const MOST_WAITING: usize = 256;
/// Requests that only look, at the same time.
const MOST_SNAPSHOTS: usize = 64;
/// How long Node may take for one answer about a program.
const ANSWER: Duration = Duration::from_secs(12);
/// How long Node may take to start, with what is loaded before the program.
const START: Duration = Duration::from_secs(25);

/// What a request comes to: its answer's body, or why there is none.
pub(crate) type Answer = Result<Value, String>;

pub(crate) struct Inspector {
    pub node: Located,
    pub program_host: Arc<dyn ProgramHost>,
    pub close_reason: CloseReason,
    pub wire: OnceLock<Arc<Wire>>,
    pub targets: Mutex<Vec<Arc<Target>>>,
    pub places: Mutex<BreakpointTable>,
    pub pause_on: Mutex<PauseOn>,
    pub references: Mutex<References>,
    pub mode: OnceLock<LaunchMode>,
    /// The thread whose stop was told; others wait until it goes on.
    pub told: Mutex<Option<i64>>,
    /// Rises with every stop.
    pub stops: AtomicU64,
    /// The number of the newest thread; the main one is 1.
    pub last_thread: AtomicI64,
    /// Why the connection to Node was lost, where we did not want it.
    pub lost: watch::Sender<Option<String>>,
    pub start_time: Duration,
    pub answer_time: Duration,
    /// Ends the connection to Node.
    pub let_go: CancellationToken,
    /// Ends everything.
    pub over: CancellationToken,
    seq: AtomicI64,
    outgoing: mpsc::Sender<Vec<u8>>,
    looks: Arc<Semaphore>,
}

impl Inspector {
    /// Starts the adapter; the connection to it.
    pub(crate) fn serve(node: Located, program_host: Arc<dyn ProgramHost>, time: Duration) -> Link {
        let (link, ours, close_reason) = in_process::connected();
        let (reader, writer) = tokio::io::split(ours);
        let (outgoing, queue) = mpsc::channel(WRITE_QUEUE);
        let over = CancellationToken::new();
        let inspector = Arc::new(Self {
            node,
            program_host,
            close_reason,
            wire: OnceLock::new(),
            targets: Mutex::default(),
            places: Mutex::default(),
            pause_on: Mutex::default(),
            references: Mutex::default(),
            mode: OnceLock::new(),
            told: Mutex::default(),
            stops: AtomicU64::new(0),
            last_thread: AtomicI64::new(1),
            lost: watch::Sender::new(None),
            // Sooner than the session gives up: what is told here says more.
            start_time: START.min(time * 3 / 4),
            answer_time: ANSWER.min(time / 4),
            let_go: over.child_token(),
            over: over.clone(),
            seq: AtomicI64::new(1),
            outgoing,
            looks: Arc::new(Semaphore::new(MOST_SNAPSHOTS)),
        });
        tokio::spawn(write_on(writer, queue, over));
        tokio::spawn(inspector.listen(MessageReader::new(reader)));
        link
    }

    /// Takes requests until the session is gone.
    async fn listen(self: Arc<Self>, mut reader: MessageReader<tokio::io::ReadHalf<DuplexStream>>) {
        let (lane, turns) = mpsc::channel(MOST_WAITING);
        tokio::spawn(Arc::clone(&self).in_turn(turns));
        loop {
            let incoming = tokio::select! {
                incoming = reader.next() => incoming,
                () = self.over.cancelled() => break,
            };
            let request = match incoming {
                Ok(Incoming::Message(message)) if message.kind == "request" => message,
                Ok(_) => continue,
                Err(_gone) => break,
            };
            match request.command.as_str() {
                "initialize" => self.reply(&request, Ok(capabilities())).await,
                "disconnect" => {
                    let answer = self.disconnect().await;
                    self.reply(&request, answer).await;
                }
                "evaluate" | "variables" | "scopes" | "stackTrace" | "threads" | "setVariable"
                | "setExpression" | "exceptionInfo" | "source" => {
                    let Ok(turn) = Arc::clone(&self.looks).acquire_owned().await else { break };
                    let inspector = Arc::clone(&self);
                    tokio::spawn(async move {
                        let answer = inspector.look(&request).await;
                        inspector.reply(&request, answer).await;
                        drop(turn);
                    });
                }
                _ => {
                    if lane.send(request).await.is_err() {
                        break;
                    }
                }
            }
        }
        self.over.cancel();
    }

    /// Answers what changes something, one after the other.
    async fn in_turn(self: Arc<Self>, mut turns: mpsc::Receiver<Envelope>) {
        while let Some(request) = turns.recv().await {
            let answer = tokio::select! {
                answer = self.act(&request) => answer,
                () = self.over.cancelled() => return,
            };
            self.reply(&request, answer).await;
            self.afterwards(&request.command).await;
        }
    }

    async fn act(self: &Arc<Self>, request: &Envelope) -> Answer {
        let arguments = arguments_of(request);
        match request.command.as_str() {
            "launch" => self.launch(&arguments).await,
            "attach" => self.attach(&arguments).await,
            "setBreakpoints" => self.set_breakpoints(&arguments).await,
            "setExceptionBreakpoints" => self.set_exception_breakpoints(&arguments).await,
            "configurationDone" => self.configured().await,
            "continue" => self.resume(&arguments).await,
            "next" => self.step(&arguments, "Debugger.stepOver").await,
            "stepIn" => self.step(&arguments, "Debugger.stepInto").await,
            "stepOut" => self.step(&arguments, "Debugger.stepOut").await,
            "pause" => self.pause(&arguments).await,
            other => Err(format!("`{other}` is not supported")),
        }
    }

    async fn look(self: &Arc<Self>, request: &Envelope) -> Answer {
        let arguments = arguments_of(request);
        match request.command.as_str() {
            "threads" => Ok(self.threads()),
            "stackTrace" => self.stack_trace(&arguments),
            "scopes" => self.scopes(&arguments),
            "variables" => self.variables(&arguments).await,
            "evaluate" => self.evaluate(&arguments).await,
            "setVariable" => self.set_variable(&arguments).await,
            "setExpression" => self.set_expression(&arguments).await,
            "exceptionInfo" => self.exception_info(&arguments).await,
            "source" => self.source(&arguments).await,
            other => Err(format!("`{other}` is not supported")),
        }
    }

    /// What must be said only when the answer is on its way.
    async fn afterwards(self: &Arc<Self>, command: &str) {
        if command == "continue" {
            self.tell_next().await;
        }
    }

    async fn reply(&self, request: &Envelope, answer: Answer) {
        let seq = self.seq.fetch_add(1, Ordering::Relaxed);
        let (request_seq, command) = (request.seq, &request.command);
        let message = match answer {
            Ok(body) => json!({ "seq": seq, "type": "response", "request_seq": request_seq,
                "success": true, "command": command, "body": body }),
            Err(reason) => json!({ "seq": seq, "type": "response", "request_seq": request_seq,
                "success": false, "command": command, "message": reason }),
        };
        self.send(&message).await;
    }

    /// Says something to the session.
    pub(crate) async fn tell(&self, event: &str, body: Value) {
        let seq = self.seq.fetch_add(1, Ordering::Relaxed);
        self.send(&json!({ "seq": seq, "type": "event", "event": event, "body": body })).await;
    }

    async fn send(&self, message: &Value) {
        if let Ok(frame) = frame(message) {
            self.outgoing.send(frame).await.ok();
        }
    }

    pub(crate) async fn print(&self, category: &str, text: &str) {
        if !text.is_empty() {
            self.tell("output", json!({ "category": category, "output": text })).await;
        }
    }

    /// Gives up, with a reason that the session reads.
    pub(crate) fn give_up(&self, reason: String) {
        self.close_reason.say(reason);
        self.over.cancel();
    }

    pub(crate) fn wire(&self) -> Result<&Arc<Wire>, String> {
        self.wire.get().ok_or_else(|| "the program has not started yet".to_owned())
    }

    /// Asks a thread of the program.
    pub(crate) async fn ask(&self, target: &Target, method: &str, params: Value) -> Answer {
        self.asked(target, method, params).await.map_err(|failure| failure.to_string())
    }

    /// As [`Inspector::ask`], for whoever must know why it failed.
    pub(crate) async fn asked(&self, target: &Target, method: &str, params: Value) -> Result<Value, Failure> {
        let Some(wire) = self.wire.get() else {
            return Err(Failure::Closed("the program has not started yet".to_owned()));
        };
        wire.call(target.route.as_deref(), method, params).await
    }

    /// The thread of a request, or the main one.
    pub(crate) fn target_of(&self, arguments: &Value) -> Result<Arc<Target>, String> {
        let wanted = arguments.get("threadId").and_then(Value::as_i64);
        let targets = self.targets.lock();
        let found = targets.iter().find(|target| wanted.is_none_or(|wanted| target.thread == wanted));
        found.cloned().ok_or_else(|| match wanted {
            Some(thread) => format!("the program has no thread {thread}"),
            None => "the program has not started yet".to_owned(),
        })
    }

    pub(crate) fn target_by_route(&self, route: Option<&str>) -> Option<Arc<Target>> {
        self.targets.lock().iter().find(|target| target.route.as_deref() == route).cloned()
    }

    pub(crate) fn all_targets(&self) -> Vec<Arc<Target>> {
        self.targets.lock().clone()
    }
}

impl std::fmt::Debug for Inspector {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Inspector").field("node", &self.node.program).finish_non_exhaustive()
    }
}

fn arguments_of(request: &Envelope) -> Value {
    let text = request.arguments.as_deref().map_or("{}", serde_json::value::RawValue::get);
    serde_json::from_str(text).unwrap_or_default()
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsExceptionInfoRequest": true,
        "supportsDelayedStackTraceLoading": true,
        "supportTerminateDebuggee": true,
        "exceptionBreakpointFilters": [
            { "filter": "all", "label": "Caught Exceptions", "default": false },
            { "filter": "uncaught", "label": "Uncaught Exceptions", "default": true },
        ],
    })
}

async fn write_on(
    mut writer: WriteHalf<DuplexStream>,
    mut queue: mpsc::Receiver<Vec<u8>>,
    over: CancellationToken,
) {
    loop {
        let frame = tokio::select! {
            biased;
            frame = queue.recv() => frame,
            // What was said last still goes out.
            () = over.cancelled() => queue.try_recv().ok(),
        };
        let Some(frame) = frame else { break };
        if writer.write_all(&frame).await.is_err() {
            break;
        }
    }
    writer.shutdown().await.ok();
}
