//! Types by name.

use super::generics::place_of;
use super::type_ref::{TypeRef, has_word};
use super::types::{TRANSPARENT, Value};
use super::{DefinitionSite, Resolution, Resolver};
use crate::facts::Kind;
use crate::index::FileId;

impl Resolver<'_> {
    /// The types a text names, at a place of a file; aliases are followed.
    pub(crate) fn types_of(&self, file: FileId, offset: u32, text: &str) -> Vec<DefinitionSite> {
        let mut found = Vec::new();
        let Some(_deeper) = self.enter() else { return found };
        if let Some(types) = self.rules(file).special_types(file, offset, text) {
            return types;
        }
        for part in TypeRef::alternatives(text) {
            if let Some((file, offset, part)) = place_of(&part) {
                found.extend(self.types_of(file, offset, part));
                continue;
            }
            let of = TypeRef::parse(&part);
            let path = of.path();
            if path.is_empty() {
                continue;
            }
            if has_word(TRANSPARENT, &of.name())
                && part.contains(['<', '['])
                && let Some(inner) = of.element()
            {
                found.extend(self.types_of(file, offset, inner));
                continue;
            }
            let meaning = self.named_type(file, offset, &path);
            let named: Vec<DefinitionSite> =
                meaning.found().iter().filter(|one| one.definition.kind.is_type()).cloned().collect();
            found.extend(self.aliased(&named));
        }
        found
    }

    /// The types of a value that is being made: also a variant of an enum has fields.
    pub(crate) fn made_types(&self, file: FileId, offset: u32, text: &str) -> Vec<DefinitionSite> {
        let types = self.types_of(file, offset, text);
        if types.is_empty() { self.rules(file).made_variants(file, offset, text) } else { types }
    }

    pub(crate) fn named_type(&self, file: FileId, offset: u32, head: &str) -> Resolution {
        if matches!(head, "Self" | "self" | "this") {
            return Resolution::of(self.enclosing_type(file, offset));
        }
        let head = head.trim_matches(['"', '\'']);
        if let Some((before, last)) = head.rsplit_once("::") {
            return self.in_path(file, before, last, offset);
        }
        if let Some((before, last)) = head.rsplit_once('.') {
            let types = self.rules(file).qualified_type(head);
            if !types.is_empty() {
                return Resolution::of(types);
            }
            return self.member_of(&self.value(file, before, offset), last);
        }
        let meaning = self.name(file, head, offset);
        // A variable may be called like its type, which is known outside of it: `func (order order)`.
        let scope = match meaning.found() {
            [one] if matches!(one.definition.kind, Kind::Variable | Kind::Parameter) => one.definition.scope,
            _ => None,
        };
        match scope.and_then(|scope| scope.start.checked_sub(1)).zip(self.enter()) {
            Some((outside, _deeper)) => self.named_type(file, outside, head),
            None => meaning,
        }
    }

    /// The types behind names for types.
    pub(crate) fn aliased(&self, found: &[DefinitionSite]) -> Vec<DefinitionSite> {
        let mut all = Vec::new();
        for one in found {
            let definition = &one.definition;
            // One that is only announced here has its members elsewhere.
            if definition.kind.is_type() {
                let real = self.rules(one.file).definition_of(one);
                if !real.is_empty() {
                    all.extend(real);
                    continue;
                }
            }
            let is_alias = definition.kind == Kind::Type && !definition.declared.is_empty();
            if is_alias && self.step() {
                let is_own = TypeRef::parse(&definition.declared).path() == definition.name;
                let behind = if is_own {
                    self.struct_named(one)
                } else {
                    self.types_of(one.file, definition.span.start, &definition.declared)
                };
                if !behind.is_empty() {
                    all.extend(behind);
                    if self.rules(one.file).aliases_have_members() {
                        all.push(one.clone());
                    }
                    continue;
                }
            }
            all.push(one.clone());
        }
        all
    }

    /// `typedef struct name name;`: the structure.
    pub(crate) fn struct_named(&self, alias: &DefinitionSite) -> Vec<DefinitionSite> {
        let found = self.everywhere(&alias.definition.name, |_, other, _| {
            matches!(other.kind, Kind::Struct | Kind::Union | Kind::Enum | Kind::Class)
        });
        match self.nearest(alias.file, found) {
            Resolution::Found(found, _) => found,
            _ => Vec::new(),
        }
    }

    /// The functions or types that a call's expression names.
    pub(crate) fn called(&self, file: FileId, function: &str, offset: u32) -> Vec<DefinitionSite> {
        match self.value(file, function, offset) {
            Value::Function(found) => found,
            Value::Type(types) => {
                let mut all = Vec::new();
                for one in &types {
                    let maker = self.member_of_types(std::slice::from_ref(one), "__init__");
                    all.extend(maker.found().iter().cloned());
                    all.push(one.clone());
                }
                all
            }
            _ => Vec::new(),
        }
    }
}
