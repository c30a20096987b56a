//! `stepwell tool`: the tools, by hand, through the same executor the agent uses.

mod host;

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use stepwell_protocol::{ErrorClass, TaskId, ToolCall, ToolCallId};
use stepwell_tool_runtime::{CallEnv, CallSetup, LoopGuard, LoopLimits, PermissionJudge, RegisteredTool};
use tokio_util::sync::CancellationToken;

use crate::args::ToolCommand;
use crate::assemble::{Assembly, AssemblyOptions, OpenWorkspace, workspace_root};
use crate::columns;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::language::said;
use crate::report;
use crate::settings::SettingsLayer;
use crate::terminal::{Style, error_line, out, out_foreign, out_line, visible};

pub async fn run(command: ToolCommand) -> anyhow::Result<Exit> {
    match command {
        ToolCommand::List { json } => list(json),
        ToolCommand::Show { name, json } => show(&name, json),
        ToolCommand::Call { name, arguments, cwd, permission_mode, json } => {
            let assembly = Assembly::new(AssemblyOptions {
                workspace: workspace_root(cwd.as_deref())?,
                extra_roots: Vec::new(),
                command_line: SettingsLayer { permission_mode, ..SettingsLayer::default() },
                record: None,
            })?;
            call(&assembly, name, &arguments, json).await
        }
    }
}

fn describe(tool: &RegisteredTool) -> Value {
    let spec = tool.spec();
    json!({
        "name": tool.name(),
        "aliases": spec.aliases,
        "category": spec.category,
        "risk": spec.risk,
        "time_limit_seconds": spec.time_limit.as_secs(),
        "output_limit_bytes": spec.output_limit,
        "description": tool.definition().description,
        "input_schema": tool.definition().input_schema,
        "output_schema": tool.output_schema(),
    })
}

fn list(json: bool) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let services = assembly.open()?.services;
    let tools = services.executor.registry().list(None, None);
    if json {
        let all: Vec<Value> = tools.iter().map(|tool| describe(tool)).collect();
        out_line(&serde_json::to_string_pretty(&all)?);
        return Ok(Exit::Done);
    }
    let style = Style::for_stdout();
    for tool in tools {
        let description = &tool.definition().description;
        let line = description.lines().next().unwrap_or_default();
        let first = line.split_once(". ").map_or(line, |(first, _)| first);
        let first = first.trim_end_matches(['.', ':']);
        let name = format!("{:<20}", tool.name());
        let risk = format!("{:<8}", format!("{:?}", tool.spec().risk).to_lowercase());
        let taken = name.chars().count() + risk.len() + 2;
        let room = columns::of_stdout().map(|columns| columns.saturating_sub(taken));
        out_line(&format!("{} {} {}", style.bold(&name), style.dim(&risk), columns::fit(first, room)));
    }
    Ok(Exit::Done)
}

fn show(name: &str, json: bool) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let services = assembly.open()?.services;
    let registry = services.executor.registry();
    let tool = registry.get(name).ok_or_else(|| {
        let near = registry.suggestions(name);
        let hint = if near.is_empty() {
            "`stepwell tool list` shows them all".to_owned()
        } else {
            format!("did you mean {}?", near.join(" or "))
        };
        report::usage(format!("there is no tool `{name}`"), hint)
    })?;
    if json {
        out_line(&serde_json::to_string_pretty(&describe(&tool))?);
        return Ok(Exit::Done);
    }
    let style = Style::for_stdout();
    let spec = tool.spec();
    out_line(&style.bold(tool.name()));
    if !spec.aliases.is_empty() {
        out_line(&style.dim(&said(&format!("also called {}", spec.aliases.join(", ")))));
    }
    out_line(&format!("\n{}\n", tool.definition().description));
    out_line(&serde_json::to_string_pretty(&tool.definition().input_schema)?);
    Ok(Exit::Done)
}

/// What a single call from the command line is run with.
pub(super) fn call_env(
    workspace: &OpenWorkspace,
    permission: Arc<dyn PermissionJudge>,
    cancel: CancellationToken,
) -> CallEnv {
    let setup = CallSetup {
        task: TaskId::generate(),
        host: Arc::new(host::CommandLineHost::new()),
        cancel,
        permission,
        loop_guard: Arc::new(LoopGuard::new(LoopLimits::OFF)),
        hooks: Arc::clone(&workspace.policy.hooks),
        permission_mode: workspace.policy.judge.mode,
        transcript_path: PathBuf::new(),
        tools: Arc::default(),
    };
    CallEnv::new(Arc::clone(&workspace.services), setup)
}

async fn call(assembly: &Assembly, name: String, arguments: &str, json: bool) -> anyhow::Result<Exit> {
    let text = if arguments == "-" {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text)?;
        text
    } else {
        arguments.to_owned()
    };
    // What is no JSON goes on as it is: the executor's repair is part of what can be tried here.
    let arguments = serde_json::from_str(&text).unwrap_or(Value::String(text));
    let workspace = assembly.open()?;
    if name.starts_with("mcp__") || matches!(name.as_str(), "use_mcp_tool" | "access_mcp_resource") {
        assembly.connect(&workspace);
        workspace.mcp.settled().await;
    }
    let cancel = CancellationToken::new();
    let env = call_env(&workspace, Arc::new(workspace.judge()), cancel.clone());
    let call = ToolCall { id: ToolCallId::generate(), name, arguments, opaque: None };
    let mut interrupts = Interrupts::listen()?;
    let mut execution = Box::pin(workspace.services.executor.execute(&call, &env));
    let outcome = tokio::select! {
        outcome = &mut execution => outcome,
        () = interrupts.next() => {
            // The call ends its processes before it answers.
            cancel.cancel();
            execution.await;
            return Ok(Exit::Interrupted);
        }
    };
    workspace.mcp.close().await;
    if json {
        out_line(&serde_json::to_string_pretty(
            &json!({"result": outcome.result, "output": outcome.output}),
        )?);
    } else if outcome.result.is_success() {
        out_foreign(&outcome.result.output);
        if !outcome.result.output.ends_with('\n') {
            out("\n");
        }
    } else {
        let style = Style::for_stderr();
        error_line(&format!("{} {}", style.red(&said("error:")), visible(&said(&outcome.result.output))));
    }
    Ok(match outcome.result.error.map(|error| error.class) {
        None => Exit::Done,
        Some(ErrorClass::PermissionError) => Exit::Refused,
        Some(ErrorClass::ParameterError | ErrorClass::ValidationError) => Exit::Usage,
        Some(_) => Exit::Failed,
    })
}
