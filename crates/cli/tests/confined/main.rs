//! Real debuggers in the sandbox: the table of `stepwell-debug`, confined, and what programs cannot do there.

// Helpers of tests are test code too, and the tests are about processes and files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unused_self,
    reason = "tests"
)]

#[path = "../../../debug/tests/real/autoload.rs"]
mod autoload;
#[path = "../../../debug/tests/real/breakpoints.rs"]
mod breakpoints;
#[path = "../../../debug/tests/real/inspect.rs"]
mod inspect;
#[path = "../../../debug/tests/real/lab.rs"]
mod lab;
#[path = "../../../debug/tests/real/lifecycle.rs"]
mod lifecycle;
#[path = "../../../debug/tests/real/table.rs"]
mod table;

mod escapes;
mod steps;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use stepwell_debug::sandbox::Isolation;
use stepwell_sandbox::{Limits, Network, Policy, Sandbox, UnixSockets};
use stepwell_tool_runtime::WorkspaceAccess;
use stepwell_tools::{Confinement, LaunchSandboxes, SpareSlot, Walls};

/// A file of the workspace that programs cannot read.
const HIDDEN: &str = "hidden.txt";

/// The sandbox of a workspace's commands.
#[allow(clippy::unnecessary_wraps, reason = "the same table runs unconfined, with none")]
fn isolation(workspace: &Path, adapters: &Path) -> Option<Isolation> {
    let policy = Policy {
        writable: vec![workspace.to_path_buf(), lab::go_cache()],
        readable: Vec::new(),
        read_only: Vec::new(),
        locked: Vec::new(),
        hidden: vec![workspace.join(HIDDEN)],
        denied: stepwell_workspace::Denial::default(),
        temporary: None,
        network: Network::None,
        unix_sockets: UnixSockets::Inside,
        limits: Limits::for_this_machine(),
        withheld: None,
    };
    let walls = Walls {
        sandbox: Arc::new(Sandbox::new(env!("CARGO_BIN_EXE_stepwell"), workspace)),
        policy,
        hosts: None,
        place: workspace.with_extension("sandbox"),
        temporary: OnceLock::new(),
        spare: SpareSlot::default(),
    };
    let source =
        LaunchSandboxes::of(&Confinement::Walls(Arc::new(walls)), adapters, None, WorkspaceAccess::Full);
    Some(Isolation::new(source.unwrap_or_else(|| panic!("this machine has no namespaces"))))
}
