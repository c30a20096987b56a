//! Resolves one occurrence of a name.

use std::collections::HashSet;

use super::{DefinitionSite, Resolution, Resolver, Want};
use crate::facts::{Kind, Occurrence, Receiver};
use crate::index::FileId;

impl Resolver<'_> {
    pub(crate) fn resolve_occurrence(&self, file: FileId, occurrence: &Occurrence) -> Resolution {
        let whole = self.index.whole(file);
        let text = &whole.0;
        let name = occurrence.span.of(text);
        // The name of a definition means itself.
        let own = self.defined_by(file, occurrence);
        let rules = self.rules(file);
        if let Some(meaning) = rules.special_occurrence(file, occurrence, &own) {
            return meaning;
        }
        let is_assigned = own
            .iter()
            .all(|found| matches!(found.definition.kind, Kind::Variable | Kind::Constant | Kind::Field));
        let may_be_elsewhere = is_assigned && rules.assignments_define();
        if !own.is_empty() && !may_be_elsewhere {
            // A signature of an overloaded function stands for the function.
            let is_signature =
                own.iter().all(|found| found.definition.is_declaration && !found.definition.is_member);
            if is_signature && rules.assignments_define() {
                let mut real = self.name(file, name, occurrence.span.start).found().to_vec();
                real.retain(|found| !found.definition.is_declaration);
                if !real.is_empty() {
                    return Resolution::of(real);
                }
            }
            return self.completed(own);
        }
        if let Some(meaning) = rules.special_reference(file, text, occurrence) {
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
        // What a class assigns in its body is its own, whatever has the name outside.
        let is_own_member = !own.is_empty()
            && occurrence.receiver == Receiver::None
            && own.iter().all(|one| one.definition.is_member)
            && !meaning.found().iter().any(|one| one.definition.is_member);
        match meaning {
            _ if is_own_member => Resolution::of(own),
            Resolution::Found(found, certainty) => {
                let found = rules.after_keyword(file, found, before);
                let found = self.rules_of(&found).overloads(file, text, occurrence, found);
                match self.completed(found) {
                    Resolution::Found(found, _) => Resolution::Found(found, certainty),
                    other => other,
                }
            }
            _ if !own.is_empty() => Resolution::of(own),
            other => other,
        }
    }

    /// The definition instead of a prototype, where there is one; each place once.
    pub(crate) fn completed(&self, found: Vec<DefinitionSite>) -> Resolution {
        let mut seen = HashSet::new();
        let mut all: Vec<DefinitionSite> = Vec::new();
        for one in found {
            let defined = self.rules(one.file).definition_of(&one);
            for one in if defined.is_empty() { vec![one] } else { defined } {
                if seen.insert(one.key()) {
                    all.push(one);
                }
            }
        }
        Resolution::of(all)
    }
}
