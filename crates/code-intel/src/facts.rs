//! What one file says: what it defines, what it imports, which names it uses.
//!
//! One walk over the syntax tree gathers everything; `languages/` has a file per language that knows its nodes. Nothing is
//! resolved here. Types and values are kept as the text they have in the source, so that a later question can be
//! answered without the tree.

mod annotations;
mod excerpt;
pub(crate) mod extract;
mod lookup;
mod manifest;
pub(crate) mod nodes;
pub(crate) mod outline;
mod recovery;
mod wrapped;

use std::time::Duration;

use crate::languages::Language;
use crate::syntax::{self, Limits, Skipped};

pub(crate) use excerpt::{ReadFacts, read_about};
pub(crate) use lookup::{Lookup, name_hash};
pub(crate) use manifest::{Manifest, mapped};
pub(crate) use outline::doc_line;
pub use outline::{described, qualified_name, signature, whole};
pub(crate) use wrapped::items_in_macros;

/// Limits for reading a file.
pub const LIMITS: Limits = Limits { bytes: 2 * 1024 * 1024, time: Duration::from_secs(2), errors: 0 };

/// What the name of a type that has no name of its own ends in: `new Base() { ... }` is `Base{}`.
pub(crate) const NAMELESS: &str = "{}";

/// Kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Function,
    Method,
    Constructor,
    Class,
    Struct,
    Union,
    Interface,
    Trait,
    Enum,
    EnumMember,
    Type,
    TypeParameter,
    Module,
    Macro,
    Constant,
    Variable,
    Field,
    Property,
    Parameter,
    /// A key, a selector, an anchor: what files of data and pages have instead of definitions.
    Entry,
}

impl Kind {
    pub const ALL: [Self; 20] = [
        Self::Function,
        Self::Method,
        Self::Constructor,
        Self::Class,
        Self::Struct,
        Self::Union,
        Self::Interface,
        Self::Trait,
        Self::Enum,
        Self::EnumMember,
        Self::Type,
        Self::TypeParameter,
        Self::Module,
        Self::Macro,
        Self::Constant,
        Self::Variable,
        Self::Field,
        Self::Property,
        Self::Parameter,
        Self::Entry,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Constructor => "constructor",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Union => "union",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Enum => "enum",
            Self::EnumMember => "enum_member",
            Self::Type => "type",
            Self::TypeParameter => "type_parameter",
            Self::Module => "module",
            Self::Macro => "macro",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Field => "field",
            Self::Property => "property",
            Self::Parameter => "parameter",
            Self::Entry => "entry",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it is a function, method or constructor.
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Constructor)
    }

    /// Whether it has members.
    pub fn is_type(self) -> bool {
        matches!(
            self,
            Self::Class
                | Self::Struct
                | Self::Union
                | Self::Interface
                | Self::Trait
                | Self::Enum
                | Self::Type
                | Self::TypeParameter
        )
    }
}

/// A position in a text: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// A range of bytes in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }

    pub fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The text of the range; empty where it lies outside.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub name: String,
    pub kind: Kind,
    /// Where the name stands.
    pub at: Position,
    pub name_span: Span,
    /// The whole of it, with its body.
    pub span: Span,
    pub last_line: u32,
    /// The definition it stands in, by its place in [`Facts::definitions`].
    pub container: Option<u32>,
    /// The type it is a member of, where that is not told by the container (`impl Type`, `func (t *Type)`, `Type::f`).
    pub owner: Option<String>,
    /// Where a local name is known; `None` at the top level of a file and for members.
    pub scope: Option<Span>,
    /// Reached only through a value or a type, never by its name alone.
    pub is_member: bool,
    /// A prototype, a signature: the body is elsewhere or nowhere.
    pub is_declaration: bool,
    /// Known in this file only (`static` in C).
    pub is_private: bool,
    /// A variable or a field that is given a function.
    pub is_function: bool,
    /// The declared type, or what a function returns.
    pub declared: String,
    /// The expression it is first given.
    pub value: String,
    /// What a type extends and implements.
    pub bases: Vec<String>,
}

impl Definition {
    /// Whether it is a lifetime parameter of Rust.
    pub(crate) fn is_lifetime(&self) -> bool {
        self.kind == Kind::TypeParameter && self.declared == "'"
    }

    /// Whether it is a label of Go, which no expression can name.
    pub(crate) fn is_label(&self) -> bool {
        self.kind == Kind::Variable && self.declared == ":"
    }

    pub fn is_callable(&self) -> bool {
        self.kind.is_callable() || self.is_function
    }
}

/// A name that an import introduces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedName {
    /// As it is called there; `*` for everything, empty for the module itself.
    pub name: String,
    /// As it is called here.
    pub alias: String,
    pub at: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// As it is written: `a.b`, `./x`, `std::io`, `stdio.h`.
    pub module: String,
    pub line: u32,
    pub names: Vec<ImportedName>,
    /// The names are this file's too, for others (`export { a } from`, `pub use`).
    pub is_reexport: bool,
    /// Where it holds; `None` for the whole file.
    pub scope: Option<Span>,
}

/// What a name is a member of, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// By itself.
    None,
    /// As a member of the value of this expression: `value.name`.
    Value(Span),
    /// Within the module or type of this path: `path::name`.
    Path(Span),
    /// As a field of a value of this type that is being made: `Type { name: 1 }`; in scripts, of this object.
    Made(Span),
    /// As a parameter of this function: `function(name=1)`.
    Argument(Span),
}

/// An occurrence of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub span: Span,
    pub at: Position,
    pub receiver: Receiver,
}

/// The type expected of a literal (TypeScript, JavaScript; in Go of function literals).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The type that stands here.
    Declared(Span),
    /// What a function takes at a place.
    Argument { function: Span, place: u32, is_made: bool },
    /// The member of that name of what is expected of the object.
    Member { object: Span, name: Span },
    /// One of what is expected of the list.
    Element(Span),
    /// What this expression is.
    Assigned(Span),
    /// What is expected of the function to return.
    Returned(Span),
}

/// An object, list or function literal with the type expected of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    pub span: Span,
    pub expected: Expected,
}

/// Bytes within a scope in which its names are not known: the first list that a comprehension goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole {
    pub span: Span,
    pub scope: Span,
}

/// Everything that one file defines, imports and uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub definitions: Vec<Definition>,
    pub imports: Vec<Import>,
    /// In the order of the text.
    pub occurrences: Vec<Occurrence>,
    /// The name of the package, where files have one.
    pub package: String,
    /// In the order of the text.
    pub contexts: Vec<Context>,
    pub holes: Vec<Hole>,
    pub(crate) lookup: Lookup,
}

/// Reads the facts of a text.
pub fn read(language: Language, text: &str) -> Result<Facts, Skipped> {
    read_within(language, text, LIMITS)
}

pub(crate) fn read_within(language: Language, text: &str, limits: Limits) -> Result<Facts, Skipped> {
    let mut cleaned = match language {
        Language::C | Language::Cpp if text.len() <= limits.bytes => annotations::without(text),
        Language::Rust if text.len() <= limits.bytes => wrapped::without(text, |_| true),
        _ => None,
    };
    if language == Language::Rust
        && let Some(all) = &cleaned
        && syntax::parse(language, &all.text, limits)?.root_node().has_error()
    {
        // What a macro takes may only begin like items.
        let is_read = |inside: &str| {
            syntax::parse(language, inside, limits).is_ok_and(|tree| !tree.root_node().has_error())
        };
        cleaned = wrapped::without(text, is_read);
    }
    let parsed = cleaned.as_ref().map_or(text, |cleaned| cleaned.text.as_str());
    let mut tree = syntax::parse(language, parsed, limits)?;
    let is_typed = matches!(language, Language::TypeScript | Language::Tsx);
    if is_typed
        && tree.root_node().has_error()
        && let Some(separated) = crate::languages::script::separated(text)
    {
        tree = syntax::parse(language, &separated, limits)?;
    }
    let rules = language.definition().facts;
    let kinds = nodes::Kinds::of(language, &tree.language(), rules);
    let read_tree = |text: &str, tree: &tree_sitter::Tree| {
        let mut extractor = extract::Extractor::new(text, rules);
        extractor.walk(tree, &kinds, limits.time);
        extractor.finish()
    };
    let parse = |text: &str| syntax::parse(language, text, limits).ok();
    let mut facts = match recovery::pieces(language, parsed, &tree, parse) {
        None => read_tree(parsed, &tree),
        Some(pieces) => {
            let mut facts = Facts::default();
            for piece in pieces {
                let text = recovery::only(parsed, piece);
                recovery::join(&mut facts, read_tree(&text, &syntax::parse(language, &text, limits)?));
            }
            facts
        }
    };
    if let Some(cleaned) = &cleaned {
        annotations::add_names(&mut facts, text, &cleaned.removed);
    }
    Ok(facts)
}

#[cfg(test)]
#[path = "facts/tests.rs"]
mod tests;
