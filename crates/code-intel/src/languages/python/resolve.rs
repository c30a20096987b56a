//! The rules of Python.

mod by_text;
mod outside;

use std::collections::HashSet;

use crate::facts::{Definition, Facts, Import, ImportedName, Kind, Span};
use crate::index::FileId;
use crate::resolve::languages::{Key, LanguageRules, language_view};
use crate::resolve::modules::{folder, join};
use crate::resolve::names::Seen;
use crate::resolve::type_ref::has_word;
use crate::resolve::types::Value;
use crate::resolve::{DefinitionSite, Reference, Resolution, Resolver, Want};

language_view! {
    /// Python.
    Python
}

impl LanguageRules for Python<'_, '_> {
    fn resolver(&self) -> &Resolver<'_> {
        self.0
    }

    fn predefined_name(&self, file: FileId, name: &str) -> Option<Resolution> {
        matches!(name, "__name__" | "__file__" | "__doc__").then(|| self.module_meaning(file))
    }

    fn name_beyond_file(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        let member = self.in_class_body(file, name, offset);
        if member.is_empty() { Resolution::External } else { Resolution::of(member) }
    }

    /// What the body of a class has made before a place hides what has its name outside.
    fn nearer_member(
        &self,
        file: FileId,
        name: &str,
        offset: u32,
        outside: &[DefinitionSite],
    ) -> Vec<DefinitionSite> {
        let whole = self.index.whole(file);
        let Some(class) = class_around(&whole, offset) else { return Vec::new() };
        let is_outside = |one: &DefinitionSite| {
            one.definition.scope.is_none_or(|scope| scope.start < class.start && class.end <= scope.end)
        };
        if !outside.iter().all(is_outside) {
            return Vec::new();
        }
        let mut member = self.in_class_body(file, name, offset);
        member.retain(|one| one.definition.span.end <= offset);
        member
    }

    /// The function in whose list of parameters a place is, other than at the name of one: what stands there is
    /// understood outside of it.
    fn hidden_scope(&self, file: FileId, offset: u32) -> Option<Span> {
        let whole = self.index.whole(file);
        let parameter = whole.1.innermost(offset, |one| one.kind == Kind::Parameter)?;
        parameter.scope.filter(|_| !parameter.name_span.contains(offset))
    }

    fn prefers_parameter(&self) -> bool {
        false
    }

    fn choose<'d>(&self, file: FileId, found: Vec<&'d Definition>, offset: u32) -> Vec<&'d Definition> {
        // Signatures that are there for type checkers come behind the function.
        let (signatures, real): (Vec<&Definition>, Vec<&Definition>) =
            found.iter().copied().partition(|one| one.is_declaration);
        let mut found = if real.is_empty() { return found } else { real };
        let is_variable =
            |one: &&Definition| matches!(one.kind, Kind::Variable | Kind::Constant | Kind::Parameter);
        if found.iter().all(is_variable) {
            // Each assignment makes the name; the one before the place comes first.
            if let Some(at) = found.iter().rposition(|one| one.span.start <= offset) {
                let last = found.remove(at);
                found.insert(0, last);
            }
            return found;
        }
        let mut chosen = self.chosen_definitions(file, found, offset);
        if chosen.iter().any(|one| one.is_callable()) {
            chosen.extend(signatures);
        }
        chosen
    }

    /// `import a.b` makes `a` known, which is the package.
    fn imported_module<'m>(&self, import: &'m Import, imported: &'m ImportedName) -> &'m str {
        let is_package = import.module.split('.').next() == Some(&imported.alias);
        if is_package { &imported.alias } else { &import.module }
    }

    fn submodule(&self, module: &str, name: &str) -> Option<String> {
        Some(join_python(module, name))
    }

    fn exports_imports(&self) -> bool {
        true
    }

    fn find_module_files(&self, file: FileId, module: &str) -> Vec<FileId> {
        let from = self.index.path(file);
        let dots = module.len() - module.trim_start_matches('.').len();
        let rest = module[dots..].replace('.', "/");
        let forms = |base: &str| {
            let joined = join(base, &rest);
            vec![
                format!("{joined}.py"),
                join(&joined, "__init__.py"),
                format!("{joined}.pyi"),
                join(&joined, "__init__.pyi"),
            ]
        };
        if dots > 0 {
            let mut base = folder(from);
            for _ in 1..dots {
                base = folder(base);
            }
            if rest.is_empty() {
                return self.first(&[join(base, "__init__.py"), join(base, "__init__.pyi")]);
            }
            return self.first(&forms(base));
        }
        // The root, then `src`, then the folders above the file that are no packages themselves: where tests and
        // scripts import from. Within a package a plain name never means the file beside.
        let mut bases = vec![String::new(), "src".to_owned(), "lib".to_owned()];
        let mut base = folder(from);
        while !base.is_empty() {
            if self.index.file(&join(base, "__init__.py")).is_none() {
                bases.extend([base.to_owned(), join(base, "src"), join(base, "lib")]);
            }
            base = folder(base);
        }
        let candidates: Vec<String> = bases.iter().flat_map(|base| forms(base)).collect();
        let found = self.first(&candidates);
        if !found.is_empty() {
            return found;
        }
        self.in_source_folder(file, rest.split('/').next().unwrap_or_default())
            .map(|base| self.first(&forms(&base)))
            .unwrap_or_default()
    }

    /// Importing a name from a package runs the package, and the name may be a module of it.
    fn imported_files(&self, file: FileId, import: &Import) -> Vec<FileId> {
        let mut files = self.module_files(file, &import.module);
        let names = import.names.iter().map(|name| name.name.as_str());
        for name in names.filter(|name| !matches!(*name, "" | "*")) {
            files.extend(self.module_files(file, &join_python(&import.module, name)));
        }
        files
    }

    fn assignments_define(&self) -> bool {
        true
    }

    fn resolve_path(&self, file: FileId, path: &str, name: &str, _: u32) -> Resolution {
        self.imported_from(file, path, name)
    }

    fn in_module_path(&self, file: FileId, path: &str) -> Option<Resolution> {
        let found = self.module_files(file, path);
        Some(found.first().map_or(Resolution::External, |found| self.module_meaning(*found)))
    }

    fn value_otherwise(&self, file: FileId, text: &str, offset: u32, value: &Value) -> Option<Value> {
        matches!(value, Value::Unknown).then(|| self.checked(file, text, offset)).flatten()
    }

    fn member_of_module(&self, file: FileId, name: &str) -> Resolution {
        let found = self.exported(file, name, &mut Seen::new());
        if !found.is_empty() {
            return Resolution::of(found);
        }
        let below = self.module_files(file, &format!(".{name}"));
        below.first().map_or(Resolution::Unknown, |below| self.module_meaning(*below))
    }

    /// Of what several classes above have by a name, what the first of them has.
    fn of_first_base(&self, mut found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        if let Some(first) = found.first().cloned() {
            found.retain(|one| are_of_one(&first, one));
        }
        found
    }

    /// Whether members are only made by assigning them, so that a type above may still declare them: what is declared
    /// anywhere counts more than what is assigned.
    fn is_only_assigned(&self, found: &[DefinitionSite]) -> bool {
        let is_assigned =
            |one: &DefinitionSite| one.definition.kind == Kind::Field && one.definition.declared.is_empty();
        found.iter().all(is_assigned) && !found.is_empty()
    }

    fn preferred(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        let declared: Vec<DefinitionSite> = found
            .iter()
            .filter(|one| one.definition.kind != Kind::Field || !one.definition.declared.is_empty())
            .cloned()
            .collect();
        let mut found = if declared.is_empty() { found } else { declared };
        if found.iter().all(|one| one.definition.kind != Kind::Field) {
            found = last_of_each(found);
        }
        found
    }

    /// What sets a property refers to what reads it; so does a function to its signatures.
    fn redefinition_refers(&self) -> bool {
        true
    }

    /// A function is one with others of its name only where those are signatures of it.
    fn joins_signatures(&self, has_signature: bool) -> bool {
        has_signature
    }

    fn has_import_aliases(&self) -> bool {
        true
    }

    fn properties_are_functions(&self) -> bool {
        true
    }

    fn asked_for_by(&self, target: &DefinitionSite) -> Option<String> {
        let name = &target.definition.name;
        if name.starts_with("__") && name.ends_with("__") {
            return Some("Python itself".to_owned());
        }
        self.asked_for_outside(target)
    }

    fn reached_by_text(&self, sites: &[DefinitionSite]) -> Option<String> {
        self.text_reaching(sites)
    }

    fn renamed_with(&self, one: &DefinitionSite) -> HashSet<Key> {
        if one.definition.kind == Kind::Parameter {
            return self.parameters_alike(one);
        }
        let mut keys = self.inherited(one);
        if one.definition.kind.is_callable() && one.definition.scope.is_none() {
            keys.extend(self.fixture_and_parameters(one));
        }
        keys
    }

    fn is_library_member(&self, name: &str, _: Want) -> bool {
        has_word(outside::MEMBERS, name)
    }

    fn asks_for_nothing(&self, base: &str) -> bool {
        let head = base.split('[').next().unwrap_or(base);
        let last = head.rsplit('.').next().unwrap_or(head);
        matches!(last, "object" | "Generic" | "Protocol" | "ABC" | "NamedTuple")
    }

    /// Who calls, where a use is a call: the function around it, else the module.
    fn caller(&self, target: &DefinitionSite, used: &Reference) -> Option<DefinitionSite> {
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

impl Python<'_, '_> {
    /// The nearest folder `src` of another project of the workspace that has a package of a name.
    fn in_source_folder(&self, file: FileId, package: &str) -> Option<String> {
        let packages = self.index.files_called("__init__.py").into_iter();
        let beneath = packages.filter_map(|found| {
            let base = folder(folder(self.index.path(found)));
            let is_meant = folder(self.index.path(found)).rsplit('/').next() == Some(package)
                && base.rsplit('/').next() == Some("src");
            is_meant.then(|| (usize::MAX - self.nearness(file, found), base.to_owned()))
        });
        beneath.min().map(|(_, base)| base)
    }

    /// What a value is where a condition around the place says so: `if isinstance(value, Type):`, also in the same
    /// condition behind `and`.
    fn checked(&self, file: FileId, value: &str, offset: u32) -> Option<Value> {
        let whole = self.index.whole(file);
        let types = checked_types(whole.0.get(..offset as usize)?, value)?;
        Some(Value::Instance { file, offset, text: types })
    }

    /// Of several definitions of a name in one scope, not all of them variables, those that are meant at a place.
    fn chosen_definitions<'d>(
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

    /// A name of the class in whose body a place is directly (Python).
    fn in_class_body(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        let whole = self.index.whole(file);
        let Some(span) = class_around(&whole, offset) else { return Vec::new() };
        let class = whole.1.definitions.iter().find(|one| one.span == span && one.kind == Kind::Class);
        let members =
            class.map(|class| self.own_members(&DefinitionSite::new(file, class), name)).unwrap_or_default();
        // One that is made later is not there yet.
        let made = members
            .into_iter()
            .max_by_key(|one| (one.definition.span.end <= offset, one.definition.span.start));
        made.into_iter().collect()
    }
}

/// The class in whose body a place is directly, also in the head of one of its functions.
fn class_around(whole: &(String, Facts), offset: u32) -> Option<Span> {
    let is_around = |one: &Definition| {
        one.kind == Kind::Class || one.kind.is_callable() && !is_in_head(&whole.0, one, offset)
    };
    whole.1.innermost(offset, is_around).filter(|one| one.kind == Kind::Class).map(|one| one.span)
}

/// Whether a place is in the head of a function: its decorators, the types and first values of its parameters.
fn is_in_head(text: &str, function: &Definition, offset: u32) -> bool {
    if offset < function.name_span.start {
        return true;
    }
    let mut depth = 0_i32;
    let before = Span { start: function.name_span.end, end: offset };
    for character in before.of(text).chars() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ':' if depth == 0 => return false,
            _ => {}
        }
    }
    true
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
fn last_of_each(found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
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

fn join_python(module: &str, name: &str) -> String {
    if module.ends_with('.') { format!("{module}{name}") } else { format!("{module}.{name}") }
}
