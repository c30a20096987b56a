//! What a file is, by its first bytes.

/// Documents whose text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    Notebook,
    Pdf,
    /// DOCX or ODT: a zip archive of XML.
    Office,
}

pub fn image_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

pub fn document(head: &[u8], path: &str) -> Option<Document> {
    let name = path.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    // Some programs write a few bytes before the first line.
    let near_start = &head[..head.len().min(1024)];
    let has_mark = || memchr::memmem::find(near_start, b"%PDF-").is_some();
    if head.starts_with(b"%PDF-") || (name == "pdf" && has_mark()) {
        return Some(Document::Pdf);
    }
    match name.as_str() {
        "ipynb" => Some(Document::Notebook),
        "docx" | "docm" | "dotx" | "odt" | "ott" if head.starts_with(b"PK\x03\x04") => Some(Document::Office),
        _ => None,
    }
}

/// First bytes, at their place, of files that are no text.
const SIGNATURES: &[(usize, &[u8], &str)] = &[
    (0, b"\x7fELF", "ELF program or library"),
    (0, b"\0asm", "WebAssembly module"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"PK\x03\x04", "zip archive"),
    (0, b"PK\x05\x06", "empty zip archive"),
    (0, b"\x1f\x8b\x08", "gzip archive"),
    (0, b"\xfd7zXZ\0", "xz archive"),
    (0, b"\x28\xb5\x2f\xfd", "zstd archive"),
    (4, b"1AY&SY", "bzip2 archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (0, b"Rar!\x1a\x07", "RAR archive"),
    (257, b"ustar", "tar archive"),
    (0, b"!<arch>\n", "static library or Debian package"),
    (0, b"\xed\xab\xee\xdb", "RPM package"),
    (0, b"\xca\xfe\xba\xbe", "Java class or Mach-O program"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (0, b"MZ", "Windows program or library"),
    (0, b"BC\xc0\xde", "LLVM bitcode"),
    (0, b"%PDF-", "PDF document"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office document in the format from before 2007"),
    (0, b"BM", "BMP image"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (0, b"\0\0\x01\0", "icon"),
    (4, b"ftyp", "MP4 or similar video, sound or image"),
    (0, b"\x1a\x45\xdf\xa3", "Matroska or WebM video"),
    (0, b"OggS", "Ogg sound or video"),
    (0, b"ID3", "MP3 sound"),
    (0, b"fLaC", "FLAC sound"),
    (8, b"WAVE", "WAV sound"),
    (0, b"wOFF", "font"),
    (0, b"wOF2", "font"),
    (0, b"\0\x01\0\0\0", "font"),
    (0, b"OTTO", "font"),
    (0, b"PACK", "git pack"),
    (0, b"DIRC", "git index"),
    (0, b"PAR1", "Parquet table"),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5 data"),
    (0, b"\x93NUMPY", "NumPy array"),
    (0, b"GGUF", "GGUF model"),
];

/// The name of a kind that is no text. Asked only of files that do not look like text: some signatures are letters.
pub fn binary(head: &[u8]) -> Option<&'static str> {
    let is =
        |(at, bytes, _): &&(usize, &[u8], &str)| head.get(*at..).is_some_and(|rest| rest.starts_with(bytes));
    SIGNATURES.iter().find(is).map(|(_, _, name)| *name)
}
