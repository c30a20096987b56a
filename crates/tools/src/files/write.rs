//! `write`: a whole file.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Tool, ToolContext, ToolError, ToolOutput, ToolSpec, counted};
use stepwell_workspace::{Encoding, Error, Inside, TextFile, Workspace, Written};

use super::diff::{self, Change};
use super::{LARGEST_EDIT, explained, place};

pub struct Write {
    workspace: Workspace,
}

impl Write {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    /// The text a file has now; `None` when there is none or it is no text.
    fn current(&self, place: &Inside) -> Result<Option<TextFile>, Error> {
        match self.workspace.read_text(place, LARGEST_EDIT) {
            Ok(text) => Ok(Some(text)),
            Err(Error::NotFound { .. } | Error::Binary { .. } | Error::TooLarge { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Writes a whole file, replacing what it had; missing folders are made. To change a part of a file use `edit`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WriteInput {
    /// Relative to the workspace, or absolute within it.
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    file_path: String,
    /// The complete new content.
    #[schemars(extend("x-aliases" = ["text", "contents", "file_text"]))]
    content: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WriteOutput {
    path: String,
    created: bool,
    lines: usize,
    bytes: usize,
    added: usize,
    removed: usize,
    #[serde(skip)]
    diff: String,
}

impl ToolOutput for WriteOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let Self { path, added, removed, .. } = self;
        let lines = counted(self.lines as u64, "line");
        Cow::Owned(if self.created {
            format!("created `{path}` ({lines})")
        } else if self.diff.is_empty() {
            format!("`{path}` had this content already ({lines})")
        } else {
            format!("wrote `{path}` ({lines}; +{added} -{removed})")
        })
    }

    fn detail(&self) -> Option<Value> {
        Some(json!({ "path": self.path, "diff": self.diff, "added": self.added, "removed": self.removed }))
    }
}

#[async_trait]
impl Tool for Write {
    type Input = WriteInput;
    type Output = WriteOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write",
            aliases: &["write_to_file", "write_file", "create_file"],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn preview(&self, ctx: &ToolContext, input: &Self::Input) -> Preview {
        let current = self.workspace.place(&input.file_path).ok().and_then(|place| self.current(&place).ok());
        let old = current.flatten();
        let verb = if old.is_some() { "Replace" } else { "Create" };
        let old = old.map(|file| file.text).unwrap_or_default();
        Preview {
            summary: format!("{verb} `{}`", input.file_path),
            diff: Some(diff::change(&ctx.redactor, &input.file_path, &old, &input.content).diff),
            paths: vec![input.file_path.clone()],
            ..Preview::default()
        }
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Input) -> Result<Self::Output, ToolError> {
        let place = place(&self.workspace, &input.file_path)?;
        let fail = |error| explained(&self.workspace, Some(&place), error);
        let current = self.current(&place).map_err(fail)?;
        let old = current.as_ref().map(|file| file.text.clone()).unwrap_or_default();
        let crlf = current.as_ref().is_some_and(TextFile::uses_crlf) && !input.content.contains("\r\n");
        let file = TextFile {
            text: if crlf { input.content.replace('\n', "\r\n") } else { input.content },
            encoding: current.map_or(Encoding::Utf8, |file| file.encoding),
        };
        let bytes = file.to_bytes();
        let written = self.workspace.write(&place, &bytes).map_err(fail)?;
        let path = place.display();
        let Change { diff, added, removed } = diff::change(&ctx.redactor, &path, &old, &file.text);
        Ok(WriteOutput {
            path,
            created: written == Written::Created,
            lines: file.text.lines().count(),
            bytes: bytes.len(),
            added,
            removed,
            diff,
        })
    }
}
