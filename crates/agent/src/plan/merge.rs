//! A changed document and the plan it belongs to, brought together.
//!
//! Steps that are done, and the one that is running, stay as they are, whatever the document says. All others are those of
//! the document, in its order.

use stepwell_protocol::{Plan, PlanStatus, PlanStep, StepStatus};

use super::document::{DocumentStep, tidy};

/// What a document makes of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub steps: Vec<PlanStep>,
    /// Steps that the document changed or left out although they are done or running.
    pub restored: Vec<u32>,
    /// Steps that stood before a finished one and were put behind it.
    pub moved: Vec<u32>,
    /// Steps that the person marked to be skipped just now.
    pub skipped: Vec<u32>,
}

/// The steps of a plan after its document was read.
pub fn merge(plan: &Plan, items: &[DocumentStep]) -> Merged {
    let fixed = &plan.steps[..fixed_steps(plan)];
    let mut owners: Vec<Option<usize>> = vec![None; items.len()];
    let mut restored = Vec::new();
    for (position, step) in fixed.iter().enumerate() {
        let free = |index: &usize| owners[*index].is_none();
        let candidates: Vec<usize> = (0..items.len()).filter(free).collect();
        let number_of = |index: usize| items[index].number == Some(step.id);
        let texts = |index: usize| {
            items[index].description == tidy(&step.description)
                && items[index].expected == tidy(&step.expected_outcome)
        };
        let described = |index: usize| items[index].description == tidy(&step.description);
        // A finished step that was rewritten is still known by its number and its mark.
        let marked = |index: usize| items[index].mark != StepStatus::Pending;
        let tests: [&dyn Fn(usize) -> bool; 4] = [
            &|index| texts(index) && number_of(index),
            &|index| texts(index) && marked(index),
            &|index| described(index) && number_of(index),
            &|index| number_of(index) && marked(index),
        ];
        let found = tests.iter().find_map(|test| candidates.iter().copied().find(|index| test(*index)));
        let unticked =
            |index: usize| step.status == StepStatus::Completed && items[index].mark == StepStatus::Pending;
        if found.is_none_or(|index| !texts(index) || unticked(index)) {
            restored.push(step.id);
        }
        if let Some(index) = found {
            owners[index] = Some(position);
        }
    }
    let mut merged = Merged { steps: fixed.to_vec(), restored, moved: Vec::new(), skipped: Vec::new() };
    let last_fixed = owners.iter().rposition(Option::is_some);
    let may_skip = plan.is_under_way();
    for (index, item) in items.iter().enumerate().filter(|(index, _)| owners[*index].is_none()) {
        let id = u32::try_from(merged.steps.len() + 1).unwrap_or(u32::MAX);
        let known = plan.steps[fixed.len()..].iter().find(|step| {
            tidy(&step.description) == item.description && tidy(&step.expected_outcome) == item.expected
        });
        let mut step = PlanStep {
            id,
            description: item.description.clone(),
            expected_outcome: item.expected.clone(),
            status: StepStatus::Pending,
            result: None,
            evidence: None,
        };
        let wants_skip = matches!(item.mark, StepStatus::Skipped | StepStatus::Completed);
        match known.filter(|known| known.status != StepStatus::Pending) {
            Some(known) if known.status == StepStatus::Skipped && wants_skip => {
                step.status = StepStatus::Skipped;
                step.result.clone_from(&known.result);
            }
            Some(known) if known.status == StepStatus::Failed && item.mark == StepStatus::Failed => {
                step.status = StepStatus::Failed;
                step.result.clone_from(&known.result);
            }
            _ if may_skip && wants_skip => merged.skipped.push(id),
            _ => {}
        }
        if last_fixed.is_some_and(|last| index < last) {
            merged.moved.push(id);
        }
        merged.steps.push(step);
    }
    merged
}

/// How many steps at the beginning of a plan cannot be changed: all up to the last that is done or running.
pub fn fixed_steps(plan: &Plan) -> usize {
    let is_fixed = |step: &PlanStep| matches!(step.status, StepStatus::Completed | StepStatus::Running);
    let last = plan.steps.iter().rposition(is_fixed).map_or(0, |last| last + 1);
    // Steps that were skipped on the way belong to what is done.
    let skipped = plan.steps[last..].iter().take_while(|step| step.status == StepStatus::Skipped).count();
    if plan.status == PlanStatus::Draft { last } else { last + skipped }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
