//! What the tool runtime needs of the world, done through the workspace crate.

use std::path::Path;

use async_trait::async_trait;
use stepwell_protocol::OutputStream;
use stepwell_tool_runtime::{ArtifactWriter, HookExit, HookProcess, HookRunner, HostError};
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::process::{self, Ending, Environment, KeepOutput, ProgramCall};

/// Keeps artifacts as private files.
#[derive(Clone, Copy, Debug)]
pub struct ArtifactFiles;

#[async_trait]
impl ArtifactWriter for ArtifactFiles {
    async fn write(&self, path: &Path, content: &[u8]) -> Result<(), HostError> {
        let (path, content) = (path.to_path_buf(), content.to_vec());
        let written =
            tokio::task::spawn_blocking(move || files::write_atomic(&path, &content, Privacy::Private));
        match written.await {
            Ok(result) => result.map_err(|error| HostError(error.to_string())),
            Err(error) => Err(HostError(error.to_string())),
        }
    }
}

/// Runs hooks as child processes, in a group of their own.
#[derive(Clone, Copy, Debug)]
pub struct HookProcesses;

/// Bytes of a hook's answer that are read.
const LONGEST_ANSWER: usize = 1024 * 1024;

#[async_trait]
impl HookRunner for HookProcesses {
    async fn run(&self, hook: HookProcess) -> HookExit {
        let (program, arguments) = if hook.args.is_empty() {
            ("bash".into(), vec!["--norc".into(), "--noprofile".into(), "-c".into(), hook.command.into()])
        } else {
            (hook.command.into(), hook.args.into_iter().map(Into::into).collect())
        };
        let call = ProgramCall {
            program,
            arguments,
            folder: hook.cwd,
            environment: Environment {
                removed: Vec::new(),
                set: hook.environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            },
            input: Some(hook.stdin),
            time_limit: hook.timeout,
            keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
        };
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let ran = process::run(call, &hook.cancel, |stream, text| {
            let kept = match stream {
                OutputStream::Stdout => &mut stdout,
                OutputStream::Stderr => &mut stderr,
            };
            if kept.len() < LONGEST_ANSWER {
                kept.push_str(text);
            }
        })
        .await;
        match ran.map(|finished| finished.ending) {
            Ok(Ending::Exited(code)) => HookExit::Exited { code, stdout, stderr },
            Ok(Ending::TimedOut) => HookExit::TimedOut,
            Ok(Ending::Signalled(signal)) => {
                HookExit::Failed { reason: format!("it was ended by signal {signal}") }
            }
            Ok(Ending::Cancelled) => HookExit::Failed { reason: "it was cancelled".to_owned() },
            Err(error) => HookExit::Failed { reason: error.to_string() },
        }
    }
}
