//! The state of the workspace is kept before a call that may change it.

use stepwell_protocol::{Risk, ToolCall};

use super::{CallEnv, Executor, Outcome, notify};
use crate::checkpoints::{AfterCall, CheckpointCall, CheckpointReach};
use crate::permission::CallFacts;
use crate::{Category, ToolError, checkpoints};

impl Executor {
    /// Keeps the state where the call may change something. A state that cannot be kept is not changed.
    pub(super) async fn checkpoint(
        &self,
        call: &ToolCall,
        env: &CallEnv,
        facts: &CallFacts,
    ) -> Result<Option<Box<dyn AfterCall>>, Box<Outcome>> {
        let (Some(checkpoints), Some(reach)) = (&env.services.checkpoints, reach(facts)) else {
            return Ok(None);
        };
        let kept = checkpoints
            .before(CheckpointCall {
                task: env.task.clone(),
                call_id: call.id.clone(),
                tool: facts.tool.clone(),
                summary: env.redactor.redact(&facts.preview.summary).into_owned(),
                reach,
            })
            .await;
        match kept {
            Ok(checkpoints::Kept { notices, after }) => {
                notify(env, &notices).await;
                Ok(after)
            }
            Err(reason) => {
                let message =
                    format!("the call did not run, because its effects could not be undone: {reason}");
                Err(Box::new(Outcome::failed(call, ToolError::execution(message))))
            }
        }
    }

    pub(super) async fn after_checkpoint(&self, env: &CallEnv, after: Option<Box<dyn AfterCall>>) {
        let Some(after) = after else { return };
        let changes = after.done().await;
        if let Some(event) = changes.event {
            // The journal of the checkpoints has it in any case.
            env.host.record(event).await.ok();
        }
        notify(env, &changes.notices).await;
    }
}

/// What a call may change; nothing for one that only reads.
fn reach(facts: &CallFacts) -> Option<CheckpointReach> {
    // What a sub-task changes is kept call by call.
    if matches!(facts.category, Category::Subtasks | Category::Modes) {
        return None;
    }
    match facts.risk {
        Risk::Control | Risk::Read | Risk::Network => None,
        Risk::Write => Some(CheckpointReach::Paths(facts.preview.paths.clone())),
        Risk::Execute => match &facts.command {
            Some(command) if command.is_read_only() => None,
            _ => Some(CheckpointReach::Anything),
        },
    }
}
