//! Finding the whole lines of a log, and telling a torn end from damage in the middle.

use stepwell_protocol::Seq;

use super::line::{FORMAT, RawLine, format_of, parse};

/// Where reading begins: the start of a file, or the place an earlier scan came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScanFrom {
    /// Known once the first line was read.
    pub format: Option<u64>,
    pub next_seq: Seq,
    /// Lines before this place.
    pub lines: u64,
}

impl ScanFrom {
    pub(crate) const START: Self = Self { format: None, next_seq: Seq(1), lines: 0 };
}

#[derive(Debug)]
pub(crate) struct Scan<'a> {
    pub lines: Vec<RawLine<'a>>,
    /// How many bytes those lines take.
    pub good_len: usize,
    pub end: ScanEnd,
    /// From where a later scan goes on.
    pub next: ScanFrom,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ScanEnd {
    /// The last line is whole.
    Clean,
    /// The last line is unfinished: a writer is at work, or was cut off.
    Unfinished,
    /// Finished lines at the end are no records: what a power loss leaves behind.
    Garbage,
    /// A line is no record although records follow it, or a whole record stands at the wrong place.
    Damaged { line: u64, problem: String },
    /// The file has a format that is not known here.
    Newer { found: u64 },
}

/// Reads whole lines from the front of `bytes` for as long as they are records that follow each other.
pub(crate) fn scan(bytes: &[u8], from: ScanFrom) -> Scan<'_> {
    let mut result = Scan { lines: Vec::new(), good_len: 0, end: ScanEnd::Clean, next: from };
    while result.good_len < bytes.len() {
        let rest = &bytes[result.good_len..];
        let Some(line_len) = memchr::memchr(b'\n', rest) else {
            result.end = ScanEnd::Unfinished;
            break;
        };
        if let (None, Ok(found)) = (result.next.format, format_of(&rest[..line_len]))
            && found > FORMAT
        {
            result.end = ScanEnd::Newer { found };
            break;
        }
        match accept(&rest[..line_len], &result.next) {
            Ok((line, format)) => {
                result.next = ScanFrom {
                    format: Some(format),
                    next_seq: line.seq.next(),
                    lines: result.next.lines + 1,
                };
                result.lines.push(line);
                result.good_len += line_len + 1;
            }
            Err(problem) => {
                result.end = if holds_record(rest, &result.next) {
                    ScanEnd::Damaged { line: result.next.lines + 1, problem }
                } else {
                    ScanEnd::Garbage
                };
                break;
            }
        }
    }
    result
}

fn accept<'a>(line: &'a [u8], at: &ScanFrom) -> Result<(RawLine<'a>, u64), String> {
    let format = match at.format {
        Some(format) => format,
        None => format_of(line)?,
    };
    let line = parse(format, line)?;
    if line.seq != at.next_seq {
        return Err(format!("record {} stands where record {} belongs", line.seq, at.next_seq));
    }
    Ok((line, format))
}

/// Whether any line is a whole record.
fn holds_record(bytes: &[u8], at: &ScanFrom) -> bool {
    // Without a first line nothing says which format the rest would have; both are tried.
    let formats: &[u64] = match at.format {
        Some(0) => &[0],
        Some(_) => &[1],
        None => &[0, 1],
    };
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    lines.any(|line| formats.iter().any(|format| parse(*format, line).is_ok()))
}
