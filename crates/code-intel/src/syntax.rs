//! Syntax errors of a text, and those a change brought with it.
//!
//! A grammar is never complete: macros, dialects and templates look like errors to it. Such errors are there before a
//! change as well as after it, which is why only new ones are worth a word.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use stepwell_workspace::Effort;
use tree_sitter::{Node, ParseOptions, Parser, Tree};

use crate::languages::Language;

/// Limits of a parse.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub bytes: usize,
    /// Of the processor: a busy machine changes nothing in what is found.
    pub time: Duration,
    /// Errors listed at most.
    pub errors: usize,
}

impl Limits {
    /// For a check that goes with every edit.
    pub(crate) const QUICK: Self =
        Self { bytes: 2 * 1024 * 1024, time: Duration::from_millis(500), errors: 50 };
}

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub what: String,
    /// The line, without the white space around it.
    pub text: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}: {}: {}", self.line, self.column, self.what, self.text)
    }
}

/// Why a text was not parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    TooLarge,
    TooSlow,
    /// Nested deeper than the grammar's own scanner can remember.
    TooDeep,
    /// The parser gave nothing.
    Unparsed,
}

/// Lists the syntax errors that a change adds to a file; empty where that cannot be determined.
pub fn introduced(path: &Path, before: &str, after: &str) -> Vec<SyntaxError> {
    const SHOWN: usize = 5;
    let Some(language) = Language::detect(path, after) else { return Vec::new() };
    let Ok(new) = errors(language, after, Limits::QUICK) else { return Vec::new() };
    if new.is_empty() {
        return new;
    }
    let Ok(old) = errors(language, before, Limits::QUICK) else { return Vec::new() };
    // A file that was broken before may be broken elsewhere now: as long as there are no more errors than there were,
    // the change is not to blame.
    if new.len() <= old.len() {
        return Vec::new();
    }
    // Lines move; an error is the same when it stands in the same text.
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    for error in &old {
        *known.entry((&error.what, &error.text)).or_default() += 1;
    }
    let mut fresh = Vec::new();
    for error in &new {
        match known.get_mut(&(error.what.as_str(), error.text.as_str())) {
            Some(count) if *count > 0 => *count -= 1,
            _ => fresh.push(error.clone()),
        }
    }
    fresh.truncate(SHOWN);
    fresh
}

/// Lists the syntax errors of a text in order, up to the limit.
pub fn errors(language: Language, text: &str, limits: Limits) -> Result<Vec<SyntaxError>, Skipped> {
    if text.len() > limits.bytes {
        return Err(Skipped::TooLarge);
    }
    if is_too_deep(language, text) {
        return Err(Skipped::TooDeep);
    }
    match language {
        // The library that reads settings says what is wrong in better words than a grammar can.
        Language::Toml => Ok(by_toml(text)),
        _ => by_grammar(&language.grammar(), text, limits),
    }
}

/// Whether indentation is nested so deeply that a scanner would write past its buffer: those of tree-sitter-yaml 0.7
/// and tree-sitter-python 0.25 remember each level in 1024 bytes and check the room only before they write.
fn is_too_deep(language: Language, text: &str) -> bool {
    const DEEPEST: usize = 100;
    /// The YAML scanner counts rows in 16 bits.
    const MOST_ROWS: usize = 30_000;
    let is_yaml = match language {
        Language::Yaml => true,
        Language::Python => false,
        _ => return false,
    };
    let mut open: Vec<usize> = Vec::new();
    for (row, line) in text.lines().enumerate() {
        let column = line.len() - line.trim_start().len();
        while open.last().is_some_and(|above| *above >= column) {
            open.pop();
        }
        open.push(column);
        let in_line = if is_yaml { line.matches(['-', '?', ':']).count() } else { 0 };
        if open.len() + in_line > DEEPEST || is_yaml && row > MOST_ROWS {
            return true;
        }
    }
    false
}

/// The syntax tree of a text, within bounds; languages without a grammar have none.
pub(crate) fn parse(language: Language, text: &str, limits: Limits) -> Result<Tree, Skipped> {
    if text.len() > limits.bytes {
        return Err(Skipped::TooLarge);
    }
    if is_too_deep(language, text) {
        return Err(Skipped::TooDeep);
    }
    let tree = tree(&language.grammar(), text, limits)?;
    // What looks at a node's surroundings takes as long as the node is deep.
    if has_many_open_brackets(text) && is_deeper(&tree, DEEPEST_TREE) {
        return Err(Skipped::TooDeep);
    }
    Ok(tree)
}

/// Deeper than anything that was written by hand, and than most that was generated.
const DEEPEST_TREE: usize = 5_000;

/// Whether a tree may be very deep; cheap, so that only trees that may be are walked.
fn has_many_open_brackets(text: &str) -> bool {
    const STEP: [i32; 256] = {
        let mut step = [0; 256];
        (step[b'(' as usize], step[b'[' as usize], step[b'{' as usize]) = (1, 1, 1);
        (step[b')' as usize], step[b']' as usize], step[b'}' as usize]) = (-1, -1, -1);
        step
    };
    // Without a branch for each byte: every text that is parsed comes by here.
    let (mut open, mut most) = (0, 0);
    for byte in text.bytes() {
        open = (open + STEP[usize::from(byte)]).max(0);
        most = most.max(open);
    }
    most as usize * 4 > DEEPEST_TREE
}

fn is_deeper(tree: &Tree, most: usize) -> bool {
    let mut cursor = tree.walk();
    let mut depth = 0_usize;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > most {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}

fn tree(grammar: &tree_sitter::Language, text: &str, limits: Limits) -> Result<Tree, Skipped> {
    thread_local! {
        // A parser keeps its memory for the next text.
        static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
    }
    PARSER.with_borrow_mut(|parser| parsed(parser, grammar, text, limits))
}

fn parsed(
    parser: &mut Parser,
    grammar: &tree_sitter::Language,
    text: &str,
    limits: Limits,
) -> Result<Tree, Skipped> {
    let effort = Effort::begin();
    parser.set_language(grammar).map_err(|_| Skipped::Unparsed)?;
    let mut in_time = |_: &tree_sitter::ParseState| {
        if effort.exceeds(limits.time) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let tree =
        parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
    if tree.is_none() {
        // Else the next text would be taken for the rest of this one.
        parser.reset();
    }
    tree.ok_or(Skipped::TooSlow)
}

fn by_grammar(
    grammar: &tree_sitter::Language,
    text: &str,
    limits: Limits,
) -> Result<Vec<SyntaxError>, Skipped> {
    let effort = Effort::begin();
    let tree = tree(grammar, text, limits)?;
    let mut found = Vec::new();
    if !tree.root_node().has_error() {
        return Ok(found);
    }
    // With a cursor, not by recursion: a text can be nested as deeply as it likes.
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            found.push(described(node, text));
        }
        if found.len() >= limits.errors || effort.exceeds(limits.time * 2) {
            break;
        }
        let inside = node.has_error() && !node.is_error() && !node.is_missing() && cursor.goto_first_child();
        if inside {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

fn described(node: Node<'_>, text: &str) -> SyntaxError {
    let what =
        if node.is_missing() { format!("missing `{}`", node.kind()) } else { "cannot be parsed".to_owned() };
    at(text, node.start_byte(), what)
}

fn at(text: &str, offset: usize, what: String) -> SyntaxError {
    const LONGEST: usize = 120;
    let offset = text.floor_char_boundary(offset.min(text.len()));
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
    SyntaxError {
        line: text[..offset].matches('\n').count() + 1,
        column: text[start..offset].chars().count() + 1,
        what,
        text: text[start..end].trim().chars().take(LONGEST).collect(),
    }
}

fn by_toml(text: &str) -> Vec<SyntaxError> {
    match text.parse::<toml::Table>() {
        Ok(_) => Vec::new(),
        Err(error) => {
            let offset = error.span().map_or(0, |span| span.start);
            vec![at(text, offset, error.message().lines().next().unwrap_or("cannot be parsed").to_owned())]
        }
    }
}

#[cfg(test)]
#[path = "syntax_tests.rs"]
mod tests;
