//! Language servers: a scripted one with every fault, and real ones beside the index.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests"
)]

mod faults;
mod freshness;
mod lab;
mod real;
