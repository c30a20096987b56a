//! `stepwell why -- COMMAND`: runs a failing command under its debugger and reports why it fails. No model, no network.

mod html;
mod input;
mod markdown;
mod text;

use std::sync::Arc;
use std::time::Duration;

use stepwell_debug::adapters::Search;
use stepwell_debug::failure::{FailureReport, Verdict};
use stepwell_debug::launch::{self, LaunchOptions, LaunchPlan};
use stepwell_debug::session::ProgramStdin;
use stepwell_debug::targets::{self, Description};
use stepwell_debug::{Debugger, DebuggerOptions, Wait};
use stepwell_tools::SyntaxFunctions;
use stepwell_workspace::files::{self, Privacy};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::args::WhyArgs;
use crate::assemble::confinement::OWN_PROGRAM;
use crate::assemble::{Assembly, debugging, workspace_root};
use crate::doors::adapters::OnDemand;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::language::Language;
use crate::report;
use crate::terminal::{Style, error_line, error_text, out, out_line};

/// What a second run may take beyond three times the first.
const SECOND_RUN: Duration = Duration::from_secs(15);

pub async fn run(args: WhyArgs) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let language = Language::choose(assembly.settings.language().as_deref());
    let workspace = workspace_root(None)?;
    let mut search = debugging::search(&assembly.places, &assembly.settings, &workspace)?;
    // The code that fails may lie above the folder the command is given in.
    search.workspace = project_root(&workspace);
    // It is the person's own command, so it gets the person's own environment.
    let installer = if assembly.settings.auto_installs_adapters() {
        OnDemand::allowed(&assembly.places)
    } else {
        OnDemand::asking(&assembly.places, language)
    };
    let options = DebuggerOptions {
        search,
        keeper: Some(OWN_PROGRAM.into()),
        installer: Some(installer),
        function_finder: Some(Arc::new(SyntaxFunctions)),
        ..DebuggerOptions::default()
    };
    let debugger = Arc::new(Debugger::new(options));
    let input = input::read(Duration::from_secs(args.timeout), language)?;
    let cancel = CancellationToken::new();
    let mut interrupts = Interrupts::listen()?;
    let work = explain(&debugger, &args, &workspace, input, language, &cancel);
    tokio::pin!(work);
    let outcome = tokio::select! {
        outcome = &mut work => outcome,
        () = interrupts.next() => {
            cancel.cancel();
            debugger.end_all().await;
            return Ok(Exit::Interrupted);
        }
    };
    debugger.end_all().await;
    let report = outcome?;
    show(&report, &args, language)?;
    Ok(match report.verdict {
        Verdict::Passed => Exit::Done,
        Verdict::Failed | Verdict::Hangs => Exit::Failed,
    })
}

/// Runs the command, up to `--until-fails` times, and a second time to follow the values of a failure.
async fn explain(
    debugger: &Arc<Debugger>,
    args: &WhyArgs,
    workspace: &std::path::Path,
    input: ProgramStdin,
    language: Language,
    cancel: &CancellationToken,
) -> anyhow::Result<FailureReport> {
    let style = Style::for_stderr();
    let rounds = args.until_fails.unwrap_or(1).max(1);
    let mut words = Vec::new();
    for word in &args.command {
        words.push(
            word.to_str()
                .map(str::to_owned)
                .ok_or_else(|| report::usage("the command is not UTF-8", "rename what it names"))?,
        );
    }
    // Resolved once: every run is of the same command.
    let (mut plan, how, warnings) = planned(&words, workspace, &debugger.options().search)?;
    plan.stdin = input;
    let mut round = 0;
    loop {
        round += 1;
        if round > 1 && !args.quiet {
            let again = language.word("passed; again");
            error_line(&style.dim(&format!("{again} ({round}/{rounds})")));
        }
        let started = Instant::now();
        if round == 1 && !args.quiet && !debugger.records(&plan) {
            error_line(&style.dim(&language.say(&how)));
        }
        for warning in warnings.iter().filter(|_| round == 1) {
            error_line(&format!("{} {}", style.yellow(language.warning()), language.say(warning)));
        }
        let time = Duration::from_secs(args.timeout);
        let (options, wait) = bounds(args, time, cancel);
        let mut found = debugger
            .explain(plan.clone(), options, args.failure.map(usize::from), &wait)
            .await
            .map_err(reported)?;
        debugger.forget_ended();
        if found.verdict == Verdict::Passed && round < rounds {
            continue;
        }
        if rounds > 1 {
            found.notes.push(format!("run {round} of at most {rounds}"));
        }
        if !args.once && debugger.can_follow(&found) {
            if !args.quiet {
                let again =
                    language.word("it fails; once more, to see how the values came to be (--once: not)");
                error_line(&style.dim(again));
            }
            let time = (started.elapsed() * 3 + SECOND_RUN).min(time);
            let (mut options, wait) = bounds(args, time, cancel);
            options.on_output = Arc::new(|_| {});
            // The failure is known; that it could not be followed is only a note.
            if let Err(error) = debugger.follow_writes(plan.clone(), options, &mut found, &wait).await {
                found.notes.push(error.to_string());
            }
            debugger.forget_ended();
        }
        return Ok(found);
    }
}

fn planned(
    words: &[String],
    workspace: &std::path::Path,
    search: &Search,
) -> anyhow::Result<(LaunchPlan, String, Vec<String>)> {
    let mut ctx = launch::context(workspace);
    ctx.trusted = search.trusted;
    let target = targets::describe(&Description::Command(words.to_vec()), &ctx)
        .map_err(|error| undebuggable(&launch::from_target(error)))?;
    let (how, warnings) = (target.how.clone(), target.warnings.clone());
    Ok((LaunchPlan::of_target(target).with_first_failing_tests(), how, warnings))
}

fn bounds(args: &WhyArgs, time: Duration, cancel: &CancellationToken) -> (LaunchOptions, Wait) {
    let mut options = LaunchOptions::new(time, cancel.clone());
    options.runs_again = !args.once;
    if !args.quiet {
        // A build's output comes in pieces of lines.
        options.on_output = Arc::new(error_text);
    }
    (options, Wait { deadline: Instant::now() + time, cancel: cancel.clone() })
}

/// The command cannot be debugged as it is written.
fn undebuggable(error: &stepwell_debug::Error) -> anyhow::Error {
    let hint = error.hint().unwrap_or("`stepwell adapters doctor` checks the debuggers").to_owned();
    report::usage(error.to_string(), hint)
}

/// Turns an error of the debugger into one for the terminal.
fn reported(error: stepwell_debug::Error) -> anyhow::Error {
    let hint = error.hint().unwrap_or("`stepwell adapters doctor` checks the debuggers").to_owned();
    report::failed(error.to_string(), hint)
}

/// Returns the nearest project folder above: its code counts as the person's own.
fn project_root(folder: &std::path::Path) -> std::path::PathBuf {
    let marks = [".git", "Cargo.toml", "pyproject.toml", "package.json", "go.mod"];
    let root = folder.ancestors().find(|above| marks.iter().any(|mark| above.join(mark).exists()));
    root.unwrap_or(folder).to_path_buf()
}

fn show(report: &FailureReport, args: &WhyArgs, language: Language) -> anyhow::Result<()> {
    if args.json {
        out_line(&serde_json::to_string_pretty(report)?);
    } else if args.md {
        out(&markdown::render(report, language));
    } else {
        out(&text::render(report, language, Style::for_stdout()));
    }
    if let Some(path) = &args.html {
        let page = html::render(report, &args.command_line(), language);
        files::write_atomic(path, page.as_bytes(), Privacy::Shared)?;
        error_line(&format!("{} {}", language.word("written:"), path.display()));
    }
    Ok(())
}
