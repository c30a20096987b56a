//! Records a stop: the exception or signal, the program's own frames, their variables as readable values.

use std::path::Path;

use super::origin::{line_of, names, variables_in};
use super::{
    Exception, FRAMES, FailureFrame, FrameValue, Recursion, SourceLocation, VALUE, VARIABLES, cycle,
};
use crate::Result;
use crate::dap::types::{ExceptionInfo, StackFrame, Variable};
use crate::session::{Paging, Session, Stop};
use crate::stop_report::{is_own, is_plain, lines_around, plain_kind, plain_name};
use crate::values::shortened;

/// Variables of a frame that are asked for.
const MOST_LOCALS: i64 = 150;
/// Items of a collection or a structure that are shown.
const ITEMS: usize = 6;
/// Levels that items of collections are opened.
const ITEMS_DEEP: usize = 1;
/// Frames whose values are looked into; the others are shown as the debugger has them.
const LOOKED_INTO: usize = 3;
/// Frames of the program's own from which on a stack is searched for calls that repeat, and how often they must.
const DEEP: usize = 60;
const ROUNDS: usize = 10;
/// Names of a line that are asked for one by one.
const MOST_NAMED: usize = 6;

/// What LLDB says of a `std::optional` without a value, and before the type that a `std::variant` holds.
const NO_VALUE: &str = "Has Value=false";
const ACTIVE_TYPE: &str = "Active Type = ";

/// What was recorded at a stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopSnapshot {
    pub exception: Option<Exception>,
    pub frames: Vec<FailureFrame>,
    pub library_frames: usize,
    /// Whether the stop ends the program: not an exception that is caught later.
    pub is_final: bool,
    /// The signal that the debugger stopped at.
    pub signal: Option<String>,
    /// Calls that repeat, where the stack is full of them.
    pub recursion: Option<Recursion>,
}

impl Session {
    pub(super) async fn snapshot(&self, stop: &Stop) -> Result<StopSnapshot> {
        let thread = match stop.thread {
            Some(thread) => thread,
            None => self.top_frame_thread().await?,
        };
        let workspace = self.shared.options.search.workspace.clone();
        let stack = self.stack(thread, 0, 200).await?.stack_frames;
        let mut own: Vec<&StackFrame> = stack.iter().filter(|frame| is_own(frame, &workspace)).collect();
        if own.is_empty() {
            // The program lies elsewhere: what is neither the system's nor a package's is its own.
            own = stack.iter().filter(|frame| is_of_program(frame)).collect();
        }
        let info = self.exception_info(thread).await;
        let mut frames = Vec::new();
        for (at, frame) in own.iter().take(FRAMES).enumerate() {
            frames.push(self.failure_frame(frame, at < LOOKED_INTO).await?);
        }
        let calls = own.iter().map(|frame| {
            let file = frame.source.as_ref().and_then(|source| source.path.as_deref()).unwrap_or_default();
            SourceLocation::at(file, frame.line, without_parameters(&plain_name(&frame.name)))
        });
        // A deep stack is no fault; one that ends in a signal or an overflow is told by what repeats in it.
        let mut recursion = None;
        if own.len() >= DEEP {
            let calls: Vec<SourceLocation> = calls.collect();
            if let Some((found, above)) = cycle::recursion_of(&calls, &frames, ROUNDS) {
                frames.drain(..above.min(frames.len().saturating_sub(1)));
                recursion = Some(found);
            }
        }
        let told = [stop.text.as_deref(), stop.description.as_deref()];
        let described = info.as_ref().and_then(|info| info.description.as_deref());
        let signal = told.into_iter().flatten().chain(described).find_map(signal_in);
        Ok(StopSnapshot {
            exception: Some(exception_of(stop, info.as_ref())),
            library_frames: stack.len().saturating_sub(own.len()),
            frames,
            is_final: !self.adapter.quirks().stops_at_handled_exceptions
                || info.is_some_and(|info| info.break_mode.as_deref() == Some("unhandled")),
            signal,
            recursion,
        })
    }

    async fn failure_frame(&self, frame: &StackFrame, looks_into: bool) -> Result<FailureFrame> {
        let mut rows =
            self.locals(frame.id, MOST_LOCALS).await.ok().flatten().map(|(_, rows)| rows).unwrap_or_default();
        let file = frame.source.as_ref().and_then(|source| source.path.clone()).unwrap_or_default();
        let mut variables = Vec::new();
        let line = line_of(&file, frame.line).unwrap_or_default();
        if looks_into {
            self.add_named(frame, &line, &mut rows).await;
        }
        rows.retain(|row| is_plain(row) && !is_machinery(row) && !is_unreadable(row));
        name_as_seen_from(frame.line, &mut rows);
        // What the line names is never among those left out.
        let words: Vec<&str> = names(&line).collect();
        rows.sort_by_key(|row| !words.contains(&row.name.as_str()));
        for row in rows.iter().take(VARIABLES) {
            let value = if looks_into { self.readable(row).await } else { tidied(row) };
            variables.push(FrameValue {
                name: row.name.clone(),
                value: shortened(&value, VALUE),
                kind: row.kind.clone().filter(|kind| !kind.is_empty()),
            });
        }
        Ok(FailureFrame {
            function: without_parameters(&plain_name(&frame.name)).to_owned(),
            source: lines_around(Path::new(&file), frame.line, 4),
            line: frame.line,
            variables,
            values: Vec::new(),
            file,
        })
    }

    /// Adds what a line names beside the variables of its function: globals, and variables of functions around it.
    async fn add_named(&self, frame: &StackFrame, line: &str, rows: &mut Vec<Variable>) {
        let is_known = |name: &str| rows.iter().any(|row| row.name.split(" @ ").next() == Some(name));
        let missing: Vec<&str> =
            variables_in(line).into_iter().filter(|name| !is_known(name)).take(MOST_NAMED).collect();
        for name in missing {
            let Ok(found) = self.evaluate(name, Some(frame.id), "hover").await else { continue };
            let is_function = found.kind.as_deref().is_some_and(|kind| kind.ends_with(')'));
            if found.value.is_empty() || is_function {
                continue;
            }
            rows.push(Variable {
                name: name.to_owned(),
                value: found.value,
                kind: found.kind,
                variables_reference: found.adapter_ref,
                named_variables: found.named,
                indexed_variables: found.indexed,
                ..Variable::default()
            });
        }
    }

    /// Returns the value of a variable as a person would write it: what is behind an address, the items of a collection,
    /// the fields of a structure, one level deep.
    pub(super) async fn readable(&self, row: &Variable) -> String {
        let (_, rest) = without_address(&row.value);
        if !is_opaque(rest) || row.variables_reference.is_empty() || is_null(&row.value) {
            return tidied(row);
        }
        let Ok(children) = self.variables(row.variables_reference, None, first_of(row, ITEMS + 1)).await
        else {
            return tidied(row);
        };
        self.listed(&children, rest, ITEMS_DEEP).await.unwrap_or_else(|| tidied(row))
    }

    /// Formats the children of a value; those of its items while `deeper` allows it.
    async fn listed(&self, children: &[Variable], summary: &str, deeper: usize) -> Option<String> {
        let is_shown = |child: &&Variable| {
            !child.name.starts_with("[raw")
                && !child.name.starts_with('$')
                && child.name != "len()"
                && !is_unreadable(child)
        };
        let children: Vec<&Variable> = children.iter().filter(is_shown).collect();
        if let [only] = children.as_slice() {
            // LLDB's `std::optional` and `std::variant` have what they hold under this name.
            if only.name == "Value" {
                let value = Box::pin(self.item(only, deeper)).await;
                let kind = summary.strip_prefix(ACTIVE_TYPE);
                return Some(kind.map_or_else(|| value.clone(), |kind| format!("{kind} {value}")));
            }
            // What a reference refers to, or a pointer of Go.
            if only.name.starts_with('&') || only.name.is_empty() {
                return Some(Box::pin(self.readable(only)).await);
            }
            // A pointer has what it points to, a smart pointer the pointer in it.
            if only.name.starts_with('*') {
                return Some(format!("&{}", without_address(&only.value).1)).filter(|value| value.len() > 1);
            }
            if only.name == "pointer" || only.name == "object" {
                return Some(Box::pin(self.readable(only)).await);
            }
        }
        if children.is_empty() {
            return (summary == "size=0").then(|| "[]".to_owned());
        }
        let is_list = children.iter().all(|child| child.name.starts_with('['));
        let mut parts = Vec::new();
        for child in children.iter().take(ITEMS) {
            let value = Box::pin(self.item(child, deeper)).await;
            parts.push(if is_list { value } else { format!("{}={value}", child.name) });
        }
        let count = summary.strip_prefix("size=").and_then(|count| count.parse::<usize>().ok());
        let count = count.unwrap_or(children.len());
        if count > ITEMS {
            parts.push(format!("… {} more", count - ITEMS));
        }
        let inside = parts.join(", ");
        Some(if is_list { format!("[{inside}]") } else { format!("{{{inside}}}") })
    }

    /// Formats an item of a collection or a field of a structure.
    async fn item(&self, child: &Variable, deeper: usize) -> String {
        let (_, rest) = without_address(&child.value);
        if is_null(&child.value) || rest == NO_VALUE {
            return tidied(child);
        }
        let has_children = !child.variables_reference.is_empty();
        let is_pair = child.kind.as_deref().is_some_and(|kind| kind.contains("pair<"));
        if is_pair && has_children {
            let fields = self.variables(child.variables_reference, None, first_of(child, 2)).await;
            if let Ok([first, second]) = fields.as_deref() {
                let key = without_address(&first.value).1.to_owned();
                return format!("{key}: {}", Box::pin(self.item(second, deeper)).await);
            }
        }
        if !is_opaque(rest) {
            return shortened(without_variants(rest), 40);
        }
        let only_wraps = rest == "Has Value=true" || rest.starts_with(ACTIVE_TYPE);
        if (deeper > 0 || only_wraps) && has_children {
            let children = self.variables(child.variables_reference, None, first_of(child, ITEMS + 1)).await;
            let listed = match children {
                Ok(children) => self.listed(&children, rest, deeper.saturating_sub(1)).await,
                Err(_) => None,
            };
            return listed.map_or_else(|| "…".to_owned(), |listed| shortened(&listed, 80));
        }
        "…".to_owned()
    }
}

/// Names variables that are shadowed as the failing line sees them. LLDB calls those of one name `item @ lib.rs:11`; the
/// last one declared before the line keeps its name, and the others, which the line cannot reach, are left out.
fn name_as_seen_from(line: i64, rows: &mut Vec<Variable>) {
    let declared = |name: &str| -> Option<(String, i64)> {
        let (name, place) = name.split_once(" @ ")?;
        Some((name.to_owned(), place.rsplit(':').next()?.parse().ok()?))
    };
    let shadowing: Vec<(String, i64)> = rows.iter().filter_map(|row| declared(&row.name)).collect();
    rows.retain_mut(|row| {
        let Some((name, at)) = declared(&row.name) else { return true };
        let before = shadowing.iter().filter(|(other, other_at)| *other == name && *other_at < line);
        let is_last = before.map(|(_, at)| *at).max() == Some(at);
        row.name = name;
        is_last
    });
}

/// The first children of a value.
fn first_of(row: &Variable, most: usize) -> Paging {
    let total = row.named_variables.unwrap_or_default() + row.indexed_variables.unwrap_or_default();
    Paging {
        start: Some(0),
        count: i64::try_from(most).ok(),
        total: Some(total).filter(|total| *total > 0),
        indexed: false,
    }
}

fn exception_of(stop: &Stop, info: Option<&ExceptionInfo>) -> Exception {
    let details = info.and_then(|info| info.details.as_ref());
    let kind = details
        .and_then(|details| details.type_name.clone().or_else(|| details.full_type_name.clone()))
        .or_else(|| info.map(|info| info.exception_id.clone()))
        .or_else(|| stop.text.clone().filter(|text| !text.contains(' ')));
    let message = details
        .and_then(|details| details.message.clone())
        .or_else(|| info.and_then(|info| info.description.clone()))
        .or_else(|| stop.text.clone())
        .or_else(|| stop.description.clone())
        .unwrap_or_default();
    let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or_else(|| stop.reason.to_string());
    Exception { kind: shortened(plain_kind(&kind), 200), message: shortened(&message, 2000) }
}

/// Whether a frame outside of the workspace is the program's own: its source is there, and is not the system's.
fn is_of_program(frame: &StackFrame) -> bool {
    const FOREIGN: [&str; 8] = [
        "/usr/",
        "/lib",
        "/rustc/",
        "/site-packages/",
        "/node_modules/",
        "/.cargo/",
        "/rustlib/",
        "/go/pkg/",
    ];
    let path = frame.source.as_ref().and_then(|source| source.path.as_deref());
    let is_subtle = frame.presentation_hint.as_deref() == Some("subtle");
    path.is_some_and(|path| {
        !is_subtle && !FOREIGN.iter().any(|foreign| path.contains(foreign)) && Path::new(path).is_file()
    })
}

/// Whether a variable is one that Node gives every module, or a function.
fn is_machinery(row: &Variable) -> bool {
    is_machinery_of_module(&row.name, &row.value)
        // Results of Go that have no names.
        || row.name.starts_with('~')
        // What a `for` of Rust walks with has a name that the source does not have.
        || row.name == "iter" && row.kind.as_deref().is_some_and(|kind| kind.starts_with("core::"))
        || row
            .kind
            .as_deref()
            .is_some_and(|kind| matches!(kind, "*testing.T" | "*testing.B" | "*testing.common"))
}

/// Whether a debugger could not read a variable.
fn is_unreadable(row: &Variable) -> bool {
    row.value.starts_with("<error: ") || row.value == "<incomplete type>"
}

/// Whether a variable of JavaScript is one that every module has, or a function.
pub(super) fn is_machinery_of_module(name: &str, value: &str) -> bool {
    matches!(name, "exports" | "require" | "module" | "__filename" | "__dirname" | "arguments")
        // At the top of a module, and in a plain function.
        || name == "this" && (matches!(value, "{}" | "undefined") || value.contains("global"))
        || value.starts_with("ƒ ")
        || value.starts_with("class ")
}

/// Returns a function's name without the parameters that C++ debuggers add.
fn without_parameters(name: &str) -> &str {
    match name.find('(') {
        // `main.(*Cart).Add` of Go and `operator()` of C++ have parentheses in their names.
        Some(at) if at > 0 && !name[..at].ends_with('.') && !name[..at].ends_with("operator") => &name[..at],
        _ => name,
    }
}

/// Returns whether a value begins with its address, and the rest.
fn without_address(value: &str) -> (bool, &str) {
    let value = value.trim();
    // LLDB has the number of a character before it.
    let trimmed = value.strip_prefix('@').or_else(|| value.strip_prefix("U+")).unwrap_or(value);
    let Some(digits) = trimmed.strip_prefix("0x") else { return (false, value) };
    let rest = digits.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
    (true, rest.trim_start_matches(':').trim_start())
}

/// Whether a debugger's text of a value says nothing of what is in it.
fn is_opaque(rest: &str) -> bool {
    rest.is_empty()
        || rest == NO_VALUE
        || rest == "Has Value=true"
        || rest.starts_with(ACTIVE_TYPE)
        // Delve stops at interfaces inside of maps: `*(*interface {})(0xc0000b01a8)`.
        || rest.contains("*(*")
        || rest.starts_with("size=")
        || rest.contains(" of length ")
        || rest.contains(" @ 0x")
        || rest == "{...}"
}

/// Returns a value that is not opened: without its address, or its type where that is all there is.
fn tidied(row: &Variable) -> String {
    let (has_address, rest) = without_address(&row.value);
    if row.kind.as_deref() == Some("void") {
        // Rust's `()`: LLDB cannot read what has no size.
        return "()".to_owned();
    }
    if is_null(&row.value) {
        return "NULL".to_owned();
    }
    if rest == NO_VALUE {
        return "nullopt".to_owned();
    }
    if rest.contains(" @ 0x") || rest.is_empty() && has_address {
        let kind = row.kind.as_deref().map(str::trim).filter(|kind| !kind.is_empty());
        return kind.map_or_else(|| row.value.clone(), |kind| format!("<{kind}>"));
    }
    if rest.is_empty() { row.value.clone() } else { without_variants(rest).to_owned() }
}

/// Returns the value of a write as a debugger told it; `None` where only an address or a size was told.
pub(super) fn told_value(value: &str) -> Option<String> {
    let (_, rest) = without_address(value);
    // LLDB reads an absent variant of a Rust enum as a list of nothing.
    (!is_opaque(rest) && !rest.contains("[0]:()")).then(|| without_variants(rest).to_owned())
}

fn is_null(value: &str) -> bool {
    let digits = value.trim().strip_prefix("0x");
    digits.is_some_and(|digits| !digits.is_empty() && digits.chars().all(|digit| digit == '0'))
}

/// Returns the variant of a Rust enum without the debugger's own encoding of it.
fn without_variants(value: &str) -> &str {
    match value.find("{$variants$") {
        Some(0) | None => value,
        Some(at) => &value[..at],
    }
}

/// `signal SIGSEGV: …`, or a signal's name alone.
fn signal_in(text: &str) -> Option<String> {
    let at = text.find("SIG")?;
    let name: String = text[at..]
        .chars()
        .take_while(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
        .collect();
    (name.len() > 4).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_encodings_are_left_out() {
        let rows = [
            ("0x00007ffe size=2", (true, "size=2")),
            ("0x55 \"plum\"", (true, "\"plum\"")),
            ("@0x7ffe: {...}", (true, "{...}")),
            ("15", (false, "15")),
            ("0x00007ffe", (true, "")),
        ];
        for (value, expected) in rows {
            assert_eq!(without_address(value), expected, "{value}");
        }
        assert_eq!(without_variants("Named{$variants$:{$variant$0:{}}}"), "Named");
        assert!(is_null("0x0000000000000000") && !is_null("0x7f") && !is_null("0"));
    }

    #[test]
    fn signals_and_functions_have_short_names() {
        assert_eq!(signal_in("signal SIGSEGV: address not mapped").as_deref(), Some("SIGSEGV"));
        assert_eq!(signal_in("breakpoint 1.1"), None);
        assert_eq!(without_parameters("widest(std::vector<Row> const&)"), "widest");
        assert_eq!(without_parameters("Row::operator()(int)"), "Row::operator()(int)");
        assert_eq!(without_parameters("main.(*Cart).Add"), "main.(*Cart).Add");
        assert_eq!(without_parameters("(anonymous namespace)::f"), "(anonymous namespace)::f");
    }
}
