//! The report as Markdown, for an issue or a pull request.

use stepwell_debug::failure::{FailureReport, Verdict};

use super::text::{headline, shown};
use crate::language::Language;

pub fn render(report: &FailureReport, language: Language) -> String {
    let mut text = format!("## {}\n\n", escaped(&headline(report, language)));
    if let Some(place) = &report.place {
        text.push_str(&format!(
            "`{}:{}` {} `{}`\n\n",
            shown(&place.file),
            place.line,
            language.pick("in", "于"),
            place.function
        ));
    }
    if let Some(source) = report.frames.first().and_then(|frame| frame.source.as_deref()) {
        text.push_str(&fenced(source));
    }
    if !report.values.is_empty() {
        text.push_str(&format!(
            "| {} | {} | {} |\n|---|---|---|\n",
            language.pick("name", "名称"),
            language.pick("value", "值"),
            language.pick("from", "来源")
        ));
        for value in &report.values {
            let place =
                |file: &str, line: i64, source: &str| format!("`{}:{line}` `{}`", shown(file), cell(source));
            let writes: Vec<String> = value
                .writes
                .iter()
                .map(|write| {
                    format!("← `{}` {}", cell(&write.value), place(&write.file, write.line, &write.source))
                })
                .collect();
            let origin = value.origin.as_ref().filter(|_| writes.is_empty());
            let origin = origin.map(|origin| place(&origin.file, origin.line, &origin.source));
            text.push_str(&format!(
                "| `{}` | `{}` | {} |\n",
                cell(&value.name),
                cell(&value.value),
                writes.join("<br>") + &origin.unwrap_or_default()
            ));
        }
        text.push('\n');
    }
    for frame in report.frames.iter().skip(1) {
        text.push_str(&format!("- `{}` `{}:{}`\n", frame.function, shown(&frame.file), frame.line));
    }
    if report.verdict != Verdict::Passed && !report.output.trim().is_empty() {
        text.push_str(&format!(
            "\n<details><summary>{}</summary>\n\n{}</details>\n",
            language.pick("output", "输出"),
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
