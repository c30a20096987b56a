//! Names that stand alone or at the end of a path.

use std::collections::HashSet;

use super::{Certainty, DefinitionSite, Resolution, Resolver, scope_size};
use crate::facts::{Definition, Import, ImportedName, Kind, Occurrence, Position, Span};
use crate::index::FileId;

/// What has been looked at on the way through re-exports.
pub(crate) type Seen = HashSet<(FileId, String)>;

impl Resolver<'_> {
    /// A name that stands alone at a place.
    pub(crate) fn name(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        let Some(_deeper) = self.enter() else { return Resolution::Unknown };
        let rules = self.rules(file);
        if let Some(predefined) = rules.predefined_name(file, name) {
            return predefined;
        }
        let local = self.local(file, name, offset);
        let is_import = |found: &DefinitionSite| found.definition.value.contains("require(");
        if !local.is_empty() && !local.iter().any(is_import) {
            let member = rules.nearer_member(file, name, offset, &local);
            return Resolution::of(if member.is_empty() { local } else { member });
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
        rules.name_beyond_file(file, name, offset)
    }

    /// In the scopes of the file around a place, then at its top level.
    pub(crate) fn local(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        let whole = self.index.whole(file);
        let mut best: Option<u32> = None;
        let mut found: Vec<&Definition> = Vec::new();
        let rules = self.rules(file);
        let holes = whole.1.holes.iter().filter(|hole| hole.span.contains(offset)).map(|hole| hole.scope);
        let hidden: Vec<Span> = holes.chain(rules.hidden_scope(file, offset)).collect();
        let is_name = |one: &&Definition| {
            let is_hidden =
                one.kind != Kind::TypeParameter && one.scope.is_some_and(|scope| hidden.contains(&scope));
            !one.is_member && !one.is_lifetime() && !one.is_label() && !is_hidden
        };
        for definition in whole.1.named(name).filter(is_name) {
            let Some(size) = scope_size(definition.scope, offset) else { continue };
            if best.is_none_or(|best| size < best) {
                best = Some(size);
                found.clear();
            }
            if best == Some(size) {
                found.push(definition);
            }
        }
        if best == Some(u32::MAX) {
            found = rules.visible_at_top_level(&whole.1, found, offset);
        }
        let chosen = self.chosen(file, found, offset);
        chosen.into_iter().map(|definition| DefinitionSite::new(file, definition)).collect()
    }

    /// Of several definitions of a name in one scope those that are meant.
    fn chosen<'d>(&self, file: FileId, found: Vec<&'d Definition>, offset: u32) -> Vec<&'d Definition> {
        if found.len() < 2 {
            return found;
        }
        let rules = self.rules(file);
        let parameter = found.iter().find(|one| one.kind == Kind::Parameter);
        match parameter.filter(|_| rules.prefers_parameter()) {
            Some(parameter) => vec![parameter],
            None => rules.choose(file, found, offset),
        }
    }

    /// By what the file imports.
    pub(crate) fn by_import(&self, file: FileId, name: &str, offset: u32) -> Option<Resolution> {
        let outline = self.index.outline(file);
        let holds = |import: &&Import| import.scope.is_none_or(|scope| scope.contains(offset));
        for import in outline.imports.iter().filter(holds).filter(|import| !import.module.is_empty()) {
            if let Some(imported) = import.names.iter().find(|imported| imported.alias == name) {
                return Some(self.imported(file, import, imported, &mut Seen::new()));
            }
        }
        let rules = self.rules(file);
        if let Some(resolution) = rules.bare_import(file, name, offset) {
            return Some(resolution);
        }
        if !rules.has_wildcard_imports() {
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
        let rules = self.rules(file);
        if let Some(resolution) = rules.resolve_import(file, import, imported, seen) {
            return resolution;
        }
        if imported.name.is_empty() {
            let files = self.module_files(file, rules.imported_module(import, imported));
            return match files.first() {
                Some(module) => match self.rules(*module).module_value(*module) {
                    Some(found) => Resolution::of(found),
                    None => self.module_meaning(*module),
                },
                None => Resolution::External,
            };
        }
        let files = self.module_files(file, &import.module);
        for module in &files {
            let found = self.exported(*module, &imported.name, seen);
            if !found.is_empty() {
                return Resolution::of(found);
            }
        }
        if let Some(below) = rules.submodule(&import.module, &imported.name)
            && let Some(module) = self.module_files(file, &below).first()
        {
            return self.module_meaning(*module);
        }
        if files.is_empty() { Resolution::External } else { Resolution::Unknown }
    }

    /// What a file gives to others under a name, through re-exports.
    pub(crate) fn exported(&self, file: FileId, name: &str, seen: &mut Seen) -> Vec<DefinitionSite> {
        let deeper = self.enter();
        if deeper.is_none() || !seen.insert((file, name.to_owned())) {
            return Vec::new();
        }
        let rules = self.rules(file);
        if let Some(found) = rules.exported_member(file, name) {
            return found;
        }
        let outline = self.index.outline(file);
        let is_exported = |one: &&Definition| rules.is_exported(one);
        let mut own: Vec<&Definition> = outline.named(name).filter(is_exported).collect();
        rules.order_exports(&mut own);
        // What is given to others by that name counts more than what has it here.
        if own.iter().any(|one| one.is_member) {
            own.retain(|one| one.is_member);
        }
        let own = self.chosen(file, own, u32::MAX);
        let own: Vec<DefinitionSite> = own.into_iter().map(|one| DefinitionSite::new(file, one)).collect();
        if !own.is_empty() {
            return rules.export_target(own);
        }
        for import in &outline.imports {
            for imported in &import.names {
                if imported.alias != name || !(import.is_reexport || rules.exports_imports()) {
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
        let wildcards = |import: &&Import| import.names.iter().any(|imported| imported.name == "*");
        for import in outline.imports.iter().filter(|import| import.is_reexport).filter(wildcards) {
            for module in self.module_files(file, &import.module) {
                let found = self.exported(module, name, seen);
                if !found.is_empty() {
                    return found;
                }
            }
        }
        if rules.shares_private_imports() { self.privately_imported(file, name, seen) } else { Vec::new() }
    }

    /// What a file imports for itself, which modules within it see too.
    fn privately_imported(&self, file: FileId, name: &str, seen: &mut Seen) -> Vec<DefinitionSite> {
        let outline = self.index.outline(file);
        let is_in_braces = |import: &Import| {
            let mut modules = outline.of_kind(Kind::Module).map(|(_, one)| one);
            modules.any(|one| !one.is_declaration && (one.at.line..=one.last_line).contains(&import.line))
        };
        let own = |import: &&Import| !import.is_reexport && import.scope.is_none() && !is_in_braces(import);
        for import in outline.imports.iter().filter(own) {
            for imported in import.names.iter().filter(|one| one.alias == name || one.name == "*") {
                let found = if imported.name == "*" {
                    let modules = self.module_files(file, &import.module);
                    modules.iter().flat_map(|module| self.exported(*module, name, seen)).collect()
                } else {
                    self.imported(file, import, imported, seen).found().to_vec()
                };
                if !found.is_empty() {
                    return found;
                }
            }
        }
        Vec::new()
    }

    /// A file as the definition of a module: its first line.
    pub(crate) fn module_meaning(&self, file: FileId) -> Resolution {
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

    /// `path::name`, or a name in an import.
    pub(crate) fn in_path(&self, file: FileId, path: &str, name: &str, offset: u32) -> Resolution {
        self.rules(file).resolve_path(file, path, name, offset)
    }

    /// What an import of a name from a module brings.
    pub(crate) fn imported_from(&self, file: FileId, module: &str, name: &str) -> Resolution {
        let import =
            Import { module: module.to_owned(), line: 0, names: Vec::new(), is_reexport: false, scope: None };
        let imported =
            ImportedName { name: name.to_owned(), alias: name.to_owned(), at: Position::default() };
        self.imported(file, &import, &imported, &mut Seen::new())
    }

    pub(crate) fn nearest(&self, file: FileId, mut found: Vec<DefinitionSite>) -> Resolution {
        found.sort_by_key(|one| (one.definition.is_declaration, usize::MAX - self.nearness(file, one.file)));
        found.truncate(1);
        Resolution::of(found)
    }

    /// A field of a value that is being made, or a name in a list of imports.
    pub(crate) fn made(&self, file: FileId, span: Span, occurrence: &Occurrence, text: &str) -> Resolution {
        let name = occurrence.span.of(text);
        if let Some(resolution) = self.rules(file).in_module_path(file, span.of(text)) {
            return resolution;
        }
        if span == occurrence.span {
            // `use a::{name}`: what the import of that name means.
            let meaning = self.by_import(file, name, occurrence.span.start);
            return meaning.unwrap_or(Resolution::Unknown);
        }
        if span.of(text).starts_with("struct") {
            // A type without a name, whose fields stand in it.
            let is_field = |one: &Definition| one.kind == Kind::Field && span.contains(one.span.start);
            let mut fields = self.defined_in(file, name, is_field);
            fields.truncate(1);
            if !fields.is_empty() {
                return Resolution::of(fields);
            }
        }
        let types = self.made_types(file, occurrence.span.start, span.of(text));
        self.member_of_types(&types, name)
    }

    /// A parameter by its name in a call.
    pub(crate) fn argument(&self, file: FileId, function: &str, name: &str, offset: u32) -> Resolution {
        if let Some(resolution) = self.rules(file).named_argument(file, function, name, offset) {
            return resolution;
        }
        let called = self.called(file, function, offset);
        for function in &called {
            let scope = Some(function.definition.span);
            let is_own = |one: &Definition| one.kind == Kind::Parameter && one.scope == scope;
            let mut parameters = self.defined_in(function.file, name, is_own);
            parameters.truncate(1);
            if !parameters.is_empty() {
                return Resolution::of(parameters);
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
    pub(crate) fn only_member(&self, file: FileId, name: &str, is_called: bool) -> Resolution {
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
            for one in outline.named(name) {
                if !one.is_member || is_called && one.kind == Kind::Parameter {
                    continue;
                }
                match &only {
                    None => only = Some(DefinitionSite::new(other, one)),
                    Some(known)
                        if known.file == other
                            && known.definition.container == one.container
                            && known.definition.owner == one.owner =>
                    {
                        if one.at < known.definition.at {
                            only = Some(DefinitionSite::new(other, one));
                        }
                    }
                    Some(_) => return None,
                }
            }
        }
        only
    }
}

pub(crate) fn is_plain_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '$'))
}

/// A path without what stands in angle brackets.
pub(crate) fn without_generics(path: &str) -> String {
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

/// Where a word stands in a text.
pub(crate) fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !text[..*at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}
