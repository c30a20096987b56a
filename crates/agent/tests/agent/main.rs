//! The engine as a door sees it: commands in, events out, with a scripted model and small tools.

// Helpers of tests are test code too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod budgets;
mod context;
mod doors;
mod environment;
mod front_end;
mod harness;
mod limits;
mod mentions;
mod overview;
mod people;
mod properties;
mod resume;
mod small_windows;
