//! Whole lines of the search against whole lines of the file, one tolerance after the other.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::indentation::IndentMap;
use super::normal::{is_blank_line, key};
use super::variants::Variant;
use super::{Amount, Found, Miss, Source, Splice, Tolerance, Unit, Wanted, choose, merge, split_lines};

const PASSES: [Tolerance; 5] = [
    Tolerance::Exact,
    Tolerance::TrailingSpace,
    Tolerance::Indentation,
    Tolerance::WhiteSpace,
    Tolerance::LookAlikes,
];

/// A text that is at more places than this is not looked at more closely.
const MOST_PLACES: usize = 100;

pub fn find(
    source: &Source<'_>,
    wanted: &Wanted<'_>,
    variant: &Variant<'_>,
    hint: Option<usize>,
) -> Result<Option<Found>, Miss> {
    let (search, search_ended) = split_lines(&variant.search);
    let (replacement, replacement_ended) = split_lines(&variant.replacement);
    if search.is_empty() || search.iter().all(|line| is_blank_line(line)) {
        return Ok(None);
    }
    let mut weak = None;
    for how in PASSES {
        if how == Tolerance::Exact && wanted.unit == Unit::Text {
            continue;
        }
        let search_keys: Vec<u64> = search.iter().map(|line| hashed(&key(line, how))).collect();
        let mut starts = occurrences(source.keys(how), &search_keys);
        if let Some(lines) = &wanted.within {
            starts.retain(|start| lines.start <= start + 1 && start + search.len() < lines.end);
        }
        if starts.is_empty() {
            continue;
        }
        if wanted.amount != Amount::One {
            let mut free = 0;
            starts.retain(|start| {
                let apart = *start >= free;
                if apart {
                    free = start + search.len();
                }
                apart
            });
        } else if starts.len() > MOST_PLACES {
            return Err(Miss::Ambiguous { lines: starts.iter().map(|start| start + 1).collect(), how });
        }
        let pairs =
            |start: usize| search.iter().copied().zip(source.lines[start..].iter().map(|line| line.text));
        // Equal hashes are all but certain to be equal lines; a wrong match must not be possible at all.
        starts.retain(|start| pairs(*start).all(|(one, other)| key(one, how) == key(other, how)));
        if how >= Tolerance::Indentation {
            let before = starts.clone();
            starts.retain(|start| {
                IndentMap::new(pairs(*start))
                    .is_some_and(|map| how > Tolerance::Indentation || map.keeps_order())
            });
            if let (true, Some(start)) = (starts.is_empty(), before.first()) {
                weak.get_or_insert(Miss::Weak {
                    reason: "its indentation does not follow that of the file",
                    lines: *start..start + search.len(),
                });
            }
        }
        if starts.is_empty() {
            continue;
        }
        let chosen = choose(wanted.amount, hint, how.max(variant.how), starts, |start| start + 1)?;
        // A line joined with the next is only done where it was asked for to the letter.
        if wanted.unit == Unit::Text && search_ended != replacement_ended && !replacement.is_empty() {
            let start = chosen.first().copied().unwrap_or_default();
            return Err(Miss::Weak {
                reason: "one of the two texts ends in a line break and the other does not",
                lines: start..start + search.len(),
            });
        }
        let mut splices: Vec<Splice> = Vec::new();
        for start in chosen {
            let splice = merge::lines(source, start, &search, &replacement, how)
                .map_err(|reason| Miss::Weak { reason, lines: start..start + search.len() })?;
            splices.push(splice);
        }
        return Ok(Some(Found { splices, how }));
    }
    weak.map_or(Ok(None), Err)
}

pub fn hashed(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Every start of a sequence in another, overlapping ones too, in linear time (Knuth, Morris and Pratt).
fn occurrences(text: &[u64], search: &[u64]) -> Vec<usize> {
    if search.is_empty() || search.len() > text.len() {
        return Vec::new();
    }
    let mut fallback = vec![0usize; search.len()];
    let mut matched = 0;
    for index in 1..search.len() {
        while matched > 0 && search[index] != search[matched] {
            matched = fallback[matched - 1];
        }
        matched += usize::from(search[index] == search[matched]);
        fallback[index] = matched;
    }
    let mut found = Vec::new();
    matched = 0;
    for (index, hash) in text.iter().enumerate() {
        while matched > 0 && *hash != search[matched] {
            matched = fallback[matched - 1];
        }
        matched += usize::from(*hash == search[matched]);
        if matched == search.len() {
            found.push(index + 1 - search.len());
            matched = fallback[matched - 1];
        }
    }
    found
}
