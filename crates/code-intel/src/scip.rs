//! Answers from an `index.scip` at the root of the workspace, which a compiler or an indexer has written.
//!
//! It knows more than our own index where it is current, and nothing of what was changed since. Its documents carry no
//! hash, so one counts only where the file is not newer than the `index.scip`; for the other files our own index
//! answers, and the answer says so.

mod table;
mod wire;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use stepwell_workspace::files;

use crate::facts::Position;
use crate::index::Index;
use crate::languages::Language;
use crate::location::{
    self, AnswerSource, LocationAnswer, SourceLocation, SourceReply, SymbolQuery, defined_at, sorted, text,
};
use crate::resolve::{DefinitionSite, Resolver};
use table::{State, Table};
use wire::{Document, Occurrence, Part};

pub(crate) const FILE: &str = "index.scip";

/// The `index.scip` of a workspace, as far as it was read.
#[derive(Default)]
pub(crate) struct Scip(RefCell<State>);

/// Where something is defined.
pub(crate) fn definitions(index: &Index, asked: &SymbolQuery) -> SourceReply {
    consult(index, |session| {
        let (symbols, mut places) = session.defined(asked)?;
        let others = session.named_elsewhere(asked);
        let note = Session::note(others.len(), "definition");
        places.extend(others);
        if places.is_empty() {
            let name = symbols.iter().next().map_or("", String::as_str);
            return Err(format!("it does not say where `{name}` is defined"));
        }
        Ok(LocationAnswer { source: AnswerSource::Scip, locations: places, note })
    })
}

/// Where something is used; its definitions are left out.
pub(crate) fn references(index: &Index, asked: &SymbolQuery) -> SourceReply {
    consult(index, |session| {
        let (symbols, mut defined) = session.defined(asked)?;
        defined.extend(session.named_elsewhere(asked));
        let mut places = session.used(&symbols, asked)?;
        if !session.is_any_file_other() {
            return Ok(LocationAnswer { source: AnswerSource::Scip, locations: sorted(places), note: None });
        }
        let resolver = Resolver::new(index);
        let found: Vec<DefinitionSite> = defined.iter().filter_map(|place| place.site.clone()).collect();
        let mut others = resolver.references_to_all(&found);
        others.retain(|used| !session.is_current(index.path(used.file)));
        let note = if found.is_empty() {
            Some(format!(
                "files that changed after `{FILE}` was made, or are not in it, were not searched: the code index does not know this definition"
            ))
        } else {
            Session::note(others.len(), "use")
        };
        places.extend(others.iter().map(|used| SourceLocation {
            path: index.path(used.file).to_owned(),
            at: used.occurrence.at,
            name: used.occurrence.span.of(&index.source(used.file)).to_owned(),
            site: None,
        }));
        Ok(LocationAnswer { source: AnswerSource::Scip, locations: sorted(places), note })
    })
}

fn consult(
    index: &Index,
    question: impl FnOnce(&Session<'_>) -> Result<LocationAnswer, String>,
) -> SourceReply {
    let table = {
        let mut state = index.scip().0.borrow_mut();
        state.renew(index.workspace());
        match &*state {
            State::Absent => return SourceReply::Absent,
            State::Unusable(_, reason) => {
                return SourceReply::Declined(format!("`{FILE}` is not used: {reason}"));
            }
            State::Read(table) => Arc::clone(table),
        }
    };
    match question(&Session { index, table: &table }) {
        Ok(answer) => SourceReply::Answered(answer),
        Err(reason) => SourceReply::Declined(format!("`{FILE}` has no answer: {reason}")),
    }
}

/// One question to a file that is read. An error says why there is no answer.
struct Session<'s> {
    index: &'s Index,
    table: &'s Table,
}

impl Session<'_> {
    /// Whether a file is as the `index.scip` saw it.
    fn is_current(&self, path: &str) -> bool {
        self.table.has(path) && self.modified(path).is_some_and(|time| time <= self.table.stamp.modified_ns)
    }

    fn modified(&self, path: &str) -> Option<i64> {
        let place = self.index.workspace().place(path).ok()?;
        Some(files::stamp(place.absolute()).ok()??.modified_ns)
    }

    /// Whether there is code that the `index.scip` does not have as it is.
    fn is_any_file_other(&self) -> bool {
        let is_code = |language| {
            use Language::{Css, Html, Json, Toml, Yaml};
            !matches!(language, Css | Html | Json | Toml | Yaml)
        };
        let mut entries = self.index.entries();
        entries.any(|(_, entry)| entry.language.is_some_and(is_code) && !self.is_current(&entry.path))
    }

    fn require_current(&self, path: &str) -> Result<(), String> {
        if !self.table.has(path) {
            return Err(format!("`{path}` is not in it"));
        }
        if !self.is_current(path) {
            return Err(format!("`{path}` was changed after it was made"));
        }
        Ok(())
    }

    /// The symbols that are asked about and where they are defined, best first.
    fn defined(&self, asked: &SymbolQuery) -> Result<(BTreeSet<String>, Vec<SourceLocation>), String> {
        match asked {
            SymbolQuery::At { path, line, column } => {
                let path = &self.relative(path)?;
                let symbols = self.symbols_at(path, *line, *column)?;
                let mut places = Vec::new();
                for symbol in &symbols {
                    let files = if wire::is_local(symbol) {
                        vec![path.as_str()]
                    } else {
                        self.table.with_symbol(symbol)
                    };
                    let wanted = |one: &Occurrence<'_>| one.symbol == symbol;
                    let mut declared = Vec::new();
                    let before = places.len();
                    for file in files {
                        places.extend(self.places(file, |one| wanted(one) && one.is_definition())?);
                        declared.extend(self.places(file, |one| wanted(one) && one.is_declaration())?);
                    }
                    if places.len() == before {
                        places.extend(declared);
                    }
                }
                Ok((symbols, self.known(places)))
            }
            SymbolQuery::Named { name, path } => {
                let path = path.as_deref().map(|path| self.relative(path)).transpose()?;
                if let Some(path) = &path {
                    self.require_current(path)?;
                }
                self.named(name, path.as_deref())
            }
        }
    }

    /// The path of a document for a path that a person or a model gave.
    fn relative(&self, path: &str) -> Result<String, String> {
        let place = self.index.workspace().place(path).map_err(|error| error.to_string())?;
        Ok(place.relative().to_string_lossy().into_owned())
    }

    fn named(
        &self,
        name: &str,
        only: Option<&str>,
    ) -> Result<(BTreeSet<String>, Vec<SourceLocation>), String> {
        let parts: Vec<&str> = location::name_parts(name).collect();
        let (last, owner) = match parts[..] {
            [.., owner, last] => (last, Some(owner)),
            [last] => (last, None),
            [] => return Err("nothing is asked about".to_owned()),
        };
        let is_named = |symbol: &str| {
            let names = wire::names(symbol);
            let (Some((own, part)), before) = (names.last(), names.iter().rev().nth(1)) else { return None };
            let is_owned = owner.is_none_or(|owner| before.is_some_and(|(name, _)| name == owner));
            (own == last && is_owned && *part != Part::Inner).then_some(*part)
        };
        let (mut symbols, mut places) = (BTreeSet::new(), Vec::new());
        for path in self.table.with_name(last) {
            // What was changed since is told from our own index.
            if only.is_some_and(|only| only != path) || !self.is_current(path) {
                continue;
            }
            let found = self.places(path, |one| one.is_definition() && is_named(one.symbol).is_some());
            for (symbol, place) in found? {
                let is_test = place.path.contains("test");
                places.push((is_test, is_named(&symbol).unwrap_or(Part::Other), (symbol.clone(), place)));
                symbols.insert(symbol);
            }
        }
        if places.is_empty() {
            return Err(format!("it defines no `{name}`"));
        }
        places.sort_by_key(|(is_test, part, (_, place))| (*is_test, *part, place.path.clone(), place.at));
        Ok((symbols, self.known(places.into_iter().map(|(_, _, place)| place).collect())))
    }

    /// The symbols of the innermost name at a place.
    fn symbols_at(&self, path: &str, line: u32, column: u32) -> Result<BTreeSet<String>, String> {
        self.require_current(path)?;
        let bytes = self.table.document(path).ok_or_else(changed)?;
        let document = Document::decode(&bytes).map_err(|_| changed())?;
        let text = text(self.index, path).ok_or_else(|| format!("`{path}` cannot be read"))?;
        let line_text = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        let here = document
            .occurrences
            .iter()
            .filter(|one| one.line == one.last_line && one.line.saturating_add(1) == line);
        let here = here.filter_map(|one| {
            let start = document.units.column(line_text, one.start);
            let end = document.units.column(line_text, one.end);
            // Of two that touch, the one that begins here; of two around each other, the inner one.
            (start <= column && column <= end).then_some(((column == end, end - start.min(end)), one))
        });
        let here: Vec<_> = here.collect();
        let best = here
            .iter()
            .map(|(rank, _)| *rank)
            .min()
            .ok_or_else(|| format!("it has no name at line {line}, column {column} of `{path}`"))?;
        Ok(here.iter().filter(|(rank, _)| *rank == best).map(|(_, one)| one.symbol.to_owned()).collect())
    }

    /// Where symbols, and those told with them, are used in the files that are current.
    fn used(&self, symbols: &BTreeSet<String>, asked: &SymbolQuery) -> Result<Vec<SourceLocation>, String> {
        let mut all = symbols.clone();
        all.extend(symbols.iter().flat_map(|symbol| self.table.together(symbol)).cloned());
        let mut files: BTreeSet<String> = all
            .iter()
            .filter(|symbol| !wire::is_local(symbol))
            .flat_map(|symbol| self.table.with_symbol(symbol))
            .map(str::to_owned)
            .collect();
        let own = match asked {
            SymbolQuery::At { path, .. } => Some(self.relative(path)?),
            SymbolQuery::Named { .. } => None,
        };
        files.extend(own.clone());
        let mut places = Vec::new();
        for file in files.iter().filter(|file| self.is_current(file)) {
            // The number of a local symbol means something else in every document.
            let is_meant = |symbol: &str| {
                all.contains(symbol) && (!wire::is_local(symbol) || own.as_ref() == Some(file))
            };
            let found = self
                .places(file, |one| !one.is_definition() && !one.is_declaration() && is_meant(one.symbol));
            places.extend(found?.into_iter().map(|(_, place)| place));
        }
        Ok(places)
    }

    /// Symbols and their places in a document; an error where its file has changed, so that the lines are others.
    fn places(
        &self,
        path: &str,
        is_wanted: impl Fn(&Occurrence<'_>) -> bool,
    ) -> Result<Vec<(String, SourceLocation)>, String> {
        let bytes = self.table.document(path).ok_or_else(changed)?;
        let document = Document::decode(&bytes).map_err(|_| changed())?;
        let wanted: Vec<_> = document.occurrences.iter().filter(|one| is_wanted(one)).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        self.require_current(path)?;
        let text = text(self.index, path).ok_or_else(|| format!("`{path}` cannot be read"))?;
        let lines: Vec<&str> = text.lines().collect();
        let placed = wanted.iter().map(|one| {
            let line = lines.get(one.line as usize).copied().unwrap_or_default();
            let (start, end) = (document.units.column(line, one.start), document.units.column(line, one.end));
            let length = if one.line == one.last_line { end.saturating_sub(start) } else { 0 };
            let name = line.chars().skip(start as usize - 1).take(length as usize).collect();
            let at = Position { line: one.line.saturating_add(1), column: start };
            (one.symbol.to_owned(), SourceLocation { path: path.to_owned(), at, name, site: None })
        });
        Ok(placed.collect())
    }

    /// Definitions, each place once in the order they come, with what our own index knows of them.
    fn known(&self, places: Vec<(String, SourceLocation)>) -> Vec<SourceLocation> {
        let mut seen = HashSet::new();
        let mut places: Vec<SourceLocation> = places.into_iter().map(|(_, place)| place).collect();
        places.retain(|place| seen.insert((place.path.clone(), place.at)));
        for place in &mut places {
            let file = self.index.file(&place.path);
            place.site = file.and_then(|file| defined_at(self.index, file, place.at));
        }
        places
    }

    /// What our own index knows of a name in the files that are not current.
    fn named_elsewhere(&self, asked: &SymbolQuery) -> Vec<SourceLocation> {
        let SymbolQuery::Named { name, path: None } = asked else { return Vec::new() };
        let mut found = Resolver::new(self.index).definitions_named(name);
        found.retain(|found| !self.is_current(self.index.path(found.file)));
        found.into_iter().map(|found| place_of(self.index, found)).collect()
    }

    /// Says that a part of an answer is from our own index.
    fn note(count: usize, what: &str) -> Option<String> {
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| {
            format!(
                "{count} {what}{plural} from the code index, in files that changed after `{FILE}` was made or are not in it"
            )
        })
    }
}

fn changed() -> String {
    "it is being written, or is damaged".to_owned()
}

fn place_of(index: &Index, found: DefinitionSite) -> SourceLocation {
    SourceLocation {
        path: index.path(found.file).to_owned(),
        at: found.definition.at,
        name: found.definition.name.clone(),
        site: Some(found),
    }
}

#[cfg(test)]
#[path = "scip/tests.rs"]
mod tests;
