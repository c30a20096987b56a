//! Git without what a repository brings along: settings of a repository can name programs that git runs while it only
//! looks (`core.fsmonitor`, filters, `textconv`, hooks). [`quiet_environment`] switches off those with fixed names,
//! [`hazard`] finds those whose names the repository chooses, and [`call`] is how Stepwell itself runs git.

mod config;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use config::running_key;

use crate::process::{Environment, KeepOutput, ProgramCall, find_program};
use crate::{Error, Result};

/// Settings that are stronger than those of any file.
const SETTINGS: &[(&str, &str)] = &[
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("core.sshCommand", "false"),
    ("core.askPass", "true"),
    ("core.alternateRefsCommand", "true"),
    ("credential.helper", ""),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
];

/// Variables of git that do the same.
const VARIABLES: &[(&str, &str)] = &[
    // Reading must not write the index either: that calls the hook `post-index-change`.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
];

/// Largest settings file, index and list of repositories that are looked at.
const MOST_CONFIG: u64 = 1024 * 1024;
const MOST_INDEX: u64 = 64 * 1024 * 1024;
const MOST_REPOSITORIES: usize = 200;
const MOST_FOLDERS: usize = 20_000;

/// Variables with which git runs nothing that a repository names, for git and for what starts it.
pub fn quiet_environment() -> Vec<(OsString, OsString)> {
    environment_with(|_| true)
}

/// The same with only some of the settings.
fn environment_with(is_wanted: impl Fn(&str) -> bool) -> Vec<(OsString, OsString)> {
    // The person's own settings by variables stay: a container may need `safe.directory`.
    let given =
        std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
    let mut set: Vec<(OsString, OsString)> =
        VARIABLES.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let mut count = given;
    for (name, value) in SETTINGS.iter().filter(|(name, _)| is_wanted(name)) {
        set.push((format!("GIT_CONFIG_KEY_{count}").into(), name.into()));
        set.push((format!("GIT_CONFIG_VALUE_{count}").into(), value.into()));
        count += 1;
    }
    set.push(("GIT_CONFIG_COUNT".into(), count.to_string().into()));
    set
}

/// A call of git that only looks at the repository of a folder. Refused where the repository would make it run
/// something.
pub fn call(folder: &Path, arguments: &[&str], time_limit: Duration) -> Result<ProgramCall> {
    if let Some(reason) = hazard(folder) {
        return Err(Error::Repository { path: folder.to_path_buf(), reason });
    }
    let program = find_program("git", folder).unwrap_or_else(|| "git".into());
    Ok(ProgramCall {
        program: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        folder: folder.to_path_buf(),
        environment: Environment { removed: Vec::new(), set: quiet_environment() },
        input: None,
        time_limit,
        keep: KeepOutput { memory: 4096, file: None, file_limit: 0 },
    })
}

/// A call of git that writes to the repository of a folder, such as a commit: no hook runs and nothing that the repository
/// names, but the person's own settings may sign. Refused where the repository would make git run something.
pub fn writing_call(
    folder: &Path,
    arguments: &[&str],
    input: Option<Vec<u8>>,
    time_limit: Duration,
) -> Result<ProgramCall> {
    let mut call = call(folder, arguments, time_limit)?;
    call.environment.set = environment_with(|name| !name.starts_with("gpg."));
    call.input = input;
    Ok(call)
}

/// A call of git that fetches the newest commit of a repository into a new folder: one branch, no submodules, no links, and
/// nothing that the repository or the person's settings would run. Only the protocol of the address is spoken, which is
/// `https` or, for a repository on this machine, `file`.
pub fn clone_call(url: &str, branch: Option<&str>, into: &Path, time_limit: Duration) -> Result<ProgramCall> {
    let bad = |reason: &str| Error::Repository { path: PathBuf::from(url), reason: reason.to_owned() };
    let protocol = match url.split_once("://") {
        Some((protocol @ ("https" | "file"), rest)) if !rest.is_empty() => protocol,
        _ => return Err(bad("its address is no https address")),
    };
    let is_branch = |name: &str| {
        !name.is_empty()
            && !name.starts_with('-')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
    };
    if branch.is_some_and(|branch| !is_branch(branch)) {
        return Err(bad("the name of the branch is none"));
    }
    let folder = into.parent().unwrap_or(Path::new("/"));
    let program = find_program("git", folder).unwrap_or_else(|| "git".into());
    let mut arguments: Vec<OsString> = [
        "-c",
        "core.symlinks=false",
        "-c",
        "fetch.fsckObjects=true",
        "-c",
        "init.templateDir=",
        "clone",
        "--quiet",
        "--depth=1",
        "--single-branch",
        "--no-tags",
        "--no-recurse-submodules",
        "--template=",
    ]
    .map(Into::into)
    .to_vec();
    if let Some(branch) = branch {
        arguments.push(format!("--branch={branch}").into());
    }
    arguments.extend(["--".into(), url.into(), into.as_os_str().to_owned()]);
    let mut set = quiet_environment();
    set.retain(|(name, _)| name != "GIT_ALLOW_PROTOCOL");
    // Filters of the person, such as that for large files, would run for the repository's files.
    for (name, value) in
        [("GIT_ALLOW_PROTOCOL", protocol), ("GIT_LFS_SKIP_SMUDGE", "1"), ("GIT_ATTR_NOSYSTEM", "1")]
    {
        set.push((name.into(), value.into()));
    }
    Ok(ProgramCall {
        program: program.into(),
        arguments,
        folder: folder.to_path_buf(),
        environment: Environment { removed: Vec::new(), set },
        input: None,
        time_limit,
        keep: KeepOutput { memory: 4096, file: None, file_limit: 0 },
    })
}

/// Why git, started in a folder, could run a program that the repository names; `None` where it could not. What
/// cannot be looked at is a reason.
pub fn hazard(folder: &Path) -> Option<String> {
    for ancestor in folder.ancestors() {
        if let Some(folder) = git_folder(ancestor) {
            return match folder {
                Ok(git) => of_repository(ancestor, &git),
                Err(reason) => Some(reason),
            };
        }
        if is_bare(ancestor) {
            return Some(format!("`{}` is a repository without `.git`", ancestor.display()));
        }
    }
    None
}

/// The folder that holds a work tree's repository: `.git`, or where the file `.git` leads.
fn git_folder(work_tree: &Path) -> Option<std::result::Result<PathBuf, String>> {
    let path = work_tree.join(".git");
    let found = fs::metadata(&path).ok()?;
    if found.is_dir() {
        return Some(Ok(path));
    }
    let unreadable = || format!("`{}` cannot be read", path.display());
    let text = config::read(&path, 64 * 1024).ok().flatten();
    let Some(target) = text.as_deref().and_then(|text| text.strip_prefix("gitdir:")) else {
        return Some(Err(unreadable()));
    };
    let target = work_tree.join(target.trim());
    Some(if target.is_dir() { Ok(target) } else { Err(unreadable()) })
}

/// Git takes any folder of this shape for a repository.
fn is_bare(folder: &Path) -> bool {
    folder.join("HEAD").symlink_metadata().is_ok()
        && folder.join("objects").is_dir()
        && folder.join("refs").is_dir()
}

fn of_repository(work_tree: &Path, git: &Path) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut repositories = vec![git.to_path_buf()];
    while let Some(git) = repositories.pop() {
        let Ok(real) = git.canonicalize() else { continue };
        if !seen.insert(real.clone()) {
            continue;
        }
        if seen.len() > MOST_REPOSITORIES {
            return Some("it has too many repositories to look at".to_owned());
        }
        if let Some(reason) = of_git_folder(&real) {
            return Some(reason);
        }
        // A linked work tree has the settings of the repository it belongs to.
        if let Ok(Some(common)) = config::read(&real.join("commondir"), 4096) {
            repositories.push(real.join(common.trim()));
        }
        repositories.extend(modules(&real.join("modules")));
    }
    // Git also looks into repositories that stand in this one.
    let holds_others = fs::metadata(git.join("index")).is_ok_and(|index| index.len() > MOST_INDEX)
        || fs::read(git.join("index"))
            .is_ok_and(|index| index.windows(4).any(|bytes| bytes == [0, 0, 0xe0, 0]));
    if holds_others { of_nested(work_tree) } else { None }
}

/// The repositories of submodules, which may have submodules themselves.
fn modules(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        looked_at += 1;
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
            let path = entry.path();
            if path.join("HEAD").exists() {
                found.push(path);
            } else if looked_at < MOST_REPOSITORIES {
                folders.push(path);
            }
        }
    }
    found
}

/// Looks at every repository below a work tree.
fn of_nested(work_tree: &Path) -> Option<String> {
    let mut folders = vec![work_tree.to_path_buf()];
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name();
            if name == ".git" || !is_folder || name == "node_modules" {
                continue;
            }
            looked_at += 1;
            if looked_at > MOST_FOLDERS {
                return Some("it has too many folders to look for repositories in".to_owned());
            }
            let path = entry.path();
            match git_folder(&path) {
                Some(Ok(git)) => {
                    if let Some(reason) = of_git_folder(&git) {
                        return Some(reason);
                    }
                }
                Some(Err(reason)) => return Some(reason),
                None => {}
            }
            folders.push(path);
        }
    }
    None
}

/// Looks at one repository's settings and at the one hook that reading can call.
fn of_git_folder(git: &Path) -> Option<String> {
    let hook = git.join("hooks/post-index-change");
    if fs::metadata(&hook).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0) {
        return Some("the repository's hook `post-index-change` would run".to_owned());
    }
    ["config", "config.worktree"].iter().find_map(|name| {
        let path = git.join(name);
        match config::read(&path, MOST_CONFIG) {
            Ok(None) => None,
            Ok(Some(text)) => config::running_key(&text)
                .map(|key| format!("`{key}` in the repository's settings could run a program")),
            Err(()) => Some(format!("`{}` cannot be read", path.display())),
        }
    })
}

#[cfg(test)]
mod tests;
