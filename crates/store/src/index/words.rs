//! Text as the full-text index wants it.
//!
//! SQLite's `unicode61` tokenizer takes a run of Chinese as one word, and its `trigram` tokenizer finds nothing
//! shorter than three characters. So every ideograph, kana and hangul syllable becomes a word of its own before it
//! is indexed, and a run of them in a query becomes a phrase: any substring is found, of one character or more.

/// Text with each East Asian character set apart.
pub(crate) fn segmented(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for character in text.chars() {
        if stands_alone(character) {
            out.push(' ');
            out.push(character);
            out.push(' ');
        } else {
            out.push(character);
        }
    }
    out
}

/// The words a person typed, for finding them again in the original text.
pub(crate) fn terms(query: &str) -> Vec<String> {
    let clean = |word: &str| -> String {
        word.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { ' ' }).collect()
    };
    let spaced: String = query.split_whitespace().map(|word| clean(word) + " ").collect();
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// An FTS5 expression that finds all the words, the last characters of each being open. `None` when there is no
/// word in the query.
pub(crate) fn match_expression(query: &str) -> Option<String> {
    let phrases: Vec<String> = terms(query)
        .iter()
        .map(|term| {
            let open_end = term.chars().last().is_some_and(|last| !stands_alone(last));
            // Terms hold no quotes, so nothing needs escaping.
            format!("\"{}\"{}", segmented(term).trim(), if open_end { "*" } else { "" })
        })
        .collect();
    (!phrases.is_empty()).then(|| phrases.join(" AND "))
}

/// A stretch of the text around the first word that is found, on one line.
pub(crate) fn snippet(text: &str, query: &str) -> String {
    const BEFORE: usize = 40;
    const LENGTH: usize = 160;
    let characters: Vec<char> = text.chars().collect();
    let lower: Vec<char> = characters.iter().map(|c| c.to_lowercase().next().unwrap_or(*c)).collect();
    let found = terms(query)
        .iter()
        .filter_map(|term| {
            let term: Vec<char> = term.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect();
            lower.windows(term.len()).position(|window| window == term)
        })
        .min()
        .unwrap_or(0);
    let start = found.saturating_sub(BEFORE);
    let end = (start + LENGTH).min(characters.len());
    let middle: String = characters[start..end].iter().collect();
    let middle = middle.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}{middle}{}", if start > 0 { "…" } else { "" }, if end < characters.len() { "…" } else { "" })
}

/// Text on one line, with nothing in it that moves a cursor.
pub(crate) fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn stands_alone(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x11FF        // hangul jamo
        | 0x2E80..=0x2FDF      // radicals
        | 0x3005..=0x3007
        | 0x3040..=0x31FF      // kana, bopomofo
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF      // the common ideographs
        | 0xAC00..=0xD7AF      // hangul
        | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::{match_expression, segmented, snippet};

    #[test]
    fn ideographs_are_words_of_their_own() {
        assert_eq!(segmented("修复bug"), " 修  复 bug");
        assert_eq!(match_expression("修复 fix-me").as_deref(), Some("\"修  复\" AND \"fix\"* AND \"me\"*"));
        assert_eq!(match_expression(" -- \" ' "), None);
    }

    #[test]
    fn a_snippet_shows_what_was_found() {
        let text = format!("{}needle\nin a stack{}", "x ".repeat(100), " y".repeat(100));
        let shown = snippet(&text, "NEEDLE");
        assert!(
            shown.starts_with('…') && shown.ends_with('…') && shown.contains("needle in a stack"),
            "{shown}"
        );
        assert_eq!(snippet("short", "zzz"), "short");
    }
}
