//! Code of a form, and what it becomes: `assert_eq($A, $B)`, with `$NAME` for one piece of code and `$$$NAME` for any
//! number of them. A pattern is parsed with the grammar of its language, so white space and comments do not matter.

use std::collections::BTreeMap;
use std::ops::Range;

use tree_sitter::Node;

use super::indentation::{indented, leading};
use super::matching::Search;
use super::{LIMITS, Refusal, Result, SourceText, Splice, form_children};
use crate::languages::Language;
use crate::syntax;

/// Places that are rewritten at most.
const MOST_MATCHES: usize = 2000;

/// Parts of a pattern at most: they are laid over a tree by recursion.
const MOST_FORMS: usize = 400;

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Any one node; `None` for `$_`, which is not kept.
    Hole(Option<String>),
    /// Any number of nodes.
    Rest(Option<String>),
    Leaf {
        kind: u16,
        text: String,
    },
    Node {
        kind: u16,
        children: Vec<Form>,
    },
}

impl Form {
    fn size(&self) -> usize {
        match self {
            Self::Hole(_) | Self::Rest(_) | Self::Leaf { .. } => 1,
            Self::Node { children, .. } => 1 + children.iter().map(Self::size).sum::<usize>(),
        }
    }
}

/// A pattern of one or several consecutive nodes.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(crate) forms: Vec<Form>,
    names: Vec<String>,
}

/// A match of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    pub range: Range<usize>,
    /// The bytes each hole stands for.
    pub holes: BTreeMap<String, Range<usize>>,
}

/// `$NAME` or `$$$NAME` in a text.
struct Mark<'t> {
    range: Range<usize>,
    name: &'t str,
    is_rest: bool,
}

/// The holes of a text, in order: a dollar sign and a name in capitals.
fn marks(text: &str) -> Vec<Mark<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find('$') {
        let start = at + next;
        let is_rest = text[start..].starts_with("$$$");
        let name_start = start + if is_rest { 3 } else { 1 };
        let is_part = |character: char| {
            character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_'
        };
        let length =
            text[name_start..].find(|character| !is_part(character)).unwrap_or(text.len() - name_start);
        let name = &text[name_start..name_start + length];
        let follows_word =
            text[name_start + length..].starts_with(|character: char| character.is_lowercase());
        let is_name = !name.is_empty()
            && !name.starts_with(|character: char| character.is_ascii_digit())
            && !follows_word;
        at = name_start;
        if is_name || is_rest && name.is_empty() {
            at = name_start + length;
            found.push(Mark { range: start..at, name, is_rest });
        }
    }
    found
}

/// A name that stands for a hole while the pattern is parsed.
fn stand_in(language: Language, nth: usize) -> String {
    let sign = if language == Language::Php { "$" } else { "" };
    format!("{sign}stepwellhole{nth}x")
}

impl Pattern {
    pub fn parse(language: Language, text: &str) -> Result<Self> {
        const LONGEST: usize = 8 * 1024;
        let text = text.trim();
        if text.is_empty() || text.len() > LONGEST {
            return Err(Refusal::BadPattern(format!("it must have between 1 and {LONGEST} bytes")));
        }
        let marks = marks(text);
        let mut names: Vec<String> = marks.iter().map(|mark| mark.name.to_owned()).collect();
        names.retain(|name| !name.is_empty() && name != "_");
        let mut worst: Option<String> = None;
        // What stands for statements needs a semicolon to be parsed as one.
        let definition = language.definition();
        for end in if definition.has_semicolons { &[";", ""][..] } else { &[""][..] } {
            let (coded, holes) = coded(language, text, &marks, end);
            for (before, after) in definition.contexts {
                let whole = format!("{before}{coded}{after}");
                let tree = syntax::parse(language, &whole, LIMITS)?;
                if tree.root_node().has_error() {
                    let errors = syntax::errors(language, &whole, LIMITS)?;
                    if worst.is_none() && before.is_empty() {
                        worst = errors.first().map(ToString::to_string);
                    }
                    continue;
                }
                let range = before.len()..before.len() + coded.len();
                let Some(forms) = forms(&tree, &whole, range, &holes)? else { continue };
                if forms.iter().map(Form::size).sum::<usize>() > MOST_FORMS {
                    return Err(Refusal::BadPattern("it has too many parts".to_owned()));
                }
                if matches!(forms.as_slice(), [Form::Hole(_) | Form::Rest(_)]) {
                    return Err(Refusal::BadPattern("it fits everything; say more than a hole".to_owned()));
                }
                return Ok(Self { forms, names });
            }
        }
        let what = worst.unwrap_or_else(|| "it is no whole expression, statement or declaration".to_owned());
        let mut what = what;
        for (nth, mark) in marks.iter().enumerate() {
            what = what.replace(&stand_in(language, nth), &text[mark.range.clone()]);
        }
        Err(Refusal::BadPattern(format!("as {}: {what}", language.name())))
    }

    /// Whether a text has the longest word of the pattern. Without it nothing can match, and the text need not be parsed.
    pub fn may_be_in(&self, text: &str) -> bool {
        let mut longest = "";
        let mut open: Vec<&Form> = self.forms.iter().collect();
        while let Some(form) = open.pop() {
            match form {
                Form::Leaf { text, .. } if text.len() > longest.len() => longest = text,
                Form::Node { children, .. } => open.extend(children),
                Form::Hole(_) | Form::Rest(_) | Form::Leaf { .. } => {}
            }
        }
        text.contains(longest)
    }

    /// Finds the outermost matches in a text; matches inside another are skipped.
    pub fn matches(&self, source: &SourceText<'_>) -> Result<Vec<Match>> {
        Search::new(source, self).all(MOST_MATCHES)
    }

    /// Plans the replacement of matches. It may use the pattern's holes.
    pub fn rewrite(
        &self,
        source: &SourceText<'_>,
        matches: &[Match],
        replacement: &str,
    ) -> Result<Vec<Splice>> {
        let strange =
            marks(replacement).into_iter().find(|mark| !self.names.iter().any(|name| name == mark.name));
        if let Some(strange) = strange {
            let hole = &replacement[strange.range];
            return Err(Refusal::BadPattern(format!(
                "the replacement has `{hole}`, which the pattern does not have"
            )));
        }
        let splices = matches.iter().map(|found| {
            let line = source.line_start(found.range.start);
            let indentation = leading(source.slice(line..source.line_stop(line)));
            let template = indented(source, replacement, indentation);
            Splice { range: found.range.clone(), text: filled(source, &template, found) }
        });
        Ok(splices.collect())
    }
}

/// A replacement with its holes filled. A comma beside a hole that stands for nothing goes too.
fn filled(source: &SourceText<'_>, template: &str, found: &Match) -> String {
    let mut out = String::with_capacity(template.len());
    let mut at = 0;
    for mark in marks(template) {
        out.push_str(&template[at..mark.range.start]);
        at = mark.range.end;
        let value = found.holes.get(mark.name).map_or("", |range| source.slice(range.clone()));
        out.push_str(value);
        if value.is_empty() {
            let before = out.trim_end();
            let rest = &template[at..];
            if before.ends_with(',') {
                out.truncate(before.len() - 1);
            } else if before.ends_with(['(', '[', '{', '<']) && rest.trim_start().starts_with(',') {
                at = template.len() - rest.trim_start().len() + 1;
                at = template.len() - template[at..].trim_start().len();
            }
        }
    }
    out.push_str(&template[at..]);
    out
}

/// The pattern with stand-ins for its holes, and which is which.
fn coded(
    language: Language,
    text: &str,
    marks: &[Mark<'_>],
    statement_end: &str,
) -> (String, Vec<(String, Form, String)>) {
    let (mut out, mut at, mut holes) = (String::new(), 0, Vec::new());
    for (nth, mark) in marks.iter().enumerate() {
        let code = stand_in(language, nth);
        let name = (!mark.name.is_empty() && mark.name != "_").then(|| mark.name.to_owned());
        let form = if mark.is_rest { Form::Rest(name) } else { Form::Hole(name) };
        out.push_str(&text[at..mark.range.start]);
        out.push_str(&code);
        at = mark.range.end;
        let before = text[..mark.range.start].trim_end();
        let rest = text[at..].trim_start_matches([' ', '\t', '\r']);
        let is_statement = before.is_empty() || before.ends_with(['{', '}', ';']);
        let is_last = rest.is_empty() || rest.starts_with(['\n', '}']);
        let is_between = mark.is_rest && rest.starts_with(|next: char| next.is_alphanumeric() || next == '$');
        if is_statement && (is_last || is_between) {
            out.push_str(statement_end);
        }
        holes.push((code, form, text[mark.range.clone()].to_owned()));
    }
    out.push_str(&text[at..]);
    (out, holes)
}

/// The nodes that make up exactly the pattern; `None` where there are none.
fn forms(
    tree: &tree_sitter::Tree,
    whole: &str,
    range: Range<usize>,
    holes: &[(String, Form, String)],
) -> Result<Option<Vec<Form>>> {
    let Some(node) = tree.root_node().descendant_for_byte_range(range.start, range.end) else {
        return Ok(None);
    };
    if node.byte_range() == range {
        return Ok(Some(vec![form(node, whole, holes, 0)?]));
    }
    let children: Vec<Node<'_>> = form_children(node)
        .into_iter()
        .filter(|child| {
            child.start_byte() >= range.start
                && child.end_byte() <= range.end
                && child.end_byte() > child.start_byte()
        })
        .collect();
    let starts = children.first().is_some_and(|first| first.start_byte() == range.start);
    let ends = children.last().is_some_and(|last| last.end_byte() == range.end);
    if !starts || !ends {
        return Ok(None);
    }
    children.into_iter().map(|child| form(child, whole, holes, 0)).collect::<Result<Vec<Form>>>().map(Some)
}

fn form(node: Node<'_>, whole: &str, holes: &[(String, Form, String)], depth: usize) -> Result<Form> {
    const DEEPEST: usize = 100;
    if depth > DEEPEST {
        return Err(Refusal::BadPattern("it is nested too deeply".to_owned()));
    }
    let text = whole.get(node.byte_range()).unwrap_or_default();
    let bare = text.strip_suffix(';').unwrap_or(text);
    if let Some((_, form, _)) = holes.iter().find(|(code, ..)| code == bare) {
        return Ok(form.clone());
    }
    if node.child_count() == 0 {
        let mut text = text.to_owned();
        for (code, _, written) in holes {
            text = text.replace(code, written);
        }
        return Ok(Form::Leaf { kind: node.kind_id(), text });
    }
    let children = form_children(node).into_iter().map(|child| form(child, whole, holes, depth + 1));
    Ok(Form::Node { kind: node.kind_id(), children: children.collect::<Result<_>>()? })
}
