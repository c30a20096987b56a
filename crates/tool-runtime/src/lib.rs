//! How tools are declared, registered, permitted and run.
//!
//! A tool implements [`Tool`]; [`Registry`] knows which there are; [`Executor`] runs a model's calls one by one
//! or in batches, always in the same order of checks (see [`Executor`]). What a running tool may ask of its task
//! is [`Host`]; what the runtime needs of the world is given to it through small ports ([`ArtifactWriter`],
//! [`HookRunner`]), because this crate touches no file and starts no process.

mod arguments;
mod brief;
mod category;
mod checkpoints;
mod compose;
mod erased;
mod executor;
mod hooks;
mod host;
mod loop_guard;
mod mode;
mod near_names;
mod permission;
mod plan;
mod ports;
mod redact;
mod registry;
mod resources;
mod retry;
mod sampling;
mod services;
pub mod shell;
mod subtask;
mod tool;
mod tool_set;
mod truncate;
mod vocabulary;
mod wording;

pub use arguments::{ArgumentSchema, Prepared, coerce};
pub use brief::{Detail, at_detail};
pub use category::Category;
pub use checkpoints::{AfterCall, CallChanges, CheckpointCall, CheckpointReach, Checkpoints, Kept};
pub use compose::{
    Aggregate, Chain, ChainError, ChainStep, Condition, Filter, FilterOperator, Misfit, StepReport,
    Transform, TransformError, compatibility, extract_path,
};
pub use erased::{ALIASES_KEYWORD, DynOutput, DynPlan, DynTool};
pub use executor::{CallEnv, CallSetup, Executor, ExecutorOptions, Invoker, Outcome, Refusal, RefusedBy};
pub use hooks::{
    HookAgent, HookCall, HookConfigError, HookEvent, HookExit, HookFacts, HookOutcome, HookPermission,
    HookProcess, HookRunner, HookTool, Hooks,
};
pub use host::{Host, HostError};
pub use loop_guard::{CallKey, LoopGuard, LoopLimits, LoopReport};
pub use mode::{EditScope, FilePattern, ModeLimits, ToolGroup, WorkspaceAccess};
pub use near_names::near_names;
pub use permission::{
    AutoApprove, Below, CallFacts, DeniedReads, Effect, Finding, FollowLinks, Grant, GrantKeeper,
    JudgeOptions, JudgePlaces, LookAtGit, PermissionJudge, PermissionSettings, Rule, RuleJudge, RuleSource,
    RuleTable, Ruling, Verdict, add_warnings, by_mode, denied_tool,
};
pub use plan::{PlanHold, PlanPhase, PlanReply, PlanRequest, PlanUpdate, UpdatedPart};
pub use ports::{ArtifactWriter, NetworkGate};
pub use redact::{Redactor, StreamRedactor};
pub use registry::{
    CachedSource, CompositeSource, RegisteredTool, Registry, RegistryError, SourceError, StaticSource,
    Statistics, ToolSource, ToolStatus,
};
pub use resources::{NoResources, ResourceBody, ResourceEntry, ResourceTemplateEntry, Resources};
pub use retry::RetryPolicy;
pub use sampling::{SampleAnswer, SampleRequest};
pub use services::{
    GitQuestion, PathKind, Wanted, WorkspaceActivity, WorkspaceLookup, WorkspacePolicy, WorkspaceServices,
};
pub use subtask::{SubtaskCheck, SubtaskRequest, SubtaskResult, SubtaskWorker};
pub use tool::{Planned, Refused, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
pub use tool_set::{Exclusion, ToolGate, ToolSet};
pub use truncate::{Truncated, cut_middle};
pub use vocabulary::Vocabulary;
pub use wording::counted;
