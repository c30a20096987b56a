//! `cargo xtask bench why`: how long `stepwell why` takes beside the bare command, on twelve failing programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::ensure;

use super::{median, millis};

const ROUNDS: usize = 5;

/// Folder below `fixtures/why`, what builds the program, and the command.
const PROGRAMS: [(&str, &str, &str); 12] = [
    ("python", "", "python3 missing_price.py"),
    ("python", "", "python3 recursion.py"),
    ("python", "", "python3 pool.py"),
    ("python", "", "python3 -m pytest -q test_several.py"),
    ("python", "", "python3 test_unittest.py"),
    ("bash", "", "bash missing_source.sh"),
    ("ruby", "", "ruby nil_name.rb"),
    ("javascript", "", "node undefined_price.js"),
    ("javascript", "", "node --test cart.test.mjs"),
    ("go/trip", "", "go test ."),
    ("c", "cc -g -O0 -o null_name null_name.c", "./null_name"),
    ("rust", "rustc -g -o index index.rs", "./index"),
];

pub fn run(binary: &Path) -> anyhow::Result<()> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/why");
    let folder = tempfile::tempdir()?;
    let copied = Command::new("cp").arg("-r").arg(&fixtures).arg(folder.path().join("why")).status()?;
    ensure!(copied.success(), "the programs could not be copied");
    println!("{:<40}{:>10}{:>10}{:>8}", "ms, median of 5", "bare", "why", "ratio");
    for (place, build, command) in PROGRAMS {
        let place = folder.path().join("why").join(place);
        if !build.is_empty() {
            timed(build, &place, None)?;
        }
        let (mut bare, mut why) = (Vec::new(), Vec::new());
        // The first of each fills caches.
        for round in 0..=ROUNDS {
            let times = (timed(command, &place, None)?, timed(command, &place, Some(binary))?);
            if round > 0 {
                bare.push(times.0);
                why.push(times.1);
            }
        }
        if let (Some(bare), Some(why)) = (median(bare), median(why)) {
            println!("{command:<40}{bare:>10.0}{why:>10.0}{:>8.2}", why / bare);
        }
    }
    Ok(())
}

fn timed(command: &str, folder: &PathBuf, why: Option<&Path>) -> anyhow::Result<f64> {
    let words: Vec<&str> = command.split(' ').collect();
    let asks = ["why", "--quiet", "--"];
    let line: Vec<&str> = if why.is_some() { asks.into_iter().chain(words).collect() } else { words };
    let (program, arguments) = match why {
        Some(binary) => (binary.as_os_str(), line.as_slice()),
        None => (std::ffi::OsStr::new(line[0]), &line[1..]),
    };
    let mut call = Command::new(program);
    call.args(arguments);
    call.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    call.status()?;
    Ok(millis(started.elapsed()))
}
