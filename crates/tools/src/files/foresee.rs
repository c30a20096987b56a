//! What the person is shown before an editing tool runs: the changes it would make.

use stepwell_protocol::Preview;
use stepwell_tool_runtime::{ToolContext, ToolError};

use super::desk::{Caller, Change, Desk};
use super::report;

/// A call as it was asked for: shown where its changes cannot be planned.
pub struct Asked {
    pub summary: String,
    pub diff: Option<String>,
    pub paths: Vec<String>,
}

/// The changes a call would make.
pub struct Foreseen {
    pub changes: Vec<Change>,
    /// Where more can be said than was asked for.
    pub summary: Option<String>,
}

impl From<Vec<Change>> for Foreseen {
    fn from(changes: Vec<Change>) -> Self {
        Self { changes, summary: None }
    }
}

impl Desk {
    /// Plans the changes of a call in the background. One that cannot be made is shown as it was asked for; running
    /// it tells what is wrong.
    pub async fn foresee<F: Into<Foreseen>>(
        &self,
        ctx: &ToolContext,
        asked: Asked,
        plan: impl FnOnce(&Self, &Caller) -> Result<F, ToolError> + Send + 'static,
    ) -> Preview {
        let caller = Caller::of(ctx);
        let summary = asked.summary.clone();
        let planned = self.in_background(move |desk| {
            let Foreseen { changes, summary: better } = plan(desk, &caller)?.into();
            Ok(report::preview(better.unwrap_or(summary), &caller.redactor, desk, &changes))
        });
        planned.await.unwrap_or_else(|_| Preview {
            summary: asked.summary,
            diff: asked.diff,
            paths: self.named(asked.paths),
            ..Preview::default()
        })
    }
}
