//! `generate_commit`: a message for what changed, and the commit, once the person agrees.
//!
//! Git itself runs here without hooks and without anything that the repository names; the person's own settings may sign.
//! Hooks run only in a folder that the person trusts, and in the sandbox like any other command.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stepwell_protocol::{Preview, PreviewFile, Risk};
use stepwell_tool_runtime::{
    Category, Planned, Tool, ToolContext, ToolError, ToolSpec, WorkspaceAccess, counted,
};
use stepwell_workspace::process::{Ending, KeepOutput, ProgramCall};
use stepwell_workspace::{Workspace, files, git};

use super::habits::CommitHabits;
use super::message::{self, ChangeKind, FileChange, MessageSource};
use super::patches;
use super::repository::{Repository, refused};
use crate::catalog::CatalogOptions;
use crate::code::TextAnswer;
use crate::shell::confine::Confinement;
use crate::shell::{commands_environment, run_confined};

/// Commits whose habits are learned.
const LEARNED: &str = "--max-count=40";
/// Signing may ask the person for a passphrase.
const COMMIT_LIMIT: Duration = Duration::from_mins(2);
const HOOK_LIMIT: Duration = Duration::from_mins(5);
const MOST_HOOK_OUTPUT: usize = 16 * 1024;
const LONGEST_MESSAGE: usize = 16 * 1024;
/// Hooks that git runs before and after a commit.
const HOOKS: &[&str] = &["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

pub struct GenerateCommit {
    workspace: Workspace,
    confinement: Confinement,
    removed_variables: Vec<String>,
    /// Whether the person trusts the folder, so that its hooks run.
    trusted: bool,
}

impl GenerateCommit {
    pub fn new(workspace: Workspace, options: &CatalogOptions) -> Self {
        Self {
            workspace,
            confinement: options.confinement.clone(),
            removed_variables: options.removed_variables.clone(),
            trusted: options.trusted,
        }
    }
}

/// Commits what is staged, or all changes of tracked files where nothing is, once the user agrees. Write `message`
/// yourself; without one it is made from the diff in the style of earlier commits. With `commit: false` it only tells the
/// message, the style and what would be committed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct GenerateCommitInput {
    /// Only what is staged; `false` also takes changes of tracked files that are not.
    staged_only: Option<bool>,
    message: Option<String>,
    commit: Option<bool>,
}

#[derive(Clone, Debug)]
pub struct CommitPlan {
    message: String,
    habits: CommitHabits,
    summary: String,
    /// Takes the changes of tracked files too.
    stages_tracked: bool,
    /// Of what was shown; another one is not committed.
    content: String,
    hooks: Vec<&'static str>,
    commits: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GenerateCommitBody {
    message: String,
    habits: CommitHabits,
    /// The new commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    /// Hooks that ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hooks: Vec<String>,
    /// Hooks that did not run because the folder is not trusted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped_hooks: Vec<String>,
}

#[async_trait]
impl Tool for GenerateCommit {
    type Input = GenerateCommitInput;
    type Plan = CommitPlan;
    type Output = TextAnswer<GenerateCommitBody>;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "generate_commit",
            aliases: &[],
            category: Category::Git,
            risk: Risk::Execute,
            time_limit: Duration::from_mins(20),
            output_limit: 20 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        match self.planned(ctx, &input).await {
            Ok((preview, plan)) => Planned::ready(preview, plan),
            Err(error) => {
                Planned::new(Preview { summary: "Commit".to_owned(), ..Preview::default() }, Err(error))
            }
        }
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError> {
        let (run, skipped): (Vec<&str>, Vec<&str>) = plan.hooks.iter().partition(|_| self.trusted);
        let mut body = GenerateCommitBody {
            message: plan.message.clone(),
            habits: plan.habits.clone(),
            hash: None,
            hooks: Vec::new(),
            skipped_hooks: skipped.into_iter().map(str::to_owned).collect(),
        };
        let style = plan.habits.described();
        if !plan.commits {
            let text = format!(
                "{}\nmessage by rules:\n{}\n\nstyle of earlier commits: {style}",
                plan.summary, plan.message
            );
            return Ok(TextAnswer::new(body, text));
        }
        let repository = Repository::new(&self.workspace, ctx);
        let found = content_hash(&repository, plan.stages_tracked).await?;
        if found != plan.content {
            return Err(ToolError::validation(
                "the changes are not those that were shown any more; call `generate_commit` again",
            ));
        }
        let write = |words: &[&str], input: Option<Vec<u8>>| {
            git::writing_call(self.workspace.root(), words, input, COMMIT_LIMIT).map_err(refused)
        };
        if plan.stages_tracked {
            repository.run(write(&["add", "--update", "--", ":/"], None)?).await?;
        }
        body.message = self.run_hooks(ctx, &repository, &run, &plan.message).await?;
        let sign_off = if plan.habits.signed_off { "--signoff" } else { "--no-signoff" };
        let words = [
            "-c",
            "maintenance.auto=false",
            "-c",
            "gc.auto=0",
            "commit",
            "--quiet",
            "--no-verify",
            "--cleanup=whitespace",
            sign_off,
            "--file=-",
        ];
        repository.run(write(&words, Some(body.message.clone().into_bytes()))?).await?;
        let hash = repository.commit("HEAD").await?;
        if run.contains(&"post-commit") {
            // It comes too late to refuse anything.
            self.hook(ctx, "post-commit", &[]).await.ok();
        }
        body.hooks = run.into_iter().map(str::to_owned).collect();
        let mut text =
            format!("committed {}\n{}\n", hash.get(..12).unwrap_or(&hash), body.message.trim_end());
        if !body.hooks.is_empty() {
            text.push_str(&format!("hooks that ran: {}\n", body.hooks.join(", ")));
        }
        if !body.skipped_hooks.is_empty() {
            text.push_str(&format!(
                "hooks that did not run, because the folder is not trusted: {}\n",
                body.skipped_hooks.join(", ")
            ));
        }
        body.hash = Some(hash);
        Ok(TextAnswer::new(body, text))
    }
}

impl GenerateCommit {
    async fn planned(
        &self,
        ctx: &ToolContext,
        input: &GenerateCommitInput,
    ) -> Result<(Preview, CommitPlan), ToolError> {
        let commits = input.commit.unwrap_or(true);
        if commits && ctx.access == WorkspaceAccess::ReadOnly {
            return Err(ToolError::permission("nothing is committed while the workspace may not be changed"));
        }
        if input.message.as_ref().is_some_and(|message| message.trim().is_empty()) {
            return Err(ToolError::parameter("`message` is empty; leave it out to have one made"));
        }
        if input.message.as_ref().is_some_and(|message| message.len() > LONGEST_MESSAGE) {
            return Err(ToolError::parameter(format!("`message` is longer than {LONGEST_MESSAGE} bytes")));
        }
        let repository = Repository::new(&self.workspace, ctx);
        let has_commit = repository.has_commit().await?;
        let stages_tracked = match input.staged_only {
            Some(staged_only) => !staged_only,
            None => changes(&repository, &self.workspace, Source::Staged).await?.files.is_empty(),
        };
        // Before the first commit there is nothing to compare tracked files with.
        let stages_tracked = stages_tracked && has_commit;
        let source = if stages_tracked { Source::Tracked } else { Source::Staged };
        let Changes { files, hidden } = changes(&repository, &self.workspace, source).await?;
        if files.is_empty() && hidden == 0 {
            let what = if stages_tracked { "no tracked file has changed" } else { "nothing is staged" };
            return Err(ToolError::validation(format!(
                "there is nothing to commit: {what}; stage files with `git add` first"
            )));
        }
        let habits = self.habits(&repository, has_commit).await?;
        let branch =
            repository.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await.unwrap_or_default();
        let made =
            || message::write(&MessageSource { changes: &files, habits: &habits, branch: branch.trim() });
        let message = input.message.clone().unwrap_or_else(made);
        let hooks = self.found_hooks(&repository).await?;
        let listed: Vec<_> = files.iter().map(|change| change.file.clone()).collect();
        let summary = format!("{}\n{}", patches::totals(&listed), patches::count_lines(&listed));
        let mut warnings = Vec::new();
        if hidden > 0 {
            warnings.push(format!(
                "it also commits {} that the agent may not see",
                counted(hidden as u64, "file")
            ));
        }
        let runs_hooks = self.trusted && !hooks.is_empty();
        if !hooks.is_empty() && !self.trusted {
            warnings.push("the hooks of the repository do not run: the folder is not trusted".to_owned());
        }
        let subject = message.lines().next().unwrap_or_default();
        let preview = Preview {
            summary: if commits {
                format!("Commit {} as `{subject}`", counted((files.len() + hidden) as u64, "file"))
            } else {
                "Write a commit message".to_owned()
            },
            diff: Some(format!("{message}\n\n{summary}")),
            files: Vec::<PreviewFile>::new(),
            warnings,
            unconfined: self.confinement.missing().filter(|_| runs_hooks && commits),
            ..Preview::default()
        };
        let content = content_hash(&repository, stages_tracked).await?;
        let plan = CommitPlan { message, habits, summary, stages_tracked, content, hooks, commits };
        Ok((preview, plan))
    }

    async fn habits(&self, repository: &Repository<'_>, has_commit: bool) -> Result<CommitHabits, ToolError> {
        if !has_commit {
            return Ok(CommitHabits::of(&[]));
        }
        let words = [
            "log",
            LEARNED,
            "--no-merges",
            "--no-color",
            "--no-show-signature",
            "--format=%s%x1f%b%x1e",
            "HEAD",
        ];
        let told = repository.ask(&words).await?;
        let messages: Vec<(&str, &str)> =
            told.split('\x1e').filter_map(|message| message.trim_start().split_once('\x1f')).collect();
        Ok(CommitHabits::of(&messages))
    }

    /// The hooks of the repository that a commit runs.
    async fn found_hooks(&self, repository: &Repository<'_>) -> Result<Vec<&'static str>, ToolError> {
        use std::os::unix::fs::PermissionsExt as _;
        // Where the settings of the repository and the person say, which the quiet environment overrides.
        let named = repository.ask(&["config", "--local", "--get", "core.hooksPath"]).await;
        let top = repository.ask(&["rev-parse", "--show-toplevel"]).await?;
        let folder: PathBuf = match named {
            Ok(named) if !named.trim().is_empty() => PathBuf::from(top.trim()).join(named.trim()),
            _ => {
                let common =
                    repository.ask(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).await?;
                PathBuf::from(common.trim()).join("hooks")
            }
        };
        let is_there = |name: &&&str| {
            files::metadata(&folder.join(name))
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        Ok(HOOKS.iter().filter(is_there).copied().collect())
    }

    /// Runs the hooks that come before a commit; the message may be changed by them.
    async fn run_hooks(
        &self,
        ctx: &ToolContext,
        repository: &Repository<'_>,
        hooks: &[&str],
        message: &str,
    ) -> Result<String, ToolError> {
        if hooks.is_empty() {
            return Ok(message.to_owned());
        }
        let failed = |error: stepwell_workspace::Error| ToolError::execution(error.to_string());
        let file = repository.git_folder().await?.join("COMMIT_EDITMSG");
        files::write_atomic(&file, format!("{}\n", message.trim_end()).as_bytes(), files::Privacy::Shared)
            .map_err(failed)?;
        let path = file.display().to_string();
        for name in hooks {
            match *name {
                "pre-commit" => self.hook(ctx, name, &[]).await?,
                "prepare-commit-msg" => self.hook(ctx, name, &[&path, "message"]).await?,
                "commit-msg" => self.hook(ctx, name, &[&path]).await?,
                _ => {}
            }
        }
        let changed = files::read_to_string(&file).map_err(failed)?;
        if changed.trim().is_empty() {
            return Err(ToolError::execution("a hook left an empty message, so nothing was committed"));
        }
        Ok(changed)
    }

    /// Runs one hook in the sandbox, its output live.
    async fn hook(&self, ctx: &ToolContext, name: &str, words: &[&str]) -> Result<(), ToolError> {
        let program = stepwell_workspace::process::find_program("git", self.workspace.root());
        let mut arguments: Vec<OsString> = ["hook", "run", "--ignore-missing", name].map(Into::into).to_vec();
        if !words.is_empty() {
            arguments.push("--".into());
            arguments.extend(words.iter().map(Into::into));
        }
        let call = ProgramCall {
            program: program.unwrap_or_else(|| "git".into()).into(),
            arguments,
            folder: self.workspace.root().to_path_buf(),
            environment: commands_environment(&self.removed_variables),
            input: None,
            time_limit: HOOK_LIMIT,
            keep: KeepOutput { memory: MOST_HOOK_OUTPUT, file: None, file_limit: 0 },
        };
        let finished = run_confined(ctx, &self.confinement, call, |_, text| text.to_owned()).await?;
        let output = format!("{}{}", finished.output.head, finished.output.tail);
        let why = match finished.ending {
            Ending::Exited(0) => return Ok(()),
            Ending::Exited(code) => format!("ended with exit code {code}"),
            Ending::Signalled(signal) => format!("was ended by signal {signal}"),
            Ending::TimedOut => format!("was stopped after {} s", HOOK_LIMIT.as_secs()),
            Ending::Cancelled => return Err(ToolError::interrupted("the call was cancelled")),
        };
        Err(ToolError::execution(format!("nothing was committed: the hook `{name}` {why}\n{output}")))
    }
}

/// Which changes a commit takes.
#[derive(Clone, Copy)]
enum Source {
    Staged,
    Tracked,
}

struct Changes {
    files: Vec<FileChange>,
    /// Files that are hidden from the agent or lie outside the workspace.
    hidden: usize,
}

/// Options of every diff that a commit is shown by; paths are those of the repository.
const OPTIONS: [&str; 6] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--find-renames",
    "--ignore-submodules=dirty",
    "--no-relative",
];

async fn changes(
    repository: &Repository<'_>,
    workspace: &Workspace,
    source: Source,
) -> Result<Changes, ToolError> {
    let compared = match source {
        Source::Staged => "--cached",
        Source::Tracked => "HEAD",
    };
    let ask = async |format: &[&str]| {
        let mut words = vec!["diff", compared];
        words.extend(OPTIONS);
        words.extend(format);
        repository.ask(&words).await
    };
    let counts = patches::read_counts(&ask(&["--numstat", "-z"]).await?);
    let kinds = ask(&["--name-status", "-z"]).await?;
    let kinds = read_kinds(&kinds);
    let patch = ask(&["--unified=0", "--src-prefix=a/", "--dst-prefix=b/"]).await?;
    let sections = patches::sections(&patch);
    let top = repository.ask(&["rev-parse", "--show-toplevel"]).await?;
    let top = PathBuf::from(top.trim_end_matches('\n'));
    let all = counts.len();
    let visible = |path: &str| workspace.place(&top.join(path).to_string_lossy()).is_ok();
    let files: Vec<FileChange> = counts
        .into_iter()
        .enumerate()
        .filter(|(_, file)| visible(&file.path) && file.old_path.as_deref().is_none_or(visible))
        .map(|(at, file)| {
            let kind = kinds
                .iter()
                .find(|(_, path)| *path == file.path)
                .map_or(ChangeKind::Modified, |(kind, _)| *kind);
            // Both lists have the same order where nothing was left out.
            let patch = sections.get(at).filter(|_| sections.len() == all).map_or("", |section| *section);
            FileChange { file, kind, patch: patch.to_owned() }
        })
        .collect();
    Ok(Changes { hidden: all - files.len(), files })
}

/// Reads `--name-status -z`: the letter, then one path, or two for a renamed file.
fn read_kinds(output: &str) -> Vec<(ChangeKind, &str)> {
    let mut fields = output.split('\0');
    let mut found = Vec::new();
    while let Some(letter) = fields.next().filter(|letter| !letter.is_empty()) {
        let kind = ChangeKind::of(letter);
        if letter.starts_with(['R', 'C']) {
            fields.next();
        }
        found.extend(fields.next().map(|path| (kind, path)));
    }
    found
}

/// Tells whether what is committed is what was shown. Changes beyond what is read of a diff are seen by their blobs.
async fn content_hash(repository: &Repository<'_>, tracked: bool) -> Result<String, ToolError> {
    let compared = if tracked { "HEAD" } else { "--cached" };
    let mut hasher = Sha256::new();
    for format in [["--raw", "--abbrev=64"], ["--patch", "--binary"]] {
        let mut words = vec!["diff", compared];
        words.extend(OPTIONS);
        words.extend(format);
        hasher.update(repository.ask(&words).await?);
    }
    Ok(base64::engine::general_purpose::STANDARD_NO_PAD.encode(hasher.finalize()))
}
