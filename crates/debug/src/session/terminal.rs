//! Streams of a session: what the adapter's process and programs in terminals print, and what is typed to them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_workspace::process::{
    Companion, EndWatch, Ending, Environment, KeepOutput, ProgramCall, SpareTerminal, TerminalEnd, TextPieces,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;

use super::Session;
use crate::dap::ReverseRequest;
use crate::dap::types::RunInTerminal;
use crate::output::OutputCategory;
use crate::{Error, Result};

/// How long streams are read after the session's end.
const DRAIN: Duration = Duration::from_millis(500);
/// How long an adapter and its program get to end by themselves.
const GRACE: Duration = Duration::from_secs(3);
const READ_BUFFER: usize = 8 * 1024;

/// Where input for the program goes.
#[derive(Clone, Debug)]
pub(super) enum Input {
    Terminal(TerminalEnd),
    Pipe(Arc<tokio::sync::Mutex<pipe::Sender>>),
}

impl Input {
    pub(super) async fn write(&self, text: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Terminal(terminal) => terminal.write_all(text).await,
            Self::Pipe(pipe) => pipe.lock().await.write_all(text).await,
        }
    }
}

impl Session {
    pub(super) fn pump_adapter_messages(self: &Arc<Self>, stream: impl AsyncRead + Send + Unpin + 'static) {
        self.pump(stream, |session, text| {
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                session.record_adapter_message(line);
            }
        });
    }

    pub(super) fn pump_output(
        self: &Arc<Self>,
        stream: impl AsyncRead + Send + Unpin + 'static,
        category: OutputCategory,
    ) {
        self.pump(stream, move |session, text| {
            session.print(category, &(session.adapter.quirks().clean_output)(category, text));
            session.changed();
        });
    }

    fn pump(
        self: &Arc<Self>,
        mut stream: impl AsyncRead + Send + Unpin + 'static,
        mut take: impl FnMut(&Session, &str) + Send + 'static,
    ) {
        let session = Arc::downgrade(self);
        let pump = tokio::spawn(async move {
            let mut buffer = vec![0; READ_BUFFER];
            let mut pieces = TextPieces::default();
            while let Ok(read) = stream.read(&mut buffer).await {
                let Some(session) = session.upgrade() else { return };
                if read == 0 {
                    take(&session, &pieces.finish());
                    return;
                }
                take(&session, &pieces.push(&buffer[..read]));
            }
        });
        self.state.lock().pumps.push(pump);
    }

    /// Keeps a folder until the session is over.
    pub(super) fn keep_folder(self: &Arc<Self>, folder: tempfile::TempDir) {
        let mut changes = self.shared.watch();
        let session = Arc::downgrade(self);
        tokio::spawn(async move {
            while session.upgrade().is_some_and(|session| session.phase() != super::Phase::Terminated) {
                if changes.changed().await.is_err() {
                    break;
                }
            }
            drop(folder);
        });
    }

    /// An adapter wants its program on a terminal; it gets one of ours.
    pub(super) fn run_in_terminal(self: &Arc<Self>, request: ReverseRequest) {
        let wish: RunInTerminal = request
            .arguments
            .as_deref()
            .and_then(|arguments| serde_json::from_str(arguments.get()).ok())
            .unwrap_or_default();
        match self.start_in_terminal(wish) {
            // A number of this machine means nothing to an adapter that has its own.
            Ok(_) if self.sandbox().is_some() => request.reply.succeed(json!({})),
            Ok(pid) => request.reply.succeed(json!({ "processId": pid })),
            Err(error) => request.reply.fail(&error.to_string()),
        }
    }

    fn start_in_terminal(self: &Arc<Self>, wish: RunInTerminal) -> Result<u32> {
        let (program, arguments) =
            wish.args.split_first().ok_or_else(|| Error::parameter("the adapter names no program to run"))?;
        let mut environment = Environment::default();
        environment.removed.extend(self.shared.options.removed_variables.iter().map(Into::into));
        for (name, value) in wish.env {
            match value {
                Value::Null => environment.removed.push(name.into()),
                Value::String(text) => environment.set.push((name.into(), text.into())),
                other => environment.set.push((name.into(), other.to_string().into())),
            }
        }
        environment.set.push(("TERM".into(), "dumb".into()));
        let workspace = &self.shared.options.search.workspace;
        let folder = if wish.cwd.is_empty() { workspace.clone() } else { wish.cwd.into() };
        let call = ProgramCall {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            folder,
            environment,
            input: None,
            time_limit: Duration::MAX,
            keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
        };
        let (companion, terminal) = Companion::on_terminal(&self.wrapped_command(call))?;
        let pid = companion.pid();
        if let Ok(end) = companion.watch_end() {
            self.end_with_terminal(end);
        }
        self.companions.lock().push(companion);
        self.type_into(terminal);
        Ok(pid)
    }

    /// Opens a terminal for an adapter that puts its program on one when told its name; the words that tell it.
    pub(super) async fn spare_terminal(self: &Arc<Self>) -> Result<Option<Vec<std::ffi::OsString>>> {
        let terminal = self.open_terminal().await?;
        let words = self.adapter.terminal_words(&terminal.path);
        if words.is_some() {
            self.type_into(terminal.end.clone());
            self.state.lock().spare_terminal = Some(terminal);
        }
        Ok(words)
    }

    /// Opens a terminal for the program to read from; whether the adapter takes it.
    pub(super) async fn input_terminal(
        self: &Arc<Self>,
        take: impl FnOnce(&std::path::Path) -> bool,
    ) -> Result<bool> {
        let terminal = self.open_terminal().await?;
        let taken = take(&terminal.path);
        if taken {
            self.type_into(terminal.end.clone());
            self.state.lock().spare_terminal = Some(terminal);
        }
        Ok(taken)
    }

    /// Opens a terminal that the adapter and its program can open by its name.
    async fn open_terminal(&self) -> Result<SpareTerminal> {
        let opened = match self.sandbox() {
            Some(sandbox) => sandbox.terminal().await,
            None => SpareTerminal::open(),
        };
        opened.map_err(|error| Error::parameter(format!("no terminal can be opened: {error}")))
    }

    /// What is typed goes to this terminal, and what is printed there is the program's output.
    fn type_into(self: &Arc<Self>, terminal: TerminalEnd) {
        self.takes_input_on(terminal.clone());
        let session = Arc::downgrade(self);
        let pump = tokio::spawn(async move {
            let mut buffer = vec![0; READ_BUFFER];
            let mut pieces = TextPieces::default();
            while let Ok(read) = terminal.read(&mut buffer).await {
                let Some(session) = session.upgrade() else { return };
                if read == 0 {
                    return;
                }
                let text = pieces.push(&buffer[..read]).replace("\r\n", "\n");
                let text = (session.adapter.quirks().clean_output)(OutputCategory::Stdout, &text);
                session.print(OutputCategory::Stdout, &text);
                session.changed();
            }
        });
        self.state.lock().pumps.push(pump);
    }

    /// js-debug never says that a program in a terminal has ended: its own end is waited for, and then that of the session.
    fn end_with_terminal(self: &Arc<Self>, end: EndWatch) {
        let session = Arc::downgrade(self);
        tokio::spawn(async move {
            end.ended().await;
            let Some(session) = session.upgrade() else { return };
            if tokio::time::timeout(GRACE, session.over()).await.is_err() {
                session.handle_terminated();
            }
        });
    }

    /// The program reads its input from this pipe.
    pub(super) fn takes_input_from(&self, pipe: pipe::Sender) {
        self.state.lock().input = Some(Input::Pipe(Arc::new(tokio::sync::Mutex::new(pipe))));
    }

    /// The program reads its input from this terminal.
    pub(super) fn takes_input_on(&self, terminal: TerminalEnd) {
        self.state.lock().input = Some(Input::Terminal(terminal));
    }

    pub(super) fn input(&self) -> Option<Input> {
        self.state.lock().input.clone()
    }

    /// Ends the input of a program that reads a pipe.
    pub(super) fn close_input_pipe(&self) {
        let mut state = self.state.lock();
        if matches!(state.input, Some(Input::Pipe(_))) {
            state.input = None;
        }
    }

    /// Types into the program's input. The character U+0004 ends it.
    pub async fn send_input(&self, text: &str) -> Result<()> {
        let Some(input) = self.input() else {
            return Err(Error::State {
                what: format!("the program of session {} reads no input from us", self.id),
                hint: "start it with `\"console\": \"integratedTerminal\"` in its configuration".to_owned(),
            });
        };
        let (text, ends) = match &input {
            // A terminal understands the character itself.
            Input::Terminal(_) => (text, false),
            Input::Pipe(_) => Self::typed(text),
        };
        let written = tokio::time::timeout(super::ANSWER, input.write(text.as_bytes())).await;
        if ends {
            drop(input);
            self.close_input_pipe();
        }
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                Err(Error::parameter(format!("the program does not take input any more: {error}")))
            }
            Err(_) => Err(Error::parameter("the program does not read its input")),
        }
    }

    /// Waits until everything that was printed has been read, for a moment.
    pub(super) async fn drain_pumps(&self) {
        let pumps = {
            let mut state = self.state.lock();
            // A terminal of ours has an end only when nobody holds it any more.
            state.spare_terminal = None;
            std::mem::take(&mut state.pumps)
        };
        for mut pump in pumps {
            if tokio::time::timeout(DRAIN, &mut pump).await.is_err() {
                pump.abort();
            }
        }
    }

    /// Waits until no output has come for a moment; nothing tells which was the last.
    pub(super) async fn close_reason(&self) {
        const QUIET: Duration = Duration::from_millis(150);
        const LONGEST: Duration = Duration::from_secs(2);
        let deadline = tokio::time::Instant::now() + LONGEST;
        let mut changes = self.shared.watch();
        changes.borrow_and_update();
        while tokio::time::Instant::now() < deadline {
            if !matches!(tokio::time::timeout(QUIET, changes.changed()).await, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// Waits for the end of the adapter's process.
    pub(super) async fn adapter_ended(&self) {
        let watch = self.companions.lock().first().and_then(|companion| companion.watch_end().ok());
        match watch {
            Some(watch) => watch.ended().await,
            None => std::future::pending().await,
        }
    }

    /// Ends every process of the session.
    pub(super) async fn end_processes(&self) {
        // Where the adapter's process is the program, its end tells how the program ended.
        let is_program = self.adapter.quirks().closes_at_exit;
        let ended_itself = is_program && tokio::time::timeout(GRACE, self.adapter_ended()).await.is_ok();
        let companions = std::mem::take(&mut *self.companions.lock());
        for (at, companion) in companions.into_iter().enumerate() {
            let ending = companion.end(GRACE).await;
            if at == 0
                && ended_itself
                && let Some(Ending::Exited(code)) = ending
            {
                self.state.lock().ending.exit_code.get_or_insert(i64::from(code));
            }
        }
    }
}
