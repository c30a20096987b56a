//! The indentation of code that is put somewhere: as the place has it, without touching texts that span lines.

use super::{LIMITS, SourceText};
use crate::languages::Language;
use crate::syntax;

/// One step of indentation in a file.
pub(crate) fn unit(source: &SourceText<'_>) -> String {
    step(source.text).unwrap_or_else(|| source.language.definition().indentation.to_owned())
}

/// The step in which lines are indented: a tab, or the smallest number of spaces by which a line goes further in.
fn step(text: &str) -> Option<String> {
    const LOOKED_AT: usize = 5000;
    let mut tabs = 0;
    let mut steps = [0_usize; 9];
    let mut above = 0;
    for line in text.lines().take(LOOKED_AT).filter(|line| !line.trim().is_empty()) {
        if line.starts_with('\t') {
            tabs += 1;
            continue;
        }
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if let Some(count) = steps.get_mut(spaces.saturating_sub(above)).filter(|_| spaces > above) {
            *count += 1;
        }
        above = spaces;
    }
    let (width, count) =
        steps.iter().enumerate().skip(2).max_by_key(|(width, count)| (**count, 9 - width))?;
    match (tabs, *count) {
        (0, 0) => None,
        (tabs, count) if tabs > count => Some("\t".to_owned()),
        _ => Some(" ".repeat(width)),
    }
}

/// White space a line begins with.
pub(crate) fn leading(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Code in lines that begin with `indentation`, without white space around it and with the line ends of the file. The first line is not
/// indented: it stands where it is put.
pub(crate) fn indented(source: &SourceText<'_>, code: &str, indentation: &str) -> String {
    let code = code.replace("\r\n", "\n");
    let code = code.trim_matches('\n').trim_end();
    let own = common(code);
    let is_first_apart = code.lines().next().is_some_and(|line| leading(line).is_empty());
    let kept = inside_texts(source.language, code);
    let (mut out, mut offset) = (String::new(), 0);
    for (nth, line) in code.split('\n').enumerate() {
        let start = offset;
        offset += line.len() + 1;
        if nth > 0 {
            out.push_str(source.line_end());
        }
        if kept.iter().any(|range| range.start < start && start <= range.end) {
            out.push_str(line);
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let rest = if nth == 0 && is_first_apart { line } else { line.get(own..).unwrap_or(line) };
        if nth > 0 {
            out.push_str(indentation);
        }
        if nth == 0 {
            out.push_str(rest.trim_start());
        } else {
            out.push_str(&as_the_file(rest, indentation, code));
        }
    }
    out
}

/// Deeper indentation by tabs where the place has tabs, by spaces where it has spaces.
fn as_the_file(line: &str, indentation: &str, code: &str) -> String {
    let own = leading(line);
    if indentation.starts_with('\t') && own.starts_with(' ') {
        let width = step(code).filter(|step| step.starts_with(' ')).map_or(4, |step| step.len());
        let tabs = own.len() / width;
        return format!("{}{}{}", "\t".repeat(tabs), " ".repeat(own.len() % width), &line[own.len()..]);
    }
    line.to_owned()
}

/// The bytes of white space that all lines have in common; a first line without any does not count, because it is
/// often copied from the middle of a line.
fn common(code: &str) -> usize {
    let mut lines = code.split('\n').filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next() else { return 0 };
    let rest: Vec<&str> = lines.collect();
    let shared = |lines: &[&str]| {
        let shortest = lines.iter().map(|line| leading(line).len()).min().unwrap_or(0);
        let sample = lines.first().map_or("", |line| &leading(line)[..shortest]);
        if lines.iter().all(|line| line.starts_with(sample)) { shortest } else { 0 }
    };
    if leading(first).is_empty() {
        return 0;
    }
    let all: Vec<&str> = std::iter::once(first).chain(rest).collect();
    shared(&all)
}

/// The bytes of texts that span lines: their lines are not ours to move.
fn inside_texts(language: Language, code: &str) -> Vec<std::ops::Range<usize>> {
    const SIGNS: &[&str] = &["string", "template", "heredoc", "raw_text", "text_block", "char"];
    if !code.contains('\n') {
        return Vec::new();
    }
    let Ok(tree) = syntax::parse(language, code, LIMITS) else { return Vec::new() };
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let spans_lines = node.end_position().row > node.start_position().row;
        let is_text = spans_lines
            && node.is_named()
            && SIGNS.iter().any(|sign| node.kind().contains(sign))
            && !node.kind().contains("template_declaration")
            && !node.kind().contains("template_parameter");
        if is_text {
            found.push(node.byte_range());
        } else if spans_lines && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}
