//! What is one thing to who asks: the signatures of a function, a member and those it overrides; and who calls.

use super::Script;
use std::collections::HashSet;

use super::text;
use crate::facts::{Definition, Kind, Occurrence, Receiver};
use crate::index::FileId;
use crate::resolve::{DefinitionSite, Reference};

impl Script<'_, '_> {
    /// Who calls, where a use is a call: the innermost function that others can call by its name, else the module.
    pub(super) fn calling_function(
        &self,
        target: &DefinitionSite,
        used: &Reference,
    ) -> Option<DefinitionSite> {
        let whole = self.index.whole(used.file);
        let (text, definitions) = (&whole.0, &whole.1.definitions);
        let at = used.occurrence.span.start;
        let is_made = text.get(..at as usize).unwrap_or_default().trim_end().ends_with("new");
        let rest = text.get(used.occurrence.span.end as usize..).unwrap_or_default();
        let rest = rest.strip_prefix('!').unwrap_or(rest);
        let is_own = definitions.iter().any(|one| one.name_span == used.occurrence.span);
        let is_tagged = rest.starts_with('`');
        let is_read = self.is_accessor_used(target, used.file, &used.occurrence);
        if is_own && !is_read || !is_made && !is_tagged && !is_read && text::arguments_given(rest).is_none() {
            return None;
        }
        let is_around = |one: &&Definition| {
            one.span.contains(at)
                && one.name_span.start < at
                && (one.is_callable() || matches!(one.kind, Kind::Property | Kind::Class))
        };
        let mut around: Vec<&Definition> = definitions.iter().filter(is_around).collect();
        around.sort_by_key(|one| one.span.len());
        // What is only handed to something, as `key: function` or `value.key = function`, is part of what does so.
        let is_handed = |one: &Definition| {
            let rest = text.get(one.name_span.end as usize..).unwrap_or_default().trim_start();
            one.is_member && one.kind == Kind::Method && rest.starts_with([':', '='])
        };
        let Some(named) = around.iter().find(|one| !is_handed(one)) else {
            return self.module_meaning(used.file).found().first().cloned();
        };
        let mut found = DefinitionSite::new(used.file, named);
        if named.kind == Kind::Constructor {
            found = self.owner_types(&found).into_iter().next().unwrap_or(found);
        }
        Some(found)
    }

    /// Of the signatures of an overloaded function those that a use means: at a call the first that takes as many
    /// arguments, else all of them.
    pub(super) fn signatures_for(
        &self,
        file: FileId,
        occurrence: &Occurrence,
        found: Vec<DefinitionSite>,
    ) -> Vec<DefinitionSite> {
        let is_callable = |one: &DefinitionSite| one.definition.is_callable();
        let is_signature = |one: &DefinitionSite| one.definition.is_declaration && is_callable(one);
        let whole = self.index.whole(file);
        let rest = whole.0.get(occurrence.span.end as usize..).unwrap_or_default();
        let given = text::arguments_given(rest);
        let mut found = found;
        // What is called is the function, not the type of its name.
        let has_class =
            found.iter().any(|one| matches!(one.definition.kind, Kind::Class | Kind::Constructor));
        if given.is_some() && !has_class && found.iter().any(is_callable) {
            // `object.name()` where the object is `{ name }` is the key as well as the function.
            let is_member = matches!(occurrence.receiver, Receiver::Value(_));
            let is_key = |one: &DefinitionSite| is_member && one.definition.span == one.definition.name_span;
            found.retain(|one| is_callable(one) || is_key(one));
        }
        if found.len() < 2
            || !found.iter().any(is_signature)
            || !found.iter().all(|one| one.definition.is_callable())
        {
            return found;
        }
        let Some(count) = given else { return found };
        let fits = |one: &&DefinitionSite| {
            let (least, most) = self.parameter_counts(one);
            is_signature(one) && least <= count && count <= most
        };
        let fitting: Vec<&DefinitionSite> = found.iter().filter(fits).collect();
        let first = rest.split_once('(').map_or("", |(_, arguments)| arguments.trim_start());
        let taking = fitting.iter().find(|one| self.takes_first(one, first));
        match taking.or_else(|| fitting.first()) {
            Some(one) => vec![(*one).clone()],
            None => found,
        }
    }

    /// Whether the first parameter of a signature is of the type of the literal that a text begins with.
    fn takes_first(&self, signature: &DefinitionSite, text: &str) -> bool {
        let of = match text.chars().next() {
            Some('"' | '\'' | '`') => "string",
            Some(digit) if digit.is_ascii_digit() => "number",
            _ => return false,
        };
        let whole = self.index.whole(signature.file);
        let scope = Some(signature.definition.span);
        let parameters = whole.1.of_kind(Kind::Parameter).map(|(_, one)| one);
        let first = parameters.filter(|one| one.scope == scope).min_by_key(|one| one.span.start);
        first.is_some_and(|one| text::parts(&one.declared).contains(&of))
    }

    /// How many arguments a signature takes at least and at most.
    fn parameter_counts(&self, signature: &DefinitionSite) -> (usize, usize) {
        let whole = self.index.whole(signature.file);
        let (definitions, span) = (&whole.1.definitions, signature.definition.span);
        let mut seen = HashSet::new();
        let (mut least, mut most) = (0, 0_usize);
        for one in definitions.iter().filter(|one| one.kind == Kind::Parameter && one.scope == Some(span)) {
            if !seen.insert(one.span) {
                continue;
            }
            let text = one.span.of(&whole.0);
            if text.starts_with("...") {
                most = usize::MAX;
                continue;
            }
            most = most.saturating_add(1);
            let name_end = (one.name_span.end - one.span.start) as usize;
            let is_optional =
                text.get(name_end..).is_some_and(|rest| rest.starts_with('?')) || !one.value.is_empty();
            least += usize::from(!is_optional);
        }
        (least, most)
    }
}
