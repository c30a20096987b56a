//! The tools as a model meets them: calls through the executor on a real folder.

#![allow(clippy::expect_used, reason = "helpers of tests fail by panicking")]

mod artifacts;
mod attacks;
mod bench;
mod boundary;
mod corpus;
mod documented;
mod editing;
mod environment;
mod files;
mod fuzz_smoke;
mod git;
mod hostile_patterns;
mod other;
mod patching;
mod reading;
mod shell;
mod structure;
mod structure_hostile;
mod structure_random;
mod testing;
mod web;
