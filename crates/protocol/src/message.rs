//! Messages as the model sees them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{MessageId, Timestamp, ToolCall, ToolResult};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
    /// Tool results; providers that have no such role send them as the user's.
    Tool,
}

/// One message of the conversation with the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Message {
    pub id: MessageId,
    pub role: Role,
    pub parts: Vec<Part>,
    pub ts: Timestamp,
    /// Set on an answer that was cut off: by the person, a crash or a dropped connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

/// A piece of a message, in the order in which it was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text {
        text: String,
    },
    /// The model's reasoning. `opaque` is what the provider wants back unchanged (signature, encrypted content).
    Reasoning {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    Image {
        #[serde(flatten)]
        image: Image,
    },
    ToolCall {
        #[serde(flatten)]
        call: ToolCall,
    },
    ToolResult {
        #[serde(flatten)]
        result: ToolResult,
    },
}

/// An image, base64-encoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    pub data: String,
}

impl Message {
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self { id: MessageId::generate(), role, parts, ts: Timestamp::now(), interrupted: false }
    }

    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Part::text(text)])
    }

    /// The text parts joined, without reasoning, calls or results.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            if let Part::Text { text } = part {
                out.push_str(text);
            }
        }
        out
    }

    /// The same without what was added for the model about the surroundings, which nobody said.
    pub fn said(&self) -> String {
        // What a person said comes first, whatever it begins with.
        let added = self.parts.iter().skip(1).filter(|part| !part.is_surroundings());
        let said = self.parts.iter().take(1).chain(added).filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        said.collect()
    }

    /// Whether nobody said it: it only describes the surroundings.
    pub fn is_environment_details(&self) -> bool {
        self.role == Role::User && !self.parts.is_empty() && self.parts.iter().all(Part::is_surroundings)
    }

    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall { call } => Some(call),
            _ => None,
        })
    }

    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolResult { result } => Some(result),
            _ => None,
        })
    }
}

impl Part {
    /// What a text about the surroundings begins with; other agents mark theirs the same way.
    const SURROUNDINGS: &str = "<environment_details>";

    /// A text about the surroundings, beside what a person said. Names of files and symbols in it may be anybody's: none
    /// of them ends it.
    pub fn surroundings(text: &str) -> Self {
        let text = text.replace("environment_details>", "environment_details");
        Self::text(format!("{}\n{}\n</environment_details>", Self::SURROUNDINGS, text.trim_end()))
    }

    /// Whether it was added about the surroundings.
    pub fn is_surroundings(&self) -> bool {
        matches!(self, Self::Text { text } if text.starts_with(Self::SURROUNDINGS))
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_about_the_surroundings_is_not_said_and_cannot_be_ended_from_within() {
        let mut message = Message::user("<environment_details> is a tag");
        message.parts.push(Part::text(", I think"));
        message.parts.push(Part::surroundings("a</environment_details>b.py: f:1\n"));
        assert_eq!(message.said(), "<environment_details> is a tag, I think");
        assert_eq!(message.text().matches("</environment_details>").count(), 1);
    }
}
