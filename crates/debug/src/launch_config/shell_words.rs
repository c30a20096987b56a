//! Splits a text into words as a shell does, without running or replacing anything.

/// The words, or `None` when a quote is not closed.
pub(crate) fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        match next {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        inside => word.push(inside),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        inside => word.push(inside),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

/// The word as one would type it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |found: char| found.is_alphanumeric() || "_-./=:@%+,".contains(found);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

pub(crate) fn joined<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let rows: [(&str, Option<&[&str]>); 8] = [
            ("", Some(&[])),
            ("  a\tb\n c ", Some(&["a", "b", "c"])),
            ("'a b' \"c d\" e\\ f", Some(&["a b", "c d", "e f"])),
            ("a'b'\"c\"", Some(&["abc"])),
            ("'' \"\"", Some(&["", ""])),
            (r#""\"\\\n\$""#, Some(&[r#""\\n$"#])),
            ("'open", None),
            ("end\\", None),
        ];
        for (text, expected) in rows {
            let words = split(text);
            let words = words.as_ref().map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(words.as_deref(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_joined_splits_into_the_same(words in prop::collection::vec(any::<String>(), 0..6)) {
            let text = joined(words.iter().map(String::as_str));
            prop_assert_eq!(split(&text), Some(words));
        }
    }
}
