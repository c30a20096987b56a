//! A run as text: the answer on standard output, everything else on standard error.
//!
//! On a terminal words appear as they come. In a pipe a turn is held back until it is known whether it is the
//! answer, so that what is piped on is the answer and nothing else.

use std::io::IsTerminal;

use stepwell_protocol::{AnswerOrigin, ErrorReport, Event, EventRecord, Part, RunEnd, TaskId, ToolDetail};
use stepwell_transcript::{CheckpointMark, Transcript};

use super::Show;
use super::notes::{action_line, observation_lines, plan_lines, step_line, todo_lines};
use super::result::RunResult;
use crate::args::RunArgs;
use crate::doors::demo::DEMO_VARIABLE;
use crate::language::Language;
use crate::terminal::{self, Style, harmless};

pub struct TextShow {
    quiet: bool,
    language: Language,
    style: Style,
    /// Words are shown as they come.
    live: bool,
    /// The answer is checked first, and shown at the end.
    holds_answer: bool,
    /// Whether live words stand in a line that is not ended yet.
    in_line: bool,
    /// Whether live words of the current message were shown.
    shown_live: bool,
    /// Calls of the current turn.
    calls: usize,
}

impl TextShow {
    pub fn new(args: &RunArgs, language: Language) -> Self {
        let holds_answer = args.output_schema.is_some();
        Self {
            quiet: args.quiet,
            language,
            style: Style::for_stderr(),
            live: std::io::stdout().is_terminal() && !holds_answer,
            holds_answer,
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
            terminal::error_line(&format!(
                "\n{} {}",
                self.style.cyan(self.language.hint()),
                harmless(&self.language.say(hint))
            ));
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
                let line = self.language.word("the connection was lost; the answer starts again");
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
                let lines = observation_lines(self.style, self.language, result);
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
            Event::Plan { plan, .. } => {
                for line in plan_lines(self.style, plan) {
                    self.note(&line);
                }
            }
            Event::StepComplete { step, result, status, evidence } => {
                let told = evidence.as_deref().unwrap_or(result);
                self.note(&step_line(self.style, *step, *status, told));
            }
            Event::SubtaskStarted { number, title, mode, agent, .. } => {
                let who = agent.as_deref().unwrap_or(mode);
                self.note(&self.style.dim(&format!("  ↳ #{number} {}: {}", harmless(who), harmless(title))));
            }
            Event::Todo { items } => {
                for line in todo_lines(self.style, items) {
                    self.note(&line);
                }
            }
            Event::Answer { .. } if self.holds_answer => {}
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
            Event::Notice { text } => {
                self.note(&self.style.yellow(&format!("  {}", harmless(&self.language.say(text)))));
            }
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
                    .unwrap_or(self.language.word("nobody can answer"));
                self.note(&self.style.dim(&format!("  {}", harmless(said))));
            }
            _ => {}
        }
    }

    fn end(&mut self, result: &RunResult) {
        self.end_line();
        if let (true, Some(answer)) = (self.holds_answer, result.answer()) {
            self.answer(answer);
        }
        if let Some(problems) = result.misfit() {
            let what =
                self.language.word("the answer does not fit the schema, also after it was asked for again:");
            let problems = harmless(&problems.join("\n  "));
            terminal::error_line(&format!("{} {what}\n  {problems}", self.style.red(self.language.error())));
        }
        match &result.end {
            RunEnd::Failed { error } => self.print_error(error),
            // What was reached is the answer above; only what to do is left to say.
            RunEnd::Stopped { error } => self.print_hint(error),
            RunEnd::Cancelled => {
                terminal::error_line(self.language.word("interrupted; everything received is kept"));
            }
            RunEnd::Answered | RunEnd::Paused => {}
        }
        if result.exit == crate::exit::Exit::Refused && !result.refused.is_empty() {
            let refused: Vec<_> = result.refused.iter().map(|what| self.language.say(what)).collect();
            let refused = harmless(&refused.join("; "));
            let hint = result.needed.told(self.language);
            let what = self.language.word("refused without approval: {}").replace("{}", &refused);
            terminal::error_line(&format!(
                "{} {what}\n\n{} {hint}",
                self.style.red(self.language.error()),
                self.style.cyan(self.language.hint()),
            ));
        }
        if !self.quiet {
            let cost = result.usage.cost_usd.map_or(String::new(), |cost| format!(", ${cost:.4}"));
            let (input, output) = (result.usage.total_input(), result.usage.output_tokens);
            let (turns, seconds) = (self.language.turns(result.turns), result.duration.as_secs_f64());
            let number = result.number.filter(|_| std::env::var_os(DEMO_VARIABLE).is_none());
            let resume = match (self.language, number) {
                (_, None) => String::new(),
                (Language::English, Some(task)) => format!("; resume with `stepwell run --resume {task}`"),
                (Language::Chinese, Some(task)) => format!("；用 `stepwell run --resume {task}` 继续"),
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
