//! What source code says.
//!
//! [`languages`] tells in which language a file is written, by its name or its first line. [`syntax`] parses it with
//! the grammar of that language ([`grammars`]) and lists what is wrong, within bounds of size and time. [`facts`] says
//! what one file defines, imports and uses. [`index`] keeps that for a whole workspace and fresh; [`resolve`] says what
//! a name means, where it is used and who calls it; [`scip`] takes that from an `index.scip` where there is one, [`lsp`]
//! from a language server that the person lets run ([`answer`] is what either says); [`search`] finds code by what it
//! is about, also by vectors that a server makes of it ([`embeddings`]); [`graph`] draws calls and imports;
//! [`structure`] shows syntax trees and changes code by them.

pub mod answer;
pub mod embeddings;
mod error;
pub mod facts;
pub mod functions;
pub mod grammars;
pub mod graph;
pub mod index;
pub mod languages;
pub mod lsp;
mod preprocessor;
pub mod resolve;
pub mod scip;
pub mod search;
pub mod structure;
pub mod syntax;
mod units;
pub mod whereabouts;

pub use error::{Error, Result};
