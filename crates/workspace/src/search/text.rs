//! Finding lines by their content.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use super::{IsCancelled, WalkRules, bad_pattern, by_path};
use crate::{Inside, Result, Workspace};

const LONGEST_PATTERN: usize = 32 * 1024;
/// Bytes a compiled pattern may take.
const LARGEST_PATTERN: usize = 10 * 1024 * 1024;
/// Lines kept over all files; beyond them matches are only counted.
const MOST_LINES: usize = 50_000;
const MOST_LINES_PER_FILE: usize = 5_000;
/// Characters of a line that are kept, from a little before its first match.
const LONGEST_LINE: usize = 500;
const BEFORE_MATCH: usize = 100;

#[derive(Clone, Debug, Default)]
pub struct TextQuery {
    pub pattern: String,
    /// The pattern is text, not a regular expression.
    pub literal: bool,
    pub ignore_case: bool,
    pub whole_words: bool,
    /// A match may span lines, and `.` matches a line's end.
    pub multiline: bool,
    pub before: usize,
    pub after: usize,
    /// Only which files match and how often.
    pub count_only: bool,
    /// Only which files match: the rest of a file is not read.
    pub files_only: bool,
}

/// The matches in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatches {
    /// Relative to the folder that was searched; empty for a single file.
    pub path: PathBuf,
    pub lines: Vec<MatchedLine>,
    /// Lines that match, also those that are not among `lines`.
    pub count: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedLine {
    pub number: u64,
    pub text: String,
    /// Not a match itself, only near one.
    pub is_context: bool,
    /// A part of a long line was left out.
    pub is_shortened: bool,
}

#[derive(Clone, Debug, Default)]
pub struct TextFound {
    /// By path.
    pub files: Vec<FileMatches>,
    pub matches: u64,
    /// Not every matching line is among them.
    pub is_cut: bool,
}

impl Workspace {
    /// Searches a folder or a single file.
    pub fn search_text(
        &self,
        place: &Inside,
        query: &TextQuery,
        rules: &WalkRules,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<TextFound> {
        let matcher = matcher(query)?;
        let kept = AtomicUsize::new(0);
        if self.open_folder(place).is_err() {
            let file = self.open_file(place)?;
            let mut searcher = searcher(query);
            let mut found = Vec::new();
            search(&mut searcher, &matcher, &file, Path::new(""), query, &kept, &mut found);
            return Ok(finish(found, false, &kept));
        }
        let state = || (searcher(query), Vec::new());
        let (found, is_cut) = self.walk(place, rules, is_cancelled, state, |state, entry, path| {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                return;
            }
            let Ok(file) = self.open_file(&place.join(path)) else { return };
            let (searcher, found) = state;
            search(searcher, &matcher, &file, path, query, &kept, found);
        })?;
        let found = found.into_iter().flat_map(|(_, found)| found).collect();
        Ok(finish(found, is_cut, &kept))
    }
}

fn finish(mut files: Vec<FileMatches>, is_cut: bool, kept: &AtomicUsize) -> TextFound {
    files.sort_unstable_by(|left, right| by_path(&left.path, &right.path));
    let matches = files.iter().map(|file| file.count).sum();
    TextFound { files, matches, is_cut: is_cut || kept.load(Ordering::Relaxed) >= MOST_LINES }
}

fn matcher(query: &TextQuery) -> Result<RegexMatcher> {
    if query.pattern.is_empty() {
        return Err(bad_pattern("", &"it is empty"));
    }
    if query.pattern.len() > LONGEST_PATTERN {
        let problem = format!("it has {} bytes; {LONGEST_PATTERN} are allowed", query.pattern.len());
        return Err(bad_pattern(&query.pattern, &problem));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(query.ignore_case)
        .word(query.whole_words)
        .fixed_strings(query.literal)
        .multi_line(true)
        .dot_matches_new_line(query.multiline)
        .size_limit(LARGEST_PATTERN)
        .dfa_size_limit(LARGEST_PATTERN);
    if !query.multiline {
        builder.line_terminator(Some(b'\n')).ban_byte(None);
    }
    builder.build(&query.pattern).map_err(|error| bad_pattern(&query.pattern, &error))
}

fn searcher(query: &TextQuery) -> Searcher {
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .multi_line(query.multiline)
        .before_context(if query.count_only || query.files_only { 0 } else { query.before })
        .after_context(if query.count_only || query.files_only { 0 } else { query.after })
        .heap_limit(Some(64 * 1024 * 1024))
        .build()
}

fn search(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    file: &File,
    path: &Path,
    query: &TextQuery,
    kept: &AtomicUsize,
    found: &mut Vec<FileMatches>,
) {
    let matches = FileMatches { path: path.to_path_buf(), lines: Vec::new(), count: 0 };
    let mut sink = Lines { matcher, matches, query, kept };
    // A file that turns out to be binary, or cannot be read on, counts as far as it went.
    searcher.search_file(matcher, file, &mut sink).ok();
    if sink.matches.count > 0 {
        found.push(sink.matches);
    }
}

struct Lines<'a> {
    matcher: &'a RegexMatcher,
    matches: FileMatches,
    query: &'a TextQuery,
    kept: &'a AtomicUsize,
}

impl Lines<'_> {
    fn keep(&mut self, number: u64, bytes: &[u8], is_context: bool) {
        if self.query.count_only
            || self.query.files_only
            || self.matches.lines.len() >= MOST_LINES_PER_FILE
            || self.kept.fetch_add(1, Ordering::Relaxed) >= MOST_LINES
        {
            return;
        }
        let at = if is_context { None } else { self.matcher.find(bytes).ok().flatten() };
        let (text, is_shortened) = shortened(bytes, at.map_or(0, |at| at.start()));
        self.matches.lines.push(MatchedLine { number, text, is_context, is_shortened });
    }
}

impl Sink for Lines<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> std::result::Result<bool, std::io::Error> {
        let first = found.line_number().unwrap_or(0);
        for (number, line) in (first..).zip(found.lines()) {
            self.matches.count += 1;
            self.keep(number, line, false);
        }
        Ok(!self.query.files_only)
    }

    fn context(
        &mut self,
        _: &Searcher,
        context: &SinkContext<'_>,
    ) -> std::result::Result<bool, std::io::Error> {
        if *context.kind() != SinkContextKind::Other {
            self.keep(context.line_number().unwrap_or(0), context.bytes(), true);
        }
        Ok(true)
    }
}

/// A line for people: without its end, and of a very long one the part around the match.
fn shortened(bytes: &[u8], at: usize) -> (String, bool) {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LONGEST_LINE {
        return (String::from_utf8_lossy(line).into_owned(), false);
    }
    let start = at.saturating_sub(BEFORE_MATCH).min(line.len() - LONGEST_LINE);
    let part = String::from_utf8_lossy(&line[start..(start + LONGEST_LINE).min(line.len())]);
    // Characters that the cut went through are no loss.
    let part = part.trim_matches('\u{fffd}');
    let before = if start > 0 { "…" } else { "" };
    (format!("{before}{part}…"), true)
}
