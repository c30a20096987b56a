//! Names of C and C++, and what C++ and Java have that the others have not: virtual methods and constructors.

use std::collections::HashSet;
use std::rc::Rc;

use super::expression::Step;
use super::names::without_generics;
use super::types::Value;
use super::{DefinitionSite, Resolution, Resolver};
use crate::facts::{Definition, Facts, Kind};
use crate::index::FileId;
use crate::languages::Language;

/// How far up a type's bases are followed.
const DEEPEST: usize = 12;

impl Resolver<'_> {
    /// The places of the methods that a method overrides: who calls those may call it.
    pub(super) fn overridden(&self, target: &DefinitionSite) -> HashSet<(FileId, u32)> {
        let definition = &target.definition;
        let mut found = HashSet::new();
        if self.is_go(target.file) {
            return self.go_same_by_interface(target);
        }
        let has_virtual = matches!(self.language(target.file), Some(Language::Cpp | Language::Java));
        if !has_virtual || definition.kind != Kind::Method {
            return found;
        }
        let own_count = self.parameters_of(target).map(|parameters| parameters.len());
        let mut seen = HashSet::new();
        let mut level = self.owner_types(target);
        for _ in 0..DEEPEST {
            let mut next = Vec::new();
            for one in &level {
                if seen.insert(one.key()) && self.step() {
                    next.extend(self.bases_of(one));
                }
            }
            for base in &next {
                for member in self.own_members(base, &definition.name) {
                    let count = self.parameters_of(&member).map(|parameters| parameters.len());
                    if member.definition.kind == Kind::Method && count == own_count {
                        found.extend(self.same(&member));
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        found
    }

    /// What a member of a container or a pointer of the standard library of C++ gives.
    pub(super) fn cpp_library_member(&self, value: &Value, name: &str) -> Option<Value> {
        let Value::Instance { file, text, .. } = value else { return None };
        if self.language(*file) != Some(Language::Cpp) || !text.contains('<') {
            return None;
        }
        match name {
            // An iterator stands for what it points to.
            "front" | "back" | "at" | "top" | "value" | "value_or" | "begin" | "cbegin" | "rbegin"
            | "end" | "find" | "lower_bound" | "upper_bound" | "emplace_back" => {
                Some(self.element(value.clone()))
            }
            "get" | "lock" | "load" | "release" => Some(value.clone()),
            _ => None,
        }
    }

    /// Of definitions that may be those of a declaration the ones in its namespace, where there are such.
    pub(super) fn same_namespace(
        &self,
        declared: &DefinitionSite,
        found: Vec<DefinitionSite>,
    ) -> Vec<DefinitionSite> {
        if found.len() < 2 || self.language(declared.file) != Some(Language::Cpp) {
            return found;
        }
        let of = |one: &DefinitionSite| {
            let outline = self.index.outline(one.file);
            let known = outline.defined_at(one.definition.name_span).next().map(|(_, other)| other);
            let names = known.map(|known| namespaces_of(&outline, known)).unwrap_or_default();
            names.into_iter().map(ToOwned::to_owned).collect::<Vec<String>>()
        };
        let wanted = of(declared);
        let same: Vec<DefinitionSite> = found.iter().filter(|one| of(one) == wanted).cloned().collect();
        if same.is_empty() { found } else { same }
    }

    /// Whether what was found makes values of a type that is asked about: its constructor is called like it.
    pub(super) fn makes(&self, found: &DefinitionSite, target: &DefinitionSite) -> bool {
        let has_makers = matches!(self.language(target.file), Some(Language::Cpp | Language::Java));
        if !has_makers || found.definition.kind != Kind::Constructor || !target.definition.kind.is_type() {
            return false;
        }
        found.definition.name == target.definition.name
            && self.owner_types(found).iter().any(|one| one.key() == target.key())
    }

    /// C and C++: every file may declare it; those that are included are nearer.
    pub(super) fn global(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        let is_seen = |one: &&DefinitionSite| {
            !one.definition.is_private || one.file == file || self.is_header(one.file)
        };
        let mut found: Vec<DefinitionSite> =
            self.globals_named(name).iter().filter(is_seen).cloned().collect();
        if found.is_empty() || self.is_of_system(file, name, &found) {
            return Resolution::External;
        }
        if found.len() == 1 {
            return Resolution::of(found);
        }
        let included = self.index.included_by(file, || self.all_included(file));
        let whole = self.index.whole(file);
        let around = namespaces_at(&whole.1, offset);
        found.sort_by_cached_key(|one| {
            let is_near = one.file == file || included.binary_search(&one.file).is_ok();
            let is_defined = !one.definition.is_declaration;
            let outline = self.index.outline(one.file);
            (
                !is_near,
                one.definition.is_member,
                distance(&namespaces_of(&outline, &one.definition), &around),
                !is_defined,
                one.definition.kind != Kind::Type,
                usize::MAX - self.nearness(file, one.file),
            )
        });
        // What no included file knows may still be known by a definition elsewhere, but not if it is another's own.
        found.truncate(1);
        Resolution::of(found)
    }

    /// What has a name in any file of C and C++, without members; found once: who asks for uses asks for it at each.
    fn globals_named(&self, name: &str) -> Rc<[DefinitionSite]> {
        if let Some(known) = self.globals.borrow().get(name) {
            return Rc::clone(known);
        }
        let is_among = |other: FileId| self.language_family(other) == Some(Language::C);
        let found = self.everywhere_in(name, is_among, |_, definition, _| {
            !definition.is_member || definition.kind.is_type() || definition.kind == Kind::EnumMember
        });
        let found: Rc<[DefinitionSite]> = self.built_in_each(found).into();
        self.globals.borrow_mut().insert(name.to_owned(), Rc::clone(&found));
        found
    }

    fn is_header(&self, file: FileId) -> bool {
        self.index.path(file).rsplit('.').next().is_some_and(|ending| ending.starts_with('h'))
    }

    /// The files that are included, directly or not.
    fn all_included(&self, file: FileId) -> HashSet<FileId> {
        const MOST: usize = 500;
        let mut seen = HashSet::from([file]);
        let mut open = vec![file];
        while let Some(next) = open.pop() {
            for module in self.index.imports(next) {
                for found in self.module_files(next, module) {
                    if seen.len() < MOST && seen.insert(found) {
                        open.push(found);
                    }
                }
            }
        }
        seen
    }

    /// A namespace is where the compiler reads of it first; `std` is that of the standard library.
    pub(super) fn first_namespace(&self, file: FileId, meaning: Resolution) -> Resolution {
        const MOST: usize = 500;
        let is_namespace = meaning.found().first().is_some_and(|one| one.definition.kind == Kind::Module);
        if !is_namespace || self.language_family(file) != Some(Language::C) {
            return meaning;
        }
        let name = meaning.found()[0].definition.name.clone();
        if name == "std" {
            return Resolution::External;
        }
        let defining: HashSet<FileId> = self.index.defining(&name).into_iter().collect();
        let mut seen = HashSet::from([file]);
        // What a file includes is read before what it says itself.
        let mut open = vec![(file, self.included_in_order(file))];
        while let Some((at, included)) = open.last_mut() {
            if let Some(next) = included.pop() {
                if seen.len() < MOST && seen.insert(next) {
                    let more = self.included_in_order(next);
                    open.push((next, more));
                }
                continue;
            }
            let outline = self.index.outline(*at);
            let is_one = |one: &&Definition| one.kind == Kind::Module && one.declared.is_empty();
            let first =
                outline.named(&name).map(|(_, one)| one).filter(is_one).min_by_key(|one| one.span.start);
            if let Some(first) = first.filter(|_| defining.contains(at)) {
                return Resolution::of(vec![DefinitionSite { file: *at, definition: first.clone() }]);
            }
            open.pop();
        }
        meaning
    }

    /// The files that a file includes, the last one first.
    fn included_in_order(&self, file: FileId) -> Vec<FileId> {
        let included = self.index.imports(file).flat_map(|module| self.module_files(file, module));
        let mut included: Vec<FileId> = included.collect();
        included.reverse();
        included
    }

    /// The macros that open a namespace of a name.
    fn opened_by(&self, name: &str) -> Vec<String> {
        let opened = self.everywhere(name, |_, one, _| one.kind == Kind::Module && one.owner.is_some());
        let mut macros: Vec<String> = opened.into_iter().filter_map(|one| one.definition.owner).collect();
        macros.sort();
        macros.dedup();
        macros
    }

    /// `path::name` in C++.
    pub(super) fn in_cpp_path(&self, file: FileId, path: &str, name: &str, offset: u32) -> Resolution {
        let last = without_generics(path);
        let last = last.rsplit("::").next().unwrap_or(&last).to_owned();
        // `namespace last = a::b;`.
        let aliases =
            self.everywhere(&last, |_, one, _| one.kind == Kind::Module && !one.declared.is_empty());
        let last = match self.nearest(file, aliases) {
            Resolution::Found(found, _) => found.first().map_or(last, |one| {
                one.definition.declared.rsplit("::").next().unwrap_or_default().trim().to_owned()
            }),
            _ => last,
        };
        let types = self.types_of(file, offset, &last);
        let member = self.member_of_types(&types, name);
        if !member.found().is_empty() {
            return member;
        }
        // What a macro opens is not seen around what stands in it.
        let users: HashSet<FileId> =
            self.opened_by(&last).iter().flat_map(|macro_name| self.index.using(macro_name)).collect();
        let found = self.everywhere(name, |other, definition, facts| {
            let container =
                definition.container.and_then(|container| facts.definitions.get(container as usize));
            let is_within = |container: &Definition| container.name == last && container.kind == Kind::Module;
            let is_opened = !definition.is_member
                && definition.kind != Kind::Macro
                && container.is_none()
                && users.contains(&other);
            definition.owner.is_none() && (container.is_some_and(is_within) || is_opened)
        });
        match found.len() {
            0 => Resolution::External,
            1 => Resolution::of(found),
            _ => self.nearest(file, self.known_here(file, found)),
        }
    }

    /// What `a::b::name` is, by its whole path, and the steps behind it: a namespace that a macro opens has no definition
    /// to go on from.
    pub(super) fn cpp_path_value<'s>(
        &self,
        file: FileId,
        steps: &'s [Step],
        offset: u32,
    ) -> Option<(Value, &'s [Step])> {
        let is_native = matches!(self.language(file), Some(Language::C | Language::Cpp));
        let [Step::Name(first), Step::Path(_), ..] = steps else { return None };
        let paths = steps[1..].iter().map_while(|step| match step {
            Step::Path(name) => Some(name.as_str()),
            _ => None,
        });
        let mut names: Vec<&str> = std::iter::once(first.as_str()).chain(paths).collect();
        let rest = &steps[names.len()..];
        let last = names.pop().filter(|_| is_native && first != "std")?;
        if self.index.defining(last).is_empty() {
            return None;
        }
        match self.in_cpp_path(file, &names.join("::"), last, offset) {
            Resolution::Found(found, _) => Some((self.value_of_found(&found), rest)),
            Resolution::External | Resolution::Unknown => None,
        }
    }

    /// Of several definitions those in files that are included, where there are such.
    fn known_here(&self, file: FileId, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        let included = self.index.included_by(file, || self.all_included(file));
        let is_known = |one: &&DefinitionSite| one.file == file || included.binary_search(&one.file).is_ok();
        let known: Vec<DefinitionSite> = found.iter().filter(is_known).cloned().collect();
        if known.is_empty() { found } else { known }
    }
}

/// The namespaces around a place, the outermost first.
fn namespaces_at(facts: &Facts, offset: u32) -> Vec<&str> {
    let is_around = |one: &&Definition| !one.is_declaration && one.span.contains(offset);
    let mut around: Vec<&Definition> =
        facts.of_kind(Kind::Module).map(|(_, one)| one).filter(is_around).collect();
    around.sort_by_key(|one| u32::MAX - one.span.len());
    around.into_iter().map(|one| one.name.as_str()).collect()
}

/// The namespaces a definition stands in, the outermost first.
fn namespaces_of<'f>(facts: &'f Facts, definition: &Definition) -> Vec<&'f str> {
    const DEEPEST: usize = 16;
    let mut names = Vec::new();
    let mut container = definition.container;
    while let Some(outer) = container.and_then(|index| facts.definitions.get(index as usize)) {
        if outer.kind == Kind::Module {
            names.push(outer.name.as_str());
        }
        if names.len() >= DEEPEST {
            break;
        }
        container = outer.container;
    }
    names.reverse();
    names
}

/// How far out what stands in a namespace is from a place in others; what is not around the place is farthest.
fn distance(of: &[&str], around: &[&str]) -> usize {
    if around.starts_with(of) { around.len() - of.len() } else { usize::MAX }
}

/// Of definitions of one name those in the nearest namespace around a place.
pub(super) fn in_nearest_namespace<'d>(
    facts: &'d Facts,
    found: Vec<&'d Definition>,
    offset: u32,
) -> Vec<&'d Definition> {
    let around = namespaces_at(facts, offset);
    let far = |one: &Definition| distance(&namespaces_of(facts, one), &around);
    let nearest = found.iter().map(|one| far(one)).min();
    found.into_iter().filter(|one| Some(far(one)) == nearest).collect()
}
