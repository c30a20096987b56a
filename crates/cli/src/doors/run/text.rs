//! A run as text: the answer on standard output, everything else on standard error.
//!
//! On a terminal words appear as they come. In a pipe a turn is held back until it is known whether it is the
//! answer, so that what is piped on is the answer and nothing else.

use std::io::IsTerminal;

use stepwell_protocol::{
    AnswerOrigin, ErrorReport, Event, EventRecord, Part, RunEnd, TaskId, ToolCall, ToolDetail, ToolResult,
};
use stepwell_transcript::{CheckpointMark, Transcript};

use super::{RunResult, Show};
use crate::doors::demo::DEMO_VARIABLE;
use crate::language::Language;
use crate::terminal::{self, Style, harmless, visible};

pub struct TextShow {
    quiet: bool,
    language: Language,
    style: Style,
    /// Words are shown as they come.
    live: bool,
    /// Whether live words stand in a line that is not ended yet.
    in_line: bool,
    /// Whether live words of the current message were shown.
    shown_live: bool,
    /// Calls of the current turn.
    calls: usize,
}

impl TextShow {
    pub fn new(quiet: bool, language: Language) -> Self {
        Self {
            quiet,
            language,
            style: Style::for_stderr(),
            live: std::io::stdout().is_terminal(),
            in_line: false,
            shown_live: false,
            calls: 0,
        }
    }

    fn end_line(&mut self) {
        if self.in_line {
            terminal::out("\n");
            self.in_line = false;
        }
    }

    fn print_error(&self, error: &ErrorReport) {
        let message = harmless(&self.language.describe(error));
        terminal::error_line(&format!("{} {message}", self.style.red(self.language.error())));
        self.print_hint(error);
    }

    fn print_hint(&self, error: &ErrorReport) {
        if let Some(hint) = &error.hint {
            terminal::error_line(&format!("\n{} {}", self.style.cyan(self.language.hint()), harmless(hint)));
        }
    }

    /// What a call changed and under which number it can be undone.
    fn changed_line(&self, mark: &CheckpointMark) -> String {
        let CheckpointMark { checkpoint, changed, files } = mark;
        let names: Vec<&str> = files.iter().take(3).map(|file| file.path.as_str()).collect();
        let more = changed.saturating_sub(names.len() as u64);
        let names = harmless(&names.join(", "));
        match (self.language, more) {
            (Language::English, 0) => format!("  changed {names} (checkpoint {checkpoint})"),
            (Language::English, more) => {
                format!("  changed {names} and {more} more (checkpoint {checkpoint})")
            }
            (Language::Chinese, 0) => format!("  已更改 {names}（检查点 {checkpoint}）"),
            (Language::Chinese, more) => {
                format!("  已更改 {names} 等，另有 {more} 个（检查点 {checkpoint}）")
            }
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

    fn event(&mut self, record: &EventRecord, transcript: &Transcript) {
        match &record.event {
            Event::Token { content, .. } if self.live => {
                terminal::out(&harmless(content));
                self.shown_live = true;
                self.in_line = !content.ends_with('\n');
            }
            Event::AnswerRestarted { .. } if self.shown_live => {
                self.shown_live = false;
                let line = self
                    .language
                    .pick("the connection was lost; the answer starts again", "连接中断，重新开始回答");
                self.note(&self.style.yellow(&format!("  {line}")));
            }
            Event::Thought { parts, .. } => {
                self.calls = 0;
                self.thought(parts);
            }
            Event::Action { call, .. } => {
                self.calls += 1;
                self.note(&action_line(self.style, call));
            }
            Event::Observation { result } => {
                let lines = observation_lines(self.style, result);
                // Results of calls that ran side by side stand below all of them, so each says whose it is.
                if self.calls > 1 && !lines.is_empty() {
                    self.note(&self.style.dim(&format!("  {}:", harmless(&result.tool))));
                }
                for line in lines {
                    self.note(&line);
                }
                // A diff says it already.
                let has_diff = matches!(result.detail, Some(ToolDetail::Diff { .. }));
                let mark = transcript.card(&result.call_id).and_then(|card| card.checkpoint.as_ref());
                if let Some(mark) = mark.filter(|_| !has_diff) {
                    self.note(&self.style.dim(&self.changed_line(mark)));
                }
            }
            Event::Answer { content, origin, .. } => {
                // A completion was not streamed: it stood in a call's arguments.
                self.shown_live &= *origin == AnswerOrigin::Text;
                self.answer(content);
            }
            Event::Retrying { attempt, limit, delay_ms, reason } => {
                let seconds = *delay_ms as f64 / 1000.0;
                let line = match self.language {
                    Language::English => format!("  retry {attempt} of {limit} in {seconds:.1} s: {reason}"),
                    Language::Chinese => {
                        format!("  {seconds:.1} 秒后重试（第 {attempt} 次，共 {limit} 次）：{reason}")
                    }
                };
                self.note(&self.style.yellow(&line));
            }
            Event::Notice { text } => self.note(&self.style.yellow(&format!("  {}", harmless(text)))),
            Event::ContextTruncated { dropped_messages, .. } => {
                let line = match self.language {
                    Language::English => {
                        format!("  {dropped_messages} older messages no longer fit the model's window")
                    }
                    Language::Chinese => format!("  {dropped_messages} 条较早的消息已放不进模型窗口"),
                };
                self.note(&self.style.yellow(&line));
            }
            Event::QuestionAsked { question } => {
                self.note(&format!("{} {}", self.style.cyan("?"), harmless(&question.text)));
            }
            Event::QuestionAnswered { answer, .. } => {
                let said = answer
                    .option
                    .as_deref()
                    .or(answer.text.as_deref())
                    .unwrap_or(self.language.pick("nobody can answer", "没有人可以回答"));
                self.note(&self.style.dim(&format!("  {}", harmless(said))));
            }
            _ => {}
        }
    }

    fn end(&mut self, result: &RunResult) {
        self.end_line();
        match &result.end {
            RunEnd::Failed { error } => self.print_error(error),
            // What was reached is the answer above; only what to do is left to say.
            RunEnd::Stopped { error } => self.print_hint(error),
            RunEnd::Cancelled => terminal::error_line(
                self.language.pick("interrupted; everything received is kept", "已中断；收到的内容都已保存"),
            ),
            RunEnd::Answered | RunEnd::Paused => {}
        }
        if result.exit == crate::exit::Exit::Refused {
            let refused = harmless(&result.refused.join("; "));
            let hint = result.needed.told(self.language);
            let what = match self.language {
                Language::English => format!("refused without approval: {refused}"),
                Language::Chinese => format!("未经批准，已拒绝：{refused}"),
            };
            terminal::error_line(&format!(
                "{} {what}\n\n{} {hint}",
                self.style.red(self.language.error()),
                self.style.cyan(self.language.hint()),
            ));
        }
        if !self.quiet {
            let cost = result.usage.cost_usd.map_or(String::new(), |cost| format!(", ${cost:.4}"));
            let (input, output) = (result.usage.total_input(), result.usage.output_tokens);
            let (turns, seconds, task) =
                (self.language.turns(result.turns), result.duration.as_secs_f64(), result.number);
            let resume = match self.language {
                _ if std::env::var_os(DEMO_VARIABLE).is_some() => String::new(),
                Language::English => format!("; resume with `stepwell run --resume {task}`"),
                Language::Chinese => format!("；用 `stepwell run --resume {task}` 继续"),
            };
            let line = match self.language {
                Language::English => {
                    format!("{turns}, {input} in, {output} out{cost}, {seconds:.1} s{resume}")
                }
                Language::Chinese => {
                    format!("{turns}，输入 {input}，输出 {output}{cost}，{seconds:.1} s{resume}")
                }
            };
            terminal::error_line(&self.style.dim(&line));
        }
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
    format!("{} {} {}", style.cyan("●"), style.bold(&visible(&call.name)), visible(&short))
}

/// What of a result a person wants to see: why it failed, how a command ended, what an edit changed.
fn observation_lines(style: Style, result: &ToolResult) -> Vec<String> {
    const LONGEST_DIFF: usize = 24;
    if let Some(error) = &result.error {
        let first = error.message.lines().next().unwrap_or_default();
        return vec![style.red(&format!("  {}", harmless(first)))];
    }
    let diff = match &result.detail {
        Some(ToolDetail::Command { command }) => {
            let code = command.exit_code.filter(|code| *code != 0);
            return code.map(|code| style.yellow(&format!("  exit code {code}"))).into_iter().collect();
        }
        Some(detail) => detail.diff(),
        None => None,
    };
    let Some(diff) = diff else { return Vec::new() };
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
        lines.push(style.dim(&format!("  … {} more lines", changes.len() - LONGEST_DIFF)));
    }
    lines
}
