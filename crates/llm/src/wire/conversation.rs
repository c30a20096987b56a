//! A history as every wire format wants it: the person and the model by turns, each call answered.
//!
//! The rules that the formats share are kept here once. A history begins and ends with input (the person's
//! words or tool results); several messages in a row of one side are one turn; a call that was never answered,
//! because the run was cut off, is answered with that fact; a result whose call is no longer in the history is
//! told as text.

use std::sync::Arc;

use stepwell_protocol::{Message, Part, Role, ToolCall, ToolResult};

/// What stands for the result of a call that has none.
pub(crate) const NO_RESULT: &str = "No result: the run was interrupted before this call finished.";

/// Stands where a model that reads no images would have seen one.
pub(crate) const IMAGE_OMITTED: &str = "[image left out: this model does not read images]";

/// Asks the model to go on where a history ends with its own words.
const CONTINUE: &str = "Continue.";

/// Stands at the beginning of a history whose first messages are gone.
const EARLIER_LEFT_OUT: &str = "(Earlier messages were left out.)";

#[derive(Debug, PartialEq)]
pub(crate) enum Turn<'a> {
    Input {
        messages: Vec<Arc<Message>>,
        /// Calls of the turn before that have no result.
        unanswered: Vec<&'a ToolCall>,
        /// Words of ours that no message has.
        note: Option<&'static str>,
    },
    Assistant {
        messages: Vec<Arc<Message>>,
    },
}

impl Turn<'_> {
    pub(crate) fn is_input(&self) -> bool {
        matches!(self, Self::Input { .. })
    }
}

/// The turns of a whole conversation, each with the index of the message it begins with.
pub(crate) fn turns(messages: &[Arc<Message>]) -> Vec<(usize, Turn<'_>)> {
    collect(messages, Before::Nothing)
}

/// The turns of a conversation from a message on with which the model begins a turn.
pub(crate) fn turns_after(messages: &[Arc<Message>]) -> Vec<(usize, Turn<'_>)> {
    collect(messages, Before::Input)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Input,
}

fn collect(messages: &[Arc<Message>], before: Before) -> Vec<(usize, Turn<'_>)> {
    let mut turns: Vec<(usize, Turn<'_>)> = Vec::new();
    let mut pending: Vec<&ToolCall> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message.role == Role::Assistant {
            // Reasoning alone does not reach a model.
            if last_said(message).is_none() {
                continue;
            }
            // Calls must be answered before the model speaks again.
            settle(&mut turns, &mut pending, index);
            match turns.last_mut() {
                Some((_, Turn::Assistant { messages })) => messages.push(Arc::clone(message)),
                last => {
                    if last.is_none() && before == Before::Nothing {
                        turns.push((index, note(EARLIER_LEFT_OUT)));
                    }
                    turns.push((index, Turn::Assistant { messages: vec![Arc::clone(message)] }));
                }
            }
            pending.extend(message.tool_calls());
            continue;
        }
        if message.parts.is_empty() {
            continue;
        }
        if !message.tool_results().any(|_| true) {
            settle(&mut turns, &mut pending, index);
        }
        let message = adopt(message, &mut pending);
        if let Some((_, Turn::Input { messages, .. })) = turns.last_mut() {
            messages.push(message);
        } else {
            let turn = Turn::Input { messages: vec![message], unanswered: Vec::new(), note: None };
            turns.push((index, turn));
        }
    }
    settle(&mut turns, &mut pending, messages.len());
    if !turns.last().is_some_and(|(_, turn)| turn.is_input()) {
        turns.push((messages.len(), note(CONTINUE)));
    }
    turns
}

fn note(text: &'static str) -> Turn<'static> {
    Turn::Input { messages: Vec::new(), unanswered: Vec::new(), note: Some(text) }
}

/// Hands the calls that nothing answered to the input turn that follows them.
fn settle<'a>(turns: &mut Vec<(usize, Turn<'a>)>, pending: &mut Vec<&'a ToolCall>, index: usize) {
    if pending.is_empty() {
        return;
    }
    if let Some((_, Turn::Input { unanswered, .. })) = turns.last_mut() {
        unanswered.append(pending);
    } else {
        let unanswered = std::mem::take(pending);
        turns.push((index, Turn::Input { messages: Vec::new(), unanswered, note: None }));
    }
}

/// Takes the answered calls off the list; results that answer nothing become text.
fn adopt(message: &Arc<Message>, pending: &mut Vec<&ToolCall>) -> Arc<Message> {
    let mut orphans = Vec::new();
    for (position, part) in message.parts.iter().enumerate() {
        if let Part::ToolResult { result } = part {
            match pending.iter().position(|call| call.id == result.call_id) {
                Some(call) => drop(pending.remove(call)),
                None => orphans.push(position),
            }
        }
    }
    if orphans.is_empty() {
        return Arc::clone(message);
    }
    let mut copy = Message::clone(message);
    for position in orphans {
        if let Part::ToolResult { result } = &copy.parts[position] {
            copy.parts[position] = Part::text(told(result));
        }
    }
    Arc::new(copy)
}

fn told(result: &ToolResult) -> String {
    format!("[Result of an earlier call of `{}`]\n{}", result.tool, result.output)
}

/// Where a message's last words or call stand. Reasoning behind them led to nothing and is not sent back.
pub(crate) fn last_said(message: &Message) -> Option<usize> {
    message.parts.iter().rposition(|part| match part {
        Part::Text { text } => !text.trim().is_empty(),
        Part::ToolCall { .. } => true,
        Part::Reasoning { .. } | Part::Image { .. } | Part::ToolResult { .. } => false,
    })
}

/// The end of an id is what tells ids apart, so that is what stays of a long one.
pub(crate) fn end_of_id(id: &str, longest: usize) -> &str {
    &id[id.ceil_char_boundary(id.len().saturating_sub(longest))..]
}

/// A result's text for formats that have no mark for failure.
pub(crate) fn result_text(result: &ToolResult) -> std::borrow::Cow<'_, str> {
    if result.is_success() {
        return result.output.as_str().into();
    }
    format!("[error] {}", result.output).into()
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
