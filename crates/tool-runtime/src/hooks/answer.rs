//! What hooks said, put together.

use serde::Deserialize;
use serde_json::Value;

use super::{HookEvent, HookExit};

/// A hook's word about a call, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookPermission {
    Allow,
    Ask,
    Deny,
}

/// The answers of all hooks of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookOutcome {
    /// Before a tool runs: the strongest word of any hook.
    pub permission: Option<HookPermission>,
    /// Why it was blocked, denied or asked; for the model.
    pub reason: Option<String>,
    /// Whether a hook blocked: a prompt is not sent, a stop does not stop, a result is objected to.
    pub blocked: bool,
    /// Arguments to use in place of the call's.
    pub updated_input: Option<Value>,
    /// For the model.
    pub additional_context: Vec<String>,
    /// For the person: messages of hooks, and hooks that failed.
    pub notices: Vec<String>,
    /// The whole run must stop, and why.
    pub stop: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Answer {
    #[serde(rename = "continue")]
    go_on: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    hook_specific_output: Option<SpecificAnswer>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SpecificAnswer {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    additional_context: Option<String>,
}

/// Whether a program that ended with this code ran: the shell's 126 and 127 say that it could not be started, and
/// those above 128 that a signal ended it.
fn did_its_work(code: i32) -> bool {
    !matches!(code, 126 | 127 | 129..=192)
}

impl HookOutcome {
    pub(super) fn add(&mut self, event: HookEvent, command: &str, exit: HookExit) {
        match exit {
            HookExit::Exited { code: 0, stdout, .. } => self.add_answer(event, command, &stdout),
            HookExit::Exited { code: 2, stderr, .. } => {
                let reason = stderr.trim();
                let reason = if reason.is_empty() {
                    format!("the hook `{command}` blocked it")
                } else {
                    reason.into()
                };
                self.block(reason);
            }
            HookExit::Exited { code, stderr, .. } => {
                let said: String = stderr.trim().chars().take(500).collect();
                let trouble = format!("the hook `{command}` ended with exit code {code}: {said}");
                if did_its_work(code) { self.notices.push(trouble) } else { self.fail(event, trouble) }
            }
            HookExit::TimedOut => {
                self.fail(event, format!("the hook `{command}` ran into its time limit and was stopped"));
            }
            HookExit::Failed { reason } => {
                self.fail(event, format!("the hook `{command}` could not be run: {reason}"));
            }
        }
    }

    /// A hook that never had its say. One that guards a call might have refused it, so the call does not run;
    /// elsewhere there is nothing to hold back.
    fn fail(&mut self, event: HookEvent, trouble: String) {
        match event {
            HookEvent::PreToolUse => self.block(trouble),
            _ => self.notices.push(trouble),
        }
    }

    fn add_answer(&mut self, event: HookEvent, command: &str, stdout: &str) {
        let stdout = stdout.trim();
        if !stdout.starts_with('{') {
            // Plain output of these events is context by convention; of others it is of no interest.
            let is_context = matches!(event, HookEvent::UserPromptSubmit | HookEvent::SessionStart);
            if is_context && !stdout.is_empty() {
                self.additional_context.push(stdout.to_owned());
            }
            return;
        }
        let answer: Answer = match serde_json::from_str(stdout) {
            Ok(answer) => answer,
            Err(error) => {
                self.notices.push(format!("the answer of the hook `{command}` cannot be read: {error}"));
                return;
            }
        };
        self.notices.extend(answer.system_message);
        if answer.go_on == Some(false) {
            let reason =
                answer.stop_reason.unwrap_or_else(|| format!("the hook `{command}` stopped the run"));
            self.stop.get_or_insert(reason);
        }
        match answer.decision.as_deref() {
            Some("block" | "deny") => {
                self.block(
                    answer.reason.clone().unwrap_or_else(|| format!("the hook `{command}` blocked it")),
                );
            }
            Some("approve" | "allow") => self.strengthen(HookPermission::Allow, answer.reason.clone()),
            _ => {}
        }
        let Some(specific) = answer.hook_specific_output else { return };
        let reason = specific.permission_decision_reason.or(answer.reason);
        match specific.permission_decision.as_deref() {
            Some("deny") => self.block(reason.unwrap_or_else(|| format!("the hook `{command}` denied it"))),
            Some("ask") => self.strengthen(HookPermission::Ask, reason),
            Some("allow") => self.strengthen(HookPermission::Allow, reason),
            _ => {}
        }
        if specific.updated_input.as_ref().is_some_and(Value::is_object) {
            self.updated_input = specific.updated_input;
        }
        self.additional_context.extend(specific.additional_context.filter(|context| !context.is_empty()));
    }

    fn block(&mut self, reason: String) {
        self.blocked = true;
        self.strengthen(HookPermission::Deny, Some(reason));
    }

    fn strengthen(&mut self, permission: HookPermission, reason: Option<String>) {
        if self.permission.is_none_or(|current| permission > current) {
            self.permission = Some(permission);
            self.reason = reason;
        }
    }
}
