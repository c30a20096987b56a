//! Condensing: what the model is sent of a long task becomes shorter, and what it must not forget stays word for word.
//!
//! First large outputs of older calls are replaced by a line that names the file they can be read from again. Where that
//! is not enough, the model sums up the older turns. The goal stays as it was said; plan, todo list, later words of the
//! person, breakpoints, refuted hypotheses and edited files stand word for word beside the summary. The log keeps the
//! originals, and each step can be undone. A summary that fails changes nothing.

mod pinned;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use stepwell_llm::{Delta, Model, Request, RequestOptions, estimate_message, estimate_text};
use stepwell_protocol::{
    CondenseReason, Condensing, DroppedOutput, Event, Message, MessageId, Part, Role, Usage,
};
use stepwell_tool_runtime::WorkspaceServices;
use stepwell_workspace::files::{self, Privacy};
use tokio_util::sync::CancellationToken;

use crate::error::{Result, broken};
use crate::session::Session;

/// Outputs larger than this are left out first, in bytes.
const LARGE_OUTPUT: usize = 1_500;
/// The newest messages, whose outputs are still needed.
const FRESH_MESSAGES: usize = 6;
/// The newest messages that are not summed up take this share of the window at most, in percent.
const KEPT_PERCENT: u64 = 25;
/// The same where the person asks for it, of what the context takes now.
const KEPT_BY_HAND_PERCENT: u64 = 15;
/// Dropping outputs alone is enough where the context comes below this share of the limit, in percent.
const ENOUGH_PERCENT: u64 = 70;
/// Fewer messages than this are not worth a summary.
const FEWEST: usize = 4;
/// How long the model may take for a summary.
const DEADLINE: Duration = Duration::from_secs(180);
/// Longest text of one message in the request for a summary, in bytes.
const EXCERPT: usize = 4_000;
/// A failed or useless attempt is repeated only once the context has grown by this share of the window, in percent.
const GROWTH_PERCENT: u64 = 10;

const PROMPT: &str = "You condense the middle of a software engineer's working session so that the work can go on without \
it. Write what a successor must know, in the imperative and in facts: what was found out and where (`path:line`, names, \
values, commands and what they showed), what was changed and why, what was tried and did not work, decisions and their \
reasons, what is half done, and the next step. Do not repeat the user's goal. Do not call tools. No preamble. At most \
600 words.";

/// When the context of a task is condensed, and what became of the last attempt.
#[derive(Debug, Default)]
pub struct Condenser {
    /// The size after the last attempt; nothing is tried again before the context has grown.
    last_tokens: Option<u64>,
}

/// What a task's context is condensed with.
pub struct CondenseParts<'a> {
    pub session: &'a Arc<Session>,
    pub services: &'a WorkspaceServices,
    pub model: &'a Arc<dyn Model>,
    pub model_name: &'a str,
    pub window: u64,
    /// The estimate of the whole request.
    pub tokens: u64,
    pub reason: CondenseReason,
    pub cancel: &'a CancellationToken,
}

/// What came of condensing.
#[derive(Debug, PartialEq, Eq)]
pub enum Condensed {
    /// The context is shorter.
    Done,
    /// There is nothing to leave out.
    Nothing,
    /// The summary failed, and nothing was changed by it.
    Failed(String),
    Cancelled,
}

impl Condenser {
    /// Whether the context has reached its share of the window since the last attempt.
    pub fn is_due(&self, tokens: u64, window: u64, percent: u64) -> bool {
        let grown = self.last_tokens.is_none_or(|last| tokens >= last + window * GROWTH_PERCENT / 100);
        percent > 0 && tokens >= window * percent / 100 && grown
    }

    /// Makes the context shorter. Whatever happens, the next attempt waits until the context has grown.
    pub async fn condense(&mut self, parts: &CondenseParts<'_>) -> Result<Condensed> {
        self.last_tokens = Some(parts.tokens);
        let saved = drop_outputs(parts).await?;
        let left = parts.tokens.saturating_sub(saved);
        let enough = parts.reason == CondenseReason::Window && left < parts.tokens * ENOUGH_PERCENT / 100;
        if enough {
            self.last_tokens = Some(left);
            return Ok(Condensed::Done);
        }
        let outcome = summarise(parts, left).await?;
        if let Summarised::Done { tokens } = outcome {
            self.last_tokens = Some(tokens);
            return Ok(Condensed::Done);
        }
        Ok(match outcome {
            Summarised::Cancelled => Condensed::Cancelled,
            _ if saved > 0 => Condensed::Done,
            Summarised::Failed(reason) => Condensed::Failed(reason),
            Summarised::Nothing | Summarised::Done { .. } => Condensed::Nothing,
        })
    }
}

/// Leaves out large outputs of older calls; gives the tokens that saves. Each is written to a file first.
async fn drop_outputs(parts: &CondenseParts<'_>) -> Result<u64> {
    let history = parts.session.messages();
    let older = &history[..history.len().saturating_sub(FRESH_MESSAGES)];
    let large: Vec<_> = older
        .iter()
        .flat_map(|message| message.tool_results())
        .filter(|result| result.output.len() > LARGE_OUTPUT)
        .cloned()
        .collect();
    if large.is_empty() {
        return Ok(0);
    }
    let folder = parts.session.artifact_dir()?;
    let written = tokio::task::spawn_blocking(move || {
        let mut outputs = Vec::with_capacity(large.len());
        let mut saved = 0;
        for result in large {
            // Ids of calls come from the model's server: only what is harmless in a name is used of them.
            let name: String =
                result.call_id.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
            let path = folder.join(format!("output-{name}.txt"));
            files::write_atomic(&path, result.output.as_bytes(), Privacy::Private)?;
            saved += estimate_text(&result.output);
            let (bytes, path) = (result.output.len() as u64, path.display().to_string());
            outputs.push(DroppedOutput { call_id: result.call_id, bytes, path });
        }
        Ok::<_, stepwell_workspace::Error>((outputs, saved))
    });
    let (outputs, saved) = written.await.map_err(broken)??;
    parts.session.record(vec![Event::OutputsDropped { outputs }]).await?;
    Ok(saved)
}

enum Summarised {
    Done { tokens: u64 },
    Nothing,
    Failed(String),
    Cancelled,
}

async fn summarise(parts: &CondenseParts<'_>, tokens: u64) -> Result<Summarised> {
    let history = parts.session.messages();
    let goal = history.iter().position(|message| message.role == Role::User);
    let first = goal.map_or(0, |goal| goal + 1);
    let kept = match parts.reason {
        CondenseReason::Window | CondenseReason::Overflow => parts.window * KEPT_PERCENT / 100,
        CondenseReason::Person => tokens.min(parts.window) * KEPT_BY_HAND_PERCENT / 100,
    };
    let Some(cut) = cut(&history, first, kept) else {
        return Ok(Summarised::Nothing);
    };
    let older = &history[first..cut];
    let request = request(parts, older);
    let (text, usage) = match receive(parts.model, request, parts.cancel).await {
        Received::Whole(text, usage) => (text, usage),
        Received::Cancelled => return Ok(Summarised::Cancelled),
        Received::Failed(reason) => return Ok(Summarised::Failed(reason)),
    };
    let mut events = Vec::new();
    if let Some(usage) = usage {
        parts.session.spend(usage);
        events.push(Event::Usage { model: parts.model_name.to_owned(), usage });
    }
    let summary = parts.services.redactor.redact(text.trim()).into_owned();
    let replaced: u64 = older.iter().map(|message| estimate_message(message)).sum();
    let kept_from = history.get(cut).map(|message| message.id.clone());
    let pinned = pinned::pinned(parts, kept_from.as_ref());
    let costs = estimate_text(&summary) + estimate_text(&pinned);
    let fault = if summary.is_empty() {
        Some("the model gave an empty summary")
    } else if costs >= replaced {
        Some("the summary would be longer than what it stands for")
    } else {
        None
    };
    if let Some(fault) = fault {
        if !events.is_empty() {
            parts.session.record(events).await?;
        }
        return Ok(Summarised::Failed(fault.to_owned()));
    }
    let tokens_after = tokens.saturating_sub(replaced) + costs;
    events.push(Event::ContextCondensed {
        condensing: Condensing {
            message_id: MessageId::generate(),
            summary,
            pinned,
            kept_from,
            replaced: older.len() as u64,
            tokens_before: parts.tokens,
            tokens_after,
            reason: parts.reason,
        },
    });
    parts.session.record(events).await?;
    Ok(Summarised::Done { tokens: tokens_after })
}

/// Where the messages begin that are kept as they are: the newest ones within so many tokens. Never before a tool's
/// result, and never so that fewer than [`FEWEST`] messages would be summed up.
fn cut(history: &[Arc<Message>], first: usize, room: u64) -> Option<usize> {
    let mut kept = 0;
    let begins = |message: &Message| message.role != Role::Tool && !message.is_environment_details();
    let mut at = None;
    for index in (first..history.len()).rev() {
        kept += estimate_message(&history[index]);
        if kept > room {
            break;
        }
        if begins(&history[index]) {
            at = Some(index);
        }
    }
    // The newest exchange is kept even where it alone is longer.
    let newest = || history.iter().rposition(|message| begins(message));
    let at = at.or_else(newest)?;
    (at >= first + FEWEST).then_some(at)
}

/// The request for a summary. It fits the window, whatever the messages hold.
fn request(parts: &CondenseParts<'_>, older: &[Arc<Message>]) -> Request {
    let answer = (parts.window / 8).clamp(256, 2_048);
    let room = (parts.window / 2).saturating_sub(answer) as usize;
    let mut excerpt = EXCERPT;
    let mut text = transcript(older, excerpt);
    // Shorter excerpts of each message, down to a line; then the oldest are left out.
    while estimate_text(&text) as usize > room && excerpt > 100 {
        excerpt /= 2;
        text = transcript(older, excerpt);
    }
    while estimate_text(&text) as usize > room && text.len() > 1_000 {
        let rest = text.ceil_char_boundary(text.len() / 4);
        text = format!("[older messages are left out]\n{}", &text[rest..]);
    }
    let goal = parts.session.read_summary(|summary| summary.first_user_text.clone()).unwrap_or_default();
    let message = Message::user(format!(
        "The user's goal, for your orientation:\n{goal}\n\nThe part of the session to condense:\n\n{text}\n\nWrite the \
         condensed version now."
    ));
    Request {
        system: PROMPT.into(),
        messages: vec![Arc::new(message)],
        tools: Arc::new([]),
        deferred: Arc::new([]),
        options: RequestOptions { max_output_tokens: Some(answer), ..RequestOptions::default() },
    }
}

/// Messages as text, each shortened in its middle.
fn transcript(messages: &[Arc<Message>], excerpt: usize) -> String {
    let mut text = String::new();
    for part in messages.iter().flat_map(|message| message.parts.iter().map(move |part| (message.role, part)))
    {
        let (who, said) = match part {
            (Role::User, Part::Text { text }) => ("User", text.clone()),
            (_, Part::Text { text }) => ("Engineer", text.clone()),
            (_, Part::ToolCall { call }) => ("Call", format!("{} {}", call.name, call.arguments)),
            (_, Part::ToolResult { result }) => ("Result", result.output.clone()),
            (_, Part::Reasoning { .. } | Part::Image { .. }) => continue,
        };
        text.push_str(who);
        text.push_str(": ");
        text.push_str(&shortened(said, excerpt));
        text.push('\n');
    }
    text
}

fn shortened(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    format!("{} [...] {}", &text[..head], &text[tail..])
}

enum Received {
    Whole(String, Option<Usage>),
    Failed(String),
    Cancelled,
}

/// The model's answer to a request that nobody sees.
async fn receive(model: &Arc<dyn Model>, request: Request, cancel: &CancellationToken) -> Received {
    let mut stream = model.stream(request);
    let collect = async {
        let (mut text, mut used) = (String::new(), None);
        while let Some(delta) = stream.next().await {
            match delta {
                Ok(Delta::Text(more)) => text.push_str(&more),
                Ok(Delta::Usage(usage)) => used = Some(usage),
                Ok(Delta::Restarted) => text.clear(),
                Ok(_) => {}
                Err(error) => return Received::Failed(error.to_string()),
            }
        }
        Received::Whole(text, used)
    };
    tokio::select! {
        () = cancel.cancelled() => Received::Cancelled,
        received = tokio::time::timeout(DEADLINE, collect) => {
            let late = || Received::Failed(format!("no summary within {} s", DEADLINE.as_secs()));
            received.unwrap_or_else(|_| late())
        }
    }
}
