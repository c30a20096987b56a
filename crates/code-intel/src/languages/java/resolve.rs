//! The rules of Java.

use std::collections::HashSet;

use crate::facts::{Definition, Import, ImportedName, Kind, NAMELESS, Occurrence};
use crate::index::FileId;
use crate::resolve::languages::{Key, LanguageRules, language_view, with_body};
use crate::resolve::names::Seen;
use crate::resolve::type_ref::TypeRef;
use crate::resolve::types::Value;
use crate::resolve::{DefinitionSite, Resolution, Resolver};

language_view! {
    /// Java.
    Java
}

impl LanguageRules for Java<'_, '_> {
    fn resolver(&self) -> &Resolver<'_> {
        self.0
    }

    fn name_beyond_file(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        let member = self.implicit_member(file, name, offset);
        if member.is_empty() { self.in_java_package(file, name, offset) } else { Resolution::of(member) }
    }

    fn has_wildcard_imports(&self) -> bool {
        false
    }

    /// What `import a.b.Type.member` or `import a.b.Outer.Inner` brings.
    fn resolve_import(
        &self,
        _: FileId,
        import: &Import,
        imported: &ImportedName,
        _: &mut Seen,
    ) -> Option<Resolution> {
        let types = self.java_type_named(&import.module);
        if !types.is_empty() {
            return Some(Resolution::of(types));
        }
        Some(match import.module.rsplit_once('.') {
            Some((of, _)) => match self.java_type_named(of) {
                types if types.is_empty() => Resolution::External,
                types => self.member_of_types(&types, &imported.name),
            },
            None => Resolution::External,
        })
    }

    fn find_module_files(&self, _: FileId, module: &str) -> Vec<FileId> {
        self.java_files(module)
    }

    /// `new Type(...)` also means the constructor.
    fn after_keyword(&self, _: FileId, found: Vec<DefinitionSite>, before: &str) -> Vec<DefinitionSite> {
        if before.ends_with("new") { self.with_constructors(found) } else { found }
    }

    fn overloads(
        &self,
        _: FileId,
        text: &str,
        occurrence: &Occurrence,
        found: Vec<DefinitionSite>,
    ) -> Vec<DefinitionSite> {
        self.taking_arguments(text, occurrence, found, |_, _| true, |found, _| found)
    }

    /// A name that is written with its package.
    fn value_otherwise(&self, _: FileId, text: &str, _: u32, value: &Value) -> Option<Value> {
        let is_path = text.contains('.')
            && text.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '.'));
        if !is_path || !matches!(value, Value::External | Value::Unknown) {
            return None;
        }
        let types = self.java_type_named(text);
        (!types.is_empty()).then_some(Value::Type(types))
    }

    fn preferred(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        with_body(found)
    }

    /// What a method of a collection, a stream or an optional gives.
    fn library_member(&self, value: &Value, name: &str) -> Option<Value> {
        let Value::Instance { file, offset, text } = value else { return None };
        if !text.contains(['<', '[']) {
            return None;
        }
        let made = |text: String| Some(Value::Instance { file: *file, offset: *offset, text });
        let arguments = TypeRef::parse(text).arguments();
        match name {
            "get" | "getOrDefault" | "next" | "previous" | "first" | "last" | "getFirst" | "getLast"
            | "remove" | "poll" | "peek" | "pop" | "element" | "orElse" | "orElseThrow" | "orElseGet"
            | "join" | "take" | "pollFirst" | "pollLast" | "peekFirst" | "peekLast" | "removeFirst"
            | "removeLast" | "put" | "computeIfAbsent" | "putIfAbsent" | "set" => {
                Some(self.element(value.clone()))
            }
            "entrySet" => made(format!("Set<Map.Entry<{}>>", arguments.join(", "))),
            "getKey" | "getValue" => made((*arguments.get(usize::from(name == "getValue"))?).to_owned()),
            "keySet" => made(format!("Set<{}>", arguments.first()?)),
            "values" => match self.element(value.clone()) {
                Value::Instance { file, offset, text } => {
                    Some(Value::Instance { file, offset, text: format!("Collection<{text}>") })
                }
                other => Some(other),
            },
            "stream" | "parallelStream" | "filter" | "sorted" | "distinct" | "limit" | "skip"
            | "iterator" | "listIterator" | "subList" | "toList" | "findFirst" | "findAny" | "max"
            | "min" | "reversed" | "descendingIterator" | "takeWhile" | "dropWhile" | "of" | "clone" => {
                Some(value.clone())
            }
            _ => None,
        }
    }

    fn qualified_type(&self, path: &str) -> Vec<DefinitionSite> {
        self.java_type_named(path)
    }

    /// Methods that override each other, and a type with its constructors.
    fn renamed_with(&self, one: &DefinitionSite) -> HashSet<Key> {
        let mut keys = self.overridden(one);
        keys.extend(self.called_like_type(one));
        keys
    }

    fn overridden(&self, target: &DefinitionSite) -> HashSet<Key> {
        self.overridden_in_bases(target)
    }

    fn constructs(&self, found: &DefinitionSite, target: &DefinitionSite) -> bool {
        self.is_constructor_of(found, target)
    }
}

impl Java<'_, '_> {
    fn in_java_package(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        let outline = self.index.outline(file);
        let wildcards: Vec<&str> = outline
            .imports
            .iter()
            .filter(|import| import.names.iter().any(|imported| imported.name == "*"))
            .map(|import| import.module.as_str())
            .collect();
        let found = self.everywhere(name, |_, definition, facts| {
            definition.kind.is_type()
                && !definition.is_member
                && (facts.package == outline.package || wildcards.contains(&facts.package.as_str()))
        });
        if !found.is_empty() {
            // The package's own come before those of others.
            let (own, others): (Vec<DefinitionSite>, Vec<DefinitionSite>) =
                found.into_iter().partition(|one| self.index.outline(one.file).package == outline.package);
            return Resolution::of(if own.is_empty() { others } else { own });
        }
        // `import static a.Type.*`.
        for module in wildcards {
            let member = self.member_of_types(&self.java_type_named(module), name);
            if !member.found().is_empty() {
                return member;
            }
        }
        self.in_switch(file, name, offset)
    }

    /// The type of a whole name, also one in another: `a.b.Type`, `a.b.Outer.Inner`.
    fn java_type_named(&self, path: &str) -> Vec<DefinitionSite> {
        let mut outer = path;
        let mut inner: Vec<&str> = Vec::new();
        loop {
            let last = outer.rsplit('.').next().unwrap_or(outer);
            for file in self.java_files(outer) {
                let outline = self.index.outline(file);
                let is_it = |one: &&Definition| one.name == last && one.kind.is_type() && !one.is_member;
                if let Some(found) = outline.definitions.iter().find(is_it) {
                    let mut found = vec![DefinitionSite::new(file, found)];
                    for part in inner.iter().rev() {
                        found = self.member_of_types(&found, part).found().to_vec();
                    }
                    found.retain(|one| one.definition.kind.is_type());
                    return found;
                }
            }
            let Some((before, last)) = outer.rsplit_once('.') else { return Vec::new() };
            inner.push(last);
            outer = before;
        }
    }

    /// `case NAME:` of a switch over an enum.
    fn in_switch(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        let whole = self.index.whole(file);
        let before = whole.0.get(..offset as usize).unwrap_or_default();
        let line = before.trim_end().rsplit(['\n', ';', '{', '}']).next().unwrap_or_default().trim_start();
        if !line.starts_with("case") {
            return Resolution::External;
        }
        let subject = before.rfind("switch").and_then(|at| {
            let inside = before.get(at + "switch".len()..)?.trim_start().strip_prefix('(')?;
            inside.split_once(')').map(|(subject, _)| subject)
        });
        let Some(subject) = subject else { return Resolution::External };
        let value = self.value(file, subject, offset);
        match self.member_of(&value, name) {
            Resolution::Found(found, certainty) => Resolution::Found(found, certainty),
            _ if matches!(value, Value::Unknown) => self.only_member(file, name, true),
            _ => Resolution::External,
        }
    }

    /// The types around a place, from the inside out: the members of all of them are known there.
    fn java_types_around(&self, file: FileId, offset: u32) -> Vec<Vec<DefinitionSite>> {
        let whole = self.index.whole(file);
        let mut around: Vec<&Definition> = whole
            .1
            .definitions
            .iter()
            .filter(|one| one.span.contains(offset))
            .filter(|one| {
                one.kind.is_type() && one.kind != Kind::TypeParameter
                    || one.owner.as_ref().is_some_and(|owner| owner.ends_with(NAMELESS))
            })
            .collect();
        around.sort_by_key(|one| one.span.len());
        let mut seen = HashSet::new();
        let mut levels = Vec::new();
        for one in around {
            match one.owner.as_deref().and_then(|owner| owner.strip_suffix(NAMELESS)) {
                Some(base) if !one.kind.is_type() => {
                    if seen.insert(base.to_owned()) {
                        // Its name is understood outside of all types, not among its own members.
                        levels.push(self.types_of(file, 0, base));
                    }
                }
                _ => levels.push(vec![DefinitionSite::new(file, one)]),
            }
        }
        levels
    }

    /// The files that a type of this whole name may stand in.
    fn java_files(&self, module: &str) -> Vec<FileId> {
        let ending = format!("{}.java", module.replace('.', "/"));
        let name = ending.rsplit('/').next().unwrap_or_default();
        let is_meant = |id: &FileId| {
            let path = self.index.path(*id);
            path == ending || path.strip_suffix(&ending).is_some_and(|before| before.ends_with('/'))
        };
        self.index.files_called(name).into_iter().filter(is_meant).collect()
    }

    /// `new Type(...)` in Java also means what makes it.
    fn with_constructors(&self, mut found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        let makers: Vec<DefinitionSite> = found
            .iter()
            .filter(|one| one.definition.kind.is_type())
            .flat_map(|one| self.own_members(one, &one.definition.name))
            .filter(|one| one.definition.kind == Kind::Constructor)
            .collect();
        found.extend(makers);
        found
    }

    /// A member of one of the types around a place.
    fn implicit_member(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        let levels = self.java_types_around(file, offset);
        let found = levels.iter().map(|types| self.member_of_types(types, name).found().to_vec());
        let mut found = found.filter(|found| !found.is_empty());
        found.next().unwrap_or_default()
    }
}
