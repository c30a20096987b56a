//! Making visible what a screen would hide: control characters, characters that reorder or take no room.

/// The text with hidden characters written out.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) && character != '\n' && character != '\t' {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The hidden characters of a text, each once, in words.
pub fn hidden_characters(text: &str) -> Vec<String> {
    let mut found: Vec<char> = Vec::new();
    for character in text.chars().filter(|character| is_hidden(*character)) {
        if !matches!(character, '\n' | '\t') && !found.contains(&character) {
            found.push(character);
        }
    }
    found.into_iter().map(describe).collect()
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3000}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
        )
}

fn describe(character: char) -> String {
    let code = format!("U+{:04X}", character as u32);
    let what = match character {
        '\u{1b}' => "escape sequence",
        '\r' => "carriage return",
        '\u{8}' => "backspace",
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            "changes the direction of text"
        }
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => "takes no room",
        character if character.is_control() => "control character",
        _ => "cannot be seen",
    };
    format!("{code} ({what})")
}
