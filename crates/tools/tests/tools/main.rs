//! The tools as a model meets them: calls through the executor on a real folder.

#![allow(clippy::expect_used, reason = "helpers of tests fail by panicking")]

mod bench;
mod editing;
mod files;
mod other;
mod shell;
