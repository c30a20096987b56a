//! From a task's records to a conversation.

use std::collections::HashMap;

use serde_json::{Map, Value};
use stepwell_protocol::{EventRecord, Message, Part, Role, ToolCall, ToolCallId, ToolResult};

use super::{
    CONVERSATION_VERSION, Conversation, ConversationMessage, ConversationMetadata, ConversationRole,
    ConversationToolCall, ConversationToolResult,
};
use crate::TaskFolds;

impl Conversation {
    /// The conversation the model had, with nothing left out.
    pub fn of(records: &[EventRecord]) -> Self {
        let folds = TaskFolds::of(records);
        let summary = &folds.transcript.summary;
        let history = folds.model.messages();
        let mut messages = Vec::new();
        let mut tools_used: Vec<String> = Vec::new();
        for (index, message) in history.iter().enumerate() {
            match message.role {
                Role::User | Role::Assistant => messages.push(spoken(message)),
                Role::Tool => continue,
            }
            let results: HashMap<&ToolCallId, &ToolResult> = history
                .get(index + 1)
                .filter(|next| next.role == Role::Tool)
                .map(|next| next.tool_results().map(|result| (&result.call_id, result)).collect())
                .unwrap_or_default();
            for call in message.tool_calls() {
                if !tools_used.contains(&call.name) {
                    tools_used.push(call.name.clone());
                }
                messages.push(called(message, call, results.get(&call.id).copied()));
            }
        }
        tools_used.sort();
        tell_apart(&mut messages);
        let info = summary.info.as_ref();
        let mut extra = Map::new();
        extra.insert("mode".to_owned(), summary.mode.clone().into());
        extra.insert(
            "workspace".to_owned(),
            info.map(|info| info.workspace.clone()).unwrap_or_default().into(),
        );
        extra.insert("favourite".to_owned(), summary.favourite.into());
        extra.insert("usage".to_owned(), serde_json::to_value(summary.totals.usage).unwrap_or_default());
        Self {
            version: CONVERSATION_VERSION,
            id: info.map(|info| info.id.to_string()).unwrap_or_default(),
            title: summary.display_title().to_owned(),
            messages,
            metadata: ConversationMetadata {
                model: summary.model.clone(),
                total_tokens: summary.totals.usage.total(),
                tools_used,
            },
            created_at: summary.created_at().0,
            updated_at: summary.updated_at.0,
            extra,
        }
    }
}

/// Gives messages of one id, which some providers' call ids lead to, an id each.
fn tell_apart(messages: &mut [ConversationMessage]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for message in messages {
        let count = seen.entry(message.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            message.id = format!("{}~{count}", message.id);
        }
    }
}

fn spoken(message: &Message) -> ConversationMessage {
    let mut extra = Map::new();
    // Plain text needs nothing more; anything else is kept as it is.
    let plain = matches!(message.parts.as_slice(), [Part::Text { .. }]);
    if !plain {
        let kept: Vec<&Part> =
            message.parts.iter().filter(|part| !matches!(part, Part::ToolCall { .. })).collect();
        extra.insert("parts".to_owned(), serde_json::to_value(kept).unwrap_or_default());
    }
    if message.interrupted {
        extra.insert("interrupted".to_owned(), true.into());
    }
    ConversationMessage {
        id: message.id.to_string(),
        role: match message.role {
            Role::User => ConversationRole::User,
            Role::Assistant | Role::Tool => ConversationRole::Assistant,
        },
        content: message.said(),
        timestamp: message.ts.0,
        tool_call: None,
        extra,
    }
}

fn called(message: &Message, call: &ToolCall, result: Option<&ToolResult>) -> ConversationMessage {
    let parameters = match &call.arguments {
        Value::Object(fields) => fields.clone(),
        // Arguments that were no object are kept whole in `extra`.
        _ => Map::new(),
    };
    let mut extra = Map::new();
    extra.insert("call".to_owned(), serde_json::to_value(call).unwrap_or_default());
    if let Some(result) = result {
        extra.insert("result".to_owned(), serde_json::to_value(result).unwrap_or_default());
    }
    let result = match result {
        Some(result) => ConversationToolResult {
            success: result.is_success(),
            output: result.output.clone(),
            error: result.error.as_ref().map(|error| error.message.clone()),
        },
        None => ConversationToolResult {
            success: false,
            output: String::new(),
            error: Some("the call has no result".to_owned()),
        },
    };
    ConversationMessage {
        id: format!("{}.{}", message.id, call.id),
        role: ConversationRole::Tool,
        content: result.output.clone(),
        timestamp: message.ts.0,
        tool_call: Some(ConversationToolCall { name: call.name.clone(), parameters, result }),
        extra,
    }
}
