//! One record as one line.
//!
//! ```text
//! {"v":1,"seq":1,"ts":1760000000000,"crc":123456,"event":{"type":"task_created",...}}
//! {"seq":2,"ts":1760000000007,"crc":654321,"event":{...}}
//! ```
//! `v` is the format of the whole file and stands on the first line only. `crc` covers `seq`, `ts` and the bytes
//! of `event`. Format 0, which early builds wrote, has no `v` and no `crc`, calls the numbers `n` and `at`, and
//! holds the event's own fields beside them; it is read here and rewritten by `migrate`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use stepwell_protocol::{Event, Seq, Timestamp};

use super::blobs::{Blobs, LONGEST_INLINE, LostBlob, escape_keys, may_hold_reference};
use super::checksum::checksum;
use crate::{Error, Result};

/// The format that is written.
pub(crate) const FORMAT: u64 = 1;

/// How much of a buffer is kept from one append to the next.
const KEPT_BUFFER: usize = 64 * 1024;

/// A line that was found whole, its event not yet understood.
#[derive(Debug)]
pub(crate) struct RawLine<'a> {
    pub seq: Seq,
    pub ts: Timestamp,
    pub event: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Wire<'a> {
    seq: u64,
    ts: i64,
    crc: u32,
    #[serde(borrow)]
    event: &'a RawValue,
}

/// Writes lines into one buffer that is reused.
#[derive(Debug, Default)]
pub(crate) struct LineEncoder {
    lines: Vec<u8>,
    event: Vec<u8>,
}

impl LineEncoder {
    /// Empties the buffer for the next lines; what one long record needed is given back.
    pub(crate) fn clear(&mut self) {
        self.lines.clear();
        self.event.clear();
        self.lines.shrink_to(KEPT_BUFFER);
        self.event.shrink_to(KEPT_BUFFER);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.lines
    }

    /// Adds a record; long strings go to the blobs first.
    pub(crate) fn push(&mut self, seq: Seq, ts: Timestamp, event: &Event, blobs: &Blobs) -> Result<()> {
        self.event.clear();
        if let Event::Answer { message_id, content, origin } = event
            && content.len() > LONGEST_INLINE
        {
            // A long answer goes to its blob as it is, without a copy of it as JSON.
            let short =
                Event::Answer { message_id: message_id.clone(), content: String::new(), origin: *origin };
            let mut value = serde_json::to_value(&short).map_err(Error::Encode)?;
            value["content"] = blobs.reference(content)?;
            serde_json::to_writer(&mut self.event, &value).map_err(Error::Encode)?;
            write_line(&mut self.lines, seq, ts, &self.event);
            return Ok(());
        }
        serde_json::to_writer(&mut self.event, event).map_err(Error::Encode)?;
        // A stretch of a streaming answer stays in its line: it is written once and often, read after a crash
        // only, and has no fields of the user's in which a reference could hide.
        let stays = matches!(event, Event::PartialAnswer { .. });
        if !stays && (self.event.len() > LONGEST_INLINE || may_hold_reference(&self.event)) {
            let value = blobs.deflate(serde_json::to_value(event).map_err(Error::Encode)?)?;
            self.event.clear();
            serde_json::to_writer(&mut self.event, &value).map_err(Error::Encode)?;
        }
        write_line(&mut self.lines, seq, ts, &self.event);
        Ok(())
    }

    /// Adds a record whose event is JSON already.
    pub(crate) fn push_raw(&mut self, seq: Seq, ts: Timestamp, event: &str) {
        write_line(&mut self.lines, seq, ts, event.as_bytes());
    }
}

fn write_line(out: &mut Vec<u8>, seq: Seq, ts: Timestamp, event: &[u8]) {
    out.push(b'{');
    if seq == Seq(1) {
        out.extend_from_slice(b"\"v\":");
        push_number(out, FORMAT);
        out.push(b',');
    }
    out.extend_from_slice(b"\"seq\":");
    push_number(out, seq.0);
    out.extend_from_slice(b",\"ts\":");
    if ts.0 < 0 {
        out.push(b'-');
    }
    push_number(out, ts.0.unsigned_abs());
    out.extend_from_slice(b",\"crc\":");
    push_number(out, u64::from(line_checksum(seq, ts, event)));
    out.extend_from_slice(b",\"event\":");
    out.extend_from_slice(event);
    out.extend_from_slice(b"}\n");
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

fn line_checksum(seq: Seq, ts: Timestamp, event: &[u8]) -> u32 {
    checksum(&[&seq.0.to_le_bytes(), &ts.0.to_le_bytes(), event])
}

/// The format of a file, from its first line without the line end. `Err` says what is wrong.
pub(crate) fn format_of(line: &[u8]) -> std::result::Result<u64, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    match (value.get("v"), value.get("n")) {
        (Some(format), _) => format.as_u64().ok_or_else(|| "the format is no number".to_owned()),
        (None, Some(_)) => Ok(0),
        (None, None) => Err("it is no record".to_owned()),
    }
}

/// Reads a line without its line end. `Err` says what is wrong with it.
pub(crate) fn parse(format: u64, line: &[u8]) -> std::result::Result<RawLine<'_>, String> {
    match format {
        0 => parse_format_0(line),
        _ => parse_current(line),
    }
}

fn parse_current(line: &[u8]) -> std::result::Result<RawLine<'_>, String> {
    let wire: Wire<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let (seq, ts) = (Seq(wire.seq), Timestamp(wire.ts));
    let event = wire.event.get();
    if line_checksum(seq, ts, event.as_bytes()) != wire.crc {
        return Err("its checksum does not fit".to_owned());
    }
    Ok(RawLine { seq, ts, event: Cow::Borrowed(event) })
}

fn parse_format_0(line: &[u8]) -> std::result::Result<RawLine<'static>, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let Value::Object(mut fields) = value else { return Err("it is no object".to_owned()) };
    let seq = fields.shift_remove("n").and_then(|n| n.as_u64()).ok_or("it has no number `n`")?;
    let ts = fields.shift_remove("at").and_then(|at| at.as_i64()).ok_or("it has no time `at`")?;
    let event = escape_keys(Value::Object(fields)).to_string();
    Ok(RawLine { seq: Seq(seq), ts: Timestamp(ts), event: Cow::Owned(event) })
}

/// Understands the event of a whole line. The inner error says why it cannot be.
pub(crate) fn decode(
    line: &RawLine<'_>,
    blobs: &Blobs,
    lost: LostBlob,
) -> Result<std::result::Result<Event, serde_json::Error>> {
    // The checksum says that we wrote this line, so its depth is what we once held in memory; the usual limit
    // would refuse arguments that were just within it before the record was put around them.
    let mut deserializer = serde_json::Deserializer::from_str(&line.event);
    deserializer.disable_recursion_limit();
    if !may_hold_reference(line.event.as_bytes()) {
        return Ok(Event::deserialize(&mut deserializer));
    }
    match Value::deserialize(&mut deserializer) {
        Ok(value) => Ok(serde_json::from_value(blobs.inflate(value, lost)?)),
        Err(error) => Ok(Err(error)),
    }
}
