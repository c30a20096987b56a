//! The engine: a message goes in, events come out.
//!
//! [`Engine`] is what a door holds. It opens tasks as [`Session`]s over their logs; a run of the loop drives
//! one through the loop of thinking, acting and observing. Models and tools come in through [`ModelSource`] and
//! [`WorkbenchSource`]; the engine knows neither a provider nor a tool by name.

mod budget;
mod checkpoints;
mod context;
mod engine;
mod error;
mod feed;
mod host;
pub mod prompt;
mod react;
mod session;
mod turn;

pub use budget::{Budget, Exhausted, Ledger};
pub use checkpoints::WorkspaceCheckpoints;
pub use context::{ContextWindow, DoesNotFit, Fitted};
pub use engine::{Engine, EngineOptions, ModelSource, Overview, Workbench, WorkbenchSource};
pub use error::{Error, Result};
pub use feed::Follower;
pub use react::RunEnd;
pub use session::{Attendance, Session};
