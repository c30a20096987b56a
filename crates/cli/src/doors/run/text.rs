//! A run as text: the answer on standard output, everything else on standard error.
//!
//! On a terminal words appear as they come. In a pipe a turn is held back until it is known whether it is the
//! answer, so that what is piped on is the answer and nothing else.

use std::io::IsTerminal;

use stepwell_agent::RunEnd;
use stepwell_protocol::{AnswerOrigin, ErrorReport, Event, EventRecord, Part, TaskId, ToolCall, ToolResult};

use super::{RunResult, Show};
use crate::terminal::{self, Style, harmless};

pub struct TextShow {
    quiet: bool,
    style: Style,
    /// Words are shown as they come.
    live: bool,
    /// Whether live words stand in a line that is not ended yet.
    in_line: bool,
    /// Whether live words of the current message were shown.
    shown_live: bool,
}

impl TextShow {
    pub fn new(quiet: bool) -> Self {
        Self {
            quiet,
            style: Style::for_stderr(),
            live: std::io::stdout().is_terminal(),
            in_line: false,
            shown_live: false,
        }
    }

    fn end_line(&mut self) {
        if self.in_line {
            terminal::out("\n");
            self.in_line = false;
        }
    }

    fn note(&mut self, line: &str) {
        if !self.quiet {
            self.end_line();
            terminal::error_line(line);
        }
    }

    fn thought(&mut self, parts: &[Part]) {
        // Live, the words stand there already.
        if self.shown_live {
            self.shown_live = false;
            self.end_line();
            return;
        }
        for part in parts {
            if let Part::Text { text } = part
                && !text.trim().is_empty()
            {
                self.note(&self.style.dim(&harmless(text.trim_end())));
            }
        }
    }

    fn answer(&mut self, content: &str) {
        if self.shown_live {
            self.shown_live = false;
            self.end_line();
            return;
        }
        terminal::out(content);
        if !content.ends_with('\n') {
            terminal::out("\n");
        }
    }
}

impl Show for TextShow {
    fn begin(&mut self, _task: &TaskId) {}

    fn event(&mut self, record: &EventRecord) {
        match &record.event {
            Event::Token { content, .. } if self.live => {
                terminal::out(&harmless(content));
                self.shown_live = true;
                self.in_line = !content.ends_with('\n');
            }
            Event::AnswerRestarted { .. } if self.shown_live => {
                self.shown_live = false;
                self.note(&self.style.yellow("  the connection was lost; the answer starts again"));
            }
            Event::Thought { parts, .. } => self.thought(parts),
            Event::Action { call, .. } => self.note(&action_line(self.style, call)),
            Event::Observation { result } => {
                if let Some(line) = observation_line(self.style, result) {
                    self.note(&line);
                }
            }
            Event::Answer { content, origin, .. } => {
                // A completion was not streamed: it stood in a call's arguments.
                self.shown_live &= *origin == AnswerOrigin::Text;
                self.answer(content);
            }
            Event::Retrying { attempt, limit, delay_ms, reason } => {
                let line = format!("  retry {attempt} of {limit} in {:.1} s: {reason}", *delay_ms as f64 / 1000.0);
                self.note(&self.style.yellow(&line));
            }
            Event::Notice { text } => self.note(&self.style.yellow(&format!("  {}", harmless(text)))),
            Event::ContextTruncated { dropped_messages, .. } => {
                let line = format!("  {dropped_messages} older messages no longer fit the model's window");
                self.note(&self.style.yellow(&line));
            }
            Event::ApprovalResolved { answer, .. } if !answer.is_yes() => {
                self.note(&self.style.red("  refused: nobody is there to approve it"));
            }
            Event::QuestionAsked { question } => {
                self.note(&format!("{} {}", self.style.cyan("?"), harmless(&question.text)));
            }
            Event::QuestionAnswered { answer, .. } => {
                let said = answer.option.as_deref().or(answer.text.as_deref()).unwrap_or("nobody can answer");
                self.note(&self.style.dim(&format!("  {}", harmless(said))));
            }
            _ => {}
        }
    }

    fn end(&mut self, result: &RunResult) {
        self.end_line();
        match &result.end {
            RunEnd::Failed(error) | RunEnd::Stopped(error) => print_error(error),
            RunEnd::Cancelled => terminal::error_line("interrupted; everything received is kept"),
            RunEnd::Answered(_) | RunEnd::Paused => {}
        }
        if result.exit == crate::exit::Exit::Refused {
            let modes = "--permission-mode acceptEdits or bypassPermissions";
            terminal::error_line(&format!(
                "{} {} refused: {}\n\n{} allow it with {modes}",
                self.style.red("error:"),
                plural(result.refused.len(), "approval"),
                result.refused.join("; "),
                self.style.cyan("hint:"),
            ));
        }
        if !self.quiet {
            let cost = result.usage.cost_usd.map_or(String::new(), |cost| format!(", ${cost:.4}"));
            let line = format!(
                "{}, {} in, {} out{cost}, {:.1} s; resume with `stepwell run --resume {}`",
                plural(result.turns as usize, "turn"),
                result.usage.total_input(),
                result.usage.output_tokens,
                result.duration.as_secs_f64(),
                result.task,
            );
            terminal::error_line(&self.style.dim(&line));
        }
    }
}

fn print_error(error: &ErrorReport) {
    let style = Style::for_stderr();
    terminal::error_line(&format!("{} {}", style.red("error:"), harmless(&error.message)));
    if let Some(hint) = &error.hint {
        terminal::error_line(&format!("\n{} {}", style.cyan("hint:"), harmless(hint)));
    }
}

/// The call in one line: the tool and the argument that says most.
fn action_line(style: Style, call: &ToolCall) -> String {
    const SPEAKING: [&str; 7] = ["command", "file_path", "path", "pattern", "question", "result", "url"];
    const LONGEST: usize = 100;
    let argument = SPEAKING.iter().find_map(|name| call.arguments.get(name)?.as_str()).unwrap_or_default();
    let line = argument.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(LONGEST).collect();
    if short.len() < argument.len() {
        short.push('…');
    }
    format!("{} {} {}", style.cyan("●"), style.bold(&harmless(&call.name)), harmless(&short))
}

fn observation_line(style: Style, result: &ToolResult) -> Option<String> {
    let error = result.error.as_ref()?;
    let first = error.message.lines().next().unwrap_or_default();
    Some(style.red(&format!("  {}", harmless(first))))
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
