//! `list`: what is in a folder.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use stepwell_workspace::search::WalkRules;
use stepwell_workspace::{EntryKind, Workspace};

use super::{explained, place, readable_size};

const DEFAULT_LIMIT: usize = 500;
const LARGEST_LIMIT: usize = 5000;

pub struct List {
    workspace: Workspace,
}

impl List {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// Lists a folder: subfolders end in `/`, files have their size. What git ignores is left out.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ListInput {
    /// The workspace by default.
    #[schemars(extend("x-aliases" = ["dir", "directory", "folder", "file_path"]))]
    path: Option<String>,
    /// Also everything in subfolders.
    #[serde(default)]
    recursive: bool,
    /// Levels of subfolders, instead of `recursive`.
    depth: Option<usize>,
    /// Also what git ignores.
    #[serde(default)]
    include_ignored: bool,
    /// Entries at most; 500 by default.
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ListOutput {
    path: String,
    entries: Vec<ListedEntry>,
    /// Whether there are more than the limit.
    more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedEntry {
    /// Relative to the listed folder.
    path: String,
    /// `folder`, `file`, `link` or `other`.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

impl ToolOutput for ListOutput {
    fn for_model(&self) -> Cow<'_, str> {
        if self.entries.is_empty() {
            return Cow::Owned(format!("`{}` is empty", self.path));
        }
        let lines = self.entries.iter().map(|entry| match (entry.kind, entry.bytes) {
            ("folder", _) => format!("{}/\n", entry.path),
            ("link", _) => format!("{}@\n", entry.path),
            (_, Some(bytes)) => format!("{} ({})\n", entry.path, readable_size(bytes)),
            _ => format!("{}\n", entry.path),
        });
        let mut text = lines.collect::<Vec<_>>().concat();
        if self.more {
            text.push_str("(there is more; list a subfolder or raise the limit)");
        }
        Cow::Owned(text)
    }
}

#[async_trait]
impl Tool for List {
    type Input = ListInput;
    type Plan = ListInput;
    type Output = ListOutput;

    fn is_basic(&self) -> bool {
        true
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list",
            aliases: &["list_files", "ls", "list_directory", "list_dir"],
            category: Category::Files,
            risk: Risk::Read,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let path = input.path.as_deref().unwrap_or(".");
        let preview =
            Preview { summary: format!("List `{path}`"), paths: vec![path.to_owned()], ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let path = input.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
        let place = place(&self.workspace, path)?;
        let rules = WalkRules {
            depth: input.depth.map(|depth| depth.max(1)).or((!input.recursive).then_some(1)),
            include_ignored: input.include_ignored,
            ..WalkRules::default()
        };
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, LARGEST_LIMIT);
        let (workspace, walked, cancel) = (self.workspace.clone(), place.clone(), ctx.cancel.clone());
        let listing = tokio::task::spawn_blocking(move || {
            workspace.list(&walked, &rules, limit, &|| cancel.is_cancelled()).map_err(|error| {
                if error.is_not_found() {
                    let help = workspace.missing_folder_help(&walked);
                    return ToolError::execution(format!("`{}` does not exist; {help}", walked.display()));
                }
                explained(&workspace, Some(&walked), error)
            })
        })
        .await
        .map_err(|error| ToolError::execution(format!("the folder could not be listed: {error}")))??;
        let entries = listing.entries.into_iter().map(|entry| {
            let (kind, bytes) = match entry.kind {
                EntryKind::Folder => ("folder", None),
                EntryKind::File { bytes } => ("file", Some(bytes)),
                EntryKind::Link => ("link", None),
                EntryKind::Other => ("other", None),
            };
            ListedEntry { path: entry.path.display().to_string(), kind, bytes }
        });
        Ok(ListOutput { path: place.display(), entries: entries.collect(), more: listing.more })
    }
}
