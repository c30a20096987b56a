//! The rules of C and C++.

mod branches;

use std::collections::HashSet;
use std::rc::Rc;

use crate::facts::{Definition, Facts, Kind, Occurrence, Receiver, Span};
use crate::index::FileId;
use crate::languages::Language;
use crate::resolve::expression::Step;
use crate::resolve::languages::{Key, LanguageRules, language_view};
use crate::resolve::modules::{folder, join, normal};
use crate::resolve::names::without_generics;
use crate::resolve::overloads::{listed, takes};
use crate::resolve::type_ref::TypeRef;
use crate::resolve::types::Value;
use crate::resolve::{DefinitionSite, Resolution, Resolver, owner_name};

language_view! {
    /// C and C++, which include each other's files.
    C
}

impl LanguageRules for C<'_, '_> {
    fn resolver(&self) -> &Resolver<'_> {
        self.0
    }

    /// The members of the class around are nearer than what stands outside of it.
    fn nearer_member(
        &self,
        file: FileId,
        name: &str,
        offset: u32,
        outside: &[DefinitionSite],
    ) -> Vec<DefinitionSite> {
        if self.is_cpp(file) && self.may_hide(outside) {
            return self.implicit_member(file, name, offset);
        }
        Vec::new()
    }

    /// `Type(int value) : field(value)`: a field of the value that is being made, else a base.
    fn special_reference(&self, file: FileId, text: &str, occurrence: &Occurrence) -> Option<Resolution> {
        let Receiver::Value(of) = occurrence.receiver else { return None };
        if !of.is_empty() {
            return None;
        }
        let (name, start) = (occurrence.span.of(text), occurrence.span.start);
        let member = self.implicit_member(file, name, start);
        Some(if member.is_empty() { self.name(file, name, start) } else { Resolution::of(member) })
    }

    fn name_beyond_file(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        let member = self.implicit_member(file, name, offset);
        if member.is_empty() { self.global(file, name, offset) } else { Resolution::of(member) }
    }

    fn visible_at_top_level<'d>(
        &self,
        facts: &'d Facts,
        found: Vec<&'d Definition>,
        offset: u32,
    ) -> Vec<&'d Definition> {
        // C has no namespaces: all are at the same distance.
        if found.len() > 1 { in_nearest_namespace(facts, found, offset) } else { found }
    }

    fn choose<'d>(&self, file: FileId, found: Vec<&'d Definition>, offset: u32) -> Vec<&'d Definition> {
        let found = self.built(file, found);
        let real: Vec<&Definition> = found.iter().filter(|one| !one.is_declaration).copied().collect();
        // The name of a template is not what is said of it for some types: `struct Name<int>`.
        let whole = self.index.whole(file);
        let is_general = |one: &&Definition| {
            let after = whole.0.get(one.name_span.end as usize..).unwrap_or_default();
            !one.kind.is_type() || !after.starts_with('<')
        };
        let general: Vec<&Definition> = real.iter().copied().filter(is_general).collect();
        let real = if general.is_empty() { real } else { general };
        // `struct name { ... } name;`: alone it is the variable.
        let values: Vec<&Definition> = real.iter().filter(|one| !one.kind.is_type()).copied().collect();
        let has_alias = real.iter().any(|one| one.kind == Kind::Type);
        let real = if values.is_empty() || has_alias { real } else { values };
        if let Some(alias) = real.iter().find(|one| one.kind == Kind::Type) {
            return vec![alias];
        }
        let before = real.iter().rfind(|one| one.span.start <= offset).or_else(|| real.first());
        before.or_else(|| found.first()).copied().into_iter().collect()
    }

    fn has_wildcard_imports(&self) -> bool {
        false
    }

    fn find_module_files(&self, file: FileId, module: &str) -> Vec<FileId> {
        self.included(self.index.path(file), module)
    }

    fn resolve_path(&self, file: FileId, path: &str, name: &str, offset: u32) -> Resolution {
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

    /// `struct name` is no other name for a type.
    fn after_keyword(&self, _: FileId, found: Vec<DefinitionSite>, before: &str) -> Vec<DefinitionSite> {
        if !["struct", "union", "enum"].iter().any(|word| before.ends_with(word)) {
            return found;
        }
        let named: Vec<DefinitionSite> = found.iter().flat_map(|one| self.struct_named(one)).collect();
        if named.is_empty() { found } else { named }
    }

    fn overloads(
        &self,
        file: FileId,
        text: &str,
        occurrence: &Occurrence,
        found: Vec<DefinitionSite>,
    ) -> Vec<DefinitionSite> {
        let callable = found.iter().find(|one| one.definition.kind.is_callable());
        if !callable.is_some_and(|one| self.is_cpp(one.file)) {
            return found;
        }
        let at = (file, occurrence.span.start);
        self.taking_arguments(
            text,
            occurrence,
            found,
            |arguments, parameters| self.can_be_given(at, arguments, parameters),
            |found, fits| self.other_overloads(found, fits),
        )
    }

    /// Where something that is only declared is defined.
    fn definition_of(&self, found: &DefinitionSite) -> Vec<DefinitionSite> {
        let definition = &found.definition;
        if !definition.is_declaration || definition.is_private {
            return Vec::new();
        }
        self.remembered(&self.pairs, found.key(), || self.find_paired(found))
    }

    /// A namespace is where the compiler reads of it first; `std` is that of the standard library.
    fn asked_definition(&self, file: FileId, _: &Occurrence, meaning: Resolution) -> Resolution {
        const MOST: usize = 500;
        let is_namespace = meaning.found().first().is_some_and(|one| one.definition.kind == Kind::Module);
        if !is_namespace {
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
            let first = outline.named(&name).filter(is_one).min_by_key(|one| one.span.start);
            if let Some(first) = first.filter(|_| defining.contains(at)) {
                return Resolution::of(vec![DefinitionSite::new(*at, first)]);
            }
            open.pop();
        }
        meaning
    }

    fn preferred(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        found.into_iter().take(1).collect()
    }

    fn spreads_members(&self) -> bool {
        true
    }

    /// What a header may leave to a source of C++, one of C cannot give.
    fn may_hold_members(&self, of: FileId, other: FileId) -> bool {
        self.is_cpp(other) || self.is_cpp(of) && self.can_use(other, of)
    }

    /// What `a::b::name` is, by its whole path, and the steps behind it: a namespace that a macro opens has no definition
    /// to go on from.
    fn path_value<'s>(&self, file: FileId, steps: &'s [Step], offset: u32) -> Option<(Value, &'s [Step])> {
        let [Step::Name(first), Step::Path(_), ..] = steps else { return None };
        let paths = steps[1..].iter().map_while(|step| match step {
            Step::Path(name) => Some(name.as_str()),
            _ => None,
        });
        let mut names: Vec<&str> = std::iter::once(first.as_str()).chain(paths).collect();
        let rest = &steps[names.len()..];
        let last = names.pop().filter(|_| first != "std")?;
        if self.index.defining(last).is_empty() {
            return None;
        }
        match self.resolve_path(file, &names.join("::"), last, offset) {
            Resolution::Found(found, _) => Some((self.value_of_found(&found), rest)),
            Resolution::External | Resolution::Unknown => None,
        }
    }

    /// What a member of a container or a pointer of the standard library of C++ gives.
    fn library_member(&self, value: &Value, name: &str) -> Option<Value> {
        let Value::Instance { file, text, .. } = value else { return None };
        if !self.is_cpp(*file) || !text.contains('<') {
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

    /// Methods that override each other, and a type with its constructors.
    fn renamed_with(&self, one: &DefinitionSite) -> HashSet<Key> {
        let mut keys = self.overridden(one);
        keys.extend(self.called_like_type(one));
        keys
    }

    fn overridden(&self, target: &DefinitionSite) -> HashSet<Key> {
        if self.is_cpp(target.file) { self.overridden_in_bases(target) } else { HashSet::new() }
    }

    fn also_refers(
        &self,
        file: FileId,
        text: &str,
        occurrence: &Occurrence,
        found: &[DefinitionSite],
        target: &DefinitionSite,
    ) -> bool {
        self.is_other_template((file, text), occurrence, found, target)
    }

    fn declarations_of(&self, target: &DefinitionSite) -> Vec<DefinitionSite> {
        let definition = &target.definition;
        if definition.is_declaration || definition.scope.is_some() || definition.is_private {
            return Vec::new();
        }
        let owner = self.owner_of(target);
        let declared = self.everywhere(&definition.name, |_, other, facts| {
            other.is_declaration && owner_name(facts, other).map(str::to_owned) == owner
        });
        self.same_parameters(target, self.same_namespace(target, declared))
    }

    fn constructs(&self, found: &DefinitionSite, target: &DefinitionSite) -> bool {
        self.is_cpp(target.file) && self.is_constructor_of(found, target)
    }

    /// A table of functions stands for who calls them.
    fn is_function_table(&self, definition: &Definition) -> bool {
        definition.kind == Kind::Variable && definition.scope.is_none()
    }

    fn inactive_spans(&self, file: FileId) -> Rc<[Span]> {
        self.skipped_spans(file)
    }
}

impl C<'_, '_> {
    /// Of definitions that may be those of a declaration the ones in its namespace, where there are such.
    fn same_namespace(&self, declared: &DefinitionSite, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        if found.len() < 2 || !self.is_cpp(declared.file) {
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

    /// C and C++: every file may declare it; those that are included are nearer.
    fn global(&self, file: FileId, name: &str, offset: u32) -> Resolution {
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

    /// Of several definitions those in files that are included, where there are such.
    fn known_here(&self, file: FileId, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        let included = self.index.included_by(file, || self.all_included(file));
        let is_known = |one: &&DefinitionSite| one.file == file || included.binary_search(&one.file).is_ok();
        let known: Vec<DefinitionSite> = found.iter().filter(is_known).cloned().collect();
        if known.is_empty() { found } else { known }
    }

    fn is_cpp(&self, file: FileId) -> bool {
        self.language(file) == Some(Language::Cpp)
    }

    /// A member of the type around a place, which is reached without `this`.
    fn implicit_member(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        if !self.is_cpp(file) {
            return Vec::new();
        }
        let types = self.enclosing_type(file, offset);
        let mut found = self.member_of_types(&types, name).found().to_vec();
        // The name of the type itself is not that of what makes it.
        found.retain(|one| one.definition.kind != Kind::Constructor);
        found
    }

    /// Whether functions or variables that stand outside of classes may have a member of their name.
    fn may_hide(&self, outside: &[DefinitionSite]) -> bool {
        let is_plain = |one: &DefinitionSite| {
            let definition = &one.definition;
            definition.scope.is_none() && !definition.kind.is_type() && definition.kind != Kind::Macro
        };
        let Some(first) = outside.first().filter(|_| outside.iter().all(is_plain)) else { return false };
        let name = &first.definition.name;
        let is_member = |file: FileId| self.index.outline(file).named(name).any(|one| one.is_member);
        self.index.defining(name).into_iter().any(is_member)
    }

    fn included(&self, from: &str, module: &str) -> Vec<FileId> {
        let beside = join(folder(from), module);
        if let Some(found) = normal(&beside).and_then(|path| self.index.file(&path)) {
            return vec![found];
        }
        if let Some(found) = self.index.file(module) {
            return vec![found];
        }
        // An include folder that is not named: the file whose path ends so, the nearest first.
        let ending = format!("/{}", module.trim_start_matches("./").trim_start_matches("../"));
        let mut found: Vec<(usize, &str, FileId)> = Vec::new();
        let name = ending.rsplit('/').next().unwrap_or_default();
        for id in self.index.files_called(name) {
            let path = self.index.path(id);
            if path.ends_with(&ending) {
                let common =
                    from.split('/').zip(path.split('/')).take_while(|(one, other)| one == other).count();
                found.push((usize::MAX - common, path, id));
            }
        }
        found.sort_unstable();
        found.first().map(|(.., id)| *id).into_iter().collect()
    }

    fn find_paired(&self, found: &DefinitionSite) -> Vec<DefinitionSite> {
        let definition = &found.definition;
        let owner = self.owner_of(found);
        let mut paired = self.everywhere(&definition.name, |file, other, facts| {
            !other.is_declaration
                && other.kind.is_callable() == definition.kind.is_callable()
                && other.kind.is_type() == definition.kind.is_type()
                && other.kind != Kind::Type
                && !(other.is_private && file != found.file)
                && owner_name(facts, other).map(str::to_owned) == owner
        });
        paired = self.built_in_each(paired);
        paired = self.same_parameters(found, self.same_namespace(found, paired));
        paired.sort_by_key(|other| usize::MAX - self.nearness(found.file, other.file));
        paired.truncate(1);
        paired
    }

    /// Functions of the same name that may stand for the one that was found and take the arguments.
    fn other_overloads(
        &self,
        found: Vec<DefinitionSite>,
        fits: &dyn Fn(&DefinitionSite) -> bool,
    ) -> Vec<DefinitionSite> {
        let Some(first) = found.iter().find(|one| one.definition.kind.is_callable()) else { return found };
        let owner = self.owner_of(first);
        let mut others = self.everywhere(&first.definition.name, |file, other, facts| {
            self.can_use(file, first.file)
                && other.kind.is_callable()
                && owner_name(facts, other).map(str::to_owned) == owner
        });
        others.retain(fits);
        others.sort_by_key(|one| {
            (one.definition.is_declaration, usize::MAX - self.nearness(first.file, one.file))
        });
        if others.is_empty() {
            // `using Base::name;` brings those of the base beside its own.
            let bases = self.owner_types(first).into_iter().flat_map(|owner| self.bases_of(&owner));
            let members: Vec<DefinitionSite> =
                bases.flat_map(|base| self.own_members(&base, &first.definition.name)).collect();
            others.extend(members.into_iter().filter(|one| fits(one)));
        }
        others.truncate(1);
        if others.is_empty() { found } else { others }
    }

    /// Whether the first argument can be of the type that a template takes, where that is one of the standard library:
    /// nothing is converted to a type whose own arguments are found by what is given.
    fn can_be_given(&self, (file, at): (FileId, u32), arguments: &[String], parameters: &[String]) -> bool {
        let (Some(argument), Some(parameter)) = (arguments.first(), parameters.first()) else { return true };
        let of = parameter.trim_start_matches("const ").trim_start();
        let Some((name, _)) = of.strip_prefix("std::").and_then(|of| of.split_once('<')) else { return true };
        if name == "initializer_list" {
            return argument.starts_with('{');
        }
        let is_of = |text: &str| TypeRef::parse(text).name() == name;
        argument.contains(name)
            || matches!(self.value(file, argument, at), Value::Instance { text, .. } if is_of(&text))
    }

    /// Whether a call that was found to be of one template may be of another of its name, for which one is decided only
    /// where it is given types; or whether it makes a value of a class with what was asked about.
    fn is_other_template(
        &self,
        (file, text): (FileId, &str),
        occurrence: &Occurrence,
        found: &[DefinitionSite],
        target: &DefinitionSite,
    ) -> bool {
        let is_own = |one: &DefinitionSite| one.file == file && one.definition.name_span == occurrence.span;
        if found.iter().any(is_own) {
            return false;
        }
        let Some(found) = found.first().filter(|one| one.definition.name == target.definition.name) else {
            return false;
        };
        let after = text.get(occurrence.span.end as usize..).unwrap_or_default();
        let fits = || {
            listed(after).is_some_and(|arguments| {
                let parameters = self.parameters_of(target);
                parameters.is_some_and(|parameters| {
                    takes(&parameters, arguments.len())
                        && self.can_be_given((file, occurrence.span.start), &arguments, &parameters)
                })
            })
        };
        // `Name(1)` makes a value of the class.
        if target.definition.kind == Kind::Constructor && found.definition.kind.is_type() {
            return self.is_cpp(target.file)
                && fits()
                && self.owner_types(target).iter().any(|one| one.key() == found.key());
        }
        let is_template = |one: &DefinitionSite| {
            let source = self.index.source(one.file);
            let before = source.get(..one.definition.span.start as usize).unwrap_or_default();
            // Macros may stand between.
            let is_between = |character: char| {
                character.is_whitespace()
                    || character.is_ascii_uppercase()
                    || matches!(character, '_' | '0'..='9')
            };
            one.definition.kind.is_callable() && before.trim_end_matches(is_between).ends_with('>')
        };
        if found.definition.kind != target.definition.kind
            || !is_template(target)
            || self.owner_of(found) != self.owner_of(target)
        {
            return false;
        }
        // Beside what is no template it may be meant where the types of what is given are not known either.
        let around = || {
            let whole = self.index.whole(file);
            let around = whole.1.innermost(occurrence.span.start, |one| one.kind.is_callable()).cloned();
            around.is_some_and(|definition| is_template(&DefinitionSite { file, definition }))
        };
        (is_template(found) || around()) && fits()
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
fn in_nearest_namespace<'d>(
    facts: &'d Facts,
    found: Vec<&'d Definition>,
    offset: u32,
) -> Vec<&'d Definition> {
    let around = namespaces_at(facts, offset);
    let far = |one: &Definition| distance(&namespaces_of(facts, one), &around);
    let nearest = found.iter().map(|one| far(one)).min();
    found.into_iter().filter(|one| Some(far(one)) == nearest).collect()
}
