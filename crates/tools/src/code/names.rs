//! `find_definition`, `find_references`, `codebase_search`.

use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_code_intel::Result;
use stepwell_code_intel::ask::{
    Ask, Certainty, Definitions, REFERENCE_DEADLINE, References, SearchHits, SearchRequest, ServerReply,
    SourceKind, Target,
};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::lsp::Question;

use super::answer::{SymbolQuestion, TextAnswer, note_lines, source_name, unresolved_text};
use super::below::Below;
use super::code_tool;
use super::service::{QueryVectors, SourceChoice};

const MOST_SHOWN: usize = 200;
/// Hits that are looked at where only those of a folder are wanted.
const MOST_SEARCHED: usize = 5_000;

code_tool!(
    FindDefinition,
    "find_definition",
    &["go_to_definition"],
    DefinitionInput => Definitions,
    definition,
    asking_servers
);
code_tool!(
    FindReferences,
    "find_references",
    &["find_usages"],
    ReferencesInput => References,
    references,
    asking_servers
);
code_tool!(
    CodebaseSearch,
    "codebase_search",
    &["semantic_search"],
    SearchInput => SearchHits,
    search,
    with_embeddings
);

/// Says where a name is defined, by scopes, imports and types, not by text. With a position it is right far more often than by the name alone.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct DefinitionInput {
    #[serde(flatten)]
    target: TargetInput,
    #[serde(default)]
    source: SourceChoice,
}

/// Lists where a definition is used, in all files; other things of the same name are left out.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ReferencesInput {
    #[serde(flatten)]
    target: TargetInput,
    #[serde(default)]
    source: SourceChoice,
}

/// The symbol a question is about.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct TargetInput {
    /// A name as it is written, or `Type.member`. Not needed with a position.
    #[schemars(extend("x-aliases" = ["name", "symbol_name", "function_name", "function"]))]
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
    /// Only what lies in this folder or file.
    #[schemars(extend("x-aliases" = ["dir", "directory", "folder", "directory_prefix"]))]
    path: Option<String>,
    /// 20 by default.
    #[schemars(extend("x-aliases" = ["max_results"]))]
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

impl SymbolQuestion for DefinitionInput {
    fn target(&self) -> Target {
        self.target.target()
    }

    fn question(&self) -> Question {
        Question::Definition
    }
}

impl ReferencesInput {
    fn subject(&self) -> (String, Vec<String>) {
        self.target.subject()
    }
}

impl SymbolQuestion for ReferencesInput {
    fn target(&self) -> Target {
        self.target.target()
    }

    fn question(&self) -> Question {
        Question::References
    }
}

impl SearchInput {
    fn subject(&self) -> (String, Vec<String>) {
        (format!("`{}`", self.query), self.path.iter().cloned().collect())
    }
}

impl TargetInput {
    pub fn subject(&self) -> (String, Vec<String>) {
        let name = self.symbol.clone().or_else(|| self.file.clone()).unwrap_or_default();
        (format!("`{name}`"), self.file.iter().cloned().collect())
    }

    /// Models also give `FILE:LINE` as a symbol.
    pub fn target(&self) -> Target {
        let parsed = self.symbol.as_deref().map(Target::parse).filter(Target::is_position);
        parsed.filter(|_| self.file.is_none()).unwrap_or_else(|| Target {
            symbol: self.symbol.clone(),
            file: self.file.clone(),
            line: self.line,
            column: self.column,
        })
    }
}

fn definition(
    index: &mut Index,
    input: &DefinitionInput,
    reply: Option<&ServerReply>,
) -> Result<TextAnswer<Definitions>> {
    let mut answer = Ask::new(index).with_server(reply).definition(&input.target())?;
    answer.definitions.truncate(MOST_SHOWN);
    let notes = note_lines(&answer.origin.notes);
    if let Some(unresolved) = answer.unresolved() {
        let text = unresolved_text(&input.subject().0, unresolved, &answer.origin.notes);
        return Ok(TextAnswer::new(answer, text));
    }
    let certainty = match answer.origin.source {
        SourceKind::Index => format!(", {}", answer.certainty.name()),
        SourceKind::Scip | SourceKind::Lsp => String::new(),
    };
    let mut text = format!("source: {}{certainty}\n{notes}", source_name(&answer.origin));
    for one in &answer.definitions {
        text.push_str(&format!("{}:{}: {}: {}\n", one.file, one.line, one.kind, one.text));
    }
    Ok(TextAnswer::new(answer, text))
}

fn references(
    index: &mut Index,
    input: &ReferencesInput,
    reply: Option<&ServerReply>,
) -> Result<TextAnswer<References>> {
    let ask = Ask::new(index).within(REFERENCE_DEADLINE).with_server(reply);
    let answer = ask.references(&input.target(), MOST_SHOWN)?;
    if let Some(unresolved) = answer.unresolved() {
        let text = unresolved_text(&input.subject().0, unresolved, &answer.origin.notes);
        return Ok(TextAnswer::new(answer, text));
    }
    let (source, notes) = (source_name(&answer.origin), note_lines(&answer.origin.notes));
    let mut text = format!("{} references, source: {source}\n{notes}", answer.total);
    for one in &answer.references {
        let mark = if one.certainty == Certainty::ByName { "  (by name)" } else { "" };
        text.push_str(&format!("{}:{}: {}{mark}\n", one.file, one.line, one.text));
    }
    if answer.total > answer.references.len() {
        text.push_str(&format!("(the first {MOST_SHOWN})\n"));
    }
    Ok(TextAnswer::new(answer, text))
}

fn search(
    index: &mut Index,
    input: &SearchInput,
    vectors: Option<&QueryVectors>,
) -> Result<TextAnswer<SearchHits>> {
    let limit = input.limit.unwrap_or(20).clamp(1, MOST_SHOWN);
    let below = input.path.as_deref().map(|path| Below::named(index, path)).transpose()?;
    let vector = vectors.and_then(|vectors| vectors.vector.as_ref());
    let request = SearchRequest {
        words: &input.query,
        vector: vector.map(|(embeddings, vector)| (embeddings.as_ref(), vector)),
        open_files: &input.near,
        limit: if below.is_some() { MOST_SEARCHED } else { limit },
    };
    let mut answer = Ask::new(index).search(&request)?;
    if let Some(below) = &below {
        answer.hits.retain(|hit| below.has(&hit.file));
        answer.hits.truncate(limit);
    }
    answer.notes.extend(vectors.and_then(|vectors| vectors.note.clone()));
    let mut text = note_lines(&answer.notes);
    if answer.hits.is_empty() {
        let nothing =
            format!("Nothing is about `{}`. Try other words, or `grep` for exact text.", input.query);
        let text = if text.is_empty() { nothing } else { format!("{nothing}\n{text}") };
        return Ok(TextAnswer::new(answer, text));
    }
    for hit in &answer.hits {
        let doc = hit.doc.as_deref().map(|doc| format!("\n    {doc}")).unwrap_or_default();
        let lines = format!("{}-{}", hit.line, hit.last_line);
        text.push_str(&format!("{}:{lines}: {}: {}{doc}\n", hit.file, hit.path, hit.signature));
    }
    if !answer.complete {
        text.push_str("(the workspace is large: there was no time for all of it)\n");
    }
    Ok(TextAnswer::new(answer, text))
}
