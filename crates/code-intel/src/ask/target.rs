//! What a question is about. People paste `FILE:LINE` from another program, models are a line off or give a name with
//! the wrong type before it: what is missing is filled in, and where that fails the error lists the names nearby.

use std::fmt;

use crate::error::{Error, Result};
use crate::facts::{self, Definition, Facts, Kind, Occurrence, Position};
use crate::index::{FileId, Index};
use crate::languages::Language;
use crate::location::{self, SymbolQuery};
use crate::resolve::{Certainty, DefinitionSite, Resolution, Resolver};

/// Names and lines that an error lists.
const MOST_LISTED: usize = 8;

/// What a question is about: a name, a position in a file, or a part of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// A name as it is written, or `Type.member`.
    pub symbol: Option<String>,
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1, in characters.
    pub column: Option<u32>,
}

/// What the name at a position is resolved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Where it is defined, even if that is outside of the workspace.
    Definition,
    /// The symbol itself: where a definition stands for something external, as a key of an object may, that definition.
    Target,
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => write!(formatter, "{file}:{line}:{column}"),
            (Some(file), Some(line), None) => write!(formatter, "{file}:{line}"),
            (file, ..) => formatter.write_str(self.name().or(file.as_deref()).unwrap_or_default()),
        }
    }
}

impl Target {
    /// Reads `FILE:LINE:COLUMN`, `FILE:LINE`, a name, `Type.member` or either with `()` behind it.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let text = text.strip_suffix("()").unwrap_or(text);
        let before_number = |text: &str| {
            let (before, number) = text.rsplit_once(':')?;
            Some((before.to_owned(), number.parse::<u32>().ok()?))
        };
        match before_number(text).filter(|(before, _)| !before.is_empty()) {
            Some((before, last)) => match before_number(&before) {
                Some((file, line)) => {
                    Self { file: Some(file), line: Some(line), column: Some(last), symbol: None }
                }
                None => Self { file: Some(before), line: Some(last), ..Self::default() },
            },
            None => Self { symbol: Some(text.to_owned()), ..Self::default() },
        }
    }

    /// Whether it says where a name stands.
    pub fn is_position(&self) -> bool {
        self.file.is_some() && self.line.is_some()
    }

    /// The name asked about; models also write `name()`.
    pub fn name(&self) -> Option<&str> {
        let name = self.symbol.as_deref()?.trim();
        Some(name.strip_suffix("()").unwrap_or(name)).filter(|name| !name.is_empty())
    }

    /// The name as it stands in a text: the last part of `Type.member`.
    fn last_name(&self) -> Option<&str> {
        location::name_parts(self.name()?).last().filter(|name| !name.is_empty())
    }

    /// Finds what the target means. A file without a line narrows a name down to what that file defines or uses;
    /// `language` narrows down a name without a file.
    pub(super) fn resolve(
        &self,
        index: &Index,
        resolver: &Resolver<'_>,
        language: Option<Language>,
        aim: Aim,
    ) -> Result<Resolution> {
        let file = self.file.as_deref().map(|path| index.named(path)).transpose()?;
        match (self.name(), file, self.line) {
            (Some(name), None, _) => {
                let mut found = resolver.definitions_named(name);
                if let Some(language) = language {
                    let own = |file| index.entry(file).and_then(|entry| entry.language);
                    found.retain(|one| own(one.file).is_some_and(|own| own.is_near(language)));
                }
                Ok(by_name(found))
            }
            (Some(name), Some(file), None) => self.resolve_in_file(index, resolver, name, file),
            (_, Some(file), Some(line)) => {
                let column = self.column_in(index, file, line)?;
                match aim {
                    Aim::Definition => resolver.definition_at(file, line, column),
                    Aim::Target => resolver.target_at(file, line, column),
                }
            }
            (None, ..) => Err(Error::NotThere {
                what: "it is not said what is asked about".to_owned(),
                near: "give a `symbol`, or a `file` with a `line` and a `column`".to_owned(),
            }),
        }
    }

    fn resolve_in_file(
        &self,
        index: &Index,
        resolver: &Resolver<'_>,
        name: &str,
        file: FileId,
    ) -> Result<Resolution> {
        let found = resolver.definitions_named(name);
        let own: Vec<_> = found.iter().filter(|one| one.file == file).cloned().collect();
        if !own.is_empty() {
            return Ok(by_name(own));
        }
        let position = self.last_name().and_then(|last| first_in_file(index, file, last));
        match position {
            // The file may use several members of that name, and `Type.member` says which is meant.
            Some(_) if !found.is_empty() && self.last_name() != Some(name) => Ok(by_name(found)),
            Some(at) => resolver.definition_at(file, at.line, at.column),
            None => Err(Error::NotThere {
                what: format!("`{}` does not have the name `{name}`", index.path(file)),
                near: "leave the file out, or give the one where the name stands".to_owned(),
            }),
        }
    }

    fn column_in(&self, index: &Index, file: FileId, line: u32) -> Result<u32> {
        let in_line = || position_in_line(index, file, line, self.last_name()).map(|at| at.column);
        self.column.filter(|column| *column > 0).map_or_else(in_line, Ok)
    }

    /// The same for a language server or an `index.scip`, which also know files that the index does not.
    pub(crate) fn query(&self, index: &Index) -> SymbolQuery {
        let name = self.name().unwrap_or_default();
        let Some(path) = &self.file else {
            return SymbolQuery::Named { name: name.to_owned(), path: None };
        };
        let file = index.named(path).ok();
        let last = self.last_name();
        let at = if let Some(line) = self.line {
            let column = file.and_then(|file| self.column_in(index, file, line).ok());
            // The index knows no occurrences in files of some languages.
            let in_text = || {
                let text = location::line(index, path, line);
                text.find(last?).map(|at| text[..at].chars().count() as u32 + 1)
            };
            let column = column.or(self.column).or_else(in_text);
            Some((line, column.unwrap_or(1)))
        } else {
            let is_used = |file: &FileId| last.is_some_and(|last| !index.defining(last).contains(file));
            let found = file.filter(is_used).zip(last);
            let found = found.and_then(|(file, last)| first_in_file(index, file, last));
            found.map(|at| (at.line, at.column))
        };
        match at {
            Some((line, column)) => SymbolQuery::At { path: path.clone(), line, column },
            None => SymbolQuery::Named { name: name.to_owned(), path: Some(path.clone()) },
        }
    }
}

fn by_name(found: Vec<DefinitionSite>) -> Resolution {
    if found.is_empty() { Resolution::Unknown } else { Resolution::Found(found, Certainty::ByName) }
}

/// Finds the position that is meant in a line: where the given name stands, else what the line defines, else its only
/// name. The error says which names the line has instead.
fn position_in_line(index: &Index, file: FileId, line: u32, name: Option<&str>) -> Result<Position> {
    let whole = index.whole(file);
    let here: Vec<&Occurrence> = whole.1.occurrences.iter().filter(|one| one.at.line == line).collect();
    if let Some(name) = name {
        let found = here.iter().find(|one| one.span.of(&whole.0) == name);
        return found.map(|one| one.at).ok_or_else(|| Error::NotThere {
            what: format!("`{name}` does not stand in line {line} of `{}`", index.path(file)),
            near: nearby_names(&whole, line, Some(name)),
        });
    }
    let mut defined = whole.1.definitions.iter().filter(|definition| definition.at.line == line);
    let is_outer = |definition: &&Definition| definition.scope.is_none();
    let meant = defined.clone().find(is_outer).or_else(|| defined.next()).map(|definition| definition.at);
    let only = || (here.len() == 1).then(|| here[0].at);
    meant.or_else(only).ok_or_else(|| Error::NotThere {
        what: format!("it is not clear which name of line {line} of `{}` is meant", index.path(file)),
        near: nearby_names(&whole, line, None),
    })
}

/// The first position of a name in a file.
fn first_in_file(index: &Index, file: FileId, name: &str) -> Option<Position> {
    let whole = index.whole(file);
    whole.1.occurrences.iter().find(|one| one.span.of(&whole.0) == name).map(|one| one.at)
}

/// Adds the names nearby to an error about a position that has none.
pub(super) fn with_nearby_names(index: &Index, error: Error) -> Error {
    let Error::NoName { path, line, column } = &error else { return error };
    let Some(file) = index.file(path) else { return error };
    Error::NotThere {
        what: format!("`{path}` has no name at line {line}, column {column}"),
        near: nearby_names(&index.whole(file), *line, None),
    }
}

/// Lists symbols that have the last part of a name, each with its place: for `Order.label`, `Payable.label`.
pub fn similar_names(index: &Index, name: &str) -> Vec<String> {
    let last = location::name_parts(name).last().unwrap_or(name);
    if last == name || last.is_empty() {
        return Vec::new();
    }
    let described = |file: FileId| {
        let outline = index.outline(file);
        let all = outline.definitions.iter().enumerate().filter(|(_, definition)| definition.name == last);
        let all = all.map(|(place, definition)| {
            let path = facts::described(&outline, place as u32);
            format!("`{path}` ({}:{})", index.path(file), definition.at.line)
        });
        all.collect::<Vec<_>>()
    };
    index.defining(last).into_iter().flat_map(described).take(MOST_LISTED).collect()
}

/// Says that a name fits several definitions and the answer is about the first; `None` for a single definition with
/// its declarations.
pub(super) fn ambiguity(index: &Index, found: &[DefinitionSite]) -> Option<String> {
    let is_real = |one: &&DefinitionSite| {
        let outline = index.outline(one.file);
        let container = one.definition.container.and_then(|place| outline.definitions.get(place as usize));
        let is_interface = container.is_some_and(|one| matches!(one.kind, Kind::Interface | Kind::Trait));
        !one.definition.is_declaration || is_interface
    };
    let real = found.iter().filter(is_real).count();
    let first = found.first().filter(|_| real > 1)?;
    let (path, at) = (index.path(first.file), first.definition.at);
    let name = &first.definition.name;
    Some(format!(
        "{real} definitions are called `{name}`; this is about the one at {path}:{}:{}; for another one give `Type.member`, or its file, line and column",
        at.line, at.column
    ))
}

/// Lists the names of a line with their columns, or says why there are none; for a name also the lines that have it.
fn nearby_names((text, facts): &(String, Facts), line: u32, name: Option<&str>) -> String {
    let mut words = String::new();
    let mut names = facts.occurrences.iter().filter(|one| one.at.line == line).peekable();
    let lines = text.lines().count();
    if line == 0 || line as usize > lines {
        words.push_str(&format!("lines count from 1, and the file has {lines}"));
    } else if names.peek().is_none() {
        words.push_str("the line has no names");
    } else {
        let listed = names
            .by_ref()
            .take(MOST_LISTED)
            .map(|one| format!("`{}` at {}", one.span.of(text), one.at.column));
        words.push_str(&format!("the line has {}", listed.collect::<Vec<_>>().join(", ")));
        words.push_str(if names.next().is_some() { " and more" } else { "" });
    }
    if let Some(name) = name {
        let mut standing: Vec<u32> =
            facts.occurrences.iter().filter(|one| one.span.of(text) == name).map(|one| one.at.line).collect();
        standing.dedup();
        let listed: Vec<String> = standing.iter().take(MOST_LISTED).map(ToString::to_string).collect();
        match listed.as_slice() {
            [] => words.push_str("; the file does not have it"),
            [only] => words.push_str(&format!("; it stands in line {only}")),
            some => words.push_str(&format!("; it stands in lines {}", some.join(", "))),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::references_to;
    use crate::index::tests::workspace;
    use crate::resolve::Reference;

    const FILES: &[(&str, &str)] = &[
        (
            "Payable.java",
            "interface Payable {\n    int total();\n    default String label() { return \"\" + total(); }\n}\n",
        ),
        (
            "Order.java",
            "class Order implements Payable {\n    public int total() { return 1; }\n\n    int pay(Payable other) { return other.total() + total(); }\n}\n",
        ),
    ];

    fn with_index(check: impl FnOnce(&Index)) {
        let (_folder, index) = workspace(FILES);
        check(&index);
    }

    /// A target with its column filled in.
    fn completed(index: &Index, text: &str) -> Result<String> {
        let target = Target::parse(text);
        let (Some(path), Some(line)) = (&target.file, target.line) else { return Ok(target.to_string()) };
        let column = Some(target.column_in(index, index.named(path)?, line)?);
        Ok(Target { column, ..target }.to_string())
    }

    #[test]
    fn targets_are_completed_or_it_is_said_what_is_near() {
        with_index(|index| {
            for (target, expected) in [
                ("Order.total", "Order.total"),
                ("Order.total()", "Order.total"),
                ("Order::total", "Order::total"),
                ("Order.java:2:16", "Order.java:2:16"),
                // What a line defines, not what it takes.
                ("Order.java:2", "Order.java:2:16"),
                ("Order.java:4", "Order.java:4:9"),
                (
                    "Order.java:3",
                    "it is not clear which name of line 3 of `Order.java` is meant; the line has no names",
                ),
                (
                    "Order.java:0",
                    "it is not clear which name of line 0 of `Order.java` is meant; lines count from 1, and the file has 5",
                ),
                ("Gone.java:3", "`Gone.java` is not in the code index: it does not exist"),
                (".:3", "`` is not in the code index: it is a folder, and one file is asked about"),
            ] {
                let shown = completed(index, target).unwrap_or_else(|error| error.to_string());
                assert_eq!(shown, expected, "{target}");
            }
        });
    }

    #[test]
    fn a_name_that_is_not_in_a_line_is_shown_where_it_is() {
        with_index(|index| {
            let file = index.named("Order.java").unwrap();
            assert_eq!(position_in_line(index, file, 4, Some("total")).unwrap().column, 43);
            for (name, expected) in [
                (
                    "total",
                    "`total` does not stand in line 1 of `Order.java`; the line has `Order` at 7, `Payable` at 24; it stands in lines 2, 4",
                ),
                (
                    "label",
                    "`label` does not stand in line 1 of `Order.java`; the line has `Order` at 7, `Payable` at 24; the file does not have it",
                ),
            ] {
                assert_eq!(position_in_line(index, file, 1, Some(name)).unwrap_err().to_string(), expected);
            }
            let error = Resolver::new(index).target_at(file, 2, 1).unwrap_err();
            assert_eq!(
                with_nearby_names(index, error).to_string(),
                "`Order.java` has no name at line 2, column 1; the line has `total` at 16"
            );
        });
    }

    #[test]
    fn names_that_fit_several_things_are_told_apart() {
        with_index(|index| {
            let resolver = Resolver::new(index);
            let found = |name: &str| resolver.definitions_named(name);
            let note = ambiguity(index, &found("total")).unwrap();
            assert!(
                note.starts_with(
                    "2 definitions are called `total`; this is about the one at Order.java:2:16"
                ),
                "{note}"
            );
            assert_eq!(ambiguity(index, &found("pay")), None);
            let places = references_to(&resolver, &found("total"));
            let mut distinct = places.iter().map(|used| (used.file, used.occurrence.at)).collect::<Vec<_>>();
            distinct.sort();
            distinct.dedup();
            assert_eq!(places.len(), distinct.len());
            let is_promise =
                |used: &Reference| index.path(used.file) == "Payable.java" && used.occurrence.at.line == 2;
            assert!(resolver.references(&found("Order.total")[0]).iter().any(is_promise));
            assert!(!places.iter().any(is_promise) && !places.is_empty());
            assert_eq!(similar_names(index, "Order.label"), ["`Payable.label` (Payable.java:3)"]);
            assert!(
                similar_names(index, "label").is_empty() && similar_names(index, "Order.nothing").is_empty()
            );
        });
    }
}
