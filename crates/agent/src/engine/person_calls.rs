//! Tool calls made by a person from a front end, such as a debugger step or a code search. They pass the executor like the
//! model's calls; the person's confirmation takes the place of an approval.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, ArtifactId, CommandReply, Event,
    Question, QuestionAnswer, TaskId, TodoItem, ToolCall, ToolCallId,
};
use stepwell_tool_runtime::{
    CallEnv, CallSetup, Host, HostError, LoopGuard, LoopLimits, RuleJudge, WorkspaceServices,
};
use stepwell_workspace::files;
use tokio_util::sync::CancellationToken;

use super::Engine;
use crate::error::Result;

/// A call as a front end sends it.
pub(crate) struct PersonCall {
    pub workspace: String,
    pub task: Option<TaskId>,
    pub name: String,
    pub arguments: Value,
    pub confirmed: bool,
}

impl Engine {
    /// Runs a tool for the person. A call that would ask is not run before it is confirmed.
    pub(crate) async fn call_tool(
        &self,
        call: PersonCall,
        cancel: CancellationToken,
    ) -> Result<CommandReply> {
        let workspace = self.workspace(Path::new(&call.workspace)).await?;
        let host = Arc::new(PersonHost {
            engine: self.clone(),
            services: Arc::clone(&workspace.services),
            confirmed: call.confirmed,
            asked: Mutex::default(),
            folder: OnceLock::new(),
        });
        let task = call.task.unwrap_or_else(TaskId::generate);
        let setup = CallSetup {
            task,
            host: Arc::clone(&host) as Arc<dyn Host>,
            cancel,
            permission_mode: workspace.policy.judge.mode,
            permission: Arc::new(RuleJudge::new(workspace.policy.judge)),
            loop_guard: Arc::new(LoopGuard::new(LoopLimits::OFF)),
            hooks: workspace.policy.hooks,
            transcript_path: PathBuf::new(),
            tools: Arc::default(),
        };
        let env = CallEnv::new(Arc::clone(&workspace.services), setup);
        let call =
            ToolCall { id: ToolCallId::generate(), name: call.name, arguments: call.arguments, opaque: None };
        let outcome = workspace.services.executor.execute(&call, &env).await;
        if let Some(request) = host.asked.lock().take() {
            return Ok(CommandReply::NeedsConfirmation { request });
        }
        Ok(CommandReply::Tool { outcome: Box::new(outcome.result), output: outcome.output })
    }

    /// Shows what happens in a workspace to the followers of all its tasks.
    pub(crate) fn show_in_workspace(&self, services: &Arc<WorkspaceServices>, event: &Event) {
        let sessions: Vec<_> = {
            let sessions = self.inner.sessions.lock();
            sessions.values().filter_map(|cell| cell.get().cloned()).collect()
        };
        for session in sessions {
            if session.services().is_some_and(|held| Arc::ptr_eq(&held, services)) {
                session.show(event.clone());
            }
        }
    }
}

/// Whether an event is about the workspace and not about one task.
pub(crate) fn is_about_workspace(event: &Event) -> bool {
    matches!(event, Event::DebugSession { .. } | Event::BackgroundCommand { .. })
}

/// The host of a call that the person makes.
struct PersonHost {
    engine: Engine,
    services: Arc<WorkspaceServices>,
    confirmed: bool,
    /// What would have been asked.
    asked: Mutex<Option<Box<ApprovalRequest>>>,
    /// Made when the call first asks for it.
    folder: OnceLock<PathBuf>,
}

#[async_trait]
impl Host for PersonHost {
    async fn approve(&self, request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource) {
        if self.confirmed {
            return (ApprovalAnswer::yes(), ApprovalSource::Person);
        }
        *self.asked.lock() = Some(Box::new(request));
        let reason = "the person has to confirm it first".to_owned();
        (ApprovalAnswer::no(Some(reason)), ApprovalSource::Policy)
    }

    async fn ask(&self, question: Question) -> QuestionAnswer {
        QuestionAnswer::new(question.default_option, None, AnsweredBy::Nobody)
    }

    fn show(&self, event: Event) {
        // The result is shown whole at the end.
        if is_about_workspace(&event) {
            self.engine.show_in_workspace(&self.services, &event);
        }
    }

    async fn record(&self, _event: Event) -> std::result::Result<(), HostError> {
        // No log holds what the person does beside the task.
        Ok(())
    }

    fn todo(&self) -> Vec<TodoItem> {
        Vec::new()
    }

    async fn artifact_dir(&self) -> std::result::Result<PathBuf, HostError> {
        let name = format!("stepwell-{}-{}", std::process::id(), ArtifactId::generate());
        let folder = self.folder.get_or_init(|| std::env::temp_dir().join(name)).clone();
        files::create_private_dir(&folder).map_err(|error| HostError(error.to_string()))?;
        Ok(folder)
    }

    fn artifact_added(&self, _artifact: &Artifact) {
        // What is shown is bounded; the rest goes with the call.
    }

    fn complete(&self, _result: String) {
        // There is no run to end.
    }
}

impl Drop for PersonHost {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.get() {
            // What cannot be removed is in the folder for temporary files.
            files::remove_dir_all(folder).ok();
        }
    }
}
