//! A conversation as one JSON document with a version.
//!
//! A tool call and its result are one message of the role `tool`. What the form has no place for (images,
//! reasoning, call ids) rides in `extra` objects, so that our own export comes back whole; other programs may leave
//! them out. In version 1 a call stood on the assistant's message that made it; such documents are migrated.

mod build;
mod migrate;
mod restore;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::parse_json;
use crate::{Error, Result};

/// The version that is written.
pub const CONVERSATION_VERSION: u64 = 2;

const SUBJECT: &str = "the conversation";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    pub version: u64,
    pub id: String,
    pub title: String,
    pub messages: Vec<ConversationMessage>,
    pub metadata: ConversationMetadata,
    pub created_at: i64,
    pub updated_at: i64,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessage {
    pub id: String,
    pub role: ConversationRole,
    pub content: String,
    pub timestamp: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<ConversationToolCall>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConversationRole {
    User,
    Assistant,
    System,
    Tool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationToolCall {
    pub name: String,
    pub parameters: Map<String, Value>,
    pub result: ConversationToolResult,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationToolResult {
    pub success: bool,
    pub output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMetadata {
    pub model: String,
    pub total_tokens: u64,
    pub tools_used: Vec<String>,
}

impl Conversation {
    pub fn serialize(&self) -> Result<String> {
        serde_json::to_string_pretty(self).map_err(Error::Encode)
    }

    /// Reads a document of any known version. What is no JSON, what has another version, and what is JSON of this
    /// version but damaged are three different errors.
    pub fn deserialize(json: &str) -> Result<Self> {
        let mut document: Value = parse_json(SUBJECT, json)?;
        match document.get("version") {
            Some(version) => match version.as_u64() {
                Some(CONVERSATION_VERSION) => {}
                Some(1) => migrate::from_version_1(&mut document)?,
                _ => {
                    return Err(Error::SchemaVersion {
                        subject: SUBJECT.to_owned(),
                        found: version.to_string(),
                        supported: CONVERSATION_VERSION,
                    });
                }
            },
            None => return Err(corrupt("it has no `version`")),
        }
        let conversation: Self =
            serde_json::from_value(document).map_err(|error| corrupt(&error.to_string()))?;
        conversation.check()?;
        Ok(conversation)
    }

    /// What types cannot say.
    fn check(&self) -> Result<()> {
        let mut seen = std::collections::HashSet::new();
        for message in &self.messages {
            if message.id.is_empty() {
                return Err(corrupt("a message has no id"));
            }
            if !seen.insert(&message.id) {
                return Err(corrupt(&format!("two messages have the id `{}`", message.id)));
            }
            if message.role == ConversationRole::Tool && message.tool_call.is_none() {
                return Err(corrupt(&format!(
                    "message `{}` of the role `tool` has no `toolCall`",
                    message.id
                )));
            }
        }
        Ok(())
    }
}

fn corrupt(problem: &str) -> Error {
    Error::DataCorruption { subject: SUBJECT.to_owned(), problem: problem.to_owned() }
}
