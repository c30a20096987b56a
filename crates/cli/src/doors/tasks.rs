//! `stepwell tasks`: look at, search, export, import, repair and delete tasks.

mod evidence;
mod import;
mod pager;
mod table;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Parser;
use serde_json::json;
use stepwell_protocol::{Command, Condensing, Event, EvidenceCard, MessageId, RunEnd, TaskId};
use stepwell_store::{Conversation, Home, Index, MarkdownOptions, TaskQuery, TaskSort as StoreSort};
use stepwell_transcript::{Transcript, evidence_of};
use stepwell_workspace::files::{self, Privacy};

use crate::args::{Cli, Door, EvidenceFormat, ExportFormat, TaskSort, TasksCommand, TasksListArgs};
use crate::assemble::Assembly;
use crate::columns;
use crate::exit::Exit;
use crate::language::said;
use crate::report;
use crate::settings::Places;
use crate::terminal::{self, harmless, out_line};

use table::Folders;

pub fn run(command: TasksCommand) -> anyhow::Result<Exit> {
    let home = Home::new(Places::find()?.data);
    let here = crate::assemble::workspace_root(None)?;
    match command {
        TasksCommand::List(args) => list(&home, &here, &args)?,
        TasksCommand::Show { task, tail, ids, no_pager, json } => {
            let options = MarkdownOptions { message_ids: ids, last_entries: tail };
            let text = shown(&home, &resolve(&home, &task, &here)?, options, json)?;
            if no_pager || json { print_content(text.trim_end_matches('\n')) } else { pager::show(&text) }
        }
        TasksCommand::Edit(args) => {
            let Door::Run(args) = Cli::try_parse_from(args.into_run())?.door else {
                anyhow::bail!("`tasks edit` became another command");
            };
            return crate::wait(crate::doors::run::run(*args));
        }
        TasksCommand::Search { text, limit, json } => search(&home, &text.join(" "), limit, json)?,
        TasksCommand::Export { task, format, output } => {
            export(&home, &resolve(&home, &task, &here)?, format, output)?;
        }
        TasksCommand::Import { path, json } => {
            let task = import::import(&home, &path, &here)?;
            say_task(&home, "imported as", &task, json)?;
        }
        TasksCommand::Delete { tasks, yes } => return delete(&home, &here, &tasks, yes),
        TasksCommand::Fork { task, message, json } => {
            let source = resolve(&home, &task, &here)?;
            let message = message.map(MessageId::from);
            let forked = stepwell_store::fork(&home, &source, &TaskId::generate(), message.as_ref())?;
            say_task(&home, "forked as", &forked.id, json)?;
        }
        TasksCommand::Rename { task, title } => {
            if title.trim().is_empty() {
                return Err(report::usage(
                    "a task's title cannot be empty",
                    "give the words: `stepwell tasks rename TASK TITLE`",
                ));
            }
            stepwell_store::rename_task(&home, &resolve(&home, &task, &here)?, title.trim())?;
        }
        TasksCommand::Favourite { task, off } => {
            stepwell_store::set_favourite(&home, &resolve(&home, &task, &here)?, !off)?;
        }
        TasksCommand::Evidence { task, format } => {
            let task = resolve(&home, &task, &here)?;
            let records = stepwell_store::read_log(&home, &task)?;
            let mut transcript = Transcript::default();
            for record in &records {
                transcript.apply(record);
            }
            let card = evidence_of(&transcript);
            let number = transcript.summary.info.as_ref().map_or(0, |info| info.number);
            if card == EvidenceCard::default() && format == EvidenceFormat::Text {
                out_line(&said("this task changed no files, so there is nothing to compare"));
            } else {
                print_content(evidence::rendered(&card, number, format)?.trim_end_matches('\n'));
            }
        }
        TasksCommand::Artifacts { task, json } => {
            let folder = home.artifacts_dir(&resolve(&home, &task, &here)?)?;
            artifacts(&folder, json)?;
        }
        TasksCommand::Condense { task, undo } => {
            let task = resolve(&home, &task, &here)?;
            crate::wait(condense(task, undo))?;
        }
        TasksCommand::Repair { task } => repair(&home, &resolve(&home, &task, &here)?)?,
        TasksCommand::RebuildIndex => {
            let refreshed = Index::open(&home)?.rebuild()?;
            out_line(&said(&format!("indexed {} tasks", refreshed.read)));
        }
    }
    Ok(Exit::Done)
}

/// Lists the files that a task exported.
fn artifacts(folder: &Path, as_json: bool) -> anyhow::Result<()> {
    let exports = stepwell_tools::artifacts::read_exports(folder).map_err(anyhow::Error::msg)?;
    if as_json {
        out_line(&serde_json::to_string_pretty(&exports)?);
        return Ok(());
    }
    if exports.is_empty() {
        out_line(&said("this task exported no files"));
    }
    for one in exports {
        out_line(&harmless(&format!(
            "{}  {}  {} bytes  sha256 {}\n  {}",
            one.name, one.media_type, one.bytes, one.sha256, one.path
        )));
    }
    Ok(())
}

/// Condenses a task, or undoes that, and says what came of it.
async fn condense(task: TaskId, undo: bool) -> anyhow::Result<()> {
    let engine = Assembly::here()?.engine();
    let before = engine.open(&task).await?.last_seq();
    let command = if undo {
        Command::UndoCondensing { task: task.clone() }
    } else {
        Command::CondenseTask { task: task.clone() }
    };
    engine.submit(command).await?;
    let session = engine.session(&task)?;
    let end = session.run_end().await;
    let mut follower = engine.follow(&task, before).await?;
    let last = session.last_seq();
    loop {
        let Some(record) = follower.next().await? else { break };
        match &record.event {
            Event::ContextCondensed { condensing } => {
                let Condensing { replaced, tokens_before, tokens_after, .. } = condensing;
                out_line(&said(&format!(
                    "{replaced} messages became a summary: about {tokens_before} tokens are {tokens_after} now"
                )));
            }
            Event::OutputsDropped { outputs } => {
                out_line(&said(&format!("{} large outputs are left out", outputs.len())));
            }
            Event::CondensingUndone => out_line(&said("the last condensing is undone")),
            Event::Notice { text } => out_line(&said(text)),
            _ => {}
        }
        if record.seq >= last {
            break;
        }
    }
    engine.finish().await;
    match end {
        Some(RunEnd::Failed { error }) => Err(report::usage(error.message, error.hint.unwrap_or_default())),
        _ => Ok(()),
    }
}

/// The task a person means by a number, an id, the start of an id, or `latest`.
pub fn resolve(home: &Home, reference: &str, workspace: &Path) -> anyhow::Result<TaskId> {
    if reference == "latest" {
        let latest = Index::open(home)?.latest(&workspace.display().to_string())?;
        return latest.map(|row| row.id).ok_or_else(|| {
            report::usage(
                format!("there is no task of `{}` yet", workspace.display()),
                "`stepwell tasks list --all` shows those of other folders",
            )
        });
    }
    Ok(Index::open(home)?.resolve(reference)?.id)
}

fn say_task(home: &Home, what: &str, task: &TaskId, json: bool) -> anyhow::Result<()> {
    let number = stepwell_store::read_info(home, task)?.number;
    if json {
        out_line(&json!({"task": task, "number": number}).to_string());
    } else {
        out_line(&said(&format!("{what} task {number} ({task})")));
    }
    Ok(())
}

fn list(home: &Home, here: &Path, args: &TasksListArgs) -> anyhow::Result<()> {
    let query = TaskQuery {
        workspace: (!args.all).then(|| here.display().to_string()),
        favourite: args.favourites.then_some(true),
        sort: match args.sort {
            TaskSort::Updated => StoreSort::Updated,
            TaskSort::Created => StoreSort::Created,
            TaskSort::Cost => StoreSort::Cost,
            TaskSort::Tokens => StoreSort::Tokens,
            TaskSort::Size => StoreSort::Size,
        },
        limit: Some(args.limit),
        ..TaskQuery::all()
    };
    let mut index = Index::open(home)?;
    let rows = index.list(&query)?;
    if args.json {
        out_line(&table::rows_as_json(&rows));
        return Ok(());
    }
    let count = index.count(&query)?;
    if count == 0 {
        let what = if args.favourites { "no favourites" } else { "no tasks" };
        let everywhere = if args.all { "" } else { " in this folder; --all lists those of every folder" };
        out_line(&said(&format!("{what}{everywhere}")));
        return Ok(());
    }
    if !rows.is_empty() {
        table::print(&rows, if args.all { Folders::Named } else { Folders::One });
    }
    let more = count.saturating_sub(rows.len() as u64);
    if more > 0 {
        out_line(&said(&format!("… and {more} more; --limit {count} shows them")));
    }
    Ok(())
}

/// A task as text: Markdown for people, a record a line for programs.
fn shown(home: &Home, task: &TaskId, options: MarkdownOptions, json: bool) -> anyhow::Result<String> {
    let records = stepwell_store::read_log(home, task)?;
    if !json {
        return Ok(stepwell_store::to_markdown_with(home, &records, options));
    }
    let skipped = options.last_entries.map_or(0, |last| records.len().saturating_sub(last));
    let mut text = String::new();
    for record in &records[skipped..] {
        text.push_str(&serde_json::to_string(record)?);
        text.push('\n');
    }
    Ok(text)
}

/// Deletes tasks once the person has said so: here, or with `--yes`.
fn delete(home: &Home, here: &Path, tasks: &[String], yes: bool) -> anyhow::Result<Exit> {
    // All references are checked before the first task goes.
    let ids = tasks.iter().map(|task| resolve(home, task, here)).collect::<anyhow::Result<Vec<_>>>()?;
    if !yes {
        if !std::io::stdin().is_terminal() || !terminal::stderr_is_terminal() {
            return Err(report::usage(
                "deleting tasks cannot be undone, and there is no terminal to ask on",
                "give `--yes` if you mean it",
            ));
        }
        for id in &ids {
            let info = stepwell_store::read_info(home, id);
            let title =
                info.map_or_else(|_| id.to_string(), |info| format!("{:>5}  {}", info.number, info.title));
            terminal::error_line(&columns::fit(&columns::one_line(&title), columns::of_stderr()));
        }
        let count =
            if ids.len() == 1 { "this task".to_owned() } else { format!("these {} tasks", ids.len()) };
        terminal::error_text(&said(&format!("delete {count} for good? [y/N] ")));
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            terminal::error_line(&said("nothing was deleted"));
            return Ok(Exit::Interrupted);
        }
    }
    for id in ids {
        stepwell_store::delete_task(home, &id)?;
        out_line(&said(&format!("deleted {id}")));
    }
    Ok(Exit::Done)
}

/// Prints what a task holds: as it is for a program, without what could take over the terminal for a person.
fn print_content(text: &str) {
    if std::io::stdout().is_terminal() {
        out_line(&harmless(text));
    } else {
        out_line(text);
    }
}

fn search(home: &Home, text: &str, limit: u32, json: bool) -> anyhow::Result<()> {
    if text.trim().is_empty() {
        return Err(report::usage(
            "there is nothing to search for",
            "give the words: `stepwell tasks search TEXT`",
        ));
    }
    let hits = Index::open(home)?.search(text, limit)?;
    if json {
        out_line(&table::hits_as_json(&hits));
    } else if hits.is_empty() {
        out_line(&said("nothing found"));
    } else {
        table::print_hits(&hits);
    }
    Ok(())
}

fn repair(home: &Home, task: &TaskId) -> anyhow::Result<()> {
    let repaired = stepwell_store::repair_task(home, task)?;
    let records = repaired.records;
    if repaired.was_whole() {
        out_line(&said(&format!("{task} is whole: {records} records, nothing to repair")));
        return Ok(());
    }
    out_line(&said(&format!("repaired {task}: {records} records are kept")));
    if let Some(rest) = &repaired.rest {
        let salvaged = repaired.salvaged;
        out_line(&format!(
            "{salvaged} of them stood behind the damage; that part lies as it was in {}",
            rest.display()
        ));
    }
    if let Some(before) = &repaired.before_loss {
        out_line(&said(&format!(
            "lost content is marked as lost; the log as it was lies in {}",
            before.display()
        )));
    }
    Ok(())
}

fn export(
    home: &Home,
    task: &TaskId,
    format: Option<ExportFormat>,
    output: Option<PathBuf>,
) -> anyhow::Result<()> {
    let output = output.filter(|path| path.as_os_str() != "-");
    let format = format.unwrap_or_else(|| match output.as_deref().and_then(Path::extension) {
        Some(extension) if extension == "md" => ExportFormat::Markdown,
        _ => ExportFormat::Json,
    });
    let records = stepwell_store::read_log(home, task)?;
    let text = match format {
        ExportFormat::Json => Conversation::of(&records).serialize()?,
        ExportFormat::Markdown => stepwell_store::to_markdown(home, &records),
        ExportFormat::Roo => {
            let folder = output.ok_or_else(|| {
                report::usage(
                    "Roo-Code's layout is a folder, which cannot go to standard output",
                    "name one with --output FOLDER",
                )
            })?;
            stepwell_store::export_roo(&records)?.write(&folder)?;
            out_line(&said(&format!("wrote {}", folder.display())));
            return Ok(());
        }
    };
    match output {
        Some(path) => {
            files::write_atomic(&path, text.as_bytes(), Privacy::Private)?;
            out_line(&said(&format!("wrote {}", path.display())));
        }
        None => print_content(&text),
    }
    Ok(())
}
