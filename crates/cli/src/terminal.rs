//! Writing to the terminal: colours only where there is one, and a closed pipe is no crash.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

/// Bytes of JSON that are written at once.
const JSON_PIECE: usize = 64 * 1024;

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colour: bool,
}

impl Style {
    pub fn for_stderr() -> Self {
        Self { colour: io::stderr().is_terminal() && allowed() }
    }

    pub fn for_stdout() -> Self {
        Self { colour: io::stdout().is_terminal() && allowed() }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }
}

/// <https://no-color.org>: set and not empty means no colours.
fn allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether whoever read standard output has closed it.
static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Writes to standard output. A reader that went away (`stepwell tasks list | head`) is no error: from then on
/// nothing is written, and [`reader_is_gone`] says so.
pub fn out(text: &str) {
    if reader_is_gone() {
        return;
    }
    let mut stdout = io::stdout().lock();
    told(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}

pub fn reader_is_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

/// Writes content that is somebody else's: as it is into a pipe, without control characters on a terminal.
pub fn out_foreign(text: &str) {
    if io::stdout().is_terminal() { out(&harmless(text)) } else { out(text) }
}

pub fn out_line(text: &str) {
    out(&format!("{text}\n"));
}

/// Writes a value as one line of JSON, piece by piece: an answer of many megabytes is not copied for it.
pub fn out_json(value: &impl Serialize) {
    if reader_is_gone() {
        return;
    }
    let mut stdout = io::BufWriter::with_capacity(JSON_PIECE, io::stdout().lock());
    let written = serde_json::to_writer(&mut stdout, value).map_err(io::Error::from);
    told(written.and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()));
}

/// Remembers a reader that is gone; any other fault is said.
fn told(written: io::Result<()>) {
    if let Err(error) = written {
        READER_GONE.store(true, Ordering::Relaxed);
        if error.kind() != io::ErrorKind::BrokenPipe {
            error_line(&format!("error: cannot write to standard output: {error}"));
        }
    }
}

/// Writes to standard error; where that is closed there is nobody to tell.
pub fn error_line(text: &str) {
    // One write, so that lines of several processes do not run into each other.
    io::stderr().lock().write_all(format!("{text}\n").as_bytes()).ok();
}

/// Writes a piece of another program's output as it came.
pub fn error_text(text: &str) {
    io::stderr().lock().write_all(text.as_bytes()).ok();
}

pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Text from a model or a tool without the control characters that could take over a terminal.
pub fn harmless(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => character,
            character if character.is_control() => '\u{fffd}',
            // Characters that reorder what is shown.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            character => character,
        })
        .collect()
}

/// The same for a line that is to be judged, such as a command: what cannot be seen is spelled out.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in harmless(text).chars() {
        match character {
            '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' => {
                shown.extend(character.escape_unicode());
            }
            character => shown.push(character),
        }
    }
    shown
}
