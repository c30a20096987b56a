//! Search for symbols by what they are about.
//!
//! Whole symbols are ranked: the words of a question are looked for in names (taken apart at their humps), in the
//! text of each definition with its comment, and in paths, and weighed as BM25 does. Words of programming that mean
//! the same, in English and Chinese, stand for each other. What is used much comes before what is not, and so does what
//! is near the files in hand. Where vectors of the symbols are at hand, both rankings are joined by reciprocal ranks.

mod map;
mod scan;
mod synonyms;
mod tests_in_code;
mod words;

use std::collections::{HashMap, HashSet};

use crate::embeddings::{Embeddings, QueryVector};
use crate::facts::{self, Definition, Facts, Kind, Span};
use crate::index::{FileEntry, FileId, Index, name_hash};
use crate::resolve::{DefinitionSite, Resolver};
use scan::Patterns;

pub(crate) use map::map;
pub(crate) use tests_in_code::is_test_path;

/// Bytes of source whose symbols are compared with a vector at most.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// BM25's usual constants.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.6;
/// How much a hit in a name counts beside one in the text.
const IN_NAME: f64 = 6.0;
const IN_CONTAINER: f64 = 2.0;
const IN_PATH: f64 = 1.5;
/// How much a test counts beside the code it is about, whose words it repeats.
const OF_TEST: f64 = 0.35;
/// The usual constant of joining by reciprocal ranks.
const RANK_WEIGHT: f64 = 60.0;
/// Symbols that count as near in meaning, and how near they must be at least.
const MOST_NEAR: usize = 50;
const NEAR_ENOUGH: f32 = 0.2;
/// Symbols of which it is found out how much they are used.
const MOST_COUNTED: usize = 500;

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) struct Question<'q> {
    pub words: &'q str,
    /// Its vector, with those of the symbols.
    pub vector: Option<(&'q Embeddings, &'q QueryVector)>,
    /// Files the caller works on: of two symbols, the one near them ranks higher.
    pub open_files: &'q [FileId],
    pub limit: usize,
}

/// A symbol that was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hit {
    pub site: DefinitionSite,
    /// With what it stands in: `Class.method`.
    pub path: String,
    pub signature: String,
    pub doc: Option<String>,
    pub score: f64,
}

/// What a search gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hits {
    /// Best first.
    pub hits: Vec<Hit>,
    /// There is more source than can be looked through in time.
    pub is_cut: bool,
}

struct Candidate {
    file: FileId,
    definition: u32,
    name: u32,
    length: f64,
    /// How often each term stands in it, weighed by where.
    counts: Vec<f64>,
    /// The share of the terms that its name has.
    named: f64,
    /// How near its vector is to that of the question.
    similarity: Option<f32>,
    is_test: bool,
    /// Its place among all of them, which decides between two that are as good.
    order: usize,
}

pub(crate) fn search(index: &Index, question: &Question<'_>) -> Hits {
    let terms = words::terms(question.words);
    let patterns = Patterns::of(&terms);
    let chosen = patterns.as_ref().map(|patterns| scan::choose(index, &terms, patterns)).unwrap_or_default();
    let mut files = chosen.files;
    if question.vector.is_some() {
        files = with_all(index, files);
    }
    let mut candidates = Vec::new();
    for file in files {
        let (text, outline) = (index.source(file), index.outline(file));
        let mut found = in_file(file, index.path(file), (&text, &outline), &terms, patterns.as_ref());
        match question.vector {
            Some((embeddings, vector)) => {
                for one in &mut found {
                    one.similarity = embeddings.similarity(&text, &outline, one.definition, vector);
                }
            }
            None => found.retain(|one| one.counts.iter().any(|count| *count > 0.0)),
        }
        candidates.extend(found);
    }
    for (place, one) in candidates.iter_mut().enumerate() {
        one.order = place;
    }
    // Who looks for tests finds them.
    if terms.iter().any(words::Term::is_about_tests) {
        for one in &mut candidates {
            one.is_test = false;
        }
    }
    let by_words = by_words(index, &candidates, terms.len(), question.open_files);
    let mut ranked = if question.vector.is_none() {
        by_words
    } else {
        let near = candidates.iter().filter_map(|one| Some((one.similarity?, one)));
        let near = near.filter(|(similarity, _)| *similarity >= NEAR_ENOUGH);
        let weighed = |(similarity, one): (f32, &'_ Candidate)| {
            f64::from(similarity) * if one.is_test { OF_TEST } else { 1.0 }
        };
        let mut near = best_first(near.map(|(similarity, one)| (weighed((similarity, one)), one)).collect());
        near.truncate(MOST_NEAR);
        joined(&[by_words, near])
    };
    ranked.truncate(question.limit);
    let hits = ranked.into_iter().filter_map(|(score, one)| shown(index, one, score)).collect();
    Hits { hits, is_cut: chosen.is_cut }
}

/// Some files and all others, as far as there may be vectors of what they define.
fn with_all(index: &Index, mut files: Vec<FileId>) -> Vec<FileId> {
    let known: HashSet<FileId> = files.iter().copied().collect();
    let mut others: Vec<FileId> =
        index.entries().map(|(id, _)| id).filter(|id| !known.contains(id)).collect();
    others.sort_by(|left, right| index.path(*left).cmp(index.path(*right)));
    let mut bytes = 0_u64;
    for file in others {
        bytes += index.entry(file).map_or(0, FileEntry::bytes);
        if bytes > MOST_BYTES {
            break;
        }
        files.push(file);
    }
    files
}

/// How much it tells that a term is there which so many of all have.
fn rarity(all: usize, with: usize) -> f64 {
    let (all, with) = (all.max(with) as f64, with as f64);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// The candidates that have words of the question, the best first.
fn by_words<'c>(
    index: &Index,
    candidates: &'c [Candidate],
    terms: usize,
    open_files: &[FileId],
) -> Vec<(f64, &'c Candidate)> {
    let average = candidates.iter().map(|one| one.length).sum::<f64>() / (candidates.len().max(1) as f64);
    let all = index.defined_count();
    let rarities: Vec<f64> = (0..terms)
        .map(|term| rarity(all, candidates.iter().filter(|one| one.counts[term] > 0.0).count()))
        .collect();
    let scored = candidates.iter().map(|one| (score(one, &rarities, average), one));
    let mut ranked = best_first(scored.filter(|(score, _)| *score > 0.0).collect());
    let counted = ranked.len().min(MOST_COUNTED);
    let used = index.use_counts_of(ranked.iter().take(counted).map(|(_, one)| one.name));
    let around = Around::of(index, open_files);
    for (score, one) in ranked.iter_mut().take(counted) {
        let uses = used.get(&one.name).copied().unwrap_or_default();
        *score *= (1.0 + 0.08 * f64::from(uses).ln_1p()) * around.weight(index, one.file);
    }
    best_first(ranked)
}

/// What is near the files in hand.
struct Around<'i> {
    files: HashSet<FileId>,
    neighbours: HashSet<FileId>,
    folders: HashSet<&'i str>,
}

impl<'i> Around<'i> {
    fn of(index: &'i Index, open_files: &[FileId]) -> Self {
        let resolver = Resolver::new(index);
        let folder = |file: &FileId| index.path(*file).rsplit_once('/').map_or("", |(folder, _)| folder);
        Self {
            files: open_files.iter().copied().collect(),
            neighbours: open_files.iter().flat_map(|file| resolver.dependencies(*file)).collect(),
            folders: open_files.iter().map(folder).collect(),
        }
    }

    fn weight(&self, index: &Index, file: FileId) -> f64 {
        let folder = index.path(file).rsplit_once('/').map_or("", |(folder, _)| folder);
        if self.files.contains(&file) {
            1.4
        } else if self.neighbours.contains(&file) {
            1.3
        } else if self.folders.contains(folder) {
            1.15
        } else {
            1.0
        }
    }
}

fn best_first(mut ranked: Vec<(f64, &Candidate)>) -> Vec<(f64, &Candidate)> {
    ranked.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.order.cmp(&right.1.order)));
    ranked
}

/// Rankings as one: what stands high in several comes before what stands high in one. Scores of different kinds cannot
/// be compared, places in a ranking can.
fn joined<'c>(rankings: &[Vec<(f64, &'c Candidate)>]) -> Vec<(f64, &'c Candidate)> {
    /// So that the numbers are pleasant to read.
    const SHOWN_AS: f64 = 1000.0;
    let mut scores: HashMap<(FileId, u32), (f64, &Candidate)> = HashMap::new();
    for ranking in rankings {
        for (rank, (_, one)) in ranking.iter().enumerate() {
            let entry = scores.entry((one.file, one.definition)).or_insert((0.0, *one));
            entry.0 += SHOWN_AS / (RANK_WEIGHT + rank as f64 + 1.0);
        }
    }
    best_first(scores.into_values().collect())
}

/// The definitions of a file that can be found, by their places.
pub(crate) fn wanted(facts: &Facts) -> Vec<u32> {
    let wanted = facts.definitions.iter().enumerate().filter(|(_, one)| is_wanted(one));
    wanted.map(|(place, _)| place as u32).collect()
}

fn is_wanted(definition: &Definition) -> bool {
    definition.scope.is_none()
        && (definition.is_callable()
            || definition.kind.is_type() && definition.kind != Kind::TypeParameter
            || matches!(definition.kind, Kind::Constant | Kind::Macro | Kind::Property | Kind::Entry)
            || definition.kind == Kind::Variable && !definition.is_member)
}

fn in_file(
    file: FileId,
    path: &str,
    (text, facts): (&str, &Facts),
    terms: &[words::Term],
    patterns: Option<&Patterns>,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut spans: Vec<(Span, usize)> = Vec::new();
    let path_words = words::split(path);
    for (index, definition) in facts.definitions.iter().enumerate().filter(|(_, one)| is_wanted(one)) {
        let own = words::split(&definition.name);
        let container = words::split(&facts::described(facts, index as u32));
        let named = terms.iter().filter(|term| term.matches(&own) > 0.0).count();
        let counts = terms.iter().map(|term| {
            let mut count = 0.0;
            count += IN_NAME * term.matches(&own);
            count += IN_CONTAINER * term.matches(&container).min(1.0);
            if count > 0.0 {
                count += IN_PATH * term.matches(&path_words).min(1.0);
            }
            count
        });
        let span = facts::whole(text, definition);
        spans.push((span, found.len()));
        found.push(Candidate {
            file,
            definition: index as u32,
            name: name_hash(&definition.name),
            length: f64::from(span.len()) / 40.0 + 1.0,
            counts: counts.collect(),
            named: named as f64 / terms.len().max(1) as f64,
            similarity: None,
            is_test: tests_in_code::is_test(path, text, facts, definition),
            order: 0,
        });
    }
    if let Some(patterns) = patterns {
        spans.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        // The innermost symbol around a place has it.
        let (mut next, mut open) = (0, Vec::new());
        for place in patterns.places(text) {
            while let Some((span, owner)) =
                spans.get(next).filter(|(span, _)| span.start as usize <= place.start)
            {
                open.push((span.end as usize, *owner));
                next += 1;
            }
            while open.last().is_some_and(|(end, _)| *end <= place.start) {
                open.pop();
            }
            if let Some((_, owner)) = open.last() {
                found[*owner].counts[place.term] += place.weight;
            }
        }
    }
    found
}

fn score(candidate: &Candidate, rarities: &[f64], average: f64) -> f64 {
    let normal = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * candidate.length / average.max(1.0));
    let weighed = candidate.counts.iter().zip(rarities);
    let sum: f64 =
        weighed.map(|(count, rarity)| rarity * count * (SATURATION + 1.0) / (count + normal)).sum();
    let matched = candidate.counts.iter().filter(|count| **count > 0.0).count() as f64;
    let coverage = matched / candidate.counts.len().max(1) as f64;
    let named = 1.0 + 0.6 * candidate.named * candidate.named;
    sum * (0.4 + 0.6 * coverage * coverage) * named * if candidate.is_test { OF_TEST } else { 1.0 }
}

fn shown(index: &Index, candidate: &Candidate, score: f64) -> Option<Hit> {
    let (text, outline) = (index.source(candidate.file), index.outline(candidate.file));
    let definition = outline.definitions.get(candidate.definition as usize)?.clone();
    Some(Hit {
        path: facts::described(&outline, candidate.definition),
        signature: facts::signature(&text, &definition),
        doc: facts::doc_line(&text, &definition),
        site: DefinitionSite { file: candidate.file, definition },
        score,
    })
}

#[cfg(test)]
#[path = "search/tests.rs"]
mod tests;
