//! Types of TypeScript as text, taken apart.

/// The alternatives and parts of a type, without what means nothing.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let mut open = vec![text];
    let mut found = Vec::new();
    while let Some(text) = open.pop() {
        let text = stripped(text);
        // The result of a function type may have a sign for alternatives in it.
        if function_type(text).is_some() {
            found.push(text);
            continue;
        }
        let split = split(text, &['|', '&']);
        if split.len() > 1 {
            open.extend(split.into_iter().rev());
        } else if !matches!(text, "" | "null" | "undefined" | "void" | "never") {
            found.push(text);
        }
    }
    found
}

/// Without brackets around the whole and words that change nothing.
fn stripped(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let before = text;
        text = text.trim_start_matches(['|', '&']).trim_start();
        for word in ["readonly ", "asserts ", "unique "] {
            text = text.strip_prefix(word).unwrap_or(text).trim_start();
        }
        if text.starts_with('(') && closing(text) == Some(text.len()) {
            text = text[1..text.len() - 1].trim();
        }
        if text == before {
            return text;
        }
    }
}

/// A type without alternatives that mean nothing.
pub(super) fn unwrapped(text: &str) -> &str {
    parts(text).into_iter().next().unwrap_or(text)
}

/// Whether nothing can be said about the members of a type.
pub(super) fn is_vague(text: &str) -> bool {
    let parts = parts(text);
    let is_word = |part: &&str| {
        matches!(*part, "any" | "unknown" | "object" | "Object" | "{}") || part.starts_with("Record<")
    };
    parts.is_empty() || parts.iter().any(is_word)
}

/// What a type that has any key holds: `Record<K, V>`, `{ [key: K]: V }`.
pub(super) fn held_by_keys(text: &str) -> Option<&str> {
    if text.starts_with("Record<") {
        return type_arguments(text).into_iter().nth(1);
    }
    let inner = text.strip_prefix('{')?.trim_start();
    let inner = inner.strip_prefix("readonly ").unwrap_or(inner);
    if !inner.starts_with('[') {
        return None;
    }
    let rest = inner[closing(inner)?..].trim_start().trim_start_matches('?').strip_prefix(':')?;
    split(rest.trim_end().strip_suffix('}')?, &[';', ',']).first().map(|first| first.trim())
}

/// The parameters and the result of a function type.
pub(super) fn function_type(text: &str) -> Option<(&str, &str)> {
    let mut text = text.trim();
    for word in ["abstract ", "new "] {
        text = text.strip_prefix(word).unwrap_or(text).trim_start();
    }
    if text.starts_with('<') {
        text = text[closing(text)?..].trim_start();
    }
    if !text.starts_with('(') {
        return None;
    }
    let end = closing(text)?;
    let returned = text[end..].trim_start().strip_prefix("=>")?;
    Some((&text[1..end - 1], returned.trim()))
}

/// The type of the parameter at a place; empty where there is none.
pub(super) fn arguments_of(parameters: &str, place: usize) -> String {
    let all = split(parameters, &[',']);
    let mut all = all.into_iter().map(str::trim).filter(|one| !one.is_empty() && !one.starts_with("this:"));
    let last = all.clone().next_back();
    let Some(one) = all.nth(place).or_else(|| last.filter(|one| one.starts_with("..."))) else {
        return String::new();
    };
    let of = split(one, &[':']);
    let Some(name) = of.first().filter(|_| of.len() > 1) else { return String::new() };
    let of = one[name.len() + 1..].trim();
    if one.starts_with("...") {
        return of.strip_suffix("[]").unwrap_or(of).to_owned();
    }
    of.to_owned()
}

/// `Type["key"]`.
pub(super) fn indexed(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix(']')?;
    let (of, key) = inner.rsplit_once('[')?;
    let key = key.trim();
    let is_quoted = key.len() > 2 && key.starts_with(['"', '\'']) && key.ends_with(['"', '\'']);
    (is_quoted && !of.is_empty()).then(|| (of.trim(), key.trim_matches(['"', '\''])))
}

/// `import("module").Outer.Name`: the module with its quotes, and the names.
pub(super) fn imported_type(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("import(")?;
    let (module, rest) = rest.split_once(')')?;
    let name = rest.strip_prefix('.')?;
    let end = name.find(['<', '[']).unwrap_or(name.len());
    Some((module.trim(), &name[..end]))
}

/// Begins the name of a type parameter that stands for something that is known; a number follows.
pub(super) const PARAMETER: char = '\u{E000}';

/// The first of the arguments of a generic type.
pub(super) fn first_argument(text: &str) -> Option<&str> {
    type_arguments(text).into_iter().next()
}

/// The arguments of a generic type.
pub(super) fn type_arguments(text: &str) -> Vec<&str> {
    let inner = || {
        let open = text.find('<')?;
        let end = closing(&text[open..])?;
        text.get(open + 1..open + end - 1)
    };
    let Some(inner) = inner() else { return Vec::new() };
    split(inner, &[',']).into_iter().map(str::trim).filter(|one| !one.is_empty()).collect()
}

/// A type in which a type parameter is replaced by what stands at a place.
pub(super) fn substituted(text: &str, parameter: &str, place: usize) -> String {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    let (mut made, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(parameter) {
        let (before, after) = (&rest[..at], &rest[at + parameter.len()..]);
        let is_whole = !before.ends_with(|last| is_part(last) || last == '.') && !after.starts_with(is_part);
        made.push_str(before);
        if is_whole {
            made.push(PARAMETER);
            made.push_str(&place.to_string());
        } else {
            made.push_str(parameter);
        }
        rest = after;
    }
    made + rest
}

/// How many arguments a text begins with, where it begins with a call.
pub(super) fn arguments_given(text: &str) -> Option<usize> {
    let mut text = text.trim_start();
    text = text.strip_prefix("?.").unwrap_or(text);
    if text.starts_with('<') {
        text = text[closing(text)?..].trim_start();
    }
    if !text.starts_with('(') {
        return None;
    }
    let inner = &text[1..closing(text)? - 1];
    Some(split(inner, &[',']).iter().filter(|one| !one.trim().is_empty()).count())
}

/// Splits where one of the signs stands outside of all brackets and texts.
fn split<'t>(text: &'t str, at: &[char]) -> Vec<&'t str> {
    let (mut start, mut found) = (0, Vec::new());
    walk(text, |index, character, depth| {
        if depth == 0 && at.contains(&character) {
            found.push(&text[start..index]);
            start = index + character.len_utf8();
        }
        true
    });
    found.push(&text[start..]);
    found
}

/// Where the bracket that a text begins with is closed; behind it.
fn closing(text: &str) -> Option<usize> {
    let mut end = None;
    walk(text, |index, character, depth| {
        if depth == 0 && index > 0 && matches!(character, ')' | ']' | '}' | '>') {
            end = Some(index + 1);
            return false;
        }
        true
    });
    end
}

/// Goes through a text with the depth of brackets, closing ones counted as outside; texts in quotes are left out.
fn walk(text: &str, mut each: impl FnMut(usize, char, usize) -> bool) {
    let mut depth = 0_usize;
    let mut quote: Option<char> = None;
    let mut previous = ' ';
    for (index, character) in text.char_indices() {
        if let Some(open) = quote {
            if character == open && previous != '\\' {
                quote = None;
            }
            previous = character;
            continue;
        }
        let shown = match character {
            '"' | '\'' | '`' => {
                quote = Some(character);
                depth
            }
            '(' | '[' | '{' | '<' => {
                depth += 1;
                depth
            }
            // The end of an arrow is no bracket.
            '>' if previous == '=' => depth + 1,
            ')' | ']' | '}' | '>' => {
                depth = depth.saturating_sub(1);
                depth
            }
            _ => depth,
        };
        if !each(index, character, shown) {
            return;
        }
        previous = character;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_taken_apart() {
        for (text, expected) in [
            ("A | undefined", vec!["A"]),
            ("(A & B) | null", vec!["A", "B"]),
            ("(a: A | B) => C | D", vec!["(a: A | B) => C | D"]),
            ("((a: A) => B) | C<D | E>", vec!["(a: A) => B", "C<D | E>"]),
            ("{ a: A | B }", vec!["{ a: A | B }"]),
            ("", vec![]),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
        for (text, place, expected) in [
            ("(a: A, b?: B<C, D>) => void", 1, "B<C, D>"),
            ("<T>(this: X, a: T) => (b: B) => C", 0, "T"),
            ("(...all: A[]) => void", 3, "A"),
            ("new (a: { b: B }) => C", 0, "{ b: B }"),
            ("() => void", 0, ""),
        ] {
            let (parameters, _) = function_type(text).unwrap();
            assert_eq!(arguments_of(parameters, place), expected, "{text}");
        }
        assert_eq!(indexed("A['b']"), Some(("A", "b")));
        assert_eq!(indexed("A[]"), None);
        assert_eq!(imported_type("import('./a').B<C>"), Some(("'./a'", "B")));
        assert_eq!(imported_type("import('./a').B.C"), Some(("'./a'", "B.C")));
        assert_eq!(first_argument("Omit<A<B>, 'c'>"), Some("A<B>"));
        assert_eq!(type_arguments("A<B<C, D>, (e: E) => F>"), ["B<C, D>", "(e: E) => F"]);
        assert_eq!(substituted("(a: T, b: Ts) => T[]", "T", 3), "(a: \u{E000}3, b: Ts) => \u{E000}3[]");
        assert_eq!(arguments_given("<A>(b, [c, d], (e) => f(g, h))"), Some(3));
        assert_eq!(held_by_keys("Record<string, { a: A }>"), Some("{ a: A }"));
        assert_eq!(held_by_keys("{ [key: string]: A | B; }"), Some("A | B"));
        assert_eq!(held_by_keys("{ key: A }"), None);
        assert_eq!(arguments_given("()"), Some(0));
        assert_eq!(arguments_given(" = 1"), None);
        assert!(is_vague("any") && is_vague("Record<string, A>") && !is_vague("A"));
        assert_eq!(parts(&"(".repeat(50_000)).len(), 1);
    }
}
