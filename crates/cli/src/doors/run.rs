//! `stepwell run`: one request, headless, then exit.

mod input;
mod notes;
mod prompt;
mod result;
mod schema;
mod text;
mod watch;
mod wire;

use std::path::{Path, PathBuf};
use std::time::Duration;

use stepwell_agent::{Engine, EngineOptions, PLAN_MODE, PlanApproval};
use stepwell_protocol::{Command, EventRecord, MessageId, Part, Role, RunEnd, Seq, TaskId};
use stepwell_store::Home;
use stepwell_transcript::Transcript;
use stepwell_workspace::files::{self, Privacy};

use crate::args::{EffortArg, InputFormat, OutputFormat, RunArgs};
use crate::assemble::{Assembly, AssemblyOptions, RequestAdditions};
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::language::Language;
use crate::report;
use crate::settings::{Places, SettingsLayer};

use input::Input;
use result::RunResult;
use schema::AnswerSchema;
use watch::{OpenRequests, Watch};

/// Shows a run as it goes and its end; one for each output format.
trait Show {
    fn begin(&mut self, task: &TaskId);
    /// An event, and what is known of the run with it.
    fn event(&mut self, record: &EventRecord, transcript: &Transcript);
    fn end(&mut self, result: &RunResult);
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
    if args.input_format == InputFormat::StreamJson && args.output_format != OutputFormat::StreamJson {
        return Err(report::usage(
            "a program that answers must see what is asked",
            "give `--output-format stream-json` with `--input-format stream-json`",
        ));
    }
    let here = crate::assemble::current_dir()?;
    let schema =
        args.output_schema.as_ref().map(|path| AnswerSchema::read(&beside(&here, path))).transpose()?;
    let answer_file =
        args.output_last_message.as_ref().map(|path| answer_file(&beside(&here, path))).transpose()?;
    let mut program = (args.input_format == InputFormat::StreamJson).then(Input::open);
    let prompt = match &mut program {
        Some(input) if args.prompt.is_empty() && args.prompt_file.is_none() => input.first_message().await,
        _ => prompt::read(&args)?,
    };
    // Removed with everything in it when this function is left, in whatever way.
    let own_data =
        args.ephemeral.then(|| tempfile::Builder::new().prefix("stepwell-").tempdir()).transpose()?;
    let assembly = assemble(&args, cwd, own_data.as_ref().map(tempfile::TempDir::path), schema.as_ref())?;
    if !args.quiet {
        assembly.tell_withheld();
    }
    check_model(&assembly, &args)?;
    let options = EngineOptions {
        approval_deadline: Duration::from_secs(args.approval_timeout),
        ..EngineOptions::default()
    };
    let (engine, task, from, command) =
        start(&assembly, assembly.engine_with(options), &args, prompt).await?;
    let language = Language::choose(assembly.settings.language().as_deref());
    let mut show: Box<dyn Show> = match args.output_format {
        OutputFormat::Text => Box::new(text::TextShow::new(&args, language)),
        OutputFormat::Json => Box::new(wire::JsonShow::new()),
        OutputFormat::StreamJson => Box::new(wire::StreamShow::new()),
    };
    let interrupts = Interrupts::listen()?;
    let program = program.map(|input| (input, engine.attend(&task)));
    // A task goes on with the model it had, unless another one is named.
    if let (Some(model), true) = (&args.model, args.resume.is_some() || args.fork.is_some()) {
        engine.submit(Command::SetModel { task: task.clone(), model: model.clone() }).await?;
    }
    if let (Some(mode), true) = (planning(&args), args.resume.is_some() || args.fork.is_some()) {
        engine.submit(Command::SetMode { task: task.clone(), mode }).await?;
    }
    engine.submit(command).await?;
    show.begin(&task);
    let session = engine.session(&task)?;
    let mut watch = Watch {
        engine: &engine,
        session: &session,
        language,
        follower: engine.follow(&task, from).await?,
        interrupts,
        program,
        program_left: false,
        transcript: Transcript::default(),
        answer: None,
        seen: from,
        open: OpenRequests::default(),
    };
    let number = stepwell_store::read_info(assembly.home(), &task)?.number;
    loop {
        let Some(end) = until_answer(&mut watch, schema.as_ref(), show.as_mut()).await? else {
            // Quit at once: what runs for the task is dropped on the way out, and with it every process it started.
            return Ok(Exit::Interrupted);
        };
        let may_go_on = watch.program.as_ref().is_some_and(|(input, _)| input.is_open());
        if !may_go_on {
            watch.finish(show.as_mut()).await?;
        }
        let kept = (!args.ephemeral).then_some(number);
        let result = RunResult::of(&watch, end, schema.as_ref(), kept, started.elapsed());
        if let (Some(path), Some(answer)) = (&answer_file, result.answer()) {
            write_answer(path, answer)?;
        }
        show.end(&result);
        if !may_go_on {
            return Ok(result.exit);
        }
        if !watch.next_message(show.as_mut()).await? {
            watch.finish(show.as_mut()).await?;
            return Ok(result.exit);
        }
    }
}

/// Watches a run to its end. An answer that does not fit the schema is asked for once more.
async fn until_answer(
    watch: &mut Watch<'_>,
    schema: Option<&AnswerSchema>,
    show: &mut dyn Show,
) -> anyhow::Result<Option<RunEnd>> {
    let end = watch.until_run_end(show).await?;
    let (Some(RunEnd::Answered), Some(schema)) = (&end, schema) else { return Ok(end) };
    let Err(problems) = schema.check(result::text_of(watch.answer.as_deref()).unwrap_or_default()) else {
        return Ok(end);
    };
    let parts = vec![Part::text(schema::correction(&problems))];
    watch.engine.submit(Command::SendMessage { task: watch.session.task.clone(), parts }).await?;
    watch.until_run_end(show).await
}

fn assemble(
    args: &RunArgs,
    workspace: PathBuf,
    own_data: Option<&Path>,
    schema: Option<&AnswerSchema>,
) -> anyhow::Result<Assembly> {
    let places = Places::find()?;
    let places = match own_data {
        Some(folder) => places.with_data(folder.to_path_buf()),
        None => places,
    };
    let added = args.append_system_prompt.clone().into_iter().chain(schema.map(AnswerSchema::instruction));
    let added: Vec<String> = added.filter(|text| !text.trim().is_empty()).collect();
    Assembly::in_places(
        places,
        AssemblyOptions {
            workspace,
            extra_roots: args
                .add_dir
                .iter()
                .map(|path| crate::assemble::workspace_root(Some(path)))
                .collect::<anyhow::Result<_>>()?,
            command_line: command_line_settings(args),
            record: args.record.clone(),
        },
        RequestAdditions {
            system_prompt: (!added.is_empty()).then(|| added.join("\n\n")),
            answer_schema: schema.map(|schema| schema.schema.clone()),
            plan_approval: match (args.plan_only, args.approve_plan) {
                (true, _) => PlanApproval::Keep,
                (false, true) => PlanApproval::Approve,
                (false, false) => PlanApproval::Ask,
            },
        },
    )
}

/// The file the answer goes to, if one can be written there: a wrong path is told before anything is spent.
fn answer_file(path: &Path) -> anyhow::Result<PathBuf> {
    let wrong = |problem: &str| {
        report::usage(
            format!("the answer cannot be written to `{}`: {problem}", path.display()),
            "name a file in a folder that exists",
        )
    };
    if path.exists() && !path.is_file() {
        return Err(wrong("it is no plain file"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(wrong("its folder does not exist"));
    }
    Ok(path.to_path_buf())
}

fn write_answer(path: &Path, answer: &str) -> anyhow::Result<()> {
    let end = if answer.ends_with('\n') { "" } else { "\n" };
    Ok(files::write_atomic(path, format!("{answer}{end}").as_bytes(), Privacy::Shared)?)
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
    engine: Engine,
    args: &RunArgs,
    prompt: Option<Vec<Part>>,
) -> anyhow::Result<(Engine, TaskId, Seq, Command)> {
    let home = assembly.home();
    if let Some(reference) = &args.resume {
        let task = crate::doors::tasks::resolve(home, reference, &assembly.workspace)?;
        let from = engine.open(&task).await?.last_seq();
        let command = match prompt {
            Some(parts) if args.edit.is_some() => {
                let message = user_message(home, &task, args.edit.as_deref().unwrap_or_default())?;
                Command::EditMessage { task: task.clone(), message, parts }
            }
            None if args.edit.is_some() => return Err(no_request()),
            Some(parts) => Command::SendMessage { task: task.clone(), parts },
            None => Command::ResumeTask { task: task.clone() },
        };
        return Ok((engine, task, from, command));
    }
    let parts = prompt.ok_or_else(no_request)?;
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

fn no_request() -> anyhow::Error {
    report::usage("there is no request", "give it as an argument, with --prompt-file, or on standard input")
}

/// The person's message that an id or its start names.
fn user_message(home: &Home, task: &TaskId, reference: &str) -> anyhow::Result<MessageId> {
    let history = stepwell_store::ModelHistory::of(&stepwell_store::read_log(home, task)?);
    let messages = history.messages();
    let own = messages.iter().filter(|message| message.role == Role::User);
    let found: Vec<&MessageId> =
        own.map(|message| &message.id).filter(|id| id.as_str().starts_with(reference)).collect();
    match found.as_slice() {
        [message] if !reference.is_empty() => Ok((*message).clone()),
        several => {
            let problem = if several.is_empty() || reference.is_empty() { "no" } else { "more than one" };
            Err(report::usage(
                format!("{problem} message of yours in the task begins with `{reference}`"),
                "`stepwell tasks show TASK --ids` lists them",
            ))
        }
    }
}

fn fork(home: &Home, reference: &str, workspace: &Path) -> anyhow::Result<TaskId> {
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
        mode: args.mode.clone().or_else(|| args.plan_only.then(|| PLAN_MODE.to_owned())),
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

/// The mode that makes a plan, where the command line asks for one.
fn planning(args: &RunArgs) -> Option<String> {
    let is_asked = args.plan_only || args.mode.as_deref() == Some(PLAN_MODE);
    is_asked.then(|| PLAN_MODE.to_owned())
}

/// The paths a command line names, seen from the folder it was given in.
fn beside(cwd: &Path, path: &Path) -> PathBuf {
    if path.is_absolute() { path.to_path_buf() } else { cwd.join(path) }
}
