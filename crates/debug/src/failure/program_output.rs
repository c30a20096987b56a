//! Reads exceptions and tracebacks from a program's output, where the debugger tells less.

use super::origin::line_of;
use super::{Exception, SourceLocation};

/// Lines above an error that are searched for its location.
const MOST_ABOVE: usize = 12;

/// Removes the debugger's own frames from a traceback.
pub(crate) fn without_debugger(output: &str) -> String {
    let mut kept = String::with_capacity(output.len());
    let mut skipping = false;
    for line in output.split_inclusive('\n') {
        if line.starts_with("  File \"") {
            skipping = line.contains("/debugpy/") || line.contains("<frozen runpy>");
        } else if !line.starts_with("    ") {
            skipping = false;
        }
        if !skipping {
            kept.push_str(line);
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
        .or_else(|| lines[..at].iter().rev().take(MOST_ABOVE).find_map(|line| python_place(line)));
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

/// `  File "/me/deep.py", line 3, in descend`.
fn python_place(line: &str) -> Option<SourceLocation> {
    let (file, rest) = line.trim().strip_prefix("File \"")?.split_once("\", line ")?;
    let (line, function) = rest.split_once(", in ").unwrap_or((rest, ""));
    place_at(file, line.parse().ok()?, function)
}

/// Returns the location if the file has such a line: output may contain anything.
fn place_at(file: &str, line: i64, function: &str) -> Option<SourceLocation> {
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
            !line.starts_with("note: ") && !line.starts_with("stack backtrace:") && !line.is_empty()
        })
        .take(8)
        .collect();
    Some(Exception { kind: "panic".to_owned(), message: message.join("\n") })
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
    fn the_debuggers_frames_leave_a_traceback() {
        let output = "Traceback:\n  File \"/x/debugpy/a.py\", line 1, in f\n    g()\n  File \"/me/b.py\", line 2\n    h()\nError\n";
        assert_eq!(without_debugger(output), "Traceback:\n  File \"/me/b.py\", line 2\n    h()\nError\n");
    }
}
