//! How commands are confined: the policy that follows from settings and places.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use stepwell_sandbox::{AllowedHosts, Limits, Network, Policy, Sandbox, UnixSockets};
use stepwell_tool_runtime::DeniedReads;
use stepwell_tools::{Confinement, SpareSlot, Walls};

use super::private;
use crate::report;
use crate::settings::{self, Places, Settings};

/// The running program, also when its file was replaced by a newer one.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// The sandbox for commands in a workspace. The running program is the launcher too.
pub fn sandbox(workspace: &Path) -> Arc<Sandbox> {
    Arc::new(Sandbox::new(OWN_PROGRAM, workspace))
}

/// How the tools confine commands.
pub fn confinement(
    places: &Places,
    settings: &Settings,
    roots: &[PathBuf],
    denied: Option<&DeniedReads>,
) -> anyhow::Result<Confinement> {
    if settings.sandbox().enabled == Some(false) {
        return Ok(Confinement::Off { reason: "the sandbox is switched off in the settings".into() });
    }
    let workspace = roots.first().map_or(Path::new("/"), PathBuf::as_path);
    let hosts = allowed_hosts(&settings.sandbox().network)?;
    Ok(Confinement::Walls(Arc::new(Walls {
        sandbox: sandbox(workspace),
        policy: policy(places, settings, roots, denied),
        hosts: (!hosts.is_empty()).then(|| Arc::new(hosts) as _),
        place: places.data.join("sandbox"),
        temporary: OnceLock::new(),
        spare: SpareSlot::default(),
    })))
}

/// The hosts of a list, or what is wrong with it.
pub fn allowed_hosts(list: &[String]) -> anyhow::Result<AllowedHosts> {
    AllowedHosts::parse(list).map_err(|problem| {
        report::usage(
            format!("the allowed hosts cannot be used: {problem}"),
            "write `example.com`, `*.example.com` or `example.com:8443`",
        )
    })
}

pub fn policy(
    places: &Places,
    settings: &Settings,
    roots: &[PathBuf],
    denied: Option<&DeniedReads>,
) -> Policy {
    let own = settings.sandbox();
    let home = places.user_home.as_deref();
    let workspace = roots.first().map_or(Path::new("/"), PathBuf::as_path);
    // What is neither absolute nor at home lies in the workspace, wherever Stepwell was started.
    let placed = |path: &PathBuf| match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => workspace.join(path),
    };
    let mut hidden: Vec<PathBuf> = vec![places.data.clone(), places.shared.clone(), places.config.clone()];
    // A workspace in a private place was opened by the person.
    let private = private::places(home);
    hidden.extend(private.into_iter().filter(|path| !roots.iter().any(|root| root.starts_with(path))));
    hidden.extend(own.hidden.iter().map(placed));
    // Those in the roots are found by looking; a rule about all of a root hides what is in it, not the root itself.
    let named = denied.into_iter().flat_map(DeniedReads::named).map(PathBuf::from);
    hidden.extend(named.filter(|path| !roots.iter().any(|root| root.starts_with(path))));
    let mut writable = roots.to_vec();
    writable.extend(own.writable.iter().map(placed));
    let machine = Limits::for_this_machine();
    let project = Places::project(workspace);
    // An environment of a folder that is not trusted is not used, so commands may make it anew.
    let locked =
        if settings.trusted { settings::guarded_files(project) } else { settings::named_files(project) };
    Policy {
        writable,
        readable: Vec::new(),
        read_only: Vec::new(),
        locked,
        hidden,
        denied: settings::denial(denied.cloned()),
        temporary: None,
        network: Network::None,
        unix_sockets: match own.unix_sockets {
            Some(false) => UnixSockets::Refused,
            Some(true) | None => UnixSockets::Inside,
        },
        limits: Limits {
            memory_bytes: own.memory_mb.map_or(machine.memory_bytes, |megabytes| megabytes.max(64) << 20),
            ..machine
        },
        withheld: Some(places.data.join("withheld")),
    }
}
