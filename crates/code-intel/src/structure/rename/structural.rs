//! Types of TypeScript, which are compared by their members and not by their names.

use std::collections::HashSet;

use crate::facts::{Definition, Facts, Kind, Receiver, Span};
use crate::index::{FileId, Index};
use crate::languages::Language;
use crate::resolve::DefinitionSite;

/// Whether a value of the type that has one member may be given where the type of the other is wanted, or the other
/// way round.
pub(super) fn may_be_compared(index: &Index, one: &DefinitionSite, other: &DefinitionSite) -> bool {
    let is_typed = |site: &DefinitionSite| {
        let language = index.entry(site.file).and_then(|entry| entry.language);
        matches!(language, Some(Language::TypeScript | Language::Tsx))
            && site.definition.kind != Kind::EnumMember
    };
    if !is_typed(one) || !is_typed(other) {
        return false;
    }
    let (Some(left), Some(right)) = (Members::beside(index, one), Members::beside(index, other)) else {
        // A type without a name has no list of members to compare.
        return true;
    };
    left.is_satisfied_by(&right) || right.is_satisfied_by(&left)
}

/// Whether an object of TypeScript that is written out may be given where the type of a member is wanted.
pub(super) fn may_be_made(index: &Index, member: &DefinitionSite, file: FileId, object: Span) -> bool {
    let language = index.entry(file).and_then(|entry| entry.language);
    if !matches!(language, Some(Language::TypeScript | Language::Tsx))
        || member.definition.kind == Kind::EnumMember
    {
        return false;
    }
    let Some(wanted) = Members::beside(index, member) else { return true };
    let whole = index.whole(file);
    let is_spread = object.of(&whole.0).contains("...");
    let keys = whole.1.occurrences.iter().filter(|one| one.receiver == Receiver::Made(object));
    let keys: HashSet<&str> = keys.map(|one| one.span.of(&whole.0)).collect();
    !wanted.is_closed && (is_spread || wanted.required.iter().all(|name| keys.contains(name.as_str())))
}

/// The members of a type, by name.
struct Members {
    required: HashSet<String>,
    all: HashSet<String>,
    /// Whether it may have others that it inherits.
    is_derived: bool,
    /// Whether only its own instances are of the type: those of a class with private members.
    is_closed: bool,
}

impl Members {
    /// The members of the type that a member belongs to; `None` where the type has no name.
    fn beside(index: &Index, member: &DefinitionSite) -> Option<Self> {
        let whole = index.whole(member.file);
        let (text, facts): (&str, &Facts) = (&whole.0, &whole.1);
        let known = facts.defined_at(member.definition.name_span).map(|(_, one)| one);
        let own = { known }.find(|one| one.is_member).unwrap_or(&member.definition);
        let holder = own.container.and_then(|at| facts.definitions.get(at as usize));
        let is_in_type = !own.declared.is_empty() || own.is_declaration;
        if is_in_type && own.owner.is_none() && !holder.is_some_and(|holder| holder.kind.is_type()) {
            return None;
        }
        let is_beside = |one: &&Definition| {
            one.is_member
                && one.kind != Kind::Constructor
                && (one.container, &one.owner) == (own.container, &own.owner)
        };
        let is_private = |one: &Definition| {
            let text = one.span.of(text);
            one.name.starts_with('#') || text.starts_with("private ") || text.starts_with("protected ")
        };
        let is_optional = |one: &Definition| {
            text.get(one.name_span.end as usize..).is_some_and(|rest| rest.starts_with('?'))
        };
        let members: Vec<&Definition> = facts.definitions.iter().filter(is_beside).collect();
        let names = |of: &dyn Fn(&Definition) -> bool| {
            members.iter().filter(|one| of(one)).map(|one| one.name.clone()).collect()
        };
        Some(Self {
            required: names(&|one| !is_optional(one)),
            all: names(&|_| true),
            is_derived: holder.is_some_and(|holder| !holder.bases.is_empty()),
            is_closed: members.iter().any(|one| is_private(one)),
        })
    }

    fn is_satisfied_by(&self, other: &Self) -> bool {
        !self.is_closed && (other.is_derived || self.required.is_subset(&other.all))
    }
}
