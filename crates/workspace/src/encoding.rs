//! Text and what surrounds it: encodings, byte order marks, line ends, the final newline.
//!
//! The rule is that what is read as text is written back byte for byte: bytes that do not survive the way there and
//! back in any encoding are not taken for text at all, and text that an encoding cannot hold is refused.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// How a text file is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf8Mark,
    Utf16Little,
    Utf16Big,
    Utf16LittleNoMark,
    Utf16BigNoMark,
    /// One from before Unicode: GBK, Big5, Shift_JIS, EUC-KR, windows-1252 and its relatives.
    Legacy(&'static encoding_rs::Encoding),
}

impl Encoding {
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf8Mark => "UTF-8 with a byte order mark",
            Self::Utf16Little | Self::Utf16LittleNoMark => "UTF-16LE",
            Self::Utf16Big | Self::Utf16BigNoMark => "UTF-16BE",
            Self::Legacy(encoding) => encoding.name(),
        }
    }
}

/// A file's text and the form it had on disk. The text has the line ends of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    pub text: String,
    pub encoding: Encoding,
}

/// A character that an encoding does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file is stored as {encoding}, which has no `{character}` (line {line})")]
pub struct Unencodable {
    pub encoding: &'static str,
    pub character: char,
    pub line: usize,
}

impl TextFile {
    /// Whether most lines end in CR LF.
    pub fn uses_crlf(&self) -> bool {
        let crlf = self.text.matches("\r\n").count();
        crlf > 0 && crlf * 2 >= self.text.matches('\n').count()
    }

    /// The bytes this text has in its encoding.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Unencodable> {
        const MARK: Option<u16> = Some(0xFEFF);
        let units = |mark: Option<u16>| mark.into_iter().chain(self.text.encode_utf16());
        Ok(match self.encoding {
            Encoding::Utf8 => self.text.clone().into_bytes(),
            Encoding::Utf8Mark => [b"\xEF\xBB\xBF", self.text.as_bytes()].concat(),
            Encoding::Utf16Little => units(MARK).flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16Big => units(MARK).flat_map(u16::to_be_bytes).collect(),
            Encoding::Utf16LittleNoMark => units(None).flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16BigNoMark => units(None).flat_map(u16::to_be_bytes).collect(),
            Encoding::Legacy(encoding) => {
                encode(&self.text, encoding).ok_or_else(|| self.misfit(encoding))?
            }
        })
    }

    fn misfit(&self, encoding: &'static encoding_rs::Encoding) -> Unencodable {
        let misfit = |character: &char| encode(character.encode_utf8(&mut [0; 4]), encoding).is_none();
        for (index, line) in self.text.split('\n').enumerate() {
            if let Some(character) = line.chars().filter(|character| !character.is_ascii()).find(misfit) {
                return Unencodable { encoding: encoding.name(), character, line: index + 1 };
            }
        }
        Unencodable { encoding: encoding.name(), character: '\u{FFFD}', line: 1 }
    }
}

/// Reads text; `None` when the bytes are no text this crate can write back unchanged.
pub fn decode(bytes: &[u8]) -> Option<TextFile> {
    let (text, encoding) = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => (String::from_utf8(rest.to_vec()).ok()?, Encoding::Utf8Mark),
        [0xFF, 0xFE, rest @ ..] => (utf16(rest, u16::from_le_bytes)?, Encoding::Utf16Little),
        [0xFE, 0xFF, rest @ ..] => (utf16(rest, u16::from_be_bytes)?, Encoding::Utf16Big),
        _ if bytes.contains(&0) => without_mark(bytes)?,
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), Encoding::Utf8),
            Err(_) => legacy(bytes)?,
        },
    };
    Some(TextFile { text, encoding })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().copied().map(unit).collect();
    rest.is_empty().then(|| String::from_utf16(&units).ok())?
}

/// UTF-16 without a mark, by its most common sign: every other byte of Western text and of markup is zero.
fn without_mark(bytes: &[u8]) -> Option<(String, Encoding)> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let zero_at = |position: usize| pairs.iter().filter(|pair| pair[position] == 0).count();
    let (first, second) = (zero_at(0), zero_at(1));
    let (text, encoding) = if second * 5 >= pairs.len() * 2 && first * 20 <= pairs.len() {
        (utf16(bytes, u16::from_le_bytes)?, Encoding::Utf16LittleNoMark)
    } else if first * 5 >= pairs.len() * 2 && second * 20 <= pairs.len() {
        (utf16(bytes, u16::from_be_bytes)?, Encoding::Utf16BigNoMark)
    } else {
        return None;
    };
    is_prose(&text).then_some((text, encoding))
}

/// The encoding from before Unicode that the bytes look most like, when they survive the way there and back.
fn legacy(bytes: &[u8]) -> Option<(String, Encoding)> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    [guess, encoding_rs::GB18030, encoding_rs::WINDOWS_1252].into_iter().find_map(|encoding| {
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
        let is_same = is_prose(&text) && encode(&text, encoding).as_deref() == Some(bytes);
        is_same.then(|| (text.into_owned(), Encoding::Legacy(encoding)))
    })
}

/// Whether a text has no control characters but those of texts.
fn is_prose(text: &str) -> bool {
    !text.chars().any(|character| {
        character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}' | '\u{85}')
    })
}

fn encode(text: &str, encoding: &'static encoding_rs::Encoding) -> Option<Vec<u8>> {
    let (bytes, _, unmappable) = encoding.encode(text);
    (!unmappable).then(|| bytes.into_owned())
}

#[cfg(test)]
#[path = "encoding_tests.rs"]
mod tests;
