//! What the plan tools ask for: begin a plan, write it, end a step.

use stepwell_protocol::{Event, Plan, PlanId, PlanStatus, StepStatus, Timestamp};
use stepwell_tool_runtime::{HostError, PlanReply, PlanRequest, PlanUpdate, UpdatedPart};

use super::approve::Proposal;
use super::document::{Document, file_sections};
use super::keeper::{Keeper, Known, is_title, with_steps};
use super::merge::merge;
use super::report::{edited, in_words, listing, planning};
use super::state::PlanEnd;
use super::{LONGEST_TITLE, SHORTEST_TITLE};
use crate::error::Result;
use crate::host::SessionHost;

fn refused(message: impl Into<String>) -> HostError {
    HostError(message.into())
}

fn failed(error: crate::error::Error) -> HostError {
    HostError(error.to_string())
}

impl SessionHost {
    /// Carries out what a plan tool asks for.
    pub(crate) async fn plan_request(
        &self,
        request: PlanRequest,
    ) -> std::result::Result<PlanReply, HostError> {
        let keeper = Keeper { session: &self.session };
        let text = match request {
            PlanRequest::Enter { title, description } => keeper.enter(&title, description.as_deref()).await?,
            PlanRequest::Update(update) => keeper.update(update).await?,
            PlanRequest::Exit { call_id, plan_id, approve, summary } => {
                keeper.draft(plan_id.as_ref())?;
                if approve {
                    match self.propose(call_id, summary).await.map_err(failed)? {
                        Proposal::Approved { words } => approved_words(words.as_deref()),
                        Proposal::Rejected { reason } => return Err(refused(rejected_words(&reason))),
                        Proposal::Faulty { faults } => return Err(refused(faults)),
                        Proposal::Waits => {
                            "The plan waits for the user's approval; the work ends here.".into()
                        }
                    }
                } else {
                    self.session.plan.end_run(PlanEnd::Kept);
                    "The plan is kept as a draft; the work ends here.".into()
                }
            }
            PlanRequest::EndStep { status, result, evidence } => {
                keeper.end_step(status, result, evidence).await?
            }
        };
        let plan = keeper.plan().ok_or_else(|| refused("there is no plan"))?;
        let document = keeper.path().map_err(failed)?;
        Ok(PlanReply { plan, document, text })
    }
}

pub fn approved_words(words: Option<&str>) -> String {
    match words {
        Some(words) => format!("The user approved the plan and says: {words}\nThe first step is told next."),
        None => "The user approved the plan. The first step is told next.".into(),
    }
}

pub fn rejected_words(reason: &str) -> String {
    format!("the user did not approve the plan: {reason}. Change the plan accordingly and ask again")
}

impl Keeper<'_> {
    /// The plan, if it is being made.
    fn draft(&self, id: Option<&PlanId>) -> std::result::Result<Known, HostError> {
        let known =
            self.known().ok_or_else(|| refused("there is no plan; begin one with a title (plan_enter)"))?;
        if let Some(id) = id.filter(|id| **id != known.plan.id) {
            return Err(refused(format!(
                "there is no plan `{id}`; the plan of this task is `{}`",
                known.plan.id
            )));
        }
        match known.plan.status {
            PlanStatus::Draft => Ok(known),
            PlanStatus::Approved | PlanStatus::Executing => Err(refused(
                "the plan is approved and is being carried out; to change it, go back to planning (plan_enter), and \
                 the user will be asked again",
            )),
            PlanStatus::Completed | PlanStatus::Failed => {
                Err(refused("the plan has ended; begin a new one (plan_enter)"))
            }
        }
    }

    /// Begins a plan for what the person asked.
    pub async fn begin(&self, title: &str) -> Result<()> {
        let goal: String = title.chars().take(LONGEST_TITLE).collect();
        let goal = if is_title(&goal) { goal } else { "What the user asked for".into() };
        let _changing = self.session.plan.changing.lock().await;
        self.new_plan(goal, None).await
    }

    /// Goes to planning from wherever the task is.
    pub async fn begin_again(&self) -> Result<()> {
        let _changing = self.session.plan.changing.lock().await;
        match self.plan() {
            Some(plan) if plan.status == PlanStatus::Draft => Ok(()),
            Some(plan) if plan.is_under_way() => self.back_to_draft().await,
            _ => {
                let title = self.session.read_summary(|summary| summary.display_title().to_owned());
                let goal = if is_title(&title) { title } else { "What the user asked for".into() };
                self.new_plan(goal, None).await
            }
        }
    }

    async fn new_plan(&self, goal: String, description: Option<&str>) -> Result<()> {
        let now = Timestamp::now();
        let document = Document::new(&goal, description);
        let plan = Plan {
            id: PlanId::generate(),
            goal,
            steps: Vec::new(),
            status: PlanStatus::Draft,
            explored_files: Vec::new(),
            critical_files: Vec::new(),
            created_at: now,
            updated_at: now,
        };
        let text = document.render(&plan);
        self.replace(plan, text).await
    }

    async fn enter(&self, title: &str, description: Option<&str>) -> std::result::Result<String, HostError> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if !is_title(&title) {
            let message = format!("the title of a plan has {SHORTEST_TITLE} to {LONGEST_TITLE} characters");
            return Err(refused(message));
        }
        let _changing = self.session.plan.changing.lock().await;
        self.sync_locked().await.map_err(failed)?;
        match self.known() {
            Some(known) if known.plan.status == PlanStatus::Draft && known.plan.steps.is_empty() => {
                let plan = Plan { goal: title.clone(), ..known.plan };
                let text = Document::new(&title, description).render(&plan);
                self.replace(plan, text).await.map_err(failed)?;
            }
            Some(known) if known.plan.status == PlanStatus::Draft => {
                let plan = known.plan;
                let message = format!("the plan `{}` is being made already: {}", plan.id, plan.goal);
                return Err(refused(format!("{message}; write it with plan_update")));
            }
            Some(known) if known.plan.is_under_way() => self.back_to_draft().await.map_err(failed)?,
            _ => self.new_plan(title, description).await.map_err(failed)?,
        }
        let plan = self.plan().ok_or_else(|| refused("the plan could not be begun"))?;
        let path = self.path().map_err(failed)?;
        Ok(planning(&plan, &path.display().to_string()))
    }

    /// Goes back to planning with everything that is done.
    pub async fn back_to_draft(&self) -> Result<()> {
        let Some(mut plan) = self.plan() else { return Ok(()) };
        for step in &mut plan.steps {
            if matches!(step.status, StepStatus::Running | StepStatus::Failed) {
                step.status = StepStatus::Pending;
            }
        }
        plan.status = PlanStatus::Draft;
        plan.updated_at = Timestamp::now();
        self.record(vec![Event::Plan { plan, document: None }]).await
    }

    async fn update(&self, update: PlanUpdate) -> std::result::Result<String, HostError> {
        let _changing = self.session.plan.changing.lock().await;
        let before = self.plan();
        let faults = self.sync_locked().await.map_err(failed)?;
        if let (Some(before), Some(now)) = (before, self.plan())
            && before.steps != now.steps
        {
            return Err(refused(format!(
                "the plan was not changed. {}\nKeep what the user wants and write it again",
                edited(&now)
            )));
        }
        if !faults.is_empty() && update.part != UpdatedPart::Whole {
            let faults = in_words(&faults);
            return Err(refused(format!("the user's document has faults: {faults}; replace it as a whole")));
        }
        let known = self.draft(update.plan_id.as_ref())?;
        let mut plan = known.plan.clone();
        if !update.explored_files.is_empty() {
            plan.explored_files = update.explored_files;
        }
        if !update.critical_files.is_empty() {
            plan.critical_files = update.critical_files;
        }
        let mut text = known.text();
        if let Some(content) = update.content.filter(|content| !content.trim().is_empty()) {
            text = match update.part {
                UpdatedPart::Whole => whole(&known, &content),
                UpdatedPart::End => Document::appended(&text, &content),
                UpdatedPart::Section(name) => Document::with_section(&text, &name, &content),
            };
        }
        for (name, list) in file_sections(&plan) {
            text = Document::with_section(&text, name, &list);
        }
        let document = Document::parse(&text).map_err(|faults| {
            refused(format!("the plan was not changed; it would have faults: {}", in_words(&faults)))
        })?;
        let merged = merge(&plan, &document.steps);
        let plan = with_steps(&plan, &document, &merged);
        let text = document.render(&plan);
        self.replace(plan.clone(), text).await.map_err(failed)?;
        Ok(match plan.steps.len() {
            0 => "The plan is written. It has no steps yet: add a section `## Steps`.".into(),
            _ => format!("The plan `{}` has these steps:\n{}", plan.id, listing(&plan)),
        })
    }

    /// Ends the step that is under way. A completed one needs evidence.
    pub async fn end_step(
        &self,
        status: StepStatus,
        result: String,
        evidence: Option<String>,
    ) -> std::result::Result<String, HostError> {
        let _changing = self.session.plan.changing.lock().await;
        let plan = self.plan().filter(Plan::is_under_way);
        let plan = plan.ok_or_else(|| refused("no plan is being carried out"))?;
        let Some(step) = plan.step(StepStatus::Running) else {
            return Err(refused("no step is under way; the next one is told to you"));
        };
        let evidence = evidence.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if status == StepStatus::Completed && evidence.is_none() {
            return Err(refused(format!(
                "step {} is not ended: say how its expected outcome was checked, and what was seen",
                step.id
            )));
        }
        let step = step.id;
        self.record(vec![Event::StepComplete { step, result, status, evidence }]).await.map_err(failed)?;
        Ok(match status {
            StepStatus::Failed => {
                format!("Step {step} is recorded as failed. The user decides what follows.")
            }
            _ => format!("Step {step} of {} is complete.", plan.steps.len()),
        })
    }
}

/// A document that a writer gives as a whole, with a title where it has none.
fn whole(known: &Known, content: &str) -> String {
    let has_title = Document::parse(content).is_ok_and(|document| document.goal.is_some())
        || content.lines().any(|line| line.starts_with("# "));
    if has_title {
        return content.to_owned();
    }
    let title = Document::new(&known.plan.goal, None);
    format!("{}\n{content}", title.render(&Plan { steps: Vec::new(), ..known.plan.clone() }))
}
