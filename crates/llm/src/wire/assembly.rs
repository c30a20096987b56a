//! An answer as it comes together: keeps deltas in order and closes what was left open.

use std::collections::VecDeque;

use serde_json::Value;
use stepwell_protocol::{ToolCallId, Usage};

use crate::model::{Delta, Price, StopReason};

/// Deltas waiting to be taken. Pieces of the same kind that arrive together leave together: a burst of tiny
/// events costs whoever follows no more than one.
#[derive(Debug)]
pub(crate) struct Assembly {
    queue: VecDeque<Delta>,
    price: Option<Price>,
    reasoning_open: bool,
    calls: Vec<CallState>,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    closed: bool,
    finished: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallState {
    Empty,
    Filled,
    Ended,
}

impl Assembly {
    pub(crate) fn new(price: Option<Price>) -> Self {
        Self {
            queue: VecDeque::new(),
            price,
            reasoning_open: false,
            calls: Vec::new(),
            usage: None,
            stop: None,
            closed: false,
            finished: false,
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Delta> {
        self.queue.pop_front()
    }

    pub(crate) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.close_reasoning();
        if let Some(Delta::Text(last)) = self.queue.back_mut() {
            last.push_str(text);
        } else {
            self.queue.push_back(Delta::Text(text.to_owned()));
        }
    }

    pub(crate) fn reasoning(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.reasoning_open = true;
        if let Some(Delta::Reasoning(last)) = self.queue.back_mut() {
            last.push_str(text);
        } else {
            self.queue.push_back(Delta::Reasoning(text.to_owned()));
        }
    }

    /// Ends the reasoning so far, or stands for reasoning of which only the opaque form is shown.
    pub(crate) fn end_reasoning(&mut self, opaque: Option<Value>) {
        if self.reasoning_open || opaque.is_some() {
            self.reasoning_open = false;
            self.queue.push_back(Delta::ReasoningEnd { opaque });
        }
    }

    fn close_reasoning(&mut self) {
        if self.reasoning_open {
            self.end_reasoning(None);
        }
    }

    /// Begins a call; an id is made up where the server gives none.
    pub(crate) fn start_call(&mut self, id: &str, name: &str) -> usize {
        self.close_reasoning();
        let index = self.calls.len();
        let id = if id.is_empty() { ToolCallId::generate() } else { ToolCallId::from(id) };
        self.calls.push(CallState::Empty);
        self.queue.push_back(Delta::CallStart { index, id, name: name.to_owned() });
        index
    }

    pub(crate) fn arguments(&mut self, index: usize, json: &str) {
        if json.is_empty() || self.calls.get(index).is_none_or(|state| *state == CallState::Ended) {
            return;
        }
        self.calls[index] = CallState::Filled;
        if let Some(Delta::CallArguments { index: last, json: text }) = self.queue.back_mut()
            && *last == index
        {
            text.push_str(json);
            return;
        }
        self.queue.push_back(Delta::CallArguments { index, json: json.to_owned() });
    }

    /// Ends a call. One without arguments gets an empty object, so that what streams is always JSON.
    pub(crate) fn end_call(&mut self, index: usize, opaque: Option<Value>) {
        match self.calls.get(index) {
            None | Some(CallState::Ended) => return,
            Some(CallState::Empty) => self.arguments(index, "{}"),
            Some(CallState::Filled) => {}
        }
        self.calls[index] = CallState::Ended;
        self.queue.push_back(Delta::CallEnd { index, opaque });
    }

    pub(crate) fn has_arguments(&self, index: usize) -> bool {
        self.calls.get(index).is_some_and(|state| *state != CallState::Empty)
    }

    pub(crate) fn usage(&mut self, mut usage: Usage) {
        if usage.cost_usd.is_none() {
            usage.cost_usd = self.price.map(|price| price.cost(&usage));
        }
        self.usage = Some(usage);
    }

    pub(crate) fn stop(&mut self, reason: StopReason) {
        self.stop = Some(reason);
    }

    pub(crate) fn has_stop(&self) -> bool {
        self.stop.is_some()
    }

    /// Nothing of interest follows in the stream.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        if self.stop.is_none() {
            self.stop = Some(StopReason::EndTurn);
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Ends the answer, if the server said how it ended. Calls win over a plain end: several servers report
    /// `stop` after tool calls.
    pub(crate) fn finish(&mut self) -> bool {
        let Some(stop) = self.stop else { return false };
        if self.finished {
            return true;
        }
        self.finished = true;
        self.close_reasoning();
        for index in 0..self.calls.len() {
            self.end_call(index, None);
        }
        if let Some(usage) = self.usage {
            self.queue.push_back(Delta::Usage(usage));
        }
        let stop = match stop {
            StopReason::EndTurn if !self.calls.is_empty() => StopReason::ToolCalls,
            StopReason::ToolCalls if self.calls.is_empty() => StopReason::EndTurn,
            other => other,
        };
        self.queue.push_back(Delta::Stop(stop));
        true
    }
}
