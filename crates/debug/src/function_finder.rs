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
}

impl FunctionBody {
    pub(crate) fn contains(&self, line: i64) -> bool {
        (self.first_line..=self.last_line).contains(&line)
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
        };
        assert_eq!(body(false).code_near(4, 5), [2, 3, 4, 5, 6]);
        assert_eq!(body(true).code_near(4, 3), [2, 3, 4]);
        assert!(body(false).contains(10) && !body(false).contains(11));
    }
}
