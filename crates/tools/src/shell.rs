//! Tools that run programs.

mod bash;
pub(crate) mod confine;
pub(crate) mod environment;

pub use bash::Bash;
