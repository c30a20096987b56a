//! Plans in words: for the model, and for the person.

use std::fmt::Write;

use stepwell_protocol::{Plan, PlanFault, PlanStep};

/// Faults that one message names.
const MOST_FAULTS: usize = 5;

/// Formats the message that starts or resumes planning.
pub fn planning(plan: &Plan, path: &str) -> String {
    let mut text = format!(
        "You are planning (plan `{}`): {}\nUntil the user approves the plan you may read, search, run programs and look \
         with the debugger, but nothing can be changed: the workspace is read-only. Find out what is needed. Then write \
         the plan with the planning tools: prose as you like, and a section `## Steps` with numbered steps in the order \
         in which they are carried out, each with a line that says how its outcome will be checked:\n\n\
         ## Steps\n1. What to do\n   - Expected: what will be seen when it is done\n\n\
         When it is complete, ask for approval. The document is {path}; the user may edit it.",
        plan.id, plan.goal
    );
    if !plan.steps.is_empty() {
        write!(text, "\n\nThe plan so far:\n{}", listing(plan)).ok();
    }
    text
}

/// Formats the message about the person's edits of the plan.
pub fn edited(plan: &Plan) -> String {
    format!("The user edited the plan document. The plan is now \"{}\":\n{}", plan.goal, details(plan))
}

/// The steps with what is expected of them.
fn details(plan: &Plan) -> String {
    let step = |step: &PlanStep| {
        format!("{}. {}\n   - Expected: {}", step.id, step.description, step.expected_outcome)
    };
    plan.steps.iter().map(step).collect::<Vec<_>>().join("\n")
}

/// Formats the message that starts a step.
pub fn step(plan: &Plan, step: &PlanStep) -> String {
    format!(
        "The approved plan: {}\n{}\n\nNow carry out step {} of {}, and nothing beyond it:\n{}\nExpected outcome: {}\n\n\
         When it is done, check the expected outcome by looking, not by assuming, and end the step with what you saw: \
         with the tool that ends a step, or with an answer that has a line `Checked: ...`. Where it cannot be done, end it \
         as failed: with the same tool, or with a line `Failed: ...`. The next step is told to you then.",
        plan.goal,
        listing(plan),
        step.id,
        plan.steps.len(),
        step.description,
        step.expected_outcome
    )
}

/// The steps of a plan, a line each.
pub fn listing(plan: &Plan) -> String {
    let line = |step: &PlanStep| {
        let first = step.description.lines().next().unwrap_or_default();
        format!("{}. [{}] {first}", step.id, step.status.mark())
    };
    plan.steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Formats the notice about faults in the document.
pub fn unusable(faults: &[PlanFault]) -> String {
    format!("the plan document cannot be used, so the plan stays as it was: {}", in_words(faults))
}

pub fn in_words(faults: &[PlanFault]) -> String {
    let told: Vec<String> = faults.iter().take(MOST_FAULTS).map(ToString::to_string).collect();
    let more = faults.len().saturating_sub(MOST_FAULTS);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", told.join("; "))
}

/// Formats the notice about edits of finished steps.
pub fn restored(steps: &[u32]) -> Option<String> {
    (!steps.is_empty())
        .then(|| format!("finished steps cannot be changed; restored in the plan: {}", numbers(steps)))
}

pub fn moved(steps: &[u32]) -> Option<String> {
    (!steps.is_empty())
        .then(|| format!("new steps come after the finished ones; moved in the plan: {}", numbers(steps)))
}

fn numbers(steps: &[u32]) -> String {
    steps.iter().map(|step| format!("step {step}")).collect::<Vec<_>>().join(", ")
}
