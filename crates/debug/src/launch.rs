//! Plans a launch and starts it: tasks and builds first, then each adapter.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::adapters::{self, AdapterKind, StartMode};
use crate::launch_config::tasks::{
    LaunchRunner, ProcessRunner, RunningTasks, TaskFile, TaskOutput, TaskPlan, TaskRun, TaskRunner,
    plan_task, run_task,
};
use crate::launch_config::{
    self, Context, Launch, PlannedCommand, PlannedRun, Request, Resolved, Secrets, TaskRef,
};
use crate::sandbox::{Isolation, SandboxSource, SessionSandbox};
use crate::session::{Connection, Phase, ProgramStdin, Session, SessionStart};
use crate::targets::{BuildStep, Target, TargetError};
use crate::{Debugger, Error, Result};

/// How much longer than it is waited for a start may take.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// Everything that a launch will run, resolved once: configurations, command lines, folders, environments, tasks. What is
/// shown of it is what [`LaunchPlan::start`] runs.
#[derive(Clone, Debug)]
pub struct LaunchPlan {
    pub name: String,
    sessions: Vec<PlannedSession>,
    stop_all: bool,
    pre_launch_task: Option<TaskPlan>,
    /// How a command was understood, in one sentence.
    pub how: Option<String>,
    pub warnings: Vec<String>,
    /// What every program reads from its standard input.
    pub stdin: ProgramStdin,
    /// The values of placeholders, put in when a program is started.
    pub secrets: Secrets,
    /// Makes the sandbox that everything runs in; `None` runs it as the person's own.
    pub sandbox: Option<Arc<dyn SandboxSource>>,
    /// The command line that it was made of.
    typed: Option<PlannedCommand>,
}

#[derive(Clone, Debug)]
struct PlannedSession {
    resolved: Resolved,
    build: Option<BuildStep>,
    pre_launch_task: Option<TaskPlan>,
    post_debug_task: Option<TaskPlan>,
}

/// How it is started.
#[derive(Clone)]
pub struct LaunchOptions {
    pub time: Duration,
    pub no_debug: bool,
    pub probes: BTreeMap<PathBuf, Vec<i64>>,
    pub functions: Vec<String>,
    pub exception_filters: Option<Vec<String>>,
    /// Whether the person's breakpoints hold too.
    pub breakpoints: bool,
    /// Whether a failure that one run does not explain may be looked at in others.
    pub runs_again: bool,
    pub cancel: CancellationToken,
    pub runner: Arc<dyn TaskRunner>,
    /// What tasks and builds print.
    pub on_output: Arc<dyn Fn(&str) + Send + Sync>,
}

impl LaunchOptions {
    pub fn new(time: Duration, cancel: CancellationToken) -> Self {
        Self {
            time,
            no_debug: false,
            probes: BTreeMap::new(),
            functions: Vec::new(),
            exception_filters: None,
            breakpoints: true,
            runs_again: true,
            cancel,
            runner: Arc::new(ProcessRunner),
            on_output: Arc::new(|_| ()),
        }
    }

    fn task_run(&self, place: &Place) -> TaskRun {
        let on_output = Arc::clone(&self.on_output);
        TaskRun {
            runner: place.runner.clone().unwrap_or_else(|| Arc::clone(&self.runner)),
            time_limit: self.time,
            cancel: self.cancel.clone(),
            on_output: Arc::new(move |output: TaskOutput<'_>| on_output(output.text)),
        }
    }
}

impl std::fmt::Debug for LaunchOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LaunchOptions").field("time", &self.time).finish_non_exhaustive()
    }
}

/// Sessions that were started, and what must be known of it.
#[derive(Debug)]
pub struct Launched {
    pub sessions: Vec<Arc<Session>>,
    pub notes: Vec<String>,
}

impl LaunchPlan {
    /// Plans a configuration or a compound, with its tasks.
    pub fn of_launch(launch: Launch, ctx: &Context) -> Result<Self> {
        let tasks = TaskFile::read(&ctx.folder).map_err(from_launch)?;
        let planned = |task: Option<&TaskRef>| {
            task.map(|task| plan_task(&tasks, task, ctx)).transpose().map_err(from_launch)
        };
        let mut sessions = Vec::new();
        for resolved in launch.sessions {
            sessions.push(PlannedSession {
                build: BuildStep::of_configuration(&resolved).map_err(from_target)?,
                pre_launch_task: planned(resolved.pre_launch_task.as_ref())?,
                post_debug_task: planned(resolved.post_debug_task.as_ref())?,
                resolved,
            });
        }
        let secrets = sessions
            .iter()
            .fold(ctx.secret_values(), |secrets, planned| secrets.with(&planned.resolved.secrets));
        Ok(Self {
            name: launch.name,
            sessions,
            stop_all: launch.stop_all,
            pre_launch_task: planned(launch.pre_launch_task.as_ref())?,
            how: None,
            warnings: Vec::new(),
            stdin: ProgramStdin::Nothing,
            secrets,
            sandbox: None,
            typed: None,
        })
    }

    /// Plans something that was named directly: a command, a program, a test, a process.
    pub fn of_target(target: Target) -> Self {
        let session = PlannedSession {
            build: target.build,
            pre_launch_task: None,
            post_debug_task: None,
            resolved: target.resolved,
        };
        Self {
            name: session.resolved.name.clone(),
            sessions: vec![session],
            stop_all: false,
            pre_launch_task: None,
            how: Some(target.how),
            warnings: target.warnings,
            stdin: ProgramStdin::Nothing,
            secrets: Secrets::default(),
            sandbox: None,
            typed: None,
        }
    }

    /// Changes the arguments of every session, such as to stop at the first line.
    pub fn set(&mut self, name: &str, value: &Value) {
        for planned in &mut self.sessions {
            planned.resolved.arguments.insert(name.to_owned(), value.clone());
        }
    }

    /// Adds variables to every session's environment.
    pub fn add_environment(&mut self, variables: &BTreeMap<String, String>) {
        for planned in &mut self.sessions {
            let env = planned.resolved.arguments.entry("env").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(env) = env {
                env.extend(variables.iter().map(|(name, value)| (name.clone(), value.clone().into())));
            }
        }
    }

    /// Runs the tests of a Rust program one after the other.
    pub(crate) fn run_tests_one_by_one(&mut self) {
        self.add_environment(&[("RUST_TEST_THREADS".to_owned(), "1".to_owned())].into());
    }

    /// Stops every program at its beginning; each type has its own word for it.
    pub fn stop_on_entry(&mut self) {
        for planned in &mut self.sessions {
            let word = if planned.resolved.kind == "cppdbg" { "stopAtEntry" } else { "stopOnEntry" };
            planned.resolved.arguments.insert(word.to_owned(), Value::Bool(true));
        }
    }

    /// Whether a session of the plan debugs something that runs already, which no sandbox can hold.
    pub fn reaches_outside(&self) -> bool {
        self.resolved().any(reaches_outside)
    }

    /// Returns the processes that a plan attaches to; `None` where it runs or reaches anything else.
    pub fn attached_processes(&self) -> Option<Vec<u32>> {
        let attaches_alone = |planned: &PlannedSession| {
            let resolved = &planned.resolved;
            let is_plain = planned.build.is_none()
                && planned.pre_launch_task.is_none()
                && planned.post_debug_task.is_none()
                && resolved.debug_server.is_none()
                && resolved.request == Request::Attach
                && launch_config::helper_commands(resolved).is_empty();
            resolved.process().filter(|_| is_plain)
        };
        let is_plain = self.pre_launch_task.is_none();
        self.sessions.iter().map(attaches_alone).collect::<Option<Vec<u32>>>().filter(|_| is_plain)
    }

    pub fn resolved(&self) -> impl Iterator<Item = &Resolved> {
        self.sessions.iter().map(|planned| &planned.resolved)
    }

    /// Returns the folders that relative paths in the programs' output may begin at.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for resolved in self.resolved() {
            let named = ["cwd", "program"].map(|name| resolved.arguments.get(name).and_then(Value::as_str));
            folders.extend(named.into_iter().flatten().map(PathBuf::from));
            folders.push(resolved.folder.clone());
        }
        folders
    }

    /// Returns the configuration of a plan that only launches one program: no tasks, no build, no attach.
    pub(crate) fn single_launch(&self) -> Option<&Resolved> {
        match self.sessions.as_slice() {
            [only] if self.pre_launch_task.is_none() => {
                let is_plain = only.build.is_none()
                    && only.pre_launch_task.is_none()
                    && only.post_debug_task.is_none()
                    && only.resolved.request == Request::Launch
                    && only.resolved.debug_server.is_none();
                is_plain.then_some(&only.resolved)
            }
            _ => None,
        }
    }

    /// Everything that would be run, for whoever must allow it.
    pub fn runs(&self) -> Vec<PlannedRun> {
        let mut rows: Vec<PlannedRun> = self.pre_launch_task.iter().flat_map(TaskPlan::runs).collect();
        for planned in &self.sessions {
            rows.extend(planned.pre_launch_task.iter().flat_map(TaskPlan::runs));
            rows.extend(planned.build.iter().map(BuildStep::runs));
            rows.extend(launch_config::runs(&planned.resolved));
            rows.extend(planned.post_debug_task.iter().flat_map(TaskPlan::runs));
        }
        rows
    }

    /// Everything that would be run as one line of a shell, for the rules about commands: the line as it was typed, then
    /// what became of it. What runs in another folder than the workspace's begins with `cd`.
    pub fn command_line(&self) -> String {
        self.one_line(self.typed.iter().cloned().chain(self.started_commands()))
    }

    /// As [`LaunchPlan::command_line`], without the line that was typed: no shell ever runs that.
    pub fn started_line(&self) -> String {
        self.one_line(self.started_commands())
    }

    /// The command line that the plan was made of.
    pub fn typed_line(&self) -> Option<&str> {
        self.typed.as_ref().map(|typed| typed.line.as_str())
    }

    fn started_commands(&self) -> impl Iterator<Item = PlannedCommand> {
        let runs = self.runs().into_iter().filter_map(|row| row.command);
        // The interpreter of a program that was named directly is our own choice, and the line that was typed names it.
        let is_target = self.how.is_some();
        let names_program = |resolved: &Resolved| {
            ["program", "module", "script"].iter().any(|key| resolved.arguments.contains_key(*key))
        };
        let helpers = move |resolved: &Resolved| match (is_target, names_program(resolved)) {
            (false, _) => launch_config::helper_commands(resolved),
            (true, true) => Vec::new(),
            (true, false) => {
                let mut named = resolved.clone();
                named.arguments.shift_remove("python");
                launch_config::helper_commands(&named)
            }
        };
        runs.chain(self.resolved().flat_map(helpers))
    }

    fn one_line(&self, commands: impl Iterator<Item = PlannedCommand>) -> String {
        let root = self.sessions.first().map(|planned| planned.resolved.folder.as_path());
        let mut lines: Vec<String> = Vec::new();
        for command in commands {
            let line = if Some(command.folder.as_path()) == root {
                command.line
            } else {
                let folder = launch_config::shell_words::quoted(&command.folder.to_string_lossy());
                format!("(cd {folder} && {})", command.line)
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.join("; ")
    }

    /// Keeps the command line that a plan was made of, as it was typed: rules may name its words.
    #[must_use]
    pub fn typed(mut self, line: &str) -> Self {
        let resolved = self.resolved().next();
        let cwd = resolved.and_then(|resolved| resolved.arguments.get("cwd")?.as_str().map(PathBuf::from));
        let folder = cwd.or_else(|| resolved.map(|resolved| resolved.folder.clone())).unwrap_or_default();
        self.typed = Some(PlannedCommand { line: line.to_owned(), folder });
        self
    }

    /// Lets a build that makes several test programs take the first that fails.
    #[must_use]
    pub fn with_first_failing_tests(mut self) -> Self {
        for build in self.sessions.iter_mut().filter_map(|planned| planned.build.as_mut()) {
            build.take_first_failing();
        }
        self
    }

    /// Runs tasks and builds, then starts every session. Where one cannot be started, the others end.
    pub async fn start(self, debugger: &Debugger, options: &LaunchOptions) -> Result<Launched> {
        let mut launched = Launched { sessions: Vec::new(), notes: self.warnings.clone() };
        match self.start_into(debugger, options, &mut launched).await {
            Ok(()) => Ok(launched),
            Err(error) => {
                for session in launched.sessions {
                    debugger.end(&session).await;
                }
                Err(error)
            }
        }
    }

    async fn start_into(
        self,
        debugger: &Debugger,
        options: &LaunchOptions,
        launched: &mut Launched,
    ) -> Result<()> {
        let deadline = Instant::now() + options.time;
        let place = Place::of(&self, debugger).await?;
        let mut shared = Vec::new();
        shared.extend(before(self.pre_launch_task.as_ref(), options, &place).await?);
        for mut planned in self.sessions {
            let running = before(planned.pre_launch_task.as_ref(), options, &place).await?;
            if let Some(build) = &planned.build {
                let warnings = build.build(&mut planned.resolved, &options.task_run(&place)).await;
                launched.notes.extend(warnings.map_err(from_target)?);
            }
            // Whoever waits is told in time; the start itself may take longer and be waited for again.
            let left = deadline.saturating_duration_since(Instant::now()) + AFTERWARDS;
            let (opening, notes) = opening_or_installed(&planned.resolved, debugger, options, left).await?;
            launched.notes.extend(notes);
            let isolation = place.isolation.clone().filter(|_| !reaches_outside(&planned.resolved));
            let (stdin, secrets) = (self.stdin.clone(), self.secrets.clone());
            let opening = SessionStart { stdin, secrets, isolation, ..opening };
            let session = debugger.start_within(opening, place.sandbox.as_ref())?;
            session.watch_server(&planned.resolved);
            let held: Vec<RunningTasks> = running.into_iter().chain(shared.drain(..)).collect();
            look_after(&session, held, planned.post_debug_task, options.clone(), place.clone());
            launched.sessions.push(session);
        }
        if self.stop_all {
            end_together(&launched.sessions);
        }
        Ok(())
    }
}

/// Where the programs of a launch run.
#[derive(Clone, Default)]
struct Place {
    isolation: Option<Isolation>,
    sandbox: Option<Arc<dyn SessionSandbox>>,
    runner: Option<Arc<dyn TaskRunner>>,
}

impl Place {
    async fn of(plan: &LaunchPlan, debugger: &Debugger) -> Result<Self> {
        let (isolation, sandbox) = match &plan.sandbox {
            Some(source) => {
                let (isolation, sandbox) = Isolation::new(Arc::clone(source)).opened().await?;
                (Some(isolation), Some(sandbox))
            }
            None => (None, None),
        };
        let is_plain = sandbox.is_none() && plan.secrets.is_empty();
        let runner = (!is_plain).then(|| -> Arc<dyn TaskRunner> {
            let removed = debugger.options().removed_variables.clone();
            Arc::new(LaunchRunner { sandbox: sandbox.clone(), secrets: plan.secrets.clone(), removed })
        });
        Ok(Self { isolation, sandbox, runner })
    }
}

/// Whether a session debugs something that runs already: a process, or a server that listens. A core file is only read.
fn reaches_outside(resolved: &Resolved) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| resolved.arguments.contains_key(*key));
    let only_core = has(&["coreFile", "coreDumpPath", "core"])
        && !has(&["processId", "pid", "port", "connect", "listen", "websocketAddress", "target"]);
    resolved.debug_server.is_some() || (resolved.request == Request::Attach && !only_core)
}

/// Runs a task that must be done, or ready, before a session.
async fn before(
    task: Option<&TaskPlan>,
    options: &LaunchOptions,
    place: &Place,
) -> Result<Option<RunningTasks>> {
    let Some(task) = task else { return Ok(None) };
    run_task(task, options.task_run(place)).await.map(Some).map_err(from_launch)
}

/// As [`opening`]; an adapter that is missing is fetched where that is allowed.
async fn opening_or_installed(
    resolved: &Resolved,
    debugger: &Debugger,
    options: &LaunchOptions,
    time: Duration,
) -> Result<(SessionStart, Vec<String>)> {
    let missing = match opening(resolved, debugger, options, time) {
        Err(error @ Error::NoAdapter { .. }) => error,
        other => return other,
    };
    let Some(installer) = &debugger.options().installer else { return Err(missing) };
    for kind in kinds_for(resolved, debugger, options)? {
        match installer.install(kind).await {
            Ok(true) => return opening(resolved, debugger, options, time),
            Ok(false) => {}
            Err(reason) => {
                return Err(Error::NoAdapter {
                    adapter: kind.name().to_owned(),
                    reason: format!("it could not be fetched: {reason}"),
                    hint: missing.hint().unwrap_or_default().to_owned(),
                });
            }
        }
    }
    Err(missing)
}

/// The adapters for a configuration, the best first, by what the person wants and what the breakpoints need.
fn kinds_for(resolved: &Resolved, debugger: &Debugger, options: &LaunchOptions) -> Result<Vec<AdapterKind>> {
    let search = &debugger.options().search;
    let mut kinds = launch_config::adapters_for(resolved, &search.custom).map_err(from_launch)?;
    let program = resolved.arguments.get("program").and_then(Value::as_str).map(Path::new);
    let kept = if options.breakpoints { debugger.breakpoints().lines() } else { Vec::new() };
    let mut places = kept.iter().map(|place| &place.path).chain(options.probes.keys());
    // Breakpoints in sources that are compiled to JavaScript need an adapter that reads source maps.
    let needs_maps =
        !program.is_some_and(is_made_into_scripts) && places.any(|path| is_made_into_scripts(path));
    if search.prefers_js_debug || needs_maps {
        kinds.sort_by_key(|kind| kind.adapter().quirks().ignores_source_maps);
    }
    Ok(kinds)
}

/// Whether a source becomes JavaScript before it runs.
fn is_made_into_scripts(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    matches!(end, "ts" | "mts" | "cts" | "tsx" | "jsx" | "vue" | "svelte")
}

/// How an adapter is asked for a configuration.
fn opening(
    resolved: &Resolved,
    debugger: &Debugger,
    options: &LaunchOptions,
    time: Duration,
) -> Result<(SessionStart, Vec<String>)> {
    let search = &debugger.options().search;
    let kinds = kinds_for(resolved, debugger, options)?;
    let server = resolved.debug_server.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    // One that listens already need not be installed here.
    let (adapter, mut way) = if let (Some(server), Some(kind)) = (server, kinds.first()) {
        (kind.adapter(), Connection::Tcp(server))
    } else {
        let (adapter, located) = adapters::choose(&kinds, search, &resolved.arguments)?;
        (adapter, Connection::Start(located))
    };
    let translated = launch_config::translate(resolved, adapter.kind()).map_err(from_launch)?;
    let mut arguments = translated.arguments;
    let how = match translated.request {
        Request::Launch => StartMode::Launch,
        Request::Attach => StartMode::Attach,
    };
    adapter.complete(how, &mut arguments, search);
    if let Connection::Start(located) = &mut way {
        for command in translated.debugger_commands {
            located.arguments.extend(["-iex".into(), command.into()]);
        }
    }
    let opening = SessionStart {
        name: resolved.name.clone(),
        adapter,
        way,
        how,
        arguments,
        no_debug: options.no_debug,
        probes: options.probes.clone(),
        functions: options.functions.clone(),
        exception_filters: options.exception_filters.clone(),
        breakpoints: options.breakpoints,
        stdin: ProgramStdin::Nothing,
        secrets: Secrets::default(),
        isolation: None,
        time,
    };
    Ok((opening, translated.notes))
}

/// Holds background tasks as long as the session lives, and runs its last task then.
fn look_after(
    session: &Arc<Session>,
    held: Vec<RunningTasks>,
    post: Option<TaskPlan>,
    options: LaunchOptions,
    place: Place,
) {
    if held.is_empty() && post.is_none() {
        return;
    }
    let session = Arc::clone(session);
    tokio::spawn(async move {
        session.over().await;
        if let Some(post) = post {
            let run = TaskRun { cancel: CancellationToken::new(), ..options.task_run(&place) };
            run_task(&post, run).await.ok();
        }
        for tasks in held {
            tasks.stop().await;
        }
    });
}

/// The end of one session ends the others.
fn end_together(sessions: &[Arc<Session>]) {
    for (at, session) in sessions.iter().enumerate() {
        let others: Vec<Arc<Session>> = sessions
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, session)| Arc::clone(session))
            .collect();
        let session = Arc::clone(session);
        tokio::spawn(async move {
            session.over().await;
            for other in others {
                if other.phase() != Phase::Terminated {
                    other.end().await;
                }
            }
        });
    }
}

/// What variables of configurations stand for, on this machine. The caller says whether the folder is trusted.
pub fn context(workspace: &Path) -> Context {
    let environment: BTreeMap<String, String> = std::env::vars().collect();
    let mut ctx = Context::new(workspace, environment);
    let user_files = ctx.home.as_deref().map(launch_config::user_settings_files).unwrap_or_default();
    ctx.settings = launch_config::Settings::read(workspace, &user_files).unwrap_or_default();
    ctx
}

pub fn from_launch(error: launch_config::LaunchError) -> Error {
    let hint = error.hint().map(str::to_owned);
    Error::Launch { reason: error.to_string(), hint }
}

pub fn from_target(error: TargetError) -> Error {
    let hint = error.hint().map(str::to_owned);
    Error::Launch { reason: error.to_string(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DebuggerOptions;
    use crate::adapters::Search;
    use crate::breakpoints::NewBreakpoint;
    use crate::targets::{Description, describe};

    #[test]
    fn rules_judge_the_command_itself_with_its_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["主 程序.py", "sub/a.py", "pkg/Cargo.toml"] {
            let path = root.join(name);
            stepwell_workspace::files::create_private_dir(path.parent().unwrap()).unwrap();
            let privacy = stepwell_workspace::files::Privacy::Shared;
            stepwell_workspace::files::write_atomic(&path, b"", privacy).unwrap();
        }
        let shown = root.display();
        let rows = [
            ("python3 '主 程序.py' one 'two words'", format!("'{shown}/主 程序.py' one 'two words'")),
            ("cd sub && python3 a.py", format!("{shown}/sub/a.py")),
            ("python3 -m pytest -k 'a or b'", "pytest -k 'a or b'".to_owned()),
            // Code is judged as the command that runs it.
            ("python3 -c 'print(1)'", "python -c 'print(1)'".to_owned()),
            (
                "cd pkg && cargo run",
                format!("(cd {shown}/pkg && cargo build --message-format=json-render-diagnostics)"),
            ),
        ];
        for (line, expected) in rows {
            let wanted = Description::CommandLine(line.to_owned());
            let plan = LaunchPlan::of_target(describe(&wanted, &context(&root)).unwrap());
            assert_eq!(plan.command_line(), expected, "{line}");
        }
    }

    #[test]
    fn a_plan_runs_the_tasks_that_were_shown() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(".vscode").join(name);
            stepwell_workspace::files::create_private_dir(path.parent().unwrap()).unwrap();
            let privacy = stepwell_workspace::files::Privacy::Shared;
            stepwell_workspace::files::write_atomic(&path, text.as_bytes(), privacy).unwrap();
        };
        let tasks = |command: &str| {
            format!(r#"{{"tasks": [{{"label": "build", "type": "shell", "command": "{command}"}}]}}"#)
        };
        write("tasks.json", &tasks("make all"));
        write(
            "launch.json",
            r#"{"configurations": [{"name": "A", "type": "python", "request": "launch", "program": "a.py",
                "preLaunchTask": "build"}]}"#,
        );
        let ctx = context(folder.path());
        let file = launch_config::LaunchFile::read(folder.path()).unwrap();
        let plan = LaunchPlan::of_launch(file.resolve("A", &ctx).unwrap(), &ctx).unwrap();
        let shown = plan.runs();
        assert!(shown.iter().any(|row| row.text.contains("make all")), "{shown:?}");
        write("tasks.json", &tasks("make another"));
        assert_eq!(plan.clone().runs(), shown);
        let task = plan.sessions[0].pre_launch_task.as_ref().unwrap();
        assert_eq!(task.runs(), shown[..task.runs().len()]);
    }

    #[tokio::test]
    async fn js_debug_comes_first_where_it_is_wanted_or_breakpoints_need_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.js", "a.ts", "b.ts", "b.js"] {
            let path = folder.path().join(name);
            stepwell_workspace::files::write_atomic(
                &path,
                b"1;\n",
                stepwell_workspace::files::Privacy::Shared,
            )
            .unwrap();
        }
        let rows = [
            ("a.js", None, false, "node"),
            ("a.js", Some("b.js"), false, "node"),
            ("a.js", Some("b.ts"), false, "js-debug"),
            ("a.ts", Some("b.ts"), false, "node"),
            ("a.js", None, true, "js-debug"),
        ];
        for (program, breakpoint, prefers_js_debug, first) in rows {
            let search =
                Search { workspace: folder.path().to_path_buf(), prefers_js_debug, ..Search::default() };
            let debugger = Debugger::new(DebuggerOptions { search, ..DebuggerOptions::default() });
            if let Some(name) = breakpoint {
                let new =
                    NewBreakpoint { path: folder.path().join(name), line: 1, ..NewBreakpoint::default() };
                debugger.set_breakpoint(new).await.unwrap();
            }
            let path = folder.path().join(program).to_string_lossy().into_owned();
            let wanted = Description::Program { path, args: Vec::new() };
            let target = describe(&wanted, &context(folder.path())).unwrap();
            let options = LaunchOptions::new(Duration::from_secs(1), CancellationToken::new());
            let kinds = kinds_for(&target.resolved, &debugger, &options).unwrap();
            assert_eq!(kinds[0].name(), first, "{program} {breakpoint:?}");
            assert_eq!(kinds.len(), 2);
        }
    }
}
