//! From a resolved call to arguments that may run, or a refusal.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use serde_json::Value;
use stepwell_protocol::{ApprovalAnswer, ApprovalId, ApprovalRequest, ApprovalSource, Preview, ToolCall};

use super::{CallEnv, Executor, Outcome, RefusedBy, notify};
use crate::hooks::{HookCall, HookEvent, HookOutcome, HookPermission};
use crate::permission::{CallFacts, Verdict, add_warnings};
use crate::registry::RegisteredTool;
use crate::{ToolContext, ToolError};

/// A call that may run.
pub(super) struct Permitted {
    pub facts: CallFacts,
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
        let notes: Vec<String> = notes.iter().map(|note| redact(note)).collect();

        let facts = facts(tool, env, ctx, prepared.arguments).await.map_err(failed)?;
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
            Verdict::Ask { reason } => self.ask(call, env, &facts, reason).await?,
        }
        Ok(Permitted { facts, notes })
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
            tool: tool.name().to_owned(),
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
    ) -> Result<(), Box<Outcome>> {
        match ask(env, facts, call, reason).await {
            Answered::Yes => Ok(()),
            Answered::No { by, words } => Err(Box::new(Outcome::refused(call, by, words))),
            Answered::Cancelled => Err(Box::new(Outcome::interrupted(call))),
        }
    }
}

/// What came of asking.
pub(super) enum Answered {
    Yes,
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
    };
    let (answer, source) = tokio::select! {
        answer = env.host.approve(request) => answer,
        () = env.cancel.cancelled() => return Answered::Cancelled,
    };
    let ApprovalAnswer::No { reason } = answer else {
        if let Err(problem) = env.permission.granted(facts, &answer) {
            notify(env, &[problem]).await;
        }
        return Answered::Yes;
    };
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

/// Everything that is known about a call before it is judged.
pub(super) async fn facts(
    tool: &RegisteredTool,
    env: &CallEnv,
    ctx: &ToolContext,
    arguments: Value,
) -> Result<CallFacts, ToolError> {
    let mut preview = preview(tool, ctx, &arguments).await?;
    add_warnings(&mut preview);
    let spec = tool.spec();
    Ok(CallFacts {
        task: env.task.clone(),
        tool: tool.name().to_owned(),
        aliases: spec.aliases,
        category: spec.category,
        risk: spec.risk,
        arguments,
        preview,
    })
}

/// What the person would be shown; a tool that breaks here is not run at all.
async fn preview(tool: &RegisteredTool, ctx: &ToolContext, arguments: &Value) -> Result<Preview, ToolError> {
    let shown = AssertUnwindSafe(tool.tool().preview(ctx, arguments)).catch_unwind().await;
    shown.unwrap_or_else(|_| {
        Err(ToolError::execution(format!(
            "the tool `{}` cannot show what it would do, which is a bug",
            tool.name()
        )))
    })
}

fn redacted(error: ToolError, env: &CallEnv) -> ToolError {
    ToolError::new(error.class, env.redactor.redact(&error.message))
}
