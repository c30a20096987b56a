//! What the command reads: standard input to its end, so that every run of the command reads the same.

use std::io::{IsTerminal, Read};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use stepwell_debug::session::ProgramStdin;

use crate::language::Language;
use crate::report;
use crate::terminal::error_line;

/// More than this belongs in a file that the command reads.
const LIMIT: usize = 10 << 20;
/// How long standard input may say nothing at first: who started us may have left a pipe open that nobody writes to.
const SILENCE: Duration = Duration::from_secs(1);

/// Reads standard input to its end; a terminal is left alone.
pub fn read(time: Duration, language: Language) -> anyhow::Result<ProgramStdin> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(ProgramStdin::Nothing);
    }
    let deadline = Instant::now() + time;
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let patience =
            if bytes.is_empty() { SILENCE } else { deadline.saturating_duration_since(Instant::now()) };
        if !comes_within(patience, &stdin) {
            if bytes.is_empty() {
                error_line(language.word("nothing came on standard input; the command reads none"));
                return Ok(ProgramStdin::Nothing);
            }
            return Err(report::usage(
                "standard input did not end in time",
                "let the command read a file instead",
            ));
        }
        // A closed standard input has nothing to read.
        let Ok(count @ 1..) = stdin.lock().read(&mut chunk) else { break };
        bytes.extend_from_slice(&chunk[..count]);
        if bytes.len() > LIMIT {
            return Err(report::usage(
                "standard input is longer than 10 MB",
                "let the command read a file instead",
            ));
        }
    }
    if bytes.is_empty() {
        return Ok(ProgramStdin::Nothing);
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        report::usage(format!("standard input is not UTF-8: {error}"), "let the command read a file instead")
    })?;
    Ok(ProgramStdin::Text(text.into()))
}

/// Whether there is something to read, or the end, within a time.
fn comes_within(patience: Duration, stdin: &std::io::Stdin) -> bool {
    let time = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: i64::from(patience.subsec_nanos()) };
    let mut waiting = [PollFd::new(stdin, PollFlags::IN)];
    !matches!(poll(&mut waiting, Some(&time)), Ok(0))
}
