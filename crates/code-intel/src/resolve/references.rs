//! Where something is used.

use std::collections::{HashMap, HashSet};

use super::{Certainty, Found, Meaning, Resolver, Use, owner_name};
use crate::facts::Position;
use crate::index::FileId;
use crate::languages::Language;

/// Files that all cores read together before they are looked through.
const AT_ONCE: usize = 64;

impl Resolver<'_> {
    /// Where a definition is used, in every file; its own name is left out.
    pub fn references(&self, target: &Found) -> Vec<Use> {
        let mut uses = Vec::new();
        self.each_use(target, &mut |used| uses.push(used));
        uses.sort_by(|left, right| self.place_of_use(left).cmp(&self.place_of_use(right)));
        uses
    }

    /// What uses are put in order by.
    pub(super) fn place_of_use(&self, used: &Use) -> (&str, Position) {
        (self.index.path(used.file), used.occurrence.at)
    }

    /// The same one by one, in no order, while the file is at hand: there may be more of them than have room in memory.
    pub(super) fn each_use(&self, target: &Found, then: &mut dyn FnMut(Use)) {
        let name = &self.searched_name(target);
        let mut own = self.same(target);
        let mut targets = own.clone();
        targets.extend(self.overridden(target));
        // In Go no method names the one of an interface that it is the same as.
        if self.is_go(target.file) {
            own.clone_from(&targets);
        }
        let family = self.family(target);
        let describes = |file, key| self.is_script(file) && self.describes_property(file, key);
        let is_description =
            target.definition.is_member && describes(target.file, target.definition.name_span);
        let mut known: HashMap<(FileId, u32), bool> = HashMap::new();
        let is_local = target.definition.scope.is_some();
        let mut files = if is_local { vec![target.file] } else { self.index.using(name) };
        files.retain(|file| self.can_use(*file, target.file));
        if self.deadline.is_some() {
            files.sort_by_cached_key(|file| std::cmp::Reverse(self.nearness(target.file, *file)));
        }
        let searched = files.into_iter().map(|file| (file, name.clone()));
        let searched: Vec<(FileId, String)> = searched.chain(self.other_names(target)).collect();
        for (number, (file, called)) in searched.iter().enumerate() {
            let file = *file;
            if !self.has_time() {
                continue;
            }
            if number % AT_ONCE == 0 {
                let mut next: Vec<FileId> =
                    searched.iter().skip(number).take(AT_ONCE).map(|(file, _)| *file).collect();
                next.dedup();
                self.index.preload(&next);
            }
            let whole = self.index.whole(file);
            for occurrence in whole.1.uses(&whole.0, called) {
                let key = (file, occurrence.span.start);
                if called != name && self.is_given_by_import(file, occurrence.at) {
                    continue;
                }
                if own.contains(&key) {
                    // What sets a property is a use of what reads it; so is a function of its signatures.
                    if key != target.key() && self.is_python(file) {
                        then(Use { file, occurrence: *occurrence, certainty: Certainty::Resolved });
                    }
                    continue;
                }
                self.begin();
                let meaning = self.meaning(file, occurrence);
                let mut is_meant = |found: &Found| {
                    *known.entry(found.key()).or_insert_with(|| {
                        targets.contains(&found.key())
                            || self.makes(found, target)
                            || !self.family(found).is_disjoint(&family)
                    })
                };
                let is_used = meaning.found().iter().any(&mut is_meant)
                    || self.is_field_of_pattern(file, &whole.0, occurrence, target)
                    || self.is_other_template((file, &whole.0), occurrence, meaning.found(), target)
                    || is_description && describes(file, occurrence.span);
                if is_used {
                    let certainty = match meaning {
                        Meaning::Found(_, certainty) => certainty,
                        Meaning::External | Meaning::Unknown => Certainty::Resolved,
                    };
                    then(Use { file, occurrence: *occurrence, certainty });
                }
            }
        }
        self.each_self(target, &targets, then);
    }

    /// In Rust a type is also called `Self` where its members stand.
    fn each_self(&self, target: &Found, targets: &HashSet<(FileId, u32)>, then: &mut dyn FnMut(Use)) {
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
                    then(Use { file, occurrence: *occurrence, certainty: Certainty::Resolved });
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
    pub(super) fn same(&self, target: &Found) -> HashSet<(FileId, u32)> {
        let mut keys = HashSet::from([target.key()]);
        keys.extend(self.declared_together(target).iter().map(Found::key));
        let definition = &target.definition;
        keys.extend(self.paired(target).iter().map(Found::key));
        let is_c = matches!(self.language(target.file), Some(Language::C | Language::Cpp));
        if is_c && !definition.is_declaration && definition.scope.is_none() && !definition.is_private {
            let owner = self.owner_of(target);
            let declared = self.everywhere(&definition.name, |_, other, facts| {
                other.is_declaration && owner_name(facts, other).map(str::to_owned) == owner
            });
            let declared = self.same_parameters(target, self.same_namespace(target, declared));
            keys.extend(declared.iter().map(Found::key));
        }
        keys
    }
}
