//! `stepwell tasks evidence`: what was seen before and after the changes of a task.

use std::fmt::Write;

use stepwell_protocol::HypothesisEvidence;
use stepwell_protocol::{EvidenceCard, Observed};

use crate::args::EvidenceFormat;
use crate::language::said;
use crate::terminal::{Style, visible};

/// The card as text, Markdown or JSON.
pub fn rendered(card: &EvidenceCard, number: u32, format: EvidenceFormat) -> anyhow::Result<String> {
    Ok(match format {
        EvidenceFormat::Json => serde_json::to_string_pretty(card)?,
        EvidenceFormat::Markdown => markdown(card, number),
        EvidenceFormat::Text => text(card),
    })
}

fn text(card: &EvidenceCard) -> String {
    let style = Style::for_stdout();
    let mut out = String::new();
    for probe in &card.probes {
        push(&mut out, &style.bold(&format!("{} {}", probe.tool, visible(&probe.what))));
        push(&mut out, &format!("  {}", shown_mark(style, &probe.before, "before")));
        push(&mut out, &indented(&visible(&probe.before.text)));
        match &probe.after {
            Some(after) => {
                push(&mut out, &format!("  {}", shown_mark(style, after, "after")));
                push(&mut out, &indented(&visible(&after.text)));
            }
            None => push(&mut out, &format!("  {}", style.yellow(&said("not run again after the change")))),
        }
        out.push('\n');
    }
    if !card.hypotheses.is_empty() {
        push(&mut out, &style.bold(&said("hypotheses")));
        for known in &card.hypotheses {
            push(&mut out, &format!("  {} {}", mark_of(known.status.name()), visible(&hypothesis(known))));
        }
        out.push('\n');
    }
    for file in &card.files {
        push(&mut out, &style.bold(&visible(&file.path)));
        push(&mut out, &indented(&visible(&file.diff)));
    }
    if card.changed_unseen {
        push(&mut out, &style.yellow(&said("files were changed before anything was run or looked into")));
    }
    out
}

fn markdown(card: &EvidenceCard, number: u32) -> String {
    let mut out = format!("# Evidence of task {number}\n\n");
    for probe in &card.probes {
        push(&mut out, &format!("## `{}`: {}\n", probe.tool, probe.what.replace('\n', " ")));
        push(&mut out, &fenced("Before", &probe.before));
        match &probe.after {
            Some(after) => push(&mut out, &fenced("After", after)),
            None => push(&mut out, "Not run again after the change.\n"),
        }
    }
    if !card.hypotheses.is_empty() {
        push(&mut out, "## Hypotheses\n");
        for known in &card.hypotheses {
            push(&mut out, &format!("- **{}** {}", known.status.name(), hypothesis(known)));
        }
        out.push('\n');
    }
    if !card.files.is_empty() {
        push(&mut out, "## Changes\n");
        for file in &card.files {
            push(&mut out, &format!("`{}`\n\n````diff\n{}\n````\n", file.path, file.diff.trim_end()));
        }
    }
    if card.changed_unseen {
        push(&mut out, "Files were changed before anything was run or looked into.");
    }
    out
}

fn fenced(title: &str, observed: &Observed) -> String {
    let outcome = if observed.succeeded { "" } else { " (failed)" };
    format!("{title}{outcome}:\n\n````text\n{}\n````\n", observed.text)
}

fn shown_mark(style: Style, observed: &Observed, when: &str) -> String {
    let mark = if observed.succeeded { style.green("✓") } else { style.red("✗") };
    format!("{mark} {}", said(when))
}

fn mark_of(status: &str) -> &'static str {
    match status {
        "confirmed" => "✓",
        "refuted" => "✗",
        _ => "?",
    }
}

fn hypothesis(known: &stepwell_protocol::Hypothesis) -> String {
    let seen = match (&known.observed, &known.evidence) {
        (None, _) => "not probed".to_owned(),
        (Some(value), Some(HypothesisEvidence::Debugger { expression })) => {
            format!("`{expression}` was {value}")
        }
        (Some(value), Some(HypothesisEvidence::Call { .. })) => format!("seen: {value}"),
        (Some(value), _) => format!("reported, not seen in any result: {value}"),
    };
    format!("{} (predicted {}; {seen})", known.claim, known.predicted)
}

fn indented(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

fn push(out: &mut String, line: &str) {
    // Writing to a string cannot fail.
    writeln!(out, "{line}").ok();
}
