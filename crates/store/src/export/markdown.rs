//! A task for reading: what the person saw, tool calls folded away.

use std::fmt::Write;

use jiff::Timestamp as Moment;
use serde_json::Value;
use stepwell_protocol::{
    AnswerOrigin, EventRecord, MessageId, Part, Timestamp, ToolCall, ToolDetail, ToolResult,
};

use stepwell_transcript::{Entry, TaskSummary, Transcript};

use crate::{Home, shown_state};

/// What of a task is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// Names each message by its id.
    pub message_ids: bool,
    /// Leaves out all entries but the last so many.
    pub last_entries: Option<usize>,
}

/// The whole task as Markdown, with its state as [`shown_state`] names it.
pub fn to_markdown(home: &Home, records: &[EventRecord]) -> String {
    to_markdown_with(home, records, MarkdownOptions::default())
}

/// A task as Markdown, as the options say.
pub fn to_markdown_with(home: &Home, records: &[EventRecord], options: MarkdownOptions) -> String {
    let transcript = Transcript::of(records);
    let mut out = String::new();
    head(&mut out, home, &transcript.summary);
    let is_shown = |entry: &Entry| !matches!(entry, Entry::Request { .. });
    let count = transcript.items().iter().filter(|item| is_shown(&item.entry)).count();
    let skipped = options.last_entries.map_or(0, |last| count.saturating_sub(last));
    if skipped > 0 {
        writeln!(out, "> {skipped} earlier entries are left out\n").ok();
    }
    for item in transcript.items().iter().filter(|item| is_shown(&item.entry)).skip(skipped) {
        if let Some(id) = message_id(&item.entry).filter(|_| options.message_ids) {
            writeln!(out, "`{id}`\n").ok();
        }
        entry(&mut out, &item.entry, item.ts);
    }
    let trimmed = out.trim_end().len();
    out.truncate(trimmed);
    out.push('\n');
    out
}

// Writing to a string cannot fail, so the results are dropped throughout this file.
fn head(out: &mut String, home: &Home, summary: &TaskSummary) {
    let title = one_line(summary.display_title());
    writeln!(out, "# {}\n", if title.is_empty() { "Untitled task" } else { title.as_str() }).ok();
    let Some(info) = &summary.info else { return };
    let usage = &summary.totals.usage;
    writeln!(out, "- Task: `{}` (#{})", info.id, info.number).ok();
    writeln!(out, "- Workspace: `{}`", info.workspace).ok();
    let state = shown_state(home, &info.id, summary.state);
    writeln!(out, "- Mode: {}, model: {}, state: {state}", summary.mode, summary.model).ok();
    writeln!(out, "- Created: {}, updated: {}", moment(info.created_at), moment(summary.updated_at)).ok();
    write!(out, "- Tokens: {} in, {} out", usage.total_input(), usage.output_tokens).ok();
    if let Some(cost) = usage.cost_usd {
        write!(out, "; cost: ${cost:.4}").ok();
    }
    out.push_str("\n\n");
}

/// The message that an entry is, or a part of.
fn message_id(entry: &Entry) -> Option<&MessageId> {
    match entry {
        Entry::User { message } => Some(&message.id),
        Entry::Thought { message_id, .. } | Entry::Answer { message_id, .. } => Some(message_id),
        _ => None,
    }
}

fn entry(out: &mut String, entry: &Entry, ts: Timestamp) {
    match entry {
        Entry::User { message } => {
            writeln!(out, "## User ({})\n", moment(ts)).ok();
            let images = message.parts.iter().filter(|part| matches!(part, Part::Image { .. })).count();
            paragraph(out, &message.said());
            if images > 0 {
                writeln!(out, "*({images} image{} attached)*\n", if images == 1 { "" } else { "s" }).ok();
            }
        }
        Entry::Thought { text, reasoning, .. } => {
            if !reasoning.is_empty() {
                details(out, "Reasoning", |out| fenced(out, "text", reasoning));
            }
            if !text.is_empty() {
                out.push_str("## Assistant\n\n");
                paragraph(out, text);
            }
        }
        Entry::Tool(card) => action(out, &card.call, card.result.as_ref()),
        Entry::Approval { request, resolved } => {
            let answer = match resolved {
                Some((answer, _)) if answer.is_yes() => "approved",
                Some(_) => "refused",
                None => "not answered",
            };
            let what = Some(one_line(&request.preview.summary)).filter(|summary| !summary.is_empty());
            writeln!(out, "> Approval of {}: {answer}\n", what.unwrap_or_else(|| request.call.name.clone()))
                .ok();
        }
        Entry::Question { question, answer } => {
            out.push_str("## Question\n\n");
            paragraph(out, &question.text);
            for option in &question.options {
                writeln!(out, "- {}", one_line(&option.label)).ok();
            }
            let chosen = answer.as_ref().and_then(|answer| {
                let label = question.options.iter().find(|option| Some(&option.id) == answer.option.as_ref());
                answer.text.clone().or(label.map(|option| option.label.clone())).or(answer.option.clone())
            });
            writeln!(out, "\n**Answer:** {}\n", one_line(chosen.as_deref().unwrap_or("none"))).ok();
        }
        Entry::Answer { content, reasoning, origin, unfinished, .. } => {
            if !reasoning.is_empty() {
                details(out, "Reasoning", |out| fenced(out, "text", reasoning));
            }
            out.push_str(match origin {
                AnswerOrigin::Text => "## Assistant\n\n",
                AnswerOrigin::Completion => "## Result\n\n",
                AnswerOrigin::Stopped => "## Stopped\n\n",
            });
            paragraph(out, content);
            if *unfinished {
                out.push_str("*(The answer was cut off here.)*\n\n");
            }
        }
        Entry::Plan { plan } => {
            writeln!(out, "## Plan: {}\n", one_line(&plan.goal)).ok();
            for step in &plan.steps {
                let mark = step.status.mark();
                writeln!(out, "- [{mark}] {}", one_line(&step.description)).ok();
            }
            out.push('\n');
        }
        Entry::Step { step, status, result, evidence } => {
            writeln!(out, "> Step {step} {}: {}", status.name(), one_line(result)).ok();
            if let Some(evidence) = evidence {
                writeln!(out, ">\n> Checked: {}", one_line(evidence)).ok();
            }
            out.push('\n');
        }
        Entry::Mode { mode, .. } => {
            writeln!(out, "> Mode: {}\n", one_line(mode)).ok();
        }
        Entry::Model { model } => {
            writeln!(out, "> Model: {}\n", one_line(model)).ok();
        }
        Entry::PermissionMode { permission_mode } => {
            writeln!(out, "> Permission mode: {}\n", permission_mode.name()).ok();
        }
        Entry::Subtask { number, title, mode, end, .. } => {
            let end = end.as_ref().map_or("running", |end| end.task_state().name());
            writeln!(out, "> Sub-task #{number} ({mode}): {}, {end}\n", one_line(title)).ok();
        }
        Entry::Condensed { condensing } => {
            writeln!(out, "> {} older messages are sent to the model as a summary:\n>", condensing.replaced)
                .ok();
            for line in condensing.summary.lines() {
                writeln!(out, "> {line}").ok();
            }
            out.push('\n');
        }
        Entry::OutputsDropped { outputs, bytes } => {
            writeln!(out, "> {outputs} large outputs ({bytes} bytes) are no longer sent to the model\n").ok();
        }
        Entry::CondensingUndone => out.push_str("> The last condensing was undone\n\n"),
        Entry::ContextTruncated { dropped_messages } => {
            writeln!(out, "> {dropped_messages} older messages were left out of the context\n").ok();
        }
        Entry::Error { error } => {
            writeln!(out, "> **Error:** {}\n", one_line(&error.message)).ok();
        }
        Entry::Notice { text } => {
            writeln!(out, "> {}\n", one_line(text)).ok();
        }
        Entry::Request { .. } => {}
    }
}

fn action(out: &mut String, call: &ToolCall, result: Option<&ToolResult>) {
    let outcome = match result {
        Some(result) if result.is_success() => "",
        Some(_) => " (failed)",
        None => " (no result)",
    };
    details(out, &format!("Tool: {}{outcome}", call.name), |out| {
        let arguments = match &call.arguments {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        fenced(out, "json", &arguments);
        let Some(result) = result else { return };
        if let Some(diff) = result.detail.as_ref().and_then(ToolDetail::diff) {
            fenced(out, "diff", &diff);
        }
        fenced(out, "text", &result.output);
        for artifact in &result.artifacts {
            writeln!(out, "- {}: `{}` ({} bytes)", one_line(&artifact.label), artifact.path, artifact.bytes)
                .ok();
        }
    });
}

fn details(out: &mut String, summary: &str, body: impl FnOnce(&mut String)) {
    let summary = one_line(summary).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    writeln!(out, "<details>\n<summary>{summary}</summary>\n").ok();
    body(out);
    out.push_str("</details>\n\n");
}

/// Fences text so that nothing in it can end the fence.
fn fenced(out: &mut String, language: &str, text: &str) {
    let mut longest = 0;
    let mut run = 0;
    for character in text.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    writeln!(out, "{fence}{language}\n{text}{end}{fence}\n").ok();
}

fn paragraph(out: &mut String, text: &str) {
    let text = text.trim_end();
    if !text.is_empty() {
        out.push_str(text);
        out.push_str("\n\n");
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn moment(ts: Timestamp) -> String {
    match Moment::from_millisecond(ts.0) {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => ts.0.to_string(),
    }
}
