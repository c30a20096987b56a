//! `stepwell env`: variables that the person keeps for the agent's commands.

use std::io::{IsTerminal, Read};

use secrecy::SecretString;
use serde_json::json;
use stepwell_store::{VariableScope, is_variable_name};

use super::config::read_hidden_line;
use crate::args::EnvCommand;
use crate::assemble::variables::variable_store;
use crate::assemble::workspace_root;
use crate::exit::Exit;
use crate::language::said;
use crate::report;
use crate::settings::Places;
use crate::terminal::{error_line, out_line};

/// Shorter values cannot be told from ordinary text.
const SHORTEST_HIDDEN: usize = 8;
const LONGEST_VALUE: u64 = 64 * 1024;

pub fn run(command: EnvCommand) -> anyhow::Result<Exit> {
    let places = Places::find()?;
    let root = workspace_root(None)?;
    let project = Places::project(&root).to_path_buf();
    let store = variable_store(&places);
    let scope = |global: bool| {
        if global { VariableScope::Person } else { VariableScope::Project(project.clone()) }
    };
    match command {
        EnvCommand::List { json: true } => {
            let rows: Vec<_> = store.list(Some(&project))?.into_iter().map(|variable| {
                json!({"name": variable.name, "scope": scope_word(&variable.scope), "set_at": variable.set_at})
            }).collect();
            out_line(&serde_json::to_string_pretty(&rows)?);
        }
        EnvCommand::List { json: false } => {
            let listed = store.list(Some(&project))?;
            if listed.is_empty() {
                out_line(&said("no variable is kept for commands; `stepwell env set NAME` keeps one"));
            }
            for variable in listed {
                let scope = said(scope_word(&variable.scope));
                out_line(&format!("{}  {scope}  {}", variable.name, variable.set_at));
            }
        }
        EnvCommand::Set { name, global } => {
            if !is_variable_name(&name) {
                return Err(report::usage(
                    format!("`{name}` is no name of a variable"),
                    "use letters, digits and `_`; the value is asked for, or piped in",
                ));
            }
            let value = read_value(&name)?;
            if value.len() < SHORTEST_HIDDEN {
                error_line(&said("the value is short: it cannot be hidden in what commands print"));
            }
            store.set(scope(global), &name, &SecretString::from(value))?;
            out_line(&said(&format!("kept `{name}`; commands get it when the agent asks and you agree")));
        }
        EnvCommand::Unset { name, global } => {
            if !store.unset(&scope(global), &name)? {
                return Err(report::usage(
                    format!("`{name}` is not set"),
                    "`stepwell env list` shows what is kept; `--global` means those for all your projects",
                ));
            }
            out_line(&said(&format!("`{name}` is gone")));
        }
        EnvCommand::Check { names } => {
            let listed = store.list(Some(&project))?;
            let mut exit = Exit::Done;
            for name in names {
                if let Some(variable) = listed.iter().find(|variable| variable.name == name) {
                    let scope = said(scope_word(&variable.scope));
                    out_line(&said(&format!("{name}: set ({scope})")));
                } else {
                    out_line(&said(&format!("{name}: missing")));
                    exit = Exit::Failed;
                }
            }
            return Ok(exit);
        }
    }
    Ok(Exit::Done)
}

fn scope_word(scope: &VariableScope) -> &'static str {
    match scope {
        VariableScope::Project(_) => "project",
        VariableScope::Person => "person",
    }
}

/// Reads a value without showing it. One that is piped in may have several lines; the last line end does not count.
fn read_value(name: &str) -> anyhow::Result<String> {
    let mut value = if std::io::stdin().is_terminal() {
        error_line(&said(&format!("value of `{name}` (it is not shown):")));
        read_hidden_line()?
    } else {
        let mut value = String::new();
        std::io::stdin().lock().take(LONGEST_VALUE + 2).read_to_string(&mut value)?;
        value
    };
    while value.ends_with(['\n', '\r']) {
        value.pop();
    }
    Ok(value)
}
