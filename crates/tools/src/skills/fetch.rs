//! Where a skill is fetched from: a folder, a repository on GitHub, or any repository over HTTPS.

use std::path::{Path, PathBuf};
use std::time::Duration;

use stepwell_workspace::process::{self, Ending};
use stepwell_workspace::{files, git};
use tokio_util::sync::CancellationToken;

const TIME_LIMIT: Duration = Duration::from_mins(3);
/// Folders that are looked at for skills.
const MOST_FOLDERS: usize = 2000;
const DEEPEST: usize = 5;

/// A source, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillSource {
    Folder(PathBuf),
    Repository {
        url: String,
        host: String,
        branch: Option<String>,
        /// The skill that the address names.
        skill: Option<String>,
    },
}

/// A folder with skills in it.
#[derive(Debug)]
pub struct FetchedSkills {
    pub folder: PathBuf,
    pub commit: Option<String>,
}

impl SkillSource {
    /// Understands what a person or a model wrote. Relative folders start at `base`.
    pub fn read(text: &str, base: &Path) -> Result<Self, String> {
        let text = text.trim().trim_end_matches('/');
        if text.is_empty() {
            return Err("name a folder, `owner/repo` or an https address".to_owned());
        }
        if let Some(rest) = text.strip_prefix("https://") {
            return Self::address(rest);
        }
        if text.contains("://") || text.starts_with("git@") || text.contains("::") {
            return Err(format!("`{text}` is no https address; others are not fetched"));
        }
        let path = base.join(text);
        if text.starts_with(['/', '.']) || path.is_dir() {
            return Ok(Self::Folder(path));
        }
        let parts: Vec<&str> = text.split('/').collect();
        match parts.as_slice() {
            [owner, repository, rest @ ..] if is_name(owner) && is_name(repository) && rest.len() <= 6 => {
                Ok(Self::github(owner, repository, None, rest.last()))
            }
            _ => Err(format!("`{text}` is neither a folder that exists nor `owner/repo`")),
        }
    }

    fn address(rest: &str) -> Result<Self, String> {
        let parts: Vec<&str> = rest.split('/').collect();
        let host = parts.first().copied().unwrap_or_default();
        let is_host = !host.is_empty()
            && host.chars().all(|c| c.is_ascii_alphanumeric() || "-.:".contains(c))
            && host.contains('.');
        if !is_host || rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(format!("`https://{rest}` is no address of a repository"));
        }
        match (host, &parts[1..]) {
            ("github.com" | "www.github.com", [owner, repository, "tree", branch, path @ ..]) => {
                Ok(Self::github(owner, repository, Some(branch), path.last()))
            }
            (
                "github.com" | "www.github.com" | "skills.sh" | "www.skills.sh",
                [owner, repository, path @ ..],
            ) => Ok(Self::github(owner, repository, None, path.last())),
            (_, path) if !path.is_empty() => Ok(Self::Repository {
                url: format!("https://{rest}"),
                host: host.to_owned(),
                branch: None,
                skill: None,
            }),
            _ => Err(format!("`https://{rest}` names no repository")),
        }
    }

    fn github(owner: &str, repository: &str, branch: Option<&str>, skill: Option<&&str>) -> Self {
        let repository = repository.trim_end_matches(".git");
        Self::Repository {
            url: format!("https://github.com/{owner}/{repository}.git"),
            host: "github.com".to_owned(),
            branch: branch.map(str::to_owned),
            skill: skill.map(|skill| (*skill).to_owned()),
        }
    }

    /// The skill that the source itself names.
    pub fn skill(&self) -> Option<&str> {
        match self {
            Self::Folder(_) => None,
            Self::Repository { skill, .. } => skill.as_deref(),
        }
    }

    /// Fetches a repository into a new folder, or names the local one. Nothing of it is run.
    pub async fn fetch(
        &self,
        branch: Option<&str>,
        into: &Path,
        cancel: &CancellationToken,
    ) -> Result<FetchedSkills, String> {
        let (url, own_branch) = match self {
            Self::Folder(folder) => return Ok(FetchedSkills { folder: folder.clone(), commit: None }),
            Self::Repository { url, branch, .. } => (url, branch),
        };
        let branch = branch.or(own_branch.as_deref());
        let call = git::clone_call(url, branch, into, TIME_LIMIT).map_err(|error| error.to_string())?;
        said(call, cancel).await.map_err(|reason| format!("`{url}` could not be fetched: {reason}"))?;
        let call = git::call(into, &["rev-parse", "HEAD"], TIME_LIMIT).map_err(|error| error.to_string())?;
        let commit = said(call, cancel).await.ok().map(|said| said.trim().to_owned());
        Ok(FetchedSkills { folder: into.to_path_buf(), commit })
    }
}

async fn said(call: process::ProgramCall, cancel: &CancellationToken) -> Result<String, String> {
    let (mut output, mut complaint) = (String::new(), String::new());
    let ran = process::run(call, cancel, |stream, text| {
        let kept = match stream {
            stepwell_protocol::OutputStream::Stdout => &mut output,
            stepwell_protocol::OutputStream::Stderr => &mut complaint,
        };
        if kept.len() < 16 * 1024 {
            kept.push_str(text);
        }
    });
    match ran.await.map_err(|error| error.to_string())?.ending {
        Ending::Exited(0) => Ok(output),
        Ending::Exited(_) => {
            let line = complaint.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("git failed");
            Err(line.trim().to_owned())
        }
        Ending::TimedOut => Err("it took longer than three minutes".to_owned()),
        Ending::Signalled(_) | Ending::Cancelled => Err("it was cancelled".to_owned()),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['-', '.'])
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// The folders below one that hold a `SKILL.md`, the folder itself included.
pub fn find_skills(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_path_buf(), 0)];
    let mut looked_at = 0;
    while let Some((path, depth)) = folders.pop() {
        looked_at += 1;
        if looked_at > MOST_FOLDERS {
            break;
        }
        if path.join("SKILL.md").is_file() {
            found.push(path);
            continue;
        }
        for (entry, kind) in files::list_kinds(&path).unwrap_or_default() {
            let name = entry.file_name().unwrap_or_default();
            if kind.is_dir() && name != ".git" && name != "node_modules" && depth < DEEPEST {
                folders.push((entry, depth + 1));
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_understood() {
        let base = tempfile::tempdir().unwrap();
        let repository = |url: &str, branch: Option<&str>, skill: Option<&str>| SkillSource::Repository {
            url: url.to_owned(),
            host: "github.com".to_owned(),
            branch: branch.map(str::to_owned),
            skill: skill.map(str::to_owned),
        };
        let url = "https://github.com/vercel-labs/agent-skills.git";
        for (text, expected) in [
            ("vercel-labs/agent-skills", repository(url, None, None)),
            ("vercel-labs/agent-skills/react", repository(url, None, Some("react"))),
            ("https://github.com/vercel-labs/agent-skills", repository(url, None, None)),
            (
                "https://github.com/vercel-labs/agent-skills/tree/dev/skills/react",
                repository(url, Some("dev"), Some("react")),
            ),
            ("https://skills.sh/vercel-labs/agent-skills/react", repository(url, None, Some("react"))),
            ("./mine", SkillSource::Folder(base.path().join("./mine"))),
            ("/tmp/x", SkillSource::Folder("/tmp/x".into())),
        ] {
            assert_eq!(SkillSource::read(text, base.path()), Ok(expected), "{text}");
        }
        for text in [
            "",
            "http://example.org/a",
            "ssh://x/y",
            "git@github.com:a/b",
            "ext::sh -c id",
            "file:///etc",
            "--upload-pack=x/y",
            "word",
            "https://localhost/x",
            "https://example.org",
            "https://a b.org/x",
        ] {
            assert!(SkillSource::read(text, base.path()).is_err(), "{text}");
        }
    }
}
