//! `stepwell demo`: the agent fixes a program from a recorded model. Files, debugger and edits are real.

use std::path::Path;
use std::time::Duration;

use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::process::{self, Ending, Environment, KeepOutput, ProgramCall};

use crate::args::DemoArgs;
use crate::assemble::confinement::OWN_PROGRAM;
use crate::assemble::debugging::{ADAPTERS_VARIABLE, adapters_folder};
use crate::exit::Exit;
use crate::settings::Places;
use crate::terminal::{Style, error_line};

const PROGRAM: &str = include_str!("../../../../examples/python/invoice.py");
const CASSETTE: &str = include_str!("../../../../fixtures/demo/fix-invoice.cassette");
/// Set for the run of the demo: its task goes with its folder, so nothing tells how to go on with it.
pub const DEMO_VARIABLE: &str = "STEPWELL_DEMO";
const PROMPT: &str = "invoice.py fails; find out why and fix it";

pub async fn run(args: DemoArgs) -> anyhow::Result<Exit> {
    let folder = tempfile::Builder::new().prefix("stepwell-demo-").tempdir()?;
    let work = folder.path().join("work");
    files::create_private_dir(&work)?;
    files::write_atomic(&work.join("invoice.py"), PROGRAM.as_bytes(), Privacy::Shared)?;
    let cassette = folder.path().join("model.cassette");
    files::write_atomic(&cassette, CASSETTE.as_bytes(), Privacy::Shared)?;
    error_line(&Style::for_stderr().dim(&format!("$ stepwell run \"{PROMPT}\"")));
    let adapters = adapters_folder(&Places::find()?);
    let ending = process::run_attached(&agent(folder.path(), &work, &cassette, &adapters)).await?;
    if args.keep {
        error_line(&format!("kept: {}", folder.keep().display()));
    }
    Ok(match ending {
        Ending::Exited(code) => Exit::Command(code as u8),
        Ending::Signalled(_) | Ending::TimedOut | Ending::Cancelled => Exit::Failed,
    })
}

/// The agent as anyone would start it, with a home of its own so that no settings of the person's take part. The
/// adapters are theirs.
fn agent(folder: &Path, work: &Path, cassette: &Path, adapters: &Path) -> ProgramCall {
    let model = format!("replay-lenient:{}", cassette.display());
    let words = ["run", "--model", &model, "--permission-mode", "bypassPermissions", PROMPT];
    ProgramCall {
        program: OWN_PROGRAM.into(),
        arguments: words.iter().map(Into::into).collect(),
        folder: work.to_path_buf(),
        environment: Environment {
            removed: Vec::new(),
            set: vec![
                ("STEPWELL_HOME".into(), folder.join("data").into()),
                ("STEPWELL_CONFIG".into(), folder.join("config").into()),
                (ADAPTERS_VARIABLE.into(), adapters.into()),
                (DEMO_VARIABLE.into(), "1".into()),
            ],
        },
        input: None,
        time_limit: Duration::MAX,
        keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
    }
}
