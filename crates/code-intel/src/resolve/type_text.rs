//! Parses the text of a type.

use super::names::without_generics;

/// Whether a list of words has a word.
pub(super) fn has_word(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// Splits where a character stands outside of all brackets.
pub(super) fn split_top(text: &str, at: char) -> Vec<&str> {
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

/// The types a value may be of: `A | None` is `A`.
pub(super) fn alternatives(text: &str) -> Vec<String> {
    let text = text.trim().trim_matches('"');
    if let Some(inner) = text
        .strip_prefix("Union[")
        .or_else(|| text.strip_prefix("t.Union["))
        .or_else(|| text.strip_prefix("typing.Union["))
    {
        return split_top(inner.trim_end_matches(']'), ',')
            .into_iter()
            .map(|part| part.trim().to_owned())
            .collect();
    }
    let parts = split_top(text, '|').into_iter().flat_map(|part| part.split(" & "));
    let parts = parts.flat_map(|part| split_top(part, '+')).map(|part| part.trim().to_owned());
    parts.filter(|part| !matches!(part.as_str(), "" | "None" | "null" | "undefined")).collect()
}

/// The name of a type without what surrounds it.
pub(super) fn head(text: &str) -> String {
    let mut text = text.trim().trim_matches(['"', '(', ')']).trim();
    text = text.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\'')).unwrap_or(text);
    loop {
        let before = text;
        text = text.trim_start_matches(['&', '*', ' ', '?']);
        if text.starts_with('\'') {
            text = text.split_once(' ').map_or("", |(_, rest)| rest);
        }
        for word in [
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
        ] {
            text = text.strip_prefix(word).unwrap_or(text);
        }
        if text == before {
            break;
        }
    }
    let end = text.find(['<', '[', ' ', '{', '(', '*', '&']).unwrap_or(text.len());
    let head = text[..end].trim_end_matches([':', '.']);
    if head.is_empty() { without_generics(text) } else { head.to_owned() }
}

/// Types that hold what their last argument says.
const MAPS: &str = "dict Dict Map HashMap BTreeMap Mapping MutableMapping Record Coroutine OrderedDict defaultdict \
    std::map unordered_map";

/// The type of what a collection or a wrapper holds.
pub(super) fn element_of(text: &str) -> Option<String> {
    let text = text.trim().trim_matches('"').trim_start_matches(['&', '*']).trim_start_matches("mut ");
    if let Some(rest) = text.strip_prefix("[]").or_else(|| text.strip_suffix("[]")) {
        return Some(rest.to_owned());
    }
    if text.starts_with("map[") {
        return text.split_once(']').map(|(_, value)| value.to_owned());
    }
    if let Some(rest) = text.strip_prefix('[') {
        return Some(rest.trim_end_matches(']').split(';').next().unwrap_or_default().to_owned());
    }
    if text.ends_with('*') {
        return Some(text.trim_end_matches('*').to_owned());
    }
    let open = text.find(['<', '['])?;
    let inner = text.get(open + 1..text.len() - 1)?;
    let parts: Vec<&str> =
        split_top(inner, ',').into_iter().filter(|part| !part.trim().starts_with('\'')).collect();
    let head = text[..open].trim();
    // What a map or a generator holds comes last or first.
    let is_map = MAPS.split(' ').any(|name| head.ends_with(name));
    let part = if is_map { parts.last() } else { parts.first() };
    let part = part?.trim();
    // `impl Iterator<Item = T>`.
    let item = part.strip_prefix("Item").and_then(|rest| rest.trim_start().strip_prefix('='));
    Some(item.unwrap_or(part).trim().to_owned())
}
