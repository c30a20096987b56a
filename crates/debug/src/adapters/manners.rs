//! What must be known of an adapter's ways, as data. Measured with the versions the files name.

use std::borrow::Cow;

#[derive(Clone, Copy, Debug)]
pub struct Manners {
    pub logs: LogDialect,
    /// Its `repl` is the debugger's own command line, so expressions are evaluated as watches.
    pub repl_is_command_line: bool,
    /// References of scopes mean the frame that was last asked about.
    pub scopes_follow_last_request: bool,
    /// Plain names are looked up among the variables first: the expression parser confuses some with types.
    pub walks_plain_paths: bool,
    /// `start` and `count` of `variables` are heeded.
    pub pages_variables: bool,
    /// Exception filters that are set unless others are wished.
    pub exception_filters: &'static [&'static str],
    /// Everything the adapter's process prints comes from the program.
    pub prints_for_the_program: bool,
    /// Its process is the program: that the connection closes is how it says that the program has ended.
    pub closes_at_the_end: bool,
    /// Output may come after the word that the program has ended, and is lost when the debugger is let go at once.
    pub prints_late: bool,
    /// It stops at exceptions that are handled later too; the break mode tells them apart.
    pub stops_at_handled_exceptions: bool,
    /// It finds lines only in the sources that the runtime runs.
    pub ignores_source_maps: bool,
    /// Takes out what the debugger adds to output by itself.
    pub clean_output: fn(&str) -> Cow<'_, str>,
    /// Exceptions that are only how a program ends.
    pub passing_exceptions: &'static [&'static str],
}

/// Which log messages can be left to an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogDialect {
    /// None.
    Never,
    /// Not together with a condition or a hit condition.
    Alone,
    /// As `Alone`, and the line's end must be written.
    AloneWithNewline,
    /// Not together with a hit condition.
    WithCondition,
}

/// Nothing to take out.
pub fn as_it_is(output: &str) -> Cow<'_, str> {
    Cow::Borrowed(output)
}

impl Manners {
    /// The log message as the adapter must be given it, where it can be left to it.
    pub fn log_words(&self, message: &str, has_condition: bool, has_hits: bool) -> Option<String> {
        match self.logs {
            LogDialect::Alone if !has_condition && !has_hits => Some(message.to_owned()),
            LogDialect::AloneWithNewline if !has_condition && !has_hits => Some(format!("{message}\n")),
            LogDialect::WithCondition if !has_hits => Some(message.to_owned()),
            _ => None,
        }
    }
}
