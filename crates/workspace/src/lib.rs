//! The only access to files and processes.
//!
//! [`files`] is for Stepwell's own data (settings, task logs): plain host paths, atomic writes, append-only files that
//! can be synced, errors that name the path and say what to do. [`Workspace`] is for paths from a model: whatever they
//! contain, they are resolved beneath the workspace's roots. [`tree`] takes snapshots of a whole folder.
//!
//! [`process`] runs programs with limits on time and memory, and ends them with all their children. [`frames`] reads
//! length-prefixed messages, and [`pending`] pairs responses with the requests they answer. [`git`] runs git without
//! what a repository brings along.

// This crate is the door: the bans of clippy.toml hold everywhere else.
#![allow(clippy::disallowed_methods, reason = "this crate is the door the ban points to")]

mod boundary;
mod effort;
mod encoding;
mod error;
pub mod files;
pub mod frames;
pub mod git;
mod hidden;
mod ignored;
pub mod patterns;
pub mod pending;
pub mod process;
mod read;
pub mod search;
pub mod tree;
mod unpack;
mod walk;
pub mod watch;
mod write;

pub use boundary::{Inside, Workspace};
pub use effort::Effort;
pub use encoding::{Encoding, TextFile, Unencodable, decode};
pub use error::{Error, Result};
pub use hidden::Denial;
pub use unpack::{UnpackLimits, unpack_tar_gz, unpack_zip};
pub use walk::{Entry, EntryKind, Listing};
pub use write::{Executable, Written, writer_of_temporary};
