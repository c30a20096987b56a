//! Answers of the debugger's tools: JSON objects that always have a `status`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use stepwell_debug::Error;
use stepwell_debug::ids::SessionId;
use stepwell_debug::session::Phase;
use stepwell_debug::stop_report::StopEventData;
use stepwell_protocol::{ErrorClass, FrameSummary, StopSummary, ToolDetail, VariableSummary};
use stepwell_tool_runtime::{ToolError, ToolOutput};

/// The answer of a debugger tool.
pub trait DebugAnswer: Serialize + JsonSchema + Send + 'static {
    /// The stop it reports, where it reports one.
    fn stop(&self) -> Option<&StopEventData> {
        None
    }

    /// What a person is shown of it.
    fn shown(&self) -> Option<ToolDetail> {
        self.stop().map(|stop| ToolDetail::Stop { stop: stop_summary(stop) })
    }
}

/// Gives an answer to the model as compact JSON: models pay for every space.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct JsonOutput<T>(pub T);

impl<T: DebugAnswer> ToolOutput for JsonOutput<T> {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Owned(serde_json::to_string(&self.0).unwrap_or_default())
    }

    fn detail(&self) -> Option<ToolDetail> {
        self.0.shown()
    }
}

/// A stop as front ends show it.
pub(super) fn stop_summary(stop: &StopEventData) -> StopSummary {
    let line = |line: Option<i64>| line.and_then(|line| u32::try_from(line).ok());
    let variables = stop.top_frame_variables.iter().flat_map(|variables| &variables.variables);
    StopSummary {
        session_id: stop.session_id.to_string(),
        reason: stop.reason.to_string(),
        description: stop.description.clone().or_else(|| stop.text.clone()),
        thread_id: Some(stop.thread_id.0),
        file: stop.source.as_ref().map(|source| source.path.clone()),
        line: line(stop.line),
        frames: stop
            .call_stack
            .iter()
            .map(|frame| FrameSummary {
                name: frame.function_name.clone(),
                file: Some(frame.file_path.clone()).filter(|path| !path.is_empty()),
                line: line(Some(frame.line_number)),
            })
            .collect(),
        variables: variables
            .map(|variable| VariableSummary {
                name: variable.name.clone(),
                value: variable.value.clone(),
                type_name: variable.kind.clone(),
            })
            .collect(),
    }
}

/// The answer of a call that did what was asked: `status` is `success`, the other fields are those of the body.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Success<T> {
    status: SuccessStatus,
    #[serde(flatten)]
    body: T,
    #[serde(skip)]
    shown: Option<ToolDetail>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SuccessStatus {
    Success,
}

impl<T> Success<T> {
    pub fn new(body: T) -> Self {
        Self { status: SuccessStatus::Success, body, shown: None }
    }

    /// The same, with what a person is shown.
    pub fn showing(self, detail: ToolDetail) -> Self {
        Self { shown: Some(detail), ..self }
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> DebugAnswer for Success<T> {
    fn shown(&self) -> Option<ToolDetail> {
        self.shown.clone()
    }
}

/// The answer of a call that let the program run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunAnswer {
    #[serde(flatten)]
    pub outcome: RunOutcome,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Cow<'static, str>>,
}

impl DebugAnswer for RunAnswer {
    fn stop(&self) -> Option<&StopEventData> {
        match &self.outcome {
            RunOutcome::Stopped { stop_event_data, .. } => Some(stop_event_data),
            RunOutcome::Completed { .. } | RunOutcome::Timeout { .. } | RunOutcome::Interrupted { .. } => {
                None
            }
        }
    }
}

/// How a run went on.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum RunOutcome {
    /// The program stopped.
    Stopped { session_id: SessionId, stop_event_data: Box<StopEventData> },
    /// The program ended.
    Completed {
        session_id: SessionId,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        /// What it printed since the last answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        new_output: Option<String>,
    },
    /// The program neither stopped nor ended in time and is still running.
    Timeout {
        session_id: SessionId,
        message: Cow<'static, str>,
        state: Phase,
        /// What it printed since the last answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        new_output: Option<String>,
    },
    /// The call was cancelled; the program is still running.
    Interrupted { session_id: SessionId, message: Cow<'static, str>, state: Phase },
}

/// The body of an answer that only says what was done.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageBody {
    pub message: String,
}

/// Turns a failure into an answer of the same form, so that programs read every answer alike.
pub fn failed(error: Error) -> ToolError {
    let class = match &error {
        Error::Parameter { .. } | Error::Expired { .. } | Error::NoSession { .. } | Error::NoSessionAtAll => {
            ErrorClass::ParameterError
        }
        _ => ErrorClass::ExecutionError,
    };
    let mut answer = json!({ "status": "error", "message": error.to_string() });
    if let Some(hint) = error.hint() {
        answer["hint"] = hint.into();
    }
    ToolError::new(class, answer.to_string())
}
