//! Another name for a definition and for everything that means it.
//!
//! Each place is judged by what its name means there, never by the text alone. What is certain is renamed; what may be
//! meant too is listed, and left alone unless it is asked for.

mod judge;
mod structural;

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use super::check::{self, Around};
use super::{Refusal, Result, SourceText, Splice};
use crate::facts::{Definition, Facts, Kind, Occurrence, Position, Receiver, Span};
use crate::index::{FileId, Index};
use crate::languages::Language;
use crate::resolve::names::words;
use crate::resolve::{DefinitionSite, Resolver};
use judge::{Judge, in_macro_bodies};

/// Files in which a name is changed at most.
const MOST_FILES: usize = 2000;

/// What a rename may take: in a file that is nested very deeply every question about a place is slow.
const LONGEST: Duration = Duration::from_secs(20);

/// How certain it is that a site refers to the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SiteCertainty {
    /// By scopes, imports and types.
    Resolved,
    /// The only thing of that name it could be.
    ByName,
    /// One of several things it could be.
    OneOfSeveral,
    /// A member of a type that is related, or of one that may be.
    Related,
    /// Nothing is known about it.
    Unknown,
}

impl SiteCertainty {
    pub fn words(self) -> &'static str {
        match self {
            Self::Resolved => "sure",
            Self::ByName => "not sure: by its name alone",
            Self::OneOfSeveral => "not sure: one of several it could be",
            Self::Related => "not sure: the same member of a related type",
            Self::Unknown => "not sure: its type is not known",
        }
    }
}

/// An occurrence of the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameSite {
    pub file: FileId,
    pub at: Position,
    pub span: Span,
    pub sure: SiteCertainty,
    /// Whether the name is meant as that of a member, where it may stand for a member and its value at once.
    is_member: bool,
}

/// What happens to uncertain sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UncertainSites {
    LeaveAlone,
    Rename,
}

/// A file after the rename.
#[derive(Clone, Debug)]
pub struct RenamedFile {
    pub file: FileId,
    pub before: String,
    pub after: String,
    pub splices: Vec<Splice>,
}

/// A planned rename: the changed files, all sites, and mentions that stay.
#[derive(Clone, Debug)]
pub struct Rename {
    pub files: Vec<RenamedFile>,
    /// Every place, in the order of files and lines.
    pub places: Vec<RenameSite>,
    /// Mentions in comments and texts of the changed files, which are not touched.
    pub mentions: Vec<(FileId, u32)>,
}

impl Rename {
    /// Whether every place is sure, so that nothing that means the definition keeps the old name.
    pub fn is_sure(&self) -> bool {
        self.places.iter().all(|place| place.sure == SiteCertainty::Resolved)
    }
}

/// Plans a rename.
pub fn plan(
    index: &Index,
    target: &DefinitionSite,
    new_name: &str,
    unsure: UncertainSites,
) -> Result<Rename> {
    let name = &target.definition.name;
    if name == new_name {
        return Err(Refusal::ChangesNothing);
    }
    let language = index.entry(target.file).and_then(|entry| entry.language);
    check_name(name, new_name, language)?;
    if target.definition.name_span.of(&index.whole(target.file).0) != name {
        return Err(Refusal::MadeName(name.clone()));
    }
    if is_name_of_others(index, target) {
        return Err(Refusal::NameOfOthers(name.clone()));
    }
    let started = Instant::now();
    let family = Family::of(index, target);
    if let Some(by) = family.asked_for_by(index).filter(|_| unsure == UncertainSites::LeaveAlone) {
        return Err(Refusal::AskedFor { name: name.clone(), by });
    }
    if unsure == UncertainSites::LeaveAlone && is_unused_in_signature(index, target) {
        return Err(Refusal::AskedFor {
            name: name.clone(),
            by: "The type that it is taken from".to_owned(),
        });
    }
    let mut places = places(index, &family, started)?;
    places.sort_by(|left, right| (index.path(left.file), left.at).cmp(&(index.path(right.file), right.at)));
    let is_changed =
        |place: &&RenameSite| place.sure == SiteCertainty::Resolved || unsure == UncertainSites::Rename;
    let mut by_file: BTreeMap<&str, Vec<&RenameSite>> = BTreeMap::new();
    for place in places.iter().filter(is_changed) {
        by_file.entry(index.path(place.file)).or_default().push(place);
    }
    if by_file.len() > MOST_FILES {
        return Err(Refusal::TooMany(MOST_FILES));
    }
    let taken: Vec<String> =
        by_file.values().flat_map(|places| taken(index, target, new_name, places)).take(10).collect();
    if !taken.is_empty() {
        return Err(Refusal::NameTaken { name: new_name.to_owned(), places: taken.join("\n") });
    }
    let mut files = Vec::new();
    let mut mentions = Vec::new();
    for places in by_file.values() {
        let Some(first) = places.first() else { continue };
        let file = renamed(index, target, new_name, places, started)?;
        let whole = index.whole(first.file);
        mentions.extend(mentioned(&whole.0, &whole.1, name).into_iter().map(|line| (first.file, line)));
        files.push(file);
    }
    if files.is_empty() {
        return Err(Refusal::ChangesNothing);
    }
    Ok(Rename { files, places, mentions })
}

/// Whether the name stands in an import by which another module calls something: `import { name } from "module"`.
fn is_name_of_others(index: &Index, target: &DefinitionSite) -> bool {
    let outline = index.outline(target.file);
    let mut names = outline.imports.iter().flat_map(|import| &import.names);
    target.definition.kind == Kind::Module
        && names.any(|one| one.at == target.definition.at && one.name == one.alias)
}

fn check_name(old: &str, new: &str, language: Option<Language>) -> Result<()> {
    let bad = |why: &str| Err(Refusal::BadName { name: new.to_owned(), why: why.to_owned() });
    let is_script = matches!(
        language,
        Some(Language::JavaScript | Language::TypeScript | Language::Tsx | Language::Java | Language::Php)
    );
    let is_part =
        |character: char| character.is_alphanumeric() || character == '_' || character == '$' && is_script;
    let (bare, old_bare) = (new.strip_prefix('#').unwrap_or(new), old.strip_prefix('#').unwrap_or(old));
    if new.starts_with('#') != old.starts_with('#')
        && !(bare.len() == new.len() && old_bare.len() == old.len())
    {
        return bad(": private names begin with `#`, and only those");
    }
    if bare.is_empty() || !bare.chars().all(is_part) || bare.starts_with(|first: char| first.is_numeric()) {
        return bad("; give one name, without dots");
    }
    Ok(())
}

fn key(found: &DefinitionSite) -> (FileId, u32) {
    (found.file, found.definition.name_span.start)
}

/// What is renamed: a definition with all that must be called like it.
struct Family<'t> {
    target: &'t DefinitionSite,
    keys: HashSet<(FileId, u32)>,
    /// Everything that is defined where the name of the target stands: a parameter may be a field too.
    defined: Vec<Definition>,
    /// Functions of the name that a call may mean instead, by its arguments.
    overloads: HashSet<(FileId, u32)>,
    /// Where the definitions are known, as far as they are local.
    scopes: Vec<(FileId, Span)>,
}

impl<'t> Family<'t> {
    fn of(index: &Index, target: &'t DefinitionSite) -> Self {
        let resolver = Resolver::new(index);
        let definition = &target.definition;
        let own = Occurrence { span: definition.name_span, at: definition.at, receiver: Receiver::None };
        let meaning = resolver.resolve_occurrence(target.file, &own);
        let whole = index.whole(target.file);
        let mut defined: Vec<Definition> =
            whole.1.defined_at(definition.name_span).map(|(_, one)| one.clone()).collect();
        if defined.is_empty() {
            defined.push(definition.clone());
        }
        // `const { name } = value` names a field too, which is another thing.
        let is_same_kind =
            |found: &DefinitionSite| defined.iter().any(|one| one.is_member == found.definition.is_member);
        let named = meaning.found().iter().filter(|found| found.definition.name == definition.name);
        let same = named.filter(|found| is_same_kind(found));
        let mut keys = HashSet::from([key(target)]);
        for one in same.chain([target]) {
            keys.insert(key(one));
            keys.extend(resolver.renamed_together(one));
        }
        let mut overloads = resolver.overloads_of(target);
        overloads.retain(|one| !keys.contains(one));
        for one in &mut defined {
            one.scope = one.scope.filter(|_| !is_in_namespace(index, target.file, one));
        }
        let mut scopes: Vec<(FileId, Span)> =
            defined.iter().filter_map(|one| Some((target.file, one.scope?))).collect();
        for (file, start) in keys.iter().filter(|one| **one != key(target)) {
            let whole = index.whole(*file);
            let same = whole.1.named(&definition.name).filter(|one| one.name_span.start == *start);
            scopes.extend(same.filter_map(|one| Some((*file, one.scope?))));
        }
        Self { target, keys, defined, overloads, scopes }
    }

    /// Where the name is known, if it is local.
    fn scope(&self) -> Option<Span> {
        let scopes: Option<Vec<Span>> = self.defined.iter().map(|one| one.scope).collect();
        let scopes = scopes?;
        Some(Span {
            start: scopes.iter().map(|scope| scope.start).min()?,
            end: scopes.iter().map(|scope| scope.end).max()?,
        })
    }

    /// Whether a place is where one of the definitions is known.
    fn is_known_at(&self, file: FileId, offset: u32) -> bool {
        self.scopes.iter().any(|(of, scope)| *of == file && scope.contains(offset))
    }

    fn is_member(&self) -> bool {
        self.defined.iter().any(|one| one.is_member)
    }

    /// Whether calls may name it from anywhere: parameters of Python, also those that are assigned to.
    fn is_named_in_calls(&self, index: &Index) -> bool {
        let language = index.entry(self.target.file).and_then(|entry| entry.language);
        let is_parameter = |(file, start): &(FileId, u32)| {
            let whole = index.whole(*file);
            let mut same = whole.1.named(&self.target.definition.name);
            same.any(|one| one.name_span.start == *start && one.kind == Kind::Parameter)
        };
        language == Some(Language::Python) && self.keys.iter().any(is_parameter)
    }

    /// What outside of the workspace, or a text in it, may ask for one of them by its name.
    fn asked_for_by(&self, index: &Index) -> Option<String> {
        let resolver = Resolver::new(index);
        let mut keys: Vec<(FileId, u32)> = self.keys.iter().copied().collect();
        keys.sort_unstable();
        let sites: Vec<DefinitionSite> = keys
            .into_iter()
            .flat_map(|(file, start)| {
                let whole = index.whole(file);
                let named = whole.1.named(&self.target.definition.name);
                let sites = named.filter(|one| one.name_span.start == start);
                sites.map(|one| DefinitionSite::new(file, one)).collect::<Vec<_>>()
            })
            .collect();
        let asked = sites.iter().find_map(|site| resolver.asked_for_by(site));
        asked.or_else(|| resolver.reached_by_text(&sites))
    }

    fn has(&self, found: &DefinitionSite) -> bool {
        self.keys.contains(&key(found))
    }

    /// The definitions whose names are no occurrences, such as that of a `@typedef` in a comment.
    fn unmarked(&self, index: &Index, found: &[RenameSite]) -> Vec<RenameSite> {
        let name = &self.target.definition.name;
        let known: HashSet<(FileId, u32)> = found.iter().map(|one| (one.file, one.span.start)).collect();
        let mut missing = Vec::new();
        for (file, start) in self.keys.iter().filter(|one| !known.contains(one)) {
            let whole = index.whole(*file);
            let is_meant =
                |one: &&Definition| one.name_span.start == *start && one.name_span.of(&whole.0) == one.name;
            let own = whole.1.named(name).find(is_meant);
            missing.extend(own.map(|one| RenameSite {
                file: *file,
                at: one.at,
                span: one.name_span,
                sure: SiteCertainty::Resolved,
                is_member: one.is_member,
            }));
        }
        missing
    }
}

/// Whether a definition stands in a namespace of TypeScript, through which others can reach it.
fn is_in_namespace(index: &Index, file: FileId, definition: &Definition) -> bool {
    let language = index.entry(file).and_then(|entry| entry.language);
    let whole = index.whole(file);
    let around = definition.container.and_then(|at| whole.1.definitions.get(at as usize));
    matches!(language, Some(Language::TypeScript | Language::Tsx))
        && around.is_some_and(|around| around.kind == Kind::Module)
}

/// Every place where the name stands and may mean the definition.
fn places(index: &Index, family: &Family<'_>, started: Instant) -> Result<Vec<RenameSite>> {
    let target = family.target;
    let name = &target.definition.name;
    let is_local = family.scope().is_some() && !family.is_named_in_calls(index);
    let files = if is_local { vec![target.file] } else { index.using(name) };
    let judge = Judge::new(index, family);
    let mut found = Vec::new();
    for file in files {
        if !judge::are_related(index, file, target.file) {
            continue;
        }
        let whole = index.whole(file);
        for occurrence in whole.1.uses(&whole.0, name) {
            in_time(started)?;
            if let Some((sure, is_member)) = judge.judged(file, occurrence) {
                let (at, span) = (occurrence.at, occurrence.span);
                found.push(RenameSite { file, at, span, sure, is_member });
            }
        }
    }
    found.extend(in_macro_bodies(index, family));
    found.extend(family.unmarked(index, &found));
    found.sort_by_key(|place| (place.file, place.span));
    found.dedup_by_key(|place| (place.file, place.span));
    Ok(found)
}

fn in_time(started: Instant) -> Result<()> {
    if started.elapsed() > LONGEST { Err(Refusal::TooSlow) } else { Ok(()) }
}

/// Where the new name means something else already.
fn taken(index: &Index, target: &DefinitionSite, new_name: &str, places: &[&RenameSite]) -> Vec<String> {
    let Some(first) = places.first() else { return Vec::new() };
    let whole = index.whole(first.file);
    let path = index.path(first.file);
    let definition = &target.definition;
    let mut found = Vec::new();
    let told = |line: u32| {
        format!(
            "{path}:{line}: {}",
            whole.0.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default().trim()
        )
    };
    let holder = |one: &Definition| (one.container, one.owner.clone());
    for other in whole.1.definitions.iter().filter(|other| other.name == new_name) {
        let is_hit = if definition.is_member {
            first.file == target.file && other.is_member && holder(other) == holder(definition)
        } else if other.is_member {
            false
        } else {
            match other.scope {
                None => definition.scope.is_none() && other.kind != Kind::Parameter,
                Some(scope) => places.iter().any(|place| scope.contains(place.span.start)),
            }
        };
        if is_hit {
            found.push(told(other.at.line));
        }
    }
    if !definition.is_member {
        let imported = whole.1.imports.iter().flat_map(|import| &import.names);
        found.extend(imported.filter(|one| one.alias == new_name).map(|one| told(one.at.line)));
    }
    if let Some(scope) = definition.scope {
        let used = whole.1.occurrences.iter().filter(|one| {
            one.receiver == Receiver::None
                && scope.contains(one.span.start)
                && one.span.of(&whole.0) == new_name
        });
        found.extend(used.map(|one| told(one.at.line)));
    }
    found.sort();
    found.dedup();
    found
}

/// A file with its places changed, its syntax checked.
fn renamed(
    index: &Index,
    target: &DefinitionSite,
    new_name: &str,
    places: &[&RenameSite],
    started: Instant,
) -> Result<RenamedFile> {
    let file = places.first().map_or(target.file, |place| place.file);
    let whole = index.whole(file);
    let language = index.entry(file).and_then(|entry| entry.language).ok_or(Refusal::UnknownLanguage)?;
    let source = SourceText::of(language, &whole.0)?;
    let mut splices = Vec::new();
    for place in places {
        let range = place.span.start as usize..place.span.end as usize;
        in_time(started)?;
        let old = source.slice(range.clone());
        splices.push(match short_form(&source, place.span) {
            // TypeScript refuses `{ name: other }` where nothing can use the other name.
            Some(start) if !(place.is_member && is_in_signature(&source, place.span)) => {
                // `ref name` and `mut name` in a pattern are the variable.
                let (field, value) = if place.is_member { (new_name, old) } else { (old, new_name) };
                let text = format!("{field}: {}{value}", source.slice(start..range.start));
                Splice { range: start..range.end, text }
            }
            _ => Splice { range, text: new_name.to_owned() },
        });
    }
    let after = check::applied(&source, &splices, Around::Syntax)?;
    is_still_a_name(&source, &after, new_name, places, &splices, started)?;
    Ok(RenamedFile { file, before: whole.0.clone(), after, splices })
}

/// Where a name that stands for a field and its value at once begins, with what belongs to it: `{ ref name }`.
fn short_form(source: &SourceText<'_>, span: Span) -> Option<usize> {
    let node = source.node_at(span.start as usize..span.end as usize)?;
    let is_short = |kind: &str| kind.starts_with("shorthand_");
    let parent = node.parent();
    let holder = parent.filter(|parent| parent.kind() == "field_pattern");
    (is_short(node.kind()) || parent.is_some_and(|parent| is_short(parent.kind())))
        .then(|| holder.map_or(span.start as usize, |holder| holder.start_byte()))
}

/// Whether a parameter takes a field by its name in a function without a body, where no name but that of the field
/// makes sense: `type F = ({ name }: Options) => void`.
fn is_unused_in_signature(index: &Index, target: &DefinitionSite) -> bool {
    let span = target.definition.name_span;
    let language = index.entry(target.file).and_then(|entry| entry.language);
    let is_typed = matches!(language, Some(Language::TypeScript | Language::Tsx));
    if !is_typed || target.definition.kind != Kind::Parameter {
        return false;
    }
    let whole = index.whole(target.file);
    let Some(source) = language.and_then(|language| SourceText::of(language, &whole.0).ok()) else {
        return false;
    };
    short_form(&source, span).is_some() && is_in_signature(&source, span)
}

/// Whether the innermost function around a name has no body (TypeScript).
fn is_in_signature(source: &SourceText<'_>, span: Span) -> bool {
    let mut node = source.node_at(span.start as usize..span.end as usize);
    while let Some(around) = node {
        let kind = around.kind();
        if kind == "function_type" || kind == "constructor_type" || kind.ends_with("_signature") {
            return kind != "property_signature";
        }
        if around.child_by_field_name("body").is_some() {
            return false;
        }
        node = around.parent();
    }
    false
}

/// Whether a field stands without a value at a place.
fn is_shorthand(index: &Index, file: FileId, span: Span) -> bool {
    let whole = index.whole(file);
    let after = whole.0.get(span.end as usize..).unwrap_or_default().trim_start();
    after.starts_with([',', '}'])
}

/// Refuses a word of the language: it parses, and means something else.
fn is_still_a_name(
    source: &SourceText<'_>,
    after: &str,
    new_name: &str,
    places: &[&RenameSite],
    splices: &[Splice],
    started: Instant,
) -> Result<()> {
    let changed = SourceText::of(source.language, after)?;
    let mut shift = 0_isize;
    for (place, splice) in places.iter().zip(splices) {
        in_time(started)?;
        let start = (place.span.start as usize).saturating_add_signed(shift);
        shift += splice.text.len() as isize - splice.range.len() as isize;
        if splice.text != new_name {
            continue;
        }
        // A name within a text, as in `"{name}"`, has no node of its own.
        let old = source.node_at(splice.range.clone()).filter(|node| node.byte_range() == splice.range);
        let Some(old) = old else { continue };
        let new = changed
            .node_at(start..start + new_name.len())
            .filter(|node| node.byte_range() == (start..start + new_name.len()));
        if new.map(|node| node.kind()) != Some(old.kind()) {
            let why =
                format!(" (line {}): it is a word of the language, or another kind of name", place.at.line);
            return Err(Refusal::BadName { name: new_name.to_owned(), why });
        }
    }
    Ok(())
}

/// Lines in which the name stands as a word, but not as a name: comments and texts.
fn mentioned(text: &str, facts: &Facts, name: &str) -> Vec<u32> {
    const MOST: usize = 50;
    let starts: HashSet<u32> = facts.occurrences.iter().map(|one| one.span.start).collect();
    let mut lines = Vec::new();
    for at in words(text, name) {
        if !starts.contains(&(at as u32)) {
            lines.push(text[..at].matches('\n').count() as u32 + 1);
        }
        if lines.len() >= MOST {
            break;
        }
    }
    lines.dedup();
    lines
}
