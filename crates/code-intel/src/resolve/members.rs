//! Members of values, types and modules.

use std::collections::HashSet;

use super::python::last_of_each;
use super::types::Value;
use super::{DefinitionSite, Resolution, Resolver, Want, owner_name};
use crate::facts::{Definition, Facts, Kind, NAMELESS};
use crate::index::FileId;
use crate::languages::Language;

/// How far up a type's bases are followed.
const DEEPEST: usize = 12;

impl Resolver<'_> {
    /// `value.name`.
    pub(super) fn member(
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
            value = self.java_qualified(file, receiver).unwrap_or(value);
        }
        if matches!(value, Value::Unknown) && self.is_python(file) && receiver.contains('.') {
            value = self.checked(file, receiver, offset).unwrap_or(value);
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
        // A literal is of no type of the workspace.
        if receiver.starts_with(['"', '\'', '`', '[', '{', '/'])
            || receiver.starts_with(|first: char| first.is_ascii_digit())
        {
            return Resolution::External;
        }
        self.only_member(file, name, true)
    }

    pub(super) fn member_of(&self, value: &Value, name: &str) -> Resolution {
        self.member_wanted(value, name, Want::Any)
    }

    pub(super) fn member_wanted(&self, value: &Value, name: &str, want: Want) -> Resolution {
        match value {
            Value::Instance { file, offset, text } => {
                let types = self.made_types(*file, *offset, text);
                if types.is_empty() {
                    let given = self.given_to_foreign(*file, text, name);
                    if !given.is_empty() {
                        return Resolution::of(given);
                    }
                    return if text.is_empty() { Resolution::Unknown } else { Resolution::External };
                }
                self.wanted(&types, name, want)
            }
            Value::Of(types) | Value::Type(types) => self.wanted(&self.aliased(types), name, want),
            Value::Module(file) => {
                if self.language(*file) == Some(Language::Go) {
                    return self.in_go_package_of(*file, name);
                }
                let found = self.exported(*file, name, &mut HashSet::new());
                if !found.is_empty() {
                    return Resolution::of(found);
                }
                let below = self.module_files(*file, &format!(".{name}"));
                match below.first() {
                    Some(below) if self.language(*file) == Some(Language::Python) => {
                        self.module_meaning(*below)
                    }
                    _ => Resolution::Unknown,
                }
            }
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

    fn in_go_package_of(&self, file: FileId, name: &str) -> Resolution {
        let folder = super::modules::folder(self.index.path(file)).to_owned();
        let files = self.go_files(&folder);
        let found =
            self.everywhere(name, |other, definition, _| !definition.is_member && files.contains(&other));
        Resolution::of(self.go_built(found))
    }

    /// The member of a name that types or their bases have.
    pub(super) fn member_of_types(&self, types: &[DefinitionSite], name: &str) -> Resolution {
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
                found = self.of_first_base(found);
            }
            if self.is_only_assigned(&found) {
                assigned = if assigned.is_empty() { found } else { assigned };
                found = Vec::new();
            }
            let callable: Vec<DefinitionSite> =
                found.iter().filter(|one| one.definition.is_callable()).cloned().collect();
            if want == Want::Call && !callable.is_empty() {
                found = callable;
            }
            if !found.is_empty() {
                return Resolution::of(self.preferred(found));
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
            return Resolution::of(self.preferred(assigned));
        }
        if types.is_empty() {
            return Resolution::Unknown;
        }
        // A Rust type may have it from a trait of the workspace.
        let language = types.first().and_then(|one| self.language(one.file));
        let is_bounded = |one: &DefinitionSite| {
            one.definition.kind == Kind::TypeParameter && !one.definition.bases.is_empty()
        };
        if language == Some(Language::Rust) && !types.iter().all(is_bounded) {
            let traits = self.everywhere(name, |_, definition, facts| {
                definition
                    .container
                    .and_then(|index| facts.definitions.get(index as usize))
                    .is_some_and(|of| of.kind == Kind::Trait)
            });
            if !traits.is_empty() {
                return Resolution::of(self.implemented(types, traits).into_iter().take(1).collect());
            }
        }
        Resolution::External
    }

    /// Of several members of one name those with a body; a property rather than what sets it.
    fn preferred(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        let language = found.first().and_then(|one| self.language(one.file));
        match language {
            Some(Language::Python) => {
                let declared: Vec<DefinitionSite> = found
                    .iter()
                    .filter(|one| one.definition.kind != Kind::Field || !one.definition.declared.is_empty())
                    .cloned()
                    .collect();
                let mut found = if declared.is_empty() { found } else { declared };
                if found.iter().all(|one| one.definition.kind != Kind::Field) {
                    found = last_of_each(found);
                }
                found
            }
            Some(Language::C | Language::Cpp) => found.into_iter().take(1).collect(),
            Some(Language::Rust | Language::Go) => {
                // One of a type with that name in this file rather than elsewhere.
                found.into_iter().take(1).collect()
            }
            _ => {
                let real: Vec<DefinitionSite> =
                    found.iter().filter(|one| !one.definition.is_declaration).cloned().collect();
                // Which of the signatures of an overloaded method is meant, the call says.
                let is_overloaded = language != Some(Language::Java)
                    && found.iter().all(|one| one.definition.kind.is_callable());
                if real.is_empty() || is_overloaded { found } else { real }
            }
        }
    }

    /// Whether members are given to a variable: `name.member = ...`, `name = { member: ... }`.
    pub(super) fn has_members(&self, of: &DefinitionSite) -> bool {
        let is_script = matches!(
            self.language(of.file),
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx)
        );
        let outline = self.index.outline(of.file);
        let index = outline.defined_at(of.definition.name_span).next().map(|(index, _)| index);
        is_script
            && outline.definitions.iter().any(|one| {
                one.is_member
                    && (one.owner.as_deref() == Some(&of.definition.name)
                        || one.owner.is_none()
                            && index.is_some()
                            && one.container.map(|container| container as usize) == index)
            })
    }

    pub(super) fn own_members(&self, of: &DefinitionSite, name: &str) -> Vec<DefinitionSite> {
        if of.definition.name.is_empty() {
            return self.inline_members(of, name);
        }
        if self.is_namespace(of) {
            return self.in_namespace(of, name);
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
        let mut found: Vec<DefinitionSite> = facts
            .named(name)
            .map(|(_, one)| one)
            .filter(fits)
            .map(|one| DefinitionSite { file: of.file, definition: one.clone() })
            .collect();
        let is_spread = matches!(
            self.language(of.file),
            Some(Language::Rust | Language::Go | Language::Cpp | Language::C)
        );
        if is_spread && found.iter().all(|one| one.definition.is_declaration) {
            let folder = super::modules::folder(self.index.path(of.file));
            let is_among = |file: FileId| {
                let language = self.language(file);
                file != of.file
                    && match self.language(of.file) {
                        // What a header may leave to a source of C++, one of C cannot give.
                        Some(Language::C) => language == Some(Language::Cpp),
                        Some(Language::Go) => super::modules::folder(self.index.path(file)) == folder,
                        _ => self.can_use(file, of.file),
                    }
            };
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
    pub(super) fn bases_of(&self, of: &DefinitionSite) -> Vec<DefinitionSite> {
        if of.definition.bases.is_empty() {
            return Vec::new();
        }
        let ask = || {
            let bases = of.definition.bases.iter();
            let found = bases.flat_map(|base| self.types_of(of.file, of.definition.span.start, base));
            found.filter(|base| base.key() != of.key()).collect()
        };
        // What a base means may hang on what type parameters stand for (scripts); what has no name has no place of
        // its own to be remembered by.
        if self.is_script(of.file) || of.definition.name_span.is_empty() {
            return ask();
        }
        self.remembered(&self.bases, of.key(), ask)
    }

    /// The type a member is of.
    pub(super) fn owner_types(&self, member: &DefinitionSite) -> Vec<DefinitionSite> {
        let outline = self.index.outline(member.file);
        let known = outline.defined_at(member.definition.name_span).next().map(|(_, one)| one);
        let definition = known.unwrap_or(&member.definition);
        if definition.owner.is_none()
            && let Some(container) = definition.container
            && let Some(container) = outline.definitions.get(container as usize)
        {
            return vec![DefinitionSite { file: member.file, definition: container.clone() }];
        }
        match owner_name(&outline, definition) {
            Some(owner) => self.type_named(member.file, owner, definition.span.start),
            None => Vec::new(),
        }
    }

    /// A type by its name, wherever the members say it is.
    fn type_named(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        let ask = || self.find_type_named(file, name, offset);
        if self.is_script(file) {
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
    pub(super) fn enclosing_type(&self, file: FileId, offset: u32) -> Vec<DefinitionSite> {
        let whole = self.index.whole(file);
        let is_candidate = |one: &Definition| {
            one.kind.is_type() && one.kind != Kind::TypeParameter
                || one.owner.is_some() && one.kind.is_callable()
        };
        match whole.1.innermost(offset, is_candidate) {
            Some(one) if one.kind.is_type() => vec![DefinitionSite { file, definition: one.clone() }],
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

    /// A member of the type around a place, which is reached without `this` (C++, Java).
    pub(super) fn implicit_member(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        if self.language(file) == Some(Language::C) {
            return Vec::new();
        }
        if self.language(file) == Some(Language::Java) {
            let levels = self.java_types_around(file, offset);
            let found = levels.iter().map(|types| self.member_of_types(types, name).found().to_vec());
            let mut found = found.filter(|found| !found.is_empty());
            return found.next().unwrap_or_default();
        }
        let types = self.enclosing_type(file, offset);
        let mut found = self.member_of_types(&types, name).found().to_vec();
        // The name of the type itself is not that of what makes it.
        found.retain(|one| one.definition.kind != Kind::Constructor);
        found
    }

    /// Whether functions or variables that stand outside of classes may have a member of their name (C++).
    pub(super) fn may_hide(&self, outside: &[DefinitionSite]) -> bool {
        let is_plain = |one: &DefinitionSite| {
            let definition = &one.definition;
            definition.scope.is_none() && !definition.kind.is_type() && definition.kind != Kind::Macro
        };
        let Some(first) = outside.first().filter(|_| outside.iter().all(is_plain)) else { return false };
        let name = &first.definition.name;
        let is_member = |file: FileId| self.index.outline(file).named(name).any(|(_, one)| one.is_member);
        self.index.defining(name).into_iter().any(is_member)
    }

    /// A name of the class in whose body a place is directly (Python).
    pub(super) fn in_class_body(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        let whole = self.index.whole(file);
        let is_around = |one: &Definition| one.kind == Kind::Class || one.kind.is_callable();
        match whole.1.innermost(offset, is_around).filter(|one| one.kind == Kind::Class) {
            Some(class) => self
                .own_members(&DefinitionSite { file, definition: class.clone() }, name)
                .into_iter()
                // One that is made later is not there yet.
                .max_by_key(|one| (one.definition.span.end <= offset, one.definition.span.start))
                .into_iter()
                .collect(),
            None => Vec::new(),
        }
    }
}
