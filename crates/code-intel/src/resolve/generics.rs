//! Type arguments of generic types.

use super::languages::TypeArguments;
use super::type_ref::{TypeRef, has_word};
use super::types::Value;
use super::{DefinitionSite, Resolver};
use crate::facts::{Definition, Kind};
use crate::index::FileId;

impl Resolver<'_> {
    /// The value that a member of a value gave, with the arguments of the type in place of its parameters: what
    /// `Box<A>` has as a `T` is an `A`.
    pub(crate) fn with_arguments(&self, receiver: &Value, given: Value) -> Value {
        let Value::Instance { file: given_file, offset: given_offset, text: wanted } = &given else {
            return given;
        };
        let is_replaced = match self.rules(*given_file).type_arguments() {
            TypeArguments::Own => false,
            TypeArguments::Everywhere => true,
            TypeArguments::WhereNamed => self.has_parameter(*given_file, *given_offset, wanted),
        };
        if !is_replaced {
            return given;
        }
        let replaced = self.replaced_by(receiver, wanted);
        match (given, replaced) {
            (Value::Instance { file, offset, .. }, Some(text)) => Value::Instance { file, offset, text },
            (given, _) => given,
        }
    }

    /// A text with the arguments of a value's type, or of the bases it extends, in place of their parameters.
    fn replaced_by(&self, receiver: &Value, wanted: &str) -> Option<String> {
        const DEEPEST: usize = 4;
        let mut level: Vec<(DefinitionSite, Vec<String>)> = match receiver {
            Value::Instance { file, offset, text } if TypeRef::parse(text).arguments().is_empty() => {
                let deeper = self.enter()?;
                if let Some(behind) = self.behind_alias(*file, *offset, text) {
                    return self.replaced_by(&behind, wanted);
                }
                drop(deeper);
                self.types_of(*file, *offset, text).into_iter().map(|one| (one, Vec::new())).collect()
            }
            Value::Instance { file, offset, text } => {
                let arguments = placed_arguments(*file, *offset, text);
                let types = self.types_of(*file, *offset, text).into_iter();
                types.map(|one| (one, arguments.clone())).collect()
            }
            Value::Of(types) => types.iter().map(|one| (one.clone(), Vec::new())).collect(),
            Value::Around(file, offset) => {
                self.enclosing_type(*file, *offset).into_iter().map(|one| (one, Vec::new())).collect()
            }
            _ => return None,
        };
        for _ in 0..DEEPEST {
            let mut next = Vec::new();
            for (of, arguments) in &level {
                let parameters = self.parameters(of);
                if !arguments.is_empty() && parameters.len() <= arguments.len() {
                    let replaced = replaced(wanted, &parameters, arguments);
                    if replaced != wanted {
                        return Some(replaced);
                    }
                }
                for base in of.definition.bases.iter().filter(|_| self.step()) {
                    let at = of.definition.span.start;
                    let base = if arguments.is_empty() {
                        base.clone()
                    } else {
                        replaced(base, &parameters, arguments)
                    };
                    let arguments = placed_arguments(of.file, at, &base);
                    next.extend(
                        self.types_of(of.file, at, &base).into_iter().map(|one| (one, arguments.clone())),
                    );
                }
            }
            level = next;
        }
        None
    }

    /// Whether a text names a type parameter that is known at a place.
    fn has_parameter(&self, file: FileId, offset: u32, text: &str) -> bool {
        // Words that are no parameter spare the look into the file.
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        let may_be = |word: &&str| {
            word.starts_with(char::is_uppercase)
                && !has_word(LIBRARY, word)
                && self.index.defining(word).is_empty()
        };
        let words: Vec<&str> = text.split(|character| !is_part(character)).filter(may_be).collect();
        if words.is_empty() {
            return false;
        }
        let whole = self.index.whole(file);
        let is_named = |one: &Definition| {
            words.contains(&one.name.as_str())
                && one.declared != "'"
                && one.scope.is_some_and(|scope| scope.contains(offset))
        };
        whole.1.of_kind(Kind::TypeParameter).any(|(_, one)| is_named(one))
    }

    /// The names of the type parameters of a type.
    fn parameters(&self, of: &DefinitionSite) -> Vec<String> {
        let whole = self.index.whole(of.file);
        let at = of.definition.name_span.start;
        let around =
            |one: &&Definition| one.declared != "'" && one.scope.is_some_and(|scope| scope.contains(at));
        let parameters = || whole.1.of_kind(Kind::TypeParameter).map(|(_, one)| one);
        let innermost = parameters().filter(around).filter_map(|one| one.scope);
        let Some(scope) = innermost.min_by_key(|scope| scope.len()) else { return Vec::new() };
        let own = parameters().filter(around).filter(|one| one.scope == Some(scope));
        own.map(|one| one.name.clone()).collect()
    }
}

/// Types of standard libraries that are met so often that they need no look.
const LIBRARY: &str = "Option Result Vec String Box Rc Arc Self Some None Ok Err HashMap BTreeMap HashSet Iterator Item \
    List Map Set Object Integer Long Boolean Promise Array Date Error Record Partial Readonly Function \
    Optional Collection Stream";

/// Begins and ends the place at which a type is understood that stands within another's text.
const MARK: char = '\u{1}';

/// A type with the place where its names are known, which is not where it will stand.
pub(crate) fn placed(file: FileId, offset: u32, text: &str) -> String {
    if text.contains(MARK) { text.to_owned() } else { format!("{MARK}{}:{offset}{MARK}{text}", file.0) }
}

/// The place that is told in a type's text, and the type; references before it are left out.
pub(crate) fn place_of(text: &str) -> Option<(FileId, u32, &str)> {
    let (before, rest) = text.split_once(MARK)?;
    if before.contains(['<', '(', '[']) {
        return None;
    }
    let (place, text) = rest.split_once(MARK)?;
    let (file, offset) = place.split_once(':')?;
    Some((FileId(file.parse().ok()?), offset.parse().ok()?, text))
}

/// The arguments of a type, with the place where their names are known.
fn placed_arguments(file: FileId, offset: u32, text: &str) -> Vec<String> {
    TypeRef::parse(text).arguments().into_iter().map(|argument| placed(file, offset, argument)).collect()
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
        let there = placed(FileId(7), 9, "A<B>");
        assert_eq!(place_of(&format!("&mut {there}")), Some((FileId(7), 9, "A<B>")));
        assert_eq!(place_of(&format!("Option<{there}>")), None);
    }
}
