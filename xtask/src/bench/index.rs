//! `cargo xtask bench index [--tree DIR] [--pairs N] [--questions N] [--runs N] [--seed N]`: what the code index costs
//! beside the raw parse of the same files, how fast it answers, and whether an answer is ever stale.
//!
//! Everything happens on a copy of the tree, since files are changed. Each part runs in a process of its own, so that
//! its processor time and its peak of memory are its own. universal-ctags is measured too where it is installed.

mod parts;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use serde_json::Value;
use stepwell_workspace::Workspace;
use stepwell_workspace::search::{NameQuery, WalkRules};

use super::median;
use parts::Part;

/// What the index may cost, beside the raw parse or absolutely.
mod bars {
    pub const BUILD: f64 = 1.6;
    pub const REBUILD: f64 = 0.05;
    pub const STORE: f64 = 0.5;
    pub const P50_MS: f64 = 1.0;
    pub const P95_MS: f64 = 20.0;
    pub const EDIT_MS: f64 = 50.0;
}

struct Options {
    tree: std::path::PathBuf,
    pairs: usize,
    questions: usize,
    runs: usize,
    seed: u64,
}

impl Options {
    fn read(arguments: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self { tree: crate::root(), pairs: 1000, questions: 500, runs: 3, seed: 1 };
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { bail!("{} needs a value", pair[0]) };
            let number = || value.parse::<usize>().with_context(|| format!("{name} {value}: no number"));
            match *name {
                "--tree" => options.tree = value.into(),
                "--pairs" => options.pairs = number()?,
                "--questions" => options.questions = number()?,
                "--runs" => options.runs = number()?.max(1),
                "--seed" => options.seed = number()? as u64,
                other => {
                    bail!("unknown option {other}: --tree, --pairs, --questions, --runs and --seed are known")
                }
            }
        }
        Ok(options)
    }
}

pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    if let ["part", rest @ ..] = arguments {
        return parts::run(rest);
    }
    if cfg!(debug_assertions) {
        // The figures are of an optimised build.
        let status = Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "index"])
            .args(arguments)
            .status()?;
        if !status.success() {
            bail!("the optimised bench failed: {status}");
        }
        return Ok(());
    }
    let options = Options::read(arguments)?;
    let folder = tempfile::tempdir()?;
    let (tree, store) = (folder.path().join("tree"), folder.path().join("store"));
    copy(&options.tree, &tree)?;
    let part = |part: Part, count: usize| -> anyhow::Result<Value> {
        let output = Command::new(std::env::current_exe()?)
            .args(["bench", "index", "part", part.name()])
            .args([&tree, &store])
            .args([count.to_string(), options.seed.to_string()])
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            bail!("the part `{}` failed: {}", part.name(), output.status);
        }
        serde_json::from_slice(&output.stdout).with_context(|| format!("what `{}` said", part.name()))
    };
    let (mut builds, mut raws) = (Vec::new(), Vec::new());
    for _ in 0..options.runs {
        // By turns, so that a noisy moment hits both.
        builds.push(part(Part::Build, 1)?);
        raws.push(part(Part::Raw, 1)?);
    }
    let rebuild = part(Part::Rebuild, options.runs * 3)?;
    let first = part(Part::First, options.questions)?;
    let questions = part(Part::Questions, options.questions)?;
    let edits = part(Part::Edits, options.pairs)?;
    let ctags = ctags(&tree, folder.path())?;
    let of = |runs: &[Value], field: &str| -> f64 {
        median(runs.iter().filter_map(|run| run[field].as_f64()).collect()).unwrap_or_default()
    };
    let built = &builds[0];
    println!(
        "{}: {} files, {:.1} MB of source ({} left out), {} threads, seed {}",
        options.tree.display(),
        built["files"],
        number(built, "bytes") / 1e6,
        built["omitted"],
        built["threads"],
        options.seed
    );
    println!("{:<44}{:>12}{:>12}{:>10}", "", "value", "/ raw", "bar");
    let raw = of(&raws, "cpu_ms");
    let beside = |label: &str, value: f64, bar: Option<f64>| {
        line(label, value, Some(value / raw), bar.map(|bar| (bar, value / raw)));
    };
    let plain = |label: &str, value: f64, bar: Option<f64>| {
        line(label, value, None, bar.map(|bar| (bar, value)));
    };
    beside("raw parse, CPU ms", raw, None);
    beside("build, CPU ms", of(&builds, "cpu_ms"), Some(bars::BUILD));
    beside("rebuild, nothing changed, CPU ms", number(&rebuild, "cpu_ms"), Some(bars::REBUILD));
    if let Some((cpu, _)) = ctags {
        beside("universal-ctags, CPU ms", cpu, None);
    }
    plain("raw parse, wall ms", of(&raws, "wall_ms"), None);
    plain("build, wall ms", of(&builds, "wall_ms"), None);
    plain("rebuild, nothing changed, wall ms", number(&rebuild, "wall_ms"), None);
    if let Some((_, wall)) = ctags {
        plain("universal-ctags, wall ms", wall, None);
    }
    plain("raw parse, peak MB", of(&raws, "peak_mb"), None);
    plain("build, peak MB", of(&builds, "peak_mb"), None);
    plain("questions, peak MB", number(&questions, "peak_mb"), None);
    plain("store, MB", number(built, "store") / 1e6, None);
    plain("store / source", number(built, "store") / number(built, "bytes"), Some(bars::STORE));
    for (asked, when) in [(&questions, ""), (&first, "of a new process: ")] {
        let is_held = when.is_empty();
        plain(&format!("{when}look for changes, p50 ms"), number(asked, "look_p50"), None);
        for field in ["definition", "references"] {
            let value = |end: &str| number(asked, &format!("{field}_{end}"));
            plain(&format!("{when}{field}, p50 ms"), value("p50"), is_held.then_some(bars::P50_MS));
            plain(&format!("{when}{field}, p95 ms"), value("p95"), is_held.then_some(bars::P95_MS));
            plain(&format!("{when}{field}, longest ms"), value("max"), None);
        }
    }
    plain("write to answer, p50 ms", number(&edits, "p50"), Some(bars::EDIT_MS));
    plain("write to answer, p95 ms", number(&edits, "p95"), Some(bars::EDIT_MS));
    plain(&format!("stale answers of {}", options.pairs), number(&edits, "stale"), Some(0.0));
    println!(
        "a question is timed with the look for changes before it; {} of {} names were asked about with an answer; \
         a new process has not read the files yet and looks at all of them each time",
        questions["answered"], questions["asked"]
    );
    Ok(())
}

fn number(value: &Value, field: &str) -> f64 {
    value[field].as_f64().unwrap_or(f64::NAN)
}

/// One row; of a bar also which figure is held against it.
fn line(label: &str, value: f64, ratio: Option<f64>, bar: Option<(f64, f64)>) {
    let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
    let (bar, verdict) = match bar {
        Some((bar, held)) => (format!("{bar}"), if held <= bar { "   kept" } else { "   MISSED" }),
        None => ("-".to_owned(), ""),
    };
    println!("{label:<44}{value:>12.2}{ratio:>12}{bar:>10}{verdict}");
}

/// What a workspace shows of the tree.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    const LARGEST: u64 = 16 << 20;
    let workspace = Workspace::open(from, &[])?;
    let rules = WalkRules { globs: vec!["!**/.git/**".to_owned()], ..WalkRules::default() };
    let query = NameQuery { pattern: "**".to_owned(), limit: usize::MAX };
    let found = workspace.find_files(&workspace.place(".")?, &query, &rules, &|| false)?;
    if found.is_cut {
        println!("the tree has more files than can be looked at: only a part is measured");
    }
    for file in found.files {
        let (source, target) = (workspace.root().join(&file.path), to.join(&file.path));
        let Ok(about) = std::fs::metadata(&source) else { continue };
        if !about.is_file() || about.len() > LARGEST {
            continue;
        }
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::copy(&source, &target).with_context(|| format!("cannot copy {}", source.display()))?;
    }
    Ok(())
}

/// Processor and wall time of universal-ctags on the tree, in milliseconds.
fn ctags(tree: &Path, folder: &Path) -> anyhow::Result<Option<(f64, f64)>> {
    let version = Command::new("ctags").arg("--version").stderr(Stdio::null()).output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("Universal Ctags")) {
        return Ok(None);
    }
    let before = parts::processor_ms_of_children()?;
    let started = Instant::now();
    let status = Command::new("ctags")
        .args(["--recurse", "--quiet", "-f"])
        .args([&folder.join("tags"), tree])
        .stderr(Stdio::null())
        .status()?;
    let wall = super::millis(started.elapsed());
    if !status.success() {
        bail!("ctags failed: {status}");
    }
    Ok(Some((parts::processor_ms_of_children()? - before, wall)))
}
