//! A plan in the loop: which step comes next, what an answer means for it, and what happens when one fails.

use stepwell_protocol::{
    AgentState, AnsweredBy, DecisionKind, ErrorKind, ErrorReport, Event, MessageId, Plan, PlanStatus,
    PlanStep, Question, QuestionId, QuestionKind, QuestionOption, RunEnd, StepStatus, Timestamp, ToolCallId,
};
use stepwell_tool_runtime::Host;

use super::approve::Proposal;
use super::keeper::Keeper;
use super::report::{edited, listing, planning, step as step_words};
use super::requests::{approved_words, rejected_words};
use super::state::PlanEnd;
use crate::error::{Error, Result};
use crate::react::Run;
use crate::turn::Turn as Answer;

/// How often the model is reminded to write steps, or to say how an outcome was checked.
const REMINDERS: u32 = 2;

/// Whether the turn that follows is the first of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    First,
    Later,
}

impl Run {
    fn keeper(&self) -> Keeper<'_> {
        Keeper { session: &self.session }
    }

    /// What the agent does while the model answers.
    pub(crate) fn thinking_state(&self) -> AgentState {
        match self.keeper().plan() {
            Some(plan) if plan.status == PlanStatus::Draft => AgentState::Planning,
            Some(plan) if plan.is_under_way() => match plan.step(StepStatus::Running) {
                Some(step) => AgentState::Executing {
                    step: step.id,
                    total: u32::try_from(plan.steps.len()).unwrap_or(u32::MAX),
                },
                None => AgentState::Thinking,
            },
            _ => AgentState::Thinking,
        }
    }

    /// Brings the plan forward before a turn: takes in edits, starts the next step, asks about a failed one. Ends the run
    /// where the plan cannot go on.
    pub(crate) async fn advance_plan(&self, turn: Turn) -> Result<Option<RunEnd>> {
        let end = self.session.plan.take_end();
        if turn == Turn::Later
            && let Some(end) = end
        {
            return self.end_with_plan(end).await.map(Some);
        }
        let keeper = self.keeper();
        let Some(plan) = keeper.plan() else { return Ok(None) };
        match plan.status {
            PlanStatus::Draft => {
                keeper.sync().await?;
                let now = keeper.plan().unwrap_or_else(|| plan.clone());
                if turn == Turn::First {
                    self.session.plan.forget_reminders();
                    let path = keeper.path()?.display().to_string();
                    self.tell(planning(&now, &path)).await?;
                } else if now != plan {
                    self.tell(edited(&now)).await?;
                }
                Ok(None)
            }
            PlanStatus::Approved | PlanStatus::Executing => self.advance_steps(plan, turn).await,
            PlanStatus::Completed | PlanStatus::Failed => Ok(None),
        }
    }

    async fn advance_steps(&self, plan: Plan, turn: Turn) -> Result<Option<RunEnd>> {
        let keeper = self.keeper();
        if let Some(step) = plan.step(StepStatus::Running) {
            if turn == Turn::First {
                self.tell(step_words(&plan, step)).await?;
            }
            return Ok(None);
        }
        keeper.sync().await?;
        let Some(plan) = keeper.plan() else { return Ok(None) };
        if let Some(step) = plan.step(StepStatus::Failed).cloned() {
            // Who goes on with a task whose step failed wants it tried again.
            let decision = match turn {
                Turn::First => FailedStep::Retry,
                Turn::Later => self.ask_about(&plan, &step).await,
            };
            if let Some(end) = self.after_failure(&step, decision).await? {
                return Ok(Some(end));
            }
            if keeper.plan().is_some_and(|plan| plan.status == PlanStatus::Draft) {
                return Ok(None);
            }
        }
        self.next_step().await?;
        Ok(None)
    }

    /// Starts the next step, or ends the plan after its last.
    async fn next_step(&self) -> Result<()> {
        let keeper = self.keeper();
        let _changing = self.session.plan.changing.lock().await;
        let Some(mut plan) = keeper.plan().filter(Plan::is_under_way) else { return Ok(()) };
        plan.updated_at = Timestamp::now();
        self.session.plan.forget_reminders();
        let next = plan.steps.iter_mut().find(|step| step.status == StepStatus::Pending);
        let text = if let Some(step) = next {
            step.status = StepStatus::Running;
            step.result = None;
            let step = step.clone();
            plan.status = PlanStatus::Executing;
            step_words(&plan, &step)
        } else {
            plan.status = PlanStatus::Completed;
            format!(
                "Every step of the plan is done:\n{}\n\nAnswer with what was done, what was seen, and what remains.",
                listing(&plan)
            )
        };
        let message_id = MessageId::generate();
        keeper
            .record(vec![
                Event::Plan { plan, document: None },
                Event::EnvironmentDetails { message_id, text },
            ])
            .await
    }

    /// Whether an answer without calls belongs to the plan.
    pub(crate) fn answers_plan(&self) -> bool {
        self.keeper().plan().is_some_and(|plan| {
            plan.status == PlanStatus::Draft
                || plan.is_under_way() && plan.step(StepStatus::Running).is_some()
        })
    }

    /// Takes an answer as a proposal of the plan, or as the end of a step. `None` where the run goes on.
    pub(crate) async fn plan_answered(&self, text: String, turn: Option<Answer>) -> Result<Option<RunEnd>> {
        let Some(plan) = self.keeper().plan() else { return Ok(None) };
        if plan.status != PlanStatus::Draft {
            return self.step_answered(&plan, text, turn).await;
        }
        let is_empty = plan.steps.iter().all(|step| step.status.is_done());
        if is_empty && self.session.plan.remind() >= REMINDERS - 1 {
            return self.final_answer(text, turn).await.map(Some);
        }
        self.record_answer(turn).await?;
        if is_empty {
            self.tell(
                "The plan has no steps yet. Write them with the planning tools, then ask for approval. If there is \
                 nothing to plan, answer again and the work ends here."
                    .into(),
            )
            .await?;
            return Ok(None);
        }
        match self.host.propose(ToolCallId::generate(), Some(text)).await? {
            Proposal::Approved { words } => self.tell(approved_words(words.as_deref())).await?,
            Proposal::Rejected { reason } => self.tell(rejected_words(&reason)).await?,
            Proposal::Faulty { faults } => {
                if self.session.plan.remind() >= REMINDERS {
                    self.session.plan.end_run(PlanEnd::Waits);
                }
                self.tell(faults).await?;
            }
            Proposal::Waits => {}
        }
        Ok(None)
    }

    /// Keeps an answer that is not the last.
    async fn record_answer(&self, turn: Option<Answer>) -> Result<()> {
        match turn {
            Some(turn) => self.record_thought(turn).await,
            None => Ok(()),
        }
    }

    async fn final_answer(&self, text: String, turn: Option<Answer>) -> Result<RunEnd> {
        let books = turn.as_ref().map(|turn| self.books(turn)).unwrap_or_default();
        self.answer(books, turn, text).await
    }

    async fn step_answered(&self, plan: &Plan, text: String, turn: Option<Answer>) -> Result<Option<RunEnd>> {
        let ended = match StepAnswer::of(&text) {
            Some(answer) => answer,
            None if self.session.plan.remind() < REMINDERS => {
                let number = plan.step(StepStatus::Running).map_or(0, |step| step.id);
                self.record_answer(turn).await?;
                self.tell(format!(
                    "Step {number} is not ended. Say how its expected outcome was checked and what you saw, in a line \
                     `Checked: ...`; or why it failed, in a line `Failed: ...`."
                ))
                .await?;
                return Ok(None);
            }
            None => StepAnswer::Failed("nobody said how the expected outcome was checked".into()),
        };
        let (status, result, evidence) = match ended {
            StepAnswer::Checked { done, evidence } => (StepStatus::Completed, done, Some(evidence)),
            StepAnswer::Failed(reason) => (StepStatus::Failed, reason, None),
        };
        let keeper = self.keeper();
        // The person may have ended the plan meanwhile; then there is nothing to end.
        keeper.end_step(status, result, evidence).await.ok();
        let is_last = keeper.plan().is_some_and(|plan| plan.steps.iter().all(|step| step.status.is_done()));
        if is_last {
            // The document may have got further steps.
            keeper.sync().await?;
        }
        if !is_last || keeper.plan().is_some_and(|plan| plan.step(StepStatus::Pending).is_some()) {
            self.record_answer(turn).await?;
            return Ok(None);
        }
        self.finish_plan().await?;
        self.final_answer(text, turn).await.map(Some)
    }

    async fn finish_plan(&self) -> Result<()> {
        let keeper = self.keeper();
        let _changing = self.session.plan.changing.lock().await;
        let Some(mut plan) = keeper.plan().filter(Plan::is_under_way) else { return Ok(()) };
        plan.status = PlanStatus::Completed;
        plan.updated_at = Timestamp::now();
        keeper.record(vec![Event::Plan { plan, document: None }]).await
    }

    async fn ask_about(&self, plan: &Plan, step: &PlanStep) -> FailedStep {
        let option = |id: &str, label: &str| QuestionOption {
            id: id.into(),
            label: label.into(),
            ..QuestionOption::default()
        };
        let why = step.result.as_deref().unwrap_or("no reason was given");
        let question = Question {
            id: QuestionId::generate(),
            kind: QuestionKind::Decision(DecisionKind::Branch),
            text: format!("Step {} of {} failed: {}", step.id, plan.steps.len(), step.description),
            context: Some(why.to_owned()),
            options: vec![
                option("retry", "Try the step again"),
                option("skip", "Skip the step"),
                option("change", "Change the plan"),
                option("stop", "Stop the plan"),
            ],
            allow_custom: true,
            default_option: None,
            timeout_seconds: None,
            from: None,
        };
        *self.session.plan.question.lock() = Some(question.id.clone());
        let answer = self.host.ask(question).await;
        self.session.plan.question.lock().take();
        match (answer.option.as_deref(), answer.text) {
            (Some("retry"), _) => FailedStep::Retry,
            (Some("skip"), _) => FailedStep::Skip,
            (Some("change"), words) => FailedStep::Change(words),
            (Some("stop"), _) => FailedStep::Stop,
            (_, Some(words)) if answer.by == AnsweredBy::Person => FailedStep::Change(Some(words)),
            _ => FailedStep::NobodyAnswered,
        }
    }

    async fn after_failure(&self, step: &PlanStep, decision: FailedStep) -> Result<Option<RunEnd>> {
        let keeper = self.keeper();
        let number = self.session.number();
        let stopped = |kind: ErrorKind, message: String, hint: String| {
            Some(RunEnd::Stopped { error: ErrorReport { kind, message, hint: Some(hint) } })
        };
        let why = step.result.as_deref().unwrap_or("no reason was given");
        let failed = format!("step {} of the plan failed: {why}", step.id);
        match decision {
            FailedStep::Retry => keeper.retry_step().await?,
            FailedStep::Skip => keeper.skip_step().await?,
            FailedStep::Change(words) => {
                keeper.change_plan().await?;
                let path = keeper.path()?.display().to_string();
                let wish = words.map(|words| format!(": {words}")).unwrap_or_default();
                let plan = keeper.plan().map(|plan| planning(&plan, &path)).unwrap_or_default();
                self.tell(format!("The user wants the plan changed{wish}\n\n{plan}")).await?;
            }
            FailedStep::Stop => {
                keeper.stop().await?;
                let hint = format!("`stepwell plan show {number}` shows how far it came");
                return Ok(stopped(ErrorKind::StepFailed, failed, hint));
            }
            FailedStep::NobodyAnswered => {
                let hint = format!(
                    "try it again with `stepwell run --resume {number}`, skip it with `stepwell plan skip {number}`, or \
                     change the plan with `stepwell plan edit {number}`"
                );
                return Ok(stopped(ErrorKind::StepFailed, failed, hint));
            }
        }
        Ok(None)
    }

    async fn end_with_plan(&self, end: PlanEnd) -> Result<RunEnd> {
        let keeper = self.keeper();
        match end {
            PlanEnd::Kept => {
                let text = keeper.known().map(|known| known.text()).unwrap_or_default();
                self.answer(Vec::new(), None, text).await
            }
            PlanEnd::Waits => {
                let number = self.session.number();
                let goal = keeper.plan().map(|plan| plan.goal).unwrap_or_default();
                Ok(RunEnd::Stopped {
                    error: ErrorReport {
                        kind: ErrorKind::NeedsPerson,
                        message: format!("the plan \"{goal}\" waits for approval"),
                        hint: Some(format!(
                            "look at it with `stepwell plan show {number}`, then `stepwell plan approve {number}` and \
                             `stepwell run --resume {number}`"
                        )),
                    },
                })
            }
        }
    }

    /// What a run that stopped because of its plan leaves, in words.
    pub(crate) fn plan_progress(&self, error: &ErrorReport) -> Option<String> {
        let known = self.keeper().known()?;
        match error.kind {
            ErrorKind::NeedsPerson => Some(format!("{}\n\n{}", error.message, known.text())),
            ErrorKind::StepFailed => Some(format!("{}\n\n{}", error.message, listing(&known.plan))),
            _ => None,
        }
    }

    /// Tells the model something that nobody said.
    async fn tell(&self, text: String) -> Result<()> {
        let message_id = MessageId::generate();
        self.session.record(vec![Event::EnvironmentDetails { message_id, text }]).await
    }
}

/// What is done about a failed step.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FailedStep {
    Retry,
    Skip,
    Change(Option<String>),
    Stop,
    NobodyAnswered,
}

/// What an answer says about the step it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
enum StepAnswer {
    Checked { done: String, evidence: String },
    Failed(String),
}

impl StepAnswer {
    fn of(text: &str) -> Option<Self> {
        let labelled = |names: &[&str]| {
            text.lines().enumerate().find_map(|(index, line)| {
                let line = line.trim().trim_start_matches(['-', '*', '_', ' ', '#']);
                let rest = names.iter().find_map(|name| {
                    let start = line.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name))?;
                    let rest = line[start.len()..].trim_start_matches(['*', '_']);
                    rest.strip_prefix(':').or_else(|| rest.strip_prefix('：'))
                })?;
                let after: Vec<&str> = text.lines().skip(index + 1).collect();
                let value = format!("{}\n{}", rest.trim_start_matches(['*', ' ']), after.join("\n"));
                let before: Vec<&str> = text.lines().take(index).collect();
                let said = (before.join("\n").trim().to_owned(), value.trim().to_owned());
                Some(said).filter(|(_, value)| !value.is_empty())
            })
        };
        if let Some((_, reason)) = labelled(&["failed", "失败"]) {
            return Some(Self::Failed(reason));
        }
        let (done, evidence) = labelled(&["checked", "evidence", "验证", "证据"])?;
        let done = if done.is_empty() { evidence.clone() } else { done };
        Some(Self::Checked { done, evidence })
    }
}

impl Keeper<'_> {
    /// Goes back to planning because the person wants another plan.
    async fn change_plan(&self) -> Result<()> {
        let _changing = self.session.plan.changing.lock().await;
        self.back_to_draft().await
    }

    /// Makes a failed step one that is still to be done.
    pub async fn retry_step(&self) -> Result<()> {
        self.change_failed(StepStatus::Pending).await
    }

    /// Leaves out a failed step, or the next one while none runs.
    pub async fn skip_step(&self) -> Result<()> {
        self.change_failed(StepStatus::Skipped).await
    }

    async fn change_failed(&self, status: StepStatus) -> Result<()> {
        let _changing = self.session.plan.changing.lock().await;
        let no_plan = || Error::Plan {
            message: "no plan of this task is being carried out".into(),
            hint: Some("`stepwell plan show` tells how far it is".into()),
        };
        let mut plan = self.plan().filter(Plan::is_under_way).ok_or_else(no_plan)?;
        if let Some(step) = plan.step(StepStatus::Running) {
            let message = format!("step {} is running", step.id);
            let hint = Some("stop the run first, or edit the steps after it".into());
            return Err(Error::Plan { message, hint });
        }
        let may = |step: &&mut PlanStep| match status {
            StepStatus::Skipped => matches!(step.status, StepStatus::Failed | StepStatus::Pending),
            _ => step.status == StepStatus::Failed,
        };
        let Some(step) = plan.steps.iter_mut().find(may) else {
            let message = "no step of the plan has failed".to_owned();
            return Err(Error::Plan { message, hint: Some("`stepwell plan show` lists the steps".into()) });
        };
        let (number, why) = (step.id, step.result.clone());
        if status == StepStatus::Skipped {
            let why = why.map(|why| format!("; it had failed: {why}")).unwrap_or_default();
            let result = format!("left out by the person{why}");
            let event = Event::StepComplete { step: number, result, status, evidence: None };
            return self.record(vec![event]).await;
        }
        step.status = status;
        plan.updated_at = Timestamp::now();
        self.record(vec![Event::Plan { plan, document: None }]).await
    }

    /// Ends the plan where it is. What it forbade is allowed again.
    pub async fn stop(&self) -> Result<()> {
        let _changing = self.session.plan.changing.lock().await;
        let running = self.plan().filter(|plan| plan.is_under_way() || plan.status == PlanStatus::Draft);
        let Some(mut plan) = running else {
            let message = "this task has no plan that could be stopped".to_owned();
            return Err(Error::Plan { message, hint: None });
        };
        for step in plan.steps.iter_mut().filter(|step| step.status == StepStatus::Running) {
            step.status = StepStatus::Pending;
        }
        plan.status = PlanStatus::Failed;
        plan.updated_at = Timestamp::now();
        self.record(vec![Event::Plan { plan, document: None }]).await
    }
}
