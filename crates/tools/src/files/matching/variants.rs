//! Other readings of what a model wrote: escaped once too often, with line numbers, with blank lines around it.

use std::borrow::Cow;

use super::normal::is_blank_line;
use super::{Tolerance, Wanted, split_lines};

/// A search and the replacement that belongs to it.
#[derive(Debug)]
pub struct Variant<'a> {
    pub search: Cow<'a, str>,
    pub replacement: Cow<'a, str>,
    pub how: Tolerance,
    /// The line the search begins at, where the text itself says it.
    pub hint: Option<usize>,
}

/// The readings in the order they are tried.
pub fn of<'a>(wanted: &Wanted<'a>) -> Vec<Variant<'a>> {
    let plain = Variant {
        search: Cow::Borrowed(wanted.search),
        replacement: Cow::Borrowed(wanted.replacement),
        how: Tolerance::Exact,
        hint: None,
    };
    let mut all = vec![plain];
    all.extend(escaped(wanted.search, wanted.replacement));
    all.extend(numbered(wanted.search, wanted.replacement));
    all.extend(without_outer_blank_lines(wanted.search, wanted.replacement));
    all
}

/// Both texts with escapes undone. Only where the replacement is escaped in the same way: otherwise nobody can tell
/// which of its backslashes are meant.
fn escaped<'a>(search: &str, replacement: &str) -> Option<Variant<'a>> {
    let (search, replacement) = if !search.contains('\n') && search.contains("\\n") {
        if replacement.contains('\n') {
            return None;
        }
        (unescaped(search), unescaped(replacement))
    } else if search.contains("\\\"") && !has_bare_quote(search) && !has_bare_quote(replacement) {
        (search.replace("\\\"", "\""), replacement.replace("\\\"", "\""))
    } else if ["&lt;", "&gt;", "&amp;", "&quot;", "&#39;", "&apos;"]
        .iter()
        .any(|entity| search.contains(entity))
        && !replacement.contains(['<', '>'])
    {
        (without_entities(search), without_entities(replacement))
    } else {
        return None;
    };
    Some(Variant {
        search: search.into(),
        replacement: replacement.into(),
        how: Tolerance::Escapes,
        hint: None,
    })
}

fn has_bare_quote(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|character| {
        let bare = character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        bare
    })
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let plain = match (character, characters.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('r')) => '\r',
            ('\\', Some(quote @ ('"' | '\'' | '\\'))) => *quote,
            _ => {
                out.push(character);
                continue;
            }
        };
        characters.next();
        out.push(plain);
    }
    out
}

fn without_entities(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

/// Both texts without the line numbers that `read` shows. The numbers say where the search begins.
fn numbered<'a>(search: &str, replacement: &str) -> Option<Variant<'a>> {
    let (first, search) = without_numbers(search)?;
    let replacement = match without_numbers(replacement) {
        Some((_, replacement)) => replacement,
        // One numbered line among others: what the rest of them are cannot be told.
        None if replacement.lines().any(|line| number(line).is_some()) => return None,
        None => replacement.to_owned(),
    };
    Some(Variant {
        search: search.into(),
        replacement: replacement.into(),
        how: Tolerance::LineNumbers,
        hint: Some(first),
    })
}

/// The text without the numbers its lines begin with, and the first of them; `None` when not every line has one or
/// they do not count upwards.
pub fn without_numbers(text: &str) -> Option<(usize, String)> {
    let (lines, ended) = split_lines(text);
    let mut first = None;
    let mut last = 0;
    let mut out: Vec<&str> = Vec::with_capacity(lines.len());
    for line in &lines {
        let (at, rest) = match number(line) {
            Some(found) => found,
            None if is_blank_line(line) => (last + 1, ""),
            None => return None,
        };
        if at <= last {
            return None;
        }
        if !is_blank_line(line) {
            first.get_or_insert(at);
        }
        last = at;
        out.push(rest);
    }
    let mut text = out.join("\n");
    if ended {
        text.push('\n');
    }
    Some((first?, text))
}

/// The number a line begins with and what follows it: `    12<tab>text`, `12 | text`, `12→text`.
fn number(line: &str) -> Option<(usize, &str)> {
    let body = line.trim_start();
    let digits = body.find(|character: char| !character.is_ascii_digit()).unwrap_or(body.len());
    let at: usize = body.get(..digits).filter(|digits| !digits.is_empty())?.parse().ok()?;
    let rest = &body[digits..];
    if let Some(rest) = rest.strip_prefix(['\t', '→', '│']) {
        return Some((at, rest));
    }
    let rest = rest.trim_start_matches(' ').strip_prefix('|')?;
    Some((at, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// Both texts without the blank lines the search begins and ends with, where the replacement has them too.
fn without_outer_blank_lines<'a>(search: &str, replacement: &str) -> Option<Variant<'a>> {
    let (search, search_ended) = split_lines(search);
    let (replacement, replacement_ended) = split_lines(replacement);
    let blank_head = |lines: &[&str]| lines.iter().take_while(|line| is_blank_line(line)).count();
    let blank_tail = |lines: &[&str]| lines.iter().rev().take_while(|line| is_blank_line(line)).count();
    let (head, tail) = (blank_head(&search), blank_tail(&search));
    if head + tail == 0 || head + tail >= search.len() || search_ended != replacement_ended {
        return None;
    }
    let (new_head, new_tail) = (blank_head(&replacement), blank_tail(&replacement));
    let replacement = if replacement.is_empty() {
        Vec::new()
    } else if new_head >= head && new_tail >= tail && head + tail < replacement.len() {
        replacement[head..replacement.len() - tail].to_vec()
    } else {
        return None;
    };
    let joined = |lines: &[&str], ended: bool| {
        let mut text = lines.join("\n");
        if ended && !lines.is_empty() {
            text.push('\n');
        }
        text
    };
    Some(Variant {
        search: joined(&search[head..search.len() - tail], search_ended).into(),
        replacement: joined(&replacement, search_ended).into(),
        how: Tolerance::OuterBlankLines,
        hint: None,
    })
}
