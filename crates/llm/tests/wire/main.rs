//! Every wire format over real HTTP against the scripted server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]
#![allow(clippy::format_push_string, reason = "`write!` to a string would need its result ignored")]

mod answers;
mod failures;
mod properties;
mod requests;
mod support;
mod windows;
