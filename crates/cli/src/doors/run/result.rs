//! What a run came to.

use std::sync::Arc;
use std::time::Duration;

use stepwell_protocol::{ApprovalSource, Event, EventRecord, RunEnd, TaskId, Usage};
use stepwell_transcript::{Entry, Transcript};

use super::schema::{AnswerSchema, FittingAnswer};
use super::watch::Watch;
use crate::exit::Exit;
use crate::needed::Needed;

pub struct RunResult {
    pub task: TaskId,
    /// The number people call the task by; absent where it is not kept.
    pub number: Option<u32>,
    pub end: RunEnd,
    /// The record of the answer, where there is one.
    answer: Option<Arc<EventRecord>>,
    /// Whether the answer fits the schema it must fit, where there is one.
    pub fit: Option<Result<FittingAnswer, Vec<String>>>,
    pub exit: Exit,
    pub turns: u64,
    pub usage: Usage,
    /// Calls that were refused because nobody approved them, in words.
    pub refused: Vec<String>,
    /// What would have let all of them pass.
    pub needed: Needed,
    pub duration: Duration,
}

impl RunResult {
    pub fn of(
        watch: &Watch<'_>,
        end: RunEnd,
        schema: Option<&AnswerSchema>,
        number: Option<u32>,
        duration: Duration,
    ) -> Self {
        let (refused, needed) = refusals(&watch.transcript);
        let answer = watch.answer.clone().filter(|_| end == RunEnd::Answered);
        let fit = match (schema, text_of(answer.as_deref())) {
            (Some(schema), Some(text)) => Some(schema.check(text)),
            _ => None,
        };
        let exit = match fit {
            Some(Err(_)) => Exit::Unfit,
            _ => Exit::of_run(&end, !refused.is_empty()),
        };
        let totals = &watch.transcript.summary.totals;
        Self {
            task: watch.session.task.clone(),
            number,
            end,
            answer,
            fit,
            exit,
            turns: totals.requests,
            usage: totals.usage,
            refused,
            needed,
            duration,
        }
    }

    /// The text of the answer; none where it had to fit a schema and does not.
    pub fn answer(&self) -> Option<&str> {
        match &self.fit {
            Some(Ok(fitting)) => Some(&fitting.text),
            Some(Err(_)) => None,
            None => text_of(self.answer.as_deref()),
        }
    }

    /// What is wrong with an answer that does not fit.
    pub fn misfit(&self) -> Option<&[String]> {
        self.fit.as_ref()?.as_ref().err().map(Vec::as_slice)
    }
}

/// The words of an answer.
pub fn text_of(answer: Option<&EventRecord>) -> Option<&str> {
    match &answer?.event {
        Event::Answer { content, .. } => Some(content),
        _ => None,
    }
}

/// What the policy refused, in words, and what would have let it pass.
fn refusals(transcript: &Transcript) -> (Vec<String>, Needed) {
    let mut needed = Needed::default();
    let mut refused = Vec::new();
    for item in transcript.items() {
        if let Entry::Approval { request, resolved: Some((answer, source)) } = &item.entry
            && matches!(source, ApprovalSource::Policy | ApprovalSource::Timeout)
            && !answer.is_yes()
        {
            needed.add(request);
            refused.push(request.preview.summary.clone());
        }
    }
    (refused, needed)
}
