//! A plan as front ends ask for it. Nothing is changed, so it works for a task that is open elsewhere too.

use stepwell_protocol::{PlanFault, PlanView, TaskId};
use stepwell_store::Home;
use stepwell_transcript::TaskSummary;

use super::keeper::{Keeper, Known, read_edit, read_file};
use crate::engine::Engine;
use crate::error::{Result, broken};

impl Engine {
    /// Takes in what the person changed in the plan document of a task. Faults are given back and change nothing.
    pub async fn read_plan_document(&self, task: &TaskId) -> Result<Vec<PlanFault>> {
        let session = self.open(task).await?;
        Keeper { session: &session }.sync().await
    }

    pub(crate) async fn plan_view(&self, task: &TaskId) -> Result<Option<PlanView>> {
        let (home, task) = (self.home().clone(), task.clone());
        // A task that is open here is folded already.
        let open = self.session(&task).ok();
        let known = open.map(|session| {
            session.read_summary(|summary| (summary.plan.clone(), summary.plan_document.clone()))
        });
        let read = move || -> Result<Option<PlanView>> {
            let (plan, document) = if let Some(known) = known {
                known
            } else {
                let summary = TaskSummary::of(&stepwell_store::read_log(&home, &task)?);
                (summary.plan, summary.plan_document)
            };
            plan.map(|plan| view(&home, &task, &Known::of(plan, &document))).transpose()
        };
        tokio::task::spawn_blocking(read).await.map_err(broken)?
    }
}

fn view(home: &Home, task: &TaskId, known: &Known) -> Result<PlanView> {
    let path = home.plan_path(task)?;
    let rendered = known.text();
    let (document, faults) = match read_file(&path)? {
        Ok(None) => (rendered.clone(), Vec::new()),
        Ok(Some(text)) => {
            let faults = read_edit(known, &text).err().unwrap_or_default();
            (text, faults)
        }
        Err(fault) => (rendered.clone(), vec![fault]),
    };
    Ok(PlanView {
        plan: known.plan.clone(),
        path: path.display().to_string(),
        edited: document != rendered || !faults.is_empty(),
        document,
        faults,
    })
}
