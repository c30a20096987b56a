//! The engine as a door sees it: commands in, events out, with a scripted model and small tools.

// Helpers of tests are test code too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod budgets;
mod condensing;
mod context;
mod doors;
mod environment;
mod front_end;
mod harness;
mod limits;
mod mentions;
mod overview;
mod people;
mod plan_properties;
mod plan_tools;
mod plans;
mod properties;
mod resume;
mod screens;
mod small_windows;
mod subtasks;
