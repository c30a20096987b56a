//! What stands word for word beside a summary.

use std::fmt::Write;

use stepwell_llm::estimate_text;
use stepwell_protocol::{HypothesisStatus, MessageId, TodoItem};
use stepwell_transcript::TaskSummary;

use super::CondenseParts;

/// Later words of the person take this share of the window at most, in percent; the newest go first.
const SAID_PERCENT: u64 = 10;

/// Everything that must not be forgotten, as sections of Markdown.
pub(super) fn pinned(parts: &CondenseParts<'_>, kept_from: Option<&MessageId>) -> String {
    let mut text = said_before(parts.session.said_before(kept_from), parts.window * SAID_PERCENT / 100);
    parts.session.read_summary(|summary| books(&mut text, summary));
    let breakpoints = parts.services.activity.breakpoints();
    section(&mut text, "Breakpoints that are set", breakpoints.iter().map(String::as_str));
    text
}

/// What the person said after the goal, as far as it fits.
fn said_before(words: Vec<String>, room: u64) -> String {
    let mut left = room;
    let mut kept: Vec<String> = Vec::new();
    for words in words.into_iter().rev() {
        let Some(rest) = left.checked_sub(estimate_text(&words)) else { break };
        left = rest;
        kept.push(words);
    }
    kept.reverse();
    let mut text = String::new();
    section(&mut text, "The user also said", kept.iter().map(String::as_str));
    text
}

fn books(text: &mut String, summary: &TaskSummary) {
    if let Some(plan) = &summary.plan {
        let steps = plan.steps.iter().map(|step| {
            format!(
                "{}. {} (expected: {}) {:?}",
                step.id, step.description, step.expected_outcome, step.status
            )
        });
        let lines: Vec<String> = std::iter::once(format!("Goal: {}", plan.goal)).chain(steps).collect();
        section(text, "The plan", lines.iter().map(String::as_str));
    }
    let line = |item: &TodoItem| format!("[{}] {}", item.status.mark(), item.content);
    let todo: Vec<String> = summary.todo.iter().map(line).collect();
    section(text, "The todo list", todo.iter().map(String::as_str));
    let hypotheses: Vec<String> = summary
        .hypotheses
        .iter()
        .map(|known| {
            let observed = known.observed.as_deref().unwrap_or("not yet observed");
            let verdict = match known.status {
                HypothesisStatus::Refuted => "REFUTED, do not try it again",
                HypothesisStatus::Confirmed => "confirmed",
                HypothesisStatus::Open => "open",
            };
            format!(
                "#{} {} | probe: {} | predicted: {} | observed: {observed} | {verdict}",
                known.id, known.claim, known.probe, known.predicted
            )
        })
        .collect();
    section(text, "Hypotheses", hypotheses.iter().map(String::as_str));
    section(text, "Files that were changed", summary.edited.iter().map(String::as_str));
}

fn section<'l>(text: &mut String, title: &str, lines: impl Iterator<Item = &'l str>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    // Writing to a string cannot fail.
    writeln!(text, "# {title}").ok();
    for line in lines {
        writeln!(text, "- {}", line.replace('\n', "\n  ")).ok();
    }
    text.push('\n');
}
