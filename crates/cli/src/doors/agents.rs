//! `stepwell agents`: the sub-agents of a folder, and what each may do.

use serde_json::{Value, json};
use stepwell_agent::subagent::Subagent;
use stepwell_tool_runtime::ToolGroup;

use crate::args::AgentsCommand;
use crate::assemble::Assembly;
use crate::columns;
use crate::exit::Exit;
use crate::language::said;
use crate::report;
use crate::terminal::{Style, error_line, out_line, visible};

pub fn run(command: &AgentsCommand) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let (subagents, problems) = assembly.settings.subagents(&assembly.places, &assembly.workspace)?;
    let style = Style::for_stderr();
    for problem in problems {
        error_line(&format!("{} {}", style.yellow(&said("warning:")), visible(&said(&problem))));
    }
    match command {
        AgentsCommand::List { json: true } => {
            let all: Vec<Value> = subagents.all().map(|subagent| facts(subagent)).collect();
            out_line(&serde_json::to_string_pretty(&all)?);
        }
        AgentsCommand::List { json: false } => {
            let width = subagents.all().map(|subagent| subagent.name.len()).max().unwrap_or(0);
            let style = Style::for_stdout();
            for subagent in subagents.all() {
                let what = subagent.description.lines().next().unwrap_or_default();
                let name = columns::padded(&subagent.name, width);
                out_line(&format!("{}  {}", style.bold(&name), visible(&said(what))));
                out_line(&style.dim(&format!("{}  {}", " ".repeat(width), visible(&origin(subagent)))));
            }
        }
        AgentsCommand::Show { agent, json } => {
            let subagent = subagents.find(agent).map_err(|error| {
                let report = error.report();
                let hint = report.hint.unwrap_or_else(|| "`stepwell agents list` shows them".to_owned());
                report::usage(report.message, hint)
            })?;
            if *json {
                out_line(&serde_json::to_string_pretty(&facts(subagent))?);
            } else {
                show(subagent);
            }
        }
    }
    Ok(Exit::Done)
}

/// Its tools, and the file it comes from where it is not built in.
fn origin(subagent: &Subagent) -> String {
    let source = subagent.source.to_string();
    let tools = tools(subagent);
    if source == "built in" { tools } else { format!("{tools}  ({source})") }
}

fn tools(subagent: &Subagent) -> String {
    let has = |group: &&ToolGroup| subagent.may_edit || **group != ToolGroup::Edit;
    let groups = || subagent.groups.iter().filter(has).map(|group| group.name().to_owned()).collect();
    let names = subagent.tools.as_ref().map(|tools| tools.iter().cloned().collect::<Vec<_>>());
    let all = names.unwrap_or_else(groups).join(", ");
    let without: Vec<&str> = subagent.excluded_tools.iter().map(String::as_str).collect();
    if without.is_empty() { all } else { format!("{all}, not {}", without.join(", ")) }
}

fn facts(subagent: &Subagent) -> Value {
    json!({
        "name": subagent.name,
        "description": subagent.description,
        "prompt": subagent.prompt,
        "groups": subagent.groups,
        "tools": subagent.tools,
        "excluded_tools": subagent.excluded_tools,
        "may_edit": subagent.may_edit,
        "model": subagent.model,
        "permission_mode": subagent.permission_mode,
        "max_turns": subagent.max_turns,
        "source": subagent.source.to_string(),
    })
}

fn show(subagent: &Subagent) {
    let style = Style::for_stdout();
    out_line(&style.bold(&subagent.name));
    let (tools, source) = (tools(subagent), subagent.source.to_string());
    let turns = subagent.max_turns.map(|turns| turns.to_string());
    let rows = [
        ("when to use", Some(subagent.description.as_str())),
        ("tools", Some(tools.as_str())),
        ("model", subagent.model.as_deref()),
        ("permission mode", subagent.permission_mode.map(stepwell_protocol::PermissionMode::name)),
        ("most turns", turns.as_deref()),
        ("from", Some(source.as_str())),
        ("prompt", Some(subagent.prompt.as_str())),
    ];
    for (label, value) in rows {
        if let Some(value) = value {
            let value = visible(&said(value)).replace('\n', "\n  ");
            out_line(&format!("\n{}\n  {value}", style.dim(&said(label))));
        }
    }
}
