//! Accesses to attributes whose names are computed.

use super::spelled::literal;
use super::{ATTRIBUTE_FUNCTIONS, ATTRIBUTE_MAKERS, NAMES_OF, behind};
use crate::facts::{Receiver, Span};
use crate::index::FileId;
use crate::languages::python::resolve::Python;

/// Bytes of a call that are read; names of attributes are short.
const LONGEST_CALL: usize = 2000;

/// An access to an attribute whose name is not written out.
#[derive(Debug)]
pub(super) struct Access {
    pub file: FileId,
    pub at: u32,
    /// The value, as it is written.
    pub receiver: String,
    /// What its name begins and ends with, as far as it is known.
    pub prefix: String,
    pub suffix: String,
    /// Whether only what an instance holds itself can be reached.
    pub is_of_fields: bool,
}

impl Access {
    pub(super) fn is_partly_known(&self) -> bool {
        !self.prefix.is_empty() || !self.suffix.is_empty()
    }
}

impl Python<'_, '_> {
    /// All computed accesses of the workspace.
    pub(super) fn accesses(&self, target: FileId) -> Vec<Access> {
        let mut found = Vec::new();
        for word in
            ATTRIBUTE_FUNCTIONS.iter().chain(&ATTRIBUTE_MAKERS).chain(&NAMES_OF).chain(&["__dict__", "vars"])
        {
            for file in self.index.using(word) {
                if self.can_use(file, target) {
                    self.accesses_in(file, word, &mut found);
                }
            }
        }
        found
    }

    fn accesses_in(&self, file: FileId, word: &str, found: &mut Vec<Access>) {
        let whole = self.index.whole(file);
        for used in whole.1.uses(&whole.0, word) {
            let after = behind(&whole.0, used.span);
            let mut push = |receiver: &str, (prefix, suffix): (String, String), is_of_fields: bool| {
                let receiver = receiver.to_owned();
                found.push(Access { file, at: used.span.start, receiver, prefix, suffix, is_of_fields });
            };
            if word == "__dict__" {
                let Receiver::Value(Span { start, end }) = used.receiver else { continue };
                let receiver = whole.0.get(start as usize..end as usize).unwrap_or_default();
                // A key that is written out is a text like others.
                if after.strip_prefix('[').and_then(literal).is_none() {
                    push(receiver, Default::default(), true);
                }
                continue;
            }
            let Some(given) = after.strip_prefix('(').map(arguments) else { continue };
            if ATTRIBUTE_FUNCTIONS.contains(&word) {
                if let [receiver, name, ..] = given.as_slice()
                    && let Some(parts) = computed_name(name)
                {
                    push(receiver, parts, false);
                }
            } else if ATTRIBUTE_MAKERS.contains(&word) {
                if let Some(parts) = given.iter().find_map(|name| computed_name(name)) {
                    push("", parts, false);
                }
            } else if word == "vars" {
                if let [receiver, ..] = given.as_slice()
                    && after.strip_prefix('(').is_some_and(|rest| {
                        let rest = rest.trim_start().strip_prefix(receiver).unwrap_or_default();
                        rest.strip_prefix(")[").and_then(literal).is_none()
                    })
                {
                    push(receiver, Default::default(), true);
                }
            } else {
                push("", Default::default(), true);
            }
        }
    }
}

/// The arguments of a call, from what stands behind its bracket.
fn arguments(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut depth, mut at) = (0, 0_u32, 0);
    let bytes = text.as_bytes();
    while at < bytes.len().min(LONGEST_CALL) {
        match bytes[at] {
            b'\'' | b'"' => {
                let rest = text.get(at..).unwrap_or_default();
                at += literal(rest).map_or(1, |(_, behind)| rest.len() - behind.len());
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => {
                found.push(text.get(start..at).unwrap_or_default().trim());
                break;
            }
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                found.push(text.get(start..at).unwrap_or_default().trim());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found.retain(|one| !one.is_empty());
    found
}

/// What a computed name begins and ends with; `None` where it is written out.
fn computed_name(expression: &str) -> Option<(String, String)> {
    let edges = |text: &str, open: char, close: &dyn Fn(&str) -> Option<usize>| {
        let prefix = text.split(open).next().unwrap_or_default();
        let suffix = text.rfind(open).and_then(|at| text.get(at + close(&text[at..])?..));
        (prefix.to_owned(), suffix.unwrap_or_default().to_owned())
    };
    let in_braces = |text: &str| edges(text, '{', &|rest| rest.find('}').map(|at| at + 1));
    let formatted = expression.strip_prefix(['f', 'F']).and_then(literal);
    if let Some((text, "")) = formatted {
        return text.contains('{').then(|| in_braces(text));
    }
    let last = || {
        let quote = expression.chars().last().filter(|last| matches!(last, '\'' | '"'))?;
        let inner = expression.strip_suffix(quote)?;
        let (before, text) = inner.rsplit_once(quote)?;
        before.trim_end().ends_with('+').then(|| text.to_owned())
    };
    let Some((text, rest)) = literal(expression) else {
        return Some((String::new(), last().unwrap_or_default()));
    };
    let rest = rest.trim_start();
    if rest.is_empty() {
        return None;
    }
    if rest.starts_with('+') {
        return Some((text.to_owned(), last().unwrap_or_default()));
    }
    if rest.starts_with('%') {
        return Some(edges(text, '%', &|_| Some(2)));
    }
    Some(if rest.starts_with(".format(") { in_braces(text) } else { Default::default() })
}

#[cfg(test)]
mod tests {
    use super::{arguments, computed_name};

    #[test]
    fn arguments_are_parted_at_their_own_commas() {
        assert_eq!(arguments("a, 'b, c' + d(1, 2), None) + 1"), ["a", "'b, c' + d(1, 2)", "None"]);
        assert_eq!(arguments("a"), Vec::<&str>::new());
    }

    #[test]
    fn computed_names_have_what_is_known_of_them() {
        let parts = |text: &str| computed_name(text);
        let known = |prefix: &str, suffix: &str| Some((prefix.to_owned(), suffix.to_owned()));
        for (text, wanted) in [
            ("'name'", None),
            ("f'name'", None),
            ("name", known("", "")),
            ("'on_' + name", known("on_", "")),
            ("'on_' + name + '_seen'", known("on_", "_seen")),
            ("name + \"_seen\"", known("", "_seen")),
            ("f'on_{name}_seen'", known("on_", "_seen")),
            ("'on_%s_seen' % name", known("on_", "_seen")),
            ("'on_{}_seen'.format(name)", known("on_", "_seen")),
            ("'a' if b else 'c'", known("", "")),
        ] {
            assert_eq!(parts(text), wanted, "{text}");
        }
    }
}
