//! Running a tool: time limit, cancel, panics, retries.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use stepwell_protocol::{ErrorClass, Event};
use tokio::time::Instant;

use super::Executor;
use crate::erased::{DynOutput, DynPlan};
use crate::registry::RegisteredTool;
use crate::retry::wait;
use crate::{ToolContext, ToolError};

/// Why a run was told to end.
#[derive(Clone, Copy)]
enum Stopped {
    Cancelled,
    Late,
}

impl Executor {
    pub(super) async fn run_with_retries(
        &self,
        tool: &Arc<RegisteredTool>,
        ctx: &ToolContext,
        plan: DynPlan,
    ) -> Result<DynOutput, ToolError> {
        let policy = &self.options.retry;
        let mut attempt = 0;
        loop {
            // Each attempt has its own token: the one of an attempt that ran late is spent.
            let attempt_ctx = ToolContext { cancel: ctx.cancel.child_token(), ..ctx.clone() };
            let error = match self.run_once(tool, &attempt_ctx, plan.clone()).await {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            let limit = policy.limit(error.class, tool.spec().risk);
            attempt += 1;
            if attempt > limit {
                return Err(error);
            }
            let delay = policy.random_delay(attempt);
            ctx.host.show(Event::Retrying {
                attempt,
                limit,
                delay_ms: delay.as_millis() as u64,
                reason: format!("{}: {}", tool.name(), error.message),
            });
            if !wait(delay, &ctx.cancel).await {
                return Err(error);
            }
        }
    }

    async fn run_once(
        &self,
        tool: &RegisteredTool,
        ctx: &ToolContext,
        plan: DynPlan,
    ) -> Result<DynOutput, ToolError> {
        // A cancel during hooks, preview or approval: the tool must not even begin.
        if ctx.cancel.is_cancelled() {
            return Err(ToolError::interrupted("the call was cancelled before it ran"));
        }
        let limit = tool.spec().time_limit;
        // A panic is a bug of the tool and must not end the task, nor the other tasks of the process.
        let run = AssertUnwindSafe(tool.tool().run(ctx, plan)).catch_unwind();
        tokio::pin!(run);
        let stopped = tokio::select! {
            biased;
            ran = &mut run => return said(tool, ran),
            () = ctx.cancel.cancelled() => Stopped::Cancelled,
            () = passed(limit) => Stopped::Late,
        };
        ctx.cancel.cancel();
        let cleaned_up = tokio::time::timeout(self.options.grace, &mut run).await;
        match (cleaned_up.map(|ran| said(tool, ran)), stopped) {
            (Ok(Ok(output)), _) => Ok(output),
            (Ok(Err(error)), Stopped::Late) if error.class == ErrorClass::Interrupted => {
                Err(late(tool, limit, Some(&error.message)))
            }
            (Ok(Err(error)), _) => Err(error),
            (Err(_), Stopped::Late) => Err(late(tool, limit, None)),
            (Err(_), Stopped::Cancelled) => Err(ToolError::interrupted(format!(
                "`{}` was cancelled; it may have had effects",
                tool.name()
            ))),
        }
    }
}

pub(super) fn late(tool: &RegisteredTool, limit: Duration, so_far: Option<&str>) -> ToolError {
    let mut message = format!("`{}` was stopped at its time limit of {} s", tool.name(), limit.as_secs_f64());
    if let Some(so_far) = so_far {
        message.push('\n');
        message.push_str(so_far);
    }
    ToolError::new(ErrorClass::TimeoutError, message)
}

fn said(
    tool: &RegisteredTool,
    ran: Result<Result<DynOutput, ToolError>, Box<dyn std::any::Any + Send>>,
) -> Result<DynOutput, ToolError> {
    ran.unwrap_or_else(|panic| {
        let words = panic
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        Err(ToolError::execution(format!("the tool `{}` broke, which is a bug in it: {words}", tool.name())))
    })
}

/// Ends when the time has passed; never for a time that does not fit the clock.
pub(super) fn passed(limit: Duration) -> impl Future<Output = ()> {
    let deadline = Instant::now().checked_add(limit);
    async move {
        match deadline {
            Some(deadline) => {
                tokio::time::timeout_at(deadline, std::future::pending::<()>()).await.unwrap_or_default();
            }
            None => std::future::pending().await,
        }
    }
}
