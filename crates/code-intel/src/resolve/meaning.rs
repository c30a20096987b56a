//! What a name at a place means.

use std::collections::HashSet;

use super::{DefinitionSite, Resolution, Resolver, Want, owner_name};
use crate::facts::{Kind, Occurrence, Receiver};
use crate::index::FileId;
use crate::languages::Language;

impl Resolver<'_> {
    pub(crate) fn meaning(&self, file: FileId, occurrence: &Occurrence) -> Resolution {
        let whole = self.index.whole(file);
        let text = &whole.0;
        let name = occurrence.span.of(text);
        // The name of a definition means itself.
        let own = self.defined_by(file, occurrence);
        if let Some(meaning) = self.script_meaning(file, occurrence, &own) {
            return meaning;
        }
        let is_assigned = own
            .iter()
            .all(|found| matches!(found.definition.kind, Kind::Variable | Kind::Constant | Kind::Field));
        let may_be_elsewhere = is_assigned && self.is_assigning(file);
        if !own.is_empty() && !may_be_elsewhere {
            // A signature of an overloaded function stands for the function.
            let is_signature =
                own.iter().all(|found| found.definition.is_declaration && !found.definition.is_member);
            if is_signature && self.is_assigning(file) {
                let mut real = self.name(file, name, occurrence.span.start).found().to_vec();
                real.retain(|found| !found.definition.is_declaration);
                if !real.is_empty() {
                    return Resolution::of(real);
                }
            }
            return self.completed(own);
        }
        if let Some(package) = self.go_package_name(file, name, occurrence) {
            return Resolution::of(vec![package]);
        }
        if let Some(meaning) = self.rust_meaning(file, text, occurrence) {
            return meaning;
        }
        let rest = text.get(occurrence.span.end as usize..).unwrap_or_default();
        let want = if rest.starts_with('(') || rest.starts_with("::<") { Want::Call } else { Want::Any };
        let meaning = match occurrence.receiver {
            Receiver::None => self.name(file, name, occurrence.span.start),
            Receiver::Value(span) => self.member(file, span.of(text), name, occurrence.span.start, want),
            Receiver::Path(span) => self.in_path(file, span.of(text), name, occurrence.span.start),
            Receiver::Made(span) => self.made(file, span, occurrence, text),
            Receiver::Argument(span) => self.argument(file, span.of(text), name, occurrence.span.start),
        };
        let before = text.get(..occurrence.span.start as usize).unwrap_or_default().trim_end();
        match meaning {
            Resolution::Found(found, certainty) if self.is_script(file) => {
                let found = self.overloads(file, occurrence, self.adjusted(file, found, before));
                Resolution::Found(found, certainty)
            }
            Resolution::Found(found, certainty) => {
                let found = self.by_arguments(file, self.adjusted(file, found, before), text, occurrence);
                let found = self.by_count((file, text), found, occurrence);
                match self.completed(found) {
                    Resolution::Found(found, _) => Resolution::Found(found, certainty),
                    other => other,
                }
            }
            _ if !own.is_empty() => Resolution::of(own),
            other => other,
        }
    }

    /// What the word before a name says about it: `struct name` is no other name for a type, `new Name` is also what
    /// makes one.
    pub(super) fn adjusted(
        &self,
        file: FileId,
        found: Vec<DefinitionSite>,
        before: &str,
    ) -> Vec<DefinitionSite> {
        let ends = |word: &str| before.ends_with(word);
        match self.language(file) {
            Some(Language::C | Language::Cpp) if ends("struct") || ends("union") || ends("enum") => {
                let named: Vec<DefinitionSite> =
                    found.iter().flat_map(|one| self.struct_named(one)).collect();
                if named.is_empty() { found } else { named }
            }
            Some(Language::TypeScript | Language::Tsx | Language::JavaScript) if ends("new") => {
                let mut found = found;
                let makers = self.member_of_types(&found, "constructor").found().to_vec();
                found.extend(makers);
                found
            }
            Some(Language::Java) if ends("new") => self.with_makers(file, found),
            _ => found,
        }
    }

    /// The name of a package in Go means the line that imports it.
    pub(super) fn go_package_name(
        &self,
        file: FileId,
        name: &str,
        occurrence: &Occurrence,
    ) -> Option<DefinitionSite> {
        if self.language(file) != Some(Language::Go) || occurrence.receiver != Receiver::None {
            return None;
        }
        let local = self.local(file, name, occurrence.span.start);
        let outline = self.index.outline(file);
        let imported =
            outline.imports.iter().flat_map(|import| &import.names).find(|one| one.alias == name)?;
        if !local.is_empty() {
            return None;
        }
        let mut found = self.module_meaning(file).found().first()?.clone();
        found.definition.at = imported.at;
        name.clone_into(&mut found.definition.name);
        Some(found)
    }

    /// Whether an assignment makes a name in this file's language, so that a name is made more than once.
    pub(super) fn is_assigning(&self, file: FileId) -> bool {
        matches!(
            self.language(file),
            Some(Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx)
        )
    }

    /// The definition instead of a prototype, where there is one; each place once.
    pub(super) fn completed(&self, found: Vec<DefinitionSite>) -> Resolution {
        let mut seen = HashSet::new();
        let mut all: Vec<DefinitionSite> = Vec::new();
        for one in found {
            let paired = self.module_file(&one).map_or_else(|| self.paired(&one), |found| vec![found]);
            for one in if paired.is_empty() { vec![one] } else { paired } {
                if seen.insert(one.key()) {
                    all.push(one);
                }
            }
        }
        Resolution::of(all)
    }

    /// The file that `mod name;` stands for.
    pub(super) fn module_file(&self, found: &DefinitionSite) -> Option<DefinitionSite> {
        let definition = &found.definition;
        let is_declared = definition.kind == Kind::Module && definition.is_declaration;
        let file =
            self.rust_module(found.file, &format!("self::{}", definition.name)).filter(|_| is_declared)?;
        self.module_meaning(file).found().first().cloned()
    }

    /// Where something that is only declared is defined (C and C++).
    pub(super) fn paired(&self, found: &DefinitionSite) -> Vec<DefinitionSite> {
        let definition = &found.definition;
        let is_c = matches!(self.language(found.file), Some(Language::C | Language::Cpp));
        if !is_c || !definition.is_declaration || definition.is_private {
            return Vec::new();
        }
        self.remembered(&self.pairs, found.key(), || self.find_paired(found))
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
}
