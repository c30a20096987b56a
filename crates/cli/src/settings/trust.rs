//! Which folders' own settings may take effect in full. Kept by the person, outside every project.
//!
//! Trust is given to what the files say, not to the folder: when they change, they have to be looked at again.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use sha2::{Digest, Sha256};
use stepwell_workspace::files::{self, Privacy};

use super::Places;
use super::runtimes::{fingerprint, runtime_files};

/// The files of a project that can only be followed once they are trusted.
pub fn trusted_files(project: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let own = Places::project_settings(project);
    let mut found: Vec<PathBuf> = own.is_file().then_some(own).into_iter().collect();
    for folder in [project.join(".stepwell"), project.join(".roo")] {
        found.extend(files::list_dir(&folder)?.into_iter().filter(|path| is_prompt(path)));
    }
    found.extend(super::mcp_files(project));
    found.extend(super::hook_files(project));
    found.extend(launch_files(project));
    // Modes may replace built-in ones, which would undo what the person chose a mode for.
    let modes = project.join(".roomodes");
    found.extend(modes.is_file().then_some(modes));
    for folder in [project.join(".claude/agents"), project.join(".stepwell/agents")] {
        let is_agent = |path: &PathBuf| path.extension().is_some_and(|end| end == "md") && path.is_file();
        found.extend(files::list_dir(&folder)?.into_iter().filter(is_agent));
    }
    // What does not lie in the folder is somebody else's to change.
    found.extend(super::named_files(project));
    Ok(found)
}

/// The files that name programs to debug and tasks to run before.
fn launch_files(project: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["launch.json", "tasks.json", "settings.json"]
        .map(|name| project.join(".vscode").join(name))
        .into_iter()
        .filter(|path| path.is_file())
        .collect();
    let beside = files::list_dir(project).unwrap_or_default();
    let is_workspace =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "code-workspace") && path.is_file();
    found.extend(beside.into_iter().filter(is_workspace));
    found
}

/// Whether a file replaces the built-in prompt.
pub fn is_prompt(path: &Path) -> bool {
    path.is_file()
        && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("system-prompt-"))
}

/// Whether a project has anything that only a trusted folder may use.
pub fn needs_trust(project: &Path) -> anyhow::Result<bool> {
    Ok(!trusted_files(project)?.is_empty() || !runtime_files(project).is_empty())
}

pub fn is_trusted(places: &Places, project: &Path) -> anyhow::Result<bool> {
    let list = files::read_if_exists(&places.trusted_folders())?.unwrap_or_default();
    let line = trust_line(project)?;
    Ok(list.lines().any(|known| known == line))
}

/// Trusts the files as they are now.
pub fn trust(places: &Places, project: &Path) -> anyhow::Result<()> {
    let line = trust_line(project)?;
    rewrite(places, project, Some(&line))
}

/// Takes the trust away; `false` when there was none.
pub fn revoke(places: &Places, project: &Path) -> anyhow::Result<bool> {
    let list = files::read_if_exists(&places.trusted_folders())?.unwrap_or_default();
    let known = list.lines().any(|line| is_about(line, project));
    if known {
        rewrite(places, project, None)?;
    }
    Ok(known)
}

/// One line of the list: the hash of what is trusted, and the folder.
fn trust_line(project: &Path) -> anyhow::Result<String> {
    let mut hasher = Sha256::new();
    for path in trusted_files(project)? {
        let content = files::read(&path)?;
        hasher.update(path.to_string_lossy().as_bytes());
        hasher.update((content.len() as u64).to_le_bytes());
        hasher.update(&content);
    }
    for path in runtime_files(project) {
        let print = fingerprint(project, &path);
        hasher.update(path.to_string_lossy().as_bytes());
        hasher.update((print.len() as u64).to_le_bytes());
        hasher.update(&print);
    }
    let hash = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(hasher.finalize());
    Ok(format!("{hash} {}", project.display()))
}

fn is_about(line: &str, project: &Path) -> bool {
    line.split_once(' ').is_some_and(|(_, folder)| folder == project.to_string_lossy())
}

fn rewrite(places: &Places, project: &Path, line: Option<&str>) -> anyhow::Result<()> {
    let list = files::read_if_exists(&places.trusted_folders())?.unwrap_or_default();
    let mut lines: Vec<&str> =
        list.lines().filter(|known| !known.is_empty() && !is_about(known, project)).collect();
    lines.extend(line);
    files::create_private_dir(&places.config)?;
    let mut text = lines.join("\n");
    text.push('\n');
    files::write_atomic(&places.trusted_folders(), text.as_bytes(), Privacy::Private)?;
    Ok(())
}
