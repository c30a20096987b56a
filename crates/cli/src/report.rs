//! Errors as a person reads them: what was wrong, then what to do.

use std::fmt;

use stepwell_protocol::{ErrorKind, ErrorReport};

use crate::exit::Exit;
use crate::language::Language;

/// An error with a hint and an exit code of its own.
#[derive(Debug)]
pub struct Report {
    pub message: String,
    pub hint: Option<String>,
    pub exit: Exit,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report {}

/// The command line or the settings are wrong.
pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Report { message: message.into(), hint: Some(hint.into()), exit: Exit::Usage }.into()
}

/// Something else went wrong, and there is something to do about it.
pub fn failed(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Report { message: message.into(), hint: Some(hint.into()), exit: Exit::Failed }.into()
}

/// Prints the error and gives the exit code.
pub fn print(error: &anyhow::Error) -> Exit {
    let (message, hint, exit) = read(error);
    // The settings may be what is wrong; then the environment decides.
    let language = Language::current();
    let message = language.say(&message);
    let style = crate::terminal::Style::for_stderr();
    crate::terminal::error_line(&format!("{} {message}", style.red(language.error())));
    if let Some(hint) = hint {
        let hint = language.say(&hint);
        crate::terminal::error_line(&format!("\n{} {hint}", style.cyan(language.hint())));
    }
    exit
}

/// The same error as the protocol tells it.
pub fn to_error_report(error: &anyhow::Error) -> ErrorReport {
    if let Some(error) = error.downcast_ref::<stepwell_agent::Error>() {
        return error.report();
    }
    let (message, hint, _) = read(error);
    ErrorReport { kind: ErrorKind::Internal, message, hint }
}

fn read(error: &anyhow::Error) -> (String, Option<String>, Exit) {
    if let Some(report) = error.downcast_ref::<Report>() {
        return (report.message.clone(), report.hint.clone(), report.exit);
    }
    if let Some(error) = error.downcast_ref::<stepwell_agent::Error>() {
        let report = error.report();
        let exit = match error {
            // A model that cannot even be named or has no key is a matter of the command line and the settings.
            stepwell_agent::Error::UnknownMode { .. }
            | stepwell_agent::Error::Setup { .. }
            | stepwell_agent::Error::Model(_) => Exit::Usage,
            _ => Exit::Failed,
        };
        return (report.message, report.hint, exit);
    }
    if let Some(error) = error.downcast_ref::<stepwell_store::Error>() {
        return (error.to_string(), error.hint().map(str::to_owned), Exit::Failed);
    }
    if let Some(error) = error.downcast_ref::<stepwell_workspace::Error>() {
        return (error.to_string(), error.hint().map(str::to_owned), Exit::Failed);
    }
    if let Some(error) = error.downcast_ref::<stepwell_llm::Error>() {
        return (error.to_string(), error.hint.clone(), Exit::Failed);
    }
    (format!("{error:#}"), None, Exit::Failed)
}
