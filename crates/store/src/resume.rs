//! Making a task that was cut off whole again.
//!
//! A log may end anywhere: in the middle of an answer, with calls whose results nobody will ever write, with a
//! question still on the screen. [`repair_events`] says what to append so that the model's history is valid and
//! nothing waits for nobody. It appends nothing itself, and a task that needs nothing gets nothing.

use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalSource, ErrorClass, Event, EventRecord, InterruptReason,
    QuestionAnswer, TaskId, TaskState, ToolCall, ToolResult,
};

use crate::{Home, OnDamage, OpenedLog, Result, TaskFolds, TaskLog};

const NEVER_RAN: &str = "while it waited for approval. It did not run.";
const MAY_HAVE_RUN: &str = "before its result was recorded. It may have had effects; check what it changed \
    before you run it again.";

/// A task opened, repaired and folded.
#[derive(Debug)]
pub struct ResumedTask {
    pub log: TaskLog,
    pub folds: TaskFolds,
    /// What was appended to repair it; empty for a task that ended in order.
    pub repairs: Vec<EventRecord>,
}

/// Opens a task for writing, appends what it needs to be whole, and gives its folds.
pub fn resume(home: &Home, id: &TaskId, on_damage: OnDamage) -> Result<ResumedTask> {
    resume_except(home, id, on_damage, &|_, _| false)
}

/// The same, but leaves calls open that are `made_again` when the task goes on.
pub fn resume_except(
    home: &Home,
    id: &TaskId,
    on_damage: OnDamage,
    made_again: &dyn Fn(&TaskFolds, &ToolCall) -> bool,
) -> Result<ResumedTask> {
    let OpenedLog { mut log, records } = TaskLog::open_with(home, id, on_damage)?;
    let mut folds = TaskFolds::of(&records);
    drop(records);
    let events = repairs(&folds, made_again);
    let repairs = if events.is_empty() { Vec::new() } else { log.append(&events)? };
    for record in &repairs {
        folds.apply(record);
    }
    Ok(ResumedTask { log, folds, repairs })
}

/// What to append to a task whose process ended, so that it can go on.
pub fn repair_events(folds: &TaskFolds) -> Vec<Event> {
    repairs(folds, &|_, _| false)
}

fn repairs(folds: &TaskFolds, made_again: &dyn Fn(&TaskFolds, &ToolCall) -> bool) -> Vec<Event> {
    let summary = &folds.transcript.summary;
    let mut events = Vec::new();
    for request in &summary.open_approvals {
        events.push(Event::ApprovalResolved {
            id: request.id.clone(),
            answer: ApprovalAnswer::no(Some("Stepwell stopped before this was answered.".to_owned())),
            source: ApprovalSource::Timeout,
        });
    }
    for question in &summary.open_questions {
        events.push(Event::QuestionAnswered {
            id: question.id.clone(),
            answer: QuestionAnswer::new(None, None, AnsweredBy::Nobody),
        });
    }
    for (_, call) in folds.model.open_calls().iter().filter(|(_, call)| !made_again(folds, call)) {
        let waited = summary.open_approvals.iter().any(|request| request.call.id == call.id);
        let outcome = if waited { NEVER_RAN } else { MAY_HAVE_RUN };
        let text = format!("`{}` was interrupted: Stepwell stopped {outcome}", call.name);
        let result = ToolResult::failure(call, ErrorClass::Interrupted, text);
        events.push(Event::Observation { result });
    }
    if let Some(half) = folds.model.half_answer() {
        events.push(Event::AnswerInterrupted {
            message_id: half.message_id.clone(),
            reason: InterruptReason::Crashed,
        });
    }
    if matches!(summary.state, TaskState::Running | TaskState::Waiting) {
        events.push(Event::StateChanged { state: TaskState::Paused });
    }
    events
}
