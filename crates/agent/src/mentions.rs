//! Mentions: `@src/main.rs:10-20` in a person's message brings what it names.
//!
//! What is brought comes through the tools where one can bring it, so that permissions, ignore rules and the boundary of
//! the workspace hold as for any call. It is data beside the message, bounded in size.

mod bring;
mod find;

pub(crate) use bring::end_of;
pub use bring::{Brought, MentionReader};
pub use find::{Mention, find};
