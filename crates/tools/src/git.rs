//! Tools on the repository of the workspace. Git runs nothing that the repository names, and files that are hidden from
//! the agent are counted but not shown.

mod commit;
mod diff;
mod habits;
mod log;
mod message;
mod patches;
mod repository;

pub use commit::GenerateCommit;
pub use diff::GitDiff;
pub use log::GitLog;
pub(crate) use repository::Repository;
