//! Operations on one symbol, as splices of its file.

use super::extent::Extent;
use super::indentation::{indented, leading, unit};
use super::symbols::Symbol;
use super::{Refusal, Result, SourceText, Splice, is_comment, parts};
use crate::languages::Language;
use tree_sitter::Node;

/// An edit of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The declaration; comments and attributes before it stay unless the code brings its own.
    Replace(String),
    /// What stands between its braces, or beneath its first line; a documentation string stays.
    ReplaceBody(String),
    InsertBefore(String),
    InsertAfter(String),
    /// With its comments, attributes, and the blank lines it leaves.
    Delete,
}

/// Plans an operation as replacements in one file.
pub fn plan(source: &SourceText<'_>, symbol: Symbol, operation: &Operation) -> Result<Vec<Splice>> {
    let definition = symbol.definition(source);
    let name = || symbol.path(source);
    let extent = Extent::of(source, definition).ok_or_else(|| Refusal::Unclear { name: name() })?;
    let code = match operation {
        Operation::Replace(code) | Operation::ReplaceBody(code) => code,
        Operation::InsertBefore(code) | Operation::InsertAfter(code) if code.trim().is_empty() => {
            return Err(Refusal::ChangesNothing);
        }
        Operation::InsertBefore(code) => return Ok(vec![insert_before(source, &extent, code)]),
        Operation::InsertAfter(code) => return Ok(insert_after(source, &extent, code)),
        Operation::Delete => {
            alone(source, symbol)?;
            return Ok(vec![delete(source, &extent)]);
        }
    };
    if let Operation::Replace(_) = operation {
        alone(source, symbol)?;
        return Ok(vec![replace(source, &extent, code)]);
    }
    let body = body(extent.inner).ok_or_else(|| Refusal::NoBody { name: name() })?;
    Ok(vec![replace_body(source, &extent, body, code)])
}

/// Refuses a declaration that declares other names too.
fn alone(source: &SourceText<'_>, symbol: Symbol) -> Result<()> {
    let definition = symbol.definition(source);
    let others: Vec<String> = source
        .facts
        .definitions
        .iter()
        .filter(|other| {
            other.span == definition.span
                && other.name_span != definition.name_span
                && other.name != definition.name
                && !definition.kind.is_type()
                && !other.kind.is_type()
        })
        .map(|other| other.name.clone())
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(Refusal::Together { name: definition.name.clone(), others: others.join("`, `") })
}

/// The white space the line of an offset begins with.
fn indentation_at<'t>(source: &SourceText<'t>, offset: usize) -> &'t str {
    let start = source.line_start(offset);
    leading(source.slice(start..source.line_stop(start)))
}

fn replace(source: &SourceText<'_>, extent: &Extent<'_>, code: &str) -> Splice {
    let trimmed = code.trim();
    let brings_lead = ["//", "/*", "#[", "@", "[["].iter().any(|sign| trimmed.starts_with(sign))
        || trimmed.starts_with('#')
            && matches!(source.language, Language::Python | Language::Ruby | Language::Bash);
    let start = if brings_lead { extent.lead } else { extent.core.max(extent.lead) };
    let end = if trimmed.ends_with(';') { extent.end } else { extent.outer_end };
    let trimmed = if extent.in_list { trimmed.trim_end_matches(',') } else { trimmed };
    let code = if extent.in_list { trimmed } else { code };
    let indentation = indentation_at(source, extent.outer.start_byte());
    let line = source.line_start(start);
    if brings_lead && source.slice(line..start).trim().is_empty() {
        let text = format!("{indentation}{}", indented(source, code, indentation));
        return Splice { range: line..end, text };
    }
    Splice { range: start..end, text: indented(source, code, indentation) }
}

/// Blank lines before an offset at the start of a line.
fn blank_before(source: &SourceText<'_>, line_start: usize) -> usize {
    let before = source.slice(0..line_start);
    let trimmed = before.trim_end_matches(['\n', '\r', ' ', '\t']);
    let breaks = before[trimmed.len()..].matches('\n').count();
    if trimmed.is_empty() { breaks } else { breaks.saturating_sub(1) }
}

/// Blank lines from an offset at the start of a line on.
fn blank_after(source: &SourceText<'_>, line_start: usize) -> usize {
    let rest = source.slice(line_start..source.text.len());
    let blank = &rest[..rest.len() - rest.trim_start_matches(['\n', '\r', ' ', '\t']).len()];
    blank.matches('\n').count()
}

/// Blank lines that neighbours have between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

fn gap(source: &SourceText<'_>, extent: &Extent<'_>, code: &str, side: Side) -> usize {
    let start = source.line_start(extent.lead);
    let next = source.next_line(extent.stop(source));
    let before = extent.has_previous.then(|| blank_before(source, start));
    let after = extent.has_next.then(|| blank_after(source, next));
    let sides = if side == Side::Before { [before, after] } else { [after, before] };
    sides.into_iter().flatten().next().unwrap_or_else(|| {
        let is_top = extent.outer.parent().is_some_and(|parent| parent.parent().is_none());
        match (code.trim().contains('\n'), source.language) {
            (false, _) => 0,
            (true, Language::Python) if is_top => 2,
            (true, _) => 1,
        }
    })
}

fn insert_before(source: &SourceText<'_>, extent: &Extent<'_>, code: &str) -> Splice {
    let (line_end, indentation) = (source.line_end(), indentation_at(source, extent.outer.start_byte()));
    let comma = if extent.in_list { "," } else { "" };
    let code = if extent.in_list { code.trim_end().trim_end_matches(',') } else { code };
    let text = indented(source, code, indentation);
    if !extent.has_own_lines(source) {
        let at = extent.lead;
        return Splice { range: at..at, text: format!("{text}{comma} ") };
    }
    let gap = line_end.repeat(gap(source, extent, code, Side::Before));
    let at = source.line_start(extent.lead);
    Splice { range: at..at, text: format!("{indentation}{text}{comma}{line_end}{gap}") }
}

fn insert_after(source: &SourceText<'_>, extent: &Extent<'_>, code: &str) -> Vec<Splice> {
    let (line_end, indentation) = (source.line_end(), indentation_at(source, extent.outer.start_byte()));
    let code = if extent.in_list { code.trim_end().trim_end_matches(',') } else { code };
    let text = indented(source, code, indentation);
    let has_lines = extent.has_own_lines(source);
    if extent.in_list && extent.comma.is_none() {
        let at = extent.end;
        let between = if has_lines { format!("{line_end}{indentation}") } else { " ".to_owned() };
        return vec![Splice { range: at..at, text: format!(",{between}{text}") }];
    }
    let comma = if extent.in_list { "," } else { "" };
    if !has_lines {
        let at = extent.comma.unwrap_or(extent.end);
        return vec![Splice { range: at..at, text: format!(" {text}{comma}") }];
    }
    let gap = line_end.repeat(gap(source, extent, code, Side::After));
    let stop = extent.stop(source);
    let at = source.next_line(stop);
    if at == stop || !source.slice(stop..at).ends_with('\n') {
        // A file without a final line break stays one.
        return vec![Splice {
            range: stop..stop,
            text: format!("{line_end}{gap}{indentation}{text}{comma}"),
        }];
    }
    vec![Splice { range: at..at, text: format!("{gap}{indentation}{text}{comma}{line_end}") }]
}

fn delete(source: &SourceText<'_>, extent: &Extent<'_>) -> Splice {
    let nothing = String::new();
    if let Some(stand_in) = only_statement(source, extent) {
        return stand_in;
    }
    // The last of a list without a comma behind it takes the comma before it along.
    if extent.in_list && extent.comma.is_none() && extent.has_previous {
        let before = source.slice(0..extent.lead).trim_end();
        if before.ends_with(',') {
            return Splice { range: before.len() - 1..extent.end, text: nothing };
        }
    }
    if !extent.has_own_lines(source) {
        return Splice { range: inline(source, extent), text: nothing };
    }
    let (mut start, stop) = (source.line_start(extent.lead), extent.stop(source));
    let mut end = source.next_line(stop);
    let (before, after) = (blank_before(source, start), blank_after(source, end));
    let left = match (extent.has_previous, extent.has_next) {
        (true, true) => before.max(after),
        (false, true) => before,
        (true, false) => after,
        (false, false) => before.min(after),
    };
    // As many blank lines stay as are left, first those behind it.
    for _ in 0..after.min((before + after).saturating_sub(left)) {
        end = source.next_line(end);
    }
    for _ in 0..(before + after).saturating_sub(left).saturating_sub(after) {
        start = source.line_start(start.saturating_sub(1));
    }
    // Without a line break behind it the one before it goes.
    if end == source.text.len() && !source.slice(start..end).ends_with('\n') {
        let before = source.slice(0..start);
        let before = before.strip_suffix('\n').unwrap_or(before);
        start = before.strip_suffix('\r').unwrap_or(before).len();
    }
    Splice { range: start..end, text: nothing }
}

/// What goes with something that shares its line.
fn inline(source: &SourceText<'_>, extent: &Extent<'_>) -> std::ops::Range<usize> {
    let end = extent.comma.unwrap_or(extent.end);
    let line_start = source.line_start(extent.lead);
    let before = source.slice(line_start..extent.lead);
    let spaces = before.len() - before.trim_end_matches([' ', '\t']).len();
    let rest = source.slice(end..source.line_stop(end));
    let after = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if before.trim().is_empty() || spaces == 0 {
        return extent.lead..end + after;
    }
    extent.lead - spaces..end
}

/// A Python body cannot be empty: the last statement of one becomes `pass`.
fn only_statement(source: &SourceText<'_>, extent: &Extent<'_>) -> Option<Splice> {
    let parent = extent.outer.parent()?;
    let is_last = source.language == Language::Python && parent.kind() == "block" && parts(parent).len() == 1;
    is_last.then(|| Splice { range: extent.lead..extent.end, text: "pass".to_owned() })
}

/// The body of a definition.
pub(crate) fn body(inner: Node<'_>) -> Option<Node<'_>> {
    const KINDS: &[&str] = &[
        "block",
        "class_body",
        "compound_statement",
        "declaration_list",
        "enum_body",
        "enum_variant_list",
        "enumerator_list",
        "field_declaration_list",
        "interface_body",
        "object_type",
        "statement_block",
    ];
    const DEEPEST: usize = 4;
    let mut level = vec![inner];
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for node in level {
            if let Some(body) = node.child_by_field_name("body") {
                return Some(body);
            }
            if node != inner && KINDS.contains(&node.kind()) {
                return Some(node);
            }
            // What a parameter or a type brings along is no body of the definition.
            let children = parts(node).into_iter().filter(|child| {
                !matches!(
                    child.kind(),
                    "parameters" | "formal_parameters" | "parameter_list" | "type_annotation"
                )
            });
            next.extend(children);
        }
        level = next;
    }
    None
}

fn replace_body(source: &SourceText<'_>, extent: &Extent<'_>, body: Node<'_>, code: &str) -> Splice {
    let range = body.byte_range();
    let text = source.slice(range.clone());
    let base = indentation_at(source, extent.outer.start_byte());
    let line_end = source.line_end();
    let trimmed = code.trim();
    if text.starts_with('{') && text.ends_with('}') {
        let is_whole = trimmed.starts_with('{') && trimmed.ends_with('}');
        let code = if is_whole { &trimmed[1..trimmed.len() - 1] } else { code };
        let deeper = inner_indentation(source, body).unwrap_or_else(|| format!("{base}{}", unit(source)));
        let inside = indented(source, code, &deeper);
        let text = if inside.trim().is_empty() {
            format!("{{{line_end}{base}}}")
        } else {
            format!("{{{line_end}{deeper}{inside}{line_end}{base}}}")
        };
        return Splice { range, text };
    }
    if !matches!(body.kind(), "block" | "body_statement") {
        return Splice { range, text: indented(source, trimmed, base) };
    }
    let begins_line = source.slice(source.line_start(range.start)..range.start).trim().is_empty();
    let deeper = if begins_line {
        indentation_at(source, range.start).to_owned()
    } else {
        format!("{base}{}", unit(source))
    };
    let new = indented(source, code, &deeper);
    if let Some(doc) = kept_docstring(source, body, trimmed) {
        let doc_end = doc.end_byte();
        let rest = source.slice(doc_end..range.end);
        let next = doc_end + (rest.len() - rest.trim_start().len());
        let between = source.slice(doc_end..next);
        if rest.trim().is_empty() || !between.contains('\n') {
            return Splice { range: doc_end..range.end, text: format!("{line_end}{deeper}{new}") };
        }
        return Splice { range: next..range.end, text: new };
    }
    if begins_line {
        return Splice { range, text: new };
    }
    let header_end = source.slice(0..range.start).trim_end().len();
    Splice { range: header_end..range.end, text: format!("{line_end}{deeper}{new}") }
}

/// The documentation string that begins a Python body, where the new code has none.
fn kept_docstring<'s>(source: &SourceText<'_>, body: Node<'s>, code: &str) -> Option<Node<'s>> {
    let quotes = ["\"", "'", "r\"", "r'", "u\"", "u'"];
    if source.language != Language::Python || quotes.iter().any(|quote| code.starts_with(quote)) {
        return None;
    }
    let first = body.named_child(0)?;
    let is_text = first.kind() == "expression_statement"
        && first.named_child(0).is_some_and(|only| only.kind() == "string");
    is_text.then_some(first)
}

/// How the first line in braces is indented.
fn inner_indentation(source: &SourceText<'_>, body: Node<'_>) -> Option<String> {
    let first = body.named_children(&mut body.walk()).find(|child| {
        let at = child.start_byte();
        source.slice(source.line_start(at)..at).trim().is_empty()
            && (!is_comment(*child) || body.named_child_count() == 1)
    })?;
    Some(indentation_at(source, first.start_byte()).to_owned())
}
