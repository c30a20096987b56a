//! The rules of TypeScript and JavaScript.

mod expected;
mod generics;
mod modules;
mod packages;
mod same;
mod text;
mod written;

use std::collections::HashSet;

use crate::facts::{Definition, ImportedName, Kind, Occurrence, Span};
use crate::index::{FileId, module_mark};
use crate::languages::Language;
use crate::resolve::languages::{Key, LanguageRules, TypeArguments, language_view};
use crate::resolve::names::is_plain_name;
use crate::resolve::type_ref::has_word;
use crate::resolve::types::Value;
use crate::resolve::{DefinitionSite, Reference, Resolution, Resolver, Want};

/// A type that a type parameter stands for, as it is understood at a place of a file.
pub(crate) type Bound = (FileId, u32, String);

/// Members of the types that the language comes with, which literals and interfaces of a program stand in for.
const BUILT_IN_MEMBERS: &str = "abort add addEventListener apply at call catch clear concat construct constructor \
    defineProperty delete deleteProperty description done entries every filter finally find flags forEach get \
    getOwnPropertyDescriptor getPrototypeOf has includes indexOf isExtensible join keys length map message name next \
    onabort ownKeys pop preventExtensions push reason reduce removeEventListener return reverse set setPrototypeOf shift \
    signal size slice some sort splice stack then throw toJSON toString unshift value valueOf values";

language_view! {
    /// TypeScript and JavaScript.
    Script
}

impl LanguageRules for Script<'_, '_> {
    fn resolver(&self) -> &Resolver<'_> {
        self.0
    }

    fn choose<'d>(&self, _: FileId, found: Vec<&'d Definition>, _: u32) -> Vec<&'d Definition> {
        let direct: Vec<&Definition> = found.iter().filter(|one| !one.is_member).copied().collect();
        if direct.is_empty() { found } else { direct }
    }

    /// What `module.exports = name` gives to who requires the file.
    fn module_value(&self, file: FileId) -> Option<Vec<DefinitionSite>> {
        if !self.is_javascript(file) {
            return None;
        }
        let outline = self.index.outline(file);
        let is_given = |one: &&Definition| one.owner.as_deref() == Some("module");
        let given = outline.named("exports").filter(is_given).last()?;
        let last = given.value.rsplit('=').next().unwrap_or_default().trim();
        if !is_plain_name(last) {
            return self.given_value(file, given);
        }
        match self.name(file, last, given.span.start) {
            Resolution::Found(found, _) => Some(found),
            _ => None,
        }
    }

    fn exported_member(&self, file: FileId, name: &str) -> Option<Vec<DefinitionSite>> {
        self.given_member(file, name)
    }

    fn is_exported(&self, definition: &Definition) -> bool {
        let is_exports = definition.owner.as_deref() == Some("exports");
        (!definition.is_member || is_exports) && definition.scope.is_none()
    }

    /// `exports.name = name` means what `name` is.
    fn export_target(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        let [one] = found.as_slice() else { return found };
        if one.definition.owner.as_deref() == Some("exports") && is_plain_name(&one.definition.value) {
            let inner = self.name(one.file, &one.definition.value, one.definition.span.start);
            if let Resolution::Found(inner, _) = inner {
                return inner;
            }
        }
        found
    }

    /// `import { a } from "b"; export { a }`.
    fn exports_imports(&self) -> bool {
        true
    }

    fn find_module_files(&self, file: FileId, module: &str) -> Vec<FileId> {
        self.script_module(self.index.path(file), module)
    }

    fn special_occurrence(
        &self,
        file: FileId,
        occurrence: &Occurrence,
        own: &[DefinitionSite],
    ) -> Option<Resolution> {
        self.script_meaning(file, occurrence, own)
    }

    fn assignments_define(&self) -> bool {
        true
    }

    fn resolve_path(&self, file: FileId, path: &str, name: &str, offset: u32) -> Resolution {
        if path.starts_with(['"', '\'']) {
            return self.imported_from(file, path.trim_matches(['"', '\'']), name);
        }
        self.member(file, path, name, offset, Want::Any)
    }

    fn named_argument(&self, file: FileId, function: &str, name: &str, offset: u32) -> Option<Resolution> {
        Some(self.attribute(file, function, name, offset))
    }

    /// `new Name` also means the constructor.
    fn after_keyword(&self, _: FileId, mut found: Vec<DefinitionSite>, before: &str) -> Vec<DefinitionSite> {
        if before.ends_with("new") {
            let constructors = self.member_of_types(&found, "constructor").found().to_vec();
            found.extend(constructors);
        }
        found
    }

    fn overloads(
        &self,
        file: FileId,
        _: &str,
        occurrence: &Occurrence,
        found: Vec<DefinitionSite>,
    ) -> Vec<DefinitionSite> {
        self.signatures_for(file, occurrence, found)
    }

    /// Whether members are given to a variable: `name.member = ...`, `name = { member: ... }`.
    fn has_members(&self, of: &DefinitionSite) -> bool {
        let outline = self.index.outline(of.file);
        let index = outline.defined_at(of.definition.name_span).next().map(|(index, _)| index);
        outline.definitions.iter().any(|one| {
            one.is_member
                && (one.owner.as_deref() == Some(&of.definition.name)
                    || one.owner.is_none()
                        && index.is_some()
                        && one.container.map(|container| container as usize) == index)
        })
    }

    /// What another block of a namespace around a place has.
    fn name_beyond_file(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        let whole = self.index.whole(file);
        let is_around = |one: &&Definition| one.span.contains(offset);
        let mut around: Vec<&Definition> =
            whole.1.of_kind(Kind::Module).map(|(_, one)| one).filter(is_around).collect();
        around.sort_by_key(|one| one.span.len());
        let within = |one: &&Definition| {
            let block = DefinitionSite::new(file, one);
            self.in_namespace(&block, name).filter(|found| !found.is_empty())
        };
        around.iter().find_map(within).map_or(Resolution::External, Resolution::of)
    }

    /// `namespace name { ... }`, and not a file.
    fn is_namespace(&self, found: &DefinitionSite) -> bool {
        let definition = &found.definition;
        definition.kind == Kind::Module && !definition.name_span.is_empty()
    }

    /// Within a namespace the name is known by itself.
    fn in_namespace(&self, of: &DefinitionSite, name: &str) -> Option<Vec<DefinitionSite>> {
        if !self.is_namespace(of) {
            return None;
        }
        let whole = self.index.whole(of.file);
        let own = whole.1.defined_at(of.definition.name_span).next().map(|(_, own)| own);
        // Blocks of one name are one namespace.
        let is_block = |one: &Definition| {
            one.kind == Kind::Module && own.is_some_and(|own| own.container == one.container)
        };
        let blocks = whole.1.numbered(&of.definition.name).filter(|(_, one)| is_block(one));
        let blocks: Vec<u32> = blocks.map(|(at, _)| at as u32).collect();
        let is_own =
            |one: &&Definition| !one.is_member && one.container.is_some_and(|at| blocks.contains(&at));
        let found = whole.1.named(name).filter(is_own);
        Some(found.map(|one| DefinitionSite::new(of.file, one)).collect())
    }

    fn binds_type_parameters(&self) -> bool {
        true
    }

    fn special_value(&self, file: FileId, text: &str, offset: u32) -> Option<Value> {
        self.required_value(file, text, offset)
    }

    fn special_name(&self, file: FileId, name: &str, offset: u32) -> Option<Value> {
        self.script_value(file, name, offset)
    }

    fn declared_this(&self, file: FileId, offset: u32) -> Option<Value> {
        self.this_parameter(file, offset)
    }

    fn parameter_value(&self, parameter: &DefinitionSite) -> Option<Value> {
        Some(self.expected_parameter(parameter))
    }

    fn external_member(&self, value: Value, name: &str) -> Value {
        match value {
            Value::Instance { .. } => self.standard_member(&value, name),
            value => self.common_member(value, name).unwrap_or(Value::External),
        }
    }

    /// Members with the type parameters of their owner replaced by what they stand for in a value.
    fn members_with_arguments(&self, value: &Value, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        if !matches!(value, Value::Instance { .. } | Value::Of(_)) {
            return found;
        }
        found.into_iter().map(|one| self.with_arguments_of(value, one)).collect()
    }

    /// A value whose type is a type parameter that stands for something.
    fn expanded(&self, value: Value) -> Value {
        match &value {
            Value::Instance { text, .. } => match self.bound_to(text) {
                Some((file, offset, text)) => Value::Instance { file, offset, text },
                None => value,
            },
            _ => value,
        }
    }

    /// What a value of a function type gives when it is called; `None` where the type is none.
    fn called_type(&self, value: &Value) -> Option<Value> {
        if !matches!(value, Value::Instance { .. }) {
            return None;
        }
        match self.returned_by(value) {
            Value::Unknown => None,
            other => Some(other),
        }
    }

    fn special_types(&self, file: FileId, offset: u32, text: &str) -> Option<Vec<DefinitionSite>> {
        Some(self.script_types(file, offset, text))
    }

    fn type_arguments(&self) -> TypeArguments {
        TypeArguments::Own
    }

    fn describes_property(&self, file: FileId, key: Span) -> bool {
        self.is_property_description(file, key)
    }

    fn joins_signatures(&self, _: bool) -> bool {
        true
    }

    /// The name by which something is used: a constructor by that of its class.
    fn searched_name(&self, target: &DefinitionSite) -> String {
        let own = &target.definition;
        let is_constructor = own.kind == Kind::Constructor;
        let class = if is_constructor { self.owner_types(target).into_iter().next() } else { None };
        class.map_or_else(|| own.name.clone(), |class| class.definition.name)
    }

    fn inherited_family(&self, found: &DefinitionSite) -> HashSet<Key> {
        let is_inherited = found.definition.is_member && found.definition.kind != Kind::Constructor;
        if !is_inherited {
            return HashSet::new();
        }
        let mut keys: HashSet<Key> = HashSet::new();
        keys.extend(self.expected_of_key(found).iter().map(DefinitionSite::key));
        let mut seen = HashSet::new();
        let mut open = self.owner_types(found);
        while let Some(one) = open.pop() {
            if !one.definition.kind.is_type() || !seen.insert(one.key()) || !self.step() {
                continue;
            }
            let members = self.own_members(&one, &found.definition.name);
            keys.extend(members.iter().map(DefinitionSite::key));
            open.extend(self.bases_of(&one));
        }
        keys
    }

    fn has_import_aliases(&self) -> bool {
        true
    }

    /// What a file exports as a whole, or as its default, is called as who imports it likes.
    fn names_of_module(&self, target: &DefinitionSite) -> Vec<(FileId, String)> {
        let (file, definition) = (target.file, &target.definition);
        let is_target = |found: &[DefinitionSite]| found.iter().any(|one| one.key() == target.key());
        let is_whole = self.module_value(file).is_some_and(|given| is_target(&given));
        let is_default = is_target(&self.exported(file, "default", &mut HashSet::new()));
        if !is_whole && !is_default {
            return Vec::new();
        }
        // `./folder` is `folder/index`.
        let path = self.index.path(file);
        let mut parts = path.rsplit('/');
        let (name, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let part = if name.starts_with("index.") { folder } else { name };
        let Some(mark) = module_mark(&format!("./{part}")) else { return Vec::new() };
        let mut found = Vec::new();
        for importer in self.index.using(&mark).into_iter().filter(|importer| *importer != file) {
            let outline = self.index.outline(importer);
            for import in outline.imports.iter().filter(|import| !import.is_reexport) {
                let is_other = |one: &&ImportedName| {
                    (one.name.is_empty() && is_whole || one.name == "default") && one.alias != definition.name
                };
                let names: Vec<&ImportedName> = import.names.iter().filter(is_other).collect();
                if !names.is_empty() && self.module_files(importer, &import.module).contains(&file) {
                    found.extend(names.into_iter().map(|one| (importer, one.alias.clone())));
                }
            }
        }
        found
    }

    fn caller(&self, target: &DefinitionSite, used: &Reference) -> Option<DefinitionSite> {
        self.calling_function(target, used)
    }

    /// Types are compared by their members, so those of the language may be asked for by name; so may any member by a
    /// text.
    fn asked_for_by(&self, target: &DefinitionSite) -> Option<String> {
        let name = &target.definition.name;
        if !target.definition.is_member {
            let is_key = target.definition.scope.is_none() && self.is_key_elsewhere(target);
            return is_key.then(|| "A text".to_owned());
        }
        if has_word(BUILT_IN_MEMBERS, name) {
            return Some("A type of the language".to_owned());
        }
        let is_given_outside =
            target.definition.kind == Kind::EnumMember && self.is_enum_given_outside(target);
        if is_given_outside || self.is_key_of_unknown_type(target) {
            return Some("A type that is not known".to_owned());
        }
        let source = self.index.source(target.file);
        let is_text = ['"', '\'', '`'].iter().any(|quote| source.contains(&format!("{quote}{name}{quote}")));
        if is_text || self.is_key_elsewhere(target) {
            return Some("A text".to_owned());
        }
        self.external_base(target)
    }

    fn is_library_member(&self, name: &str, _: Want) -> bool {
        has_word(BUILT_IN_MEMBERS, name)
    }

    fn properties_are_functions(&self) -> bool {
        true
    }
}

impl Script<'_, '_> {
    /// Whether a text in another file names a member: `value['name']`, `Omit<Type, 'name'>`.
    fn is_key_elsewhere(&self, target: &DefinitionSite) -> bool {
        let name = &target.definition.name;
        // A file that has the name in texts alone uses it nowhere.
        let files = self.index.entries().map(|(file, _)| file);
        let others = files.filter(|file| *file != target.file && self.can_use(*file, target.file));
        { others }.any(|file| {
            let source = self.index.source(file);
            ['"', '\''].iter().any(|quote| {
                let quoted = format!("{quote}{name}{quote}");
                source.match_indices(&quoted).any(|(at, _)| {
                    let line = source[..at].rsplit('\n').next().unwrap_or_default();
                    let is_index = line.ends_with('[') && source[at + quoted.len()..].starts_with(']');
                    is_index || line.contains("Pick<") || line.contains("Omit<")
                })
            })
        })
    }

    fn is_javascript(&self, file: FileId) -> bool {
        self.language(file) == Some(Language::JavaScript)
    }
}
