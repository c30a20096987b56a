//! Keeps secrets out of the log, the model and the screen.
//!
//! Two kinds are known: values the program was told (exact, and in common encodings), and the shapes
//! of well-known tokens. Both are looked for line by line, so that text redacted in pieces as it streams
//! ([`StreamRedactor`]) comes out the same as the whole.

mod shapes;
mod spellings;
mod stream;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::RwLock;
use regex::Regex;
use serde_json::Value;

use spellings::spellings;
pub use stream::StreamRedactor;

/// Values shorter than this are not treated as secrets: they would tear holes into ordinary text.
const SHORTEST_SECRET: usize = 8;

#[derive(Debug, Default)]
pub struct Redactor {
    known: RwLock<Arc<Known>>,
}

/// The values to look for, in one expression.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Text to look for and the name it is replaced by.
    forms: Vec<(String, String)>,
    expression: Option<Regex>,
}

impl Redactor {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_secrets(secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        let redactor = Self::new();
        redactor.add_secrets(secrets);
        redactor
    }

    /// Adds values by name, such as `OPENAI_API_KEY`; text shows the name in their place.
    pub fn add_secrets(&self, secrets: impl IntoIterator<Item = (String, String)>) {
        let mut known = self.known.write();
        let mut forms = known.forms.clone();
        for (name, value) in secrets {
            for line in value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_SECRET) {
                forms.extend(spellings(line).into_iter().map(|form| (form, name.clone())));
            }
        }
        // Longest first: where one value contains another, the whole of it goes.
        forms.sort_by(|left, right| right.0.len().cmp(&left.0.len()).then_with(|| left.cmp(right)));
        forms.dedup_by(|left, right| left.0 == right.0);
        let alternatives: Vec<String> = forms.iter().map(|(form, _)| regex::escape(form)).collect();
        let expression = (!forms.is_empty())
            .then(|| regex::RegexBuilder::new(&alternatives.join("|")).size_limit(64 << 20).build().ok());
        *known = Arc::new(Known { forms, expression: expression.flatten() });
    }

    /// The text without secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.suspects(text) {
            return Cow::Borrowed(text);
        }
        let mut stream = self.stream();
        let mut out = stream.push(text);
        out.push_str(&stream.finish());
        if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
    }

    /// The text line by line, for who shows lines with numbers or marks before them: redacted as a whole, and as
    /// many lines as there were. `None` when there is nothing to hide.
    pub fn redact_lines(&self, text: &str) -> Option<Vec<String>> {
        if !self.suspects(text) {
            return None;
        }
        let mut stream = self.stream();
        Some(text.split_inclusive('\n').map(|line| stream.push_line(line)).collect())
    }

    /// The same for every text inside a JSON value.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(object) => object.values_mut().for_each(|field| self.redact_value(field)),
            _ => {}
        }
    }

    /// For text that arrives in pieces.
    pub fn stream(&self) -> StreamRedactor {
        StreamRedactor::new(Arc::clone(&self.known.read()))
    }

    /// A quick look that lets clean text pass untouched.
    fn suspects(&self, text: &str) -> bool {
        let known = Arc::clone(&self.known.read());
        known.is_in(text) || shapes::suspects(text)
    }
}

impl Known {
    fn replace<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(expression) = &self.expression else {
            return self.replace_one_by_one(text);
        };
        expression.replace_all(text, |found: &regex::Captures<'_>| {
            let form = found.get(0).map_or("", |found| found.as_str());
            let name = self.forms.iter().find(|(known, _)| known == form).map_or("secret", |(_, name)| name);
            format!("[redacted:{name}]")
        })
    }

    /// Slower, for more values than one expression holds: none may slip through for that.
    fn replace_one_by_one<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.forms.iter().fold(Cow::Borrowed(text), |text, (form, name)| {
            if text.contains(form) { text.replace(form, &format!("[redacted:{name}]")).into() } else { text }
        })
    }

    /// Where values are.
    fn places<'a>(&'a self, text: &'a str) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
        match &self.expression {
            Some(expression) => Box::new(expression.find_iter(text).map(|found| found.range())),
            None => Box::new(self.forms.iter().flat_map(move |(form, _)| {
                text.match_indices(form.as_str()).map(|(at, found)| at..at + found.len())
            })),
        }
    }

    fn is_in(&self, text: &str) -> bool {
        match &self.expression {
            Some(expression) => expression.is_match(text),
            None => self.forms.iter().any(|(form, _)| text.contains(form)),
        }
    }
}

#[cfg(test)]
#[path = "redact/tests.rs"]
mod tests;
