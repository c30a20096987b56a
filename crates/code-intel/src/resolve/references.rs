//! Where something is used.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::{Certainty, DefinitionSite, Reference, Resolution, Resolver, owner_name};
use crate::facts::{Position, Span};
use crate::index::FileId;
use crate::languages::Language;

/// Files that all cores read together before they are looked through.
const AT_ONCE: usize = 64;

/// Something that is looked for.
struct Sought<'t> {
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
    /// Where a definition is used, in every file; its own name is left out.
    pub fn references(&self, target: &DefinitionSite) -> Vec<Reference> {
        self.references_to_all(std::slice::from_ref(target))
    }

    /// The same for several: where any of them is used, each place once.
    pub fn references_to_all(&self, targets: &[DefinitionSite]) -> Vec<Reference> {
        let mut uses = Vec::new();
        self.each_use(targets, &mut |used| uses.push(used));
        uses.sort_by(|left, right| self.place_of_use(left).cmp(&self.place_of_use(right)));
        uses.dedup_by(|one, other| (one.file, one.occurrence.at) == (other.file, other.occurrence.at));
        uses
    }

    /// What uses are put in order by.
    pub(super) fn place_of_use(&self, used: &Reference) -> (&str, Position) {
        (self.index.path(used.file), used.occurrence.at)
    }

    /// The same one by one, in no order, while the file is at hand: there may be more of them than have room in memory.
    /// Every file is read once, whatever number of definitions have the name.
    pub(super) fn each_use(&self, targets: &[DefinitionSite], then: &mut dyn FnMut(Reference)) {
        let sought: Vec<Sought<'_>> = targets.iter().map(|target| self.sought(target)).collect();
        let mut places: HashMap<(FileId, String), Vec<&Sought<'_>>> = HashMap::new();
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
            self.each_self(one.target, &one.targets, then);
        }
    }

    fn sought<'t>(&self, target: &'t DefinitionSite) -> Sought<'t> {
        let mut own = self.same(target);
        let mut targets = own.clone();
        targets.extend(self.overridden(target));
        // In Go no method names the one of an interface that it is the same as.
        if self.is_go(target.file) {
            own.clone_from(&targets);
        }
        let is_description =
            target.definition.is_member && self.is_description(target.file, target.definition.name_span);
        let (name, family) = (self.searched_name(target), self.family(target));
        Sought { target, name, own, targets, family, is_description, known: RefCell::default() }
    }

    fn is_description(&self, file: FileId, key: Span) -> bool {
        self.is_script(file) && self.describes_property(file, key)
    }

    /// The files something may be used in, with the name it has there.
    fn places_to_search(&self, sought: &Sought<'_>) -> Vec<(FileId, String)> {
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
        concerned: &[&Sought<'_>],
        then: &mut dyn FnMut(Reference),
    ) {
        let whole = self.index.whole(file);
        for occurrence in whole.1.uses(&whole.0, called) {
            let key = (file, occurrence.span.start);
            let mut meaning = None;
            for sought in concerned {
                let target = sought.target;
                if called != sought.name && self.is_given_by_import(file, occurrence.at) {
                    continue;
                }
                if sought.own.contains(&key) {
                    // What sets a property is a use of what reads it; so is a function of its signatures.
                    if key != target.key() && self.is_python(file) {
                        then(Reference { file, occurrence: *occurrence, certainty: Certainty::Resolved });
                    }
                    continue;
                }
                self.begin();
                let meaning = meaning.get_or_insert_with(|| self.meaning(file, occurrence));
                let is_meant = |found: &DefinitionSite| {
                    let known = sought.known.borrow().get(&found.key()).copied();
                    known.unwrap_or_else(|| {
                        let is_meant = sought.targets.contains(&found.key())
                            || self.makes(found, target)
                            || !self.family(found).is_disjoint(&sought.family);
                        sought.known.borrow_mut().insert(found.key(), is_meant);
                        is_meant
                    })
                };
                let is_used = meaning.found().iter().any(is_meant)
                    || self.is_field_of_pattern(file, &whole.0, occurrence, target)
                    || self.is_other_template((file, &whole.0), occurrence, meaning.found(), target)
                    || sought.is_description && self.is_description(file, occurrence.span);
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

    /// In Rust a type is also called `Self` where its members stand.
    fn each_self(
        &self,
        target: &DefinitionSite,
        targets: &HashSet<(FileId, u32)>,
        then: &mut dyn FnMut(Reference),
    ) {
        if self.language(target.file) != Some(Language::Rust) || !target.definition.kind.is_type() {
            return;
        }
        for file in self.index.using(&target.definition.name) {
            if !self.has_time() {
                continue;
            }
            let whole = self.index.whole(file);
            for occurrence in whole.1.uses(&whole.0, "Self") {
                self.steps.set(0);
                let types = self.enclosing_type(file, occurrence.span.start);
                if types.iter().any(|found| targets.contains(&found.key())) {
                    then(Reference { file, occurrence: *occurrence, certainty: Certainty::Resolved });
                }
            }
        }
    }

    /// Whether the two languages know each other's names.
    pub(super) fn can_use(&self, file: FileId, target: FileId) -> bool {
        self.language_family(file) == self.language_family(target)
    }

    /// One language for all that know each other's names.
    pub(super) fn language_family(&self, file: FileId) -> Option<Language> {
        match self.language(file) {
            Some(Language::Cpp) => Some(Language::C),
            Some(Language::TypeScript | Language::Tsx) => Some(Language::JavaScript),
            other => other,
        }
    }

    /// A definition with the places that declare the same thing.
    pub(super) fn same(&self, target: &DefinitionSite) -> HashSet<(FileId, u32)> {
        let mut keys = HashSet::from([target.key()]);
        keys.extend(self.declared_together(target).iter().map(DefinitionSite::key));
        let definition = &target.definition;
        keys.extend(self.paired(target).iter().map(DefinitionSite::key));
        let is_c = matches!(self.language(target.file), Some(Language::C | Language::Cpp));
        if is_c && !definition.is_declaration && definition.scope.is_none() && !definition.is_private {
            let owner = self.owner_of(target);
            let declared = self.everywhere(&definition.name, |_, other, facts| {
                other.is_declaration && owner_name(facts, other).map(str::to_owned) == owner
            });
            let declared = self.same_parameters(target, self.same_namespace(target, declared));
            keys.extend(declared.iter().map(DefinitionSite::key));
        }
        keys
    }
}
