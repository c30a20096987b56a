//! Looking into a stopped program: scopes, variables, expressions, threads, the stack, its output.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use stepwell_debug::ids::VariablesRef;
use stepwell_debug::session::Paging;
use stepwell_debug::stop_report::{is_own, source_context};
use stepwell_debug::values::{shortened, without_escapes};
use stepwell_debug::{Error, Result};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::ToolContext;

use super::answer::Answer;
use super::debug_tool;
use super::service::DebugService;

/// Bytes of a value that are shown unless more are asked for.
const VALUE: usize = 200;
const LONGEST_VALUE: usize = 16 * 1024;
/// Rows of an answer.
const ROWS: i64 = 50;
const MOST_ROWS: i64 = 500;
const OUTPUT: usize = 4000;
const MOST_OUTPUT: usize = 32 * 1024;

/// Lists the scopes of a frame.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ScopesInput {
    /// From `stop_event_data.call_stack`.
    frame_id: i64,
}

/// Lists what is in a scope or a value.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct VariablesInput {
    variables_reference: i64,
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
    frame_id: Option<i64>,
    /// `watch` (default), `repl`, `hover` or `clipboard`.
    context: Option<String>,
    session_id: Option<String>,
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
    variables_reference: Option<i64>,
    frame_id: Option<i64>,
    session_id: Option<String>,
}

/// Lists the threads of a program.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ThreadsInput {
    session_id: Option<String>,
}

/// Shows the stack of a thread, library frames included.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct CallStackInput {
    session_id: Option<String>,
    thread_id: Option<i64>,
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
    session_id: Option<String>,
    /// A position of an earlier answer; the beginning by default.
    since: Option<u64>,
    /// Bytes at most, the last ones; 4000 by default.
    limit: Option<usize>,
}

/// Types into the program's terminal (configurations with `"console": "integratedTerminal"`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SendInputInput {
    /// Sent as it is; end it with a line feed.
    text: String,
    session_id: Option<String>,
}

debug_tool!(GetScopes, "get_scopes", &[], ScopesInput, Risk::Read, get_scopes, plain_preview);
debug_tool!(GetVariables, "get_variables", &[], VariablesInput, Risk::Read, get_variables, plain_preview);
debug_tool!(
    EvaluateExpression,
    "evaluate_expression",
    &[],
    EvaluateInput,
    Risk::Execute,
    evaluate_expression,
    preview_evaluate
);
debug_tool!(
    SetVariable,
    "set_variable",
    &[],
    SetVariableInput,
    Risk::Execute,
    set_variable,
    preview_set_variable
);
debug_tool!(GetThreads, "get_threads", &[], ThreadsInput, Risk::Read, get_threads, plain_preview);
debug_tool!(GetCallStack, "get_call_stack", &[], CallStackInput, Risk::Read, get_call_stack, plain_preview);
debug_tool!(GetOutput, "get_output", &[], OutputInput, Risk::Read, get_output, plain_preview);
debug_tool!(SendInput, "send_input", &[], SendInputInput, Risk::Execute, send_input, preview_send);

#[derive(Serialize)]
struct ScopeRow {
    name: String,
    variables_reference: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    named_variables: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    indexed_variables: Option<i64>,
    expensive: bool,
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

    async fn get_scopes(&self, _: &ToolContext, input: ScopesInput) -> Result<Answer> {
        let (session, frame) = self.debugger.frame(input.frame_id)?;
        session.stopped()?;
        let scopes = session.scopes(frame.adapter_id).await?;
        let rows: Vec<ScopeRow> = scopes
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
        Ok(Answer::success().with("scopes", rows))
    }

    async fn get_variables(&self, _: &ToolContext, input: VariablesInput) -> Result<Answer> {
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
        let rows: Vec<_> =
            variables.iter().take(count as usize).map(|variable| session.row(variable, length)).collect();
        let more = known.map_or(got - rows.len() as i64, |known| known - start - rows.len() as i64).max(0);
        Ok(Answer::success().with("variables", rows).maybe("more", (more > 0).then_some(more)))
    }

    async fn evaluate_expression(&self, _: &ToolContext, input: EvaluateInput) -> Result<Answer> {
        let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_deref()).await?;
        session.stopped()?;
        let context = input.context.as_deref().unwrap_or("watch");
        if !["watch", "repl", "hover", "clipboard"].contains(&context) {
            return Err(Error::parameter(format!(
                "`{context}` is none of `watch`, `repl`, `hover`, `clipboard`"
            )));
        }
        let value = session.evaluate(&input.expression, Some(frame), context).await?;
        let length = input.value_length.unwrap_or(2000).min(LONGEST_VALUE);
        let reference = self.debugger.reference(VariablesRef {
            session: session.id.clone(),
            adapter_ref: value.adapter_ref,
            scope_of: None,
            indexed: value.indexed,
            named: value.named,
        });
        Ok(Answer::success()
            .with("result", shortened(&value.value, length))
            .maybe("type", value.kind)
            .with("variables_reference", reference))
    }

    async fn set_variable(&self, _: &ToolContext, input: SetVariableInput) -> Result<Answer> {
        let set = if let Some(id) = input.variables_reference {
            let (session, reference) = self.debugger.variables(id)?;
            session.stopped()?;
            session.set_variable(reference.adapter_ref, reference.scope_of, &input.name, &input.value).await?
        } else {
            let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_deref()).await?;
            session.stopped()?;
            session.set_local(frame, &input.name, &input.value).await?
        };
        Ok(Answer::success().with("value", shortened(&set.value, VALUE)).maybe("type", set.kind))
    }

    async fn get_threads(&self, _: &ToolContext, input: ThreadsInput) -> Result<Answer> {
        let session = self.debugger.session_to_resume(input.session_id.as_deref())?;
        let threads: Vec<_> = session
            .threads()
            .await?
            .into_iter()
            .map(|thread| json!({ "thread_id": thread.id, "name": shortened(&thread.name, 100) }))
            .collect();
        let stopped = session.stop().and_then(|stop| stop.thread);
        Ok(Answer::success()
            .with("session_id", &session.id)
            .maybe("stopped_thread_id", stopped)
            .with("threads", threads))
    }

    async fn get_call_stack(&self, _: &ToolContext, input: CallStackInput) -> Result<Answer> {
        let session = self.debugger.session_to_resume(input.session_id.as_deref())?;
        let stop = session.stopped()?;
        let thread = match input.thread_id.or(stop.thread) {
            Some(thread) => thread,
            None => session.top_frame_thread().await?,
        };
        let start = input.start.unwrap_or_default().max(0);
        let count = input.count.unwrap_or(20).clamp(1, 200);
        let (frames, total) = self.debugger.call_stack(&session, thread, start, count).await?;
        let rows: Vec<_> = frames
            .iter()
            .map(|(row, frame)| {
                let mut row = json!(row);
                if input.source == Some(true) && is_own(frame, self.workspace.root()) {
                    row["source_context"] = json!(source_context(frame, 2));
                }
                row
            })
            .collect();
        Ok(Answer::success()
            .with("session_id", &session.id)
            .with("thread_id", thread)
            .with("call_stack", rows)
            .maybe("total_frames", total))
    }

    async fn get_output(&self, _: &ToolContext, input: OutputInput) -> Result<Answer> {
        let session = self.debugger.session_in_tree(input.session_id.as_deref())?;
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
        Ok(Answer::success()
            .with("session_id", &session.id)
            .with("output", &text[cut..])
            .with("position", end)
            .maybe("left_out", (left_out > 0).then_some(left_out)))
    }

    async fn send_input(&self, _: &ToolContext, input: SendInputInput) -> Result<Answer> {
        let session = self.debugger.session_in_tree(input.session_id.as_deref())?;
        for session in self.debugger.tree(&session) {
            if session.takes_input() {
                session.send_input(&input.text).await?;
                return Ok(Answer::success().with("session_id", &session.id));
            }
        }
        session.send_input(&input.text).await?;
        Ok(Answer::success().with("session_id", &session.id))
    }
}
