//! What a rename must know beside references: which definitions share their name by necessity, and who outside of the
//! workspace may ask for it.

use std::collections::HashSet;

use super::languages::Key;
use super::members::is_literal;
use super::type_ref::has_word;
use super::{DefinitionSite, Resolution, Resolver, Want, owner_name};
use crate::facts::{Definition, Occurrence, Receiver, Span};
use crate::index::FileId;
use crate::languages::Language;
use crate::languages::rust::is_alike;

/// How far up a type's bases are followed.
const DEEPEST: usize = 12;
/// Members of one name that are looked at; more are of too many types to be told apart in time.
const MOST_MEMBERS: usize = 400;

/// Types and traits that every file of Rust knows.
const RUST_PRELUDE: &str = "Option Result Vec String Box Some None Ok Err Iterator IntoIterator Default Clone From Into \
    ToString Drop Fn FnMut FnOnce";

impl Resolver<'_> {
    /// The definitions that are renamed with one: its declarations, the alternatives of its pattern, and the members
    /// that it overrides or implements with all that do the same.
    pub(crate) fn renamed_together(&self, target: &DefinitionSite) -> HashSet<Key> {
        self.begin();
        let mut keys = self.same(target);
        keys.extend(self.alternatives_of(target));
        keys.extend(self.neighbours(target));
        let name = &target.definition.name;
        let candidates =
            self.everywhere(name, |file, one, _| one.is_member && self.can_use(file, target.file));
        if candidates.len() > MOST_MEMBERS {
            return keys;
        }
        let mut open: Vec<(Key, HashSet<Key>)> =
            candidates.iter().map(|one| (one.key(), self.neighbours(one))).collect();
        loop {
            let (joined, rest): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|(key, others)| keys.contains(key) || !others.is_disjoint(&keys));
            if joined.is_empty() {
                return keys;
            }
            for (key, others) in joined {
                keys.insert(key);
                keys.extend(others);
            }
            open = rest;
        }
    }

    /// What a definition shares its name with directly.
    fn neighbours(&self, one: &DefinitionSite) -> HashSet<Key> {
        self.begin();
        let mut keys = self.rules(one.file).renamed_with(one);
        if one.definition.is_member {
            keys.extend(self.same(one));
            keys.extend(self.family(one));
        }
        keys
    }

    /// The same name in the other alternatives of a pattern: `A(x) | B(x)`.
    fn alternatives_of(&self, target: &DefinitionSite) -> Vec<Key> {
        let own = &target.definition;
        let whole = self.index.whole(target.file);
        let is_same = |one: &&Definition| {
            own.scope.is_some() && (one.scope, one.span, one.kind) == (own.scope, own.span, own.kind)
        };
        let same = whole.1.named(&own.name).filter(is_same);
        same.map(|one| (target.file, one.name_span.start)).collect()
    }

    /// The members of that name in all types above the one that a member belongs to.
    pub(crate) fn inherited(&self, member: &DefinitionSite) -> HashSet<Key> {
        let mut found = HashSet::new();
        if !member.definition.is_member {
            return found;
        }
        self.each_type_above(member, &mut |one| {
            found.extend(self.own_members(one, &member.definition.name).iter().map(DefinitionSite::key));
        });
        found
    }

    /// A base of the type of a member that is not in the workspace.
    pub(crate) fn external_base(&self, member: &DefinitionSite) -> Option<String> {
        if !member.definition.is_member {
            return None;
        }
        let mut found = None;
        self.each_type_above(member, &mut |one| {
            let rules = self.rules(one.file);
            let bases = one.definition.bases.iter();
            let is_external = |base: &&String| {
                !rules.asks_for_nothing(base)
                    && self.types_of(one.file, one.definition.span.start, base).is_empty()
            };
            if found.is_none() {
                found = bases.filter(|base| !base.is_empty()).find(is_external).cloned();
            }
        });
        found
    }

    /// Other definitions of the same thing in a file, between which a condition chooses.
    pub(crate) fn defined_alike(&self, one: &DefinitionSite) -> HashSet<Key> {
        let own = &one.definition;
        if own.scope.is_some() {
            return HashSet::new();
        }
        let whole = self.index.whole(one.file);
        let container = |one: &Definition| {
            let outer = one.container.and_then(|index| whole.1.definitions.get(index as usize));
            outer.map(|outer| outer.name_span)
        };
        let known = whole.1.defined_at(own.name_span).next().map(|(_, one)| container(one));
        let is_alike = |other: &&Definition| {
            is_alike(other.kind, own.kind)
                && (&other.owner, &other.bases, other.scope, other.is_member)
                    == (&own.owner, &own.bases, None, own.is_member)
                && Some(container(other)) == known
        };
        let alike = whole.1.named(&own.name).filter(is_alike);
        alike.map(|other| (one.file, other.name_span.start)).collect()
    }

    /// The other functions of a name that the arguments of a call choose between (C++).
    pub(crate) fn overloads_of(&self, target: &DefinitionSite) -> HashSet<Key> {
        let own = &target.definition;
        let is_overloading = self.language_family(target.file) == Some(Language::C) && own.kind.is_callable();
        if !is_overloading || own.scope.is_some() {
            return HashSet::new();
        }
        self.begin();
        let (same, owner) = (self.same(target), self.owner_of(target));
        let others = self.everywhere(&own.name, |file, other, facts| {
            self.can_use(file, target.file)
                && other.kind.is_callable()
                && owner_name(facts, other) == owner.as_deref()
        });
        let others = others.iter().filter(|other| self.same(other).is_disjoint(&same));
        others.map(DefinitionSite::key).collect()
    }

    /// A type with its constructors, which are called like it, asked for by either (C++, Java).
    pub(crate) fn called_like_type(&self, one: &DefinitionSite) -> HashSet<Key> {
        let name = &one.definition.name;
        let types = if one.definition.kind.is_type() { vec![one.clone()] } else { self.owner_types(one) };
        let Some(of) = types.into_iter().find(|of| of.definition.name == *name) else {
            return HashSet::new();
        };
        let constructors = self.everywhere(name, |file, other, facts| {
            other.is_member
                && other.kind.is_callable()
                && self.can_use(file, of.file)
                && owner_name(facts, other) == Some(name)
        });
        let is_own =
            |other: &&DefinitionSite| self.owner_types(other).iter().any(|one| one.key() == of.key());
        constructors.iter().filter(is_own).map(DefinitionSite::key).chain([of.key()]).collect()
    }

    /// Goes through the type of a member and all types above it.
    fn each_type_above(&self, member: &DefinitionSite, then: &mut dyn FnMut(&DefinitionSite)) {
        let mut seen = HashSet::new();
        let mut level = self.owner_types(member);
        for _ in 0..DEEPEST {
            let mut next = Vec::new();
            for one in &level {
                if seen.insert(one.key()) && self.step() {
                    then(one);
                    next.extend(self.bases_of(one));
                }
            }
            if next.is_empty() {
                return;
            }
            level = next;
        }
    }

    /// What outside of the workspace may ask for a definition by its name.
    pub(crate) fn asked_for_by(&self, target: &DefinitionSite) -> Option<String> {
        self.begin();
        self.rules(target.file).asked_for_by(target)
    }

    /// What in the workspace may reach one of some definitions of a name by a text.
    pub(crate) fn reached_by_text(&self, sites: &[DefinitionSite]) -> Option<String> {
        self.begin();
        self.rules(sites.first()?.file).reached_by_text(sites)
    }

    /// Whether the types of two members may be compared by their members.
    pub(crate) fn may_be_one_type(&self, one: &DefinitionSite, other: &DefinitionSite) -> bool {
        self.begin();
        self.language(one.file) == self.language(other.file)
            && self.rules(one.file).may_be_one_type(one, other)
    }

    /// Whether the value before the name of a member may be of a type of the workspace, though it seems to be of none:
    /// not all types are known, and a name that no library has is most likely one of the workspace.
    pub(crate) fn may_be_of_workspace(&self, file: FileId, receiver: Span, offset: u32, name: &str) -> bool {
        self.begin();
        let whole = self.index.whole(file);
        let text = receiver.of(&whole.0).trim();
        let rules = self.rules(file);
        let is_own_type = matches!(text, "self" | "this" | "cls" | "super" | "super()")
            && rules.declared_this(file, offset).is_none()
            // A type of Rust may lend the members of another.
            && (self.language(file) != Some(Language::Rust) || self.index.using("Deref").is_empty())
            && !self.enclosing_type(file, offset).is_empty();
        let after = whole.0.get(offset as usize + name.len()..).unwrap_or_default();
        let want = if after.starts_with('(') || after.starts_with("::<") { Want::Call } else { Want::Any };
        if rules.is_library_member(name, want) || is_own_type || is_literal(text) {
            return false;
        }
        // What a module outside of the workspace has by a path is its own.
        let is_path =
            text.chars().all(|part| part.is_alphanumeric() || matches!(part, '_' | '.' | ':' | '$'));
        let first = text.split(['.', ':']).next().unwrap_or(text);
        let is_module = || matches!(self.by_import(file, first, offset), Some(Resolution::External));
        !(is_path && self.local(file, first, offset).is_empty() && is_module())
    }

    /// Whether a path in the body of a macro may begin with a type that is known only where the macro is used, such as
    /// a type parameter.
    pub(crate) fn is_known_at_use(&self, file: FileId, path: &str, offset: u32) -> bool {
        self.begin();
        let first = path.split("::").next().unwrap_or(path).trim();
        first.starts_with(char::is_uppercase)
            && !has_word(RUST_PRELUDE, first)
            && self.by_import(file, first, offset).is_none()
            && self.local(file, first, offset).is_empty()
    }

    /// Whether a value is an object that takes over what another has: `{ ...other }`.
    pub(crate) fn is_made_of_others(&self, file: FileId, value: Span, offset: u32) -> bool {
        self.begin();
        let whole = self.index.whole(file);
        let meaning = self.name(file, value.of(&whole.0).trim(), offset);
        meaning.found().iter().any(|one| one.definition.value.contains("..."))
    }

    /// The field of a value that is being made or taken apart, where the name at a place stands for one.
    pub(crate) fn made_field(&self, file: FileId, occurrence: &Occurrence) -> Resolution {
        let Receiver::Made(span) = occurrence.receiver else { return Resolution::Unknown };
        if span == occurrence.span {
            return Resolution::Unknown;
        }
        self.begin();
        self.made(file, span, occurrence, &self.index.whole(file).0)
    }

    /// What the name at a place means that stands by itself.
    pub(crate) fn plain_name(&self, file: FileId, occurrence: &Occurrence) -> Resolution {
        self.begin();
        let whole = self.index.whole(file);
        self.name(file, occurrence.span.of(&whole.0), occurrence.span.start)
    }
}
