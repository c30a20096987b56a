//! What a request may hold: within the model's window, and shorter than one that a server refused.
//!
//! Tokens are estimated before they are sent. What a server counts (in its answers, and in its refusals) corrects the
//! estimate. Where the window is too small for all tools and the whole prompt, both are told in fewer words.

use std::sync::Arc;

use stepwell_llm::{Overflow, RequestOptions, WindowSize, estimate_text, estimate_tool};
use stepwell_protocol::{Message, ToolDefinition, Usage};
use stepwell_tool_runtime::{Detail, Registry, ToolGate, at_detail};

use crate::context::{ContextWindow, DoesNotFit, Fitted};

/// Kept free for the answer when the model's own limit is not known.
const ANSWER_RESERVE: u64 = 8_192;
/// The share of the window that prompt and tools may take, in percent, at each level of detail.
const FULL_SHARE: u64 = 60;
const BRIEF_SHARE: u64 = 50;
/// An estimate of a short request says little about the server's way of counting.
const LEAST_MEASURED: u64 = 200;
/// A server that counts more than this many times the estimate counts something else.
const LARGEST_SCALE: u64 = 400;

/// The system prompt in two lengths.
#[derive(Clone, Debug)]
pub struct SystemPrompt {
    pub full: Arc<str>,
    /// For windows that have no room for the other.
    pub brief: Arc<str>,
}

/// What every request of a run is made of.
pub struct RequestParts<'a> {
    pub system: &'a SystemPrompt,
    pub registry: &'a Registry,
    pub tools: &'a ToolGate,
    pub options: &'a RequestOptions,
    /// The longest answer the model gives.
    pub answer_limit: Option<u64>,
    pub window: WindowSize,
}

/// A request that fits.
#[derive(Debug)]
pub struct Built {
    pub system: Arc<str>,
    pub tools: Arc<[ToolDefinition]>,
    pub options: RequestOptions,
    pub fitted: Fitted,
}

/// Makes the requests of a run.
#[derive(Debug)]
pub struct RequestBuilder {
    history: ContextWindow,
    detail: Detail,
    fixed: Option<Fixed>,
    /// Tokens of the server for a hundred estimated ones.
    scale: u64,
    /// A request of this estimate was refused, so the next ones stay below it.
    ceiling: Option<u64>,
    /// The estimate of the last request.
    last: u64,
}

/// What is the same every turn, and its size.
#[derive(Debug)]
struct Fixed {
    offered: Arc<[ToolDefinition]>,
    detail: Detail,
    tools: Arc<[ToolDefinition]>,
    tokens: u64,
}

impl Default for RequestBuilder {
    fn default() -> Self {
        Self {
            history: ContextWindow::default(),
            detail: Detail::Full,
            fixed: None,
            scale: 100,
            ceiling: None,
            last: 0,
        }
    }
}

impl RequestBuilder {
    /// Chooses what of the history, the prompt and the tools is sent.
    pub fn build(&mut self, parts: &RequestParts<'_>, history: &[Arc<Message>]) -> Result<Built, DoesNotFit> {
        let window = parts.window.tokens;
        let limit = parts.options.max_output_tokens.or(parts.answer_limit);
        let reserve = limit.unwrap_or(ANSWER_RESERVE).min(window / 4);
        let by_window = (window - reserve) * 100 / self.scale;
        let capacity = self.ceiling.map_or(by_window, |ceiling| ceiling.min(by_window));
        loop {
            let (tools, fixed) = self.fixed(parts);
            let too_much = match self.detail {
                Detail::Full => fixed > capacity * FULL_SHARE / 100,
                Detail::Brief => fixed > capacity * BRIEF_SHARE / 100,
                Detail::Basic => false,
            };
            let shorter = self.detail.less();
            if let Some(shorter) = shorter.filter(|_| too_much) {
                self.detail = shorter;
                continue;
            }
            match (self.history.fit(history, capacity.saturating_sub(fixed)), shorter) {
                (Ok(fitted), _) => {
                    self.last = fixed + fitted.tokens;
                    let mut options = parts.options.clone();
                    let room = window.saturating_sub(self.last * self.scale / 100).max(reserve);
                    if limit.unwrap_or(ANSWER_RESERVE) > room {
                        options.max_output_tokens = Some(room);
                    }
                    return Ok(Built { system: self.system(parts), tools, options, fitted });
                }
                (Err(_), Some(shorter)) => self.detail = shorter,
                (Err(error), None) => return Err(error),
            }
        }
    }

    /// What a request with the whole history would take, as the server counts.
    pub fn size(&mut self, parts: &RequestParts<'_>, history: &[Arc<Message>]) -> u64 {
        let (_, fixed) = self.fixed(parts);
        (fixed + self.history.size(history)) * self.scale / 100
    }

    /// How much is told about the tools.
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// Learns from an answer how the server counts.
    pub fn answered(&mut self, usage: &Usage) {
        self.measured(usage.total_input());
    }

    /// Makes the next request shorter than the one that the server found too long, by its own numbers where it gave
    /// some.
    pub fn refused(&mut self, overflow: Overflow) {
        if let Some(sent) = overflow.sent {
            self.measured(sent);
        }
        let shorter = match (overflow.limit, overflow.sent) {
            // The window is known now, and so is how the server counts.
            (Some(_), Some(_)) => self.last * 15 / 16,
            (Some(_), None) => self.last * 3 / 4,
            (None, _) => self.last / 2,
        };
        self.ceiling = Some(shorter);
    }

    fn measured(&mut self, tokens: u64) {
        if self.last >= LEAST_MEASURED {
            let scale = (tokens * 100).div_ceil(self.last).min(LARGEST_SCALE);
            self.scale = self.scale.max(scale);
        }
    }

    fn system(&self, parts: &RequestParts<'_>) -> Arc<str> {
        let SystemPrompt { full, brief } = parts.system;
        Arc::clone(if self.detail == Detail::Full { full } else { brief })
    }

    /// The tools as they are told now, and the tokens of what is the same every turn; measured anew when that changes.
    fn fixed(&mut self, parts: &RequestParts<'_>) -> (Arc<[ToolDefinition]>, u64) {
        let offered = parts.tools.definitions(parts.registry);
        if let Some(fixed) = &self.fixed
            && fixed.detail == self.detail
            && Arc::ptr_eq(&fixed.offered, &offered)
        {
            return (Arc::clone(&fixed.tools), fixed.tokens);
        }
        let tools = at_detail(&offered, parts.registry, self.detail);
        let tokens = estimate_text(&self.system(parts)) + tools.iter().map(estimate_tool).sum::<u64>();
        self.fixed = Some(Fixed { offered, detail: self.detail, tools: Arc::clone(&tools), tokens });
        (tools, tokens)
    }
}
