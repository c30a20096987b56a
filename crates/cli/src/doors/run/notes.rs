//! What a person sees of calls and their results, in lines.

use stepwell_protocol::{
    CommandDetail, Plan, PlanStatus, StepStatus, TodoItem, TodoStatus, ToolCall, ToolDetail, ToolResult,
};

use crate::columns;
use crate::doors::plan::show;
use crate::language::{Language, said};
use crate::terminal::{Style, harmless, visible};

/// Lines of a command's output that are shown: the end says how it went.
const OUTPUT_LINES: usize = 5;
/// Characters of such a line where no terminal says how many fit.
const LONGEST_LINE: usize = 200;
const LONGEST_DIFF: usize = 24;

/// The call in one line: the tool and the argument that says most.
pub fn action_line(style: Style, call: &ToolCall) -> String {
    const SPEAKING: [&str; 12] = [
        "command",
        "file_path",
        "path",
        "pattern",
        "question",
        "result",
        "url",
        "symbol",
        "claim",
        "description",
        "prompt",
        "message",
    ];
    const LONGEST: usize = 100;
    let text = |name: &str| call.arguments.get(name)?.as_str();
    let argument = SPEAKING.iter().find_map(|name| text(name)).unwrap_or_default();
    let whom = text("agent").map(|agent| format!("{agent}: ")).unwrap_or_default();
    let argument = format!("{whom}{argument}");
    let line = argument.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(LONGEST).collect();
    if short.len() < argument.len() {
        short.push('…');
    }
    let line = format!("{} {} {}", style.cyan("●"), style.bold(&visible(&call.name)), visible(&short));
    line.trim_end().to_owned()
}

/// What of a result a person wants to see: why it failed, how a command ended, what an edit changed.
pub fn observation_lines(style: Style, language: Language, result: &ToolResult) -> Vec<String> {
    let mut lines = match &result.detail {
        Some(ToolDetail::Command { command }) => command_lines(style, language, command),
        Some(detail) if result.error.is_none() => {
            detail.diff().map(|diff| diff_lines(style, language, &diff)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    if let Some(error) = &result.error {
        let first = error.message.lines().next().unwrap_or_default();
        lines.push(style.red(&format!("  {}", harmless(&language.say(first)))));
    }
    lines
}

/// The end of what a command printed, and how it ended where that is not well.
fn command_lines(style: Style, language: Language, command: &CommandDetail) -> Vec<String> {
    let mut lines = Vec::new();
    for output in [&command.stdout, &command.stderr] {
        let printed: Vec<&str> = output.trim_end().lines().filter(|line| !line.trim().is_empty()).collect();
        let left_out = printed.len().saturating_sub(OUTPUT_LINES);
        if left_out > 0 {
            lines.push(style.dim(&format!("  {}", more_lines(language, left_out))));
        }
        let room = columns::of_stderr().unwrap_or(LONGEST_LINE);
        for line in &printed[left_out..] {
            let line = harmless(&line.replace('\t', "    "));
            lines.push(style.dim(&columns::cut_end(&format!("  {line}"), room)));
        }
    }
    let ending = match (command.exit_code, command.signal) {
        (Some(code), _) if code != 0 => Some(language.word("exit code {}").replace("{}", &code.to_string())),
        (None, Some(signal)) => Some(language.word("ended by signal {}").replace("{}", &signal.to_string())),
        _ => None,
    };
    lines.extend(ending.map(|ending| style.yellow(&format!("  {ending}"))));
    lines
}

fn diff_lines(style: Style, language: Language, diff: &str) -> Vec<String> {
    let changes: Vec<&str> =
        diff.lines().filter(|line| !line.starts_with("---") && !line.starts_with("+++")).collect();
    let mut lines: Vec<String> = changes
        .iter()
        .take(LONGEST_DIFF)
        .map(|line| {
            let shown = format!("  {}", harmless(line));
            match line.as_bytes().first() {
                Some(b'+') => style.green(&shown),
                Some(b'-') => style.red(&shown),
                _ => style.dim(&shown),
            }
        })
        .collect();
    if changes.len() > LONGEST_DIFF {
        lines.push(style.dim(&format!("  {}", more_lines(language, changes.len() - LONGEST_DIFF))));
    }
    lines
}

fn more_lines(language: Language, count: usize) -> String {
    language.word("… {} more lines").replace("{}", &count.to_string())
}

/// The todo list, an item a line.
pub fn todo_lines(style: Style, items: &[TodoItem]) -> Vec<String> {
    let room = columns::of_stderr().unwrap_or(LONGEST_LINE);
    items
        .iter()
        .map(|item| {
            let mark = match item.status {
                TodoStatus::Pending => "[ ]",
                TodoStatus::InProgress => "[>]",
                TodoStatus::Completed => "[x]",
                TodoStatus::Cancelled => "[-]",
            };
            let line = columns::cut_end(&format!("  {mark} {}", columns::one_line(&item.content)), room);
            match item.status {
                TodoStatus::InProgress => style.bold(&line),
                TodoStatus::Pending => line,
                TodoStatus::Completed | TodoStatus::Cancelled => style.dim(&line),
            }
        })
        .collect()
}

/// What a person wants to see of a plan as it goes: all of it once it is approved, then each step as it begins.
pub fn plan_lines(style: Style, plan: &Plan) -> Vec<String> {
    let room = columns::of_stderr().unwrap_or(LONGEST_LINE);
    match (plan.status, plan.step(StepStatus::Running)) {
        (PlanStatus::Approved, _) => show::lines(style, plan, room),
        (PlanStatus::Executing, Some(step)) => {
            let number = said(&format!("step {} of {}", step.id, plan.steps.len()));
            let text = columns::one_line(&step.description);
            vec![style.bold(&columns::cut_end(&format!("[>] {number}: {text}"), room))]
        }
        _ => Vec::new(),
    }
}

/// How a step ended, with what was seen.
pub fn step_line(style: Style, step: u32, status: StepStatus, told: &str) -> String {
    let room = columns::of_stderr().unwrap_or(LONGEST_LINE);
    let what = said(&format!("step {step} {}", status.name()));
    let line = columns::cut_end(&format!("[{}] {what}: {}", status.mark(), columns::one_line(told)), room);
    match status {
        StepStatus::Completed => style.green(&line),
        StepStatus::Failed => style.red(&line),
        StepStatus::Pending | StepStatus::Running | StepStatus::Skipped => style.dim(&line),
    }
}
