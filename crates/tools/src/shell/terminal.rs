//! A shell that the person types into, behind the walls that commands have.

use std::path::Path;
use std::time::Duration;

use stepwell_tool_runtime::{ToolError, WorkspaceAccess};
use stepwell_workspace::process::{self, Ending, KeepOutput, ProgramCall, TerminalControl};
use tokio::sync::mpsc;

use super::confine::{Confined, Confinement};
use super::environment;

/// The longest a shell is kept.
const LONGEST: Duration = Duration::from_hours(24 * 7);

/// Runs a shell in a folder until it ends or `control` is closed.
pub async fn run_shell(
    confinement: &Confinement,
    root: &Path,
    removed_variables: &[String],
    size: (u16, u16),
    control: mpsc::Receiver<TerminalControl>,
    output: mpsc::Sender<Vec<u8>>,
) -> Result<Ending, ToolError> {
    let program = |name: &str| {
        process::find_program(name, root).ok_or_else(|| {
            ToolError::execution(format!("`{name}` is not installed, and a terminal needs it"))
        })
    };
    let mut environment = environment::for_commands(removed_variables);
    for (name, value) in [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")] {
        environment.removed.retain(|removed| removed != name);
        environment.set.retain(|(set, _)| set != name);
        environment.set.push((name.into(), value.into()));
    }
    let call = ProgramCall {
        // Makes the terminal that of the shell, so that keys such as Ctrl-C reach what runs in it.
        program: program("setsid")?.into(),
        arguments: vec!["--ctty".into(), "--wait".into(), program("bash")?.into(), "-i".into()],
        folder: root.to_path_buf(),
        environment,
        input: None,
        time_limit: LONGEST,
        keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
    };
    let Confined { call, proxy } = confinement.confine(call, None, WorkspaceAccess::Full)?;
    let ran = process::run_on_terminal(&call, size, control, output).await;
    drop(proxy);
    ran.map_err(|error| ToolError::execution(format!("the shell cannot be run: {error}")))
}
