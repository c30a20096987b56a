//! The report for a terminal.

use std::path::Path;

use stepwell_debug::failure::{FailureReport, Verdict};

use crate::language::Language;
use crate::terminal::{Style, harmless};

/// Lines of output that are shown.
const OUTPUT_LINES: usize = 12;

pub fn render(report: &FailureReport, language: Language, style: Style) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    let mark = match report.verdict {
        Verdict::Passed => style.green("✓"),
        Verdict::Failed => style.red("✗"),
        Verdict::Hangs => style.yellow("…"),
    };
    line(format!("\n{mark} {}", style.bold(&headline(report, language))));
    if let Some(place) = &report.place {
        line(format!(
            "  {} {}",
            style.cyan(&format!("{}:{}", shown(&place.file), place.line)),
            style.dim(&format!("{} {}", language.pick("in", "于"), harmless(&place.function)))
        ));
    }
    if let Some(source) = report.frames.first().and_then(|frame| frame.source.as_deref()) {
        line(String::new());
        for source in source.lines() {
            let is_marked = source.starts_with('→');
            let source = harmless(source);
            line(format!("  {}", if is_marked { style.red(&source) } else { style.dim(&source) }));
        }
    }
    if !report.values.is_empty() {
        line(format!("\n  {}", style.bold(language.pick("values", "相关的值"))));
        let width = report.values.iter().map(|value| value.name.chars().count()).max().unwrap_or_default();
        for value in &report.values {
            let name = format!("{:<width$}", harmless(&value.name));
            line(format!("    {} = {}", style.cyan(&name), harmless(&value.value)));
            for (at, write) in value.writes.iter().enumerate() {
                let place = format!("{}:{}: {}", shown(&write.file), write.line, harmless(&write.source));
                let set = language.pick("set at", "赋值于");
                let story = if at == 0 {
                    format!("{set} {place}")
                } else {
                    let before = language.pick("before:", "此前：");
                    format!("{before} {}, {set} {place}", harmless(&write.value))
                };
                line(style.dim(&format!("    {:width$}   {story}", "")));
            }
            if let Some(origin) = value.origin.as_ref().filter(|_| value.writes.is_empty()) {
                let how = if origin.from_caller {
                    language.pick("passed at", "传入于")
                } else {
                    language.pick("set at", "赋值于")
                };
                let place = format!("{}:{}", shown(&origin.file), origin.line);
                line(style.dim(&format!("    {:width$}   {how} {place}: {}", "", harmless(&origin.source))));
            }
        }
    }
    if report.frames.len() > 1 {
        line(format!("\n  {}", style.bold(language.pick("called from", "调用自"))));
        for frame in report.frames.iter().skip(1) {
            let marked =
                frame.source.as_deref().and_then(|source| source.lines().find(|line| line.starts_with('→')));
            let code = marked.map(|line| {
                line.trim_start_matches('→')
                    .trim_start()
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .trim()
            });
            line(format!(
                "    {} {}  {}",
                harmless(&frame.function),
                style.cyan(&format!("{}:{}", shown(&frame.file), frame.line)),
                style.dim(&harmless(code.unwrap_or_default()))
            ));
        }
    }
    if report.library_frames > 0 && !report.frames.is_empty() {
        let (english, chinese) = (
            format!("{} library frames left out", report.library_frames),
            format!("省略了 {} 个库的栈帧", report.library_frames),
        );
        line(style.dim(&format!("    {}", language.pick(&english, &chinese))));
    }
    let printed: Vec<&str> = report.output.trim_end().lines().collect();
    if !printed.is_empty() && report.verdict != Verdict::Passed {
        line(format!("\n  {}", style.bold(language.pick("output", "输出"))));
        if printed.len() > OUTPUT_LINES {
            line(style.dim(&format!("    … {}", printed.len() - OUTPUT_LINES)));
        }
        for printed in printed.iter().skip(printed.len().saturating_sub(OUTPUT_LINES)) {
            line(format!("    {}", harmless(printed)));
        }
    }
    if let Some(code) = report.exit_code.filter(|code| *code != 0) {
        line(style.dim(&format!("\n  {} {code}", language.pick("exit code", "退出码"))));
    }
    for note in &report.notes {
        line(style.yellow(&format!("  {}", harmless(note))));
    }
    text
}

pub fn headline(report: &FailureReport, language: Language) -> String {
    match (report.verdict, &report.exception) {
        (Verdict::Passed, _) => language.pick("it passed", "运行通过").to_owned(),
        (Verdict::Hangs, _) => {
            language.pick("it did not end in time; it was here", "未在时限内结束；当时停在这里").to_owned()
        }
        (Verdict::Failed, Some(exception)) => {
            let message = exception.message.lines().next().unwrap_or_default();
            let kind = harmless(&exception.kind);
            if message.is_empty() || message == exception.kind {
                kind
            } else {
                format!("{kind}: {}", harmless(message))
            }
        }
        (Verdict::Failed, None) => harmless(&report.summary),
    }
}

/// A path as short as it can be written here.
pub fn shown(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = Path::new(path);
    harmless(&path.strip_prefix(&here).unwrap_or(path).to_string_lossy())
}
