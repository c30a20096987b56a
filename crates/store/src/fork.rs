//! A new task that shares the history of another up to a message.

use std::collections::HashMap;

use stepwell_protocol::{
    Event, EventRecord, MessageId, Seq, TaskId, TaskInfo, TaskState, Timestamp, ToolCallId,
};
use stepwell_workspace::files::{self, ReadFile};

use crate::log::{
    Blobs, LineEncoder, LostBlob, RawLine, ScanFrom, check_beginning, create_whole, decode_all, referenced,
    scan,
};
use stepwell_transcript::TaskSummary;

use crate::{Error, Home, ModelHistory, Result, TaskFolds, repair_events, results_id};

/// Makes `new_id` from the history of `source` up to and including `message`, with the calls and results that
/// belong to it; all of the history when no message is named. The source may be open elsewhere.
///
/// Costs are not copied: what the source used was used once, so the new task's totals of tokens and money begin
/// at zero. Neither are the source's name changes, its star, its state or messages that wait in its queue.
pub fn fork(home: &Home, source: &TaskId, new_id: &TaskId, message: Option<&MessageId>) -> Result<TaskInfo> {
    let path = home.log_path(source)?;
    if files::stamp(&path)?.is_none() {
        return Err(Error::UnknownTask { reference: source.to_string() });
    }
    let bytes = ReadFile::open(&path)?.read_from(0)?;
    let found = scan(&bytes, ScanFrom::START);
    check_beginning(&path, &found)?;
    let source_blobs = Blobs::new(home.blobs_dir(source)?);
    let records = decode_all(&path, 1, &found.lines, &source_blobs, LostBlob::Placeholder)?;
    let Some(EventRecord { event: Event::TaskCreated { info }, .. }) = records.first() else {
        return Err(Error::NoRecords { path });
    };
    let end = match message {
        Some(message) => end_of(&records, message)
            .ok_or_else(|| Error::UnknownMessage { task: source.clone(), message: message.clone() })?,
        None => records.len(),
    };
    let title = TaskSummary::of(&records).title;
    let info = TaskInfo {
        id: new_id.clone(),
        root: new_id.clone(),
        parent: None,
        forked_from: Some(source.clone()),
        number: home.allocate_number()?,
        title,
        created_at: Timestamp::now(),
        ..info.clone()
    };
    let created = Event::TaskCreated { info: info.clone() };
    create_whole(home, new_id, |encoder, blobs| {
        let first_ts = records.first().map(|record| record.ts).unwrap_or_default();
        encoder.push(Seq(1), first_ts, &created, blobs)?;
        let copied = copy(&found.lines[..end], &records[..end], &source_blobs, encoder, blobs)?;
        finish(&copied, encoder, blobs)
    })?;
    Ok(info)
}

/// Copies the lines that belong to the conversation as they are, under new numbers.
fn copy(
    lines: &[RawLine<'_>],
    records: &[EventRecord],
    source: &Blobs,
    encoder: &mut LineEncoder,
    blobs: &Blobs,
) -> Result<Vec<EventRecord>> {
    let mut copied = Vec::new();
    for (line, record) in lines.iter().zip(records).filter(|(_, record)| is_shared(&record.event)) {
        let seq = Seq(copied.len() as u64 + 2);
        share_blobs(&line.event, source, blobs)?;
        encoder.push_raw(seq, line.ts, &line.event);
        copied.push(EventRecord { seq, ts: record.ts, event: record.event.clone() });
    }
    Ok(copied)
}

/// Closes what the source's history left open at the place of the cut; the new task then waits for the person.
fn finish(copied: &[EventRecord], encoder: &mut LineEncoder, blobs: &Blobs) -> Result<()> {
    let ts = copied.last().map(|record| record.ts).unwrap_or_default();
    let first = copied.len() as u64 + 2;
    let mut seq = Seq(first);
    for event in repair_events(&TaskFolds::of(copied)) {
        encoder.push(seq, ts, &event, blobs)?;
        seq = seq.next();
    }
    let paused = Event::StateChanged { state: TaskState::Paused };
    encoder.push(seq, Timestamp::now().max(ts), &paused, blobs)
}

fn is_shared(event: &Event) -> bool {
    !matches!(
        event,
        Event::TaskCreated { .. }
            | Event::TaskRenamed { .. }
            | Event::FavouriteChanged { .. }
            | Event::StateChanged { .. }
            | Event::MessageQueued { .. }
            | Event::Usage { .. }
    )
}

fn share_blobs(event: &str, source: &Blobs, target: &Blobs) -> Result<()> {
    let named = referenced(event)?;
    if named.is_empty() {
        return Ok(());
    }
    files::create_private_dir(target.dir())?;
    for sha256 in named {
        match files::link_or_copy(&source.path(&sha256), &target.path(&sha256)) {
            // A fork of damaged data is as damaged as its source, and no more.
            Err(error) if error.is_not_found() => {}
            other => other?,
        }
    }
    Ok(files::sync_dir(target.dir())?)
}

/// How many records there are up to the last that belongs to a message; `None` when the history has no such message.
fn end_of(records: &[EventRecord], message: &MessageId) -> Option<usize> {
    let history = ModelHistory::of(records).messages();
    let visible = history.iter().find(|candidate| candidate.id == *message)?;
    let owner_of_results = history.iter().find(|candidate| results_id(&candidate.id) == visible.id);
    let wanted = owner_of_results.map_or(message, |owner| &owner.id);
    let mut callers: HashMap<&ToolCallId, &MessageId> = HashMap::new();
    let mut end = None;
    for (index, record) in records.iter().enumerate() {
        let belongs_to = match &record.event {
            Event::UserMessage { message } => Some(&message.id),
            Event::Action { message_id, call } => {
                callers.insert(&call.id, message_id);
                Some(message_id)
            }
            Event::Observation { result } => callers.get(&result.call_id).copied(),
            Event::Thought { message_id, .. }
            | Event::Answer { message_id, .. }
            | Event::PartialAnswer { message_id, .. }
            | Event::AnswerInterrupted { message_id, .. } => Some(message_id),
            _ => None,
        };
        if belongs_to == Some(wanted) {
            end = Some(index + 1);
        }
    }
    end
}
