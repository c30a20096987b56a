//! Making a task from messages that came from elsewhere.

use std::collections::HashSet;
use std::mem;

use serde_json::Value;
use stepwell_protocol::{
    AnswerOrigin, Event, EventRecord, InterruptReason, Message, MessageId, Part, Role, Seq, TaskId, TaskInfo,
    TaskState, Timestamp, ToolResult, Usage,
};

use crate::log::create_whole;
use crate::{Home, Result, TaskFolds, repair_events};

/// The tool that gives the answer of a task, by the name it has here and in Roo-Code.
const COMPLETION: &str = "attempt_completion";

/// A conversation from outside, ready to become a task.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedTask {
    pub title: String,
    pub mode: String,
    pub model: String,
    pub workspace: String,
    pub created_at: Timestamp,
    pub favourite: bool,
    pub messages: Vec<Message>,
    /// What the conversation used where it came from, if that is known.
    pub usage: Option<Usage>,
}

/// Writes the task's log; all of it is there afterwards, or nothing.
pub fn import_task(home: &Home, id: &TaskId, task: ImportedTask) -> Result<TaskInfo> {
    let info = TaskInfo {
        id: id.clone(),
        root: id.clone(),
        parent: None,
        forked_from: None,
        number: home.allocate_number()?,
        title: task.title.clone(),
        mode: task.mode.clone(),
        agent: None,
        model: task.model.clone(),
        workspace: task.workspace.clone(),
        created_at: task.created_at,
    };
    let mut events = vec![(task.created_at, Event::TaskCreated { info: info.clone() })];
    if task.favourite {
        events.push((task.created_at, Event::FavouriteChanged { favourite: true }));
    }
    events.extend(conversation_events(task.messages));
    events.extend(completion(&events));
    let last = events.last().map(|(ts, _)| *ts).unwrap_or_default();
    if let Some(usage) = task.usage {
        events.push((last, Event::Usage { model: task.model, usage }));
    }
    // The messages keep their own times; the last record says when the task came here, so that it is among the
    // recent ones.
    let imported = Timestamp::now().max(last);
    events.push((imported, Event::StateChanged { state: TaskState::Completed }));
    let mut records: Vec<EventRecord> = Vec::with_capacity(events.len());
    for (ts, event) in events {
        push_record(&mut records, ts, event);
    }
    for event in repair_events(&TaskFolds::of(&records)) {
        push_record(&mut records, imported, event);
    }
    create_whole(home, id, |encoder, blobs| {
        records.iter().try_for_each(|record| encoder.push(record.seq, record.ts, &record.event, blobs))
    })?;
    Ok(info)
}

/// The end of a conversation that ended by its completion. Other agents record nothing after that call, and it is
/// neither unanswered nor interrupted: its argument is the answer.
fn completion(events: &[(Timestamp, Event)]) -> Vec<(Timestamp, Event)> {
    let Some((ts, Event::Action { call, .. })) = events.last() else { return Vec::new() };
    let Some(result) = call.arguments.get("result").and_then(Value::as_str) else { return Vec::new() };
    if call.name != COMPLETION {
        return Vec::new();
    }
    let observed = ToolResult {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        output: "The result was given to the user.".into(),
        error: None,
        images: Vec::new(),
        artifacts: Vec::new(),
        detail: None,
        duration_ms: 0,
    };
    let answer = Event::Answer {
        message_id: MessageId::generate(),
        content: result.to_owned(),
        origin: AnswerOrigin::Completion,
    };
    vec![(*ts, Event::Observation { result: observed }), (*ts, answer)]
}

fn push_record(records: &mut Vec<EventRecord>, ts: Timestamp, event: Event) {
    let (seq, earliest) = records.last().map_or((Seq(1), ts), |last| (last.seq.next(), last.ts));
    records.push(EventRecord { seq, ts: ts.max(earliest), event });
}

/// The events whose fold is these messages.
fn conversation_events(messages: Vec<Message>) -> Vec<(Timestamp, Event)> {
    let mut events = Vec::new();
    let mut ids = HashSet::new();
    for mut message in messages {
        if message.role != Role::Tool && !ids.insert(message.id.clone()) {
            message.id = MessageId::generate();
        }
        if events.is_empty() && message.role != Role::User {
            // Every provider wants the user to speak first.
            let mut opening = Message::user("(The beginning of this conversation was not imported.)");
            opening.ts = message.ts;
            events.push((message.ts, Event::UserMessage { message: opening }));
        }
        let ts = message.ts;
        match message.role {
            Role::User => events.push((ts, Event::UserMessage { message })),
            Role::Assistant => {
                events.extend(assistant_events(message).into_iter().map(|event| (ts, event)));
            }
            Role::Tool => {
                for part in message.parts {
                    if let Part::ToolResult { result } = part {
                        events.push((ts, Event::Observation { result }));
                    }
                }
            }
        }
    }
    events
}

fn assistant_events(mut message: Message) -> Vec<Event> {
    let message_id = message.id;
    let parts = mem::take(&mut message.parts);
    let (calls, mut said): (Vec<Part>, Vec<Part>) =
        parts.into_iter().partition(|part| matches!(part, Part::ToolCall { .. }));
    let mut events = Vec::new();
    if calls.is_empty() {
        let content = match said.pop() {
            Some(Part::Text { text }) => text,
            Some(other) => {
                said.push(other);
                String::new()
            }
            None => String::new(),
        };
        if !said.is_empty() {
            events.push(Event::Thought { message_id: message_id.clone(), parts: said });
        }
        events.push(Event::Answer { message_id: message_id.clone(), content, origin: AnswerOrigin::Text });
    } else {
        events.push(Event::Thought { message_id: message_id.clone(), parts: said });
        for part in calls {
            if let Part::ToolCall { call } = part {
                events.push(Event::Action { message_id: message_id.clone(), call });
            }
        }
    }
    if message.interrupted {
        events.push(Event::AnswerInterrupted { message_id, reason: InterruptReason::Cancelled });
    }
    events
}
