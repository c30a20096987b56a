//! Overview of a folder within a number of tokens.

use crate::facts;
use crate::index::{FileId, Index, name_hash};

const BYTES_PER_TOKEN: usize = 4;
/// Symbols of a file that are shown at most.
const MOST_SYMBOLS: usize = 12;

/// The symbols that matter most, file by file, in about so many tokens: what is used by many files comes first.
pub(crate) fn map(index: &Index, tokens: usize) -> String {
    let mut files: Vec<(f64, String)> = Vec::new();
    let candidates = candidates(index, tokens);
    let outlines = candidates.iter().map(|file| index.outline(*file)).collect::<Vec<_>>();
    let names = outlines.iter().flat_map(|outline| &outline.definitions).map(|one| name_hash(&one.name));
    let used = index.use_counts_of(names);
    for (file, outline) in candidates.into_iter().zip(outlines) {
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
        symbols.truncate(MOST_SYMBOLS);
        let path = index.path(file);
        let weight = symbols.iter().map(|(weight, ..)| weight).sum::<f64>() * weight_of_path(path);
        let mut names: Vec<(u32, String)> = symbols.into_iter().map(|(_, line, name)| (line, name)).collect();
        names.sort();
        let names: Vec<String> = names.into_iter().map(|(line, name)| format!("{name}:{line}")).collect();
        files.push((weight, format!("{path}: {}\n", names.join(", "))));
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

fn weight_of_path(path: &str) -> f64 {
    if path.contains("test") { 0.3 } else { 1.0 }
}

/// The files that may be shown, by the names they define and how many files use those: outlines of all files of a
/// large tree take seconds to read.
fn candidates(index: &Index, tokens: usize) -> Vec<FileId> {
    /// Several times as many as have room, since some of the names will not be shown.
    const FEWEST: usize = 500;
    let counts = index.rough_use_counts();
    let mut files: Vec<(f64, FileId)> = Vec::new();
    // A path with a line break in it would be read as lines of its own.
    for (id, entry) in index.entries().filter(|(_, entry)| !entry.path.contains(char::is_control)) {
        let mut weights: Vec<f64> = entry.defined().map(|name| counts.of(name).ln_1p()).collect();
        weights.sort_by(|left, right| right.total_cmp(left));
        let weight = weights.iter().take(MOST_SYMBOLS).sum::<f64>() * weight_of_path(&entry.path);
        files.push((weight, id));
    }
    files.sort_by(|left, right| {
        right.0.total_cmp(&left.0).then_with(|| index.path(left.1).cmp(index.path(right.1)))
    });
    files.into_iter().take(FEWEST.max(tokens / 4)).map(|(_, file)| file).collect()
}
