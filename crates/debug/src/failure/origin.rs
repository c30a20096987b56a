//! Where a variable was set last, by its source: the nearest assignment above in its function, or the caller.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use stepwell_workspace::files;

use super::FailureFrame;
use crate::function_finder::{Assignment, Certainty, FunctionFinder};
use crate::values::shortened;

/// The line that gave a variable its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Origin {
    pub file: String,
    pub line: i64,
    pub source: String,
    /// It is a parameter: the line is the caller's.
    pub from_caller: bool,
    /// Whether the line was seen to run. Otherwise it is the nearest assignment in the source, which may not have run.
    pub observed: bool,
}

/// Finds the nearest line above the failing one that sets the variable, or the call that passed it.
pub fn of(
    name: &str,
    frame: &FailureFrame,
    caller: Option<&FailureFrame>,
    finder: &dyn FunctionFinder,
) -> Option<Origin> {
    let text = text_of(&frame.file)?;
    let function = finder.function_at(Path::new(&frame.file), &text, frame.line)?;
    let is_direct = |one: &&Assignment| {
        one.name == name && matches!(one.certainty, Certainty::Always | Certainty::LoopHead)
    };
    // In a loop, a line that assigns it below may have run last.
    if function.assignments.iter().any(|one| one.name == name && one.line >= frame.line) {
        return None;
    }
    let above = function.assignments.iter().filter(is_direct).filter(|one| one.line < frame.line);
    if let Some(nearest) = above.max_by_key(|one| one.line) {
        return Some(Origin {
            file: frame.file.clone(),
            line: nearest.line,
            source: line_of(&frame.file, nearest.line)?,
            from_caller: false,
            observed: false,
        });
    }
    let caller = caller.filter(|_| function.parameters.iter().any(|parameter| parameter == name))?;
    Some(Origin {
        file: caller.file.clone(),
        line: caller.line,
        source: line_of(&caller.file, caller.line)?,
        from_caller: true,
        observed: true,
    })
}

/// A line of a file, without its indentation.
pub(crate) fn line_of(file: &str, line: i64) -> Option<String> {
    let at = usize::try_from(line).ok()?.checked_sub(1)?;
    text_of(file)?.lines().nth(at).map(|text| shortened(text.trim(), 160))
}

pub(crate) fn text_of(file: &str) -> Option<String> {
    let content = files::read(Path::new(file)).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}

/// The names in a line, not those in its strings.
pub fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| word.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}
