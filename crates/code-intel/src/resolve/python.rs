//! What Python means that other languages do not: names that are made in several branches, and who calls.

use super::types::Value;
use super::{DefinitionSite, Reference, Resolver};
use crate::facts::{Definition, Kind, Span};
use crate::index::FileId;
use crate::languages::Language;

impl Resolver<'_> {
    pub(super) fn is_python(&self, file: FileId) -> bool {
        self.language(file) == Some(Language::Python)
    }

    /// Whether members are only made by assigning them, so that a type above may still declare them: what is declared
    /// anywhere counts more than what is assigned.
    pub(super) fn is_only_assigned(&self, found: &[DefinitionSite]) -> bool {
        let is_assigned =
            |one: &DefinitionSite| one.definition.kind == Kind::Field && one.definition.declared.is_empty();
        found.first().is_some_and(|first| self.is_python(first.file)) && found.iter().all(is_assigned)
    }

    /// Of what several classes above have by a name, what the first of them has.
    pub(super) fn of_first_base(&self, mut found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        if let Some(first) = found.first().filter(|first| self.is_python(first.file)).cloned() {
            found.retain(|one| are_of_one(&first, one));
        }
        found
    }

    /// What a value is where a condition around the place says so: `if isinstance(value, Type):`, also in the same
    /// condition behind `and`.
    pub(super) fn checked(&self, file: FileId, value: &str, offset: u32) -> Option<Value> {
        let whole = self.index.whole(file);
        let types = checked_types(whole.0.get(..offset as usize)?, value)?;
        Some(Value::Instance { file, offset, text: types })
    }

    /// The function in whose list of parameters a place is, other than at the name of one: what stands there is
    /// understood outside of it.
    pub(super) fn outside_of(&self, file: FileId, offset: u32) -> Option<Span> {
        let whole = self.index.whole(file);
        let parameter = whole.1.innermost(offset, |one| one.kind == Kind::Parameter)?;
        parameter.scope.filter(|_| !parameter.name_span.contains(offset))
    }

    /// Of several definitions of a name in one scope, not all of them variables, those that are meant at a place.
    pub(super) fn chosen_python<'d>(
        &self,
        file: FileId,
        mut found: Vec<&'d Definition>,
        offset: u32,
    ) -> Vec<&'d Definition> {
        // `A = decorated(A)` is still the class.
        let is_real = |one: &&Definition| one.kind.is_type() || one.kind.is_callable();
        if found.iter().any(is_real) {
            found.retain(is_real);
        }
        let before = found.iter().rposition(|one| one.span.start <= offset && one.scope.is_some());
        let Some(mut at) = before.or_else(|| found.len().checked_sub(1)) else { return found };
        let mut meant = vec![found[at]];
        if found.len() > 1 {
            let whole = self.index.whole(file);
            while at > 0 && are_branches(&whole.0, found[at - 1], found[at]) {
                at -= 1;
                meant.push(found[at]);
            }
        }
        meant
    }

    /// Who calls, where a use is a call: the function around it, else the module.
    pub(super) fn python_caller(&self, target: &DefinitionSite, used: &Reference) -> Option<DefinitionSite> {
        let whole = self.index.whole(used.file);
        let span = used.occurrence.span;
        let (before, after) = (&whole.0[..span.start as usize], &whole.0[span.end as usize..]);
        let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
        let is_decorator = line.starts_with('@') && !line.contains('(');
        let is_call = after.trim_start_matches([' ', '\t']).starts_with('(');
        let is_declared = line == "def " || line == "class " || line == "async def ";
        // A property is called where it is read.
        let is_read = target.definition.kind == Kind::Property;
        if is_declared || !(is_call || is_decorator != is_read) {
            return None;
        }
        // What decorates a function stands outside of it.
        let around = self.function_around(used.file, span.start);
        around.or_else(|| self.module_meaning(used.file).found().first().cloned())
    }
}

/// The types that the conditions before a place give a value, as alternatives.
fn checked_types(before: &str, value: &str) -> Option<String> {
    const MOST_LINES: usize = 80;
    let call = format!("isinstance({value},");
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = before.rsplit('\n').take(MOST_LINES);
    let mut below = lines.next()?;
    if let Some((_, rest)) = below.rsplit_once(&call)
        && let Some((types, rest)) = given_types(rest)
        && rest.trim_start().starts_with("and ")
        && !below.contains(" or ")
        && !below.contains("not isinstance")
    {
        return Some(types);
    }
    let mut limit = indent(below);
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let (word, own) = (line.trim_start(), indent(line));
        if own > limit || own == limit && !below.trim_start().starts_with("and ") {
            continue;
        }
        if word.starts_with("def ") || word.starts_with("class ") {
            return None;
        }
        let opens = ["if ", "elif ", "while "].iter().any(|opening| word.starts_with(opening));
        let is_certain = !line.contains(" or ") && !line.contains("not isinstance");
        if (own == limit || opens)
            && is_certain
            && let Some((_, rest)) = line.split_once(&call)
            && let Some((types, _)) = given_types(rest)
        {
            return Some(types);
        }
        (limit, below) = (own, line);
    }
    None
}

/// `Type)` or `(One, Other))`: the types as alternatives, and what stands behind.
fn given_types(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    if let Some(inner) = text.strip_prefix('(') {
        let (inner, rest) = inner.split_once(')')?;
        let types: Vec<&str> = inner.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
        return Some((types.join(" | "), rest.trim_start().strip_prefix(')')?));
    }
    let (one, rest) = text.split_once(')')?;
    Some((one.trim().to_owned(), rest))
}

/// What each of several types means by a name.
pub(super) fn last_of_each(found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
    let mut types: Vec<Vec<DefinitionSite>> = Vec::new();
    for one in found {
        match types.iter_mut().find(|members| members.first().is_some_and(|first| are_of_one(first, &one))) {
            Some(members) => members.push(one),
            None => types.push(vec![one]),
        }
    }
    types.into_iter().flat_map(last_with_its_signatures).collect()
}

/// Whether two members stand in one class.
fn are_of_one(one: &DefinitionSite, other: &DefinitionSite) -> bool {
    (one.file, one.definition.container) == (other.file, other.definition.container)
}

/// What is meant by a name that a class defines several times: the last function with the signatures that are there
/// for type checkers, or what reads a property with what sets it.
fn last_with_its_signatures(mut found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
    let is_real = |one: &DefinitionSite| !one.definition.is_declaration;
    let at = found.iter().rposition(is_real).unwrap_or_default();
    if at >= found.len() {
        return found;
    }
    let last = found.remove(at);
    if last.definition.kind == Kind::Property {
        // What reads it says of which type it is.
        let mut found: Vec<DefinitionSite> =
            found.into_iter().filter(|one| one.definition.kind == Kind::Property).collect();
        found.push(last);
        return found;
    }
    found.retain(|one| one.definition.is_declaration);
    found.insert(0, last);
    found
}

/// Whether two definitions stand in branches of one statement, so that either may be the one.
fn are_branches(text: &str, one: &Definition, other: &Definition) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let of = |definition: &Definition| {
        let before = text.get(..definition.span.start as usize).unwrap_or_default();
        indent(before.rsplit('\n').next().unwrap_or_default())
            + before.rsplit('\n').next().unwrap_or_default().trim_start().len()
    };
    let (left, right) = (of(one), of(other));
    let between = text.get(one.span.end as usize..other.span.start as usize).unwrap_or_default();
    let is_branch = |line: &str| {
        let word = line.trim_start();
        indent(line) < left
            && ["else", "elif ", "except", "finally", "case "].iter().any(|branch| word.starts_with(branch))
    };
    let is_end = |line: &str| {
        let word = line.trim();
        !word.is_empty() && !word.starts_with('#') && indent(line) < left && !is_branch(line)
    };
    left == right && between.lines().any(is_branch) && !between.lines().any(is_end)
}
