//! A run that is watched until its end: events are shown, interrupts and a program's words are passed on.

use std::collections::BTreeSet;
use std::sync::Arc;

use stepwell_agent::{Engine, Follower, Presence, Session};
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalId, Event, EventRecord, QuestionAnswer, QuestionId, RunEnd, Seq,
};
use stepwell_transcript::Transcript;

use super::Show;
use super::input::{Input, Said};
use crate::interrupts::Interrupts;
use crate::language::Language;
use crate::terminal;

pub struct Watch<'a> {
    pub engine: &'a Engine,
    pub session: &'a Session,
    pub language: Language,
    pub follower: Follower,
    pub interrupts: Interrupts,
    /// Who can answer approvals and questions, as long as its input is open.
    pub program: Option<(Input, Presence)>,
    /// Whether that program has closed its input.
    pub program_left: bool,
    pub transcript: Transcript,
    /// The last answer; not folded, because it may be long and is shown as it comes.
    pub answer: Option<Arc<EventRecord>>,
    pub seen: Seq,
    pub open: OpenRequests,
}

/// What waits for an answer.
#[derive(Default)]
pub struct OpenRequests {
    approvals: BTreeSet<ApprovalId>,
    questions: BTreeSet<QuestionId>,
}

impl Watch<'_> {
    /// Shows the run that is under way up to its end. The first interrupt cancels it and waits for what is kept; the
    /// second quits, which `None` says.
    pub async fn until_run_end(&mut self, show: &mut dyn Show) -> anyhow::Result<Option<RunEnd>> {
        let session = self.session;
        let mut interrupted = false;
        let mut ended = Box::pin(session.run_end());
        let end = loop {
            tokio::select! {
                biased;
                () = self.interrupts.next() => {
                    if interrupted {
                        return Ok(None);
                    }
                    interrupted = true;
                    let words = self.language.word("stopping; once more quits at once");
                    terminal::error_line(&format!("\n{words}"));
                    session.cancel();
                }
                record = self.follower.next() => match record? {
                    Some(record) => {
                        self.take(&record, show);
                        // Nobody reads the answer any more (`| head`): the work is not worth going on with.
                        if terminal::reader_is_gone() && !interrupted {
                            interrupted = true;
                            session.cancel();
                        }
                    }
                    None => break ended.await,
                },
                said = said(self.program.as_mut()) => match said {
                    Some(said) => self.carry_out(said).await,
                    None => self.leave(),
                },
                // Polled last: everything queued is shown before the end is looked at.
                end = &mut ended => break end,
            }
        };
        // Of a log that is read again, the last records may still be on their way.
        while self.seen < session.last_seq() {
            let Some(record) = self.follower.next().await? else { break };
            self.take(&record, show);
        }
        Ok(Some(end.unwrap_or(RunEnd::Cancelled)))
    }

    /// Waits for the message that starts the next run; `false` when none will come.
    pub async fn next_message(&mut self, show: &mut dyn Show) -> anyhow::Result<bool> {
        loop {
            tokio::select! {
                biased;
                () = self.interrupts.next() => return Ok(false),
                record = self.follower.next() => match record? {
                    Some(record) => self.take(&record, show),
                    None => return Ok(false),
                },
                said = said(self.program.as_mut()) => {
                    match said {
                        None => {
                            self.leave();
                            return Ok(false);
                        }
                        Some(Said::Interrupt) => {}
                        Some(said) => self.carry_out(said).await,
                    }
                    if self.session.is_running() {
                        return Ok(true);
                    }
                }
            }
        }
    }

    /// Closes the task and shows what was still on its way.
    pub async fn finish(&mut self, show: &mut dyn Show) -> anyhow::Result<()> {
        self.engine.end_session(&self.session.task).await;
        while let Some(record) = self.follower.next().await? {
            self.take(&record, show);
        }
        Ok(())
    }

    async fn carry_out(&mut self, said: Said) {
        let done = self.engine.submit(said.command(self.session.task.clone())).await;
        if let (Err(error), Some((input, _))) = (done, &self.program) {
            input.refuse(&error.to_string());
        }
    }

    /// The program has closed its input: nobody can answer from here on, and what waits is not kept waiting.
    fn leave(&mut self) {
        self.program = None;
        self.program_left = true;
        for approval in std::mem::take(&mut self.open.approvals) {
            let answer =
                ApprovalAnswer::no(Some("the program that could approve has closed its input".into()));
            // It may have been decided a moment ago.
            self.session.answer_approval(&approval, answer).ok();
        }
        for question in std::mem::take(&mut self.open.questions) {
            let answer = QuestionAnswer::new(None, None, AnsweredBy::Nobody);
            self.session.answer_question(&question, answer).ok();
        }
    }

    fn take(&mut self, record: &Arc<EventRecord>, show: &mut dyn Show) {
        self.seen = self.seen.max(record.seq);
        match &record.event {
            Event::Answer { .. } => self.answer = Some(Arc::clone(record)),
            Event::Token { .. } | Event::ReasoningToken { .. } | Event::PartialAnswer { .. } => {}
            event => {
                self.open.follow(event);
                self.transcript.apply(record);
            }
        }
        show.event(record, &self.transcript);
        // It was asked for at the moment when the program left.
        if self.program_left {
            self.leave();
        }
    }
}

impl OpenRequests {
    fn follow(&mut self, event: &Event) {
        match event {
            Event::ApprovalRequested { request } => {
                self.approvals.insert(request.id.clone());
            }
            Event::ApprovalResolved { id, .. } => {
                self.approvals.remove(id);
            }
            Event::QuestionAsked { question } => {
                self.questions.insert(question.id.clone());
            }
            Event::QuestionAnswered { id, .. } => {
                self.questions.remove(id);
            }
            _ => {}
        }
    }
}

/// What the program says next; waits for ever where there is none.
async fn said(program: Option<&mut (Input, Presence)>) -> Option<Said> {
    match program {
        Some((input, _)) => input.next().await,
        None => std::future::pending().await,
    }
}
