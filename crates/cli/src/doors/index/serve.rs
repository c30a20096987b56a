//! `stepwell index serve --jsonl`: one question a line, one answer a line, in order. No answer is older than the
//! files: they are watched, and those that it is made of are looked at again.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::io::BufRead;
use std::path::Path;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::{Value, json};
use stepwell_code_intel::Result;
use stepwell_code_intel::answer::{Answer, Asked};
use stepwell_code_intel::facts::{Definition, Kind, Span, items_in_macros};
use stepwell_code_intel::graph::NamedGraph;
use stepwell_code_intel::index::{FileId, Index};
use stepwell_code_intel::languages::Language;
use stepwell_code_intel::lsp::{Question as Inquired, Reply};
use stepwell_code_intel::resolve::{Direction, Found, PATIENCE, Resolver};
use stepwell_code_intel::whereabouts;

use super::servers::{self, Standing};
use crate::assemble::Assembly;
use crate::exit::Exit;
use crate::terminal::out_line;

/// A question.
#[derive(Clone, Debug, Deserialize)]
struct Question {
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
    source: Source,
}

impl Question {
    /// The same with a whole place: without `col` it is where `symbol` stands in the line, without `line` where it
    /// first stands in the file.
    fn completed(&self, index: &Index) -> Result<Cow<'_, Self>> {
        let is_about_a_name = matches!(self.op.as_str(), "find_definition" | "find_references" | "callers");
        let Some(path) = self.file.as_deref().filter(|_| is_about_a_name && self.col == 0) else {
            return Ok(Cow::Borrowed(self));
        };
        let (file, name) = (index.named(path)?, self.symbol.rsplit(['.', ':']).next().unwrap_or_default());
        let name = Some(name).filter(|name| !name.is_empty());
        let first = name.filter(|_| self.line == 0).and_then(|name| whereabouts::in_file(index, file, name));
        let at = first.map_or_else(|| whereabouts::in_line(index, file, self.line, name), Ok)?;
        Ok(Cow::Owned(Self { line: at.line, col: at.column, ..self.clone() }))
    }
}

/// Who is to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Source {
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
    let mut standing: Option<Standing> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = match serde_json::from_str::<Question>(&line) {
            Ok(question) => {
                if question.source == Source::Lsp && standing.is_none() {
                    standing = Some(Standing::new(assembly, index)?);
                }
                let standing = standing.as_ref().filter(|_| question.source == Source::Lsp);
                let asked = index.ask(&|| false, |index| {
                    let answered = question
                        .completed(index)
                        .and_then(|question| answer(index, standing, &question, language));
                    answered.map_err(|error| whereabouts::explained(index, error))
                });
                let mut answer = asked.flatten().unwrap_or_else(|error| json!({"error": error.to_string()}));
                if let Some(object) = answer.as_object_mut() {
                    object.insert("id".to_owned(), question.id);
                }
                answer
            }
            Err(error) => json!({"id": null, "error": format!("this is no question: {error}")}),
        };
        out_line(&answer.to_string());
    }
    if let Some(standing) = standing {
        standing.close();
    }
    Ok(Exit::Done)
}

fn answer(
    index: &Index,
    standing: Option<&Standing>,
    question: &Question,
    language: Option<Language>,
) -> Result<Value> {
    let file =
        |index: &Index| -> Result<FileId> { index.named(question.file.as_deref().unwrap_or_default()) };
    match question.op.as_str() {
        "symbols" => Ok(json!({"symbols": symbols(index, file(index)?, &question.kinds)})),
        "imports" => {
            let outline = index.outline(file(index)?);
            let imports = outline.imports.iter().filter(|import| !import.module.is_empty());
            let imports = imports.map(|import| json!({"module": import.module, "line": import.line}));
            Ok(json!({"imports": imports.collect::<Vec<_>>()}))
        }
        "dependencies" => {
            let resolver = Resolver::new(index);
            let files = resolver.dependencies(file(index)?);
            Ok(json!({"files": files.iter().map(|file| index.path(*file)).collect::<Vec<_>>()}))
        }
        "find_definition" => {
            let note = match servers::consulted(index, standing, &asked(question), Inquired::Definition) {
                Ok(answer) => return Ok(of_places(&answer, language)),
                Err(note) => note,
            };
            let resolver = Resolver::new(index);
            let found = match &question.file {
                Some(_) => {
                    resolver.definition_at(file(index)?, question.line, question.col)?.found().to_vec()
                }
                None => named(index, &resolver, question, language),
            };
            let places = found.iter().map(|found| (found.file, found.definition.at.line));
            Ok(noted(json!({"locations": locations(index, places)}), note))
        }
        "find_references" => {
            let note = match servers::consulted(index, standing, &asked(question), Inquired::References) {
                Ok(answer) => return Ok(of_places(&answer, language)),
                Err(note) => note,
            };
            let resolver = Resolver::within(index, PATIENCE);
            let uses = resolver.references_to_all(&targets(index, &resolver, question, language)?);
            let places = uses.iter().map(|used| (used.file, used.occurrence.at.line));
            Ok(noted(json!({"locations": locations(index, places)}), joined(note, resolver.note())))
        }
        "callers" => {
            const MOST: usize = 2000;
            let inquired = Inquired::Calls { direction: Direction::Callers, depth: 1, most: MOST };
            let said = standing.map(|standing| standing.ask(index, &asked(question), inquired));
            let note = match said {
                Some(Ok(Reply::Calls { graph, note, .. })) => return Ok(of_callers(&graph, note)),
                said => said.and_then(std::result::Result::err),
            };
            let resolver = Resolver::within(index, PATIENCE);
            let callers: Vec<_> = targets(index, &resolver, question, language)?
                .iter()
                .flat_map(|target| resolver.callers(target))
                .collect();
            let places = callers.iter().map(|(caller, _)| (caller.file, caller.definition.at.line));
            Ok(noted(json!({"locations": locations(index, places)}), joined(note, resolver.note())))
        }
        other => {
            let known = "find_definition, find_references, callers, symbols, imports and dependencies";
            Ok(json!({"error": format!("there is no question `{other}`; there are {known}")}))
        }
    }
}

/// Who calls what a graph of one step begins with; also that itself, where it does.
fn of_callers(graph: &NamedGraph, note: Option<String>) -> Value {
    let callers: BTreeSet<usize> = graph.edges.iter().map(|(caller, _)| *caller).collect();
    let mut callers: Vec<_> = callers.into_iter().filter_map(|caller| graph.nodes.get(caller)).collect();
    callers.sort_by_key(|node| (&node.file, node.line));
    let callers = callers.into_iter().map(|node| json!({"file": node.file, "line": node.line}));
    noted(json!({"source": "lsp", "locations": callers.collect::<Vec<_>>()}), note)
}

fn asked(question: &Question) -> Asked {
    match &question.file {
        Some(path) => Asked::At { path: path.clone(), line: question.line, column: question.col },
        None => Asked::Named { name: question.symbol.clone(), path: None },
    }
}

/// The places of an answer in files of the language, each line once.
fn of_places(answer: &Answer, language: Option<Language>) -> Value {
    let mut seen = HashSet::new();
    let is_wanted = |path: &str| {
        let own = Language::detect(std::path::Path::new(path), "");
        language.is_none_or(|language| own.is_some_and(|own| own == language || is_near(own, language)))
    };
    let places = answer.places.iter().filter(|place| is_wanted(&place.path));
    let places = places.filter(|place| seen.insert((&place.path, place.at.line)));
    let places: Vec<Value> = places.map(|place| json!({"file": place.path, "line": place.at.line})).collect();
    noted(json!({"source": answer.source.name(), "locations": places}), answer.note.clone())
}

/// Both of two notes.
fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    let notes: Vec<String> = one.into_iter().chain(other).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// An answer that says what it is not made of.
fn noted(mut answer: Value, note: Option<String>) -> Value {
    if let (Some(object), Some(note)) = (answer.as_object_mut(), note) {
        object.insert("note".to_owned(), Value::String(note));
    }
    answer
}

/// What a file defines: all of it, or of some kinds what language servers list as such.
fn symbols(index: &Index, file: FileId, kinds: &[String]) -> Vec<Value> {
    let whole = index.whole(file);
    let language = index.entry(file).and_then(|entry| entry.language);
    // Those for Rust list nothing that stands in a macro, those for C only what is built, those for Python only the
    // last of what is defined again.
    let hidden: Rc<[Span]> = match language {
        _ if kinds.is_empty() => Rc::default(),
        Some(Language::Rust) => items_in_macros(&whole.0).into(),
        _ => Resolver::new(index).not_built(file),
    };
    let is_listed = |(place, definition): &(usize, &Definition)| {
        kinds.is_empty()
            || kinds.iter().any(|kind| kind == broad_kind(language, definition))
                && !hidden.iter().any(|span| span.contains(definition.span.start))
                && !(language == Some(Language::Python) && whole.1.is_defined_again(*place))
    };
    let listed = whole.1.definitions.iter().enumerate().filter(is_listed);
    let shown = listed.map(|(_, definition)| {
        let name = listed_name(language, definition, &whole.0);
        json!({"name": name, "line": definition.at.line, "kind": definition.kind.name()})
    });
    shown.collect()
}

/// The kind of a definition in the few words that language servers have.
fn broad_kind(language: Option<Language>, definition: &Definition) -> &'static str {
    match (language, definition.kind) {
        // Language servers for C list nothing that stands in a function.
        (Some(Language::C | Language::Cpp), _) if definition.scope.is_some() => "local",
        (_, Kind::Constructor | Kind::Property) => "method",
        (Some(Language::Rust), Kind::Macro) => "function",
        (Some(Language::Go), Kind::Type) if definition.declared.starts_with("func") => "function",
        (Some(Language::Go | Language::C | Language::Cpp), Kind::Type | Kind::Union) => "class",
        (Some(Language::C | Language::Cpp), Kind::EnumMember) => "enum",
        (_, kind) => kind.name(),
    }
}

/// The name of a definition as language servers list it: what is said of a template for some types is `Name<int>`.
fn listed_name<'d>(language: Option<Language>, definition: &'d Definition, text: &'d str) -> &'d str {
    let from = definition.name_span.start as usize;
    let after = text.get(definition.name_span.end as usize..).unwrap_or_default();
    if language != Some(Language::Cpp) || !definition.kind.is_type() || !after.starts_with('<') {
        return &definition.name;
    }
    let mut depth = 0_usize;
    for (at, character) in after.char_indices() {
        match character {
            '<' => depth += 1,
            '>' => depth -= 1,
            '{' | ';' => break,
            _ => {}
        }
        if depth == 0 {
            let end = definition.name_span.end as usize + at + 1;
            return text.get(from..end).unwrap_or(&definition.name);
        }
    }
    &definition.name
}

/// The definitions of a name in files of the language.
fn named(
    index: &Index,
    resolver: &Resolver<'_>,
    question: &Question,
    language: Option<Language>,
) -> Vec<Found> {
    let mut found = resolver.definitions_named(&question.symbol);
    found.retain(|found| {
        let own = index.entry(found.file).and_then(|entry| entry.language);
        language.is_none_or(|language| own.is_some_and(|own| own == language || is_near(own, language)))
    });
    found
}

/// Whether files of the two languages belong together.
fn is_near(one: Language, other: Language) -> bool {
    let family = |language| match language {
        Language::Tsx => Language::TypeScript,
        Language::C => Language::Cpp,
        other => other,
    };
    family(one) == family(other)
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

/// The definitions a question is about.
fn targets(
    index: &Index,
    resolver: &Resolver<'_>,
    question: &Question,
    language: Option<Language>,
) -> Result<Vec<Found>> {
    let Some(path) = &question.file else { return Ok(named(index, resolver, question, language)) };
    let file = index.named(path)?;
    Ok(resolver.target_at(file, question.line, question.col)?.found().iter().take(1).cloned().collect())
}

fn locations(index: &Index, places: impl Iterator<Item = (FileId, u32)>) -> Vec<Value> {
    let mut seen = HashSet::new();
    let places = places.filter(|place| seen.insert(*place));
    places.map(|(file, line)| json!({"file": index.path(file), "line": line})).collect()
}
