//! Adapters that do what real ones do only sometimes: late, wrong, too much, or nothing at all.
//!
//! The clock is the runtime's and stands still while anything can go on, so a deadline of minutes costs nothing and the
//! times in the transcripts are exact.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests"
)]

mod any_messages;
mod conformance;
mod driver;
mod table;
