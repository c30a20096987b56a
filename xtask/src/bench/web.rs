//! `cargo xtask bench web`: what the page and its server cost, measured in a real browser by `web/bench/bench.mjs`.

use std::path::Path;
use std::process::Command;

use anyhow::ensure;

pub fn run(binary: &Path) -> anyhow::Result<()> {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web");
    ensure!(web.join("node_modules").is_dir(), "the packages of the page are missing: run `npm ci` in `web`");
    let ran = Command::new("node")
        .arg("bench/bench.mjs")
        .current_dir(&web)
        .env("STEPWELL_BINARY", binary)
        .status()?;
    ensure!(ran.success(), "the measurement failed");
    Ok(())
}
