//! What the repository of a workspace says about changes and commits, without files that are hidden from the agent.

use std::time::Duration;

use stepwell_protocol::OutputStream;
use stepwell_tool_runtime::GitQuestion;
use stepwell_workspace::process::{self, Ending};
use stepwell_workspace::{Workspace, git};
use tokio_util::sync::CancellationToken;

const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Output of git that is read.
const MOST: usize = 256 * 1024;
/// Paths that are asked about one by one.
const MOST_PATHS: usize = 500;

/// Asks git, with nothing run that the repository names.
pub async fn answer(
    workspace: &Workspace,
    question: &GitQuestion,
    cancel: &CancellationToken,
) -> Result<String, String> {
    let ask = |words: Vec<String>| ask(workspace, words, cancel);
    match question {
        GitQuestion::WorkingChanges => {
            let has_commit = ask(words(&["rev-parse", "--verify", "--quiet", "HEAD"])).await.is_ok();
            let base = if has_commit { "HEAD" } else { "--cached" };
            let changed =
                ask(words(&["diff", base, "--name-only", "-z", "--no-renames", "--relative"])).await?;
            let untracked = ask(words(&["ls-files", "--others", "--exclude-standard", "-z"])).await?;
            let (untracked, _) = visible(workspace, &untracked);
            let (paths, hidden) = visible(workspace, &changed);
            let mut said = String::new();
            if !paths.is_empty() {
                let fixed = ["diff", base, "--no-ext-diff", "--no-textconv", "--no-color", "--relative"];
                said = ask(with_paths(&fixed, &paths)).await?;
            }
            for path in untracked.iter().take(MOST_PATHS) {
                said.push_str(&format!("untracked: {path}\n"));
            }
            Ok(with_hidden(said, hidden))
        }
        GitQuestion::Commit(hash) => {
            // Only a hash: a name could be read as an option.
            if !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(format!("`{hash}` is no hash of a commit"));
            }
            let object = format!("{hash}^{{commit}}");
            ask(words(&["rev-parse", "--verify", "--quiet", &object])).await?;
            let names = ["show", "--format=", "--name-only", "-z", "--no-renames", "--relative", hash];
            let (paths, hidden) = visible(workspace, &ask(words(&names)).await?);
            let head = ["show", "--no-patch", "--no-color", "--no-show-signature", "--format=medium", hash];
            let mut said = ask(words(&head)).await?;
            if !paths.is_empty() {
                let fixed =
                    ["show", "--format=", "--no-ext-diff", "--no-textconv", "--no-color", "--relative", hash];
                said.push_str(&ask(with_paths(&fixed, &paths)).await?);
            }
            Ok(with_hidden(said, hidden))
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn with_paths(fixed: &[&str], paths: &[String]) -> Vec<String> {
    let mut all = vec!["--literal-pathspecs".to_owned()];
    all.extend(words(fixed));
    all.push("--".to_owned());
    all.extend(paths.iter().cloned());
    all
}

/// The paths that the agent may see, and how many it may not.
fn visible(workspace: &Workspace, listed: &str) -> (Vec<String>, usize) {
    let all: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).take(MOST_PATHS).collect();
    let seen: Vec<String> =
        all.iter().filter(|path| workspace.place(path).is_ok()).map(|path| (*path).to_owned()).collect();
    let hidden = all.len() - seen.len();
    (seen, hidden)
}

fn with_hidden(mut said: String, hidden: usize) -> String {
    if hidden > 0 {
        said.push_str(&format!("({hidden} changed files are hidden from you)\n"));
    }
    said
}

async fn ask(
    workspace: &Workspace,
    words: Vec<String>,
    cancel: &CancellationToken,
) -> Result<String, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let call = git::call(workspace.root(), &words, TIME_LIMIT).map_err(|error| error.to_string())?;
    let (mut said, mut complaint) = (String::new(), String::new());
    let ran = process::run(call, cancel, |stream, text| {
        let kept = if stream == OutputStream::Stdout { &mut said } else { &mut complaint };
        if kept.len() < MOST {
            kept.push_str(text);
        }
    });
    match ran.await.map_err(|error| error.to_string())?.ending {
        Ending::Exited(0) => Ok(said),
        Ending::Exited(_) => {
            let first = complaint.lines().next().unwrap_or("git failed").trim_start_matches("fatal: ");
            Err(first.to_owned())
        }
        _ => Err("git did not end in time".to_owned()),
    }
}
