//! What a program's own output says of its failure, where the debugger says less.

use super::Exception;

/// A traceback without the debugger's own frames.
pub fn without_debugger(output: &str) -> String {
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

/// The exception with its type and message as people know them.
pub fn refined(exception: Exception, output: &str) -> Exception {
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
    fn the_debuggers_frames_leave_a_traceback() {
        let output = "Traceback:\n  File \"/x/debugpy/a.py\", line 1, in f\n    g()\n  File \"/me/b.py\", line 2\n    h()\nError\n";
        assert_eq!(without_debugger(output), "Traceback:\n  File \"/me/b.py\", line 2\n    h()\nError\n");
    }
}
