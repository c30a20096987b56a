//! One thread of the program as the inspector knows it: its scripts, and where it stands.

use std::collections::HashMap;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

/// Scripts of one thread that are remembered; a program that makes more of them out of text has its later ones unnamed.
const MOST_SCRIPTS: usize = 50_000;

#[derive(Debug)]
pub struct Target {
    pub thread: i64,
    pub name: String,
    /// The inspector's name of a thread that is not the main one.
    pub route: Option<String>,
    pub state: Mutex<TargetState>,
}

#[derive(Debug, Default)]
pub(crate) struct TargetState {
    /// Addresses of scripts by their numbers.
    scripts: HashMap<String, String>,
    pub paused: Option<Arc<Paused>>,
    /// It stands, and that is to be told when it is its turn.
    pub waits: bool,
    pub motion: Motion,
    /// A place that stops once, to reach the program's first line.
    pub entry_place: Option<String>,
}

/// What a thread was told to do last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Motion {
    #[default]
    Running,
    Stepping,
    Pausing,
}

/// Where a thread stands.
#[derive(Clone, Debug)]
pub(crate) struct Paused {
    pub serial: u64,
    pub frames: Vec<CallFrame>,
    pub parents: Option<AsyncTrace>,
    /// The value that was thrown.
    pub thrown: Option<Value>,
    pub reason: &'static str,
    pub hits: Vec<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CallFrame {
    #[serde(rename = "callFrameId")]
    pub id: String,
    pub function_name: String,
    pub location: Location,
    pub scope_chain: Vec<ScopeOfFrame>,
    pub this: Value,
    pub return_value: Option<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Location {
    pub script_id: String,
    pub line_number: i64,
    pub column_number: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ScopeOfFrame {
    #[serde(rename = "type")]
    pub kind: String,
    pub name: Option<String>,
    pub object: Value,
}

/// Who caused what runs now, before it was put off.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AsyncTrace {
    pub description: String,
    pub call_frames: Vec<AsyncFrame>,
    pub parent: Option<Box<AsyncTrace>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AsyncFrame {
    pub function_name: String,
    pub script_id: String,
    pub url: String,
    pub line_number: i64,
    pub column_number: i64,
}

impl Target {
    pub(crate) fn main() -> Self {
        Self { thread: 1, name: "main".to_owned(), route: None, state: Mutex::default() }
    }

    pub(crate) fn worker(thread: i64, name: String, route: String) -> Self {
        Self { thread, name, route: Some(route), state: Mutex::default() }
    }

    pub(crate) fn paused(&self) -> Option<Arc<Paused>> {
        self.state.lock().paused.clone()
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.state.lock().paused.is_some()
    }

    pub(crate) fn waits(&self) -> bool {
        self.state.lock().waits
    }

    pub(crate) fn add_script(&self, number: String, address: String) {
        let mut state = self.state.lock();
        if !address.is_empty() && state.scripts.len() < MOST_SCRIPTS {
            state.scripts.insert(number, address);
        }
    }

    /// The address of a script; a frame of text that was evaluated has none.
    pub(crate) fn address_of(&self, script: &str) -> String {
        self.state.lock().scripts.get(script).cloned().unwrap_or_default()
    }

    /// Whether a frame belongs to Node itself.
    pub(crate) fn is_nodes_own(&self, frame: &CallFrame) -> bool {
        is_nodes_own(&self.address_of(&frame.location.script_id))
    }
}

/// Whether a script is Node's own, by its address.
pub(crate) fn is_nodes_own(address: &str) -> bool {
    address.starts_with("node:")
}

/// The file of a script's address: `file:///a%20b.js?x=1`, or a plain path.
pub(crate) fn path_of(address: &str) -> Option<PathBuf> {
    let Some(encoded) = address.strip_prefix("file://") else {
        return Path::new(address).is_absolute().then(|| PathBuf::from(address));
    };
    let encoded = encoded.split(['?', '#']).next().unwrap_or_default();
    if !encoded.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escaped = behind.get(..2).filter(|_| *first == b'%');
        let byte = escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// A pattern that matches the addresses of files: escapes may stand for any letter, and a module may be loaded with a query.
pub(crate) fn pattern_of(paths: &[PathBuf]) -> String {
    let mut alternatives = Vec::new();
    for path in paths {
        let mut pattern = String::new();
        let mut escaped = Vec::new();
        let close = |pattern: &mut String, escaped: &mut Vec<u8>| {
            if escaped.is_empty() {
                return;
            }
            let hex: String = escaped.iter().map(|byte| hex_pattern(*byte)).collect();
            let plain: String = String::from_utf8_lossy(escaped).chars().map(literal).collect();
            pattern.push_str(&format!("(?:{plain}|{hex})"));
            escaped.clear();
        };
        let text = path.as_os_str().as_bytes();
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_') {
                close(&mut pattern, &mut escaped);
                pattern.push(char::from(byte));
            } else if byte.is_ascii() {
                close(&mut pattern, &mut escaped);
                escaped.push(byte);
                close(&mut pattern, &mut escaped);
            } else {
                // The bytes of one letter belong together.
                escaped.push(byte);
                if text.get(at + 1).is_none_or(|next| next & 0xc0 != 0x80) {
                    close(&mut pattern, &mut escaped);
                }
            }
            at += 1;
        }
        alternatives.push(pattern);
    }
    format!("^(?:file://)?(?:{})(?:[?#].*)?$", alternatives.join("|"))
}

fn literal(letter: char) -> String {
    if letter.is_ascii_punctuation() { format!("\\{letter}") } else { letter.to_string() }
}

fn hex_pattern(byte: u8) -> String {
    let digit = |nibble: u8| match char::from_digit(u32::from(nibble), 16) {
        Some(digit) if digit.is_ascii_alphabetic() => format!("[{digit}{}]", digit.to_ascii_uppercase()),
        Some(digit) => digit.to_string(),
        None => String::new(),
    };
    format!("%{}{}", digit(byte >> 4), digit(byte & 15))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_and_files() {
        let rows = [
            ("file:///a/b.js", Some("/a/b.js")),
            ("file:///a%20b/%E4%BD%A0.mjs?x=1#y", Some("/a b/你.mjs")),
            ("/a/b.js", Some("/a/b.js")),
            ("file:///50%.js", Some("/50%.js")),
            ("node:fs", None),
            ("evalmachine.<anonymous>", None),
            ("https://x/a.js", None),
            ("", None),
        ];
        for (address, path) in rows {
            assert_eq!(path_of(address).as_deref(), path.map(Path::new), "{address}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_its_file_however_it_is_escaped(name in "[a-z0-9 #?%+()\\[\\]{}^$.*|\\\\é你-]{1,12}", query in any::<bool>()) {
            let path = PathBuf::from(format!("/x/{name}"));
            let pattern = regex::Regex::new(&pattern_of(std::slice::from_ref(&path))).unwrap();
            let all: String = format!("/x/{name}").bytes().map(|byte| match byte {
                b'/' => "/".to_owned(),
                other if other.is_ascii_alphanumeric() => char::from(other).to_string(),
                other => format!("%{other:02X}"),
            }).collect();
            let address = format!("file://{all}{}", if query { "?v=1" } else { "" });
            prop_assert!(pattern.is_match(&address), "{pattern} {address}");
            prop_assert_eq!(path_of(&address), Some(path));
            let other = format!("file://{all}x");
            prop_assert!(!pattern.is_match(&other));
        }
    }
}
