//! The debugger's tools: launch, control, inspect and change programs, trace and compare runs. One service holds the
//! sessions of a workspace.

// Every tool is called in one way, also those that need neither the service nor a wait.
#![allow(clippy::unused_async, clippy::unused_self, reason = "the methods behind the tools have one form")]

mod answer;
mod breakpoints;
mod compare;
mod control;
mod data_breakpoints;
mod failure;
mod function_search;
mod functions;
mod inspect;
mod launch;
mod memory;
mod sandbox;
mod service;
mod shown;
mod sources;
mod started;
mod trace;
mod tracepoints;
mod watch;

use std::sync::Arc;

use stepwell_tool_runtime::DynTool;

pub use functions::SyntaxFunctions;
pub use sandbox::LaunchSandboxes;
pub use service::{DebugOptions, DebugService};

/// What a model needs next once it has called one of the tools that it is shown from the start.
fn brought_by(tool: &str) -> &'static [&'static str] {
    match tool {
        "debug_failure" => &["start_debugging", "set_breakpoint", "debug_trace", "hypothesis"],
        "start_debugging" => &[
            "set_breakpoint",
            "continue_debugging",
            "step_execution",
            "evaluate_expression",
            "get_variables",
            "get_call_stack",
            "stop_debugging",
        ],
        _ => &[],
    }
}

/// Declares a tool whose work a method of the service does: its type, name, aliases, types of input and output, risk, the
/// method that runs it, and the one that previews it. A tool that works something out before it runs names the type of its
/// plan between input and output, and its planning method instead of the preview.
macro_rules! debug_tool {
    ($tool:ident, $name:literal, $aliases:expr, $input:ty => $output:ty, $risk:expr, $run:ident, $preview:ident) => {
        crate::debug::debug_tool!(
            $tool,
            $name,
            $aliases,
            $input => $input => $output,
            $risk,
            $run,
            |service: &DebugService, input: $input| {
                stepwell_tool_runtime::Planned::ready(service.$preview($name, &input), input)
            }
        );
    };
    (
        $tool:ident,
        $name:literal,
        $aliases:expr,
        $input:ty => $plan:ty => $output:ty,
        $risk:expr,
        $run:ident,
        $planned:expr
    ) => {
        pub struct $tool(pub Arc<DebugService>);

        #[async_trait::async_trait]
        impl stepwell_tool_runtime::Tool for $tool {
            type Input = $input;
            type Plan = $plan;
            type Output = crate::debug::answer::JsonOutput<$output>;

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
                ($planned)(&self.0, input)
            }

            fn brings(&self) -> &'static [&'static str] {
                $crate::debug::brought_by($name)
            }

            fn guidance(&self) -> Option<&'static str> {
                Some(crate::debug::GUIDANCE)
            }

            async fn run(
                &self,
                ctx: &stepwell_tool_runtime::ToolContext,
                plan: Self::Plan,
            ) -> Result<Self::Output, stepwell_tool_runtime::ToolError> {
                self.0.check_access(ctx, $name, $risk)?;
                let answer = self.0.$run(ctx, plan).await.map_err(crate::debug::answer::failed);
                self.0.show_sessions(ctx);
                Ok(crate::debug::answer::JsonOutput(answer?))
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
        Arc::new(inspect::EvaluateExpression(service())),
        Arc::new(inspect::GetCallStack(service())),
        Arc::new(inspect::GetOutput(service())),
        Arc::new(inspect::GetScopes(service())),
        Arc::new(inspect::GetThreads(service())),
        Arc::new(inspect::GetVariables(service())),
        Arc::new(inspect::SendInput(service())),
        Arc::new(inspect::SetVariable(service())),
        Arc::new(memory::Disassemble(service())),
        Arc::new(memory::ReadMemory(service())),
        Arc::new(data_breakpoints::SetDataBreakpoint(service())),
        Arc::new(compare::DebugCompare(service())),
        Arc::new(tracepoints::DebugTracepoints(service())),
        Arc::new(control::ContinueDebugging(service())),
        Arc::new(control::ListSessions(service())),
        Arc::new(control::PauseDebugging(service())),
        Arc::new(control::RunToLocation(service())),
        Arc::new(control::StepExecution(service())),
        Arc::new(control::StopDebugging(service())),
        Arc::new(control::WaitForStop(service())),
        Arc::new(launch::GetDebuggerConfigurations(service())),
        Arc::new(launch::RestartDebugging(service())),
        Arc::new(launch::StartDebugging(service())),
        Arc::new(failure::DebugFailure(service())),
        Arc::new(trace::DebugTrace(service())),
        Arc::new(watch::DebugWatch(service())),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;

    /// The fields that a schema names at its root, in any of its alternatives.
    fn fields(schema: &Value) -> BTreeSet<String> {
        let own = schema["properties"].as_object().into_iter().flat_map(|named| named.keys().cloned());
        let inner = ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|key| schema[key].as_array());
        own.chain(inner.flatten().flat_map(fields)).collect()
    }

    #[test]
    fn tools_that_move_or_end_a_program_do_not_only_read() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = stepwell_workspace::Workspace::open(folder.path(), &[]).unwrap();
        let service = DebugService::new(workspace, &DebugOptions::default());
        let classes: std::collections::BTreeMap<String, stepwell_protocol::Risk> =
            serde_json::from_str(include_str!("../../mcp/tests/debugger-classes.json")).unwrap();
        let found = tools(&service).into_iter().map(|tool| (tool.spec().name.to_owned(), tool.spec().risk));
        assert_eq!(found.collect::<std::collections::BTreeMap<_, _>>(), classes);
    }

    #[test]
    fn output_schemas_describe_whole_answers() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = stepwell_workspace::Workspace::open(folder.path(), &[]).unwrap();
        let service = DebugService::new(workspace, &DebugOptions::default());
        for tool in tools(&service) {
            let (name, schema) = (tool.spec().name, tool.output_schema().unwrap());
            assert_eq!(schema["type"], "object", "{name}");
            let fields = fields(&schema);
            assert!(fields.contains("status") && fields.len() > 1, "{name}: {fields:?}");
            let validator = jsonschema::validator_for(&schema).unwrap();
            assert!(!validator.is_valid(&json!({ "status": "unheard of" })), "{name}: {schema}");
        }
    }
}
