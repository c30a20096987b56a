//! `cargo xtask rename LANGUAGE PACKAGE... [--count N] [--seed N]`: renames random symbols of real packages and runs the
//! language's own check. A rename that is sure of every place must add no error.
//!
//! Each package is copied once. All renames are planned against the unchanged copy; those that are sure are applied
//! many at a time, and halved where the check finds something new, until the renames that cause it are known.

mod checks;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use stepwell_code_intel::facts::Kind;
use stepwell_code_intel::index::{FileId, Index};
use stepwell_code_intel::languages::Language;
use stepwell_code_intel::resolve::DefinitionSite;
use stepwell_code_intel::structure::rename::{self, Rename, UncertainSites};
use stepwell_code_intel::structure::{Splice, spliced};
use stepwell_workspace::Workspace;

use crate::random::Random;
use checks::{Checker, Problem};

/// Renames that are checked together.
const TOGETHER: usize = 24;

/// What happened to the symbols of one or more packages.
#[derive(Debug, Default)]
pub struct Tally {
    pub asked: usize,
    pub refused: usize,
    /// Some place is not sure: nothing is changed without a person's word.
    pub unsure: usize,
    pub sure: usize,
    /// Renames that are sure and add an error.
    pub broken: Vec<String>,
    /// What the check finds in the unchanged packages.
    pub before: usize,
    /// Why renames were refused or not sure, counted.
    pub reasons: BTreeMap<String, usize>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.refused += other.refused;
        self.unsure += other.unsure;
        self.sure += other.sure;
        self.broken.extend(other.broken);
        self.before += other.before;
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
    }
}

pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let (mut packages, mut count, mut seed) = (Vec::new(), 125_usize, 1_u64);
    let [language, rest @ ..] = arguments else {
        bail!("usage: cargo xtask rename LANGUAGE PACKAGE... [--count N] [--seed N]")
    };
    let language = Language::named(language).with_context(|| format!("unknown language {language}"))?;
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        let mut number =
            || rest.next().and_then(|value| value.parse::<u64>().ok()).context("a number is missing");
        match *argument {
            "--count" => count = number()? as usize,
            "--seed" => seed = number()?,
            package => packages.push(PathBuf::from(package)),
        }
    }
    let mut random = Random(seed);
    let mut all = Tally::default();
    let mut left = count;
    for (number, package) in packages.iter().enumerate() {
        let share = left / (packages.len() - number);
        left -= share;
        let tally = match check_package(language, package, share, &mut random) {
            Ok(tally) => tally,
            Err(error) => {
                println!("{} is left out: {error:#}", package.display());
                continue;
            }
        };
        for broken in &tally.broken {
            println!("broken: {broken}");
        }
        println!(
            "{}: {} renames, {} sure, {} not sure, {} refused, {} broken ({} problems before)",
            package.display(),
            tally.asked,
            tally.sure,
            tally.unsure,
            tally.refused,
            tally.broken.len(),
            tally.before
        );
        all.add(tally);
    }
    for (reason, count) in &all.reasons {
        println!("{count:>6}  {reason}");
    }
    println!(
        "{}: {} renames (seed {seed}): {} sure, {} not sure, {} refused; {} sure ones add an error",
        language.name(),
        all.asked,
        all.sure,
        all.unsure,
        all.refused,
        all.broken.len()
    );
    if !all.broken.is_empty() {
        bail!("{} renames that were sure break the code", all.broken.len());
    }
    Ok(())
}

/// A rename that is sure, ready to be written.
struct Planned {
    label: String,
    files: BTreeMap<PathBuf, Vec<Splice>>,
}

/// Renames `count` random symbols of a package and checks those that are sure.
pub fn check_package(
    language: Language,
    package: &Path,
    count: usize,
    random: &mut Random,
) -> anyhow::Result<Tally> {
    let folder = tempfile::tempdir()?;
    let checker = Checker::prepare(language, package, folder.path())?;
    let workspace = Workspace::open(&checker.tree, &[])?;
    let store = folder.path().join("store");
    let mut index = Index::open(&store, &workspace)?;
    index.refresh(&|_, _| {}, &|| false)?;
    let mut tally = Tally::default();
    let mut planned = Vec::new();
    for site in picked(&index, language, count, random) {
        tally.asked += 1;
        let new_name = other_name(&site.definition.name, tally.asked);
        let label = format!(
            "{}:{}:{}: {} {} to {new_name}",
            index.path(site.file),
            site.definition.at.line,
            site.definition.at.column,
            site.definition.kind.name(),
            site.definition.name
        );
        match rename::plan(&index, &site, &new_name, UncertainSites::LeaveAlone) {
            Err(refusal) => {
                tally.refused += 1;
                let reason = refusal.to_string();
                let reason = reason.lines().next().unwrap_or_default();
                let reason = reason.replace(&new_name, "NEW").replace(&site.definition.name, "NAME");
                *tally.reasons.entry(format!("refused: {reason}")).or_default() += 1;
            }
            Ok(made) if made.is_sure() => {
                tally.sure += 1;
                planned.push(Planned { label, files: by_path(&checker.tree, &index, &made) });
            }
            Ok(made) => {
                tally.unsure += 1;
                let least = made.places.iter().map(|place| place.sure).max();
                let reason = least.map_or("", |sure| sure.words());
                *tally.reasons.entry(reason.to_owned()).or_default() += 1;
            }
        }
    }
    let before: HashSet<Problem> = checker.check()?.into_iter().collect();
    tally.before = before.len();
    if let Some(problem) = before.iter().find(|problem| problem.hides_others()) {
        println!("{} is left out, it does not pass its own check: {}", package.display(), problem.text);
        return Ok(Tally::default());
    }
    while !planned.is_empty() {
        let batch = take_batch(&mut planned);
        tally.broken.extend(broken(&checker, &before, &batch)?);
    }
    Ok(tally)
}

/// Random definitions, by turns such as others can use and local ones.
fn picked(index: &Index, language: Language, count: usize, random: &mut Random) -> Vec<DefinitionSite> {
    let mut files: Vec<FileId> =
        index.entries().filter(|(_, entry)| entry.language == Some(language)).map(|(file, _)| file).collect();
    files.sort_by_key(|file| index.path(*file).to_owned());
    let (mut open, mut local) = (Vec::new(), Vec::new());
    for file in files {
        let whole = index.whole(file);
        for definition in &whole.1.definitions {
            let is_named = definition.name_span.of(&whole.0) == definition.name;
            let is_fixed =
                matches!(definition.name.as_str(), "_" | "self" | "cls" | "Self" | "main" | "init");
            if !is_named || is_fixed || definition.kind == Kind::Module {
                continue;
            }
            let place = (file, definition.name_span.start);
            if definition.scope.is_some() { &mut local } else { &mut open }.push(place);
        }
    }
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for turn in 0..count * 4 {
        let one = random.of(if turn % 2 == 0 { &open } else { &local });
        let Some((file, start)) = one.copied().filter(|one| seen.insert(*one)) else { continue };
        let whole = index.whole(file);
        let definition = whole.1.definitions.iter().find(|one| one.name_span.start == start);
        found.extend(definition.map(|one| DefinitionSite { file, definition: one.clone() }));
        if found.len() >= count {
            break;
        }
    }
    found
}

/// A name that nothing has yet, in the style of the old one.
fn other_name(name: &str, number: usize) -> String {
    let is_constant = !name.contains(char::is_lowercase) && name.len() > 1;
    if is_constant {
        return format!("{name}_RENAMED_{number}");
    }
    if name.contains(char::is_uppercase) {
        format!("{name}Renamed{number}")
    } else {
        format!("{name}_renamed_{number}")
    }
}

fn by_path(tree: &Path, index: &Index, made: &Rename) -> BTreeMap<PathBuf, Vec<Splice>> {
    made.files.iter().map(|file| (tree.join(index.path(file.file)), file.splices.clone())).collect()
}

/// The next renames that can be made together: no two change the same bytes.
fn take_batch(planned: &mut Vec<Planned>) -> Vec<Planned> {
    let (mut batch, mut later): (Vec<Planned>, Vec<Planned>) = (Vec::new(), Vec::new());
    for one in planned.drain(..) {
        let overlaps = |other: &Planned| {
            one.files.iter().any(|(path, splices)| {
                let others = other.files.get(path).map(Vec::as_slice).unwrap_or_default();
                splices.iter().any(|splice| {
                    others.iter().any(|other| {
                        splice.range.start < other.range.end && other.range.start < splice.range.end
                    })
                })
            })
        };
        if batch.len() < TOGETHER && !batch.iter().any(overlaps) { &mut batch } else { &mut later }.push(one);
    }
    *planned = later;
    batch
}

/// The renames that add a problem, each with the first one it adds.
fn broken(checker: &Checker, before: &HashSet<Problem>, batch: &[Planned]) -> anyhow::Result<Vec<String>> {
    let new = problems_after(checker, before, batch)?;
    match (new.first(), batch) {
        (None, _) => Ok(Vec::new()),
        (Some(problem), [one]) => Ok(vec![format!("{}\n        {}", one.label, problem.text)]),
        (Some(_), several) => {
            let (left, right) = several.split_at(several.len() / 2);
            let mut found = broken(checker, before, left)?;
            found.extend(broken(checker, before, right)?);
            Ok(found)
        }
    }
}

/// Applies renames, checks, and takes them back.
fn problems_after(
    checker: &Checker,
    before: &HashSet<Problem>,
    batch: &[Planned],
) -> anyhow::Result<Vec<Problem>> {
    let mut files: BTreeMap<&PathBuf, Vec<Splice>> = BTreeMap::new();
    for (path, splices) in batch.iter().flat_map(|one| &one.files) {
        files.entry(path).or_default().extend(splices.iter().cloned());
    }
    let mut originals = Vec::new();
    for (path, splices) in &files {
        let text = std::fs::read_to_string(path)?;
        let changed = spliced(&text, splices).context("two renames change the same bytes")?;
        std::fs::write(path, changed)?;
        originals.push((path, text));
    }
    let after = checker.check();
    for (path, text) in originals {
        std::fs::write(path, text)?;
    }
    Ok(after?.into_iter().filter(|problem| !before.contains(problem)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate with what renames have broken before.
    const CRATE: &str = r#"
pub struct Counter { pub total: u64 }
pub trait Step { fn step(&self, by: Option<u64>) -> u64; }
impl Step for Counter {
    fn step(&self, by: Option<u64>) -> u64 {
        if let Some(by) = by { self.total + by } else { by.unwrap_or(1) }
    }
}
impl Counter {
    pub fn new(total: u64) -> Self { Self { total } }
    pub fn all(&self, values: &[Option<u64>]) -> u64 {
        let Self { total } = self;
        values.iter().map(|value| self.step(*value)).sum::<u64>() + *total
    }
}
pub fn either(value: Result<u64, u64>) -> u64 {
    match value { Ok(value) | Err(value) if value > 1 => value, Ok(_) | Err(_) => 0 }
}
pub fn shown(counter: &Counter) -> String {
    let total = counter.total;
    format!("{total} {}", counter.step(None))
}
"#;

    #[test]
    fn sure_renames_of_a_small_crate_pass_cargo_check() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("counter");
        std::fs::create_dir_all(package.join("src")).unwrap();
        let manifest = "[package]\nname = \"counter\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        std::fs::write(package.join("Cargo.toml"), manifest).unwrap();
        std::fs::write(package.join("src/lib.rs"), CRATE).unwrap();
        let tally = check_package(Language::Rust, &package, 20, &mut Random(1)).unwrap();
        assert!(tally.sure >= 10, "{tally:?}");
        assert!(tally.broken.is_empty(), "{:#?}", tally.broken);
    }
}
