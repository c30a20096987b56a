//! Gives up old checkpoints, so that the store stays within its limits.

use std::collections::HashSet;

use stepwell_workspace::files::{self, DataFile, Privacy};

use super::journal::Record;
use super::objects::ObjectId;
use super::state::EntryState;
use super::{Checkpoints, journal};
use crate::{Error, Result};

/// Checkpoints that are kept however old and large they are.
const ALWAYS_KEPT: usize = 20;
/// The journal is held in memory and read when it is opened, so it does not grow without end.
const MOST_CHECKPOINTS: usize = 5_000;
const LARGEST_JOURNAL: u64 = 8 << 20;

impl Checkpoints {
    /// Whether the journal alone is a reason to collect.
    pub(super) fn has_long_journal(&self) -> bool {
        // A checkpoint has a beginning and an end.
        self.records.len() > 2 * MOST_CHECKPOINTS || self.journal.len() > LARGEST_JOURNAL
    }

    /// Collects when the store is over its size or has checkpoints over their age. The caller holds the lock.
    pub(super) fn collect_if_needed(&mut self) -> Result<()> {
        let oldest_allowed = jiff::Timestamp::now()
            .checked_sub(jiff::SignedDuration::from_hours(24 * i64::from(self.limits.days)))
            .map_or(i64::MIN, jiff::Timestamp::as_millisecond);
        let all = journal::checkpoints(&self.records);
        let many = all.len().saturating_sub(ALWAYS_KEPT);
        let aged = all.iter().take(many).take_while(|one| one.at.0 < oldest_allowed).count();
        let is_over = self.objects.bytes() > self.limits.disk || self.has_long_journal();
        if aged == 0 && !is_over {
            return Ok(());
        }
        // Half of them at once where it is about room, so that this is rare.
        let beyond = all.len().saturating_sub(MOST_CHECKPOINTS);
        let dropped = if is_over { aged.max(many / 2).max(beyond) } else { aged };
        // With nothing to drop, only contents that nobody refers to any more are given up.
        let first_kept = all.get(dropped).map_or(u64::MAX, |checkpoint| checkpoint.id);
        self.drop_before(first_kept)
    }

    fn drop_before(&mut self, first: u64) -> Result<()> {
        let kept: Vec<Record> = self.records.iter().filter(|record| record.id() >= first).cloned().collect();
        let mut wanted: HashSet<ObjectId> = HashSet::new();
        let mut want = |state: Option<EntryState>| wanted.extend(state.and_then(|state| state.content));
        for entry in self.known.entries.values() {
            want(Some(entry.state));
        }
        let mut lists = Vec::new();
        for changes in kept.iter().filter_map(Record::changes) {
            lists.extend(changes.object);
            for change in self.listed(changes)? {
                want(change.before);
                want(change.after);
            }
        }
        wanted.extend(lists);
        let mut text = Vec::new();
        for record in &kept {
            serde_json::to_writer(&mut text, record).map_err(Error::Encode)?;
            text.push(b'\n');
        }
        // The known state first: with an old journal it is still right, without its journal's end it would not be.
        self.known.journal_position = text.len() as u64;
        self.known.save(&self.store.join("known"))?;
        let path = self.store.join("journal.jsonl");
        files::write_atomic(&path, &text, Privacy::Private)?;
        self.journal = DataFile::open(&path)?;
        self.records = kept;
        self.objects.keep_only(|id| wanted.contains(id))
    }
}
