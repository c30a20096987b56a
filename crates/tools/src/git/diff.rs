//! `git_diff`: what changed, counts first.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec, counted};
use stepwell_workspace::Workspace;

use super::patches::{self, ChangedFile};
use super::repository::{MOST_OUTPUT, Repository, RevisionRange};
use crate::code::TextAnswer;
use crate::files;

/// Bytes of patches that the model reads.
const MOST_PATCH: usize = 40 * 1024;
/// Files whose patches are asked for; the others are counted.
const MOST_FILES: usize = 500;
/// Untracked files that are named.
const MOST_UNTRACKED: usize = 50;
const LARGEST_CONTEXT: u32 = 50;

pub struct GitDiff {
    workspace: Workspace,
}

impl GitDiff {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// Shows what changed in the repository: counts per file, then patches, long ones cut. Without arguments it shows what is
/// not committed, and names untracked files.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct GitDiffInput {
    /// A file or folder; everything by default.
    #[schemars(extend("x-aliases" = ["file_path"]))]
    path: Option<String>,
    /// Only what is staged.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["cached"]))]
    staged: bool,
    /// `HEAD~3` (up to the files as they are), `main..topic`, or `main...topic` from the common ancestor.
    #[schemars(extend("x-aliases" = ["range", "revisions", "commit"]))]
    revision: Option<String>,
    /// Only the counts.
    #[serde(default)]
    stat: bool,
    /// Lines around a change; 3 by default.
    context: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GitDiffBody {
    files: Vec<ChangedFile>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untracked: Vec<String>,
    /// Changed files that the agent may not see.
    #[serde(skip_serializing_if = "is_zero")]
    hidden: usize,
    patch: String,
    /// Files whose patch was cut or left out.
    #[serde(skip_serializing_if = "is_zero")]
    cut: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[async_trait]
impl Tool for GitDiff {
    type Input = GitDiffInput;
    type Plan = GitDiffInput;
    type Output = TextAnswer<GitDiffBody>;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "git_diff",
            aliases: &[],
            category: Category::Git,
            risk: Risk::Read,
            time_limit: Duration::from_mins(2),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let path = input.path.clone().unwrap_or_else(|| ".".to_owned());
        let what = match (&input.revision, input.staged) {
            (Some(revision), _) => format!("the changes of `{revision}`"),
            (None, true) => "what is staged".to_owned(),
            (None, false) => "what is not committed".to_owned(),
        };
        let summary = format!("Show {what} in `{path}`");
        Planned::ready(Preview { summary, paths: vec![path], ..Preview::default() }, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let repository = Repository::new(&self.workspace, ctx);
        let path = match &input.path {
            Some(path) => files::place(&self.workspace, path)?.display(),
            None => ".".to_owned(),
        };
        let base = compared(&repository, &input).await?;
        let base: Vec<&str> = base.iter().map(String::as_str).collect();
        let mut words = vec!["--literal-pathspecs", "diff"];
        words.extend(DIFF_OPTIONS);
        words.extend(["--numstat", "-z"]);
        words.extend(&base);
        words.extend(["--", &path]);
        let mut files = patches::read_counts(&repository.ask(&words).await?);
        let all = files.len();
        files.retain(|file| {
            repository.is_visible(&file.path)
                && file.old_path.as_ref().is_none_or(|old| repository.is_visible(old))
        });
        let hidden = all - files.len();
        let untracked = match (&input.revision, input.staged) {
            (None, false) => untracked(&repository, &path).await?,
            _ => Vec::new(),
        };
        let (patch, cut) = if input.stat || files.is_empty() {
            (String::new(), 0)
        } else {
            self.patch(&repository, &base, &files, input.context).await?
        };
        let body = GitDiffBody { files, untracked, hidden, patch, cut };
        let text = body.text();
        Ok(TextAnswer::new(body, text))
    }
}

/// Nothing outside of git is run, colours and submodules' work trees are left out, and paths are those of the workspace.
pub(super) const DIFF_OPTIONS: [&str; 8] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--find-renames",
    "--relative",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--src-prefix=a/",
];

/// What is compared, as words for `git diff`.
async fn compared(repository: &Repository<'_>, input: &GitDiffInput) -> Result<Vec<String>, ToolError> {
    let staged = input.staged.then(|| "--cached".to_owned());
    let Some(revision) = &input.revision else {
        let has_commit = repository.has_commit().await?;
        return Ok(match (staged, has_commit) {
            (Some(staged), _) => vec![staged],
            (None, true) => vec!["HEAD".to_owned()],
            // Before the first commit everything that is staged is new.
            (None, false) => vec!["--cached".to_owned()],
        });
    };
    Ok(match repository.range(revision).await? {
        RevisionRange::Since(hash) => staged.into_iter().chain([hash]).collect(),
        RevisionRange::Between(..) if input.staged => {
            return Err(ToolError::parameter("`staged` goes with one revision, not with two"));
        }
        RevisionRange::Between(left, right) => vec![left, right],
    })
}

async fn untracked(repository: &Repository<'_>, path: &str) -> Result<Vec<String>, ToolError> {
    let words = [
        "--literal-pathspecs",
        "ls-files",
        "--others",
        "--exclude-standard",
        "--directory",
        "-z",
        "--",
        path,
    ];
    let listed = repository.ask(&words).await?;
    let paths = listed.split('\0').filter(|path| !path.is_empty());
    Ok(paths.filter(|path| repository.is_visible(path)).map(str::to_owned).collect())
}

impl GitDiff {
    /// The patches of the files that may be seen.
    async fn patch(
        &self,
        repository: &Repository<'_>,
        base: &[&str],
        files: &[ChangedFile],
        context: Option<u32>,
    ) -> Result<(String, usize), ToolError> {
        let context = format!("--unified={}", context.unwrap_or(3).min(LARGEST_CONTEXT));
        let mut words = vec!["--literal-pathspecs", "diff", &context, "--dst-prefix=b/"];
        words.extend(DIFF_OPTIONS);
        words.extend(base);
        words.push("--");
        let shown = &files[..files.len().min(MOST_FILES)];
        // Both names of a renamed file, or git would call it new.
        words.extend(
            shown.iter().flat_map(|file| file.old_path.as_deref().into_iter().chain([file.path.as_str()])),
        );
        let patch = repository.ask(&words).await?;
        let mut sections = patches::sections(&patch);
        // The last one is torn where the output was longer than what is read.
        if patch.len() >= MOST_OUTPUT && sections.len() > 1 {
            sections.pop();
        }
        let missing = files.len().saturating_sub(sections.len());
        let (text, cut) = patches::fitted(&sections, MOST_PATCH);
        Ok((text, cut + missing))
    }
}

impl GitDiffBody {
    fn text(&self) -> String {
        let mut text = if self.files.is_empty() {
            "no changes\n".to_owned()
        } else {
            format!("{}\n{}", patches::totals(&self.files), patches::count_lines(&self.files))
        };
        for path in self.untracked.iter().take(MOST_UNTRACKED) {
            text.push_str(&format!("untracked\t{path}\n"));
        }
        if let Some(more) = self.untracked.len().checked_sub(MOST_UNTRACKED).filter(|more| *more > 0) {
            text.push_str(&format!("and {}\n", counted(more as u64, "more untracked file")));
        }
        if self.hidden > 0 {
            text.push_str(&format!("{} hidden from you\n", counted(self.hidden as u64, "changed file")));
        }
        if !self.patch.is_empty() {
            text.push('\n');
            text.push_str(&self.patch);
        }
        if self.cut > 0 {
            text.push_str(&format!("[{} not shown whole]\n", counted(self.cut as u64, "patch")));
        }
        text
    }
}
