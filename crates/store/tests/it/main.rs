//! The store as the engine uses it: on a real disk, cut off anywhere.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "tests damage files and start programs"
)]

mod blobs;
mod conversation;
mod folds;
mod full_disk;
mod index;
mod log;
mod manage;
mod prefixes;
mod repair;
mod roo;
mod runs;
