//! Texts in which the name of an attribute stands.

use super::super::outside::is_name_of_attribute;
use super::TEMPLATES;
use crate::index::FileId;
use crate::languages::python::resolve::Python;
use crate::resolve::DefinitionSite;
use crate::resolve::names::words;

/// How far behind a name the end of its text and what is done with it are looked for.
const FARTHEST: usize = 600;

impl Python<'_, '_> {
    /// A text of the workspace that may mean a member.
    pub(super) fn spelled(&self, member: &DefinitionSite, is_computed: bool) -> Option<String> {
        let name = &member.definition.name;
        for (file, entry) in self.index.entries() {
            let is_python = self.can_use(file, member.file);
            let is_template = TEMPLATES.iter().any(|end| entry.path.ends_with(end));
            if !is_python && !is_template {
                continue;
            }
            let source = self.index.source(file);
            let found = words(&source, name).find(|at| {
                let (before, after) = (&source[..*at], &source[at + name.len()..]);
                if is_template {
                    return is_in_template(before);
                }
                may_mean_attribute(&source, before, after, name, is_computed) && !self.is_code(file, *at)
            });
            if let Some(at) = found {
                return Some(self.place(file, at as u32));
            }
        }
        None
    }

    /// Whether a word is a name of the program, as in `f"{value.name}"`, or stands in a comment.
    fn is_code(&self, file: FileId, at: usize) -> bool {
        let whole = self.index.whole(file);
        let line = whole.0.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
        line.trim_start().starts_with('#')
            || whole.1.occurrences.iter().any(|one| one.span.start as usize == at)
    }
}

/// Whether a word may be the name of an attribute in a text, by what stands around it.
fn may_mean_attribute(source: &str, before: &str, after: &str, name: &str, is_computed: bool) -> bool {
    if before.ends_with("%(") && after.starts_with(')') {
        return !is_given_dictionary(after);
    }
    if after.starts_with(['}', '!', ':', '.', '[']) {
        let field = before.trim_end_matches(|part: char| is_part(part) || matches!(part, '.' | '[' | ']'));
        let path = &before[field.len()..];
        if field.ends_with('{') && path.ends_with('.') {
            return true;
        }
        if field.ends_with('{') && !field.ends_with("{{") && path.is_empty() {
            return !is_given_by_name(after, name);
        }
    }
    if before.ends_with('$') || before.ends_with("${") && after.starts_with('}') {
        return source.contains("Template");
    }
    if is_in_template(before) {
        return true;
    }
    let start = before.trim_end_matches(|part: char| is_part(part) || part == '.');
    let end = after.trim_start_matches(|part: char| is_part(part) || part == '.');
    let Some(quote) = start.chars().last().filter(|last| matches!(last, '\'' | '"')) else {
        return is_in_slots(before);
    };
    if !end.starts_with(quote) {
        return is_in_slots(before);
    }
    let outer = &start[..start.len() - 1];
    if is_name_of_attribute(outer) {
        return true;
    }
    let line = outer.rsplit('\n').next().unwrap_or(outer);
    let is_whole = start.len() == before.len() && end.len() == after.len();
    let is_of_dictionary = line.contains("__dict__") || line.contains("vars(");
    // What is made of attributes has their names as keys.
    let has_keys = || ["asdict(", "__dict__", "vars("].iter().any(|word| source.contains(word));
    is_whole && (is_of_dictionary || is_computed && (!is_key(outer) || has_keys()))
}

/// Whether a text is the key of an access: `value["name"]`.
fn is_key(before: &str) -> bool {
    let value = before.strip_suffix('[');
    value.is_some_and(|value| value.ends_with(|part: char| is_part(part) || matches!(part, ')' | ']')))
}

/// Whether a word stands in `{{ value.name }}` or `{% if value.name %}`, behind a dot.
fn is_in_template(before: &str) -> bool {
    let opened = before.rfind("{{").max(before.rfind("{%"));
    let closed = before.rfind("}}").max(before.rfind("%}"));
    before.ends_with('.') && opened.is_some_and(|opened| closed.is_none_or(|closed| closed < opened)) && {
        let inner = &before[opened.unwrap_or_default() + 2..];
        inner.len() < FARTHEST && inner.starts_with([' ', '-', '\n'])
    }
}

/// Whether a word stands in a text of `__slots__`: `__slots__ = "one other".split()`.
fn is_in_slots(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    line.trim_start().starts_with("__slots__") && line.contains(['\'', '"'])
}

/// `"%(name)s" % {...}`: what the text is given is written out.
fn is_given_dictionary(after: &str) -> bool {
    let near = near(after);
    let mut signs = near.match_indices('%');
    let given = signs.find(|(at, _)| near[..*at].trim_end().ends_with(['\'', '"', ')']));
    given.is_some_and(|(at, _)| {
        let given = near[at + 1..].trim_start();
        given.starts_with('{') || given.starts_with("dict(")
    })
}

/// `"{name}".format(name=value)`.
fn is_given_by_name(after: &str, name: &str) -> bool {
    let near = near(after);
    let Some((_, given)) = near.split_once(".format(") else { return false };
    words(given, name).any(|at| {
        let rest = given[at + name.len()..].trim_start();
        rest.starts_with('=') && !rest.starts_with("==")
    })
}

fn near(text: &str) -> &str {
    let end = (0..=FARTHEST.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The text that an expression begins with, and what stands behind it.
pub(super) fn literal(expression: &str) -> Option<(&str, &str)> {
    let quote = expression.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    let rest = &expression[1..];
    let mut is_escaped = false;
    for (at, character) in rest.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return None,
            _ if character == quote => return Some((&rest[..at], &rest[at + 1..])),
            _ => {}
        }
    }
    None
}

pub(super) fn has_word(text: &str, word: &str) -> bool {
    words(text, word).next().is_some()
}
