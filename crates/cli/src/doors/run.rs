//! `stepwell run`: one request, headless, then exit.

mod prompt;
mod text;
mod wire;

use std::path::PathBuf;

use stepwell_agent::{Engine, Follower, RunEnd, Session};
use stepwell_protocol::{ApprovalSource, Command, Event, EventRecord, MessageId, Part, Seq, TaskId};
use stepwell_store::Home;

use crate::args::{EffortArg, OutputFormat, RunArgs};
use crate::assemble::{Assembly, AssemblyOptions};
use crate::exit::Exit;
use crate::language::Language;
use crate::report;
use crate::settings::SettingsLayer;
use crate::terminal;

/// Shows a run as it goes and its end; one for each output format.
trait Show {
    fn begin(&mut self, task: &TaskId);
    fn event(&mut self, record: &EventRecord);
    fn end(&mut self, result: &RunResult);
}

/// What a run came to.
struct RunResult {
    task: TaskId,
    /// The number people call it by.
    number: u32,
    end: RunEnd,
    exit: Exit,
    turns: u64,
    usage: stepwell_protocol::Usage,
    /// Calls the policy refused, in words.
    refused: Vec<String>,
    duration: std::time::Duration,
}

pub async fn run(args: RunArgs) -> anyhow::Result<Exit> {
    let format = args.output_format;
    match work(args).await {
        Err(error) if format != OutputFormat::Text => {
            // Who reads JSON gets an object in any case; the words go to standard error as well.
            let exit = report::print(&error);
            wire::print_failure(&report::to_error_report(&error), exit);
            Ok(exit)
        }
        outcome => outcome,
    }
}

async fn work(args: RunArgs) -> anyhow::Result<Exit> {
    let started = std::time::Instant::now();
    let cwd = crate::assemble::workspace_root(args.cwd.as_deref())?;
    let prompt = prompt::read(&args)?;
    let assembly = Assembly::new(AssemblyOptions {
        workspace: cwd,
        extra_roots: args
            .add_dir
            .iter()
            .map(|path| crate::assemble::workspace_root(Some(path)))
            .collect::<anyhow::Result<_>>()?,
        command_line: command_line_settings(&args),
        record: args.record.clone(),
    })?;
    if !args.quiet {
        assembly.tell_withheld();
    }
    let (engine, task, from, command) = start(&assembly, &args, prompt)?;
    let language = Language::choose(assembly.settings.language().as_deref());
    let mut show: Box<dyn Show> = match args.output_format {
        OutputFormat::Text => Box::new(text::TextShow::new(args.quiet, language)),
        OutputFormat::Json => Box::new(wire::JsonShow::new()),
        OutputFormat::StreamJson => Box::new(wire::StreamShow::new()),
    };
    let interrupts = Interrupts::listen()?;
    engine.submit(command).await?;
    show.begin(&task);
    let session = engine.session(&task)?;
    let mut follower = engine.follow(&task, from)?;
    let mut watch = Watch { engine: &engine, session: &session, language, tally: Tally::default() };
    watch.until_end(&mut follower, interrupts, show.as_mut()).await?;
    let tally = watch.tally;
    let end = session.run_end().await.unwrap_or(RunEnd::Cancelled);
    let exit = Exit::of_run(&end, !tally.refused.is_empty());
    let number = stepwell_store::read_info(assembly.home(), &task)?.number;
    show.end(&RunResult {
        task,
        number,
        end,
        exit,
        turns: tally.turns,
        usage: tally.usage,
        refused: tally.refused,
        duration: started.elapsed(),
    });
    Ok(exit)
}

/// Opens the task the arguments mean, and the command that sets it going.
fn start(
    assembly: &Assembly,
    args: &RunArgs,
    prompt: Option<Vec<Part>>,
) -> anyhow::Result<(Engine, TaskId, Seq, Command)> {
    let engine = assembly.engine();
    let home = assembly.home();
    if let Some(reference) = &args.resume {
        let task = crate::doors::tasks::resolve(home, reference, &assembly.workspace)?;
        let from = engine.open(&task)?.last_seq();
        let command = match prompt {
            Some(parts) => Command::SendMessage { task: task.clone(), parts },
            None => Command::ResumeTask { task: task.clone() },
        };
        return Ok((engine, task, from, command));
    }
    let parts = prompt.ok_or_else(|| {
        report::usage(
            "there is no request",
            "give it as an argument, with --prompt-file, or on standard input",
        )
    })?;
    if let Some(reference) = &args.fork {
        let task = fork(home, reference, &assembly.workspace)?;
        let from = engine.open(&task)?.last_seq();
        return Ok((engine, task.clone(), from, Command::SendMessage { task, parts }));
    }
    let task = TaskId::generate();
    let command = Command::StartTask {
        task: task.clone(),
        prompt: parts,
        workspace: assembly.workspace.display().to_string(),
        mode: None,
        model: None,
        parent: None,
    };
    Ok((engine, task, Seq(0), command))
}

fn fork(home: &Home, reference: &str, workspace: &std::path::Path) -> anyhow::Result<TaskId> {
    let (task, message) = match reference.split_once('@') {
        Some((task, message)) => (task, Some(MessageId::from(message))),
        None => (reference, None),
    };
    let source = crate::doors::tasks::resolve(home, task, workspace)?;
    Ok(stepwell_store::fork(home, &source, &TaskId::generate(), message.as_ref())?.id)
}

fn command_line_settings(args: &RunArgs) -> SettingsLayer {
    SettingsLayer {
        model: args.model.clone(),
        mode: args.mode.clone(),
        permission_mode: args.permission_mode,
        max_turns: args.max_turns,
        max_cost_usd: args.max_cost,
        max_tokens: args.max_tokens,
        effort: args.effort.map(|effort| match effort {
            EffortArg::None => stepwell_llm::Effort::None,
            EffortArg::Low => stepwell_llm::Effort::Low,
            EffortArg::Medium => stepwell_llm::Effort::Medium,
            EffortArg::High => stepwell_llm::Effort::High,
        }),
        ..SettingsLayer::default()
    }
}

/// What is counted while a run is shown.
#[derive(Default)]
struct Tally {
    turns: u64,
    usage: stepwell_protocol::Usage,
    refused: Vec<String>,
    /// Summaries of requests that are open.
    asked: Vec<(stepwell_protocol::ApprovalId, String)>,
}

impl Tally {
    fn count(&mut self, event: &Event) {
        match event {
            Event::Usage { usage, .. } => {
                self.turns += 1;
                self.usage += *usage;
            }
            Event::ApprovalRequested { request } => {
                self.asked.push((request.id.clone(), request.preview.summary.clone()));
            }
            Event::ApprovalResolved { id, answer, source: ApprovalSource::Policy } if !answer.is_yes() => {
                let what = self.asked.iter().find(|(asked, _)| asked == id).map(|(_, what)| what.clone());
                self.refused.push(what.unwrap_or_else(|| id.to_string()));
            }
            _ => {}
        }
    }
}

/// A run that is looked at until its end.
struct Watch<'a> {
    engine: &'a Engine,
    session: &'a Session,
    language: Language,
    tally: Tally,
}

impl Watch<'_> {
    /// The first interrupt cancels the run and waits for what is kept; the second quits.
    async fn until_end(
        &mut self,
        follower: &mut Follower,
        mut interrupts: Interrupts,
        show: &mut dyn Show,
    ) -> anyhow::Result<()> {
        let mut interrupted = false;
        let mut ended = Box::pin(self.session.run_end());
        loop {
            tokio::select! {
                biased;
                () = interrupts.next() => {
                    if interrupted {
                        std::process::exit(i32::from(Exit::Interrupted.number()));
                    }
                    interrupted = true;
                    let words = self.language.pick("stopping; once more quits at once", "正在停止；再按一次立即退出");
                    terminal::error_line(&format!("\n{words}"));
                    self.engine.submit(Command::Cancel { task: self.session.task.clone() }).await?;
                }
                record = follower.next() => match record {
                    Some(record) => self.take(&record, show),
                    None => return Ok(()),
                },
                // Polled last: everything queued is shown before the end is looked at.
                _ = &mut ended => break,
            }
        }
        self.engine.end_session(&self.session.task).await;
        while let Some(record) = follower.next().await {
            self.take(&record, show);
        }
        Ok(())
    }

    fn take(&mut self, record: &EventRecord, show: &mut dyn Show) {
        self.tally.count(&record.event);
        show.event(record);
    }
}

/// Ctrl-C and the polite request to end.
struct Interrupts {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Interrupts {
    fn listen() -> anyhow::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// The paths a command line names, seen from the folder it was given in.
fn beside(cwd: &std::path::Path, path: &std::path::Path) -> PathBuf {
    if path.is_absolute() { path.to_path_buf() } else { cwd.join(path) }
}
