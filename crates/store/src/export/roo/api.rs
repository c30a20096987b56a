//! What the model saw, as Anthropic's messages.

use std::borrow::Borrow;

use serde_json::{Value, json};
use stepwell_protocol::{Image, Message, Part, Role, ToolResult};

use super::tools::to_roo;

pub(super) fn messages<M: Borrow<Message>>(history: &[M]) -> Vec<Value> {
    let mut messages = Vec::with_capacity(history.len());
    for message in history.iter().map(Borrow::borrow) {
        let content: Vec<Value> = message.parts.iter().filter_map(block).collect();
        if content.is_empty() {
            continue;
        }
        let role = match message.role {
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
        };
        messages.push(json!({ "role": role, "content": content, "ts": message.ts }));
    }
    messages
}

fn block(part: &Part) -> Option<Value> {
    Some(match part {
        // Anthropic refuses empty text.
        Part::Text { text } if text.is_empty() => return None,
        Part::Text { text } => json!({ "type": "text", "text": text }),
        Part::Reasoning { text, .. } => json!({ "type": "reasoning", "text": text, "summary": [] }),
        Part::Image { image } => image_block(image),
        Part::ToolCall { call } => {
            let (name, input) = to_roo(&call.name, &call.arguments);
            json!({ "type": "tool_use", "id": call.id, "name": name, "input": input })
        }
        Part::ToolResult { result } => result_block(result),
    })
}

fn result_block(result: &ToolResult) -> Value {
    let content = if result.images.is_empty() {
        Value::from(result.output.as_str())
    } else {
        let text = json!({ "type": "text", "text": result.output });
        std::iter::once(text).chain(result.images.iter().map(image_block)).collect()
    };
    let mut block = json!({ "type": "tool_result", "tool_use_id": result.call_id, "content": content });
    if !result.is_success() {
        block["is_error"] = true.into();
    }
    block
}

fn image_block(image: &Image) -> Value {
    json!({
        "type": "image",
        "source": { "type": "base64", "media_type": image.media_type, "data": image.data },
    })
}
