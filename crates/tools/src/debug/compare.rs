//! `debug_compare`: the first difference between two runs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::launch::LaunchPlan;
use stepwell_debug::tracepoints::{RunEnd, Tracepoint, TracepointHit, TracepointRun};
use stepwell_debug::{Error, Result};
use stepwell_protocol::{Preview, Risk, ToolDetail};
use stepwell_tool_runtime::{Planned, ToolContext};
use stepwell_workspace::git;
use stepwell_workspace::process::{self, Ending, Environment, KeepOutput, ProgramCall};

use super::answer::{Success, failed};
use super::debug_tool;
use super::launch::{RunInput, known_by_what_runs, typed_parts};
use super::service::{DebugService, RUN_WAIT};
use super::shown;
use super::tracepoints::{Point, exit_of, hit_limit, location_of, not_run};

/// How long a revision may take to be unpacked.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Runs a program twice with the same points and tells the first difference and what led to it. The runs differ by
/// command, arguments, environment or revision.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct CompareInput {
    points: Vec<Point>,
    first: ComparedRun,
    second: ComparedRun,
    max_hits: Option<usize>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ComparedRun {
    command: String,
    env: Option<BTreeMap<String, String>>,
    /// A commit of git whose files are run.
    revision: Option<String>,
    timeout: Option<f64>,
}

impl ComparedRun {
    fn run(&self) -> RunInput {
        RunInput {
            command: Some(self.command.clone()),
            env: self.env.clone(),
            timeout: self.timeout,
            ..RunInput::default()
        }
    }
}

debug_tool!(
    DebugCompare,
    "debug_compare",
    &[],
    CompareInput => ComparePlan => Success<CompareBody>,
    Risk::Execute,
    debug_compare,
    DebugService::plan_compare
);

/// Two launches, and the points at which their runs are compared.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    points: Vec<Tracepoint>,
    max_hits: usize,
    runs: [PlannedRevision; 2],
}

/// One launch. Another revision's files are there only when it runs, so it is resolved once more then, and must come to the
/// same command.
#[derive(Clone, Debug)]
struct PlannedRevision {
    launch: LaunchPlan,
    run: ComparedRun,
}

/// How two runs compare.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompareBody {
    first_hits: usize,
    second_hits: usize,
    #[serde(flatten)]
    ends: Ends,
    #[serde(flatten)]
    difference: Difference,
}

/// How the runs ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Ends {
    Same { both_ended: String },
    Different { first_ended: String, second_ended: String },
}

/// The first difference.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Difference {
    None {
        difference: Cow<'static, str>,
    },
    At {
        /// The number of the hit, from 1.
        difference_at_hit: usize,
        first: String,
        second: String,
        /// The hits before it, which are the same in both runs.
        before: Vec<String>,
    },
}

impl DebugService {
    fn plan_compare(&self, input: CompareInput) -> Planned<ComparePlan> {
        let launches = [&input.first, &input.second].map(|run| self.resolve_launch(&run.run().start()));
        let previews = launches.each_ref().map(|launch| match launch {
            Ok(launch) => self.preview_launch(launch),
            Err(error) => Preview { summary: format!("Start debugging: {error}"), ..Preview::default() },
        });
        let [first, second] = previews;
        let commands: Vec<String> = [first.command, second.command].into_iter().flatten().collect();
        let preview = Preview {
            summary: format!("Compare two runs: {}; {}", first.summary, second.summary),
            command: (!commands.is_empty()).then(|| commands.join("; ")),
            warnings: first.warnings.into_iter().chain(second.warnings).collect(),
            unconfined: first.unconfined.or(second.unconfined),
            ..Preview::default()
        };
        let typed: Vec<String> = launches.iter().flatten().flat_map(typed_parts).collect();
        known_by_what_runs(Planned::new(preview, self.compare_plan(input, launches).map_err(failed)), &typed)
    }

    fn compare_plan(&self, input: CompareInput, launches: [Result<LaunchPlan>; 2]) -> Result<ComparePlan> {
        let [first, second] = launches;
        Ok(ComparePlan {
            points: self.points(&input.points)?,
            max_hits: hit_limit(input.max_hits),
            runs: [
                PlannedRevision { launch: first?, run: input.first },
                PlannedRevision { launch: second?, run: input.second },
            ],
        })
    }

    async fn debug_compare(&self, ctx: &ToolContext, plan: ComparePlan) -> Result<Success<CompareBody>> {
        let ComparePlan { points, max_hits, runs } = plan;
        let commands = runs.each_ref().map(|run| run.run.command.clone());
        let mut seen = Vec::new();
        for PlannedRevision { launch, run } in runs {
            let wait = Self::wait(ctx, run.timeout, RUN_WAIT);
            let checkout = self.revision(ctx, run.revision.as_deref()).await?;
            let (launch, points) = match &checkout {
                Some(folder) => {
                    let moved = self.moved(&points, folder.path())?;
                    (self.launch_in_checkout(&launch, &run, folder.path())?, moved)
                }
                None => (launch, points.clone()),
            };
            let (started, after) = self.start_with_probes(ctx, launch, &points, &wait).await?;
            let ran = self.debugger.collect(&started.first()?, &points, after, max_hits, &wait).await;
            started.end().await;
            let ran = ran?;
            match ran.end {
                RunEnd::Failed(ending) => return Err(of_run(not_run(ending), &run.command)),
                RunEnd::Interrupted => {
                    return Err(Error::State {
                        what: format!("the comparison was cancelled while `{}` ran", run.command),
                        hint: "nothing is left running".to_owned(),
                    });
                }
                _ => seen.push(ran),
            }
        }
        let [first, second] = <[TracepointRun; 2]>::try_from(seen).map_err(|_| Error::NoSessionAtAll)?;
        let root = self.workspace.root();
        let (body, difference) = compared(&points, &first, &second, root);
        let detail = ToolDetail::Comparison {
            points: shown::points(&points, root),
            first: shown::run(&first, &commands[0], exit_of(&first.end)),
            second: shown::run(&second, &commands[1], exit_of(&second.end)),
            difference: difference.map(|at| at as u32),
        };
        Ok(Success::new(body).showing(detail))
    }

    /// Resolves a launch in the files of a revision, and refuses one that would run another command than was approved.
    fn launch_in_checkout(
        &self,
        approved: &LaunchPlan,
        run: &ComparedRun,
        folder: &Path,
    ) -> Result<LaunchPlan> {
        let launch = self.resolve_launch_in(&run.run().start(), folder)?;
        let plain = |plan: &LaunchPlan, root: &Path| {
            plan.command_line().replace(&*root.to_string_lossy(), "${workspaceFolder}")
        };
        let (wanted, found) = (plain(approved, self.workspace.root()), plain(&launch, folder));
        if wanted == found {
            return Ok(launch);
        }
        Err(Error::State {
            what: format!("in this revision `{}` would run `{found}`, not `{wanted}`", run.command),
            hint: "name the command itself, not a script that differs between revisions".to_owned(),
        })
    }

    /// Moves points to another checkout of the same repository.
    fn moved(&self, points: &[Tracepoint], folder: &Path) -> Result<Vec<Tracepoint>> {
        points
            .iter()
            .map(|point| {
                let inside = point.path.strip_prefix(self.workspace.root()).map_err(|_| {
                    Error::parameter("points of a comparison of revisions must be in the workspace")
                })?;
                Ok(Tracepoint { path: folder.join(inside), ..point.clone() })
            })
            .collect()
    }

    /// The files of a revision in a folder of their own, where one is named. The repository is only read.
    async fn revision(&self, ctx: &ToolContext, revision: Option<&str>) -> Result<Option<tempfile::TempDir>> {
        let Some(revision) = revision else { return Ok(None) };
        let failed = |what: String| Error::parameter(format!("revision `{revision}` cannot be used: {what}"));
        if revision.starts_with('-') {
            return Err(failed("it is no name of a revision".to_owned()));
        }
        let folder = tempfile::Builder::new()
            .prefix("stepwell-")
            .tempdir()
            .map_err(|error| failed(error.to_string()))?;
        let archive = folder.path().join(".archive.tar");
        let root = self.workspace.root().to_path_buf();
        let output = format!("--output={}", archive.display());
        let words = ["archive", "--format=tar", &output, revision];
        let call = git::call(&root, &words, TIME_LIMIT).map_err(|error| failed(error.to_string()))?;
        self.run_quietly(ctx, call).await.map_err(failed)?;
        let call = ProgramCall {
            program: "tar".into(),
            arguments: vec!["-xf".into(), archive.clone().into()],
            folder: folder.path().to_path_buf(),
            environment: Environment::default(),
            input: None,
            time_limit: TIME_LIMIT,
            keep: KeepOutput { memory: 4096, file: None, file_limit: 0 },
        };
        self.run_quietly(ctx, call).await.map_err(failed)?;
        stepwell_workspace::files::remove_file(&archive).ok();
        Ok(Some(folder))
    }

    async fn run_quietly(&self, ctx: &ToolContext, call: ProgramCall) -> Result<(), String> {
        let mut said = String::new();
        let ran = process::run(call, &ctx.cancel, |_, text| {
            if said.len() < 2000 {
                said.push_str(text);
            }
        })
        .await;
        match ran {
            Ok(finished) if finished.ending == Ending::Exited(0) => Ok(()),
            Ok(_) => Err(said.trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Names the run that an error is about.
fn of_run(error: Error, command: &str) -> Error {
    let hint = error.hint().map(str::to_owned);
    Error::Launch { reason: format!("`{command}` did not run: {error}"), hint }
}

/// Finds the first difference between two runs.
fn compared(
    points: &[Tracepoint],
    first: &TracepointRun,
    second: &TracepointRun,
    root: &Path,
) -> (CompareBody, Option<usize>) {
    const BEFORE: usize = 3;
    // Where something lies in memory differs from run to run and means nothing.
    let same = |one: &TracepointHit, other: &TracepointHit| {
        let plain =
            |hit: &TracepointHit| hit.values.iter().map(|value| without_addresses(value)).collect::<Vec<_>>();
        one.point == other.point && plain(one) == plain(other)
    };
    let differs = first.hits.iter().zip(&second.hits).position(|(one, other)| !same(one, other));
    let shorter = first.hits.len().min(second.hits.len());
    let at = differs.or_else(|| (first.hits.len() != second.hits.len()).then_some(shorter));
    let describe = |hit: Option<&TracepointHit>| match hit {
        None => "ended".to_owned(),
        Some(hit) => {
            let point = &points[hit.point];
            let values =
                point.expressions.iter().zip(&hit.values).map(|(name, value)| format!("{name}={value}"));
            format!("{} {}", location_of(point, root), values.collect::<Vec<_>>().join(", "))
        }
    };
    let ends = match (exit_of(&first.end), exit_of(&second.end)) {
        (one, other) if one == other => Ends::Same { both_ended: one },
        (one, other) => Ends::Different { first_ended: one, second_ended: other },
    };
    let difference = match at {
        None => Difference::None { difference: "none: the runs were the same at these points".into() },
        Some(at) => Difference::At {
            difference_at_hit: at + 1,
            first: describe(first.hits.get(at)),
            second: describe(second.hits.get(at)),
            before: (at.saturating_sub(BEFORE)..at).map(|step| describe(first.hits.get(step))).collect(),
        },
    };
    let (first_hits, second_hits) = (first.hits.len(), second.hits.len());
    (CompareBody { first_hits, second_hits, ends, difference }, at)
}

/// A value with `0x…` for every address in it.
fn without_addresses(value: &str) -> String {
    let mut plain = String::new();
    let mut rest = value;
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        plain.push_str(&rest[..at + 2]);
        plain.push_str(if digits >= 6 { "…" } else { &rest[at + 2..at + 2 + digits] });
        rest = &rest[at + 2 + digits..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    #[test]
    fn addresses_do_not_make_values_differ() {
        assert_eq!(
            super::without_addresses("<A object at 0x7f8c798da010> 0x1f é"),
            "<A object at 0x…> 0x1f é"
        );
    }
}
