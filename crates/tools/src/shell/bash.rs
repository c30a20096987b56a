//! `bash`: one command line, with a time limit, its output live.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_protocol::{Artifact, ArtifactId, ErrorClass, Event, OutputStream, Preview, Risk};
use stepwell_tool_runtime::{
    Category, StreamRedactor, Tool, ToolContext, ToolError, ToolOutput, ToolSpec, counted,
};
use stepwell_workspace::process::{
    self, Captured, Ending, Environment, KeepOutput, OutputFilters, ProgramCall, TextFilter,
};
use stepwell_workspace::{Error, Workspace};

use super::confine::Confinement;
use super::environment;
use crate::catalog::CatalogOptions;
use crate::files::readable_size;

const DEFAULT_TIMEOUT: u64 = 300;
const LONGEST_TIMEOUT: u64 = 600;
/// Bytes of output the model reads; the tool stays below the executor's limit, which would cut once more.
const KEPT: usize = 48 * 1024;
const LARGEST_FILE: u64 = 16 * 1024 * 1024;
/// Bytes shown live; who wants more reads the artifact.
const LARGEST_LIVE: usize = 1024 * 1024;

pub struct Bash {
    workspace: Workspace,
    environment: Environment,
    confinement: Confinement,
    /// Looked up once, at the first call.
    program: OnceLock<PathBuf>,
}

impl Bash {
    /// Commands see neither secrets nor the variables the options name, and run confined.
    pub fn new(workspace: Workspace, options: &CatalogOptions) -> Self {
        let environment = environment::for_commands(&options.removed_variables);
        let confinement = options.confinement.clone();
        Self { workspace, environment, confinement, program: OnceLock::new() }
    }

    fn program(&self) -> &Path {
        self.program.get_or_init(|| {
            process::find_program("bash", self.workspace.root()).unwrap_or_else(|| "/bin/bash".into())
        })
    }
}

/// Runs a command in bash and returns its output and exit code. Each call starts anew in the workspace: `cd` and
/// variables do not last. There is no terminal and no input, so use flags that avoid prompts. Processes left in
/// the background end with the call.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BashInput {
    #[schemars(extend("x-aliases" = ["cmd", "script"]))]
    command: String,
    /// Seconds until it is stopped; 300 by default, at most 600.
    #[schemars(extend("x-aliases" = ["timeout_seconds", "time_limit"]))]
    timeout: Option<u64>,
    /// Folder to run in, within the workspace.
    #[schemars(extend("x-aliases" = ["cwd", "workdir", "working_directory"]))]
    working_dir: Option<String>,
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
    #[serde(skip)]
    artifact: Option<Artifact>,
}

impl ToolOutput for BashOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let output = &self.output;
        let gap = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        let ending = match (self.exit_code, self.signal) {
            (Some(0), _) if output.is_empty() => return Cow::Borrowed("(no output)"),
            (Some(0), _) => return Cow::Borrowed(output),
            (Some(code), _) => format!("[exit code {code}]"),
            (None, signal) => format!("[ended by signal {}]", signal.unwrap_or_default()),
        };
        Cow::Owned(format!("{output}{gap}{ending}"))
    }

    fn artifacts(&self) -> Vec<Artifact> {
        self.artifact.clone().into_iter().collect()
    }

    fn detail(&self) -> Option<Value> {
        Some(json!({ "exit_code": self.exit_code, "signal": self.signal }))
    }
}

#[async_trait]
impl Tool for Bash {
    type Input = BashInput;
    type Output = BashOutput;

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

    async fn preview(&self, _: &ToolContext, input: &Self::Input) -> Preview {
        let place = input.working_dir.as_ref().map(|folder| format!(" in `{folder}`")).unwrap_or_default();
        Preview {
            summary: format!("Run `{}`{place}", visible(&first_line(&input.command))),
            command: Some(input.command.clone()),
            paths: input.working_dir.clone().into_iter().collect(),
            unconfined: self.confinement.missing(),
            ..Preview::default()
        }
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Input) -> Result<Self::Output, ToolError> {
        if input.command.trim().is_empty() {
            return Err(ToolError::validation("the command is empty"));
        }
        if input.command.contains('\0') {
            return Err(ToolError::validation("the command contains a NUL character"));
        }
        let folder = self.folder(input.working_dir.as_deref())?;
        let seconds = input.timeout.unwrap_or(DEFAULT_TIMEOUT).clamp(1, LONGEST_TIMEOUT);
        let id = ArtifactId::generate();
        let file = ctx.host.artifact_dir().await.ok().map(|folder| folder.join(format!("{id}.txt")));
        let call = ProgramCall {
            program: self.program().into(),
            // The last one is `$0`: bash begins its messages with it, and they need not say where bash lies.
            arguments: ["--norc", "--noprofile", "-c", &input.command, "bash"].map(Into::into).to_vec(),
            folder,
            environment: self.environment.clone(),
            input: None,
            time_limit: Duration::from_secs(seconds),
            keep: KeepOutput { memory: KEPT, file, file_limit: LARGEST_FILE },
        };
        // Lives as long as the command: it holds the way to the network.
        let confined = self.confinement.confine(call)?;
        let call = confined.call;
        let mut shown = 0;
        let redacted = || Box::new(Redacted(ctx.redactor.stream()));
        let filters = OutputFilters { stdout: redacted(), stderr: redacted() };
        let finished = process::run_filtered(call, filters, &ctx.cancel, |stream, text| {
            show(ctx, stream, text, &mut shown);
        })
        .await
        .map_err(|error| ToolError::execution(format!("{error}; {}", error.hint().unwrap_or_default())))?;

        let artifact = artifact(id, &finished.output);
        let output = joined(&finished.output);
        let stopped = |class, why: String| {
            // The result of a failure carries no artifacts; the text names this one.
            if let Some(artifact) = &artifact {
                ctx.host.artifact_added(artifact);
            }
            let so_far = if output.is_empty() { "(no output)" } else { &output };
            Err(ToolError::new(class, format!("{why}\noutput so far:\n{so_far}")))
        };
        match finished.ending {
            Ending::TimedOut => {
                let why = format!("the command was stopped after {seconds} s; its process group was ended");
                stopped(ErrorClass::TimeoutError, why)
            }
            Ending::Cancelled => stopped(
                ErrorClass::Interrupted,
                "the command was cancelled; its process group was ended".into(),
            ),
            Ending::Exited(_) | Ending::Signalled(_) => {
                let (exit_code, signal) = match finished.ending {
                    Ending::Exited(code) => (Some(code), None),
                    Ending::Signalled(signal) => (None, Some(signal)),
                    Ending::TimedOut | Ending::Cancelled => (None, None),
                };
                let duration_ms = finished.duration.as_millis() as u64;
                Ok(BashOutput { exit_code, signal, output, duration_ms, artifact })
            }
        }
    }
}

impl Bash {
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

/// Hides secrets before output is kept: the file of a long one lies on the disk as it is written.
struct Redacted(StreamRedactor);

impl TextFilter for Redacted {
    fn push(&mut self, text: &str) -> String {
        self.0.push(text)
    }

    fn finish(&mut self) -> String {
        self.0.finish()
    }
}

fn show(ctx: &ToolContext, stream: OutputStream, text: &str, shown: &mut usize) {
    if *shown >= LARGEST_LIVE {
        return;
    }
    *shown += text.len();
    let mut chunk = text.to_owned();
    if *shown >= LARGEST_LIVE {
        chunk.push_str("\n[live output ends here; the command goes on]\n");
    }
    ctx.host.show(Event::ToolOutput { call_id: ctx.call_id.clone(), stream, chunk });
}

fn artifact(id: ArtifactId, output: &Captured) -> Option<Artifact> {
    let (path, bytes) = output.file.as_ref()?;
    Some(Artifact {
        id,
        label: match first_part(output) {
            Some(part) => format!("{part} of the output of bash"),
            None => "full output of bash".to_owned(),
        },
        path: path.display().to_string(),
        bytes: *bytes,
        media_type: "text/plain".to_owned(),
    })
}

/// What is shown of an output: all of it, or both ends and where the whole is.
fn joined(output: &Captured) -> String {
    if output.omitted_bytes == 0 {
        return output.head.clone();
    }
    let place = match (&output.file, first_part(output)) {
        (Some((path, _)), Some(part)) => {
            format!("{part} of the output are in {}; read it with offset and limit", path.display())
        }
        (Some((path, _)), None) => {
            format!("the whole is in {}; read it with offset and limit", path.display())
        }
        (None, _) => "the rest was not kept".to_owned(),
    };
    // The cut falls into lines; half lines on both sides are left out too.
    let head = output.head.rfind('\n').map_or(output.head.as_str(), |end| &output.head[..=end]);
    let tail = output.tail.find('\n').map_or(output.tail.as_str(), |end| &output.tail[end + 1..]);
    let omitted = output.total_bytes - (head.len() + tail.len()) as u64;
    let gap = if head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{gap}[... {} left out; {place} ...]\n{tail}", counted(omitted, "byte"))
}

/// How much of an output its file has, where that is not all of it.
fn first_part(output: &Captured) -> Option<String> {
    let (_, bytes) = output.file.as_ref().filter(|(_, bytes)| *bytes < output.total_bytes)?;
    Some(format!("the first {}", readable_size(*bytes)))
}

/// The text with what a screen would hide or reorder written out: control, bidirectional and zero-width
/// characters.
fn visible(text: &str) -> String {
    let hidden = |character: char| {
        character.is_control()
            || matches!(
                character,
                '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            )
    };
    let shown = text.chars().map(|character| {
        if hidden(character) { character.escape_unicode().to_string() } else { character.to_string() }
    });
    shown.collect()
}

fn first_line(command: &str) -> Cow<'_, str> {
    const LONGEST: usize = 200;
    let line = command.lines().next().unwrap_or_default();
    let cut = line.char_indices().nth(LONGEST).map(|(end, _)| end);
    match cut {
        Some(end) => Cow::Owned(format!("{}… ({} characters)", &line[..end], command.chars().count())),
        None if line.len() < command.trim_end().len() => Cow::Owned(format!("{line} …")),
        None => Cow::Borrowed(line),
    }
}
