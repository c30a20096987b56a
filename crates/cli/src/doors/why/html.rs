//! The report as one HTML file: frames open and close, nothing is loaded from anywhere.

use stepwell_debug::failure::{FailureFrame, FailureReport};

use super::text::{further, headline, history, shown};
use crate::language::Language;

const STYLE: &str = include_str!("report.css");

pub fn render(report: &FailureReport, command: &str, language: Language) -> String {
    let title = escaped(&headline(report, language));
    let mut body = format!("<h1>{title}</h1>\n<p class=\"command\"><code>{}</code></p>\n", escaped(command));
    if let Some(place) = &report.place {
        body.push_str(&format!(
            "<p class=\"place\">{}:{} <span>{}</span></p>\n",
            escaped(&shown(&place.file)),
            place.line,
            escaped(&place.function)
        ));
    }
    if !report.values.is_empty() {
        body.push_str(&format!("<h2>{}</h2>\n<table>\n", language.word("Values that matter")));
        for value in &report.values {
            let story: String =
                history(value, language).iter().map(|line| escaped(line)).collect::<Vec<_>>().join("<br>");
            body.push_str(&format!(
                "<tr><th>{}</th><td><code>{}</code></td><td>{story}</td></tr>\n",
                escaped(&value.name),
                escaped(&value.value),
            ));
        }
        body.push_str("</table>\n");
    }
    for (title, rows) in further(report, language) {
        body.push_str(&format!("<h2>{}</h2>\n<ul>\n", escaped(title)));
        for row in rows {
            body.push_str(&format!("<li>{}</li>\n", escaped(&row)));
        }
        body.push_str("</ul>\n");
    }
    if report.failures.len() > 1 {
        body.push_str(&format!("<h2>{}</h2>\n<ol>\n", language.word("All failures")));
        for failure in &report.failures {
            let place = match (&failure.file, failure.line) {
                (Some(file), Some(line)) => format!("{}:{line} ", escaped(&shown(file))),
                _ => String::new(),
            };
            body.push_str(&format!(
                "<li><b>{}</b> {place}<span>{}</span></li>\n",
                escaped(failure.test.as_deref().unwrap_or_default()),
                escaped(&failure.message)
            ));
        }
        body.push_str("</ol>\n");
    }
    if !report.frames.is_empty() {
        body.push_str(&format!("<h2>{}</h2>\n", language.word("Frames")));
    }
    for (at, frame) in report.frames.iter().enumerate() {
        body.push_str(&frame_block(frame, at == 0));
    }
    if report.library_frames > 0 {
        let (english, chinese) = (
            format!("{} library frames left out", report.library_frames),
            format!("省略了 {} 个库的栈帧", report.library_frames),
        );
        body.push_str(&format!("<p class=\"dim\">{}</p>\n", language.pick(&english, &chinese)));
    }
    if !report.output.trim().is_empty() {
        body.push_str(&format!(
            "<h2>{}</h2>\n<pre class=\"output\">{}</pre>\n",
            language.word("Output"),
            escaped(report.output.trim_end())
        ));
    }
    let code = language.pick("en", "zh");
    format!(
        "<!doctype html>\n<html lang=\"{code}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>{title}</title><style>{STYLE}</style></head>\n<body><main>\n{body}</main></body></html>\n"
    )
}

fn frame_block(frame: &FailureFrame, open: bool) -> String {
    let mut block = format!(
        "<details{}><summary><b>{}</b> {}:{}</summary>\n",
        if open { " open" } else { "" },
        escaped(&frame.function),
        escaped(&shown(&frame.file)),
        frame.line
    );
    if let Some(source) = &frame.source {
        block.push_str("<pre>");
        for line in source.lines() {
            let line_text = escaped(line);
            if line.starts_with('→') {
                block.push_str(&format!("<mark>{line_text}</mark>\n"));
            } else {
                block.push_str(&format!("{line_text}\n"));
            }
        }
        block.push_str("</pre>\n");
    }
    if !frame.variables.is_empty() {
        block.push_str("<table>\n");
        for variable in &frame.variables {
            block.push_str(&format!(
                "<tr><th>{}</th><td><code>{}</code></td><td class=\"dim\">{}</td></tr>\n",
                escaped(&variable.name),
                escaped(&variable.value),
                escaped(variable.kind.as_deref().unwrap_or_default())
            ));
        }
        block.push_str("</table>\n");
    }
    block + "</details>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_cannot_become_markup() {
        assert_eq!(
            super::escaped("<img src=x onerror=\"a\">&"),
            "&lt;img src=x onerror=&quot;a&quot;&gt;&amp;"
        );
    }
}
