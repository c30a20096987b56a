//! `find_definition`, `find_references`, `codebase_search`.

use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_code_intel::answer::{self, Answer, Asked, Consulted};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::lsp::{Question, Reply};
use stepwell_code_intel::resolve::{Meaning, PATIENCE, Resolver};
use stepwell_code_intel::scip;
use stepwell_code_intel::search::{self, Near};
use stepwell_code_intel::{Error, Result};

use super::code_tool;
use super::desk::{ForServers, FromServer, Prepared, Source, Told};

const MOST_SHOWN: usize = 200;

code_tool!(
    FindDefinition,
    "find_definition",
    &["go_to_definition"],
    DefinitionInput,
    definition,
    asking_servers
);
code_tool!(FindReferences, "find_references", &["find_usages"], ReferencesInput, references, asking_servers);
code_tool!(CodebaseSearch, "codebase_search", &["semantic_search"], SearchInput, found, with_embeddings);

/// Says where a name is defined, by scopes, imports and types, not by text. With a position it is right far more often than by the name alone.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DefinitionInput {
    #[serde(flatten)]
    target: Target,
    #[serde(default)]
    source: Source,
}

/// Lists where a definition is used, in all files; other things of the same name are left out.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReferencesInput {
    #[serde(flatten)]
    target: Target,
    #[serde(default)]
    source: Source,
}

/// What is asked about.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
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

impl ForServers for DefinitionInput {
    fn question(&self) -> Question {
        Question::Definition
    }
}

impl ReferencesInput {
    fn subject(&self) -> (String, Vec<String>) {
        self.target.subject()
    }
}

impl ForServers for ReferencesInput {
    fn question(&self) -> Question {
        Question::References
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
        resolver.target_at(file, line, self.column(index, path, line))
    }

    /// The column that is meant: where the name stands, unless one is given.
    fn column(&self, index: &Index, path: &str, line: u32) -> u32 {
        let symbol = self.symbol.as_deref().unwrap_or_default();
        self.column.unwrap_or_else(|| {
            let text = answer::line(index, path, line);
            let last = symbol.rsplit(['.', ':']).next().unwrap_or(symbol);
            text.find(last).map_or(1, |at| text[..at].chars().count() as u32 + 1)
        })
    }

    pub fn asked(&self, index: &Index) -> Asked {
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
pub fn noted(note: Option<&str>) -> String {
    note.map(|note| format!("note: {note}\n")).unwrap_or_default()
}

/// What the places come from and what must be known about them, as a model reads it.
pub fn heading(answer: &Answer) -> String {
    let server = answer.source.server().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("source: {}{server}\n{}", answer.source.name(), noted(answer.note.as_deref()))
}

/// Who knows more than the index: a language server that was asked for, else an `index.scip`. The lines say who could
/// not answer, and why.
fn consulted(said: FromServer, scip: impl FnOnce() -> Consulted) -> (Option<Answer>, String) {
    let mut notes = String::new();
    match said {
        Some(Ok(Reply::Places(answer))) => return (Some(answer), notes),
        Some(Err(why)) => notes = noted(Some(&why)),
        // A question about calls is answered elsewhere.
        Some(Ok(Reply::Calls { .. })) | None => {}
    }
    match scip() {
        Consulted::Absent => (None, notes),
        Consulted::Declined(why) => (None, notes + &noted(Some(&why))),
        Consulted::Answered(answer) => (Some(answer), notes),
    }
}

fn definition(index: &mut Index, input: &DefinitionInput, said: FromServer) -> Result<Told> {
    let (answer, notes) = consulted(said, || scip::definitions(index, &input.target.asked(index)));
    if let Some(answer) = answer {
        let mut text = heading(&answer) + &notes;
        for place in answer.places.iter().take(MOST_SHOWN) {
            let kind = place.found.as_ref().map_or("definition", |found| found.definition.kind.name());
            let line = answer::source_line(index, &place.path, place.at.line);
            text.push_str(&format!("{}:{}: {kind}: {line}\n", place.path, place.at.line));
        }
        return Ok(Told::new(text));
    }
    let resolver = Resolver::new(index);
    let meaning = input.target.meaning(index, &resolver)?;
    let Meaning::Found(found, certainty) = &meaning else {
        return Ok(nothing(&input.target, &meaning).noted(&notes));
    };
    let mut text = format!("source: index, {}\n{notes}", certainty.name());
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

fn references(index: &mut Index, input: &ReferencesInput, said: FromServer) -> Result<Told> {
    let (answer, notes) = consulted(said, || scip::references(index, &input.target.asked(index)));
    if let Some(answer) = answer {
        let count = answer.places.len();
        let mut text = format!("{count} references, {}{notes}", heading(&answer));
        for place in answer.places.iter().take(MOST_SHOWN) {
            let line = answer::source_line(index, &place.path, place.at.line);
            text.push_str(&format!("{}:{}: {line}\n", place.path, place.at.line));
        }
        if count > MOST_SHOWN {
            text.push_str(&format!("(the first {MOST_SHOWN})\n"));
        }
        return Ok(Told::new(text));
    }
    let resolver = Resolver::within(index, PATIENCE);
    let meaning = input.target.meaning(index, &resolver)?;
    let Meaning::Found(found, _) = &meaning else {
        return Ok(nothing(&input.target, &meaning).noted(&notes));
    };
    let uses: Vec<_> = found.iter().flat_map(|one| resolver.references(one)).collect();
    let note = noted(resolver.note().as_deref());
    let mut text = format!("{} references, source: index\n{notes}{note}", uses.len());
    for used in uses.iter().take(MOST_SHOWN) {
        let line = used.occurrence.at.line;
        text.push_str(&format!("{}:{line}: {}\n", index.path(used.file), index.source_line(used.file, line)));
    }
    if uses.len() > MOST_SHOWN {
        text.push_str(&format!("(the first {MOST_SHOWN})\n"));
    }
    Ok(Told::new(text))
}

fn found(index: &mut Index, input: &SearchInput, prepared: Option<&Prepared>) -> Result<Told> {
    if !input.query.contains(char::is_alphanumeric) {
        return Err(Error::NoWords { question: input.query.clone() });
    }
    let near = prepared.and_then(|prepared| prepared.found.as_ref());
    let near = near.map(|(embeddings, sought)| Near { embeddings, sought });
    let note = noted(prepared.and_then(|prepared| prepared.note.as_deref()));
    let limit = input.limit.unwrap_or(20).clamp(1, MOST_SHOWN);
    let hits = search::search_near(index, &input.query, near, limit);
    if hits.hits.is_empty() {
        let nothing =
            format!("Nothing is about `{}`. Try other words, or `grep` for exact text.", input.query);
        return Ok(Told::new(nothing).noted(&note));
    }
    let mut text = note;
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
