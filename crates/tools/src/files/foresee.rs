//! What the person is shown before an editing tool runs: the changes it would make.

use std::collections::VecDeque;

use parking_lot::Mutex;
use stepwell_protocol::{Preview, TaskId, ToolCallId};
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

type Key = (TaskId, ToolCallId);

/// The files that calls were shown to change, before they were judged and what they hold was kept.
#[derive(Debug, Default)]
pub struct ShownPaths {
    calls: Mutex<VecDeque<(Key, Vec<String>)>>,
}

impl ShownPaths {
    fn forget(&self, key: &Key) {
        self.calls.lock().retain(|(other, _)| other != key);
    }

    fn keep(&self, key: Key, paths: Vec<String>) {
        const MOST: usize = 64;
        let mut calls = self.calls.lock();
        if calls.len() >= MOST {
            calls.pop_front();
        }
        calls.push_back((key, paths));
    }

    /// Refuses changes of files that the call did not name and that were not shown: which files an edit by structure
    /// changes may become another matter while it is judged.
    pub fn check(&self, desk: &Desk, key: &Key, changes: &[Change]) -> Result<(), ToolError> {
        let calls = self.calls.lock();
        let shown = calls.iter().find(|(other, _)| other == key).map(|(_, paths)| paths.as_slice());
        let strange = desk.paths(changes).into_iter().find(|path| !shown.unwrap_or_default().contains(path));
        match strange {
            None => Ok(()),
            Some(path) => Err(ToolError::execution(format!(
                "the code was changed by someone else while this call was judged, and it would change `{path}` too \
                 now; nothing was changed; call again"
            ))),
        }
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
        let key = (ctx.task.clone(), ctx.call_id.clone());
        self.shown.forget(&key);
        let planned = self.in_background(move |desk| {
            let Foreseen { changes, summary: better } = plan(desk, &caller)?.into();
            let preview = report::preview(better.unwrap_or(summary), &caller.redactor, desk, &changes);
            desk.shown.keep(key, preview.paths.clone());
            Ok(preview)
        });
        planned.await.unwrap_or_else(|_| Preview {
            summary: asked.summary,
            diff: asked.diff,
            paths: self.named(asked.paths),
            ..Preview::default()
        })
    }
}
