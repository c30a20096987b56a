//! The only door to files and processes.
//!
//! [`files`] is for Stepwell's own data (settings, task logs): plain host paths, atomic writes, append files
//! that can be synced, errors that name the path and say what to do.

// This crate is the door: the bans of clippy.toml hold everywhere else.
#![allow(clippy::disallowed_methods, reason = "this crate is the door the ban points to")]

mod error;
pub mod files;

pub use error::{Error, Result};
