//! The lines of a file that are most like a search that was not found.

use std::collections::HashMap;
use std::ops::Range;

use super::drift::votes;
use super::{Source, split_lines};

/// Lines that are shown at most.
const SHOWN: usize = 20;
/// Lines of the file that are compared.
const LONGEST_SEARCH: usize = 50_000;
/// Bytes of a line that are compared.
const LONGEST_LINE: usize = 300;
/// How alike two lines must be to be worth showing.
const ALIKE: f64 = 0.5;

/// The most similar stretch, as lines from 0.
pub fn lines(source: &Source<'_>, search: &str) -> Option<Range<usize>> {
    let (wanted, _) = split_lines(search);
    let shown = wanted.len().clamp(1, SHOWN);
    let range = |start: isize| {
        let start = start.max(0) as usize;
        let end = (start + shown).min(source.lines.len());
        (start < end).then_some(start..end)
    };
    let best = votes(source, &wanted).into_iter().max_by_key(|(at, count)| (*count, std::cmp::Reverse(*at)));
    if let Some((at, _)) = best {
        return range(at);
    }
    let anchor_at = (0..wanted.len()).max_by_key(|at| wanted[*at].trim().len())?;
    let anchor = pairs(wanted[anchor_at].trim());
    let likeness = |line: &str| {
        let other = pairs(line.trim());
        let common: usize =
            anchor.iter().map(|(pair, count)| other.get(pair).map_or(0, |there| *count.min(there))).sum();
        let total: usize = anchor.values().sum::<usize>() + other.values().sum::<usize>();
        if total == 0 { 0.0 } else { 2.0 * common as f64 / total as f64 }
    };
    let compared = source.lines.iter().take(LONGEST_SEARCH).enumerate();
    let (at, ratio) = compared
        .map(|(at, line)| (at, likeness(line.text)))
        .max_by(|left, right| left.1.total_cmp(&right.1).then(right.0.cmp(&left.0)))?;
    (ratio >= ALIKE).then(|| range(at as isize - anchor_at as isize)).flatten()
}

/// The pairs of neighbouring bytes of a line, counted.
fn pairs(line: &str) -> HashMap<[u8; 2], usize> {
    let mut counts = HashMap::new();
    let bytes = &line.as_bytes()[..line.len().min(LONGEST_LINE)];
    for pair in bytes.windows(2) {
        if let [first, second] = pair {
            *counts.entry([*first, *second]).or_default() += 1;
        }
    }
    counts
}
