//! The report for a terminal.

use std::path::Path;

use stepwell_debug::failure::{CauseKind, FailureFrame, FailureReport, ValueHistory, Verdict, WriteKind};

use crate::language::Language;
use crate::terminal::{Style, harmless};

/// Lines of output that are shown.
const OUTPUT_LINES: usize = 12;
/// Lines of an exception's message after its first.
const MESSAGE_LINES: usize = 6;
/// Variables of the failing frame beside those of its line.
const LOCALS: usize = 12;

pub fn render(report: &FailureReport, language: Language, style: Style) -> String {
    let mut page = Page { text: String::new(), language, style };
    page.head(report);
    page.values(&report.values);
    page.locals(report);
    page.recursion(report);
    page.callers(report);
    page.causes(report);
    page.blocked(report);
    page.failures(report);
    page.output(report);
    page.text
}

/// A report that is being written.
struct Page {
    text: String,
    language: Language,
    style: Style,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn title(&mut self, english: &str, chinese: &str) {
        let title = self.style.bold(self.language.pick(english, chinese));
        self.line(&format!("\n  {title}"));
    }

    fn place(&self, file: &str, line: i64) -> String {
        self.style.cyan(&format!("{}:{line}", shown(file)))
    }

    fn head(&mut self, report: &FailureReport) {
        let (style, language) = (self.style, self.language);
        let mark = match report.verdict {
            Verdict::Passed => style.green("✓"),
            Verdict::Failed => style.red("✗"),
            Verdict::Hangs => style.yellow("…"),
        };
        self.line(&format!("\n{mark} {}", style.bold(&headline(report, language))));
        if let Some(exception) = &report.exception {
            for more in exception.message.trim().lines().skip(1).take(MESSAGE_LINES) {
                self.line(&format!("  {}", harmless(more)));
            }
        }
        if let Some(place) = &report.place {
            let function = if place.function.is_empty() {
                String::new()
            } else {
                style.dim(&format!(" {} {}", language.word("in"), harmless(&place.function)))
            };
            self.line(&format!("  {}{function}", self.place(&place.file, place.line)));
        }
        if let Some(test) = &report.test {
            self.line(&format!("  {} {}", style.dim(language.word("test")), harmless(test)));
        }
        if let Some(number) = report.failure {
            let all = report.failures.len();
            let (english, chinese) = (
                format!("failure {number} of {all}; `--failure N` shows another"),
                format!("第 {number} 个失败，共 {all} 个；用 `--failure N` 查看其他失败"),
            );
            self.line(&style.dim(&format!("  {}", language.pick(&english, &chinese))));
        }
        if let Some(source) = report.frames.first().and_then(|frame| frame.source.as_deref()) {
            self.line("");
            for source in source.lines() {
                let is_marked = source.starts_with('→');
                let source = harmless(source);
                self.line(&format!("  {}", if is_marked { style.red(&source) } else { style.dim(&source) }));
            }
        }
    }

    fn values(&mut self, values: &[ValueHistory]) {
        if values.is_empty() {
            return;
        }
        self.title("values", "相关的值");
        self.value_rows(values, 4);
    }

    fn value_rows(&mut self, values: &[ValueHistory], indent: usize) {
        let width = values.iter().map(|value| value.name.chars().count()).max().unwrap_or_default();
        for value in values {
            let name = format!("{:<width$}", harmless(&value.name));
            self.line(&format!("{:indent$}{} = {}", "", self.style.cyan(&name), harmless(&value.value)));
            for story in history(value, self.language) {
                self.line(&self.style.dim(&format!("{:indent$}{:width$}   {story}", "", "")));
            }
        }
    }

    /// The variables of the failing frame that the failing line does not name.
    fn locals(&mut self, report: &FailureReport) {
        let Some(frame) = report.frames.first() else { return };
        let is_named = |name: &str| report.values.iter().any(|value| value.name == name);
        let rows: Vec<_> = frame.variables.iter().filter(|row| !is_named(&row.name)).take(LOCALS).collect();
        if rows.is_empty() {
            return;
        }
        self.title("other variables here", "此处的其他变量");
        let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
        for row in rows {
            self.line(&format!("    {:<width$} = {}", harmless(&row.name), harmless(&row.value)));
        }
    }

    fn recursion(&mut self, report: &FailureReport) {
        let Some(recursion) = &report.recursion else { return };
        let (english, chinese) = (
            format!("calls that repeat, {} times", recursion.rounds),
            format!("重复的调用，共 {} 次", recursion.rounds),
        );
        self.title(&english, &chinese);
        for step in &recursion.steps {
            let place = self.place(&step.file, step.line);
            let source = self.style.dim(&harmless(&step.source));
            self.line(&format!("    {} {place}  {source}", harmless(&step.function)));
            for argument in &step.arguments {
                let values: Vec<String> = argument
                    .first
                    .iter()
                    .map(String::as_str)
                    .chain(["…"])
                    .chain(argument.last.iter().map(String::as_str))
                    .map(harmless)
                    .collect();
                self.line(&format!(
                    "      {} = {}",
                    self.style.cyan(&harmless(&argument.name)),
                    values.join(", ")
                ));
            }
        }
    }

    fn callers(&mut self, report: &FailureReport) {
        if report.frames.len() > 1 {
            self.title("called from", "调用自");
            for frame in report.frames.iter().skip(1) {
                let code = marked_source(frame).map(|code| self.style.dim(&harmless(code)));
                let place = self.place(&frame.file, frame.line);
                self.line(&format!(
                    "    {} {place}  {}",
                    harmless(&frame.function),
                    code.unwrap_or_default()
                ));
                self.value_rows(&frame.values, 6);
            }
        }
        if report.library_frames > 0 && report.frames.len() > 1 {
            let (english, chinese) = (
                format!("{} library frames left out", report.library_frames),
                format!("省略了 {} 个库的栈帧", report.library_frames),
            );
            self.line(&self.style.dim(&format!("    {}", self.language.pick(&english, &chinese))));
        }
    }

    fn causes(&mut self, report: &FailureReport) {
        for cause in &report.causes {
            let title = cause_title(cause.how, self.language);
            self.title(title, title);
            self.line(&format!("    {}", harmless(&cause.exception.headline())));
            if let Some(place) = &cause.place {
                let at = self.place(&place.file, place.line);
                self.line(&format!("    {at}  {}", self.style.dim(&harmless(&place.source))));
            }
            for row in cause.variables.iter().take(LOCALS / 2) {
                self.line(&format!(
                    "      {} = {}",
                    self.style.cyan(&harmless(&row.name)),
                    harmless(&row.value)
                ));
            }
        }
    }

    fn blocked(&mut self, report: &FailureReport) {
        if report.blocked.is_empty() {
            return;
        }
        self.title("who waits for what", "各自在等待什么");
        for thread in &report.blocked {
            let waits = self.style.yellow(&harmless(&thread.waits_for));
            let place = thread.place.as_ref().map(|place| {
                let at = self.place(&place.file, place.line);
                format!("{at} {}  {}", harmless(&place.function), self.style.dim(&harmless(&place.source)))
            });
            self.line(&format!("    {} {waits}  {}", harmless(&thread.name), place.unwrap_or_default()));
        }
    }

    fn failures(&mut self, report: &FailureReport) {
        if report.failures.len() < 2 {
            return;
        }
        self.title("all failures", "全部失败");
        for failure in &report.failures {
            let mark = if Some(failure.number) == report.failure { "→" } else { " " };
            let place = match (&failure.file, failure.line) {
                (Some(file), Some(line)) => format!(" {}", self.place(file, line)),
                _ => String::new(),
            };
            let test = failure.test.as_deref().map(|test| format!(" {}", harmless(test))).unwrap_or_default();
            let message = self.style.dim(&harmless(failure.message.lines().next().unwrap_or_default()));
            self.line(&format!("   {mark}{:>2}{test}{place}  {message}", failure.number));
        }
    }

    fn output(&mut self, report: &FailureReport) {
        let printed: Vec<&str> = report.output.trim_end().lines().collect();
        if !printed.is_empty() && report.verdict != Verdict::Passed {
            self.title("output", "输出");
            if printed.len() > OUTPUT_LINES {
                let earlier = self.language.word("earlier lines are left out");
                self.line(&self.style.dim(&format!("    … {earlier}")));
            }
            for printed in printed.iter().skip(printed.len().saturating_sub(OUTPUT_LINES)) {
                self.line(&format!("    {}", harmless(printed)));
            }
        }
        if let Some(code) = report.exit_code.filter(|code| *code != 0) {
            let signal = report.signal.as_deref().map(|signal| format!(" ({signal})")).unwrap_or_default();
            let code = format!("\n  {} {code}{signal}", self.language.word("exit code"));
            self.line(&self.style.dim(&code));
        }
        for note in &report.notes {
            self.line(&self.style.yellow(&format!("  {}", harmless(&self.language.say(note)))));
        }
    }
}

/// Returns what a report has beside its values and frames, as titled lists: repeating calls, causes, waiting threads.
pub fn further(report: &FailureReport, language: Language) -> Vec<(&'static str, Vec<String>)> {
    let mut lists = Vec::new();
    if let Some(recursion) = &report.recursion {
        let rows = recursion.steps.iter().map(|step| {
            let arguments = step.arguments.iter().map(|argument| {
                let values = argument.first.iter().map(String::as_str).chain(["…"]);
                let values = values.chain(argument.last.iter().map(String::as_str));
                format!("{} = {}", argument.name, values.collect::<Vec<_>>().join(", "))
            });
            let arguments: Vec<String> = arguments.collect();
            format!("{} {}:{}  {}", step.function, shown(&step.file), step.line, arguments.join("; "))
        });
        lists.push((language.word("Calls that repeat"), rows.collect()));
    }
    for cause in &report.causes {
        let place = cause.place.as_ref();
        let place = place.map(|place| format!("  {}:{}: {}", shown(&place.file), place.line, place.source));
        let row = format!("{}{}", cause.exception.headline(), place.unwrap_or_default());
        lists.push((cause_title(cause.how, language), vec![row]));
    }
    if !report.blocked.is_empty() {
        let rows = report.blocked.iter().map(|thread| {
            let place = thread.place.as_ref();
            let place = place.map(|place| format!("{}:{}: {}", shown(&place.file), place.line, place.source));
            format!("{} {}  {}", thread.name, thread.waits_for, place.unwrap_or_default())
        });
        lists.push((language.word("Who waits for what"), rows.collect()));
    }
    lists
}

fn cause_title(how: CauseKind, language: Language) -> &'static str {
    let (english, chinese) = match how {
        CauseKind::Cause => ("because of", "起因"),
        CauseKind::WhileHandling => ("while handling", "发生在处理以下异常时"),
        CauseKind::Part => ("part of it", "其中之一"),
        CauseKind::HandledBefore => ("handled before it ended", "结束前处理过的异常"),
    };
    language.pick(english, chinese)
}

/// The source line that a frame stopped at.
fn marked_source(frame: &FailureFrame) -> Option<&str> {
    let marked = frame.source.as_deref()?.lines().find(|line| line.starts_with('→'))?;
    let digits = |letter: char| letter.is_ascii_digit();
    Some(marked.trim_start_matches('→').trim_start().trim_start_matches(digits).trim())
}

/// Formats the history of a value, newest write first. Observed writes and assignments that were only read from the source
/// have different wordings.
pub fn history(value: &ValueHistory, language: Language) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, write) in value.writes.iter().enumerate() {
        let place = format!("{}:{}: {}", shown(&write.file), write.line, harmless(&write.source));
        let verb = match write.how {
            WriteKind::Set => language.word("set at"),
            WriteKind::Changed => language.word("changed by"),
        };
        let inputs: Vec<String> = write
            .inputs
            .iter()
            .map(|input| format!("{} = {}", harmless(&input.name), harmless(&input.value)))
            .collect();
        let inputs = if inputs.is_empty() { String::new() } else { format!("  ({})", inputs.join(", ")) };
        let before = match &write.value {
            Some(before) if at > 0 => {
                format!("{} {}, ", language.word("before:"), harmless(before))
            }
            _ if at > 0 => format!("{} ", language.word("before that:")),
            _ => String::new(),
        };
        lines.push(format!("{before}{verb} {place}{inputs}"));
        if at == 0 && value.changed_since {
            lines.push(language.word("its contents changed later").to_owned());
        }
    }
    if let Some(origin) = value.origin.as_ref().filter(|_| value.writes.is_empty()) {
        let how = match (origin.from_caller, origin.observed) {
            (true, _) => language.word("passed at"),
            (false, true) => language.word("set at"),
            (false, false) => language.word("not observed; the source assigns it at"),
        };
        let place = format!("{}:{}", shown(&origin.file), origin.line);
        lines.push(format!("{how} {place}: {}", harmless(&origin.source)));
    }
    lines
}

pub fn headline(report: &FailureReport, language: Language) -> String {
    match (report.verdict, &report.exception) {
        (Verdict::Passed, _) => language.word("it passed").to_owned(),
        (Verdict::Hangs, _) => language.word("it did not end in time; it was here").to_owned(),
        (Verdict::Failed, Some(exception)) => harmless(&exception.headline()),
        (Verdict::Failed, None) => match (&report.signal, report.exit_code) {
            (Some(signal), _) => signal.clone(),
            (None, Some(code)) => {
                let (english, chinese) =
                    (format!("it ended with exit code {code}"), format!("以退出码 {code} 结束"));
                language.pick(&english, &chinese).to_owned()
            }
            (None, None) => harmless(&report.summary),
        },
    }
}

/// A path as short as it can be written here.
pub fn shown(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = Path::new(path);
    harmless(&path.strip_prefix(&here).unwrap_or(path).to_string_lossy())
}
