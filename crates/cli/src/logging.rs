//! The log: a rotating file in the state folder, and standard error with `--verbose`.
//!
//! Events come through `tracing`. Every line passes [`LogWriter`], the one place where secrets are redacted and
//! control characters made visible before anything is written. The file is opened with the first line, so
//! commands that log nothing create nothing. A log that cannot be written never fails a command.

use std::fmt;
use std::io;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use stepwell_tool_runtime::{Redactor, shell};
use stepwell_workspace::files::{self, RotatingFile, RotationLimits};
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, uptime};
use tracing_subscriber::layer::{Filter, Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;
use tracing_subscriber::util::SubscriberInitExt;

use crate::language::Language;
use crate::settings::Places;
use crate::terminal::error_line;

/// 25 MB in all.
const LIMITS: RotationLimits = RotationLimits { files: 5, bytes: 5 * 1000 * 1000 };
/// Longer lines are cut.
const LONGEST_LINE: usize = 8 * 1024;
/// Directives such as `debug` or `warn,stepwell_debug=trace`.
const DIRECTIVES: &str = "STEPWELL_LOG";

/// Shared with all parts of the process, so that keys that become known later are redacted here as well.
static REDACTOR: LazyLock<Arc<Redactor>> =
    LazyLock::new(|| Arc::new(Redactor::with_secrets(stepwell_tools::secret_variables())));

/// The redactor of this process; it knows the secrets of the environment.
pub fn redactor() -> Arc<Redactor> {
    Arc::clone(&REDACTOR)
}

/// Whether what is logged is kept in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepLog {
    InFile,
    Nowhere,
}

/// Installs the subscriber. `verbosity` is how often `-v` was given.
///
/// Without `-v`, `STEPWELL_LOG` filters the file; with it, standard error.
pub fn install(verbosity: u8, keep: KeepLog) {
    let directives = std::env::var(DIRECTIVES).ok().filter(|text| !text.trim().is_empty());
    let (for_file, for_stderr) = if verbosity == 0 { (directives, None) } else { (None, directives) };
    let file = tracing_subscriber::fmt::layer()
        .log_internal_errors(false)
        .with_timer(TimeAndProcess)
        .with_writer(LogWriter {
            sink: Sink::File(Mutex::new(FileState::Unopened)),
            is_verbose: verbosity > 0,
        })
        .with_filter(filter(for_file.as_deref(), LevelFilter::INFO));
    let mut layers: Vec<Box<dyn Layer<Registry> + Send + Sync>> = Vec::new();
    if keep == KeepLog::InFile {
        layers.push(file.boxed());
    }
    if verbosity > 0 {
        let level = match verbosity {
            1 => LevelFilter::INFO,
            2 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        };
        let stderr = tracing_subscriber::fmt::layer()
            .log_internal_errors(false)
            .with_timer(uptime())
            .with_writer(LogWriter { sink: Sink::Stderr, is_verbose: true })
            .with_filter(filter(for_stderr.as_deref(), level));
        layers.push(stderr.boxed());
    }
    // A second subscriber cannot be installed, and none is.
    tracing_subscriber::registry().with(layers).try_init().ok();
}

/// Tries to open the log file. Creates it where it does not exist.
pub fn check(places: &Places) -> Result<(), stepwell_workspace::Error> {
    opened(places).map(drop)
}

fn opened(places: &Places) -> Result<RotatingFile, stepwell_workspace::Error> {
    files::create_private_dir(&places.state)?;
    let mut file = RotatingFile::new(places.log_file(), LIMITS);
    file.check()?;
    Ok(file)
}

/// The filter of the directives, or of a level for Stepwell's own crates; others only warn.
fn filter(directives: Option<&str>, level: LevelFilter) -> Box<dyn Filter<Registry> + Send + Sync> {
    if let Some(text) = directives {
        match EnvFilter::try_new(text) {
            Ok(filter) => return Box::new(filter),
            Err(error) => {
                let language = Language::choose(None);
                let unusable = language.word("cannot be used and is ignored");
                let text = shell::visible(&redactor().redact(&format!("`{text}`: {error}")));
                error_line(&format!("{} {DIRECTIVES} {unusable}: {text}", language.warning()));
            }
        }
    }
    // Cheaper to build than an `EnvFilter`; every command pays for it.
    Box::new(Targets::new().with_target("stepwell", level).with_default(LevelFilter::WARN))
}

/// The time, and which of several processes writes.
struct TimeAndProcess;

impl FormatTime for TimeAndProcess {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{:.3} {}", jiff::Timestamp::now(), std::process::id())
    }
}

/// Writes whole lines, without secrets and control characters.
struct LogWriter {
    sink: Sink,
    /// Whether the person asked for messages on standard error.
    is_verbose: bool,
}

enum Sink {
    File(Mutex<FileState>),
    Stderr,
}

enum FileState {
    Unopened,
    Open(RotatingFile),
    /// It is not tried again.
    Unusable,
}

impl LogWriter {
    fn write_line(&self, line: &str) {
        let line = sanitized(line, &REDACTOR);
        match &self.sink {
            Sink::Stderr => error_line(&line),
            Sink::File(state) => {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                if let FileState::Unopened = *state {
                    *state = self.opened();
                }
                if let FileState::Open(file) = &mut *state {
                    // A line that cannot be written is lost: the disk is full, or another process is stopped.
                    file.append(format!("{line}\n").as_bytes()).ok();
                }
            }
        }
    }

    fn opened(&self) -> FileState {
        // Where the folders cannot be found, the command itself says so.
        let Ok(places) = Places::find() else { return FileState::Unusable };
        match opened(&places) {
            Ok(file) => FileState::Open(file),
            Err(error) => {
                if self.is_verbose {
                    let language = Language::choose(None);
                    let unwritable = language.word("the log file cannot be written");
                    error_line(&format!("{} {unwritable}: {error}", language.warning()));
                }
                FileState::Unusable
            }
        }
    }
}

/// One line of bounded length without secrets, control characters and characters that reorder text.
fn sanitized(line: &str, redactor: &Redactor) -> String {
    let redacted = redactor.redact(line.trim_end_matches('\n'));
    let mut line = shell::visible(&redacted).replace('\n', "\\n");
    if line.len() > LONGEST_LINE {
        line.truncate(line.floor_char_boundary(LONGEST_LINE));
        line.push('…');
    }
    line
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LineWriter(self)
    }
}

/// Takes an event, which the formatting layer writes in one piece.
struct LineWriter<'a>(&'a LogWriter);

impl io::Write for LineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_line(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_no_secrets_and_no_control_characters() {
        let redactor = Redactor::new();
        let line = "a \u{1b}[31mkey-value-12345\u{202e}\nsecond\n";
        assert!(sanitized(line, &redactor).contains("key-value-12345"));
        redactor.add_secrets([("MY_KEY".to_owned(), "key-value-12345".to_owned())]);
        assert_eq!(sanitized(line, &redactor), "a \\u{1b}[31m[redacted:MY_KEY]\\u{202e}\\nsecond");
    }

    #[test]
    fn long_lines_are_cut_after_secrets_are_redacted() {
        let redactor = Redactor::with_secrets([("MY_KEY".to_owned(), "key-value-12345".to_owned())]);
        let line = sanitized(&format!("{}key-value-12345", "字".repeat(2730)), &redactor);
        assert!(line.len() <= LONGEST_LINE + "…".len());
        assert!(!line.contains("key-value"), "{line}");
    }
}
