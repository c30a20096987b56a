//! `find_definition`, `find_references`, `codebase_search`.

use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_code_intel::answer::{self, Answer, Asked, Consulted};
use stepwell_code_intel::index::{FileId, Index};
use stepwell_code_intel::lsp::{Question, Reply};
use stepwell_code_intel::resolve::{Certainty, Meaning, PATIENCE, Resolver};
use stepwell_code_intel::scip;
use stepwell_code_intel::search::{self, Near};
use stepwell_code_intel::{Error, Result, whereabouts};

use super::code_tool;
use super::service::{ForServers, FromServer, Prepared, Source, Told};

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
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct DefinitionInput {
    #[serde(flatten)]
    target: Target,
    #[serde(default)]
    source: Source,
}

/// Lists where a definition is used, in all files; other things of the same name are left out.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SearchInput {
    query: String,
    /// 20 by default.
    limit: Option<usize>,
    /// Files at hand: what is near them comes first.
    #[serde(default)]
    near: Vec<String>,
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

    /// The name as it is asked about; models also write `name()`.
    fn name(&self) -> Option<&str> {
        let name = self.symbol.as_deref()?.trim();
        Some(name.strip_suffix("()").unwrap_or(name)).filter(|name| !name.is_empty())
    }

    /// The name as it stands in a text: the last part of `Type.member`.
    fn last_name(&self) -> Option<&str> {
        answer::name_parts(self.name()?).last().filter(|name| !name.is_empty())
    }

    /// What the name means; a file without a line narrows a name down to what that file defines or uses.
    pub fn meaning(&self, index: &Index, resolver: &Resolver<'_>) -> Result<Meaning> {
        let file = self.file.as_deref().map(|path| index.named(path)).transpose()?;
        match (self.name(), file, self.line) {
            (Some(name), None, _) => resolver.asked(name),
            (Some(name), Some(file), None) => self.meaning_in(index, resolver, name, file),
            (_, Some(file), Some(line)) => {
                let in_line =
                    || whereabouts::in_line(index, file, line, self.last_name()).map(|at| at.column);
                let column = self.column.map_or_else(in_line, Ok)?;
                let meaning = resolver.target_at(file, line, column);
                meaning.map_err(|error| whereabouts::explained(index, error))
            }
            (None, ..) => Err(Error::NotThere {
                what: "it is not said what is asked about".to_owned(),
                near: "give a `symbol`, or a `file` with a `line` and a `column`".to_owned(),
            }),
        }
    }

    fn meaning_in(
        &self,
        index: &Index,
        resolver: &Resolver<'_>,
        name: &str,
        file: FileId,
    ) -> Result<Meaning> {
        let meaning = resolver.asked(name)?;
        if let Meaning::Found(found, certainty) = &meaning {
            let own: Vec<_> = found.iter().filter(|one| one.file == file).cloned().collect();
            if !own.is_empty() {
                return Ok(Meaning::Found(own, *certainty));
            }
        }
        let standing = self.last_name().and_then(|last| whereabouts::in_file(index, file, last));
        match standing {
            // Of `Type.member` the file may use several, and the name says which is meant.
            Some(_) if !meaning.found().is_empty() && self.last_name() != Some(name) => Ok(meaning),
            Some(at) => resolver.definition_at(file, at.line, at.column),
            None => Err(Error::NotThere {
                what: format!("`{}` does not have the name `{name}`", index.path(file)),
                near: "leave the file out, or give the one where the name stands".to_owned(),
            }),
        }
    }

    /// The place that a language server or an `index.scip` is asked about.
    pub fn asked(&self, index: &Index) -> Asked {
        let name = self.name().unwrap_or_default();
        let Some(path) = &self.file else { return Asked::parse(name) };
        let file = index.named(path).ok();
        let last = self.last_name();
        let at = if let Some(line) = self.line {
            let found = file.and_then(|file| whereabouts::in_line(index, file, line, last).ok());
            // Of some languages the index knows no uses.
            let in_text = || {
                let text = answer::line(index, path, line);
                text.find(last?).map(|at| text[..at].chars().count() as u32 + 1)
            };
            let column = self.column.or_else(|| found.map(|at| at.column)).or_else(in_text);
            Some((line, column.unwrap_or(1)))
        } else {
            let is_used = |file: &FileId| last.is_some_and(|last| !index.defining(last).contains(file));
            let found = file.filter(is_used).zip(last);
            let found = found.and_then(|(file, last)| whereabouts::in_file(index, file, last));
            found.map(|at| (at.line, at.column))
        };
        match at {
            Some((line, column)) => Asked::At { path: path.clone(), line, column },
            None => Asked::Named { name: name.to_owned(), path: Some(path.clone()) },
        }
    }
}

/// What to say where nothing is found.
pub fn nothing(index: &Index, target: &Target, meaning: &Meaning) -> Told {
    let name = target.subject().0;
    let others = whereabouts::others(index, target.name().unwrap_or_default());
    Told::new(match meaning {
        Meaning::External => format!("{name} is external: it is defined outside of the workspace."),
        Meaning::Found(..) | Meaning::Unknown if !others.is_empty() => {
            format!("{name} is not defined in the workspace, but there is {}.", others.join(", "))
        }
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
        return Ok(nothing(index, &input.target, &meaning).noted(&notes));
    };
    let mut text = format!("source: index, {}\n{notes}", certainty.name());
    for one in found.iter().take(MOST_SHOWN) {
        let line = one.definition.at.line;
        let kind = one.definition.kind.name();
        text.push_str(&format!(
            "{}:{line}: {kind}: {}\n",
            index.path(one.file),
            answer::definition_line(index, one)
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
        return Ok(nothing(index, &input.target, &meaning).noted(&notes));
    };
    let uses = whereabouts::uses(&resolver, found);
    let note = noted(resolver.note().as_deref());
    let mut text = format!("{} references, source: index\n{notes}{note}", uses.len());
    for used in uses.iter().take(MOST_SHOWN) {
        let line = used.occurrence.at.line;
        let mark = if used.certainty == Certainty::ByName { "  (by name)" } else { "" };
        let code = index.source_line(used.file, line);
        text.push_str(&format!("{}:{line}: {code}{mark}\n", index.path(used.file)));
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
    let in_hand = input.near.iter().map(|path| index.named(path)).collect::<Result<Vec<_>>>()?;
    let asked = search::Question { words: &input.query, near, in_hand: &in_hand, limit };
    let hits = search::search(index, &asked);
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
        text.push_str("(the workspace is large: there was no time for all of it)\n");
    }
    Ok(Told::new(text))
}
