//! Names that a program of Python spells in texts or computes: format strings, templates, names of attributes as
//! texts, `__dict__`, `locals()`. Where one may reach a definition, a rename of it is not sure.

mod computed;
mod spelled;

use std::collections::HashSet;

use self::computed::Access;
use super::Python;
use crate::facts::{Definition, Kind, Occurrence, Receiver, Span};
use crate::index::FileId;
use crate::resolve::DefinitionSite;
use crate::resolve::languages::Key;

/// Functions that take a value and the name of one of its attributes.
const ATTRIBUTE_FUNCTIONS: [&str; 4] = ["getattr", "setattr", "hasattr", "delattr"];
/// Functions that make one that takes an attribute of a value.
const ATTRIBUTE_MAKERS: [&str; 2] = ["attrgetter", "methodcaller"];
/// What gives the names of the attributes of a value.
const NAMES_OF: [&str; 3] = ["asdict", "_asdict", "fields"];
/// Files that a template engine fills in.
const TEMPLATES: [&str; 6] = [".html", ".htm", ".jinja", ".jinja2", ".j2", ".djhtml"];

impl Python<'_, '_> {
    /// What in the workspace may reach one of some definitions of a name by a text.
    pub(super) fn text_reaching(&self, sites: &[DefinitionSite]) -> Option<String> {
        let first = sites.first()?;
        let (members, others): (Vec<&DefinitionSite>, Vec<&DefinitionSite>) =
            sites.iter().partition(|site| site.definition.is_member);
        if let Some(by) = others.iter().find_map(|site| self.variable_by_text(site)) {
            return Some(by);
        }
        let is_local = members.is_empty() && others.iter().all(|site| site.definition.scope.is_some());
        if is_local {
            return None;
        }
        let accesses = self.accesses(first.file);
        let owners: Vec<DefinitionSite> = members.iter().flat_map(|site| self.owner_types(site)).collect();
        let is_field = members.iter().any(|site| {
            !site.definition.kind.is_callable()
                && !matches!(site.definition.kind, Kind::Property | Kind::Class)
        });
        let reaches = |access: &&Access| self.reaches(access, sites, &owners, is_field);
        if let Some(access) = accesses.iter().find(reaches) {
            return Some(self.place(access.file, access.at));
        }
        if members.is_empty() {
            return None;
        }
        // A text may be given to whatever takes names of attributes.
        self.spelled(first, !accesses.is_empty())
    }

    /// Whether a computed access may be one to a definition of a name.
    fn reaches(
        &self,
        access: &Access,
        sites: &[DefinitionSite],
        owners: &[DefinitionSite],
        is_field: bool,
    ) -> bool {
        let Some(name) = sites.first().map(|site| &site.definition.name) else { return false };
        if access.is_partly_known() {
            return name.len() >= access.prefix.len() + access.suffix.len()
                && name.starts_with(&access.prefix)
                && name.ends_with(&access.suffix);
        }
        if access.is_of_fields && !is_field {
            return false;
        }
        let of_module = |site: &DefinitionSite| !site.definition.is_member;
        match access.receiver.as_str() {
            "self" | "cls" | "type(self)" | "self.__class__" | "super()" | "__class__" => {
                let around = self.enclosing_type(access.file, access.at);
                around.iter().any(|class| owners.iter().any(|owner| self.are_in_line(class, owner)))
            }
            "sys.modules[__name__]" => sites.iter().any(|site| site.file == access.file && of_module(site)),
            receiver if receiver.chars().all(|part| part.is_alphanumeric() || part == '_') => {
                let meaning = self.name(access.file, receiver, access.at);
                meaning.found().iter().any(|one| match one.definition.kind {
                    Kind::Module => sites.iter().any(|site| site.file == one.file && of_module(site)),
                    Kind::Class => owners.iter().any(|owner| self.are_in_line(one, owner)),
                    _ => false,
                })
            }
            _ => false,
        }
    }

    /// Whether one class is the other or above it, or beneath it.
    fn are_in_line(&self, one: &DefinitionSite, other: &DefinitionSite) -> bool {
        self.with_all_above(one).contains(&other.key()) || self.with_all_above(other).contains(&one.key())
    }

    fn with_all_above(&self, class: &DefinitionSite) -> HashSet<Key> {
        let mut seen = HashSet::new();
        let mut open = vec![class.clone()];
        while let Some(one) = open.pop() {
            if seen.insert(one.key()) && self.step() {
                open.extend(self.bases_of(&one));
            }
        }
        seen
    }

    /// `locals()`, `globals()` and `eval` where they see a variable or a definition of a module.
    fn variable_by_text(&self, site: &DefinitionSite) -> Option<String> {
        let whole = self.index.whole(site.file);
        let (text, name) = (&whole.0, &site.definition.name);
        let sees = |used: &Occurrence| match site.definition.scope {
            Some(scope) => scope.contains(used.span.start),
            None => whole.1.innermost(used.span.start, Definition::is_callable).is_none(),
        };
        let is_bare = |used: &&Occurrence| used.receiver == Receiver::None;
        let of_locals = ["locals", "vars"].iter().flat_map(|word| whole.1.uses(text, word));
        let mut of_locals =
            of_locals.filter(|used| is_bare(used) && behind(text, used.span).starts_with("()"));
        let of_globals = whole.1.uses(text, "globals").filter(is_bare);
        let mut of_globals = of_globals.filter(|used| {
            let given = behind(text, used.span).strip_prefix("()").unwrap_or_default();
            let given = given.strip_prefix('[').or_else(|| given.strip_prefix(".get("));
            spelled::literal(given.unwrap_or_default()).is_none_or(|(key, _)| key == name)
        });
        let of_code = ["eval", "exec"].iter().flat_map(|word| whole.1.uses(text, word));
        let mut of_code = of_code.filter(|used| {
            let given = behind(text, used.span).strip_prefix('(');
            let code = given.and_then(spelled::literal).filter(|(_, rest)| rest.starts_with([')', ',']));
            let may_name = |(code, _): (&str, &str)| spelled::has_word(code, name);
            is_bare(used)
                && given.is_some()
                && site.definition.scope.is_none_or(|scope| scope.contains(used.span.start))
                && code.is_none_or(may_name)
        });
        let found = of_locals.find(|used| sees(used));
        let found = found.or_else(|| of_globals.find(|_| site.definition.scope.is_none()));
        let found = found.or_else(|| of_code.next())?;
        Some(self.place(site.file, found.span.start))
    }

    fn place(&self, file: FileId, at: u32) -> String {
        let source = self.index.source(file);
        let before = source.get(..at as usize).unwrap_or_default();
        let line = before.matches('\n').count();
        let shown = source.lines().nth(line).unwrap_or_default().trim();
        let shown: String = shown.chars().take(80).collect();
        format!("`{shown}` ({}:{})", self.index.path(file), line + 1)
    }
}

/// What stands behind a name.
fn behind(text: &str, span: Span) -> &str {
    text.get(span.end as usize..).unwrap_or_default()
}
