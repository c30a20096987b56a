//! `stepwell sandbox`: a command as the agent's commands run, and what the machine offers to confine it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_sandbox::{HostGate, Network, Proxy, Sandbox};
use stepwell_tool_runtime::DeniedReads;
use stepwell_workspace::process::{self, Ending, Environment, KeepOutput, ProgramCall};

use crate::args::{SandboxCommand, SandboxRunArgs};
use crate::assemble::confinement;
use crate::assemble::{Assembly, AssemblyOptions, workspace_root};
use crate::columns;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::language::said;
use crate::report;
use crate::settings::{self, SettingsLayer};
use crate::terminal::{Style, out_line};

pub async fn run(command: SandboxCommand) -> anyhow::Result<Exit> {
    match command {
        SandboxCommand::Run(args) => run_command(args).await,
        SandboxCommand::Status { json } => status(json),
    }
}

async fn run_command(args: SandboxRunArgs) -> anyhow::Result<Exit> {
    let assembly = Assembly::new(AssemblyOptions {
        workspace: workspace_root(args.cwd.as_deref())?,
        extra_roots: Vec::new(),
        command_line: SettingsLayer::default(),
        record: None,
    })?;
    let (program, arguments) = args
        .command
        .split_first()
        .ok_or_else(|| report::usage("no command is given", "give one after `--`"))?;
    let sandbox = confinement::sandbox(&assembly.workspace);
    if let Some(missing) = sandbox.layers().missing().filter(|_| !args.allow_missing) {
        return Err(report::failed(
            format!("the command would not be confined: {missing}"),
            "`stepwell sandbox status` shows the layers; `--allow-missing` runs it all the same",
        ));
    }
    let here = crate::assemble::current_dir()?;
    let mut roots = vec![assembly.workspace.clone()];
    roots.extend(args.writable.iter().map(|path| here.join(path)));
    let judged = settings::judge_places(&assembly.places, &assembly.workspace, &[]);
    let denied = DeniedReads::of(&assembly.settings.rules(&assembly.places, &judged)?);
    let mut policy = confinement::policy(&assembly.places, &assembly.settings, &roots, denied.as_ref());
    policy.hidden.extend(args.hide.iter().map(|path| here.join(path)));
    let mut hosts = assembly.settings.sandbox().network;
    hosts.extend(args.network);
    let hosts = confinement::allowed_hosts(&hosts)?;
    let loopback = hosts.loopback_ports();
    let proxy = if hosts.is_empty() {
        None
    } else {
        Some(Proxy::start(&assembly.places.data.join("sandbox"), Arc::new(hosts)).map_err(told)?)
    };
    if let Some(proxy) = &proxy {
        policy.network = Network::Proxy { socket: proxy.socket().to_path_buf(), loopback };
    }
    let call = ProgramCall {
        program: program.clone(),
        arguments: arguments.to_vec(),
        folder: assembly.workspace.clone(),
        environment: Environment { removed: removed_variables(&assembly), set: Vec::new() },
        input: None,
        time_limit: Duration::MAX,
        keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
    };
    let call = sandbox.confine(&policy, call).map_err(told)?;
    // The terminal's signals reach the command by itself; here they must not end the proxy.
    let _interrupts = Interrupts::listen()?;
    Ok(match process::run_attached(&call).await? {
        Ending::Exited(code) => Exit::Command(code as u8),
        Ending::Signalled(signal) => Exit::Command(128_u8.saturating_add(signal as u8)),
        Ending::TimedOut | Ending::Cancelled => Exit::Failed,
    })
}

/// The variables the agent's commands do not get either.
fn removed_variables(assembly: &Assembly) -> Vec<OsString> {
    let secrets = stepwell_tools::secret_variables().into_iter().map(|(name, _)| name);
    let keys = assembly.settings.providers().into_values().filter_map(|provider| provider.api_key_env);
    secrets.chain(keys).map(OsString::from).collect()
}

fn told(error: stepwell_sandbox::Error) -> anyhow::Error {
    let hint = error.hint().unwrap_or("`stepwell doctor` checks the machine");
    report::failed(error.to_string(), hint)
}

fn status(json: bool) -> anyhow::Result<Exit> {
    let workspace: PathBuf = workspace_root(None)?;
    let sandbox = confinement::sandbox(&workspace);
    let layers = sandbox.layers();
    let exit = if layers.missing().is_some() { Exit::Failed } else { Exit::Done };
    if json {
        let rows: Vec<Value> = rows(&sandbox);
        out_line(&serde_json::to_string_pretty(&json!({"layers": rows, "missing": layers.missing()}))?);
        return Ok(exit);
    }
    let style = Style::for_stdout();
    for layer in layers.all() {
        let mark = if layer.holds { style.green("✓") } else { style.red("✗") };
        out_line(&format!("{mark} {} {}", columns::padded(&said(layer.name), 26), said(&layer.detail)));
        if let Some(hint) = layer.hint {
            out_line(&format!("  {} {}", style.cyan(&said("hint:")), said(hint)));
        }
    }
    match layers.missing() {
        None => out_line(&format!("\n{}", said("Commands are confined."))),
        Some(missing) => {
            out_line(&format!("\n{}", said(&format!("Every command is asked about, because {missing}."))));
        }
    }
    Ok(exit)
}

fn rows(sandbox: &Sandbox) -> Vec<Value> {
    let row = |layer: &stepwell_sandbox::Layer| json!({"layer": layer.name, "holds": layer.holds, "detail": layer.detail, "hint": layer.hint});
    sandbox.layers().all().iter().map(row).collect()
}
