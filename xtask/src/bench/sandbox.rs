//! `cargo xtask bench sandbox`: what the sandbox adds to the start of a command.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use stepwell_sandbox::{Limits, Network, Policy, Sandbox, UnixSockets};
use stepwell_workspace::Denial;
use stepwell_workspace::process::{Environment, KeepOutput, ProgramCall};

use super::{median, millis};

/// Taken in turns, so that a noisy machine is noisy for all.
const ROUNDS: usize = 200;

pub fn run(binary: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let workspace = folder.path().canonicalize()?;
    // A workspace as it comes: a repository, settings of editors, some rules.
    for path in [".git/hooks", ".vscode", "src"] {
        std::fs::create_dir_all(workspace.join(path))?;
    }
    for path in [".git/config", ".git/HEAD", "AGENTS.md", ".mcp.json"] {
        std::fs::write(workspace.join(path), "")?;
    }
    let sandbox = Sandbox::new(binary, &workspace);
    if let Some(missing) = sandbox.layers().missing() {
        bail!("nothing to measure: {missing}");
    }
    let policy = Policy {
        locked: Vec::new(),
        writable: vec![workspace.clone()],
        readable: Vec::new(),
        read_only: Vec::new(),
        denied: Denial::default(),
        hidden: ["/etc/shadow", "/etc/gshadow"].map(Into::into).to_vec(),
        temporary: None,
        network: Network::None,
        unix_sockets: UnixSockets::Inside,
        limits: Limits::for_this_machine(),
        withheld: None,
    };
    let bubblewrap = bubblewrap(&workspace);
    let mut times: Vec<(&str, Vec<f64>)> =
        ["bare", "plan", "ours", "bubblewrap"].map(|name| (name, Vec::new())).to_vec();
    for _ in 0..ROUNDS {
        times[0].1.push(timed(Command::new("/bin/true"))?);
        let started = Instant::now();
        let call = sandbox.confine(&policy, bare(&workspace))?;
        times[1].1.push(millis(started.elapsed()));
        let mut command = Command::new(&call.program);
        command.args(&call.arguments).envs(call.environment.set);
        times[2].1.push(timed(command)?);
        if let Some(arguments) = &bubblewrap {
            let mut command = Command::new("bwrap");
            command.args(arguments);
            times[3].1.push(timed(command)?);
        }
    }
    println!("{:<14}{:>12}{:>12}{:>12}", "ms", "median", "least", "above bare");
    let bare = median(times[0].1.clone()).unwrap_or_default();
    for (name, values) in times.into_iter().filter(|(_, values)| !values.is_empty()) {
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        let median = median(values).unwrap_or_default();
        let above = if name == "plan" { median } else { median - bare };
        println!("{name:<14}{median:>12.2}{least:>12.2}{above:>12.2}");
    }
    println!("ours also watches, filters system calls and restricts writing; bubblewrap alone does not");
    Ok(())
}

fn bare(workspace: &Path) -> ProgramCall {
    ProgramCall {
        program: "/bin/true".into(),
        arguments: Vec::new(),
        folder: workspace.to_path_buf(),
        environment: Environment::default(),
        input: None,
        time_limit: Duration::from_secs(10),
        keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
    }
}

/// The same namespaces and mounts by bubblewrap; `None` where it is not installed.
fn bubblewrap(workspace: &Path) -> Option<Vec<std::ffi::OsString>> {
    Command::new("bwrap").arg("--version").stdout(Stdio::null()).status().ok()?;
    let options = "--unshare-all --cap-drop ALL --die-with-parent --new-session --ro-bind / / --dev /dev --proc /proc \
                   --tmpfs /tmp --tmpfs /run --bind";
    let mut arguments: Vec<std::ffi::OsString> = options.split_whitespace().map(Into::into).collect();
    arguments.extend([workspace.into(), workspace.into(), "--".into(), "/bin/true".into()]);
    Some(arguments)
}

/// From start to the end of the output, as the tool waits for it.
fn timed(mut command: Command) -> anyhow::Result<f64> {
    let started = Instant::now();
    let output = command.stdin(Stdio::null()).output().context("cannot start a command")?;
    if !output.status.success() {
        bail!("a command failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(millis(started.elapsed()))
}
