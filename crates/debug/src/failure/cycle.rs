//! Finds the calls that repeat in the stack of a program that called itself without end.

use super::{FailureFrame, FailureReport, Recursion, RecursionArgument, RecursionStep, SourceLocation};

/// Functions that may call each other in turn.
const LONGEST_CYCLE: usize = 6;
/// Newest calls that need not be part of the cycle: the overflow may come in a function that it calls.
const MOST_ABOVE: usize = 3;
/// Arguments of a step that are shown.
const MOST_ARGUMENTS: usize = 3;
const LONGEST_ARGUMENT: usize = 60;

/// Calls that repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cycle {
    /// The newest call of the cycle.
    pub start: usize,
    pub length: usize,
    pub rounds: usize,
}

/// Returns the shortest cycle that the newest calls go through, down to the oldest that is given or nearly so.
pub(super) fn cycle_in<T: PartialEq>(calls: &[T], fewest_rounds: usize) -> Option<Cycle> {
    for length in 1..=LONGEST_CYCLE {
        for start in 0..=MOST_ABOVE.min(calls.len()) {
            let rest = &calls[start..];
            let repeated = rest.iter().zip(rest.iter().skip(length)).take_while(|(one, other)| one == other);
            let rounds = repeated.count() / length + 1;
            if rounds >= fewest_rounds {
                return Some(Cycle { start, length, rounds });
            }
        }
    }
    None
}

/// Makes the recursion of a stack, newest call first, of which the newest frames have values. The number is that of calls
/// above it: the overflow may come in a call that is about to begin, whose variables have no values yet.
pub(super) fn recursion_of(
    calls: &[SourceLocation],
    frames: &[FailureFrame],
    fewest_rounds: usize,
) -> Option<(Recursion, usize)> {
    let keys: Vec<(&str, &str, i64)> =
        calls.iter().map(|call| (call.function.as_str(), call.file.as_str(), call.line)).collect();
    let Cycle { start, length, rounds } = cycle_in(&keys, fewest_rounds)?;
    // The caller comes first, as in a list of steps.
    let steps = (start..start + length).rev().map(|at| {
        let call = &calls[at];
        let same: Vec<&FailureFrame> = frames.iter().skip(at).step_by(length).collect();
        RecursionStep {
            function: call.function.clone(),
            file: call.file.clone(),
            line: call.line,
            source: call.source.clone(),
            arguments: changing(&same),
        }
    });
    Some((Recursion { rounds, steps: steps.collect() }, start))
}

/// The variables whose values change from round to round, oldest round first.
fn changing(newest_first: &[&FailureFrame]) -> Vec<RecursionArgument> {
    let Some(newest) = newest_first.first() else { return Vec::new() };
    let values_of = |name: &str| -> Vec<String> {
        let rows = newest_first.iter().rev();
        let rows = rows.filter_map(|frame| frame.variables.iter().find(|row| row.name == name));
        rows.map(|row| row.value.clone()).collect()
    };
    let all = newest.variables.iter().map(|row| (row.name.clone(), values_of(&row.name)));
    let is_short = |value: &String| value.len() <= LONGEST_ARGUMENT;
    all.filter(|(_, values)| values.iter().all(is_short) && values.windows(2).any(|pair| pair[0] != pair[1]))
        .take(MOST_ARGUMENTS)
        .map(|(name, last)| RecursionArgument { name, first: Vec::new(), last })
        .collect()
}

impl FailureReport {
    /// Shows calls that repeat in place of the frames in which they do.
    pub(super) fn set_recursion(&mut self, recursion: Recursion) {
        let looked_at = recursion.rounds * recursion.steps.len();
        self.notes.push(format!("only the newest {looked_at} calls were looked at"));
        self.frames.truncate(2);
        self.recursion = Some(recursion);
    }
}

#[cfg(test)]
mod tests {
    use super::{Cycle, cycle_in};

    #[test]
    fn the_shortest_cycle_of_the_newest_calls_is_found() {
        let calls = |text: &str| -> Vec<char> { text.chars().collect() };
        let found = |text: &str| cycle_in(&calls(text), 3);
        assert_eq!(found("aaaa"), Some(Cycle { start: 0, length: 1, rounds: 4 }));
        assert_eq!(found("xababab"), Some(Cycle { start: 1, length: 2, rounds: 3 }));
        assert_eq!(found("abcabcabcz"), Some(Cycle { start: 0, length: 3, rounds: 3 }));
        assert_eq!(found("abcdefgh"), None);
        assert_eq!(found(""), None);
        assert_eq!(found("ab"), None);
    }
}
