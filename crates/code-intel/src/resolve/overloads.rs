//! Parameters and arguments: functions of one name that differ in what they take.

use super::names::without_generics;
use super::{DefinitionSite, Resolver};
use crate::facts::Occurrence;

impl Resolver<'_> {
    /// Of functions of one name those that can take the arguments behind a name; `otherwise` is asked where none can.
    pub(crate) fn taking_arguments(
        &self,
        text: &str,
        occurrence: &Occurrence,
        found: Vec<DefinitionSite>,
        can_be_given: impl Fn(&[String], &[String]) -> bool,
        otherwise: impl Fn(Vec<DefinitionSite>, &dyn Fn(&DefinitionSite) -> bool) -> Vec<DefinitionSite>,
    ) -> Vec<DefinitionSite> {
        if !found.iter().any(|one| one.definition.kind.is_callable()) {
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
                takes(&parameters, arguments.len()) && can_be_given(&arguments, &parameters)
            })
        };
        let fitting: Vec<DefinitionSite> = found.iter().filter(|one| fits(one)).cloned().collect();
        if fitting.is_empty() { otherwise(found, &fits) } else { fitting }
    }

    /// The parameters of a function, each as it is written.
    pub(crate) fn parameters_of(&self, function: &DefinitionSite) -> Option<Vec<String>> {
        let source = self.index.source(function.file);
        listed(source.get(function.definition.name_span.end as usize..)?)
    }

    /// Of definitions that may be those of a prototype the ones that take the same.
    pub(crate) fn same_parameters(
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
}

/// What stands in the brackets that a text begins with, behind what may stand in angle brackets.
pub(crate) fn listed(text: &str) -> Option<Vec<String>> {
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
pub(crate) fn behind_angles(text: &str) -> Option<usize> {
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
pub(crate) fn takes(parameters: &[String], count: usize) -> bool {
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
