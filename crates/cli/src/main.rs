//! The `stepwell` binary: reads the command line, opens one door, turns its outcome into an exit code.

mod args;
mod assemble;
mod checks;
mod columns;
mod doors;
mod exit;
mod interrupts;
mod keys;
mod language;
mod lines;
mod logging;
mod models;
mod needed;
mod report;
mod settings;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use stepwell_sandbox::init;
use stepwell_tool_runtime::near_names;
use stepwell_workspace::process::keeper;

use crate::args::{Cli, Door, McpCommand};
use crate::exit::Exit;
use crate::language::Language;
use crate::logging::KeepLog;

fn main() -> ExitCode {
    // Nothing that is started from here on, in whatever way, gets more than its standard streams.
    stepwell_sandbox::keep_descriptors_private();
    // The launcher of a sandbox is this program too; it must not spend time on anything else.
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some((first, rest)) = words.split_first()
        && first == init::LAUNCHER_WORD
    {
        return ExitCode::from(init::main(rest));
    }
    // So is who ends everything a debug adapter started.
    if let Some((first, rest)) = words.split_first()
        && first == keeper::KEEPER_WORD
    {
        return ExitCode::from(keeper::main(rest));
    }
    // So is the reader of a PDF, which may not survive it.
    if let [word] = words.as_slice()
        && word == stepwell_tools::PDF_TEXT_WORD
    {
        return ExitCode::from(stepwell_tools::pdf_text_main());
    }
    let cli = parse().unwrap_or_else(|error| refuse(&error));
    logging::install(cli.verbose, keep_log(&cli.door));
    match settings::keep_given(&cli.config).and_then(|()| open(cli.door)) {
        Ok(exit) => exit.into(),
        Err(error) => report::print(&error).into(),
    }
}

/// Reads the command line. Its help is in the person's language; the settings are not read for it.
fn parse() -> Result<Cli, clap::Error> {
    let command = language::help::in_language(Cli::command(), Language::of_environment());
    let mut matches = command.try_get_matches().map_err(with_suggestion)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut Cli::command()))
}

/// Says what is wrong with the command line, in the person's language, and ends.
fn refuse(error: &clap::Error) -> ! {
    if error.use_stderr() && Language::of_environment() == Language::Chinese {
        terminal::error_text(&Language::Chinese.say(&error.render().to_string()));
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Adds the commands that a misspelt one is close to, where clap finds none: it passes over short words.
fn with_suggestion(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand).cloned() else {
        return error;
    };
    if error.get(ContextKind::SuggestedSubcommand).is_none() {
        let mut parent = Cli::command();
        for argument in std::env::args().skip(1).take_while(|argument| *argument != word) {
            parent = parent.find_subcommand(&argument).cloned().unwrap_or(parent);
        }
        let near = near_names(&word, parent.get_subcommands().map(clap::Command::get_name));
        if !near.is_empty() {
            let near = near.into_iter().map(str::to_owned).collect();
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
        }
    }
    error
}

/// A run that leaves nothing behind leaves nothing in the log file either.
fn keep_log(door: &Door) -> KeepLog {
    match door {
        Door::Run(args) if args.ephemeral => KeepLog::Nowhere,
        _ => KeepLog::InFile,
    }
}

fn open(door: Door) -> anyhow::Result<Exit> {
    match door {
        Door::Run(args) => wait(doors::run::run(*args)),
        Door::Tasks(command) => doors::tasks::run(command),
        Door::Tool(command) => wait(doors::tool::run(command)),
        Door::Mcp(args) => match args.command {
            Some(McpCommand::Config(config)) => doors::mcp::config::run(&config),
            Some(McpCommand::List { json }) => doors::mcp::servers::list(json),
            Some(McpCommand::Get { name, json }) => doors::mcp::servers::get(&name, json),
            Some(McpCommand::Add(add)) => doors::mcp::servers::add(&add),
            Some(McpCommand::Remove { name, scope }) => doors::mcp::servers::remove(&name, scope),
            Some(McpCommand::Login { name }) => wait(doors::mcp::servers::login(name)),
            Some(McpCommand::Test { name, json }) => wait(doors::mcp::servers::test(name, json)),
            None => wait(doors::mcp::run(args.serve)),
        },
        Door::Serve(args) if args.stdio => wait(doors::serve::stdio(args.at.cwd)),
        Door::Serve(args) => wait_on_threads(doors::serve::run(*args)),
        Door::Web(args) => wait_on_threads(doors::web::run(*args)),
        Door::Undo(args) => doors::checkpoints::undo(&args),
        Door::Redo(args) => doors::checkpoints::redo(&args),
        Door::Checkpoints(command) => doors::checkpoints::run(command),
        Door::Permissions(command) => wait(doors::permissions::run(command)),
        Door::Modes(command) => doors::modes::run(&command),
        Door::Agents(command) => doors::agents::run(&command),
        Door::Plan(command) => wait(doors::plan::run(command)),
        Door::Commands(command) => doors::commands::run(&command),
        Door::Skills(command) => wait(doors::skills::run(command)),
        Door::Models(args) => wait(doors::models::run(args)),
        Door::Doctor(args) => wait(doors::doctor::run(args)),
        Door::Why(args) => wait(doors::why::run(args)),
        Door::Adapters(command) => wait(doors::adapters::run(command)),
        Door::Demo(args) => wait(doors::demo::run(args)),
        Door::Sandbox(command) => wait(doors::sandbox::run(command)),
        Door::Index(args) => doors::index::run(args),
        Door::Env(command) => doors::env::run(command),
        Door::Config(command) => doors::config::run(command),
        Door::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "stepwell", &mut script);
            terminal::out(&String::from_utf8_lossy(&script));
            Ok(Exit::Done)
        }
        Door::Man { command } => {
            terminal::out(&String::from_utf8_lossy(&manual_page(&command)?));
            Ok(Exit::Done)
        }
    }
}

/// The page of the command that the words name.
fn manual_page(words: &[String]) -> anyhow::Result<Vec<u8>> {
    let mut page_of = Cli::command();
    page_of.build();
    for word in words {
        page_of = page_of.find_subcommand(word).cloned().ok_or_else(|| {
            let near = near_names(word, page_of.get_subcommands().map(clap::Command::get_name));
            let hint = match near.first() {
                Some(name) => format!("did you mean `{name}`? `stepwell --help` lists the commands"),
                None => "`stepwell --help` lists the commands".to_owned(),
            };
            report::usage(format!("there is no command `{word}`"), hint)
        })?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(page_of).render(&mut page)?;
    Ok(page)
}

/// Runs a door that serves many at once.
fn wait_on_threads<T>(door: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(threads).enable_all().build()?;
    let outcome = runtime.block_on(door);
    runtime.shutdown_background();
    outcome
}

/// Runs a door that waits for things, on this thread: one task at a time has work, and handing it from thread to
/// thread costs more than the work. Doors that do not wait never start the runtime.
fn wait<T>(door: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(door);
    // Nothing that still runs may hold up the exit; what must be kept is in the log already.
    runtime.shutdown_background();
    outcome
}
