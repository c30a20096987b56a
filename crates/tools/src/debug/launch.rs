//! `get_debugger_configurations`, `start_debugging`, `restart_debugging`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stepwell_debug::ids::SessionId;
use stepwell_debug::launch::{self, LaunchOptions, LaunchPlan};
use stepwell_debug::launch_config::{
    Context, Launch, LaunchFile, Request, Resolved, SecretUse, resolve_configuration,
};
use stepwell_debug::session::ProgramStdin;
use stepwell_debug::stop_report::StopEventData;
use stepwell_debug::targets::{self, Description};
use stepwell_debug::{Error, Outcome, Result};
use stepwell_protocol::{Event, OutputStream, Preview, Risk};
use stepwell_tool_runtime::shell::analyse;
use stepwell_tool_runtime::{Planned, ToolContext};
use tokio::time::Instant;

use super::answer::{DebugAnswer, RunAnswer, RunOutcome, Success, failed};
use super::debug_tool;
use super::service::{DebugService, START_WAIT};

/// Lists the debug configurations of `.vscode/launch.json`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ConfigurationsInput {}

/// Starts or attaches to a program and waits for its first stop or its end. Set breakpoints before. Name one of
/// `configuration_name`, `command`, `program`, `module`, `test`, `process_id`, `core`, `configuration`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct StartInput {
    /// Of `.vscode/launch.json`.
    configuration_name: Option<String>,
    /// As typed in a terminal: `pytest a.py::test_b`, `cargo test name`, `go test ./x`, `node a.js`, `./binary`; built
    /// first where needed.
    command: Option<String>,
    /// A script, a source file or a binary.
    program: Option<String>,
    args: Option<Vec<String>>,
    /// Of Python.
    module: Option<String>,
    /// A test's id.
    test: Option<String>,
    /// Attaches to a process.
    process_id: Option<u32>,
    /// A core file, of `program`.
    core: Option<String>,
    /// As in launch.json.
    configuration: Option<Map<String, Value>>,
    /// For `${input:...}`.
    inputs: Option<BTreeMap<String, String>>,
    /// For `${file}`.
    file: Option<String>,
    cwd: Option<String>,
    env: Option<BTreeMap<String, String>>,
    /// What it reads from standard input, to its end; without it `send_input` types.
    stdin: Option<String>,
    stop_on_entry: Option<bool>,
    /// Only run it.
    no_debug: Option<bool>,
    /// Seconds, building included; 60 by default.
    timeout: Option<f64>,
    /// A short stop: own frames and few variables.
    brief: Option<bool>,
}

/// What to run, for tools that run it themselves.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct RunInput {
    /// As typed in a terminal.
    pub command: Option<String>,
    /// Of `.vscode/launch.json`, instead.
    pub configuration_name: Option<String>,
    pub cwd: Option<String>,
    pub env: Option<BTreeMap<String, String>>,
    /// What it reads from standard input.
    pub stdin: Option<String>,
    /// Seconds.
    pub timeout: Option<f64>,
}

impl RunInput {
    /// Whether it names a program, rather than leaving it to the session that is stopped.
    pub fn names_something(&self) -> bool {
        self.command.is_some() || self.configuration_name.is_some()
    }

    pub fn start(&self) -> StartInput {
        StartInput {
            command: self.command.clone(),
            configuration_name: self.configuration_name.clone(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            stdin: self.stdin.clone(),
            timeout: self.timeout,
            ..StartInput::default()
        }
    }
}

/// Starts a session's program again; breakpoints stay.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct RestartInput {
    session_id: Option<SessionId>,
    timeout: Option<f64>,
    brief: Option<bool>,
}

debug_tool!(
    GetDebuggerConfigurations,
    "get_debugger_configurations",
    &[],
    ConfigurationsInput => Success<ConfigurationsBody>,
    Risk::Read,
    get_configurations,
    plain_preview
);
debug_tool!(
    StartDebugging,
    "start_debugging",
    &[],
    StartInput => StartPlan => StartAnswer,
    Risk::Execute,
    start_debugging,
    DebugService::plan_start
);
debug_tool!(
    RestartDebugging,
    "restart_debugging",
    &[],
    RestartInput => RunAnswer,
    Risk::Execute,
    restart_debugging,
    plain_preview
);

/// The configurations of `.vscode/launch.json`, as they are written there.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigurationsBody {
    configurations: Vec<Map<String, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compounds: Vec<Map<String, Value>>,
    /// The identifiers of `${input:...}` variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

/// A launch that was resolved, and how it is started.
#[derive(Clone, Debug)]
pub struct StartPlan {
    launch: LaunchPlan,
    no_debug: bool,
    timeout: Option<f64>,
    brief: Option<bool>,
}

/// How the first run of a started program went on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StartAnswer {
    #[serde(flatten)]
    run: RunAnswer,
    /// All sessions, where several were started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sessions: Vec<SessionId>,
    /// How the command was understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    how: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl DebugAnswer for StartAnswer {
    fn stop(&self) -> Option<&StopEventData> {
        self.run.stop()
    }
}

impl DebugService {
    async fn get_configurations(
        &self,
        _: &ToolContext,
        _: ConfigurationsInput,
    ) -> Result<Success<ConfigurationsBody>> {
        let file = LaunchFile::read(self.workspace.root()).map_err(launch::from_launch)?;
        if !file.exists {
            return Err(Error::Launch {
                reason: "there is no `.vscode/launch.json` in this folder".to_owned(),
                hint: Some("`start_debugging` takes a `command`, `program` or `test` as well".to_owned()),
            });
        }
        let hint = match (file.configurations.is_empty(), self.trusted) {
            (true, _) => {
                Some("it has none; `start_debugging` takes a `command`, `program` or `test` as well")
            }
            (false, false) => {
                Some("the folder is not trusted, so these do not run until `stepwell config trust`")
            }
            (false, true) => None,
        };
        Ok(Success::new(ConfigurationsBody {
            configurations: file.configurations.into_iter().map(|one| one.fields).collect(),
            compounds: file.compounds.into_iter().map(|one| one.fields).collect(),
            inputs: file.inputs.into_iter().map(|input| input.id).collect(),
            hint,
        }))
    }

    fn context_of(&self, input: &StartInput, folder: &Path) -> Result<Context> {
        let mut ctx = launch::context(folder);
        ctx.trusted = self.trusted;
        let secrets = self.debugger.options().removed_variables.iter().cloned().collect();
        // Only what the person keeps in the folder may name a secret, not what a model writes.
        ctx.secrets = if input.configuration_name.is_some() {
            SecretUse::Held(secrets)
        } else {
            SecretUse::Refused(secrets)
        };
        ctx.inputs.extend(input.inputs.clone().unwrap_or_default());
        if let Some(file) = &input.file {
            ctx.editor.file = Some(self.file(file)?);
        }
        Ok(ctx)
    }

    /// Resolves what a start would run, without running anything.
    pub(super) fn resolve_launch(&self, input: &StartInput) -> Result<LaunchPlan> {
        self.resolve_launch_in(input, self.workspace.root())
    }

    /// As [`DebugService::resolve_launch`] in another folder, such as that of another commit.
    pub(super) fn resolve_launch_in(&self, input: &StartInput, folder: &Path) -> Result<LaunchPlan> {
        let ctx = self.context_of(input, folder)?;
        let args = input.args.clone().unwrap_or_default();
        let mut ways: Vec<(&str, Description)> = Vec::new();
        if let Some(command) = &input.command {
            ways.push(("command", Description::CommandLine(command.clone())));
        }
        if let Some(core) = &input.core {
            ways.push(("core", Description::Core { core: core.clone(), program: input.program.clone() }));
        } else if let Some(path) = &input.program {
            ways.push(("program", Description::Program { path: path.clone(), args: args.clone() }));
        }
        if let Some(name) = &input.module {
            ways.push(("module", Description::Module { name: name.clone(), args }));
        }
        if let Some(id) = &input.test {
            ways.push(("test", Description::Test { id: id.clone() }));
        }
        if let Some(pid) = input.process_id {
            ways.push(("process_id", Description::Process { pid }));
        }
        let named =
            usize::from(input.configuration_name.is_some()) + usize::from(input.configuration.is_some());
        if ways.len() + named != 1 {
            let known = LaunchFile::read(self.workspace.root())
                .map(|file| file.names().join("`, `"))
                .unwrap_or_default();
            let listed =
                if known.is_empty() { String::new() } else { format!("; launch.json has `{known}`") };
            return Err(Error::Parameter {
                what: "name exactly one of `configuration_name`, `command`, `program`, `module`, `test`, `process_id`, `core`, `configuration`".to_owned(),
                hint: Some(format!("such as `command: \"pytest tests/test_a.py\"`{listed}")),
            });
        }
        let mut plan = if let Some(name) = &input.configuration_name {
            self.may_run_launch_json()?;
            let file = LaunchFile::read(folder).map_err(launch::from_launch)?;
            let launch = file.resolve(name, &ctx).map_err(launch::from_launch)?;
            LaunchPlan::of_launch(launch, &ctx)?
        } else if let Some(written) = &input.configuration {
            let resolved = resolve_configuration(written, &[], &ctx).map_err(launch::from_launch)?;
            for path in &resolved.env_files {
                if let Some(reason) = self.debugger.options().hidden_sources.of(path) {
                    return Err(Error::parameter(reason));
                }
            }
            // Its tasks would come from the folder's tasks.json.
            if resolved.pre_launch_task.is_some() || resolved.post_debug_task.is_some() {
                self.may_run_launch_json()?;
            }
            let launch = Launch {
                name: resolved.name.clone(),
                sessions: vec![resolved],
                stop_all: false,
                pre_launch_task: None,
            };
            LaunchPlan::of_launch(launch, &ctx)?
        } else {
            let (_, description) = ways.remove(0);
            let target = match &input.cwd {
                Some(cwd) => {
                    let cwd = run_folder(folder, cwd)?;
                    let description = from_folder(description, &cwd, folder);
                    targets::describe_in(&description, &ctx, &cwd)
                }
                None => targets::describe(&description, &ctx),
            };
            let plan = LaunchPlan::of_target(target.map_err(launch::from_target)?);
            match &input.command {
                Some(line) => plan.typed(line),
                None => plan,
            }
        };
        for pid in plan.resolved().filter_map(Resolved::process) {
            // This program and those that started it are nobody's to debug.
            targets::check_attach(pid).map_err(launch::from_target)?;
        }
        if let Some(cwd) = input.cwd.as_ref().filter(|_| named > 0) {
            plan.set("cwd", &Value::from(run_folder(folder, cwd)?.to_string_lossy().into_owned()));
        }
        if let Some(env) = &input.env {
            let is_placeholder = |value: &&String| plan.secrets.expanded(value) != **value;
            if env.values().any(|value| is_placeholder(&value)) {
                return Err(Error::parameter("`env` names a secret, which only launch.json may"));
            }
            plan.add_environment(env);
        }
        if let Some(text) = &input.stdin {
            plan.stdin = ProgramStdin::Text(text.as_str().into());
        }
        if input.stop_on_entry == Some(true) {
            plan.stop_on_entry();
        }
        Ok(plan)
    }

    fn may_run_launch_json(&self) -> Result<()> {
        if self.trusted {
            return Ok(());
        }
        Err(Error::State {
            what: "this folder's launch.json may not run programs: the folder is not trusted".to_owned(),
            hint: "the person can look at it and run `stepwell config trust` there; a `command`, `program` or `test` needs no launch.json".to_owned(),
        })
    }

    fn plan_start(&self, input: StartInput) -> Planned<StartPlan> {
        let launch = self.resolve_launch(&input);
        // A configuration says itself where its program reads.
        let is_configured = input.configuration_name.is_some() || input.configuration.is_some();
        self.planned_launch(launch, |mut launch| {
            if launch.stdin == ProgramStdin::Nothing && !is_configured {
                launch.stdin = ProgramStdin::Typed;
            }
            let no_debug = input.no_debug == Some(true);
            Ok(StartPlan { launch, no_debug, timeout: input.timeout, brief: input.brief })
        })
    }

    /// Previews a launch: everything it will run.
    pub(super) fn preview_launch(&self, plan: &LaunchPlan) -> Preview {
        let rows = plan.runs();
        let mut warnings: Vec<String> = rows.iter().filter_map(|row| row.warning.clone()).collect();
        warnings.extend(plan.warnings.iter().cloned());
        let command = plan.command_line();
        let all = rows.iter().map(|row| format!("{}: {}", row.key, row.text)).collect::<Vec<_>>().join(", ");
        Preview {
            summary: format!("Debug {} ({all})", plan.name),
            command: (!command.is_empty()).then_some(command),
            warnings,
            unconfined: self.unconfined(plan),
            // The command that started the process was approved.
            continues_approved: self.attaches_to_own(plan),
            ..Preview::default()
        }
    }

    /// Makes the plan of a tool from a launch, and its preview from the same launch.
    pub(super) fn planned_launch<P>(
        &self,
        launch: Result<LaunchPlan>,
        plan: impl FnOnce(LaunchPlan) -> Result<P>,
    ) -> Planned<P> {
        match launch {
            Ok(launch) => {
                let preview = self.preview_launch(&launch);
                let typed = typed_parts(&launch);
                known_by_what_runs(Planned::new(preview, plan(launch).map_err(failed)), &typed)
            }
            Err(error) => {
                let summary = format!("Start debugging: {error}");
                Planned::new(Preview { summary, ..Preview::default() }, Err(failed(error)))
            }
        }
    }

    pub(super) fn launch_options(ctx: &ToolContext, time: Duration) -> LaunchOptions {
        let mut options = LaunchOptions::new(time, ctx.cancel.clone());
        let (host, call_id) = (Arc::clone(&ctx.host), ctx.call_id.clone());
        options.on_output = Arc::new(move |text| {
            let (call_id, chunk) = (call_id.clone(), text.to_owned());
            host.show(Event::ToolOutput { call_id, stream: OutputStream::Stdout, chunk });
        });
        options
    }

    async fn start_debugging(&self, ctx: &ToolContext, plan: StartPlan) -> Result<StartAnswer> {
        let StartPlan { launch, no_debug, timeout, brief } = plan;
        let wait = Self::wait(ctx, timeout, START_WAIT);
        let how = launch.how.clone();
        let attaches = launch.resolved().all(|resolved| resolved.request == Request::Attach);
        let mut options = Self::launch_options(ctx, wait.deadline.saturating_duration_since(Instant::now()));
        options.no_debug = no_debug;
        let after = self.debugger.serial();
        let started = self.launch(ctx, launch, &options).await?;
        let roots: Vec<SessionId> = started.all().iter().map(|session| session.id.clone()).collect();
        let outcome = if attaches {
            self.debugger.wait_attached(&roots, after, &wait).await
        } else {
            Some(self.debugger.wait_any(&roots, after, &wait).await)
        };
        let first = started.first()?;
        let mut notes = started.notes.clone();
        notes.extend(self.unbound());
        let sessions = if roots.len() > 1 { roots } else { Vec::new() };
        let run = match outcome {
            Some(Outcome::Interrupted) => {
                started.end().await;
                let outcome = RunOutcome::Interrupted {
                    session_id: first.id.clone(),
                    message: "the call was cancelled; the program it started has ended".into(),
                    state: first.phase(),
                };
                RunAnswer { outcome, hint: None }
            }
            Some(outcome) => {
                started.keep();
                self.answer(outcome, &first, Self::detail(brief)).await?
            }
            // A process that was attached to runs on; what stops it is yet to happen.
            None => {
                started.keep();
                let outcome = RunOutcome::Timeout {
                    session_id: first.id.clone(),
                    message: "attached; the program runs on and nothing has stopped it yet".into(),
                    state: first.phase(),
                    new_output: None,
                };
                let hint = "`pause_debugging` stops it where it is, `wait_for_stop` waits for a breakpoint";
                RunAnswer { outcome, hint: Some(hint.into()) }
            }
        };
        Ok(StartAnswer { run, sessions, how, notes })
    }

    /// Names breakpoints that no session could bind: the program runs past them.
    fn unbound(&self) -> Vec<String> {
        let store = self.debugger.breakpoints();
        let lost = store.lines().into_iter().filter_map(|breakpoint| {
            let binding = self.debugger.binding_of(breakpoint.id)?;
            (!binding.verified).then(|| {
                let why = binding.message.filter(|message| !message.contains("provisionalBreakpoint"));
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                format!(
                    "breakpoint {} at {}:{} is not bound{why}",
                    breakpoint.id,
                    breakpoint.path.display(),
                    breakpoint.line
                )
            })
        });
        lost.take(5).collect()
    }

    async fn restart_debugging(&self, ctx: &ToolContext, input: RestartInput) -> Result<RunAnswer> {
        let wait = Self::wait(ctx, input.timeout, START_WAIT);
        let session = self.debugger.session(input.session_id.as_ref())?;
        let after = self.debugger.serial();
        let time = wait.deadline.saturating_duration_since(Instant::now());
        let again = self.debugger.restart(&session, time).await?;
        let outcome = self.debugger.wait(&again, after, &wait).await;
        self.answer(outcome, &again, Self::detail(input.brief)).await
    }
}

/// The parts of the line that was typed, as they stand there, that nothing of what runs is written as.
pub(super) fn typed_parts(launch: &LaunchPlan) -> Vec<String> {
    let started = analyse(&launch.started_line());
    let is_started = |source: &String| started.parts.iter().any(|part| part.source == *source);
    let typed = analyse(launch.typed_line().unwrap_or_default()).parts;
    typed.into_iter().map(|part| part.source).filter(|source| !is_started(source)).collect()
}

/// No shell runs the line that was typed. Rules speak about its words, but whether it can be known what runs is asked of
/// what does run: `bash a.sh` is the script `a.sh`.
pub(super) fn known_by_what_runs<P>(mut planned: Planned<P>, typed: &[String]) -> Planned<P> {
    if let Some(analysis) = &mut planned.command {
        for part in &mut Arc::make_mut(analysis).parts {
            if typed.contains(&part.source) {
                part.opaque = None;
            }
        }
    }
    planned
}

/// Returns the folder that a program runs in.
fn run_folder(root: &Path, cwd: &str) -> Result<PathBuf> {
    let folder = root.join(cwd);
    if !folder.is_dir() {
        return Err(Error::Parameter {
            what: format!("there is no folder `{cwd}`"),
            hint: Some("give `cwd` as a path from the workspace's root, or absolute".to_owned()),
        });
    }
    Ok(stepwell_workspace::files::resolved(&folder))
}

/// A program that is named from the workspace's root is found there too.
fn from_folder(description: Description, cwd: &Path, root: &Path) -> Description {
    let found = |path: &String| match root.join(path) {
        at_root if !cwd.join(path).exists() && at_root.exists() => at_root.to_string_lossy().into_owned(),
        _ => path.clone(),
    };
    match description {
        Description::Program { path, args } => Description::Program { path: found(&path), args },
        Description::Core { core, program } => {
            Description::Core { core: found(&core), program: program.as_ref().map(found) }
        }
        other => other,
    }
}
