//! What a person decides about a plan, from any front end and at any time.

use std::sync::Arc;

use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, Event, Message, Plan, PlanDecision, PlanFault, PlanStatus, QuestionAnswer,
    StepStatus, TaskId,
};

use super::document::DocumentStep;
use super::keeper::{Keeper, is_title, with_steps};
use super::merge::merge;
use super::report::in_words;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::session::Session;

impl Engine {
    pub(crate) async fn decide_plan(&self, task: &TaskId, decision: PlanDecision) -> Result<()> {
        let session = self.open(task).await?;
        let keeper = Keeper { session: &session };
        if keeper.plan().is_none() {
            let hint = Some("begin one with `stepwell run --mode plan`".into());
            return Err(Error::Plan { message: format!("task `{task}` has no plan"), hint });
        }
        match decision {
            PlanDecision::Approve if answer_request(&session, ApprovalAnswer::yes()) => Ok(()),
            PlanDecision::Approve => keeper.approve().await,
            PlanDecision::Reject { reason } => keeper.reject(reason).await,
            PlanDecision::Edit { plan } => keeper.edit(&plan).await,
            PlanDecision::RetryStep if answer_question(&session, "retry") => Ok(()),
            PlanDecision::RetryStep => keeper.retry_step().await,
            PlanDecision::SkipStep if answer_question(&session, "skip") => Ok(()),
            PlanDecision::SkipStep => keeper.skip_step().await,
            PlanDecision::Stop if answer_question(&session, "stop") => Ok(()),
            PlanDecision::Stop => {
                keeper.stop().await?;
                answer_request(&session, ApprovalAnswer::no(Some("the plan was stopped".into())));
                // The loop looks at this before its next request.
                session.request_pause();
                Ok(())
            }
        }
    }
}

/// Answers the open request to approve the plan, where there is one.
fn answer_request(session: &Arc<Session>, answer: ApprovalAnswer) -> bool {
    let request = session.plan.request.lock().clone();
    request.is_some_and(|id| session.answer_approval(&id, answer).is_ok())
}

fn answer_question(session: &Arc<Session>, option: &str) -> bool {
    let question = session.plan.question.lock().clone();
    let answer = QuestionAnswer::new(Some(option.into()), None, AnsweredBy::Person);
    question.is_some_and(|id| session.answer_question(&id, answer).is_ok())
}

impl Keeper<'_> {
    async fn reject(&self, reason: Option<String>) -> Result<()> {
        if answer_request(self.session, ApprovalAnswer::no(reason.clone())) {
            return Ok(());
        }
        let _changing = self.session.plan.changing.lock().await;
        match self.plan().map(|plan| plan.status) {
            Some(PlanStatus::Draft) => {}
            // Nothing was done yet, so it can still be taken back.
            Some(PlanStatus::Approved) => self.back_to_draft().await?,
            _ => {
                let message = "the plan is being carried out or has ended; it can be stopped, not rejected";
                return Err(Error::Plan { message: message.into(), hint: None });
            }
        }
        let reason = reason.unwrap_or_else(|| "no reason was given".into());
        let message = Message::user(format!("I do not approve the plan: {reason}"));
        self.session.record(vec![Event::MessageQueued { message }]).await
    }

    /// Replaces the steps that are not done.
    async fn edit(&self, wanted: &Plan) -> Result<()> {
        let _changing = self.session.plan.changing.lock().await;
        let faults = self.sync_locked().await?;
        if !faults.is_empty() {
            return Err(faulty(&faults, "the plan document was edited and has faults"));
        }
        let Some(known) = self.known() else { return Ok(()) };
        if matches!(known.plan.status, PlanStatus::Completed | PlanStatus::Failed) {
            let message = "the plan has ended and cannot be changed any more".to_owned();
            return Err(Error::Plan { message, hint: None });
        }
        let items: Vec<DocumentStep> = wanted.steps.iter().map(DocumentStep::of).collect();
        let faults: Vec<PlanFault> = wanted
            .steps
            .iter()
            .zip(&items)
            .filter(|(_, item)| item.description.is_empty() || item.expected.is_empty())
            .map(|(step, _)| PlanFault {
                line: step.id,
                message: "a step needs a description and an expected outcome".into(),
            })
            .collect();
        if !faults.is_empty() {
            return Err(faulty(&faults, "the plan was not changed"));
        }
        let merged = merge(&known.plan, &items);
        let mut plan = with_steps(&known.plan, &known.document, &merged);
        if is_title(wanted.goal.trim()) {
            wanted.goal.trim().clone_into(&mut plan.goal);
        }
        // What a document cannot say in these words would come back as something else.
        let text = known.document.titled(&plan.goal).render(&plan);
        let document = super::document::Document::parse(&text)
            .map_err(|faults| faulty(&faults, "the plan was not changed; its document would have faults"))?;
        let again = merge(&plan, &document.steps);
        if again.steps != plan.steps {
            let message =
                "the plan was not changed: a step holds lines that look like parts of a plan document, such \
                           as `Expected:`"
                    .to_owned();
            return Err(Error::Plan { message, hint: Some("write them in one line".into()) });
        }
        let skipped = merged.skipped.iter().map(|step| Event::StepComplete {
            step: *step,
            result: "left out by the person".into(),
            status: StepStatus::Skipped,
            evidence: None,
        });
        let skipped: Vec<Event> = skipped.collect();
        self.replace(plan, text).await?;
        if skipped.is_empty() { Ok(()) } else { self.record(skipped).await }
    }
}

fn faulty(faults: &[PlanFault], what: &str) -> Error {
    Error::Plan { message: format!("{what}: {}", in_words(faults)), hint: None }
}
