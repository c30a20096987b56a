//! What is kept of a program's output: beginning and end in memory, the whole in a file when it is long.
//!
//! Only text comes here, after whatever filter the caller set: what a filter hides is neither in memory nor on
//! the disk.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// How much is kept, and where the rest goes.
#[derive(Clone, Debug)]
pub struct KeepOutput {
    /// Bytes in memory; half for the beginning, half for the end.
    pub memory: usize,
    /// The file that gets the whole once it does not fit the memory. It is made only then.
    pub file: Option<PathBuf>,
    /// Bytes the file gets at most.
    pub file_limit: u64,
}

/// The output of both streams in the order of arrival.
#[derive(Debug, Default)]
pub struct Captured {
    pub head: String,
    /// Empty when `head` has everything.
    pub tail: String,
    pub total_bytes: u64,
    pub omitted_bytes: u64,
    /// The file with the whole, and how many bytes it has.
    pub file: Option<(PathBuf, u64)>,
}

pub(super) struct Capture {
    keep: KeepOutput,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    file: Option<File>,
    file_bytes: u64,
    file_failed: bool,
}

impl Capture {
    pub(super) fn new(keep: KeepOutput) -> Self {
        Self {
            keep,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            file: None,
            file_bytes: 0,
            file_failed: false,
        }
    }

    pub(super) fn add(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if self.total + bytes.len() as u64 > self.keep.memory as u64 && self.file.is_none() {
            self.open_file();
        }
        self.total += bytes.len() as u64;
        self.write_file(bytes);
        let half = self.keep.memory / 2;
        let room = half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let half = self.keep.memory - half;
        let rest = &rest[rest.len().saturating_sub(half)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(half);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// Makes the file and gives it all there was so far, which is still in memory.
    fn open_file(&mut self) {
        let Some(path) = self.keep.file.as_ref().filter(|_| !self.file_failed) else { return };
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(file) => {
                self.file = Some(file);
                let so_far: Vec<u8> = self.head.iter().copied().chain(self.tail.iter().copied()).collect();
                self.write_file(&so_far);
            }
            Err(_) => self.file_failed = true,
        }
    }

    fn write_file(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let room = self.keep.file_limit.saturating_sub(self.file_bytes).min(bytes.len() as u64);
        let part = &bytes[..room as usize];
        if part.is_empty() {
            return;
        }
        // A full disk loses the rest of the copy, not the command.
        match file.write_all(part) {
            Ok(()) => self.file_bytes += room,
            Err(_) => self.keep.file_limit = self.file_bytes,
        }
    }

    pub(super) fn finish(mut self) -> Captured {
        let mut tail: Vec<u8> = self.tail.into();
        if self.total == (self.head.len() + tail.len()) as u64 {
            self.head.append(&mut tail);
        }
        let (head, tail) = (whole_start(self.head), whole_end(tail));
        let omitted_bytes = self.total - (head.len() + tail.len()) as u64;
        let file = self.file.is_some().then_some(self.keep.file).flatten();
        Captured {
            head,
            tail,
            total_bytes: self.total,
            omitted_bytes,
            file: file.map(|path| (path, self.file_bytes)),
        }
    }
}

/// The text without a character that the cut left unfinished at its end.
fn whole_start(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let whole = error.utf8_error().valid_up_to();
        let mut bytes = error.into_bytes();
        bytes.truncate(whole);
        String::from_utf8(bytes).unwrap_or_default()
    })
}

/// The text without the rest of a character that the cut left at its beginning.
fn whole_end(mut bytes: Vec<u8>) -> String {
    let rest = bytes.iter().take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
    bytes.drain(..rest);
    String::from_utf8(bytes).unwrap_or_default()
}
