//! What Node's inspector prints among the program's own words, taken out; the address it prints first is kept.

use stepwell_workspace::process::TextPieces;

use crate::output::floor_boundary;

/// Sentences of the inspector, each printed once and in this order. Some go on to the end of a line; the last, which Node 22
/// began with, has the advice of the first behind it.
const SENTENCES: [Sentence; 5] = [
    Sentence { words: "Debugger listening on ", lines: 1 },
    Sentence { words: "For help, see: ", lines: 1 },
    Sentence { words: "Debugger attached.\n", lines: 0 },
    Sentence { words: "Waiting for the debugger to disconnect...\n", lines: 0 },
    Sentence { words: LAST, lines: 2 },
];
const LAST: &str = "Debugger ending on ws://";
/// An address is short; a line that begins like one and goes on is the program's.
const LONGEST_LINE: usize = 1024;

#[derive(Clone, Copy, Debug)]
struct Sentence {
    words: &'static str,
    /// Ends of lines that belong to it behind its words.
    lines: usize,
}

/// The error stream of a program under the inspector.
#[derive(Debug)]
pub(crate) struct ErrorStream {
    left: &'static [Sentence],
    bytes: Vec<u8>,
    text: TextPieces,
    address: Option<String>,
}

impl Default for ErrorStream {
    fn default() -> Self {
        Self { left: &SENTENCES, bytes: Vec::new(), text: TextPieces::default(), address: None }
    }
}

impl ErrorStream {
    /// Where the inspector listens, as soon as it was said.
    pub(crate) fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    /// Adds what was read; what the program printed of it. The beginning of a sentence is held back until it is known.
    pub(crate) fn push(&mut self, read: &[u8]) -> String {
        self.bytes.extend_from_slice(read);
        let mut printed = String::new();
        while let Some((found, length)) = self.find() {
            printed.push_str(&self.text.push(&self.bytes[..found]));
            let told = String::from_utf8_lossy(&self.bytes[found..found + length]).into_owned();
            self.bytes.drain(..found + length);
            if let Some(address) = told.strip_prefix(SENTENCES[0].words) {
                self.address = Some(address.trim().to_owned());
            }
        }
        let held = self.held_back();
        let rest = self.bytes.len() - held;
        printed.push_str(&self.text.push(&self.bytes[..rest]));
        self.bytes.drain(..rest);
        printed
    }

    /// What was held back, when nothing more will come.
    pub(crate) fn finish(&mut self) -> String {
        let rest = self.text.push(&std::mem::take(&mut self.bytes)).into_owned() + &self.text.finish();
        // Its advice may be cut off with the stream.
        match rest.find(LAST).filter(|_| !self.left.is_empty()) {
            Some(at) => rest[..at].to_owned(),
            None => rest,
        }
    }

    /// The next sentence that is whole, and its length. Those before it do not come any more.
    fn find(&mut self) -> Option<(usize, usize)> {
        let (at, found) = self.left.iter().enumerate().find_map(|(at, sentence)| {
            memchr::memmem::find(&self.bytes, sentence.words.as_bytes()).map(|found| (at, found))
        })?;
        let sentence = self.left[at];
        let mut length = sentence.words.len();
        for _ in 0..sentence.lines {
            length += memchr::memchr(b'\n', &self.bytes[found + length..])? + 1;
        }
        self.left = &self.left[at + 1..];
        Some((found, length))
    }

    /// How many bytes at the end may be the beginning of a sentence.
    fn held_back(&self) -> usize {
        let text = &self.bytes;
        let begun = self.left.iter().filter(|sentence| sentence.lines > 0).filter_map(|sentence| {
            let at = memchr::memmem::find(text, sentence.words.as_bytes())?;
            (text.len() - at < LONGEST_LINE).then_some(text.len() - at)
        });
        let partial = self.left.iter().filter_map(|sentence| {
            let words = sentence.words.as_bytes();
            (1..words.len()).rev().find(|length| text.ends_with(&words[..*length]))
        });
        begun.chain(partial).max().unwrap_or_default()
    }
}

/// The end of a text, as much as is shown of what went wrong.
pub(crate) fn tail(text: &str, most: usize) -> &str {
    let at = text.len().saturating_sub(most);
    &text[floor_boundary(text, at)..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LISTENING: &str = "Debugger listening on ws://127.0.0.1:33529/5835-83\nFor help, see: https://nodejs.org/en/docs/inspector\n";

    #[test]
    fn the_programs_words_are_kept_and_nothing_else() {
        let text = format!(
            "warn\n{LISTENING}Debugger attached.\nno newlineWaiting for the debugger to disconnect...\nend\n"
        );
        let mut stream = ErrorStream::default();
        let printed = stream.push(text.as_bytes());
        assert_eq!(printed, "warn\nno newlineend\n");
        assert_eq!(stream.address(), Some("ws://127.0.0.1:33529/5835-83"));
        // The program may say the same; the inspector says it once.
        assert_eq!(stream.push(b"Debugger attached.\n"), "Debugger attached.\n");
        assert_eq!(stream.push(b"For help, see: me\n"), "For help, see: me\n");
        assert_eq!(stream.push(b"by\nDebugger ending on ws://127.0.0.1:1/x\nFor help, "), "by\n");
        assert_eq!(stream.push(b"see: https://nodejs.org\nafter\n"), "after\n");
        assert_eq!(stream.push(b"Debugger ending on ws://mine\nx"), "Debugger ending on ws://mine\nx");
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            parts in proptest::collection::vec(prop_oneof![Just("D".to_owned()), Just("Waiting for".to_owned()), "[a-zé你\\n ]{0,8}"], 4),
            cuts in proptest::collection::vec(0_usize..300, 0..12),
        ) {
            let whole = format!(
                "{}{LISTENING}{}Debugger attached.\n{}Waiting for the debugger to disconnect...\n{}",
                parts[0], parts[1], parts[2], parts[3]
            );
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
            cuts.sort_unstable();
            let mut stream = ErrorStream::default();
            let mut printed = String::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([whole.len()]) {
                printed.push_str(&stream.push(&whole.as_bytes()[from..cut]));
                from = cut;
            }
            printed.push_str(&stream.finish());
            prop_assert_eq!(printed, parts.concat());
            prop_assert_eq!(stream.address(), Some("ws://127.0.0.1:33529/5835-83"));
        }
    }
}
