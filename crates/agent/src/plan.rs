//! Plans: made without changing anything, approved by the person, carried out step by step.
//!
//! The log holds the plan ([`Event::Plan`](stepwell_protocol::Event::Plan),
//! [`Event::StepComplete`](stepwell_protocol::Event::StepComplete)) and the text of its document. The document is a file
//! that the person may edit; [`Keeper::sync`] reads it before each step. What a plan forbids is enforced by
//! [`PlanHold`](stepwell_tool_runtime::PlanHold), which follows the log.

mod approve;
mod decide;
mod document;
mod holds;
mod keeper;
mod merge;
mod report;
mod requests;
mod run;
mod state;
mod view;

pub use holds::PlanHolds;
pub use keeper::Keeper;
pub use run::Turn;
pub use state::{PlanApproval, PlanState};

/// The name by which planning is chosen wherever a mode is named, unless a mode of the person's has it.
pub const PLAN_MODE: &str = "plan";
/// Characters of a title.
const SHORTEST_TITLE: usize = 3;
const LONGEST_TITLE: usize = 200;
