//! The report as Markdown, for an issue or a pull request.

use stepwell_debug::failure::{FailureReport, Verdict};

use super::text::{further, headline, history, shown};
use crate::language::Language;

pub fn render(report: &FailureReport, language: Language) -> String {
    let mut text = format!("## {}\n\n", escaped(&headline(report, language)));
    if let Some(place) = &report.place {
        text.push_str(&format!(
            "`{}:{}` {} `{}`\n\n",
            shown(&place.file),
            place.line,
            language.word("in"),
            place.function
        ));
    }
    if let Some(test) = &report.test {
        text.push_str(&format!("{}: `{}`\n\n", language.word("Test"), cell(test)));
    }
    if let Some(source) = report.frames.first().and_then(|frame| frame.source.as_deref()) {
        text.push_str(&fenced(source));
    }
    if !report.values.is_empty() {
        text.push_str(&format!(
            "| {} | {} | {} |\n|---|---|---|\n",
            language.word("name"),
            language.word("value"),
            language.word("from")
        ));
        for value in &report.values {
            let story: Vec<String> = history(value, language).iter().map(|line| cell(line)).collect();
            text.push_str(&format!(
                "| `{}` | `{}` | {} |\n",
                cell(&value.name),
                cell(&value.value),
                story.join("<br>")
            ));
        }
        text.push('\n');
    }
    for frame in report.frames.iter().skip(1) {
        text.push_str(&format!("- `{}` `{}:{}`\n", frame.function, shown(&frame.file), frame.line));
    }
    for (title, rows) in further(report, language) {
        text.push_str(&format!("\n### {title}\n\n"));
        for row in rows {
            text.push_str(&format!("- {}\n", escaped(&cell(&row))));
        }
    }
    if report.failures.len() > 1 {
        text.push_str(&format!("\n### {}\n\n", language.word("All failures")));
        for failure in &report.failures {
            let place = match (&failure.file, failure.line) {
                (Some(file), Some(line)) => format!(" `{}:{line}`", shown(file)),
                _ => String::new(),
            };
            let test = failure.test.as_deref().map(|test| format!(" `{}`", cell(test))).unwrap_or_default();
            text.push_str(&format!(
                "{}.{test}{place} {}\n",
                failure.number,
                escaped(&cell(&failure.message))
            ));
        }
    }
    if report.verdict != Verdict::Passed && !report.output.trim().is_empty() {
        text.push_str(&format!(
            "\n<details><summary>{}</summary>\n\n{}</details>\n",
            language.word("output"),
            fenced(report.output.trim_end())
        ));
    }
    text
}

/// A block that its content cannot close.
fn fenced(content: &str) -> String {
    let mut fence = "```".to_owned();
    while content.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}\n{content}\n{fence}\n\n")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('`', "'").replace('\n', " ")
}

fn escaped(text: &str) -> String {
    text.replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_")
}
