//! The parts of the index bench, each of which runs in a process of its own and says one line of JSON.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use stepwell_code_intel::facts;

use stepwell_code_intel::index::Index;
use stepwell_code_intel::languages::Language;
use stepwell_code_intel::resolve::{DefinitionSite, Resolver};
use stepwell_workspace::Workspace;

use crate::bench::millis;
use crate::random::Random;

#[derive(Clone, Copy)]
pub enum Part {
    Raw,
    Build,
    Rebuild,
    First,
    Questions,
    Edits,
}

impl Part {
    const ALL: [Self; 6] = [Self::Raw, Self::Build, Self::Rebuild, Self::First, Self::Questions, Self::Edits];

    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Build => "build",
            Self::Rebuild => "rebuild",
            Self::First => "first",
            Self::Questions => "questions",
            Self::Edits => "edits",
        }
    }
}

pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let [part, tree, store, count, seed] = arguments else { bail!("a part is run by the bench alone") };
    let part = Part::ALL.into_iter().find(|known| known.name() == *part).context("no such part")?;
    let (tree, store, count) = (Path::new(tree), Path::new(store), count.parse::<usize>()?);
    let mut random = Random(seed.parse()?);
    let said = match part {
        Part::Raw => raw(tree, store)?,
        Part::Build => build(tree, store)?,
        Part::Rebuild => rebuild(tree, store, count)?,
        Part::First => questions(tree, store, count, &mut random, Asked::AtOnce)?,
        Part::Questions => questions(tree, store, count, &mut random, Asked::Often)?,
        Part::Edits => edits(tree, store, count, &mut random)?,
    };
    println!("{said}");
    Ok(())
}

/// The processor time of this process in milliseconds.
fn processor_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The processor time in milliseconds of the children this process has waited for.
pub fn processor_ms_of_children() -> anyhow::Result<f64> {
    // In ticks, of which Linux shows a hundred a second on every machine.
    const TICK_MS: f64 = 10.0;
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = stat.rsplit_once(')').context("an odd /proc/self/stat")?;
    let ticks: Vec<f64> =
        rest.split_whitespace().skip(13).take(2).filter_map(|tick| tick.parse().ok()).collect();
    let [user, system] = ticks[..] else { bail!("an odd /proc/self/stat") };
    Ok((user + system) * TICK_MS)
}

fn peak_mb() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak of memory")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1024.0)
}

fn open(tree: &Path, store: &Path) -> anyhow::Result<Index> {
    let workspace = Workspace::open(tree, &[])?;
    Ok(Index::open(store, &workspace)?)
}

fn refresh(index: &mut Index) -> anyhow::Result<()> {
    index.refresh(&|_, _| {}, &|| false)?;
    Ok(())
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Reads and parses the files of the index, and does nothing with the trees.
fn raw(tree: &Path, store: &Path) -> anyhow::Result<Value> {
    let index = open(tree, store)?;
    let files: Vec<(std::path::PathBuf, Language)> = index
        .entries()
        .filter(|(_, entry)| entry.omission.is_none())
        .filter_map(|(_, entry)| Some((tree.join(&entry.path), entry.language?)))
        .collect();
    drop(index);
    let (started, before) = (Instant::now(), processor_ms());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut parser = tree_sitter::Parser::new();
        while let Some((path, language)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Ok(text) = std::fs::read(path) else { continue };
            if parser.set_language(&language.grammar()).is_ok() {
                parser.parse(&text, None);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(work);
        }
    });
    Ok(json!({
        "wall_ms": millis(started.elapsed()),
        "cpu_ms": processor_ms() - before,
        "peak_mb": peak_mb()?,
    }))
}

/// A build from nothing.
fn build(tree: &Path, store: &Path) -> anyhow::Result<Value> {
    if store.exists() {
        std::fs::remove_dir_all(store)?;
    }
    let (started, before) = (Instant::now(), processor_ms());
    let mut index = open(tree, store)?;
    refresh(&mut index)?;
    let (wall, cpu) = (millis(started.elapsed()), processor_ms() - before);
    let kept = index.entries().filter(|(_, entry)| entry.omission.is_none());
    let sizes = kept.filter_map(|(_, entry)| std::fs::metadata(tree.join(&entry.path)).ok());
    let sizes: Vec<u64> = sizes.map(|about| about.len()).collect();
    let omitted = index.entries().filter(|(_, entry)| entry.omission.is_some()).count();
    let peak_mb = peak_mb()?;
    // What is kept when the process is gone.
    drop(index);
    let mut bytes = 0;
    for entry in std::fs::read_dir(store)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(json!({
        "wall_ms": wall,
        "cpu_ms": cpu,
        "peak_mb": peak_mb,
        "files": sizes.len(),
        "bytes": sizes.iter().sum::<u64>(),
        "omitted": omitted,
        "store": bytes,
        "threads": threads(),
    }))
}

/// Opens the index and looks at all files, of which none has changed; the mean of some runs.
fn rebuild(tree: &Path, store: &Path, runs: usize) -> anyhow::Result<Value> {
    // Files that were written just before the build are read once more by the first.
    refresh(&mut open(tree, store)?)?;
    let (started, before) = (Instant::now(), processor_ms());
    for _ in 0..runs {
        refresh(&mut open(tree, store)?)?;
    }
    Ok(json!({
        "wall_ms": millis(started.elapsed()) / runs as f64,
        "cpu_ms": (processor_ms() - before) / runs as f64,
    }))
}

/// By whom questions are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// By a program that has just begun: nothing is watched, no file was read.
    AtOnce,
    /// By one that runs for a while: the files are watched and were read ahead.
    Often,
}

/// Watches the files and waits until they were read ahead.
fn settle(index: &mut Index) -> anyhow::Result<()> {
    const LONGEST: Duration = Duration::from_secs(600);
    let started = Instant::now();
    index.watch();
    while !index.is_watched() || !index.has_read_ahead() {
        refresh(index)?;
        if started.elapsed() > LONGEST {
            bail!("the files were not watched and read ahead in time");
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    Ok(())
}

/// A question at a random name of the files of a project in which somebody works.
fn questions(
    tree: &Path,
    store: &Path,
    count: usize,
    random: &mut Random,
    asked: Asked,
) -> anyhow::Result<Value> {
    // The names are chosen by another index, so that the one that is asked has read nothing yet.
    let other = open(tree, store)?;
    let files = edited_files(&other);
    let mut places = Vec::new();
    for _ in 0..count * 4 {
        let Some(path) = random.of(&files) else { break };
        let Some(file) = other.file(path) else { continue };
        let whole = other.whole(file);
        if let Some(occurrence) = random.of(&whole.1.occurrences) {
            places.push((path.clone(), occurrence.at));
        }
        if places.len() == count {
            break;
        }
    }
    drop(other);
    let mut index = open(tree, store)?;
    refresh(&mut index)?;
    if asked == Asked::Often {
        settle(&mut index)?;
    }
    let (mut looks, mut definitions, mut references) = (Vec::new(), Vec::new(), Vec::new());
    let mut answered = 0;
    for (path, at) in &places {
        let started = Instant::now();
        refresh(&mut index)?;
        looks.push(millis(started.elapsed()));
        let started = Instant::now();
        let meaning = index.ask(&|| false, |index| {
            Resolver::new(index).definition_at(index.named(path)?, at.line, at.column)
        })?;
        definitions.push(millis(started.elapsed()));
        let Ok(meaning) = meaning else { continue };
        let Some(target) = meaning.found().first() else { continue };
        answered += 1;
        let started = Instant::now();
        index.ask(&|| false, |index| Resolver::new(index).references(target))?;
        references.push(millis(started.elapsed()));
    }
    let mut said = json!({"asked": places.len(), "answered": answered, "peak_mb": peak_mb()?});
    for (name, times) in [("look", looks), ("definition", definitions), ("references", references)] {
        let times = Times::of(times);
        said[format!("{name}_p50")] = times.at(50).into();
        said[format!("{name}_p95")] = times.at(95).into();
        said[format!("{name}_max")] = times.at(100).into();
    }
    Ok(said)
}

/// Changes a file and asks about the change: the new name must be found where it stands, the one before it nowhere.
fn edits(tree: &Path, store: &Path, count: usize, random: &mut Random) -> anyhow::Result<Value> {
    const POOL: usize = 40;
    let mut index = open(tree, store)?;
    refresh(&mut index)?;
    settle(&mut index)?;
    let files = edited_files(&index);
    let mut pool = Vec::new();
    for _ in 0..POOL * 10 {
        let Some(path) = random.of(&files) else { break };
        pool.extend(Edited::new(tree, path, index.file(path).and_then(|file| index.entry(file)?.language)));
        if pool.len() == POOL {
            break;
        }
    }
    if pool.is_empty() {
        bail!("there is no file to change");
    }
    let (mut times, mut stale) = (Vec::new(), 0);
    let mut names: HashMap<&str, String> = HashMap::new();
    for number in 0..count {
        let edited = random.of(&pool).context("no file to change")?;
        // Of one length each time, so that the size of the file tells nothing.
        let name = format!("bench_probe_{number:06}");
        std::fs::write(tree.join(&edited.path), edited.with(&name))?;
        let started = Instant::now();
        let found = index.ask(&|| false, |index| Resolver::new(index).definitions_named(&name))?;
        let resolver = Resolver::new(&index);
        times.push(millis(started.elapsed()));
        let is_at = |found: &DefinitionSite| {
            index.path(found.file) == edited.path && found.definition.at.line == edited.line
        };
        let old = names.insert(&edited.path, name);
        let is_old_gone = old.is_none_or(|old| resolver.definitions_named(&old).is_empty());
        if !found.iter().any(is_at) || !is_old_gone {
            stale += 1;
        }
    }
    for edited in &pool {
        std::fs::write(tree.join(&edited.path), &edited.text)?;
    }
    let times = Times::of(times);
    Ok(json!({"p50": times.at(50), "p95": times.at(95), "max": times.at(100), "stale": stale}))
}

/// A file that is changed by a function at its end.
struct Edited {
    path: String,
    language: Language,
    text: String,
    /// Where the function stands.
    line: u32,
}

impl Edited {
    /// `None` where a fresh look at the changed text does not see the function either: in some files the grammar has
    /// lost its way before the end.
    fn new(tree: &Path, path: &str, language: Option<Language>) -> Option<Self> {
        let text = std::fs::read_to_string(tree.join(path)).ok()?;
        let line = text.lines().count() as u32 + 2;
        let edited = Self { path: path.to_owned(), language: language?, text, line };
        let facts = facts::read(edited.language, &edited.with("bench_probe")).ok()?;
        let is_seen =
            |one: &facts::Definition| one.name == "bench_probe" && one.at.line == line && one.scope.is_none();
        facts.definitions.iter().any(is_seen).then_some(edited)
    }

    fn with(&self, name: &str) -> String {
        let gap = if self.text.ends_with('\n') || self.text.is_empty() { "\n" } else { "\n\n" };
        format!("{}{gap}{}", self.text, function(Some(self.language), name))
    }
}

/// The files in which names have meanings, in order.
fn edited_files(index: &Index) -> Vec<String> {
    let known = index.entries().filter(|(_, entry)| entry.omission.is_none());
    let known = known.filter(|(_, entry)| !function(entry.language, "name").is_empty());
    let mut files: Vec<String> = known.map(|(_, entry)| entry.path.clone()).collect();
    files.sort();
    files
}

/// A function of a name in a language; empty for those without.
fn function(language: Option<Language>, name: &str) -> String {
    match language {
        Some(Language::Python) => format!("def {name}(): pass\n"),
        Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
            format!("function {name}() {{}}\n")
        }
        Some(Language::Rust) => format!("fn {name}() {{}}\n"),
        Some(Language::Go) => format!("func {name}() {{}}\n"),
        Some(Language::C | Language::Cpp) => format!("void {name}(void) {{}}\n"),
        Some(Language::Java) => format!("class {name} {{}}\n"),
        _ => String::new(),
    }
}

struct Times(Vec<f64>);

impl Times {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    fn at(&self, percent: usize) -> f64 {
        let place = (self.0.len() * percent).div_ceil(100).saturating_sub(1);
        self.0.get(place).copied().unwrap_or(f64::NAN)
    }
}
