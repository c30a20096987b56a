//! Resolves names: definitions, references, calls.
//!
//! A question is answered from the outlines of the index and from the one file in question, read whole. Names are
//! looked up in their scopes, then in what the file imports, then by the rules of the language for packages;
//! members through the type of what they are members of. What leads out of the workspace is said to be external.

mod calls;
pub(crate) mod expression;
pub(crate) mod generics;
pub(crate) mod languages;
mod members;
mod memory;
pub(crate) mod modules;
pub(crate) mod named_types;
pub(crate) mod names;
mod occurrence;
pub(crate) mod overloads;
mod references;
mod renamed;
mod renaming;
pub(crate) mod type_ref;
pub(crate) mod types;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::facts::{Definition, Facts, Occurrence, Span};
use crate::index::{FileId, Index};
use crate::languages::Language;
use crate::location;
use crate::search::is_test_path;

use memory::Memory;

pub(crate) use calls::CallGraph;
pub use calls::{Call, Direction};
pub(crate) use members::is_literal;

/// How certain a resolution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// By scopes, imports and types.
    Resolved,
    /// The only thing of that name that it could be.
    ByName,
}

impl Certainty {
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::ByName => "by_name",
        }
    }
}

/// A definition and the file it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionSite {
    pub file: FileId,
    pub definition: Definition,
}

impl DefinitionSite {
    pub(crate) fn new(file: FileId, definition: &Definition) -> Self {
        Self { file, definition: definition.clone() }
    }

    /// What tells a definition from all others.
    pub(crate) fn key(&self) -> (FileId, u32) {
        (self.file, self.definition.name_span.start)
    }
}

/// The result of resolving a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Best first.
    Found(Vec<DefinitionSite>, Certainty),
    /// Something that is not in the workspace.
    External,
    Unknown,
}

impl Resolution {
    pub fn found(&self) -> &[DefinitionSite] {
        match self {
            Self::Found(found, _) => found,
            Self::External | Self::Unknown => &[],
        }
    }

    pub(crate) fn of(found: Vec<DefinitionSite>) -> Self {
        if found.is_empty() { Self::Unknown } else { Self::Found(found, Certainty::Resolved) }
    }
}

/// What is looked for among members of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    Any,
    /// Something that can be called.
    Call,
}

/// A reference to a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub file: FileId,
    pub occurrence: Occurrence,
    pub certainty: Certainty,
}

/// Steps that the answer to one question may take: types can refer to each other without end.
const MOST_STEPS: u32 = 4000;
/// How often a question may lead to another before it is given up.
const DEEPEST: u32 = 48;

/// A name of members, in which languages it is looked for, and whether as something that is not a parameter.
type MemberName = (String, Option<Language>, bool);

pub struct Resolver<'i> {
    pub(crate) index: &'i Index,
    pub(crate) steps: Cell<u32>,
    pub(crate) depth: Rc<Cell<u32>>,
    /// When files are no longer looked into for uses, and how many were not.
    pub(crate) deadline: Option<Instant>,
    pub(crate) unread: Cell<usize>,
    /// How often something was not looked into because it was too deep or had cost too much.
    pub(crate) given_up: Cell<u32>,
    /// What type parameters stand for in the question at hand (scripts).
    pub(crate) bound: RefCell<Vec<crate::languages::script::Bound>>,
    /// What was found out: the files do not change while somebody asks.
    pub(crate) only_members: RefCell<HashMap<MemberName, Resolution>>,
    pub(crate) modules: RefCell<HashMap<(FileId, String), Vec<FileId>>>,
    pub(crate) go_modules: RefCell<HashMap<String, Option<Rc<crate::languages::go::GoModule>>>>,
    /// What has a name in C and C++.
    pub(crate) globals: RefCell<HashMap<String, Rc<[DefinitionSite]>>>,
    pub(crate) inactive_spans: RefCell<HashMap<FileId, Rc<[Span]>>>,
    pub(crate) pairs: Memory<(FileId, u32), Vec<DefinitionSite>>,
    pub(crate) bases: Memory<(FileId, u32), Vec<DefinitionSite>>,
    /// By the file, the name and the place it is understood at.
    pub(crate) named_types: Memory<(FileId, String, u32), Vec<DefinitionSite>>,
    /// Packages of scripts that are not installed, seen from a folder.
    pub(crate) nowhere: RefCell<HashMap<(String, String), bool>>,
}

/// One level deeper in a question, until it is dropped.
pub(crate) struct DepthGuard(Rc<Cell<u32>>);

impl Drop for DepthGuard {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

impl<'i> Resolver<'i> {
    pub fn new(index: &'i Index) -> Self {
        Self {
            index,
            steps: Cell::new(0),
            depth: Rc::default(),
            deadline: None,
            unread: Cell::new(0),
            given_up: Cell::new(0),
            bound: RefCell::default(),
            only_members: RefCell::default(),
            modules: RefCell::default(),
            go_modules: RefCell::default(),
            globals: RefCell::default(),
            inactive_spans: RefCell::default(),
            pairs: Memory::default(),
            bases: Memory::default(),
            named_types: Memory::default(),
            nowhere: RefCell::default(),
        }
    }

    /// Creates a resolver that stops searching for references after `time`; [`Resolver::note`] then says what is missing.
    pub fn within(index: &'i Index, time: Duration) -> Self {
        Self { deadline: Some(Instant::now() + time), ..Self::new(index) }
    }

    /// Says how many files were not searched for references and callers for want of time.
    pub fn note(&self) -> Option<String> {
        let unread = self.unread.get();
        (unread > 0).then(|| {
            format!("the answer is not complete: {unread} files that have the name were not looked into, for want of time; those nearest to the definition were")
        })
    }

    /// Whether there is time for one more file; if not, it is counted.
    pub(crate) fn has_time(&self) -> bool {
        let has_time = self.deadline.is_none_or(|deadline| Instant::now() < deadline);
        if !has_time {
            self.unread.set(self.unread.get() + 1);
        }
        has_time
    }

    /// A new question begins.
    pub(crate) fn begin(&self) {
        self.steps.set(0);
        self.bound.borrow_mut().clear();
    }

    pub(crate) fn language(&self, file: FileId) -> Option<Language> {
        self.index.entry(file).and_then(|entry| entry.language)
    }

    /// Whether one more step may be taken.
    pub(crate) fn step(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        let may = self.steps.get() < MOST_STEPS;
        if !may {
            self.given_up.set(self.given_up.get() + 1);
        }
        may
    }

    /// Goes one level deeper, unless that is too deep for the stack or the question has cost enough.
    pub(crate) fn enter(&self) -> Option<DepthGuard> {
        if !self.step() {
            return None;
        }
        if self.depth.get() >= DEEPEST {
            self.given_up.set(self.given_up.get() + 1);
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        Some(DepthGuard(Rc::clone(&self.depth)))
    }

    /// An answer that is kept, unless something was given up on the way.
    pub(crate) fn remembered<K: Clone + Eq + Hash>(
        &self,
        memory: &Memory<K, Vec<DefinitionSite>>,
        question: K,
        ask: impl FnOnce() -> Vec<DefinitionSite>,
    ) -> Vec<DefinitionSite> {
        let before = self.given_up.get();
        memory.recall(question, ask, || self.given_up.get() == before)
    }

    /// The bytes of a file that are not compiled.
    pub(crate) fn inactive_spans(&self, file: FileId) -> Rc<[Span]> {
        self.rules(file).inactive_spans(file)
    }

    /// The name at a place, line and column from 1.
    pub(crate) fn occurrence_at(&self, file: FileId, line: u32, column: u32) -> Result<Occurrence> {
        let whole = self.index.whole(file);
        let covers = |occurrence: &&Occurrence| {
            // The length is counted last: a file has many names, a line few.
            occurrence.at.line == line
                && occurrence.at.column <= column
                && column <= occurrence.at.column + occurrence.span.of(&whole.0).chars().count() as u32
        };
        // Of two that touch, the one that begins here.
        let found = whole.1.occurrences.iter().filter(covers).max_by_key(|occurrence| occurrence.at.column);
        found.copied().ok_or_else(|| Error::NoName { path: self.index.path(file).to_owned(), line, column })
    }

    /// Resolves the name at a position, line and column from 1.
    pub fn definition_at(&self, file: FileId, line: u32, column: u32) -> Result<Resolution> {
        let occurrence = self.occurrence_at(file, line, column)?;
        self.begin();
        let meaning = self.resolve_occurrence(file, &occurrence);
        Ok(self.rules(file).asked_definition(file, &occurrence, meaning))
    }

    /// Resolves the name at a position to the symbol itself: where a definition stands for something external, as a key
    /// of an object may, to that definition.
    pub(crate) fn target_at(&self, file: FileId, line: u32, column: u32) -> Result<Resolution> {
        let meaning = self.definition_at(file, line, column)?;
        if !meaning.found().is_empty() {
            return Ok(meaning);
        }
        let occurrence = self.occurrence_at(file, line, column)?;
        let own = self.defined_by(file, &occurrence);
        Ok(if own.is_empty() { meaning } else { Resolution::of(own) })
    }

    /// What the name at a place defines there.
    fn defined_by(&self, file: FileId, occurrence: &Occurrence) -> Vec<DefinitionSite> {
        let whole = self.index.whole(file);
        let defined = whole.1.defined_at(occurrence.span);
        defined.map(|(_, definition)| DefinitionSite::new(file, definition)).collect()
    }

    /// Finds all definitions of a name or of `Type.member`, best first.
    pub fn definitions_named(&self, name: &str) -> Vec<DefinitionSite> {
        let parts: Vec<&str> = location::name_parts(name).collect();
        let Some((last, before)) = parts.split_last() else { return Vec::new() };
        let owner = before.last();
        let mut found = Vec::new();
        for file in self.index.defining(last) {
            let outline = self.index.outline(file);
            for definition in outline.named(last) {
                let is_owned = owner.is_none_or(|owner| owner_name(&outline, definition) == Some(owner));
                if is_owned {
                    found.push(DefinitionSite::new(file, definition));
                }
            }
        }
        if let Some(owner) = owner.filter(|_| found.is_empty()) {
            // What a type has from those above it.
            let types = self.everywhere(owner, |_, one, _| one.kind.is_type());
            found.extend(self.member_of_types(&types, last).found().iter().cloned());
        }
        found.sort_by_key(|found| {
            let definition = &found.definition;
            let order = match definition.kind {
                kind if kind.is_type() => 0,
                kind if kind.is_callable() => 1,
                _ => 2,
            };
            let is_test = is_test_path(self.index.path(found.file));
            (definition.is_declaration, is_test, order, self.index.path(found.file).to_owned(), definition.at)
        });
        found
    }

    /// The name of the type that a definition is a member of. What was found may be of the whole file or of its outline,
    /// in which definitions have other places.
    pub(crate) fn owner_of(&self, found: &DefinitionSite) -> Option<String> {
        let outline = self.index.outline(found.file);
        let mut known = outline.defined_at(found.definition.name_span).map(|(_, one)| one);
        match known.find(|one| one.span == found.definition.span) {
            Some(known) => owner_name(&outline, known).map(str::to_owned),
            None => owner_name(&self.index.whole(found.file).1, &found.definition).map(str::to_owned),
        }
    }

    /// All definitions for others of a name that fit.
    pub(crate) fn everywhere(
        &self,
        name: &str,
        fits: impl Fn(FileId, &Definition, &Facts) -> bool,
    ) -> Vec<DefinitionSite> {
        self.everywhere_in(name, |_| true, fits)
    }

    /// The definitions of a name in one file, local ones too, that fit.
    pub(crate) fn defined_in(
        &self,
        file: FileId,
        name: &str,
        fits: impl Fn(&Definition) -> bool,
    ) -> Vec<DefinitionSite> {
        let whole = self.index.whole(file);
        whole.1.named(name).filter(|one| fits(one)).map(|one| DefinitionSite::new(file, one)).collect()
    }

    /// The innermost scope's definitions of a name that no expression can mean: a lifetime, a label.
    pub(crate) fn innermost_defined(
        &self,
        file: FileId,
        name: &str,
        offset: u32,
        fits: impl Fn(&Definition) -> bool,
    ) -> Vec<DefinitionSite> {
        let known = |one: &Definition| fits(one) && one.scope.is_some_and(|scope| scope.contains(offset));
        let found = self.defined_in(file, name, known).into_iter();
        found.min_by_key(|one| one.definition.scope.map_or(0, Span::len)).into_iter().collect()
    }

    /// Those in some files alone: names that many files have, such as those of fields, need not be looked at in all.
    pub(crate) fn everywhere_in(
        &self,
        name: &str,
        is_among: impl Fn(FileId) -> bool,
        fits: impl Fn(FileId, &Definition, &Facts) -> bool,
    ) -> Vec<DefinitionSite> {
        let mut found = Vec::new();
        for file in self.index.defining(name).into_iter().filter(|file| is_among(*file)) {
            let outline = self.index.outline(file);
            for definition in outline.named(name) {
                if fits(file, definition, &outline) {
                    found.push(DefinitionSite::new(file, definition));
                }
            }
        }
        found.sort_by(|left, right| {
            (self.index.path(left.file), left.definition.at)
                .cmp(&(self.index.path(right.file), right.definition.at))
        });
        found
    }

    /// How many folders two files have in common.
    pub(crate) fn nearness(&self, one: FileId, other: FileId) -> usize {
        if one == other {
            return usize::MAX;
        }
        let (one, other) = (self.index.path(one), self.index.path(other));
        one.split('/').zip(other.split('/')).take_while(|(left, right)| left == right).count()
    }
}

/// The name of the type a definition is a member of.
pub(crate) fn owner_name<'f>(facts: &'f Facts, definition: &'f Definition) -> Option<&'f str> {
    if let Some(owner) = &definition.owner {
        return Some(owner);
    }
    if !definition.is_member {
        return None;
    }
    let container = facts.definitions.get(definition.container? as usize)?;
    Some(&container.name)
}

/// Whether a scope is that of a place, and how large it is.
fn scope_size(scope: Option<Span>, offset: u32) -> Option<u32> {
    match scope {
        None => Some(u32::MAX),
        Some(scope) => scope.contains(offset).then(|| scope.len()),
    }
}

#[cfg(test)]
#[path = "resolve/tests.rs"]
mod tests;

#[cfg(test)]
#[path = "resolve/script_tests.rs"]
mod script_tests;

#[cfg(test)]
#[path = "resolve/python_tests.rs"]
mod python_tests;
