//! `run_tests`: runs the tests of a path and answers with data.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use stepwell_protocol::{ErrorClass, OutputStream, Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec};
use stepwell_workspace::process::{Ending, KeepOutput, ProgramCall, find_program};
use stepwell_workspace::search::WalkRules;
use stepwell_workspace::{EntryKind, Inside, Workspace, files};

use super::changed;
use super::detect::detect;
use super::framework::Framework;
use super::invocation::{Selection, TestRequest, Words};
use super::last_failures::{FailedId, LastFailures};
use super::outcome::{TestCase, TestStatus, TestTotals, cut_text};
use super::report_folder::ReportFolder;
use super::reports::{self, RunText};
use crate::catalog::CatalogOptions;
use crate::code::{CodeService, TextAnswer};
use crate::environment::TaskVariables;
use crate::shell::confine::Confinement;
use crate::shell::{commands_environment, run_confined};

const DEFAULT_TIMEOUT: u64 = 600;
const LONGEST_TIMEOUT: u64 = 3600;
/// Bytes of each stream that are read for results.
const MOST_OUTPUT: usize = 16 * 1024 * 1024;
/// Failures that the model reads with their output, and those of which it reads a line.
const MOST_DETAILED: usize = 10;
const MOST_FAILURES: usize = 100;
const MOST_SKIPPED: usize = 20;
/// Bytes of a runner's own words where they are needed.
const MOST_SAID: usize = 4 * 1024;
/// JUnit files of one run.
const MOST_REPORTS: usize = 2000;
const LARGEST_REPORT: u64 = 16 * 1024 * 1024;

pub struct RunTests {
    workspace: Workspace,
    confinement: Confinement,
    removed_variables: Vec<String>,
    variables: Option<TaskVariables>,
    code: Arc<CodeService>,
    failures: LastFailures,
}

impl RunTests {
    pub fn new(workspace: Workspace, options: &CatalogOptions, code: Arc<CodeService>) -> Self {
        let failures = LastFailures::new(&options.test_results, workspace.root());
        let (confinement, removed_variables) =
            (options.confinement.clone(), options.removed_variables.clone());
        Self {
            workspace,
            confinement,
            removed_variables,
            variables: options.variables.clone(),
            code,
            failures,
        }
    }
}

/// Runs tests and tells which passed, failed and were skipped, with place, message and output of each failure. Finds the
/// framework by itself. `debug_failure` goes on with a failure.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct RunTestsInput {
    /// A file or folder of tests, or a googletest binary; everything by default.
    #[schemars(extend("x-aliases" = ["file_path"]))]
    path: Option<String>,
    /// Only tests whose name matches, as the framework takes it (`-k`, `-run`, `-t`, ...).
    #[schemars(extend("x-aliases" = ["filter", "name"]))]
    pattern: Option<String>,
    framework: Option<Framework>,
    /// Only tests that failed last time.
    #[serde(default)]
    only_failed: bool,
    /// Only tests that what is not committed may concern.
    #[serde(default)]
    changed_only: bool,
    /// Further words for the runner.
    #[serde(default)]
    args: Vec<String>,
    /// Seconds; 600 by default.
    timeout: Option<u64>,
    /// Another command that runs tests; `report` says where it writes JUnit XML.
    command: Option<String>,
    /// The JUnit file or folder of `command`.
    report: Option<String>,
}

/// What a call is going to run.
#[derive(Clone, Debug)]
pub struct RunTestsPlan {
    run: PlannedTests,
    folder: PathBuf,
    limit: Duration,
    notes: Vec<String>,
}

#[derive(Clone, Debug)]
enum PlannedTests {
    Framework {
        request: TestRequest,
        words: Words,
    },
    Command {
        line: String,
        report: Inside,
    },
    /// There is nothing to run, and why.
    Nothing(&'static str),
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RunTestsBody {
    /// Absent for a command of the caller's.
    #[serde(skip_serializing_if = "Option::is_none")]
    framework: Option<Framework>,
    command: String,
    #[serde(flatten)]
    totals: TestTotals,
    duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    failures: Vec<FailedTest>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped_tests: Vec<TestCase>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A failure, and the arguments with which `debug_failure` goes on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailedTest {
    #[serde(flatten)]
    test: TestCase,
    #[serde(skip_serializing_if = "Option::is_none")]
    debug_failure: Option<serde_json::Value>,
}

#[async_trait]
impl Tool for RunTests {
    type Input = RunTestsInput;
    type Plan = RunTestsPlan;
    type Output = TextAnswer<RunTestsBody>;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "run_tests",
            aliases: &[],
            category: Category::Testing,
            risk: Risk::Execute,
            time_limit: Duration::from_secs(LONGEST_TIMEOUT + 30),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let planned = self.planned(ctx, &input).await;
        let (summary, command, folder) = match &planned {
            Ok(plan) => {
                let line = plan.run.line();
                let summary = match &plan.run {
                    PlannedTests::Nothing(why) => format!("Run no tests: {why}"),
                    _ => format!("Run tests: `{line}`"),
                };
                (summary, (!line.is_empty()).then_some(line), Some(plan.folder.display().to_string()))
            }
            Err(_) => ("Run tests".to_owned(), None, input.path.clone()),
        };
        let preview = Preview {
            summary,
            command,
            paths: folder.into_iter().collect(),
            unconfined: self.confinement.missing(),
            ..Preview::default()
        };
        Planned::new(preview, planned)
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError> {
        if let PlannedTests::Nothing(why) = plan.run {
            let body = RunTestsBody::empty(plan.notes);
            return Ok(TextAnswer::new(body, why));
        }
        let reports = ReportFolder::make(&self.confinement)?;
        let (words, report) = match &plan.run {
            PlannedTests::Framework { request, words } => request.reporting(words.clone(), &reports)?,
            PlannedTests::Command { line, .. } => {
                let shell = ["--norc", "--noprofile", "-c", line, "bash"].map(str::to_owned).to_vec();
                (Words { program: "bash".to_owned(), arguments: shell }, None)
            }
            PlannedTests::Nothing(_) => return Err(ToolError::execution("there is nothing to run")),
        };
        let began = SystemTime::now();
        let ran = self.execute(ctx, &plan, words).await?;
        let run = RunText {
            report: None,
            stdout: &ran.stdout,
            stderr: &ran.stderr,
            folder: &plan.folder,
            root: self.workspace.root(),
        };
        let tests = match &plan.run {
            PlannedTests::Framework { request, .. }
                if matches!(request.framework, Framework::Maven | Framework::Gradle) =>
            {
                let place = self.workspace.place(&plan.folder.to_string_lossy()).ok();
                place.map(|place| self.junit_files(ctx, &place, began, &run)).unwrap_or_default()
            }
            PlannedTests::Framework { request, .. } => {
                let text = report.and_then(|name| reports.read(name));
                reports::read(request.framework, &RunText { report: text.as_deref(), ..run })
            }
            PlannedTests::Command { report, .. } => self.junit_files(ctx, report, began, &run),
            PlannedTests::Nothing(_) => Vec::new(),
        };
        self.answer(&plan, tests, &ran)
    }
}

/// What a run printed and how it ended.
struct Ran {
    stdout: String,
    stderr: String,
    ending: Ending,
    duration: Duration,
}

impl RunTests {
    async fn planned(&self, ctx: &ToolContext, input: &RunTestsInput) -> Result<RunTestsPlan, ToolError> {
        let limit = Duration::from_secs(input.timeout.unwrap_or(DEFAULT_TIMEOUT).clamp(1, LONGEST_TIMEOUT));
        let root = self.workspace.root().to_path_buf();
        let path = match &input.path {
            Some(path) => {
                let place = crate::files::place(&self.workspace, path)?;
                if !place.absolute().exists() {
                    return Err(ToolError::parameter(format!("`{path}` does not exist")));
                }
                self.workspace.real_path(&place)
            }
            None => root.clone(),
        };
        if let Some(line) = &input.command {
            let Some(report) = &input.report else {
                return Err(ToolError::parameter("`command` needs `report`: where it writes JUnit XML"));
            };
            let report = crate::files::place(&self.workspace, report)?;
            let folder = if path.is_dir() { path } else { root };
            let run = PlannedTests::Command { line: line.clone(), report };
            return Ok(RunTestsPlan { run, folder, limit, notes: Vec::new() });
        }
        if input.only_failed && input.changed_only {
            return Err(ToolError::parameter("choose one of `only_failed` and `changed_only`"));
        }
        let found = detect(&self.workspace, &path, input.framework)?;
        let framework = found.framework;
        let mut notes = Vec::new();
        if !found.others.is_empty() && input.framework.is_none() {
            let others: Vec<&str> = found.others.iter().map(|other| other.name()).collect();
            notes.push(format!("also possible here, with `framework`: {}", others.join(", ")));
        }
        let nothing = |why| RunTestsPlan {
            run: PlannedTests::Nothing(why),
            folder: found.folder.clone(),
            limit,
            notes: Vec::new(),
        };
        let selection = if input.only_failed {
            match self.failures.of(framework, &found.folder) {
                failed if failed.is_empty() => return Ok(nothing("no test failed last time")),
                failed => Selection::Failed(failed),
            }
        } else if input.changed_only {
            let parts = changed::affected(ctx, &self.workspace, &self.code, framework, &found.folder).await?;
            if parts.is_empty() {
                return Ok(nothing("what changed concerns no test, as far as imports tell"));
            }
            Selection::Parts(parts)
        } else {
            Selection::Path(input.path.as_ref().map(|_| path.clone()))
        };
        let request = TestRequest {
            framework,
            folder: found.folder.clone(),
            selection,
            pattern: input.pattern.clone(),
            args: input.args.clone(),
        };
        let words = request.words(&root)?;
        Ok(RunTestsPlan {
            run: PlannedTests::Framework { request, words },
            folder: found.folder,
            limit,
            notes,
        })
    }

    async fn execute(&self, ctx: &ToolContext, plan: &RunTestsPlan, words: Words) -> Result<Ran, ToolError> {
        let program = find_program(&words.program, &plan.folder);
        let program = match program {
            Some(program) => program,
            None if words.program.contains('/') => plan.folder.join(&words.program),
            None => {
                return Err(ToolError::execution(format!(
                    "`{}` is not installed, or not on the PATH",
                    words.program
                )));
            }
        };
        let mut environment = commands_environment(&self.removed_variables);
        environment.set.extend(self.variables.iter().flat_map(|variables| variables.environment(&ctx.task)));
        let call = ProgramCall {
            program: program.into(),
            arguments: words.arguments.into_iter().map(Into::into).collect(),
            folder: plan.folder.clone(),
            environment,
            input: None,
            time_limit: plan.limit,
            keep: KeepOutput { memory: 4096, file: None, file_limit: 0 },
        };
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let mut progress = GoProgress::default();
        let is_go = matches!(&plan.run, PlannedTests::Framework { request, .. } if request.framework == Framework::GoTest);
        let finished = run_confined(ctx, &self.confinement, call, |stream, text| {
            let kept = match stream {
                OutputStream::Stdout => &mut stdout,
                OutputStream::Stderr => &mut stderr,
            };
            if kept.len() < MOST_OUTPUT {
                kept.push_str(text);
            }
            if is_go && stream == OutputStream::Stdout { progress.push(text) } else { text.to_owned() }
        })
        .await?;
        match finished.ending {
            Ending::Cancelled => Err(ToolError::interrupted("the tests were cancelled")),
            ending => Ok(Ran { stdout, stderr, ending, duration: finished.duration }),
        }
    }

    /// Reads JUnit files that are as new as the run.
    fn junit_files(
        &self,
        ctx: &ToolContext,
        place: &Inside,
        began: SystemTime,
        run: &RunText<'_>,
    ) -> Vec<TestCase> {
        let read = |place: &Inside| {
            let bytes = self.workspace.read(place, LARGEST_REPORT).ok()?;
            Some(reports::read_junit(&String::from_utf8_lossy(&bytes), run))
        };
        if place.absolute().is_file() {
            return read(place).unwrap_or_default();
        }
        let rules =
            WalkRules { include_ignored: true, globs: vec!["*.xml".to_owned()], ..WalkRules::default() };
        let cancel = ctx.cancel.clone();
        let Ok(listing) = self.workspace.list(place, &rules, MOST_REPORTS, &|| cancel.is_cancelled()) else {
            return Vec::new();
        };
        let slack = began - Duration::from_secs(2);
        let is_new = |place: &Inside| {
            files::metadata(place.absolute())
                .and_then(|found| {
                    found
                        .modified()
                        .map_err(|error| stepwell_workspace::Error::io("look at", place.absolute(), error))
                })
                .is_ok_and(|time| time >= slack)
        };
        let found = listing.entries.iter().filter(|entry| matches!(entry.kind, EntryKind::File { .. }));
        found
            .map(|entry| place.join(&entry.path))
            .filter(is_new)
            .filter_map(|place| read(&place))
            .flatten()
            .collect()
    }

    fn answer(
        &self,
        plan: &RunTestsPlan,
        tests: Vec<TestCase>,
        ran: &Ran,
    ) -> Result<TextAnswer<RunTestsBody>, ToolError> {
        let totals = TestTotals::of(&tests);
        let said = || {
            let both = format!("{}\n{}", ran.stdout.trim_end(), ran.stderr.trim_end());
            cut_text(both.trim(), MOST_SAID)
        };
        if ran.ending == Ending::TimedOut {
            let seconds = plan.limit.as_secs();
            let why = format!("the tests were stopped after {seconds} s; until then {}", totals.text());
            return Err(ToolError::new(ErrorClass::TimeoutError, format!("{why}\n{}", said())));
        }
        let exit_code = match ran.ending {
            Ending::Exited(code) => Some(code),
            _ => None,
        };
        let line = plan.run.line();
        if totals.all() == 0 && exit_code != Some(0) {
            // 5 is pytest's word for no tests.
            let why = match (plan.run.framework(), exit_code) {
                (Some(Framework::Pytest), Some(5)) => "no test was found".to_owned(),
                (_, Some(code)) => format!("`{line}` ended with exit code {code} and reported no test"),
                (_, None) => format!("`{line}` was ended by a signal and reported no test"),
            };
            return Err(ToolError::execution(format!("{why}\n{}", said())));
        }
        let mut failures = Vec::new();
        let mut skipped_tests = Vec::new();
        let ids: Vec<String> = tests.iter().map(|test| test.id.clone()).collect();
        for test in tests {
            if test.is_failure() {
                let id = FailedId { id: test.id.clone(), group: test.group.clone() };
                let debug_failure = plan.run.debug_line(id, self.workspace.root()).map(|command| {
                    let cwd = plan.folder.strip_prefix(self.workspace.root()).ok();
                    match cwd.filter(|cwd| !cwd.as_os_str().is_empty()) {
                        Some(cwd) => json!({"command": command, "cwd": cwd}),
                        None => json!({"command": command}),
                    }
                });
                failures.push(FailedTest { test, debug_failure });
            } else if test.status == TestStatus::Skipped && skipped_tests.len() < MOST_SKIPPED {
                skipped_tests.push(test);
            }
        }
        if let PlannedTests::Framework { request, .. } = &plan.run {
            let ran: Vec<&str> = ids.iter().map(String::as_str).collect();
            let of = |one: &FailedTest| FailedId { id: one.test.id.clone(), group: one.test.group.clone() };
            let is_all = request.pattern.is_none() && request.selection == Selection::Path(None);
            let failed = failures.iter().map(of).collect();
            self.failures.keep(request.framework, &request.folder, &ran, failed, is_all);
        }
        let mut body = RunTestsBody {
            framework: plan.run.framework(),
            command: line,
            totals,
            duration_ms: ran.duration.as_millis() as u64,
            exit_code,
            failures,
            skipped_tests,
            notes: plan.notes.clone(),
        };
        if exit_code != Some(0) && body.failures.is_empty() {
            body.notes.push(format!("the runner ended with an error although no test failed:\n{}", said()));
        }
        let text = body.text();
        Ok(TextAnswer::new(body, text))
    }
}

impl PlannedTests {
    fn line(&self) -> String {
        match self {
            Self::Framework { words, .. } => words.line(),
            Self::Command { line, .. } => line.clone(),
            Self::Nothing(_) => String::new(),
        }
    }

    fn framework(&self) -> Option<Framework> {
        match self {
            Self::Framework { request, .. } => Some(request.framework),
            Self::Command { .. } | Self::Nothing(_) => None,
        }
    }

    fn debug_line(&self, test: FailedId, root: &std::path::Path) -> Option<String> {
        match self {
            Self::Framework { request, .. } => request.debug_line(test, root),
            Self::Command { .. } | Self::Nothing(_) => None,
        }
    }
}

impl RunTestsBody {
    fn empty(notes: Vec<String>) -> Self {
        Self {
            framework: None,
            command: String::new(),
            totals: TestTotals::default(),
            duration_ms: 0,
            exit_code: None,
            failures: Vec::new(),
            skipped_tests: Vec::new(),
            notes,
        }
    }

    fn text(&self) -> String {
        let seconds = self.duration_ms as f64 / 1000.0;
        let mut text = format!("{} in {seconds:.1} s: `{}`\n", self.totals.text(), self.command);
        for (at, failed) in self.failures.iter().take(MOST_FAILURES).enumerate() {
            let test = &failed.test;
            let word = if test.status == TestStatus::Error { "ERROR" } else { "FAILED" };
            let place = match (&test.file, test.line) {
                (Some(file), Some(line)) => format!(" at {file}:{line}"),
                (Some(file), None) => format!(" in {file}"),
                _ => String::new(),
            };
            text.push_str(&format!("\n{word} {}{place}\n", test.id));
            for line in test.message.lines() {
                text.push_str(&format!("  {line}\n"));
            }
            if at >= MOST_DETAILED {
                continue;
            }
            if !test.output.is_empty() && test.output.trim() != test.message.trim() {
                text.push_str(&indented(&cut_text(&test.output, 2000)));
            }
            if let Some(arguments) = &failed.debug_failure {
                text.push_str(&format!("  why: debug_failure {arguments}\n"));
            }
        }
        if self.failures.len() > MOST_FAILURES {
            text.push_str(&format!("\nand {} more failures\n", self.failures.len() - MOST_FAILURES));
        }
        for test in &self.skipped_tests {
            let why = test.message.lines().next().map(|why| format!(": {}", why.trim())).unwrap_or_default();
            text.push_str(&format!("skipped {}{why}\n", test.id));
        }
        for note in &self.notes {
            text.push_str(&format!("note: {note}\n"));
        }
        text
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  | {line}\n")).collect::<Vec<_>>().concat()
}

/// Makes lines that a person reads of Go's events.
#[derive(Default)]
struct GoProgress {
    pending: String,
}

impl GoProgress {
    fn push(&mut self, text: &str) -> String {
        self.pending.push_str(text);
        let Some(end) = self.pending.rfind('\n') else { return String::new() };
        let rest = self.pending.split_off(end + 1);
        let lines = std::mem::replace(&mut self.pending, rest);
        let shown = lines.lines().filter_map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).ok()?;
            let output = event["output"].as_str().or_else(|| event["Output"].as_str())?;
            let is_news =
                ["--- ", "ok ", "FAIL", "panic:"].iter().any(|mark| output.trim_start().starts_with(mark));
            is_news.then(|| output.to_owned())
        });
        shown.collect()
    }
}
