//! `git_log`: commits, the newest first.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec, counted};
use stepwell_workspace::Workspace;

use super::repository::{Repository, RevisionRange};
use crate::code::TextAnswer;
use crate::files;

const DEFAULT_LIMIT: usize = 20;
const LARGEST_LIMIT: usize = 200;
/// Lines of a commit's body and files of a commit that are shown.
const MOST_BODY_LINES: usize = 20;
const MOST_FILES: usize = 30;
/// Between the parts of a commit, and between commits.
const PART: char = '\x1f';
const END: char = '\x1e';

pub struct GitLog {
    workspace: Workspace,
}

impl GitLog {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// Lists commits, the newest first: hash, date, author, subject.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct GitLogInput {
    /// Commits at most; 20 by default.
    #[schemars(extend("x-aliases" = ["max_count", "n"]))]
    limit: Option<usize>,
    /// Only commits that changed this file or folder; a file is followed through renames.
    #[schemars(extend("x-aliases" = ["file_path"]))]
    path: Option<String>,
    /// A branch, tag or commit, or a range such as `v1.0..HEAD`.
    #[schemars(extend("x-aliases" = ["range", "revisions", "branch"]))]
    revision: Option<String>,
    /// Draws the branches.
    #[serde(default)]
    graph: bool,
    /// Also bodies and changed files.
    #[serde(default)]
    details: bool,
    /// Only commits whose message has this text.
    grep: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GitLogBody {
    commits: Vec<Commit>,
    /// The drawing, where one was wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<String>,
    /// Whether there are more than the limit.
    more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Commit {
    hash: String,
    short: String,
    author: String,
    /// When it was written, with the time zone.
    date: String,
    subject: String,
    /// Branches and tags that point to it.
    #[serde(skip_serializing_if = "String::is_empty")]
    refs: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    body: String,
    /// How each file changed (`M`, `A`, `D`, `R`), with its path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// Changed files that are not named: hidden ones, and those beyond a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_files: Option<usize>,
}

#[async_trait]
impl Tool for GitLog {
    type Input = GitLogInput;
    type Plan = GitLogInput;
    type Output = TextAnswer<GitLogBody>;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "git_log",
            aliases: &[],
            category: Category::Git,
            risk: Risk::Read,
            time_limit: Duration::from_mins(1),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let path = input.path.clone().unwrap_or_else(|| ".".to_owned());
        let of = input.revision.as_ref().map(|revision| format!(" of `{revision}`")).unwrap_or_default();
        let summary = format!("Show the commits{of} in `{path}`");
        Planned::ready(Preview { summary, paths: vec![path], ..Preview::default() }, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let repository = Repository::new(&self.workspace, ctx);
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, LARGEST_LIMIT);
        if !repository.has_commit().await? {
            let body = GitLogBody { commits: Vec::new(), graph: None, more: false };
            return Ok(TextAnswer::new(body, "there is no commit yet"));
        }
        let chosen = self.chosen(&repository, &input).await?;
        let chosen: Vec<&str> = chosen.iter().map(String::as_str).collect();
        let most = format!("--max-count={}", limit + 1);
        let format = format!("--format={END}%H{PART}%h{PART}%an{PART}%ad{PART}%D{PART}%s{PART}%b{PART}");
        let mut words =
            vec!["--literal-pathspecs", "log", "--no-color", "--no-show-signature", "--date=iso-strict"];
        words.extend([most.as_str(), format.as_str()]);
        if input.details {
            words.extend(["--name-status", "--relative", "--no-ext-diff", "--no-textconv", "--find-renames"]);
        }
        words.extend(&chosen);
        let mut commits = read_commits(&repository, &repository.ask(&words).await?, input.details);
        let more = commits.len() > limit;
        commits.truncate(limit);
        let graph = if input.graph {
            let most = format!("--max-count={limit}");
            let mut words =
                vec!["--literal-pathspecs", "log", "--no-color", "--no-show-signature", "--graph"];
            words.extend([most.as_str(), "--format=%h %ad %an%d %s", "--date=short"]);
            words.extend(chosen.iter().filter(|word| **word != "--follow"));
            Some(repository.ask(&words).await?)
        } else {
            None
        };
        let body = GitLogBody { commits, graph, more };
        let text = body.text();
        Ok(TextAnswer::new(body, text))
    }
}

impl GitLog {
    /// Which commits, as words for `git log`.
    async fn chosen(
        &self,
        repository: &Repository<'_>,
        input: &GitLogInput,
    ) -> Result<Vec<String>, ToolError> {
        let mut words = Vec::new();
        if let Some(text) = &input.grep {
            words.extend([format!("--grep={text}"), "--fixed-strings".into(), "--regexp-ignore-case".into()]);
        }
        let place = input.path.as_ref().map(|path| files::place(&self.workspace, path)).transpose()?;
        if place.as_ref().is_some_and(|place| !place.absolute().is_dir()) {
            words.push("--follow".to_owned());
        }
        words.push(match &input.revision {
            None => "HEAD".to_owned(),
            Some(revision) => match repository.range(revision).await? {
                RevisionRange::Since(hash) => hash,
                RevisionRange::Between(left, right) => format!("{left}..{right}"),
            },
        });
        if let Some(place) = place {
            words.extend(["--".to_owned(), place.display()]);
        }
        Ok(words)
    }
}

fn read_commits(repository: &Repository<'_>, output: &str, details: bool) -> Vec<Commit> {
    let read = |text: &str| {
        let mut parts = text.split(PART);
        let mut next = || parts.next().map(str::trim).map(str::to_owned);
        let (hash, short, author, date) = (next()?, next()?, next()?, next()?);
        let (refs, subject, body, changed) = (next()?, next()?, next()?, next().unwrap_or_default());
        let listed: Vec<String> =
            changed.lines().filter(|line| !line.is_empty()).map(|line| line.replace('\t', " ")).collect();
        let all = listed.len();
        let is_visible = |line: &String| {
            line.split_once(' ')
                .is_some_and(|(_, paths)| paths.split(' ').all(|path| repository.is_visible(path)))
        };
        let files: Vec<String> = listed.into_iter().filter(is_visible).take(MOST_FILES).collect();
        let more_files = Some(all - files.len()).filter(|more| *more > 0);
        let body = if details { body } else { String::new() };
        Some(Commit { hash, short, author, date, subject, refs, body, files, more_files })
    };
    output.split(END).skip(1).filter_map(read).collect()
}

impl GitLogBody {
    fn text(&self) -> String {
        let mut text = match &self.graph {
            Some(graph) => graph.clone(),
            None => self.commits.iter().map(Commit::text).collect(),
        };
        if self.commits.is_empty() {
            "no commits".clone_into(&mut text);
        }
        if self.more {
            text.push_str(&format!("[only the newest {}; raise `limit`]\n", self.commits.len()));
        }
        text
    }
}

impl Commit {
    fn text(&self) -> String {
        let day = self.date.get(..10).unwrap_or(&self.date);
        let refs = if self.refs.is_empty() { String::new() } else { format!(" ({})", self.refs) };
        let mut text = format!("{} {day} {}{refs}: {}\n", self.short, self.author, self.subject);
        for line in self.body.lines().take(MOST_BODY_LINES) {
            text.push_str(&format!("    {line}\n"));
        }
        for file in &self.files {
            text.push_str(&format!("    {file}\n"));
        }
        if let Some(more) = self.more_files {
            text.push_str(&format!("    and {}\n", counted(more as u64, "more file")));
        }
        text
    }
}
