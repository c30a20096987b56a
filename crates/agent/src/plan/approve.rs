//! Asking for the approval of a plan.

use serde_json::json;
use stepwell_protocol::{
    ApprovalId, ApprovalRequest, ApprovalSource, Event, PermissionMode, Plan, PlanStatus, Preview, Risk,
    StepStatus, Timestamp, ToolCall, ToolCallId,
};
use stepwell_tool_runtime::Host;

use super::keeper::Keeper;
use super::report::in_words;
use super::state::{PlanApproval, PlanEnd};
use crate::error::{Error, Result};
use crate::host::SessionHost;

/// The call that a request to approve a plan names, also where an answer asked for it.
const CALL: &str = "plan_exit";

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    Approved {
        /// What the person wants minded.
        words: Option<String>,
    },
    Rejected {
        reason: String,
    },
    /// The plan or its document cannot be approved as it is.
    Faulty {
        faults: String,
    },
    /// Nobody answered; the run ends.
    Waits,
}

impl SessionHost {
    /// Asks for the approval of the plan, as the run's policy says.
    pub(crate) async fn propose(&self, call_id: ToolCallId, summary: Option<String>) -> Result<Proposal> {
        let keeper = Keeper { session: &self.session };
        let state = &self.session.plan;
        if let Some(faults) = keeper.faults().await? {
            return Ok(Proposal::Faulty { faults });
        }
        let Some(plan) = keeper.plan() else { return Ok(Proposal::Waits) };
        let by_policy = match state.approval() {
            PlanApproval::Keep => {
                state.end_run(PlanEnd::Kept);
                return Ok(Proposal::Waits);
            }
            PlanApproval::Approve => true,
            PlanApproval::Ask => self.session.permission_mode() == PermissionMode::BypassPermissions,
        };
        if by_policy {
            let text = "the plan was approved by the policy of this run".to_owned();
            self.session.record(vec![Event::Notice { text }]).await?;
            return keeper.approve_or_tell(None).await;
        }
        if !self.session.is_attended() {
            state.end_run(PlanEnd::Waits);
            return Ok(Proposal::Waits);
        }
        let request = self.approval_request(&plan, call_id, summary)?;
        *state.request.lock() = Some(request.id.clone());
        let (answer, source) = self.approve(request).await;
        state.request.lock().take();
        match (answer.is_yes(), source) {
            (true, _) => keeper.approve_or_tell(answer.reason).await,
            (false, ApprovalSource::Person)
                if keeper.plan().is_some_and(|plan| plan.status != PlanStatus::Draft) =>
            {
                // The plan was dropped while it was asked about.
                Ok(Proposal::Rejected { reason: "the plan was stopped".into() })
            }
            (false, ApprovalSource::Person) => {
                let reason = answer.reason.unwrap_or_else(|| "no reason was given".into());
                Ok(Proposal::Rejected { reason })
            }
            (false, _) => {
                state.end_run(PlanEnd::Waits);
                Ok(Proposal::Waits)
            }
        }
    }

    fn approval_request(
        &self,
        plan: &Plan,
        call_id: ToolCallId,
        summary: Option<String>,
    ) -> Result<ApprovalRequest> {
        let path = self.session.plan_path()?.display().to_string();
        let steps = plan.steps.iter().filter(|step| !step.status.is_done()).count();
        let arguments = json!({ "plan_id": plan.id, "summary": summary });
        Ok(ApprovalRequest {
            id: ApprovalId::generate(),
            call: ToolCall { id: call_id, name: CALL.into(), arguments, opaque: None },
            risk: Risk::Execute,
            reason: "nothing is changed before the plan is approved".into(),
            preview: Preview {
                summary: format!("Carry out the plan \"{}\" ({steps} steps)", plan.goal),
                paths: vec![path],
                ..Preview::default()
            },
            grant: None,
            from: None,
        })
    }
}

impl Keeper<'_> {
    /// Why the plan cannot be approved as it is.
    async fn faults(&self) -> Result<Option<String>> {
        if self.plan().is_none_or(|plan| plan.status != PlanStatus::Draft) {
            return Ok(Some("there is no plan that waits for approval".into()));
        }
        let faults = self.sync().await?;
        if !faults.is_empty() {
            return Ok(Some(format!("the plan document has faults: {}", in_words(&faults))));
        }
        let is_empty = self.plan().is_none_or(|plan| plan.step(StepStatus::Pending).is_none());
        Ok(is_empty.then(|| "the plan has no steps to carry out; write them first".to_owned()))
    }

    /// Approves the plan as its document has it now.
    pub async fn approve(&self) -> Result<()> {
        match self.approve_or_tell(None).await? {
            Proposal::Faulty { faults } => Err(Error::Plan {
                message: faults,
                hint: Some(
                    "`stepwell plan show` tells how far it is, `stepwell plan edit` opens its document"
                        .into(),
                ),
            }),
            _ => Ok(()),
        }
    }

    async fn approve_or_tell(&self, words: Option<String>) -> Result<Proposal> {
        // The person may have edited the document while it was asked about.
        if let Some(faults) = self.faults().await? {
            return Ok(Proposal::Faulty { faults });
        }
        let _changing = self.session.plan.changing.lock().await;
        let Some(mut plan) = self.plan().filter(|plan| plan.status == PlanStatus::Draft) else {
            return Ok(Proposal::Faulty { faults: "the plan was dropped meanwhile".into() });
        };
        plan.status = PlanStatus::Approved;
        plan.updated_at = Timestamp::now();
        let mut events = vec![Event::Plan { plan, document: None }];
        // Who approves a plan wants it carried out, which the mode that only reads would not allow.
        if self.session.permission_mode() == PermissionMode::Plan {
            let permission_mode = PermissionMode::Default;
            events.push(Event::PermissionModeChanged { permission_mode });
            self.session.set_permission_mode(permission_mode);
        }
        self.record(events).await?;
        Ok(Proposal::Approved { words })
    }
}
