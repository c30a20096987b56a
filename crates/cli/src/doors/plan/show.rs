//! A plan in lines: its goal, how far it is, a mark for every step, and what was seen.

use stepwell_protocol::{Plan, PlanStatus, PlanStep, PlanView, StepStatus};

use crate::columns;
use crate::language::said;
use crate::terminal::{Style, error_line, out_line, visible};

/// Characters of a line where no terminal says how many fit.
const LONGEST_LINE: usize = 200;

/// Prints a plan, with what the person should know about its document.
pub fn print(view: &PlanView) {
    let style = Style::for_stdout();
    let room = columns::of_stdout().unwrap_or(LONGEST_LINE);
    for line in lines(style, &view.plan, room) {
        out_line(&line);
    }
    out_line("");
    out_line(&style.dim(&said(&format!("document: {}", visible(&view.path)))));
    let style = Style::for_stderr();
    for fault in &view.faults {
        let fault = said(&fault.to_string());
        error_line(&format!("{} {}", style.yellow(&said("warning:")), visible(&fault)));
    }
    if view.edited && view.faults.is_empty() {
        error_line(&style.dim(&said("the document was edited; its changes count from the next step on")));
    }
}

/// The plan, a line for its goal and some for every step.
pub fn lines(style: Style, plan: &Plan, room: usize) -> Vec<String> {
    let done = plan.steps.iter().filter(|step| step.status.is_done()).count();
    let status = said(plan.status.name());
    let progress = match plan.status {
        PlanStatus::Draft => said("draft: not approved yet"),
        _ => said(&format!("{status}, {done} of {} done", plan.steps.len())),
    };
    let goal = columns::cut_end(&columns::one_line(&plan.goal), room);
    let mut lines = vec![style.bold(&goal), style.dim(&progress)];
    if plan.steps.is_empty() {
        lines.push(style.dim(&format!("  {}", said("no steps yet"))));
    }
    let width = plan.steps.len().to_string().len();
    for step in &plan.steps {
        lines.extend(step_lines(style, step, width, room));
    }
    lines
}

fn step_lines(style: Style, step: &PlanStep, width: usize, room: usize) -> Vec<String> {
    let number = columns::padded_left(&step.id.to_string(), width);
    let mark = format!("[{}]", step.status.mark());
    let text = columns::one_line(&step.description);
    let line = columns::cut_end(&format!("  {mark} {number}  {text}"), room);
    let first = match step.status {
        StepStatus::Running => style.bold(&line),
        StepStatus::Completed => style.green(&line),
        StepStatus::Failed => style.red(&line),
        StepStatus::Skipped => style.dim(&line),
        StepStatus::Pending => line,
    };
    let (label, value) = match step.status {
        StepStatus::Completed => ("checked", step.evidence.as_ref()),
        StepStatus::Failed => ("failed", step.result.as_ref()),
        StepStatus::Skipped => ("skipped", step.result.as_ref()),
        StepStatus::Pending | StepStatus::Running => ("expected", Some(&step.expected_outcome)),
    };
    let indent = " ".repeat(8 + width);
    let below = value.map(|value| {
        let line = format!("{indent}{}: {}", said(label), columns::one_line(value));
        style.dim(&columns::cut_end(&line, room))
    });
    std::iter::once(first).chain(below).collect()
}
