//! What is meant by a place that is not given in full, and what stands near one where nothing does: a person pastes
//! `FILE:LINE` from another program, a model is a line off or gives a name with the wrong type before it.

use std::collections::HashSet;

use crate::answer::{self, Asked};
use crate::error::{Error, Result};
use crate::facts::{self, Definition, Facts, Kind, Occurrence, Position};
use crate::index::{FileId, Index};
use crate::resolve::{Found, Resolver, Use};

/// Names and lines that an error lists.
const MOST_LISTED: usize = 8;

/// A target of the command line in full: `FILE:LINE` gets its column, `name()` loses its brackets.
pub fn completed(index: &Index, target: &str) -> Result<String> {
    let target = target.trim();
    let target = target.strip_suffix("()").unwrap_or(target);
    let is_whole = matches!(Asked::parse(target), Asked::At { .. });
    let Some((path, Ok(line))) = target.rsplit_once(':').map(|(path, line)| (path, line.parse::<u32>()))
    else {
        return Ok(target.to_owned());
    };
    if is_whole || path.is_empty() {
        return Ok(target.to_owned());
    }
    let at = in_line(index, index.named(path)?, line, None)?;
    Ok(format!("{path}:{line}:{}", at.column))
}

/// The place in a line that is meant: where the name stands that is given, else what the line defines, else its only
/// name. The error says what the line has instead.
pub fn in_line(index: &Index, file: FileId, line: u32, name: Option<&str>) -> Result<Position> {
    let whole = index.whole(file);
    let here: Vec<&Occurrence> = whole.1.occurrences.iter().filter(|one| one.at.line == line).collect();
    if let Some(name) = name {
        let found = here.iter().find(|one| one.span.of(&whole.0) == name);
        return found.map(|one| one.at).ok_or_else(|| Error::NotThere {
            what: format!("`{name}` does not stand in line {line} of `{}`", index.path(file)),
            near: near(&whole, line, Some(name)),
        });
    }
    let mut defined = whole.1.definitions.iter().filter(|definition| definition.at.line == line);
    let is_outer = |definition: &&Definition| definition.scope.is_none();
    let meant = defined.clone().find(is_outer).or_else(|| defined.next()).map(|definition| definition.at);
    let only = || (here.len() == 1).then(|| here[0].at);
    meant.or_else(only).ok_or_else(|| Error::NotThere {
        what: format!("it is not clear which name of line {line} of `{}` is meant", index.path(file)),
        near: near(&whole, line, None),
    })
}

/// Where a name stands in a file, the first time.
pub fn in_file(index: &Index, file: FileId, name: &str) -> Option<Position> {
    let whole = index.whole(file);
    whole.1.occurrences.iter().find(|one| one.span.of(&whole.0) == name).map(|one| one.at)
}

/// The same error with what stands near, where nothing stands at a place.
pub fn explained(index: &Index, error: Error) -> Error {
    let Error::NoName { path, line, column } = &error else { return error };
    let Some(file) = index.file(path) else { return error };
    Error::NotThere {
        what: format!("`{path}` has no name at line {line}, column {column}"),
        near: near(&index.whole(file), *line, None),
    }
}

/// What is called like the last part of a name and is something else: `Order.label` is `Payable.label`.
pub fn others(index: &Index, name: &str) -> Vec<String> {
    let last = answer::name_parts(name).last().unwrap_or(name);
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

/// The uses of several definitions, each once: a call through an interface is one of both. None of the definitions is a
/// use of another.
pub fn uses(resolver: &Resolver<'_>, found: &[Found]) -> Vec<Use> {
    let defined: HashSet<_> = found.iter().map(|one| (one.file, one.definition.at)).collect();
    let mut uses = resolver.references_to_all(found);
    uses.retain(|used| !defined.contains(&(used.file, used.occurrence.at)));
    uses
}

/// What to say where a name alone fits several definitions and only the first is answered about; `None` where it is
/// one, maybe with its declarations.
pub fn only_first(index: &Index, found: &[Found]) -> Option<String> {
    let is_real = |one: &&Found| {
        let outline = index.outline(one.file);
        let container = one.definition.container.and_then(|place| outline.definitions.get(place as usize));
        let is_promise = container.is_some_and(|one| matches!(one.kind, Kind::Interface | Kind::Trait));
        !one.definition.is_declaration || is_promise
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

/// The names of a line with their columns, else why there are none; of a name also the lines that have it.
fn near((text, facts): &(String, Facts), line: u32, name: Option<&str>) -> String {
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
    use crate::index::tests::workspace;

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
            assert_eq!(in_line(index, file, 4, Some("total")).unwrap().column, 43);
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
                assert_eq!(in_line(index, file, 1, Some(name)).unwrap_err().to_string(), expected);
            }
            let error = Resolver::new(index).asked("Order.java:2:1").unwrap_err();
            assert_eq!(
                explained(index, error).to_string(),
                "`Order.java` has no name at line 2, column 1; the line has `total` at 16"
            );
        });
    }

    #[test]
    fn names_that_fit_several_things_are_told_apart() {
        with_index(|index| {
            let resolver = Resolver::new(index);
            let found = |name: &str| resolver.definitions_named(name);
            let note = only_first(index, &found("total")).unwrap();
            assert!(
                note.starts_with(
                    "2 definitions are called `total`; this is about the one at Order.java:2:16"
                ),
                "{note}"
            );
            assert_eq!(only_first(index, &found("pay")), None);
            let places = uses(&resolver, &found("total"));
            let mut distinct = places.iter().map(|used| (used.file, used.occurrence.at)).collect::<Vec<_>>();
            distinct.sort();
            distinct.dedup();
            assert_eq!(places.len(), distinct.len());
            let is_promise =
                |used: &Use| index.path(used.file) == "Payable.java" && used.occurrence.at.line == 2;
            assert!(resolver.references(&found("Order.total")[0]).iter().any(is_promise));
            assert!(!places.iter().any(is_promise) && !places.is_empty());
            assert_eq!(others(index, "Order.label"), ["`Payable.label` (Payable.java:3)"]);
            assert!(others(index, "label").is_empty() && others(index, "Order.nothing").is_empty());
        });
    }
}
