//! `get_debugger_configurations`, `start_debugging`, `restart_debugging`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stepwell_debug::ids::SessionId;
use stepwell_debug::launch::{self, LaunchOptions, LaunchPlan, Launched};
use stepwell_debug::launch_config::{
    Context, Launch, LaunchFile, PlannedRun, RunRole, resolve_configuration,
};
use stepwell_debug::stop_report::Detail;
use stepwell_debug::targets::{self, Description};
use stepwell_debug::{Error, Result};
use stepwell_protocol::{Event, OutputStream, Preview, Risk};
use stepwell_tool_runtime::{Planned, ToolContext};
use tokio::time::Instant;

use super::answer::{DebugAnswer, RunAnswer, Success, failed};
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
    stop_on_entry: Option<bool>,
    /// Only run it.
    no_debug: Option<bool>,
    /// Seconds, building included; 60 by default.
    timeout: Option<f64>,
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

impl DebugAnswer for StartAnswer {}

impl DebugService {
    async fn get_configurations(
        &self,
        _: &ToolContext,
        _: ConfigurationsInput,
    ) -> Result<Success<ConfigurationsBody>> {
        let file = LaunchFile::read(self.workspace.root()).map_err(launch::from_launch)?;
        let hint = match (file.configurations.is_empty(), self.trusted) {
            (true, _) => {
                Some("there is none; `start_debugging` takes a `command`, `program` or `test` as well")
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
            let target = targets::describe(&description, &ctx).map_err(launch::from_target)?;
            LaunchPlan::of_target(target)
        };
        for resolved in plan.resolved() {
            let pid = ["processId", "pid"].iter().find_map(|key| resolved.arguments.get(*key));
            let pid = pid.and_then(|pid| pid.as_u64().or_else(|| pid.as_str()?.parse().ok()));
            if let Some(pid) = pid.and_then(|pid| u32::try_from(pid).ok()) {
                // This program and those that started it are nobody's to debug.
                targets::check_attach(pid).map_err(launch::from_target)?;
            }
        }
        if let Some(cwd) = &input.cwd {
            let folder = folder.join(cwd);
            plan.set("cwd", &Value::from(folder.to_string_lossy().into_owned()));
        }
        if let Some(env) = &input.env {
            plan.add_environment(env);
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
        planned_launch(launch, |launch| {
            Ok(StartPlan { launch, no_debug: input.no_debug == Some(true), timeout: input.timeout })
        })
    }

    /// Previews a launch: everything it will run.
    pub(super) fn preview_launch(plan: &LaunchPlan) -> Preview {
        let rows = plan.runs();
        let mut warnings: Vec<String> = rows.iter().filter_map(|row| row.warning.clone()).collect();
        warnings.extend(plan.warnings.iter().cloned());
        let command = command_of(&rows);
        let all = rows.iter().map(|row| format!("{}: {}", row.key, row.text)).collect::<Vec<_>>().join(", ");
        Preview {
            summary: format!("Debug {} ({all})", plan.name),
            command: (!command.is_empty()).then_some(command),
            warnings,
            unconfined: Some("programs that are debugged run outside the sandbox".to_owned()),
            ..Preview::default()
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
        let StartPlan { launch, no_debug, timeout } = plan;
        let wait = Self::wait(ctx, timeout, START_WAIT);
        let how = launch.how.clone();
        let mut options = Self::launch_options(ctx, wait.deadline.saturating_duration_since(Instant::now()));
        options.no_debug = no_debug;
        let after = self.debugger.serial();
        let Launched { sessions, notes } = launch.start(&self.debugger, &options).await?;
        let roots: Vec<SessionId> = sessions.iter().map(|session| session.id.clone()).collect();
        let outcome = self.debugger.wait_any(&roots, after, &wait).await;
        let first = sessions.first().ok_or(Error::NoSessionAtAll)?;
        let mut notes = notes;
        notes.extend(self.unbound());
        let run = self.answer(outcome, first, Detail::COMPACT).await?;
        let sessions = if roots.len() > 1 { roots } else { Vec::new() };
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
        self.answer(outcome, &again, Detail::COMPACT).await
    }
}

/// Returns the command lines among everything that will run.
pub(super) fn command_of(rows: &[PlannedRun]) -> String {
    let commands = rows.iter().filter(|row| matches!(row.role, RunRole::Program | RunRole::Task));
    commands.map(|row| row.text.clone()).collect::<Vec<_>>().join("; ")
}

/// Makes the plan of a tool from a launch, and its preview from the same launch.
pub(super) fn planned_launch<P>(
    launch: Result<LaunchPlan>,
    plan: impl FnOnce(LaunchPlan) -> Result<P>,
) -> Planned<P> {
    match launch {
        Ok(launch) => Planned::new(DebugService::preview_launch(&launch), plan(launch).map_err(failed)),
        Err(error) => {
            let summary = format!("Start debugging: {error}");
            Planned::new(Preview { summary, ..Preview::default() }, Err(failed(error)))
        }
    }
}
