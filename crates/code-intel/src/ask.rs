//! Answers questions about code: definitions, references, calls, imports, symbols, search by meaning, an overview.
//!
//! Tools, the command line and `index serve` all ask here and only render what they get. A [`Target`] says what a
//! question is about and may be incomplete. An answer comes from the first source that has one:
//!
//! 1. a language server, when the caller brings its [`ServerReply`];
//! 2. an `index.scip` at the root of the workspace;
//! 3. the index itself.
//!
//! The answers are plain data with a JSON schema. Each names its source and carries notes: which source could not
//! answer and why, what is missing for want of time, which of several definitions was chosen.

mod answers;
mod graph;
mod outline;
mod server;
mod target;

use std::collections::HashSet;
use std::time::Duration;

use crate::embeddings::{Embeddings, QueryVector};
use crate::error::{Error, Result};
use crate::facts;
use crate::index::Index;
use crate::languages::Language;
use crate::location::{self, LocationAnswer, SourceLocation, SourceReply};
use crate::lsp::{Question, Reply};
use crate::resolve::{self, Call, DefinitionSite, Reference, Resolution, Resolver};
use crate::scip;
use crate::search;
use target::Aim;

pub use answers::{
    CallGraph, Callers, Certainty, DefinedSymbol, Definitions, Dependencies, Excerpt, Excerpts, FileLine,
    ImportStatement, Imports, IndexStatus, OmittedFile, Origin, Overview, ReferenceLocation, References,
    SearchHit, SearchHits, SourceKind, Symbol, Symbols, Unresolved,
};
pub use graph::{Graph, GraphEdge, GraphNode};
pub use outline::SymbolFilter;
pub use server::{ServerQuestion, ServerReply};
pub use target::{Target, similar_names};

/// How long a program waits for references and callers in a large workspace.
pub const REFERENCE_DEADLINE: Duration = Duration::from_secs(20);

/// One question to the code of a workspace.
pub struct Ask<'i> {
    index: &'i Index,
    deadline: Option<Duration>,
    language: Option<Language>,
    includes_definitions: bool,
    server: Option<std::result::Result<Reply, String>>,
}

/// Which calls a call graph shows.
#[derive(Clone, Copy, Debug)]
pub struct CallOptions {
    pub direction: resolve::Direction,
    /// Number of calls between the start and the functions furthest from it.
    pub depth: u32,
    pub max_nodes: usize,
}

/// A search for symbols by what they are about.
#[derive(Clone, Copy)]
pub struct SearchRequest<'q> {
    pub words: &'q str,
    /// The vector of the words with those of the symbols; without it the search compares words only.
    pub vector: Option<(&'q Embeddings, &'q QueryVector)>,
    /// Files the caller works on: symbols near them rank higher.
    pub open_files: &'q [String],
    pub limit: usize,
}

impl<'i> Ask<'i> {
    /// The index must be up to date.
    pub fn new(index: &'i Index) -> Self {
        Self { index, deadline: None, language: None, includes_definitions: false, server: None }
    }

    /// Stops looking for references and callers after this time; a note then says what is missing.
    pub fn within(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Restricts names without a position to files of this language and those that belong to it.
    pub fn in_language(self, language: Option<Language>) -> Self {
        Self { language, ..self }
    }

    /// Lists definitions among references where they refer to another definition of the name, as an override does.
    pub fn including_definitions(self) -> Self {
        Self { includes_definitions: true, ..self }
    }

    /// Prefers the reply of a language server; where it has no answer, the reason becomes a note.
    pub fn with_server(self, reply: Option<&ServerReply>) -> Self {
        Self { server: reply.map(|reply| reply.with_index(self.index)), ..self }
    }

    /// Finds where the target is defined.
    pub fn definition(&self, target: &Target) -> Result<Definitions> {
        let (answer, notes) = self.consult(target, Question::Definition);
        if let Some(answer) = answer {
            let definitions = answer.locations.iter().map(|one| self.defined_symbol_at(one)).collect();
            let origin = Origin::of(&answer.source, notes.into_iter().chain(answer.note));
            return Ok(Definitions {
                origin,
                certainty: Certainty::Resolved,
                definitions,
                similar_names: Vec::new(),
            });
        }
        let resolver = self.resolver();
        let resolution = self.resolve(target, &resolver, Aim::Definition)?;
        let definitions = resolution.found().iter().map(|found| self.defined_symbol(found)).collect();
        Ok(Definitions {
            origin: Origin::index(notes),
            certainty: Certainty::of(&resolution),
            definitions,
            similar_names: self.similar_names(target, &resolution),
        })
    }

    /// Finds all references to the target; lists at most `limit` of them.
    pub fn references(&self, target: &Target, limit: usize) -> Result<References> {
        let (answer, mut notes) = self.consult(target, Question::References);
        if let Some(answer) = answer {
            let references = answer.locations.iter().take(limit).map(|one| ReferenceLocation {
                file: one.path.clone(),
                line: one.at.line,
                column: one.at.column,
                text: location::source_line(self.index, &one.path, one.at.line),
                certainty: Certainty::Resolved,
            });
            return Ok(References {
                references: references.collect(),
                total: answer.locations.len(),
                origin: Origin::of(&answer.source, notes.into_iter().chain(answer.note)),
                certainty: Certainty::Resolved,
                similar_names: Vec::new(),
            });
        }
        let resolver = self.resolver();
        let resolution = self.resolve(target, &resolver, Aim::Target)?;
        let found = if self.includes_definitions {
            resolver.references_to_all(resolution.found())
        } else {
            references_to(&resolver, resolution.found())
        };
        notes.extend(resolver.note());
        let references = found.iter().take(limit).map(|one| ReferenceLocation {
            file: self.index.path(one.file).to_owned(),
            line: one.occurrence.at.line,
            column: one.occurrence.at.column,
            text: self.index.source_line(one.file, one.occurrence.at.line),
            certainty: one.certainty.into(),
        });
        Ok(References {
            references: references.collect(),
            total: found.len(),
            origin: Origin::index(notes),
            certainty: Certainty::of(&resolution),
            similar_names: self.similar_names(target, &resolution),
        })
    }

    /// Draws the calls around a function. Where several definitions have the name, it starts at the first and a note
    /// says so.
    pub fn call_graph(&self, target: &Target, options: CallOptions) -> Result<CallGraph> {
        let mut notes = Vec::new();
        match &self.server {
            Some(Ok(Reply::Calls { server, graph, note })) => {
                return Ok(CallGraph {
                    origin: Origin::server(server.clone(), note.clone()),
                    certainty: Certainty::Resolved,
                    similar_names: Vec::new(),
                    graph: graph.clone(),
                });
            }
            Some(Err(why)) => notes.push(why.clone()),
            Some(Ok(Reply::Locations(_))) | None => {}
        }
        let resolver = self.resolver();
        let resolution = self.resolve(target, &resolver, Aim::Target)?;
        let graph = resolution.found().first().map(|start| {
            let CallOptions { direction, depth, max_nodes } = options;
            let calls = resolver.call_graph(start, direction, depth, max_nodes);
            notes.extend(resolver.note());
            notes.extend(target::ambiguity(self.index, resolution.found()));
            Graph::of_calls(self.index, &calls)
        });
        Ok(CallGraph {
            origin: Origin::index(notes),
            certainty: Certainty::of(&resolution),
            similar_names: self.similar_names(target, &resolution),
            graph: graph.unwrap_or_default(),
        })
    }

    /// Lists the functions that call the target directly, of all definitions it may mean.
    pub fn callers(&self, target: &Target) -> Result<Callers> {
        let mut notes = Vec::new();
        match &self.server {
            Some(Ok(Reply::Calls { server, graph, note })) => {
                return Ok(Callers {
                    origin: Origin::server(server.clone(), note.clone()),
                    callers: graph.callers(),
                });
            }
            Some(Err(why)) => notes.push(why.clone()),
            Some(Ok(Reply::Locations(_))) | None => {}
        }
        let resolver = self.resolver();
        let resolution = self.resolve(target, &resolver, Aim::Target)?;
        let callers = resolution.found().iter().flat_map(|found| resolver.callers(found));
        let callers = callers.map(|Call { function, .. }| FileLine {
            file: self.index.path(function.file).to_owned(),
            line: function.definition.at.line,
        });
        let mut seen = HashSet::new();
        let callers = callers.filter(|caller| seen.insert(caller.clone())).collect();
        notes.extend(resolver.note());
        Ok(Callers { origin: Origin::index(notes), callers })
    }

    /// Draws which files import which: all files, or one file with what it imports and what imports it.
    pub fn dependency_graph(&self, file: Option<&str>, max_nodes: usize) -> Result<Graph> {
        let only = file.map(|file| self.index.named(file)).transpose()?;
        Ok(Graph::of_files(self.index, only, max_nodes))
    }

    /// Lists the files of the workspace that a file imports directly.
    pub fn dependencies(&self, file: &str) -> Result<Dependencies> {
        let files = Resolver::new(self.index).dependencies(self.index.named(file)?);
        Ok(Dependencies { files: files.iter().map(|file| self.index.path(*file).to_owned()).collect() })
    }

    /// Finds symbols by what they are about.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchHits> {
        if !request.words.contains(char::is_alphanumeric) {
            return Err(Error::NoWords { question: request.words.to_owned() });
        }
        let open_files = request.open_files.iter().map(|path| self.index.named(path));
        let open_files = open_files.collect::<Result<Vec<_>>>()?;
        let question = search::Question {
            words: request.words,
            vector: request.vector,
            open_files: &open_files,
            limit: request.limit,
        };
        let found = search::search(self.index, &question);
        let hits = found.hits.into_iter().map(|hit| {
            let definition = hit.site.definition;
            SearchHit {
                file: self.index.path(hit.site.file).to_owned(),
                line: definition.at.line,
                last_line: definition.last_line,
                path: hit.path,
                kind: definition.kind.name(),
                signature: hit.signature,
                doc: hit.doc,
                score: (hit.score * 100.0).round() / 100.0,
            }
        });
        Ok(SearchHits { hits: hits.collect(), complete: !found.is_cut, notes: Vec::new() })
    }

    /// Lists the symbols that other files use most, file by file, in about this many tokens.
    pub fn overview(&self, tokens: usize) -> Overview {
        Overview { map: search::map(self.index, tokens) }
    }

    fn resolver(&self) -> Resolver<'i> {
        match self.deadline {
            Some(deadline) => Resolver::within(self.index, deadline),
            None => Resolver::new(self.index),
        }
    }

    fn resolve(&self, target: &Target, resolver: &Resolver<'_>, aim: Aim) -> Result<Resolution> {
        let resolution = target.resolve(self.index, resolver, self.language, aim);
        resolution.map_err(|error| target::with_nearby_names(self.index, error))
    }

    /// The answer of a source that may know more than the index; else the reasons why there is none.
    fn consult(&self, target: &Target, question: Question) -> (Option<LocationAnswer>, Vec<String>) {
        let mut notes = Vec::new();
        let answer = match &self.server {
            Some(Ok(Reply::Locations(answer))) => Some(answer.clone()),
            Some(Err(why)) => {
                notes.push(why.clone());
                None
            }
            Some(Ok(Reply::Calls { .. })) | None => None,
        };
        let answer = answer.or_else(|| {
            let query = target.query(self.index);
            let reply = match question {
                Question::Definition => scip::definitions(self.index, &query),
                Question::References => scip::references(self.index, &query),
                Question::Calls { .. } => SourceReply::Absent,
            };
            match reply {
                SourceReply::Absent => None,
                SourceReply::Declined(why) => {
                    notes.push(why);
                    None
                }
                SourceReply::Answered(answer) => Some(answer),
            }
        });
        (answer.map(|answer| self.in_wanted_language(answer)), notes)
    }

    fn in_wanted_language(&self, mut answer: LocationAnswer) -> LocationAnswer {
        if let Some(wanted) = self.language {
            answer.locations.retain(|one| {
                Language::detect(std::path::Path::new(&one.path), "").is_some_and(|own| own.is_near(wanted))
            });
        }
        answer
    }

    fn similar_names(&self, target: &Target, resolution: &Resolution) -> Vec<String> {
        match resolution {
            Resolution::Unknown => similar_names(self.index, target.name().unwrap_or_default()),
            Resolution::Found(..) | Resolution::External => Vec::new(),
        }
    }

    fn defined_symbol(&self, found: &DefinitionSite) -> DefinedSymbol {
        let whole = self.index.whole(found.file);
        let definition = &found.definition;
        DefinedSymbol {
            file: self.index.path(found.file).to_owned(),
            line: definition.at.line,
            column: definition.at.column,
            name: definition.name.clone(),
            path: facts::qualified_name(&whole.1, definition),
            kind: definition.kind.name(),
            text: location::definition_line(self.index, found),
            doc: facts::doc_line(&whole.0, definition),
        }
    }

    fn defined_symbol_at(&self, one: &SourceLocation) -> DefinedSymbol {
        match &one.site {
            Some(found) => self.defined_symbol(found),
            None => DefinedSymbol {
                file: one.path.clone(),
                line: one.at.line,
                column: one.at.column,
                name: one.name.clone(),
                path: one.name.clone(),
                kind: "definition",
                text: location::source_line(self.index, &one.path, one.at.line),
                doc: None,
            },
        }
    }
}

/// References to several definitions, each place once. None of the definitions is a reference to another: a call
/// through an interface refers to both.
fn references_to(resolver: &Resolver<'_>, found: &[DefinitionSite]) -> Vec<Reference> {
    let defined: HashSet<_> = found.iter().map(|one| (one.file, one.definition.at)).collect();
    let mut references = resolver.references_to_all(found);
    references.retain(|one| !defined.contains(&(one.file, one.occurrence.at)));
    references
}

#[cfg(test)]
mod tests;
