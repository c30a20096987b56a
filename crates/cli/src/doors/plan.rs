//! `stepwell plan`: look at a plan, edit it, decide about it.

pub mod show;

use std::io::Read;
use std::path::Path;

use serde_json::json;
use stepwell_agent::Engine;
use stepwell_protocol::{Command, PlanDecision, PlanView, Query, QueryReply, TaskId};
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::process;

use crate::args::{PlanCommand, PlanTask};
use crate::assemble::Assembly;
use crate::doors::tasks::resolve;
use crate::exit::Exit;
use crate::language::said;
use crate::report;
use crate::terminal::{self, Style, error_line, out_line};

/// Largest document that is taken from a file, in bytes; the engine says what is too long.
const LONGEST_FILE: u64 = 1 << 20;

/// A task and the engine that answers about it.
struct Desk {
    engine: Engine,
    task: TaskId,
    number: u32,
    json: bool,
}

pub async fn run(command: PlanCommand) -> anyhow::Result<Exit> {
    match command {
        PlanCommand::Show { task, document } => {
            let desk = Desk::open(&task)?;
            let view = desk.view().await?;
            match (desk.json, document) {
                (true, _) => out_line(&serde_json::to_string_pretty(&view)?),
                (false, true) => terminal::out_foreign(&view.document),
                (false, false) => show::print(&view),
            }
            Ok(Exit::Done)
        }
        PlanCommand::Approve(task) => Desk::open(&task)?.decide(PlanDecision::Approve).await,
        PlanCommand::Edit { task, file } => Desk::open(&task)?.edit(file.as_deref()).await,
        PlanCommand::Reject { task, reason } => {
            Desk::open(&task)?.decide(PlanDecision::Reject { reason }).await
        }
        PlanCommand::Retry(task) => Desk::open(&task)?.decide(PlanDecision::RetryStep).await,
        PlanCommand::Skip(task) => Desk::open(&task)?.decide(PlanDecision::SkipStep).await,
        PlanCommand::Stop(task) => Desk::open(&task)?.decide(PlanDecision::Stop).await,
    }
}

impl Desk {
    fn open(task: &PlanTask) -> anyhow::Result<Self> {
        let assembly = Assembly::here()?;
        let json = task.json;
        let task = resolve(assembly.home(), &task.task, &assembly.workspace)?;
        let number = stepwell_store::read_info(assembly.home(), &task)?.number;
        Ok(Self { engine: assembly.engine(), task, number, json })
    }

    async fn view(&self) -> anyhow::Result<PlanView> {
        match self.engine.query(Query::Plan { task: self.task.clone() }).await? {
            QueryReply::Plan { plan: Some(view) } => Ok(*view),
            _ => Err(report::usage(
                format!("task {} has no plan", self.number),
                "`stepwell run --mode plan` begins with one",
            )),
        }
    }

    async fn decide(&self, decision: PlanDecision) -> anyhow::Result<Exit> {
        self.view().await?;
        let what = match &decision {
            PlanDecision::Approve => "the plan is approved",
            PlanDecision::Reject { .. } => "the plan is sent back",
            PlanDecision::RetryStep => "the step will be tried again",
            PlanDecision::SkipStep => "the step is skipped",
            PlanDecision::Stop => "the plan is stopped",
            PlanDecision::Edit { .. } => "the plan is changed",
        };
        let goes_on = !matches!(decision, PlanDecision::Stop);
        self.engine.submit(Command::DecidePlan { task: self.task.clone(), decision }).await?;
        let view = self.view().await?;
        self.engine.close(&self.task);
        if self.json {
            out_line(&serde_json::to_string_pretty(&json!({
                "task": self.task, "number": self.number, "plan": view.plan,
            }))?);
            return Ok(Exit::Done);
        }
        out_line(&said(what));
        if goes_on {
            let hint = format!("go on with `stepwell run --resume {}`", self.number);
            error_line(&Style::for_stderr().dim(&said(&hint)));
        }
        Ok(Exit::Done)
    }

    async fn edit(&self, file: Option<&Path>) -> anyhow::Result<Exit> {
        let before = self.view().await?;
        let path = Path::new(&before.path);
        if files::read_if_exists(path)?.is_none() {
            files::write_atomic(path, before.document.as_bytes(), Privacy::Private)?;
        }
        let edited = match file {
            Some(file) => {
                files::write_atomic(path, read(file)?.as_bytes(), Privacy::Private)?;
                true
            }
            None => open_editor(path)?,
        };
        let view = self.view().await?;
        if !view.faults.is_empty() {
            let faults: Vec<String> = view.faults.iter().map(|fault| said(&fault.to_string())).collect();
            let told = format!("the plan document cannot be used: {}", faults.join("; "));
            // A file that was given can be given again; what was typed in an editor is kept there.
            if file.is_some() {
                files::write_atomic(path, before.document.as_bytes(), Privacy::Private)?;
            }
            return Err(report::usage(told, "edit it again: the plan stays as it was until then"));
        }
        // Where the task is open in another process, that one reads the document before its next step.
        let took = self.engine.read_plan_document(&self.task).await.is_ok();
        let view = self.view().await?;
        self.engine.close(&self.task);
        if self.json {
            out_line(&serde_json::to_string_pretty(&view)?);
        } else {
            show::print(&view);
            if !took {
                error_line(&said("the task is at work; it reads the document before its next step"));
            }
        }
        Ok(if edited { Exit::Done } else { Exit::Failed })
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    let content = if file == Path::new("-") {
        let mut content = Vec::new();
        std::io::stdin().lock().take(LONGEST_FILE).read_to_end(&mut content)?;
        content
    } else {
        files::read_beginning(file, LONGEST_FILE)?
    };
    String::from_utf8(content).map_err(|_| {
        report::usage(format!("`{}` is not UTF-8 text", file.display()), "a plan is a Markdown document")
    })
}

fn open_editor(path: &Path) -> anyhow::Result<bool> {
    let editor = std::env::var("VISUAL").or_else(|_| std::env::var("EDITOR")).unwrap_or_else(|_| "vi".into());
    process::run_in_foreground(&editor, path)
        .map_err(|error| report::failed(format!("cannot start `{editor}`: {error}"), "set EDITOR"))
}
