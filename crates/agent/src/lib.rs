//! The engine: a message goes in, events come out.
//!
//! [`Engine`] opens tasks as [`Session`]s over their logs; a run drives one through the loop of thinking, acting and
//! observing. A door talks to it in the messages of the protocol ([`Engine::connect`]). Models, tools and settings come
//! in through [`WorkspaceSource`], per workspace; the engine knows neither a provider nor a tool by name.

mod budget;
mod checkpoints;
pub mod commands;
mod condense;
mod connection;
mod context;
mod engine;
mod environment;
mod error;
mod feed;
mod file_problem;
mod front_matter;
mod host;
pub mod library;
mod mentions;
pub mod mode;
mod overview;
mod plan;
mod plugins;
mod presence;
pub mod prompt;
mod prose;
mod react;
mod request;
mod session;
mod setup;
pub mod skills;
pub mod subagent;
mod surroundings;
mod task_list;
mod tree;
mod turn;
mod workspace;

pub use budget::{Budget, Exhausted, Ledger};
pub use checkpoints::WorkspaceCheckpoints;
pub use connection::Connection;
pub use context::{ContextWindow, DoesNotFit, Fitted};
pub use engine::{Engine, EngineOptions};
pub use environment::EnvironmentSettings;
pub use error::{Error, Result};
pub use feed::Follower;
pub use file_problem::FileProblem;
pub use library::{Library, NoLibrary};
pub use plan::{PLAN_MODE, PlanApproval};
pub use presence::Presence;
pub use request::{Built, RequestBuilder, RequestParts, SystemPrompt};
pub use session::Session;
pub use setup::{FolderSetup, OpenedTerminal, Setup, TerminalInput, TerminalNews, TerminalSize};
pub use task_list::TaskListFollower;
pub use workspace::{AgentWorkspace, InstructionSource, ModelSource, RunSettings, WorkspaceSource};
