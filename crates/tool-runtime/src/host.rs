//! What a running tool may ask of the task it runs in.

use std::path::PathBuf;

use async_trait::async_trait;
use stepwell_protocol::{
    ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, Event, Hypothesis, Question, QuestionAnswer,
    SeenFile, TodoItem, ToolCallId,
};

use crate::{
    PlanReply, PlanRequest, SampleAnswer, SampleRequest, SubtaskCheck, SubtaskRequest, SubtaskResult,
    SubtaskWorker,
};

/// The task's side of a tool call: the person, the log, the artifacts. One implementation is the agent's
/// session; another answers `stepwell tool call`; tests have their own.
#[async_trait]
pub trait Host: Send + Sync {
    /// Asks the person, or the declared policy where nobody is there. Never waits for nobody.
    async fn approve(&self, request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource);

    async fn ask(&self, question: Question) -> QuestionAnswer;

    /// Shows a transient event to whoever is looking.
    fn show(&self, event: Event);

    /// Puts a durable event into the task's log; on the disk when it returns where the event requires it.
    async fn record(&self, event: Event) -> Result<(), HostError>;

    fn todo(&self) -> Vec<TodoItem>;

    /// The hypotheses of the task.
    fn hypotheses(&self) -> Vec<Hypothesis> {
        Vec::new()
    }

    /// The newest call of the task whose result holds this text.
    fn seen_in_result(&self, _text: &str) -> Option<ToolCallId> {
        None
    }

    /// What the task last saw of files before this program started; nothing where there is no log.
    fn seen(&self) -> Vec<SeenFile> {
        Vec::new()
    }

    /// Where whole outputs are kept. The folder exists when this returns.
    async fn artifact_dir(&self) -> Result<PathBuf, HostError>;

    /// Notes an artifact that was written to [`Host::artifact_dir`].
    fn artifact_added(&self, artifact: &Artifact);

    /// Begins, changes or ends the plan of the task.
    async fn plan(&self, _request: PlanRequest) -> Result<PlanReply, HostError> {
        Err(HostError("there is no task here that could have a plan".into()))
    }

    /// Works in another mode from the next turn on.
    async fn switch_mode(&self, mode: &str, _reason: Option<String>) -> Result<(), HostError> {
        Err(HostError(format!("there is no task here that could switch to `{mode}`")))
    }

    /// Says whether a call could start a sub-task, and what that may do beyond this task.
    fn check_subtask(
        &self,
        _call_id: &ToolCallId,
        _worker: &SubtaskWorker,
    ) -> Result<SubtaskCheck, HostError> {
        Err(HostError("there is no task here that could start another".into()))
    }

    /// Starts a sub-task and waits for its end. It ends with the call that waits for it.
    async fn run_subtask(&self, _request: SubtaskRequest) -> Result<SubtaskResult, HostError> {
        Err(HostError("there is no task here that could start another".into()))
    }

    /// Asks the model of the task; its budget pays.
    async fn sample(&self, _request: SampleRequest) -> Result<SampleAnswer, HostError> {
        Err(HostError("there is no task here whose model could be asked".into()))
    }

    /// The model says the task is done with this result; the run ends after this turn.
    fn complete(&self, result: String);
}

#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct HostError(pub String);
