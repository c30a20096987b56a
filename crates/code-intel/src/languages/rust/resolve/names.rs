//! Paths and modules of Rust.

use std::collections::HashSet;

use super::Rust;
use crate::facts::{Definition, Facts, Kind};
use crate::index::FileId;
use crate::resolve::languages::LanguageRules as _;
use crate::resolve::names::{Seen, without_generics};
use crate::resolve::{DefinitionSite, Resolution};

impl Rust<'_, '_> {
    pub(super) fn rust_name(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        match name {
            "crate" => {
                return self.crate_root(file).map_or(Resolution::Unknown, |root| self.module_meaning(root));
            }
            "self" => return self.module_meaning(file),
            "super" => {
                return self
                    .rust_module(file, "super")
                    .map_or(Resolution::Unknown, |found| self.module_meaning(found));
            }
            "Self" => {
                let types = self.enclosing_type(file, offset);
                return Resolution::of(types);
            }
            _ => {}
        }
        // What a module in braces has may be brought by a macro or a wildcard.
        let hidden = self.exported(file, name, &mut Seen::new());
        if !hidden.is_empty() {
            return Resolution::of(hidden);
        }
        // A macro is known in the whole crate.
        let macros = self.everywhere(name, |_, definition, _| definition.kind == Kind::Macro);
        if macros.is_empty() {
            Resolution::External
        } else {
            Resolution::of(macros.into_iter().take(1).collect())
        }
    }

    /// A whole path in Rust: `crate::a::B`.
    pub(super) fn rust_path(&self, file: FileId, path: &str, seen: &mut Seen) -> Resolution {
        let Some(_deeper) = self.enter() else { return Resolution::Unknown };
        let path = path.trim_start_matches("::");
        let Some((before, last)) = path.rsplit_once("::") else {
            return self
                .rust_module(file, path)
                .map_or(Resolution::External, |found| self.module_meaning(found));
        };
        if let Some(module) = self.rust_module(file, before) {
            let found = self.exported(module, last, seen);
            if !found.is_empty() {
                return Resolution::of(found);
            }
            return self
                .rust_module(file, path)
                .map_or(Resolution::Unknown, |found| self.module_meaning(found));
        }
        // The path goes through a type or a re-exported module.
        let outer = if before.contains("::") {
            self.rust_path(file, before, seen)
        } else {
            self.name(file, before, 0)
        };
        match outer {
            Resolution::Found(found, _) => self.within_found(&found, last),
            other => other,
        }
    }

    /// `path::name` in Rust.
    pub(super) fn in_rust_path(&self, file: FileId, path: &str, name: &str, offset: u32) -> Resolution {
        let plain = without_generics(path);
        let whole = format!("{plain}::{name}");
        let first = plain.split("::").next().unwrap_or(&plain);
        let is_local_path = matches!(first, "crate" | "$crate" | "self" | "super");
        if first == "super"
            && let Some(meaning) = self.above_braces(file, &plain, name, offset)
        {
            return meaning;
        }
        if let Some(meaning) = self.as_trait(file, path, name, offset) {
            return meaning;
        }
        if plain == "Self" {
            let own = self.of_this_impl(file, name, offset);
            if !own.is_empty() {
                return Resolution::of(own);
            }
        }
        if !is_local_path {
            let outer = if plain.contains("::") {
                let (before, last) = plain.rsplit_once("::").unwrap_or(("", &plain));
                self.in_path(file, before, last, offset)
            } else {
                self.name(file, &plain, offset)
            };
            return match outer {
                Resolution::Found(found, _) => match self.within_found(&self.aliased(&found), name) {
                    Resolution::Unknown => self.only_member(file, name, true),
                    other => other,
                },
                // The first part may be another crate of the workspace.
                other => match self.rust_path(file, &whole, &mut Seen::new()) {
                    Resolution::Found(found, certainty) => Resolution::Found(found, certainty),
                    // `u8::name`, by a trait of the workspace.
                    _ => match self.member_of_foreign(&plain, name) {
                        given if given.is_empty() => other,
                        given => Resolution::of(given),
                    },
                },
            };
        }
        self.rust_path(file, &whole, &mut Seen::new())
    }

    /// A name in a module in braces.
    pub(super) fn in_braces(&self, module: &DefinitionSite, name: &str) -> Vec<DefinitionSite> {
        let outline = self.index.outline(module.file);
        let of = module.definition.name_span;
        let defined = outline.defined_at(of).next().filter(|_| !of.is_empty());
        let Some((index, _)) = defined else {
            return Vec::new();
        };
        let fits = |one: &&Definition| !one.is_member && one.container == Some(index as u32);
        let found = outline.named(name).find(fits);
        found.map(|one| DefinitionSite::new(module.file, one)).into_iter().collect()
    }

    /// `super::name` in a module in braces; `None` where the place is in none.
    fn above_braces(&self, file: FileId, path: &str, name: &str, offset: u32) -> Option<Resolution> {
        let whole = self.index.whole(file);
        let facts = &whole.1;
        let mut rest = path;
        let mut levels = Some(module_at(facts, offset)?);
        while let (Some(level), Some(after)) = (levels, rest.strip_prefix("super")) {
            levels = facts.definitions.get(level as usize).and_then(|one| module_of(facts, one));
            rest = after.trim_start_matches("::");
            if rest.starts_with("super") && levels.is_none() {
                // Further up there are other files.
                return Some(self.rust_path(file, &format!("{rest}::{name}"), &mut HashSet::new()));
            }
        }
        let first = if rest.is_empty() { name } else { rest.split("::").next().unwrap_or(rest) };
        let is_there =
            |one: &&Definition| !one.is_member && one.scope.is_none() && module_of(facts, one) == levels;
        let found: Vec<DefinitionSite> =
            facts.named(first).filter(is_there).map(|one| DefinitionSite::new(file, one)).collect();
        if rest.is_empty() {
            return if found.is_empty() { None } else { Some(Resolution::of(found)) };
        }
        let mut found = Resolution::of(found);
        for part in rest.split("::").skip(1).chain([name]) {
            found = self.within_found(found.found(), part);
        }
        Some(found)
    }

    /// `<Type as Trait>::name`.
    fn as_trait(&self, file: FileId, path: &str, name: &str, offset: u32) -> Option<Resolution> {
        let inside = path.trim().strip_prefix('<')?.strip_suffix('>')?;
        let (of, implemented) = inside.rsplit_once(" as ")?;
        let types = self.types_of(file, offset, of);
        let own = self.member_of_types(&types, name);
        if !types.is_empty() && !own.found().is_empty() {
            return Some(own);
        }
        Some(self.member_of_types(&self.types_of(file, offset, implemented), name))
    }

    /// A name within modules and types that were found.
    fn within_found(&self, found: &[DefinitionSite], name: &str) -> Resolution {
        for one in found {
            if one.definition.kind == Kind::Module {
                let module = if one.definition.is_declaration {
                    self.rust_module(one.file, &format!("self::{}", one.definition.name))
                } else {
                    Some(one.file)
                };
                let inside = self.in_braces(one, name);
                if !inside.is_empty() {
                    return Resolution::of(inside);
                }
                let inside =
                    module.map(|module| self.exported(module, name, &mut Seen::new())).unwrap_or_default();
                if !inside.is_empty() {
                    return Resolution::of(inside);
                }
            }
        }
        let types: Vec<DefinitionSite> =
            found.iter().filter(|one| one.definition.kind.is_type()).cloned().collect();
        if types.is_empty() {
            return Resolution::Unknown;
        }
        self.member_of_types(&types, name)
    }
}

/// Of the definitions of a name at the top levels of a file those that are seen from a place: the modules in braces
/// around it are looked at from the inside out, others not at all.
pub(super) fn seen_in_modules<'d>(
    facts: &'d Facts,
    found: Vec<&'d Definition>,
    offset: u32,
) -> Vec<&'d Definition> {
    if offset == u32::MAX || found.iter().any(|one| one.scope.is_some()) {
        return found.into_iter().take(1).collect();
    }
    let mut around = Some(module_at(facts, offset));
    while let Some(module) = around {
        let inside: Vec<&Definition> =
            found.iter().filter(|one| module_of(facts, one) == module).copied().collect();
        if !inside.is_empty() {
            return inside.into_iter().take(1).collect();
        }
        around = module
            .map(|module| facts.definitions.get(module as usize).and_then(|module| module_of(facts, module)));
    }
    Vec::new()
}

/// The innermost module in braces around a place.
fn module_at(facts: &Facts, offset: u32) -> Option<u32> {
    let modules =
        facts.of_kind(Kind::Module).filter(|(_, one)| !one.is_declaration && one.span.contains(offset));
    modules.min_by_key(|(_, one)| one.span.len()).map(|(index, _)| index as u32)
}

/// The module in braces that a definition stands in.
pub(super) fn module_of(facts: &Facts, definition: &Definition) -> Option<u32> {
    const DEEPEST: usize = 32;
    let mut container = definition.container;
    for _ in 0..DEEPEST {
        let index = container?;
        let outer = facts.definitions.get(index as usize)?;
        if outer.kind == Kind::Module {
            return Some(index);
        }
        container = outer.container;
    }
    None
}
