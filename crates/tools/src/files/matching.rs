//! Finds the text a model means in a file: exactly where it can, tolerantly where that is safe.
//!
//! Pure and bounded: nothing here touches a file, and everything is linear in the size of the text. The passes are
//! tried in the order of [`Tolerance`]; the first that finds anything decides, and where it finds more than one place
//! the call fails instead of guessing. What a tolerant pass matched is not replaced blindly: lines the replacement
//! leaves as they were in the search keep the bytes of the file, and new lines get the indentation of the place
//! ([`merge`]).

mod drift;
mod exact;
mod fragment;
mod indentation;
mod merge;
mod nearest;
mod normal;
mod source;
mod variants;
mod windows;

use std::ops::Range;

pub use exact::with_line_end;
pub use source::{Source, split_lines};
use variants::Variant;
pub use variants::without_numbers;

/// How freely a text was matched, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tolerance {
    Exact,
    LineEnds,
    TrailingSpace,
    Indentation,
    WhiteSpace,
    LookAlikes,
    Escapes,
    LineNumbers,
    OuterBlankLines,
    Drift,
}

impl Tolerance {
    /// What the model is told, after "matched".
    pub fn words(self) -> Option<&'static str> {
        match self {
            // Models write LF, whatever the file has; that is nothing to speak of.
            Self::Exact | Self::LineEnds => None,
            Self::TrailingSpace => Some("ignoring white space at line ends"),
            Self::Indentation => Some("ignoring indentation; the new text has the indentation of the file"),
            Self::WhiteSpace => Some("ignoring differences of white space"),
            Self::LookAlikes => Some("ignoring look-alike characters such as curly quotes"),
            Self::Escapes => Some("after undoing escapes (\\n, \\\", &lt;)"),
            Self::LineNumbers => Some("after removing line numbers"),
            Self::OuterBlankLines => Some("ignoring blank lines around the text"),
            Self::Drift => Some("although some lines around the change differ; these were kept as they are"),
        }
    }
}

/// What the search is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Any stretch of text, which may begin and end within a line.
    Text,
    /// Whole lines.
    Lines,
}

/// How many places are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    One,
    Every,
    Exactly(usize),
}

/// What to look for and what to put there.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    pub search: &'a str,
    pub replacement: &'a str,
    pub unit: Unit,
    pub amount: Amount,
    /// The line at which the search is said to begin, from 1.
    pub hint: Option<usize>,
    /// Lines within which the match must lie, from 1.
    pub within: Option<Range<usize>>,
}

/// One place of the file and what it becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    pub range: Range<usize>,
    pub text: String,
    /// Line at which the match begins, from 1.
    pub line: usize,
}

#[derive(Clone, Debug)]
pub struct Found {
    pub splices: Vec<Splice>,
    pub how: Tolerance,
}

/// Why nothing was matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The search is empty or only white space.
    Empty,
    /// Lines (from 0) that are most like the search, where any are.
    NotFound { nearest: Option<Range<usize>> },
    /// The lines (from 1) at which it would match.
    Ambiguous { lines: Vec<usize>, how: Tolerance },
    /// Another number of places than was said.
    Count { lines: Vec<usize>, expected: usize },
    /// A match that cannot be trusted, with the lines (from 0) it would be.
    Weak { reason: &'static str, lines: Range<usize> },
}

/// Finds the place or places a replacement goes to.
pub fn find(source: &Source<'_>, wanted: &Wanted<'_>) -> Result<Found, Miss> {
    if wanted.search.trim().is_empty() && (wanted.search.is_empty() || wanted.unit == Unit::Lines) {
        return Err(Miss::Empty);
    }
    let mut weak = None;
    for variant in variants::of(wanted) {
        match find_variant(source, wanted, &variant) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            // A stricter reading that is ambiguous is not overruled by a freer one.
            Err(miss @ (Miss::Ambiguous { .. } | Miss::Count { .. })) => return Err(miss),
            Err(miss) => {
                weak.get_or_insert(miss);
            }
        }
    }
    match drift::find(source, wanted) {
        Ok(Some(splice)) => return Ok(Found { splices: vec![splice], how: Tolerance::Drift }),
        Ok(None) => {}
        Err(miss) => {
            weak.get_or_insert(miss);
        }
    }
    Err(weak.unwrap_or_else(|| Miss::NotFound { nearest: nearest::lines(source, wanted.search) }))
}

fn find_variant(
    source: &Source<'_>,
    wanted: &Wanted<'_>,
    variant: &Variant<'_>,
) -> Result<Option<Found>, Miss> {
    let told = |how: Tolerance| how.max(variant.how);
    let hint = variant.hint.or(wanted.hint);
    if wanted.unit == Unit::Text {
        for how in [Tolerance::Exact, Tolerance::LineEnds] {
            let places = exact::places(source, &variant.search, how);
            let mut places = within(source, wanted, places, |place| place.range.clone());
            if wanted.amount == Amount::One {
                exact::keep_whole_indentations(source, variant, &mut places);
            }
            if places.is_empty() {
                continue;
            }
            let chosen = choose(wanted.amount, hint, told(how), places, |place| place.line)?;
            let doubtful = |place: &&exact::Place| exact::leaves_the_margin(source, &place.range, variant);
            if let Some(place) = chosen.iter().find(doubtful) {
                return Err(Miss::Weak {
                    reason: "the new text has lines further left than the line it begins in; begin both texts with \
                             the indentation of their first line",
                    lines: place.line - 1..place.line,
                });
            }
            let splices = chosen
                .into_iter()
                .map(|place| {
                    let text =
                        exact::replacement(source, &place.range, &variant.search, &variant.replacement);
                    Splice { range: place.range, text, line: place.line }
                })
                .collect();
            return Ok(Some(Found { splices, how: told(how) }));
        }
    }
    if variant.search.trim().is_empty() {
        return Ok(None);
    }
    if let Some(found) = windows::find(source, wanted, variant, hint)? {
        return Ok(Some(Found { how: told(found.how), ..found }));
    }
    if wanted.unit == Unit::Text {
        for how in [Tolerance::WhiteSpace, Tolerance::LookAlikes] {
            let places = fragment::places(source, &variant.search, &variant.replacement, how);
            let places = within(source, wanted, places, |place| place.range.clone());
            if !places.is_empty() {
                let splices = choose(wanted.amount, hint, told(how), places, |place| place.line)?;
                return Ok(Some(Found { splices, how: told(how) }));
            }
        }
    }
    Ok(None)
}

/// Lines that stand at a place exactly, replaced by others.
pub fn splice_at(source: &Source<'_>, start: usize, old: &[&str], new: &[&str]) -> Option<Splice> {
    merge::lines(source, start, old, new, Tolerance::Exact).ok()
}

fn within<T>(
    source: &Source<'_>,
    wanted: &Wanted<'_>,
    mut places: Vec<T>,
    range: impl Fn(&T) -> Range<usize>,
) -> Vec<T> {
    if let Some(lines) = &wanted.within {
        let allowed = source.line_range_bytes(lines.start.saturating_sub(1), lines.end.saturating_sub(1));
        places.retain(|place| allowed.start <= range(place).start && range(place).end <= allowed.end);
    }
    places
}

/// Takes the places that are meant, or says why that cannot be told.
fn choose<T>(
    amount: Amount,
    hint: Option<usize>,
    how: Tolerance,
    places: Vec<T>,
    line: impl Fn(&T) -> usize,
) -> Result<Vec<T>, Miss> {
    let lines = || places.iter().map(&line).collect::<Vec<usize>>();
    match amount {
        Amount::Every => Ok(places),
        Amount::Exactly(expected) if expected == places.len() => Ok(places),
        Amount::Exactly(expected) => Err(Miss::Count { lines: lines(), expected }),
        Amount::One if places.len() == 1 => Ok(places),
        Amount::One => {
            let Some(index) = hint.and_then(|hint| by_hint(&lines(), hint)) else {
                return Err(Miss::Ambiguous { lines: lines(), how });
            };
            Ok(places.into_iter().nth(index).into_iter().collect())
        }
    }
}

/// The place a line number points at, when it points at one far better than at any other: line numbers that models
/// give are off by a few lines.
fn by_hint(lines: &[usize], hint: usize) -> Option<usize> {
    const OFF_BY: usize = 5;
    let mut by_distance: Vec<(usize, usize)> =
        lines.iter().enumerate().map(|(index, line)| (line.abs_diff(hint), index)).collect();
    by_distance.sort_unstable();
    match by_distance.as_slice() {
        [(0, best), (second, _), ..] if *second > 0 => Some(*best),
        [(first, best), (second, _), ..] if *first <= OFF_BY && *second > 3 * first + OFF_BY => Some(*best),
        _ => None,
    }
}

#[cfg(test)]
#[path = "matching/tests.rs"]
mod tests;
