//! What a command may do.
//!
//! [`Sandbox::confine`] turns a program call into one that runs behind walls: namespaces of its own for users,
//! mounts, processes, network, IPC and host name; Landlock and a filter of system calls beneath; limits on
//! processes, files and disk. The launcher is Stepwell's own binary, started with [`init::LAUNCHER_WORD`], so no
//! other program and no setuid bit is needed; bubblewrap stands in where only it may make namespaces. Debuggers
//! work inside: `ptrace` among the sandbox's own processes and its loopback are open.
//!
//! There is no network but the hosts a [`HostGate`] admits, through the [`Proxy`] this crate runs on the outside.
//! [`Sandbox::layers`] says what of all this the machine offers.

mod bubblewrap;
mod confine;
mod error;
mod ignored;
pub mod init;
mod layers;
mod nested;
mod plan;
mod policy;
mod protect;
mod proxy;
mod sys;

pub use confine::Sandbox;
pub use error::{Error, Result};
pub use layers::{Layer, Layers};
pub use policy::{Limits, Network, Policy, UnixSockets};
pub use proxy::{AllowedHosts, Connector, Duplex, HostGate, Proxy, Resolver, System};
