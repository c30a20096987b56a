//! Real debuggers and real programs: the same questions to each.
//!
//! Adapters that must be installed are looked for on the machine and in the folder that `STEPWELL_TEST_ADAPTERS` names.

// Helpers of tests are test code too, and the tests are about processes and files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unused_self,
    reason = "tests"
)]

mod autoload;
mod breakpoints;
mod configured;
mod inspect;
mod lab;
mod lifecycle;
mod node_faults;
mod node_own;
mod rust_values;
mod table;

use std::path::Path;

use stepwell_debug::sandbox::Isolation;

/// These run as the person's own programs; `stepwell` runs the same table in its sandbox.
fn isolation(_workspace: &Path, _adapters: &Path) -> Option<Isolation> {
    None
}
