//! Judges whether a place where a name stands means what is renamed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::super::SourceText;
use super::{Family, RenameSite, SiteCertainty, is_shorthand, key, structural};
use crate::facts::{Kind, Occurrence, Position, Receiver, Span};
use crate::index::{FileId, Index};
use crate::languages::Language;
use crate::resolve::names::words;
use crate::resolve::{Certainty, DefinitionSite, Resolution, Resolver, is_literal};

/// Judges the places of a name, one after the other.
pub(super) struct Judge<'j, 't> {
    index: &'j Index,
    family: &'j Family<'t>,
    /// What macros of Rust are given and made of, by file.
    tokens: RefCell<HashMap<FileId, Vec<TokenTree>>>,
    /// Whether an import of the name brings something else too: a function and a module of Rust may share one.
    has_namesake: bool,
    /// Whether a trait of Rust gives the member to types outside of the workspace.
    is_for_foreign: bool,
}

impl<'j, 't> Judge<'j, 't> {
    pub(super) fn new(index: &'j Index, family: &'j Family<'t>) -> Self {
        Self {
            index,
            family,
            tokens: RefCell::default(),
            has_namesake: has_namesake(index, family.target),
            is_for_foreign: is_for_foreign(index, family),
        }
    }

    /// How sure it is that an occurrence means the family, and whether as a member; `None` where it means something
    /// else.
    pub(super) fn judged(&self, file: FileId, occurrence: &Occurrence) -> Option<(SiteCertainty, bool)> {
        let (index, family) = (self.index, self.family);
        let is_member = family.is_member();
        let is_argument = matches!(occurrence.receiver, Receiver::Argument(_));
        let is_local = family.scope().is_some();
        if is_local
            && !is_argument
            && !family.is_known_at(file, occurrence.span.start)
            && !family.keys.contains(&(file, occurrence.span.start))
        {
            return None;
        }
        // Each question has its own bound on steps.
        let resolver = Resolver::new(index);
        if let Receiver::Made(of) = occurrence.receiver {
            // `Type { name }` stands for the field and for a variable.
            let field = resolver.made_field(file, occurrence);
            if let Resolution::Found(found, Certainty::Resolved) = &field
                && found.iter().any(|one| family.has(one))
            {
                return Some((SiteCertainty::Resolved, true));
            }
            let is_known = matches!(&field, Resolution::Found(_, Certainty::Resolved));
            let variable = resolver.plain_name(file, occurrence);
            let is_short = is_shorthand(index, file, occurrence.span);
            if is_known && is_short && variable.found().iter().any(|one| family.has(one)) {
                return Some((SiteCertainty::Resolved, false));
            }
            if is_member && is_short && !is_known && structural::may_be_made(index, family.target, file, of) {
                return Some((SiteCertainty::Unknown, true));
            }
        }
        if family.keys.contains(&(file, occurrence.span.start)) {
            let as_member = !is_local && is_member;
            return Some((SiteCertainty::Resolved, as_member));
        }
        let meaning = resolver.resolve_occurrence(file, occurrence);
        let sure = match meaning {
            Resolution::Found(found, certainty) => {
                let ours = found.iter().filter(|one| family.has(one)).count();
                let is_overload = |one: &DefinitionSite| family.overloads.contains(&key(one));
                let is_definition = || index.whole(file).1.defined_at(occurrence.span).next().is_some();
                match (ours, certainty) {
                    // Which function the arguments choose is not known for sure.
                    _ if !family.overloads.is_empty()
                        && (ours > 0 || found.iter().any(is_overload))
                        && !is_definition() =>
                    {
                        Some(SiteCertainty::OneOfSeveral)
                    }
                    (0, _) => {
                        let is_related = is_member
                            && found.iter().any(|other| {
                                other.definition.is_member && is_same_family(index, family.target, other)
                            });
                        let is_added_to = || found.iter().any(|other| adds_to(index, family.target, other));
                        (is_related || is_added_to()).then_some(SiteCertainty::Related)
                    }
                    _ if self.has_namesake && !is_definition() => Some(SiteCertainty::OneOfSeveral),
                    (count, Certainty::Resolved) if count == found.len() => Some(SiteCertainty::Resolved),
                    (_, Certainty::Resolved) => Some(SiteCertainty::OneOfSeveral),
                    (_, Certainty::ByName) => Some(SiteCertainty::ByName),
                }
            }
            // The function that a call names may still be the one.
            Resolution::External | Resolution::Unknown if is_argument => {
                may_call(index, family, file, occurrence).then_some(SiteCertainty::Unknown)
            }
            Resolution::External | Resolution::Unknown if is_local => None,
            // `use Enum::*` brings the variants of an enum under their bare names.
            Resolution::External | Resolution::Unknown
                if family.target.definition.kind == Kind::EnumMember
                    && occurrence.receiver == Receiver::None =>
            {
                Some(SiteCertainty::Unknown)
            }
            Resolution::External => self.may_be_meant(file, occurrence).then_some(SiteCertainty::Unknown),
            // A bare name cannot mean a member, nor `value.name` a plain function.
            Resolution::Unknown => {
                let is_bare = occurrence.receiver == Receiver::None;
                let is_path = matches!(occurrence.receiver, Receiver::Path(_));
                (is_bare != is_member || is_path || self.may_be_meant(file, occurrence))
                    .then_some(SiteCertainty::Unknown)
            }
        };
        sure.map(|sure| (sure, is_member))
    }

    /// Whether a name that seems to be of something outside of the workspace may be of the family all the same.
    fn may_be_meant(&self, file: FileId, occurrence: &Occurrence) -> bool {
        let whole = self.index.whole(file);
        let language = self.index.entry(file).and_then(|entry| entry.language);
        match (language, occurrence.receiver) {
            // A macro may be given the name of a member, and its body may name what is known where it is used.
            (Some(Language::Rust), Receiver::None) => self.is_token(file, occurrence.span, |_| true),
            (Some(Language::Rust), Receiver::Path(path)) => {
                let text = path.of(&whole.0);
                // An impl may stand on another name of the type, or on its reference.
                let is_type = || !Resolver::new(self.index).types_of(file, path.start, text).is_empty();
                path.is_empty()
                    || text.starts_with('$')
                    || self.family.is_member() && is_type()
                    || self.is_token(file, occurrence.span, |tree| tree.is_definition)
                        && Resolver::new(self.index).is_known_at_use(file, text, occurrence.span.start)
            }
            // What `import()` gives is no module to the resolver, nor is an object with all that a module has.
            (Some(Language::JavaScript | Language::TypeScript | Language::Tsx), receiver)
                if !self.family.is_member() =>
            {
                let is_spread =
                    |of: Span| Resolver::new(self.index).is_made_of_others(file, of, occurrence.span.start);
                whole.0.contains("import(") || matches!(receiver, Receiver::Value(of) if is_spread(of))
            }
            (Some(Language::C | Language::Cpp), Receiver::None) => {
                self.family.is_member() && is_given_to_macro(self.index, file, occurrence.span)
            }
            (_, Receiver::Value(of)) => {
                let target = self.family.target;
                // A trait may be implemented for the types of literals.
                let may_be_literal = language == Some(Language::Rust) && is_of_trait(self.index, target);
                self.family.is_member()
                    && (self.is_for_foreign
                        || may_be_literal && is_literal(of.of(&whole.0))
                        || Resolver::new(self.index).may_be_of_workspace(
                            file,
                            of,
                            occurrence.span.start,
                            &target.definition.name,
                        ))
            }
            _ => false,
        }
    }

    /// Whether a name stands in what a macro of Rust is given or made of.
    fn is_token(&self, file: FileId, span: Span, is_meant: impl Fn(&TokenTree) -> bool) -> bool {
        let mut known = self.tokens.borrow_mut();
        let trees = known.entry(file).or_insert_with(|| {
            let whole = self.index.whole(file);
            SourceText::of(Language::Rust, &whole.0).map(|source| token_trees(&source)).unwrap_or_default()
        });
        trees.iter().any(|tree| tree.span.contains(span.start) && is_meant(tree))
    }
}

/// Whether something else in the module of a definition of Rust has its name: types, modules and values do not hide
/// each other.
fn has_namesake(index: &Index, target: &DefinitionSite) -> bool {
    let own = &target.definition;
    let language = index.entry(target.file).and_then(|entry| entry.language);
    if language != Some(Language::Rust) || own.scope.is_some() || own.is_member {
        return false;
    }
    let is_value = |kind: Kind| matches!(kind, Kind::Function | Kind::Constant | Kind::Variable);
    let outline = index.outline(target.file);
    outline.named(&own.name).any(|one| {
        let is_open = one.scope.is_none() && !one.is_member && one.kind != Kind::Macro;
        is_open && one.container == own.container && is_value(one.kind) != is_value(own.kind)
    })
}

/// Whether one of the members is of an impl of a trait of Rust for a type that is not in the workspace.
fn is_for_foreign(index: &Index, family: &Family<'_>) -> bool {
    let language = index.entry(family.target.file).and_then(|entry| entry.language);
    if language != Some(Language::Rust) || !family.is_member() {
        return false;
    }
    let resolver = Resolver::new(index);
    family.keys.iter().any(|(file, start)| {
        let whole = index.whole(*file);
        let mut same = whole.1.named(&family.target.definition.name);
        same.any(|one| {
            one.name_span.start == *start
                && !one.bases.is_empty()
                && resolver.owner_types(&DefinitionSite::new(*file, one)).is_empty()
        })
    })
}

/// What a macro of Rust is given or made of.
struct TokenTree {
    span: Span,
    /// Whether a macro is made of it.
    is_definition: bool,
}

/// The token trees of macros, those of attributes left out.
fn token_trees(source: &SourceText<'_>) -> Vec<TokenTree> {
    let mut found = Vec::new();
    let mut open = vec![source.root()];
    while let Some(node) = open.pop() {
        match node.kind() {
            "token_tree" | "macro_definition" => {
                let span = Span { start: node.start_byte() as u32, end: node.end_byte() as u32 };
                found.push(TokenTree { span, is_definition: node.kind() == "macro_definition" });
            }
            "attribute_item" | "inner_attribute_item" => {}
            _ => open.extend(node.children(&mut node.walk())),
        }
    }
    found
}

/// Where the name stands in the body of a macro of C: what it means is known only where the macro is used.
pub(super) fn in_macro_bodies(index: &Index, family: &Family<'_>) -> Vec<RenameSite> {
    let target = family.target;
    let language = index.entry(target.file).and_then(|entry| entry.language);
    if family.scope().is_some() || !matches!(language, Some(Language::C | Language::Cpp)) {
        return Vec::new();
    }
    let name = &target.definition.name;
    let mut found = Vec::new();
    for file in index.using(name) {
        let whole = index.whole(file);
        let known: HashSet<u32> = whole.1.occurrences.iter().map(|one| one.span.start).collect();
        let (mut start, mut is_macro) = (0, false);
        for (number, line) in whole.0.split_inclusive('\n').enumerate() {
            is_macro |= line
                .trim_start()
                .strip_prefix('#')
                .is_some_and(|rest| rest.trim_start().starts_with("define"));
            for at in words(line, name).filter(|_| is_macro) {
                let span = Span { start: (start + at) as u32, end: (start + at + name.len()) as u32 };
                let column = line[..at].chars().count() as u32 + 1;
                let at = Position { line: number as u32 + 1, column };
                if !known.contains(&span.start) {
                    found.push(RenameSite { file, at, span, sure: SiteCertainty::Unknown, is_member: false });
                }
            }
            is_macro &= line.trim_end().ends_with('\\');
            start += line.len();
        }
    }
    found
}

/// Whether a name stands in what a macro of C is given.
fn is_given_to_macro(index: &Index, file: FileId, span: Span) -> bool {
    const FARTHEST: usize = 400;
    let whole = index.whole(file);
    let before = whole.0.get(..span.start as usize).unwrap_or_default();
    let mut depth = 0_usize;
    for (at, character) in before.char_indices().rev().take(FARTHEST) {
        match character {
            ')' => depth += 1,
            '(' if depth > 0 => depth -= 1,
            '(' => {
                let called = before[..at].trim_end();
                let start = called.rfind(|part: char| !part.is_alphanumeric() && part != '_');
                let name = &called[start.map_or(0, |start| start + 1)..];
                let is_macro =
                    |file: FileId| index.outline(file).named(name).any(|one| one.kind == Kind::Macro);
                if index.defining(name).into_iter().any(is_macro) {
                    return true;
                }
            }
            ';' | '{' | '}' => return false,
            _ => {}
        }
    }
    false
}

/// Whether one of two types of TypeScript adds members to what a module exports by its name, which may be the other:
/// `declare module "path" { interface Name { ... } }`.
fn adds_to(index: &Index, one: &DefinitionSite, other: &DefinitionSite) -> bool {
    let is_added = |site: &DefinitionSite| {
        let whole = index.whole(site.file);
        let own = whole.1.defined_at(site.definition.name_span).next().map(|(_, own)| own);
        let around = own.and_then(|own| whole.1.definitions.get(own.container? as usize));
        around.is_some_and(|around| around.kind == Kind::Module && around.name.starts_with(['"', '\'']))
    };
    one.definition.kind.is_type()
        && other.definition.kind.is_type()
        && are_related(index, one.file, other.file)
        && (is_added(one) || is_added(other))
}

/// Whether a member of Rust is of a trait or of an impl of one.
fn is_of_trait(index: &Index, member: &DefinitionSite) -> bool {
    !member.definition.bases.is_empty()
        || owner(index, member).is_some_and(|(_, kind, _)| kind == Some(Kind::Trait))
}

/// Functions that make a changed copy of a value, which they take the fields of by name.
const COPYING: [&str; 3] = ["_replace", "replace", "evolve"];

/// Whether the call that names an argument may be one of the function whose parameter is renamed.
fn may_call(index: &Index, family: &Family<'_>, file: FileId, argument: &Occurrence) -> bool {
    let Receiver::Argument(called) = argument.receiver else { return false };
    let whole = index.whole(file);
    let given = whole.0.get(called.end as usize..argument.span.start as usize).unwrap_or_default();
    let called = called.of(&whole.0);
    let last = called.rsplit(['.', '(']).next().unwrap_or(called).trim();
    let own = index.whole(family.target.file);
    let functions = family.defined.iter().filter_map(|one| own.1.definitions.get(one.container? as usize));
    let before = whole.0.get(..argument.span.start as usize).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or(before);
    family.is_member() && COPYING.contains(&last) || { functions }.any(|function| {
        // `partial(function, name=value)`.
        function.name == last
            || matches!(function.name.as_str(), "__init__" | "__call__")
            || words(given, &function.name).next().is_some()
            // `function(**dict(name=value))`.
            || last == "dict" && words(line, &function.name).next().is_some()
            || hands_on(index, last, &function.name)
    })
}

/// Whether a function of a name gives the arguments that it takes by any name to another: `**options`.
fn hands_on(index: &Index, name: &str, other: &str) -> bool {
    index.defining(name).into_iter().any(|file| {
        let whole = index.whole(file);
        let mut named = whole.1.named(name);
        named.any(|one| {
            let text = one.span.of(&whole.0);
            one.is_callable() && text.contains("**") && words(text, other).next().is_some()
        })
    })
}

/// Whether the languages of two files know each other's names.
pub(super) fn are_related(index: &Index, one: FileId, other: FileId) -> bool {
    let family = |file: FileId| match index.entry(file).and_then(|entry| entry.language) {
        Some(Language::Cpp) => Some(Language::C),
        Some(Language::TypeScript | Language::Tsx) => Some(Language::JavaScript),
        other => other,
    };
    family(one) == family(other)
}

/// The type a member belongs to: its name, its kind, and what it extends.
fn owner(index: &Index, found: &DefinitionSite) -> Option<(String, Option<Kind>, Vec<String>)> {
    let whole = index.whole(found.file);
    let definition = &found.definition;
    if let Some(name) = &definition.owner {
        let own = whole.1.definitions.iter().find(|one| one.name == *name && one.kind.is_type());
        return Some((
            name.clone(),
            own.map(|own| own.kind),
            own.map(|own| own.bases.clone()).unwrap_or_default(),
        ));
    }
    let holder = whole.1.definitions.get(definition.container? as usize)?;
    Some((holder.name.clone(), Some(holder.kind), holder.bases.clone()))
}

/// Whether two members may stand for each other: one type extends the other, or one is an interface.
fn is_same_family(index: &Index, one: &DefinitionSite, other: &DefinitionSite) -> bool {
    if structural::may_be_compared(index, one, other) || Resolver::new(index).may_be_one_type(one, other) {
        return true;
    }
    let (Some(left), Some(right)) = (owner(index, one), owner(index, other)) else { return false };
    let is_open = |kind: Option<Kind>| matches!(kind, Some(Kind::Interface | Kind::Trait));
    if is_open(left.1) || is_open(right.1) {
        return true;
    }
    let extends = |bases: &[String], name: &str| {
        bases.iter().any(|base| {
            base.split(|character: char| !(character.is_alphanumeric() || character == '_'))
                .any(|word| word == name)
        })
    };
    extends(&left.2, &right.0)
        || extends(&right.2, &left.0)
        || left.2.iter().any(|base| right.2.contains(base))
}
