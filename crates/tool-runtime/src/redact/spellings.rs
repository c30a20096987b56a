//! The ways in which a value may appear in text: as it is, and in the encodings that programs print.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::SHORTEST_SECRET;

/// Longer values are looked for in few encodings: each of them costs memory in one expression.
const LONGEST_ENCODED: usize = 512;

pub(super) fn spellings(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned()];
    let quoted = Value::from(value).to_string();
    let in_json = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    forms.extend([
        in_json.to_owned(),
        url_encoded(value, HexCase::Upper),
        url_encoded(value, HexCase::Lower),
    ]);
    forms.extend(in_base64(value));
    if value.len() <= LONGEST_ENCODED {
        forms.extend(encoded(value));
    }
    let mut seen = std::collections::BTreeSet::new();
    forms.retain(|form| form.len() >= SHORTEST_SECRET && seen.insert(form.clone()));
    forms
}

/// Inside longer base64 text the value may begin at any of three positions within a group; the characters it shares with
/// its neighbours are left out.
fn in_base64(value: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for offset in 0..3 {
        let mut bytes = vec![0; offset];
        bytes.extend_from_slice(value.as_bytes());
        let skip = (offset * 8).div_ceil(6);
        let whole = bytes.len() * 8 / 6;
        for text in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            if let Some(stable) = text.get(skip..whole).filter(|stable| stable.len() >= SHORTEST_SECRET) {
                forms.push(stable.to_owned());
            }
        }
    }
    forms
}

#[derive(Clone, Copy)]
enum HexCase {
    Lower,
    Upper,
}

fn hex(byte: u8, case: HexCase) -> String {
    match case {
        HexCase::Lower => format!("{byte:02x}"),
        HexCase::Upper => format!("{byte:02X}"),
    }
}

fn encoded(value: &str) -> Vec<String> {
    let bytes = value.as_bytes();
    let joined = |between: &str, of: &dyn Fn(u8) -> String| {
        bytes.iter().map(|byte| of(*byte)).collect::<Vec<_>>().join(between)
    };
    let reversed: String = value.chars().rev().collect();
    let mut forms = vec![
        // `rev`, and reversed text in base64.
        reversed.clone(),
        rot13(value),
        base32(bytes),
        base32(bytes).to_lowercase(),
        // `&#104;`, as pages escape text.
        joined("", &|byte| format!("&#{byte};")),
        joined("", &|byte| format!("&#x{byte:x};")),
        // `104 117`, `104, 117`, as lists of bytes are printed.
        joined(" ", &|byte| byte.to_string()),
        joined(", ", &|byte| byte.to_string()),
        joined(",", &|byte| byte.to_string()),
        joined("", &|byte| format!("\\{byte:03o}")),
        joined("", &|byte| format!("{byte:08b}")),
        joined(" ", &|byte| format!("{byte:08b}")),
        value.chars().map(|letter| format!("\\u{:04x}", letter as u32)).collect::<Vec<_>>().concat(),
        // A blank between letters.
        value.chars().map(String::from).collect::<Vec<_>>().join(" "),
    ];
    for case in [HexCase::Lower, HexCase::Upper] {
        forms.push(joined("", &|byte| hex(byte, case)));
        forms.push(joined(" ", &|byte| hex(byte, case)));
        forms.push(joined(":", &|byte| hex(byte, case)));
        forms.push(joined("", &|byte| format!("\\x{}", hex(byte, case))));
        forms.push(joined("", &|byte| format!("%{}", hex(byte, case))));
    }
    // `xxd` and `od` print sixteen bytes to a line, in pairs or one by one.
    let lines = bytes.chunks(16).filter(|chunk| chunk.len() >= SHORTEST_SECRET);
    for chunk in lines {
        let pairs: Vec<String> = chunk
            .chunks(2)
            .map(|pair| pair.iter().map(|byte| hex(*byte, HexCase::Lower)).collect())
            .collect();
        forms.push(pairs.join(" "));
        let single: Vec<String> = chunk.iter().map(|byte| hex(*byte, HexCase::Lower)).collect();
        forms.push(single.join(" "));
        // The column with the text.
        forms.extend(std::str::from_utf8(chunk).ok().map(str::to_owned));
    }
    forms.extend(in_base64(&reversed));
    // Encoded twice.
    forms.extend(in_base64(&STANDARD_NO_PAD.encode(bytes)).into_iter().take(2));
    forms
}

fn rot13(value: &str) -> String {
    let turned = |letter: char| match letter {
        'a'..='m' | 'A'..='M' => char::from(letter as u8 + 13),
        'n'..='z' | 'N'..='Z' => char::from(letter as u8 - 13),
        other => other,
    };
    value.chars().map(turned).collect()
}

/// Base32 without padding.
fn base32(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut out = String::new();
    let (mut buffer, mut bits) = (0u32, 0u32);
    for byte in bytes {
        buffer = (buffer << 8) | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            out.push(char::from(LETTERS[((buffer >> bits) & 31) as usize]));
        }
        buffer &= (1 << bits) - 1;
    }
    out
}

fn url_encoded(value: &str, case: HexCase) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push_str(&hex(byte, case));
        }
    }
    out
}
