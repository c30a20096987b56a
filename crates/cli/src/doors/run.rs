//! `stepwell run`: one request, headless, then exit.

mod prompt;
mod text;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;

use stepwell_agent::{Engine, Follower, Session};
use stepwell_protocol::{ApprovalSource, Command, Event, EventRecord, MessageId, Part, RunEnd, Seq, TaskId};
use stepwell_store::Home;
use stepwell_transcript::{Entry, Transcript};

use crate::args::{EffortArg, OutputFormat, RunArgs};
use crate::assemble::{Assembly, AssemblyOptions};
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::language::Language;
use crate::needed::Needed;
use crate::report;
use crate::settings::SettingsLayer;
use crate::terminal;

/// Shows a run as it goes and its end; one for each output format.
trait Show {
    fn begin(&mut self, task: &TaskId);
    /// An event, and what is known of the run with it.
    fn event(&mut self, record: &EventRecord, transcript: &Transcript);
    fn end(&mut self, result: &RunResult);
}

/// What a run came to.
struct RunResult {
    task: TaskId,
    /// The number people call it by.
    number: u32,
    end: RunEnd,
    /// The record of the answer, where there is one.
    answer: Option<Arc<EventRecord>>,
    exit: Exit,
    turns: u64,
    usage: stepwell_protocol::Usage,
    /// Calls the policy refused, in words.
    refused: Vec<String>,
    /// What would have let all of them pass.
    needed: Needed,
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
    let args = with_resumed_prompt(args);
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
    check_model(&assembly, &args)?;
    let (engine, task, from, command) = start(&assembly, &args, prompt).await?;
    let language = Language::choose(assembly.settings.language().as_deref());
    let mut show: Box<dyn Show> = match args.output_format {
        OutputFormat::Text => Box::new(text::TextShow::new(args.quiet, language)),
        OutputFormat::Json => Box::new(wire::JsonShow::new()),
        OutputFormat::StreamJson => Box::new(wire::StreamShow::new()),
    };
    let interrupts = Interrupts::listen()?;
    // A task goes on with the model it had, unless another one is named.
    if let (Some(model), true) = (&args.model, args.resume.is_some() || args.fork.is_some()) {
        engine.submit(Command::SetModel { task: task.clone(), model: model.clone() }).await?;
    }
    engine.submit(command).await?;
    show.begin(&task);
    let session = engine.session(&task)?;
    let mut follower = engine.follow(&task, from).await?;
    let mut watch = Watch {
        engine: &engine,
        session: &session,
        language,
        transcript: Transcript::default(),
        answer: None,
    };
    if !watch.until_end(&mut follower, interrupts, show.as_mut()).await? {
        // Quit at once: what runs for the task is dropped on the way out, and with it every process it started.
        return Ok(Exit::Interrupted);
    }
    let Watch { transcript, answer, .. } = watch;
    let end = session.run_end().await.unwrap_or(RunEnd::Cancelled);
    let (refused, needed) = refusals(&transcript);
    let exit = Exit::of_run(&end, !refused.is_empty());
    let number = stepwell_store::read_info(assembly.home(), &task)?.number;
    show.end(&RunResult {
        task,
        number,
        answer: answer.filter(|_| end == RunEnd::Answered),
        end,
        exit,
        turns: transcript.summary.totals.requests,
        usage: transcript.summary.totals.usage,
        refused,
        needed,
        duration: started.elapsed(),
    });
    Ok(exit)
}

/// What the chosen model cannot do is told before anything is sent to it.
fn check_model(assembly: &Assembly, args: &RunArgs) -> anyhow::Result<()> {
    let Some(name) = assembly.settings.model() else { return Ok(()) };
    let Some(info) = assembly.models().describe(&name) else { return Ok(()) };
    if args.max_cost.is_some() && info.price.is_none() {
        return Err(report::usage(
            format!("the price of `{name}` is not known, so --max-cost cannot be kept"),
            format!("use --max-tokens, or set the price under `[models.\"{}\"]` in the settings", info.id),
        ));
    }
    if !args.image.is_empty() && !info.images {
        return Err(report::usage(
            format!("`{name}` is not known to take images"),
            format!(
                "choose another model, or set `images = true` under `[models.\"{}\"]` in the settings",
                info.id
            ),
        ));
    }
    Ok(())
}

/// `--resume "go on"` means the newest task and a prompt: a task's name has no spaces in it.
fn with_resumed_prompt(mut args: RunArgs) -> RunArgs {
    if let Some(words) = args.resume.take_if(|reference| reference.contains(char::is_whitespace)) {
        args.prompt.insert(0, words);
        args.resume = Some("latest".into());
    }
    args
}

/// Opens the task the arguments mean, and the command that sets it going.
async fn start(
    assembly: &Assembly,
    args: &RunArgs,
    prompt: Option<Vec<Part>>,
) -> anyhow::Result<(Engine, TaskId, Seq, Command)> {
    let engine = assembly.engine();
    let home = assembly.home();
    if let Some(reference) = &args.resume {
        let task = crate::doors::tasks::resolve(home, reference, &assembly.workspace)?;
        let from = engine.open(&task).await?.last_seq();
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
        let from = engine.open(&task).await?.last_seq();
        return Ok((engine, task.clone(), from, Command::SendMessage { task, parts }));
    }
    let task = TaskId::generate();
    let command = Command::StartTask {
        task: task.clone(),
        prompt: parts,
        workspace: assembly.workspace.display().to_string(),
        mode: None,
        model: None,
        permission_mode: None,
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

/// What the policy refused, in words, and what would have let it pass.
fn refusals(transcript: &Transcript) -> (Vec<String>, Needed) {
    let mut needed = Needed::default();
    let mut refused = Vec::new();
    for item in transcript.items() {
        if let Entry::Approval { request, resolved: Some((answer, ApprovalSource::Policy)) } = &item.entry
            && !answer.is_yes()
        {
            needed.add(request);
            refused.push(request.preview.summary.clone());
        }
    }
    (refused, needed)
}

impl RunResult {
    /// The text of the answer.
    fn answer(&self) -> Option<&str> {
        match &self.answer.as_ref()?.event {
            Event::Answer { content, .. } => Some(content),
            _ => None,
        }
    }
}

/// A run that is looked at until its end.
struct Watch<'a> {
    engine: &'a Engine,
    session: &'a Session,
    language: Language,
    transcript: Transcript,
    /// The last answer; not folded, because it may be long and is shown as it comes.
    answer: Option<Arc<EventRecord>>,
}

impl Watch<'_> {
    /// The first interrupt cancels the run and waits for what is kept; the second quits, which `false` says.
    async fn until_end(
        &mut self,
        follower: &mut Follower,
        mut interrupts: Interrupts,
        show: &mut dyn Show,
    ) -> anyhow::Result<bool> {
        let mut interrupted = false;
        let mut ended = Box::pin(self.session.run_end());
        loop {
            tokio::select! {
                biased;
                () = interrupts.next() => {
                    if interrupted {
                        return Ok(false);
                    }
                    interrupted = true;
                    let words = self.language.pick("stopping; once more quits at once", "正在停止；再按一次立即退出");
                    terminal::error_line(&format!("\n{words}"));
                    self.engine.submit(Command::Cancel { task: self.session.task.clone() }).await?;
                }
                record = follower.next() => match record? {
                    Some(record) => {
                        self.take(&record, show);
                        // Nobody reads the answer any more (`| head`): the work is not worth going on with.
                        if terminal::reader_is_gone() && !interrupted {
                            interrupted = true;
                            self.session.cancel();
                        }
                    }
                    None => return Ok(true),
                },
                // Polled last: everything queued is shown before the end is looked at.
                _ = &mut ended => break,
            }
        }
        self.engine.end_session(&self.session.task).await;
        while let Some(record) = follower.next().await? {
            self.take(&record, show);
        }
        Ok(true)
    }

    fn take(&mut self, record: &Arc<EventRecord>, show: &mut dyn Show) {
        match &record.event {
            Event::Answer { .. } => self.answer = Some(Arc::clone(record)),
            Event::Token { .. } | Event::ReasoningToken { .. } | Event::PartialAnswer { .. } => {}
            _ => self.transcript.apply(record),
        }
        show.event(record, &self.transcript);
    }
}

/// The paths a command line names, seen from the folder it was given in.
fn beside(cwd: &std::path::Path, path: &std::path::Path) -> PathBuf {
    if path.is_absolute() { path.to_path_buf() } else { cwd.join(path) }
}
