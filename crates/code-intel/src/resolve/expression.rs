//! Expressions, as far as they say what a value is: names, members, calls. Everything else is not understood, and
//! that is said.

use super::type_ref::has_word;

/// One step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The first name.
    Name(String),
    Member(String),
    /// `::name`.
    Path(String),
    Call,
    /// `[...]`, or what a loop goes over.
    Element,
    /// `new Type(...)`, `Type { ... }`, `(Type)value`: an instance of the type of this text.
    Made(String),
    /// The place in what a call returns.
    Place(usize),
}

const DEEPEST: usize = 24;

/// Functions of C++ that give a value of the type in their angle brackets, or a pointer to one.
const MAKERS: &str = "static_cast dynamic_cast const_cast reinterpret_cast static_pointer_cast dynamic_pointer_cast \
    make_unique make_shared any_cast get_if";

/// The steps of an expression; `None` where it is anything else.
pub(crate) fn steps(text: &str) -> Option<Vec<Step>> {
    within(text, 0)
}

fn within(text: &str, depth: usize) -> Option<Vec<Step>> {
    if depth > DEEPEST {
        return None;
    }
    let mut rest = text.trim();
    for word in ["await ", "yield from ", "&mut ", "mut ", "ref ", "move ", "typeof ", "<-"] {
        rest = rest.strip_prefix(word).unwrap_or(rest).trim_start();
    }
    while let Some(inner) = rest.strip_prefix(['&', '*', '!']) {
        rest = inner.trim_start();
    }
    let mut steps = Vec::new();
    if let Some(after) = rest.strip_prefix("new ") {
        let end = after.find('(').unwrap_or(after.len());
        steps.push(Step::Made(after[..end].trim().trim_end_matches(['{', ' ']).to_owned()));
        rest = &after[end..];
        if rest.starts_with('(') {
            rest = &rest[closing(rest)?..];
        }
    } else if rest.starts_with('(') {
        let end = closing(rest)?;
        let inner = rest[1..end - 1].trim();
        let after = rest[end..].trim_start();
        if let Some((_, of)) = inner.rsplit_once(" as ") {
            steps.push(Step::Made(of.trim().to_owned()));
            rest = after;
        } else if after.starts_with(|first: char| first.is_alphabetic() || first == '_' || first == '(') {
            // `(Type)value`.
            return Some(vec![Step::Made(inner.to_owned())]);
        } else {
            steps = within(inner, depth + 1)?;
            rest = after;
        }
    } else {
        let (name, after) = name(rest)?;
        steps.push(Step::Name(name.to_owned()));
        rest = after;
    }
    while !rest.is_empty() {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("?.").or_else(|| rest.strip_prefix("->")) {
            let (name, after) = name(after.trim_start())?;
            steps.push(Step::Member(name.to_owned()));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("::") {
            if after.starts_with('<') {
                rest = &after[closing(after)?..];
                continue;
            }
            let (name, after) = name(after)?;
            steps.push(Step::Path(name.to_owned()));
            rest = after;
        } else if let Some(after) = rest.strip_prefix('.') {
            let after = after.trim_start();
            if let Some(asserted) = after.strip_prefix('(') {
                // `value.(Type)` in Go.
                let end = asserted.find(')')?;
                steps.push(Step::Made(asserted[..end].trim().to_owned()));
                rest = &asserted[end + 1..];
                continue;
            }
            let (name, after) = name(after)?;
            if name != "await" {
                steps.push(Step::Member(name.to_owned()));
            }
            rest = after;
        } else if rest.starts_with('(') {
            steps.push(Step::Call);
            rest = &rest[closing(rest)?..];
        } else if rest.starts_with('[') {
            steps.push(Step::Element);
            rest = &rest[closing(rest)?..];
        } else if rest.starts_with('{') {
            // `Type { ... }`: the names before are its path.
            let end = closing(rest)?;
            let path = text[..text.len() - rest.len()].trim().trim_start_matches(['&', '*', ' ']);
            steps = vec![Step::Made(path.to_owned())];
            rest = &rest[end..];
        } else if rest.starts_with('<') {
            // Arguments of a generic function; else a comparison, which is no value of interest.
            let end = closing(rest)?;
            let after = &rest[end..];
            if !after.starts_with(['(', '{', '.']) {
                return None;
            }
            let last = steps.last();
            if let Some(Step::Name(name) | Step::Path(name)) = last
                && has_word(MAKERS, name.as_str())
                && after.starts_with('(')
            {
                steps = vec![Step::Made(rest[1..end - 1].trim().to_owned())];
                rest = &after[closing(after)?..];
                continue;
            }
            rest = after;
        } else if rest == "?"
            || rest.starts_with("?.")
            || rest.starts_with("?;")
            || rest.starts_with("? ") && rest.len() == 2
        {
            steps.push(Step::Member("unwrap".to_owned()));
            steps.push(Step::Call);
            rest = &rest[1..];
        } else if let Some(after) = rest.strip_prefix('!').filter(|after| !after.starts_with('=')) {
            rest = after;
        } else if let Some(place) = rest.strip_prefix('#') {
            steps.push(Step::Place(place.parse().ok()?));
            rest = "";
        } else if let Some(of) = rest.strip_prefix("as").filter(|of| of.starts_with(char::is_whitespace)) {
            return Some(vec![Step::Made(of.trim().to_owned())]);
        } else if let Some(given) = rest.strip_prefix('=').filter(|given| !given.starts_with(['=', '>'])) {
            // An assignment is what is given.
            return within(given, depth + 1);
        } else if ["or ", "||", "??", "if "].iter().any(|word| rest.starts_with(word)) {
            // `a or b`: the first tells enough.
            rest = "";
        } else {
            return None;
        }
    }
    Some(steps)
}

/// The name a text begins with, and the rest.
fn name(text: &str) -> Option<(&str, &str)> {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '#');
    let text_without = text.strip_prefix('#').unwrap_or(text);
    let offset = text.len() - text_without.len();
    let end = text_without
        .find(|character: char| !is_part(character) || character == '#')
        .unwrap_or(text_without.len());
    (end > 0).then(|| text.split_at(end + offset))
}

/// Where the bracket that a text begins with is closed; behind it.
pub(crate) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote: Option<char> = None;
    let mut previous = ' ';
    for (at, character) in text.char_indices() {
        if let Some(open) = quote {
            if character == open && previous != '\\' {
                quote = None;
            }
        } else {
            match character {
                '"' | '`' => quote = Some(character),
                '(' | '[' | '{' => depth += 1,
                '<' if text.starts_with('<') => depth += 1,
                '>' if text.starts_with('<') && previous != '-' && previous != '=' => {
                    depth = depth.saturating_sub(1);
                }
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(at + character.len_utf8());
            }
        }
        previous = character;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_taken_apart_or_not_understood() {
        let name = |text: &str| Step::Name(text.to_owned());
        let member = |text: &str| Step::Member(text.to_owned());
        let made = |text: &str| Step::Made(text.to_owned());
        for (text, expected) in [
            ("a", Some(vec![name("a")])),
            ("self.b.c(1, (2))", Some(vec![name("self"), member("b"), member("c"), Step::Call])),
            ("await f()[0]", Some(vec![name("f"), Step::Call, Step::Element])),
            ("new A.B(1).c", Some(vec![made("A.B"), member("c")])),
            ("(x as Y<Z>).w", Some(vec![made("Y<Z>"), member("w")])),
            ("&a->b", Some(vec![name("a"), member("b")])),
            (
                "A::<T>::b()?",
                Some(vec![name("A"), Step::Path("b".to_owned()), Step::Call, member("unwrap"), Step::Call]),
            ),
            ("pkg.T{A: \")\"}", Some(vec![made("pkg.T")])),
            ("(struct a *)b", Some(vec![made("struct a *")])),
            ("f(x)#1", Some(vec![name("f"), Step::Call, Step::Place(1)])),
            ("static_cast<A*>(b)->c", Some(vec![made("A*"), member("c")])),
            ("std::make_unique<a::B>(1, 2)", Some(vec![made("a::B")])),
            ("a or b", Some(vec![name("a")])),
            ("a + b", None),
            ("\"text\"", None),
            ("f(", None),
            ("", None),
        ] {
            assert_eq!(steps(text), expected, "{text}");
        }
        assert_eq!(steps(&"(".repeat(100_000)), None);
    }
}
