//! The tasks a configuration names: read from tasks.json, planned, and run before and after the program.
//!
//! `plan_task` only reads and says what would run; `run_task` runs it through a [`TaskRunner`], so that whoever starts
//! programs decides how they are confined.

mod file;
mod matchers;
mod plan;
mod quoting;
mod run;

#[cfg(test)]
mod tests;

pub(crate) use file::TaskFile;
pub use matchers::Background;
pub(crate) use plan::plan_task;
pub use plan::{TaskCommand, TaskPlan, TaskStep};
pub(crate) use run::{LaunchRunner, ProcessRunner, run_task};
pub use run::{RunningTasks, TaskOutput, TaskRun, TaskRunner};
