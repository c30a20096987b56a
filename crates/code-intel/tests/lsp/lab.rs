//! A workspace with an index and a language server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_code_intel::ask::{Ask, CallGraph, CallOptions, ServerQuestion, SourceKind, Target};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::languages::Language;
use stepwell_code_intel::lsp::{Question, ReadyBy, ServerSpec, Servers, ServersOptions};
use stepwell_test_support::LANGUAGE_SERVER;
use stepwell_workspace::Workspace;
use tokio_util::sync::CancellationToken;

pub struct Lab {
    pub folder: tempfile::TempDir,
    pub servers: Servers,
    index: Index,
}

/// How long a question may take where the server is not the fault.
pub const PATIENT: Duration = Duration::from_secs(120);

impl Lab {
    pub fn new(files: &[(&str, &str)], spec: impl FnOnce(&Path) -> ServerSpec, patience: Duration) -> Self {
        Self::idle_after(files, spec, patience, Duration::from_mins(10))
    }

    pub fn idle_after(
        files: &[(&str, &str)],
        spec: impl FnOnce(&Path) -> ServerSpec,
        patience: Duration,
        idle: Duration,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&root).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text.replace("@ROOT", &root.to_string_lossy())).unwrap();
        }
        let workspace = Workspace::open(&root, &[]).unwrap();
        let index = Index::open(&folder.path().join("index"), &workspace).unwrap();
        let servers = Servers::new(ServersOptions {
            specs: vec![spec(folder.path())],
            workspace,
            keeper: None,
            removed_variables: vec!["SECRET".to_owned()],
            patience,
            idle,
        });
        Self { folder, servers, index }
    }

    /// With the scripted server; `@ROOT` in the script is the address of the workspace.
    pub fn scripted(files: &[(&str, &str)], runs: &Value, patience: Duration) -> Self {
        Self::new(files, |folder| scripted(folder, runs, ReadyBy::Progress), patience)
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    pub fn write(&self, path: &str, text: &str) {
        std::fs::write(self.root().join(path), text).unwrap();
    }

    /// The server's answer in words: places or nodes and edges, then notes; or why there is none.
    pub async fn ask(&mut self, target: &str, question: Question) -> String {
        self.ask_until(target, question, &CancellationToken::new()).await
    }

    pub async fn ask_until(
        &mut self,
        target: &str,
        question: Question,
        cancel: &CancellationToken,
    ) -> String {
        self.index.refresh(&|_, _| {}, &|| false).unwrap();
        let target = Target::parse(target);
        let prepared = ServerQuestion::prepare(&self.index, &target, question);
        let root = self.root().to_string_lossy().into_owned();
        let reply = prepared.send(Some(&self.servers), cancel).await;
        if let Some(why) = reply.failure() {
            return why.replace(&root, "ROOT");
        }
        let ask = Ask::new(&self.index).with_server(Some(&reply));
        let (mut lines, origin) = match question {
            Question::Definition => {
                let answer = ask.definition(&target).unwrap();
                let places = answer.definitions.into_iter();
                let places =
                    places.map(|one| format!("{}:{}:{} {}", one.file, one.line, one.column, one.name));
                (places.collect::<Vec<_>>(), answer.origin)
            }
            Question::References => {
                let answer = ask.references(&target, usize::MAX).unwrap();
                let places = answer.references.into_iter().map(|one| {
                    let name = self.name_at(&one.file, one.line, one.column);
                    format!("{}:{}:{} {name}", one.file, one.line, one.column)
                });
                (places.collect(), answer.origin)
            }
            Question::Calls { direction, depth, most } => {
                let options = CallOptions { direction, depth, max_nodes: most };
                let CallGraph { graph, origin, .. } = ask.call_graph(&target, options).unwrap();
                let nodes =
                    graph.nodes.iter().map(|node| format!("{} {}:{}", node.name, node.file, node.line));
                let edges = graph.edges.iter().map(|edge| format!("{}->{}", edge.from, edge.to));
                (nodes.chain(edges).collect(), origin)
            }
        };
        assert_eq!(origin.source, SourceKind::Lsp);
        lines.extend(origin.note().map(|note| format!("note: {note}")));
        let shown = lines.join("\n");
        shown.replace(&root, "ROOT")
    }

    /// The name that begins at a position.
    fn name_at(&self, file: &str, line: u32, column: u32) -> String {
        let text = std::fs::read_to_string(self.root().join(file)).unwrap_or_default();
        let line = text.lines().nth(line as usize - 1).unwrap_or_default();
        let after = line.chars().skip(column as usize - 1);
        after.take_while(|one| one.is_alphanumeric() || *one == '_').collect()
    }

    /// What the scripted server got: the methods with what is asked for of each.
    pub fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The parameters of all messages of one method.
    pub fn got(&self, method: &str) -> Vec<Value> {
        let got = self.log().into_iter().filter(|line| line["got"]["method"] == method);
        got.map(|line| line["got"]["params"].clone()).collect()
    }
}

/// The scripted server for Python files.
pub fn scripted(folder: &Path, runs: &Value, ready: ReadyBy) -> ServerSpec {
    let (program, script) = (folder.join("server.py"), folder.join("script"));
    let root = format!("file://{}", folder.canonicalize().unwrap().join("work").display());
    std::fs::write(&program, LANGUAGE_SERVER).unwrap();
    std::fs::write(&script, runs.to_string().replace("@ROOT", &root)).unwrap();
    let words = [program, script, folder.join("log")];
    ServerSpec {
        name: "scripted".to_owned(),
        languages: vec![Language::Python],
        command: "python3".to_owned(),
        arguments: std::iter::once("-S".to_owned())
            .chain(words.iter().map(|word| word.to_string_lossy().into_owned()))
            .collect(),
        environment: Vec::new(),
        initialization: json!({"scripted": {"deep": 7}}),
        ready,
        project: Vec::new(),
    }
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A program that is missing fails a test in CI; elsewhere the test says that it was skipped.
pub fn skipped(what: &str) {
    assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "{what}");
    println!("skipped: {what}");
}
