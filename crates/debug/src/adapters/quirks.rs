//! Deviations of an adapter from the protocol, as data. Measured with the versions that the adapters' files name.

use std::borrow::Cow;
use std::path::Path;

use crate::output::OutputCategory;

/// How an adapter deviates from the protocol, or from other adapters.
#[derive(Clone, Copy, Debug)]
pub struct AdapterQuirks {
    pub logs: LogSupport,
    /// Its `repl` context is the debugger's command line, so expressions are evaluated in the `watch` context.
    pub repl_is_command_line: bool,
    /// Scope references belong to the frame of the last `scopes` request.
    pub scopes_follow_last_request: bool,
    /// Plain names are looked up in the scopes first: its expression parser takes some for types.
    pub finds_names_in_scopes: bool,
    /// It supports `start` and `count` of `variables`.
    pub pages_variables: bool,
    /// The default exception filters.
    pub exception_filters: &'static [&'static str],
    /// The standard streams of its process carry the program's output.
    pub stdio_is_program_output: bool,
    /// It closes the connection when the program ends, without a `terminated` event.
    pub closes_at_exit: bool,
    /// Output may follow the `terminated` event, and is lost after a `disconnect`.
    pub prints_after_exit: bool,
    /// It also stops at exceptions that are caught later; the break mode distinguishes them.
    pub stops_at_handled_exceptions: bool,
    /// The condition, in the program's language, under which an exception that is handled can matter to a folder's code.
    /// The adapter evaluates it, which is much faster than to stop and look.
    pub handled_exception_condition: Option<fn(&Path) -> String>,
    /// It finds lines only in the sources that the runtime runs.
    pub ignores_source_maps: bool,
    /// Removes what the debugger adds to the program's output.
    pub clean_output: fn(OutputCategory, &str) -> Cow<'_, str>,
    /// Its own frames are in the tracebacks that the program prints.
    pub is_in_tracebacks: bool,
    /// Exceptions that only end the program, such as `SystemExit`.
    pub exit_exceptions: &'static [&'static str],
    /// What it prints when it could not attach, although it answers the request only at its own deadline.
    pub attach_failure: Option<&'static str>,
}

/// Which log messages an adapter can print itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSupport {
    /// None.
    Never,
    /// Not together with a condition or a hit condition.
    Alone,
    /// As `Alone`; the message must end with a newline.
    AloneWithNewline,
    /// Not together with a hit condition.
    WithCondition,
}

/// Returns the output as it is.
fn unchanged(_: OutputCategory, output: &str) -> Cow<'_, str> {
    Cow::Borrowed(output)
}

/// Returns the output without the lines that are the debugger's own.
pub(super) fn without_lines(output: &str, is_noise: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if !output.lines().any(&is_noise) {
        return Cow::Borrowed(output);
    }
    let kept = output.split_inclusive('\n').filter(|line| !is_noise(line.trim_end_matches(['\n', '\r'])));
    Cow::Owned(kept.collect())
}

impl AdapterQuirks {
    /// An adapter that follows the protocol, prints no log messages itself and has no default exception filters.
    pub(crate) const NONE: Self = Self {
        logs: LogSupport::Never,
        repl_is_command_line: false,
        scopes_follow_last_request: false,
        finds_names_in_scopes: false,
        pages_variables: false,
        exception_filters: &[],
        stdio_is_program_output: false,
        closes_at_exit: false,
        prints_after_exit: false,
        stops_at_handled_exceptions: false,
        handled_exception_condition: None,
        ignores_source_maps: false,
        clean_output: unchanged,
        is_in_tracebacks: false,
        exit_exceptions: &[],
        attach_failure: None,
    };

    /// Returns the log message for the adapter, where it can print it itself.
    pub(crate) fn delegated_log(&self, message: &str, has_condition: bool, has_hits: bool) -> Option<String> {
        match self.logs {
            LogSupport::Alone if !has_condition && !has_hits => Some(message.to_owned()),
            LogSupport::AloneWithNewline if !has_condition && !has_hits => Some(format!("{message}\n")),
            LogSupport::WithCondition if !has_hits => Some(message.to_owned()),
            _ => None,
        }
    }
}
