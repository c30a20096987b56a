//! Where a variable was set last, by its source: the nearest assignment above in its function, or the caller.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use stepwell_workspace::files;

use super::FailureFrame;
use crate::function_finder::{Assignment, Certainty, FunctionFinder};
use crate::values::shortened;

/// The line that gave a variable its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Origin {
    pub file: String,
    pub line: i64,
    pub source: String,
    /// It is a parameter: the line is the caller's.
    pub from_caller: bool,
    /// Whether the line was seen to run. Otherwise it is the nearest assignment in the source, which may not have run.
    pub observed: bool,
}

/// Finds the nearest line above the failing one that sets the variable, or the call that passed it.
pub fn of(
    name: &str,
    frame: &FailureFrame,
    caller: Option<&FailureFrame>,
    finder: &dyn FunctionFinder,
) -> Option<Origin> {
    let text = text_of(&frame.file)?;
    let function = finder.function_at(Path::new(&frame.file), &text, frame.line)?;
    let is_direct = |one: &&Assignment| {
        one.name == name && matches!(one.certainty, Certainty::Always | Certainty::LoopHead)
    };
    // In a loop, a line that assigns it below may have run last.
    if function.assignments.iter().any(|one| one.name == name && one.line >= frame.line) {
        return None;
    }
    let above = function.assignments.iter().filter(is_direct).filter(|one| one.line < frame.line);
    if let Some(nearest) = above.max_by_key(|one| one.line) {
        return Some(Origin {
            file: frame.file.clone(),
            line: nearest.line,
            source: line_of(&frame.file, nearest.line)?,
            from_caller: false,
            observed: false,
        });
    }
    let caller = caller.filter(|_| function.parameters.iter().any(|parameter| parameter == name))?;
    Some(Origin {
        file: caller.file.clone(),
        line: caller.line,
        source: line_of(&caller.file, caller.line)?,
        from_caller: true,
        observed: true,
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

/// The names in a line that can be variables: not those in its strings and comments, no fields, no calls, no keywords.
pub fn variables_in(line: &str) -> Vec<&str> {
    const WORDS: &[&str] = &[
        "as",
        "async",
        "auto",
        "await",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "continue",
        "def",
        "default",
        "defer",
        "delete",
        "do",
        "double",
        "elif",
        "else",
        "enum",
        "except",
        "false",
        "finally",
        "float",
        "fn",
        "for",
        "func",
        "function",
        "go",
        "if",
        "in",
        "instanceof",
        "int",
        "let",
        "long",
        "map",
        "match",
        "mut",
        "new",
        "nil",
        "not",
        "null",
        "nullptr",
        "of",
        "or",
        "range",
        "ref",
        "return",
        "select",
        "short",
        "sizeof",
        "static",
        "string",
        "struct",
        "switch",
        "throw",
        "JSON",
        "Math",
        "console",
        "global",
        "globalThis",
        "process",
        "true",
        "try",
        "type",
        "typeof",
        "undefined",
        "unsigned",
        "use",
        "var",
        "void",
        "while",
        "yield",
    ];
    let mut found: Vec<&str> = Vec::new();
    let (mut rest, mut before) = (line, "");
    while let Some(first) = rest.chars().next() {
        if let Some(end) = ['"', '\'', '`'].contains(&first).then(|| end_of_string(rest)).flatten() {
            (before, rest) = (&rest[..end], &rest[end..]);
            continue;
        }
        if rest.starts_with("//") {
            break;
        }
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        if length == 0 {
            (before, rest) = (&rest[..first.len_utf8()], &rest[first.len_utf8()..]);
            continue;
        }
        let (word, after) = rest.split_at(length);
        let next = after.trim_start();
        // Two dots are a range, three take a list apart.
        let is_member = before == "." && !line_ends(line, rest, &[".."]);
        let is_field = is_member || matches!(before, "#" | "@" | "$") || line_ends(line, rest, &["->", "::"]);
        let is_other = next.starts_with(['(', '!', ':']) && !next.starts_with("!=");
        let is_name = !first.is_ascii_digit() && !WORDS.contains(&word) && !found.contains(&word);
        if is_name && !is_field && !is_other {
            found.push(word);
        }
        (before, rest) = (word, after);
    }
    found
}

/// Whether what stands in a line before its rest ends with one of these.
fn line_ends(line: &str, rest: &str, ends: &[&str]) -> bool {
    let before = &line[..line.len() - rest.len()];
    ends.iter().any(|end| before.ends_with(end))
}

/// Where a string ends that begins a text; `None` for one that does not, such as a lifetime of Rust.
fn end_of_string(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if letter == quote => return Some(at + quote.len_utf8()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_line_are_no_fields_calls_or_words() {
        let rows = [
            ("if (ops[i].name[0] == name[0]) return ops[i].fn(a, b);", vec!["ops", "i", "name", "a", "b"]),
            ("function mix(b) { return a + b; }", vec!["b", "a"]),
            ("if (this.#items.length >= this.limit) throw new RangeError(`x ${y}`);", vec!["this"]),
            ("auto text = std::get<std::string>(f); // of it", vec!["text", "f"]),
            ("n := j.Meta[\"size\"].(int)", vec!["j"]),
            ("let part: &'a str = &text[from..to];", vec!["a", "str", "text", "from", "to"]),
            ("total += node->value != LIMIT;", vec!["total", "node", "LIMIT"]),
        ];
        for (line, expected) in rows {
            assert_eq!(variables_in(line), expected, "{line}");
        }
    }
}
