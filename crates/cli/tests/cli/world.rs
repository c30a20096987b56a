//! A home, a workspace, a scripted model server, and the binary under test.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use expect_test::Expect;
use stepwell_protocol::{EventRecord, TaskId};
use stepwell_store::Home;
use stepwell_test_support::{ModelServer, Turn};

pub struct World {
    pub server: ModelServer,
    folder: tempfile::TempDir,
}

impl World {
    /// A world whose model plays these turns, spoken as Chat Completions.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let server = ModelServer::start();
        server.script(turns);
        let folder = tempfile::tempdir().unwrap();
        for name in ["config", "data", "work"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let world = Self { server, folder };
        world.set_config(&format!(
            "model = \"mock/mock-model\"\n[providers.mock]\nkind = \"openai-chat\"\nbase_url = \"{}\"\napi_key_env = \"MOCK_KEY\"\n",
            world.server.openai_url()
        ));
        world
    }

    pub fn set_config(&self, text: &str) {
        std::fs::write(self.folder.path().join("config/config.toml"), text).unwrap();
    }

    pub fn config(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn home(&self) -> Home {
        Home::new(self.data())
    }

    pub fn write(&self, path: &str, content: &str) {
        let path = self.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The binary in this world's workspace, with nothing of the outer environment but the path.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stepwell"));
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.folder.path())
            .env("STEPWELL_CONFIG", self.config())
            .env("STEPWELL_HOME", self.data())
            .env("MOCK_KEY", "mock-key-value")
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs the binary with this on its standard input.
    pub fn given(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    pub fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Runs the binary and compares exit code and both streams, with what changes from run to run masked.
    pub fn check(&self, arguments: &[&str], expected: Expect) {
        let output = self.output(arguments);
        expected.assert_eq(&self.show(&output));
    }

    pub fn show(&self, output: &Output) -> String {
        let mut shown = String::new();
        writeln!(shown, "exit code: {}", output.status.code().unwrap_or(-1)).unwrap();
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let text = self.mask(&String::from_utf8_lossy(bytes));
            if !text.is_empty() {
                writeln!(shown, "--- {name}\n{}", text.trim_end()).unwrap();
            }
        }
        shown
    }

    fn mask(&self, text: &str) -> String {
        let text = text.replace(&self.folder.path().display().to_string(), "[ROOT]");
        let text = text.replace(&self.server.address().to_string(), "[SERVER]");
        let patterns = [
            (r"0[0-9a-f]{31}", "[TASK]"),
            (r"(msg|call|apr|qst|art)_[0-9a-f]{32}", "[$1]"),
            (r"\d+\.\d+ s\b", "[TIME]"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "[DATE]"),
            (r#""(ts|duration_ms|created_at)":\d+"#, "\"$1\":0"),
        ];
        patterns.iter().fold(text, |text, (pattern, mask)| {
            regex::Regex::new(pattern).unwrap().replace_all(&text, *mask).into_owned()
        })
    }

    /// The only task there is.
    pub fn only_task(&self) -> TaskId {
        let ids = self.home().task_ids().unwrap();
        assert_eq!(ids.len(), 1, "{ids:?}");
        ids[0].clone()
    }

    pub fn log(&self, task: &TaskId) -> Vec<EventRecord> {
        stepwell_store::read_log(&self.home(), task).unwrap()
    }
}

/// Every file below a folder with its bytes.
pub fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.clone(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
