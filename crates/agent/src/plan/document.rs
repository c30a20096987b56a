//! The plan document: Markdown that a person can read and edit, taken apart into steps and written back.
//!
//! The steps are the numbered items of the section `## Steps`. Each has a line `Expected: ...`. Everything else in the
//! document is prose, which is kept as it stands.

mod labels;
mod sections;

use std::fmt::Write;

use stepwell_protocol::{CriticalFile, Plan, PlanFault, PlanStep, StepStatus};

use labels::{Label, inline_expected, label_of};
use sections::{Section, sections};

/// Largest document that is read, in bytes.
pub const LONGEST_DOCUMENT: usize = 256 * 1024;
/// Steps of a plan at most.
pub const MOST_STEPS: usize = 100;
/// Characters of a result that the document shows; the log has all of it.
const LONGEST_RESULT: usize = 300;

const HEADING: &str = "## Steps";
const NOTE: &str = "<!-- Stepwell reads this file again before each step. Change, add, reorder or delete steps that are \
not done; mark one with [-] to skip it. Finished steps stay as they are. -->";

/// A step as the document has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentStep {
    /// From 1.
    pub line: u32,
    /// The number it is written with.
    pub number: Option<u32>,
    pub mark: StepStatus,
    pub description: String,
    pub expected: String,
}

impl DocumentStep {
    /// The step of a plan, as it would stand in the document.
    pub fn of(step: &PlanStep) -> Self {
        Self {
            line: 0,
            number: Some(step.id),
            mark: step.status,
            description: tidy(&step.description),
            expected: tidy(&step.expected_outcome),
        }
    }
}

/// A document taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The title, without `Plan:`.
    pub goal: Option<String>,
    pub steps: Vec<DocumentStep>,
    /// Everything up to the first step.
    before: String,
    /// Everything after the section of the steps.
    after: String,
    has_section: bool,
}

impl Document {
    /// A document without steps.
    pub fn new(goal: &str, description: Option<&str>) -> Self {
        let description = description.map(str::trim).filter(|text| !text.is_empty());
        let description = description.map(|text| format!("\n\n{text}")).unwrap_or_default();
        Self {
            goal: Some(goal.to_owned()),
            steps: Vec::new(),
            before: format!("# Plan: {goal}\n\n{NOTE}{description}\n"),
            after: String::new(),
            has_section: false,
        }
    }

    /// Takes a document apart, or tells every fault with its line.
    pub fn parse(text: &str) -> Result<Self, Vec<PlanFault>> {
        if text.len() > LONGEST_DOCUMENT {
            let message = format!("the document is longer than {} KiB", LONGEST_DOCUMENT / 1024);
            return Err(vec![PlanFault { line: 1, message }]);
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        let lines: Vec<&str> = text.lines().collect();
        let sections = sections(&lines);
        let goal = sections.iter().find(|section| section.level == 1).map(|section| {
            let title = section.title.trim_start_matches("Plan:").trim_start_matches("计划：").trim();
            title.to_owned()
        });
        let joined = |lines: &[&str]| lines.iter().flat_map(|line| [*line, "\n"]).collect::<String>();
        let Some(section) = sections.iter().find(|section| section.is_about_steps()) else {
            return Ok(Self {
                goal,
                steps: Vec::new(),
                before: joined(&lines),
                after: String::new(),
                has_section: false,
            });
        };
        let body = &lines[section.body.clone()];
        let (first, steps) = steps(body, section.body.start)?;
        let start = section.body.start + first;
        Ok(Self {
            goal: goal.filter(|goal| !goal.is_empty()),
            steps,
            before: joined(&lines[..start]),
            after: joined(&lines[section.body.end..]),
            has_section: true,
        })
    }

    /// Whether there is a section of steps.
    pub fn has_steps(&self) -> bool {
        self.has_section
    }

    /// Whether both say the same besides their steps.
    pub fn has_prose_of(&self, other: &Self) -> bool {
        (self.before.trim(), self.after.trim()) == (other.before.trim(), other.after.trim())
    }

    /// The same document with another title.
    pub fn titled(&self, goal: &str) -> Self {
        let mut document = self.clone();
        if self.goal.as_deref() != Some(goal) {
            let title = self.before.lines().position(|line| line.starts_with("# "));
            let lines = self.before.lines().enumerate().map(|(index, line)| match title {
                Some(title) if title == index => format!("# Plan: {goal}\n"),
                _ => format!("{line}\n"),
            });
            document.before = lines.collect();
            document.goal = Some(goal.to_owned());
        }
        document
    }

    /// Adds a text at the end; steps alone are added to the steps.
    pub fn appended(text: &str, content: &str) -> String {
        let content = content.trim();
        let lines: Vec<&str> = text.lines().collect();
        let section = sections(&lines).into_iter().find(Section::is_about_steps);
        match section {
            Some(section) if item_of(content.lines().next().unwrap_or_default()).is_some() => {
                let steps = lines[section.body].join("\n");
                Self::with_section(text, section.title, &format!("{}\n{content}", steps.trim()))
            }
            _ => format!("{}\n\n{content}\n", text.trim_end()),
        }
    }

    /// Writes the document with the steps of a plan.
    pub fn render(&self, plan: &Plan) -> String {
        let mut text = self.before.trim_end().to_owned();
        text.push('\n');
        if !self.has_section && !plan.steps.is_empty() {
            write!(text, "\n{HEADING}\n").ok();
        }
        if !plan.steps.is_empty() {
            text.push('\n');
        }
        for step in &plan.steps {
            render_step(&mut text, step);
        }
        if !self.after.trim().is_empty() {
            text.push('\n');
            text.push_str(self.after.trim_end());
            text.push('\n');
        }
        text
    }

    /// Replaces the text of a section, or adds the section at the end.
    pub fn with_section(text: &str, name: &str, content: &str) -> String {
        let name = name.trim().trim_start_matches('#').trim();
        let content = without_heading(content, name);
        let lines: Vec<&str> = text.lines().collect();
        let all = sections(&lines);
        let named = all.iter().find(|section| section.level > 1 && section.is_named(name));
        // There is one section of steps, whatever it is called.
        let asked = Section { level: 2, title: name, body: 0..0 };
        let of_steps = || all.iter().find(|section| asked.is_about_steps() && section.is_about_steps());
        let Some(Section { body, .. }) = named.or_else(of_steps).cloned() else {
            return format!("{}\n\n## {name}\n\n{}\n", text.trim_end(), content.trim());
        };
        let before = lines[..body.start].join("\n");
        let after = lines[body.end..].join("\n");
        let mut new = format!("{before}\n\n{}\n", content.trim());
        if !after.trim().is_empty() {
            write!(new, "\n{}\n", after.trim_end()).ok();
        }
        new
    }
}

/// The content of a section, without the heading that a writer may have repeated.
fn without_heading<'a>(content: &'a str, name: &str) -> &'a str {
    let content = content.trim();
    let (first, rest) = content.split_once('\n').unwrap_or((content, ""));
    let title = first.trim_start_matches('#');
    let repeats = first.starts_with('#') && title.trim().eq_ignore_ascii_case(name);
    if repeats { rest } else { content }
}

/// The sections that name files, as Markdown lists.
pub fn file_sections(plan: &Plan) -> Vec<(&'static str, String)> {
    let explored: Vec<String> = plan.explored_files.iter().map(|path| format!("- `{path}`")).collect();
    let changed = |CriticalFile { path, change }: &CriticalFile| format!("- {} `{path}`", change.name());
    let critical: Vec<String> = plan.critical_files.iter().map(changed).collect();
    let sections = [("Critical files", critical), ("Explored files", explored)];
    sections
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| (name, list.join("\n")))
        .collect()
}

fn render_step(text: &mut String, step: &PlanStep) {
    let description = tidy(&step.description);
    let mut lines = description.lines();
    let first = lines.next().unwrap_or_default();
    writeln!(text, "{}. [{}] {first}", step.id, step.status.mark()).ok();
    for line in lines {
        writeln!(text, "   {line}").ok();
    }
    let mut label = |name: &str, value: &str| {
        let mut lines = value.lines();
        writeln!(text, "   - {name}: {}", lines.next().unwrap_or_default()).ok();
        for line in lines {
            writeln!(text, "     {line}").ok();
        }
    };
    label("Expected", &tidy(&step.expected_outcome));
    if let Some(result) = &step.result {
        label("Result", &one_line(result));
    }
    if let Some(evidence) = &step.evidence {
        label("Checked", &one_line(evidence));
    }
}

/// A text with every line trimmed and no empty ones, as it comes back from the document.
pub fn tidy(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_RESULT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The items of the section, and how many lines stand before the first.
fn steps(body: &[&str], offset: usize) -> Result<(usize, Vec<DocumentStep>), Vec<PlanFault>> {
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut style = None;
    for (index, line) in body.iter().enumerate() {
        match item_of(line).filter(|item| style.is_none_or(|style| style == item.style)) {
            Some(item) => {
                style = Some(item.style);
                let line = u32::try_from(offset + index + 1).unwrap_or(u32::MAX);
                found.push(Found { line, item, lines: Vec::new() });
            }
            None => {
                if let Some(last) = found.last_mut() {
                    last.lines.push(line);
                }
            }
        }
    }
    let before = found.first().map_or(body.len(), |first| first.line as usize - offset - 1);
    if found.len() > MOST_STEPS {
        let line = found.get(MOST_STEPS).map_or(1, |step| step.line);
        let message = format!("a plan has at most {MOST_STEPS} steps; make larger ones");
        return Err(vec![PlanFault { line, message }]);
    }
    let mut steps = Vec::new();
    let mut faults = Vec::new();
    for item in &found {
        match item.step() {
            Ok(step) => steps.push(step),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok((before, steps)) } else { Err(faults) }
}

/// How the first step is written; the others are written alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemStyle {
    Numbered,
    Bullet,
    Heading,
}

struct Item<'a> {
    style: ItemStyle,
    number: Option<u32>,
    mark: StepStatus,
    text: &'a str,
}

struct Found<'a> {
    line: u32,
    item: Item<'a>,
    lines: Vec<&'a str>,
}

impl Found<'_> {
    fn step(&self) -> Result<DocumentStep, PlanFault> {
        let fault = |message: &str| PlanFault { line: self.line, message: message.to_owned() };
        let mut description = vec![self.item.text.trim().to_owned()];
        let mut expected: Vec<String> = Vec::new();
        let mut label = None;
        for line in self.lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
            let value = match label_of(line) {
                Some((found, value)) => {
                    label = Some(found);
                    value
                }
                None => line,
            };
            match label {
                None => description.push(value.to_owned()),
                Some(Label::Expected) => expected.push(value.to_owned()),
                // The log knows these.
                Some(Label::Result | Label::Checked) => {}
            }
        }
        let mut description = tidy(&description.join("\n"));
        let mut expected = tidy(&expected.join("\n"));
        if expected.is_empty()
            && let Some((before, after)) = inline_expected(&description)
        {
            (description, expected) = (tidy(before), tidy(after));
        }
        if description.is_empty() {
            return Err(fault("the step says nothing; write what is to be done"));
        }
        if expected.is_empty() {
            return Err(fault("the step has no line `Expected: ...` that says how its outcome is known"));
        }
        let Item { number, mark, .. } = self.item;
        Ok(DocumentStep { line: self.line, number, mark, description, expected })
    }
}

/// A line that begins a step: `1. [x] text`, `- [ ] text` or `### Step 1: text`.
fn item_of(line: &str) -> Option<Item<'_>> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    if indent > 1 {
        return None;
    }
    let line = line.trim();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after_digits = &line[digits..];
    let (style, number, rest) = if let Some(rest) = line.strip_prefix("###") {
        let rest = rest.trim_start_matches('#').trim();
        let (number, rest) = heading_number(rest);
        (ItemStyle::Heading, number, rest)
    } else if digits > 0 && after_digits.starts_with(['.', ')', '、']) {
        let rest = after_digits.trim_start_matches(['.', ')', '、']);
        (ItemStyle::Numbered, line[..digits].parse().ok(), rest)
    } else {
        let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
        if label_of(line).is_some() {
            return None;
        }
        (ItemStyle::Bullet, None, rest)
    };
    let (mark, text) = marked(rest.trim_start());
    Some(Item { style, number, mark, text })
}

/// `Step 2: text` or `2. text` taken apart.
fn heading_number(text: &str) -> (Option<u32>, &str) {
    let rest = text.strip_prefix("Step ").or_else(|| text.strip_prefix("步骤")).unwrap_or(text).trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = &rest[digits..];
    if digits == 0 || !after.starts_with([':', '.', ')', '：', '、']) {
        return (None, text);
    }
    (rest[..digits].parse().ok(), after.trim_start_matches([':', '.', ')', '：', '、']).trim())
}

/// The mark in brackets, and what follows it.
fn marked(text: &str) -> (StepStatus, &str) {
    let Some((inside, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return (StepStatus::Pending, text);
    };
    let status = match inside.trim() {
        "" => StepStatus::Pending,
        "x" | "X" => StepStatus::Completed,
        "-" | "~" => StepStatus::Skipped,
        ">" => StepStatus::Running,
        "!" => StepStatus::Failed,
        // A link or another word in brackets.
        _ => return (StepStatus::Pending, text),
    };
    (status, rest.trim_start())
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
