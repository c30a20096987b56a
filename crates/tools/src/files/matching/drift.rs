//! The last resort: most lines are as the search has them, a few around the change are not.
//!
//! Safe because the change is merged: lines that differ must be lines the replacement does not touch, and they keep
//! what the file has. The place must be named by a line number and be the only one of its kind.

use std::collections::HashMap;

use super::normal::{is_blank_line, key};
use super::windows::hashed;
use super::{Amount, Miss, Source, Splice, Tolerance, Wanted, merge, split_lines};

/// Line numbers that are off by more than this name another place.
const OFF_BY: usize = 3;
/// Fewer lines than this cannot show that most of them are right.
const FEWEST: usize = 4;

pub fn find(source: &Source<'_>, wanted: &Wanted<'_>) -> Result<Option<Splice>, Miss> {
    const HOW: Tolerance = Tolerance::WhiteSpace;
    let Some(hint) = wanted.hint.filter(|_| wanted.amount == Amount::One && wanted.within.is_none()) else {
        return Ok(None);
    };
    let (search, search_ended) = split_lines(wanted.search);
    let (replacement, replacement_ended) = split_lines(wanted.replacement);
    let telling = search.iter().filter(|line| !is_blank_line(line)).count();
    if telling < FEWEST || search.len() > source.lines.len() || search_ended != replacement_ended {
        return Ok(None);
    }
    let equal = |start: usize| {
        let same = |(one, other): &(&&str, &super::source::Line<'_>)| key(one, HOW) == key(other.text, HOW);
        let window = source.lines.get(start..start + search.len())?;
        let ends = [0, search.len() - 1].iter().all(|at| same(&(&search[*at], &window[*at])));
        let count = search.iter().zip(window).filter(same).count();
        (ends && (search.len() - count) * 5 <= search.len().max(5)).then_some(count)
    };
    let from = hint.saturating_sub(1 + OFF_BY);
    let near: Vec<usize> = (from..hint + OFF_BY).filter(|start| equal(*start).is_some()).collect();
    let [start] = near.as_slice() else { return Ok(None) };
    // Any other place that is half as good makes this one a guess.
    let half = search.len() / 2;
    let rival = votes(source, &search).into_iter().any(|(at, count)| at != *start as isize && count > half);
    if rival {
        return Ok(None);
    }
    merge::lines(source, *start, &search, &replacement, HOW)
        .map(Some)
        .map_err(|reason| Miss::Weak { reason, lines: *start..start + search.len() })
}

/// For each place the search could begin at, how many of its lines are there.
pub fn votes(source: &Source<'_>, search: &[&str]) -> HashMap<isize, usize> {
    /// Lines that are everywhere (`}`) say nothing about the place and would cost time.
    const COMMON: usize = 200;
    const HOW: Tolerance = Tolerance::LookAlikes;
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, line) in source.lines.iter().enumerate().filter(|(_, line)| !is_blank_line(line.text)) {
        let found = places.entry(hashed(&key(line.text, HOW))).or_default();
        if found.len() <= COMMON {
            found.push(index);
        }
    }
    let mut votes: HashMap<isize, usize> = HashMap::new();
    for (nth, line) in search.iter().enumerate().take(2000) {
        for index in
            places.get(&hashed(&key(line, HOW))).filter(|found| found.len() <= COMMON).into_iter().flatten()
        {
            *votes.entry(*index as isize - nth as isize).or_default() += 1;
        }
    }
    votes
}
