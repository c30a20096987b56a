//! What the parameters of a generic type stand for in a value of it.

use super::types::{Value, split_top};
use super::{Found, Resolver};
use crate::facts::{Definition, Kind};
use crate::index::FileId;

impl Resolver<'_> {
    /// The value that a member of a value gave, with the arguments of the type in place of its parameters: what
    /// `Box<A>` has as a `T` is an `A`.
    pub(super) fn with_arguments(&self, receiver: &Value, given: Value) -> Value {
        let Value::Instance { file, offset, text } = receiver else { return given };
        let Value::Instance { text: wanted, .. } = &given else { return given };
        let Some(mut arguments) = arguments(text) else { return given };
        for argument in &mut arguments {
            *argument = placed(*file, *offset, argument);
        }
        for of in self.types_of(*file, *offset, text) {
            let parameters = self.parameters(&of);
            if parameters.len() > arguments.len() {
                continue;
            }
            let replaced = replaced(wanted, &parameters, &arguments);
            if replaced != *wanted {
                return match given {
                    Value::Instance { file, offset, .. } => Value::Instance { file, offset, text: replaced },
                    other => other,
                };
            }
        }
        given
    }

    /// The names of the type parameters of a type.
    fn parameters(&self, of: &Found) -> Vec<String> {
        let whole = self.index.whole(of.file);
        let at = of.definition.name_span.start;
        let around = |one: &&Definition| {
            one.kind == Kind::TypeParameter
                && one.declared != "'"
                && one.scope.is_some_and(|scope| scope.contains(at))
        };
        let innermost = whole.1.definitions.iter().filter(around).filter_map(|one| one.scope);
        let Some(scope) = innermost.min_by_key(|scope| scope.len()) else { return Vec::new() };
        let own = whole.1.definitions.iter().filter(around).filter(|one| one.scope == Some(scope));
        own.map(|one| one.name.clone()).collect()
    }
}

/// Begins and ends the place at which a type is understood that stands within another's text.
const MARK: char = '\u{1}';

/// A type with the place where its names are known, which is not where it will stand.
fn placed(file: FileId, offset: u32, text: &str) -> String {
    if text.contains(MARK) { text.to_owned() } else { format!("{MARK}{}:{offset}{MARK}{text}", file.0) }
}

/// The place that is told in a type's text, and the type; references before it are left out.
pub(super) fn place_of(text: &str) -> Option<(FileId, u32, &str)> {
    let (before, rest) = text.split_once(MARK)?;
    if before.contains(['<', '(', '[']) {
        return None;
    }
    let (place, text) = rest.split_once(MARK)?;
    let (file, offset) = place.split_once(':')?;
    Some((FileId(file.parse().ok()?), offset.parse().ok()?, text))
}

/// What stands in the angle brackets of a type, without lifetimes.
fn arguments(text: &str) -> Option<Vec<String>> {
    let text = text.trim().trim_end_matches(['*', '&', ' ']);
    let open = text.find('<')?;
    let inside = text.get(open + 1..text.len() - 1).filter(|_| text.ends_with('>'))?;
    let parts = split_top(inside, ',').into_iter().map(str::trim).filter(|part| !part.starts_with('\''));
    Some(parts.map(ToOwned::to_owned).collect())
}

/// A text with words replaced.
fn replaced(text: &str, names: &[String], by: &[String]) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_alphanumeric() || character == '_' || character == '\'' && word.is_empty() {
            word.push(character);
            continue;
        }
        let place = names.iter().position(|name| *name == word);
        out.push_str(place.and_then(|place| by.get(place)).unwrap_or(&word));
        word.clear();
        if character != '\0' {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_replaced_as_whole_words() {
        let texts = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<String>>();
        for (text, expected) in [
            ("&'a mut V", "&'a mut B<C>"),
            ("Option<K>", "Option<A>"),
            ("Value", "Value"),
            ("(K, V)", "(A, B<C>)"),
            ("'V", "'V"),
            ("", ""),
        ] {
            assert_eq!(replaced(text, &texts(&["K", "V"]), &texts(&["A", "B<C>"])), expected);
        }
        assert_eq!(arguments("&mut Map<'a, A, B<C, D>>"), Some(texts(&["A", "B<C, D>"])));
        assert_eq!(arguments("Box<T>*"), Some(texts(&["T"])));
        assert_eq!(arguments("Map"), None);
        let there = placed(FileId(7), 9, "A<B>");
        assert_eq!(place_of(&format!("&mut {there}")), Some((FileId(7), 9, "A<B>")));
        assert_eq!(place_of(&format!("Option<{there}>")), None);
        assert_eq!(arguments("fn(A<B>) -> C"), None);
    }
}
