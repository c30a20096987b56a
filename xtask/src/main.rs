//! Work on the project itself: `cargo xtask generate` writes generated files, `cargo xtask bench` measures, `cargo xtask
//! cost` counts what extensions take, `cargo xtask rename` checks renames with the compilers of real packages.
//!
//! The tidy checks are this crate's tests, so that they run with all the others.

// Development code: it may read the tree, run cargo and print.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "not part of the product")]

mod bench;
mod cost;
mod generate;
mod random;
mod rename;
#[cfg(test)]
mod tidy;

use std::path::PathBuf;

use anyhow::bail;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["generate"] => generate::write_all(),
        ["bench", rest @ ..] => bench::run(rest),
        ["cost"] => cost::print(),
        ["rename", rest @ ..] => rename::run(rest),
        _ => bail!(
            "usage: cargo xtask generate | cost | bench [SCENARIO ...] | bench debug | bench steps | bench tools | bench sandbox | bench index [--tree DIR] | rename LANGUAGE PACKAGE... [--count N] [--seed N]"
        ),
    }
}

/// The root of the checkout.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
