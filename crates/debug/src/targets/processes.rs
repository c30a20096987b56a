//! Processes that can be attached to: those of the same person, with how they are related to us.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use stepwell_workspace::files;

use super::binary::{FileKind, Language};
use super::call::Call;
use super::error::{Result, TargetError};
use super::{Target, python, target};
use crate::launch_config::{Context, Request, shell_words};

/// A running process of this person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub name: String,
    pub command_line: String,
    pub relation: Relation,
}

/// What a process is to us. Our own and those above it are not attached to: to stop one would stop us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    Ourselves,
    Ancestor,
    Descendant,
    Other,
}

/// The person's processes whose name or command line contains `filter`, newest last.
pub fn processes(filter: &str) -> Result<Vec<Process>> {
    let own_user = files::metadata(Path::new("/proc/self"))?.uid();
    let mut parents = BTreeMap::new();
    let mut found = Vec::new();
    for folder in files::list_dir(Path::new("/proc"))? {
        let pid = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse::<u32>().ok());
        // A process may end while it is looked at; then it is left out.
        let Some((pid, (name, parent))) = pid.and_then(|pid| Some((pid, name_and_parent(&folder)?))) else {
            continue;
        };
        parents.insert(pid, parent);
        if files::metadata(&folder).is_ok_and(|metadata| metadata.uid() == own_user) {
            let command_line = command_line(&folder).unwrap_or_default();
            found.push(Process { pid, parent, name, command_line, relation: Relation::Other });
        }
    }
    let ourselves = std::process::id();
    for process in &mut found {
        process.relation = relation(process.pid, ourselves, &parents);
    }
    // Threads of the kernel have no command line.
    found.retain(|process| !process.command_line.is_empty());
    found.retain(|process| process.name.contains(filter) || process.command_line.contains(filter));
    found.sort_by_key(|process| process.pid);
    Ok(found)
}

fn relation(pid: u32, ourselves: u32, parents: &BTreeMap<u32, u32>) -> Relation {
    if pid == ourselves {
        Relation::Ourselves
    } else if is_above(pid, ourselves, parents) {
        Relation::Ancestor
    } else if is_above(ourselves, pid, parents) {
        Relation::Descendant
    } else {
        Relation::Other
    }
}

/// Whether one process is among the parents of another.
fn is_above(upper: u32, lower: u32, parents: &BTreeMap<u32, u32>) -> bool {
    let mut at = lower;
    // The table is read while it changes, so a circle is possible.
    for _ in 0..parents.len() {
        match parents.get(&at) {
            Some(parent) if *parent == upper => return true,
            Some(parent) if *parent != 0 => at = *parent,
            _ => return false,
        }
    }
    false
}

/// From `pid (name) state parent ...`; the name may contain anything.
fn name_and_parent(folder: &Path) -> Option<(String, u32)> {
    let stat = String::from_utf8_lossy(&files::read(&folder.join("stat")).ok()?).into_owned();
    let (before, behind) = stat.rsplit_once(") ")?;
    let name = before.split_once('(')?.1.to_owned();
    Some((name, behind.split_whitespace().nth(1)?.parse().ok()?))
}

fn command_line(folder: &Path) -> Option<String> {
    let bytes = files::read(&folder.join("cmdline")).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(shell_words::joined(text.split_terminator('\0')))
}

/// Whether a process may be attached to, and what it is to us. Whoever attaches asks this first, whatever the number's origin.
pub fn check_attach(pid: u32) -> Result<Relation> {
    let what = format!("process {pid}");
    let folder = PathBuf::from(format!("/proc/{pid}"));
    let user = match files::metadata(&folder) {
        Ok(metadata) => metadata.uid(),
        Err(error) if error.is_not_found() => return Err(TargetError::NotFound { program: what }),
        Err(error) => return Err(error.into()),
    };
    if user != files::metadata(Path::new("/proc/self"))?.uid() {
        return Err(TargetError::not_debuggable(&what, "it belongs to somebody else"));
    }
    let found = processes("")?.into_iter().find(|process| process.pid == pid);
    match found.map(|process| process.relation) {
        Some(Relation::Ourselves | Relation::Ancestor) => Err(TargetError::not_debuggable(
            &what,
            "it is Stepwell itself or runs Stepwell, and would stop with it",
        )),
        Some(relation) => Ok(relation),
        None => Err(TargetError::not_debuggable(&what, "it is no program, or has just ended")),
    }
}

/// A configuration that attaches to a process.
pub(super) fn attach(pid: u32, ctx: &Context) -> Result<Target> {
    check_attach(pid)?;
    let number = pid.to_string();
    let folder = PathBuf::from(format!("/proc/{number}"));
    let (name, _) = name_and_parent(&folder)
        .ok_or_else(|| TargetError::NotFound { program: format!("process {pid}") })?;
    let call = Call::plain(vec![number.clone()], ctx);
    let program = files::resolved(&folder.join("exe"));
    let executable = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut warnings = Vec::new();
    let (kind, debugger, fields) = if python::is_interpreter(&executable) {
        ("debugpy", "debugpy", json!({"processId": pid}))
    } else if matches!(executable.as_str(), "node" | "nodejs") {
        ("pwa-node", "its own debugger", json!({"processId": number}))
    } else {
        match FileKind::of(&program) {
            Ok(FileKind::Binary(binary)) => {
                warnings = super::binary::warnings(&binary, &executable);
                match binary.language {
                    Language::Go => ("go", "delve", json!({"mode": "local", "processId": pid})),
                    Language::Native | Language::Rust => {
                        ("lldb-dap", "a native debugger", json!({"pid": pid}))
                    }
                }
            }
            _ => ("lldb-dap", "a native debugger", json!({"pid": pid})),
        }
    };
    let how = format!("Attach {debugger} to process {pid} (`{name}`), which goes on running afterwards.");
    let mut made = target(&call, kind, &format!("process {pid}"), fields, how);
    made.resolved.request = Request::Attach;
    made.resolved.arguments.shift_remove("cwd");
    made.warnings = warnings;
    Ok(made)
}
