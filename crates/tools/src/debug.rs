//! The debugger's tools: start a program, stop it, look, change, compare. One desk holds the sessions of a workspace.

// Every tool is called in one way, also those that need neither the desk nor a wait.
#![allow(clippy::unused_async, clippy::unused_self, reason = "the methods behind the tools have one form")]

mod answer;
mod breakpoints;
mod desk;
mod looking;
mod memory;
mod probing;
mod running;
mod starting;
mod tracing;

use std::sync::Arc;

use stepwell_tool_runtime::DynTool;

pub use desk::{DebugDesk, DebugOptions};

/// Declares a tool whose work a method of the desk does: its type, its name, its input, its risk, the method.
macro_rules! debug_tool {
    ($tool:ident, $name:literal, $aliases:expr, $input:ty, $risk:expr, $run:ident, $preview:ident) => {
        pub struct $tool(pub Arc<DebugDesk>);

        #[async_trait::async_trait]
        impl stepwell_tool_runtime::Tool for $tool {
            type Input = $input;
            type Output = crate::debug::answer::Answer;

            fn spec(&self) -> stepwell_tool_runtime::ToolSpec {
                stepwell_tool_runtime::ToolSpec {
                    name: $name,
                    aliases: $aliases,
                    category: stepwell_tool_runtime::Category::Debug,
                    risk: $risk,
                    time_limit: crate::debug::desk::LONGEST_CALL,
                    output_limit: crate::debug::desk::OUTPUT_LIMIT,
                }
            }

            async fn preview(
                &self,
                _ctx: &stepwell_tool_runtime::ToolContext,
                input: &Self::Input,
            ) -> stepwell_protocol::Preview {
                self.0.$preview($name, input)
            }

            async fn run(
                &self,
                ctx: &stepwell_tool_runtime::ToolContext,
                input: Self::Input,
            ) -> Result<Self::Output, stepwell_tool_runtime::ToolError> {
                self.0.$run(ctx, input).await.map_err(crate::debug::answer::failed)
            }
        }
    };
}
pub(crate) use debug_tool;

/// All of the debugger's tools.
pub fn tools(desk: &Arc<DebugDesk>) -> Vec<Arc<dyn DynTool>> {
    let desk = || Arc::clone(desk);
    vec![
        Arc::new(breakpoints::GetBreakpoints(desk())),
        Arc::new(breakpoints::RemoveBreakpoint(desk())),
        Arc::new(breakpoints::SetBreakpoint(desk())),
        Arc::new(breakpoints::SetExceptionBreakpoints(desk())),
        Arc::new(breakpoints::SetFunctionBreakpoint(desk())),
        Arc::new(looking::EvaluateExpression(desk())),
        Arc::new(looking::GetCallStack(desk())),
        Arc::new(looking::GetOutput(desk())),
        Arc::new(looking::GetScopes(desk())),
        Arc::new(looking::GetThreads(desk())),
        Arc::new(looking::GetVariables(desk())),
        Arc::new(looking::SendInput(desk())),
        Arc::new(looking::SetVariable(desk())),
        Arc::new(memory::Disassemble(desk())),
        Arc::new(memory::ReadMemory(desk())),
        Arc::new(memory::SetDataBreakpoint(desk())),
        Arc::new(probing::DebugCompare(desk())),
        Arc::new(probing::DebugTracepoints(desk())),
        Arc::new(running::ContinueDebugging(desk())),
        Arc::new(running::ListSessions(desk())),
        Arc::new(running::PauseDebugging(desk())),
        Arc::new(running::RunToLocation(desk())),
        Arc::new(running::StepExecution(desk())),
        Arc::new(running::StopDebugging(desk())),
        Arc::new(running::WaitForStop(desk())),
        Arc::new(starting::GetDebuggerConfigurations(desk())),
        Arc::new(starting::RestartDebugging(desk())),
        Arc::new(starting::StartDebugging(desk())),
        Arc::new(tracing::DebugFailure(desk())),
        Arc::new(tracing::DebugTrace(desk())),
        Arc::new(tracing::DebugWatch(desk())),
    ]
}
