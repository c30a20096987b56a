//! The port through which the debugger learns where functions begin and end: debuggers tell lines alone.

use std::path::Path;

/// Finds functions in source files by their syntax. Without one, reports leave out what depends on it.
pub trait FunctionFinder: Send + Sync + std::fmt::Debug {
    /// Returns the innermost function around a line, or the top level of a script; `None` where the file cannot be parsed.
    fn function_at(&self, path: &Path, text: &str, line: i64) -> Option<FunctionBody>;

    /// Returns the first function of this name.
    fn function_named(&self, path: &Path, text: &str, name: &str) -> Option<FunctionBody>;
}

/// The body of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionBody {
    pub first_line: i64,
    pub last_line: i64,
    /// The lines on which code begins, in order.
    pub code_lines: Vec<i64>,
    pub parameters: Vec<String>,
    /// Not a function: the code outside of all functions.
    pub is_top_level: bool,
    pub assignments: Vec<Assignment>,
    pub declarations: Vec<Declaration>,
    /// The lines that call something.
    pub call_lines: Vec<i64>,
}

/// A place in a function that may give a variable its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub line: i64,
    /// The lines of the statement, or of the whole loop for one in a loop's head.
    pub first_line: i64,
    pub last_line: i64,
    pub certainty: Certainty,
}

/// Whether the variable is written when the statement runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    Always,
    /// Behind a condition, or through a reference.
    Perhaps,
    /// By a call that it is passed to, or by one of its methods.
    Reached,
    /// By the head of a loop, which runs between rounds without a stop of its own.
    LoopHead,
}

/// The lines in which a name means one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    pub name: String,
    pub line: i64,
    /// The lines of its block.
    pub first_line: i64,
    pub last_line: i64,
    /// Whether it has a value from the beginning.
    pub has_value: bool,
}

impl FunctionBody {
    pub(crate) fn contains(&self, line: i64) -> bool {
        (self.first_line..=self.last_line).contains(&line)
    }

    /// Whether a variable can have a value when a line is about to run. Debuggers show what happens to be in the memory of
    /// one that has none yet.
    pub(crate) fn may_have_value(&self, name: &str, line: i64) -> bool {
        let mut declared = self.declarations.iter().filter(|one| one.name == name).peekable();
        if declared.peek().is_none() || self.parameters.iter().any(|parameter| parameter == name) {
            return true;
        }
        let is_assigned = |from: i64| {
            self.assignments
                .iter()
                .any(|one| one.name == name && one.first_line >= from && one.first_line < line)
        };
        // In a loop a later line may have run before; only what lies in the loop's head and body can be so.
        let in_loop = self.assignments.iter().any(|one| {
            one.certainty == Certainty::LoopHead && (one.first_line..=one.last_line).contains(&line)
        });
        declared.any(|one| {
            one.line < line && (one.has_value || in_loop || is_assigned(one.line))
                || one.line == line && one.last_line > line && in_loop
        })
    }

    /// Returns at most so many lines of code, those nearest to a line; at the top level none after it.
    pub(crate) fn code_near(&self, line: i64, most: usize) -> Vec<i64> {
        let mut lines: Vec<i64> = self.code_lines.clone();
        if self.is_top_level {
            lines.retain(|code| *code <= line);
        }
        while lines.len() > most {
            let (first, last) = (lines[0], lines[lines.len() - 1]);
            if line - first > last - line {
                lines.remove(0);
            } else {
                lines.pop();
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_near_a_line_are_kept() {
        let body = |is_top_level| FunctionBody {
            first_line: 1,
            last_line: 10,
            code_lines: (1..=10).collect(),
            parameters: Vec::new(),
            is_top_level,
            assignments: Vec::new(),
            declarations: Vec::new(),
            call_lines: Vec::new(),
        };
        assert_eq!(body(false).code_near(4, 5), [2, 3, 4, 5, 6]);
        assert_eq!(body(true).code_near(4, 3), [2, 3, 4]);
        assert!(body(false).contains(10) && !body(false).contains(11));
    }
}
