//! Bringing the index up to the logs: one look at each log's size and time, and reading only what was added.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use stepwell_protocol::{AnswerOrigin, Event, EventRecord, MessageId, Seq, TaskId};
use stepwell_workspace::files::{self, FileStamp};

use super::words::segmented;
use crate::log::{ScanFrom, read_tail};
use stepwell_transcript::TaskSummary;

use crate::{Error, Home, Result};

/// How much of one text is searched, in bytes.
const LONGEST_TEXT: usize = 64 * 1024;

/// What a refresh did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Tasks whose log had changed.
    pub read: usize,
    /// Tasks that are gone.
    pub removed: usize,
}

/// Where a log was read to, and the fold up to there.
struct Progress {
    offset: u64,
    position: ScanFrom,
    summary: TaskSummary,
}

struct Text {
    message: Option<MessageId>,
    kind: &'static str,
    body: String,
}

pub(crate) fn refresh(connection: &mut Connection, home: &Home) -> Result<Refreshed> {
    let mut known = known_stamps(connection)?;
    let mut changed = Vec::new();
    for id in home.task_ids()? {
        // A folder that cannot be looked into is no reason to hide the others.
        let Ok(Some(stamp)) = files::stamp(&home.log_path(&id)?) else { continue };
        if known.remove(id.as_str()) != Some(stamp) {
            changed.push((id, stamp));
        }
    }
    let done = Refreshed { read: changed.len(), removed: known.len() };
    if done == Refreshed::default() {
        return Ok(done);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for id in known.keys() {
        remove_texts(&transaction, id)?;
        transaction.execute("DELETE FROM tasks WHERE id = ?1", [id])?;
    }
    for (id, stamp) in &changed {
        read_task(&transaction, home, id, *stamp)?;
    }
    transaction.commit()?;
    Ok(done)
}

fn known_stamps(connection: &Connection) -> Result<HashMap<String, FileStamp>> {
    let mut statement = connection.prepare("SELECT id, log_bytes, log_inode, log_modified FROM tasks")?;
    let rows = statement.query_map([], |row| {
        let stamp = FileStamp {
            len: row.get::<_, i64>(1)? as u64,
            inode: row.get::<_, i64>(2)? as u64,
            modified_ns: row.get(3)?,
        };
        Ok((row.get(0)?, stamp))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn read_task(transaction: &Transaction<'_>, home: &Home, id: &TaskId, stamp: FileStamp) -> Result<()> {
    let earlier = progress(transaction, id, stamp)?;
    let appended = earlier.is_some();
    let mut progress = earlier.unwrap_or_else(Progress::start);
    let records = match advance(home, id, &mut progress) {
        // What was taken back may have been indexed long ago: read all of it again.
        Ok(records) if appended && records.iter().any(is_rewind) => {
            progress = Progress::start();
            advance(home, id, &mut progress)
        }
        // What follows the place is no record. The records before the damage are still the task's.
        Err(Error::Damaged { .. }) if appended => {
            progress = Progress::start();
            advance(home, id, &mut progress)
        }
        other => other,
    };
    if progress.position == ScanFrom::START || !appended || records.as_ref().is_ok_and(|all| starts_anew(all))
    {
        remove_texts(transaction, id.as_str())?;
    }
    match records {
        Ok(records) if progress.summary.info.is_some() => {
            let renamed = records
                .iter()
                .any(|record| matches!(record.event, Event::TaskCreated { .. } | Event::TaskRenamed { .. }));
            for text in texts(&records) {
                insert_text(transaction, id, &text)?;
            }
            if renamed {
                replace_title(transaction, id, &progress.summary.title)?;
            }
            write_row(transaction, home, id, stamp, &progress)
        }
        // Not readable now; looked at again when the file changes.
        Ok(_)
        | Err(
            Error::Damaged { .. }
            | Error::NewerFormat { .. }
            | Error::UnknownEvent { .. }
            | Error::Files(_)
            | Error::UnknownTask { .. },
        ) => {
            remove_texts(transaction, id.as_str())?;
            transaction.execute(
                "INSERT OR REPLACE INTO tasks (id, log_bytes, log_modified, log_inode) VALUES (?1, ?2, ?3, ?4)",
                params![id.as_str(), stamp.len as i64, stamp.modified_ns, stamp.inode as i64],
            )?;
            Ok(())
        }
        Err(error) => Err(error),
    }
}

impl Progress {
    fn start() -> Self {
        Self { offset: 0, position: ScanFrom::START, summary: TaskSummary::default() }
    }
}

/// How far the log was read, if what is there now is that log with more at its end.
fn progress(transaction: &Transaction<'_>, id: &TaskId, stamp: FileStamp) -> Result<Option<Progress>> {
    let row = transaction
        .query_row(
            "SELECT read_bytes, read_lines, read_format, summary, log_inode FROM tasks WHERE id = ?1",
            [id.as_str()],
            |row| {
                Ok((
                    row.get::<_, i64>(0)? as u64,
                    row.get::<_, i64>(1)? as u64,
                    row.get::<_, Option<i64>>(2)?,
                    row.get::<_, Option<String>>(3)?,
                    row.get::<_, i64>(4)? as u64,
                ))
            },
        )
        .optional()?;
    let Some((offset, lines, Some(format), Some(summary), inode)) = row else { return Ok(None) };
    let Ok(summary) = serde_json::from_str::<TaskSummary>(&summary) else { return Ok(None) };
    if inode != stamp.inode || stamp.len < offset {
        return Ok(None);
    }
    let position = ScanFrom { format: Some(format as u64), next_seq: Seq(summary.last_seq.0 + 1), lines };
    Ok(Some(Progress { offset, position, summary }))
}

fn advance(home: &Home, id: &TaskId, progress: &mut Progress) -> Result<Vec<EventRecord>> {
    let tail = read_tail(home, id, progress.offset, progress.position)?;
    progress.offset = tail.offset;
    progress.position = tail.position;
    for record in &tail.records {
        progress.summary.apply(record);
    }
    Ok(tail.records)
}

fn is_rewind(record: &EventRecord) -> bool {
    matches!(record.event, Event::HistoryRewound { .. })
}

fn starts_anew(records: &[EventRecord]) -> bool {
    records.first().is_some_and(|record| record.seq == Seq(1))
}

/// What the person said and what was answered, without what was taken back.
fn texts(records: &[EventRecord]) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    for record in records {
        match &record.event {
            Event::UserMessage { message } => {
                texts.push(Text { message: Some(message.id.clone()), kind: "user", body: message.said() });
            }
            Event::Answer { message_id, content, origin: AnswerOrigin::Text | AnswerOrigin::Completion } => {
                texts.push(Text { message: Some(message_id.clone()), kind: "answer", body: content.clone() });
            }
            Event::HistoryRewound { to_before } => {
                if let Some(position) = texts.iter().position(|text| text.message.as_ref() == Some(to_before))
                {
                    texts.truncate(position);
                }
            }
            _ => {}
        }
    }
    texts.retain(|text| !text.body.trim().is_empty());
    texts
}

fn insert_text(transaction: &Transaction<'_>, id: &TaskId, text: &Text) -> Result<()> {
    let body = &text.body[..text.body.floor_char_boundary(LONGEST_TEXT)];
    transaction
        .prepare_cached("INSERT INTO texts (task, message, kind, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![id.as_str(), text.message.as_ref().map(MessageId::as_str), text.kind, body])?;
    transaction
        .prepare_cached("INSERT INTO words (rowid, body) VALUES (?1, ?2)")?
        .execute(params![transaction.last_insert_rowid(), segmented(body)])?;
    Ok(())
}

fn replace_title(transaction: &Transaction<'_>, id: &TaskId, title: &str) -> Result<()> {
    transaction.execute(
        "DELETE FROM words WHERE rowid IN (SELECT rowid FROM texts WHERE task = ?1 AND kind = 'title')",
        [id.as_str()],
    )?;
    transaction.execute("DELETE FROM texts WHERE task = ?1 AND kind = 'title'", [id.as_str()])?;
    if title.trim().is_empty() {
        return Ok(());
    }
    insert_text(transaction, id, &Text { message: None, kind: "title", body: title.to_owned() })
}

fn remove_texts(transaction: &Transaction<'_>, id: &str) -> Result<()> {
    transaction
        .execute("DELETE FROM words WHERE rowid IN (SELECT rowid FROM texts WHERE task = ?1)", [id])?;
    transaction.execute("DELETE FROM texts WHERE task = ?1", [id])?;
    Ok(())
}

fn write_row(
    transaction: &Transaction<'_>,
    home: &Home,
    id: &TaskId,
    stamp: FileStamp,
    progress: &Progress,
) -> Result<()> {
    let summary = &progress.summary;
    let Some(info) = &summary.info else { return Ok(()) };
    let usage = &summary.totals.usage;
    let folded = serde_json::to_string(summary).map_err(Error::Encode)?;
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO tasks (
                id, number, title, workspace, mode, model, state,
                input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd,
                size, favourite, created_at, updated_at, parent, root, forked_from,
                log_bytes, log_modified, log_inode, read_bytes, read_lines, read_format, summary
            ) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?26)",
        )?
        .execute(params![
            id.as_str(),
            info.number,
            summary.display_title(),
            info.workspace,
            summary.mode,
            summary.model,
            summary.state.name(),
            usage.input_tokens as i64,
            usage.output_tokens as i64,
            usage.cache_read_tokens as i64,
            usage.cache_write_tokens as i64,
            usage.cost_usd,
            size_on_disk(home, id, stamp)? as i64,
            summary.favourite,
            summary.created_at().0,
            summary.updated_at.0,
            info.parent.as_ref().map(TaskId::as_str),
            info.root.as_str(),
            info.forked_from.as_ref().map(TaskId::as_str),
            stamp.len as i64,
            stamp.modified_ns,
            stamp.inode as i64,
            progress.offset as i64,
            progress.position.lines as i64,
            progress.position.format.map(|format| format as i64),
            folded,
        ])?;
    Ok(())
}

/// The log with its blobs and artifacts.
fn size_on_disk(home: &Home, id: &TaskId, log: FileStamp) -> Result<u64> {
    let mut size = log.len;
    for dir in [home.blobs_dir(id)?, home.artifacts_dir(id)?] {
        for path in files::list_dir(&dir)? {
            size += files::stamp(&path)?.map_or(0, |stamp| stamp.len);
        }
    }
    Ok(size)
}
