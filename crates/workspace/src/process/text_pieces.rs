//! Text that arrives in pieces.

use std::borrow::Cow;

/// Text of bytes that arrive in pieces: a character cut in two waits for its rest.
#[derive(Debug, Default)]
pub struct TextPieces {
    rest: Vec<u8>,
}

impl TextPieces {
    /// Adds bytes; the text that is whole by now.
    pub fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        if let (true, Ok(text)) = (self.rest.is_empty(), std::str::from_utf8(bytes)) {
            return Cow::Borrowed(text);
        }
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(_) => self.rest.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            // Other bytes are no text; only the last few can be the beginning of a character.
            Err(_) => self.rest.len() - unfinished(&self.rest),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        Cow::Owned(text)
    }

    /// What is left when nothing more will come.
    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.rest)).into_owned()
    }
}

/// How many bytes at the end may begin a character that goes on.
fn unfinished(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    (from..bytes.len())
        .find(|at| std::str::from_utf8(&bytes[*at..]).is_err_and(|error| error.error_len().is_none()))
        .map_or(0, |at| bytes.len() - at)
}
