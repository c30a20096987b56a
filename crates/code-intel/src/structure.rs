//! Code read and changed by its structure.
//!
//! A [`SourceText`] is a text with its syntax tree. [`nodes`] shows the tree, [`symbols`] finds what a person or a model
//! names, [`edits`] turns an operation on a symbol into [`Splice`]s, [`pattern`] finds code of a form and rewrites it,
//! [`rename`] gives a definition and everything that means it another name. Nothing is written here: a change is a new
//! text, and [`check`] refuses one whose syntax is broken or that touches more than it was to.

pub mod check;
pub mod edits;
mod extent;
mod indentation;
mod matching;
pub mod nodes;
pub mod pattern;
pub mod rename;
pub mod symbols;

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use tree_sitter::{Node, Tree};

use crate::facts::{self, Facts};
use crate::languages::Language;
use crate::syntax::{self, Limits, Skipped};

/// What parsing may cost here: more than for the index, because somebody waits for this very file.
pub(crate) const LIMITS: Limits =
    Limits { bytes: 4 * 1024 * 1024, time: Duration::from_secs(5), errors: 1000 };

/// Why an edit is refused, in words for the model and for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("its language is not known by its name or first line")]
    UnknownLanguage,
    #[error("it cannot be parsed: {0}")]
    Unparsed(&'static str),
    #[error("there is no `{name}`{near}")]
    NoSymbol { name: String, near: String },
    #[error("nothing is defined at line {0}")]
    NothingAt(u32),
    #[error(
        "`{name}` is ambiguous; give `Type.member`, or the file and line of the one that is meant:\n{candidates}"
    )]
    Ambiguous { name: String, candidates: String },
    #[error("`{name}` has no body: it is only declared here")]
    NoBody { name: String },
    #[error("`{name}` is declared together with `{others}`; edit the declaration as text")]
    Together { name: String, others: String },
    #[error(
        "where `{name}` begins and ends is not clear: the parser loses its way in what is around it; edit it as text"
    )]
    Unclear { name: String },
    #[error("it would break the syntax: {0}")]
    BreaksSyntax(String),
    #[error("it would change what stands around the place: {0}")]
    ChangesAround(String),
    #[error("it would change nothing")]
    ChangesNothing,
    #[error("the query cannot be read: {0}")]
    BadQuery(String),
    #[error("the pattern cannot be read: {0}")]
    BadPattern(String),
    #[error("`{name}` is no name that can stand there{why}")]
    BadName { name: String, why: String },
    #[error("`{name}` has a meaning already where it would stand:\n{places}")]
    NameTaken { name: String, places: String },
    #[error("the name `{0}` does not stand in the source: a macro makes it")]
    MadeName(String),
    #[error(
        "`{0}` is what another module calls it; import it by a name of its own, `{0} as name`, to change that"
    )]
    NameOfOthers(String),
    #[error("{by} may ask for `{name}` by its name; set `include_unsure` to rename it all the same")]
    AskedFor { name: String, by: String },
    #[error("it took too long; narrow it down")]
    TooSlow,
    #[error("there are more than {0} places; narrow it down")]
    TooMany(usize),
}

pub type Result<T, E = Refusal> = std::result::Result<T, E>;

impl From<Skipped> for Refusal {
    fn from(skipped: Skipped) -> Self {
        Self::Unparsed(match skipped {
            Skipped::TooLarge => "it is larger than 4 MiB",
            Skipped::TooSlow => "it takes too long",
            Skipped::TooDeep => "it is nested too deeply",
            Skipped::Unparsed => "the parser gives nothing",
        })
    }
}

/// A replacement of a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    pub range: Range<usize>,
    pub text: String,
}

/// A text with its syntax tree and its facts.
pub struct SourceText<'t> {
    pub language: Language,
    pub text: &'t str,
    tree: Tree,
    pub facts: Facts,
    line_end: &'static str,
}

impl<'t> SourceText<'t> {
    /// Parses a file's text.
    pub fn read(path: &Path, text: &'t str) -> Result<Self> {
        let language = Language::detect(path, text).ok_or(Refusal::UnknownLanguage)?;
        Self::of(language, text)
    }

    pub fn of(language: Language, text: &'t str) -> Result<Self> {
        let tree = syntax::parse(language, text, LIMITS)?;
        let facts = facts::read_within(language, text, LIMITS)?;
        let (breaks, crlf) = (text.matches('\n').count(), text.matches("\r\n").count());
        let line_end = if crlf > 0 && crlf * 2 >= breaks { "\r\n" } else { "\n" };
        Ok(Self { language, text, tree, facts, line_end })
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The innermost node that covers these bytes.
    pub(crate) fn node_at(&self, range: Range<usize>) -> Option<Node<'_>> {
        self.root().descendant_for_byte_range(range.start, range.end)
    }

    /// The text of a node.
    pub(crate) fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    /// How lines end.
    pub(crate) fn line_end(&self) -> &'static str {
        self.line_end
    }

    /// Where the line of an offset begins.
    pub(crate) fn line_start(&self, offset: usize) -> usize {
        self.slice(0..offset).rfind('\n').map_or(0, |at| at + 1)
    }

    /// Where the line of an offset ends, before its line break.
    pub(crate) fn line_stop(&self, offset: usize) -> usize {
        let rest = self.slice(offset..self.text.len());
        let stop = rest.find('\n').map_or(self.text.len(), |at| offset + at);
        if self.slice(offset..stop).ends_with('\r') { stop - 1 } else { stop }
    }

    /// Where the next line begins; the end of the text for the last one.
    pub(crate) fn next_line(&self, offset: usize) -> usize {
        let rest = self.slice(offset..self.text.len());
        rest.find('\n').map_or(self.text.len(), |at| offset + at + 1)
    }

    /// Returns the line of an offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.slice(0..offset).matches('\n').count() + 1
    }
}

/// Applies replacements to a text; `None` where two overlap.
pub fn spliced(text: &str, splices: &[Splice]) -> Option<String> {
    let mut ordered: Vec<&Splice> = splices.iter().collect();
    ordered.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for splice in ordered {
        out.push_str(text.get(at..splice.range.start)?);
        out.push_str(&splice.text);
        at = splice.range.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// Whether a node is a comment, whatever its grammar calls it.
pub(crate) fn is_comment(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "line_comment" | "block_comment" | "doc_comment" | "html_comment")
}

/// The children of a node that make up its form: no comments, and no line breaks, for which some grammars have tokens.
pub(crate) fn form_children(node: Node<'_>) -> Vec<Node<'_>> {
    let is_seen =
        |child: &Node<'_>| !is_comment(*child) && (child.is_named() || !child.kind().trim().is_empty());
    node.children(&mut node.walk()).filter(is_seen).collect()
}

/// The named children of a node that are no comments.
pub(crate) fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| !is_comment(*child)).collect()
}

#[cfg(test)]
#[path = "structure/tests.rs"]
mod tests;

#[cfg(test)]
#[path = "structure/rename_tests.rs"]
mod rename_tests;

#[cfg(test)]
#[path = "structure/rename_doubt_tests.rs"]
mod rename_doubt_tests;

#[cfg(test)]
#[path = "structure/rename_class_tests.rs"]
mod rename_class_tests;

#[cfg(test)]
#[path = "structure/rename_text_tests.rs"]
mod rename_text_tests;
