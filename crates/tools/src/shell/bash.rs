//! `bash`: one command line, with a time limit, its output live; or in the background.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{
    Artifact, ArtifactId, CommandDetail, ErrorClass, OutputStream, Preview, Risk, ToolDetail,
};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use stepwell_workspace::process::{
    self, Ending, Environment, KeepOutput, OutputFilters, ProgramCall, TextFilter,
};
use stepwell_workspace::{Error, Workspace, git};

use super::background::{BackgroundCommands, Start, State};
use super::confine::{Confined, Confinement};
use super::environment;
use super::folder::{Folders, Mark};
use super::output::{Redacted, artifact, cut, first_line, joined, show, show_to, visible};
use super::plain::{From, Plain};
use crate::catalog::CatalogOptions;
use crate::environment::TaskVariables;

const DEFAULT_TIMEOUT: u64 = 300;
const LONGEST_TIMEOUT: u64 = 600;
/// Bytes of output the model reads; the tool stays below the executor's limit, which would cut once more.
const KEPT: usize = 48 * 1024;
const LARGEST_FILE: u64 = 16 * 1024 * 1024;
/// How long the first words of a background command are waited for: a server that cannot start says so at once.
const FIRST_WORDS: Duration = Duration::from_millis(500);

pub struct Bash {
    workspace: Workspace,
    environment: Environment,
    variables: Option<TaskVariables>,
    confinement: Confinement,
    background: BackgroundCommands,
    folders: Folders,
    /// Looked up once, at the first call.
    program: OnceLock<PathBuf>,
}

impl Bash {
    /// Commands see neither secrets nor the variables the options name, and run confined.
    pub fn new(workspace: Workspace, options: &CatalogOptions, background: BackgroundCommands) -> Self {
        let environment = environment::for_commands(&options.removed_variables);
        let confinement = options.confinement.clone();
        let (folders, program) = (Folders::default(), OnceLock::new());
        let variables = options.variables.clone();
        Self { workspace, environment, variables, confinement, background, folders, program }
    }

    fn program(&self) -> &Path {
        self.program.get_or_init(|| {
            process::find_program("bash", self.workspace.root()).unwrap_or_else(|| "/bin/bash".into())
        })
    }
}

/// Runs a command in bash and returns its output and exit code. Each call is a new shell: the folder that `cd` leads to
/// is kept for the next call, variables are not. There is no input, so use flags that avoid prompts. Processes left in the
/// background with `&` end with the call; for servers and watchers use `background`. It runs in a sandbox: only the
/// workspace and /tmp can be written, files that steer tools are read-only, and every host is asked about.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct BashInput {
    #[schemars(extend("x-aliases" = ["cmd", "script"]))]
    command: String,
    /// Seconds until it is stopped; 300 by default, at most 600.
    #[schemars(extend("x-aliases" = ["timeout_seconds", "time_limit"]))]
    timeout: Option<u64>,
    /// Folder to run in, within the workspace; where the last command ended when not given.
    #[schemars(extend("x-aliases" = ["cwd", "workdir", "working_directory"]))]
    working_dir: Option<String>,
    /// Returns at once and lets it run on; `process_read`, `process_input` and `process_kill` go on with it.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["run_in_background", "is_background"]))]
    background: bool,
    /// What happens at the time limit: `kill` (the default) or `background`, which lets it run on.
    #[serde(default)]
    on_timeout: OnTimeout,
    /// Gives it a terminal, for programs that want one. Both streams are then one.
    #[serde(default)]
    pty: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTimeout {
    #[default]
    Kill,
    Background,
}

/// A command and where it runs.
#[derive(Clone, Debug)]
pub struct BashPlan {
    input: BashInput,
    folder: PathBuf,
    /// Such a command gets no way to the network.
    reads_only: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BashOutput {
    /// Absent when a signal ended the command.
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// The lines of both streams in the order of arrival; the middle left out when they are long.
    output: String,
    duration_ms: u64,
    /// The number under which it runs on in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    process_id: Option<u32>,
    /// Where the next command starts, when that is not the workspace itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    #[serde(skip)]
    artifact: Option<Artifact>,
    #[serde(skip)]
    command: String,
    /// Each stream by itself, for front ends.
    #[serde(skip)]
    stdout: String,
    #[serde(skip)]
    stderr: String,
}

impl ToolOutput for BashOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let output = &self.output;
        let gap = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        let mut notes = Vec::new();
        match (self.process_id, self.exit_code, self.signal) {
            (Some(id), ..) => {
                notes.push(format!("[runs in the background as {id}; `process_read` shows what it says]"));
            }
            (None, Some(0), _) => {}
            (None, Some(code), _) => notes.push(format!("[exit code {code}]")),
            (None, None, signal) => notes.push(format!("[ended by signal {}]", signal.unwrap_or_default())),
        }
        notes.extend(self.folder.as_ref().map(|folder| format!("[in {folder} now]")));
        match (notes.is_empty(), output.is_empty()) {
            (true, true) => Cow::Borrowed("(no output)"),
            (true, false) => Cow::Borrowed(output),
            (false, _) => Cow::Owned(format!("{output}{gap}{}", notes.join("\n"))),
        }
    }

    fn artifacts(&self) -> Vec<Artifact> {
        self.artifact.clone().into_iter().collect()
    }

    fn detail(&self) -> Option<ToolDetail> {
        Some(ToolDetail::Command {
            command: CommandDetail {
                command: self.command.clone(),
                stdout: self.stdout.clone(),
                stderr: self.stderr.clone(),
                exit_code: self.exit_code,
                signal: self.signal,
                execution_time_ms: self.duration_ms,
                process_id: self.process_id,
            },
        })
    }
}

#[async_trait]
impl Tool for Bash {
    type Input = BashInput;
    type Plan = BashPlan;
    type Output = BashOutput;

    fn is_basic(&self) -> bool {
        true
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "bash",
            aliases: &["execute_command", "shell", "run_command", "terminal_command"],
            category: Category::Shell,
            risk: Risk::Execute,
            // The command's own limit comes first; this one only catches what would not end.
            time_limit: Duration::from_secs(LONGEST_TIMEOUT + 10),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<BashPlan> {
        let folder = self.wanted_folder(ctx, &input);
        let mut place = folder.as_ref().map(|folder| format!(" in `{folder}`")).unwrap_or_default();
        if input.background {
            place.push_str(" in the background");
        }
        let run_in = self.checked_folder(&input.command, folder.as_deref());
        let preview = Preview {
            summary: format!("Run `{}`{place}", visible(&first_line(&input.command))),
            command: Some(input.command.clone()),
            paths: folder.into_iter().collect(),
            unconfined: self.confinement.missing(),
            ..Preview::default()
        };
        let mut planned =
            Planned::new(preview, run_in.map(|folder| BashPlan { input, folder, reads_only: false }));
        if let (Ok(plan), Some(command)) = (&mut planned.plan, &planned.command) {
            plan.reads_only = command.is_read_only();
        }
        planned
    }

    async fn run(&self, ctx: &ToolContext, plan: BashPlan) -> Result<Self::Output, ToolError> {
        let BashPlan { input, folder, reads_only } = plan;
        let seconds = input.timeout.unwrap_or(DEFAULT_TIMEOUT).clamp(1, LONGEST_TIMEOUT);
        let id = ArtifactId::generate();
        let file = ctx.host.artifact_dir().await.ok().map(|folder| folder.join(format!("{id}.txt")));
        let mark = Mark::new(id.as_str());
        let command = mark.watch(&input.command);
        let call = ProgramCall {
            program: self.program().into(),
            // The last one is `$0`: bash begins its messages with it, and they need not say where bash lies.
            arguments: ["--norc", "--noprofile", "-c", &command, "bash"].map(Into::into).to_vec(),
            folder,
            environment: self.environment_for(ctx, reads_only),
            input: None,
            time_limit: Duration::from_secs(seconds),
            keep: KeepOutput { memory: KEPT, file, file_limit: LARGEST_FILE },
        };
        // Lives as long as the command: it holds the way to the network.
        let network = (!reads_only).then(|| Arc::clone(&ctx.network));
        let from = if input.pty { From::Terminal } else { From::Pipe };
        let shown_as = || -> Box<dyn TextFilter> {
            Box::new(Screen { plain: Plain::new(from), inner: Box::new(Redacted(ctx.redactor.stream())) })
        };
        let stderr = mark.hide_trap(shown_as());
        let (stdout, ended_in) = mark.filter(shown_as());
        let filters = OutputFilters { stdout, stderr };
        let mut shown = 0;
        if input.background || input.pty || input.on_timeout == OnTimeout::Background {
            let confined = self.confinement.confine(call, network, ctx.access)?;
            let start = Start {
                task: ctx.task.clone(),
                line: visible(&first_line(&input.command)),
                confined,
                filters,
                terminal: input.pty,
                access: ctx.access,
                host: Arc::clone(&ctx.host),
            };
            let limit = if input.background { FIRST_WORDS } else { Duration::from_secs(seconds) };
            let ran = self.run_aside(ctx, start, limit, &input).await;
            self.keep_folder(ctx, ended_in.lock().take());
            return ran;
        }
        let mut streams = Streams::default();
        let Confined { call, proxy } = self.confinement.confine_at_once(call, network.clone(), ctx.access)?;
        let finished = call
            .run(filters, &ctx.cancel, |stream, text| {
                streams.add(stream, text);
                show(ctx, stream, text, &mut shown);
            })
            .await;
        // The way to the network ends with the command, and the next one gets its own.
        drop(proxy);
        self.confinement.prepare_next(network);
        let finished = finished.map_err(|error| {
            ToolError::execution(format!("{error}; {}", error.hint().unwrap_or_default()))
        })?;
        let folder = self.keep_folder(ctx, ended_in.lock().take());

        let artifact = artifact(id, &finished.output);
        let output = joined(&finished.output);
        let stopped = |class, why: String| {
            // The result of a failure carries no artifacts; the text names this one.
            if let Some(artifact) = &artifact {
                ctx.host.artifact_added(artifact);
            }
            Err(ToolError::new(class, so_far(&why, &output)))
        };
        let (exit_code, signal) = match finished.ending {
            Ending::TimedOut => {
                let why = format!("the command was stopped after {seconds} s; its process group was ended");
                return stopped(ErrorClass::TimeoutError, why);
            }
            Ending::Cancelled => {
                let why = "the command was cancelled; its process group was ended".into();
                return stopped(ErrorClass::Interrupted, why);
            }
            Ending::Exited(code) => (Some(code), None),
            Ending::Signalled(signal) => (None, Some(signal)),
        };
        let duration_ms = finished.duration.as_millis() as u64;
        Ok(BashOutput {
            exit_code,
            signal,
            output,
            duration_ms,
            process_id: None,
            folder,
            artifact,
            command: visible(&input.command),
            stdout: streams.stdout,
            stderr: streams.stderr,
        })
    }
}

/// The end of each stream by itself.
#[derive(Default)]
struct Streams {
    stdout: String,
    stderr: String,
}

impl Streams {
    /// Bytes of one stream that are kept for front ends; the artifact has the rest.
    const KEPT: usize = 16 * 1024;

    fn add(&mut self, stream: OutputStream, text: &str) {
        let kept = match stream {
            OutputStream::Stdout => &mut self.stdout,
            OutputStream::Stderr => &mut self.stderr,
        };
        kept.push_str(text);
        if kept.len() > 2 * Self::KEPT {
            let cut = kept.ceil_char_boundary(kept.len() - Self::KEPT);
            kept.drain(..cut);
        }
    }
}

/// Takes escape sequences out before anything else looks at the text.
struct Screen {
    plain: Plain,
    inner: Box<dyn TextFilter>,
}

impl TextFilter for Screen {
    fn push(&mut self, text: &str) -> String {
        let plain = self.plain.push(text);
        self.inner.push(&plain)
    }

    fn finish(&mut self) -> String {
        let rest = self.plain.finish();
        self.inner.push(&rest) + &self.inner.finish()
    }
}

fn so_far(why: &str, output: &str) -> String {
    let output = if output.is_empty() { "(no output)" } else { output };
    format!("{why}\noutput so far:\n{output}")
}

impl Bash {
    /// Runs a command that may go on after the call: waits for its end within the limit, then leaves it running or
    /// ends it, as the call wants.
    async fn run_aside(
        &self,
        ctx: &ToolContext,
        start: Start,
        limit: Duration,
        input: &BashInput,
    ) -> Result<BashOutput, ToolError> {
        let started = std::time::Instant::now();
        let (host, call_id) = (ctx.host.clone(), ctx.call_id.clone());
        let watching = Arc::new(());
        let watched = Arc::downgrade(&watching);
        let mut shown = 0;
        // Shown live as long as this call lasts.
        let command = self.background.start(start, move |stream, text| {
            show_to(&*host, &call_id, stream, text, &mut shown);
            watched.strong_count() > 0
        })?;
        let has_ended = tokio::select! {
            ended = command.ended(limit) => ended,
            () = ctx.cancel.cancelled() => {
                command.kill().await;
                let why = "the command was cancelled; its process group was ended";
                return Err(ToolError::interrupted(so_far(why, &command.read().0)));
            }
        };
        drop(watching);
        let runs_on = !has_ended && (input.background || input.on_timeout == OnTimeout::Background);
        if !has_ended && !runs_on {
            command.kill().await;
            let why =
                format!("the command was stopped after {} s; its process group was ended", limit.as_secs());
            return Err(ToolError::new(ErrorClass::TimeoutError, so_far(&why, &command.read().0)));
        }
        let (exit_code, signal) = match command.state() {
            State::Ended(Ending::Exited(code)) => (Some(code), None),
            State::Ended(Ending::Signalled(signal)) => (None, Some(signal)),
            State::Failed(reason) => return Err(ToolError::execution(reason)),
            State::Running { .. } | State::Ended(_) => (None, None),
        };
        let output = cut(command.read());
        Ok(BashOutput {
            exit_code,
            signal,
            duration_ms: started.elapsed().as_millis() as u64,
            process_id: runs_on.then_some(command.id),
            folder: None,
            artifact: None,
            command: visible(&input.command),
            // What runs aside may have a terminal, whose streams are one.
            stdout: output.clone(),
            stderr: String::new(),
            output,
        })
    }

    /// What only reads and was not asked about starts no program that a repository names.
    fn environment_for(&self, ctx: &ToolContext, reads_only: bool) -> Environment {
        let mut environment = self.environment.clone();
        environment.set.extend(self.variables.iter().flat_map(|variables| variables.environment(&ctx.task)));
        if reads_only {
            environment.set.extend(git::quiet_environment());
        }
        environment
    }

    /// The folder a call starts in, as paths are written; `None` for the workspace itself.
    fn wanted_folder(&self, ctx: &ToolContext, input: &BashInput) -> Option<String> {
        let given = input.working_dir.clone().filter(|folder| !folder.is_empty());
        let kept = || {
            let kept = self.folders.of(&ctx.task)?;
            // A folder that is gone, or was swapped for a link out, is not gone to.
            let place = self.workspace.place(kept.to_str()?).ok()?;
            self.workspace.folder_path(&place).ok()?;
            Some(place.display()).filter(|shown| shown != ".")
        };
        given.or_else(kept)
    }

    /// Keeps where the shell ended, when that lies in the workspace; says where, when it is not the workspace itself.
    fn keep_folder(&self, ctx: &ToolContext, ended_in: Option<String>) -> Option<String> {
        let place = self.workspace.place(&ended_in?).ok()?;
        self.folders.keep(&ctx.task, place.absolute().to_path_buf());
        Some(place.display()).filter(|shown| shown != ".")
    }

    /// The folder to run in, for a command that can run.
    fn checked_folder(&self, command: &str, working_dir: Option<&str>) -> Result<PathBuf, ToolError> {
        if command.trim().is_empty() {
            return Err(ToolError::validation("the command is empty"));
        }
        if command.contains('\0') {
            return Err(ToolError::validation("the command contains a NUL character"));
        }
        self.folder(working_dir)
    }

    fn folder(&self, working_dir: Option<&str>) -> Result<std::path::PathBuf, ToolError> {
        let Some(folder) = working_dir.filter(|folder| !folder.is_empty()) else {
            return Ok(self.workspace.root().to_path_buf());
        };
        let found = self.workspace.place(folder).and_then(|place| self.workspace.folder_path(&place));
        found.map_err(|error| match error {
            Error::OutsideWorkspace { .. } | Error::LinkOutside { .. } => {
                ToolError::permission(format!("working_dir: {error}"))
            }
            error => ToolError::validation(format!("working_dir: {error}")),
        })
    }
}
