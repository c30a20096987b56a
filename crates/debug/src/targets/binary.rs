//! What a file is, by its first bytes, its sections, its `#!` line or its name.

use std::path::{Path, PathBuf};

use serde_json::json;
use stepwell_workspace::files::{self, ReadFile};

use super::call::Call;
use super::error::{Result, TargetError};
use super::{Target, shown, target, text};

/// A program the machine runs directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binary {
    pub(super) language: Language,
    pub(super) has_debug_info: bool,
    /// The debug information is in a file of its own.
    pub(super) has_debug_link: bool,
    /// It contains GoogleTest.
    pub(super) is_gtest: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// C or C++, or another language that leaves no mark.
    Native,
    Rust,
    Go,
}

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Binary(Binary),
    Core,
    /// With the interpreter its first line names.
    Python(Option<PathBuf>),
    JavaScript,
    Go,
    Rust,
    Ruby,
    Bash,
    Source {
        compiler: &'static str,
    },
    Folder,
    Unknown,
}

const CORE: u16 = 4;
/// Bounds on what is read of a binary that may be broken on purpose.
const MOST_SECTIONS: usize = 4096;
const MOST_NAMES: u64 = 1024 * 1024;
const MOST_SYMBOLS: u64 = 16 * 1024 * 1024;

impl FileKind {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let metadata = files::metadata(path).map_err(|error| match error {
            error if error.is_not_found() => TargetError::NotFound { program: text(path) },
            error => error.into(),
        })?;
        if metadata.is_dir() {
            return Ok(Self::Folder);
        }
        if !metadata.is_file() {
            return Ok(Self::Unknown);
        }
        let file = ReadFile::open(path)?;
        let begin = file.read_range(0, 256)?;
        if begin.starts_with(b"\x7fELF") {
            return Ok(match Elf::read(&file) {
                Some(elf) if elf.kind == CORE => Self::Core,
                Some(elf) => Self::Binary(elf.describe(&file)),
                None => Self::Unknown,
            });
        }
        let by_name = match path.extension().and_then(|extension| extension.to_str()) {
            Some("py" | "pyw") => Some(Self::Python(None)),
            Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "tsx" | "jsx") => Some(Self::JavaScript),
            Some("go") => Some(Self::Go),
            Some("rs") => Some(Self::Rust),
            Some("rb") => Some(Self::Ruby),
            Some("sh" | "bash") => Some(Self::Bash),
            Some("c") => Some(Self::Source { compiler: "cc" }),
            Some("cc" | "cpp" | "cxx" | "C") => Some(Self::Source { compiler: "c++" }),
            _ => None,
        };
        Ok(by_name.or_else(|| Self::of_first_line(&begin)).unwrap_or(Self::Unknown))
    }

    /// By the interpreter behind `#!`.
    fn of_first_line(begin: &[u8]) -> Option<Self> {
        let begin = String::from_utf8_lossy(begin);
        let line = begin.lines().next()?.strip_prefix("#!")?;
        let mut words = line.split_whitespace();
        let first = words.next()?;
        let interpreter =
            if first.ends_with("/env") { words.find(|word| !word.starts_with('-'))? } else { first };
        let name = interpreter.rsplit('/').next()?;
        Some(match name {
            _ if super::python::is_interpreter(name) => {
                Self::Python(interpreter.starts_with('/').then(|| PathBuf::from(interpreter)))
            }
            "node" | "nodejs" => Self::JavaScript,
            "ruby" => Self::Ruby,
            "bash" => Self::Bash,
            _ => return None,
        })
    }
}

struct Section {
    name: String,
    offset: u64,
    size: u64,
}

struct Elf {
    kind: u16,
    sections: Vec<Section>,
}

impl Elf {
    /// The sections of a little-endian file; `None` when it is no ELF file after all.
    fn read(file: &ReadFile) -> Option<Self> {
        let header = file.read_range(0, 64).ok()?;
        let wide = match header.get(4)? {
            1 => false,
            2 => true,
            _ => return None,
        };
        if header.get(5)? != &1 {
            return None;
        }
        let kind = number(&header, 0x10, 2)? as u16;
        let (table, entry, count, names) =
            if wide { (0x28, 0x3a, 0x3c, 0x3e) } else { (0x20, 0x2e, 0x30, 0x32) };
        let table = number(&header, table, if wide { 8 } else { 4 })?;
        let entry = number(&header, entry, 2)? as usize;
        let count = (number(&header, count, 2)? as usize).min(MOST_SECTIONS);
        let names = number(&header, names, 2)? as usize;
        if table == 0 || entry < if wide { 0x28 } else { 0x18 } {
            return Some(Self { kind, sections: Vec::new() });
        }
        let bytes = file.read_range(table, (entry * count) as u64).ok()?;
        let raw: Vec<(usize, u64, u64)> = bytes
            .chunks_exact(entry)
            .filter_map(|section| {
                let name = number(section, 0, 4)? as usize;
                let (offset, size, width) = if wide { (0x18, 0x20, 8) } else { (0x10, 0x14, 4) };
                Some((name, number(section, offset, width)?, number(section, size, width)?))
            })
            .collect();
        let named = raw
            .get(names)
            .and_then(|(_, offset, size)| file.read_range(*offset, (*size).min(MOST_NAMES)).ok());
        let named = named.unwrap_or_default();
        let name_at = |at: usize| {
            let rest = named.get(at..).unwrap_or_default();
            String::from_utf8_lossy(rest.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
        };
        let sections = raw.iter().map(|(name, offset, size)| Section {
            name: name_at(*name),
            offset: *offset,
            size: *size,
        });
        Some(Self { kind, sections: sections.collect() })
    }

    fn has(&self, name: &str) -> bool {
        self.sections.iter().any(|section| section.name == name)
    }

    /// Whether the section contains the text.
    fn contains(&self, file: &ReadFile, section: &str, wanted: &[u8]) -> bool {
        let section = self.sections.iter().find(|found| found.name == section);
        let bytes =
            section.and_then(|found| file.read_range(found.offset, found.size.min(MOST_SYMBOLS)).ok());
        bytes.is_some_and(|bytes| memchr::memmem::find(&bytes, wanted).is_some())
    }

    fn describe(&self, file: &ReadFile) -> Binary {
        let language = if self.has(".go.buildinfo") || self.has(".note.go.buildid") || self.has(".gopclntab")
        {
            Language::Go
        } else if self.contains(file, ".comment", b"rustc version")
            || self.contains(file, ".strtab", b"rust_begin_unwind")
        {
            Language::Rust
        } else {
            Language::Native
        };
        let is_gtest = [".strtab", ".dynstr"].iter().any(|names| self.contains(file, names, b"N7testing"))
            || self.contains(file, ".rodata", b"gtest_filter");
        Binary {
            language,
            has_debug_info: self.has(".debug_info") || self.has(".zdebug_info"),
            has_debug_link: self.has(".gnu_debuglink"),
            is_gtest,
        }
    }
}

/// A little-endian number of up to eight bytes.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + width)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// What makes debugging a binary poor.
pub(super) fn warnings(binary: &Binary, shown: &str) -> Vec<String> {
    if binary.has_debug_info {
        return Vec::new();
    }
    if binary.has_debug_link {
        return vec![format!(
            "the debug information of `{shown}` is in a separate file; install it to see variables"
        )];
    }
    let advice = match binary.language {
        Language::Native => "compile it with `-g -O0`",
        Language::Rust => "build it without `--release`, or with `debug = true` in the profile",
        Language::Go => "build it without `-ldflags=-s -w`, and with `-gcflags='all=-N -l'`",
    };
    vec![format!("`{shown}` has no debug information, so lines and variables are unknown: {advice}")]
}

pub(super) fn describe(call: &Call, path: &Path, binary: &Binary) -> Target {
    let name = shown(path, call);
    let arguments = call.arguments();
    let mut made = match binary.language {
        Language::Go => target(
            call,
            "go",
            &name,
            json!({"mode": "exec", "program": text(path), "args": arguments}),
            format!("Run the Go program `{name}` under delve."),
        ),
        Language::Rust | Language::Native => {
            let language = if binary.language == Language::Rust { "Rust program" } else { "program" };
            let tests = if binary.is_gtest { "tests of the " } else { "" };
            target(
                call,
                "lldb-dap",
                &name,
                json!({"program": text(path), "args": arguments}),
                format!("Run the {tests}{language} `{name}` under a native debugger."),
            )
        }
    };
    made.warnings = warnings(binary, &name);
    made
}
