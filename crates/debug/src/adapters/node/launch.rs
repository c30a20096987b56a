//! Starts Node with its inspector open to us alone, and hears the program to its end.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_workspace::process::{EndWatch, Ending, TerminalEnd, TextPieces};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::cdp::{CdpListener, Wire};
use super::inspector::{Answer, Inspector};
use super::inspector_messages::{ErrorStream, tail};
use super::skip_files;
use super::target::Target;
use super::websocket;
use crate::adapters::in_process::{ProgramCommand, ProgramInput, Started, Streams};

const READ_BUFFER: usize = 8 * 1024;
/// How long streams are read when the program has ended: a child of its may hold them.
const DRAIN: Duration = Duration::from_millis(500);
/// How long a program may take to end when its inspector has closed the connection.
const LAST_MOMENTS: Duration = Duration::from_secs(3);
/// What is shown of the error stream of a Node that does not start.
const SHOWN_ERROR: usize = 2000;
/// Callers across what was put off.
const ASYNC_DEPTH: i64 = 8;
/// The oldest Node whose inspector has all that is asked of it.
pub(crate) const OLDEST: u64 = 18;

/// How the program came to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaunchMode {
    Launched {
        stop_on_entry: bool,
    },
    Attached {
        opened: bool,
    },
    /// It only runs.
    Watched,
}

/// What a program's error stream has come to, for whoever starts it.
#[derive(Clone, Debug, Default)]
struct StartupOutput {
    address: Option<String>,
    said: String,
    is_over: bool,
}

impl Inspector {
    pub(crate) async fn launch(self: &Arc<Self>, arguments: &Value) -> Answer {
        let debugs = arguments.get("noDebug").and_then(Value::as_bool) != Some(true);
        let stop_on_entry = match arguments.get("stopOnEntry") {
            Some(Value::Bool(stops)) => *stops,
            // js-debug takes a file's name too.
            Some(Value::String(_)) => true,
            _ => false,
        };
        let mode = if debugs { LaunchMode::Launched { stop_on_entry } } else { LaunchMode::Watched };
        self.mode.set(mode).map_err(|_| "the program was started already".to_owned())?;
        let wanted = self.wanted(arguments, debugs)?;
        let started = self.program_host.start(wanted).map_err(|error| error.to_string())?;
        let Started { streams, end } = started;
        let (heard, mut hearing) = watch::channel(StartupOutput::default());
        let words = StartupReader { noise: debugs.then(ErrorStream::default), heard };
        let pumps = match streams {
            Streams::Separate { stdout, stderr } => vec![
                tokio::spawn(Arc::clone(self).pump(OutputSource::Pipe(stdout), "stdout", None)),
                tokio::spawn(Arc::clone(self).pump(OutputSource::Pipe(stderr), "stderr", Some(words))),
            ],
            Streams::Terminal(terminal) => {
                vec![tokio::spawn(Arc::clone(self).pump(
                    OutputSource::Terminal(terminal),
                    "stdout",
                    Some(words),
                ))]
            }
        };
        tokio::spawn(Arc::clone(self).to_the_end(end, pumps));
        if !debugs {
            self.tell("initialized", json!({})).await;
            return Ok(json!({}));
        }
        let deadline = Instant::now() + self.start_time;
        let address = loop {
            let now = hearing.borrow_and_update().clone();
            if let Some(address) = now.address {
                break address;
            }
            if now.is_over {
                return Err(format!(
                    "{} ended before its inspector was ready\n{}",
                    self.node.program.display(),
                    tail(now.said.trim(), SHOWN_ERROR)
                ));
            }
            if !matches!(tokio::time::timeout_at(deadline, hearing.changed()).await, Ok(Ok(()))) {
                return Err(format!(
                    "{} did not open its inspector within {:?}\n{}",
                    self.node.program.display(),
                    self.start_time,
                    tail(now.said.trim(), SHOWN_ERROR)
                ));
            }
        };
        self.connect(&address, deadline, arguments).await?;
        Ok(json!({}))
    }

    fn wanted(&self, arguments: &Value, debugs: bool) -> Result<ProgramCommand, String> {
        let mut words: Vec<OsString> = Vec::new();
        if debugs {
            // Any port, and its secret said to nobody but us.
            words.extend(["--inspect-brk=127.0.0.1:0", "--inspect-publish-uid=stderr"].map(Into::into));
        }
        let own = texts(arguments, "runtimeArgs")?;
        words.extend(own.into_iter().filter(|word| !word.starts_with("--inspect")).map(Into::into));
        if let Some(program) = arguments.get("program").and_then(Value::as_str) {
            words.push(program.into());
        }
        words.extend(texts(arguments, "args")?.into_iter().map(Into::into));
        let cwd = arguments.get("cwd").and_then(Value::as_str).unwrap_or_default();
        let folder = PathBuf::from(cwd);
        if !folder.is_dir() {
            return Err(format!("the folder `{cwd}` to run in is not there"));
        }
        let environment = arguments.get("env").and_then(Value::as_object).into_iter().flatten();
        let environment = environment.map(|(name, value)| {
            let value = match value {
                Value::Null => None,
                Value::String(text) => Some(text.into()),
                other => Some(other.to_string().into()),
            };
            (name.into(), value)
        });
        let console = arguments.get("console").and_then(Value::as_str).unwrap_or_default();
        let input = if console.ends_with("Terminal") { ProgramInput::Typed } else { ProgramInput::Nothing };
        Ok(ProgramCommand {
            program: self.node.program.clone().into(),
            arguments: words,
            folder,
            environment: environment.collect(),
            input,
        })
    }

    /// Opens the conversation with the inspector at a WebSocket's address.
    pub(crate) async fn connect(
        self: &Arc<Self>,
        address: &str,
        deadline: Instant,
        arguments: &Value,
    ) -> Result<(), String> {
        let unreachable = |reason: &str| format!("Node's inspector at {address} cannot be reached: {reason}");
        let (host, path) = address
            .strip_prefix("ws://")
            .and_then(|rest| rest.split_once('/'))
            .ok_or_else(|| unreachable("it is no address of a WebSocket"))?;
        let host: SocketAddr = host
            .parse()
            .map_err(|_| unreachable("its host must be given as an address, such as 127.0.0.1"))?;
        let opened = async {
            let link = self.program_host.connect(host, deadline).await?;
            websocket::open(link, host, &format!("/{path}"), deadline).await
        };
        let opened = opened.await.map_err(|error| unreachable(&error.to_string()))?;
        let main = Arc::new(Target::main());
        self.targets.lock().push(Arc::clone(&main));
        let ears: Arc<dyn CdpListener> = Arc::new(super::events::InspectorListener(Arc::downgrade(self)));
        let wire = Wire::start(opened, ears, self.answer_time, self.let_go.clone());
        self.wire.set(wire).map_err(|_| "the program was started already".to_owned())?;
        let patterns = skip_files::patterns(arguments);
        self.pause_on.lock().skipped.clone_from(&patterns);
        self.initialize(&main).await?;
        // What an older Node does not know is not needed to debug its main thread.
        let wire = self.wire()?;
        let workers = wire.ask(None, "NodeWorker.enable", json!({ "waitForDebuggerOnStart": true })).await;
        let leaving =
            wire.ask(None, "NodeRuntime.notifyWhenWaitingForDisconnect", json!({ "enabled": true })).await;
        workers.answer(self.answer_time).await.ok();
        leaving.answer(self.answer_time).await.ok();
        self.tell("initialized", json!({})).await;
        Ok(())
    }

    /// Tells a thread what it shall tell us. All is asked at once.
    pub(crate) async fn initialize(&self, target: &Target) -> Result<(), String> {
        let wire = self.wire()?;
        let route = target.route.as_deref();
        let patterns = self.pause_on.lock().skipped.clone();
        let state = self.pause_on.lock().state();
        let asked = [
            wire.ask(route, "Runtime.enable", json!({})).await,
            wire.ask(route, "Debugger.enable", json!({ "maxScriptsCacheSize": 10_000_000 })).await,
            wire.ask(route, "Debugger.setAsyncCallStackDepth", json!({ "maxDepth": ASYNC_DEPTH })).await,
            wire.ask(route, "Debugger.setBlackboxPatterns", json!({ "patterns": patterns })).await,
            wire.ask(route, "Debugger.setPauseOnExceptions", json!({ "state": state })).await,
        ];
        for asked in asked {
            asked.answer(self.answer_time).await.map_err(|failure| failure.to_string())?;
        }
        Ok(())
    }

    /// The session has said all it wants: the program may run.
    pub(crate) async fn configured(self: &Arc<Self>) -> Answer {
        if self.mode.get() == Some(&LaunchMode::Watched) {
            return Ok(json!({}));
        }
        let main = self.target_of(&json!({}))?;
        if matches!(self.mode.get(), Some(LaunchMode::Attached { .. })) {
            self.introduce(&main).await?;
        }
        self.ask(&main, "Runtime.runIfWaitingForDebugger", json!({})).await?;
        Ok(json!({}))
    }

    /// Asks the program who it is, and hides from it that it was started for us: what it forks inherits its flags, and
    /// would wait for a debugger of its own.
    pub(crate) async fn introduce(&self, main: &Target) -> Result<(), String> {
        let launched = matches!(self.mode.get(), Some(LaunchMode::Launched { .. }));
        let hide = if launched {
            "process.execArgv = process.execArgv.filter((word) => !word.startsWith('--inspect-brk=127.0.0.1:0') \
             && word !== '--inspect-publish-uid=stderr');"
        } else {
            ""
        };
        let expression = format!("(() => {{ {hide} return process.pid + ' ' + process.version; }})()");
        let asked = self
            .ask(
                main,
                "Runtime.evaluate",
                json!({ "expression": expression, "returnByValue": true, "silent": true, "disableBreaks": true }),
            )
            .await?;
        let said = asked.pointer("/result/value").and_then(Value::as_str).unwrap_or_default();
        let (pid, version) = said.split_once(' ').unwrap_or_default();
        if let Ok(pid) = pid.parse::<u32>() {
            let name = self.node.program.to_string_lossy().into_owned();
            self.tell("process", json!({ "name": name, "systemProcessId": pid, "isLocalProcess": true }))
                .await;
        }
        match major(version) {
            Some(major) if major < OLDEST => {
                Err(format!("Node {version} is too old to be debugged; {OLDEST} or newer is needed"))
            }
            _ => Ok(()),
        }
    }

    /// Passes on what the program prints; the stream on which the inspector speaks too has its words taken out.
    async fn pump(
        self: Arc<Self>,
        mut source: OutputSource,
        category: &str,
        mut words: Option<StartupReader>,
    ) {
        let mut pieces = TextPieces::default();
        while let Some(read) = source.read_some().await {
            let printed = if let Some(noise) = words.as_mut().and_then(|words| words.noise.as_mut()) {
                noise.push(&read)
            } else {
                pieces.push(&read).into_owned()
            };
            if let Some(words) = &words {
                words.hear(&printed);
            }
            self.print(category, &printed).await;
        }
        let mut rest = pieces.finish();
        if let Some(noise) = words.as_mut().and_then(|words| words.noise.as_mut()) {
            rest = noise.finish();
        }
        self.print(category, &rest).await;
        if let Some(words) = &words {
            words.heard.send_modify(|heard| {
                heard.said.push_str(&rest);
                heard.is_over = true;
            });
        }
    }

    /// Waits for the end of the program and tells how it was.
    async fn to_the_end(self: Arc<Self>, end: EndWatch, pumps: Vec<JoinHandle<()>>) {
        tokio::select! {
            () = end.ended() => {}
            () = self.over.cancelled() => return,
            reason = self.lost() => {
                if timeout(LAST_MOMENTS, end.ended()).await.is_err() {
                    return self.give_up(reason);
                }
            }
        }
        let deadline = Instant::now() + DRAIN;
        for mut pump in pumps {
            if tokio::time::timeout_at(deadline, &mut pump).await.is_err() {
                pump.abort();
            }
        }
        let code = match self.program_host.ending().await {
            Some(Ending::Exited(code)) => Some(code),
            // As shells tell it.
            Some(Ending::Signalled(signal)) => Some(128 + signal),
            Some(Ending::TimedOut | Ending::Cancelled) | None => None,
        };
        self.ended(code).await;
    }

    /// The program is over.
    pub(crate) async fn ended(&self, code: Option<i32>) {
        if let Some(code) = code {
            self.tell("exited", json!({ "exitCode": code })).await;
        }
        self.tell("terminated", json!({})).await;
    }

    /// The connection was lost, which we did not want.
    async fn lost(&self) -> String {
        let mut lost = self.lost.subscribe();
        loop {
            if let Some(reason) = lost.borrow_and_update().clone() {
                return reason;
            }
            if lost.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }
}

/// Where a program prints.
enum OutputSource {
    Pipe(pipe::Receiver),
    Terminal(TerminalEnd),
}

impl OutputSource {
    /// What came; `None` at the end.
    async fn read_some(&mut self) -> Option<Vec<u8>> {
        let mut buffer = vec![0; READ_BUFFER];
        let read = match self {
            Self::Pipe(pipe) => pipe.read(&mut buffer).await,
            Self::Terminal(terminal) => terminal.read(&mut buffer).await,
        };
        let read = read.ok().filter(|read| *read > 0)?;
        buffer.truncate(read);
        if matches!(self, Self::Terminal(_)) {
            // A terminal ends its lines in two letters.
            buffer.retain(|byte| *byte != b'\r');
        }
        Some(buffer)
    }
}

/// The stream on which the inspector speaks among the program.
struct StartupReader {
    noise: Option<ErrorStream>,
    heard: watch::Sender<StartupOutput>,
}

impl StartupReader {
    /// Lets whoever starts the program know what it said until its inspector was there.
    fn hear(&self, printed: &str) {
        self.heard.send_if_modified(|heard| {
            let is_new = heard.address.is_none();
            if is_new {
                heard.said.push_str(printed);
                heard.said = tail(&heard.said, SHOWN_ERROR).to_owned();
                heard.address = self.noise.as_ref().and_then(|noise| noise.address().map(str::to_owned));
            }
            is_new
        });
    }
}

/// A list of words among the arguments.
fn texts(arguments: &Value, name: &str) -> Result<Vec<String>, String> {
    let list = match arguments.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(format!("`{name}` must be a list of words")),
    };
    let as_text = |word: &Value| match word {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(word.to_string()),
        _ => Err(format!("`{name}` must be a list of words")),
    };
    list.iter().map(as_text).collect()
}

/// The first number of `v20.1.2`.
pub(crate) fn major(version: &str) -> Option<u64> {
    version.trim().trim_start_matches('v').split('.').next()?.parse().ok()
}
