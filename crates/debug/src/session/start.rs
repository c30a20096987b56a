//! Starts a session: the adapter's process, the handshake, child sessions.
//!
//! The handshake follows what the adapter says. Some answer `launch` only after `configurationDone`, some before
//! `initialized`, and a launch that fails may never send `initialized`: both are waited for at once.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use stepwell_workspace::process::{Companion, Environment, KeepOutput, Pipes, ProgramCall};
use tokio::time::Instant;

use super::in_process::SessionProgramHost;
use super::stdin::ProgramStdin;
use super::{ANSWER, Phase, Session, SessionListener};
use crate::adapters::{Adapter, Located, StartMode, Transport};
use crate::dap::types::{Capabilities, StartDebugging};
use crate::dap::{Client, Link, ReverseRequest, accept_one, connect, listen};
use crate::launch_config::Secrets;
use crate::output::OutputCategory;
use crate::sandbox::{Isolation, SessionSandbox, private_folder};
use crate::{Error, Result};

/// Deadline of the adapter's first answer.
const FIRST_ANSWER: Duration = Duration::from_secs(30);
const LOOK_AT_DOCTOR: &str = "look at `stepwell adapters doctor`";
/// Maximum depth of child sessions.
const DEEPEST_CHILD: usize = 16;

/// How to connect to the adapter.
#[derive(Clone, Debug)]
pub enum Connection {
    /// Start it.
    Start(Located),
    /// It listens on this address already.
    Tcp(SocketAddr),
    Socket(PathBuf),
    /// The caller makes the connection.
    Made(LinkFactory),
}

/// Makes a connection to an adapter, a new one for each restart.
#[derive(Clone)]
pub struct LinkFactory(Arc<dyn Fn() -> Link + Send + Sync>);

impl LinkFactory {
    pub fn new(make: impl Fn() -> Link + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }
}

impl std::fmt::Debug for LinkFactory {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("LinkFactory")
    }
}

/// Options of a session.
#[derive(Clone, Debug)]
pub struct SessionStart {
    pub name: String,
    pub adapter: &'static dyn Adapter,
    pub way: Connection,
    pub how: StartMode,
    /// Arguments of `launch` or `attach`, in the adapter's own keys.
    pub arguments: Map<String, Value>,
    /// Run without debugging.
    pub no_debug: bool,
    /// Temporary breakpoints of a tool, by file.
    pub probes: BTreeMap<PathBuf, Vec<i64>>,
    /// Temporary function breakpoints of a tool.
    pub functions: Vec<String>,
    /// Exception filters instead of the adapter's default ones.
    pub exception_filters: Option<Vec<String>>,
    /// Whether the workspace's breakpoints are set.
    pub breakpoints: bool,
    pub stdin: ProgramStdin,
    /// The values of placeholders in the arguments, put in when they are sent.
    pub secrets: Secrets,
    /// The sandbox that the adapter and its programs run in; `None` runs them as the person's own.
    pub isolation: Option<Isolation>,
    /// Deadline until the program runs, building included.
    pub time: Duration,
}

impl Session {
    /// Starts in the background.
    pub(crate) fn launch(self: &Arc<Self>, opening: SessionStart) {
        self.state.lock().phase = Phase::Starting;
        let session = Arc::clone(self);
        tokio::spawn(async move {
            let opened = tokio::select! {
                opened = session.open(&opening) => opened,
                () = session.start_failed.cancelled() => Err(Error::Launch {
                    reason: format!("{} could not attach to the process", session.adapter.name()),
                    hint: None,
                }),
            };
            if let Err(error) = opened {
                session.drain_pumps().await;
                let (reason, hint) = session.explain_failure(&error);
                session.state.lock().ending.hint = hint;
                session.finish(Some(reason)).await;
            }
        });
    }

    /// Explains why a start failed, with the adapter's messages and a hint.
    pub(crate) fn explain_failure(&self, error: &Error) -> (String, Option<String>) {
        let mut reason = error.to_string();
        let said = self.adapter_output();
        if !said.is_empty() && !reason.contains(&said) {
            reason = format!("{reason}\n{said}");
        }
        (reason, error.hint().map(str::to_owned))
    }

    /// Returns the adapter's error stream, and the output of a failed build.
    fn adapter_output(&self) -> String {
        let mut said = self.adapter_messages();
        if let Some(sandbox) = self.sandbox() {
            said = format!("{said}\n{}", sandbox.messages());
        }
        if self.state.lock().process.is_none() {
            let (pieces, _, _) = self.output_since(0);
            let printed: String = pieces.into_iter().map(|piece| piece.text).collect();
            let tail: Vec<&str> = printed.trim().lines().rev().take(20).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            if !tail.is_empty() {
                said = format!("{said}\n{}", tail.join("\n"));
            }
        }
        said.trim().to_owned()
    }

    /// Connects to the adapter and exchanges `initialize`.
    pub(crate) async fn initialize(
        self: &Arc<Self>,
        opening: &SessionStart,
        deadline: Instant,
    ) -> Result<Client> {
        let link = self.reach(opening, deadline).await?;
        let client = Client::new(link, Arc::new(SessionListener(Arc::downgrade(self))));
        self.client.set(client.clone()).ok();

        let mut hello = json!({
            "clientID": "stepwell", "clientName": "Stepwell", "adapterID": opening.adapter.adapter_id(),
            "locale": "en-US", "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path",
            "supportsVariableType": true, "supportsVariablePaging": true, "supportsRunInTerminalRequest": true,
            "supportsStartDebuggingRequest": true, "supportsMemoryReferences": true,
            "supportsArgsCanBeInterpretedByShell": false,
        });
        if let Value::Object(hello) = &mut hello {
            opening.adapter.initialize_extras(hello);
        }
        let first = FIRST_ANSWER.min(opening.time);
        let greeted = client.request("initialize", hello, first).await;
        let capabilities: Capabilities = greeted.map_err(|error| greeting_error(opening, error))?;
        self.state.lock().capabilities.merge(capabilities);
        Ok(client)
    }

    async fn open(self: &Arc<Self>, opening: &SessionStart) -> Result<()> {
        let deadline = Instant::now() + opening.time;
        self.enter_sandbox(opening).await?;
        let opening = &*self.with_input(opening).await?;
        let client = self.initialize(opening, deadline).await?;
        let mut arguments = opening.secrets.expanded_map(&opening.arguments);
        if opening.no_debug {
            arguments.insert("noDebug".to_owned(), Value::Bool(true));
        }
        let launch = client.send(opening.adapter.request(opening.how).command(), &arguments)?;
        let launch = launch.answer(deadline.saturating_duration_since(Instant::now()));
        tokio::pin!(launch);
        let mut launched = false;
        loop {
            tokio::select! {
                biased;
                answer = &mut launch, if !launched => {
                    answer.map_err(|error| launch_error(opening, error))?;
                    launched = true;
                }
                ready = self.is_initialized(deadline) => match ready {
                    Ok(()) => break,
                    // debugpy 1.8 starts the program before it is configured where nothing is debugged, so a short one
                    // may be over before `initialized`.
                    Err(_) if opening.no_debug && self.phase().is_over() => return Ok(()),
                    Err(error) => return Err(error),
                },
            }
        }
        self.configure(opening).await.map_err(|error| launch_error(opening, error))?;
        if !launched {
            match launch.await {
                // A program that stopped was launched, whatever the adapter forgets to say.
                Err(Error::NoAnswer { .. }) if self.phase() != Phase::Starting => {}
                answer => drop(answer.map_err(|error| launch_error(opening, error))?),
            }
        }
        let mut state = self.state.lock();
        if state.phase == Phase::Starting {
            state.phase = Phase::Running;
        }
        drop(state);
        self.feed_input();
        self.changed();
        Ok(())
    }

    /// Waits for `initialized`.
    async fn is_initialized(&self, deadline: Instant) -> Result<()> {
        let mut changes = self.shared.watch();
        loop {
            {
                let state = self.state.lock();
                if state.initialized {
                    return Ok(());
                }
                if state.phase.is_over() {
                    return Err(Error::Launch {
                        reason: "the program ended before the debugger was ready".to_owned(),
                        hint: None,
                    });
                }
            }
            if tokio::time::timeout_at(deadline, changes.changed()).await.is_err() {
                return Err(Error::Launch {
                    reason: format!("{} did not get ready in time", self.adapter.kind()),
                    hint: Some("give a longer `timeout`, or look at `stepwell adapters doctor`".to_owned()),
                });
            }
        }
    }

    /// Sends breakpoints, exception filters and `configurationDone`, all at once to save round trips.
    async fn configure(self: &Arc<Self>, opening: &SessionStart) -> Result<()> {
        let client = self.client()?;
        if opening.no_debug {
            return self
                .answered_done(client.send("configurationDone", json!({}))?.answer(opening.time).await);
        }
        let filters: Vec<String> = {
            let mut state = self.state.lock();
            let offered = &state.capabilities.exception_breakpoint_filters;
            let usual = opening.adapter.quirks().exception_filters;
            let usual = || usual.iter().map(ToString::to_string).collect();
            let wished: Vec<String> = opening.exception_filters.clone().unwrap_or_else(usual);
            let is_offered = |wish: &String| offered.iter().any(|filter| filter.filter == *wish);
            let filters: Vec<String> = wished.into_iter().filter(is_offered).collect();
            state.exception_filters.clone_from(&filters);
            filters
        };
        let bindings = self.send_all_breakpoints()?;
        let exceptions = if self.capabilities().exception_breakpoint_filters.is_empty() {
            None
        } else {
            Some(client.send("setExceptionBreakpoints", self.exception_arguments(&filters, opening))?)
        };
        let done = client.send("configurationDone", json!({}));
        for binding in bindings {
            // A file's breakpoints that are refused do not stop the program from being debugged.
            self.take_bindings(binding).await;
        }
        if let Some(exceptions) = exceptions {
            exceptions.answer(ANSWER).await.ok();
        }
        self.answered_done(done?.answer(opening.time).await)
    }

    /// The arguments of `setExceptionBreakpoints`. Where every exception is looked at to explain a failure, those that cannot
    /// matter are left to the adapter.
    fn exception_arguments(&self, filters: &[String], opening: &SessionStart) -> Value {
        const EVERY: &str = "all";
        let condition =
            opening.adapter.quirks().handled_exception_condition.filter(|_| {
                opening.exception_filters.is_some() && filters.iter().any(|filter| filter == EVERY)
            });
        let Some(condition) = condition else { return json!({ "filters": filters }) };
        let others: Vec<_> = filters.iter().filter(|filter| *filter != EVERY).collect();
        let condition = condition(&self.shared.options.search.workspace);
        json!({ "filters": others, "filterOptions": [{ "filterId": EVERY, "condition": condition }] })
    }

    /// Sends the configuration again. Failures are ignored: it was sent before.
    pub(super) async fn reconfigure(self: Arc<Self>) {
        let bindings = self.send_all_breakpoints().unwrap_or_default();
        let done = self.client().and_then(|client| {
            let filters = self.state.lock().exception_filters.clone();
            client.send("setExceptionBreakpoints", json!({ "filters": filters }))?;
            client.send("configurationDone", json!({}))
        });
        for binding in bindings {
            self.take_bindings(binding).await;
        }
        if let Ok(done) = done {
            done.answer(ANSWER).await.ok();
        }
        self.state.lock().reconfiguring = false;
    }

    fn answered_done(&self, answer: Result<Option<Box<serde_json::value::RawValue>>>) -> Result<()> {
        match answer {
            Ok(_) => Ok(()),
            // Those that have no such request go on without it.
            Err(Error::Refused { .. }) if !self.can("supportsConfigurationDoneRequest") => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn reach(self: &Arc<Self>, opening: &SessionStart, deadline: Instant) -> Result<Link> {
        let io = |error: std::io::Error| Error::Launch {
            reason: format!("{} cannot be reached: {error}", opening.adapter.kind()),
            hint: Some(LOOK_AT_DOCTOR.to_owned()),
        };
        let sandbox = self.sandbox();
        let sandbox = sandbox.as_deref();
        let located = match &opening.way {
            Connection::Tcp(address) => return connect(*address, sandbox, deadline).await.map_err(io),
            Connection::Socket(path) => return Link::unix(path, deadline).await.map_err(io),
            Connection::Made(LinkFactory(make)) => return Ok(make()),
            Connection::Start(located) => located,
        };
        let first = deadline.min(Instant::now() + FIRST_ANSWER);
        tracing::info!(adapter = %opening.adapter.kind(), "debug adapter starts");
        match opening.adapter.reach() {
            Transport::InProcess => {
                let link = opening.adapter.serve(located, SessionProgramHost::of(self), opening.time);
                link.ok_or_else(|| Error::parameter(format!("{} cannot be served", opening.adapter.kind())))
            }
            Transport::Pipes => {
                let mut words = located.arguments.clone();
                if wants_terminal(&opening.arguments) {
                    words.extend(self.spare_terminal().await?.unwrap_or_default());
                }
                let (companion, pipes) = Companion::on_pipes(&self.adapter_call(opening, located, words))?;
                let Pipes { stdin, stdout, stderr } = pipes;
                self.pump_adapter_messages(stderr);
                self.companions.lock().push(companion);
                Ok(Link::new(stdout, stdin))
            }
            Transport::ConnectBack => {
                let (listener, port) = listen(sandbox).await.map_err(io)?;
                self.start_process(opening, located, &format!("127.0.0.1:{port}"))?;
                tokio::select! {
                    link = accept_one(listener, first) => link.map_err(io),
                    () = self.adapter_ended() => Err(Self::ended_at_once(opening)),
                }
            }
            Transport::Port => {
                // Free now; the adapter takes it at once, or says that it could not.
                let (listener, port) = listen(sandbox).await.map_err(io)?;
                drop(listener);
                self.start_process(opening, located, &format!("127.0.0.1:{port}"))?;
                let address = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, port));
                tokio::select! {
                    link = connect(address, sandbox, first) => link.map_err(io),
                    () = self.adapter_ended() => Err(Self::ended_at_once(opening)),
                }
            }
            Transport::Socket => {
                let folder = private_folder("stepwell-", sandbox).map_err(io)?;
                let path = folder.path().join("adapter.sock");
                self.start_process(opening, located, &path.to_string_lossy())?;
                // The folder goes when the session does: the path is kept in it, the folder in its pumps.
                self.keep_folder(folder);
                self.socket.set(path.clone()).ok();
                tokio::select! {
                    link = Link::unix(&path, first) => link.map_err(io),
                    () = self.adapter_ended() => Err(Self::ended_at_once(opening)),
                }
            }
        }
    }

    fn ended_at_once(opening: &SessionStart) -> Error {
        Error::Launch {
            reason: format!("{} ended as soon as it was started", opening.adapter.kind()),
            hint: None,
        }
    }

    fn start_process(
        self: &Arc<Self>,
        opening: &SessionStart,
        located: &Located,
        address: &str,
    ) -> Result<()> {
        let words = opening.adapter.with_address(located.arguments.clone(), address);
        let (companion, pipes) = Companion::on_pipes(&self.adapter_call(opening, located, words))?;
        let Pipes { stdin, stdout, stderr } = pipes;
        if opening.adapter.quirks().stdio_is_program_output {
            // Its streams are the program's. Input is held open only for who asked for it: a program that reads to the end
            // must find one.
            if wants_terminal(&opening.arguments) || opening.stdin != ProgramStdin::Nothing {
                self.takes_input_from(stdin);
            }
            self.pump_output(stdout, OutputCategory::Stdout);
            self.pump_output(stderr, OutputCategory::Stderr);
        } else {
            self.pump_adapter_messages(stdout);
            self.pump_adapter_messages(stderr);
        }
        self.companions.lock().push(companion);
        Ok(())
    }

    /// Returns the command of the adapter's process.
    fn adapter_call(
        &self,
        opening: &SessionStart,
        located: &Located,
        arguments: Vec<std::ffi::OsString>,
    ) -> ProgramCall {
        let folder = opening.adapter.folder(&opening.arguments);
        let mut call = ProgramCall {
            program: located.program.clone().into(),
            arguments,
            folder: folder.unwrap_or_else(|| self.shared.options.search.workspace.clone()),
            environment: self.environment(located.environment.clone()),
            input: None,
            time_limit: Duration::MAX,
            keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
        };
        opening.secrets.expand_call(&mut call);
        self.wrapped_command(call)
    }

    pub(super) fn environment(&self, set: Vec<(std::ffi::OsString, std::ffi::OsString)>) -> Environment {
        let mut removed: Vec<std::ffi::OsString> =
            self.shared.options.removed_variables.iter().map(Into::into).collect();
        // Options for other programs, and servers that would be asked for symbols.
        removed.extend(["NODE_OPTIONS", "DEBUGINFOD_URLS", "VSCODE_INSPECTOR_OPTIONS"].map(Into::into));
        Environment { removed, set }
    }

    /// Wraps a command to run it in the session's sandbox and to end it with all its children.
    pub(super) fn wrapped_command(&self, call: ProgramCall) -> ProgramCall {
        self.shared.wrapped_command(call, self.sandbox().as_deref())
    }

    /// Opens the sandbox of the session, or enters that of its launch.
    async fn enter_sandbox(&self, opening: &SessionStart) -> Result<()> {
        let is_inside = self.sandbox.lock().is_some();
        if let Some(isolation) = opening.isolation.as_ref().filter(|_| !is_inside) {
            let (_, sandbox) = isolation.opened().await?;
            self.stay_in(sandbox);
        }
        Ok(())
    }

    /// Keeps a sandbox open until the session has ended.
    pub(crate) fn stay_in(&self, sandbox: Arc<dyn SessionSandbox>) {
        *self.sandbox.lock() = Some(sandbox);
    }

    pub(crate) fn sandbox(&self) -> Option<Arc<dyn SessionSandbox>> {
        self.sandbox.lock().clone()
    }

    /// Starts a child session that the adapter asks for.
    pub(super) fn start_child(self: &Arc<Self>, request: ReverseRequest) {
        let wish: StartDebugging = request
            .arguments
            .as_deref()
            .and_then(|arguments| serde_json::from_str(arguments.get()).ok())
            .unwrap_or_default();
        match self.child_opening(&wish) {
            Ok(opening) => {
                let child = Session::new(Arc::clone(&self.shared), &opening, Some(self.id.clone()));
                match self.shared.add(Arc::clone(&child)) {
                    Ok(()) => {
                        child.launch(opening);
                        request.reply.succeed(json!({}));
                    }
                    Err(error) => request.reply.fail(&error.to_string()),
                }
            }
            Err(error) => request.reply.fail(&error.to_string()),
        }
    }

    fn child_opening(&self, wish: &StartDebugging) -> Result<SessionStart> {
        let mut depth = 0;
        let mut at = self.parent.clone();
        while let Some(id) = at {
            depth += 1;
            at = self.shared.session(Some(&id)).ok().and_then(|session| session.parent.clone());
        }
        if depth >= DEEPEST_CHILD {
            return Err(Error::parameter("programs start programs too deeply to be followed"));
        }
        let connect = wish.configuration.get("connect");
        let port = connect.and_then(|connect| connect.get("port")).and_then(Value::as_u64);
        let way = match (port.and_then(|port| u16::try_from(port).ok()), self.socket_path()) {
            (Some(port), _) => {
                let host = connect.and_then(|connect| connect.get("host")).and_then(Value::as_str);
                let host: IpAddr =
                    host.and_then(|host| host.parse().ok()).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
                if !host.is_loopback() {
                    return Err(Error::parameter("a child session must be on this machine"));
                }
                Connection::Tcp(SocketAddr::new(host, port))
            }
            (None, Some(path)) => Connection::Socket(path),
            (None, None) => {
                return Err(Error::parameter("the adapter does not say where the child is reached"));
            }
        };
        let name = wish.configuration.get("name").and_then(Value::as_str).unwrap_or("child process");
        Ok(SessionStart {
            name: name.to_owned(),
            adapter: self.adapter,
            way,
            how: if wish.request == "launch" { StartMode::Launch } else { StartMode::Attach },
            arguments: wish.configuration.clone(),
            no_debug: false,
            probes: self.opening.probes.clone(),
            functions: self.opening.functions.clone(),
            exception_filters: self.opening.exception_filters.clone(),
            breakpoints: self.has_user_breakpoints(),
            stdin: ProgramStdin::Nothing,
            secrets: Secrets::default(),
            isolation: self.child_isolation(),
            time: FIRST_ANSWER,
        })
    }

    /// A child is in the sandbox of its parent.
    fn child_isolation(&self) -> Option<Isolation> {
        let isolation = self.opening.isolation.as_ref()?;
        Some(self.sandbox().map_or_else(|| isolation.clone(), |sandbox| isolation.within(&sandbox)))
    }

    /// Returns the socket of this session's adapter, or of its parent's.
    fn socket_path(&self) -> Option<PathBuf> {
        if let Some(path) = self.socket.get() {
            return Some(path.clone());
        }
        let parent = self.shared.session(Some(self.parent.as_ref()?)).ok()?;
        parent.socket_path()
    }
}

fn greeting_error(opening: &SessionStart, error: Error) -> Error {
    let kind = opening.adapter.kind();
    let reason = match error {
        Error::Closed { reason, .. } => format!("{kind} ended before it was ready: {reason}"),
        Error::NoAnswer { waited, .. } => format!("{kind} was started but says nothing for {waited:?}"),
        other => return other,
    };
    Error::Launch { reason, hint: Some(LOOK_AT_DOCTOR.to_owned()) }
}

fn launch_error(opening: &SessionStart, error: Error) -> Error {
    match error {
        Error::Refused { reason, .. } => Error::Launch { reason, hint: None },
        Error::NoAnswer { waited, .. } => Error::Launch {
            reason: format!("{} did not start the program within {waited:?}", opening.adapter.kind()),
            hint: Some("give a longer `timeout` if it builds first".to_owned()),
        },
        Error::Closed { reason, .. } => Error::Launch {
            reason: format!("{} ended while it started the program: {reason}", opening.adapter.kind()),
            hint: Some(LOOK_AT_DOCTOR.to_owned()),
        },
        other => other,
    }
}

/// Whether a configuration asks for a terminal.
fn wants_terminal(arguments: &Map<String, Value>) -> bool {
    arguments.get("console").and_then(Value::as_str).is_some_and(|console| console.ends_with("Terminal"))
}
