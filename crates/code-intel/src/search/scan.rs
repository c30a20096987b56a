//! Which files a question may be about: all texts are looked through for its words, by all cores and without parsing.
//!
//! Nothing is kept for it, so nothing can be stale, and a tree of any size costs a read of it. The files in which the
//! words stand best are then looked at symbol by symbol.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use aho_corasick::{AhoCorasick, MatchKind};

use super::words::{self, Term};
use super::{SATURATION, rarity};
use crate::index::{FileId, Index};

/// Files that are looked at symbol by symbol at most.
const MOST_FILES: usize = 500;
/// How long texts are looked through, about.
const PATIENCE: Duration = Duration::from_secs(20);
/// Long files are about more, and less about each of it.
const LENGTH_WEIGHT: f64 = 0.3;
/// How much a word counts that another one stands for, and one that begins within another.
const OTHER_WORD: f64 = 0.5;
const WITHIN_WORD: f64 = 0.25;

/// The files to look at, the best first.
#[derive(Default)]
pub(super) struct Chosen {
    pub files: Vec<FileId>,
    /// There was no time for all files.
    pub is_cut: bool,
}

/// How a file has the words.
struct Hits {
    file: FileId,
    length: f64,
    counts: Vec<f64>,
    /// Names that have several of the words.
    joint: u32,
}

pub(super) fn choose(index: &Index, terms: &[Term], patterns: &Patterns) -> Chosen {
    let (hits, is_whole) =
        index.each_text(Instant::now() + PATIENCE, &|file, text| patterns.hits(file, text));
    let all = index.entries().count();
    let average = hits.iter().map(|one| one.length).sum::<f64>() / hits.len().max(1) as f64;
    let rarities: Vec<f64> = (0..terms.len())
        .map(|term| rarity(all, hits.iter().filter(|one| one.counts[term] > 0.0).count()))
        .collect();
    let scored = hits.iter().map(|one| {
        let score = one.score(index.path(one.file), terms, &rarities, average);
        (score, one.file)
    });
    let mut ranked: Vec<(f64, FileId)> = scored.collect();
    ranked.sort_by(|left, right| {
        let by_path = || index.path(left.1).cmp(index.path(right.1));
        right.0.total_cmp(&left.0).then_with(by_path)
    });
    let files = ranked.into_iter().take(MOST_FILES).map(|(_, file)| file).collect();
    Chosen { files, is_cut: !is_whole }
}

impl Hits {
    fn score(&self, path: &str, terms: &[Term], rarities: &[f64], average: f64) -> f64 {
        let normal = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * self.length / average.max(1.0));
        let path = words::split(path);
        let mut sum = 0.0;
        for ((term, count), rarity) in terms.iter().zip(&self.counts).zip(rarities) {
            sum += rarity * count * (SATURATION + 1.0) / (count + normal);
            sum += rarity * term.matches(&path).min(1.0);
        }
        let matched = self.counts.iter().filter(|count| **count > 0.0).count() as f64;
        let coverage = matched / self.counts.len().max(1) as f64;
        sum * (0.4 + 0.6 * coverage * coverage) * (1.0 + 0.25 * f64::from(self.joint).ln_1p())
    }
}

/// What is looked for, each with the word of the question it stands for and how much it counts.
pub(super) struct Patterns {
    automaton: AhoCorasick,
    meanings: Vec<(usize, f64)>,
    terms: usize,
}

impl Patterns {
    /// Of the words of a question, where it has any.
    pub(crate) fn of(terms: &[Term]) -> Option<Self> {
        let (mut texts, mut meanings) = (Vec::new(), Vec::new());
        for (place, term) in terms.iter().enumerate() {
            for (number, beginning) in term.beginnings().enumerate() {
                texts.push(beginning);
                meanings.push((place, if number == 0 { 1.0 } else { OTHER_WORD }));
            }
        }
        // The longest first where one begins with another.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|place| Reverse(texts[*place].len()));
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(order.iter().map(|place| texts[*place]))
            .ok()?;
        let meanings = order.into_iter().map(|place| meanings[place]).collect();
        (!texts.is_empty()).then_some(Self { automaton, meanings, terms: terms.len() })
    }

    fn hits(&self, file: FileId, text: &str) -> Option<Hits> {
        let bytes = text.as_bytes();
        let mut counts = vec![0.0; self.terms];
        let mut joint = 0;
        let mut last: Option<TermPosition> = None;
        for place in self.places(text) {
            counts[place.term] += place.weight;
            if !place.begins_word {
                continue;
            }
            let is_joint = last.is_some_and(|last| {
                let between = bytes.get(last.end..place.start);
                let is_one = between.is_some_and(|between| between.iter().all(|byte| is_of_name(*byte)));
                last.term != place.term && is_one
            });
            joint += u32::from(is_joint);
            last = Some(place);
        }
        let is_there = counts.iter().any(|count| *count > 0.0);
        is_there.then_some(Hits { file, length: bytes.len() as f64, counts, joint })
    }

    /// Where the words stand in a text, in order.
    pub(crate) fn places(&self, text: &str) -> impl Iterator<Item = TermPosition> {
        let bytes = text.as_bytes();
        self.automaton.find_overlapping_iter(bytes).map(|found| {
            let (term, weight) = self.meanings[found.pattern().as_usize()];
            let (start, end) = (found.start(), found.end());
            let begins_word = begins_word(bytes, start);
            TermPosition {
                term,
                weight: if begins_word { weight } else { weight * WITHIN_WORD },
                start,
                end,
                begins_word,
            }
        })
    }
}

/// A place where a word of the question stands, or one that it stands for.
#[derive(Clone, Copy)]
pub(super) struct TermPosition {
    pub term: usize,
    pub weight: f64,
    pub start: usize,
    end: usize,
    begins_word: bool,
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a word begins here, also one within a name.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let previous = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or_default();
    let is_hump = bytes.get(at).is_some_and(u8::is_ascii_uppercase) && previous.is_ascii_lowercase();
    !previous.is_ascii_alphabetic() || is_hump
}
