//! Text fitted into the columns of a terminal.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use crate::terminal::harmless;

/// How many columns a line of standard output has; `None` where nobody sees them, as in a pipe.
pub fn of_stdout() -> Option<usize> {
    of(&io::stdout())
}

/// The same of standard error.
pub fn of_stderr() -> Option<usize> {
    of(&io::stderr())
}

fn of(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let asked = || rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
    said.or_else(asked).filter(|columns| *columns > 0)
}

/// The beginning of a text that fits the line, where there is a line to fit.
pub fn fit(text: &str, columns: Option<usize>) -> String {
    columns.map_or_else(|| text.to_owned(), |columns| cut_end(text, columns))
}

/// Text from anywhere on one line, with nothing in it that moves the cursor.
pub fn one_line(text: &str) -> String {
    harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// How many columns a text takes.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// A text with blanks behind it, so that it takes at least so many columns.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// A text with blanks before it, so that it takes at least so many columns.
pub fn padded_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The beginning of a text in at most so many columns, with a sign where something is missing.
pub fn cut_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept = fitting(text.chars(), columns);
    text.chars().take(kept).chain((columns > 0).then_some('…')).collect()
}

/// The end of a text in at most so many columns: of a path that is what tells it from others.
pub fn cut_start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept = fitting(text.chars().rev(), columns);
    let skipped = text.chars().count() - kept;
    (columns > 0).then_some('…').into_iter().chain(text.chars().skip(skipped)).collect()
}

/// How many characters fit when one column is left for the sign.
fn fitting(characters: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut left = columns.saturating_sub(1);
    let fits = |character: &char| match left.checked_sub(char_width(*character)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    characters.take_while(fits).count()
}

fn char_width(character: char) -> usize {
    match u32::from(character) {
        // Marks that stand on the character before them, and what joins characters.
        0x0300..=0x036F | 0x200B..=0x200F | 0x20D0..=0x20FF | 0xFE00..=0xFE0F => 0,
        // East Asian scripts, full-width forms and pictures.
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0xA4CF
        | 0xA960..=0xA97F
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F680..=0x1F6FF
        | 0x1F900..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{cut_end, cut_start, one_line, width};

    #[test]
    fn texts_fit_their_columns() {
        for (text, columns, end, start) in [
            ("short", 5, "short", "short"),
            ("longer", 5, "long…", "…nger"),
            ("修复登录", 8, "修复登录", "修复登录"),
            ("修复登录", 7, "修复登…", "…复登录"),
            ("修复登录", 6, "修复…", "…登录"),
            ("e\u{301}tude", 5, "e\u{301}tude", "e\u{301}tude"),
            ("abc", 1, "…", "…"),
            ("abc", 0, "", ""),
        ] {
            assert_eq!((cut_end(text, columns).as_str(), cut_start(text, columns).as_str()), (end, start));
            assert!(width(&cut_end(text, columns)) <= columns, "{text}");
        }
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(one_line(" a\n\tb \r\n c"), "a b c");
        assert_eq!(one_line("red \u{1b}[31m\u{7}"), "red \u{fffd}[31m\u{fffd}");
    }
}
