//! From a policy to a program call that runs behind walls.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use stepwell_workspace::files;
use stepwell_workspace::process::{Environment, KeepOutput, ProgramCall};

use crate::ignored;
use crate::init::{JOIN, LAUNCHER_WORD, START};
use crate::layers::Layers;
use crate::nested::Nested;
use crate::plan::{HostPath, Launch, Plan};
use crate::prepared::{ConfinedCall, PreparedSandbox};
use crate::protect::Protections;
use crate::{Error, Network, Policy, Result, UnixSockets};

/// The port on the sandbox's loopback that leads to the proxy.
pub(crate) const PROXY_PORT: u16 = 3128;
/// Each is a mount; the kernel's own limit is far above.
const MOST_HIDDEN: usize = 4096;
/// Folders that are not the person's to write, whatever is asked for.
const NEVER_WRITABLE: &[&str] =
    &["/", "/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/sbin", "/lib", "/boot"];

/// Variables that lead to servers and terminals outside, or say who else the person is.
const REMOVED: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_CONTROL",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "WAYLAND_SOCKET",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_ID",
    "SESSION_MANAGER",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "PULSE_SERVER",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "KITTY_LISTEN_ON",
    "ALACRITTY_SOCKET",
    "WEZTERM_UNIX_SOCKET",
];
const REMOVED_BEGINNINGS: &[&str] = &["DBUS_", "VSCODE_"];
/// The exception where a caller sets it: js-debug names its own socket there, which lies inside.
const INSPECTOR_OPTIONS: &str = "VSCODE_INSPECTOR_OPTIONS";
/// Those of the outside lead nowhere from inside, and may hold a password.
const PROXY_VARIABLES: &[&str] = &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"];

/// Confines commands.
#[derive(Debug)]
pub struct Sandbox {
    launcher: PathBuf,
    workspace: PathBuf,
    layers: OnceLock<Layers>,
    nested: Nested,
}

impl Sandbox {
    /// `launcher` is the program that answers to [`LAUNCHER_WORD`]; helpers are never looked for in `workspace`.
    pub fn new(launcher: impl Into<PathBuf>, workspace: impl Into<PathBuf>) -> Self {
        Self {
            launcher: launcher.into(),
            workspace: workspace.into(),
            layers: OnceLock::new(),
            nested: Nested::default(),
        }
    }

    /// What holds on this machine. Tried once, which takes a few milliseconds.
    pub fn layers(&self) -> &Layers {
        self.layers.get_or_init(|| Layers::probe(&self.launcher, &self.workspace))
    }

    /// The call that runs `call` as the policy says. What [`Layers::missing`] names does not hold for it: the
    /// caller asks before it runs such a call.
    pub fn confine(&self, policy: &Policy, call: ProgramCall) -> Result<ProgramCall> {
        let plan = self.plan(policy, &call.folder)?;
        let mut arguments = vec![LAUNCHER_WORD.into(), START.into()];
        arguments.extend(plan.to_words(&call.program, &call.arguments)?);
        let environment = environment(call.environment, policy);
        Ok(ProgramCall { program: self.launcher.clone().into(), arguments, environment, ..call })
    }

    /// As [`Self::confine`], in a sandbox that was prepared where that is still as the policy says. Otherwise the
    /// prepared one is dropped and a new one built.
    pub fn confine_prepared(
        &self,
        prepared: Option<PreparedSandbox>,
        policy: &Policy,
        call: ProgramCall,
    ) -> Result<ConfinedCall> {
        let plan = self.plan(policy, &call.folder)?;
        match prepared.filter(|prepared| prepared.fits(&plan)) {
            Some(prepared) => prepared.with_call(plan, call, |given| environment(given, policy)),
            None => Ok(self.confine(policy, call)?.into()),
        }
    }

    /// Starts a sandbox that is built at once and waits for its command. `None` where only a new sandbox per command
    /// can be trusted to be as planned.
    pub fn prepare(&self, policy: &Policy) -> Result<Option<PreparedSandbox>> {
        let mut plan = self.plan(policy, Path::new("/"))?;
        if plan.launch != Launch::Own {
            return Ok(None);
        }
        plan.waits = true;
        PreparedSandbox::start(plan, |plan| self.waiting_call(plan))
    }

    fn plan(&self, policy: &Policy, folder: &Path) -> Result<Plan> {
        plan(policy, self.layers().launch().clone(), folder, &self.nested)
    }

    /// The call that opens a sandbox without a command, whose first process connects to `control`.
    pub(crate) fn open_call(&self, policy: &Policy, control: &Path) -> Result<ProgramCall> {
        let mut plan = self.plan(policy, Path::new("/"))?;
        plan.control = Some(control.into());
        self.waiting_call(&plan)
    }

    /// The call that starts the launcher without a command.
    fn waiting_call(&self, plan: &Plan) -> Result<ProgramCall> {
        let mut arguments = vec![LAUNCHER_WORD.into(), START.into()];
        arguments.extend(plan.to_words("".as_ref(), &[])?);
        // Its programs bring their own variables.
        let removed = std::env::vars_os().map(|(name, _)| name).collect();
        Ok(ProgramCall {
            program: self.launcher.clone().into(),
            arguments,
            folder: "/".into(),
            environment: Environment { removed, set: Vec::new() },
            input: None,
            time_limit: Duration::MAX,
            keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
        })
    }

    /// The call that runs `call` in an open sandbox that was made by this policy.
    pub(crate) fn join_call(&self, policy: &Policy, control: &Path, call: ProgramCall) -> ProgramCall {
        let mut arguments: Vec<OsString> = vec![LAUNCHER_WORD.into(), JOIN.into()];
        arguments.extend([control.into(), call.folder.clone().into(), call.program]);
        arguments.extend(call.arguments);
        let environment = environment(call.environment, policy);
        ProgramCall { program: self.launcher.clone().into(), arguments, environment, ..call }
    }
}

fn plan(policy: &Policy, launch: Launch, folder: &Path, nested: &Nested) -> Result<Plan> {
    let mut writable = BTreeSet::new();
    for path in &policy.writable {
        writable.insert(writable_folder(path)?);
    }
    let roots: Vec<PathBuf> = writable.iter().cloned().collect();
    let mut protections = Protections::of(&roots, nested)?;
    protections.lock_named(&policy.locked, &roots);
    writable.extend(protections.repositories);
    let readable = readable_folders(policy, &launch)?;
    let worked_in: Vec<PathBuf> = roots.iter().chain(&readable).cloned().collect();
    let hidden = hidden(policy, &worked_in, &writable)?;
    let is_seen = |path: &PathBuf| !hidden.iter().any(|hidden| path.starts_with(hidden));
    let host_paths = |paths: Vec<PathBuf>| paths.into_iter().filter(is_seen).map(HostPath::from).collect();
    let shown = policy.read_only.iter().filter_map(|path| path.canonicalize().ok()).chain(readable);
    let (read_only, revealed): (Vec<PathBuf>, Vec<PathBuf>) = shown.partition(is_seen);
    Ok(Plan {
        parent: std::process::id(),
        launch,
        folder: folder.into(),
        pinned: host_paths(protections.pinned),
        locked: host_paths(protections.locked),
        read_only: read_only.into_iter().map(HostPath::from).collect(),
        revealed: revealed.into_iter().map(HostPath::from).collect(),
        writable: writable.into_iter().map(HostPath::from).collect(),
        hidden: hidden.into_iter().map(HostPath::from).collect(),
        watched: protections.watched,
        withheld: policy.withheld.as_deref().map(HostPath::from),
        temporary: policy.temporary.as_deref().map(HostPath::from),
        proxy: match &policy.network {
            Network::None => None,
            Network::Proxy { socket, .. } => Some(socket.into()),
        },
        loopback: match &policy.network {
            Network::None => Vec::new(),
            Network::Proxy { loopback, .. } => loopback.clone(),
        },
        waits: false,
        control: None,
        unix_sockets: policy.unix_sockets == UnixSockets::Inside,
        limits: policy.limits,
    })
}

fn writable_folder(path: &Path) -> Result<PathBuf> {
    let refused = |reason| Error::Writable { path: path.to_path_buf(), reason };
    let real = path.canonicalize().map_err(|_| refused("it does not exist"))?;
    if !real.is_dir() {
        return Err(refused("it is no folder"));
    }
    if NEVER_WRITABLE.iter().any(|never| real == Path::new(never)) {
        return Err(refused("it belongs to the system"));
    }
    Ok(real)
}

/// The folders that are worked in but not written.
fn readable_folders(policy: &Policy, launch: &Launch) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for path in &policy.readable {
        let folder = writable_folder(path)?;
        // Landlock alone leaves the machine's temporary folders writable.
        let is_temporary = ["/tmp", "/var/tmp"].iter().any(|shared| folder.starts_with(shared));
        if *launch == Launch::WithoutNamespaces && is_temporary {
            return Err(Error::NotReadOnly { path: folder });
        }
        folders.push(folder);
    }
    Ok(folders)
}

/// What is covered, without what lies in something covered already.
fn hidden(policy: &Policy, roots: &[PathBuf], writable: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>> {
    let mut asked = policy.hidden.clone();
    for root in roots {
        asked.extend(ignored::below(root, &policy.denied)?);
    }
    let mut all: BTreeSet<PathBuf> = asked.iter().filter_map(|path| path.canonicalize().ok()).collect();
    for hidden in &all {
        if let Some(root) = writable.iter().find(|root| root.starts_with(hidden)) {
            return Err(Error::HiddenAround { hidden: hidden.clone(), writable: root.clone() });
        }
    }
    if policy.unix_sockets == UnixSockets::Inside {
        let own = match &policy.network {
            Network::Proxy { socket, .. } => socket.canonicalize().ok(),
            Network::None => None,
        };
        all.extend(sockets_of_others(policy)?.into_iter().filter(|path| Some(path) != own.as_ref()));
    }
    // Sorted, so a folder comes right before what lies in it.
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in all {
        if !kept.last().is_some_and(|folder| path.starts_with(folder)) {
            kept.push(path);
        }
    }
    if kept.len() > MOST_HIDDEN {
        return Err(Error::TooManyHidden { count: kept.len(), most: MOST_HIDDEN });
    }
    Ok(kept)
}

/// Sockets that are files, of programs outside. A read-only mount does not keep anyone from connecting to one.
fn sockets_of_others(policy: &Policy) -> Result<Vec<PathBuf>> {
    // Most of them lie there, where a command sees nothing unless it was opened.
    let run_is_empty = !policy
        .writable
        .iter()
        .chain(&policy.read_only)
        .any(|path| path.starts_with("/run") || path.starts_with("/var/run"));
    let is_unseen = |path: &str| run_is_empty && (path.starts_with("/run/") || path.starts_with("/var/run/"));
    let table = files::read(Path::new("/proc/net/unix"))?;
    let table = String::from_utf8_lossy(&table);
    let paths = table.lines().skip(1).filter_map(|line| {
        let path = bound_path(line)?;
        // What begins otherwise has no file; the network namespace keeps it out.
        (path.starts_with('/') && !is_unseen(path)).then(|| PathBuf::from(path))
    });
    let is_socket = |path: &PathBuf| path.metadata().is_ok_and(|found| found.file_type().is_socket());
    Ok(paths.filter_map(|path| path.canonicalize().ok()).filter(is_socket).collect())
}

/// The name at the end of a line of the kernel's table of sockets; it may hold spaces.
fn bound_path(line: &str) -> Option<&str> {
    let mut rest = line;
    for _ in 0..7 {
        rest = rest.trim_start();
        rest = &rest[rest.find(' ')?..];
    }
    rest.strip_prefix(' ')
}

fn environment(mut environment: Environment, policy: &Policy) -> Environment {
    let inherited = std::env::vars_os().map(|(name, _)| name);
    let leads_outside = |name: &OsString| {
        let name = name.to_string_lossy();
        REMOVED.contains(&&*name)
            || REMOVED_BEGINNINGS.iter().any(|start| name.starts_with(start))
            || PROXY_VARIABLES.contains(&&*name.to_ascii_uppercase())
    };
    environment.set.retain(|(name, _)| name == INSPECTOR_OPTIONS || !leads_outside(name));
    environment.removed.extend(inherited.filter(leads_outside));
    let go_cache = go_cache(&environment, policy);
    let mut set = |name: &str, value: String| environment.set.push((name.into(), value.into()));
    for name in ["TMPDIR", "TMP", "TEMP"] {
        set(name, "/tmp".into());
    }
    if let Some(folder) = go_cache {
        set("GOCACHE", folder.into());
    }
    // The person's own is hidden, because it holds keys; npm stops when it cannot read it.
    set("NPM_CONFIG_USERCONFIG", "/dev/null".into());
    if policy.network != Network::None {
        let http = format!("http://127.0.0.1:{PROXY_PORT}");
        let socks = format!("socks5h://127.0.0.1:{PROXY_PORT}");
        for (name, value) in [
            ("HTTP_PROXY", &http),
            ("HTTPS_PROXY", &http),
            ("ALL_PROXY", &socks),
            ("NO_PROXY", &"localhost,127.0.0.1,::1".to_owned()),
        ] {
            set(name, value.clone());
            set(&name.to_ascii_lowercase(), value.clone());
        }
        set("NODE_USE_ENV_PROXY", "1".into());
    }
    environment
}

/// Where Go keeps what it built, when its usual place cannot be written: it does not build without one.
fn go_cache(environment: &Environment, policy: &Policy) -> Option<&'static str> {
    let value = |name: &str| {
        let set = environment.set.iter().find(|(set, _)| set == name).map(|(_, value)| value.clone());
        let is_removed = environment.removed.iter().any(|removed| removed == name);
        set.or_else(|| if is_removed { None } else { std::env::var_os(name) }).map(PathBuf::from)
    };
    let usual = value("GOCACHE").or_else(|| {
        let caches = value("XDG_CACHE_HOME").or_else(|| Some(value("HOME")?.join(".cache")))?;
        Some(caches.join("go-build"))
    });
    let is_writable = usual.is_some_and(|usual| {
        usual.starts_with("/tmp") || policy.writable.iter().any(|root| usual.starts_with(root))
    });
    (!is_writable).then_some("/tmp/go-build")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_sockets_are_read_to_their_end() {
        for (line, expected) in [
            (
                "0000000000000000: 00000002 00000000 00010000 0001 01   123 /home/a b/c.sock",
                Some("/home/a b/c.sock"),
            ),
            ("ffff9d3c81c4a800: 00000002 00000000 00010000 0001 01 12345678 @abstract", Some("@abstract")),
            ("ffff9d3c81c4a800: 00000003 00000000 00000000 0001 03 21537", None),
            ("", None),
        ] {
            assert_eq!(bound_path(line), expected, "{line}");
        }
    }
}
