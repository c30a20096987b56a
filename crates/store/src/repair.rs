//! Making a task whose files are damaged usable again, as far as its records are whole.
//!
//! Nothing is thrown away: what the log loses is put into a file beside it.

use std::path::{Path, PathBuf};

use stepwell_protocol::{Event, EventRecord, Seq, TaskId};
use stepwell_workspace::files::{self, Privacy};

use crate::log::{FORMAT, LineEncoder, LostBlob, decode, parse};
use crate::{Error, Home, OnDamage, Result, TaskLog, read_log};

/// What a repair found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedTask {
    /// How many records the task has now.
    pub records: u64,
    /// How many of them stood behind the damage.
    pub salvaged: u64,
    /// Where the log lies from the damage to the end, as it was.
    pub rest: Option<PathBuf>,
    /// Where the log lies as it was before lost content was replaced by sentences that say so.
    pub before_loss: Option<PathBuf>,
}

impl RepairedTask {
    /// Whether there was nothing to repair.
    pub fn was_whole(&self) -> bool {
        self.rest.is_none() && self.before_loss.is_none()
    }
}

/// Takes the damage out of the log, keeps the whole records on both sides of it, and writes a sentence for what is lost
/// between them and for each content that is lost. A log without one whole
/// record, or of a newer Stepwell, is left as it is and the error says why.
pub fn repair_task(home: &Home, id: &TaskId) -> Result<RepairedTask> {
    let (mut opened, rest) = TaskLog::open_keeping(home, id, OnDamage::KeepPrefix)?;
    let salvaged = match &rest {
        Some(rest) => salvage(home, id, &opened.log, &mut opened.records, rest)?,
        None => 0,
    };
    let before_loss = match read_log(home, id) {
        Err(Error::BlobMissing { .. } | Error::BlobCorrupt { .. }) => {
            Some(replace_lost(home, id, &opened.log, &opened.records)?)
        }
        Err(error) => return Err(error),
        Ok(_) => None,
    };
    tracing::info!(task = %id, records = opened.records.len(), replaced = before_loss.is_some(), "task repaired");
    Ok(RepairedTask { records: opened.records.len() as u64, salvaged, rest, before_loss })
}

/// Adds the whole records of the damaged part to those before it, with a sentence between them. What the log holds already
/// is not added a second time.
fn salvage(
    home: &Home,
    id: &TaskId,
    log: &TaskLog,
    records: &mut Vec<EventRecord>,
    rest: &Path,
) -> Result<u64> {
    let bytes = files::read(rest)?;
    let mut known = records.last().map_or(Seq(0), |last| last.seq);
    let mut found = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = parse(FORMAT, line) else { continue };
        if line.seq <= known {
            continue;
        }
        known = line.seq;
        if let Ok(event) = decode(&line, log.blobs(), LostBlob::Placeholder)? {
            found.push((line.ts, event));
        }
    }
    let Some((ts, _)) = found.first() else { return Ok(0) };
    let text = "the log of this task was damaged here: what happened in between is lost".to_owned();
    let lost = (*ts, Event::Notice { text });
    let count = found.len() as u64;
    for (ts, event) in std::iter::once(lost).chain(found) {
        let seq = records.last().map_or(Seq(1), |last| last.seq.next());
        records.push(EventRecord { seq, ts, event });
    }
    rewrite(home, id, log, records)?;
    Ok(count)
}

/// Writes the log anew. It must be open: that is what keeps others away.
fn rewrite(home: &Home, id: &TaskId, log: &TaskLog, records: &[EventRecord]) -> Result<()> {
    let mut encoder = LineEncoder::default();
    for record in records {
        encoder.push(record.seq, record.ts, &record.event, log.blobs())?;
    }
    Ok(files::write_atomic(&home.log_path(id)?, encoder.bytes(), Privacy::Private)?)
}

/// Writes the log anew from records in which sentences stand for what is lost, and gives the place of the old one.
fn replace_lost(home: &Home, id: &TaskId, log: &TaskLog, records: &[EventRecord]) -> Result<PathBuf> {
    let path = home.log_path(id)?;
    let kept = path.with_file_name(format!("log.before-loss-{}.jsonl", log.last_seq()));
    files::write_atomic(&kept, &files::read(&path)?, Privacy::Private)?;
    rewrite(home, id, log, records)?;
    Ok(kept)
}
