//! Confines commands: what they can read, write, reach and use up.
//!
//! [`Sandbox::confine`] turns a program call into a confined one: its own namespaces for users, mounts, processes,
//! network, IPC and host name, with Landlock and a system call filter beneath, and limits on processes, files and
//! disk. The launcher is Stepwell's own binary, started with [`init::LAUNCHER_WORD`], so no other program and no setuid
//! bit is needed. Bubblewrap is the fallback where only it may create namespaces. Debuggers work inside: `ptrace` is
//! allowed among the sandbox's own processes, and they share a loopback network.
//!
//! [`Sandbox::prepare`] builds a sandbox before its command is known, while a model thinks.
//!
//! [`OpenSandbox`] is a sandbox for several programs, such as a debugger and what it debugs.
//!
//! The only network beyond that are the hosts a [`HostGate`] admits, through a [`Proxy`] outside the sandbox.
//! [`Sandbox::layers`] reports which layers the machine offers.

mod bubblewrap;
mod confine;
mod error;
mod ignored;
pub mod init;
mod layers;
mod nested;
mod open;
mod plan;
mod policy;
mod prepared;
mod protect;
mod proxy;
mod sys;
mod wire;

pub use confine::Sandbox;
pub use error::{Error, Result};
pub use layers::{Layer, Layers};
pub use open::OpenSandbox;
pub use policy::{Limits, Network, Policy, UnixSockets};
pub use prepared::{ConfinedCall, PreparedSandbox};
pub use proxy::address_refusal;
pub use proxy::{AllowedHosts, Connector, Duplex, HostGate, Proxy, Resolver, System};
pub use sys::keep_descriptors_private;
