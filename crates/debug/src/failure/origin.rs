//! Where a variable was set last, by its source: the nearest assignment above in its function, or the caller.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use stepwell_workspace::files;

use super::FailureFrame;
use crate::function_finder::FunctionFinder;
use crate::values::shortened;

/// The line that gave a variable its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Origin {
    pub file: String,
    pub line: i64,
    pub source: String,
    /// It is a parameter: the line is the caller's.
    pub from_caller: bool,
}

/// Finds the nearest line above the failing one that sets the variable, or the call that passed it.
pub fn of(
    name: &str,
    frame: &FailureFrame,
    caller: Option<&FailureFrame>,
    finder: &dyn FunctionFinder,
) -> Option<Origin> {
    let text = text_of(&frame.file)?;
    let lines: Vec<&str> = text.lines().collect();
    let function = finder.function_at(Path::new(&frame.file), &text, frame.line)?;
    let above = function.code_lines.iter().rev().filter(|line| **line < frame.line);
    for line in above {
        let source = lines.get(usize::try_from(*line).ok()?.checked_sub(1)?)?;
        if sets(source, name) {
            return Some(Origin {
                file: frame.file.clone(),
                line: *line,
                source: shortened(source.trim(), 160),
                from_caller: false,
            });
        }
    }
    let caller = caller.filter(|_| function.parameters.iter().any(|parameter| parameter == name))?;
    Some(Origin {
        file: caller.file.clone(),
        line: caller.line,
        source: line_of(&caller.file, caller.line)?,
        from_caller: true,
    })
}

/// A line of a file, without its indentation.
pub(crate) fn line_of(file: &str, line: i64) -> Option<String> {
    let at = usize::try_from(line).ok()?.checked_sub(1)?;
    text_of(file)?.lines().nth(at).map(|text| shortened(text.trim(), 160))
}

pub(crate) fn text_of(file: &str) -> Option<String> {
    let content = files::read(Path::new(file)).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}

/// The names in a line, not those in its strings.
pub fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| word.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}

/// Whether a line gives the variable a value: an assignment, a declaration, a loop's head.
pub(crate) fn sets(line: &str, name: &str) -> bool {
    let mut rest = line;
    let mut before = None;
    while let Some(at) = rest.find(name) {
        let end = at + name.len();
        let previous = rest[..at].chars().next_back().or(before);
        let is_word =
            |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let whole = !is_word(previous) && previous != Some('.') && !is_word(rest[end..].chars().next());
        if whole && (assigned(&rest[end..]) || declared(&line[..line.len() - rest.len() + at])) {
            return true;
        }
        before = rest[..end].chars().next_back();
        rest = &rest[end..];
    }
    false
}

/// What follows a name that is assigned to: `= x`, `: int = x`, `, b = x`, `+= x`, `[i] = x`, `++`.
fn assigned(after: &str) -> bool {
    let after = after.trim_start();
    if after.starts_with("++") || after.starts_with("--") || after.starts_with(":=") {
        return true;
    }
    let Some(at) = after.find('=') else { return false };
    let next = after[at + 1..].chars().next();
    if next == Some('=') || next == Some('>') {
        return false;
    }
    let between = after[..at].trim();
    let operators = ["", "+", "-", "*", "/", "%", "|", "&", "^", "//", "**", "<<", ">>", "??", "||", "&&"];
    operators.contains(&between)
        || between.starts_with(':')
        || between.starts_with(',')
        || between.starts_with('[')
}

/// Whether a name at this place is one that a loop or a pattern sets.
fn declared(before: &str) -> bool {
    let words: Vec<&str> = names(before).collect();
    matches!(words.as_slice(), [.., "for" | "as"] | [.., "for", _])
        && before.trim_end().ends_with(|last: char| last.is_alphanumeric() || last == '(' || last == ',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_known_in_every_language() {
        let rows = [
            ("total = 0", "total", true),
            ("total += number", "total", true),
            ("a, b = 1, 2", "a", true),
            ("    let mut total: i32 = 0;", "total", true),
            ("total := 0", "total", true),
            ("for i := 0; i < 3; i++ {", "i", true),
            ("for item in items:", "item", true),
            ("for (const item of items) {", "item", true),
            ("with open(x) as handle:", "handle", true),
            ("numbers[i] = 3", "numbers", true),
            ("if total == 3:", "total", false),
            ("self.total = 3", "total", false),
            ("subtotal = 3", "total", false),
            ("print(total)", "total", false),
            ("other = total", "total", false),
        ];
        for (line, name, expected) in rows {
            assert_eq!(sets(line, name), expected, "{line}");
        }
    }
}
