//! Reading a task of Roo-Code, ours or a real one.
//!
//! The model's history is what Roo-Code itself would send: from the last summary on, without what a truncation hid.
//! Messages of the time when calls were written as XML stay the texts they are.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;
use stepwell_protocol::{
    ErrorClass, Image, Message, Part, Role, Timestamp, ToolCall, ToolCallId, ToolFailure, ToolResult, Usage,
};

use super::tools::from_roo;
use super::{API, ITEM, MARK, METADATA, RooTask};
use crate::export::parse_json;
use crate::{Error, ImportedTask, Result};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct HistoryItem {
    ts: i64,
    task: String,
    tokens_in: u64,
    tokens_out: u64,
    cache_writes: Option<u64>,
    cache_reads: Option<u64>,
    total_cost: f64,
    workspace: Option<String>,
    mode: Option<String>,
}

/// What our own export says of itself.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Marked {
    title: String,
    model: String,
    favourite: bool,
    created_at: Option<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Ours,
    RooCode,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApiMessage {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    ts: Option<i64>,
    #[serde(default)]
    is_summary: bool,
    #[serde(default)]
    truncation_id: Option<String>,
    #[serde(default)]
    truncation_parent: Option<String>,
    #[serde(default)]
    is_truncation_marker: bool,
}

/// The task to import. A list entry or metadata that cannot be read is done without; the conversation must be whole.
pub fn import_roo(files: &RooTask) -> Result<ImportedTask> {
    let entries: Vec<Value> = parse_json(&format!("`{API}`"), &files.api_conversation_history)?;
    let mut api = Vec::with_capacity(entries.len());
    for (index, entry) in entries.into_iter().enumerate() {
        api.push(
            serde_json::from_value::<ApiMessage>(entry)
                .map_err(|error| corrupt(index, &error.to_string()))?,
        );
    }
    let metadata: Option<Value> = lenient(files.task_metadata.as_deref(), METADATA);
    let marked: Option<Marked> =
        metadata.as_ref().and_then(|all| serde_json::from_value(all.get(MARK)?.clone()).ok());
    let item: Option<HistoryItem> = lenient(files.history_item.as_deref(), ITEM)
        // Some descriptions of the format put the list's entry into the metadata file.
        .or_else(|| {
            metadata.filter(|all| all.get("task").is_some()).and_then(|all| serde_json::from_value(all).ok())
        });
    let source = if marked.is_some() { Source::Ours } else { Source::RooCode };
    let (item, marked) = (item.unwrap_or_default(), marked.unwrap_or_default());
    let messages = Conversion::new(source, item.ts).run(&effective(api))?;
    let title = if source == Source::Ours { marked.title } else { first_line(&item.task) };
    let usage = Usage {
        input_tokens: item.tokens_in,
        output_tokens: item.tokens_out,
        cache_read_tokens: item.cache_reads.unwrap_or_default(),
        cache_write_tokens: item.cache_writes.unwrap_or_default(),
        reasoning_tokens: 0,
        cost_usd: (item.total_cost > 0.0).then_some(item.total_cost),
    };
    Ok(ImportedTask {
        title,
        mode: item.mode.filter(|mode| !mode.is_empty()).unwrap_or_else(|| "code".to_owned()),
        model: marked.model,
        workspace: item.workspace.unwrap_or_default(),
        created_at: marked
            .created_at
            .map_or_else(|| messages.first().map_or(Timestamp(item.ts), |message| message.ts), Timestamp),
        favourite: marked.favourite,
        usage: (usage.total() > 0).then_some(usage),
        messages,
    })
}

/// What Roo-Code would send to the model.
fn effective(mut api: Vec<ApiMessage>) -> Vec<ApiMessage> {
    // Since the fresh-start form a summary is the user's and everything before it is hidden. An older summary is the
    // assistant's and stands in a history that was already cut.
    if let Some(summary) = api.iter().rposition(|message| message.is_summary && message.role == "user") {
        api.drain(..summary);
    }
    let markers: HashSet<String> = api
        .iter()
        .filter(|message| message.is_truncation_marker)
        .filter_map(|message| message.truncation_id.clone())
        .collect();
    api.retain(|message| message.truncation_parent.as_ref().is_none_or(|parent| !markers.contains(parent)));
    api
}

struct Conversion {
    source: Source,
    ts: Timestamp,
    /// Our names of the calls made so far.
    names: HashMap<String, String>,
    messages: Vec<Message>,
}

impl Conversion {
    fn new(source: Source, ts: i64) -> Self {
        Self { source, ts: Timestamp(ts), names: HashMap::new(), messages: Vec::new() }
    }

    fn run(mut self, api: &[ApiMessage]) -> Result<Vec<Message>> {
        self.ts = Timestamp(api.iter().find_map(|message| message.ts).unwrap_or(self.ts.0));
        for (index, message) in api.iter().enumerate() {
            self.ts = Timestamp(message.ts.unwrap_or(self.ts.0));
            let blocks: Vec<Value> = match &message.content {
                Value::String(text) => vec![serde_json::json!({ "type": "text", "text": text })],
                Value::Array(blocks) => blocks.clone(),
                // Reasoning of its own, kept by Roo-Code for one provider.
                Value::Null => Vec::new(),
                _ => return Err(corrupt(index, "its `content` is neither text nor a list")),
            };
            match message.role.as_str() {
                "user" => self.user(index, &blocks)?,
                "assistant" => self.assistant(index, &blocks)?,
                role => return Err(corrupt(index, &format!("it has the role `{role}`"))),
            }
        }
        Ok(self.messages)
    }

    fn user(&mut self, index: usize, blocks: &[Value]) -> Result<()> {
        let (mut results, mut said) = (Vec::new(), Vec::new());
        for block in blocks {
            match kind(block) {
                "tool_result" => results.push(Part::ToolResult { result: self.result(index, block)? }),
                "image" => said.extend(image(block).map(|image| Part::Image { image })),
                _ => said.extend(self.user_text(text(block)).map(Part::text)),
            }
        }
        self.push(Role::Tool, results);
        self.push(Role::User, said);
        Ok(())
    }

    fn assistant(&mut self, index: usize, blocks: &[Value]) -> Result<()> {
        let mut parts = Vec::new();
        for block in blocks {
            match kind(block) {
                "tool_use" => parts.push(Part::ToolCall { call: self.call(index, block)? }),
                "thinking" | "reasoning" => {
                    let thought =
                        block.get("thinking").and_then(Value::as_str).unwrap_or_else(|| text(block));
                    if !thought.is_empty() {
                        parts.push(Part::Reasoning { text: thought.to_owned(), opaque: None });
                    }
                }
                "text" if !text(block).is_empty() => parts.push(Part::text(text(block))),
                _ => {}
            }
        }
        self.push(Role::Assistant, parts);
        Ok(())
    }

    fn push(&mut self, role: Role, parts: Vec<Part>) {
        if !parts.is_empty() {
            let mut message = Message::new(role, parts);
            message.ts = self.ts;
            self.messages.push(message);
        }
    }

    fn call(&mut self, index: usize, block: &Value) -> Result<ToolCall> {
        let id =
            block.get("id").and_then(Value::as_str).ok_or_else(|| corrupt(index, "a call has no `id`"))?;
        let name = block
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| corrupt(index, "a call has no `name`"))?;
        let (name, arguments) = from_roo(name, block.get("input").unwrap_or(&Value::Null));
        self.names.insert(id.to_owned(), name.clone());
        Ok(ToolCall { id: ToolCallId::from(id), name, arguments, opaque: None })
    }

    fn result(&self, index: usize, block: &Value) -> Result<ToolResult> {
        let id = block
            .get("tool_use_id")
            .and_then(Value::as_str)
            .ok_or_else(|| corrupt(index, "a result has no `tool_use_id`"))?;
        let (mut output, mut images) = (String::new(), Vec::new());
        match block.get("content") {
            Some(Value::String(text)) => output.clone_from(text),
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    output.push_str(text(block));
                    images.extend(image(block));
                }
            }
            _ => {}
        }
        let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or_default();
        Ok(ToolResult {
            call_id: ToolCallId::from(id),
            tool: self.names.get(id).cloned().unwrap_or_default(),
            error: failed.then(|| ToolFailure { class: ErrorClass::ExecutionError, message: output.clone() }),
            output,
            images,
            artifacts: Vec::new(),
            detail: None,
            duration_ms: 0,
        })
    }

    /// What the person said, without what Roo-Code put around it.
    fn user_text(&self, text: &str) -> Option<String> {
        let trimmed = text.trim();
        let said = match self.source {
            Source::Ours => text,
            Source::RooCode if enclosed(trimmed, "environment_details").is_some() => return None,
            Source::RooCode => ["task", "user_message", "feedback"]
                .into_iter()
                .find_map(|tag| enclosed(trimmed, tag))
                .unwrap_or(text),
        };
        (!said.is_empty()).then(|| said.to_owned())
    }
}

fn enclosed<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let inner = text.strip_prefix(&format!("<{tag}>"))?.strip_suffix(&format!("</{tag}>"))?;
    Some(inner.trim())
}

fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn text(block: &Value) -> &str {
    block.get("text").and_then(Value::as_str).unwrap_or_default()
}

fn image(block: &Value) -> Option<Image> {
    let source = block.get("source").filter(|_| kind(block) == "image")?;
    let field = |key: &str| Some(source.get(key)?.as_str()?.to_owned());
    Some(Image { media_type: field("media_type")?, data: field("data")? })
}

fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().to_owned()
}

/// A file that is done without when it is missing or cannot be read.
fn lenient<T: serde::de::DeserializeOwned>(text: Option<&str>, name: &str) -> Option<T> {
    parse_json(&format!("`{name}`"), text?).ok()
}

fn corrupt(index: usize, problem: &str) -> Error {
    Error::DataCorruption {
        subject: format!("message {} of `{API}`", index + 1),
        problem: problem.to_owned(),
    }
}
