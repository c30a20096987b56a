//! Looks inside running programs through real debuggers.
//!
//! `dap` speaks the Debug Adapter Protocol, `adapters` knows each debugger's ways, `launch_config` reads what VS Code
//! reads, and `targets` makes a configuration of a command line where there is none.

mod adapter_check;
pub mod adapters;
pub mod breakpoints;
pub mod clock;
pub mod dap;
mod debugger;
mod error;
pub mod failure;
mod function_finder;
pub mod ids;
pub mod launch;
pub mod launch_config;
pub mod output;
mod recorder;
pub mod sandbox;
pub mod session;
mod shared;
mod stop_reason;
pub mod stop_report;
pub mod values;
pub mod watch;
pub use adapter_check::AdapterCheck;
pub use debugger::{Debugger, Outcome, Wait};
pub use error::{Error, Result};
pub use function_finder::{Assignment, Certainty, Declaration, FunctionBody, FunctionFinder};
pub use shared::{DebuggerOptions, Installer};
pub use stop_reason::StopReason;
pub mod targets;
pub mod trace;
pub mod tracepoints;
