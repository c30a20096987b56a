//! Files by a part of their path, as people type it.

use std::path::Path;

use super::{NameQuery, WalkRules};
use crate::{Result, Workspace};

/// Files that are looked at.
const MOST: usize = 100_000;

impl Workspace {
    /// Paths in which the letters of a text occur in order, the best first; the newest files for an empty text.
    pub fn match_files(&self, text: &str, limit: usize) -> Result<Vec<String>> {
        let query = NameQuery { pattern: "**/*".to_owned(), limit: MOST };
        let found = self.find_files(&self.place(".")?, &query, &WalkRules::default(), &|| false)?;
        let paths = found.files.iter().map(|file| file.path.to_string_lossy().into_owned());
        if text.is_empty() {
            return Ok(paths.take(limit).collect());
        }
        let wanted: Vec<char> =
            text.to_lowercase().chars().filter(|letter| !letter.is_whitespace()).collect();
        let mut ranked: Vec<(i64, String)> =
            paths.filter_map(|path| Some((score(&path, &wanted)?, path))).collect();
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        ranked.truncate(limit);
        Ok(ranked.into_iter().map(|(_, path)| path).collect())
    }
}

/// How well a path fits: letters that stand together, at the beginning of words and in the file's name count most.
fn score(path: &str, wanted: &[char]) -> Option<i64> {
    let name_start = path.len() - Path::new(path).file_name()?.len();
    let mut letters = wanted.iter();
    let mut next = letters.next();
    let mut score = -(path.len() as i64);
    let (mut run, mut before) = (0, '/');
    for (index, letter) in path.char_indices() {
        let Some(wanted) = next else { break };
        if letter.to_lowercase().eq(std::iter::once(*wanted)) {
            run += 1;
            score += 10 * run;
            if !before.is_alphanumeric() {
                score += 30;
            }
            if index >= name_start {
                score += 20;
            }
            next = letters.next();
        } else {
            run = 0;
        }
        before = letter;
    }
    next.is_none().then_some(score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_are_found_and_names_come_first() {
        let wanted: Vec<char> = "mainrs".chars().collect();
        assert!(score("src/main.rs", &wanted) > score("src/domain/parser.rs", &wanted));
        assert_eq!(score("src/lib.rs", &wanted), None);
    }
}
