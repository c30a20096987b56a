//! The server at its boundary: requests and sockets against an engine of the tests' own.

// Helpers of tests are test code too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod attacks;
mod engine;
mod folds;
mod requests;
mod sockets;
mod stand;
