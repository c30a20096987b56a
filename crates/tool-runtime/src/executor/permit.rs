//! From a resolved call to arguments that may run, or a refusal.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use serde_json::Value;
use stepwell_protocol::{ApprovalId, ApprovalRequest, ApprovalSource, Risk, ToolCall};

use super::run::{late, passed};
use super::{CallEnv, Executor, Outcome, RefusedBy, notify};
use crate::hooks::{HookCall, HookEvent, HookOutcome, HookPermission};
use crate::permission::{CallFacts, Verdict, add_warnings};
use crate::registry::RegisteredTool;
use crate::{DynPlan, Planned, Refused, ToolContext, ToolError};

/// A call that may run.
pub(super) struct Permitted {
    pub facts: CallFacts,
    pub plan: DynPlan,
    /// For the model: what was bent, and what hooks add.
    pub notes: Vec<String>,
}

impl Executor {
    pub(super) async fn permit(
        &self,
        call: &ToolCall,
        tool: &Arc<RegisteredTool>,
        env: &CallEnv,
        ctx: &ToolContext,
    ) -> Result<Permitted, Box<Outcome>> {
        let failed = |error: ToolError| Box::new(Outcome::failed(call, redacted(error, env)));
        let risk = tool.spec().risk;
        let mut prepared = tool.arguments().prepare(&call.arguments, risk).map_err(failed)?;
        let mut notes: Vec<String> = prepared.notes.iter().map(|note| format!("note: {note}")).collect();

        let said = self.before_hooks(call, tool, env, &prepared.arguments).await;
        notify(env, &said.notices).await;
        let redact = |text: &str| env.redactor.redact(text).into_owned();
        if let Some(reason) = said.stop.as_deref().map(redact) {
            let mut outcome = Outcome::refused(call, RefusedBy::Hook, reason.clone());
            outcome.stop = Some(reason);
            return Err(Box::new(outcome));
        }
        if said.permission == Some(HookPermission::Deny) {
            let reason = redact(&said.reason.unwrap_or_default());
            return Err(Box::new(Outcome::refused(
                call,
                RefusedBy::Hook,
                format!("a hook refused the call: {reason}"),
            )));
        }
        if let Some(updated) = said.updated_input {
            prepared = tool.arguments().prepare(&updated, risk).map_err(|error| {
                failed(ToolError::new(
                    error.class,
                    format!("a hook changed the arguments and {}", error.message),
                ))
            })?;
            notes.push(format!("note: a hook changed the arguments to {}", prepared.arguments));
        }
        notes.extend(said.additional_context);
        let mut notes: Vec<String> = notes.iter().map(|note| redact(note)).collect();

        let (facts, plan) = plan(tool, env, ctx, prepared.arguments).await.map_err(failed)?;
        if let Err(reason) = env.tools.check_call(&facts, &env.services.root) {
            let reason = format!("not allowed: {reason}");
            return Err(Box::new(Outcome::refused(call, RefusedBy::Policy, reason)));
        }
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => return Err(self.cannot_run(call, env, facts, error).await),
        };
        let verdict = match (env.permission.judge(&facts).await, said.permission) {
            (Verdict::Ask { .. }, Some(HookPermission::Allow)) if !env.permission.insists(&facts) => {
                Verdict::Allow
            }
            (Verdict::Allow, Some(HookPermission::Ask)) => {
                Verdict::Ask { reason: said.reason.unwrap_or_else(|| "a hook wants it asked".to_owned()) }
            }
            (verdict, _) => verdict,
        };
        match verdict {
            Verdict::Allow => {}
            Verdict::Deny { reason } => {
                return Err(Box::new(Outcome::refused(
                    call,
                    RefusedBy::Policy,
                    format!("not allowed: {reason}"),
                )));
            }
            Verdict::Ask { reason } => {
                let approved = self.ask(call, env, &facts, reason).await?;
                let (facts, plan) = approved.narrow(tool, facts, plan).map_err(failed)?;
                notes.extend(approved.words());
                return Ok(Permitted { facts, plan, notes });
            }
        }
        Ok(Permitted { facts, plan, notes })
    }

    /// Reports why a call cannot run. The reason may quote file contents, so a caller without read permission is asked
    /// about or refused first.
    async fn cannot_run(
        &self,
        call: &ToolCall,
        env: &CallEnv,
        facts: CallFacts,
        error: ToolError,
    ) -> Box<Outcome> {
        let failed = Box::new(Outcome::failed(call, redacted(error, env)));
        let reason = match env.permission.judge(&facts).await {
            Verdict::Allow => return failed,
            Verdict::Deny { reason } => {
                return Box::new(Outcome::refused(call, RefusedBy::Policy, format!("not allowed: {reason}")));
            }
            Verdict::Ask { reason } => reason,
        };
        let reading = CallFacts { risk: facts.risk.min(Risk::Read), command: None, ..facts.clone() };
        if env.permission.judge(&reading).await == Verdict::Allow {
            return failed;
        }
        self.ask(call, env, &facts, reason).await.err().unwrap_or(failed)
    }

    async fn before_hooks(
        &self,
        call: &ToolCall,
        tool: &RegisteredTool,
        env: &CallEnv,
        arguments: &Value,
    ) -> HookOutcome {
        if !env.hooks.listens(HookEvent::PreToolUse) {
            return HookOutcome::default();
        }
        let hook_call = HookCall::PreToolUse {
            tool: tool.for_hooks(),
            input: arguments.clone(),
            call_id: call.id.clone(),
        };
        env.hooks.fire(&env.hook_facts, &hook_call, &env.cancel).await
    }

    async fn ask(
        &self,
        call: &ToolCall,
        env: &CallEnv,
        facts: &CallFacts,
        reason: String,
    ) -> Result<Approved, Box<Outcome>> {
        match ask(env, facts, call, reason).await {
            Answered::Yes(approved) => Ok(approved),
            Answered::No { by, words } => Err(Box::new(Outcome::refused(call, by, words))),
            Answered::Cancelled => Err(Box::new(Outcome::interrupted(call))),
        }
    }
}

/// What the person said with a yes.
pub(super) struct Approved {
    /// Words for the model.
    reason: Option<String>,
    refused: Refused,
}

impl Approved {
    /// Takes what was refused out of what was judged and what will run.
    fn narrow(
        &self,
        tool: &RegisteredTool,
        mut facts: CallFacts,
        plan: DynPlan,
    ) -> Result<(CallFacts, DynPlan), ToolError> {
        if self.refused.is_empty() {
            return Ok((facts, plan));
        }
        let plan = tool.tool().exclude(plan, &self.refused)?;
        let is_kept = |path: &String| !self.refused.files.contains(path);
        facts.preview.paths.retain(is_kept);
        facts.preview.files.retain(|file| is_kept(&file.path));
        Ok((facts, plan))
    }

    fn words(&self) -> Vec<String> {
        let refused = (!self.refused.is_empty()).then(|| {
            format!("note: the person refused this for {}; the rest was done", self.refused.named())
        });
        let said = self.reason.as_ref().map(|words| format!("The person approved this and says: {words}"));
        refused.into_iter().chain(said).collect()
    }
}

/// What came of asking.
pub(super) enum Answered {
    Yes(Approved),
    No { by: RefusedBy, words: String },
    Cancelled,
}

/// Asks the person about a call, and keeps what they allow beyond it.
pub(super) async fn ask(env: &CallEnv, facts: &CallFacts, call: &ToolCall, reason: String) -> Answered {
    // The request shows the call as it will run, not as it was written.
    let shown = ToolCall { name: facts.tool.clone(), arguments: facts.arguments.clone(), ..call.clone() };
    let request = ApprovalRequest {
        id: ApprovalId::generate(),
        call: shown,
        risk: facts.risk,
        reason,
        preview: facts.preview.clone(),
        grant: env.permission.offer(facts),
        from: None,
    };
    let (answer, source) = tokio::select! {
        answer = env.host.approve(request) => answer,
        () = env.cancel.cancelled() => return Answered::Cancelled,
    };
    if answer.is_yes() {
        let refused = Refused { files: answer.refused_files.clone(), hunks: answer.refused_hunks.clone() };
        // A yes to a part of a call says nothing about later ones.
        let granted = if refused.is_empty() { env.permission.granted(facts, &answer) } else { Ok(()) };
        if let Err(problem) = granted {
            notify(env, &[problem]).await;
        }
        return Answered::Yes(Approved { reason: answer.reason, refused });
    }
    let reason = answer.reason;
    let (by, who) = match source {
        ApprovalSource::Person => (RefusedBy::Person, "the person refused this call"),
        ApprovalSource::Policy => (RefusedBy::Nobody, "nobody can be asked here, so this call is refused"),
        ApprovalSource::Timeout => (RefusedBy::Nobody, "nobody answered in time, so this call is refused"),
        ApprovalSource::Hook => (RefusedBy::Hook, "a hook refused this call"),
    };
    let words = match reason {
        Some(reason) => format!("{who}: {reason}"),
        None => format!("{who}; do not try it again in another way"),
    };
    Answered::No { by, words }
}

/// Works out what a call would do, and everything that is known about it before it is judged. A tool that breaks here
/// is not run at all.
pub(super) async fn plan(
    tool: &RegisteredTool,
    env: &CallEnv,
    ctx: &ToolContext,
    arguments: Value,
) -> Result<(CallFacts, Result<DynPlan, ToolError>), ToolError> {
    let planning = AssertUnwindSafe(tool.tool().plan(ctx, arguments.clone())).catch_unwind();
    let limit = tool.spec().time_limit;
    let planned = tokio::select! {
        biased;
        planned = planning => planned,
        () = ctx.cancel.cancelled() => return Err(ToolError::interrupted("the call was cancelled before it ran")),
        () = passed(limit) => return Err(late(tool, limit, None)),
    };
    let Planned { mut preview, plan, command } = planned.unwrap_or_else(|_| {
        Err(ToolError::execution(format!(
            "the tool `{}` cannot show what it would do, which is a bug",
            tool.name()
        )))
    })?;
    add_warnings(&mut preview);
    let spec = tool.spec();
    let facts = CallFacts {
        task: env.task.clone(),
        tool: tool.name().to_owned(),
        aliases: spec.aliases,
        category: spec.category,
        risk: spec.risk,
        arguments,
        preview,
        command,
    };
    Ok((facts, plan))
}

fn redacted(error: ToolError, env: &CallEnv) -> ToolError {
    ToolError::new(error.class, env.redactor.redact(&error.message))
}
