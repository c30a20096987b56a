//! Tasks in other forms: JSON with a version, Markdown for reading, and Roo-Code's own files.

mod conversation;
mod markdown;
mod roo;

use serde::de::DeserializeOwned;

use crate::{Error, Result};

pub use conversation::{
    CONVERSATION_VERSION, Conversation, ConversationMessage, ConversationMetadata, ConversationRole,
    ConversationToolCall, ConversationToolResult,
};
pub use markdown::{MarkdownOptions, to_markdown, to_markdown_with};
pub use roo::{RooTask, export_roo, import_roo};

/// Reads JSON from outside; the error says where it stops being JSON.
fn parse_json<T: DeserializeOwned>(subject: &str, text: &str) -> Result<T> {
    // A byte order mark is what some editors leave in front.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).map_err(|error| Error::InvalidJson {
        subject: subject.to_owned(),
        line: error.line(),
        column: error.column(),
        detail: without_place(&error),
    })
}

/// The message of an error without the place, which is told apart.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(place) => message[..place].to_owned(),
        None => message,
    }
}
