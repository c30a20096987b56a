//! Inspection of a stopped program: scopes, variables, expressions, threads, the call stack, its output.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::dap::types::StackFrame;
use stepwell_debug::ids::{FrameId, SessionId, ThreadId, VariablesRef, VariablesReference};
use stepwell_debug::session::Paging;
use stepwell_debug::stop_report::{CallFrame, VariableRow, is_own, source_context};
use stepwell_debug::values::{shortened, without_escapes};
use stepwell_debug::{Error, Result};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::ToolContext;

use super::answer::Success;
use super::debug_tool;
use super::service::DebugService;

/// Bytes of a value that are shown unless more are asked for.
const VALUE: usize = 200;
const LONGEST_VALUE: usize = 16 * 1024;
/// Rows of an answer.
const ROWS: i64 = 50;
const MOST_ROWS: i64 = 500;
/// Bytes of all rows of an answer, about.
const ROOM: usize = 32 * 1024;
const OUTPUT: usize = 4000;
const MOST_OUTPUT: usize = 32 * 1024;

/// Lists the scopes of a frame.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ScopesInput {
    /// From `stop_event_data.call_stack`.
    frame_id: FrameId,
}

/// Lists what is in a scope or a value.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct VariablesInput {
    variables_reference: VariablesReference,
    /// The first to show; 0 by default.
    start: Option<i64>,
    /// 50 by default.
    count: Option<i64>,
    /// Bytes shown of each value; 200 by default.
    value_length: Option<usize>,
}

/// Evaluates an expression of the program's language in a frame. It can change the program.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct EvaluateInput {
    expression: String,
    /// The top frame by default.
    frame_id: Option<FrameId>,
    /// `watch` (default), `repl`, `hover` or `clipboard`.
    context: Option<String>,
    session_id: Option<SessionId>,
    /// Bytes shown of the value; 2000 by default.
    value_length: Option<usize>,
}

/// Gives a variable another value in the running program.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SetVariableInput {
    name: String,
    /// In the program's language.
    value: String,
    /// What holds the variable; the top frame's own variables by default.
    variables_reference: Option<VariablesReference>,
    frame_id: Option<FrameId>,
    session_id: Option<SessionId>,
}

/// Lists the threads of a program.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ThreadsInput {
    session_id: Option<SessionId>,
}

/// Shows the stack of a thread, library frames included.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct CallStackInput {
    session_id: Option<SessionId>,
    thread_id: Option<ThreadId>,
    /// The first frame; 0 is the innermost.
    start: Option<i64>,
    /// 20 by default.
    count: Option<i64>,
    /// Also the lines around each frame of your own code.
    source: Option<bool>,
}

/// Reads what the program printed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct OutputInput {
    session_id: Option<SessionId>,
    /// A position of an earlier answer; the beginning by default.
    since: Option<u64>,
    /// Bytes at most, the last ones; 4000 by default.
    limit: Option<usize>,
}

/// Types into the program's standard input.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SendInputInput {
    /// Sent as it is; end a line with a line feed, the input with `\u0004`.
    text: String,
    session_id: Option<SessionId>,
}

debug_tool!(GetScopes, "get_scopes", &[], ScopesInput => Success<ScopesBody>, Risk::Read, get_scopes, plain_preview);
debug_tool!(GetVariables, "get_variables", &[], VariablesInput => Success<VariablesBody>, Risk::Read, get_variables, plain_preview);
debug_tool!(
    EvaluateExpression,
    "evaluate_expression",
    &[],
    EvaluateInput => Success<EvaluationBody>,
    Risk::Execute,
    evaluate_expression,
    preview_evaluate
);
debug_tool!(
    SetVariable,
    "set_variable",
    &[],
    SetVariableInput => Success<SetVariableBody>,
    Risk::Execute,
    set_variable,
    preview_set_variable
);
debug_tool!(GetThreads, "get_threads", &[], ThreadsInput => Success<ThreadsBody>, Risk::Read, get_threads, plain_preview);
debug_tool!(GetCallStack, "get_call_stack", &[], CallStackInput => Success<CallStackBody>, Risk::Read, get_call_stack, plain_preview);
debug_tool!(GetOutput, "get_output", &[], OutputInput => Success<OutputBody>, Risk::Read, get_output, plain_preview);
debug_tool!(SendInput, "send_input", &[], SendInputInput => Success<SessionBody>, Risk::Execute, send_input, preview_send);

/// The scopes of a frame.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopesBody {
    scopes: Vec<ScopeRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ScopeRow {
    name: String,
    variables_reference: VariablesReference,
    #[serde(skip_serializing_if = "Option::is_none")]
    named_variables: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    indexed_variables: Option<i64>,
    /// Whether asking for its variables takes long.
    expensive: bool,
}

/// Variables of a scope or a value.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VariablesBody {
    variables: Vec<VariableRow>,
    /// How many follow; `start` shows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<i64>,
}

/// The value of an expression.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EvaluationBody {
    result: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Not zero where there is more inside: for `get_variables`.
    variables_reference: VariablesReference,
}

/// The new value of a variable.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetVariableBody {
    value: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
}

/// The threads of a program.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ThreadsBody {
    session_id: SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_thread_id: Option<ThreadId>,
    threads: Vec<ThreadRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ThreadRow {
    thread_id: ThreadId,
    name: String,
}

/// A part of a thread's call stack.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallStackBody {
    session_id: SessionId,
    thread_id: ThreadId,
    call_stack: Vec<StackRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_frames: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StackRow {
    #[serde(flatten)]
    frame: CallFrame,
    /// Lines around the frame's, where they were asked for; `null` where the source cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_context: Option<SourceContext>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum SourceContext {
    Lines(String),
    Unreadable,
}

impl SourceContext {
    fn of(frame: &StackFrame) -> Self {
        source_context(frame, 2).map_or(Self::Unreadable, Self::Lines)
    }
}

/// The end of what the program printed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OutputBody {
    session_id: SessionId,
    output: String,
    /// Where the output ends now: `since` of the next call.
    position: u64,
    /// Bytes before `output` that are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
}

/// The session that was meant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionBody {
    session_id: SessionId,
}

impl DebugService {
    fn preview_evaluate(&self, _: &str, input: &EvaluateInput) -> Preview {
        Preview {
            summary: format!("Evaluate `{}` in the program", shortened(&input.expression, 200)),
            warnings: vec!["it runs inside the program that is debugged".to_owned()],
            ..Preview::default()
        }
    }

    fn preview_set_variable(&self, _: &str, input: &SetVariableInput) -> Preview {
        Preview {
            summary: format!("Set `{}` to `{}` in the program", input.name, shortened(&input.value, 200)),
            ..Preview::default()
        }
    }

    fn preview_send(&self, _: &str, input: &SendInputInput) -> Preview {
        Preview {
            summary: format!("Type {:?} into the program", shortened(&input.text, 200)),
            ..Preview::default()
        }
    }

    async fn get_scopes(&self, _: &ToolContext, input: ScopesInput) -> Result<Success<ScopesBody>> {
        let (session, frame) = self.debugger.frame(input.frame_id)?;
        session.stopped()?;
        let scopes = session.scopes(frame.adapter_id).await?;
        let scopes = scopes
            .into_iter()
            .map(|scope| ScopeRow {
                variables_reference: self.debugger.reference(VariablesRef {
                    session: session.id.clone(),
                    adapter_ref: scope.variables_reference,
                    scope_of: Some(frame.adapter_id),
                    indexed: scope.indexed_variables,
                    named: scope.named_variables,
                }),
                name: scope.name,
                named_variables: scope.named_variables,
                indexed_variables: scope.indexed_variables,
                expensive: scope.expensive,
            })
            .collect();
        Ok(Success::new(ScopesBody { scopes }))
    }

    async fn get_variables(&self, _: &ToolContext, input: VariablesInput) -> Result<Success<VariablesBody>> {
        let (session, reference) = self.debugger.variables(input.variables_reference)?;
        session.stopped()?;
        let known = match (reference.indexed, reference.named) {
            (None, None) => None,
            (indexed, named) => Some(indexed.unwrap_or_default() + named.unwrap_or_default()),
        };
        let start = input.start.unwrap_or_default().max(0);
        let count = input.count.unwrap_or(ROWS).clamp(1, MOST_ROWS);
        let asked =
            input.start.is_some() || input.count.is_some() || known.is_some_and(|known| known > count);
        let paging = if asked {
            Paging {
                start: Some(start),
                count: Some(count),
                total: known,
                indexed: reference.indexed.is_some_and(|indexed| indexed > 0),
            }
        } else {
            Paging::default()
        };
        let variables = session.variables(reference.adapter_ref, reference.scope_of, paging).await?;
        let got = variables.len() as i64;
        let length = input.value_length.unwrap_or(VALUE).min(LONGEST_VALUE);
        // An answer that is longer than a tool's may be would be cut in the middle.
        let mut room = ROOM;
        let fits = |row: &VariableRow| {
            let size = row.name.len() + row.value.len() + row.kind.as_ref().map_or(0, String::len) + 120;
            let had_room = room > 0;
            room = room.saturating_sub(size);
            had_room
        };
        let rows = variables.iter().take(count as usize).map(|variable| session.row(variable, length));
        let rows: Vec<VariableRow> = rows.take_while(fits).collect();
        let more = known.map_or(got - rows.len() as i64, |known| known - start - rows.len() as i64).max(0);
        Ok(Success::new(VariablesBody { variables: rows, more: (more > 0).then_some(more) }))
    }

    async fn evaluate_expression(
        &self,
        _: &ToolContext,
        input: EvaluateInput,
    ) -> Result<Success<EvaluationBody>> {
        let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_ref()).await?;
        session.stopped()?;
        let context = input.context.as_deref().unwrap_or("watch");
        if !["watch", "repl", "hover", "clipboard"].contains(&context) {
            return Err(Error::parameter(format!(
                "`{context}` is none of `watch`, `repl`, `hover`, `clipboard`"
            )));
        }
        let value = session.evaluate(&input.expression, Some(frame), context).await?;
        let length = input.value_length.unwrap_or(2000).min(LONGEST_VALUE);
        let variables_reference = self.debugger.reference(VariablesRef {
            session: session.id.clone(),
            adapter_ref: value.adapter_ref,
            scope_of: None,
            indexed: value.indexed,
            named: value.named,
        });
        Ok(Success::new(EvaluationBody {
            result: shortened(&value.value, length),
            kind: value.kind,
            variables_reference,
        }))
    }

    async fn set_variable(
        &self,
        _: &ToolContext,
        input: SetVariableInput,
    ) -> Result<Success<SetVariableBody>> {
        let set = if let Some(id) = input.variables_reference {
            let (session, reference) = self.debugger.variables(id)?;
            session.stopped()?;
            session.set_variable(reference.adapter_ref, reference.scope_of, &input.name, &input.value).await?
        } else {
            let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_ref()).await?;
            session.stopped()?;
            session.set_local(frame, &input.name, &input.value).await?
        };
        Ok(Success::new(SetVariableBody { value: shortened(&set.value, VALUE), kind: set.kind }))
    }

    async fn get_threads(&self, _: &ToolContext, input: ThreadsInput) -> Result<Success<ThreadsBody>> {
        let session = self.debugger.session_to_resume(input.session_id.as_ref())?;
        let threads = session
            .threads()
            .await?
            .into_iter()
            .map(|thread| ThreadRow { thread_id: thread.id, name: shortened(&thread.name, 100) })
            .collect();
        let stopped = session.stop().and_then(|stop| stop.thread);
        Ok(Success::new(ThreadsBody { session_id: session.id.clone(), stopped_thread_id: stopped, threads }))
    }

    async fn get_call_stack(&self, _: &ToolContext, input: CallStackInput) -> Result<Success<CallStackBody>> {
        let session = self.debugger.session_to_resume(input.session_id.as_ref())?;
        let stop = session.stopped()?;
        if let Some(thread) = input.thread_id {
            session.check_thread(thread).await?;
        }
        let thread = match input.thread_id.or(stop.thread) {
            Some(thread) => thread,
            None => session.top_frame_thread().await?,
        };
        let start = input.start.unwrap_or_default().max(0);
        let most = if input.source == Some(true) { 40 } else { 200 };
        let count = input.count.unwrap_or(20).clamp(1, most);
        let (frames, total) = self.debugger.call_stack(&session, thread, start, count).await?;
        let with_source = input.source == Some(true);
        let call_stack = frames
            .into_iter()
            .map(|(row, frame)| StackRow {
                source_context: (with_source && is_own(&frame, self.workspace.root()))
                    .then(|| SourceContext::of(&frame)),
                frame: row,
            })
            .collect();
        Ok(Success::new(CallStackBody {
            session_id: session.id.clone(),
            thread_id: thread,
            call_stack,
            total_frames: total,
        }))
    }

    async fn get_output(&self, _: &ToolContext, input: OutputInput) -> Result<Success<OutputBody>> {
        let session = self.debugger.session_in_tree(input.session_id.as_ref())?;
        let mut text = String::new();
        let mut end = 0;
        let mut gone = 0;
        // What a child prints may be told by its parent.
        for session in self.debugger.tree(&session) {
            let (pieces, lost, position) = session.output_since(input.since.unwrap_or_default());
            text.extend(pieces.iter().map(|piece| piece.text.as_str()));
            end = end.max(position);
            gone += lost;
        }
        let text = without_escapes(&text);
        let limit = input.limit.unwrap_or(OUTPUT).min(MOST_OUTPUT);
        let cut = text.len().saturating_sub(limit);
        let cut = (cut..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        let left_out = cut as u64 + gone;
        Ok(Success::new(OutputBody {
            session_id: session.id.clone(),
            output: text[cut..].to_owned(),
            position: end,
            left_out: (left_out > 0).then_some(left_out),
        }))
    }

    async fn send_input(&self, _: &ToolContext, input: SendInputInput) -> Result<Success<SessionBody>> {
        let session = self.debugger.session_in_tree(input.session_id.as_ref())?;
        let tree = self.debugger.tree(&session);
        let session = tree.into_iter().find(|session| session.takes_input()).unwrap_or(session);
        session.send_input(&input.text).await?;
        Ok(Success::new(SessionBody { session_id: session.id.clone() }))
    }
}
