//! Finds where a program ended itself with an exit code: nothing stops a debugger there, so it runs once more with a
//! breakpoint on the function that ends it.

use super::{FailureReport, Verdict, set_frames};
use crate::launch::{LaunchOptions, LaunchPlan};
use crate::session::Session;
use crate::{Debugger, Outcome, Wait};

/// Calls of the function that are looked at: a program may start others that end themselves first.
const MOST_STOPS: usize = 4;

impl Debugger {
    /// Adds the frames that were there when the program ended itself. It stays as it is where `main` returned the code.
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
        let functions = session.adapter.exit_functions();
        if !is_unexplained || functions.is_empty() {
            return;
        }
        options.exception_filters = Some(Vec::new());
        options.functions = functions.iter().map(|name| (*name).to_owned()).collect();
        let mut after = self.serial();
        let Ok(launched) = plan.clone().start(self, &options).await else { return };
        let Some(session) = launched.sessions.first().cloned() else { return };
        for _ in 0..MOST_STOPS {
            let Outcome::Stopped(stopped, stop) = self.wait(&session, after, wait).await else { break };
            after = stop.serial;
            let snapshot = stopped.snapshot(&stop).await.ok().filter(|snapshot| !snapshot.frames.is_empty());
            if let Some(snapshot) = snapshot {
                set_frames(report, snapshot, self.options().function_finder.as_deref());
                break;
            }
            if stopped.resume(None).await.is_err() {
                break;
            }
        }
        self.end(&session).await;
    }
}
