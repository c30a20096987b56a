//! Answers from language servers of the machine, where the person lets them run: they run code of the project.
//!
//! A question is prepared from the index (`PreparedQuery::of`), asked without it (`Servers::ask`), and where a server is
//! missing, starting, slow, gone or knows nothing, the reason comes instead of an answer, so that the index answers
//! and says so. A server starts with the first question about its language and ends when it was idle for long; it
//! never outlives this program.

mod calls;
mod client;
mod documents;
mod listener;
mod replies;
mod running;
mod table;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use stepwell_workspace::Workspace;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::ask::Graph;
use crate::facts::Position;
use crate::index::Index;
use crate::languages::Language;
use crate::location::{AnswerSource, LocationAnswer, SourceLocation, SymbolQuery, defined_at, sorted};
use crate::resolve::{DefinitionSite, Direction, Resolver};
use client::ServerError;
use documents::{Files, Synced};
use replies::{LocationReader, MOST_PLACES, ReadLocations};
use running::RunningServer;

pub use table::{ReadyBy, ServerSpec, known, language_named};

/// Definitions of one name that are asked about.
const MOST_SPOTS: usize = 5;
/// A server that ends so often in a row, without an answer between, is not started again.
const MOST_CRASHES: u32 = 3;

/// Options for running language servers.
#[derive(Clone, Debug)]
pub struct ServersOptions {
    pub workspace: Workspace,
    /// The servers that may be used, the preferred first.
    pub specs: Vec<ServerSpec>,
    /// The program that answers to [`stepwell_workspace::process::keeper::KEEPER_WORD`].
    pub keeper: Option<PathBuf>,
    /// Variables that servers do not get.
    pub removed_variables: Vec<String>,
    /// How long one question waits, the server's start included.
    pub patience: Duration,
    /// After so long without a question a server is ended.
    pub idle: Duration,
}

/// A question to a language server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Definition,
    References,
    Calls { direction: Direction, depth: u32, most: usize },
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Locations(LocationAnswer),
    Calls { server: String, graph: Graph, note: Option<String> },
}

impl Reply {
    /// Adds the definitions that the index has at the locations. Removes definitions from references: servers list both.
    pub fn known(mut self, index: &Index, question: Question) -> Self {
        if let Self::Locations(answer) = &mut self {
            for place in &mut answer.locations {
                place.site = index.file(&place.path).and_then(|file| defined_at(index, file, place.at));
            }
            if question == Question::References {
                answer.locations.retain(|place| place.site.is_none());
            }
        }
        self
    }
}

/// A place to ask about.
#[derive(Clone, Debug)]
struct QueryPosition {
    path: String,
    at: Position,
    /// The definition itself: clangd 14 and others lead from there to a declaration.
    own: Option<DefinitionSite>,
}

/// What is asked about, as the index knows it at this moment.
#[derive(Clone, Debug)]
pub(crate) struct PreparedQuery {
    positions: Vec<QueryPosition>,
    language: Language,
    files: Files,
}

impl PreparedQuery {
    /// Finds the positions to ask about; the error says why there are none. The index must be up to date.
    pub fn of(index: &Index, asked: &SymbolQuery) -> Result<Self, String> {
        let files: Files = index
            .entries()
            .filter_map(|(_, entry)| Some((entry.path.clone(), (entry.language?, entry.content()))))
            .collect();
        let positions = match asked {
            SymbolQuery::At { path, line, column } => {
                let place = index.workspace().place(path).map_err(|error| error.to_string())?;
                let path = place.relative().to_string_lossy().into_owned();
                let at = Position { line: *line, column: *column };
                let own = index.file(&path).and_then(|file| defined_at(index, file, at));
                vec![QueryPosition { path, at, own }]
            }
            SymbolQuery::Named { name, path } => {
                let only = path.as_deref().map(|path| index.named(path)).transpose();
                let only = only.map_err(|error| error.to_string())?;
                let found = Resolver::new(index).definitions_named(name);
                if found.is_empty() {
                    return Err(format!("the code index does not know where `{name}` stands"));
                }
                let found = found.iter().filter(|one| only.is_none_or(|only| one.file == only));
                let positions = found.take(MOST_SPOTS).map(|one| QueryPosition {
                    path: index.path(one.file).to_owned(),
                    at: one.definition.at,
                    own: Some(one.clone()),
                });
                positions.collect()
            }
        };
        let Some(first) = positions.first().map(|spot: &QueryPosition| &spot.path) else {
            return Err("the code index does not know where that stands".to_owned());
        };
        let Some((language, _)) = files.get(first) else {
            return Err(format!("`{first}` is of no language that is known here"));
        };
        let language = *language;
        let is_same = |path: &str| files.get(path).is_some_and(|(own, _)| *own == language);
        let positions = positions.into_iter().filter(|spot| is_same(&spot.path)).collect();
        Ok(Self { positions, language, files })
    }
}

/// The language servers of a workspace.
pub struct Servers {
    options: ServersOptions,
    slots: Mutex<HashMap<String, Arc<tokio::sync::Mutex<ServerSlot>>>>,
}

/// Where one server runs, or did.
#[derive(Default)]
struct ServerSlot {
    running: Option<RunningServer>,
    crashes: u32,
    /// Why it is not there, for people.
    last_end: String,
}

impl Servers {
    pub fn new(options: ServersOptions) -> Self {
        Self { options, slots: Mutex::default() }
    }

    /// Lists the allowed servers, each with its program if it is installed.
    pub fn found(&self) -> Vec<(&ServerSpec, Option<PathBuf>)> {
        let root = self.options.workspace.root();
        self.options.specs.iter().map(|spec| (spec, spec.program(root))).collect()
    }

    /// Asks the server of the language. The error says, as people read it, why there is no answer.
    pub(crate) async fn ask(
        &self,
        inquiry: &PreparedQuery,
        question: Question,
        cancel: &CancellationToken,
    ) -> Result<Reply, String> {
        let (spec, program) = self.chosen(inquiry.language)?;
        let deadline = Instant::now() + self.options.patience;
        let slot = Arc::clone(self.slots.lock().entry(spec.name.clone()).or_default());
        let asked = async {
            let held = timeout_at(deadline, slot.lock()).await;
            let mut held = held.map_err(|_| "it is busy with other questions".to_owned())?;
            self.ask_held(&mut held, &slot, (spec, program), inquiry, question, deadline).await
        };
        let answer = tokio::select! {
            answer = asked => answer,
            () = cancel.cancelled() => Err("the question was cancelled".to_owned()),
        };
        answer.map_err(|why| format!("the language server `{}` has no answer: {why}", spec.name))
    }

    /// The server for a language: the first that is on the machine.
    fn chosen(&self, language: Language) -> Result<(&ServerSpec, PathBuf), String> {
        let fit: Vec<&ServerSpec> =
            self.options.specs.iter().filter(|spec| spec.languages.contains(&language)).collect();
        if fit.is_empty() {
            return Err(format!("no language server is known for {}", language.name()));
        }
        let root = self.options.workspace.root();
        let found = fit.iter().find_map(|spec| Some((*spec, spec.program(root)?)));
        found.ok_or_else(|| {
            let names: Vec<String> = fit.iter().map(|spec| format!("`{}`", spec.command)).collect();
            format!(
                "no language server for {} is on the machine: {} not found",
                language.name(),
                names.join(", ")
            )
        })
    }

    async fn ask_held(
        &self,
        slot: &mut ServerSlot,
        own: &Arc<tokio::sync::Mutex<ServerSlot>>,
        (spec, program): (&ServerSpec, PathBuf),
        inquiry: &PreparedQuery,
        question: Question,
        deadline: Instant,
    ) -> Result<Reply, String> {
        loop {
            if slot.crashes >= MOST_CRASHES {
                return Err(format!(
                    "it ended {} times in a row and is not started again; {}",
                    slot.crashes, slot.last_end
                ));
            }
            if slot.running.is_none() {
                match RunningServer::start(spec, program.clone(), &self.options, &inquiry.files) {
                    Ok(running) => {
                        let watch = running.watch_use();
                        tokio::spawn(end_when_idle(Arc::downgrade(own), watch, self.options.idle));
                        slot.running = Some(running);
                    }
                    Err(trouble) => slot.crashed(trouble).await,
                }
            }
            let Some(running) = &mut slot.running else { continue };
            running.touch();
            let answer = match running.prepare(&inquiry.files, &inquiry.positions[0].path, deadline).await {
                Ok(Synced::Told) => {
                    reply(&self.options.workspace, running, inquiry, question, deadline).await
                }
                Ok(Synced::TooMuch) => {
                    if let Some(running) = slot.running.take() {
                        running.end().await;
                    }
                    continue;
                }
                Err(trouble) => Err(trouble),
            };
            match answer {
                Ok(reply) => {
                    slot.crashes = 0;
                    return Ok(reply);
                }
                Err(gone @ ServerError::Gone(_)) => {
                    slot.crashed(gone).await;
                    if Instant::now() >= deadline {
                        return Err(slot.last_end.clone());
                    }
                }
                Err(trouble) => {
                    let why = match trouble {
                        // gopls has no numbers for its errors.
                        ServerError::Refused { code: 0, message: why }
                        | ServerError::Gone(why)
                        | ServerError::Late(why)
                        | ServerError::Useless(why) => why,
                        ServerError::Refused { code, message } => format!("{message} (error {code})"),
                    };
                    let complaint = running.complaint().map(|words| format!("; it says: {words}"));
                    return Err(format!("{why}{}", complaint.unwrap_or_default()));
                }
            }
        }
    }

    /// Ends all servers.
    pub async fn close(&self) {
        let slots: Vec<_> = self.slots.lock().drain().map(|(_, slot)| slot).collect();
        for slot in slots {
            let running = slot.lock().await.running.take();
            if let Some(running) = running {
                running.end().await;
            }
        }
    }
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Servers").field("options", &self.options).finish_non_exhaustive()
    }
}

impl ServerSlot {
    async fn crashed(&mut self, trouble: ServerError) {
        self.crashes += 1;
        let words = match self.running.take() {
            Some(running) => running.last_words().await,
            None => None,
        };
        let why = match trouble {
            ServerError::Gone(why) | ServerError::Late(why) | ServerError::Useless(why) => why,
            ServerError::Refused { message, .. } => message,
        };
        self.last_end = match words {
            Some(words) => format!("{why}; its last words: {words}"),
            None => why,
        };
    }
}

/// Ends a server that nobody has asked for long.
async fn end_when_idle(
    slot: Weak<tokio::sync::Mutex<ServerSlot>>,
    mut used: watch::Receiver<()>,
    idle: Duration,
) {
    loop {
        match timeout(idle, used.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_gone)) => return,
            Err(_idle) => break,
        }
    }
    let Some(slot) = slot.upgrade() else { return };
    let mut held = slot.lock().await;
    // It may be another one by now, or have been asked while this waited for its turn.
    let is_idle = !used.has_changed().unwrap_or(true);
    if let Some(running) = held.running.take_if(|_| is_idle) {
        running.end().await;
    }
}

async fn reply(
    workspace: &Workspace,
    running: &RunningServer,
    inquiry: &PreparedQuery,
    question: Question,
    deadline: Instant,
) -> Result<Reply, ServerError> {
    let (method, capability) = match question {
        Question::Definition => ("textDocument/definition", "definitionProvider"),
        Question::References => ("textDocument/references", "referencesProvider"),
        Question::Calls { .. } => ("textDocument/prepareCallHierarchy", "callHierarchyProvider"),
    };
    if !running.can(capability, deadline).await? {
        return Err(ServerError::Useless("it does not answer such questions".to_owned()));
    }
    let mut reader = LocationReader::new(workspace, running.units(deadline).await?);
    if let Question::Calls { direction, depth, most } = question {
        let QueryPosition { path, at, .. } = &inquiry.positions[0];
        let place = running.position(path, *at, deadline).await?;
        let starts = replies::items(running.request(method, &place, deadline).await?)?;
        let (graph, missing) =
            calls::graph(running, &mut reader, starts, (direction, depth, most), deadline).await?;
        let note = note(running, path, &ReadLocations { missing, ..ReadLocations::default() });
        return Ok(Reply::Calls { server: running.spec.name.clone(), graph, note });
    }
    let (mut all, mut said) = (ReadLocations::default(), 0);
    for QueryPosition { path, at, own } in &inquiry.positions {
        let mut params = running.position(path, *at, deadline).await?;
        if question == Question::References {
            // Without declarations, pyright 1.1 leaves out the use that is asked about.
            params["context"] = json!({"includeDeclaration": true});
        } else if let Some(found) = own.as_ref().filter(|found| !found.definition.is_declaration) {
            let name = found.definition.name.clone();
            all.places.push(SourceLocation { path: path.clone(), at: found.definition.at, name, site: None });
        }
        let found = reader.places(running.request(method, &params, deadline).await?)?;
        said += found.places.len();
        all.places.extend(found.places);
        all.missing += found.missing;
        all.is_cut |= found.is_cut;
    }
    if said == 0 {
        return Err(ServerError::Useless("it knows nothing there".to_owned()));
    }
    let note = note(running, &inquiry.positions[0].path, &all);
    let places = match question {
        // The best first, as the server has them.
        Question::Definition => distinct(all.places),
        Question::References | Question::Calls { .. } => sorted(all.places),
    };
    Ok(Reply::Locations(LocationAnswer {
        source: AnswerSource::Lsp(running.spec.name.clone()),
        locations: places,
        note,
    }))
}

fn distinct(places: Vec<SourceLocation>) -> Vec<SourceLocation> {
    let mut kept: Vec<SourceLocation> = Vec::new();
    for place in places {
        if !kept.iter().any(|one| one.path == place.path && one.at == place.at) {
            kept.push(place);
        }
    }
    kept
}

/// What must be known about an answer.
fn note(running: &RunningServer, asked: &str, located: &ReadLocations) -> Option<String> {
    let name = &running.spec.name;
    let mut notes = Vec::new();
    if located.missing > 0 {
        let missing = located.missing;
        notes.push(format!("{missing} places that `{name}` named are not in the files as they are"));
    }
    if located.is_cut {
        notes.push(format!("`{name}` named more than the first {MOST_PLACES} places"));
    }
    if let Some(missing) = running.missing_project(asked) {
        notes
            .push(format!("`{name}` knows the whole project only with {missing} in a folder above the file"));
    }
    if let Some(words) = running.complaint() {
        notes.push(format!("`{name}` says: {words}"));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}
