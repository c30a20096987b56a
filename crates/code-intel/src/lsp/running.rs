//! One language server that runs: its start, its questions, its end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use stepwell_workspace::Workspace;
use stepwell_workspace::process::{Companion, Environment, KeepOutput, ProgramCall, keeper};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use super::ServersOptions;
use super::client::{Client, ServerError};
use super::documents::{Documents, Files, Synced, text, uri};
use super::listener::ServerListener;
use super::table::ServerSpec;
use crate::facts::Position;
use crate::units::Units;

/// How long a server may take to say hello before it is given up, whoever waits.
const LONGEST_START: Duration = Duration::from_mins(5);
/// How long it may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// The end of what it writes to standard error, which says why it crashed.
const KEPT_WORDS: usize = 2048;
/// How long they are waited for once it is gone.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// A server whose files change while it thinks refuses with this; it is asked again.
const CONTENT_MODIFIED: i64 = -32801;
const SERVER_CANCELLED: i64 = -32802;
const MOST_REPEATS: u32 = 5;

/// How far the start has come.
#[derive(Clone, Debug)]
enum Stage {
    Starting,
    Started(Arc<Initialized>),
    Failed(ServerError),
}

/// What a server says of itself.
#[derive(Debug)]
struct Initialized {
    capabilities: Value,
    units: Units,
}

pub(crate) struct RunningServer {
    pub spec: ServerSpec,
    workspace: Workspace,
    client: Client,
    hearing: Arc<ServerListener>,
    stage: watch::Receiver<Stage>,
    documents: Documents,
    last_words: Arc<Mutex<Vec<u8>>>,
    listening: JoinHandle<()>,
    companion: Companion,
    /// Changes with every question; who ends idle servers watches it.
    used: watch::Sender<()>,
    /// Whether the whole project was read once.
    is_settled: bool,
}

impl RunningServer {
    /// Starts the program. It says hello beside everything else, so a slow start outlives an impatient question.
    pub(crate) fn start(
        spec: &ServerSpec,
        program: PathBuf,
        options: &ServersOptions,
        files: &Files,
    ) -> Result<Self, ServerError> {
        let failed = |error: String| ServerError::Gone(error);
        let workspace = options.workspace.clone();
        let call = ProgramCall {
            program: program.into(),
            arguments: spec.arguments.iter().map(Into::into).collect(),
            folder: workspace.root().to_path_buf(),
            environment: Environment {
                removed: options.removed_variables.iter().map(Into::into).collect(),
                set: spec.environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            },
            input: None,
            time_limit: Duration::MAX,
            keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
        };
        let call = match &options.keeper {
            Some(keeper) => keeper::kept(keeper, call),
            None => call,
        };
        let (companion, pipes) = Companion::on_pipes(&call).map_err(|error| failed(error.to_string()))?;
        let root = Url::from_directory_path(workspace.root())
            .map_err(|()| failed("the workspace has no address".to_owned()))?;
        let folder = json!({"uri": root.as_str().trim_end_matches('/'), "name": "workspace"});
        let hearing = Arc::new(ServerListener::new(spec.initialization.clone(), folder.clone()));
        let client = Client::new(pipes.stdout, pipes.stdin, Arc::clone(&hearing) as _);
        let last_words = Arc::default();
        let listening = tokio::spawn(keep_last_words(pipes.stderr, Arc::clone(&last_words)));
        let (tell, stage) = watch::channel(Stage::Starting);
        tokio::spawn(say_hello(client.clone(), spec.initialization.clone(), folder, tell));
        let documents = Documents::at_start(&workspace, files);
        let used = watch::Sender::new(());
        let spec = spec.clone();
        Ok(Self {
            spec,
            workspace,
            client,
            hearing,
            stage,
            documents,
            last_words,
            listening,
            companion,
            used,
            is_settled: false,
        })
    }

    pub(crate) fn watch_use(&self) -> watch::Receiver<()> {
        self.used.subscribe()
    }

    pub(crate) fn touch(&self) {
        self.used.send_replace(());
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// What it wrote last, for who must say why it is gone.
    pub(crate) async fn last_words(mut self) -> Option<String> {
        // Both of its streams end with it, in any order.
        timeout(LAST_WORDS, &mut self.listening).await.ok();
        let kept = self.last_words.lock();
        let text = String::from_utf8_lossy(&kept);
        // The first words of what is left say more than a stack trace does.
        let line = text.lines().map(str::trim).find(|line| line.to_lowercase().contains("error"));
        let line = line.or_else(|| text.lines().map(str::trim).rfind(|line| !line.is_empty()))?;
        Some(line.chars().take(300).collect())
    }

    /// What it needs to know the whole project of a file and does not find, in words. Servers look in the folders the
    /// file is in, up to the top, and rust-analyzer also one level beneath the root.
    pub(crate) fn missing_project(&self, asked: &str) -> Option<String> {
        let names = &self.spec.project;
        let file = self.workspace.root().join(asked);
        let is_there = |name: &String| file.ancestors().skip(1).any(|folder| folder.join(name).is_file());
        let named = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        (!names.is_empty() && !names.iter().any(is_there)).then(named)
    }

    pub(crate) fn complaint(&self) -> Option<String> {
        self.hearing.complaint()
    }

    /// Waits until it can be asked about a file as it is now.
    pub(crate) async fn prepare(
        &mut self,
        files: &Files,
        asked: &str,
        deadline: Instant,
    ) -> Result<Synced, ServerError> {
        self.hello(deadline).await?;
        let synced = self.documents.sync(&self.client, &self.spec, &self.workspace, (files, asked))?;
        if synced == Synced::TooMuch {
            return Ok(synced);
        }
        if !self.is_settled {
            // Who has answered about a file has begun with what it wants to read besides.
            let document = json!({"textDocument": {"uri": uri(&self.workspace, asked)}});
            match self.client.request("textDocument/documentSymbol", &document, deadline).await {
                Ok(_) | Err(ServerError::Refused { .. }) => {}
                Err(trouble) => return Err(trouble),
            }
            self.hearing.begun(self.spec.ready).await;
        }
        self.hearing.ready(self.spec.ready, deadline).await?;
        if self.is_closed() {
            return Err(ServerError::Gone("it ended while it read the project".to_owned()));
        }
        self.is_settled = true;
        Ok(Synced::Told)
    }

    /// What it said of itself.
    async fn hello(&self, deadline: Instant) -> Result<Arc<Initialized>, ServerError> {
        let mut stage = self.stage.clone();
        let arrived = timeout_at(deadline, stage.wait_for(|stage| !matches!(stage, Stage::Starting))).await;
        match arrived {
            Ok(Ok(stage)) => match &*stage {
                Stage::Started(hello) => Ok(Arc::clone(hello)),
                Stage::Failed(trouble) => Err(trouble.clone()),
                Stage::Starting => Err(ServerError::Late("it is still starting".to_owned())),
            },
            Ok(Err(_)) => Err(ServerError::Gone("it was given up".to_owned())),
            Err(_late) => Err(ServerError::Late("it is still starting".to_owned())),
        }
    }

    /// Whether it answers such questions at all.
    pub(crate) async fn can(&self, capability: &str, deadline: Instant) -> Result<bool, ServerError> {
        let hello = self.hello(deadline).await?;
        Ok(!matches!(hello.capabilities.get(capability), None | Some(Value::Null | Value::Bool(false))))
    }

    pub(crate) async fn units(&self, deadline: Instant) -> Result<Units, ServerError> {
        Ok(self.hello(deadline).await?.units)
    }

    /// A place as the server is asked about it.
    pub(crate) async fn position(
        &self,
        path: &str,
        at: Position,
        deadline: Instant,
    ) -> Result<Value, ServerError> {
        let text = text(&self.workspace, path)?;
        let line = text.lines().nth(at.line.saturating_sub(1) as usize).unwrap_or_default();
        let character = self.units(deadline).await?.before(line, at.column);
        let position = json!({"line": at.line.saturating_sub(1), "character": character});
        Ok(json!({"textDocument": {"uri": uri(&self.workspace, path)}, "position": position}))
    }

    pub(crate) async fn request(
        &self,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Value, ServerError> {
        for _ in 0..MOST_REPEATS {
            match self.client.request(method, params, deadline).await {
                Err(ServerError::Refused { code: CONTENT_MODIFIED | SERVER_CANCELLED, .. }) => {}
                answer => return answer,
            }
        }
        Err(ServerError::Late("the files change too fast for it".to_owned()))
    }

    /// Asks it to end, and ends it after a moment.
    pub(crate) async fn end(self) {
        let deadline = Instant::now() + GRACE;
        if !self.is_closed() && matches!(*self.stage.borrow(), Stage::Started(_)) {
            self.client.request("shutdown", &Value::Null, deadline).await.ok();
            self.client.notify("exit", &Value::Null).ok();
            if let Ok(watch) = self.companion.watch_end() {
                timeout(GRACE, watch.ended()).await.ok();
            }
        }
        self.companion.end(GRACE).await;
    }
}

async fn say_hello(client: Client, initialization: Value, folder: Value, tell: watch::Sender<Stage>) {
    let params = json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "stepwell", "version": env!("CARGO_PKG_VERSION")},
        "rootUri": folder["uri"],
        "workspaceFolders": [folder],
        "initializationOptions": initialization,
        "capabilities": {
            "general": {"positionEncodings": ["utf-8", "utf-16"]},
            "window": {"workDoneProgress": true, "showMessage": {}},
            "workspace": {
                "configuration": true,
                "workspaceFolders": true,
                "didChangeConfiguration": {"dynamicRegistration": true},
                "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": true},
            },
            "textDocument": {
                "synchronization": {"dynamicRegistration": false},
                "definition": {"linkSupport": true},
                "references": {},
                "callHierarchy": {},
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
            },
            "experimental": {"serverStatusNotification": true},
        },
    });
    let answer = client.request("initialize", &params, Instant::now() + LONGEST_START).await;
    let stage = match answer {
        Ok(answer) => {
            let capabilities = answer["capabilities"].clone();
            let units = match capabilities["positionEncoding"].as_str() {
                Some("utf-8") => Units::Utf8,
                Some("utf-32") => Units::Utf32,
                _ => Units::Utf16,
            };
            match client.notify("initialized", &json!({})) {
                Ok(()) => Stage::Started(Arc::new(Initialized { capabilities, units })),
                Err(trouble) => Stage::Failed(trouble),
            }
        }
        // One that does not even say hello is as good as gone.
        Err(ServerError::Refused { message, .. }) => {
            Stage::Failed(ServerError::Gone(format!("it refuses to start: {message}")))
        }
        Err(ServerError::Late(why) | ServerError::Useless(why)) => Stage::Failed(ServerError::Gone(why)),
        Err(gone @ ServerError::Gone(_)) => Stage::Failed(gone),
    };
    tell.send_replace(stage);
}

/// Keeps the end of what a server writes to standard error.
async fn keep_last_words(mut stderr: pipe::Receiver, kept: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = kept.lock();
        kept.extend_from_slice(&buffer[..count]);
        let surplus = kept.len().saturating_sub(KEPT_WORDS);
        kept.drain(..surplus);
    }
}
