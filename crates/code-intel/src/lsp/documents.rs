//! What a server is told about files. Before each question it learns what changed on the disk since the last one, so
//! that no answer is older than the files.
//!
//! A file that changed while the server runs is opened with its present text: several servers (clangd 14 to 19) do
//! nothing when they are only told that a file changed.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};
use stepwell_workspace::Workspace;
use stepwell_workspace::files::{self, FileStamp};
use url::Url;

use super::client::{Client, ServerError};
use super::table::{ServerSpec, language_id};
use crate::languages::Language;

/// Files that are open at the same time; when more have changed, the server is started anew.
const MOST_OPEN: usize = 100;
/// Text of one file.
const LARGEST: u64 = 2 * 1024 * 1024;
/// Files that steer a server and are of no language of the index; at the root.
const MANIFESTS: &[&str] = &[
    "go.mod",
    "go.sum",
    "go.work",
    "compile_flags.txt",
    "CMakeLists.txt",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
];

/// The files of a workspace by their paths, as the index has seen them.
pub(crate) type Files = BTreeMap<String, (Language, [u8; 16])>;

#[derive(Debug, Default)]
pub(crate) struct Documents {
    known: Files,
    manifests: HashMap<&'static str, Option<FileStamp>>,
    open: HashMap<String, Open>,
}

#[derive(Debug)]
struct Open {
    version: i64,
    content: [u8; 16],
}

/// What came of telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synced {
    Told,
    /// So much changed that the server is better started anew.
    TooMuch,
}

impl Documents {
    /// The documents of a server that starts now: it reads the files as they are.
    pub(crate) fn at_start(workspace: &Workspace, files: &Files) -> Self {
        Self { known: files.clone(), manifests: manifests(workspace), open: HashMap::new() }
    }

    /// Tells the server what changed, and opens the file that is asked about.
    pub(crate) fn sync(
        &mut self,
        client: &Client,
        spec: &ServerSpec,
        workspace: &Workspace,
        (files, asked): (&Files, &str),
    ) -> Result<Synced, ServerError> {
        use Language::{Json, Toml, Yaml};
        let is_own = |language: Language| spec.languages.contains(&language);
        let is_told = |language| is_own(language) || matches!(language, Json | Toml | Yaml);
        let mut events: Vec<Value> = Vec::new();
        let mut event = |path: &str, kind: u8| {
            if let Some(uri) = uri(workspace, path) {
                events.push(json!({"uri": uri, "type": kind}));
            }
        };
        let (mut to_open, mut gone) = (Vec::new(), Vec::new());
        for (path, (language, content)) in files.iter().filter(|(_, (language, _))| is_told(*language)) {
            let before = self.known.get(path).map(|(_, content)| content);
            if before == Some(content) {
                continue;
            }
            event(path, if before.is_none() { 1 } else { 2 });
            if is_own(*language) && !self.open.contains_key(path) {
                to_open.push(path.clone());
            }
        }
        for (path, (language, _)) in self.known.iter().filter(|(path, _)| !files.contains_key(*path)) {
            if is_told(*language) {
                event(path, 3);
            }
            gone.push(path.clone());
        }
        let manifests = manifests(workspace);
        for (name, stamp) in &manifests {
            if self.manifests.get(name) != Some(stamp) {
                event(name, 2);
            }
        }
        if !self.open.contains_key(asked) && !to_open.iter().any(|path| path == asked) {
            to_open.push(asked.to_owned());
        }
        if self.open.len() + to_open.len() > MOST_OPEN {
            return Ok(Synced::TooMuch);
        }
        for path in gone {
            if self.open.remove(&path).is_some() {
                client.notify(
                    "textDocument/didClose",
                    &json!({"textDocument": {"uri": uri(workspace, &path)}}),
                )?;
            }
        }
        if !events.is_empty() {
            client.notify("workspace/didChangeWatchedFiles", &json!({"changes": events}))?;
        }
        self.renew(client, workspace, files)?;
        for path in to_open {
            self.open(client, workspace, files, &path)?;
        }
        self.known.clone_from(files);
        self.manifests = manifests;
        Ok(Synced::Told)
    }

    /// Gives the files that are open their present text.
    fn renew(&mut self, client: &Client, workspace: &Workspace, files: &Files) -> Result<(), ServerError> {
        for (path, open) in &mut self.open {
            let Some((_, content)) = files.get(path).filter(|(_, content)| *content != open.content) else {
                continue;
            };
            let text = text(workspace, path)?;
            open.version += 1;
            open.content = *content;
            client.notify(
                "textDocument/didChange",
                &json!({"textDocument": {"uri": uri(workspace, path), "version": open.version},
                    "contentChanges": [{"text": text}]}),
            )?;
        }
        Ok(())
    }

    fn open(
        &mut self,
        client: &Client,
        workspace: &Workspace,
        files: &Files,
        path: &str,
    ) -> Result<(), ServerError> {
        let Some((language, content)) = files.get(path) else {
            return Err(ServerError::Useless(format!("`{path}` is not in the code index")));
        };
        let text = text(workspace, path)?;
        self.open.insert(path.to_owned(), Open { version: 1, content: *content });
        client.notify(
            "textDocument/didOpen",
            &json!({"textDocument": {"uri": uri(workspace, path), "languageId": language_id(*language),
                "version": 1, "text": text}}),
        )
    }
}

fn manifests(workspace: &Workspace) -> HashMap<&'static str, Option<FileStamp>> {
    let stamp = |name| files::stamp(&workspace.root().join(name)).ok().flatten();
    MANIFESTS.iter().map(|name| (*name, stamp(*name))).collect()
}

/// The present text of a file.
pub(crate) fn text(workspace: &Workspace, path: &str) -> Result<String, ServerError> {
    let read = workspace.place(path).and_then(|place| workspace.read_text(&place, LARGEST));
    read.map(|read| read.text).map_err(|error| ServerError::Useless(error.to_string()))
}

pub(crate) fn uri(workspace: &Workspace, path: &str) -> Option<String> {
    Url::from_file_path(workspace.root().join(path)).ok().map(String::from)
}
