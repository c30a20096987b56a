//! Making a task whose files are damaged usable again, as far as its records are whole.
//!
//! Nothing is thrown away: what the log loses is put into a file beside it.

use std::path::PathBuf;

use stepwell_protocol::{EventRecord, TaskId};
use stepwell_workspace::files::{self, Privacy};

use crate::log::LineEncoder;
use crate::{Error, Home, OnDamage, Result, TaskLog, read_log};

/// What a repair found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedTask {
    /// How many records the task has now.
    pub records: u64,
    /// Where the part of the log lies that is no longer in it, from the damage to the end.
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

/// Cuts the log before its damage, and writes a sentence for each content that is lost. A log without one whole
/// record, or of a newer Stepwell, is left as it is and the error says why.
pub fn repair_task(home: &Home, id: &TaskId) -> Result<RepairedTask> {
    let (opened, rest) = TaskLog::open_keeping(home, id, OnDamage::KeepPrefix)?;
    let before_loss = match read_log(home, id) {
        Err(Error::BlobMissing { .. } | Error::BlobCorrupt { .. }) => {
            Some(replace_lost(home, id, &opened.log, &opened.records)?)
        }
        Err(error) => return Err(error),
        Ok(_) => None,
    };
    tracing::info!(task = %id, records = opened.records.len(), replaced = before_loss.is_some(), "task repaired");
    Ok(RepairedTask { records: opened.records.len() as u64, rest, before_loss })
}

/// Writes the log anew from records in which sentences stand for what is lost, and gives the place of the old one.
/// The log must be open: that is what keeps others away.
fn replace_lost(home: &Home, id: &TaskId, log: &TaskLog, records: &[EventRecord]) -> Result<PathBuf> {
    let path = home.log_path(id)?;
    let mut encoder = LineEncoder::default();
    for record in records {
        encoder.push(record.seq, record.ts, &record.event, log.blobs())?;
    }
    let kept = path.with_file_name(format!("log.before-loss-{}.jsonl", log.last_seq()));
    files::write_atomic(&kept, &files::read(&path)?, Privacy::Private)?;
    files::write_atomic(&path, encoder.bytes(), Privacy::Private)?;
    Ok(kept)
}
