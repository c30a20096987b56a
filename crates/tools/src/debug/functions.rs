//! Finds functions for the debugger by their syntax trees.

use std::path::Path;

use stepwell_code_intel::assignments;
use stepwell_code_intel::functions::{self, Function};
use stepwell_debug::{Assignment, Certainty, Declaration, FunctionBody, FunctionFinder};

/// The functions of source files, by their syntax trees.
#[derive(Clone, Copy, Debug)]
pub struct SyntaxFunctions;

impl FunctionFinder for SyntaxFunctions {
    fn function_at(&self, path: &Path, text: &str, line: i64) -> Option<FunctionBody> {
        functions::function_at(path, text, usize::try_from(line).ok()?).map(body)
    }

    fn function_named(&self, path: &Path, text: &str, name: &str) -> Option<FunctionBody> {
        functions::function_named(path, text, name).map(body)
    }
}

fn body(function: Function) -> FunctionBody {
    let number = |line: usize| i64::try_from(line).unwrap_or(i64::MAX);
    FunctionBody {
        first_line: number(function.first_line),
        last_line: number(function.last_line),
        code_lines: function.code_lines.into_iter().map(number).collect(),
        parameters: function.parameters,
        is_top_level: function.is_top_level,
        assignments: function
            .variables
            .assignments
            .into_iter()
            .map(|one| Assignment {
                name: one.name,
                line: number(one.line),
                first_line: number(one.first_line),
                last_line: number(one.last_line),
                certainty: match one.certainty {
                    assignments::Certainty::Always => Certainty::Always,
                    assignments::Certainty::Perhaps => Certainty::Perhaps,
                    assignments::Certainty::Reached => Certainty::Reached,
                    assignments::Certainty::LoopHead => Certainty::LoopHead,
                },
            })
            .collect(),
        declarations: function
            .variables
            .declarations
            .into_iter()
            .map(|one| Declaration {
                name: one.name,
                line: number(one.line),
                first_line: number(one.first_line),
                last_line: number(one.last_line),
                has_value: one.has_value,
            })
            .collect(),
        call_lines: function.variables.call_lines.into_iter().map(number).collect(),
    }
}
