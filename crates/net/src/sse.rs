//! Server-sent events, parsed as the bytes arrive.
//!
//! The parser borrows from the chunk it is fed wherever an event lies whole within it, which is nearly always,
//! so that a long answer costs one scan and no copies. Only what straddles two chunks is kept.

use memchr::memchr2;

/// An event longer than this is not an answer but a fault; a model's longest single event is far below it.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event: its name (often empty) and its data, lines joined by a newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseEvent<'a> {
    pub name: &'a [u8],
    pub data: &'a [u8],
}

/// An event exceeds the parser's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than {limit} bytes")]
pub struct EventTooLong {
    pub limit: usize,
}

/// Decodes a stream of events from chunks of any size.
#[derive(Debug)]
pub struct SseParser {
    limit: usize,
    /// The beginning of a line whose end has not arrived.
    partial_line: Vec<u8>,
    /// Data of the current event that could not be borrowed.
    data: Vec<u8>,
    has_data: bool,
    name: Vec<u8>,
    /// The last chunk ended in CR: a LF that comes first in the next one belongs to it.
    skip_line_feed: bool,
    first_line: bool,
}

impl SseParser {
    /// Creates a parser that refuses events of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            partial_line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            name: Vec::new(),
            skip_line_feed: false,
            first_line: true,
        }
    }

    /// Takes the next bytes and hands every event that is now complete to `sink`, until it fails.
    pub fn feed<E: From<EventTooLong>>(
        &mut self,
        mut chunk: &[u8],
        mut sink: impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.skip_line_feed && !chunk.is_empty() {
            self.skip_line_feed = false;
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        // The only data line so far of the current event, if it lies within this chunk.
        let mut borrowed: Option<&[u8]> = None;
        while let Some(end) = memchr2(b'\n', b'\r', chunk) {
            let line = &chunk[..end];
            let is_return = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            if is_return {
                match chunk.first() {
                    Some(b'\n') => chunk = &chunk[1..],
                    Some(_) => {}
                    None => self.skip_line_feed = true,
                }
            }
            if self.partial_line.is_empty() {
                let line = self.without_mark(line);
                if line.is_empty() {
                    self.dispatch(borrowed.take(), &mut sink)?;
                } else if let Some(value) = self.field(line) {
                    if self.has_data || borrowed.is_some() {
                        self.keep(borrowed.take());
                        self.append(value)?;
                    } else {
                        borrowed = Some(value);
                    }
                }
            } else {
                self.partial_line.extend_from_slice(line);
                let whole = std::mem::take(&mut self.partial_line);
                let line = self.without_mark(&whole);
                if line.is_empty() {
                    self.dispatch(borrowed.take(), &mut sink)?;
                } else if let Some(value) = self.field(line) {
                    self.keep(borrowed.take());
                    self.append(value)?;
                }
                self.partial_line = whole;
                self.partial_line.clear();
            }
        }
        self.keep(borrowed);
        self.partial_line.extend_from_slice(chunk);
        self.check_size()?;
        Ok(())
    }

    /// The stream is over. What was not closed by an empty line is handed out too: some servers leave it off
    /// after their last event.
    pub fn finish<E: From<EventTooLong>>(
        &mut self,
        mut sink: impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.partial_line.is_empty() {
            let whole = std::mem::take(&mut self.partial_line);
            let line = self.without_mark(&whole);
            if let Some(value) = self.field(line) {
                self.append(value)?;
            }
        }
        self.dispatch(None, &mut sink)
    }

    fn without_mark<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        if self.first_line {
            self.first_line = false;
            return line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        line
    }

    /// The value of a `data` line; other fields are noted or ignored.
    fn field<'a>(&mut self, line: &'a [u8]) -> Option<&'a [u8]> {
        if let Some(value) = line.strip_prefix(b"data:") {
            return Some(value.strip_prefix(b" ").unwrap_or(value));
        }
        if let Some(value) = line.strip_prefix(b"event:") {
            self.name.clear();
            self.name.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        } else if line == b"data" {
            return Some(b"");
        }
        None
    }

    fn keep(&mut self, borrowed: Option<&[u8]>) {
        if let Some(value) = borrowed {
            self.data.extend_from_slice(value);
            self.has_data = true;
        }
    }

    fn append(&mut self, value: &[u8]) -> Result<(), EventTooLong> {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
        self.check_size()
    }

    fn check_size(&self) -> Result<(), EventTooLong> {
        if self.data.len() + self.partial_line.len() > self.limit {
            return Err(EventTooLong { limit: self.limit });
        }
        Ok(())
    }

    fn dispatch<E>(
        &mut self,
        borrowed: Option<&[u8]>,
        sink: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let data = match borrowed {
            Some(data) => Some(data),
            None if self.has_data => Some(self.data.as_slice()),
            None => None,
        };
        let outcome = data.map_or(Ok(()), |data| sink(SseEvent { name: &self.name, data }));
        self.data.clear();
        self.has_data = false;
        self.name.clear();
        outcome
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
