//! Explains a failure from the records of a recorded run.

use super::report::{
    BlockedThread, Cause, CauseKind, Exception, FailureFrame, FailureReport, FailureSummary, FrameValue,
    Recursion, RecursionArgument, RecursionStep, SourceLocation, ValueHistory, ValueWrite, Verdict,
    WriteKind,
};
use super::{FRAMES, Origin, no_failure, output_tail, program_output, raised};
use crate::launch::LaunchPlan;
use crate::recorder::records::{
    CauseRecord, FailureOrigin, FailureRecord, FrameRecord, HandledRecord, Record, RecursionRecord,
    ValueRecord, WriteRecord,
};
use crate::recorder::{self, RecordedLanguage, RecordedRun};
use crate::stop_report::lines_around;
use crate::values::shortened;
use crate::{Debugger, Result, Wait};
use stepwell_workspace::process::Ending;

/// Failures that are listed.
const MOST_LISTED: usize = 50;

impl Debugger {
    /// Whether a plan's command is recorded from inside its interpreter instead of debugged.
    pub fn records(&self, plan: &LaunchPlan) -> bool {
        plan.single_launch().is_some_and(|resolved| recorder::command_of(resolved, self).is_some())
    }

    /// Explains how a plan's command failed by recording it; `None` where its interpreter could not be recorded.
    pub(super) async fn explain_recorded(
        &self,
        plan: &LaunchPlan,
        runs_again: bool,
        wanted: Option<usize>,
        wait: &Wait,
    ) -> Result<Option<FailureReport>> {
        let command = plan.single_launch().and_then(|resolved| recorder::command_of(resolved, self));
        let Some(command) = command else { return Ok(None) };
        let mut command = command.with_input(&plan.stdin);
        let run = self.run_recorded(&command, plan, wait).await?;
        if run.records.is_empty() {
            return Ok(None);
        }
        if command.language() == RecordedLanguage::Node {
            let options = self.options();
            let finder = options.function_finder.as_deref();
            return Ok(Some(raised::report_of_run(&run, plan, wanted, finder, &options.search.workspace)));
        }
        let mut report = report_of(&run, command.language(), wanted);
        // A program that computed for long was not followed to its end: once more, the failing functions alone.
        let lost = chosen_failure(&run, wanted).filter(|failure| failure.exhausted && runs_again);
        if let Some(failure) = lost {
            let functions: Vec<(String, i64)> =
                failure.frames.iter().take(3).map(|frame| (frame.file.clone(), frame.first_line)).collect();
            command.focus(&functions);
            let again = self.run_recorded(&command, plan, wait).await?;
            let second = report_of(&again, command.language(), wanted);
            let is_same = second.exception == report.exception && second.place == report.place;
            if is_same {
                report = second;
            } else {
                report.notes.push(
                    "how the values came to be is not known: the program failed in another way when it was followed"
                        .to_owned(),
                );
            }
        }
        report.is_followed = true;
        Ok(Some(report))
    }
}

/// All failures in the order they happened; where one explains another, only the explaining one.
fn failures(run: &RecordedRun) -> Vec<&FailureRecord> {
    let all: Vec<&FailureRecord> = run
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Failure(failure) => Some(failure),
            _ => None,
        })
        .collect();
    // A pool raises its child's exception again in the parent, without the frames that matter.
    let children: Vec<(&str, &str)> = all
        .iter()
        .filter(|failure| failure.how == FailureOrigin::Child)
        .map(|failure| (failure.kind.as_str(), failure.message.as_str()))
        .collect();
    let is_repeated = |failure: &&FailureRecord| {
        failure.how != FailureOrigin::Child
            && failure.causes.iter().any(|cause| cause.kind.ends_with("RemoteTraceback"))
            && children.contains(&(failure.kind.as_str(), failure.message.as_str()))
    };
    let mut kept: Vec<&FailureRecord> = all.into_iter().filter(|failure| !is_repeated(failure)).collect();
    // Tests fail one after the other; otherwise what ended the program comes first, then what it started.
    kept.sort_by_key(|failure| match failure.how {
        FailureOrigin::Test => 0,
        FailureOrigin::Uncaught | FailureOrigin::Command => 1,
        FailureOrigin::Child => 2,
        FailureOrigin::Thread => 3,
    });
    kept
}

/// The failure that a report is about: the wanted one, else the first.
fn chosen_failure(run: &RecordedRun, wanted: Option<usize>) -> Option<&FailureRecord> {
    let all = failures(run);
    let at = wanted.unwrap_or(1).saturating_sub(1);
    all.get(at).or_else(|| all.first()).copied()
}

/// Returns the signal that an exit code stands for, as a shell has it, where nothing says that the program chose it.
fn signal_behind(code: i32, records: &[Record]) -> Option<String> {
    let is_chosen = |record: &Record| matches!(record, Record::Exit(_) | Record::End(_) | Record::Failure(_));
    let signal = code.checked_sub(128).filter(|signal| (1..=31).contains(signal))?;
    (!records.iter().any(is_chosen)).then(|| program_output::signal_name(signal))
}

fn report_of(run: &RecordedRun, language: RecordedLanguage, wanted: Option<usize>) -> FailureReport {
    let (exit_code, signal, hangs) = match run.ending {
        Ending::Exited(code) => (Some(i64::from(code)), signal_behind(code, &run.records), false),
        Ending::Signalled(signal) => {
            (Some(128 + i64::from(signal)), Some(program_output::signal_name(signal)), false)
        }
        Ending::TimedOut | Ending::Cancelled => (None, None, true),
    };
    let lost_thread = run
        .records
        .iter()
        .any(|record| matches!(record, Record::Failure(failure) if failure.how == FailureOrigin::Thread));
    let mut report = FailureReport {
        exit_code,
        signal,
        output: output_tail(&run.output),
        verdict: match exit_code {
            _ if hangs => Verdict::Hangs,
            // Python ends a thread that raises, and then the program as if nothing had happened.
            Some(0) if !lost_thread => Verdict::Passed,
            _ => Verdict::Failed,
        },
        ..FailureReport::default()
    };
    if exit_code == Some(0) && lost_thread {
        report.notes.push("the program ended with exit code 0 all the same".to_owned());
    }
    match report.verdict {
        Verdict::Passed => {}
        Verdict::Hangs => add_hang(&mut report, run),
        Verdict::Failed => add_failure(&mut report, run, language, wanted),
    }
    for record in &run.records {
        if let Record::Problem { message } = record {
            report.notes.push(format!("the recorder failed: {message}"));
        }
    }
    report.summary = report.sentence();
    report
}

fn add_failure(
    report: &mut FailureReport,
    run: &RecordedRun,
    language: RecordedLanguage,
    wanted: Option<usize>,
) {
    let all = failures(run);
    if let Some(failure) = chosen_failure(run, wanted) {
        fill(report, failure);
        if let Some(wanted) = wanted.filter(|wanted| *wanted > all.len()) {
            report.notes.push(no_failure(wanted, all.len()));
        }
        if all.len() > 1 {
            let number = all.iter().position(|one| std::ptr::eq(*one, failure)).unwrap_or_default();
            report.failure = Some(number + 1);
            report.failures =
                all.iter().zip(1..).take(MOST_LISTED).map(|(one, at)| summary_of(one, at)).collect();
            if all.len() > MOST_LISTED {
                report
                    .notes
                    .push(format!("{} failures in all; the first {MOST_LISTED} are listed", all.len()));
            }
        }
        if language == RecordedLanguage::Bash {
            program_output::refine_bash(report, &run.output);
        }
        return;
    }
    if let Some(exit) = run.records.iter().rev().find_map(|record| match record {
        Record::Exit(exit) => Some(exit),
        _ => None,
    }) {
        set_frames(report, &exit.frames);
        report.causes = exit.handled.iter().rev().take(2).map(handled_before).collect();
        if !exit.message.is_empty() {
            report.exception =
                Some(Exception { kind: "SystemExit".to_owned(), message: exit.message.clone() });
        }
        return;
    }
    let crash = run.records.iter().find_map(|record| match record {
        Record::Crash(text) => Some(text),
        _ => None,
    });
    if let Some((exception, place)) = crash.and_then(|text| program_output::python_fault(text)) {
        report.exception = Some(exception);
        report.place = place;
        report.notes.push("the interpreter itself was ended; its variables could not be read".to_owned());
        return;
    }
    if let Some((exception, place)) = program_output::traceback(&run.output) {
        report.exception = Some(exception);
        report.place = place;
        report.notes.push("this is what the program printed; it was not seen to happen".to_owned());
    }
    let handled = run.records.iter().filter_map(|record| match record {
        Record::End(end) => Some(&end.handled),
        _ => None,
    });
    report.causes = handled.flatten().rev().take(2).map(handled_before).collect();
}

fn add_hang(report: &mut FailureReport, run: &RecordedRun) {
    let hangs: Vec<&[FrameRecord]> = run
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Hang(hang) => Some(hang.frames.as_slice()),
            _ => None,
        })
        .collect();
    if let Some(first) = hangs.first() {
        set_frames(report, first);
    } else if let Some(failure) = failures(run).first() {
        // Bash runs its exit trap also when it is ended.
        set_frames(report, &failure.frames);
    }
    for (frames, at) in hangs.iter().zip(1..).skip(1) {
        report.blocked.extend(frames.first().map(|frame| BlockedThread {
            name: format!("thread {at}"),
            waits_for: String::new(),
            place: Some(SourceLocation::at(&frame.file, frame.line, &frame.function)),
        }));
    }
}

fn fill(report: &mut FailureReport, failure: &FailureRecord) {
    report.test = failure.test.as_ref().map(|test| match failure.phase.as_deref() {
        Some("setup") => format!("{test} (in its setup)"),
        Some("teardown") => format!("{test} (in its teardown)"),
        _ => test.clone(),
    });
    report.exception =
        Some(Exception { kind: failure.kind.clone(), message: shortened(&failure.message, 2000) });
    report.library_frames = failure.library_frames;
    report.causes = failure.causes.iter().filter_map(cause_of).collect();
    report.recursion = failure.recursion.as_ref().map(recursion_of);
    let mut frames = failure.frames.as_slice();
    if let Some(step) = report.recursion.as_ref().and_then(|recursion| recursion.steps.last()) {
        // The overflow may come in a call that is about to begin; the call that repeats is the place.
        let at = frames.iter().position(|frame| frame.file == step.file && frame.line == step.line);
        frames = &frames[at.unwrap_or_default()..];
        frames = &frames[..frames.len().min(2)];
    }
    set_frames(report, frames);
    match failure.how {
        FailureOrigin::Thread => {
            report.notes.push("it was raised in a thread other than the main one".to_owned());
        }
        FailureOrigin::Child => report.notes.push("it was raised in a child process".to_owned()),
        _ => {}
    }
}

fn set_frames(report: &mut FailureReport, frames: &[FrameRecord]) {
    report.place = frames.first().map(|frame| SourceLocation::at(&frame.file, frame.line, &frame.function));
    report.frames = frames.iter().take(FRAMES).map(frame_of).collect();
    for at in 0..report.frames.len() {
        let caller = frames.get(at + 1);
        let values = frames[at].values.iter().map(|value| value_of(value, caller)).collect();
        if at == 0 {
            report.values = values;
        } else {
            report.frames[at].values = values;
        }
    }
    // Where the line names nothing that has a value, what is there is shown.
    if report.values.is_empty()
        && let Some(frame) = report.frames.first()
    {
        let shown = frame.variables.iter().take(4);
        report.values = shown
            .map(|row| ValueHistory {
                name: row.name.clone(),
                value: row.value.clone(),
                ..ValueHistory::default()
            })
            .collect();
    }
}

fn frame_of(frame: &FrameRecord) -> FailureFrame {
    FailureFrame {
        function: frame.function.clone(),
        source: lines_around(std::path::Path::new(&frame.file), frame.line, 4),
        file: frame.file.clone(),
        line: frame.line,
        variables: variables_of(frame),
        values: Vec::new(),
    }
}

fn variables_of(frame: &FrameRecord) -> Vec<FrameValue> {
    let rows = frame.variables.iter().filter_map(|(name, value, kind)| {
        Some(FrameValue {
            name: name.clone(),
            value: value.clone()?,
            kind: Some(kind.clone()).filter(|kind| !kind.is_empty()),
        })
    });
    rows.collect()
}

fn value_of(value: &ValueRecord, caller: Option<&FrameRecord>) -> ValueHistory {
    let origin = caller.filter(|_| value.passed).map(|caller| {
        let at = SourceLocation::at(&caller.file, caller.line, &caller.function);
        Origin { file: at.file, line: at.line, source: at.source, from_caller: true, observed: true }
    });
    ValueHistory {
        name: value.name.clone(),
        value: value.value.clone(),
        writes: value.writes.iter().map(write_of).collect(),
        changed_since: value.changed_since,
        origin,
    }
}

fn write_of(write: &WriteRecord) -> ValueWrite {
    let at = SourceLocation::at(&write.file, write.line, "");
    let inputs = write.inputs.iter().map(|(name, value)| FrameValue {
        name: name.clone(),
        value: value.clone(),
        kind: None,
    });
    ValueWrite {
        file: at.file,
        line: at.line,
        source: at.source,
        value: write.value.clone(),
        how: if write.changes { WriteKind::Changed } else { WriteKind::Set },
        inputs: inputs.collect(),
    }
}

fn cause_of(cause: &CauseRecord) -> Option<Cause> {
    if cause.kind.ends_with("RemoteTraceback") {
        return None;
    }
    Some(Cause {
        how: match cause.how.as_str() {
            "cause" => CauseKind::Cause,
            "part" => CauseKind::Part,
            _ => CauseKind::WhileHandling,
        },
        exception: Exception { kind: cause.kind.clone(), message: cause.message.clone() },
        place: cause.frame.as_ref().map(|frame| SourceLocation::at(&frame.file, frame.line, &frame.function)),
        variables: cause.frame.as_ref().map(variables_of).unwrap_or_default(),
    })
}

fn handled_before(handled: &HandledRecord) -> Cause {
    let frame = &handled.frame;
    Cause {
        how: CauseKind::HandledBefore,
        exception: Exception { kind: handled.kind.clone(), message: handled.message.clone() },
        place: Some(SourceLocation::at(&frame.file, frame.line, &frame.function)),
        variables: variables_of(frame),
    }
}

fn recursion_of(recursion: &RecursionRecord) -> Recursion {
    let steps = recursion.steps.iter().map(|step| {
        let at = SourceLocation::at(&step.file, step.line, &step.function);
        let arguments = step.arguments.iter().map(|argument| RecursionArgument {
            name: argument.name.clone(),
            first: argument.first.clone(),
            last: argument.last.clone(),
        });
        RecursionStep {
            function: at.function,
            file: at.file,
            line: at.line,
            source: at.source,
            arguments: arguments.collect(),
        }
    });
    Recursion { rounds: recursion.rounds, steps: steps.collect() }
}

fn summary_of(failure: &FailureRecord, number: usize) -> FailureSummary {
    let exception = Exception { kind: failure.kind.clone(), message: failure.message.clone() };
    let place = failure.frames.first();
    FailureSummary {
        number,
        test: failure.test.clone(),
        message: shortened(&exception.headline(), 200),
        file: place.map(|frame| frame.file.clone()),
        line: place.map(|frame| frame.line),
    }
}
