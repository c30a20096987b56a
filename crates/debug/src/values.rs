//! Formats values of a program: shortened, without control sequences.

use crate::output::floor_boundary;

/// Shortens a value to at most `most` bytes, and says how long it is.
pub fn shortened(value: &str, most: usize) -> String {
    let value = without_escapes(value);
    if value.len() <= most {
        return value;
    }
    let cut = floor_boundary(&value, most);
    format!("{}… ({} bytes)", &value[..cut], value.len())
}

/// Removes terminal control sequences and escapes control characters.
pub fn without_escapes(text: &str) -> String {
    if !text.contains(|letter: char| letter.is_control() && !matches!(letter, '\n' | '\t')) {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_sequence(&mut letters),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n' | '\t' => clean.push(letter),
            control if control.is_control() => clean.extend(control.escape_default()),
            other => clean.push(other),
        }
    }
    clean
}

/// Skips the rest of a control sequence.
fn skip_sequence(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match letters.peek() {
        Some('[') => {
            letters.next();
            for letter in letters.by_ref() {
                if ('\u{40}'..='\u{7e}').contains(&letter) {
                    return;
                }
            }
        }
        Some(']') => {
            for letter in letters.by_ref() {
                if letter == '\u{7}' || letter == '\\' {
                    return;
                }
            }
        }
        Some(_) => {
            letters.next();
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_cut_and_cleaned() {
        assert_eq!(shortened("短文本", 7), "短文… (9 bytes)");
        assert_eq!(shortened("\u{1b}[31mred\u{1b}[0m\u{7}", 80), "red\\u{7}");
        assert_eq!(without_escapes("a\r\nb\rc"), "a\nb\\rc");
        assert_eq!(without_escapes("x\u{1b}]52;c;evil\u{7}y"), "xy");
    }

    proptest! {
        #[test]
        fn nothing_a_terminal_obeys_is_left(text in "\\PC*|[\\x00-\\x7f]{0,40}", most in 0_usize..40) {
            let short = shortened(&text, most);
            prop_assert!(!short.contains(|letter: char| letter.is_control() && !matches!(letter, '\n' | '\t')));
        }
    }
}
