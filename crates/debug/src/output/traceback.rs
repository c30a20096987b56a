//! Removes debugpy's own frames from the tracebacks that a Python program prints.
//!
//! debugpy runs the program itself, so every traceback of the main thread begins with frames of `runpy` and debugpy. A
//! program that runs without a debugger prints none of them.

use super::OutputCategory;

/// The line that begins a traceback.
const HEADER: &str = "Traceback (most recent call last):";

/// A stream of program output. Text is passed on as it comes; only the lines of a traceback are held until it is known
/// whose they are.
#[derive(Debug, Default)]
pub(crate) struct TracebackFilter {
    /// The beginning of a line that is not complete yet.
    partial: String,
    /// Set while the rest of a line is passed on whose beginning was.
    in_line: bool,
    traceback: Option<Traceback>,
}

/// The filters of a session's streams.
#[derive(Debug, Default)]
pub(crate) struct TracebackFilters {
    stdout: TracebackFilter,
    stderr: TracebackFilter,
}

impl TracebackFilters {
    /// Returns the filter of a stream; messages of the debugger have none.
    pub(crate) fn of(&mut self, category: OutputCategory) -> Option<&mut TracebackFilter> {
        match category {
            OutputCategory::Stdout => Some(&mut self.stdout),
            OutputCategory::Stderr => Some(&mut self.stderr),
            OutputCategory::Console => None,
        }
    }

    /// Returns what was held back of each stream, at the end.
    pub(crate) fn finish(&mut self) -> [(OutputCategory, String); 2] {
        [(OutputCategory::Stdout, self.stdout.finish()), (OutputCategory::Stderr, self.stderr.finish())]
    }
}

/// A traceback that is being read.
#[derive(Debug, Default)]
struct Traceback {
    /// Frames of Python's own `runpy`, which may have been called by debugpy or by the program.
    held: String,
    /// Whether the frame that is being read is debugpy's.
    is_foreign: bool,
    /// Whether a frame of the program's came already.
    has_own: bool,
}

/// Whose frame a line of a traceback begins.
enum Frame {
    Debugger,
    Runpy,
    Program,
}

impl TracebackFilter {
    /// Takes further output and returns what can be passed on.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let mut passed = String::with_capacity(text.len());
        for piece in text.split_inclusive('\n') {
            if self.in_line {
                passed.push_str(piece);
                self.in_line = !piece.ends_with('\n');
                continue;
            }
            self.partial.push_str(piece);
            if self.partial.ends_with('\n') {
                let line = std::mem::take(&mut self.partial);
                self.take_line(&line, &mut passed);
            } else if self.traceback.is_none() && !HEADER.starts_with(self.partial.as_str()) {
                passed.push_str(&self.partial);
                self.partial.clear();
                self.in_line = true;
            }
        }
        passed
    }

    /// Returns what was held back, at the end of the stream.
    pub(crate) fn finish(&mut self) -> String {
        let mut rest = self.traceback.take().map(|traceback| traceback.held).unwrap_or_default();
        rest.push_str(&std::mem::take(&mut self.partial));
        rest
    }

    fn take_line(&mut self, line: &str, passed: &mut String) {
        let text = line.trim_end_matches(['\n', '\r']);
        let Some(traceback) = &mut self.traceback else {
            if text == HEADER {
                self.traceback = Some(Traceback::default());
            }
            passed.push_str(line);
            return;
        };
        if !text.starts_with("  ") {
            passed.push_str(&traceback.held);
            passed.push_str(line);
            // A traceback that causes another one is followed by its header.
            self.traceback = (text == HEADER).then(Traceback::default);
            return;
        }
        match frame_of(text) {
            Some(Frame::Debugger) => {
                traceback.is_foreign = true;
                // It was debugpy that called `runpy`.
                traceback.held.clear();
            }
            Some(Frame::Runpy) if !traceback.has_own => {
                traceback.is_foreign = false;
                traceback.held.push_str(line);
            }
            Some(Frame::Runpy | Frame::Program) => {
                passed.push_str(&std::mem::take(&mut traceback.held));
                traceback.is_foreign = false;
                traceback.has_own = true;
                passed.push_str(line);
            }
            // Source lines and marks belong to the frame above them.
            None if traceback.is_foreign => {}
            None if traceback.held.is_empty() => passed.push_str(line),
            None => traceback.held.push_str(line),
        }
    }
}

/// Returns whose frame a line begins: `  File "PATH", line N, in NAME`.
fn frame_of(line: &str) -> Option<Frame> {
    let (path, _) = line.strip_prefix("  File \"")?.split_once("\", line ")?;
    Some(if path.contains("/debugpy/") {
        Frame::Debugger
    } else if path.ends_with("/runpy.py") || path == "<frozen runpy>" {
        Frame::Runpy
    } else {
        Frame::Program
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TracebackFilter;

    const RUNPY: &str =
        "  File \"/usr/lib/python3.11/runpy.py\", line 88, in _run_code\n    exec(code, run_globals)\n";
    const DEBUGGER: &str = "  File \"/lib/debugpy/launcher/../../debugpy/__main__.py\", line 71, in <module>\n    cli.main()\n    ^^^^^^^^^^\n";
    const OWN: &str = "  File \"/work/a.py\", line 2, in f\n    return 1/x\n           ~^~\n";
    const HEAD: &str = "Traceback (most recent call last):\n";
    const END: &str = "ZeroDivisionError: division by zero\n";

    fn filtered(pieces: &[&str]) -> String {
        let mut filter = TracebackFilter::default();
        let mut text: String = pieces.iter().map(|piece| filter.push(piece)).collect();
        text.push_str(&filter.finish());
        text
    }

    #[test]
    fn frames_of_the_debugger_are_removed() {
        let rows: [(&[&str], &[&str]); 8] = [
            (&[HEAD, RUNPY, RUNPY, DEBUGGER, RUNPY, DEBUGGER, OWN, END], &[HEAD, OWN, END]),
            (&[HEAD, OWN, END], &[HEAD, OWN, END]),
            // A program may call `runpy` itself.
            (&[HEAD, OWN, RUNPY, OWN, END], &[HEAD, OWN, RUNPY, OWN, END]),
            (&[HEAD, RUNPY, OWN, END], &[HEAD, RUNPY, OWN, END]),
            // One traceback after another.
            (
                &[HEAD, DEBUGGER, OWN, END, "\nDuring handling:\n\n", HEAD, DEBUGGER, OWN, END],
                &[HEAD, OWN, END, "\nDuring handling:\n\n", HEAD, OWN, END],
            ),
            (
                &["a line\n  File \"/lib/debugpy/x.py\", line 1, in y\n"],
                &["a line\n  File \"/lib/debugpy/x.py\", line 1, in y\n"],
            ),
            (&["no newline"], &["no newline"]),
            (&[HEAD, RUNPY, "    half"], &[HEAD, RUNPY, "    half"]),
        ];
        for (printed, expected) in rows {
            assert_eq!(filtered(printed), expected.concat(), "{printed:?}");
        }
    }

    #[test]
    fn a_prompt_is_not_held_back() {
        let mut filter = TracebackFilter::default();
        assert_eq!(filter.push("name? "), "name? ");
        assert_eq!(filter.push("Trace"), "Trace", "it goes on in a line");
        assert_eq!(filter.push("\nTrace"), "\n");
        assert_eq!(filter.push("d\n"), "Traced\n");
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(cuts in proptest::collection::vec(0_usize..400, 0..12)) {
            let whole = [HEAD, RUNPY, DEBUGGER, OWN, END, "done\n"].concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(whole.len())).collect();
            cuts.extend([0, whole.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).map(|pair| &whole[pair[0]..pair[1]]).collect();
            prop_assert_eq!(filtered(&pieces), [HEAD, OWN, END, "done\n"].concat());
        }
    }
}
