//! Documents of version 1: a call stood on the assistant's message that made it.

use serde_json::{Value, json};

use super::{CONVERSATION_VERSION, corrupt};
use crate::Result;

/// Gives every call a message of its own, after the one it stood on.
pub(super) fn from_version_1(document: &mut Value) -> Result<()> {
    let Some(Value::Array(messages)) = document.get_mut("messages") else {
        return Err(corrupt("it has no list of `messages`"));
    };
    let mut migrated = Vec::with_capacity(messages.len());
    for mut message in std::mem::take(messages) {
        let Some(fields) = message.as_object_mut() else {
            return Err(corrupt("a message is no object"));
        };
        let on_assistant = fields.get("role").and_then(Value::as_str) == Some("assistant");
        let call = if on_assistant { fields.shift_remove("toolCall") } else { None };
        let Some(call) = call else {
            migrated.push(message);
            continue;
        };
        let id = fields.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let timestamp = fields.get("timestamp").cloned().unwrap_or_default();
        let output = call.pointer("/result/output").cloned().unwrap_or_else(|| json!(""));
        migrated.push(message);
        migrated.push(json!({
            "id": format!("{id}.call"),
            "role": "tool",
            "content": output,
            "timestamp": timestamp,
            "toolCall": call,
        }));
    }
    *messages = migrated;
    document["version"] = CONVERSATION_VERSION.into();
    Ok(())
}
