//! Reading a log without its lock, also while another process writes it.

use std::path::PathBuf;

use stepwell_protocol::{EventRecord, Seq, TaskId};
use stepwell_workspace::files::ReadFile;

use super::blobs::{Blobs, LostBlob};
use super::scan::{ScanFrom, scan};
use super::{check_beginning, decode_all};
use crate::{Error, Home, Result};

/// Reads what was appended since it last looked.
#[derive(Debug)]
pub struct LogReader {
    path: PathBuf,
    task: TaskId,
    blobs: Blobs,
    offset: u64,
    inode: Option<u64>,
    position: ScanFrom,
    /// Records before this one are passed over.
    from: Seq,
}

impl LogReader {
    /// Follows a task from a record on; [`Seq`] 0 and 1 both mean from the beginning.
    pub fn open(home: &Home, id: &TaskId, from: Seq) -> Result<Self> {
        let mut reader = Self::new(home, id)?;
        reader.from = from;
        // Says now, not at the first poll, that there is no such task.
        reader.open_file()?;
        Ok(reader)
    }

    fn new(home: &Home, id: &TaskId) -> Result<Self> {
        Ok(Self {
            path: home.log_path(id)?,
            task: id.clone(),
            blobs: Blobs::new(home.blobs_dir(id)?),
            offset: 0,
            inode: None,
            position: ScanFrom::START,
            from: Seq(0),
        })
    }

    /// The records that were completed since the last call, in order and each once. A line that is not
    /// finished yet is left for the next call.
    pub fn poll_new(&mut self) -> Result<Vec<EventRecord>> {
        self.poll(LostBlob::Fail)
    }

    /// Reads on by about `bytes`; nothing at the end. At least one record is read where there is one, however long.
    pub fn read_page(&mut self, bytes: u64) -> Result<Vec<EventRecord>> {
        let mut limit = bytes.max(1);
        loop {
            let (before, records) = (self.offset, self.poll_within(LostBlob::Placeholder, limit)?);
            if !records.is_empty() {
                return Ok(records);
            }
            if self.offset == before {
                // The next line is longer than what was read, or there is none.
                if self.open_file()?.stamp()?.len.saturating_sub(self.offset) <= limit {
                    return Ok(Vec::new());
                }
                limit = limit.saturating_mul(2);
            }
        }
    }

    fn poll(&mut self, lost: LostBlob) -> Result<Vec<EventRecord>> {
        self.poll_within(lost, u64::MAX)
    }

    fn poll_within(&mut self, lost: LostBlob, limit: u64) -> Result<Vec<EventRecord>> {
        let file = self.open_file()?;
        let stamp = file.stamp()?;
        if self.inode.is_some_and(|inode| inode != stamp.inode) {
            // The log was rewritten in a newer format: the same records at other places.
            self.from = self.from.max(self.position.next_seq);
            self.offset = 0;
            self.position = ScanFrom::START;
        }
        self.inode = Some(stamp.inode);
        let bytes = file.read_range(self.offset, limit)?;
        let found = scan(&bytes, self.position);
        check_beginning(&self.path, &found)?;
        let first_line = self.position.lines + 1;
        let skipped = found.lines.iter().take_while(|line| line.seq < self.from).count();
        let wanted = &found.lines[skipped..];
        let records = decode_all(&self.path, first_line + skipped as u64, wanted, &self.blobs, lost)?;
        self.offset += found.good_len as u64;
        self.position = found.next;
        Ok(records)
    }

    fn open_file(&self) -> Result<ReadFile> {
        ReadFile::open(&self.path).map_err(|error| {
            if error.is_not_found() {
                Error::UnknownTask { reference: self.task.to_string() }
            } else {
                error.into()
            }
        })
    }
}

/// All whole records of a task, read without its lock. Damage in the middle is an error.
pub fn read_log(home: &Home, id: &TaskId) -> Result<Vec<EventRecord>> {
    let mut reader = LogReader::open(home, id, Seq(0))?;
    let mut records = reader.poll_new()?;
    // A second look finds damage that follows what was read.
    records.extend(reader.poll_new()?);
    if records.is_empty() {
        return Err(Error::NoRecords { path: reader.path });
    }
    Ok(records)
}

/// The records before any damage, with a sentence in place of content that is lost.
pub fn read_log_prefix(home: &Home, id: &TaskId) -> Result<Vec<EventRecord>> {
    let mut reader = LogReader::open(home, id, Seq(0))?;
    let records = reader.poll(LostBlob::Placeholder)?;
    if records.is_empty() {
        return Err(Error::NoRecords { path: reader.path });
    }
    Ok(records)
}

/// What was read beyond a place in a log, and the place to go on from.
pub(crate) struct Tail {
    pub records: Vec<EventRecord>,
    pub offset: u64,
    pub position: ScanFrom,
}

/// Reads on from a known place, for who keeps the place elsewhere. Lost content does not fail.
pub(crate) fn read_tail(home: &Home, id: &TaskId, offset: u64, position: ScanFrom) -> Result<Tail> {
    let mut reader = LogReader { offset, position, ..LogReader::new(home, id)? };
    let records = reader.poll(LostBlob::Placeholder)?;
    Ok(Tail { records, offset: reader.offset, position: reader.position })
}
