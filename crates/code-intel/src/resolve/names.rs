//! Names that stand alone or at the end of a path.

use std::collections::HashSet;

use super::cpp::in_nearest_namespace;
use super::modules::{folder, join_python};
use super::rust::is_lifetime;
use super::rust_names::seen_in_modules;
use super::{Certainty, DefinitionSite, Resolution, Resolver, scope_size};
use crate::facts::{Definition, Import, ImportedName, Kind, Occurrence, Position, Span};
use crate::index::FileId;
use crate::languages::Language;

/// What has been looked at on the way through re-exports.
pub(super) type Seen = HashSet<(FileId, String)>;

impl Resolver<'_> {
    /// A name that stands alone at a place.
    pub(super) fn name(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        let Some(_deeper) = self.enter() else { return Resolution::Unknown };
        let language = self.language(file);
        if language == Some(Language::Python) && matches!(name, "__name__" | "__file__" | "__doc__") {
            return self.module_meaning(file);
        }
        let local = self.local(file, name, offset);
        let is_import = |found: &DefinitionSite| found.definition.value.contains("require(");
        if !local.is_empty() && !local.iter().any(is_import) {
            // The members of the class around are nearer than what stands outside of it.
            if language == Some(Language::Cpp) && self.may_hide(&local) {
                let member = self.implicit_member(file, name, offset);
                if !member.is_empty() {
                    return Resolution::of(member);
                }
            }
            return Resolution::of(local);
        }
        if let Some(meaning) = self.by_import(file, name, offset) {
            match meaning {
                // What is required and not found here is at least the variable it is given to.
                Resolution::External | Resolution::Unknown if !local.is_empty() => {
                    return Resolution::of(local);
                }
                meaning => return meaning,
            }
        }
        if !local.is_empty() {
            return Resolution::of(local);
        }
        match language {
            Some(Language::Go) => self.in_package(file, name),
            Some(Language::C | Language::Cpp) => {
                let member = self.implicit_member(file, name, offset);
                if member.is_empty() { self.global(file, name, offset) } else { Resolution::of(member) }
            }
            Some(Language::Java) => {
                let member = self.implicit_member(file, name, offset);
                if member.is_empty() {
                    self.in_java_package(file, name, offset)
                } else {
                    Resolution::of(member)
                }
            }
            Some(Language::Rust) => self.rust_name(file, name, offset),
            Some(Language::Python) => {
                let member = self.in_class_body(file, name, offset);
                if member.is_empty() { Resolution::External } else { Resolution::of(member) }
            }
            _ => Resolution::External,
        }
    }

    /// In the scopes of the file around a place, then at its top level.
    pub(super) fn local(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        let whole = self.index.whole(file);
        let mut best: Option<u32> = None;
        let mut found: Vec<&Definition> = Vec::new();
        let outside = if self.is_python(file) { self.outside_of(file, offset) } else { None };
        let is_name = |one: &&Definition| {
            !one.is_member && !is_lifetime(one) && (outside.is_none() || one.scope != outside)
        };
        for definition in whole.1.named(name).map(|(_, one)| one).filter(is_name) {
            let Some(size) = scope_size(definition.scope, offset) else { continue };
            if best.is_none_or(|best| size < best) {
                best = Some(size);
                found.clear();
            }
            if best == Some(size) {
                found.push(definition);
            }
        }
        let found = if best == Some(u32::MAX) && self.is_rust(file) {
            seen_in_modules(&whole.1, found, offset)
        } else if best == Some(u32::MAX) && found.len() > 1 && self.language(file) == Some(Language::Cpp) {
            in_nearest_namespace(&whole.1, found, offset)
        } else {
            found
        };
        let chosen = self.chosen(file, found, offset);
        chosen.into_iter().map(|definition| DefinitionSite { file, definition: definition.clone() }).collect()
    }

    /// Of several definitions of a name in one scope those that are meant.
    fn chosen<'d>(&self, file: FileId, found: Vec<&'d Definition>, offset: u32) -> Vec<&'d Definition> {
        if found.len() < 2 {
            return found;
        }
        let is_python = self.language(file) == Some(Language::Python);
        if let Some(parameter) = found.iter().find(|one| one.kind == Kind::Parameter && !is_python) {
            return vec![parameter];
        }
        match self.language(file) {
            // A name that is bound again hides the one before; of what stands for others the first is meant.
            Some(Language::Rust) => {
                let first = found.iter().find(|one| one.scope.is_none());
                first.or(found.last()).copied().into_iter().collect()
            }
            Some(Language::Python) => {
                // Signatures that are there for type checkers come behind the function.
                let (signatures, real): (Vec<&Definition>, Vec<&Definition>) =
                    found.iter().copied().partition(|one| one.is_declaration);
                let mut found = if real.is_empty() { return found } else { real };
                let is_variable =
                    |one: &&Definition| matches!(one.kind, Kind::Variable | Kind::Constant | Kind::Parameter);
                if found.iter().all(is_variable) {
                    // Each assignment makes the name; the one before the place comes first.
                    if let Some(at) = found.iter().rposition(|one| one.span.start <= offset) {
                        let last = found.remove(at);
                        found.insert(0, last);
                    }
                    return found;
                }
                let mut chosen = self.chosen_python(file, found, offset);
                if chosen.iter().any(|one| one.is_callable()) {
                    chosen.extend(signatures);
                }
                chosen
            }
            Some(Language::C | Language::Cpp) => {
                let found = self.built(file, found);
                let real: Vec<&Definition> =
                    found.iter().filter(|one| !one.is_declaration).copied().collect();
                // The name of a template is not what is said of it for some types: `struct Name<int>`.
                let whole = self.index.whole(file);
                let is_general = |one: &&Definition| {
                    let after = whole.0.get(one.name_span.end as usize..).unwrap_or_default();
                    !one.kind.is_type() || !after.starts_with('<')
                };
                let general: Vec<&Definition> = real.iter().copied().filter(is_general).collect();
                let real = if general.is_empty() { real } else { general };
                // `struct name { ... } name;`: alone it is the variable.
                let values: Vec<&Definition> =
                    real.iter().filter(|one| !one.kind.is_type()).copied().collect();
                let has_alias = real.iter().any(|one| one.kind == Kind::Type);
                let real = if values.is_empty() || has_alias { real } else { values };
                if let Some(alias) = real.iter().find(|one| one.kind == Kind::Type) {
                    return vec![alias];
                }
                let before = real.iter().rfind(|one| one.span.start <= offset).or_else(|| real.first());
                before.or_else(|| found.first()).copied().into_iter().collect()
            }
            Some(Language::TypeScript | Language::Tsx | Language::JavaScript) => {
                let direct: Vec<&Definition> = found.iter().filter(|one| !one.is_member).copied().collect();
                if direct.is_empty() { found } else { direct }
            }
            _ => found.last().copied().into_iter().collect(),
        }
    }

    /// By what the file imports.
    pub(super) fn by_import(&self, file: FileId, name: &str, offset: u32) -> Option<Resolution> {
        let outline = self.index.outline(file);
        let holds = |import: &&Import| import.scope.is_none_or(|scope| scope.contains(offset));
        for import in outline.imports.iter().filter(holds).filter(|import| !import.module.is_empty()) {
            if let Some(imported) = import.names.iter().find(|imported| imported.alias == name) {
                return Some(self.imported(file, import, imported, &mut Seen::new()));
            }
        }
        // `use name` in Rust has no module before it.
        if self.language(file) == Some(Language::Rust) {
            let bare = outline.imports.iter().filter(holds).filter(|import| import.module.is_empty());
            if let Some(imported) =
                bare.flat_map(|import| &import.names).find(|imported| imported.alias == name)
            {
                return self
                    .rust_module(file, &imported.name)
                    .map(|found| self.module_meaning(found))
                    .or(Some(Resolution::External));
            }
        }
        let is_c = matches!(self.language(file), Some(Language::C | Language::Cpp | Language::Java));
        if is_c {
            return None;
        }
        for import in outline.imports.iter().filter(holds) {
            if import.names.iter().any(|imported| imported.name == "*") {
                for module in self.module_files(file, &import.module) {
                    let found = self.exported(module, name, &mut Seen::new());
                    if !found.is_empty() {
                        return Some(Resolution::of(found));
                    }
                }
            }
        }
        None
    }

    /// What an import brings under one of its names.
    fn imported(
        &self,
        file: FileId,
        import: &Import,
        imported: &ImportedName,
        seen: &mut Seen,
    ) -> Resolution {
        let language = self.language(file);
        if language == Some(Language::Rust) {
            return self.rust_path(file, &format!("{}::{}", import.module, imported.name), seen);
        }
        if language == Some(Language::Java) {
            return self.java_import(import, &imported.name);
        }
        let files = self.module_files(file, &import.module);
        if imported.name.is_empty() {
            // `import a.b` makes `a` known, which is the package.
            let module = if language == Some(Language::Python)
                && import.module.split('.').next() == Some(&imported.alias)
            {
                self.module_files(file, &imported.alias)
            } else {
                files
            };
            return match module.first() {
                Some(module) => match self.given_by_module(*module) {
                    Some(found) => Resolution::of(found),
                    None => self.module_meaning(*module),
                },
                None => Resolution::External,
            };
        }
        for module in &files {
            let found = self.exported(*module, &imported.name, seen);
            if !found.is_empty() {
                return Resolution::of(found);
            }
        }
        if language == Some(Language::Python) {
            let below = self.module_files(file, &join_python(&import.module, &imported.name));
            if let Some(module) = below.first() {
                return self.module_meaning(*module);
            }
        }
        if files.is_empty() { Resolution::External } else { Resolution::Unknown }
    }

    /// What `module.exports = name` gives to who requires the file.
    pub(super) fn given_by_module(&self, file: FileId) -> Option<Vec<DefinitionSite>> {
        if self.language(file) != Some(Language::JavaScript) {
            return None;
        }
        let outline = self.index.outline(file);
        let is_given = |one: &&Definition| one.owner.as_deref() == Some("module");
        let given = outline.named("exports").map(|(_, one)| one).filter(is_given).last()?;
        let last = given.value.rsplit('=').next().unwrap_or_default().trim();
        if !is_plain_name(last) {
            return self.given_value(file, given);
        }
        match self.name(file, last, given.span.start) {
            Resolution::Found(found, _) => Some(found),
            _ => None,
        }
    }

    /// What a file gives to others under a name, through re-exports.
    pub(super) fn exported(&self, file: FileId, name: &str, seen: &mut Seen) -> Vec<DefinitionSite> {
        let deeper = self.enter();
        if deeper.is_none() || !seen.insert((file, name.to_owned())) {
            return Vec::new();
        }
        if let Some(found) = self.given_member(file, name) {
            return found;
        }
        let outline = self.index.outline(file);
        let is_script =
            matches!(self.language(file), Some(Language::JavaScript | Language::TypeScript | Language::Tsx));
        let fits = |one: &&Definition| {
            let is_exports = is_script && one.owner.as_deref() == Some("exports");
            (!one.is_member || is_exports) && one.scope.is_none()
        };
        let mut own: Vec<&Definition> = outline.named(name).map(|(_, one)| one).filter(fits).collect();
        if self.is_rust(file) {
            // What stands in no module in braces comes first.
            own.sort_by_key(|one| one.container.is_some());
        }
        // What is given to others by that name counts more than what has it here.
        if own.iter().any(|one| one.is_member) {
            own.retain(|one| one.is_member);
        }
        let own = self.chosen(file, own, u32::MAX);
        let own: Vec<DefinitionSite> =
            own.into_iter().map(|one| DefinitionSite { file, definition: one.clone() }).collect();
        if !own.is_empty() {
            return self.unwrapped_require(own, seen);
        }
        for import in &outline.imports {
            for imported in &import.names {
                if imported.alias != name
                    || !(import.is_reexport || self.language(file) == Some(Language::Python))
                {
                    continue;
                }
                if import.module.is_empty() {
                    let found = self.exported(file, &imported.name, seen);
                    let found = if found.is_empty() {
                        self.name(file, &imported.name, 0).found().to_vec()
                    } else {
                        found
                    };
                    return found;
                }
                let found = self.imported(file, import, imported, seen);
                if let Resolution::Found(found, _) = found {
                    return found;
                }
            }
        }
        // Names that were imported and exported by name: `import { a } from "b"; export { a }`.
        if is_script {
            for import in outline.imports.iter().filter(|import| !import.is_reexport) {
                if let Some(imported) = import.names.iter().find(|imported| imported.alias == name)
                    && let Resolution::Found(found, _) = self.imported(file, import, imported, seen)
                {
                    return found;
                }
            }
        }
        for import in outline.imports.iter().filter(|import| import.is_reexport) {
            if import.names.iter().any(|imported| imported.name == "*") {
                for module in self.module_files(file, &import.module) {
                    let found = self.exported(module, name, seen);
                    if !found.is_empty() {
                        return found;
                    }
                }
            }
        }
        Vec::new()
    }

    /// `exports.name = name` means what `name` is.
    fn unwrapped_require(&self, found: Vec<DefinitionSite>, _: &mut Seen) -> Vec<DefinitionSite> {
        let [one] = found.as_slice() else { return found };
        if one.definition.owner.as_deref() == Some("exports") && is_plain_name(&one.definition.value) {
            let inner = self.name(one.file, &one.definition.value, one.definition.span.start);
            if let Resolution::Found(inner, _) = inner {
                return inner;
            }
        }
        found
    }

    /// A file as the definition of a module: its first line.
    pub(super) fn module_meaning(&self, file: FileId) -> Resolution {
        let path = self.index.path(file);
        let name = path.rsplit('/').next().unwrap_or(path);
        let at = Position { line: 1, column: 1 };
        let span = Span { start: 0, end: 0 };
        Resolution::of(vec![DefinitionSite {
            file,
            definition: Definition {
                name: name.to_owned(),
                kind: Kind::Module,
                at,
                name_span: span,
                span,
                last_line: 1,
                container: None,
                owner: None,
                scope: None,
                is_member: false,
                is_declaration: false,
                is_private: false,
                is_function: false,
                declared: String::new(),
                value: String::new(),
                bases: Vec::new(),
            },
        }])
    }

    /// The files of a Go package share their names.
    fn in_package(&self, file: FileId, name: &str) -> Resolution {
        let files = self.go_files(folder(self.index.path(file)));
        let is_among = |other: FileId| files.contains(&other);
        let found = self.everywhere_in(name, is_among, |_, definition, _| !definition.is_member);
        if found.is_empty() { Resolution::External } else { Resolution::of(self.go_built(found)) }
    }

    /// A name within modules and types that were found.
    pub(super) fn within_found(&self, found: &[DefinitionSite], name: &str) -> Resolution {
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

    /// `path::name`, or a name in an import.
    pub(super) fn in_path(&self, file: FileId, path: &str, name: &str, offset: u32) -> Resolution {
        match self.language(file) {
            Some(Language::Python) => {
                let import = Import {
                    module: path.to_owned(),
                    line: 0,
                    names: Vec::new(),
                    is_reexport: false,
                    scope: None,
                };
                let imported =
                    ImportedName { name: name.to_owned(), alias: name.to_owned(), at: Position::default() };
                self.imported(file, &import, &imported, &mut Seen::new())
            }
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx)
                if path.starts_with(['"', '\'']) =>
            {
                let module = path.trim_matches(['"', '\'']).to_owned();
                let import = Import { module, line: 0, names: Vec::new(), is_reexport: false, scope: None };
                let imported =
                    ImportedName { name: name.to_owned(), alias: name.to_owned(), at: Position::default() };
                self.imported(file, &import, &imported, &mut Seen::new())
            }
            Some(Language::Rust) => self.in_rust_path(file, path, name, offset),
            Some(Language::C | Language::Cpp) => self.in_cpp_path(file, path, name, offset),
            _ => self.member(file, path, name, offset, super::Want::Any),
        }
    }

    pub(super) fn nearest(&self, file: FileId, mut found: Vec<DefinitionSite>) -> Resolution {
        found.sort_by_key(|one| (one.definition.is_declaration, usize::MAX - self.nearness(file, one.file)));
        found.truncate(1);
        Resolution::of(found)
    }

    /// A field of a value that is being made, or a name in a list of imports.
    pub(super) fn made(&self, file: FileId, span: Span, occurrence: &Occurrence, text: &str) -> Resolution {
        let name = occurrence.span.of(text);
        if self.language(file) == Some(Language::Python) {
            // A part of the path of a module.
            let found = self.module_files(file, span.of(text));
            return found.first().map_or(Resolution::External, |found| self.module_meaning(*found));
        }
        if span == occurrence.span {
            // `use a::{name}`: what the import of that name means.
            let meaning = self.by_import(file, name, occurrence.span.start);
            return meaning.unwrap_or(Resolution::Unknown);
        }
        if span.of(text).starts_with("struct") {
            // A type without a name, whose fields stand in it.
            let whole = self.index.whole(file);
            let is_field = |one: &&Definition| one.kind == Kind::Field && span.contains(one.span.start);
            if let Some(field) = whole.1.named(name).map(|(_, one)| one).find(is_field) {
                return Resolution::of(vec![DefinitionSite { file, definition: field.clone() }]);
            }
        }
        let types = self.made_types(file, occurrence.span.start, span.of(text));
        self.member_of_types(&types, name)
    }

    /// A parameter by its name in a call.
    pub(super) fn argument(&self, file: FileId, function: &str, name: &str, offset: u32) -> Resolution {
        if self.is_script(file) {
            return self.attribute(file, function, name, offset);
        }
        let called = self.called(file, function, offset);
        for function in &called {
            let whole = self.index.whole(function.file);
            let span = function.definition.span;
            let mut named = whole.1.named(name).map(|(_, one)| one);
            if let Some(parameter) = named.find(|one| one.kind == Kind::Parameter && one.scope == Some(span))
            {
                return Resolution::of(vec![DefinitionSite {
                    file: function.file,
                    definition: parameter.clone(),
                }]);
            }
            if function.definition.kind.is_type() {
                // The field of a data class.
                let field = self.member_of_types(std::slice::from_ref(function), name);
                if !field.found().is_empty() {
                    return field;
                }
            }
        }
        if called.is_empty() { Resolution::External } else { Resolution::Unknown }
    }

    /// The one member of that name in the workspace, where the type is not known.
    pub(super) fn only_member(&self, file: FileId, name: &str, is_called: bool) -> Resolution {
        let key = (name.to_owned(), self.language_family(file), is_called);
        if let Some(known) = self.only_members.borrow().get(&key) {
            return known.clone();
        }
        let meaning = self
            .find_only_member(file, name, is_called)
            .map_or(Resolution::Unknown, |found| Resolution::Found(vec![found], Certainty::ByName));
        self.only_members.borrow_mut().insert(key, meaning.clone());
        meaning
    }

    /// The first member of a name by path and place, if all of them belong to one type. Most names of members are had
    /// by many, which is known as soon as there are two.
    fn find_only_member(&self, file: FileId, name: &str, is_called: bool) -> Option<DefinitionSite> {
        let mut only: Option<DefinitionSite> = None;
        for other in self.index.defining(name) {
            if !self.can_use(other, file) {
                continue;
            }
            let outline = self.index.outline(other);
            for (_, one) in outline.named(name) {
                if !one.is_member || is_called && one.kind == Kind::Parameter {
                    continue;
                }
                match &only {
                    None => only = Some(DefinitionSite { file: other, definition: one.clone() }),
                    Some(known)
                        if known.file == other
                            && known.definition.container == one.container
                            && known.definition.owner == one.owner =>
                    {
                        if one.at < known.definition.at {
                            only = Some(DefinitionSite { file: other, definition: one.clone() });
                        }
                    }
                    Some(_) => return None,
                }
            }
        }
        only
    }
}

pub(super) fn is_plain_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '$'))
}

/// A path without what stands in angle brackets.
pub(super) fn without_generics(path: &str) -> String {
    let mut depth = 0_usize;
    let mut plain = String::new();
    for character in path.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            character if depth == 0 && !character.is_whitespace() => plain.push(character),
            _ => {}
        }
    }
    plain.replace("::::", "::").trim_end_matches("::").to_owned()
}
