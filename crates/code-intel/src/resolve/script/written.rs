//! Types as they are written: without a name, generic, of the standard library.

use super::Bound;
use super::text::{self, function_type, parts, unwrapped};
use crate::facts::{Definition, Kind, Span};
use crate::index::FileId;
use crate::languages::Language;
use crate::resolve::type_text::head;
use crate::resolve::types::Value;
use crate::resolve::{DefinitionSite, Resolution, Resolver};

/// Types that have the members of what they are given first.
const SAME_MEMBERS: &[&str] = &[
    "Awaited",
    "Exclude",
    "Extract",
    "InstanceType",
    "NonNullable",
    "Omit",
    "Partial",
    "Pick",
    "Promise",
    "PromiseLike",
    "Readonly",
    "Required",
];

impl Resolver<'_> {
    pub(in crate::resolve) fn is_script_value(&self, value: &Value) -> bool {
        matches!(value, Value::Instance { file, .. } if self.is_script(*file))
    }

    /// What a member of a list, a map or a promise of the standard library gives.
    pub(in crate::resolve) fn standard_member(&self, value: &Value, name: &str) -> Value {
        let Value::Instance { file, offset, text } = value else { return Value::External };
        let text = unwrapped(text).to_owned();
        let is_known = text.ends_with("[]")
            || matches!(
                head(&text).as_str(),
                "Array" | "ReadonlyArray" | "Set" | "Map" | "WeakMap" | "ReadonlyMap" | "ReadonlySet"
            );
        let this = Value::Instance { file: *file, offset: *offset, text };
        match name {
            "pop" | "shift" | "at" | "find" | "findLast" | "get" if is_known => {
                self.expanded(self.element(this))
            }
            "slice" | "filter" | "concat" | "reverse" | "sort" | "values" | "toSorted" | "splice"
                if is_known =>
            {
                this
            }
            _ => Value::External,
        }
    }

    /// A value whose type is a type parameter that stands for something.
    pub(in crate::resolve) fn expanded(&self, value: Value) -> Value {
        match &value {
            Value::Instance { text, .. } => match self.bound_to(text) {
                Some((file, offset, text)) => Value::Instance { file, offset, text },
                None => value,
            },
            _ => value,
        }
    }

    pub(in crate::resolve) fn bound_to(&self, text: &str) -> Option<Bound> {
        let place: usize = text.trim().strip_prefix(text::PARAMETER)?.parse().ok()?;
        self.bound.borrow().get(place).cloned()
    }

    pub(in crate::resolve) fn types_of_value(&self, value: &Value) -> Vec<DefinitionSite> {
        match value {
            Value::Instance { file, offset, text } => self.types_of(*file, *offset, text),
            Value::Of(types) | Value::Type(types) => types.clone(),
            _ => Vec::new(),
        }
    }

    /// The types a text names; those without a name are made up as types whose members stand in the text.
    pub(in crate::resolve) fn script_types(
        &self,
        file: FileId,
        offset: u32,
        text: &str,
    ) -> Vec<DefinitionSite> {
        let mut found = Vec::new();
        for part in parts(text) {
            if !self.step() {
                break;
            }
            if let Some((file, offset, text)) = self.bound_to(part) {
                found.extend(self.types_of(file, offset, &text));
            } else if part.starts_with('{') {
                found.extend(self.inline_type(file, offset, part));
            } else if function_type(part).is_some() || part.ends_with("[]") {
                // Functions and lists have the members of the standard library.
            } else if let Some(of) = part.strip_prefix("typeof ") {
                found.extend(self.types_of_value(&self.value(file, of, offset)));
            } else if let Some((of, key)) = text::indexed(part) {
                let of = Value::Instance { file, offset, text: of.to_owned() };
                if let Resolution::Found(members, _) = self.member_of(&of, key) {
                    found.extend(self.types_of_value(&self.value_of_found(&members)));
                }
            } else if let Some((module, path)) = text::imported_type(part) {
                let mut names = path.split('.');
                let first = names.next().unwrap_or_default();
                let mut meaning = self.in_path(file, module, first, offset);
                for name in names {
                    meaning = self.member_of(&self.value_of_found(meaning.found()), name);
                }
                found.extend(self.aliased(meaning.found()));
            } else {
                found.extend(self.generic_type(file, offset, part));
            }
        }
        found
    }

    /// `namespace name { ... }`, and not a file.
    pub(in crate::resolve) fn is_namespace(&self, found: &DefinitionSite) -> bool {
        let definition = &found.definition;
        definition.kind == Kind::Module && !definition.name_span.is_empty() && self.is_script(found.file)
    }

    /// What a namespace has by a name; within it the name is known by itself.
    pub(in crate::resolve) fn in_namespace(&self, of: &DefinitionSite, name: &str) -> Vec<DefinitionSite> {
        let whole = self.index.whole(of.file);
        let at = whole.1.defined_at(of.definition.name_span).next().map(|(at, _)| at as u32);
        let is_own = |one: &&Definition| !one.is_member && one.container == at && at.is_some();
        let found = whole.1.named(name).map(|(_, one)| one).filter(is_own);
        found.map(|one| DefinitionSite { file: of.file, definition: one.clone() }).collect()
    }

    /// `Name<Arguments>`.
    fn generic_type(&self, file: FileId, offset: u32, text: &str) -> Vec<DefinitionSite> {
        let head = head(text);
        if SAME_MEMBERS.contains(&head.as_str()) && text.contains('<') {
            let inner = text::first_argument(text);
            return inner.map(|inner| self.types_of(file, offset, inner)).unwrap_or_default();
        }
        if head == "ReturnType" {
            let Some(function) = text::first_argument(text) else { return Vec::new() };
            let function = match function.trim().strip_prefix("typeof ") {
                Some(function) => self.value(file, function, offset),
                None => Value::Instance { file, offset, text: function.to_owned() },
            };
            return self.types_of_value(&self.returned_by(&function));
        }
        if head.is_empty() {
            return Vec::new();
        }
        let named = self.named_type(file, offset, &head).found().to_vec();
        // In JavaScript a function can make instances.
        let is_plain = self.language(file) == Some(Language::JavaScript);
        let makes =
            |one: &DefinitionSite| one.definition.kind.is_type() || is_plain && one.definition.is_callable();
        let named: Vec<DefinitionSite> = named.into_iter().filter(makes).collect();
        self.aliased(&named)
    }

    /// A type `{ ... }` without a name, as a definition of its own.
    fn inline_type(&self, file: FileId, offset: u32, text: &str) -> Option<DefinitionSite> {
        let whole = self.index.whole(file);
        // Behind the name, or in the comment before it.
        let (before, after) = whole.0.split_at_checked(offset as usize)?;
        let start = after.find(text).map(|at| before.len() + at).or_else(|| before.rfind(text))?;
        let span = Span { start: start as u32, end: (start + text.len()) as u32 };
        let mut found = self.module_meaning(file).found().first()?.clone();
        found.definition = Definition {
            name: String::new(),
            kind: Kind::Type,
            span,
            name_span: span,
            // Its members are not looked for in the outline.
            scope: Some(span),
            ..found.definition
        };
        Some(found)
    }

    /// The members of a type without a name: those that stand in its braces and in no others.
    pub(in crate::resolve) fn inline_members(&self, of: &DefinitionSite, name: &str) -> Vec<DefinitionSite> {
        let whole = self.index.whole(of.file);
        let span = of.definition.span;
        let depth = |at: u32| {
            let before = Span { start: span.start, end: at }.of(&whole.0);
            before.matches(['{', '(']).count()
                - before.matches(['}', ')']).count().min(before.matches(['{', '(']).count())
        };
        let is_own =
            |one: &&Definition| one.is_member && span.contains(one.span.start) && depth(one.span.start) == 1;
        let found = whole.1.named(name).map(|(_, one)| one).filter(is_own);
        found.map(|one| DefinitionSite { file: of.file, definition: one.clone() }).collect()
    }
}
