//! `debug_watch`: who writes a variable.

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::Result;
use stepwell_debug::ids::{FrameId, SessionId};
use stepwell_debug::watch::Write;
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::ToolContext;

use super::answer::Success;
use super::debug_tool;
use super::service::{DebugService, RUN_WAIT};

/// Goes on from the stop and tells every write to a variable or field: where, old and new value, the stack.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct WatchInput {
    /// Of the stopped frame, such as `total` or `self.balance`.
    expression: String,
    frame_id: Option<FrameId>,
    /// 10 by default.
    max_writes: Option<usize>,
    session_id: Option<SessionId>,
    timeout: Option<f64>,
}

debug_tool!(
    DebugWatch,
    "debug_watch",
    &[],
    WatchInput => Success<WatchBody>,
    Risk::Execute,
    debug_watch,
    preview_watch
);

/// The writes to a variable.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WatchBody {
    session_id: SessionId,
    /// By a watchpoint of the debugger, or by stepping.
    how: &'static str,
    first_value: String,
    /// One line each: where, the old and the new value, the callers.
    writes: Vec<String>,
    ended: String,
}

impl DebugService {
    fn preview_watch(&self, _: &str, input: &WatchInput) -> Preview {
        Preview { summary: format!("Watch who writes `{}`", input.expression), ..Preview::default() }
    }

    async fn debug_watch(&self, ctx: &ToolContext, input: WatchInput) -> Result<Success<WatchBody>> {
        let wait = Self::wait(ctx, input.timeout, RUN_WAIT);
        let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_ref()).await?;
        let most = input.max_writes.unwrap_or(10).clamp(1, 200);
        let watched = self.debugger.watch_writes(&session, frame, &input.expression, most, &wait).await?;
        let root = self.workspace.root();
        Ok(Success::new(WatchBody {
            session_id: session.id.clone(),
            how: watched.how,
            first_value: watched.first,
            writes: watched.writes.iter().map(|write| write_line(write, root)).collect(),
            ended: watched.ended,
        }))
    }
}

/// Formats one write.
fn write_line(write: &Write, root: &Path) -> String {
    let path = Path::new(&write.file);
    let path = path.strip_prefix(root).unwrap_or(path);
    format!(
        "{}:{} in {}: {} -> {}  [{}]{}",
        path.display(),
        write.line,
        write.function,
        write.old,
        write.new,
        write.source,
        if write.callers.is_empty() {
            String::new()
        } else {
            format!("  called by {}", write.callers.join(" < "))
        }
    )
}
