//! Lines with their numbers: which of them were asked for, cut where they are long, within a budget.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead};

use stepwell_tool_runtime::{StreamRedactor, ToolError, counted};

use super::wanted::Lines;

pub const LONGEST_LINE: usize = 2000;
/// Stands for lines that were not asked for, between those that were.
const GAP: &str = "   ...\n";

/// Lines that were read, and what there is to say of them.
#[derive(Debug, Default)]
pub struct Numbered {
    pub content: String,
    pub first_line: usize,
    pub lines: usize,
    pub more: bool,
    pub notes: Vec<String>,
}

/// Reads lines without ever holding more than one and the answer. Secrets are hidden here, before the numbers: with
/// them, the lines of a private key look like no key.
pub fn numbered(
    mut source: impl BufRead,
    wanted: &Lines,
    budget: usize,
    mut redacted: StreamRedactor,
) -> io::Result<Numbered> {
    let mut found = Numbered { first_line: wanted.first(), ..Numbered::default() };
    let mut line = Vec::new();
    let (mut number, mut last_shown, mut cut, mut invalid) = (0, 0, false, false);
    while next_line(&mut source, &mut line)? {
        number += 1;
        if wanted.ended_before(number) {
            found.more = true;
            break;
        }
        if !wanted.has(number) {
            redacted.skip_line(&String::from_utf8_lossy(&line));
            continue;
        }
        if wanted.is_enough(found.lines) || found.content.len() >= budget {
            found.more = true;
            break;
        }
        if last_shown != 0 && last_shown + 1 != number {
            found.content.push_str(GAP);
        }
        let bytes = if number == 1 { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line) } else { &line };
        let text = String::from_utf8_lossy(bytes);
        invalid |= matches!(text, Cow::Owned(_));
        let text = redacted.push_line(&format!("{}\n", text.trim_end_matches('\r')));
        let (text, was_cut) = shortened(text.trim_end_matches('\n'));
        cut |= was_cut;
        writeln!(found.content, "{number:>6}\t{text}").map_err(io::Error::other)?;
        found.lines += 1;
        last_shown = number;
    }
    if number == 0 {
        found.notes.push("the file is empty".to_owned());
    } else if found.lines == 0 && !found.more {
        let of = counted(number as u64, "line");
        let first = wanted.first();
        found.notes.push(format!("the file has {of}; {} {first} lies behind its end", wanted.word()));
    }
    if found.more {
        let next = if last_shown == 0 { number } else { last_shown + 1 };
        found.notes.push(format!("more lines follow; go on with offset {next}"));
    }
    if cut {
        found.notes.push(format!("lines longer than {LONGEST_LINE} characters are cut"));
    }
    if invalid {
        found.notes.push("the file is not UTF-8; what could not be read is shown as \u{FFFD}".to_owned());
    }
    Ok(found)
}

/// The same for text that is in memory already.
pub fn numbered_text(
    text: &str,
    wanted: &Lines,
    budget: usize,
    redacted: StreamRedactor,
) -> Result<Numbered, ToolError> {
    numbered(text.as_bytes(), wanted, budget, redacted)
        .map_err(|error| ToolError::execution(error.to_string()))
}

/// Reads one line without its end; keeps only the beginning of a very long one. False at the end of the file.
pub fn next_line(source: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    const KEPT: usize = LONGEST_LINE * 4 + 4;
    line.clear();
    let mut any = false;
    loop {
        let available = source.fill_buf()?;
        if available.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        line.extend_from_slice(&part[..part.len().min(KEPT.saturating_sub(line.len()))]);
        let used = end.map_or(available.len(), |end| end + 1);
        source.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn shortened(line: &str) -> (&str, bool) {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => (&line[..end], true),
        None => (line, false),
    }
}
