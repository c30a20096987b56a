//! What every provider demands of a conversation.

use std::borrow::Borrow;

use stepwell_protocol::{Message, MessageId, Role, ToolCallId};

/// Why a history cannot be sent to a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryFault {
    #[error("it begins with message `{0}`, which is not the user's")]
    BeginsWithoutUser(MessageId),
    #[error("message `{0}` is empty")]
    EmptyMessage(MessageId),
    #[error("the calls of message `{message}` are not answered right after it, each once: `{call}`")]
    CallsAndResultsDiffer { message: MessageId, call: ToolCallId },
    #[error("the results of message `{0}` follow no calls")]
    OrphanResults(MessageId),
}

/// Whether the history begins with the user and every call has exactly one result right after it.
pub fn check_history<M: Borrow<Message>>(messages: &[M]) -> Result<(), HistoryFault> {
    let mut waiting: Option<&Message> = None;
    for (index, message) in messages.iter().map(Borrow::borrow).enumerate() {
        if index == 0 && message.role != Role::User {
            return Err(HistoryFault::BeginsWithoutUser(message.id.clone()));
        }
        if message.parts.is_empty() {
            return Err(HistoryFault::EmptyMessage(message.id.clone()));
        }
        let asked = waiting.take();
        match (asked, message.role) {
            (Some(asked), Role::Tool) => compare(asked, message)?,
            (None, Role::Tool) => return Err(HistoryFault::OrphanResults(message.id.clone())),
            (Some(asked), _) => return Err(unanswered(asked)),
            (None, _) => {}
        }
        if message.tool_calls().next().is_some() {
            waiting = Some(message);
        }
    }
    waiting.map_or(Ok(()), |asked| Err(unanswered(asked)))
}

fn compare(asked: &Message, answered: &Message) -> Result<(), HistoryFault> {
    let mut open: Vec<&ToolCallId> = asked.tool_calls().map(|call| &call.id).collect();
    for result in answered.tool_results() {
        match open.iter().position(|id| **id == result.call_id) {
            Some(index) => drop(open.remove(index)),
            None => return Err(differ(asked, &result.call_id)),
        }
    }
    open.first().map_or(Ok(()), |call| Err(differ(asked, call)))
}

fn unanswered(asked: &Message) -> HistoryFault {
    match asked.tool_calls().next() {
        Some(call) => differ(asked, &call.id),
        None => HistoryFault::EmptyMessage(asked.id.clone()),
    }
}

fn differ(asked: &Message, call: &ToolCallId) -> HistoryFault {
    HistoryFault::CallsAndResultsDiffer { message: asked.id.clone(), call: call.clone() }
}
