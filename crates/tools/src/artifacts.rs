//! Files that are kept with a task, and files that come from outside.

mod exports;
mod import;
mod list;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_tool_runtime::{ToolContext, ToolError};
use stepwell_workspace::files::{self, Privacy};

pub use exports::{BatchExportArtifacts, ExportArtifact};
pub use import::{ImportFile, ImportFilesBatch};
pub use list::ListArtifacts;

/// The list of a task's exported files, beside them.
pub const EXPORTS_FILE: &str = "exports.json";
const MOST_EXPORTS: usize = 1000;

/// A file that was exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportedArtifact {
    pub id: String,
    pub name: String,
    /// The file of the workspace that it is a copy of.
    pub source: String,
    /// Where the copy lies.
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
    pub media_type: String,
    /// The beginning of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// Reads the list of exported files in a folder of artifacts.
pub fn read_exports(folder: &Path) -> Result<Vec<ExportedArtifact>, String> {
    let text = files::read_if_exists(&folder.join(EXPORTS_FILE)).map_err(|error| error.to_string())?;
    let Some(text) = text else { return Ok(Vec::new()) };
    serde_json::from_str(&text).map_err(|error| format!("the list of artifacts is damaged: {error}"))
}

fn write_exports(folder: &Path, exports: &[ExportedArtifact]) -> Result<(), ToolError> {
    let text = serde_json::to_vec_pretty(exports).unwrap_or_default();
    files::write_atomic(&folder.join(EXPORTS_FILE), &text, Privacy::Private)
        .map_err(|error| ToolError::execution(error.to_string()))
}

async fn folder(ctx: &ToolContext) -> Result<std::path::PathBuf, ToolError> {
    ctx.host.artifact_dir().await.map_err(|error| ToolError::execution(error.to_string()))
}

/// The media type of a file, by its name and its first bytes.
fn media_type(path: &Path, content: &[u8]) -> &'static str {
    let by_content: &[(&[u8], &str)] = &[
        (b"\x89PNG", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"%PDF-", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b", "application/gzip"),
        (b"\x7fELF", "application/x-executable"),
    ];
    let end = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    let by_name: &[(&str, &str)] = &[
        ("html", "text/html"),
        ("md", "text/markdown"),
        ("csv", "text/csv"),
        ("json", "application/json"),
        ("svg", "image/svg+xml"),
        ("xml", "application/xml"),
        ("webp", "image/webp"),
        ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("wasm", "application/wasm"),
    ];
    if let Some((_, known)) = by_name.iter().find(|(known, _)| *known == end) {
        return known;
    }
    if let Some((_, known)) = by_content.iter().find(|(start, _)| content.starts_with(start)) {
        return known;
    }
    if std::str::from_utf8(content).is_ok() { "text/plain" } else { "application/octet-stream" }
}
