//! Who asks for a method of Go by its name without being in the workspace. Types and interfaces meet where a value is
//! used, so a method may be needed for an interface of another module, and an interface may be fulfilled by its types.

use super::{ASKED_METHODS, Go};
use crate::facts::{self, ImportedName, Kind, Occurrence, Receiver};
use crate::index::FileId;
use crate::languages::Language;
use crate::resolve::modules::folder;
use crate::resolve::names::words;
use crate::resolve::type_ref::has_word;
use crate::resolve::{DefinitionSite, Resolution};
use crate::syntax;

impl Go<'_, '_> {
    /// An interface or a type of another module, or of the standard library, that has the method.
    pub(super) fn method_asked_for_by(&self, target: &DefinitionSite) -> Option<String> {
        let definition = &target.definition;
        let name = &definition.name;
        // Methods with small names are known in their package alone.
        if definition.kind != Kind::Method || !name.starts_with(char::is_uppercase) {
            return None;
        }
        if has_word(ASKED_METHODS, name) {
            return Some(format!("an interface with the method `{name}`"));
        }
        let of = self.owner_types(target).into_iter().next()?;
        if of.definition.kind == Kind::Interface {
            let users = self.users_of_package(&of);
            let foreign = users.into_iter().find_map(|file| self.foreign_packages(file).into_iter().next());
            return foreign
                .map(|(_, path)| format!("a type of `{path}` that is used as `{}`", of.definition.name));
        }
        self.given_away(&of).map(|path| format!("an interface of `{path}`"))
    }

    /// The files of the package of a type, and those that import it.
    fn users_of_package(&self, of: &DefinitionSite) -> Vec<FileId> {
        let own = folder(self.index.path(of.file));
        let mut files = self.go_files(own);
        for file in self.index.using(&of.definition.name) {
            let outline = self.index.outline(file);
            let mut imports = outline.imports.iter();
            if imports.any(|import| self.module_files(file, &import.module).contains(&of.file)) {
                // What a function of the package takes may be given to it by any file of the package.
                files.extend(self.go_files(folder(self.index.path(file))));
            }
        }
        files.sort();
        files.dedup();
        files.retain(|file| self.may_give(*file, of));
        files
    }

    /// Whether values in a file matter to a type: tests give theirs to packages that compare values of any type.
    fn may_give(&self, file: FileId, of: &DefinitionSite) -> bool {
        let is_test = |file: FileId| self.index.path(file).ends_with("_test.go");
        !is_test(file) || is_test(of.file)
    }

    /// The packages of other modules that a file imports, as it calls them and by their paths.
    fn foreign_packages(&self, file: FileId) -> Vec<(String, String)> {
        let outline = self.index.outline(file);
        let is_foreign = |module: &str| {
            let host = module.split('/').next().unwrap_or(module);
            host.contains('.') && self.module_files(file, module).is_empty()
        };
        let foreign = outline.imports.iter().filter(|import| is_foreign(&import.module));
        foreign
            .flat_map(|import| {
                let last = import.module.rsplit('/').next().unwrap_or(&import.module);
                let alias =
                    |one: &ImportedName| if one.alias.is_empty() { last } else { &one.alias }.to_owned();
                let names: Vec<String> = import.names.iter().map(alias).collect();
                let names = if names.is_empty() { vec![last.to_owned()] } else { names };
                names.into_iter().map(|name| (name, import.module.clone()))
            })
            .collect()
    }

    /// The package of another module to which values of a type are given, as far as the type is named where they are.
    fn given_away(&self, of: &DefinitionSite) -> Option<String> {
        let users = self.index.using(&of.definition.name).into_iter();
        for file in users.filter(|file| self.may_give(*file, of)) {
            let foreign = self.foreign_packages(file);
            let Some((_, first)) = foreign.first() else { continue };
            let whole = self.index.whole(file);
            for occurrence in whole.1.uses(&whole.0, &of.definition.name) {
                let before = &whole.0[..occurrence.span.start as usize];
                let line = before.rsplit('\n').next().unwrap_or(before);
                let taken = foreign.iter().find(|(alias, _)| takes(line, alias));
                if let Some((_, path)) = taken {
                    return Some(path.clone());
                }
                if self.is_given_to_foreign(file, occurrence) {
                    return Some(first.clone());
                }
            }
        }
        None
    }

    /// Whether a name stands in what a function outside of the workspace is given.
    fn is_given_to_foreign(&self, file: FileId, occurrence: &Occurrence) -> bool {
        let whole = self.index.whole(file);
        let before = whole.0[..occurrence.span.start as usize].trim_end_matches(['&', '*', '[', ']']);
        let called = before.strip_suffix('(').or_else(|| before.trim_end().strip_suffix(','));
        let Some(mut called) = called.filter(|called| !called.trim_end().ends_with(')')) else {
            return false;
        };
        if before.trim_end().ends_with(',') {
            let Some(open) = called.rfind(['(', '{', '\n']).filter(|at| called[*at..].starts_with('('))
            else {
                return false;
            };
            called = &called[..open];
        }
        let end = called.len() as u32;
        let function = whole.1.occurrences.iter().find(|one| one.span.end == end);
        let is_member = |one: &&Occurrence| matches!(one.receiver, Receiver::Value(_) | Receiver::Path(_));
        function.filter(is_member).is_some_and(|function| {
            self.begin();
            matches!(self.resolve_occurrence(file, function), Resolution::External | Resolution::Unknown)
        })
    }

    /// `//export Name` and `//go:linkname name`.
    pub(super) fn asked_for_by_directive(&self, target: &DefinitionSite) -> Option<String> {
        if target.definition.scope.is_some() || target.definition.is_member {
            return None;
        }
        let source = self.index.source(target.file);
        let asks = |line: &str| {
            let rest = line.strip_prefix("//export ").or_else(|| line.strip_prefix("//go:linkname "));
            rest.is_some_and(|rest| rest.split_whitespace().next() == Some(&target.definition.name))
        };
        source.lines().any(asks).then(|| "The linker".to_owned())
    }

    /// `{{ .Name }}` in a template.
    pub(super) fn asked_for_by_template(&self, target: &DefinitionSite) -> Option<String> {
        let definition = &target.definition;
        if !definition.is_member || !definition.name.starts_with(char::is_uppercase) {
            return None;
        }
        let asks = |file: &FileId| {
            let source = self.index.source(*file);
            source.split("{{").skip(1).any(|rest| {
                let inside = rest.split("}}").next().unwrap_or_default();
                inside.len() < rest.len()
                    && words(inside, &definition.name).any(|at| inside[..at].ends_with('.'))
            })
        };
        let file = self.index.using(&definition.name).into_iter().chain([target.file]).find(asks)?;
        Some(format!("A template in {}", self.index.path(file)))
    }

    /// The names of the fields of the struct that a field stands in, in order.
    pub(super) fn fields_beside(&self, field: &DefinitionSite) -> Vec<String> {
        let source = self.index.source(field.file);
        let Ok(tree) = syntax::parse(Language::Go, &source, facts::LIMITS) else { return Vec::new() };
        let (start, end) =
            (field.definition.name_span.start as usize, field.definition.name_span.end as usize);
        let mut around = tree.root_node().descendant_for_byte_range(start, end);
        while let Some(node) = around.filter(|node| node.kind() != "field_declaration_list") {
            around = node.parent();
        }
        let Some(list) = around else { return Vec::new() };
        let mut names = Vec::new();
        for declaration in list.named_children(&mut list.walk()) {
            let mut cursor = declaration.walk();
            let before = names.len();
            names.extend(
                declaration.children_by_field_name("name", &mut cursor).map(|name| name.byte_range()),
            );
            if names.len() == before {
                names.push(declaration.byte_range());
            }
        }
        names.into_iter().filter_map(|name| source.get(name).map(str::to_owned)).collect()
    }
}

/// Whether a function or a variable of a package takes what stands behind a text: `package.Function(` or
/// `package.Type = `.
fn takes(before: &str, package: &str) -> bool {
    before.match_indices(&format!("{package}.")).any(|(at, mark)| {
        let rest = &before[at + mark.len()..];
        let rest = rest.trim_start_matches(|part: char| part.is_alphanumeric() || part == '_');
        rest.trim_start().starts_with('=') || rest.starts_with('(') && !rest.contains(')')
    })
}
