//! Types as they are written, parsed one level deep: the parts of a [`TypeRef`] are texts that can be parsed in turn.
//! Languages write references, lists and arguments in their own ways; the rest of `resolve` asks for them here.

use super::names::without_generics;

/// Words and signs before a type that do not change what it names.
const MODIFIERS: [&str; 20] = [
    "mut ",
    "dyn ",
    "impl ",
    "const ",
    "struct ",
    "enum ",
    "union ",
    "class ",
    "unsigned ",
    "static ",
    "readonly ",
    "volatile ",
    "register ",
    "typename ",
    "keyof ",
    "typeof ",
    "...",
    "[]",
    "<-chan ",
    "chan ",
];

/// Types that hold what their last argument says.
const MAPS: &str = "dict Dict Map HashMap BTreeMap Mapping MutableMapping Record Coroutine OrderedDict defaultdict \
    std::map unordered_map";

/// How a type is borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Borrow {
    None,
    Shared,
    Mutable,
}

/// A type as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeRef<'t> {
    pub(crate) borrow: Borrow,
    /// What the outermost reference refers to; the type itself where it is none.
    pub(crate) target: &'t str,
    /// The type behind all references and pointers that stand before it.
    pub(crate) bare: &'t str,
    text: &'t str,
}

impl<'t> TypeRef<'t> {
    pub(crate) fn parse(text: &'t str) -> Self {
        let text = text.trim().trim_matches('"');
        let (borrow, target) = behind_reference(text);
        let mut bare = text;
        loop {
            let inner = behind_reference(bare.trim_start_matches('*')).1;
            if inner == bare {
                return Self { borrow, target, bare, text };
            }
            bare = inner;
        }
    }

    /// The types a value may be of: `A | None` is `A`.
    pub(crate) fn alternatives(text: &str) -> Vec<String> {
        let text = text.trim().trim_matches('"');
        let of = TypeRef::parse(text);
        if matches!(of.path().as_str(), "Union" | "t.Union" | "typing.Union") {
            return of.arguments().into_iter().map(ToOwned::to_owned).collect();
        }
        let parts = split_top(text, '|').into_iter().flat_map(|part| part.split(" & "));
        let parts = parts.flat_map(|part| split_top(part, '+')).map(|part| part.trim().to_owned());
        parts.filter(|part| !matches!(part.as_str(), "" | "None" | "null" | "undefined")).collect()
    }

    /// The name with its path, without what surrounds it: `a::B` of `&mut a::B<C>`.
    pub(crate) fn path(&self) -> String {
        let mut text = self.text.trim_matches(['"', '(', ')']).trim();
        text = text.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\'')).unwrap_or(text);
        loop {
            let before = text;
            text = without_lifetime(text.trim_start_matches(['&', '*', ' ', '?']));
            for word in MODIFIERS {
                text = text.strip_prefix(word).unwrap_or(text);
            }
            if text == before {
                break;
            }
        }
        let end = text.find(['<', '[', ' ', '{', '(', '*', '&']).unwrap_or(text.len());
        let path = text[..end].trim_end_matches([':', '.']);
        if path.is_empty() { without_generics(text) } else { path.to_owned() }
    }

    /// The last part of the path.
    pub(crate) fn name(&self) -> String {
        let path = self.path();
        path.rsplit(['.', ':']).next().unwrap_or(&path).to_owned()
    }

    /// The type arguments, without lifetimes: `A` and `B` of `Map<'a, A, B>` and of `Map[A, B]`.
    pub(crate) fn arguments(&self) -> Vec<&'t str> {
        let text = self.bare.trim_end_matches(['*', '&', ' ']);
        let inside = || {
            let open = text.find(['<', '[']).filter(|open| *open > 0)?;
            text.get(open + 1..text.len() - 1).filter(|_| text.ends_with(['>', ']']))
        };
        let parts = split_top(inside().unwrap_or_default(), ',').into_iter().map(str::trim);
        parts.filter(|part| !part.is_empty() && !part.starts_with('\'')).collect()
    }

    /// The parts of a tuple.
    pub(crate) fn tuple(&self) -> Option<Vec<&'t str>> {
        let inside = self.bare.strip_prefix('(')?.strip_suffix(')')?;
        Some(split_top(inside, ',').into_iter().map(str::trim).collect())
    }

    /// The type of what a collection or a wrapper holds.
    pub(crate) fn element(&self) -> Option<&'t str> {
        let text = self.bare;
        if let Some(rest) = text.strip_prefix("[]").or_else(|| text.strip_suffix("[]")) {
            return Some(rest);
        }
        if text.starts_with("map[") {
            return text.split_once(']').map(|(_, value)| value);
        }
        if let Some(rest) = text.strip_prefix('[') {
            return rest.trim_end_matches(']').split(';').next();
        }
        if text.ends_with('*') {
            return Some(text.trim_end_matches('*'));
        }
        let arguments = self.arguments();
        // What a map or a generator holds comes last or first.
        let head = text[..text.find(['<', '['])?].trim();
        let is_map = MAPS.split(' ').any(|name| head.ends_with(name));
        let part = if is_map { arguments.last() } else { arguments.first() }?;
        // `impl Iterator<Item = T>`.
        let item = part.strip_prefix("Item").and_then(|rest| rest.trim_start().strip_prefix('='));
        Some(item.map_or(*part, str::trim))
    }
}

/// How a type is borrowed, and what is behind the reference.
fn behind_reference(text: &str) -> (Borrow, &str) {
    let Some(rest) = text.trim_start().strip_prefix('&') else { return (Borrow::None, text.trim()) };
    let rest = without_lifetime(rest.trim_start()).trim();
    match rest.strip_prefix("mut ") {
        Some(rest) => (Borrow::Mutable, rest.trim_start()),
        None => (Borrow::Shared, rest),
    }
}

/// A text behind the lifetime that it begins with.
fn without_lifetime(text: &str) -> &str {
    if text.starts_with('\'') { text.split_once(' ').map_or("", |(_, rest)| rest) } else { text }
}

/// Whether a list of words has a word.
pub(crate) fn has_word(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// Splits where a character stands outside of all brackets.
pub(crate) fn split_top(text: &str, at: char) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (index, character) in text.char_indices() {
        match character {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            character if character == at && depth == 0 => {
                parts.push(&text[start..index]);
                start = index + character.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_all_languages_are_parsed() {
        for (text, path, arguments, element) in [
            ("&'a mut a::Map<'b, A, B<C, D>>", "a::Map", vec!["A", "B<C, D>"], Some("B<C, D>")),
            ("Box<T>*", "Box", vec!["T"], Some("Box<T>")),
            ("*pkg.Type[K, V]", "pkg.Type", vec!["K", "V"], Some("K")),
            ("impl Iterator<Item = &'a T>", "Iterator", vec!["Item = &'a T"], Some("&'a T")),
            ("\"List[Node]\"", "List", vec!["Node"], Some("Node")),
            ("const struct node *", "node", vec![], Some("const struct node ")),
            ("map[string]*Node", "map", vec![], Some("*Node")),
            ("[]Node", "Node", vec![], Some("Node")),
            ("&[u8; 4]", "[u8;4]", vec![], Some("u8")),
            ("fn(A<B>) -> C", "fn", vec![], None),
            ("", "", vec![], None),
        ] {
            let of = TypeRef::parse(text);
            assert_eq!(
                (of.path().as_str(), of.arguments(), of.element()),
                (path, arguments, element),
                "{text}"
            );
        }
        let parsed = |text| TypeRef::parse(text);
        assert_eq!(parsed("(A, B<C, D>)").tuple(), Some(vec!["A", "B<C, D>"]));
        assert_eq!((parsed("&&mut A").borrow, parsed("&&mut A").target), (Borrow::Shared, "&mut A"));
        assert_eq!((parsed("&'a mut A").borrow, parsed("&'a mut A").bare), (Borrow::Mutable, "A"));
        assert_eq!(TypeRef::alternatives("typing.Union[A, B[C, D]]"), ["A", "B[C, D]"]);
        assert_eq!(TypeRef::alternatives("A[B | C] | None"), ["A[B | C]"]);
    }
}
