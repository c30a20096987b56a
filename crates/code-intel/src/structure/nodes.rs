//! The syntax tree as text, within bounds: a part of it by lines, or what a query finds.

use std::ops::ControlFlow;
use std::time::Instant;

use tree_sitter::{
    Node, Point, Query, QueryCursor, QueryCursorOptions, QueryError, QueryErrorKind, StreamingIterator,
};

use super::{LIMITS, Refusal, Result, SourceText};

/// Limits of what is shown.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub nodes: usize,
    /// Levels beneath the first node that is shown.
    pub depth: usize,
}

/// Lines from 1, both included.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    pub first: u32,
    pub last: u32,
}

impl Lines {
    fn touches(self, node: Node<'_>) -> bool {
        let (start, end) = (node.start_position().row as u32 + 1, node.end_position().row as u32 + 1);
        start <= self.last && end >= self.first
    }
}

/// The part of a tree that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub text: String,
    pub count: usize,
    /// There is more than is shown.
    pub is_cut: bool,
}

/// Lists the named nodes that touch some lines, one per line: indented by depth, with field, kind, position and the text of leaves.
pub fn outline(source: &SourceText<'_>, lines: Option<Lines>, bounds: Bounds) -> Shown {
    let mut shown = Shown { text: String::new(), count: 0, is_cut: false };
    let start = lines.and_then(|lines| smallest(source, lines)).unwrap_or_else(|| source.root());
    let mut cursor = start.walk();
    let mut depth = 0;
    loop {
        let node = cursor.node();
        let is_wanted = lines.is_none_or(|lines| lines.touches(node));
        let is_told = is_wanted && (node.is_named() || node.is_missing() || node.is_error());
        if is_told {
            if shown.count >= bounds.nodes {
                shown.is_cut = true;
                return shown;
            }
            let field = cursor.field_name().map(|field| format!("{field}: ")).unwrap_or_default();
            shown.text.push_str(&format!("{}{field}{}\n", "  ".repeat(depth), described(source, node)));
            shown.count += 1;
        }
        let has_more = node.named_child_count() > 0;
        if is_wanted && has_more && depth >= bounds.depth {
            shown.is_cut = true;
        }
        if is_wanted && depth < bounds.depth && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if depth == 0 || !cursor.goto_parent() {
                return shown;
            }
            depth -= 1;
        }
        if depth == 0 {
            return shown;
        }
    }
}

/// The smallest node that covers all of the lines.
fn smallest<'s>(source: &'s SourceText<'_>, lines: Lines) -> Option<Node<'s>> {
    let nth = |line: u32| {
        let before = source.text.split_inclusive('\n').take(line.saturating_sub(1) as usize);
        before.map(str::len).sum::<usize>()
    };
    let (start, stop) = (nth(lines.first), nth(lines.last.saturating_add(1)));
    let text = source.text.get(start..stop)?;
    let first = start + (text.len() - text.trim_start().len());
    let last = start + text.trim_end().len();
    source.root().named_descendant_for_byte_range(first.min(last), last)
}

/// A node in a line: `kind [line:column-line:column] "text"`; columns from 1, in characters.
fn described(source: &SourceText<'_>, node: Node<'_>) -> String {
    const LONGEST: usize = 60;
    let kind = if node.is_missing() { format!("MISSING {}", node.kind()) } else { node.kind().to_owned() };
    let place = format!(
        "[{}-{}]",
        position(source, node.start_byte(), node.start_position()),
        position(source, node.end_byte(), node.end_position())
    );
    let is_leaf = node.named_child_count() == 0;
    let text = source.slice(node.byte_range());
    if !is_leaf || text.is_empty() {
        return format!("{kind} {place}");
    }
    let mut short: String = text.chars().take(LONGEST).collect::<String>().escape_debug().to_string();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    format!("{kind} {place} \"{short}\"")
}

fn position(source: &SourceText<'_>, offset: usize, point: Point) -> String {
    let before = source.slice(offset.saturating_sub(point.column)..offset);
    format!("{}:{}", point.row + 1, before.chars().count() + 1)
}

/// Runs a query and lists each match with its captures, in the order of the text.
pub fn query(source: &SourceText<'_>, query: &str, lines: Option<Lines>, bounds: Bounds) -> Result<Shown> {
    const LONGEST_QUERY: usize = 8 * 1024;
    const MATCHES_AT_ONCE: u32 = 4096;
    if query.len() > LONGEST_QUERY {
        return Err(Refusal::BadQuery(format!("it is longer than {LONGEST_QUERY} bytes")));
    }
    let grammar = source.language.grammar();
    let compiled = Query::new(&grammar, query).map_err(|error| bad_query(query, &error))?;
    let names = compiled.capture_names();
    if names.is_empty() {
        return Err(Refusal::BadQuery("it captures nothing; put `@name` behind what is wanted".to_owned()));
    }
    let started = Instant::now();
    let mut is_late = false;
    let mut in_time = |_: &tree_sitter::QueryCursorState| {
        if started.elapsed() < LIMITS.time { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(MATCHES_AT_ONCE);
    let mut shown = Shown { text: String::new(), count: 0, is_cut: false };
    {
        let options = QueryCursorOptions::new().progress_callback(&mut in_time);
        let mut matches =
            cursor.matches_with_options(&compiled, source.root(), source.text.as_bytes(), options);
        while let Some(found) = matches.next() {
            is_late |= started.elapsed() >= LIMITS.time;
            let wanted = found
                .captures()
                .iter()
                .filter(|capture| lines.is_none_or(|lines| lines.touches(capture.node)));
            for capture in wanted {
                if shown.count >= bounds.nodes {
                    shown.is_cut = true;
                    return Ok(shown);
                }
                let name = names.get(capture.index as usize).copied().unwrap_or_default();
                shown.text.push_str(&format!("@{name} {}\n", described(source, capture.node)));
                shown.count += 1;
            }
        }
    }
    shown.is_cut |= is_late || started.elapsed() >= LIMITS.time || cursor.did_exceed_match_limit();
    Ok(shown)
}

/// What is wrong with a query and where, with the line and a mark beneath it.
fn bad_query(query: &str, error: &QueryError) -> Refusal {
    let line = query.lines().nth(error.row).unwrap_or_default();
    let word: String = query
        .get(error.offset..)
        .unwrap_or_default()
        .chars()
        .take_while(|character| character.is_alphanumeric() || matches!(character, '_' | '.' | '-'))
        .collect();
    let what = match error.kind {
        QueryErrorKind::NodeType => {
            format!("the grammar has no node `{word}`; look at the tree without a query")
        }
        QueryErrorKind::Field => format!("the grammar has no field `{word}`"),
        QueryErrorKind::Capture => format!("nothing is captured as `{word}`"),
        QueryErrorKind::Structure => "nothing can ever look like this".to_owned(),
        QueryErrorKind::Predicate => error.message.clone(),
        QueryErrorKind::Syntax => "this is not how queries are written".to_owned(),
        QueryErrorKind::Language => "the grammar does not fit".to_owned(),
    };
    let column = line.get(..error.column).map_or(0, |before| before.chars().count());
    Refusal::BadQuery(format!(
        "line {}, column {}: {what}\n{line}\n{}^",
        error.row + 1,
        column + 1,
        " ".repeat(column)
    ))
}
