//! Taking changes back: first a plan that can be shown, then exactly that plan.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::Serialize;
use stepwell_protocol::Timestamp;
use stepwell_workspace::tree::SeenKind;

use super::hunks;
use super::journal::{self, Checkpoint, CheckpointKind, Record};
use super::state::{Change, EntryKind, EntryState};
use super::{Checkpoints, Scope};
use crate::{Error, Result};

/// What is to be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The agent's last calls that changed something and are not undone yet.
    LastCalls(usize),
    /// What the agent did from this checkpoint on.
    Since(u64),
    /// Everything that happened from this checkpoint on, the person's own work too.
    EverythingSince(u64),
    /// The last restore that is not undone itself.
    LastRestore,
}

/// What a restore will do.
#[derive(Clone, Debug, Default)]
pub struct RestorePlan {
    pub steps: Vec<RestoreStep>,
    /// Paths that stay as they are, and why.
    pub obstacles: Vec<(PathBuf, Obstacle)>,
    /// The checkpoints whose changes are taken back.
    pub reversed: Vec<u64>,
    /// The commands among them. What somebody else changed while one ran counts as its work and goes with it.
    pub commands: Vec<String>,
    is_redo: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreStep {
    pub path: PathBuf,
    /// What is there now.
    pub from: Option<EntryState>,
    pub to: Option<EntryState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// Somebody else changed it since.
    ChangedSince,
    /// It was too large to keep.
    NotKept,
    /// A folder that is to go has entries of somebody else.
    NotEmpty,
}

/// What a restore did.
#[derive(Clone, Debug, Default)]
pub struct Restored {
    /// The restore's own checkpoint; nothing where nothing had to be done.
    pub id: Option<u64>,
    pub changes: Vec<Change>,
    pub obstacles: Vec<(PathBuf, Obstacle)>,
}

impl Checkpoints {
    /// Plans a restore. `force` also takes back what somebody else has changed since.
    pub fn plan(&mut self, selection: &Selection, force: bool) -> Result<RestorePlan> {
        let _lock = self.lock()?;
        self.look_outside(&Scope::Everything)?;
        let all = journal::checkpoints(&self.records);
        let (chosen, reversed) = choose(&all, selection)?;
        let mut spans: BTreeMap<PathBuf, Span> = BTreeMap::new();
        for id in &chosen {
            for change in self.changes_of(*id)? {
                spans.entry(change.path).and_modify(|span| span.last_after = change.after).or_insert(Span {
                    first: *id,
                    to: change.before,
                    last_after: change.after,
                });
            }
        }
        let touched_outside = self.touched_outside(&all, &chosen)?;
        let is_redo = *selection == Selection::LastRestore;
        let commands = all.iter().filter(|one| reversed.contains(&one.id) && one.changed > 0);
        let commands = commands.filter_map(|one| match &one.kind {
            CheckpointKind::Call { cause, is_command: true, .. } => Some(cause.summary.clone()),
            _ => None,
        });
        let commands = commands.collect();
        let mut plan = RestorePlan { reversed, commands, is_redo, ..RestorePlan::default() };
        for (path, span) in spans {
            let from = self.known.entries.get(&path).map(|entry| entry.state);
            if from == span.to {
                continue;
            }
            let by_others =
                from != span.last_after || touched_outside.get(&path).is_some_and(|last| *last > span.first);
            let obstacle = if span.to.is_some_and(|state| !state.is_kept()) {
                Some(Obstacle::NotKept)
            } else {
                (by_others && !force).then_some(Obstacle::ChangedSince)
            };
            match obstacle {
                Some(obstacle) => plan.obstacles.push((path, obstacle)),
                None => plan.steps.push(RestoreStep { path, from, to: span.to }),
            }
        }
        Ok(plan)
    }

    /// The last change of each path by somebody else, unless that is taken back too.
    fn touched_outside(&self, all: &[Checkpoint], chosen: &[u64]) -> Result<HashMap<PathBuf, u64>> {
        let mut touched = HashMap::new();
        for checkpoint in all {
            if checkpoint.kind == CheckpointKind::Outside && !chosen.contains(&checkpoint.id) {
                for change in self.changes_of(checkpoint.id)? {
                    touched.insert(change.path, checkpoint.id);
                }
            }
        }
        Ok(touched)
    }

    /// Narrows a plan to some hunks of one file, counted from 1 as [`Checkpoints::hunks`] shows them.
    pub fn keep_hunks(&mut self, plan: &mut RestorePlan, path: &Path, wanted: &[usize]) -> Result<()> {
        let Some(step) = plan.steps.iter().find(|step| step.path == path).cloned() else {
            plan.steps.clear();
            return Ok(());
        };
        let (now, then) = (self.text(step.from)?, self.text(step.to)?);
        let content = hunks::apply(&now, &then, wanted).into_bytes();
        let size = content.len() as u64;
        let packed = super::Packed::new(content);
        let model = step.to.or(step.from);
        let to = model.map(|state| EntryState { content: Some(packed.id), size, modified_ns: None, ..state });
        self.objects.add(vec![packed])?;
        plan.steps = vec![RestoreStep { to, ..step }];
        // A part of a file was taken back, not what a call did.
        plan.reversed.clear();
        Ok(())
    }

    /// How a file would change by a step, piece by piece.
    pub fn hunks(&self, step: &RestoreStep) -> Result<Vec<hunks::Hunk>> {
        Ok(hunks::hunks(&self.text(step.from)?, &self.text(step.to)?))
    }

    /// A state's text, for showing; what is no text is shown as well as can be.
    pub fn text(&self, state: Option<EntryState>) -> Result<String> {
        let content = match state {
            Some(state) => self.content(&state)?,
            None => None,
        };
        Ok(content.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default())
    }

    /// Does what the plan says. Every path is looked at again first: one that changed meanwhile is an error, and
    /// nothing of it is touched. A restore that fails halfway is on record with what it did, and can be undone.
    pub fn apply(&mut self, plan: &RestorePlan) -> Result<Restored> {
        let _lock = self.lock()?;
        let paths: Vec<PathBuf> = plan.steps.iter().map(|step| step.path.clone()).collect();
        let scope = Scope::Paths(paths);
        self.look_outside(&scope)?;
        for step in &plan.steps {
            if self.known.entries.get(&step.path).map(|entry| entry.state) != step.from {
                return Err(Error::ChangedMeanwhile { path: step.path.clone() });
            }
        }
        let mut obstacles = plan.obstacles.clone();
        let outcome = self.carry_out(&plan.steps, &mut obstacles);
        let changes = self.refresh(&scope)?;
        let mut id = None;
        if !changes.is_empty() {
            let stored = self.stored(&changes)?;
            let next = self.next_id();
            // A restore that failed took back only a part: the calls it was about stay undoable.
            let reversed = if outcome.is_ok() { plan.reversed.clone() } else { Vec::new() };
            let at = Timestamp::now();
            self.append(Record::Restored { id: next, at, reversed, is_redo: plan.is_redo, changes: stored })?;
            id = Some(next);
        }
        self.save_if_much()?;
        outcome?;
        Ok(Restored { id, changes, obstacles })
    }

    fn carry_out(&self, steps: &[RestoreStep], obstacles: &mut Vec<(PathBuf, Obstacle)>) -> Result<()> {
        let is_folder =
            |state: &Option<EntryState>| state.is_some_and(|state| state.kind == EntryKind::Folder);
        let is_link = |state: &Option<EntryState>| state.is_some_and(|state| state.kind == EntryKind::Link);
        // Out of the way first, from the inside out: what goes, and what becomes something else.
        for step in steps.iter().rev() {
            let Some(from) = step.from else { continue };
            let changes_kind = step.to.is_some_and(|to| to.kind != from.kind) || is_link(&step.to);
            if step.to.is_some() && !changes_kind {
                continue;
            }
            match self.tree.remove(&step.path, SeenKind::from(from.kind)) {
                Ok(()) => {}
                Err(error) if error.is_not_found() => {}
                Err(_) if is_folder(&step.from) && step.to.is_none() => {
                    obstacles.push((step.path.clone(), Obstacle::NotEmpty));
                }
                Err(error) => return Err(error.into()),
            }
        }
        // Then folders before what is in them: the steps are sorted by path.
        for step in steps {
            let Some(to) = step.to else { continue };
            match to.kind {
                EntryKind::Folder => self.tree.put_folder(&step.path, to.mode)?,
                EntryKind::Link => {
                    let target = self.content(&to)?.unwrap_or_default();
                    self.tree.put_link(&step.path, &target)?;
                }
                EntryKind::File => {
                    let same = step.from.filter(|from| from.kind == to.kind && from.content == to.content);
                    if same.is_some() {
                        self.tree.set_mode(&step.path, to.mode)?;
                    } else {
                        let content = self.content(&to)?.unwrap_or_default();
                        self.tree.put_file(&step.path, &content, to.mode)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// From the first of the chosen changes of a path to the last.
struct Span {
    first: u64,
    to: Option<EntryState>,
    last_after: Option<EntryState>,
}

/// The checkpoints whose changes make up a selection, in order, and those that count as undone by it.
fn choose(all: &[Checkpoint], selection: &Selection) -> Result<(Vec<u64>, Vec<u64>)> {
    let is_call = |checkpoint: &&Checkpoint| matches!(checkpoint.kind, CheckpointKind::Call { .. });
    let since = |from: u64, with_outside: bool| {
        if !all.iter().any(|checkpoint| checkpoint.id == from) {
            return Err(Error::UnknownCheckpoint { id: from });
        }
        let chosen: Vec<&Checkpoint> = all
            .iter()
            .filter(|checkpoint| checkpoint.id >= from)
            .filter(|checkpoint| with_outside || checkpoint.kind != CheckpointKind::Outside)
            .collect();
        let ids = chosen.iter().map(|checkpoint| checkpoint.id).collect();
        let live = chosen.iter().filter(|checkpoint| !checkpoint.is_undone);
        Ok((ids, live.map(|checkpoint| checkpoint.id).collect()))
    };
    match selection {
        Selection::LastCalls(count) => {
            let live = all.iter().rev().filter(is_call).filter(|call| !call.is_undone && call.changed > 0);
            let mut ids: Vec<u64> = live.take(*count).map(|call| call.id).collect();
            ids.reverse();
            Ok((ids.clone(), ids))
        }
        Selection::Since(from) => since(*from, false),
        Selection::EverythingSince(from) => since(*from, true),
        Selection::LastRestore => {
            let last = all.iter().rev().find(|checkpoint| {
                matches!(checkpoint.kind, CheckpointKind::Restore { is_redo: false, .. })
                    && !checkpoint.is_undone
            });
            let ids: Vec<u64> = last.map(|restore| restore.id).into_iter().collect();
            Ok((ids.clone(), ids))
        }
    }
}
