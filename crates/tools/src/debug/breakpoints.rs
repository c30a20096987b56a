//! `set_breakpoint`, `remove_breakpoint`, `get_breakpoints`, and those on functions and exceptions.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::breakpoints::NewBreakpoint;
use stepwell_debug::ids::{BreakpointId, SessionId};
use stepwell_debug::{Error, Result, clock};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::ToolContext;

use super::answer::Success;
use super::debug_tool;
use super::service::{BreakpointRow, DebugService};

/// Sets a breakpoint, now or for the next session. Replaces one at the same place.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SetBreakpointInput {
    #[schemars(extend("x-aliases" = ["path", "file"]))]
    file_path: String,
    /// From 1.
    #[schemars(extend("x-aliases" = ["line"]))]
    line_number: i64,
    /// From 1.
    column_number: Option<i64>,
    /// Stops only where this expression of the program's language is true.
    condition: Option<String>,
    /// Stops at these hits: `3`, `> 5`, `% 2 == 0`.
    hit_condition: Option<String>,
    /// Prints this instead of stopping; `{expr}` is replaced by its value.
    log_message: Option<String>,
}

/// Removes breakpoints: one of `breakpoint_id`, `location`, `clear_all`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct RemoveBreakpointInput {
    breakpoint_id: Option<BreakpointId>,
    location: Option<Location>,
    clear_all: Option<bool>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Location {
    #[schemars(extend("x-aliases" = ["path", "file"]))]
    file_path: String,
    #[schemars(extend("x-aliases" = ["line"]))]
    line_number: i64,
}

/// Lists all breakpoints and whether each is bound.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct GetBreakpointsInput {}

/// Stops when a function is entered.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SetFunctionBreakpointInput {
    function_name: String,
    condition: Option<String>,
    hit_condition: Option<String>,
}

/// Chooses which exceptions stop the program. Without filters it lists those the debugger has.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SetExceptionBreakpointsInput {
    /// Such as `raised`, `uncaught`; an empty list for none.
    filters: Option<Vec<String>>,
    session_id: Option<SessionId>,
}

debug_tool!(
    SetBreakpoint,
    "set_breakpoint",
    &[],
    SetBreakpointInput => Success<SetBreakpointBody>,
    Risk::Execute,
    set_breakpoint,
    preview_set
);
debug_tool!(
    RemoveBreakpoint,
    "remove_breakpoint",
    &[],
    RemoveBreakpointInput => Success<RemovedBody>,
    Risk::Execute,
    remove_breakpoint,
    plain_preview
);
debug_tool!(
    GetBreakpoints,
    "get_breakpoints",
    &[],
    GetBreakpointsInput => Success<BreakpointsBody>,
    Risk::Read,
    get_breakpoints,
    plain_preview
);
debug_tool!(
    SetFunctionBreakpoint,
    "set_function_breakpoint",
    &[],
    SetFunctionBreakpointInput => Success<FunctionBreakpointBody>,
    Risk::Execute,
    set_function_breakpoint,
    preview_function
);
debug_tool!(
    SetExceptionBreakpoints,
    "set_exception_breakpoints",
    &[],
    SetExceptionBreakpointsInput => Success<ExceptionBreakpointsBody>,
    Risk::Execute,
    set_exception_breakpoints,
    plain_preview
);

/// The breakpoint that was set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetBreakpointBody {
    breakpoint: TimedBreakpoint,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TimedBreakpoint {
    #[serde(flatten)]
    row: BreakpointRow,
    /// When it was set.
    timestamp: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RemovedBody {
    /// How many were removed.
    removed: usize,
}

/// All breakpoints of the workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BreakpointsBody {
    timestamp: String,
    breakpoints: Vec<BreakpointRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    function_breakpoints: Vec<FunctionRow>,
}

/// The function breakpoint that was set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FunctionBreakpointBody {
    breakpoint: FunctionRow,
}

/// The exception filters in force, and those the adapter has.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExceptionBreakpointsBody {
    filters: Vec<String>,
    available: Vec<FilterRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FilterRow {
    filter: String,
    label: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FunctionRow {
    id: BreakpointId,
    function_name: String,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl DebugService {
    /// A condition and a message run code of the caller's in the program.
    fn preview_set(&self, _: &str, input: &SetBreakpointInput) -> Preview {
        let place = format!("{}:{}", input.file_path, input.line_number);
        let code = [&input.condition, &input.log_message]
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join("; ");
        Preview {
            summary: format!("Set a breakpoint at {place}"),
            warnings: runs_code(&code),
            ..Preview::default()
        }
    }

    fn preview_function(&self, _: &str, input: &SetFunctionBreakpointInput) -> Preview {
        let code = input.condition.clone().unwrap_or_default();
        Preview {
            summary: format!("Set a breakpoint at the function {}", input.function_name),
            warnings: runs_code(&code),
            ..Preview::default()
        }
    }

    async fn set_breakpoint(
        &self,
        _: &ToolContext,
        input: SetBreakpointInput,
    ) -> Result<Success<SetBreakpointBody>> {
        if let Some(column) = input.column_number.filter(|column| *column < 1) {
            return Err(Error::parameter(format!("columns count from 1; there is no column {column}")));
        }
        let new = NewBreakpoint {
            path: self.file(&input.file_path)?,
            line: input.line_number,
            column: input.column_number,
            condition: input.condition,
            hit_condition: input.hit_condition,
            log_message: input.log_message,
        };
        let (breakpoint, binding) = self.debugger.set_breakpoint(new).await?;
        let row = BreakpointRow::of(breakpoint, binding);
        let breakpoint = TimedBreakpoint { row, timestamp: clock::iso(clock::now_millis()) };
        Ok(Success::new(SetBreakpointBody { breakpoint }))
    }

    async fn remove_breakpoint(
        &self,
        _: &ToolContext,
        input: RemoveBreakpointInput,
    ) -> Result<Success<RemovedBody>> {
        let chosen = usize::from(input.breakpoint_id.is_some())
            + usize::from(input.location.is_some())
            + usize::from(input.clear_all == Some(true));
        if chosen != 1 {
            return Err(Error::parameter("give exactly one of `breakpoint_id`, `location` and `clear_all`"));
        }
        let removed = if let Some(id) = input.breakpoint_id {
            self.debugger.remove_breakpoint(id).await.ok_or_else(|| Error::Parameter {
                what: format!("there is no breakpoint {id}"),
                hint: Some("`get_breakpoints` lists them".to_owned()),
            })?;
            1
        } else if let Some(location) = input.location {
            let path = self.file(&location.file_path)?;
            let found = self.debugger.breakpoints().at(&path, location.line_number);
            if found.is_empty() {
                return Err(Error::Parameter {
                    what: format!(
                        "there is no breakpoint at {}:{}",
                        location.file_path, location.line_number
                    ),
                    hint: Some("`get_breakpoints` lists them".to_owned()),
                });
            }
            for breakpoint in &found {
                self.debugger.remove_breakpoint(breakpoint.id).await;
            }
            found.len()
        } else {
            self.debugger.clear_breakpoints().await
        };
        Ok(Success::new(RemovedBody { removed }))
    }

    async fn get_breakpoints(
        &self,
        _: &ToolContext,
        _: GetBreakpointsInput,
    ) -> Result<Success<BreakpointsBody>> {
        let store = self.debugger.breakpoints();
        let breakpoints = store
            .lines()
            .into_iter()
            .map(|breakpoint| {
                let binding = self.debugger.binding_of(breakpoint.id);
                BreakpointRow::of(breakpoint, binding)
            })
            .collect();
        let function_breakpoints = store
            .functions()
            .into_iter()
            .map(|breakpoint| {
                let binding = self.debugger.binding_of(breakpoint.id);
                FunctionRow {
                    id: breakpoint.id,
                    function_name: breakpoint.name,
                    verified: binding.as_ref().is_some_and(|binding| binding.verified),
                    message: binding.and_then(|binding| binding.message),
                }
            })
            .collect();
        Ok(Success::new(BreakpointsBody {
            timestamp: clock::iso(clock::now_millis()),
            breakpoints,
            function_breakpoints,
        }))
    }

    async fn set_function_breakpoint(
        &self,
        _: &ToolContext,
        input: SetFunctionBreakpointInput,
    ) -> Result<Success<FunctionBreakpointBody>> {
        let able = self.debugger.sessions().into_iter().filter(|session| !session.phase().is_over());
        if let Some(unable) = able
            .into_iter()
            .find(|session| !session.can("supportsFunctionBreakpoints") && session.parent.is_none())
        {
            return Err(Error::Unable {
                adapter: unable.adapter.kind().name().to_owned(),
                what: "stop at functions by name".to_owned(),
                hint: Some("set a breakpoint at the function's first line".to_owned()),
            });
        }
        let (breakpoint, binding) = self
            .debugger
            .set_function_breakpoint(&input.function_name, input.condition, input.hit_condition)
            .await?;
        let row = FunctionRow {
            id: breakpoint.id,
            function_name: breakpoint.name,
            verified: binding.as_ref().is_some_and(|binding| binding.verified),
            message: match binding {
                Some(binding) => binding.message,
                None => Some("it will be set when a session starts".to_owned()),
            },
        };
        Ok(Success::new(FunctionBreakpointBody { breakpoint: row }))
    }

    async fn set_exception_breakpoints(
        &self,
        _: &ToolContext,
        input: SetExceptionBreakpointsInput,
    ) -> Result<Success<ExceptionBreakpointsBody>> {
        let session = self.debugger.session_to_resume(input.session_id.as_ref())?;
        if let Some(filters) = input.filters {
            session.set_exception_filters(filters, Vec::new()).await?;
        }
        let available = session
            .capabilities()
            .exception_breakpoint_filters
            .into_iter()
            .map(|filter| FilterRow { filter: filter.filter, label: filter.label })
            .collect();
        Ok(Success::new(ExceptionBreakpointsBody { filters: session.exception_filters(), available }))
    }
}

/// Warns where a call runs code in the program.
fn runs_code(code: &str) -> Vec<String> {
    if code.trim().is_empty() { Vec::new() } else { vec![format!("runs in the program: {code}")] }
}
