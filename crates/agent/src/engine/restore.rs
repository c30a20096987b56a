//! Undo, redo and restore of a workspace's files, and of the conversation that changed them.

use std::path::{Path, PathBuf};

use stepwell_protocol::{
    ChangedFile, CheckpointItem, CommandReply, Event, FileChange, FileDiff, MessageId, RestoreObstacle,
    RestoreWhat, RestoredFile, TaskId,
};
use stepwell_store::Home;
use stepwell_store::checkpoints::{
    Change, Checkpoint, CheckpointKind, CheckpointLimits, Checkpoints, EntryState, Obstacle, Restored,
    Selection,
};

use super::Engine;
use crate::checkpoints::changed_file;
use crate::error::{Error, Result, broken};

impl Engine {
    pub(super) async fn undo(&self, workspace: &Path, count: u32, force: bool) -> Result<CommandReply> {
        self.take_back(workspace, Selection::LastCalls(count.max(1) as usize), force).await
    }

    pub(super) async fn redo(&self, workspace: &Path, force: bool) -> Result<CommandReply> {
        self.take_back(workspace, Selection::LastRestore, force).await
    }

    pub(super) async fn restore(
        &self,
        workspace: &Path,
        checkpoint: u64,
        what: RestoreWhat,
        force: bool,
    ) -> Result<CommandReply> {
        // Checked before anything is touched: both or neither.
        let rewind = match what {
            RestoreWhat::Files => None,
            RestoreWhat::Conversation | RestoreWhat::Both => {
                let home = self.inner.home.clone();
                let found = self.with_checkpoints(workspace, move |checkpoints| {
                    message_of(&home, checkpoints, checkpoint)
                });
                Some(found.await?)
            }
        };
        let reply = if what == RestoreWhat::Conversation {
            CommandReply::Done
        } else {
            self.take_back(workspace, Selection::Since(checkpoint), force).await?
        };
        if let Some((task, message)) = rewind {
            let session = self.open(&task).await?;
            if session.is_running() {
                return Err(Error::Working { task });
            }
            session.record(vec![Event::HistoryRewound { to_before: message }]).await?;
        }
        Ok(reply)
    }

    async fn take_back(&self, workspace: &Path, selection: Selection, force: bool) -> Result<CommandReply> {
        let restored = self
            .with_checkpoints(workspace, move |checkpoints| {
                let plan = checkpoints.plan(&selection, force)?;
                Ok(checkpoints.apply(&plan)?)
            })
            .await?;
        let Restored { changes, obstacles, .. } = restored;
        Ok(CommandReply::Restored {
            files: changes.iter().map(|change| RestoredFile { path: shown(&change.path) }).collect(),
            obstacles: obstacles
                .iter()
                .map(|(path, why)| RestoreObstacle { path: shown(path), reason: words(*why).to_owned() })
                .collect(),
        })
    }

    pub(super) async fn checkpoints(&self, workspace: &Path, limit: usize) -> Result<Vec<CheckpointItem>> {
        self.with_checkpoints(workspace, move |checkpoints| {
            let mut all = checkpoints.list()?;
            all.drain(..all.len().saturating_sub(limit));
            all.into_iter().rev().map(|checkpoint| item(checkpoints, checkpoint)).collect()
        })
        .await
    }

    pub(crate) async fn checkpoint_diff(
        &self,
        workspace: &Path,
        id: u64,
        since: bool,
    ) -> Result<Vec<FileDiff>> {
        self.with_checkpoints(workspace, move |checkpoints| {
            let pairs: Vec<(PathBuf, Option<EntryState>, Option<EntryState>)> = if since {
                let plan = checkpoints.plan(&Selection::Since(id), true)?;
                // A restore goes from now to then; a diff since then goes the other way.
                plan.steps.into_iter().map(|step| (step.path, step.to, step.from)).collect()
            } else {
                checkpoints.list()?;
                let changes = checkpoints.changes_of(id)?;
                changes.into_iter().map(|change| (change.path, change.before, change.after)).collect()
            };
            let mut files = Vec::new();
            for (path, before, after) in pairs {
                let (old, new) = (checkpoints.text(before)?, checkpoints.text(after)?);
                files.push(diff_of(&shown(&path), before.is_some(), after.is_some(), &old, &new));
            }
            Ok(files)
        })
        .await
    }

    /// Works with the checkpoints of a folder on a thread that may block.
    async fn with_checkpoints<T: Send + 'static>(
        &self,
        folder: &Path,
        work: impl FnOnce(&mut Checkpoints) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let limits: CheckpointLimits = self.workspace(folder).await?.settings.checkpoints;
        let (home, folder) = (self.inner.home.clone(), folder.to_path_buf());
        let working = tokio::task::spawn_blocking(move || {
            let root = folder.ancestors().find(|folder| Checkpoints::exist(&home, folder));
            let root = root.ok_or_else(|| Error::NoCheckpoints { folder: folder.clone() })?;
            work(&mut Checkpoints::open(&home, root, limits)?)
        });
        working.await.map_err(broken)?
    }
}

fn item(checkpoints: &Checkpoints, checkpoint: Checkpoint) -> Result<CheckpointItem> {
    let (task, call_id, summary) = match checkpoint.kind {
        CheckpointKind::Call { cause, .. } => (Some(cause.task), Some(cause.call), cause.summary),
        _ => (None, None, "restore".to_owned()),
    };
    let changes: Vec<Change> = checkpoints.changes_of(checkpoint.id)?;
    let files: Vec<ChangedFile> = changes.iter().map(changed_file).collect();
    Ok(CheckpointItem { checkpoint: checkpoint.id, ts: checkpoint.at, task, call_id, summary, files })
}

/// The message in which a checkpoint's call was made, and its task.
fn message_of(home: &Home, checkpoints: &mut Checkpoints, id: u64) -> Result<(TaskId, MessageId)> {
    let found = checkpoints.list()?.into_iter().find(|checkpoint| checkpoint.id == id);
    let Some(Checkpoint { kind: CheckpointKind::Call { cause, .. }, .. }) = found else {
        return Err(Error::NoConversation { checkpoint: id });
    };
    let records = stepwell_store::read_log(home, &cause.task)?;
    let message = records.iter().find_map(|record| match &record.event {
        Event::Action { message_id, call } if call.id == cause.call => Some(message_id.clone()),
        _ => None,
    });
    message.map(|message| (cause.task, message)).ok_or(Error::NoConversation { checkpoint: id })
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn words(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::ChangedSince => "changed by somebody else since",
        Obstacle::NotKept => "too large, it was not kept",
        Obstacle::NotEmpty => "has other files in it",
    }
}

fn diff_of(path: &str, existed: bool, exists: bool, old: &str, new: &str) -> FileDiff {
    let change = match (existed, exists) {
        (false, _) => FileChange::Created,
        (true, false) => FileChange::Deleted,
        (true, true) => FileChange::Modified,
    };
    let (diff, added, removed) = stepwell_store::checkpoints::unified_diff(path, old, new);
    FileDiff { path: path.to_owned(), change, moved_from: None, diff, added, removed }
}
