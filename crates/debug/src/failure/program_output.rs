//! Reads exceptions and tracebacks from a program's output, where the debugger tells less.

use super::origin::line_of;
use super::{BlockedThread, Exception, SourceLocation};

/// Lines above an error that are searched for its location.
const MOST_ABOVE: usize = 12;

/// Removes the debugger's own frames from a traceback.
pub(crate) fn without_debugger(output: &str) -> String {
    let mut kept = String::with_capacity(output.len());
    let mut skipping = false;
    for line in output.split_inclusive('\n') {
        if line.starts_with("  File \"") {
            let ours = ["/debugpy/", "<frozen runpy>", "/stepwell_recorder/"];
            skipping = ours.iter().any(|ours| line.contains(ours));
        } else if !line.starts_with("    ") {
            skipping = false;
        }
        if !skipping {
            kept.push_str(line);
        }
    }
    // LLDB's own crash while it ends, after the message of the C library.
    if let Some(at) = kept.find("PLEASE submit a bug report to https://github.com/llvm") {
        kept.truncate(at);
        if let Some(before) = kept.trim_end().rfind('\n').filter(|before| {
            ["free()", "malloc", "double free", "corrupted"]
                .iter()
                .any(|word| kept[before + 1..].starts_with(word))
        }) {
            kept.truncate(before + 1);
        }
    }
    kept
}

/// Returns the exception with the type and message of the program's language.
pub(crate) fn refined(exception: Exception, output: &str) -> Exception {
    let Exception { kind, message } = exception;
    // js-debug puts both into one and remarks that it paused.
    if message.starts_with("Paused on") {
        return match kind.split_once(": ") {
            Some((kind, message)) => Exception { kind: kind.to_owned(), message: message.to_owned() },
            None => Exception { kind, message: String::new() },
        };
    }
    if let Some(told) = rust_panic(output)
        .or_else(|| rust_overflow(output))
        .or_else(|| go_panic(output))
        .or_else(|| cpp_terminate(output))
        .or_else(|| assertion(output))
        && (kind == "exception"
            || kind == "signal"
            || kind.starts_with("SIG")
            || message.starts_with("breakpoint")
            || message.contains("SIGABRT")
            || message.contains("SIGTRAP"))
    {
        return told;
    }
    // Delve quotes what was passed to `panic`.
    if kind == "panic" && message.starts_with('"') {
        return Exception { kind, message: message.trim_matches('"').to_owned() };
    }
    // `signal SIGSEGV: address not mapped to object`
    if let Some(rest) = message.strip_prefix("signal ") {
        let (name, more) = rest.split_once(": ").unwrap_or((rest, ""));
        return Exception { kind: name.to_owned(), message: more.to_owned() };
    }
    Exception { kind, message }
}

/// Reads a failure that the debugger did not see from its traceback, such as a stack overflow in Node.
pub(crate) fn traceback(output: &str) -> Option<(Exception, Option<SourceLocation>)> {
    let lines: Vec<&str> = output.lines().collect();
    let at = lines.iter().rposition(|line| error_in(line).is_some())?;
    let exception = error_in(lines[at])?;
    let mut below = lines[at + 1..].iter().take_while(|line| line.trim_start().starts_with("at "));
    let place = below
        .find_map(|line| node_place(line))
        .or_else(|| lines[..at].iter().rev().take(MOST_ABOVE).find_map(|line| python_place(line)))
        .or_else(|| lines[..at].iter().rev().take(MOST_ABOVE).find_map(|line| bare_place(line)));
    Some((exception, place))
}

/// `RangeError: Maximum call stack size exceeded`, `shop.Missing: no such`.
fn error_in(line: &str) -> Option<Exception> {
    let (kind, message) = line.strip_prefix("Uncaught ").unwrap_or(line).split_once(": ")?;
    let name = kind.rsplit('.').next().unwrap_or(kind);
    let is_name = kind.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '.');
    let is_error = name.ends_with("Error") || name.ends_with("Exception");
    (is_name && is_error).then(|| Exception { kind: kind.to_owned(), message: message.to_owned() })
}

/// `    at descend (/me/deep.js:3:10)` or `    at file:///me/deep.mjs:3:10`.
fn node_place(line: &str) -> Option<SourceLocation> {
    let told = line.trim().strip_prefix("at ")?;
    let (function, place) = match told.split_once(" (") {
        Some((function, place)) => (function, place.strip_suffix(')')?),
        None => ("", told),
    };
    let place = place.strip_prefix("file://").unwrap_or(place);
    let mut parts = place.rsplitn(3, ':').skip(1);
    let (line, file) = (parts.next()?.parse().ok()?, parts.next()?);
    place_at(file, line, function)
}

/// Reads the calls that a traceback of Node lists, newest first.
pub(crate) fn node_calls(output: &str) -> Vec<SourceLocation> {
    let lines: Vec<&str> = output.lines().collect();
    let Some(at) = lines.iter().rposition(|line| error_in(line).is_some()) else { return Vec::new() };
    let below = lines[at + 1..].iter().take_while(|line| line.trim_start().starts_with("at "));
    below.filter_map(|line| node_place(line)).collect()
}

/// `/me/wrong.js:3`, before the line that Node could not parse.
fn bare_place(line: &str) -> Option<SourceLocation> {
    let (file, number) = line.rsplit_once(':')?;
    place_at(file.strip_prefix("file://").unwrap_or(file), number.parse().ok()?, "")
}

/// `  File "/me/deep.py", line 3, in descend`.
fn python_place(line: &str) -> Option<SourceLocation> {
    let (file, rest) = line.trim().strip_prefix("File \"")?.split_once("\", line ")?;
    let (line, function) = rest.split_once(", in ").unwrap_or((rest, ""));
    place_at(file, line.parse().ok()?, function)
}

/// Returns the location if the file has such a line: output may contain anything.
pub(super) fn place_at(file: &str, line: i64, function: &str) -> Option<SourceLocation> {
    if !file.starts_with('/') {
        return None;
    }
    let source = line_of(file, line)?;
    Some(SourceLocation { file: file.to_owned(), line, function: function.to_owned(), source })
}

/// `thread 'x' panicked at src/lib.rs:8:46:` and the message below it.
fn rust_panic(output: &str) -> Option<Exception> {
    let mut lines = output.lines();
    lines.find(|line| line.contains(" panicked at "))?;
    let message: Vec<&str> = lines
        .take_while(|line| {
            let is_runners = line.starts_with("test ") || *line == "FAILED";
            !line.starts_with("note: ")
                && !line.starts_with("stack backtrace:")
                && !line.is_empty()
                && !is_runners
        })
        .take(8)
        .collect();
    Some(Exception { kind: "panic".to_owned(), message: message.join("\n") })
}

/// `thread 'main' (7) has overflowed its stack`.
fn rust_overflow(output: &str) -> Option<Exception> {
    let line = output.lines().find(|line| line.ends_with(" has overflowed its stack"))?;
    Some(Exception { kind: "stack overflow".to_owned(), message: line.trim().to_owned() })
}

/// `panic: runtime error: index out of range [3] with length 3`.
fn go_panic(output: &str) -> Option<Exception> {
    let line = output.lines().find_map(|line| line.trim_start().strip_prefix("panic: "))?;
    let message = line.split(" [recovered").next().unwrap_or(line);
    Some(Exception { kind: "panic".to_owned(), message: message.to_owned() })
}

/// `terminate called after throwing an instance of 'std::out_of_range'` and its `what()`.
fn cpp_terminate(output: &str) -> Option<Exception> {
    let (_, rest) = output.split_once("terminate called after throwing an instance of '")?;
    let (kind, rest) = rest.split_once('\'')?;
    let message = rest.lines().find_map(|line| line.trim_start().strip_prefix("what():")).unwrap_or_default();
    Some(Exception { kind: kind.to_owned(), message: message.trim().to_owned() })
}

/// `prog: file.c:3: main: Assertion `x' failed.`
fn assertion(output: &str) -> Option<Exception> {
    let line = output.lines().find(|line| line.contains(": Assertion `"))?;
    let (_, told) = line.split_once(": Assertion ")?;
    Some(Exception {
        kind: "assertion failed".to_owned(),
        message: told.trim_end_matches(" failed.").to_owned(),
    })
}

const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// Names a signal by its number on Linux, as `kill -l` does.
pub(crate) fn signal_name(signal: i32) -> String {
    let name = usize::try_from(signal - 1).ok().and_then(|at| SIGNALS.get(at));
    name.map_or_else(|| format!("signal {signal}"), |name| format!("SIG{name}"))
}

/// The number of a signal on Linux.
pub(crate) fn signal_number(name: &str) -> Option<i64> {
    let at = SIGNALS.iter().position(|known| name.strip_prefix("SIG") == Some(known))?;
    i64::try_from(at + 1).ok()
}

/// Reads who waits for what from Go's words about a deadlock.
pub(crate) fn go_deadlock(output: &str) -> Option<Vec<BlockedThread>> {
    let (_, rest) = output.split_once("all goroutines are asleep - deadlock!")?;
    let mut threads: Vec<BlockedThread> = Vec::new();
    let mut function = String::new();
    for line in rest.lines() {
        if let Some(head) = line.strip_prefix("goroutine ").and_then(|head| head.strip_suffix("]:")) {
            let (number, waits_for) = head.split_once(" [")?;
            threads.push(BlockedThread {
                name: format!("goroutine {number}"),
                waits_for: waits_for.to_owned(),
                place: None,
            });
        } else if let (Some(place), Some(thread)) = (line.strip_prefix('\t'), threads.last_mut()) {
            let place = place.split(" +0x").next().unwrap_or(place);
            if let Some((file, number)) = place.rsplit_once(':')
                && thread.place.is_none()
                && !file.contains("/src/runtime/")
                && !file.contains("/src/sync/")
                && let Ok(number) = number.parse()
            {
                thread.place = place_at(file, number, &function);
            }
        } else {
            let called = line.split('(').next().unwrap_or(line);
            called.trim_start_matches("created by ").clone_into(&mut function);
        }
    }
    Some(threads)
}

/// Reads what Python's faulthandler wrote: the fatal error and the most recent call.
pub(crate) fn python_fault(text: &str) -> Option<(Exception, Option<SourceLocation>)> {
    let fatal = text.lines().find_map(|line| line.strip_prefix("Fatal Python error: "))?;
    let places = text.lines().filter_map(|line| python_place(&line.replace(" in ", ", in ")));
    let exception = Exception { kind: fatal.trim().to_owned(), message: String::new() };
    Some((exception, places.into_iter().find(|place| !place.file.contains("/lib/python"))))
}

/// Takes bash's own message where it has one: `a.sh: line 3: name: unbound variable`.
pub(crate) fn refine_bash(report: &mut super::FailureReport, output: &str) {
    let Some(place) = report.place.clone() else { return };
    let told = output.lines().rev().find_map(|line| {
        let (file, rest) = line.split_once(": line ")?;
        let (number, message) = rest.split_once(": ")?;
        let is_script =
            std::path::Path::new(file).file_name() == std::path::Path::new(&place.file).file_name();
        Some((number.parse::<i64>().ok().filter(|_| is_script)?, message))
    });
    let Some((line, message)) = told.filter(|(line, _)| *line >= place.line || place.line == 0) else {
        return;
    };
    report.exception = Some(Exception { kind: "bash".to_owned(), message: message.to_owned() });
    if line != place.line {
        let place = SourceLocation::at(&place.file, line, &place.function);
        if let Some(frame) = report.frames.first_mut() {
            frame.line = line;
            frame.source = crate::stop_report::lines_around(std::path::Path::new(&place.file), line, 4);
        }
        // The values are those of another line.
        report.values.clear();
        report.place = Some(place);
    }
}

#[cfg(test)]
mod tests {
    use stepwell_workspace::files;

    use super::*;

    #[test]
    fn each_language_says_it_in_its_way() {
        let rows = [
            (
                "exception",
                "breakpoint 1.1",
                "thread 'main' panicked at a.rs:1:2:\nno such\nnote: run",
                "panic: no such",
            ),
            (
                "exception",
                "",
                "--- FAIL\npanic: runtime error: index out of range [3] [recovered]\n",
                "panic: runtime error: index out of range [3]",
            ),
            (
                "signal",
                "signal SIGABRT",
                "terminate called after throwing an instance of 'std::out_of_range'\n  what():  map::at\n",
                "std::out_of_range: map::at",
            ),
            (
                "signal",
                "signal SIGABRT",
                "q: q.c:3: main: Assertion `x > 0' failed.\n",
                "assertion failed: `x > 0'",
            ),
            ("signal", "signal SIGSEGV: address not mapped", "", "SIGSEGV: address not mapped"),
            ("TypeError: x is null", "Paused on exception", "", "TypeError: x is null"),
            ("ValueError", "bad", "panic: no", "ValueError: bad"),
        ];
        for (kind, message, output, expected) in rows {
            let told = refined(Exception { kind: kind.to_owned(), message: message.to_owned() }, output);
            assert_eq!(format!("{}: {}", told.kind, told.message), expected);
        }
    }

    #[test]
    fn frames_of_debuggers_and_recorders_are_left_out() {
        let output = "Traceback:\n  File \"/a/process.py\", line 3, in run\n    go()\n  File \"/x/stepwell_recorder/hooks.py\", line 119, in recorded\n    run()\n  File \"/a/own.py\", line 4, in work\n    1 / 0\nZeroDivisionError\n";
        let kept = without_debugger(output);
        assert!(!kept.contains("recorder") && !kept.contains("    run()"), "{kept}");
        assert!(kept.contains("own.py") && kept.ends_with("ZeroDivisionError\n"), "{kept}");
    }

    #[test]
    fn a_traceback_tells_what_no_debugger_saw() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep.js");
        let program = "function f(n) {\n  return f(n + 1);\n}\nf(0);\n";
        files::write_atomic(&file, program.as_bytes(), files::Privacy::Shared).unwrap();
        let file = file.to_str().unwrap();
        let rows = [
            (
                format!("x\nRangeError: too deep\n    at f ({file}:2:10)\n    at f ({file}:2:10)\n"),
                Some((2, "f")),
            ),
            (format!("TypeError: no\n    at node:internal/a:1:2\n    at file://{file}:4:1\n"), Some((4, ""))),
            (
                format!("Traceback:\n  File \"{file}\", line 2, in f\n    f()\nRangeError: deep\n"),
                Some((2, "f")),
            ),
            ("RangeError: deep\n    at f (/not/there.js:2:10)\n".to_owned(), None),
            (
                format!(
                    "{file}:2\n  return f(n + ;\n               ^\n\nSyntaxError: no\n    at node:internal/a:1:2\n"
                ),
                Some((2, "")),
            ),
        ];
        for (output, expected) in rows {
            let (exception, place) = traceback(&output).unwrap();
            assert!(exception.kind.ends_with("Error"), "{output}");
            let place = place.as_ref().map(|place| (place.line, place.function.as_str()));
            assert_eq!(place, expected, "{output}");
        }
        assert!(traceback("no error here: it passed\nerrors: 0\n").is_none());
    }

    #[test]
    fn a_deadlock_names_what_each_goroutine_waits_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("main.go");
        files::write_atomic(
            &file,
            b"package main\n\n\nfunc main() {\n\tdone.Wait()\n}\n",
            files::Privacy::Shared,
        )
        .unwrap();
        let file = file.to_str().unwrap();
        let output = format!(
            "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [semacquire]:\nsync.runtime_Semacquire(0x0)\n\t/usr/lib/go/src/runtime/sema.go:62 +0x27\nmain.main()\n\t{file}:5 +0x11c\n\ngoroutine 6 [chan receive]:\nmain.worker(0x1)\n\t/not/there.go:10 +0x8\n"
        );
        let threads = go_deadlock(&output).unwrap();
        let told: Vec<_> = threads
            .iter()
            .map(|one| {
                (one.name.as_str(), one.waits_for.as_str(), one.place.as_ref().map(|place| place.line))
            })
            .collect();
        assert_eq!(told, [("goroutine 1", "semacquire", Some(5)), ("goroutine 6", "chan receive", None)]);
        assert!(go_deadlock("panic: no").is_none());
    }

    #[test]
    fn the_debuggers_frames_leave_a_traceback() {
        let output = "Traceback:\n  File \"/x/debugpy/a.py\", line 1, in f\n    g()\n  File \"/me/b.py\", line 2\n    h()\nError\n";
        assert_eq!(without_debugger(output), "Traceback:\n  File \"/me/b.py\", line 2\n    h()\nError\n");
    }
}
