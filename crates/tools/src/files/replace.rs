//! Text replaced by other text: the one way in which `edit`, `batch_edit`, `apply_diff` and `patch` change a file.

use regex::{Captures, RegexBuilder};
use stepwell_tool_runtime::{Redactor, ToolError, counted};

use super::matching::{self, Amount, Found, Miss, Source, Splice, Unit, Wanted};

/// A replacement as it is asked for.
#[derive(Clone, Debug)]
pub struct Replacement {
    pub old: String,
    pub new: String,
    pub amount: Amount,
    /// First and last line, from 1, within which it is looked for.
    pub lines: Option<(usize, usize)>,
    pub pattern: Pattern,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    Text,
    Expression { ignore_case: bool },
}

/// A text with replacements made.
#[derive(Debug)]
pub struct Replaced {
    pub text: String,
    pub line: usize,
    pub count: usize,
    pub notes: Vec<String>,
}

impl Replacement {
    /// Makes the replacement in a text. `name` is how the file is called in messages.
    pub fn apply(&self, name: &str, text: &str, redactor: &Redactor) -> Result<Replaced, ToolError> {
        let source = Source::new(text);
        let within = self.lines.map(|(first, last)| first..last.saturating_add(1));
        if within
            .as_ref()
            .is_some_and(|lines| lines.start >= lines.end || lines.start > source.lines.len().max(1))
        {
            return Err(ToolError::validation(format!(
                "`{name}` has {}; `start_line` and `end_line` lie outside it",
                counted(source.lines.len() as u64, "line")
            )));
        }
        let found = match self.pattern {
            Pattern::Text => {
                let wanted = Wanted {
                    search: &self.old,
                    replacement: &self.new,
                    unit: Unit::Text,
                    amount: self.amount,
                    hint: None,
                    within,
                };
                matching::find(&source, &wanted)
                    .map_err(|miss| told(name, "`old_str`", &source, &miss, redactor))?
            }
            Pattern::Expression { ignore_case } => self.by_expression(name, &source, within, ignore_case)?,
        };
        finished(name, &source, found)
    }

    /// Every match of a regular expression, as Roo-Code's `search_and_replace` has it.
    fn by_expression(
        &self,
        name: &str,
        source: &Source<'_>,
        within: Option<std::ops::Range<usize>>,
        ignore_case: bool,
    ) -> Result<Found, ToolError> {
        let expression =
            RegexBuilder::new(&self.old).multi_line(true).case_insensitive(ignore_case).build().map_err(
                |error| ToolError::validation(format!("`old_str` is no regular expression: {error}")),
            )?;
        let area = match within {
            Some(lines) => {
                source.line_range_bytes(lines.start.saturating_sub(1), lines.end.saturating_sub(1))
            }
            None => 0..source.text.len(),
        };
        let mut splices = Vec::new();
        for captures in expression.captures_iter(&source.text[area.clone()]) {
            let Some(whole) = captures.get(0) else { continue };
            let range = area.start + whole.start()..area.start + whole.end();
            let text = matching::with_line_end(&expanded(&self.new, &captures), source.line_end).into_owned();
            splices.push(Splice { line: source.line_at(range.start), range, text });
        }
        let lines = || splices.iter().map(|splice| splice.line).collect::<Vec<_>>();
        match self.amount {
            _ if splices.is_empty() => Err(ToolError::validation(format!(
                "the expression `{}` matches nothing in `{name}`",
                self.old
            ))),
            Amount::Exactly(expected) if expected != splices.len() => {
                Err(ToolError::validation(wrong_count(name, "the expression", &lines(), expected)))
            }
            _ => Ok(Found { splices, how: matching::Tolerance::Exact }),
        }
    }
}

/// A replacement with `$1`, `$<name>`, `$&` and `$$` filled in, as JavaScript writes them.
fn expanded(template: &str, captures: &Captures<'_>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let digits = after.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let group = |name: &str| captures.name(name).map_or("", |found| found.as_str()).to_owned();
        let (value, used) = match after.bytes().next() {
            Some(b'$') => ("$".to_owned(), 1),
            Some(b'&') => (captures.get(0).map_or("", |found| found.as_str()).to_owned(), 1),
            Some(b'<') => match after.find('>') {
                Some(end) => (group(&after[1..end]), end + 1),
                None => ("$".to_owned(), 0),
            },
            _ => {
                // `$12` is group 12 where there is one, else group 1 and a 2.
                let number = (1..=digits).rev().find_map(|length| {
                    let number: usize = after[..length].parse().ok()?;
                    (number > 0 && number < captures.len()).then_some((number, length))
                });
                match number {
                    Some((number, length)) => {
                        (captures.get(number).map_or("", |found| found.as_str()).to_owned(), length)
                    }
                    None => ("$".to_owned(), 0),
                }
            }
        };
        out.push_str(&value);
        rest = &after[used..];
    }
    out.push_str(rest);
    out
}

fn finished(name: &str, source: &Source<'_>, found: Found) -> Result<Replaced, ToolError> {
    let (line, count) = (found.splices.first().map_or(1, |splice| splice.line), found.splices.len());
    let how = found.how;
    let text = spliced(source.text, found.splices).ok_or_else(|| {
        ToolError::validation(format!("the replacements in `{name}` overlap; make them one"))
    })?;
    if text == source.text {
        return Err(ToolError::validation(format!(
            "the edit changes nothing: `{name}` has the new text already"
        )));
    }
    let notes = how.words().map(|words| format!("matched {words}")).into_iter().collect();
    Ok(Replaced { text, line, count, notes })
}

/// A text with places of it replaced; `None` where two of them overlap.
pub fn spliced(text: &str, mut splices: Vec<Splice>) -> Option<String> {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for splice in &splices {
        if splice.range.start < at {
            return None;
        }
        out.push_str(&text[at..splice.range.start]);
        out.push_str(&splice.text);
        at = splice.range.end;
    }
    out.push_str(&text[at..]);
    Some(out)
}

/// Why a text was not found, with what stands there.
pub fn told(name: &str, what: &str, source: &Source<'_>, miss: &Miss, redactor: &Redactor) -> ToolError {
    ToolError::validation(match miss {
        Miss::Empty => format!("{what} is empty; use `insert` to add lines and `write` for a new file"),
        Miss::NotFound { nearest: Some(lines) } => format!(
            "{what} does not occur in `{name}`; the nearest text is at line {}:\n{}\ncopy it exactly, white space \
             included",
            lines.start + 1,
            numbered(source, lines.clone(), redactor)
        ),
        Miss::NotFound { nearest: None } => {
            format!("{what} does not occur in `{name}`; read the file again, it may have changed")
        }
        Miss::Ambiguous { lines, how } => {
            let freely = how.words().map(|words| format!(" ({words})")).unwrap_or_default();
            format!(
                "{what} occurs {} times in `{name}`{freely}, at lines {}; add lines around it until it is unique, or \
                 set `replace_all`",
                lines.len(),
                some(lines)
            )
        }
        Miss::Count { lines, expected } => wrong_count(name, what, lines, *expected),
        Miss::Weak { reason, lines } => format!(
            "{what} was almost found in `{name}` at line {}, but {reason}; nothing was changed. The file has:\n{}\n\
             copy it exactly, white space included",
            lines.start + 1,
            numbered(source, lines.clone(), redactor)
        ),
    })
}

fn wrong_count(name: &str, what: &str, lines: &[usize], expected: usize) -> String {
    format!(
        "{what} occurs {} times in `{name}` and {expected} were expected, at lines {}; nothing was changed",
        lines.len(),
        some(lines)
    )
}

/// The first of many line numbers.
fn some(lines: &[usize]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = lines.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = if lines.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Lines as `read` shows them. The whole file is redacted first: a part of a private key looks like no key.
fn numbered(source: &Source<'_>, lines: std::ops::Range<usize>, redactor: &Redactor) -> String {
    const LONGEST: usize = 400;
    let redacted = redactor.redact_lines(source.text);
    let mut shown = Vec::new();
    for index in lines {
        let Some(line) = source.lines.get(index) else { break };
        let text = redacted.as_ref().and_then(|lines| lines.get(index)).map_or(line.text, String::as_str);
        let text: String = text.trim_end_matches(['\r', '\n']).chars().take(LONGEST).collect();
        shown.push(format!("{:>6}\t{text}", index + 1));
    }
    shown.join("\n")
}
