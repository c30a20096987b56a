//! Questions to git about the repository of the workspace.

use std::path::PathBuf;
use std::time::Duration;

use stepwell_protocol::{ErrorClass, OutputStream};
use stepwell_tool_runtime::{ToolContext, ToolError};
use stepwell_workspace::process::{self, Ending, ProgramCall};
use stepwell_workspace::{Workspace, git};
use tokio_util::sync::CancellationToken;

const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Bytes of one answer that are read.
pub(super) const MOST_OUTPUT: usize = 4 * 1024 * 1024;

/// The repository that the workspace belongs to.
pub(crate) struct Repository<'a> {
    workspace: &'a Workspace,
    cancel: &'a CancellationToken,
}

/// What a call wants to see of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RevisionRange {
    /// From a commit to the files as they are.
    Since(String),
    /// From one commit to another.
    Between(String, String),
}

impl<'a> Repository<'a> {
    pub(crate) fn new(workspace: &'a Workspace, ctx: &'a ToolContext) -> Self {
        Self { workspace, cancel: &ctx.cancel }
    }

    /// Asks git a question that changes nothing. Output beyond the limit is left out.
    pub(crate) async fn ask(&self, words: &[&str]) -> Result<String, ToolError> {
        let call = git::call(self.workspace.root(), words, TIME_LIMIT).map_err(refused)?;
        self.run(call).await
    }

    /// Runs git and returns what it prints.
    pub(super) async fn run(&self, call: ProgramCall) -> Result<String, ToolError> {
        let (mut said, mut complaint) = (String::new(), String::new());
        let ran = process::run(call, self.cancel, |stream, text| {
            let (kept, most) = match stream {
                OutputStream::Stdout => (&mut said, MOST_OUTPUT),
                OutputStream::Stderr => (&mut complaint, 16 * 1024),
            };
            if kept.len() < most {
                kept.push_str(text);
            }
        });
        match ran.await.map_err(refused)?.ending {
            Ending::Exited(0) => Ok(said),
            Ending::Exited(_) => Err(ToolError::execution(first_complaint(&complaint))),
            Ending::Signalled(signal) => {
                Err(ToolError::execution(format!("git was ended by signal {signal}")))
            }
            Ending::TimedOut => {
                Err(ToolError::new(ErrorClass::TimeoutError, "git did not answer within 30 s"))
            }
            Ending::Cancelled => Err(ToolError::interrupted("the call was cancelled")),
        }
    }

    /// Returns the hash of a commit. Whatever a name looks like, git does not take it for an option.
    pub(crate) async fn commit(&self, name: &str) -> Result<String, ToolError> {
        if name.is_empty() || name.starts_with('-') || name.contains(['\0', '\n', ' ']) {
            return Err(ToolError::parameter(format!("`{name}` is no name of a revision")));
        }
        let wanted = format!("{name}^{{commit}}");
        let found = self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]).await;
        match found.map(|hash| hash.trim().to_owned()) {
            Ok(hash) if !hash.is_empty() => Ok(hash),
            Ok(_) => Err(unknown(name)),
            Err(error) if error.class == ErrorClass::ExecutionError && error.message == NO_REASON => {
                Err(unknown(name))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether there is a commit at all.
    pub(crate) async fn has_commit(&self) -> Result<bool, ToolError> {
        self.ask(&["rev-parse", "--git-dir"]).await?;
        Ok(self.commit("HEAD").await.is_ok())
    }

    /// Resolves `a`, `a..b` or `a...b`, whose left side is the common ancestor.
    pub(crate) async fn range(&self, text: &str) -> Result<RevisionRange, ToolError> {
        let or_head = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
        if let Some((left, right)) = text.split_once("...") {
            let (left, right) = (self.commit(&or_head(left)).await?, self.commit(&or_head(right)).await?);
            let base = self.ask(&["merge-base", &left, &right]).await;
            let base = base.map_err(|_| {
                ToolError::execution(format!("the two sides of `{text}` have no common ancestor"))
            })?;
            return Ok(RevisionRange::Between(base.trim().to_owned(), right));
        }
        if let Some((left, right)) = text.split_once("..") {
            let left = self.commit(&or_head(left)).await?;
            return Ok(RevisionRange::Between(left, self.commit(&or_head(right)).await?));
        }
        Ok(RevisionRange::Since(self.commit(text).await?))
    }

    /// The folder of the repository's own data.
    pub(super) async fn git_folder(&self) -> Result<PathBuf, ToolError> {
        Ok(self.ask(&["rev-parse", "--absolute-git-dir"]).await?.trim_end_matches('\n').into())
    }

    /// Whether the agent may see a file. Paths are relative to the workspace.
    pub(super) fn is_visible(&self, path: &str) -> bool {
        self.workspace.place(path).is_ok()
    }
}

const NO_REASON: &str = "git failed without saying why";

fn unknown(name: &str) -> ToolError {
    ToolError::parameter(format!("there is no revision `{name}`; `git_log` shows what there is"))
}

/// Why git could not be run.
pub(super) fn refused(error: stepwell_workspace::Error) -> ToolError {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    let class = match error {
        stepwell_workspace::Error::Repository { .. } => ErrorClass::PermissionError,
        _ => ErrorClass::ExecutionError,
    };
    ToolError::new(class, format!("{error}{hint}"))
}

/// The first line of a complaint that says something.
fn first_complaint(complaint: &str) -> String {
    let first = complaint.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or(NO_REASON);
    first.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned()
}
