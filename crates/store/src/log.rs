//! The append-only log of a task: the only truth about it.
//!
//! One process writes, holding the task's lock; any number read. An append is one write of about its own size
//! and at most one sync. What a crash leaves at the end of the file is cut off at the next open; damage before
//! the end is reported with its line and never touched without being told to.

mod blobs;
mod checksum;
mod follow;
mod line;
mod migrate;
mod scan;

use std::path::{Path, PathBuf};

use stepwell_protocol::{Event, EventRecord, Seq, TaskId, TaskInfo, Timestamp};
use stepwell_workspace::files::{self, AppendFile, LockAttempt, LockFile, Privacy, ReadFile};

use crate::{Error, Home, Result};

pub(crate) use blobs::{Blobs, LostBlob, referenced};
pub(crate) use checksum::checksum;
pub(crate) use follow::read_tail;
pub use follow::{LogReader, read_log, read_log_prefix};
pub(crate) use line::{FORMAT, LineEncoder, RawLine, decode, parse};
pub(crate) use scan::{Scan, ScanEnd, ScanFrom, scan};

/// What to do with a log that is damaged before its end, or whose content is partly lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    /// Fail and change nothing.
    Refuse,
    /// Go on with the records before the damage; what comes after is moved to a file beside the log, and lost
    /// content is replaced by a sentence that says so.
    KeepPrefix,
}

/// A task's log, open for appending. Dropping it frees the task for others.
#[derive(Debug)]
pub struct TaskLog {
    id: TaskId,
    file: AppendFile,
    blobs: Blobs,
    encoder: LineEncoder,
    next_seq: Seq,
    last_ts: Timestamp,
    _lock: LockFile,
}

/// A log with everything it holds.
#[derive(Debug)]
pub struct OpenedLog {
    pub log: TaskLog,
    pub records: Vec<EventRecord>,
}

impl TaskLog {
    /// Makes a new task; it is on the disk when this returns.
    pub fn create(home: &Home, info: TaskInfo) -> Result<OpenedLog> {
        let id = info.id.clone();
        let lock = prepare(home, &id)?;
        let path = home.log_path(&id)?;
        let file = AppendFile::open_locked(&path)?.ok_or(Error::Busy { id: id.clone(), pid: None })?;
        let mut log = Self::new(home, id.clone(), file, lock)?;
        let created = log.append(&[Event::TaskCreated { info }]).and_then(|records| {
            sync_folders(home, &id)?;
            Ok(records)
        });
        match created {
            Ok(records) => Ok(OpenedLog { log, records }),
            Err(error) => {
                // Nothing was acknowledged; an empty folder that cannot be removed is passed over by every list.
                files::remove_dir_all(&home.task_dir(&id)?).ok();
                Err(error)
            }
        }
    }

    /// Opens a task for appending: cuts off what a crash left at the end, and brings an older format up to date.
    pub fn open(home: &Home, id: &TaskId) -> Result<OpenedLog> {
        Self::open_with(home, id, OnDamage::Refuse)
    }

    pub fn open_with(home: &Home, id: &TaskId, on_damage: OnDamage) -> Result<OpenedLog> {
        Ok(Self::open_keeping(home, id, on_damage)?.0)
    }

    /// Opens a task and says in which file it put what it cut off, if that was more than an unfinished line.
    pub(crate) fn open_keeping(
        home: &Home,
        id: &TaskId,
        on_damage: OnDamage,
    ) -> Result<(OpenedLog, Option<PathBuf>)> {
        let path = home.log_path(id)?;
        let unknown = || Error::UnknownTask { reference: id.to_string() };
        if files::stamp(&path)?.is_none() {
            return Err(unknown());
        }
        let lock = take_lock(home, id)?;
        // Between the look above and the lock the task may have been deleted.
        if files::stamp(&path)?.is_none() {
            return Err(unknown());
        }
        let mut file = AppendFile::open_locked(&path)?.ok_or(Error::Busy { id: id.clone(), pid: None })?;
        let bytes = file.read_all()?;
        let found = scan(&bytes, ScanFrom::START);
        check_beginning(&path, &found)?;
        if found.lines.is_empty() {
            return Err(Error::NoRecords { path });
        }
        let mut kept = None;
        match &found.end {
            ScanEnd::Clean | ScanEnd::Newer { .. } => {}
            ScanEnd::Unfinished => {
                tracing::warn!(task = %id, "cut an unfinished line off the task's log");
                cut(&mut file, found.good_len)?;
            }
            ScanEnd::Damaged { line, problem } if on_damage == OnDamage::Refuse => {
                return Err(damaged(&path, *line, problem));
            }
            ScanEnd::Garbage | ScanEnd::Damaged { .. } => {
                kept = Some(keep_rest(&path, &bytes, found.good_len)?);
                cut(&mut file, found.good_len)?;
                tracing::warn!(task = %id, "cut damage off the task's log and kept it beside");
            }
        }
        let blobs = Blobs::new(home.blobs_dir(id)?);
        if let Some(format) = found.next.format.filter(|format| *format < FORMAT) {
            drop(file);
            migrate::migrate(&path, format, &found.lines, &blobs)?;
            file = AppendFile::open_locked(&path)?.ok_or(Error::Busy { id: id.clone(), pid: None })?;
        }
        let lost = match on_damage {
            OnDamage::Refuse => LostBlob::Fail,
            OnDamage::KeepPrefix => LostBlob::Placeholder,
        };
        let records = decode_all(&path, 1, &found.lines, &blobs, lost)?;
        let mut log = Self::new(home, id.clone(), file, lock)?;
        if let Some(last) = records.last() {
            log.next_seq = last.seq.next();
            log.last_ts = last.ts;
        }
        Ok((OpenedLog { log, records }, kept))
    }

    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// The number of the last record.
    pub fn last_seq(&self) -> Seq {
        Seq(self.next_seq.0 - 1)
    }

    /// How many bytes the log has.
    pub fn bytes(&self) -> u64 {
        self.file.len()
    }

    /// Appends events as one write, numbered and timed. When one of them must be on the disk before anything
    /// follows from it, all are when this returns. After an error none of them is in the log, and the next append
    /// goes on as if nothing had been tried.
    pub fn append(&mut self, events: &[Event]) -> Result<Vec<EventRecord>> {
        self.append_owned(events.to_vec())
    }

    /// The same without copying the events.
    pub fn append_owned(&mut self, events: Vec<Event>) -> Result<Vec<EventRecord>> {
        self.encoder.clear();
        let mut records = Vec::with_capacity(events.len());
        let ts = Timestamp::now().max(self.last_ts);
        let mut seq = self.next_seq;
        let must_sync = events.iter().any(Event::must_sync);
        for event in events {
            if !event.is_durable() {
                return Err(Error::TransientEvent { kind: kind_of(&event) });
            }
            self.encoder.push(seq, ts, &event, &self.blobs)?;
            records.push(EventRecord { seq, ts, event });
            seq = seq.next();
        }
        let len_before = self.file.len();
        self.file.append(self.encoder.bytes())?;
        if must_sync && let Err(error) = self.file.sync() {
            // Not known to be on the disk, so not acknowledged; a cut that fails is tried again before the next append.
            self.file.truncate(len_before).ok();
            return Err(error.into());
        }
        self.next_seq = seq;
        self.last_ts = ts;
        Ok(records)
    }

    /// Puts everything appended so far on the disk.
    pub fn sync(&self) -> Result<()> {
        Ok(self.file.sync()?)
    }

    pub(crate) fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    fn new(home: &Home, id: TaskId, file: AppendFile, lock: LockFile) -> Result<Self> {
        Ok(Self {
            blobs: Blobs::new(home.blobs_dir(&id)?),
            id,
            file,
            encoder: LineEncoder::default(),
            next_seq: Seq(1),
            last_ts: Timestamp(0),
            _lock: lock,
        })
    }
}

/// How much of a log is read at once to find its first line, which is nearly always shorter.
const FIRST_LOOK: u64 = 16 * 1024;

/// The facts a task was created with, from its first line alone.
pub fn read_info(home: &Home, id: &TaskId) -> Result<TaskInfo> {
    let path = home.log_path(id)?;
    let file = ReadFile::open(&path)?;
    let first = first_line(&file)?;
    let found = scan(&first, ScanFrom::START);
    check_beginning(&path, &found)?;
    let blobs = Blobs::new(home.blobs_dir(id)?);
    match decode_all(&path, 1, &found.lines, &blobs, LostBlob::Placeholder)?.pop() {
        Some(EventRecord { event: Event::TaskCreated { info }, .. }) => Ok(info),
        _ => Err(Error::NoRecords { path }),
    }
}

/// The first line with its end; nothing where no line is finished.
fn first_line(file: &ReadFile) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let piece = file.read_range(line.len() as u64, FIRST_LOOK)?;
        if let Some(end) = memchr::memchr(b'\n', &piece) {
            line.extend_from_slice(&piece[..=end]);
            return Ok(line);
        }
        if piece.is_empty() {
            return Ok(Vec::new());
        }
        line.extend_from_slice(&piece);
    }
}

/// Makes the folder of a new task and takes its lock.
fn prepare(home: &Home, id: &TaskId) -> Result<LockFile> {
    files::create_private_dir(&home.task_dir(id)?)?;
    let lock = take_lock(home, id)?;
    match files::stamp(&home.log_path(id)?)? {
        Some(stamp) if stamp.len > 0 => Err(Error::TaskExists { id: id.clone() }),
        _ => Ok(lock),
    }
}

/// Makes a new task with a whole history at once: all of it is there afterwards, or nothing.
pub(crate) fn create_whole(
    home: &Home,
    id: &TaskId,
    write: impl FnOnce(&mut LineEncoder, &Blobs) -> Result<()>,
) -> Result<()> {
    let _lock = prepare(home, id)?;
    let mut encoder = LineEncoder::default();
    let path = home.log_path(id)?;
    let written = write(&mut encoder, &Blobs::new(home.blobs_dir(id)?))
        .and_then(|()| Ok(files::write_atomic(&path, encoder.bytes(), Privacy::Private)?))
        .and_then(|()| sync_folders(home, id));
    if written.is_err() {
        files::remove_dir_all(&home.task_dir(id)?).ok();
    }
    written
}

/// Takes the lock of an existing task.
pub(crate) fn take_lock(home: &Home, id: &TaskId) -> Result<LockFile> {
    match LockFile::try_take(&home.lock_path(id)?)? {
        LockAttempt::Taken(lock) => Ok(lock),
        LockAttempt::Busy { pid } => Err(Error::Busy { id: id.clone(), pid }),
    }
}

fn sync_folders(home: &Home, id: &TaskId) -> Result<()> {
    files::sync_dir(&home.task_dir(id)?)?;
    files::sync_dir(&home.tasks_dir())?;
    Ok(files::sync_dir(home.root())?)
}

fn cut(file: &mut AppendFile, good_len: usize) -> Result<()> {
    file.truncate(good_len as u64)?;
    Ok(file.sync()?)
}

/// Keeps what is about to be cut off where it may hold more than an unfinished line.
fn keep_rest(log: &Path, bytes: &[u8], good_len: usize) -> Result<PathBuf> {
    let kept = log.with_file_name(format!("log.cut-at-{good_len}"));
    files::write_atomic(&kept, &bytes[good_len..], Privacy::Private)?;
    Ok(kept)
}

pub(crate) fn decode_all(
    path: &Path,
    first_line: u64,
    lines: &[RawLine<'_>],
    blobs: &Blobs,
    lost: LostBlob,
) -> Result<Vec<EventRecord>> {
    let mut records = Vec::with_capacity(lines.len());
    for (line_number, line) in (first_line..).zip(lines) {
        let event = decode(line, blobs, lost)?.map_err(|error| Error::UnknownEvent {
            path: path.to_path_buf(),
            line: line_number,
            detail: error.to_string(),
        })?;
        records.push(EventRecord { seq: line.seq, ts: line.ts, event });
    }
    Ok(records)
}

/// Fails when nothing can be read because of what the file begins with.
pub(crate) fn check_beginning(path: &Path, found: &Scan<'_>) -> Result<()> {
    match &found.end {
        ScanEnd::Newer { found } => {
            Err(Error::NewerFormat { path: path.to_path_buf(), found: *found, supported: FORMAT })
        }
        ScanEnd::Damaged { line, problem } if found.lines.is_empty() => Err(damaged(path, *line, problem)),
        _ => Ok(()),
    }
}

pub(crate) fn damaged(path: &Path, line: u64, problem: &str) -> Error {
    Error::Damaged {
        path: path.to_path_buf(),
        line,
        problem: problem.to_owned(),
        good_records: line.saturating_sub(1),
    }
}

fn kind_of(event: &Event) -> String {
    serde_json::to_value(event)
        .ok()
        .and_then(|value| Some(value.get("type")?.as_str()?.to_owned()))
        .unwrap_or_default()
}
