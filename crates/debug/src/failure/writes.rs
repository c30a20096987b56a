//! Attributes writes to lines, from the stops of one call and the syntax tree of its function.
//!
//! A stop shows the values before a line runs. When a value differs at the next stop, something in between wrote it, but
//! not always the line before: loop heads run without a stop, callees write through references, and uninitialised C
//! variables hold garbage. So a write is reported only if the syntax tree has an assignment that explains it.

use crate::function_finder::{Assignment, Certainty, FunctionBody};

/// One line that was about to run, with the values before it. `None` is a name that had no value there.
#[derive(Clone, Debug)]
pub(super) struct Passage {
    pub line: i64,
    pub values: Vec<Option<String>>,
    /// The program failed here: the line that was about to run before is the same one, and did not come to its end.
    pub is_failure: bool,
}

/// A write that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeenWrite {
    pub line: i64,
    pub value: String,
    /// The line does not assign the variable itself: what it calls, or a condition on it, does.
    pub is_indirect: bool,
}

/// The variable that a name means at a line.
struct Variable<'a> {
    body: &'a FunctionBody,
    name: &'a str,
    declaration: Option<usize>,
}

/// Returns the writes of a name that were seen, newest first, up to one that cannot be explained.
pub(super) fn writes(
    body: &FunctionBody,
    name: &str,
    at: usize,
    failing_line: i64,
    passages: &[Passage],
    follows_every_line: bool,
) -> Vec<SeenWrite> {
    let variable = Variable { body, name, declaration: declaration_at(body, name, failing_line) };
    let mut is_initialised = variable.declaration.is_none();
    let mut seen: Vec<SeenWrite> = Vec::new();
    let mut last: Option<String> = None;
    // The line that wrote it last while its value could not be seen, and whether another may have.
    let (mut hidden, mut is_lost) = (None, false);
    for pair in passages.windows(2) {
        let (left, reached) = (&pair[0], &pair[1]);
        if !variable.is_at(reached.line) {
            // Another variable of the name hides this one; its value is seen when that is gone.
            if variable.is_at(left.line) {
                hidden = variable.left_by(left.line, reached.line, Certainty::Always).map(|one| one.line);
                is_lost |= variable.left_by(left.line, reached.line, Certainty::Perhaps).is_some();
            }
            continue;
        }
        let Some(after) = reached.values[at].clone() else { continue };
        // Where another variable of the name was in between, the last value of this one counts.
        let differs = if variable.is_at(left.line) {
            left.values[at].as_ref() != Some(&after)
        } else {
            last.as_ref().is_some_and(|last| *last != after)
        };
        last = Some(after.clone());
        // Only a loop on one line can have written before the line failed.
        if reached.is_failure && left.line == reached.line && !differs {
            continue;
        }
        let direct = variable.left_by(left.line, reached.line, Certainty::Always);
        if let Some(assignment) = direct {
            seen.push(SeenWrite { line: assignment.line, value: after, is_indirect: false });
            is_initialised = true;
            continue;
        }
        let head = variable.loop_head(left.line, reached.line);
        if let Some(head) = head
            && (differs && is_initialised || !is_initialised && left.line == head.line)
        {
            seen.push(SeenWrite { line: head.line, value: after, is_indirect: false });
            is_initialised = true;
            continue;
        }
        if !variable.is_at(left.line) && (hidden.is_some() || differs || is_lost) {
            match hidden.take().filter(|_| !is_lost) {
                Some(line) => seen.push(SeenWrite { line, value: after, is_indirect: false }),
                None => seen.clear(),
            }
            is_lost = false;
            continue;
        }
        let perhaps = variable.left_by(left.line, reached.line, Certainty::Perhaps);
        if perhaps.is_some() && !differs {
            // It may have been written with the value that it had.
            seen.clear();
            is_initialised = true;
            continue;
        }
        let reached_by = variable.left_by(left.line, reached.line, Certainty::Reached);
        let perhaps = perhaps.or(reached_by);
        if !differs || !(is_initialised || perhaps.is_some()) {
            continue;
        }
        let calls = follows_every_line && body.call_lines.contains(&left.line);
        match perhaps.map(|assignment| assignment.line).or_else(|| calls.then_some(left.line)) {
            Some(line) => seen.push(SeenWrite { line, value: after, is_indirect: true }),
            // Nothing that was left can have written it: what is known of earlier writes is no longer the last.
            None => seen.clear(),
        }
        is_initialised = true;
    }
    seen.reverse();
    seen
}

/// Returns the declaration of a name that holds at a line, by its place in the list.
fn declaration_at(body: &FunctionBody, name: &str, line: i64) -> Option<usize> {
    let holds = |declared: i64, last: i64| declared < line && line <= last;
    let all = || body.declarations.iter().enumerate().filter(|(_, one)| one.name == name);
    let found =
        all().filter(|(_, one)| holds(one.line, one.last_line)).max_by_key(|(at, one)| (one.line, *at));
    // The head of a loop declares for itself as well.
    let found = found.or_else(|| all().find(|(_, one)| one.line == line && one.last_line > line));
    found.map(|(at, _)| at)
}

impl Variable<'_> {
    /// Whether the name means this variable at a stop on a line.
    fn is_at(&self, line: i64) -> bool {
        // From the beginning of its block on, a debugger may take the name for a variable that is declared only later.
        let is_taken = self.body.declarations.iter().enumerate().any(|(at, other)| {
            Some(at) != self.declaration
                && other.name == self.name
                && self
                    .declaration
                    .is_none_or(|own| self.body.declarations[own].first_line != other.first_line)
                && (other.first_line..=other.line).contains(&line)
                && !self.is_inside(other.first_line, other.last_line)
        });
        !is_taken && declaration_at(self.body, self.name, line) == self.declaration
    }

    /// Whether the variable is declared within a block.
    fn is_inside(&self, first_line: i64, last_line: i64) -> bool {
        self.declaration
            .is_some_and(|own| (first_line..=last_line).contains(&self.body.declarations[own].line))
    }

    fn assignments(&self) -> impl Iterator<Item = &Assignment> {
        let declared = self.declaration.map(|at| self.body.declarations[at].line);
        self.body.assignments.iter().filter(move |one| {
            one.name == self.name
                && (self.is_at(one.line) || Some(one.line) == declared || Some(one.first_line) == declared)
        })
    }

    /// The last assignment of a statement that was left on the way from one line to another.
    fn left_by(&self, left: i64, reached: i64, certainty: Certainty) -> Option<&Assignment> {
        let is_left = |one: &&Assignment| {
            let lines = one.first_line..=one.last_line;
            one.certainty == certainty
                && lines.contains(&left)
                && (!lines.contains(&reached) || one.first_line == one.last_line)
        };
        self.assignments().filter(is_left).last()
    }

    /// The only loop head that writes the variable and can have run on the way from one line to another.
    fn loop_head(&self, left: i64, reached: i64) -> Option<&Assignment> {
        let mut heads = self.assignments().filter(|one| {
            let lines = one.first_line..=one.last_line;
            let goes_round = lines.contains(&left) && lines.contains(&reached) && reached <= left;
            let leaves = lines.contains(&left) && !lines.contains(&reached);
            let enters = left == one.line;
            one.certainty == Certainty::LoopHead && (goes_round || leaves || enters)
        });
        let first = heads.next()?;
        heads.all(|other| other.line == first.line).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function_finder::Declaration;

    fn assignment(name: &str, line: i64, lines: (i64, i64), certainty: Certainty) -> Assignment {
        Assignment { name: name.to_owned(), line, first_line: lines.0, last_line: lines.1, certainty }
    }

    fn body(
        assignments: Vec<Assignment>,
        declarations: &[(&str, i64, i64)],
        call_lines: &[i64],
    ) -> FunctionBody {
        let declared = |(name, line, last_line): &(&str, i64, i64)| Declaration {
            name: (*name).to_owned(),
            line: *line,
            first_line: *line,
            last_line: *last_line,
            has_value: true,
        };
        FunctionBody {
            first_line: 1,
            last_line: 20,
            code_lines: (1..=20).collect(),
            parameters: Vec::new(),
            is_top_level: false,
            assignments,
            declarations: declarations.iter().map(declared).collect(),
            call_lines: call_lines.to_vec(),
        }
    }

    #[track_caller]
    fn check(body: &FunctionBody, failing: i64, stops: &[(i64, &str)], expected: &[(i64, &str)]) {
        let passages: Vec<Passage> = stops
            .iter()
            .map(|(line, value)| Passage {
                line: *line,
                values: vec![(!value.is_empty()).then(|| (*value).to_owned())],
                is_failure: false,
            })
            .collect();
        check_passages(body, failing, &passages, expected);
    }

    #[track_caller]
    fn check_passages(body: &FunctionBody, failing: i64, passages: &[Passage], expected: &[(i64, &str)]) {
        let told = writes(body, "x", 0, failing, passages, true);
        let told: Vec<(i64, &str)> = told.iter().map(|write| (write.line, write.value.as_str())).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn a_value_before_the_first_assignment_is_no_value() {
        let body = body(vec![assignment("x", 4, (4, 4), Certainty::Always)], &[("x", 2, 20)], &[]);
        check(&body, 6, &[(3, "32767"), (4, "21845"), (5, "7"), (6, "7")], &[(4, "7")]);
    }

    #[test]
    fn an_assignment_of_the_same_value_is_the_last_write() {
        let twice = vec![
            assignment("x", 2, (2, 2), Certainty::Always),
            assignment("x", 4, (4, 4), Certainty::Always),
        ];
        check(&body(twice, &[], &[]), 5, &[(2, ""), (3, "1"), (4, "1"), (5, "1")], &[(4, "1"), (2, "1")]);
    }

    #[test]
    fn the_line_that_failed_did_not_write() {
        let adds = vec![
            assignment("x", 2, (2, 2), Certainty::Always),
            assignment("x", 4, (4, 4), Certainty::Always),
        ];
        let passage = |line, value: &str, is_failure| Passage {
            line,
            values: vec![Some(value.to_owned())],
            is_failure,
        };
        let before = [passage(2, "7", false), passage(3, "0", false), passage(4, "0", false)];
        let failing = |value| [before.as_slice(), &[passage(4, value, true)]].concat();
        check_passages(&body(adds.clone(), &[], &[]), 4, &failing("0"), &[(2, "0")]);
        // A loop on one line stops once, and has written in its first rounds.
        check_passages(&body(adds, &[], &[]), 4, &failing("9"), &[(4, "9"), (2, "0")]);
    }

    #[test]
    fn a_change_that_no_line_explains_ends_the_history() {
        let once = vec![assignment("x", 2, (2, 2), Certainty::Always)];
        check(&body(once.clone(), &[], &[]), 5, &[(2, ""), (3, "1"), (4, "9"), (5, "9")], &[]);
        check(&body(once, &[], &[3]), 5, &[(2, ""), (3, "1"), (4, "9"), (5, "9")], &[(3, "9"), (2, "1")]);
    }

    #[test]
    fn another_variable_of_the_name_has_its_own_history() {
        let inner = vec![
            assignment("x", 2, (2, 2), Certainty::Always),
            assignment("x", 4, (4, 4), Certainty::Always),
        ];
        let body = body(inner, &[("x", 2, 20), ("x", 4, 6)], &[]);
        check(&body, 8, &[(2, "0"), (3, "1"), (4, "1"), (5, "50"), (7, "1"), (8, "1")], &[(2, "1")]);
    }

    #[test]
    fn heads_of_loops_write_between_rounds() {
        let head = vec![assignment("x", 2, (2, 4), Certainty::LoopHead)];
        let body = body(head, &[("x", 2, 4)], &[]);
        check(&body, 4, &[(2, "77"), (3, "0"), (4, "0"), (3, "1"), (4, "1")], &[(2, "1"), (2, "0")]);
    }

    #[test]
    fn a_statement_over_several_lines_writes_when_it_is_left() {
        let long = vec![assignment("x", 2, (2, 4), Certainty::Always)];
        check(&body(long, &[], &[2, 3, 4]), 5, &[(2, "0"), (3, "0"), (4, "0"), (5, "8")], &[(2, "8")]);
    }

    #[test]
    fn a_condition_on_the_line_is_told_only_where_the_value_changed() {
        let perhaps = vec![
            assignment("x", 2, (2, 2), Certainty::Always),
            assignment("x", 3, (3, 3), Certainty::Perhaps),
        ];
        check(&body(perhaps.clone(), &[], &[]), 4, &[(2, ""), (3, "1"), (4, "1")], &[]);
        check(&body(perhaps, &[], &[]), 4, &[(2, ""), (3, "1"), (4, "5")], &[(3, "5"), (2, "1")]);
    }
}
