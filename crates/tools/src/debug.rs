//! The debugger's tools: start a program, stop it, look, change, compare. One service holds the sessions of a workspace.

// Every tool is called in one way, also those that need neither the service nor a wait.
#![allow(clippy::unused_async, clippy::unused_self, reason = "the methods behind the tools have one form")]

mod answer;
mod breakpoints;
mod looking;
mod memory;
mod probing;
mod running;
mod service;
mod starting;
mod tracing;

use std::sync::Arc;

use stepwell_tool_runtime::DynTool;

pub use service::{DebugOptions, DebugService};

/// Declares a tool whose work a method of the service does: its type, its name, its input, its risk, the method.
macro_rules! debug_tool {
    ($tool:ident, $name:literal, $aliases:expr, $input:ty, $risk:expr, $run:ident, $preview:ident) => {
        pub struct $tool(pub Arc<DebugService>);

        #[async_trait::async_trait]
        impl stepwell_tool_runtime::Tool for $tool {
            type Input = $input;
            type Plan = $input;
            type Output = crate::debug::answer::Answer;

            fn spec(&self) -> stepwell_tool_runtime::ToolSpec {
                stepwell_tool_runtime::ToolSpec {
                    name: $name,
                    aliases: $aliases,
                    category: stepwell_tool_runtime::Category::Debug,
                    risk: $risk,
                    time_limit: crate::debug::service::LONGEST_CALL,
                    output_limit: crate::debug::service::OUTPUT_LIMIT,
                }
            }

            async fn plan(
                &self,
                _ctx: &stepwell_tool_runtime::ToolContext,
                input: Self::Input,
            ) -> stepwell_tool_runtime::Planned<Self::Plan> {
                stepwell_tool_runtime::Planned::ready(self.0.$preview($name, &input), input)
            }

            fn guidance(&self) -> Option<&'static str> {
                Some(crate::debug::GUIDANCE)
            }

            async fn run(
                &self,
                ctx: &stepwell_tool_runtime::ToolContext,
                input: Self::Plan,
            ) -> Result<Self::Output, stepwell_tool_runtime::ToolError> {
                self.0.$run(ctx, input).await.map_err(crate::debug::answer::failed)
            }
        }
    };
}
pub(crate) use debug_tool;

/// What a model is told about finding out why a program fails.
pub(crate) const GUIDANCE: &str = "# Finding out why\n\
- A failure that the code does not plainly explain is looked at, not guessed: `debug_failure` runs the failing command \
under its debugger and tells where and with which values it failed.\n\
- Then one hypothesis at a time: say what it predicts, probe it (`debug_trace` for a call, `debug_watch` for who writes a \
value, `debug_tracepoints` and `debug_compare` for values over runs), and drop it when the evidence speaks against it.\n\
- Change the code for what you saw, run the failing command again, and give the values as proof.";

/// All of the debugger's tools.
pub fn tools(service: &Arc<DebugService>) -> Vec<Arc<dyn DynTool>> {
    let service = || Arc::clone(service);
    vec![
        Arc::new(breakpoints::GetBreakpoints(service())),
        Arc::new(breakpoints::RemoveBreakpoint(service())),
        Arc::new(breakpoints::SetBreakpoint(service())),
        Arc::new(breakpoints::SetExceptionBreakpoints(service())),
        Arc::new(breakpoints::SetFunctionBreakpoint(service())),
        Arc::new(looking::EvaluateExpression(service())),
        Arc::new(looking::GetCallStack(service())),
        Arc::new(looking::GetOutput(service())),
        Arc::new(looking::GetScopes(service())),
        Arc::new(looking::GetThreads(service())),
        Arc::new(looking::GetVariables(service())),
        Arc::new(looking::SendInput(service())),
        Arc::new(looking::SetVariable(service())),
        Arc::new(memory::Disassemble(service())),
        Arc::new(memory::ReadMemory(service())),
        Arc::new(memory::SetDataBreakpoint(service())),
        Arc::new(probing::DebugCompare(service())),
        Arc::new(probing::DebugTracepoints(service())),
        Arc::new(running::ContinueDebugging(service())),
        Arc::new(running::ListSessions(service())),
        Arc::new(running::PauseDebugging(service())),
        Arc::new(running::RunToLocation(service())),
        Arc::new(running::StepExecution(service())),
        Arc::new(running::StopDebugging(service())),
        Arc::new(running::WaitForStop(service())),
        Arc::new(starting::GetDebuggerConfigurations(service())),
        Arc::new(starting::RestartDebugging(service())),
        Arc::new(starting::StartDebugging(service())),
        Arc::new(tracing::DebugFailure(service())),
        Arc::new(tracing::DebugTrace(service())),
        Arc::new(tracing::DebugWatch(service())),
    ]
}
