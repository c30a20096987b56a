//! The calls of one turn: reading ones side by side, all others in order.

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use stepwell_protocol::{Risk, ToolCall};
use tokio::task::AbortHandle;

use super::{CallEnv, Executor, Outcome};
use crate::ToolError;

impl Executor {
    /// Runs calls and gives their outcomes in the order of the calls. Neighbouring read-only calls run side by
    /// side; a cancel gives every call that did not run an interrupted result.
    pub async fn execute_batch(&self, calls: &[ToolCall], env: &CallEnv) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(calls.len());
        let mut rest = calls;
        while let [first, after @ ..] = rest {
            let together = rest.iter().take_while(|call| self.may_run_beside(call)).count();
            if together > 1 {
                let (group, after) = rest.split_at(together);
                outcomes.extend(self.execute_together(group, env).await);
                rest = after;
            } else {
                outcomes.push(self.execute(first, env).await);
                rest = after;
            }
        }
        outcomes
    }

    /// Whether a call may run beside its neighbours.
    pub fn may_run_beside(&self, call: &ToolCall) -> bool {
        let tool = self.registry.get(&call.name);
        tool.is_some_and(|tool| tool.spec().risk == Risk::Read || tool.tool().runs_side_by_side())
    }

    async fn execute_together(&self, calls: &[ToolCall], env: &CallEnv) -> Vec<Outcome> {
        let mut outcomes: Vec<Option<Outcome>> = vec![None; calls.len()];
        let mut waiting = calls.iter().enumerate();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < self.options.parallel_reads.max(1) {
                let Some((index, call)) = waiting.next() else { break };
                let (executor, call, env) = (self.clone(), call.clone(), env.clone());
                // Own tasks, so that one that reads a large file does not hold up the others.
                let task = tokio::spawn(async move { executor.execute(&call, &env).await });
                let guard = AbortOnDrop(task.abort_handle());
                running.push(async move {
                    let outcome = task.await;
                    drop(guard);
                    (index, outcome)
                });
            }
            let Some((index, outcome)) = running.next().await else { break };
            if let (Some(slot), Ok(outcome)) = (outcomes.get_mut(index), outcome) {
                *slot = Some(outcome);
            }
        }
        let unfinished =
            |call| Outcome::failed(call, ToolError::execution("the call ended without a result"));
        outcomes
            .into_iter()
            .zip(calls)
            .map(|(outcome, call)| outcome.unwrap_or_else(|| unfinished(call)))
            .collect()
    }
}

/// Ends a call's task when nobody waits for it any more.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
