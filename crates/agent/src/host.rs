//! What tools may ask of the task they run in: the session's side of [`Host`].

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{Engine, is_about_workspace};
use crate::error::Error;
use crate::plan::{Keeper, PLAN_MODE};
use crate::session::Session;
use async_trait::async_trait;
use stepwell_protocol::{
    AgentState, AnsweredBy, ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, ClarificationKind,
    ErrorReport, Event, Hypothesis, Question, QuestionAnswer, QuestionKind, SeenFile, TaskOrigin, TaskState,
    TodoItem, ToolCallId,
};
use stepwell_tool_runtime::{
    Host, HostError, PlanReply, PlanRequest, SubtaskCheck, SubtaskRequest, SubtaskResult, SubtaskWorker,
};
use tokio_util::sync::CancellationToken;

pub struct SessionHost {
    pub engine: Engine,
    pub session: Arc<Session>,
    /// The session whose followers are asked: that of the root of the tree where it is open.
    pub asked: Arc<Session>,
    /// Ends waits when the run is cancelled.
    pub cancel: CancellationToken,
    /// How long a person who is there is waited for.
    pub deadline: Duration,
}

#[async_trait]
impl Host for SessionHost {
    async fn approve(&self, mut request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource) {
        let (id, asked) = (request.id.clone(), &self.asked);
        request.from = self.origin();
        let answer = asked.await_approval(&id);
        let what = request.preview.summary.clone();
        if let Err(error) = asked.record(vec![Event::ApprovalRequested { request }]).await {
            // What cannot be recorded is not allowed.
            asked.forget_approval(&id);
            return (ApprovalAnswer::no(Some(error.to_string())), ApprovalSource::Policy);
        }
        // Who could answer is looked at now: a door may have come or gone since the run began.
        let (answer, source) = if asked.is_attended() {
            match self.wait(what, self.deadline, answer).await {
                Waited::Answered(answer) => (answer, ApprovalSource::Person),
                Waited::Nobody(reason) => (ApprovalAnswer::no(Some(reason)), ApprovalSource::Timeout),
            }
        } else {
            let reason = "the permission mode does not allow it by itself";
            (ApprovalAnswer::no(Some(reason.into())), ApprovalSource::Policy)
        };
        asked.forget_approval(&id);
        match asked.record(vec![Event::ApprovalResolved { id, answer: answer.clone(), source }]).await {
            Ok(()) => (answer, source),
            Err(error) => (ApprovalAnswer::no(Some(error.to_string())), ApprovalSource::Policy),
        }
    }

    async fn ask(&self, mut question: Question) -> QuestionAnswer {
        let (id, asked) = (question.id.clone(), &self.asked);
        question.from = self.origin();
        let answer = asked.await_answer(&id);
        let recorded = asked.record(vec![Event::QuestionAsked { question: question.clone() }]).await;
        let answer = match (recorded, asked.is_attended()) {
            (Err(_), _) => nobody(),
            (Ok(()), false) => by_policy(&question, AnsweredBy::Policy),
            (Ok(()), true) => {
                let deadline = question.timeout_seconds.map_or(self.deadline, Duration::from_secs);
                match self.wait(question.text.clone(), deadline, answer).await {
                    Waited::Answered(answer) => answer,
                    Waited::Nobody(_) => by_policy(&question, AnsweredBy::Timeout),
                }
            }
        };
        asked.forget_question(&id);
        match asked.record(vec![Event::QuestionAnswered { id, answer: answer.clone() }]).await {
            Ok(()) => answer,
            Err(_) => nobody(),
        }
    }

    fn show(&self, event: Event) {
        match self.session.services() {
            Some(services) if is_about_workspace(&event) => self.engine.show_in_workspace(&services, &event),
            _ => self.session.show(event),
        }
    }

    async fn record(&self, event: Event) -> Result<(), HostError> {
        self.session.record(vec![event]).await.map_err(|error| HostError(error.to_string()))
    }

    fn todo(&self) -> Vec<TodoItem> {
        self.session.read_summary(|summary| summary.todo.clone())
    }

    fn hypotheses(&self) -> Vec<Hypothesis> {
        self.session.read_summary(|summary| summary.hypotheses.clone())
    }

    fn seen_in_result(&self, text: &str) -> Option<ToolCallId> {
        self.session.seen_in_result(text)
    }

    fn seen(&self) -> Vec<SeenFile> {
        self.session.read_summary(|summary| summary.seen.clone())
    }

    async fn artifact_dir(&self) -> Result<PathBuf, HostError> {
        self.session.artifact_dir().map_err(|error| HostError(error.to_string()))
    }

    fn artifact_added(&self, _artifact: &Artifact) {
        // The observation that follows names it; nothing else is kept about it.
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanReply, HostError> {
        self.plan_request(request).await
    }

    async fn switch_mode(&self, mode: &str, reason: Option<String>) -> Result<(), HostError> {
        let modes = self.session.modes();
        if mode == PLAN_MODE && modes.get(mode).is_none() {
            let keeper = Keeper { session: &self.session };
            return keeper.begin_again().await.map_err(|error| HostError(error.to_string()));
        }
        let Some(wanted) = modes.get(mode) else {
            return Err(HostError(format!("there is no mode `{mode}`; known: {}", modes.names())));
        };
        let (mode, model) = (wanted.slug.clone(), wanted.model.clone());
        self.session.change_mode(mode, model, reason).await.map_err(|error| HostError(error.to_string()))
    }

    fn check_subtask(&self, call_id: &ToolCallId, worker: &SubtaskWorker) -> Result<SubtaskCheck, HostError> {
        self.engine.check_subtask(&self.session, call_id, worker).map_err(told)
    }

    async fn run_subtask(&self, request: SubtaskRequest) -> Result<SubtaskResult, HostError> {
        self.engine.run_subtask(&self.session, request, &self.cancel).await.map_err(told)
    }

    fn complete(&self, result: String) {
        self.session.complete(result);
    }
}

enum Waited<T> {
    Answered(T),
    Nobody(String),
}

impl SessionHost {
    /// Who asks, where it is not the task whose followers are asked.
    fn origin(&self) -> Option<TaskOrigin> {
        (self.asked.task != self.session.task).then(|| self.session.origin())
    }

    /// Waits for the person, until the deadline or the end of the run.
    async fn wait<T>(
        &self,
        what: String,
        deadline: Duration,
        answer: tokio::sync::oneshot::Receiver<T>,
    ) -> Waited<T> {
        self.session.set_state(TaskState::Waiting).await.ok();
        self.session.show(Event::AgentStateChanged { state: AgentState::Waiting { reason: what } });
        let waited = tokio::select! {
            () = self.cancel.cancelled() => Waited::Nobody("the run was cancelled".into()),
            answer = tokio::time::timeout(deadline, answer) => match answer {
                Ok(Ok(answer)) => Waited::Answered(answer),
                Ok(Err(_)) => Waited::Nobody("the request was withdrawn".into()),
                Err(_) => Waited::Nobody(format!("nobody answered within {} s", deadline.as_secs())),
            },
        };
        self.session.set_state(TaskState::Running).await.ok();
        waited
    }
}

/// An error of the engine, for the model.
fn told(error: Error) -> HostError {
    let ErrorReport { message, hint, .. } = error.report();
    HostError(hint.map_or(message.clone(), |hint| format!("{message} ({hint})")))
}

fn nobody() -> QuestionAnswer {
    QuestionAnswer::new(None, None, AnsweredBy::Nobody)
}

/// The safe outcome where nobody answers: the declared default; for a clarification also the recommended
/// option. A risk or a confirmation without a default is never assumed.
fn by_policy(question: &Question, by: AnsweredBy) -> QuestionAnswer {
    let recommended =
        || question.options.iter().find(|option| option.recommended).map(|option| option.id.clone());
    let may_assume =
        matches!(question.kind, QuestionKind::Clarification(kind) if kind != ClarificationKind::Prerequisite);
    let option = question.default_option.clone().or_else(|| may_assume.then(recommended).flatten());
    match option {
        Some(option) => QuestionAnswer::new(Some(option), None, by),
        None => nobody(),
    }
}
