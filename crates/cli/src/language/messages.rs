//! Messages in the person's language, from one catalogue: a line of English as it stands in the code, with `{}` for
//! each value, then the line that stands for it.
//!
//! English is the source: errors, hints and notes of every crate are made in English, for models, logs and other
//! programs. Where a person reads one on the command line, the finished text is compared with the catalogue and put
//! into the other language with the same values. What the catalogue does not have stays as it is.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::Language;

pub(super) const CHINESE: &str = include_str!("messages.zh.txt");

/// Values of values that are looked up in turn; deeper ones stay as they are.
const DEEPEST: usize = 3;

/// A message and what stands for it.
struct Message {
    /// The texts between the values.
    english: Vec<&'static str>,
    chinese: &'static str,
    /// Letters outside of values: of several messages that fit, the one with most is meant.
    weight: usize,
}

static MESSAGES: LazyLock<Vec<Message>> = LazyLock::new(|| {
    let pairs = pairs(CHINESE);
    let mut messages: Vec<Message> = pairs
        .into_iter()
        .map(|(english, chinese)| {
            let english: Vec<&str> = english.split("{}").collect();
            let weight = english.iter().map(|part| part.len()).sum();
            Message { english, chinese, weight }
        })
        .collect();
    messages.sort_by_key(|message| std::cmp::Reverse(message.weight));
    messages
});

/// The lines of a catalogue two by two.
pub(super) fn pairs(catalogue: &'static str) -> Vec<(&'static str, &'static str)> {
    let mut lines = catalogue.lines();
    std::iter::from_fn(|| Some((lines.next()?, lines.next()?))).collect()
}

impl Language {
    /// Returns a message in this language; as it is where the catalogue does not have it.
    pub fn say(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::English => Cow::Borrowed(text),
            Self::Chinese => Cow::Owned(spoken(text)),
        }
    }

    /// Returns a word or a sentence without values in this language.
    pub fn word(self, english: &'static str) -> &'static str {
        match self {
            Self::English => english,
            Self::Chinese => exact(english).unwrap_or(english),
        }
    }

    /// Whether the catalogue has a message.
    pub fn knows(self, text: &str) -> bool {
        self == Self::Chinese && translated(text, 0).is_some()
    }
}

/// What stands for a line of the catalogue, values and all.
fn exact(english: &str) -> Option<&'static str> {
    let fits = |message: &&Message| {
        let mut parts = english.split("{}");
        message.english.iter().all(|part| parts.next() == Some(part)) && parts.next().is_none()
    };
    MESSAGES.iter().find(fits).map(|message| message.chinese)
}

/// The whole text as one message, or else each of its lines by itself.
fn spoken(text: &str) -> String {
    if let Some(whole) = translated(text, 0) {
        return whole;
    }
    let lines = text.split('\n').map(|line| {
        let words = line.trim_start();
        let words = words.trim_end();
        let at = line.find(words).unwrap_or(0);
        match translated(words, 0) {
            Some(translated) => format!("{}{translated}{}", &line[..at], &line[at + words.len()..]),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn translated(text: &str, depth: usize) -> Option<String> {
    if text.is_empty() || depth > DEEPEST {
        return None;
    }
    let escaped = text.replace('\n', "\\n");
    let (message, values) =
        MESSAGES.iter().find_map(|message| Some((message, values(&message.english, &escaped)?)))?;
    let values: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(at, value)| {
            // What stands in backticks is a name or code.
            let is_code = message.english[at].ends_with('`');
            let inner = if is_code { None } else { translated(value, depth + 1) };
            inner.unwrap_or_else(|| (*value).to_owned())
        })
        .collect();
    Some(filled(message.chinese, &values).replace("\\n", "\n"))
}

/// The values of a text that has these parts around them; `None` where it has not.
fn values<'t>(parts: &[&str], text: &'t str) -> Option<Vec<&'t str>> {
    let (first, rest) = parts.split_first()?;
    let mut left = text.strip_prefix(first)?;
    let Some((last, middle)) = rest.split_last() else { return left.is_empty().then(Vec::new) };
    let mut found = Vec::with_capacity(rest.len());
    for part in middle {
        // A value is at least a letter long, and ends where the next part begins.
        let skipped = left.chars().next()?.len_utf8();
        let at = left[skipped..].find(part)? + skipped;
        found.push(&left[..at]);
        left = &left[at + part.len()..];
    }
    let value = left.strip_suffix(last)?;
    found.push(value);
    Some(found)
}

/// Puts values into the places of a line: `{}` one after the other, or `{2}` by number.
fn filled(line: &str, values: &[String]) -> String {
    let mut text = String::new();
    let (mut rest, mut next) = (line, 0);
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        let Some(end) = rest[at..].find('}') else { break };
        let number = &rest[at + 1..at + end];
        let index = if number.is_empty() {
            next += 1;
            Some(next - 1)
        } else {
            number.parse::<usize>().ok().and_then(|number| number.checked_sub(1))
        };
        match index.and_then(|index| values.get(index)) {
            Some(value) => text.push_str(value),
            // Braces of an example.
            None => text.push_str(&rest[at..=at + end]),
        }
        rest = &rest[at + end + 1..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
