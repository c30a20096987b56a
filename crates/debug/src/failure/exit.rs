//! Finds where a program ended itself with an exit code: nothing stops a debugger there, so it runs once more with a
//! breakpoint on the function that ends it.

use std::ops::ControlFlow;
use std::path::Path;

use super::origin::names;
use super::{
    FailureFrame, FailureReport, StopSnapshot, Verdict, raised, set_frames, source_line, source_text,
};
use crate::launch::{LaunchOptions, LaunchPlan};
use crate::recorder;
use crate::session::Session;
use crate::{Debugger, Outcome, Wait};

/// Stops that are looked at: a program may start others that end themselves first.
const MOST_STOPS: usize = 8;
/// The function whose result is the exit code.
const MAIN: &str = "main";
const MOST_RETURNS: usize = 40;

impl Debugger {
    /// Adds the frames that were there when the program ended itself, or the `return` of `main` that gave the code.
    pub(super) async fn look_at_exit(
        &self,
        plan: &LaunchPlan,
        mut options: LaunchOptions,
        session: &Session,
        report: &mut FailureReport,
        wait: &Wait,
    ) {
        let is_unexplained = report.verdict == Verdict::Failed
            && report.exception.is_none()
            && report.frames.is_empty()
            && report.signal.is_none()
            && report.exit_code.is_some();
        if is_unexplained && self.look_at_exit_of_node(plan, report, wait).await {
            return;
        }
        let functions = session.adapter.exit_functions();
        if !is_unexplained || functions.is_empty() {
            return;
        }
        options.exception_filters = Some(Vec::new());
        options.functions = functions.iter().map(|name| (*name).to_owned()).collect();
        // Where `main` returns the code, nobody of the program's own calls `exit`.
        if functions.contains(&"exit") {
            options.functions.push(MAIN.to_owned());
        }
        let mut begin: Option<FailureFrame> = None;
        let mut end = None;
        let is_begin = |snapshot: &StopSnapshot| {
            snapshot.frames.len() == 1 && snapshot.frames.iter().all(|frame| frame.function == MAIN)
        };
        self.each_stop(plan, &options, wait, &mut |snapshot| {
            if begin.is_none() && is_begin(&snapshot) {
                begin = snapshot.frames.into_iter().next();
                return ControlFlow::Continue(());
            }
            end = Some(snapshot);
            ControlFlow::Break(())
        })
        .await;
        if end.is_none()
            && let Some(begin) = begin
        {
            end = self.returned_from(plan, options, &begin, wait).await;
        }
        if let Some(snapshot) = end {
            set_frames(report, snapshot, self.options().function_finder.as_deref());
            report.summary = report.sentence();
        }
    }

    /// Runs a plan once more and records the last `return` of a function that was reached.
    async fn returned_from(
        &self,
        plan: &LaunchPlan,
        mut options: LaunchOptions,
        function: &FailureFrame,
        wait: &Wait,
    ) -> Option<StopSnapshot> {
        let path = Path::new(&function.file);
        let text = source_text(&function.file)?;
        let finder = self.options().function_finder.clone()?;
        let body = finder.function_at(path, &text, function.line)?;
        let is_return = |line: &&i64| {
            let source = source_line(&function.file, **line).unwrap_or_default();
            names(&source).any(|word| word == "return")
        };
        let returns: Vec<i64> =
            body.code_lines.iter().filter(is_return).copied().take(MOST_RETURNS).collect();
        if returns.is_empty() {
            return None;
        }
        options.functions = Vec::new();
        options.probes = [(path.to_path_buf(), returns.clone())].into();
        let mut last = None;
        self.each_stop(plan, &options, wait, &mut |snapshot| {
            if snapshot.frames.first().is_some_and(|frame| returns.contains(&frame.line)) {
                last = Some(snapshot);
            }
            ControlFlow::Continue(())
        })
        .await;
        last
    }

    /// Runs a plan and hands on what is seen at each stop within the program's own code.
    async fn each_stop(
        &self,
        plan: &LaunchPlan,
        options: &LaunchOptions,
        wait: &Wait,
        then: &mut (dyn FnMut(StopSnapshot) -> ControlFlow<()> + Send),
    ) {
        let mut after = self.serial();
        let Ok(launched) = plan.clone().start(self, options).await else { return };
        let Some(session) = launched.sessions.first().cloned() else { return };
        for _ in 0..MOST_STOPS {
            let Outcome::Stopped(stopped, stop) = self.wait(&session, after, wait).await else { break };
            after = stop.serial;
            let snapshot = stopped.snapshot(&stop).await.ok().filter(|snapshot| !snapshot.frames.is_empty());
            let goes_on = snapshot.is_none_or(|snapshot| then(snapshot).is_continue());
            if !goes_on || stopped.resume(None).await.is_err() {
                break;
            }
        }
        self.end(&session).await;
    }

    /// Runs a program of Node once more with a recorder, which sees where it chose its exit code.
    async fn look_at_exit_of_node(&self, plan: &LaunchPlan, report: &mut FailureReport, wait: &Wait) -> bool {
        let command = plan.single_launch().and_then(|resolved| recorder::node_command_of(resolved, self));
        let Some(command) = command else { return false };
        let Ok(run) = self.run_recorded(&command.with_input(&plan.stdin), plan, wait).await else {
            return true;
        };
        let options = self.options();
        let Some(frames) = raised::frames_at_exit(&run, report.exit_code, &options.search.workspace) else {
            return true;
        };
        let snapshot = StopSnapshot { frames, ..StopSnapshot::default() };
        set_frames(report, snapshot, options.function_finder.as_deref());
        report.summary = report.sentence();
        true
    }
}
