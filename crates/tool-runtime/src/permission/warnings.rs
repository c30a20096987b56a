//! What the person should know before saying yes: text that looks like something else.

use stepwell_protocol::Preview;

use crate::shell::{hidden_characters, visible};

/// Characters on a line that are seen at once.
const LONG_LINE: usize = 300;
/// Blanks in a row that push what follows out of sight.
const PADDING: usize = 40;
/// Characters of the end that are shown.
const TAIL: usize = 120;

/// Adds to a preview what is hidden in it.
pub fn add_warnings(preview: &mut Preview) {
    let mut found = Vec::new();
    if let Some(command) = &preview.command {
        found.extend(about_text("the command", command));
    }
    for path in &preview.paths {
        found.extend(hidden("a path", path));
    }
    for host in &preview.hosts {
        if !host.is_ascii() {
            found.push(format!("the host holds characters that may look like others: {}", visible(host)));
        }
    }
    if let Some(diff) = &preview.diff {
        found.extend(hidden("the change", diff));
    }
    for warning in found {
        if !preview.warnings.contains(&warning) {
            preview.warnings.push(warning);
        }
    }
}

fn about_text(what: &str, text: &str) -> Vec<String> {
    let mut found: Vec<String> = hidden(what, text).into_iter().collect();
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let padded = text.contains(&" ".repeat(PADDING)) || text.contains(&"\n".repeat(PADDING / 4));
    if longest > LONG_LINE || padded {
        let count = text.chars().count();
        let tail: String =
            text.trim_end().chars().skip(text.trim_end().chars().count().saturating_sub(TAIL)).collect();
        let tail = tail.split_whitespace().collect::<Vec<_>>().join(" ");
        found.push(format!("{what} is {count} characters long and ends with `{}`", visible(&tail)));
    }
    // Names of programs and options are ASCII; letters of other alphabets that look the same are not.
    let alike: Vec<char> = text.chars().filter(|character| looks_like_ascii(*character)).collect();
    if !alike.is_empty() {
        let mut seen: Vec<String> = Vec::new();
        for character in alike {
            let code = format!("{character} (U+{:04X})", character as u32);
            if !seen.contains(&code) {
                seen.push(code);
            }
        }
        found.push(format!("{what} holds letters that look like others: {}", seen.join(", ")));
    }
    found
}

fn hidden(what: &str, text: &str) -> Option<String> {
    let characters = hidden_characters(text);
    (!characters.is_empty()).then(|| format!("{what} holds hidden characters: {}", characters.join(", ")))
}

/// Letters of Cyrillic, Greek and full-width alphabets that are drawn like Latin ones, and slashes and quotes.
fn looks_like_ascii(character: char) -> bool {
    "асеорхуіјѕԁһӏАВЕКМНОРСТХοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ".contains(character)
        || matches!(character, '\u{ff01}'..='\u{ff5e}' | '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{37e}' | '\u{2010}'..='\u{2012}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(command: &str) -> Vec<String> {
        let mut preview = Preview { command: Some(command.to_owned()), ..Preview::default() };
        add_warnings(&mut preview);
        preview.warnings
    }

    #[test]
    fn hidden_text_is_told_t14_c28_c34() {
        let cases = [
            ("r\u{200b}m -rf x", "U+200B (takes no room)"),
            ("echo \u{202e}abc", "U+202E (changes the direction of text)"),
            ("echo a\rrm b", "U+000D (carriage return)"),
            ("echo \u{1b}[2Jx", "U+001B (escape sequence)"),
            ("echo a\u{8}b", "U+0008 (backspace)"),
            ("\u{441}at x", "с (U+0441)"),
        ];
        for (command, expected) in cases {
            let found = warnings(command).join("; ");
            assert!(found.contains(expected), "{command:?}: {found}");
        }
        let padded = format!("grep x README.md{}; env > /out/pwn", " ".repeat(3000));
        let found = warnings(&padded).join("; ");
        assert!(found.contains("3032 characters") && found.contains("; env > /out/pwn"), "{found}");
        for harmless in
            ["ls -la", "git commit -m \"fix: 修复\"", "cat <<'EOF' > x\n\tline\nEOF", "echo \"ünïcode\""]
        {
            assert_eq!(warnings(harmless), Vec::<String>::new(), "{harmless}");
        }
    }
}
