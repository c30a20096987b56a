//! Members of values, types and modules.

use std::collections::HashSet;

use super::types::Value;
use super::{DefinitionSite, Resolution, Resolver, Want, owner_name};
use crate::facts::{Definition, Facts, Kind, NAMELESS, Span};
use crate::index::FileId;

/// How far up a type's bases are followed.
const DEEPEST: usize = 12;

impl Resolver<'_> {
    /// `value.name`.
    pub(crate) fn member(
        &self,
        file: FileId,
        receiver: &str,
        name: &str,
        offset: u32,
        want: Want,
    ) -> Resolution {
        let Some(_deeper) = self.enter() else { return Resolution::Unknown };
        let mut value = self.value(file, receiver, offset);
        if matches!(value, Value::External | Value::Unknown) {
            value = self.rules(file).value_otherwise(file, receiver, offset, &value).unwrap_or(value);
        }
        match self.member_wanted(&value, name, want) {
            Resolution::Unknown => self.guessed(file, receiver, name, &value),
            other => other,
        }
    }

    /// Where the type is not known: the only member of that name there is.
    fn guessed(&self, file: FileId, receiver: &str, name: &str, value: &Value) -> Resolution {
        if matches!(value, Value::External) {
            return Resolution::External;
        }
        // A literal is of no type of the workspace, nor is what its methods give.
        if is_literal(receiver) {
            return Resolution::External;
        }
        self.only_member(file, name, true)
    }

    pub(crate) fn member_of(&self, value: &Value, name: &str) -> Resolution {
        self.member_wanted(value, name, Want::Any)
    }

    pub(crate) fn member_wanted(&self, value: &Value, name: &str, want: Want) -> Resolution {
        match value {
            Value::Instance { file, offset, text } => {
                let types = self.made_types(*file, *offset, text);
                if types.is_empty() {
                    let given = self.rules(*file).member_of_foreign(text, name);
                    if !given.is_empty() {
                        return Resolution::of(given);
                    }
                    return if text.is_empty() { Resolution::Unknown } else { Resolution::External };
                }
                self.wanted(&types, name, want)
            }
            Value::Of(types) | Value::Type(types) => self.wanted(&self.aliased(types), name, want),
            Value::Module(file) => self.rules(*file).member_of_module(*file, name),
            Value::Function(found) => {
                // In JavaScript a function has members: those that are assigned to it.
                let owner = found.first().map(|one| one.definition.name.clone()).unwrap_or_default();
                let file = found.first().map(|one| one.file);
                let members = self.everywhere(name, |other, definition, _| {
                    Some(other) == file && definition.owner.as_deref() == Some(&owner)
                });
                if members.is_empty() { Resolution::External } else { Resolution::of(members) }
            }
            Value::External => Resolution::External,
            Value::Around(file, offset) => self.wanted(&self.enclosing_type(*file, *offset), name, want),
            Value::Unknown => Resolution::Unknown,
        }
    }

    /// The member of a name that types or their bases have.
    pub(crate) fn member_of_types(&self, types: &[DefinitionSite], name: &str) -> Resolution {
        self.wanted(types, name, Want::Any)
    }

    fn wanted(&self, types: &[DefinitionSite], name: &str, want: Want) -> Resolution {
        let Some(_deeper) = self.enter() else { return Resolution::Unknown };
        let mut seen = HashSet::new();
        let mut level: Vec<DefinitionSite> = types.to_vec();
        let mut assigned = Vec::new();
        for height in 0..DEEPEST {
            let mut found = Vec::new();
            for one in &level {
                found.extend(self.own_members(one, name));
            }
            if height > 0 {
                found = self.rules_of(&found).of_first_base(found);
            }
            if self.rules_of(&found).is_only_assigned(&found) {
                assigned = if assigned.is_empty() { found } else { assigned };
                found = Vec::new();
            }
            let callable: Vec<DefinitionSite> =
                found.iter().filter(|one| one.definition.is_callable()).cloned().collect();
            if want == Want::Call && !callable.is_empty() {
                found = callable;
            }
            if !found.is_empty() {
                return Resolution::of(self.rules_of(&found).preferred(found));
            }
            let mut next = Vec::new();
            for one in &level {
                if !seen.insert(one.key()) || !self.step() {
                    continue;
                }
                next.extend(self.bases_of(one));
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        if !assigned.is_empty() {
            return Resolution::of(self.rules_of(&assigned).preferred(assigned));
        }
        if types.is_empty() {
            return Resolution::Unknown;
        }
        let of_traits = self.rules_of(types).member_of_traits(types, name);
        if !of_traits.is_empty() {
            return Resolution::of(of_traits);
        }
        Resolution::External
    }

    pub(crate) fn own_members(&self, of: &DefinitionSite, name: &str) -> Vec<DefinitionSite> {
        if of.definition.name.is_empty() {
            return self.inline_members(of, name);
        }
        let rules = self.rules(of.file);
        if let Some(found) = rules.in_namespace(of, name) {
            return found;
        }
        let whole;
        let outline;
        // The members of a local type are in no outline.
        let facts: &Facts = if of.definition.scope.is_some() {
            whole = self.index.whole(of.file);
            &whole.1
        } else {
            outline = self.index.outline(of.file);
            &outline
        };
        let mut defined = facts.defined_at(of.definition.name_span);
        let index = defined.find(|(_, one)| one.kind == of.definition.kind).map(|(index, _)| index);
        let type_name = of.definition.name.as_str();
        let fits = |one: &&Definition| {
            if !one.is_member {
                return false;
            }
            match &one.owner {
                Some(owner) => owner == type_name && of.definition.kind != Kind::TypeParameter,
                None => one.container.is_some() && one.container.map(|container| container as usize) == index,
            }
        };
        let mut found: Vec<DefinitionSite> =
            facts.named(name).filter(fits).map(|one| DefinitionSite::new(of.file, one)).collect();
        if rules.spreads_members() && found.iter().all(|one| one.definition.is_declaration) {
            let is_among = |file: FileId| file != of.file && rules.may_hold_members(of.file, file);
            let others = self.everywhere_in(name, is_among, |_, one, _| {
                one.is_member
                    && one.owner.as_deref() == Some(type_name)
                    && of.definition.kind != Kind::TypeParameter
            });
            found.extend(others);
        }
        found
    }

    /// The types a type extends or implements, as far as they are in the workspace.
    pub(crate) fn bases_of(&self, of: &DefinitionSite) -> Vec<DefinitionSite> {
        if of.definition.bases.is_empty() {
            return Vec::new();
        }
        let ask = || {
            let bases = of.definition.bases.iter();
            let found = bases.flat_map(|base| self.types_of(of.file, of.definition.span.start, base));
            found.filter(|base| base.key() != of.key()).collect()
        };
        // What has no name has no place of its own to be remembered by.
        if self.rules(of.file).binds_type_parameters() || of.definition.name_span.is_empty() {
            return ask();
        }
        self.remembered(&self.bases, of.key(), ask)
    }

    /// The type a member is of.
    pub(crate) fn owner_types(&self, member: &DefinitionSite) -> Vec<DefinitionSite> {
        let outline = self.index.outline(member.file);
        let known = outline.defined_at(member.definition.name_span).next().map(|(_, one)| one);
        let definition = known.unwrap_or(&member.definition);
        if definition.owner.is_none()
            && let Some(container) = definition.container
            && let Some(container) = outline.definitions.get(container as usize)
        {
            return vec![DefinitionSite::new(member.file, container)];
        }
        match owner_name(&outline, definition) {
            Some(owner) => self.type_named(member.file, owner, definition.span.start),
            None => Vec::new(),
        }
    }

    /// A type by its name, wherever the members say it is.
    fn type_named(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        let ask = || self.find_type_named(file, name, offset);
        if self.rules(file).binds_type_parameters() {
            return ask();
        }
        self.remembered(&self.named_types, (file, name.to_owned(), offset), ask)
    }

    fn find_type_named(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        match self.name(file, name, offset) {
            Resolution::Found(found, _) => {
                let types: Vec<DefinitionSite> =
                    found.into_iter().filter(|one| one.definition.kind.is_type()).collect();
                if !types.is_empty() {
                    return types;
                }
            }
            Resolution::External | Resolution::Unknown => {}
        }
        let found = self.everywhere(name, |other, one, _| one.kind.is_type() && self.can_use(other, file));
        match self.nearest(file, found) {
            Resolution::Found(found, _) => found,
            _ => Vec::new(),
        }
    }

    /// The type whose members stand around a place: what `self` and `this` are.
    pub(crate) fn enclosing_type(&self, file: FileId, offset: u32) -> Vec<DefinitionSite> {
        let whole = self.index.whole(file);
        let is_candidate = |one: &Definition| {
            one.kind.is_type() && one.kind != Kind::TypeParameter
                || one.owner.is_some() && one.kind.is_callable()
        };
        match whole.1.innermost(offset, is_candidate) {
            Some(one) if one.kind.is_type() => vec![DefinitionSite::new(file, one)],
            Some(one) => {
                let owner = one.owner.clone().unwrap_or_default();
                match owner.strip_suffix(NAMELESS) {
                    Some(base) => self.type_named(file, base, 0),
                    None => self.type_named(file, &owner, one.span.start),
                }
            }
            None => Vec::new(),
        }
    }

    /// The members of a type without a name: those that stand in its braces and in no others.
    fn inline_members(&self, of: &DefinitionSite, name: &str) -> Vec<DefinitionSite> {
        let whole = self.index.whole(of.file);
        let span = of.definition.span;
        let depth = |at: u32| {
            let before = Span { start: span.start, end: at }.of(&whole.0);
            before.matches(['{', '(']).count()
                - before.matches(['}', ')']).count().min(before.matches(['{', '(']).count())
        };
        self.defined_in(of.file, name, |one| {
            one.is_member && span.contains(one.span.start) && depth(one.span.start) == 1
        })
    }
}

/// Whether an expression begins with a literal: a text, also one with a prefix or in brackets, a list, a number.
pub(crate) fn is_literal(expression: &str) -> bool {
    let bare = expression.trim_start_matches(['(', ' ', '\n', '\t']);
    let prefix = bare.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let is_prefixed = bare.len() - prefix.len() <= 2 && prefix.starts_with(['"', '\'']);
    is_prefixed
        || bare.starts_with(['`', '[', '{', '/'])
        || bare.starts_with(|first: char| first.is_ascii_digit())
}
