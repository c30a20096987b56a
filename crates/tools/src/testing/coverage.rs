//! `analyze_coverage`: what tests ran and what they did not, the uncommitted lines first.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_code_intel::ask::{Ask, SymbolFilter};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec};
use stepwell_workspace::search::WalkRules;
use stepwell_workspace::{EntryKind, Inside, Workspace, files};

use super::changed::changed_lines;
use super::coverage_formats::{self, CoverageFormat, FileHits, LineHits};
use crate::code::{CodeService, TextAnswer};

const LARGEST_REPORT: u64 = 64 * 1024 * 1024;
/// Reports that are looked at.
const MOST_REPORTS: usize = 500;
/// Maximum number of files in the answer, and of files listed with their functions.
const MOST_FILES: usize = 200;
const MOST_TOLD: usize = 25;
const MOST_RANGES: usize = 20;
/// How reports are called.
const NAMES: &[&str] = &[
    "coverage.json",
    "coverage.xml",
    "cobertura.xml",
    "cobertura-coverage.xml",
    "lcov.info",
    "*.lcov",
    "coverage.lcov",
    "coverage-final.json",
    "cover.out",
    "coverage.out",
    "coverage.txt",
    "cover.txt",
    "c.out",
    "profile.cov",
    "*.coverprofile",
    "llvm-cov.json",
    "cov.json",
    "*.gcov.json",
    "*.gcov.json.gz",
];

pub struct AnalyzeCoverage {
    workspace: Workspace,
    code: Arc<CodeService>,
}

impl AnalyzeCoverage {
    pub fn new(workspace: Workspace, code: Arc<CodeService>) -> Self {
        Self { workspace, code }
    }
}

/// Reads a coverage report (coverage.py, Cobertura, LCOV, llvm-cov, gcov, go cover, istanbul) and tells which lines and
/// functions no test runs: those of uncommitted changes first, then by file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct AnalyzeCoverageInput {
    /// A report, a folder with one, or a source file to look at closely. By default the newest report of the workspace.
    #[schemars(extend("x-aliases" = ["report", "file_path"]))]
    path: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CoverageBody {
    format: CoverageFormat,
    report: String,
    lines: usize,
    covered: usize,
    percent: f64,
    /// Uncommitted lines that no test runs.
    changed_uncovered: Vec<UncoveredFile>,
    /// Uncommitted lines that the report knows.
    changed_lines: usize,
    files: Vec<CoveredFile>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct UncoveredFile {
    file: String,
    /// First and last lines.
    lines: Vec<(u32, u32)>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CoveredFile {
    file: String,
    lines: usize,
    covered: usize,
    percent: f64,
    /// First and last lines that no test runs.
    uncovered: Vec<(u32, u32)>,
    /// Functions that are not covered whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    functions: Vec<CoveredFunction>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CoveredFunction {
    name: String,
    line: u32,
    lines: usize,
    covered: usize,
}

#[async_trait]
impl Tool for AnalyzeCoverage {
    type Input = AnalyzeCoverageInput;
    type Plan = AnalyzeCoverageInput;
    type Output = TextAnswer<CoverageBody>;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "analyze_coverage",
            aliases: &[],
            category: Category::Testing,
            risk: Risk::Read,
            time_limit: Duration::from_mins(2),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let path = input.path.clone().unwrap_or_else(|| ".".to_owned());
        let summary = format!("Read the coverage of `{path}`");
        Planned::ready(Preview { summary, paths: vec![path], ..Preview::default() }, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let place = crate::files::place(&self.workspace, input.path.as_deref().unwrap_or("."))?;
        if !place.absolute().exists() {
            return Err(ToolError::parameter(format!("`{}` does not exist", place.display())));
        }
        let (workspace, cancel) = (self.workspace.clone(), ctx.cancel.clone());
        let read =
            tokio::task::spawn_blocking(move || find_report(&workspace, &place, &|| cancel.is_cancelled()));
        let report = read.await.map_err(|error| ToolError::execution(error.to_string()))??;
        let changed = changed_lines(ctx, &self.workspace).await.unwrap_or_default();
        let body = self.body(ctx, report, &changed).await?;
        let text = body.text();
        Ok(TextAnswer::new(body, text))
    }
}

/// A report with the names of the workspace's files.
struct Report {
    format: CoverageFormat,
    shown: String,
    made: Option<SystemTime>,
    files: FileHits,
    /// The single file to report in detail.
    only: Option<String>,
    notes: Vec<String>,
}

/// Finds the report of a path: the path itself, or the newest one below it.
fn find_report(
    workspace: &Workspace,
    place: &Inside,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Report, ToolError> {
    if place.absolute().is_file() {
        if let Some((format, files)) = read_report(workspace, place) {
            return Ok(named(workspace, place, format, files, None, Vec::new()));
        }
        // A source file is looked at in the newest report.
        let root = crate::files::place(workspace, ".")?;
        let mut report = newest(workspace, &root, is_cancelled)?;
        report.only = Some(place.display());
        if !report.files.contains_key(&place.display()) {
            return Err(ToolError::validation(format!(
                "`{}` is neither a coverage report nor a file of `{}`",
                place.display(),
                report.shown
            )));
        }
        return Ok(report);
    }
    newest(workspace, place, is_cancelled)
}

fn newest(
    workspace: &Workspace,
    place: &Inside,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Report, ToolError> {
    let mut globs: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    globs.push("!node_modules/**".to_owned());
    let rules = WalkRules { include_ignored: true, globs, ..WalkRules::default() };
    let listing = workspace
        .list(place, &rules, MOST_REPORTS, is_cancelled)
        .map_err(|error| crate::files::explained(workspace, Some(place), error))?;
    let mut found: Vec<(SystemTime, Inside)> = listing
        .entries
        .iter()
        .filter(|entry| matches!(entry.kind, EntryKind::File { .. }))
        .map(|entry| place.join(&entry.path))
        .filter_map(|place| Some((modified(place.absolute())?, place)))
        .collect();
    found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let mut read = found
        .iter()
        .filter_map(|(_, place)| read_report(workspace, place).map(|(format, files)| (place, format, files)));
    let Some((first, format, mut files)) = read.next() else {
        return Err(ToolError::validation(format!(
            "no coverage report was found in `{}`; make one first, such as `pytest --cov --cov-report=json`, \
             `go test -coverprofile=cover.out ./...`, `cargo llvm-cov --json --output-path coverage.json`, \
             `vitest run --coverage` or `npx c8 --reporter=lcov`",
            place.display()
        )));
    };
    let (mut notes, mut others) = (Vec::new(), Vec::new());
    for (place, other, hits) in read {
        // gcov writes a report for each source file.
        if format == CoverageFormat::Gcov && other == format {
            for (name, lines) in hits {
                let known = files.entry(name).or_default();
                for (line, count) in lines {
                    let hit = known.entry(line).or_default();
                    *hit = (*hit).max(count);
                }
            }
        } else {
            others.push(place.display());
        }
    }
    if !others.is_empty() {
        others.truncate(5);
        notes.push(format!("older reports, which `path` chooses: {}", others.join(", ")));
    }
    Ok(named(workspace, first, format, files, None, notes))
}

fn modified(path: &Path) -> Option<SystemTime> {
    files::metadata(path).ok()?.modified().ok()
}

fn read_report(workspace: &Workspace, place: &Inside) -> Option<(CoverageFormat, FileHits)> {
    let bytes = workspace.read(place, LARGEST_REPORT).ok()?;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        // A small file can claim to hold anything.
        flate2::read::GzDecoder::new(bytes.as_slice()).take(LARGEST_REPORT).read_to_end(&mut plain).ok()?;
        plain
    } else {
        bytes
    };
    coverage_formats::read(&String::from_utf8_lossy(&bytes))
}

/// Gives the files of a report the names that they have in the workspace. Files elsewhere, and hidden ones, are left out.
fn named(
    workspace: &Workspace,
    place: &Inside,
    format: CoverageFormat,
    files: FileHits,
    only: Option<String>,
    mut notes: Vec<String>,
) -> Report {
    let root = workspace.root();
    let beside = place.absolute().parent().unwrap_or(root).to_path_buf();
    let modules = go_modules(&beside, root);
    let locate = |name: &str| -> Option<String> {
        let mut candidates: Vec<PathBuf> = vec![root.join(name), beside.join(name)];
        candidates.extend(
            beside
                .ancestors()
                .skip(1)
                .take_while(|folder| folder.starts_with(root))
                .map(|folder| folder.join(name)),
        );
        candidates.extend(modules.iter().filter_map(|(module, folder)| {
            let rest = name.strip_prefix(module.as_str())?.strip_prefix('/')?;
            Some(folder.join(rest))
        }));
        let path = candidates.into_iter().find(|path| path.is_file())?;
        let place = workspace.place(&path.to_string_lossy()).ok()?;
        Some(place.display())
    };
    let mut known = FileHits::new();
    let mut elsewhere = 0;
    for (name, hits) in files {
        match locate(&name) {
            Some(name) => {
                known.insert(name, hits);
            }
            None => elsewhere += 1,
        }
    }
    if elsewhere > 0 {
        notes.push(format!("{elsewhere} files of the report are not in the workspace"));
    }
    Report { format, shown: place.display(), made: modified(place.absolute()), files: known, only, notes }
}

/// The names of Go's modules around a report, with their folders.
fn go_modules(beside: &Path, root: &Path) -> Vec<(String, PathBuf)> {
    let folders = beside.ancestors().take_while(|folder| folder.starts_with(root));
    let read = |folder: &Path| {
        let text = files::read_if_exists(&folder.join("go.mod")).ok().flatten()?;
        let name = text.lines().find_map(|line| line.strip_prefix("module "))?.trim().to_owned();
        Some((name, folder.to_path_buf()))
    };
    folders.filter_map(read).collect()
}

fn counts(hits: &LineHits) -> (usize, usize) {
    (hits.len(), hits.values().filter(|count| **count > 0).count())
}

fn percent(covered: usize, lines: usize) -> f64 {
    if lines == 0 { 100.0 } else { (covered as f64 * 1000.0 / lines as f64).round() / 10.0 }
}

/// Ranges of lines that did not run. Lines between them that hold no code do not part them.
fn ranges(hits: &LineHits, is_wanted: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    let mut open = false;
    for (line, count) in hits {
        if *count > 0 || !is_wanted(*line) {
            open = false;
            continue;
        }
        match found.last_mut() {
            Some((_, last)) if open => *last = *line,
            _ => found.push((*line, *line)),
        }
        open = true;
    }
    found
}

impl AnalyzeCoverage {
    async fn body(
        &self,
        ctx: &ToolContext,
        mut report: Report,
        changed: &BTreeMap<String, Vec<(u32, u32)>>,
    ) -> Result<CoverageBody, ToolError> {
        if let Some(only) = &report.only {
            report.files.retain(|name, _| name == only);
        }
        let (mut lines, mut covered) = (0, 0);
        let mut files = Vec::new();
        let mut stale = 0;
        for (name, hits) in &report.files {
            let (all, ran) = counts(hits);
            lines += all;
            covered += ran;
            let is_newer = modified(&self.workspace.root().join(name)) > report.made;
            stale += usize::from(is_newer && report.made.is_some());
            files.push(CoveredFile {
                file: name.clone(),
                lines: all,
                covered: ran,
                percent: percent(ran, all),
                uncovered: ranges(hits, |_| true),
                functions: Vec::new(),
            });
        }
        if stale > 0 {
            report
                .notes
                .push(format!("{stale} files changed after the report was made; run the tests again"));
        }
        let mut changed_uncovered = Vec::new();
        let mut known = 0;
        for (name, spans) in changed {
            let Some(hits) = report.files.get(name) else { continue };
            let is_changed = |line: u32| spans.iter().any(|(first, last)| (*first..=*last).contains(&line));
            known += hits.keys().filter(|line| is_changed(**line)).count();
            let lines = ranges(hits, is_changed);
            if !lines.is_empty() {
                changed_uncovered.push(UncoveredFile { file: name.clone(), lines });
            }
        }
        files.sort_by_key(|file| std::cmp::Reverse(file.lines - file.covered));
        files.truncate(MOST_FILES);
        for file in files.iter_mut().filter(|file| file.covered < file.lines).take(MOST_TOLD) {
            if let Some(hits) = report.files.get(&file.file) {
                file.functions = self.functions(ctx, &file.file, hits.clone()).await?;
            }
        }
        Ok(CoverageBody {
            format: report.format,
            report: report.shown,
            lines,
            covered,
            percent: percent(covered, lines),
            changed_uncovered,
            changed_lines: known,
            files,
            notes: report.notes,
        })
    }

    /// The functions of a file that are not covered whole, as the code index knows them.
    async fn functions(
        &self,
        ctx: &ToolContext,
        file: &str,
        hits: LineHits,
    ) -> Result<Vec<CoveredFunction>, ToolError> {
        let name = file.to_owned();
        // A file that the index does not know has no functions to tell of.
        let symbols = self
            .code
            .ask(ctx, move |index| Ok(Ask::new(index).symbols(&name, SymbolFilter::Outline).ok()))
            .await?;
        let callable = |kind: &str| matches!(kind, "function" | "method" | "constructor");
        let all = symbols.into_iter().flat_map(|found| found.symbols).filter(|symbol| callable(symbol.kind));
        let of = |symbol: stepwell_code_intel::ask::Symbol| {
            // The first line of a function runs when it is defined, in some languages.
            let inside: LineHits = hits
                .range(symbol.line..=symbol.last_line)
                .filter(|(line, _)| **line > symbol.line || symbol.line == symbol.last_line)
                .map(|(line, count)| (*line, *count))
                .collect();
            let (lines, covered) = counts(&inside);
            CoveredFunction { name: symbol.path, line: symbol.line, lines, covered }
        };
        Ok(all.map(of).filter(|function| function.covered < function.lines).collect())
    }
}

fn shown_ranges(lines: &[(u32, u32)]) -> String {
    let one = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let mut text = lines.iter().take(MOST_RANGES).map(one).collect::<Vec<_>>().join(", ");
    if lines.len() > MOST_RANGES {
        text.push_str(&format!(" and {} more", lines.len() - MOST_RANGES));
    }
    text
}

impl CoverageBody {
    fn text(&self) -> String {
        let mut text = format!(
            "{}% of {} lines in {} files ({}, {})\n",
            self.percent,
            self.lines,
            self.files.len(),
            self.report,
            self.format.name()
        );
        if self.changed_lines > 0 && self.changed_uncovered.is_empty() {
            text.push_str("every uncommitted line that the report knows is covered\n");
        }
        if !self.changed_uncovered.is_empty() {
            text.push_str("\nuncommitted lines that no test runs:\n");
            for file in self.changed_uncovered.iter().take(MOST_TOLD) {
                text.push_str(&format!("  {}: {}\n", file.file, shown_ranges(&file.lines)));
            }
        }
        let told: Vec<&CoveredFile> = self.files.iter().filter(|file| file.covered < file.lines).collect();
        if !told.is_empty() {
            text.push_str("\nlines that no test runs, by file:\n");
        }
        for file in told.iter().take(MOST_TOLD) {
            text.push_str(&format!("  {} {}%: {}\n", file.file, file.percent, shown_ranges(&file.uncovered)));
            for function in file.functions.iter().take(12) {
                let state = match function.covered {
                    0 => "never runs".to_owned(),
                    covered => format!("{covered} of {} lines", function.lines),
                };
                text.push_str(&format!("    {} (line {}): {state}\n", function.name, function.line));
            }
        }
        if told.len() > MOST_TOLD {
            text.push_str(&format!("  and {} more files\n", told.len() - MOST_TOLD));
        }
        for note in &self.notes {
            text.push_str(&format!("note: {note}\n"));
        }
        text
    }
}
