//! The overview of the code that a task begins with. It is made beside the first request and given with the first turn
//! that finds it ready, so a large folder never delays an answer.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use stepwell_protocol::Message;
use stepwell_tool_runtime::{CallEnv, WorkspaceServices};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// An overview that is being made. Dropping it stops the work.
pub struct PendingOverview {
    work: Option<AbortOnDropHandle<Option<String>>>,
    patience: Duration,
}

impl PendingOverview {
    /// Starts the work, unless the history has environment details already.
    pub fn start(
        services: &Arc<WorkspaceServices>,
        history: &[Arc<Message>],
        cancel: &CancellationToken,
    ) -> Self {
        let is_given =
            history.iter().any(|message| message.parts.iter().any(stepwell_protocol::Part::is_surroundings));
        let work = (!is_given).then(|| {
            let (services, cancel) = (Arc::clone(services), cancel.clone());
            AbortOnDropHandle::new(tokio::spawn(async move { services.lookup.overview(&cancel).await }))
        });
        Self { work, patience: services.lookup.overview_patience() }
    }

    /// Waits as long as the settings say, and returns the overview if it is ready then.
    pub async fn with_first_message(&mut self, env: &CallEnv) -> Option<String> {
        let work = self.work.as_mut()?;
        let overview = if self.patience.is_zero() {
            work.now_or_never()?
        } else {
            tokio::time::timeout(self.patience, work).await.ok()?
        };
        self.work = None;
        overview.ok().flatten().map(|text| env.redactor.redact(&text).into_owned())
    }

    /// Returns the overview once, if it is ready now.
    pub fn if_ready(&mut self, env: &CallEnv) -> Option<String> {
        let overview = self.work.as_mut()?.now_or_never()?;
        self.work = None;
        overview.ok().flatten().map(|text| env.redactor.redact(&text).into_owned())
    }
}
