//! Types as they are written: without a name, generic, of the standard library.

use super::Bound;
use super::text::{self, function_type, parts, unwrapped};
use super::{LanguageRules, Script};
use crate::facts::{Definition, Kind, Span};
use crate::index::FileId;
use crate::resolve::type_ref::{TypeRef, has_word};
use crate::resolve::types::Value;
use crate::resolve::{DefinitionSite, Resolution};

/// Types that have the members of what they are given first.
const SAME_MEMBERS: &str = "Awaited Exclude Extract InstanceType NonNullable Omit Partial Pick Promise PromiseLike Readonly \
    Required";

impl Script<'_, '_> {
    /// What a member of a list, a map or a promise of the standard library gives.
    pub(super) fn standard_member(&self, value: &Value, name: &str) -> Value {
        let Value::Instance { file, offset, text } = value else { return Value::External };
        let text = unwrapped(text).to_owned();
        let is_known = text.ends_with("[]")
            || matches!(
                TypeRef::parse(&text).path().as_str(),
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

    pub(super) fn bound_to(&self, text: &str) -> Option<Bound> {
        let place: usize = text.trim().strip_prefix(text::PARAMETER)?.parse().ok()?;
        self.bound.borrow().get(place).cloned()
    }

    pub(super) fn types_of_value(&self, value: &Value) -> Vec<DefinitionSite> {
        match value {
            Value::Instance { file, offset, text } => self.types_of(*file, *offset, text),
            Value::Of(types) | Value::Type(types) => types.clone(),
            _ => Vec::new(),
        }
    }

    /// The types a text names; those without a name are made up as types whose members stand in the text.
    pub(super) fn script_types(&self, file: FileId, offset: u32, text: &str) -> Vec<DefinitionSite> {
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

    /// `Name<Arguments>`.
    fn generic_type(&self, file: FileId, offset: u32, text: &str) -> Vec<DefinitionSite> {
        let path = TypeRef::parse(text).path();
        if has_word(SAME_MEMBERS, &path) && text.contains('<') {
            let inner = text::first_argument(text);
            return inner.map(|inner| self.types_of(file, offset, inner)).unwrap_or_default();
        }
        if path == "ReturnType" {
            let Some(function) = text::first_argument(text) else { return Vec::new() };
            let function = match function.trim().strip_prefix("typeof ") {
                Some(function) => self.value(file, function, offset),
                None => Value::Instance { file, offset, text: function.to_owned() },
            };
            return self.types_of_value(&self.returned_by(&function));
        }
        if path.is_empty() {
            return Vec::new();
        }
        let named = self.named_type(file, offset, &path).found().to_vec();
        // In JavaScript a function can make instances.
        let is_plain = self.is_javascript(file);
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
}
