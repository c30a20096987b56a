//! `stepwell modes`: the modes of a folder, and what each may do.

use serde_json::json;
use stepwell_agent::PLAN_MODE;
use stepwell_agent::mode::Mode;
use stepwell_protocol::ModeItem;
use stepwell_tool_runtime::near_names;

use crate::args::ModesCommand;
use crate::assemble::Assembly;
use crate::columns;
use crate::exit::Exit;
use crate::language::said;
use crate::report;
use crate::terminal::{Style, error_line, out_line, visible};

pub fn run(command: &ModesCommand) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let (modes, problems) = assembly.settings.modes(&assembly.places, &assembly.workspace)?;
    let style = Style::for_stderr();
    for problem in problems {
        error_line(&format!("{} {}", style.yellow(&said("warning:")), visible(&said(&problem))));
    }
    match command {
        ModesCommand::List { json } => list(&modes.items(), *json)?,
        ModesCommand::Show { mode: slug, json } if slug == PLAN_MODE && modes.get(slug).is_none() => {
            let planning: Vec<ModeItem> =
                modes.items().into_iter().filter(|item| item.slug == *slug).collect();
            list(&planning, *json)?;
        }
        ModesCommand::Show { mode: slug, json } => {
            let mode = modes.get(slug).ok_or_else(|| {
                let near = near_names(slug, modes.all().map(|mode| mode.slug.as_str()));
                let hint = match near.first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`stepwell modes list` shows them".to_owned(),
                };
                report::usage(format!("there is no mode `{slug}`"), hint)
            })?;
            let item = modes.items().into_iter().find(|item| item.slug == *slug);
            show(mode, &item.map(|item| item.groups).unwrap_or_default(), *json)?;
        }
    }
    Ok(Exit::Done)
}

fn list(items: &[ModeItem], json: bool) -> anyhow::Result<()> {
    if json {
        out_line(&serde_json::to_string_pretty(items)?);
        return Ok(());
    }
    let style = Style::for_stdout();
    let width = items.iter().map(|item| item.slug.len()).max().unwrap_or(0);
    for item in items {
        let what = item.description.as_deref().or(item.when_to_use.as_deref()).unwrap_or(&item.name);
        let what = what.lines().next().unwrap_or_default();
        out_line(&format!("{}  {}", style.bold(&columns::padded(&item.slug, width)), visible(&said(what))));
        let groups =
            if item.groups.is_empty() { said("no tools of its own") } else { item.groups.join(", ") };
        let source = if item.source == "built in" { String::new() } else { format!("  ({})", item.source) };
        out_line(&style.dim(&format!("{}  {}{}", " ".repeat(width), visible(&groups), visible(&source))));
    }
    Ok(())
}

fn show(mode: &Mode, groups: &[String], json: bool) -> anyhow::Result<()> {
    if json {
        let shown = json!({
            "slug": mode.slug,
            "name": mode.name,
            "role": mode.role,
            "when_to_use": mode.when_to_use,
            "description": mode.description,
            "instructions": mode.instructions,
            "groups": groups,
            "model": mode.model,
            "source": mode.source.to_string(),
        });
        out_line(&serde_json::to_string_pretty(&shown)?);
        return Ok(());
    }
    let style = Style::for_stdout();
    out_line(&format!("{} ({})", style.bold(&mode.slug), visible(&mode.name)));
    let groups = groups.join(", ");
    let source = mode.source.to_string();
    let rows = [
        ("when to use", mode.when_to_use.as_deref()),
        ("groups of tools", Some(groups.as_str()).filter(|groups| !groups.is_empty())),
        ("model", mode.model.as_deref()),
        ("from", Some(source.as_str())),
        ("role", Some(mode.role.as_str()).filter(|role| !role.is_empty())),
        ("instructions", mode.instructions.as_deref()),
    ];
    for (label, value) in rows {
        if let Some(value) = value {
            out_line(&format!(
                "\n{}\n  {}",
                style.dim(&said(label)),
                visible(&said(value)).replace('\n', "\n  ")
            ));
        }
    }
    Ok(())
}
