//! What goes on at this moment: calls that are being written, the agent's state, debug sessions, background commands.

use serde::Serialize;
use stepwell_protocol::{
    AgentState, BackgroundCommand, DebugSessionState, DebugSessionSummary, Event, MessageId, RunEnd,
    ToolCallId,
};

/// The present of a task. None of it is in the log; a run that ends leaves only what outlives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Activity {
    pub agent: AgentState,
    /// Calls that the model is writing.
    pub forming: Vec<FormingCall>,
    /// Why a request is sent again, and when.
    pub retrying: Option<Retrying>,
    pub debug_sessions: Vec<DebugSessionSummary>,
    pub background: Vec<BackgroundCommand>,
    /// How the last run ended, where that was seen.
    pub run_end: Option<RunEnd>,
}

/// A call whose arguments are not complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FormingCall {
    pub message_id: MessageId,
    pub call_id: ToolCallId,
    pub name: String,
    /// JSON as far as it has come.
    pub arguments: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Retrying {
    pub attempt: u32,
    pub limit: u32,
    pub delay_ms: u64,
    pub reason: String,
}

impl Activity {
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::CallForming { message_id, call_id, name, offset, arguments } => {
                self.retrying = None;
                match self.forming.iter_mut().find(|call| call.call_id == *call_id) {
                    Some(call) => splice(&mut call.arguments, *offset, arguments),
                    None => self.forming.push(FormingCall {
                        message_id: message_id.clone(),
                        call_id: call_id.clone(),
                        name: name.clone(),
                        arguments: arguments.clone(),
                    }),
                }
            }
            Event::Action { call, .. } => self.forming.retain(|forming| forming.call_id != call.id),
            // What it became follows in the log.
            Event::Thought { message_id, .. }
            | Event::Answer { message_id, .. }
            | Event::AnswerRestarted { message_id }
            | Event::AnswerInterrupted { message_id, .. } => {
                self.forming.retain(|forming| forming.message_id != *message_id);
            }
            Event::Token { .. } | Event::ReasoningToken { .. } => self.retrying = None,
            Event::Retrying { attempt, limit, delay_ms, reason } => {
                self.retrying = Some(Retrying {
                    attempt: *attempt,
                    limit: *limit,
                    delay_ms: *delay_ms,
                    reason: reason.clone(),
                });
            }
            Event::AgentStateChanged { state } => {
                if *state != AgentState::Idle {
                    self.run_end = None;
                }
                self.agent = state.clone();
            }
            Event::RunEnded { end } => {
                self.forming.clear();
                self.retrying = None;
                self.agent = AgentState::Idle;
                self.run_end = Some(end.clone());
            }
            Event::DebugSession { session } => {
                self.debug_sessions.retain(|known| known.session_id != session.session_id);
                if session.state != DebugSessionState::Terminated {
                    self.debug_sessions.push(session.clone());
                }
            }
            Event::BackgroundCommand { command } => {
                self.background.retain(|known| known.process_id != command.process_id);
                if command.ended.is_none() {
                    self.background.push(command.clone());
                }
            }
            _ => {}
        }
    }
}

/// Puts a piece into a text that streams. A piece that is known already changes nothing; one that begins at 0 while
/// there is text begins the text anew, because the connection was lost in between.
pub(crate) fn splice(text: &mut String, offset: u64, piece: &str) {
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    if offset >= text.len() {
        text.push_str(piece);
        return;
    }
    let is_known = text.get(offset..).is_some_and(|rest| rest.starts_with(piece));
    if !is_known {
        text.truncate(text.floor_char_boundary(offset));
        text.push_str(piece);
    }
}
