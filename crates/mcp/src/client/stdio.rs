//! A server that is a program: started, spoken to line by line, ended with its children.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use stepwell_workspace::process::{Companion, Environment, KeepOutput, Pipes, ProgramCall, find_program};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::config::StdioConfig;

/// Bytes of one message. Longer lines are read past; the call that waits for one ends at its limit.
pub(crate) const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// How long a program may take to end once its input is closed.
const GRACE: Duration = Duration::from_millis(500);
/// Lines of standard error that are kept to say why a program ended.
const KEPT_LINES: usize = 5;
/// Bytes of one such line.
const LONGEST_WORDS: usize = 500;
/// How long they are waited for once it is gone.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How programs of servers are started. Whoever assembles the program knows the keeper and the sandbox.
pub trait LaunchProgram: Send + Sync {
    /// Returns the call that starts a server so that it ends with us, in the sandbox where that is wanted.
    fn prepare(&self, call: ProgramCall, sandbox: bool) -> Result<ProgramCall, String>;
}

/// A server's program while it runs. Dropping it ends it and its children.
pub(crate) struct Program {
    companion: Companion,
    last_words: Arc<Mutex<VecDeque<String>>>,
    listening: JoinHandle<()>,
}

impl Program {
    /// Starts the program and returns it with its protocol streams.
    pub fn start(
        server: &str,
        config: &StdioConfig,
        removed_variables: &[String],
        launch: &dyn LaunchProgram,
    ) -> Result<(Self, pipe::Receiver, pipe::Sender), String> {
        if !config.folder.is_dir() {
            return Err(format!("its folder `{}` does not exist", config.folder.display()));
        }
        // A relative path means a file of the workspace, wherever Stepwell was started.
        let program = if config.program.contains('/') {
            config.folder.join(&config.program).into_os_string()
        } else {
            let found = find_program(&config.program, &config.folder);
            found.ok_or_else(|| format!("the program `{}` is not in PATH", config.program))?.into_os_string()
        };
        let call = ProgramCall {
            program,
            arguments: config.arguments.iter().map(Into::into).collect(),
            folder: config.folder.clone(),
            environment: Environment {
                removed: removed_variables.iter().map(Into::into).collect(),
                set: config.environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            },
            input: None,
            time_limit: Duration::MAX,
            keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
        };
        let call = launch.prepare(call, config.sandbox)?;
        let (companion, pipes) = Companion::on_pipes(&call).map_err(|error| error.to_string())?;
        let Pipes { stdin, stdout, stderr } = pipes;
        let last_words = Arc::default();
        let listening = tokio::spawn(keep_last_words(server.to_owned(), stderr, Arc::clone(&last_words)));
        Ok((Self { companion, last_words, listening }, stdout, stdin))
    }

    /// What it wrote last to standard error, once it is gone.
    pub async fn last_words(&mut self) -> Option<String> {
        timeout(LAST_WORDS, &mut self.listening).await.ok();
        let kept = self.last_words.lock();
        let lines: Vec<&str> = kept.iter().map(String::as_str).collect();
        (!lines.is_empty()).then(|| lines.join(" | "))
    }

    /// Waits for its end, its input being closed, and ends it after a grace.
    pub async fn end(self) {
        if let Ok(end) = self.companion.watch_end() {
            timeout(GRACE, end.ended()).await.ok();
        }
        self.companion.end(GRACE).await;
    }
}

/// Passes standard error to the log, line by line, and keeps the end of it. Lines are cut, so a flood costs no memory.
async fn keep_last_words(server: String, mut stderr: pipe::Receiver, kept: Arc<Mutex<VecDeque<String>>>) {
    let mut buffer = vec![0; 8 * 1024];
    let mut line: Vec<u8> = Vec::new();
    loop {
        let read = stderr.read(&mut buffer).await.unwrap_or_default();
        for byte in &buffer[..read] {
            if *byte == b'\n' {
                note(&server, &mut line, &kept);
            } else if line.len() < LONGEST_WORDS {
                line.push(*byte);
            }
        }
        if read == 0 {
            note(&server, &mut line, &kept);
            return;
        }
    }
}

fn note(server: &str, line: &mut Vec<u8>, kept: &Mutex<VecDeque<String>>) {
    let text = String::from_utf8_lossy(line).trim().to_owned();
    line.clear();
    if text.is_empty() {
        return;
    }
    tracing::info!(server, "MCP server: {text}");
    let mut kept = kept.lock();
    if kept.len() == KEPT_LINES {
        kept.pop_front();
    }
    kept.push_back(text);
}
