//! Calls that run on a connection: whom progress is shown to, and who is asked what a server wants to know.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use stepwell_protocol::{Event, ToolCallId};
use stepwell_tool_runtime::{Host, Invoker, ToolContext};
use tokio::sync::watch;

/// Characters of a progress message that are shown.
const LONGEST_PROGRESS: usize = 400;

/// Signs of life of a call, which move its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignsOfLife {
    pub progress: u64,
    /// Questions to the person that are open. While there is one, the call's time stands still.
    pub questions: u32,
}

/// The calls of one connection.
#[derive(Default)]
pub(crate) struct ActiveCalls {
    calls: Mutex<Vec<ActiveCall>>,
    next: AtomicU64,
}

struct ActiveCall {
    number: u64,
    token: Option<ProgressToken>,
    /// The largest progress shown. Notifications are handled side by side, so an older one may come later.
    shown: Option<f64>,
    host: Arc<dyn Host>,
    invoker: Arc<dyn Invoker>,
    call_id: ToolCallId,
    /// Requests to the model so far.
    sampled: u32,
    signs: watch::Sender<SignsOfLife>,
}

/// A call that is listed while this exists.
pub(crate) struct Listed {
    calls: Arc<ActiveCalls>,
    number: u64,
    pub signs: watch::Receiver<SignsOfLife>,
}

impl ActiveCalls {
    /// Lists a call before its request is sent.
    pub fn begin(self: &Arc<Self>, ctx: &ToolContext) -> Listed {
        let (tell, signs) = watch::channel(SignsOfLife::default());
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.calls.lock().push(ActiveCall {
            number,
            token: None,
            shown: None,
            host: Arc::clone(&ctx.host),
            invoker: Arc::clone(&ctx.invoker),
            call_id: ctx.call_id.clone(),
            sampled: 0,
            signs: tell,
        });
        Listed { calls: Arc::clone(self), number, signs }
    }

    /// Shows a progress notification to whoever looks at its call.
    pub fn progress(&self, progress: &ProgressNotificationParam) {
        let (host, event) = {
            let mut calls = self.calls.lock();
            let by_token =
                calls.iter().position(|call| call.token.as_ref() == Some(&progress.progress_token));
            // A server may answer before the request's token is noted here.
            let only = (calls.len() == 1 && calls[0].token.is_none()).then_some(0);
            let Some(call) = by_token.or(only).and_then(|at| calls.get_mut(at)) else { return };
            call.signs.send_modify(|signs| signs.progress += 1);
            if call.shown.is_some_and(|shown| shown >= progress.progress) {
                return;
            }
            call.shown = Some(progress.progress);
            let event = Event::ToolProgress { call_id: call.call_id.clone(), text: progress_text(progress) };
            (Arc::clone(&call.host), event)
        };
        host.show(event);
    }

    /// The person behind the newest call. A server does not say which call a question belongs to.
    pub fn ask_newest(self: &Arc<Self>) -> Option<Asking> {
        self.calls.lock().last().map(ActiveCall::asking)
    }

    /// The same for a request to the model, which is counted.
    pub fn sample_newest(self: &Arc<Self>) -> Option<Asking> {
        let mut calls = self.calls.lock();
        let call = calls.last_mut()?;
        call.sampled = call.sampled.saturating_add(1);
        Some(call.asking())
    }
}

impl ActiveCall {
    fn asking(&self) -> Asking {
        self.signs.send_modify(|signs| signs.questions += 1);
        Asking {
            host: Arc::clone(&self.host),
            invoker: Arc::clone(&self.invoker),
            call_id: self.call_id.clone(),
            sampled: self.sampled,
            signs: self.signs.clone(),
        }
    }
}

impl Listed {
    /// Notes the token that the server's progress notifications will carry.
    pub fn set_token(&self, token: ProgressToken) {
        let mut calls = self.calls.calls.lock();
        if let Some(call) = calls.iter_mut().find(|call| call.number == self.number) {
            call.token = Some(token);
        }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.calls.calls.lock().retain(|call| call.number != self.number);
    }
}

/// A question to the person; the call's time stands still while it is open.
pub(crate) struct Asking {
    pub host: Arc<dyn Host>,
    pub invoker: Arc<dyn Invoker>,
    pub call_id: ToolCallId,
    /// Requests to the model of this call, this one included.
    pub sampled: u32,
    signs: watch::Sender<SignsOfLife>,
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.signs.send_modify(|signs| {
            signs.questions = signs.questions.saturating_sub(1);
            signs.progress += 1;
        });
    }
}

fn progress_text(progress: &ProgressNotificationParam) -> String {
    let count = match progress.total {
        Some(total) => format!("{}/{total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match &progress.message {
        Some(message) => {
            let message: String = message.chars().take(LONGEST_PROGRESS).collect();
            format!("{message} ({count})")
        }
        None => count,
    }
}
