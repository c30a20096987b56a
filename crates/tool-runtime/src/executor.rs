//! Runs tool calls, in one place and in one order, which is told at [`Executor`].
//!
//! Whatever fails on the way is a refusal or a failure result, never a panic and never a silent yes.

mod batch;
mod checkpoint;
mod guarded_host;
mod looping;
mod network;
mod permit;
mod result;
mod run;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use stepwell_protocol::{ErrorClass, Event, PermissionMode, Risk, TaskId, ToolCall, ToolResult};
use tokio_util::sync::CancellationToken;

use crate::hooks::{HookCall, HookFacts, Hooks};
use crate::loop_guard::{CallKey, LoopGuard};
use crate::near_names::did_you_mean;
use crate::redact::Redactor;
use crate::registry::{RegisteredTool, Registry};
use crate::retry::RetryPolicy;
use crate::services::WorkspaceServices;
use crate::tool_set::ToolGate;
use crate::{ArtifactWriter, CallFacts, Host, PermissionJudge, ToolContext, ToolError};

use guarded_host::GuardedHost;
use network::CallNetwork;

/// How calls are run; the same for all tasks.
#[derive(Clone)]
pub struct ExecutorOptions {
    pub retry: RetryPolicy,
    /// How many read-only calls of a batch run side by side.
    pub parallel_reads: usize,
    /// How long a cancelled or late tool may take to clean up before it is dropped.
    pub grace: Duration,
    pub artifacts: Arc<dyn ArtifactWriter>,
}

impl ExecutorOptions {
    pub fn standard(artifacts: Arc<dyn ArtifactWriter>) -> Self {
        Self { retry: RetryPolicy::STANDARD, parallel_reads: 8, grace: Duration::from_secs(5), artifacts }
    }
}

/// What a task's calls are run with.
#[derive(Clone)]
pub struct CallEnv {
    pub services: Arc<WorkspaceServices>,
    pub task: TaskId,
    pub host: Arc<dyn Host>,
    pub cancel: CancellationToken,
    pub permission: Arc<dyn PermissionJudge>,
    /// Shared by the whole tree of tasks.
    pub loop_guard: Arc<LoopGuard>,
    pub hooks: Arc<Hooks>,
    pub hook_facts: HookFacts,
    /// Which tools the task may call.
    pub tools: Arc<ToolGate>,
    pub redactor: Arc<Redactor>,
}

/// What differs between the callers of one workspace.
pub struct CallSetup {
    pub task: TaskId,
    pub host: Arc<dyn Host>,
    pub cancel: CancellationToken,
    pub permission: Arc<dyn PermissionJudge>,
    pub loop_guard: Arc<LoopGuard>,
    pub hooks: Arc<Hooks>,
    pub permission_mode: PermissionMode,
    /// The log of the task, where it has one.
    pub transcript_path: PathBuf,
    pub tools: Arc<ToolGate>,
}

impl CallEnv {
    pub fn new(services: Arc<WorkspaceServices>, setup: CallSetup) -> Self {
        Self {
            hook_facts: HookFacts {
                session_id: setup.task.to_string(),
                transcript_path: setup.transcript_path,
                cwd: services.root.clone(),
                permission_mode: setup.permission_mode,
            },
            redactor: Arc::clone(&services.redactor),
            services,
            task: setup.task,
            host: setup.host,
            cancel: setup.cancel,
            permission: setup.permission,
            loop_guard: setup.loop_guard,
            hooks: setup.hooks,
            tools: setup.tools,
        }
    }
}

/// What came of a call.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub result: ToolResult,
    /// The typed output as JSON, for programs and for composition.
    pub output: Option<Value>,
    pub refused: Option<Refusal>,
    /// A hook or the loop guard wants the run to stop after this call, and why.
    pub stop: Option<String>,
}

/// A call that was not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub by: RefusedBy,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// The mode or a rule.
    Policy,
    Person,
    /// Nobody was there to ask, or nobody answered in time.
    Nobody,
    Hook,
    LoopGuard,
}

/// How a tool calls another tool.
#[async_trait]
pub trait Invoker: Send + Sync {
    /// Runs a call like one of the model's: permission, limits and redaction hold.
    async fn invoke(&self, call: &ToolCall) -> Outcome;

    fn find(&self, name: &str) -> Option<Arc<RegisteredTool>>;

    /// Tools the model has not loaded yet.
    fn deferred(&self) -> Vec<Arc<RegisteredTool>>;

    /// Shows a deferred tool to the model from its next turn on.
    fn load(&self, tool: &RegisteredTool);
}

/// Calls of calls deeper than this are refused.
const DEEPEST: usize = 3;

/// Runs calls. For each:
/// 1. the name is resolved; a tool that is unknown, disabled or outside the task's [`ToolGate`] never runs;
/// 2. the loop guard looks at the call as the model sent it;
/// 3. the arguments are repaired and validated. This stands before permission, because a person can only judge
///    what can be shown: an invalid call is never asked about;
/// 4. hooks may refuse or change the call (changed arguments are validated again), then the judge decides and
///    the person is asked where it says so. The tool plans the call before, the preview shows that plan, and the same
///    plan runs;
/// 5. the state of the workspace is kept where the call may change it;
/// 6. the tool runs with its time limit and the task's cancel, and again where a retry is safe;
/// 7. the result is redacted, cut to its limit (the whole kept as an artifact), and hooks hear of it.
#[derive(Clone)]
pub struct Executor {
    registry: Arc<Registry>,
    options: ExecutorOptions,
}

impl Executor {
    pub fn new(registry: Arc<Registry>, options: ExecutorOptions) -> Self {
        Self { registry, options }
    }

    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Runs one call. Always gives a result.
    pub async fn execute(&self, call: &ToolCall, env: &CallEnv) -> Outcome {
        self.execute_at(call, env, 0).await
    }

    async fn execute_at(&self, call: &ToolCall, env: &CallEnv, depth: usize) -> Outcome {
        let started = Instant::now();
        tracing::debug!(tool = call.name, "tool call begins");
        let mut outcome = self.attempt(call, env, depth).await;
        outcome.result.duration_ms = started.elapsed().as_millis() as u64;
        let (ms, failed) = (outcome.result.duration_ms, outcome.result.error.is_some());
        tracing::info!(tool = call.name, ms, failed, "tool call ends");
        outcome
    }

    async fn attempt(&self, call: &ToolCall, env: &CallEnv, depth: usize) -> Outcome {
        if env.cancel.is_cancelled() {
            return Outcome::interrupted(call);
        }
        if depth > DEEPEST {
            return Outcome::failed(
                call,
                ToolError::validation("tools call each other too deeply; call this one directly"),
            );
        }
        let tool = self.resolve(&call.name, env);
        let key = match &tool {
            Ok(tool) => CallKey::new(tool.name(), &call.arguments),
            // Whatever the arguments: there is still no such tool.
            Err(_) => CallKey::new(&call.name, &Value::Null),
        };
        if let Some(report) = env.loop_guard.check(&env.task, key) {
            if let Some(refusal) = self.ask_about_loop(call, env, key, report).await {
                return refusal;
            }
            env.loop_guard.forgive(key);
        }
        let (risk, outcome) = match tool {
            Ok(tool) => (tool.spec().risk, self.run_resolved(call, &tool, env, depth).await),
            Err(error) => (Risk::Read, Outcome::failed(call, error)),
        };
        if outcome.result.error.as_ref().map(|error| error.class) != Some(ErrorClass::Interrupted) {
            env.loop_guard.note(&env.task, key, risk, &outcome.result);
        }
        outcome
    }

    /// The tool of a name, if the task may call it.
    fn resolve(&self, name: &str, env: &CallEnv) -> Result<Arc<RegisteredTool>, ToolError> {
        match self.registry.get(name) {
            Some(tool) if tool.is_enabled() => env.tools.check(&tool).map(|()| tool),
            Some(tool) => {
                Err(ToolError::parameter(format!("the tool `{}` is switched off here", tool.name())))
            }
            None => {
                let near = self.registry.suggestions(name);
                let near: Vec<&str> = near.iter().map(String::as_str).collect();
                let help = match did_you_mean(&near) {
                    help if help.is_empty() => {
                        let offered = env.tools.definitions(&self.registry);
                        let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
                        format!("tools: {}", names.join(", "))
                    }
                    help => help,
                };
                Err(ToolError::parameter(format!("there is no tool `{name}`; {help}")))
            }
        }
    }

    async fn run_resolved(
        &self,
        call: &ToolCall,
        tool: &Arc<RegisteredTool>,
        env: &CallEnv,
        depth: usize,
    ) -> Outcome {
        let started = Instant::now();
        let (ctx, host, nested) = self.context(call, env, depth);
        let permitted = match self.permit(call, tool, env, &ctx).await {
            Ok(permitted) => permitted,
            Err(outcome) => return *outcome,
        };
        let kept = match self.checkpoint(call, env, &permitted.facts).await {
            Ok(kept) => kept,
            Err(outcome) => return *outcome,
        };
        let arguments = permitted.facts.arguments;
        let ran = self.run_with_retries(tool, &ctx, permitted.plan).await;
        host.flush();
        self.after_checkpoint(env, kept).await;
        let time = started.elapsed();
        let mut outcome = self.finish(call, tool, env, ran).await;
        let brought = tool.tool().brings().iter().filter_map(|name| self.registry.get(name));
        brought.for_each(|tool| env.tools.load(&tool));
        tool.count(time, outcome.result.error.as_ref().map(|error| error.message.as_str()));
        self.after_hooks(call, tool, env, arguments, &mut outcome).await;
        outcome.append(&permitted.notes);
        outcome.stop = outcome.stop.take().or_else(|| nested.stop.lock().take());
        outcome
    }

    /// What a call is run with, and the parts of it that are looked at afterwards.
    fn context(
        &self,
        call: &ToolCall,
        env: &CallEnv,
        depth: usize,
    ) -> (ToolContext, Arc<GuardedHost>, Arc<NestedCalls>) {
        let host = Arc::new(GuardedHost::new(
            Arc::clone(&env.host),
            &env.redactor,
            env.permission.question_seconds(),
        ));
        let nested = Arc::new(NestedCalls {
            executor: self.clone(),
            env: env.clone(),
            depth: depth + 1,
            stop: Mutex::default(),
        });
        let ctx = ToolContext {
            task: env.task.clone(),
            call_id: call.id.clone(),
            cancel: env.cancel.child_token(),
            host: Arc::clone(&host) as Arc<dyn Host>,
            redactor: Arc::clone(&env.redactor),
            invoker: Arc::clone(&nested) as Arc<dyn Invoker>,
            network: Arc::new(CallNetwork::new(env.clone(), call.clone())),
            access: env.tools.access(),
        };
        (ctx, host, nested)
    }

    /// What would be judged about a call; nothing is asked and nothing runs.
    pub async fn facts(&self, call: &ToolCall, env: &CallEnv) -> Result<CallFacts, ToolError> {
        let tool = self.resolve(&call.name, env)?;
        let prepared = tool.arguments().prepare(&call.arguments, tool.spec().risk)?;
        let (ctx, ..) = self.context(call, env, 0);
        permit::plan(&tool, env, &ctx, prepared.arguments).await.map(|(facts, _)| facts)
    }

    /// Tells the hooks what came of the call; they may add to what the model reads.
    async fn after_hooks(
        &self,
        call: &ToolCall,
        tool: &RegisteredTool,
        env: &CallEnv,
        input: Value,
        outcome: &mut Outcome,
    ) {
        let (tool, call_id) = (tool.for_hooks(), call.id.clone());
        let hook_call = match &outcome.result.error {
            None => {
                let response = outcome.output.clone().unwrap_or_else(|| outcome.result.output.clone().into());
                HookCall::PostToolUse { tool, input, call_id, response }
            }
            Some(error) => {
                HookCall::PostToolUseFailure { tool, input, call_id, error: error.message.clone() }
            }
        };
        if !env.hooks.listens(hook_call.event()) {
            return;
        }
        let said = env.hooks.fire(&env.hook_facts, &hook_call, &env.cancel).await;
        notify(env, &said.notices).await;
        let objection =
            said.reason.filter(|_| said.blocked).map(|reason| format!("a hook objects: {reason}"));
        let words: Vec<String> = objection.into_iter().chain(said.additional_context).collect();
        outcome.append(&words.iter().map(|text| env.redactor.redact(text).into_owned()).collect::<Vec<_>>());
        let stop = said.stop.map(|reason| env.redactor.redact(&reason).into_owned());
        outcome.stop = outcome.stop.take().or(stop);
    }
}

struct NestedCalls {
    executor: Executor,
    env: CallEnv,
    depth: usize,
    /// A hook's wish to stop the run, which holds for the call these belong to.
    stop: Mutex<Option<String>>,
}

#[async_trait]
impl Invoker for NestedCalls {
    async fn invoke(&self, call: &ToolCall) -> Outcome {
        let outcome = self.executor.execute_at(call, &self.env, self.depth).await;
        if let Some(reason) = &outcome.stop {
            self.stop.lock().get_or_insert_with(|| reason.clone());
        }
        outcome
    }

    fn find(&self, name: &str) -> Option<Arc<RegisteredTool>> {
        self.executor.resolve(name, &self.env).ok()
    }

    fn deferred(&self) -> Vec<Arc<RegisteredTool>> {
        self.env.tools.deferred(&self.executor.registry)
    }

    fn load(&self, tool: &RegisteredTool) {
        self.env.tools.load(tool);
    }
}

/// Puts notices into the log. That a notice cannot be kept must not fail the call it is about.
async fn notify(env: &CallEnv, notices: &[String]) {
    for text in notices {
        let text = env.redactor.redact(text).into_owned();
        env.host.record(Event::Notice { text }).await.ok();
    }
}

impl Outcome {
    pub fn failed(call: &ToolCall, error: ToolError) -> Self {
        let result = ToolResult::failure(call, error.class, error.message);
        Self { result, output: None, refused: None, stop: None }
    }

    pub fn interrupted(call: &ToolCall) -> Self {
        Self::failed(call, ToolError::interrupted("the call was cancelled before it ran"))
    }

    pub fn refused(call: &ToolCall, by: RefusedBy, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let mut outcome = Self::failed(call, ToolError::permission(reason.clone()));
        outcome.refused = Some(Refusal { by, reason });
        outcome
    }

    /// Adds words to what the model reads.
    fn append(&mut self, words: &[String]) {
        for text in words {
            if !self.result.output.is_empty() {
                self.result.output.push_str("\n\n");
            }
            self.result.output.push_str(text);
        }
    }
}

#[cfg(test)]
#[path = "executor/tests.rs"]
mod tests;
