//! Functions of one name that differ in what they take (C++ and Java).

use super::names::without_generics;
use super::type_text::head;
use super::types::Value;
use super::{DefinitionSite, Resolver, owner_name};
use crate::facts::{Kind, Occurrence};
use crate::index::FileId;
use crate::languages::Language;

impl Resolver<'_> {
    /// Of functions of one name those that can take the arguments that stand behind a name.
    pub(super) fn by_count(
        &self,
        (file, text): (FileId, &str),
        found: Vec<DefinitionSite>,
        occurrence: &Occurrence,
    ) -> Vec<DefinitionSite> {
        let Some(first) = found.iter().find(|one| one.definition.kind.is_callable()) else { return found };
        let is_cpp = self.language(first.file) == Some(Language::Cpp);
        if !is_cpp && self.language(first.file) != Some(Language::Java) {
            return found;
        }
        let after = text.get(occurrence.span.end as usize..).unwrap_or_default();
        let is_made = found.iter().any(|one| one.definition.kind.is_type());
        let Some(arguments) = listed(after) else {
            // `new Outer.Inner()` makes no `Outer`.
            return if is_made {
                found.into_iter().filter(|one| !one.definition.is_callable()).collect()
            } else {
                found
            };
        };
        let fits = |one: &DefinitionSite| {
            let parameters = Some(one).filter(|one| one.definition.is_callable());
            let parameters = parameters.and_then(|one| self.parameters_of(one));
            parameters.is_none_or(|parameters| {
                takes(&parameters, arguments.len())
                    && (!is_cpp || self.can_be_given((file, occurrence.span.start), &arguments, &parameters))
            })
        };
        let fitting: Vec<DefinitionSite> = found.iter().filter(|one| fits(one)).cloned().collect();
        if !fitting.is_empty() {
            return fitting;
        }
        if !is_cpp {
            return found;
        }
        // The one that was found may stand for others of its name.
        let owner = self.owner_of(first);
        let mut others = self.everywhere(&first.definition.name, |file, other, facts| {
            self.can_use(file, first.file)
                && other.kind.is_callable()
                && owner_name(facts, other).map(str::to_owned) == owner
        });
        others.retain(&fits);
        others.sort_by_key(|one| {
            (one.definition.is_declaration, usize::MAX - self.nearness(first.file, one.file))
        });
        if others.is_empty() {
            // `using Base::name;` brings those of the base beside its own.
            let bases = self.owner_types(first).into_iter().flat_map(|owner| self.bases_of(&owner));
            let members: Vec<DefinitionSite> =
                bases.flat_map(|base| self.own_members(&base, &first.definition.name)).collect();
            others.extend(members.into_iter().filter(&fits));
        }
        others.truncate(1);
        if others.is_empty() { found } else { others }
    }

    /// Whether a call that was found to be of one template may be of another of its name, for which one is decided only
    /// where it is given types; or whether it makes a value of a class with what was asked about.
    pub(super) fn is_other_template(
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
            return self.language(target.file) == Some(Language::Cpp)
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
        if self.language_family(target.file) != Some(Language::C)
            || found.definition.kind != target.definition.kind
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

    /// Whether the first argument can be of the type that a template takes, where that is one of the standard library:
    /// nothing is converted to a type whose own arguments are found by what is given.
    fn can_be_given(&self, (file, at): (FileId, u32), arguments: &[String], parameters: &[String]) -> bool {
        let (Some(argument), Some(parameter)) = (arguments.first(), parameters.first()) else { return true };
        let of = parameter.trim_start_matches("const ").trim_start();
        let Some((name, _)) = of.strip_prefix("std::").and_then(|of| of.split_once('<')) else { return true };
        if name == "initializer_list" {
            return argument.starts_with('{');
        }
        let is_of = |text: &str| head(text).rsplit("::").next() == Some(name);
        argument.contains(name)
            || matches!(self.value(file, argument, at), Value::Instance { text, .. } if is_of(&text))
    }

    /// The parameters of a function, each as it is written.
    pub(super) fn parameters_of(&self, function: &DefinitionSite) -> Option<Vec<String>> {
        let source = self.index.source(function.file);
        listed(source.get(function.definition.name_span.end as usize..)?)
    }

    /// Of definitions that may be those of a prototype the ones that take the same.
    pub(super) fn same_parameters(
        &self,
        declared: &DefinitionSite,
        found: Vec<DefinitionSite>,
    ) -> Vec<DefinitionSite> {
        if found.len() < 2 || !declared.definition.kind.is_callable() {
            return found;
        }
        let Some(wanted) = self.parameters_of(declared) else { return found };
        let of = |one: &DefinitionSite| self.parameters_of(one).unwrap_or_default();
        let types = |all: &[String]| all.iter().map(|one| parameter_type(one)).collect::<Vec<_>>();
        let exact: Vec<DefinitionSite> =
            found.iter().filter(|one| types(&of(one)) == types(&wanted)).cloned().collect();
        if !exact.is_empty() {
            return exact;
        }
        let near: Vec<DefinitionSite> =
            found.iter().filter(|one| of(one).len() == wanted.len()).cloned().collect();
        if near.is_empty() { found } else { near }
    }

    /// `new Type(...)` in Java also means what makes it.
    pub(super) fn with_makers(&self, file: FileId, mut found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        let makers: Vec<DefinitionSite> = found
            .iter()
            .filter(|one| one.definition.kind.is_type() && self.language(file) == Some(Language::Java))
            .flat_map(|one| self.own_members(one, &one.definition.name))
            .filter(|one| one.definition.kind == Kind::Constructor)
            .collect();
        found.extend(makers);
        found
    }
}

/// What stands in the brackets that a text begins with, behind what may stand in angle brackets.
fn listed(text: &str) -> Option<Vec<String>> {
    const LONGEST: usize = 4000;
    let text = text.get(..text.floor_char_boundary(LONGEST))?.trim_start();
    let text = if text.starts_with('<') { text.get(behind_angles(text)?..)?.trim_start() } else { text };
    let inside = text.strip_prefix('(')?;
    let (mut depth, mut angles, mut quote, mut previous) = (0_usize, 0_usize, None, ' ');
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, character) in inside.char_indices() {
        if let Some(open) = quote {
            if character == open && previous != '\\' {
                quote = None;
            }
            previous = if previous == '\\' { ' ' } else { character };
            continue;
        }
        match character {
            '"' | '\'' => quote = Some(character),
            '(' | '[' | '{' => depth += 1,
            // `Map<A, B>`, and not a comparison.
            '<' if previous.is_alphanumeric() => angles += 1,
            '>' if previous != '-' && previous != '=' => angles = angles.saturating_sub(1),
            ',' if depth == 0 && angles == 0 => {
                parts.push(&inside[start..at]);
                start = at + 1;
            }
            ')' if depth == 0 => {
                parts.push(&inside[start..at]);
                let parts =
                    parts.into_iter().map(str::trim).filter(|part| !part.is_empty() && *part != "void");
                return Some(parts.map(ToOwned::to_owned).collect());
            }
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        previous = character;
    }
    None
}

/// Behind the angle brackets that a text begins with.
fn behind_angles(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if depth == 1 => return Some(at + 1),
            '>' => depth -= 1,
            ';' | '{' => return None,
            _ => {}
        }
    }
    None
}

/// Whether parameters take that many arguments.
fn takes(parameters: &[String], count: usize) -> bool {
    // What stands in angle brackets belongs to a type.
    let plain: Vec<String> = parameters.iter().map(|one| without_generics(one)).collect();
    let is_open = plain.iter().any(|one| one.contains("..."));
    let needed = plain.iter().filter(|one| !one.contains('=') && !one.contains("...")).count();
    needed <= count && (is_open || count <= parameters.len())
}

/// A parameter without its name, its default and its spaces.
fn parameter_type(text: &str) -> String {
    let text = text.split('=').next().unwrap_or(text).trim();
    let name_at = text.rfind(|character: char| !character.is_alphanumeric() && character != '_');
    let of = match name_at {
        Some(at) if !text[..at].trim().is_empty() && at + 1 < text.len() => &text[..=at],
        _ => text,
    };
    of.chars().filter(|character| !character.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_counted_past_brackets_and_quotes() {
        for (text, expected) in [
            ("()", Some(0)),
            ("(void) {", Some(0)),
            ("(a, f(b, c), \"),\", ',')", Some(4)),
            ("<A, B>(x)", Some(1)),
            ("<A<B>, C>(x, y)", Some(2)),
            ("(Map<A, B> m, int n)", Some(2)),
            ("(a < b, c > d)", Some(2)),
            ("(\"\\\"\", 'a')", Some(2)),
            ("; (a)", None),
            ("(a", None),
        ] {
            assert_eq!(listed(text).map(|list| list.len()), expected, "{text}");
        }
        let all = |text: &str| listed(text).unwrap_or_default();
        assert!(takes(&all("(int a, int b = 2)"), 1) && !takes(&all("(int a, int b = 2)"), 3));
        assert!(takes(&all("(const T&... all)"), 0) && !takes(&all("(const tuple<T...>& one, int n)"), 3));
        assert!(takes(&all("(String f, Object... more)"), 1) && takes(&all("(String f, Object... more)"), 5));
        assert_eq!(parameter_type("const std::string& name"), parameter_type("const std::string &other = x"));
        assert_ne!(parameter_type("int a"), parameter_type("long a"));
    }
}
