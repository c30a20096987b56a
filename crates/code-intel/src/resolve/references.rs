//! References to a definition.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::{Certainty, DefinitionSite, Reference, Resolution, Resolver};
use crate::facts::{Definition, Kind, Position};
use crate::index::FileId;
use crate::languages::Language;

/// Files that all cores read together before they are looked through.
const AT_ONCE: usize = 64;

/// Something that is looked for.
struct SearchTarget<'t> {
    target: &'t DefinitionSite,
    name: String,
    /// The places that define it.
    own: HashSet<(FileId, u32)>,
    /// What a name may mean to be a use of it.
    targets: HashSet<(FileId, u32)>,
    family: HashSet<(FileId, u32)>,
    /// It is a key that describes a property.
    is_description: bool,
    /// Whether what a name was found to mean is this.
    known: RefCell<HashMap<(FileId, u32), bool>>,
}

impl Resolver<'_> {
    /// Finds all references to a definition, in every file, without the definition itself.
    pub fn references(&self, target: &DefinitionSite) -> Vec<Reference> {
        self.references_to_all(std::slice::from_ref(target))
    }

    /// Finds the references to any of several definitions, each position once.
    pub(crate) fn references_to_all(&self, targets: &[DefinitionSite]) -> Vec<Reference> {
        let mut uses = Vec::new();
        self.each_use(targets, &mut |used| uses.push(used));
        uses.sort_by(|left, right| self.place_of_use(left).cmp(&self.place_of_use(right)));
        uses.dedup_by(|one, other| (one.file, one.occurrence.at) == (other.file, other.occurrence.at));
        uses
    }

    /// What uses are put in order by.
    pub(crate) fn place_of_use(&self, used: &Reference) -> (&str, Position) {
        (self.index.path(used.file), used.occurrence.at)
    }

    /// The same one by one, in no order, while the file is at hand: there may be more of them than have room in memory.
    /// Every file is read once, whatever number of definitions have the name.
    pub(crate) fn each_use(&self, targets: &[DefinitionSite], then: &mut dyn FnMut(Reference)) {
        let sought: Vec<SearchTarget<'_>> = targets.iter().map(|target| self.sought(target)).collect();
        let mut places: HashMap<(FileId, String), Vec<&SearchTarget<'_>>> = HashMap::new();
        let mut searched: Vec<(FileId, String)> = Vec::new();
        for one in &sought {
            for place in self.places_to_search(one) {
                let concerned = places.entry(place).or_insert_with_key(|place| {
                    searched.push(place.clone());
                    Vec::new()
                });
                concerned.push(one);
            }
        }
        if let Some(first) = targets.first().filter(|_| self.deadline.is_some()) {
            searched.sort_by_cached_key(|(file, _)| std::cmp::Reverse(self.nearness(first.file, *file)));
        }
        let names: HashSet<&str> = searched.iter().map(|(_, name)| name.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        for (number, place) in searched.iter().enumerate() {
            if !self.has_time() {
                continue;
            }
            if number % AT_ONCE == 0 {
                let next = searched.iter().skip(number).take(AT_ONCE).map(|(file, _)| *file);
                // What is said of a definition is known by its place in the whole file.
                let is_other = |file: &FileId| targets.iter().all(|target| target.file != *file);
                let mut next: Vec<FileId> = next.filter(is_other).collect();
                next.dedup();
                self.index.preload(&next, &names);
            }
            let concerned = places.get(place).map(Vec::as_slice).unwrap_or_default();
            self.uses_in(place.0, &place.1, concerned, then);
        }
        // What was read is about these names alone.
        self.index.preload(&[], &[]);
        for one in &sought {
            self.rules(one.target.file).each_self(one.target, &one.targets, then);
        }
    }

    fn sought<'t>(&self, target: &'t DefinitionSite) -> SearchTarget<'t> {
        let mut own = self.same(target);
        let mut targets = own.clone();
        let rules = self.rules(target.file);
        targets.extend(rules.overridden(target));
        if !rules.overriding_refers() {
            own.clone_from(&targets);
        }
        let is_description =
            target.definition.is_member && rules.describes_property(target.file, target.definition.name_span);
        let (name, family) = (rules.searched_name(target), self.family(target));
        SearchTarget { target, name, own, targets, family, is_description, known: RefCell::default() }
    }

    /// The files something may be used in, with the name it has there.
    fn places_to_search(&self, sought: &SearchTarget<'_>) -> Vec<(FileId, String)> {
        let target = sought.target;
        let is_local = target.definition.scope.is_some();
        let mut files = if is_local { vec![target.file] } else { self.index.using(&sought.name) };
        files.retain(|file| self.can_use(*file, target.file));
        let files = files.into_iter().map(|file| (file, sought.name.clone()));
        files.chain(self.other_names(target)).collect()
    }

    /// The uses in one file of what is called by a name there.
    fn uses_in(
        &self,
        file: FileId,
        called: &str,
        concerned: &[&SearchTarget<'_>],
        then: &mut dyn FnMut(Reference),
    ) {
        let whole = self.index.whole(file);
        let rules = self.rules(file);
        for occurrence in whole.1.uses(&whole.0, called) {
            let key = (file, occurrence.span.start);
            let mut meaning = None;
            for sought in concerned {
                let target = sought.target;
                if called != sought.name && self.is_given_by_import(file, occurrence.at) {
                    continue;
                }
                if sought.own.contains(&key) {
                    if key != target.key() && rules.redefinition_refers() {
                        then(Reference { file, occurrence: *occurrence, certainty: Certainty::Resolved });
                    }
                    continue;
                }
                self.begin();
                let meaning = meaning.get_or_insert_with(|| self.resolve_occurrence(file, occurrence));
                let is_meant = |found: &DefinitionSite| {
                    let known = sought.known.borrow().get(&found.key()).copied();
                    known.unwrap_or_else(|| {
                        let is_meant = sought.targets.contains(&found.key())
                            || self.rules(target.file).constructs(found, target)
                            || !self.family(found).is_disjoint(&sought.family);
                        sought.known.borrow_mut().insert(found.key(), is_meant);
                        is_meant
                    })
                };
                let is_used = meaning.found().iter().any(is_meant)
                    || rules.also_refers(file, &whole.0, occurrence, meaning.found(), target)
                    || sought.is_description && rules.describes_property(file, occurrence.span);
                if is_used {
                    let certainty = match meaning {
                        Resolution::Found(_, certainty) => *certainty,
                        Resolution::External | Resolution::Unknown => Certainty::Resolved,
                    };
                    then(Reference { file, occurrence: *occurrence, certainty });
                }
            }
        }
    }

    /// Whether the two languages know each other's names.
    pub(crate) fn can_use(&self, file: FileId, target: FileId) -> bool {
        self.language_family(file) == self.language_family(target)
    }

    /// One language for all that know each other's names.
    pub(crate) fn language_family(&self, file: FileId) -> Option<Language> {
        match self.language(file) {
            Some(Language::Cpp) => Some(Language::C),
            Some(Language::TypeScript | Language::Tsx) => Some(Language::JavaScript),
            other => other,
        }
    }

    /// A definition with the places that declare the same thing.
    pub(crate) fn same(&self, target: &DefinitionSite) -> HashSet<(FileId, u32)> {
        let mut keys = HashSet::from([target.key()]);
        keys.extend(self.declared_together(target).iter().map(DefinitionSite::key));
        let rules = self.rules(target.file);
        keys.extend(rules.definition_of(target).iter().map(DefinitionSite::key));
        keys.extend(rules.declarations_of(target).iter().map(DefinitionSite::key));
        keys
    }

    /// The declarations of one thing: a function with its signatures, what reads a property and what sets it.
    pub(crate) fn declared_together(&self, found: &DefinitionSite) -> Vec<DefinitionSite> {
        let is_property = found.definition.kind == Kind::Property;
        let rules = self.rules(found.file);
        let is_function = rules.joins_signatures(true) && found.definition.is_callable();
        if !is_property && !is_function {
            return Vec::new();
        }
        let whole = self.index.whole(found.file);
        let definitions = &whole.1.definitions;
        let Some(own) = definitions.iter().find(|one| one.name_span == found.definition.name_span) else {
            return Vec::new();
        };
        let is_same = |one: &&Definition| {
            one.name == own.name
                && one.is_callable() == own.is_callable()
                && one.container == own.container
                && one.scope == own.scope
                && one.owner == own.owner
                && one.is_member == own.is_member
        };
        let has_signature = || definitions.iter().filter(is_same).any(|one| one.is_declaration);
        let is_one = is_property || rules.joins_signatures(has_signature());
        let same = definitions.iter().filter(is_same).filter(|_| is_one);
        same.map(|one| DefinitionSite::new(found.file, one)).collect()
    }

    /// What is run where a signature of an overloaded function is called.
    pub(crate) fn implementation(&self, called: &DefinitionSite) -> DefinitionSite {
        if !called.definition.is_declaration {
            return called.clone();
        }
        let mut together = self.declared_together(called).into_iter();
        together.find(|one| !one.definition.is_declaration).unwrap_or_else(|| called.clone())
    }

    /// A member and those of the types above that it stands for; what has one of them in common is the same to who
    /// asks for uses.
    pub(crate) fn family(&self, found: &DefinitionSite) -> HashSet<(FileId, u32)> {
        let mut keys = HashSet::from([found.key()]);
        keys.extend(self.declared_together(found).iter().map(DefinitionSite::key));
        keys.extend(self.rules(found.file).inherited_family(found));
        keys
    }

    /// The places of the methods that a method overrides: who calls those may call it.
    pub(crate) fn overridden_in_bases(&self, target: &DefinitionSite) -> HashSet<(FileId, u32)> {
        const DEEPEST: usize = 12;
        let definition = &target.definition;
        let mut found = HashSet::new();
        if definition.kind != Kind::Method {
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

    /// Whether what was found makes values of a type that is asked about: its constructor is called like it.
    pub(crate) fn is_constructor_of(&self, found: &DefinitionSite, target: &DefinitionSite) -> bool {
        if found.definition.kind != Kind::Constructor || !target.definition.kind.is_type() {
            return false;
        }
        found.definition.name == target.definition.name
            && self.owner_types(found).iter().any(|one| one.key() == target.key())
    }
}
