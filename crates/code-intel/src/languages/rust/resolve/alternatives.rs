//! Definitions of Rust between which `#[cfg]` chooses. They are one thing to who uses them, and share their name.

use std::collections::{BTreeMap, HashSet};

use super::Rust;
use super::names::module_of;
use crate::facts::{Definition, Facts, Import, Kind};
use crate::index::FileId;
use crate::resolve::languages::Key;
use crate::resolve::names::Seen;
use crate::resolve::{DefinitionSite, Resolver};

/// What imports bring by one name.
#[derive(Default)]
struct Brought {
    by_name: Vec<DefinitionSite>,
    is_name_conditional: bool,
    by_wildcard: Vec<DefinitionSite>,
    is_wildcard_conditional: bool,
}

impl Rust<'_, '_> {
    /// The definitions that some module has by the same name as this one, through imports or modules of which only one
    /// is compiled.
    pub(super) fn cfg_alternatives(&self, one: &DefinitionSite) -> HashSet<Key> {
        let own = &one.definition;
        let mut keys = HashSet::new();
        if own.is_member || own.scope.is_some() {
            return keys;
        }
        let same = self.everywhere(&own.name, |file, other, _| {
            self.can_use(file, one.file)
                && !other.is_member
                && other.scope.is_none()
                && is_alike(other.kind, own.kind)
        });
        if same.len() < 2 {
            return keys;
        }
        let mut modules: Vec<FileId> = same.iter().map(|one| one.file).collect();
        modules.extend(same.iter().filter_map(|one| self.rust_module(one.file, "super")));
        modules.extend(self.index.using(&own.name).into_iter().filter(|file| self.can_use(*file, one.file)));
        modules.sort();
        modules.dedup();
        for module in modules {
            self.begin();
            for group in [self.brought(module, &own.name), self.in_same_modules(module, &own.name)].concat() {
                let found: HashSet<Key> = group
                    .iter()
                    .filter(|other| is_alike(other.definition.kind, own.kind))
                    .map(DefinitionSite::key)
                    .collect();
                if found.contains(&one.key()) {
                    keys.extend(found);
                }
            }
        }
        keys
    }

    /// What a file has by a name, by its imports and for itself: groups of which only one is compiled.
    fn brought(&self, file: FileId, name: &str) -> Vec<Vec<DefinitionSite>> {
        let outline = self.index.outline(file);
        let source = self.index.source(file);
        // By the module in braces that an import stands in.
        let mut all: BTreeMap<Option<u32>, Brought> = BTreeMap::new();
        for import in outline.imports.iter().filter(|import| import.scope.is_none()) {
            for imported in import.names.iter().filter(|one| one.alias == name || one.name == "*") {
                let brought = all.entry(module_around(&outline, import)).or_default();
                let is_conditional = is_conditional(&source, line_start(&source, import.line));
                if imported.name == "*" {
                    brought.by_wildcard.extend(self.given_by(file, &import.module, name));
                    brought.is_wildcard_conditional |= is_conditional;
                } else {
                    // Another name for it changes with the import alone.
                    let found = self.given_by(file, &import.module, &imported.name);
                    brought.by_name.extend(found.into_iter().filter(|one| one.definition.name == name));
                    brought.is_name_conditional |= is_conditional;
                }
            }
        }
        let mut groups = Vec::new();
        for (around, mut brought) in all {
            let fits = |one: &&Definition| {
                !one.is_member && one.scope.is_none() && module_of(&outline, one) == around
            };
            let own = outline.named(name).filter(fits);
            brought.by_name.extend(own.map(|one| DefinitionSite::new(file, one)));
            // A name hides what a wildcard brings, unless only one of the two is compiled.
            if brought.is_wildcard_conditional && brought.is_name_conditional {
                groups.push([brought.by_name, brought.by_wildcard].concat());
                continue;
            }
            groups.push(brought.by_name);
            if brought.is_wildcard_conditional {
                groups.push(brought.by_wildcard);
            }
        }
        groups
    }

    /// What the modules have by a name that a file has by one name of its own.
    fn in_same_modules(&self, file: FileId, name: &str) -> Vec<Vec<DefinitionSite>> {
        let outline = self.index.outline(file);
        let mut groups: BTreeMap<String, Vec<DefinitionSite>> = BTreeMap::new();
        for (_, module) in outline.of_kind(Kind::Module) {
            let module_site = DefinitionSite::new(file, module);
            let found = if module.is_declaration {
                let files = self.declared_files(file, module);
                files.iter().flat_map(|file| self.exported(*file, name, &mut Seen::new())).collect()
            } else {
                self.in_braces(&module_site, name)
            };
            groups.entry(module.name.clone()).or_default().extend(found);
        }
        let is_plain = |import: &&Import| import.scope.is_none();
        for import in outline.imports.iter().filter(is_plain) {
            for imported in import.names.iter().filter(|one| one.alias != one.name && one.name != "*") {
                let path = format!("{}::{}", import.module, imported.name);
                let path = path.trim_start_matches("::").to_owned();
                groups.entry(imported.alias.clone()).or_default().extend(self.given_by(file, &path, name));
            }
        }
        groups.into_values().filter(|found| found.len() > 1).collect()
    }

    /// What a module gives by a name, seen from a file.
    fn given_by(&self, file: FileId, module: &str, name: &str) -> Vec<DefinitionSite> {
        let near = module.strip_prefix("self::").unwrap_or(module);
        let outline = self.index.outline(file);
        let in_braces = outline.named(near).filter(|one| one.kind == Kind::Module && !one.is_declaration);
        let in_braces: Vec<DefinitionSite> =
            in_braces.flat_map(|one| self.in_braces(&DefinitionSite::new(file, one), name)).collect();
        if !in_braces.is_empty() {
            return in_braces;
        }
        let files = self.module_files(file, module);
        files.iter().flat_map(|module| self.exported(*module, name, &mut Seen::new())).collect()
    }

    /// Whether a branch of `cfg_if!` names a definition of which there are several: what stands in the branches is not
    /// read as items.
    pub(super) fn is_in_cfg_if(&self, one: &DefinitionSite) -> bool {
        let own = &one.definition;
        if own.is_member || own.scope.is_some() {
            return false;
        }
        let same = self.everywhere(&own.name, |file, other, _| {
            self.can_use(file, one.file) && !other.is_member && is_alike(other.kind, own.kind)
        });
        let is_branch = |file: &FileId| self.index.source(*file).contains("if #[cfg(");
        same.len() > 1 && self.index.using(&own.name).iter().any(is_branch)
    }

    /// A local name that `#[cfg]` binds anew, so that what it means depends on how the crate is built.
    pub(super) fn is_bound_by_cfg(&self, one: &DefinitionSite) -> bool {
        let Some(scope) = one.definition.scope else { return false };
        let whole = self.index.whole(one.file);
        let mut same = whole.1.named(&one.definition.name);
        same.any(|other| {
            other.scope.is_some_and(|of| of.contains(scope.start) || scope.contains(of.start))
                && is_conditional(&whole.0, other.span.start)
        })
    }
}

impl Resolver<'_> {
    /// The files that the attributes of `mod name;` name: `#[path = "unix.rs"]`.
    pub(super) fn paths_in_attributes(&self, file: FileId, module: &Definition) -> Vec<String> {
        let source = self.index.source(file);
        let text = attributes_before(&source, module.span.start);
        let named = text.match_indices("path = \"").filter_map(|(at, mark)| {
            let rest = text.get(at + mark.len()..)?;
            rest.split('"').next().map(str::to_owned)
        });
        named.collect()
    }
}

/// Whether definitions of two kinds can be the same thing.
pub(crate) fn is_alike(one: Kind, other: Kind) -> bool {
    one == other || one.is_type() && other.is_type()
}

/// The innermost module in braces that an import stands in.
fn module_around(facts: &Facts, import: &Import) -> Option<u32> {
    let around = facts
        .of_kind(Kind::Module)
        .filter(|(_, one)| !one.is_declaration && (one.at.line..=one.last_line).contains(&import.line));
    around.min_by_key(|(_, one)| one.span.len()).map(|(index, _)| index as u32)
}

fn line_start(source: &str, line: u32) -> u32 {
    source.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum::<usize>() as u32
}

/// Whether the attributes of what begins at a place, or a branch of `cfg_if!` around it, depend on how the crate is
/// built.
fn is_conditional(source: &str, start: u32) -> bool {
    if attributes_before(source, start).contains("cfg") {
        return true;
    }
    let before = source.get(..start as usize).unwrap_or_default();
    before.rfind("if #[cfg(").is_some_and(|at| !before[at..].contains("\n}"))
}

/// The attributes directly before a place.
fn attributes_before(source: &str, start: u32) -> &str {
    let before = source.get(..start as usize).unwrap_or_default();
    let mut rest = before.trim_end();
    while rest.ends_with(']') {
        let Some(at) = rest.rfind("#[") else { break };
        // Between the attribute and the place stands nothing else.
        if rest[at..].contains(';') {
            break;
        }
        rest = rest[..at].trim_end();
    }
    &before[rest.len()..]
}
