//! `set_data_breakpoint`: stops when a variable is written or read.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::Result;
use stepwell_debug::ids::{FrameId, SessionId};
use stepwell_debug::session::Access;
use stepwell_protocol::Risk;
use stepwell_tool_runtime::ToolContext;

use super::answer::Success;
use super::debug_tool;
use super::service::DebugService;

/// Stops the program when a variable or field is written or read (C, C++, Rust).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SetDataBreakpointInput {
    /// The variable or field; without it, those that are set are listed.
    expression: Option<String>,
    /// `write` by default.
    access: Option<AccessInput>,
    /// Takes all data breakpoints away first.
    clear: Option<bool>,
    frame_id: Option<FrameId>,
    session_id: Option<SessionId>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AccessInput {
    Write,
    Read,
    ReadWrite,
}

debug_tool!(
    SetDataBreakpoint,
    "set_data_breakpoint",
    &[],
    SetDataBreakpointInput => Success<DataBreakpointsBody>,
    Risk::Execute,
    set_data_breakpoint,
    plain_preview
);

/// The data breakpoints of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DataBreakpointsBody {
    session_id: SessionId,
    data_breakpoints: Vec<DataBreakpointRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DataBreakpointRow {
    expression: String,
    /// `write`, `read` or `readWrite`.
    access: &'static str,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl DebugService {
    async fn set_data_breakpoint(
        &self,
        _: &ToolContext,
        input: SetDataBreakpointInput,
    ) -> Result<Success<DataBreakpointsBody>> {
        let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_ref()).await?;
        session.stopped()?;
        if input.clear == Some(true) {
            session.clear_data_breakpoints().await?;
        }
        if let Some(expression) = &input.expression {
            let access = match input.access {
                None | Some(AccessInput::Write) => Access::Write,
                Some(AccessInput::Read) => Access::Read,
                Some(AccessInput::ReadWrite) => Access::ReadWrite,
            };
            session.set_data_breakpoint(frame, expression, access).await?;
        }
        let data_breakpoints = session
            .data_breakpoints()
            .into_iter()
            .map(|breakpoint| DataBreakpointRow {
                expression: breakpoint.expression,
                access: breakpoint.access.name(),
                verified: breakpoint.verified,
                message: breakpoint.message,
            })
            .collect();
        Ok(Success::new(DataBreakpointsBody { session_id: session.id.clone(), data_breakpoints }))
    }
}
