//! Values that only Go writes so: what `make` and `new` give, literals of collections, what comes out of a channel.

use super::Resolver;
use super::types::{Value, split_top};
use crate::index::FileId;
use crate::languages::Language;

impl Resolver<'_> {
    pub(super) fn is_go(&self, file: FileId) -> bool {
        self.language(file) == Some(Language::Go)
    }

    pub(super) fn go_value(&self, file: FileId, text: &str, offset: u32) -> Option<Value> {
        if !self.is_go(file) {
            return None;
        }
        let text = text.trim();
        let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text).trim();
        let made = |text: &str| Some(Value::Instance { file, offset, text: text.trim().to_owned() });
        if let Some(channel) = text.strip_prefix("<-") {
            return match self.value(file, channel, offset) {
                Value::Instance { file, offset, text } => {
                    let inside = text.trim_start_matches("<-").strip_prefix("chan")?;
                    let text = inside.trim_start_matches("<-").trim().to_owned();
                    Some(Value::Instance { file, offset, text })
                }
                _ => None,
            };
        }
        for (word, is_type) in [("make(", true), ("new(", true), ("append(", false)] {
            if let Some(inside) = text.strip_prefix(word).and_then(|inside| inside.strip_suffix(')')) {
                let first = split_top(inside, ',').first().copied().unwrap_or_default();
                return if is_type { made(first) } else { Some(self.value(file, first, offset)) };
            }
        }
        // `[]T{...}`, `map[K]V{...}`, `[2]T{...}`.
        let literal = text.trim_start_matches('&');
        let is_collection = literal.starts_with('[') || literal.starts_with("map[");
        let is_whole = literal.ends_with('}');
        match literal.split_once('{') {
            Some((of, _)) if is_collection && is_whole => made(of),
            _ => None,
        }
    }
}
