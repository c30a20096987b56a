//! The protocol's objects, as far as they are used: every number wide, every word open, every field optional that any
//! adapter was seen to leave out.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::ids::{AdapterFrameId, AdapterReference, ThreadId};
use crate::stop_reason::StopReason;

/// The protocol knows some fifty; adapters add a few.
const MOST_CAPABILITIES: usize = 500;

/// What an adapter says it can do. Unknown abilities are kept.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Capabilities {
    pub exception_breakpoint_filters: Vec<ExceptionFilter>,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

impl Capabilities {
    /// `supportsStepBack` and the like; what is not said is not so.
    pub fn has(&self, name: &str) -> bool {
        self.others.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// A later `capabilities` event adds to what was said.
    pub(crate) fn merge(&mut self, other: Self) {
        if !other.exception_breakpoint_filters.is_empty() {
            self.exception_breakpoint_filters = other.exception_breakpoint_filters;
        }
        for (name, value) in other.others {
            if self.others.len() < MOST_CAPABILITIES || self.others.contains_key(&name) {
                self.others.insert(name, value);
            }
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionFilter {
    pub filter: String,
    pub label: String,
    pub description: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub default: bool,
    #[serde(deserialize_with = "or_default")]
    pub supports_condition: bool,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
    pub source_reference: Option<i64>,
    #[serde(skip_serializing)]
    pub presentation_hint: Option<String>,
    #[serde(skip_serializing)]
    pub origin: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackFrame {
    pub id: AdapterFrameId,
    pub name: String,
    pub source: Option<Source>,
    #[serde(deserialize_with = "or_default")]
    pub line: i64,
    #[serde(deserialize_with = "or_default")]
    pub column: i64,
    pub presentation_hint: Option<String>,
    pub instruction_pointer_reference: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackTrace {
    #[serde(deserialize_with = "or_default")]
    pub stack_frames: Vec<StackFrame>,
    pub total_frames: Option<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scope {
    pub name: String,
    pub presentation_hint: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub variables_reference: AdapterReference,
    pub named_variables: Option<i64>,
    pub indexed_variables: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    pub expensive: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Scopes {
    #[serde(deserialize_with = "or_default")]
    pub scopes: Vec<Scope>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Variable {
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub value: String,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub presentation_hint: Option<PresentationHint>,
    pub evaluate_name: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub variables_reference: AdapterReference,
    pub named_variables: Option<i64>,
    pub indexed_variables: Option<i64>,
    pub memory_reference: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PresentationHint {
    pub kind: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub attributes: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub lazy: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Variables {
    #[serde(deserialize_with = "or_default")]
    pub variables: Vec<Variable>,
}

/// The answer of `evaluate`, `setVariable` and `setExpression`: lldb-dap 19 names the first's field in the second's.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Evaluated {
    #[serde(alias = "value", deserialize_with = "or_default")]
    pub result: String,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub variables_reference: AdapterReference,
    pub named_variables: Option<i64>,
    pub indexed_variables: Option<i64>,
    pub memory_reference: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Breakpoint {
    pub id: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    pub verified: bool,
    pub message: Option<String>,
    pub source: Option<Source>,
    pub line: Option<i64>,
    pub column: Option<i64>,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Breakpoints {
    #[serde(deserialize_with = "or_default")]
    pub breakpoints: Vec<Breakpoint>,
}

/// What is asked for at one line.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceBreakpoint {
    pub line: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Thread {
    pub id: ThreadId,
    #[serde(deserialize_with = "or_default")]
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Threads {
    #[serde(deserialize_with = "or_default")]
    pub threads: Vec<Thread>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StoppedEvent {
    #[serde(deserialize_with = "or_default")]
    pub reason: StopReason,
    pub description: Option<String>,
    pub thread_id: Option<ThreadId>,
    pub text: Option<String>,
    pub all_threads_stopped: Option<bool>,
    pub hit_breakpoint_ids: Option<Vec<i64>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ContinuedEvent {
    pub thread_id: Option<ThreadId>,
    pub all_threads_continued: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OutputEvent {
    pub category: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub output: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ExitedEvent {
    #[serde(deserialize_with = "or_default")]
    pub exit_code: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct BreakpointEvent {
    #[serde(deserialize_with = "or_default")]
    pub reason: String,
    pub breakpoint: Breakpoint,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ThreadEvent {
    #[serde(deserialize_with = "or_default")]
    pub reason: String,
    #[serde(deserialize_with = "or_default")]
    pub thread_id: ThreadId,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ProcessEvent {
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    pub system_process_id: Option<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionInfo {
    #[serde(deserialize_with = "or_default")]
    pub exception_id: String,
    pub description: Option<String>,
    pub break_mode: Option<String>,
    pub details: Option<ExceptionDetails>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionDetails {
    pub message: Option<String>,
    pub type_name: Option<String>,
    pub full_type_name: Option<String>,
    pub stack_trace: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub inner_exception: Vec<ExceptionDetails>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DataBreakpointInfo {
    pub data_id: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    pub description: String,
    #[serde(deserialize_with = "or_default")]
    pub access_types: Vec<String>,
}

/// The arguments of `runInTerminal`, which an adapter asks of us.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RunInTerminal {
    #[serde(deserialize_with = "or_default")]
    pub title: String,
    #[serde(deserialize_with = "or_default")]
    pub cwd: String,
    #[serde(deserialize_with = "or_default")]
    pub args: Vec<String>,
    /// A value of `null` removes the variable.
    #[serde(deserialize_with = "or_default")]
    pub env: Map<String, Value>,
}

/// The arguments of `startDebugging`, which an adapter asks of us for a child process.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StartDebugging {
    #[serde(deserialize_with = "or_default")]
    pub configuration: Map<String, Value>,
    #[serde(deserialize_with = "or_default")]
    pub request: String,
}

/// `null` where a value belongs is taken as the value's default.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
