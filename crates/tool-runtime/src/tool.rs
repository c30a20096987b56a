//! A tool: a typed input, a typed output, and what must be known to run it safely.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use stepwell_protocol::{
    Artifact, ErrorClass, Image, Preview, RefusedHunk, Risk, TaskId, ToolCallId, ToolDetail,
};
use tokio_util::sync::CancellationToken;

use crate::shell::{Analysis, analyse};
use crate::{Category, Host, Invoker, NetworkGate, PlanPhase, Redactor, WorkspaceAccess};

/// One ability. The description a model reads is the doc comment of `Input`; the schema comes from its fields.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send;
    /// What a call is going to do, worked out once. Tools that have nothing to work out use `Input`.
    type Plan: Clone + Send + Sync + 'static;
    type Output: ToolOutput;

    fn spec(&self) -> ToolSpec;

    /// Works out what a call would do, without changing anything. The preview shows the plan, the judge decides on the
    /// preview, and [`Tool::run`] gets the same plan.
    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<Self::Plan>;

    /// Leaves files or hunks out of a plan, because the person approved the rest only.
    fn exclude(&self, _plan: Self::Plan, _refused: &Refused) -> Result<Self::Plan, ToolError> {
        Err(ToolError::permission("this call cannot be run in part, so all of it is refused"))
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError>;

    /// What the system prompt says about using this tool and its like; tools with the same text share it.
    fn guidance(&self) -> Option<&'static str> {
        None
    }

    /// Whether a model whose window has room for a few tools only is still offered this one.
    fn is_basic(&self) -> bool {
        false
    }

    /// Deferred tools that the model is offered once it has called this one, such as those that step a program.
    fn brings(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether calls of this tool run beside each other. Those that only read always may.
    fn runs_side_by_side(&self) -> bool {
        false
    }

    /// The phases of planning in which a model is offered the tool; in all of them where it does not say.
    fn plan_phases(&self) -> Option<&'static [PlanPhase]> {
        None
    }

    /// Whether this tool shows deferred tools to the model. Its description lists them.
    fn loads_deferred(&self) -> bool {
        false
    }
}

/// What the person left out of a call that they approved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Paths of [`Preview::files`].
    pub files: Vec<String>,
    /// Hunks of the diffs there, or of [`Preview::diff`] where the call changes one file.
    pub hunks: Vec<RefusedHunk>,
}

impl Refused {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.hunks.is_empty()
    }

    /// Names what was left out.
    pub fn named(&self) -> String {
        let files = self.files.iter().map(|path| format!("`{path}`"));
        let hunks = self.hunks.iter().map(|hunk| format!("hunk {} of `{}`", hunk.hunk + 1, hunk.path));
        files.chain(hunks).collect::<Vec<_>>().join(", ")
    }
}

/// A plan and what the person is shown of it.
#[derive(Clone, Debug)]
pub struct Planned<P> {
    pub preview: Preview,
    /// The error of a call that cannot run. It is reported only once the judge has seen the preview, because it may
    /// quote what the call may not read.
    pub plan: Result<P, ToolError>,
    /// The command of the preview, taken apart.
    pub command: Option<Arc<Analysis>>,
}

impl<P> Planned<P> {
    pub fn new(preview: Preview, plan: Result<P, ToolError>) -> Self {
        let command = preview.command.as_deref().map(|command| Arc::new(analyse(command)));
        Self { preview, plan, command }
    }

    /// A plan that can run.
    pub fn ready(preview: Preview, plan: P) -> Self {
        Self::new(preview, Ok(plan))
    }

    pub(crate) fn map<Q>(self, change: impl FnOnce(P) -> Q) -> Planned<Q> {
        Planned { preview: self.preview, plan: self.plan.map(change), command: self.command }
    }
}

/// What a tool gives back, for programs (its JSON) and for the model (its text).
pub trait ToolOutput: Serialize + JsonSchema + Send + 'static {
    /// The text the model reads.
    fn for_model(&self) -> Cow<'_, str>;

    fn images(&self) -> Vec<Image> {
        Vec::new()
    }

    fn artifacts(&self) -> Vec<Artifact> {
        Vec::new()
    }

    /// What a front end shows, such as a diff.
    fn detail(&self) -> Option<ToolDetail> {
        None
    }
}

/// What the runtime must know about a tool.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    pub name: &'static str,
    /// Other names a call, a mode or a rule may use.
    pub aliases: &'static [&'static str],
    pub category: Category,
    pub risk: Risk,
    /// `Duration::MAX` for tools that wait for a person: their host sets the deadline.
    pub time_limit: Duration,
    /// Bytes of text the model is given at most; the rest is kept as an artifact.
    pub output_limit: usize,
}

/// What a call is run with.
#[derive(Clone)]
pub struct ToolContext {
    pub task: TaskId,
    pub call_id: ToolCallId,
    pub cancel: CancellationToken,
    pub host: Arc<dyn Host>,
    /// For what a tool writes to the disk itself, and for lines it numbers or marks, which the executor would not
    /// know any more as those of a key; what else it returns or shows is redacted by the executor.
    pub redactor: Arc<Redactor>,
    /// How a tool calls other tools; each such call is judged like any other.
    pub invoker: Arc<dyn Invoker>,
    /// Asked before a tool, or what it runs, reaches another machine.
    pub network: Arc<dyn NetworkGate>,
    /// Whether programs that the tool starts may write in the workspace.
    pub access: WorkspaceAccess,
}

/// A failure with its class; the class decides about retries and wording.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    pub class: ErrorClass,
    pub message: String,
}

impl ToolError {
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }

    pub fn execution(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::ExecutionError, message)
    }

    pub fn parameter(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::ParameterError, message)
    }

    pub fn permission(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::PermissionError, message)
    }

    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Interrupted, message)
    }

    pub fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::ValidationError, message)
    }
}
