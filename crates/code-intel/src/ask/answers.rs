//! The answers to questions about code, as plain data with a JSON schema.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::graph::Graph;
use crate::location::AnswerSource;
use crate::resolve::{self, Resolution};

/// Kind of source that gave an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    Index,
    Scip,
    Lsp,
}

impl SourceKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Scip => "scip",
            Self::Lsp => "lsp",
        }
    }
}

/// Who gave an answer, and what limits it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Origin {
    pub source: SourceKind,
    /// Name of the language server that answered.
    pub server: Option<String>,
    /// Reasons why the answer may be incomplete, or why a better source did not give it.
    #[serde(rename = "note", serialize_with = "joined")]
    #[schemars(with = "Option<String>")]
    pub notes: Vec<String>,
}

impl Origin {
    pub(super) fn index(notes: Vec<String>) -> Self {
        Self { source: SourceKind::Index, server: None, notes }
    }

    pub(super) fn server(server: String, note: Option<String>) -> Self {
        Self { source: SourceKind::Lsp, server: Some(server), notes: note.into_iter().collect() }
    }

    pub(super) fn of(source: &AnswerSource, notes: impl Iterator<Item = String>) -> Self {
        let (source, server) = match source {
            AnswerSource::Scip => (SourceKind::Scip, None),
            AnswerSource::Lsp(name) => (SourceKind::Lsp, Some(name.clone())),
        };
        Self { source, server, notes: notes.collect() }
    }

    /// All notes in one line.
    pub fn note(&self) -> Option<String> {
        (!self.notes.is_empty()).then(|| self.notes.join("; "))
    }
}

fn joined<S: Serializer>(notes: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    (!notes.is_empty()).then(|| notes.join("; ")).serialize(serializer)
}

/// How sure it is what a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// By scopes, imports and types.
    Resolved,
    /// By its name alone.
    ByName,
    /// Defined outside of the workspace.
    External,
    Unknown,
}

impl Certainty {
    pub(super) fn of(resolution: &Resolution) -> Self {
        match resolution {
            Resolution::Found(_, certainty) => (*certainty).into(),
            Resolution::External => Self::External,
            Resolution::Unknown => Self::Unknown,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::ByName => "by_name",
            Self::External => "external",
            Self::Unknown => "unknown",
        }
    }
}

impl From<resolve::Certainty> for Certainty {
    fn from(certainty: resolve::Certainty) -> Self {
        match certainty {
            resolve::Certainty::Resolved => Self::Resolved,
            resolve::Certainty::ByName => Self::ByName,
        }
    }
}

/// Why a target has no definition in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolved<'a> {
    External,
    /// With other symbols whose name ends like the one asked for.
    Unknown {
        similar_names: &'a [String],
    },
}

impl<'a> Unresolved<'a> {
    fn of(certainty: Certainty, similar_names: &'a [String]) -> Option<Self> {
        match certainty {
            Certainty::Resolved | Certainty::ByName => None,
            Certainty::External => Some(Self::External),
            Certainty::Unknown => Some(Self::Unknown { similar_names }),
        }
    }
}

/// Where a symbol is defined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Definitions {
    #[serde(flatten)]
    pub origin: Origin,
    pub certainty: Certainty,
    /// Best first.
    pub definitions: Vec<DefinedSymbol>,
    /// Where nothing is defined: other symbols whose name ends like the one asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar_names: Vec<String>,
}

impl Definitions {
    pub fn unresolved(&self) -> Option<Unresolved<'_>> {
        Unresolved::of(self.certainty, &self.similar_names)
    }
}

/// A definition in the workspace, or with an absolute path outside of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DefinedSymbol {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub name: String,
    /// The name with what contains it, such as `Order.total`.
    pub path: String,
    pub kind: &'static str,
    /// The line of the definition; a signature over several lines becomes one.
    pub text: String,
    /// First line of its documentation.
    pub doc: Option<String>,
}

/// Where a symbol is referenced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct References {
    #[serde(flatten)]
    pub origin: Origin,
    /// How sure it is which symbol was asked about.
    pub certainty: Certainty,
    /// Number of references found, of which `references` may list only the first.
    pub total: usize,
    pub references: Vec<ReferenceLocation>,
    /// Where the symbol is not defined: others whose name ends like the one asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar_names: Vec<String>,
}

impl References {
    pub fn unresolved(&self) -> Option<Unresolved<'_>> {
        Unresolved::of(self.certainty, &self.similar_names)
    }
}

/// One reference, with its line of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReferenceLocation {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub text: String,
    pub certainty: Certainty,
}

/// The calls around a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallGraph {
    #[serde(flatten)]
    pub origin: Origin,
    /// How sure it is which function was asked about.
    pub certainty: Certainty,
    /// Where the function is not defined: other symbols whose name ends like the one asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar_names: Vec<String>,
    #[serde(flatten)]
    pub graph: Graph,
}

impl CallGraph {
    pub fn unresolved(&self) -> Option<Unresolved<'_>> {
        Unresolved::of(self.certainty, &self.similar_names)
    }
}

/// The functions that call a symbol directly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Callers {
    #[serde(flatten)]
    pub origin: Origin,
    pub callers: Vec<FileLine>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct FileLine {
    pub file: String,
    pub line: u32,
}

/// The files that a file imports directly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dependencies {
    pub files: Vec<String>,
}

/// What a file imports, as it is written there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Imports {
    pub imports: Vec<ImportStatement>,
}

/// One import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportStatement {
    /// As it is written: `a.b`, `./x`, `std::io`, `stdio.h`.
    pub module: String,
    pub line: u32,
    /// The names it brings, as they are called in this file.
    pub names: Vec<String>,
}

/// The symbols of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Symbols {
    pub symbols: Vec<Symbol>,
}

/// A symbol of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Symbol {
    pub name: String,
    /// The name with what contains it, such as `Order.total`.
    pub path: String,
    pub kind: &'static str,
    pub line: u32,
    pub column: u32,
    pub last_line: u32,
    pub signature: String,
    /// First line of its documentation.
    pub doc: Option<String>,
}

/// The source of functions and types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Excerpts {
    pub excerpts: Vec<Excerpt>,
}

/// The source of one function or type, with its comments and decorators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Excerpt {
    pub file: String,
    pub line: u32,
    /// The name with what contains it, such as `Order.total`.
    pub path: String,
    pub text: String,
}

/// The symbols a search found, best first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SearchHits {
    pub hits: Vec<SearchHit>,
    /// False where there was no time to search all files.
    pub complete: bool,
    /// Reasons why the search did not compare meanings, or not of all symbols.
    #[serde(rename = "note", serialize_with = "joined", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<String>")]
    pub notes: Vec<String>,
}

/// A symbol a search found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SearchHit {
    pub file: String,
    pub line: u32,
    pub last_line: u32,
    /// The name with what contains it, such as `Order.total`.
    pub path: String,
    pub kind: &'static str,
    pub signature: String,
    /// First line of its documentation.
    pub doc: Option<String>,
    pub score: f64,
}

/// The symbols that other files use most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Overview {
    /// One line per file: its path, then `name:line` of its symbols.
    pub map: String,
}

/// What the index holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IndexStatus {
    pub files: usize,
    pub omitted: Vec<OmittedFile>,
}

/// A file that the index leaves out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct OmittedFile {
    pub file: String,
    pub reason: &'static str,
}
