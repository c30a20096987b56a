//! Text and what surrounds it: byte order marks, line ends, the final newline.

/// How a text file is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf8Mark,
    Utf16Little,
    Utf16Big,
}

/// A file's text and the form it had on disk. The text has the line ends of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    pub text: String,
    pub encoding: Encoding,
}

impl TextFile {
    /// Whether most lines end in CR LF.
    pub fn uses_crlf(&self) -> bool {
        let crlf = self.text.matches("\r\n").count();
        crlf > 0 && crlf * 2 >= self.text.matches('\n').count()
    }

    /// The bytes this text has in its encoding.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self.encoding {
            Encoding::Utf8 => self.text.clone().into_bytes(),
            Encoding::Utf8Mark => [b"\xEF\xBB\xBF", self.text.as_bytes()].concat(),
            Encoding::Utf16Little => {
                [0xFEFF].into_iter().chain(self.text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
            }
            Encoding::Utf16Big => {
                [0xFEFF].into_iter().chain(self.text.encode_utf16()).flat_map(u16::to_be_bytes).collect()
            }
        }
    }
}

/// Reads text; `None` when the bytes are no text this crate can write back unchanged.
pub fn decode(bytes: &[u8]) -> Option<TextFile> {
    let (text, encoding) = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => (String::from_utf8(rest.to_vec()).ok()?, Encoding::Utf8Mark),
        [0xFF, 0xFE, rest @ ..] => (utf16(rest, u16::from_le_bytes)?, Encoding::Utf16Little),
        [0xFE, 0xFF, rest @ ..] => (utf16(rest, u16::from_be_bytes)?, Encoding::Utf16Big),
        _ if bytes.contains(&0) => return None,
        _ => (String::from_utf8(bytes.to_vec()).ok()?, Encoding::Utf8),
    };
    Some(TextFile { text, encoding })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().copied().map(unit).collect();
    rest.is_empty().then(|| String::from_utf16(&units).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_read_as_text_is_written_back_unchanged(bytes in proptest::collection::vec(any::<u8>(), 0..64), mark in 0usize..4) {
            let marks: [&[u8]; 4] = [b"", b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF"];
            let whole = [marks[mark], &bytes].concat();
            if let Some(file) = decode(&whole) {
                prop_assert_eq!(file.to_bytes(), whole);
            }
        }
    }
}
