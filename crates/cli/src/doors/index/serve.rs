//! `stepwell index serve --jsonl`: one question per line, one answer per line, in order. The files are watched, so no
//! answer is older than they are.

use std::collections::HashSet;
use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use stepwell_code_intel::Result;
use stepwell_code_intel::ask::{Ask, Origin, REFERENCE_DEADLINE, SourceKind, SymbolFilter, Target};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::languages::Language;
use stepwell_code_intel::lsp::Question;
use stepwell_code_intel::resolve::Direction;

use super::servers::RunningServers;
use crate::assemble::Assembly;
use crate::exit::Exit;
use crate::terminal::out_line;

/// Callers that a language server is asked for at most.
const MOST_CALLERS: usize = 2000;

/// One line of input.
#[derive(Clone, Debug, Deserialize)]
struct Request {
    #[serde(default)]
    id: Value,
    op: String,
    #[serde(default)]
    symbol: String,
    file: Option<String>,
    #[serde(default)]
    line: u32,
    #[serde(default)]
    col: u32,
    #[serde(default)]
    kinds: Vec<String>,
    #[serde(default)]
    source: SourceChoice,
}

impl Request {
    fn target(&self) -> Target {
        Target {
            symbol: Some(self.symbol.clone()),
            file: self.file.clone(),
            line: Some(self.line).filter(|line| *line > 0),
            column: Some(self.col).filter(|column| *column > 0),
        }
    }

    /// What a language server is asked for this request; `None` where it is not about a symbol.
    fn question(&self) -> Option<Question> {
        match self.op.as_str() {
            "find_definition" => Some(Question::Definition),
            "find_references" => Some(Question::References),
            "callers" => {
                Some(Question::Calls { direction: Direction::Callers, depth: 1, most: MOST_CALLERS })
            }
            _ => None,
        }
    }
}

/// Who is to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SourceChoice {
    #[default]
    Index,
    /// A language server, and the index where it cannot.
    Lsp,
}

/// The language and the folder that are meant: one word may be either.
pub fn meant<'w>(
    language: Option<&'w str>,
    root: Option<&'w Path>,
) -> anyhow::Result<(Option<Language>, Option<&'w Path>)> {
    match (language.map(|word| (word, known_language(word))), root) {
        (None, root) => Ok((None, root)),
        (Some((_, Ok(language))), root) => Ok((Some(language), root)),
        (Some((word, Err(_))), None) if Path::new(word).is_dir() => Ok((None, Some(Path::new(word)))),
        (Some((_, Err(error))), _) => Err(error),
    }
}

pub fn serve(assembly: &Assembly, index: &mut Index, language: Option<Language>) -> anyhow::Result<Exit> {
    index.watch();
    let mut servers: Option<RunningServers> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = match serde_json::from_str::<Request>(&line) {
            Ok(request) => {
                let wants_server = request.source == SourceChoice::Lsp;
                if wants_server && servers.is_none() {
                    servers = Some(RunningServers::new(assembly, index)?);
                }
                let servers = servers.as_ref().filter(|_| wants_server);
                let asked = index.ask(&|| false, |index| answer(index, servers, &request, language));
                let mut answer = asked.flatten().unwrap_or_else(|error| json!({"error": error.to_string()}));
                if let Some(object) = answer.as_object_mut() {
                    object.insert("id".to_owned(), request.id);
                }
                answer
            }
            Err(error) => json!({"id": null, "error": format!("this is no question: {error}")}),
        };
        out_line(&answer.to_string());
    }
    if let Some(servers) = servers {
        servers.close();
    }
    Ok(Exit::Done)
}

fn answer(
    index: &Index,
    servers: Option<&RunningServers>,
    request: &Request,
    language: Option<Language>,
) -> Result<Value> {
    let target = request.target();
    let reply = servers.zip(request.question()).map(|(servers, asked)| servers.ask(index, &target, asked));
    let ask = Ask::new(index).within(REFERENCE_DEADLINE).in_language(language).including_definitions();
    let ask = ask.with_server(reply.as_ref());
    let file = request.file.as_deref().unwrap_or_default();
    match request.op.as_str() {
        "symbols" => {
            let listed = ask.symbols(file, SymbolFilter::AsLanguageServer(&request.kinds))?.symbols;
            let listed =
                listed.iter().map(|one| json!({"name": one.name, "line": one.line, "kind": one.kind}));
            Ok(json!({"symbols": listed.collect::<Vec<_>>()}))
        }
        "imports" => Ok(json!(ask.imports(file)?)),
        "dependencies" => Ok(json!(ask.dependencies(file)?)),
        "find_definition" => {
            let answer = ask.definition(&target)?;
            Ok(locations(&answer.origin, answer.definitions.iter().map(|one| (&one.file, one.line))))
        }
        "find_references" => {
            let answer = ask.references(&target, usize::MAX)?;
            Ok(locations(&answer.origin, answer.references.iter().map(|one| (&one.file, one.line))))
        }
        "callers" => {
            let answer = ask.callers(&target)?;
            Ok(locations(&answer.origin, answer.callers.iter().map(|one| (&one.file, one.line))))
        }
        other => {
            let known = "find_definition, find_references, callers, symbols, imports and dependencies";
            Ok(json!({"error": format!("there is no question `{other}`; there are {known}")}))
        }
    }
}

/// An answer of the protocol: each line of a file once.
fn locations<'a>(origin: &Origin, lines: impl Iterator<Item = (&'a String, u32)>) -> Value {
    let mut seen = HashSet::new();
    let lines = lines.filter(|line| seen.insert(*line));
    let lines: Vec<Value> = lines.map(|(file, line)| json!({"file": file, "line": line})).collect();
    let mut answer = json!({"locations": lines});
    if origin.source != SourceKind::Index {
        answer["source"] = json!(origin.source);
    }
    if let Some(note) = origin.note() {
        answer["note"] = Value::String(note);
    }
    answer
}

fn known_language(name: &str) -> anyhow::Result<Language> {
    let wanted = name.to_lowercase().replace("cpp", "c++").replace("csharp", "c#");
    Language::all().find(|language| language.name().to_lowercase() == wanted).ok_or_else(|| {
        let known: Vec<&str> = Language::all().map(Language::name).collect();
        crate::report::usage(
            format!("there is no language `{name}`"),
            format!("those that can be read are {}", known.join(", ")),
        )
    })
}
