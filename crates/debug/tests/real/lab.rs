//! A program of one language under one debugger.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use stepwell_debug::adapters::{self, AdapterKind, Search, StartMode};
use stepwell_debug::breakpoints::NewBreakpoint;
use stepwell_debug::sandbox::Isolation;
use stepwell_debug::session::{Connection, Session, SessionStart, Stop};
use stepwell_debug::stop_report::{Detail, StopEventData};
use stepwell_debug::{Debugger, DebuggerOptions, Outcome, Wait};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Python,
    C,
    Cpp,
    Rust,
    Go,
    JavaScript,
}

impl Language {
    fn source(self) -> &'static str {
        match self {
            Self::Python => "python/shop.py",
            Self::C => "c/shop.c",
            Self::Cpp => "cpp/shop.cpp",
            Self::Rust => "rust/shop.rs",
            Self::Go => "go/shop.go",
            Self::JavaScript => "javascript/shop.js",
        }
    }
}

pub struct Lab {
    pub kind: AdapterKind,
    pub language: Language,
    pub debugger: Debugger,
    pub source: PathBuf,
    pub program: PathBuf,
    search: Search,
    pub isolation: Option<Isolation>,
    seen: std::sync::atomic::AtomicU64,
    /// The folder of a test of its own; tests that only read share one, with the program built once.
    _folder: Option<tempfile::TempDir>,
}

/// A program that is missing fails a test in CI; elsewhere the test says that it was skipped.
pub fn skipped(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "{what}");
    println!("skipped: {what}");
}

impl Lab {
    /// The program built and the debugger found; `None` where one is missing.
    pub fn open(kind: AdapterKind, language: Language) -> Option<Self> {
        // Delve builds into the folder that it runs in.
        let is_shared = matches!(language, Language::C | Language::Cpp | Language::Rust);
        if !is_shared {
            return Self::open_program(kind, language, "shop");
        }
        let text = std::fs::read(fixtures().join(language.source())).unwrap();
        let mut hash = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(&text, &mut hash);
        let name = format!("lab-{:016x}", std::hash::Hasher::finish(&hash));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self::open_in(&folder, None, kind, language, "shop")
    }

    /// As [`Lab::open`], with any program of the fixtures in a folder of its own.
    pub fn open_program(kind: AdapterKind, language: Language, name: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_path_buf();
        Self::open_in(&path, Some(folder), kind, language, name)
    }

    fn open_in(
        workspace: &Path,
        folder: Option<tempfile::TempDir>,
        kind: AdapterKind,
        language: Language,
        name: &str,
    ) -> Option<Self> {
        let workspace = workspace.canonicalize().unwrap();
        let fixtures = fixtures();
        let from = fixtures.join(language.source().replace("shop", name));
        let source = workspace.join(from.file_name().unwrap());
        if !source.exists() {
            place(&source, |path| std::fs::copy(&from, path).is_ok());
        }
        if language == Language::Go {
            std::fs::copy(fixtures.join("go/go.mod"), workspace.join("go.mod")).unwrap();
        }
        let own_folder = std::env::var_os("STEPWELL_TEST_ADAPTERS")
            .map_or_else(|| workspace.join("adapters"), PathBuf::from);
        let mut search = Search { workspace: workspace.clone(), own_folder, ..Search::default() };
        if let Some(gdb) = std::env::var_os("STEPWELL_TEST_GDB") {
            search.configured.insert(AdapterKind::Gdb, gdb.into());
        }
        if let Err(error) = adapters::choose(&[kind], &search, &Map::new()) {
            skipped(&format!("{error}"));
            return None;
        }
        let built = workspace.join("shop");
        let program = match language {
            Language::Python | Language::Go | Language::JavaScript => source.clone(),
            Language::C => build("cc", &["-g", "-O0", "-pthread", "-o"], &built, &source)?,
            Language::Cpp => build("c++", &["-g", "-O0", "-pthread", "-o"], &built, &source)?,
            Language::Rust => build("rustc", &["-g", "--edition", "2021", "-o"], &built, &source)?,
        };
        let options = DebuggerOptions { search: search.clone(), ..DebuggerOptions::default() };
        let isolation = crate::isolation(&workspace, &search.own_folder);
        Some(Self {
            isolation,
            kind,
            language,
            debugger: Debugger::new(options),
            source,
            program,
            search,
            seen: std::sync::atomic::AtomicU64::new(0),
            _folder: folder,
        })
    }

    /// The line with this mark.
    pub fn line(&self, mark: &str) -> i64 {
        let text = std::fs::read_to_string(&self.source).unwrap();
        let mark = format!("MARK:{mark}");
        let is_marked = |line: &str| line.trim_end_matches(" */").ends_with(&mark);
        let at = text.lines().position(is_marked).unwrap();
        i64::try_from(at + 1).unwrap()
    }

    pub fn at(&self, mark: &str) -> NewBreakpoint {
        NewBreakpoint { path: self.source.clone(), line: self.line(mark), ..NewBreakpoint::default() }
    }

    /// Starts the program with a word.
    pub fn start(&self, word: &str) -> Arc<Session> {
        self.start_with(StartMode::Launch, self.launch_arguments(word))
    }

    pub fn launch_arguments(&self, word: &str) -> Value {
        let words: Vec<&str> = if word.is_empty() { Vec::new() } else { vec![word] };
        self.arguments_with(&words)
    }

    pub fn arguments_with(&self, words: &[&str]) -> Value {
        json!({ "program": self.program, "args": words, "cwd": self.search.workspace })
    }

    pub fn start_with(&self, how: StartMode, arguments: Value) -> Arc<Session> {
        let Value::Object(mut arguments) = arguments else { panic!("no object") };
        let (adapter, mut located) = adapters::choose(&[self.kind], &self.search, &arguments).unwrap();
        if self.isolation.is_some() && self.kind == AdapterKind::Delve {
            // Go's own folder is not there in a sandbox, and its library takes many seconds to build.
            located.environment.push(("GOCACHE".into(), go_cache().into()));
        }
        adapter.complete(how, &mut arguments, &self.search);
        let opening = SessionStart {
            name: "shop".to_owned(),
            adapter,
            way: Connection::Start(located),
            how,
            arguments,
            no_debug: false,
            probes: std::collections::BTreeMap::new(),
            functions: Vec::new(),
            exception_filters: None,
            breakpoints: true,
            stdin: stepwell_debug::session::ProgramStdin::Nothing,
            secrets: stepwell_debug::launch_config::Secrets::default(),
            // What is attached to runs outside already.
            isolation: self.isolation.clone().filter(|_| how == StartMode::Launch),
            time: PATIENCE,
        };
        self.debugger.start(opening).unwrap()
    }

    pub fn patience(&self) -> Duration {
        PATIENCE
    }

    pub fn wait(&self) -> Wait {
        Wait { deadline: Instant::now() + PATIENCE, cancel: CancellationToken::new() }
    }

    pub async fn outcome(&self, session: &Session) -> Outcome {
        let seen = self.seen.load(std::sync::atomic::Ordering::Relaxed);
        let outcome = self.debugger.wait(session, seen, &self.wait()).await;
        if let Outcome::Stopped(_, stop) = &outcome {
            self.seen.store(stop.serial, std::sync::atomic::Ordering::Relaxed);
        }
        outcome
    }

    /// The next stop, which must come.
    #[track_caller]
    pub fn stop<'a>(&'a self, session: &'a Session) -> impl Future<Output = (Arc<Session>, Stop)> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            match self.outcome(session).await {
                Outcome::Stopped(session, stop) => (session, stop),
                other => panic!(
                    "{caller}: {} with {}: {other:?}\n{}",
                    session.phase(),
                    self.kind,
                    printed(session)
                ),
            }
        }
    }

    pub async fn report(&self, session: &Session) -> (Arc<Session>, StopEventData) {
        let (session, stop) = self.stop(session).await;
        let report = session.report(&stop, Detail::COMPACT).await.unwrap();
        (session, report)
    }

    /// The value of an expression where the program stands.
    pub async fn value(&self, session: &Session, expression: &str) -> String {
        let stop = session.stopped().unwrap();
        let stack = session.stack(stop.thread.unwrap(), 0, 1).await.unwrap();
        let value = session.evaluate(expression, Some(stack.stack_frames[0].id), "watch").await;
        value.map_or_else(|error| error.to_string(), |value| value.value)
    }
}

/// Everything that was printed.
pub fn printed(session: &Session) -> String {
    session.output_since(0).0.into_iter().map(|piece| piece.text).collect()
}

/// Where sandboxes keep what Go has built.
pub fn go_cache() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/debug")
}

/// Makes a file whole at once, whoever else makes the same.
fn place(path: &Path, make: impl FnOnce(&Path) -> bool) {
    let made = path.with_extension(format!("{}-{}", std::process::id(), name_of_thread()));
    assert!(make(&made), "{}", path.display());
    std::fs::rename(made, path).unwrap();
}

/// Tells tests of one process apart.
fn name_of_thread() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::thread::current().id())
}

fn build(compiler: &str, words: &[&str], program: &Path, source: &Path) -> Option<PathBuf> {
    if Command::new(compiler).arg("--version").output().is_err() {
        skipped(&format!("{compiler} is missing"));
        return None;
    }
    if !program.exists() {
        place(program, |made| {
            Command::new(compiler)
                .args(words)
                .arg(made)
                .arg(source)
                .status()
                .is_ok_and(|status| status.success())
        });
    }
    Some(program.to_path_buf())
}
