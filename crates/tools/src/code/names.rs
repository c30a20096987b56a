//! `find_definition`, `find_references`, `codebase_search`.

use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_code_intel::index::Index;
use stepwell_code_intel::resolve::{Meaning, Resolver};
use stepwell_code_intel::scip::{self, Asked, Consulted};
use stepwell_code_intel::search;
use stepwell_code_intel::{Error, Result};

use super::code_tool;
use super::desk::Told;

const MOST_SHOWN: usize = 200;

code_tool!(FindDefinition, "find_definition", &["go_to_definition"], DefinitionInput, definition);
code_tool!(FindReferences, "find_references", &["find_usages"], ReferencesInput, references);
code_tool!(CodebaseSearch, "codebase_search", &["semantic_search"], SearchInput, found);

/// Says where a name is defined, by scopes, imports and types, not by text. With a position it is right far more often than by the name alone.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DefinitionInput {
    #[serde(flatten)]
    target: Target,
}

/// Lists where a definition is used, in all files; other things of the same name are left out.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReferencesInput {
    #[serde(flatten)]
    target: Target,
}

/// What is asked about.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Target {
    /// A name as it is written, or `Type.member`. Not needed with a position.
    #[schemars(extend("x-aliases" = ["name"]))]
    symbol: Option<String>,
    /// The file in which the name stands.
    #[schemars(extend("x-aliases" = ["file_path", "path"]))]
    file: Option<String>,
    /// From 1.
    line: Option<u32>,
    /// From 1, in characters; by default where `symbol` stands in the line.
    column: Option<u32>,
}

/// Finds functions, types and constants by what they are about, in words of English or Chinese; the best first.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchInput {
    query: String,
    /// 20 by default.
    limit: Option<usize>,
}

impl DefinitionInput {
    fn subject(&self) -> (String, Vec<String>) {
        self.target.subject()
    }
}

impl ReferencesInput {
    fn subject(&self) -> (String, Vec<String>) {
        self.target.subject()
    }
}

impl SearchInput {
    fn subject(&self) -> (String, Vec<String>) {
        (format!("`{}`", self.query), Vec::new())
    }
}

impl Target {
    pub fn subject(&self) -> (String, Vec<String>) {
        let name = self.symbol.clone().or_else(|| self.file.clone()).unwrap_or_default();
        (format!("`{name}`"), self.file.iter().cloned().collect())
    }

    /// What the name means; a file without a line narrows a name down to what that file defines.
    pub fn meaning(&self, index: &Index, resolver: &Resolver<'_>) -> Result<Meaning> {
        let symbol = self.symbol.as_deref().unwrap_or_default();
        let Some(path) = &self.file else { return resolver.asked(symbol) };
        let file = index.named(path)?;
        let Some(line) = self.line else {
            let meaning = resolver.asked(symbol)?;
            let Meaning::Found(mut found, certainty) = meaning else { return Ok(meaning) };
            found.retain(|one| one.file == file);
            return Ok(if found.is_empty() { Meaning::Unknown } else { Meaning::Found(found, certainty) });
        };
        resolver.definition_at(file, line, self.column(index, path, line))
    }

    /// The column that is meant: where the name stands, unless one is given.
    fn column(&self, index: &Index, path: &str, line: u32) -> u32 {
        let symbol = self.symbol.as_deref().unwrap_or_default();
        self.column.unwrap_or_else(|| {
            let text = scip::line(index, path, line);
            let last = symbol.rsplit(['.', ':']).next().unwrap_or(symbol);
            text.find(last).map_or(1, |at| text[..at].chars().count() as u32 + 1)
        })
    }

    fn asked(&self, index: &Index) -> Asked {
        let symbol = self.symbol.as_deref().unwrap_or_default();
        match (&self.file, self.line) {
            (Some(path), Some(line)) => {
                Asked::At { path: path.clone(), line, column: self.column(index, path, line) }
            }
            (Some(path), None) => Asked::Named { name: symbol.to_owned(), path: Some(path.clone()) },
            (None, _) => Asked::parse(symbol),
        }
    }
}

/// What to say where nothing is found.
pub fn nothing(target: &Target, meaning: &Meaning) -> Told {
    let name = target.subject().0;
    Told::new(match meaning {
        Meaning::External => format!("{name} is external: it is defined outside of the workspace."),
        Meaning::Found(..) | Meaning::Unknown => format!(
            "{name} is not defined in the workspace as far as the index can tell. Give the file and line where it is used, or search with `grep`."
        ),
    })
}

/// A line that says what an answer is not made of, and why.
fn noted(note: Option<&str>) -> String {
    note.map(|note| format!("note: {note}\n")).unwrap_or_default()
}

fn definition(index: &mut Index, input: &DefinitionInput) -> Result<Told> {
    let declined = match scip::definitions(index, &input.target.asked(index)) {
        Consulted::Absent => None,
        Consulted::Declined(why) => Some(why),
        Consulted::Answered(answer) => {
            let mut text = format!("source: scip\n{}", noted(answer.note.as_deref()));
            for place in answer.places.iter().take(MOST_SHOWN) {
                let kind = place.found.as_ref().map_or("definition", |found| found.definition.kind.name());
                let line = scip::source_line(index, &place.path, place.at.line);
                text.push_str(&format!("{}:{}: {kind}: {line}\n", place.path, place.at.line));
            }
            return Ok(Told::new(text));
        }
    };
    let resolver = Resolver::new(index);
    let meaning = input.target.meaning(index, &resolver)?;
    let Meaning::Found(found, certainty) = &meaning else {
        return Ok(nothing(&input.target, &meaning).noted(&noted(declined.as_deref())));
    };
    let mut text = format!("source: index, {}\n{}", certainty.name(), noted(declined.as_deref()));
    for one in found.iter().take(MOST_SHOWN) {
        let line = one.definition.at.line;
        let kind = one.definition.kind.name();
        text.push_str(&format!(
            "{}:{line}: {kind}: {}\n",
            index.path(one.file),
            index.source_line(one.file, line)
        ));
    }
    Ok(Told::new(text))
}

fn references(index: &mut Index, input: &ReferencesInput) -> Result<Told> {
    let declined = match scip::references(index, &input.target.asked(index)) {
        Consulted::Absent => None,
        Consulted::Declined(why) => Some(why),
        Consulted::Answered(answer) => {
            let count = answer.places.len();
            let mut text = format!("{count} references, source: scip\n{}", noted(answer.note.as_deref()));
            for place in answer.places.iter().take(MOST_SHOWN) {
                let line = scip::source_line(index, &place.path, place.at.line);
                text.push_str(&format!("{}:{}: {line}\n", place.path, place.at.line));
            }
            if count > MOST_SHOWN {
                text.push_str(&format!("(the first {MOST_SHOWN})\n"));
            }
            return Ok(Told::new(text));
        }
    };
    let resolver = Resolver::new(index);
    let meaning = input.target.meaning(index, &resolver)?;
    let Meaning::Found(found, _) = &meaning else {
        return Ok(nothing(&input.target, &meaning).noted(&noted(declined.as_deref())));
    };
    let uses: Vec<_> = found.iter().flat_map(|one| resolver.references(one)).collect();
    let mut text = format!("{} references, source: index\n{}", uses.len(), noted(declined.as_deref()));
    for used in uses.iter().take(MOST_SHOWN) {
        let line = used.occurrence.at.line;
        text.push_str(&format!("{}:{line}: {}\n", index.path(used.file), index.source_line(used.file, line)));
    }
    if uses.len() > MOST_SHOWN {
        text.push_str(&format!("(the first {MOST_SHOWN})\n"));
    }
    Ok(Told::new(text))
}

fn found(index: &mut Index, input: &SearchInput) -> Result<Told> {
    if !input.query.contains(char::is_alphanumeric) {
        return Err(Error::NoWords { question: input.query.clone() });
    }
    let hits = search::search(index, &input.query, input.limit.unwrap_or(20).clamp(1, MOST_SHOWN));
    if hits.hits.is_empty() {
        return Ok(Told::new(format!(
            "Nothing is about `{}`. Try other words, or `grep` for exact text.",
            input.query
        )));
    }
    let mut text = String::new();
    for hit in &hits.hits {
        let (definition, file) = (&hit.found.definition, index.path(hit.found.file));
        let doc = hit.doc.as_deref().map(|doc| format!("\n    {doc}")).unwrap_or_default();
        let lines = format!("{}-{}", definition.at.line, definition.last_line);
        text.push_str(&format!("{file}:{lines}: {}: {}{doc}\n", hit.path, hit.signature));
    }
    if hits.is_cut {
        text.push_str("(the workspace is large: not all of it was searched)\n");
    }
    Ok(Told::new(text))
}
