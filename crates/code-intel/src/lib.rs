//! What source code says: its language, its syntax, what it defines and what its names mean.
//!
//! [`ask`] answers questions about the code of a workspace and is where to begin. Beneath it, [`languages`] detects the
//! language of a file, [`syntax`] parses it within bounds of size and time, [`facts`] reads what one file defines,
//! imports and uses, and [`index`] keeps that for a whole workspace. [`resolve`] finds out what a name means from the
//! index; `scip` and [`lsp`] take the same from an `index.scip` or from a language server that the person allows.
//! `search` ranks symbols by what they are about, also by vectors ([`embeddings`]). [`structure`] shows syntax trees and
//! changes code by them.

pub mod ask;
pub mod assignments;
pub mod embeddings;
mod error;
pub mod facts;
pub mod functions;
pub mod index;
pub mod languages;
mod location;
pub mod lsp;
mod preprocessor;
pub mod resolve;
mod scip;
mod search;
pub mod structure;
pub mod syntax;
mod units;

pub use error::{Error, Result};
