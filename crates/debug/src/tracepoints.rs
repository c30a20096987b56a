//! Tracepoints: the values of expressions at source lines while a program runs once. No source is edited, nothing is
//! printed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::session::{Ending, Session, Stop};
use crate::stop_reason::StopReason;
use crate::values::shortened;
use crate::{Debugger, Outcome, Result, Wait};

/// Bytes of a value that are kept.
const VALUE: usize = 120;

/// A source line, and the expressions to evaluate there.
#[derive(Clone, Debug)]
pub struct Tracepoint {
    pub path: PathBuf,
    pub line: i64,
    pub expressions: Vec<String>,
    pub condition: Option<String>,
}

/// The values seen when the program reached a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracepointHit {
    pub point: usize,
    /// A value for each expression.
    pub values: Vec<String>,
}

/// Everything seen in one run.
#[derive(Debug)]
pub struct TracepointRun {
    pub hits: Vec<TracepointHit>,
    pub end: RunEnd,
    /// Points that were never bound, with the adapter's reason.
    pub unbound: Vec<(usize, Option<String>)>,
}

/// How a run with tracepoints ended.
#[derive(Debug)]
pub enum RunEnd {
    Completed(Ending),
    Failed(Ending),
    /// Something else stopped the program: a breakpoint, an exception.
    Stopped(Arc<Session>, Stop),
    TimedOut,
    Interrupted,
    /// The limit of hits was reached; the program is stopped at the last.
    MaxHits(Arc<Session>, Stop),
}

/// Groups the lines of tracepoints by file.
pub fn lines_by_file(points: &[Tracepoint]) -> BTreeMap<PathBuf, Vec<i64>> {
    let mut lines: BTreeMap<PathBuf, Vec<i64>> = BTreeMap::new();
    for point in points {
        let of_file = lines.entry(point.path.clone()).or_default();
        if !of_file.contains(&point.line) {
            of_file.push(point.line);
        }
    }
    lines
}

impl Debugger {
    /// Follows a session whose probes are set until it ends, something else stops it, or enough was seen.
    pub async fn collect(
        &self,
        session: &Arc<Session>,
        points: &[Tracepoint],
        mut after: u64,
        most: usize,
        wait: &Wait,
    ) -> Result<TracepointRun> {
        let mut hits = Vec::new();
        let mut seen = vec![false; points.len()];
        let end = loop {
            let (session, stop) = match self.wait(session, after, wait).await {
                Outcome::Stopped(session, stop) => (session, stop),
                Outcome::Completed(ending) => break RunEnd::Completed(ending),
                Outcome::Failed(ending) => break RunEnd::Failed(ending),
                Outcome::TimedOut => break RunEnd::TimedOut,
                Outcome::Interrupted => break RunEnd::Interrupted,
            };
            after = stop.serial;
            let frame = session.top_frame().await?;
            let here = session.probe_line(&frame);
            let path = frame.source.as_ref().and_then(|source| source.path.as_deref());
            let reached: Vec<usize> = points
                .iter()
                .enumerate()
                .filter(|(_, point)| {
                    here == Some(point.line)
                        && path.is_some_and(|path| crate::session::same_file(&point.path, path.as_ref()))
                })
                .map(|(at, _)| at)
                .collect();
            if reached.is_empty() || stop.reason == StopReason::Exception {
                break RunEnd::Stopped(session, stop);
            }
            for at in reached {
                seen[at] = true;
                let point = &points[at];
                if let Some(condition) = &point.condition {
                    let holds = session.evaluate(condition, Some(frame.id), "watch").await;
                    if holds.is_ok_and(|value| !crate::session::is_true(&value.value)) {
                        continue;
                    }
                }
                let mut values = Vec::with_capacity(point.expressions.len());
                for expression in &point.expressions {
                    let value = session.evaluate(expression, Some(frame.id), "watch").await;
                    values.push(value.map_or_else(
                        |error| format!("<{}>", shortened(&error.to_string(), VALUE)),
                        |value| shortened(&value.value, VALUE),
                    ));
                }
                hits.push(TracepointHit { point: at, values });
            }
            if hits.len() >= most {
                break RunEnd::MaxHits(session, stop);
            }
            session.resume(None).await?;
        };
        let unbound = points
            .iter()
            .enumerate()
            .filter(|(at, _)| !seen[*at])
            .filter_map(|(at, point)| {
                let tree = self.tree(session);
                let unbound = tree.iter().find_map(|session| session.unbound_probe(&point.path, point.line));
                unbound.map(|binding| (at, binding.message))
            })
            .collect();
        Ok(TracepointRun { hits, end, unbound })
    }
}
