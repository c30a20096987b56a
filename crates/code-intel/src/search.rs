//! Finding code by what it is about.
//!
//! Whole symbols are ranked: the words of a question are looked for in names (taken apart at their humps), in the
//! text of each definition with its comment, and in paths, and weighed as BM25 does. Words of programming that mean
//! the same, in English and Chinese, stand for each other. What is used much comes before what is not. Where vectors
//! of the symbols are at hand, both rankings are joined by reciprocal ranks.

mod words;

use std::collections::HashMap;

use crate::embeddings::{Embeddings, Sought};
use crate::facts::{self, Definition, Facts, Kind};
use crate::index::{FileId, Index, name_hash};
use crate::resolve::Found;

/// Bytes of source that one search looks through at most.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// BM25's usual constants.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.6;
/// How much a hit in a name counts beside one in the text.
const IN_NAME: f64 = 6.0;
const IN_CONTAINER: f64 = 2.0;
const IN_PATH: f64 = 1.5;
/// The usual constant of joining by reciprocal ranks.
const RANK_WEIGHT: f64 = 60.0;
/// Symbols that count as near in meaning, and how near they must be at least.
const MOST_NEAR: usize = 50;
const NEAR_ENOUGH: f32 = 0.2;

/// A symbol that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub found: Found,
    /// With what it stands in: `Class.method`.
    pub path: String,
    pub signature: String,
    pub doc: Option<String>,
    pub score: f64,
}

/// What a search gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// Best first.
    pub hits: Vec<Hit>,
    /// There is more source than one search looks through.
    pub is_cut: bool,
}

/// A question with its vector, and the vectors of the symbols.
#[derive(Clone, Copy)]
pub struct Near<'n> {
    pub embeddings: &'n Embeddings,
    pub sought: &'n Sought,
}

struct Candidate {
    file: FileId,
    definition: u32,
    length: f64,
    /// How often each term stands in it, weighed by where.
    counts: Vec<f64>,
    /// How near its vector is to that of the question.
    similarity: Option<f32>,
}

pub fn search(index: &Index, question: &str, limit: usize) -> Hits {
    search_near(index, question, None, limit)
}

/// The same, joined with what is near in meaning.
pub fn search_near(index: &Index, question: &str, near: Option<Near<'_>>, limit: usize) -> Hits {
    let terms = words::terms(question);
    if terms.is_empty() && near.is_none() {
        return Hits::default();
    }
    let mut candidates = Vec::new();
    let mut seen_bytes = 0;
    let mut is_cut = false;
    let mut files: Vec<(FileId, String)> =
        index.entries().map(|(id, entry)| (id, entry.path.clone())).collect();
    files.sort_by(|left, right| left.1.cmp(&right.1));
    for (file, path) in &files {
        if seen_bytes > MOST_BYTES {
            is_cut = true;
            break;
        }
        let whole = index.whole(*file);
        seen_bytes += whole.0.len();
        let mut found = in_file(*file, path, &whole.0, &whole.1, &terms);
        if let Some(Near { embeddings, sought }) = near {
            for one in &mut found {
                one.similarity = embeddings.similarity(&whole.0, &whole.1, one.definition, sought);
            }
        }
        candidates.extend(found);
    }
    let average = candidates.iter().map(|one| one.length).sum::<f64>() / (candidates.len().max(1) as f64);
    let rarities: Vec<f64> = (0..terms.len())
        .map(|term| {
            let with = candidates.iter().filter(|one| one.counts[term] > 0.0).count() as f64;
            (1.0 + (candidates.len() as f64 - with + 0.5) / (with + 0.5)).ln()
        })
        .collect();
    let used = index.use_counts();
    let by_words = candidates.iter().map(|one| (score(index, one, &rarities, average, &used), one));
    let by_words = best_first(by_words.filter(|(score, _)| *score > 0.0).collect());
    let mut ranked = if near.is_none() {
        by_words
    } else {
        let near = candidates.iter().filter_map(|one| Some((one.similarity?, one)));
        let near = near.filter(|(similarity, _)| *similarity >= NEAR_ENOUGH);
        let mut near = best_first(near.map(|(similarity, one)| (f64::from(similarity), one)).collect());
        near.truncate(MOST_NEAR);
        joined(&[by_words, near])
    };
    ranked.truncate(limit);
    let hits = ranked.into_iter().filter_map(|(score, one)| shown(index, one, score)).collect();
    Hits { hits, is_cut }
}

fn best_first(mut ranked: Vec<(f64, &Candidate)>) -> Vec<(f64, &Candidate)> {
    ranked.sort_by(|left, right| {
        let order = right.0.total_cmp(&left.0);
        order.then_with(|| (left.1.file, left.1.definition).cmp(&(right.1.file, right.1.definition)))
    });
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
    text: &str,
    facts: &facts::Facts,
    terms: &[words::Term],
) -> Vec<Candidate> {
    let lower = text.to_lowercase();
    // Case mapping may change lengths outside of ASCII; places in the text are then not to be trusted.
    let is_aligned = lower.len() == text.len();
    let mut found: Vec<Candidate> = Vec::new();
    let mut spans: Vec<(usize, facts::Span)> = Vec::new();
    let path_words = words::split(path);
    for (index, definition) in facts.definitions.iter().enumerate().filter(|(_, one)| is_wanted(one)) {
        let own = words::split(&definition.name);
        let container = words::split(&facts::described(facts, index as u32));
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
        spans.push((found.len(), span));
        found.push(Candidate {
            file,
            definition: index as u32,
            length: f64::from(span.len()) / 40.0 + 1.0,
            counts: counts.collect(),
            similarity: None,
        });
    }
    if is_aligned {
        for (place, term) in terms.iter().enumerate() {
            for at in term.places(&lower) {
                let around = spans.iter().filter(|(_, span)| span.contains(at as u32));
                if let Some((candidate, _)) = around.min_by_key(|(_, span)| span.len()) {
                    found[*candidate].counts[place] += 1.0;
                }
            }
        }
    }
    found
}

fn score(
    index: &Index,
    candidate: &Candidate,
    rarities: &[f64],
    average: f64,
    used: &HashMap<u32, u32>,
) -> f64 {
    let normal = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * candidate.length / average.max(1.0));
    let weighed = candidate.counts.iter().zip(rarities);
    let sum: f64 =
        weighed.map(|(count, rarity)| rarity * count * (SATURATION + 1.0) / (count + normal)).sum();
    let matched = candidate.counts.iter().filter(|count| **count > 0.0).count() as f64;
    let coverage = matched / candidate.counts.len().max(1) as f64;
    let whole = index.outline_name(candidate.file, candidate.definition);
    let uses = whole.and_then(|name| used.get(&name_hash(&name)).copied()).unwrap_or_default();
    let is_test = index.path(candidate.file).contains("test");
    sum * (0.4 + 0.6 * coverage * coverage)
        * (1.0 + 0.08 * f64::from(uses).ln_1p())
        * if is_test { 0.7 } else { 1.0 }
}

fn shown(index: &Index, candidate: &Candidate, score: f64) -> Option<Hit> {
    let whole = index.whole(candidate.file);
    let definition = whole.1.definitions.get(candidate.definition as usize)?.clone();
    Some(Hit {
        path: facts::described(&whole.1, candidate.definition),
        signature: facts::signature(&whole.0, &definition),
        doc: facts::doc_line(&whole.0, &definition),
        found: Found { file: candidate.file, definition },
        score,
    })
}

/// The symbols that matter most, file by file, in about so many tokens: what is used by many files comes first.
pub fn map(index: &Index, tokens: usize) -> String {
    const BYTES_PER_TOKEN: usize = 4;
    let used = index.use_counts();
    let mut files: Vec<(f64, String)> = Vec::new();
    for (id, entry) in index.entries() {
        let outline = index.outline(id);
        let mut symbols: Vec<(f64, u32, String)> = Vec::new();
        for (place, definition) in outline.definitions.iter().enumerate() {
            let is_shown = definition.is_callable() || definition.kind.is_type();
            if !is_shown || definition.is_declaration {
                continue;
            }
            let uses = used.get(&name_hash(&definition.name)).copied().unwrap_or_default();
            let weight = f64::from(uses).ln_1p() * if definition.kind.is_type() { 2.0 } else { 1.0 };
            symbols.push((weight, definition.at.line, facts::described(&outline, place as u32)));
        }
        if symbols.is_empty() {
            continue;
        }
        symbols.sort_by(|left, right| right.0.total_cmp(&left.0));
        symbols.truncate(12);
        let test = if entry.path.contains("test") { 0.3 } else { 1.0 };
        let weight = symbols.iter().map(|(weight, ..)| weight).sum::<f64>() * test;
        let mut names: Vec<(u32, String)> = symbols.into_iter().map(|(_, line, name)| (line, name)).collect();
        names.sort();
        let names: Vec<String> = names.into_iter().map(|(line, name)| format!("{name}:{line}")).collect();
        files.push((weight, format!("{}: {}\n", entry.path, names.join(", "))));
    }
    files.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    let mut text = String::new();
    for (_, line) in files {
        if (text.len() + line.len()) / BYTES_PER_TOKEN > tokens {
            break;
        }
        text.push_str(&line);
    }
    text
}

#[cfg(test)]
#[path = "search/tests.rs"]
mod tests;
