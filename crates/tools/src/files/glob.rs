//! `glob`: files by their names, the newest first.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use stepwell_workspace::Workspace;
use stepwell_workspace::search::{NameQuery, WalkRules};

use super::{in_background, place, under};

const DEFAULT_LIMIT: usize = 200;
const LARGEST_LIMIT: usize = 5000;

pub struct Glob {
    workspace: Workspace,
}

impl Glob {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// Finds files by name: `*.rs` anywhere, `src/**/*.{ts,tsx}` by path. The most recently changed come first. What git
/// ignores is left out.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct GlobInput {
    #[schemars(extend("x-aliases" = ["glob", "glob_pattern", "file_pattern", "name"]))]
    pattern: String,
    /// The folder to look in; the workspace by default.
    #[schemars(extend("x-aliases" = ["dir", "directory", "folder"]))]
    path: Option<String>,
    /// Files at most; 200 by default.
    limit: Option<usize>,
    /// Also what git ignores.
    #[serde(default)]
    include_ignored: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GlobOutput {
    /// Paths as other tools take them.
    files: Vec<String>,
    /// How many match, shown or not.
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl ToolOutput for GlobOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let mut text = self.files.join("\n");
        if let Some(note) = &self.note {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}({note})"));
        }
        Cow::Owned(text)
    }
}

#[async_trait]
impl Tool for Glob {
    type Input = GlobInput;
    type Plan = GlobInput;
    type Output = GlobOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "glob",
            aliases: &["find_files", "file_search"],
            category: Category::Files,
            risk: Risk::Read,
            time_limit: Duration::from_secs(60),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let preview = Preview {
            summary: format!("Find files like `{}`", input.pattern),
            paths: vec![input.path.clone().unwrap_or_else(|| ".".to_owned())],
            ..Preview::default()
        };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let folder = input.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
        let place = place(&self.workspace, folder)?;
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, LARGEST_LIMIT);
        let query = NameQuery { pattern: input.pattern.clone(), limit };
        let rules = WalkRules { include_ignored: input.include_ignored, ..WalkRules::default() };
        let searched = place.clone();
        let found = in_background(ctx, &self.workspace, &place, move |workspace, is_cancelled| {
            workspace.find_files(&searched, &query, &rules, is_cancelled)
        })
        .await?;
        let files: Vec<String> = found.files.iter().map(|file| under(&place, &file.path)).collect();
        let note = if found.total == 0 {
            Some(format!("no file matches `{}`", input.pattern))
        } else if found.is_cut {
            Some("the search was stopped early; look in a subfolder".to_owned())
        } else if found.total > files.len() {
            Some(format!("{} of {} files; narrow the pattern or raise the limit", files.len(), found.total))
        } else {
            None
        };
        Ok(GlobOutput { files, total: found.total, note })
    }
}
