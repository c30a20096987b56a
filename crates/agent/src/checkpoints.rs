//! Checkpoints of the folders a task works in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use stepwell_protocol::{ChangedFile, Event, FileChange, ToolCallId};
use stepwell_store::checkpoints::{
    Begun, Cause, Change, CheckpointLimits, Checkpoints as Store, EntryKind, Lost, RepositoryDamage, Scope,
};
use stepwell_store::{Error, Home};
use stepwell_tool_runtime::{AfterCall, CallChanges, CheckpointCall, CheckpointReach, Checkpoints, Kept};
use stepwell_workspace::Workspace;

/// Files an event names at most; the journal has them all.
const NAMED_FILES: usize = 50;
/// Files that are too large, as far as they are named.
const NAMED_LARGE: usize = 5;

/// Keeps the roots of a workspace. Opened when the first call needs it; cheap to clone.
#[derive(Clone)]
pub struct WorkspaceCheckpoints {
    inner: Arc<Inner>,
}

struct Inner {
    home: Home,
    workspace: Workspace,
    limits: CheckpointLimits,
    folders: Mutex<Option<Arc<Vec<Folder>>>>,
}

struct Folder {
    path: PathBuf,
    store: Mutex<Store>,
    /// Commands in it are not kept, which has been said.
    is_too_large: Mutex<bool>,
}

/// What was kept before a call.
struct Started {
    notices: Vec<String>,
    /// By the folder's place in the list.
    begun: Vec<(usize, Begun)>,
}

impl WorkspaceCheckpoints {
    pub fn new(home: Home, workspace: Workspace, limits: CheckpointLimits) -> Self {
        Self { inner: Arc::new(Inner { home, workspace, limits, folders: Mutex::default() }) }
    }
}

impl Inner {
    fn open(&self) -> Result<Arc<Vec<Folder>>, Error> {
        let mut folders = self.folders.lock();
        if let Some(folders) = &*folders {
            return Ok(Arc::clone(folders));
        }
        let mut opened = Vec::new();
        for path in self.workspace.roots() {
            opened.push(Folder {
                path: path.to_path_buf(),
                store: Mutex::new(Store::open(&self.home, path, self.limits)?),
                is_too_large: Mutex::default(),
            });
        }
        let opened = Arc::new(opened);
        *folders = Some(Arc::clone(&opened));
        Ok(opened)
    }

    fn begin(&self, call: &CheckpointCall) -> Result<Started, Error> {
        let folders = self.open()?;
        let cause = Cause {
            task: call.task.clone(),
            call: call.call_id.clone(),
            tool: call.tool.clone(),
            summary: call.summary.clone(),
        };
        let (mut notices, mut begun) = (Vec::new(), Vec::new());
        for (index, folder) in folders.iter().enumerate() {
            let scope = match &call.reach {
                CheckpointReach::Anything => Scope::Everything,
                CheckpointReach::Paths(paths) => {
                    let paths: Vec<PathBuf> = self.inside(folder, paths);
                    if paths.is_empty() {
                        continue;
                    }
                    Scope::Paths(paths)
                }
            };
            match folder.store.lock().begin(cause.clone(), scope) {
                Ok(one) => {
                    let paths: Vec<_> = one.too_large.iter().map(|(path, _)| path.clone()).collect();
                    notices.extend(large_files(&paths, self.limits.largest_file));
                    begun.push((index, one));
                }
                Err(error @ Error::TooLargeForCheckpoints { .. }) => {
                    if !std::mem::replace(&mut *folder.is_too_large.lock(), true) {
                        let hint = error.hint().unwrap_or_default();
                        notices.push(format!("what commands change here cannot be undone: {error}; {hint}"));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Started { notices, begun })
    }

    /// The paths that lie in a folder, relative to it, links followed: that is where a write ends up.
    fn inside(&self, folder: &Folder, paths: &[String]) -> Vec<PathBuf> {
        let mut inside = Vec::new();
        for path in paths {
            let Ok(place) = self.workspace.place(path) else { continue };
            let real = stepwell_workspace::files::resolved(place.absolute());
            for path in [real.as_path(), place.absolute()] {
                if let Ok(relative) = path.strip_prefix(&folder.path)
                    && !relative.as_os_str().is_empty()
                    && !inside.iter().any(|known| known == relative)
                {
                    inside.push(relative.to_path_buf());
                }
            }
        }
        inside
    }
}

fn large_files(files: &[PathBuf], limit: u64) -> Option<String> {
    let named = named(files)?;
    Some(format!("changes to files over {} MB cannot be undone: {named}", limit >> 20))
}

/// The first of some paths, and how many more there are.
fn named(paths: &[PathBuf]) -> Option<String> {
    let names: Vec<String> = paths.iter().take(NAMED_LARGE).map(|path| path.display().to_string()).collect();
    let more = paths.len().saturating_sub(NAMED_LARGE);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{}{rest}", names.join(", ")))
}

/// Says what of a call's work cannot be undone.
fn lost_notices(lost: &Lost, limit: u64) -> Vec<String> {
    let mut notices: Vec<String> = large_files(&lost.too_large, limit).into_iter().collect();
    let special = named(&lost.special);
    notices
        .extend(special.map(|named| format!("pipes, sockets and devices are not covered by undo: {named}")));
    for (folder, damage) in &lost.repositories {
        let git = folder.join(".git");
        let what = match damage {
            RepositoryDamage::Removed => "was removed, and the repository's history with it",
            RepositoryDamage::Head => "has no usable HEAD any more",
            RepositoryDamage::Objects => "lost objects of its history",
        };
        notices.push(format!("`{}` {what}; undo does not cover it", git.display()));
    }
    notices
}

#[async_trait]
impl Checkpoints for WorkspaceCheckpoints {
    async fn before(&self, call: CheckpointCall) -> Result<Kept, String> {
        let inner = Arc::clone(&self.inner);
        let call_id = call.call_id.clone();
        let begun = tokio::task::spawn_blocking(move || inner.begin(&call)).await;
        let Started { notices, begun } = begun.map_err(|error| error.to_string())?.map_err(|error| {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("{error}{hint}")
        })?;
        let folders = self.inner.folders.lock().clone().unwrap_or_default();
        let after = Open { folders, begun, call_id, largest_file: self.inner.limits.largest_file };
        Ok(Kept { notices, after: (!after.begun.is_empty()).then(|| Box::new(after) as Box<dyn AfterCall>) })
    }
}

/// Checkpoints whose call has not ended yet. When the call is dropped instead, what it did so far is noted.
struct Open {
    folders: Arc<Vec<Folder>>,
    begun: Vec<(usize, Begun)>,
    call_id: ToolCallId,
    largest_file: u64,
}

impl Open {
    fn take(&mut self) -> Self {
        Self {
            folders: Arc::clone(&self.folders),
            begun: std::mem::take(&mut self.begun),
            call_id: self.call_id.clone(),
            largest_file: self.largest_file,
        }
    }

    fn end(mut self) -> CallChanges {
        let mut found = CallChanges::default();
        for (index, begun) in std::mem::take(&mut self.begun) {
            let Some(folder) = self.folders.get(index) else { continue };
            match folder.store.lock().end(&begun) {
                Ok(ended) => {
                    found.notices.extend(lost_notices(&ended.lost, self.largest_file));
                    if !ended.changes.is_empty() && found.event.is_none() {
                        found.event = Some(saved(&self.call_id, &begun, &folder.path, &ended.changes));
                    }
                }
                Err(error) => tracing::warn!(%error, "what the call changed could not be noted"),
            }
        }
        found
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.begun.is_empty() {
            let open = self.take();
            std::thread::spawn(move || open.end());
        }
    }
}

#[async_trait]
impl AfterCall for Open {
    async fn done(mut self: Box<Self>) -> CallChanges {
        let open = self.take();
        tokio::task::spawn_blocking(move || open.end()).await.unwrap_or_default()
    }
}

/// Converts a change into its protocol form.
pub(crate) fn changed_file(change: &Change) -> ChangedFile {
    ChangedFile {
        path: change.path.display().to_string(),
        change: match (change.before, change.after) {
            (None, _) => FileChange::Created,
            (_, None) => FileChange::Deleted,
            (Some(_), Some(_)) => FileChange::Modified,
        },
    }
}

fn saved(call_id: &ToolCallId, begun: &Begun, folder: &Path, changes: &[Change]) -> Event {
    let is_file = |change: &&Change| {
        [change.before, change.after].iter().flatten().any(|state| state.kind != EntryKind::Folder)
    };
    let files: Vec<&Change> = changes.iter().filter(is_file).collect();
    let named = files.iter().take(NAMED_FILES).map(|change| changed_file(change));
    Event::CheckpointSaved {
        checkpoint: begun.id,
        call_id: call_id.clone(),
        folder: folder.display().to_string(),
        changed: files.len() as u64,
        files: named.collect(),
    }
}
