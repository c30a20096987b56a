//! Queries and locations that the sources of answers share: the index, an `index.scip`, a language server.

use std::sync::Arc;

use crate::facts::{self, Position};
use crate::index::{FileId, Index};
use crate::resolve::DefinitionSite;

/// Largest file of which a line is shown, in bytes.
const LARGEST_TEXT: u64 = 2 * 1024 * 1024;

/// The symbol a source is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SymbolQuery {
    /// The name at a place, line and column from 1.
    At { path: String, line: u32, column: u32 },
    /// A name or `Type.member`, in one file or anywhere.
    Named { name: String, path: Option<String> },
}

/// A location in a file of the workspace, or with an absolute path in one outside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceLocation {
    pub path: String,
    pub at: Position,
    /// The name that stands there.
    pub name: String,
    /// The definition there, where the index has it too.
    pub site: Option<DefinitionSite>,
}

/// The reply of an `index.scip`, which may know more than the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceReply {
    /// There is no such file.
    Absent,
    /// It cannot answer; why, for people.
    Declined(String),
    Answered(LocationAnswer),
}

/// A source other than the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnswerSource {
    Scip,
    /// A language server, by its name.
    Lsp(String),
}

/// Locations that a source other than the index found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocationAnswer {
    pub source: AnswerSource,
    pub locations: Vec<SourceLocation>,
    /// Limits of the answer, such as which part of it comes from the index.
    pub note: Option<String>,
}

/// The parts of `Type.member`, `a::b` or `Type#member`; the sign of JavaScript's private `#member` belongs to the name.
pub(crate) fn name_parts(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split('.').flat_map(|part| part.split("::"));
    parts
        .flat_map(|part| match part.split_once('#') {
            Some((owner, member)) if !owner.is_empty() => [Some(owner), Some(member)],
            _ => [Some(part), None],
        })
        .flatten()
}

/// A line of a file as it is; empty where there is none.
pub(crate) fn line(index: &Index, path: &str, line: u32) -> String {
    let text = text(index, path).unwrap_or_default();
    text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default().to_owned()
}

/// A line of a file to show, without the white space around it.
pub(crate) fn source_line(index: &Index, path: &str, at: u32) -> String {
    line(index, path, at).trim().chars().take(200).collect()
}

/// What stands where something is defined: its line, or where that goes over several all of them as one.
pub(crate) fn definition_line(index: &Index, found: &DefinitionSite) -> String {
    let line = index.source_line(found.file, found.definition.at.line);
    let count = |open: char, close: char| line.matches(open).count() > line.matches(close).count();
    if found.definition.is_callable() && count('(', ')') {
        return facts::signature(&index.source(found.file), &found.definition);
    }
    line
}

/// In order, each place once.
pub(crate) fn sorted(mut places: Vec<SourceLocation>) -> Vec<SourceLocation> {
    places.sort_by(|one, other| (&one.path, one.at).cmp(&(&other.path, other.at)));
    places.dedup_by(|one, other| one.path == other.path && one.at == other.at);
    places
}

/// The text of a file, also of one that our own index leaves out.
pub(crate) fn text(index: &Index, path: &str) -> Option<Arc<String>> {
    if let Some(file) =
        index.file(path).filter(|file| index.entry(*file).is_some_and(|one| one.omission.is_none()))
    {
        return Some(index.source(file));
    }
    let place = index.workspace().place(path).ok()?;
    let relative = place.relative().to_string_lossy();
    if let Some(file) = index.file(&relative)
        && relative != path
    {
        return text(index, index.path(file));
    }
    Some(Arc::new(index.workspace().read_text(&place, LARGEST_TEXT).ok()?.text))
}

/// The definition whose name stands at a place, where our own index has it.
pub(crate) fn defined_at(index: &Index, file: FileId, at: Position) -> Option<DefinitionSite> {
    let whole = index.whole(file);
    let definition = whole.1.definitions.iter().find(|definition| definition.at == at)?;
    Some(DefinitionSite::new(file, definition))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::tests::workspace;
    use crate::resolve::Resolver;

    #[test]
    fn names_are_taken_apart_by_the_signs_of_every_language() {
        for (name, expected) in [
            ("total", "total"),
            ("Order.total", "Order total"),
            ("a::b::c", "a b c"),
            ("Order#total", "Order total"),
            ("#total", "#total"),
            ("Order.#total", "Order #total"),
            ("", ""),
        ] {
            assert_eq!(name_parts(name).collect::<Vec<_>>().join(" "), expected);
        }
        let (_folder, index) =
            workspace(&[("a.js", "class A {\n  #own = 1;\n  get() { return this.#own; }\n}\n")]);
        let resolver = Resolver::new(&index);
        for name in ["#own", "A.#own"] {
            let found = resolver.definitions_named(name);
            assert_eq!(found.iter().map(|one| one.definition.at.line).collect::<Vec<_>>(), [2], "{name}");
        }
    }

    #[test]
    fn a_definition_of_several_lines_is_shown_as_one() {
        let text = "class A:\n    def long(\n        self,\n        name: str,\n    ) -> int:\n        return 1\n\n    def short(self): return [\n        1]\n";
        let (_folder, index) = workspace(&[("a.py", text)]);
        let resolver = Resolver::new(&index);
        for (name, expected) in [
            ("A.long", "def long(self, name: str) -> int"),
            ("A.short", "def short(self): return ["),
            ("A", "class A:"),
        ] {
            let found = resolver.definitions_named(name);
            assert_eq!(definition_line(&index, &found[0]), expected, "{name}");
        }
    }
}
