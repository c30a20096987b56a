//! `stepwell commands`: what `/NAME` stands for in a request.

use serde_json::json;
use stepwell_agent::Library as _;
use stepwell_agent::commands::SlashCommand;
use stepwell_tool_runtime::near_names;

use crate::args::CommandsCommand;
use crate::assemble::{Assembly, library_places};
use crate::columns;
use crate::exit::Exit;
use crate::language::said;
use crate::report;
use crate::terminal::{Style, error_line, out_line, visible};

pub fn run(command: &CommandsCommand) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let commands = assembly.library().commands();
    let (_, plugin_problems) = library_places(&assembly.places, &assembly.settings, &assembly.workspace);
    let style = Style::for_stderr();
    for problem in commands.problems.iter().chain(&plugin_problems) {
        error_line(&format!("{} {}", style.yellow(&said("warning:")), visible(&said(problem))));
    }
    match command {
        CommandsCommand::List { json } => list(&commands.all().collect::<Vec<_>>(), *json)?,
        CommandsCommand::Show { command: name, json } => {
            let command = commands.get(name).ok_or_else(|| {
                let near = near_names(name, commands.all().map(|command| command.name.as_str()));
                let hint = match near.first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`stepwell commands list` shows them".to_owned(),
                };
                report::usage(format!("there is no command `{name}`"), hint)
            })?;
            show(command, *json)?;
        }
    }
    Ok(Exit::Done)
}

fn list(commands: &[&SlashCommand], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let rows: Vec<_> = commands.iter().map(|command| row(command)).collect();
        out_line(&serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let style = Style::for_stdout();
    let named = |command: &SlashCommand| {
        let hint = command.argument_hint.as_ref().map(|hint| format!(" {hint}")).unwrap_or_default();
        columns::one_line(&format!("/{}{hint}", command.name))
    };
    let width = commands.iter().map(|command| columns::width(&named(command))).max().unwrap_or(0).min(40);
    for command in commands {
        let name = style.bold(&columns::padded(&visible(&named(command)), width));
        let room = columns::of_stdout().map(|columns| columns.saturating_sub(width + 14));
        let what = columns::fit(&visible(&said(&command.summary())), room);
        out_line(&format!("{name}  {} {what}", style.dim(&columns::padded(&said(command.origin.kind()), 9))));
    }
    Ok(())
}

fn row(command: &SlashCommand) -> serde_json::Value {
    json!({
        "name": command.name,
        "description": command.description,
        "argument_hint": command.argument_hint,
        "mode": command.mode,
        "model": command.model,
        "allowed_tools": command.allowed_tools,
        "source": command.origin.kind(),
        "file": command.origin.path(),
    })
}

fn show(command: &SlashCommand, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let mut shown = row(command);
        shown["text"] = json!(command.body);
        out_line(&serde_json::to_string_pretty(&shown)?);
        return Ok(());
    }
    let style = Style::for_stdout();
    out_line(&style.bold(&format!("/{}", command.name)));
    let file = command.origin.path().map(|path| path.display().to_string());
    let tools = Some(command.allowed_tools.join(", ")).filter(|tools| !tools.is_empty());
    let rows = [
        ("what it is for", command.description.clone()),
        ("arguments", command.argument_hint.clone()),
        ("mode", command.mode.clone()),
        ("model", command.model.clone()),
        ("tools it names (this grants nothing)", tools),
        ("from", Some(file.unwrap_or_else(|| said("built in")))),
        ("text", Some(command.body.clone())),
    ];
    for (label, value) in rows {
        if let Some(value) = value {
            out_line(&format!("\n{}\n  {}", style.dim(&said(label)), visible(&value).replace('\n', "\n  ")));
        }
    }
    Ok(())
}
