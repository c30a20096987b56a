//! Keeps a plan, its log and its document together.
//!
//! Marks go to the log first and then to the document: a document that is behind only has older marks. New texts go to the
//! document first and then to the log: after a crash between the two they are found there like an edit of the person's.
//! Either way nothing is lost.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_protocol::{Event, Plan, PlanFault, StepStatus, Timestamp};
use stepwell_workspace::files::{self, Privacy};

use super::document::{Document, LONGEST_DOCUMENT};
use super::merge::{Merged, merge};
use super::report::{moved, restored, unusable};
use super::{LONGEST_TITLE, SHORTEST_TITLE};
use crate::error::{Result, broken};
use crate::session::Session;

/// The plan of a task and its document.
pub struct Keeper<'a> {
    pub session: &'a Arc<Session>,
}

/// A plan as the log has it, with the prose of its document.
pub struct Known {
    pub plan: Plan,
    pub document: Document,
}

impl Known {
    pub fn of(plan: Plan, text: &str) -> Self {
        // What the log has was taken apart before it was recorded.
        let document = Document::parse(text).unwrap_or_else(|_| Document::new(&plan.goal, None));
        Self { plan, document }
    }

    pub fn text(&self) -> String {
        self.document.render(&self.plan)
    }
}

impl Keeper<'_> {
    pub fn plan(&self) -> Option<Plan> {
        self.session.read_summary(|summary| summary.plan.clone())
    }

    pub fn known(&self) -> Option<Known> {
        self.session.read_summary(|summary| {
            let plan = summary.plan.clone()?;
            Some(Known::of(plan, &summary.plan_document))
        })
    }

    pub fn path(&self) -> Result<PathBuf> {
        self.session.plan_path()
    }

    /// Merges the person's edits of the document into the plan. Returns the faults of a document that cannot be used; the
    /// plan then stays as it was.
    pub async fn sync(&self) -> Result<Vec<PlanFault>> {
        let _changing = self.session.plan.changing.lock().await;
        self.sync_locked().await
    }

    /// The same, for a caller that holds the plan.
    pub async fn sync_locked(&self) -> Result<Vec<PlanFault>> {
        let Some(known) = self.known() else { return Ok(Vec::new()) };
        let rendered = known.text();
        let text = match self.read().await? {
            Ok(Some(text)) => text,
            Ok(None) => {
                self.write(None, rendered).await?;
                return Ok(Vec::new());
            }
            Err(fault) => return self.faulty("", vec![fault]).await,
        };
        if text == rendered {
            return Ok(Vec::new());
        }
        match read_edit(&known, &text) {
            Ok(edited) => {
                self.take_in(known, edited, text).await?;
                Ok(Vec::new())
            }
            Err(faults) => self.faulty(&text, faults).await,
        }
    }

    async fn faulty(&self, text: &str, faults: Vec<PlanFault>) -> Result<Vec<PlanFault>> {
        if self.session.plan.is_new_fault(text) {
            let notice = unusable(&faults);
            self.session.record(vec![Event::Notice { text: notice }]).await?;
        }
        Ok(faults)
    }

    async fn take_in(&self, known: Known, edited: Document, text: String) -> Result<()> {
        let merged = merge(&known.plan, &edited.steps);
        let mut events: Vec<Event> = Vec::new();
        let plan = with_steps(&known.plan, &edited, &merged);
        let is_new = plan != known.plan || !edited.has_prose_of(&known.document);
        if is_new {
            let plan = Plan { updated_at: Timestamp::now(), ..plan };
            let document = Some(edited.render(&plan));
            events.push(Event::Plan { plan, document });
        }
        events.extend(restored(&merged.restored).map(|text| Event::Notice { text }));
        events.extend(moved(&merged.moved).map(|text| Event::Notice { text }));
        events.extend(merged.skipped.iter().map(|step| Event::StepComplete {
            step: *step,
            result: "marked in the plan document".into(),
            status: StepStatus::Skipped,
            evidence: None,
        }));
        if !events.is_empty() {
            self.session.record(events).await?;
        }
        let Some(plan) = self.plan() else { return Ok(()) };
        self.write(Some(text), edited.render(&plan)).await
    }

    /// Records events that change only how far the plan is, and marks the document.
    pub async fn record(&self, events: Vec<Event>) -> Result<()> {
        let before = self.known().map(|known| known.text());
        self.session.record(events).await?;
        let Some(known) = self.known() else { return Ok(()) };
        self.write(before, known.text()).await
    }

    /// Writes a document of new texts and records its plan.
    pub async fn replace(&self, plan: Plan, text: String) -> Result<()> {
        let path = self.path()?;
        let content = text.clone();
        tokio::task::spawn_blocking(move || write_file(&path, &content)).await.map_err(broken)??;
        let plan = Plan { updated_at: Timestamp::now(), ..plan };
        self.session.record(vec![Event::Plan { plan, document: Some(text) }]).await
    }

    /// What stands in the document now.
    pub async fn read(&self) -> Result<std::result::Result<Option<String>, PlanFault>> {
        let path = self.path()?;
        tokio::task::spawn_blocking(move || read_file(&path)).await.map_err(broken)?
    }

    /// Writes the document, unless it holds something else than `before`: then the person has just edited it.
    async fn write(&self, before: Option<String>, text: String) -> Result<()> {
        let path = self.path()?;
        let write = move || match (read_file(&path)?, before) {
            (Ok(None), _) => write_file(&path, &text),
            (Ok(Some(found)), Some(before)) if found == before && found != text => write_file(&path, &text),
            _ => Ok(()),
        };
        tokio::task::spawn_blocking(write).await.map_err(broken)?
    }
}

/// Takes an edited document apart. A plan that has steps must keep their section.
pub fn read_edit(known: &Known, text: &str) -> std::result::Result<Document, Vec<PlanFault>> {
    let edited = Document::parse(text)?;
    if !edited.has_steps() && !known.plan.steps.is_empty() {
        let line = u32::try_from(text.lines().count().max(1)).unwrap_or(u32::MAX);
        let message = "the section `## Steps` is missing; put it back, also where no step is left".into();
        return Err(vec![PlanFault { line, message }]);
    }
    Ok(edited)
}

/// A plan with the steps and the goal of its document.
pub fn with_steps(plan: &Plan, document: &Document, merged: &Merged) -> Plan {
    let mut plan = Plan { steps: merged.steps.clone(), ..plan.clone() };
    let goal = document.goal.as_ref().filter(|goal| is_title(goal));
    plan.goal = goal.unwrap_or(&plan.goal).clone();
    plan
}

pub fn is_title(title: &str) -> bool {
    (SHORTEST_TITLE..=LONGEST_TITLE).contains(&title.chars().count())
}

pub fn read_file(path: &Path) -> Result<std::result::Result<Option<String>, PlanFault>> {
    // One byte more than allowed, so that a longer one is noticed.
    let content = match files::read_beginning(path, LONGEST_DOCUMENT as u64 + 1) {
        Ok(content) => content,
        Err(error) if error.is_not_found() => return Ok(Ok(None)),
        Err(error) => return Err(error.into()),
    };
    Ok(String::from_utf8(content).map(Some).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = u32::try_from(valid.split(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX);
        PlanFault { line, message: "the document is not UTF-8 text".into() }
    }))
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    Ok(files::write_atomic(path, text.as_bytes(), Privacy::Private)?)
}
