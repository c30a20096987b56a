//! From a conversation to the messages of a new task.

use serde::de::DeserializeOwned;
use serde_json::Value;
use stepwell_protocol::{
    ErrorClass, Message, MessageId, Part, Role, Timestamp, ToolCall, ToolCallId, ToolFailure, ToolResult,
    Usage,
};

use super::{Conversation, ConversationMessage, ConversationRole, ConversationToolCall};
use crate::{ImportedTask, results_id};

impl Conversation {
    /// The conversation as a task to import. Our own exports come back whole; of others, everything the form holds.
    pub fn into_task(self) -> ImportedTask {
        let text = |key: &str| self.extra.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mode = Some(text("mode")).filter(|mode| !mode.is_empty()).unwrap_or_else(|| "code".to_owned());
        let usage: Option<Usage> = kept(&self.extra, "usage");
        let estimated = Usage { input_tokens: self.metadata.total_tokens, ..Usage::default() };
        ImportedTask {
            mode,
            workspace: text("workspace"),
            favourite: self.extra.get("favourite").and_then(Value::as_bool).unwrap_or_default(),
            usage: usage.or((self.metadata.total_tokens > 0).then_some(estimated)),
            title: self.title,
            model: self.metadata.model,
            created_at: Timestamp(self.created_at),
            messages: messages(self.messages),
        }
    }
}

fn messages(conversation: Vec<ConversationMessage>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for message in conversation {
        match message.role {
            // There are no system messages in a history: what they say is the user's word.
            ConversationRole::User | ConversationRole::System => {
                messages.push(spoken(Role::User, &message));
            }
            ConversationRole::Assistant => {
                messages.push(spoken(Role::Assistant, &message));
                if let Some(call) = &message.tool_call {
                    add_call(&mut messages, &message, call);
                }
            }
            ConversationRole::Tool => {
                if let Some(call) = &message.tool_call {
                    add_call(&mut messages, &message, call);
                }
            }
        }
    }
    messages.retain(|message| !message.parts.is_empty());
    messages
}

fn spoken(role: Role, message: &ConversationMessage) -> Message {
    let parts: Option<Vec<Part>> = kept(&message.extra, "parts");
    let parts = parts.unwrap_or_else(|| {
        if message.content.is_empty() { Vec::new() } else { vec![Part::text(&message.content)] }
    });
    Message {
        id: MessageId::from(message.id.as_str()),
        role,
        parts,
        ts: Timestamp(message.timestamp),
        interrupted: message.extra.get("interrupted").and_then(Value::as_bool).unwrap_or_default(),
    }
}

/// Adds the call to the assistant's message before it, and its result to the message after that.
fn add_call(messages: &mut Vec<Message>, message: &ConversationMessage, called: &ConversationToolCall) {
    let call: ToolCall = kept(&message.extra, "call").unwrap_or_else(|| ToolCall {
        id: ToolCallId::from(format!("call_{}", message.id)),
        name: called.name.clone(),
        arguments: Value::Object(called.parameters.clone()),
        opaque: None,
    });
    let result: ToolResult = kept(&message.extra, "result").unwrap_or_else(|| {
        let result = &called.result;
        let failure = (!result.success).then(|| ToolFailure {
            class: ErrorClass::ExecutionError,
            message: result.error.clone().unwrap_or_else(|| result.output.clone()),
        });
        let mut restored = ToolResult::failure(&call, ErrorClass::ExecutionError, result.output.clone());
        if let Some(failure) = failure.as_ref().filter(|_| result.output.is_empty()) {
            restored.output.clone_from(&failure.message);
        }
        restored.error = failure;
        restored
    });
    let ts = Timestamp(message.timestamp);
    let new = |id: MessageId, role: Role| Message { id, role, parts: Vec::new(), ts, interrupted: false };
    let results_last = messages.last().is_some_and(|last| last.role == Role::Tool);
    let caller = if results_last { messages.len().checked_sub(2) } else { messages.len().checked_sub(1) };
    let caller = caller.filter(|index| messages[*index].role == Role::Assistant).unwrap_or_else(|| {
        messages.push(new(MessageId::from(format!("{}.assistant", message.id)), Role::Assistant));
        messages.len() - 1
    });
    if caller + 1 == messages.len() {
        let id = results_id(&messages[caller].id);
        messages.push(new(id, Role::Tool));
    }
    messages[caller].parts.push(Part::ToolCall { call });
    messages[caller + 1].parts.push(Part::ToolResult { result });
}

/// A value of ours that rode along, if it is there and whole.
fn kept<T: DeserializeOwned>(extra: &serde_json::Map<String, Value>, key: &str) -> Option<T> {
    serde_json::from_value(extra.get(key)?.clone()).ok()
}
