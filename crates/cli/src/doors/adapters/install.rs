//! `stepwell adapters install`: has pip or npm fetch a package beside, and renames it into place.

use std::path::Path;

use serde_json::json;
use stepwell_debug::adapters::{AdapterKind, Package as AdapterPackage};
use stepwell_workspace::files::{self, LockAttempt, LockFile, Privacy};

use super::sources;
use crate::assemble::{Assembly, debugging};
use crate::exit::Exit;
use crate::language::Language;
use crate::report;
use crate::terminal::{error_line, out_line};

/// What was installed, in the adapter's folder.
const NOTE: &str = "stepwell-install.json";

/// Why an adapter could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{0} is needed to fetch it, and is not installed")]
    NoTool(&'static str),
    #[error("{tool} says: {what}")]
    Tool { tool: &'static str, what: String },
    #[error("{tool} did not end within {minutes} minutes")]
    TooSlow { tool: &'static str, minutes: u64 },
    #[error("another `stepwell adapters install` is running{0}")]
    Busy(String),
    #[error("the package has no `{0}`; it is not what it was")]
    Incomplete(&'static str),
    #[error(transparent)]
    Workspace(#[from] stepwell_workspace::Error),
}

pub async fn run(
    assembly: &Assembly,
    language: Language,
    kinds: &[AdapterKind],
    force: bool,
) -> anyhow::Result<Exit> {
    let folder = debugging::adapters_folder(&assembly.places);
    for kind in kinds {
        if kind.adapter().package().is_none() {
            if let Err(missing) = super::located(assembly, *kind)? {
                return Err(report::failed(
                    format!("{kind} comes with your system's packages and is not fetched by Stepwell"),
                    missing.hint,
                ));
            }
            told(language, *kind, "is installed on this system", "已安装在系统中", "");
        }
    }
    // What is left of an install that was cut off goes, unless another one is just at work.
    if let Ok(_lock) = alone_in(&folder) {
        remove_leftovers(&folder)?;
    }
    for kind in kinds {
        let place = folder.join(kind.name());
        let Some(package) = kind.adapter().package() else { continue };
        if !package.is_for_this_platform {
            return Err(report::failed(
                format!("there is no package of {kind} for this platform"),
                "install the extension vadimcn.vscode-lldb in your editor; Stepwell finds it there",
            ));
        }
        if !force && place.join(package.expected).is_file() {
            let version = noted_version(&place);
            told(language, *kind, "is installed already", "已安装", &version);
            continue;
        }
        let installing = install_alone(*kind, package, &folder, language);
        let installed = tokio::select! {
            installed = installing => installed,
            stopped = tokio::signal::ctrl_c() => {
                stopped?;
                remove_leftovers(&folder)?;
                return Ok(Exit::Interrupted);
            }
        };
        match installed {
            Ok(version) => told(language, *kind, "is installed", "安装完成", &version),
            Err(problem) => {
                let manual = sources::manual_way(package.source, &place);
                let hint = match problem {
                    Problem::NoTool(_) => format!("install it, or do it by hand: {manual}"),
                    Problem::Tool { .. } | Problem::TooSlow { .. } => {
                        format!("check the network and the proxy, or do it by hand: {manual}")
                    }
                    Problem::Busy(_) => "wait for it, then try again".to_owned(),
                    _ => format!("nothing was installed; by hand: {manual}"),
                };
                return Err(report::failed(format!("{kind} cannot be installed: {problem}"), hint));
            }
        }
    }
    Ok(Exit::Done)
}

fn told(language: Language, kind: AdapterKind, english: &str, chinese: &str, version: &str) {
    let version = if version.is_empty() { String::new() } else { format!(" ({version})") };
    out_line(&format!("{kind}{version} {}", language.pick(english, chinese)));
}

/// The version that was noted when it was installed.
fn noted_version(place: &Path) -> String {
    let note = files::read_if_exists(&place.join(NOTE)).ok().flatten().unwrap_or_default();
    let note: serde_json::Value = serde_json::from_str(&note).unwrap_or_default();
    note["version"].as_str().unwrap_or_default().to_owned()
}

/// What an install that was cut off left behind; whoever calls this has the lock.
fn remove_leftovers(folder: &Path) -> stepwell_workspace::Result<()> {
    for path in files::list_dir(folder)? {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with(".new-") || name.starts_with(".old-") {
            files::remove_dir_all(&path)?;
        }
    }
    Ok(())
}

/// Installs an adapter while no other process does, leaves nothing half done, and returns the version.
pub async fn install_alone(
    kind: AdapterKind,
    package: AdapterPackage,
    folder: &Path,
    language: Language,
) -> Result<String, Problem> {
    let _lock = alone_in(folder)?;
    remove_leftovers(folder)?;
    let installed = install(kind, package, folder, language).await;
    if installed.is_err() {
        remove_leftovers(folder)?;
    }
    installed
}

fn alone_in(folder: &Path) -> Result<LockFile, Problem> {
    files::create_private_dir(folder)?;
    match LockFile::try_take(&folder.join(".install.lock"))? {
        LockAttempt::Taken(lock) => Ok(lock),
        LockAttempt::Busy { pid } => {
            Err(Problem::Busy(pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()))
        }
    }
}

/// Fetches and moves into place; returns the version.
async fn install(
    kind: AdapterKind,
    AdapterPackage { source, expected, .. }: AdapterPackage,
    folder: &Path,
    language: Language,
) -> Result<String, Problem> {
    error_line(&format!("{} {kind}", language.word("fetching")));
    let new = folder.join(format!(".new-{kind}"));
    let here = std::env::current_dir().unwrap_or_default();
    let version = sources::fetch(source, &new, &here).await?;
    if !new.join(expected).is_file() {
        return Err(Problem::Incomplete(expected));
    }
    let note = json!({ "adapter": kind.name(), "version": version });
    files::write_atomic(&new.join(NOTE), note.to_string().as_bytes(), Privacy::Shared)?;
    put_in_place(&new, &folder.join(kind.name()), &folder.join(format!(".old-{kind}")))?;
    Ok(version)
}

fn put_in_place(new: &Path, place: &Path, old: &Path) -> Result<(), Problem> {
    let had_one = place.exists();
    if had_one {
        files::rename(place, old)?;
    }
    files::rename(new, place)?;
    if had_one {
        files::remove_dir_all(old)?;
    }
    Ok(())
}
