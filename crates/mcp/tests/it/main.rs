//! The server at its boundary: messages in, messages out.

// Helpers of tests are test code too, and the tests are about processes and files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests"
)]

mod asking;
mod calls;
mod client;
mod client_conformance;
mod client_faults;
mod client_http;
mod client_login;
mod client_real;
mod client_sampling;
mod client_world;
mod conformance;
mod http;
mod line_client;
mod test_server;
