//! Roo-Code's own files for a task, written and read.
//!
//! `api_conversation_history.json` is what the model saw, `ui_messages.json` what the person saw,
//! `history_item.json` the entry of the task list, `task_metadata.json` the files in context. Tools go by
//! Roo-Code's names there and by ours here.

mod api;
mod import;
mod tools;
mod ui;

use std::path::Path;

use serde_json::{Map, Value, json};
use stepwell_protocol::{EventRecord, TaskState};
use stepwell_workspace::files::{self, Privacy};

use stepwell_transcript::TaskSummary;

use crate::{Error, Result, TaskFolds};

pub use import::import_roo;

/// How our own exports are known when they come back: key of an object in `task_metadata.json`, which Roo-Code
/// passes over.
const MARK: &str = "stepwell";

/// The texts of a task's files. Only the conversation is always there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RooTask {
    pub api_conversation_history: String,
    pub ui_messages: Option<String>,
    pub history_item: Option<String>,
    pub task_metadata: Option<String>,
}

const API: &str = "api_conversation_history.json";
const UI: &str = "ui_messages.json";
const ITEM: &str = "history_item.json";
const METADATA: &str = "task_metadata.json";

impl RooTask {
    /// Reads a task's folder.
    pub fn read(dir: &Path) -> Result<Self> {
        let api_conversation_history =
            files::read_if_exists(&dir.join(API))?.ok_or_else(|| Error::DataCorruption {
                subject: format!("`{}`", dir.display()),
                problem: format!("it has no `{API}`"),
            })?;
        Ok(Self {
            api_conversation_history,
            ui_messages: files::read_if_exists(&dir.join(UI))?,
            history_item: files::read_if_exists(&dir.join(ITEM))?,
            task_metadata: files::read_if_exists(&dir.join(METADATA))?,
        })
    }

    /// Writes the files into a folder, which is made if it is not there.
    pub fn write(&self, dir: &Path) -> Result<()> {
        files::create_private_dir(dir)?;
        let files_of_task = [
            (API, Some(&self.api_conversation_history)),
            (UI, self.ui_messages.as_ref()),
            (ITEM, self.history_item.as_ref()),
            (METADATA, self.task_metadata.as_ref()),
        ];
        for (name, text) in files_of_task {
            if let Some(text) = text {
                files::write_atomic(&dir.join(name), text.as_bytes(), Privacy::Private)?;
            }
        }
        Ok(())
    }
}

/// A task in Roo-Code's form.
pub fn export_roo(records: &[EventRecord]) -> Result<RooTask> {
    let folds = TaskFolds::of(records);
    let api = api::messages(&folds.model.messages());
    let ui = ui::messages(folds.transcript.items());
    let (api, ui) = (text(&Value::Array(api))?, text(&Value::Array(ui))?);
    let size = api.len() + ui.len();
    Ok(RooTask {
        history_item: Some(text(&history_item(&folds.transcript.summary, size))?),
        task_metadata: Some(text(&metadata(&folds.transcript.summary))?),
        api_conversation_history: api,
        ui_messages: Some(ui),
    })
}

fn history_item(summary: &TaskSummary, size: usize) -> Value {
    let usage = &summary.totals.usage;
    let mut item = Map::new();
    let info = summary.info.as_ref();
    let set = |item: &mut Map<String, Value>, key: &str, value: Value| {
        item.insert(key.to_owned(), value);
    };
    set(&mut item, "id", info.map(|info| info.id.to_string()).unwrap_or_default().into());
    if let Some(info) = info
        && let Some(parent) = &info.parent
    {
        set(&mut item, "rootTaskId", info.root.to_string().into());
        set(&mut item, "parentTaskId", parent.to_string().into());
    }
    set(&mut item, "number", info.map_or(0, |info| info.number).into());
    set(&mut item, "ts", summary.updated_at.0.into());
    set(&mut item, "task", summary.first_user_text.clone().unwrap_or_default().into());
    set(&mut item, "tokensIn", usage.input_tokens.into());
    set(&mut item, "tokensOut", usage.output_tokens.into());
    set(&mut item, "cacheWrites", usage.cache_write_tokens.into());
    set(&mut item, "cacheReads", usage.cache_read_tokens.into());
    set(&mut item, "totalCost", usage.cost_usd.unwrap_or_default().into());
    set(&mut item, "size", size.into());
    set(&mut item, "workspace", info.map(|info| info.workspace.clone()).unwrap_or_default().into());
    set(&mut item, "mode", summary.mode.clone().into());
    let status = if summary.state == TaskState::Completed { "completed" } else { "active" };
    set(&mut item, "status", status.into());
    Value::Object(item)
}

fn metadata(summary: &TaskSummary) -> Value {
    json!({
        "files_in_context": [],
        MARK: {
            "title": summary.title,
            "model": summary.model,
            "favourite": summary.favourite,
            "createdAt": summary.created_at(),
        },
    })
}

fn text(value: &Value) -> Result<String> {
    serde_json::to_string(value).map_err(Error::Encode)
}
