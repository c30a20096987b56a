//! Another name for a definition and for everything that means it.
//!
//! Each place is judged by what its name means there, never by the text alone. What is certain is renamed; what may be
//! meant too is listed, and left alone unless it is asked for.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use super::check::{self, Around};
use super::{Refusal, Result, SourceText, Splice};
use crate::facts::{Definition, Facts, Kind, Occurrence, Position, Receiver, Span};
use crate::index::{FileId, Index};
use crate::languages::Language;
use crate::resolve::{Certainty, DefinitionSite, Resolution, Resolver};

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
}

impl<'t> Family<'t> {
    fn of(index: &Index, target: &'t DefinitionSite) -> Self {
        let resolver = Resolver::new(index);
        let definition = &target.definition;
        let own = Occurrence { span: definition.name_span, at: definition.at, receiver: Receiver::None };
        let meaning = resolver.resolve_occurrence(target.file, &own);
        let same = meaning.found().iter().filter(|found| found.definition.name == definition.name);
        let mut keys = HashSet::from([key(target)]);
        for one in same.chain([target]) {
            keys.insert(key(one));
            keys.extend(resolver.renamed_together(one));
        }
        let whole = index.whole(target.file);
        let mut defined: Vec<Definition> =
            whole.1.defined_at(definition.name_span).map(|(_, one)| one.clone()).collect();
        if defined.is_empty() {
            defined.push(definition.clone());
        }
        let mut overloads = resolver.overloads_of(target);
        overloads.retain(|one| !keys.contains(one));
        Self { target, keys, defined, overloads }
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

    fn is_member(&self) -> bool {
        self.defined.iter().any(|one| one.is_member)
    }

    /// Whether calls may name it from anywhere: parameters of Python.
    fn is_named_in_calls(&self, index: &Index) -> bool {
        let language = index.entry(self.target.file).and_then(|entry| entry.language);
        language == Some(Language::Python) && self.target.definition.kind == Kind::Parameter
    }

    /// What outside of the workspace may ask for one of them by its name.
    fn asked_for_by(&self, index: &Index) -> Option<String> {
        let resolver = Resolver::new(index);
        let mut keys: Vec<(FileId, u32)> = self.keys.iter().copied().collect();
        keys.sort_unstable();
        keys.into_iter().find_map(|(file, start)| {
            let whole = index.whole(file);
            let named = whole.1.named(&self.target.definition.name).map(|(_, one)| one);
            let mut members = named.filter(|one| one.name_span.start == start);
            members.find_map(|one| resolver.asked_for_by(&DefinitionSite { file, definition: one.clone() }))
        })
    }

    fn has(&self, found: &DefinitionSite) -> bool {
        self.keys.contains(&key(found))
    }
}

/// Every place where the name stands and may mean the definition.
fn places(index: &Index, family: &Family<'_>, started: Instant) -> Result<Vec<RenameSite>> {
    let target = family.target;
    let name = &target.definition.name;
    let is_local = family.scope().is_some() && !family.is_named_in_calls(index);
    let files = if is_local { vec![target.file] } else { index.using(name) };
    let mut found = Vec::new();
    for file in files {
        if !are_related(index, file, target.file) {
            continue;
        }
        let whole = index.whole(file);
        for occurrence in whole.1.uses(&whole.0, name) {
            in_time(started)?;
            let judged = judged(index, family, file, occurrence);
            if let Some((sure, is_member)) = judged {
                let (at, span) = (occurrence.at, occurrence.span);
                found.push(RenameSite { file, at, span, sure, is_member });
            }
        }
    }
    found.extend(in_macro_bodies(index, family));
    found.sort_by_key(|place| (place.file, place.span));
    found.dedup_by_key(|place| (place.file, place.span));
    Ok(found)
}

fn in_time(started: Instant) -> Result<()> {
    if started.elapsed() > LONGEST { Err(Refusal::TooSlow) } else { Ok(()) }
}

/// How sure it is that an occurrence means the family, and whether as a member; `None` where it means something else.
fn judged(
    index: &Index,
    family: &Family<'_>,
    file: FileId,
    occurrence: &Occurrence,
) -> Option<(SiteCertainty, bool)> {
    let is_member = family.is_member();
    let is_argument = matches!(occurrence.receiver, Receiver::Argument(_));
    let scope = family.scope();
    if scope.is_some_and(|scope| {
        !(is_argument || file == family.target.file && scope.contains(occurrence.span.start))
    }) && !family.keys.contains(&(file, occurrence.span.start))
    {
        return None;
    }
    // Each question has its own bound on steps.
    let resolver = Resolver::new(index);
    if let Receiver::Made(_) = occurrence.receiver {
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
    }
    if family.keys.contains(&(file, occurrence.span.start)) {
        let as_member = family.scope().is_none() && is_member;
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
                    is_related.then_some(SiteCertainty::Related)
                }
                (count, Certainty::Resolved) if count == found.len() => Some(SiteCertainty::Resolved),
                (_, Certainty::Resolved) => Some(SiteCertainty::OneOfSeveral),
                (_, Certainty::ByName) => Some(SiteCertainty::ByName),
            }
        }
        // The function that a call names may still be the one.
        Resolution::External | Resolution::Unknown if is_argument => {
            may_call(index, family, file, occurrence).then_some(SiteCertainty::Unknown)
        }
        // `use Enum::*` brings the variants of an enum under their bare names.
        Resolution::External | Resolution::Unknown
            if family.target.definition.kind == Kind::EnumMember && occurrence.receiver == Receiver::None =>
        {
            Some(SiteCertainty::Unknown)
        }
        Resolution::External => None,
        Resolution::Unknown if scope.is_some() => None,
        // A bare name cannot mean a member, nor `value.name` a plain function.
        Resolution::Unknown => {
            let is_bare = occurrence.receiver == Receiver::None;
            (is_bare != is_member).then_some(SiteCertainty::Unknown)
        }
    };
    sure.map(|sure| (sure, is_member))
}

/// Where the name stands in the body of a macro of C: what it means is known only where the macro is used.
fn in_macro_bodies(index: &Index, family: &Family<'_>) -> Vec<RenameSite> {
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

/// Where a word stands in a text.
fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !text[..*at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// Whether the call that names an argument may be one of the function whose parameter is renamed.
fn may_call(index: &Index, family: &Family<'_>, file: FileId, argument: &Occurrence) -> bool {
    let Receiver::Argument(called) = argument.receiver else { return false };
    let whole = index.whole(file);
    let called = called.of(&whole.0);
    let last = called.rsplit(['.', '(']).next().unwrap_or(called).trim();
    let own = index.whole(family.target.file);
    let functions = family.defined.iter().filter_map(|one| own.1.definitions.get(one.container? as usize));
    functions.into_iter().any(|function| function.name == last || function.name == "__init__")
}

/// Whether the languages of two files know each other's names.
fn are_related(index: &Index, one: FileId, other: FileId) -> bool {
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
            Some(start) => {
                // `ref name` and `mut name` in a pattern are the variable.
                let (field, value) = if place.is_member { (new_name, old) } else { (old, new_name) };
                let text = format!("{field}: {}{value}", source.slice(start..range.start));
                Splice { range: start..range.end, text }
            }
            None => Splice { range, text: new_name.to_owned() },
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
