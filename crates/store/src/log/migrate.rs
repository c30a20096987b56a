//! Bringing a log of an older format to the current one.

use std::path::Path;

use stepwell_workspace::files::{self, Privacy};

use super::blobs::{Blobs, LostBlob};
use super::line::{LineEncoder, RawLine, decode};
use crate::{Error, Result};

/// Rewrites the log in the current format. The old file stays beside it as `log.v<format>.jsonl`; a crash
/// leaves either the old log or the new one in place, never a part.
pub(crate) fn migrate(log: &Path, format: u64, lines: &[RawLine<'_>], blobs: &Blobs) -> Result<()> {
    let mut encoder = LineEncoder::default();
    for (index, line) in lines.iter().enumerate() {
        let event = decode(line, blobs, LostBlob::Fail)?.map_err(|error| Error::UnknownEvent {
            path: log.to_path_buf(),
            line: index as u64 + 1,
            detail: error.to_string(),
        })?;
        encoder.push(line.seq, line.ts, &event, blobs)?;
    }
    let old = files::read(log)?;
    files::write_atomic(&log.with_file_name(format!("log.v{format}.jsonl")), &old, Privacy::Private)?;
    files::write_atomic(log, encoder.bytes(), Privacy::Private)?;
    Ok(())
}
