//! Reports a stop in one answer: location, reason, call stack, variables and their changes, new output.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use stepwell_workspace::files;

use crate::clock;
use crate::dap::types::{ExceptionInfo, StackFrame, Variable};
use crate::ids::{BreakpointId, FrameId, FrameRef, SessionId, ThreadId, VariablesRef, VariablesReference};
use crate::output::{OutputPiece, floor_boundary};
use crate::session::{ReportedStop, Session, Stop};
use crate::stop_reason::StopReason;
use crate::values::shortened;
use crate::{Error, Result};

/// How much of a stop is reported.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    pub frames: usize,
    pub variables: usize,
    pub value_length: usize,
    pub source_lines: i64,
    pub output: usize,
    pub stack: StackDetail,
}

/// Which frames of the stack are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackDetail {
    /// All of them, up to the limit.
    Whole,
    /// The top frame and those of the workspace's own code.
    Own,
    /// As `Own`; while stops stay in one call, only what is new is reported, of the variables too.
    News,
}

impl Detail {
    /// The default: the whole stack and all variables of the top frame, within limits that no usual program reaches.
    pub const WHOLE: Self = Self {
        frames: 100,
        variables: 64,
        value_length: 120,
        source_lines: 2,
        output: 1000,
        stack: StackDetail::Whole,
    };
    /// Enough to go on with, for callers that ask for a brief answer.
    pub const COMPACT: Self = Self {
        frames: 8,
        variables: 16,
        value_length: 80,
        source_lines: 2,
        output: 600,
        stack: StackDetail::Own,
    };
    /// As `COMPACT`, for steps and continued runs.
    pub const NEWS: Self = Self { stack: StackDetail::News, ..Self::COMPACT };
}

/// Frames of one request.
const PAGE: i64 = 20;
/// Frames that are searched for one of the workspace's own code.
const DEEPEST_LOOK: i64 = 200;
/// Bytes that are shown of a value's type, and of the expression that gives a value.
const LONGEST_TYPE: usize = 120;

/// The report of a stop. Fields without a value are `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StopEventData {
    pub timestamp: String,
    pub session_id: SessionId,
    pub reason: StopReason,
    pub thread_id: ThreadId,
    pub description: Option<String>,
    pub text: Option<String>,
    pub all_threads_stopped: Option<bool>,
    pub source: Option<SourceFile>,
    pub line: Option<i64>,
    pub column: Option<i64>,
    pub call_stack: Vec<CallFrame>,
    pub top_frame_variables: Option<FrameVariables>,
    pub hit_breakpoint_ids: Option<Vec<BreakpointId>>,
    #[serde(flatten)]
    pub more: StopExtras,
}

/// Further fields, present where they have a value.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct StopExtras {
    /// Lines around the stop; the arrow marks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_context: Option<String>,
    /// Variables that changed since the last stop in this function.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Variables that did not change and are left out; `get_variables` shows them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchanged: Vec<String>,
    /// Number of unchanged callers that `call_stack` leaves out; `get_call_stack` shows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_callers: Option<usize>,
    /// What the program printed since the last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_output: Option<String>,
    /// Number of frames, of libraries or beyond the limit, that `call_stack` leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames_left_out: Option<usize>,
    /// The nearest frame of the workspace's own code, where the top one is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_frame: Option<OwnFrame>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SourceFile {
    pub path: String,
    pub name: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CallFrame {
    pub frame_id: FrameId,
    pub function_name: String,
    pub file_path: String,
    pub line_number: i64,
    pub column_number: i64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FrameVariables {
    pub scope_name: String,
    pub variables: Vec<VariableRow>,
    /// How many are not shown; `get_variables` shows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<usize>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VariableRow {
    pub name: String,
    pub value: String,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Not zero where there is more inside: for `get_variables`.
    pub variables_reference: VariablesReference,
    /// The expression that gives it, for `evaluate_expression`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluate_name: Option<String>,
    /// Where it is in memory, for `read_memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_reference: Option<String>,
    /// How many named parts it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_variables: Option<i64>,
    /// How many elements it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<i64>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OwnFrame {
    #[serde(flatten)]
    pub frame: CallFrame,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<FrameVariables>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExceptionReport {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Session {
    /// Reports a stop.
    pub async fn report(&self, stop: &Stop, detail: Detail) -> Result<StopEventData> {
        let thread = match stop.thread {
            Some(thread) => thread,
            None => self.any_thread().await?,
        };
        let (frames, total) = self.reported_frames(thread, detail).await?;
        let workspace = &self.shared.options.search.workspace;
        let top = frames.first();
        let own = frames.iter().find(|frame| is_own(frame, workspace));
        let exception =
            if stop.reason == StopReason::Exception { self.exception_info(thread).await } else { None };

        let mut more = StopExtras::default();
        let mut top_frame_variables = None;
        if let Some(top) = top {
            top_frame_variables = self.frame_variables(top, detail).await?;
            if is_own(top, workspace) {
                more.source_context = source_context(top, detail.source_lines);
            } else if let Some(own) = own {
                more.source_context = source_context(own, detail.source_lines);
                more.own_frame = Some(OwnFrame {
                    frame: self.call_frame(own, thread),
                    variables: self.frame_variables(own, detail).await?,
                });
            } else {
                more.source_context = source_context(top, detail.source_lines);
            }
        }
        let mut shown: Vec<&StackFrame> = match detail.stack {
            StackDetail::Whole => frames.iter().take(detail.frames).collect(),
            StackDetail::Own | StackDetail::News => shown_frames(&frames, workspace, detail.frames),
        };
        let left_out = total.saturating_sub(shown.len());
        if let (Some(top), Some(variables)) = (top, &mut top_frame_variables) {
            let told = reported_now(thread, &frames, variables);
            let callers = told.callers.clone();
            if let Some(before) = self.swap_reported_stop(told) {
                more.changed = changed_variables(&before, variables);
                let is_same_call = before.thread == thread && before.callers == callers;
                if detail.stack == StackDetail::News && is_same_call && is_own(top, workspace) {
                    let rows = std::mem::take(&mut variables.variables);
                    let (new, old): (Vec<_>, Vec<_>) =
                        rows.into_iter().partition(|row| more.changed.contains(&row.name));
                    variables.variables = new;
                    more.changed.clear();
                    more.source_context = source_context(top, 1);
                    more.unchanged = old.into_iter().map(|row| row.name).collect();
                    more.same_callers = shown.len().checked_sub(1).filter(|callers| *callers > 0);
                    shown.truncate(1);
                }
            }
        }
        more.frames_left_out = (left_out > 0).then_some(left_out);
        more.new_output = printed(&self.take_new_output(), detail.output);
        more.exception = exception.as_ref().map(|info| exception_report(info, detail));
        let source = top.and_then(|frame| frame.source.as_ref());
        Ok(StopEventData {
            timestamp: clock::iso(stop.at),
            session_id: self.id.clone(),
            reason: stop.reason.clone(),
            thread_id: thread,
            description: stop.description.as_deref().map(|text| shortened(text, 300)),
            text: exception_text(stop, exception.as_ref()),
            all_threads_stopped: stop.all_threads_stopped,
            source: source.and_then(|source| {
                let path = source.path.clone()?;
                let name = source
                    .name
                    .clone()
                    .or_else(|| Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned()));
                Some(SourceFile { name: name.unwrap_or_else(|| path.clone()), path })
            }),
            line: top.map(|frame| frame.line),
            // Adapters that know no column say 0.
            column: top.map(|frame| frame.column).filter(|column| *column > 0),
            call_stack: shown.into_iter().map(|frame| self.call_frame(frame, thread)).collect(),
            top_frame_variables,
            hit_breakpoint_ids: self.hit_breakpoints(stop, top),
            more,
        })
    }

    fn hit_breakpoints(&self, stop: &Stop, top: Option<&StackFrame>) -> Option<Vec<BreakpointId>> {
        let mut hits = stop.hit_breakpoints.clone();
        if hits.is_empty()
            && stop.reason.is_breakpoint()
            && let Some(top) = top
            && let Some(path) = top.source.as_ref().and_then(|source| source.path.as_deref())
        {
            hits = self.breakpoints_at(Path::new(path), top.line);
        }
        (!hits.is_empty()).then_some(hits)
    }

    /// Returns the frames that are reported, at least down to the first one of the workspace's own code, and the length
    /// of the whole stack as far as it is known.
    async fn reported_frames(&self, thread: ThreadId, detail: Detail) -> Result<(Vec<StackFrame>, usize)> {
        let workspace = &self.shared.options.search.workspace;
        let wanted = match detail.stack {
            // One more than is shown tells whether there are more.
            StackDetail::Whole => detail.frames as i64 + 1,
            StackDetail::Own | StackDetail::News => PAGE,
        };
        let mut frames: Vec<StackFrame> = Vec::new();
        loop {
            let start = frames.len() as i64;
            let levels = if frames.is_empty() { wanted } else { PAGE };
            let page = self.stack(thread, start, levels).await?;
            let got = page.stack_frames.len() as i64;
            frames.extend(page.stack_frames);
            let known = page.total_frames.unwrap_or_default().max(frames.len() as i64);
            let is_all = got < levels || frames.len() as i64 >= known && page.total_frames.is_some();
            let has_own = frames.iter().any(|frame| is_own(frame, workspace));
            if is_all || has_own || frames.len() as i64 >= DEEPEST_LOOK {
                return Ok((frames, usize::try_from(known).unwrap_or_default()));
            }
        }
    }

    pub(crate) fn call_frame(&self, frame: &StackFrame, thread: ThreadId) -> CallFrame {
        let reference = FrameRef { session: self.id.clone(), thread, adapter_id: frame.id };
        CallFrame {
            frame_id: self.shared.ids.frame(reference),
            function_name: shortened(&plain_name(&frame.name), 200),
            file_path: place(frame).unwrap_or_default(),
            line_number: frame.line,
            // A frame without a column begins its line.
            column_number: frame.column.max(1),
        }
    }

    async fn frame_variables(&self, frame: &StackFrame, detail: Detail) -> Result<Option<FrameVariables>> {
        // One more than is shown tells whether there are more.
        let asked = detail.variables as i64 * 2;
        let found = match self.locals(frame.id, asked).await {
            Ok(found) => found,
            // A frame without debug information has no variables, and some adapters call that an error.
            Err(Error::Refused { .. }) => None,
            Err(error) => return Err(error),
        };
        let Some((scope, variables)) = found else { return Ok(None) };
        let variables: Vec<Variable> = variables.into_iter().filter(is_plain).collect();
        let more = variables.len().saturating_sub(detail.variables);
        let rows =
            variables.iter().take(detail.variables).map(|variable| self.row(variable, detail.value_length));
        Ok(Some(FrameVariables {
            scope_name: scope.name,
            variables: rows.collect(),
            more: (more > 0).then_some(more),
        }))
    }

    /// Returns a variable as it is reported.
    pub fn row(&self, variable: &Variable, value_length: usize) -> VariableRow {
        VariableRow {
            name: variable.name.clone(),
            value: shortened(&variable.value, value_length),
            kind: variable
                .kind
                .as_deref()
                .filter(|kind| !kind.is_empty())
                .map(|kind| shortened(kind, LONGEST_TYPE)),
            // A shortened expression would be another one.
            evaluate_name: variable
                .evaluate_name
                .clone()
                .filter(|name| !name.is_empty() && name.len() <= LONGEST_TYPE),
            memory_reference: variable.memory_reference.clone().filter(|reference| !reference.is_empty()),
            named_variables: variable.named_variables,
            indexed_variables: variable.indexed_variables,
            variables_reference: self.shared.ids.variables(VariablesRef {
                session: self.id.clone(),
                adapter_ref: variable.variables_reference,
                scope_of: None,
                indexed: variable.indexed_variables,
                named: variable.named_variables,
            }),
        }
    }
}

fn reported_now(thread: ThreadId, frames: &[StackFrame], variables: &FrameVariables) -> ReportedStop {
    let top = frames.first();
    let path = top.and_then(|top| top.source.as_ref()?.path.clone());
    ReportedStop {
        thread,
        function: top.map(|top| top.name.clone()).unwrap_or_default(),
        path: path.map(PathBuf::from),
        values: variables.variables.iter().map(|row| (row.name.clone(), row.value.clone())).collect(),
        callers: frames.iter().skip(1).map(|frame| (frame.name.clone(), frame.line)).collect(),
    }
}

fn changed_variables(before: &ReportedStop, variables: &FrameVariables) -> Vec<String> {
    let old = |name: &str| before.values.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let changed = variables.variables.iter().filter(|row| old(&row.name) != Some(&row.value));
    changed.map(|row| row.name.clone()).collect()
}

/// Whether a variable is one of the program, not a group that the adapter makes.
pub(crate) fn is_plain(variable: &Variable) -> bool {
    let groups = ["special variables", "function variables", "class variables", "protected variables"];
    let is_group = groups.contains(&variable.name.as_str());
    let is_dunder = variable.name.starts_with("__") && variable.name.ends_with("__");
    !is_group && !is_dunder && !variable.name.is_empty()
}

/// Returns a function's name without the hash of Rust's compiler and without debugpy's remark.
pub(crate) fn plain_name(name: &str) -> Cow<'_, str> {
    let name = name.strip_suffix(" (Current frame)").unwrap_or(name);
    // The parameters of a C++ function are longer than anyone reads; a name may itself begin with a parenthesis.
    let name = match name.find('(') {
        Some(at) if at > 0 && name.len() > 60 && !name[..at].ends_with("operator") => &name[..at],
        _ => name,
    };
    let name = match name.rsplit_once("::h") {
        Some((plain, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => plain,
        _ => name,
    };
    if name.contains('$') { Cow::Owned(rust_symbol(name)) } else { Cow::Borrowed(name) }
}

/// Spells out what Rust's compiler writes for signs in its older names: `_$u7b$$u7b$closure$u7d$$u7d$` is `{{closure}}`.
fn rust_symbol(name: &str) -> String {
    const SIGNS: [(&str, &str); 14] = [
        ("_$", "$"),
        ("$LT$", "<"),
        ("$GT$", ">"),
        ("$RF$", "&"),
        ("$BP$", "*"),
        ("$C$", ","),
        ("$LP$", "("),
        ("$RP$", ")"),
        ("$u20$", " "),
        ("$u27$", "'"),
        ("$u5b$", "["),
        ("$u5d$", "]"),
        ("$u7b$", "{"),
        ("$u7d$", "}"),
    ];
    SIGNS.iter().fold(name.to_owned(), |name, (coded, sign)| name.replace(coded, sign)).replace("..", "::")
}

/// Whether a frame is in the workspace's own code.
pub fn is_own(frame: &StackFrame, workspace: &Path) -> bool {
    const FOREIGN: [&str; 6] =
        ["site-packages", "dist-packages", "node_modules", ".cargo", "rustlib", "vendor"];
    let Some(source) = &frame.source else { return false };
    let deemphasized = frame.presentation_hint.as_deref() == Some("subtle")
        || frame.presentation_hint.as_deref() == Some("label")
        || source.presentation_hint.as_deref() == Some("deemphasize");
    let Some(path) = source.path.as_deref().map(Path::new) else { return false };
    let Ok(inside) = path.strip_prefix(workspace) else { return false };
    !deemphasized
        && !inside.components().any(|part| {
            let part = part.as_os_str().to_string_lossy();
            FOREIGN.contains(&part.as_ref()) || part == ".venv" || part == "venv"
        })
}

/// Returns the top frame and those of the workspace's own code; all where there are none.
fn shown_frames<'a>(frames: &'a [StackFrame], workspace: &Path, most: usize) -> Vec<&'a StackFrame> {
    let own = frames.iter().filter(|frame| is_own(frame, workspace)).count();
    let wanted = |(at, frame): &(usize, &StackFrame)| own == 0 || *at == 0 || is_own(frame, workspace);
    frames.iter().enumerate().filter(wanted).map(|(_, frame)| frame).take(most).collect()
}

/// Returns the path of a frame's source, or the adapter's name for it.
fn place(frame: &StackFrame) -> Option<String> {
    let source = frame.source.as_ref()?;
    source.path.clone().or_else(|| source.name.clone())
}

/// Returns the source lines around a frame's, with an arrow at it.
pub fn source_context(frame: &StackFrame, around: i64) -> Option<String> {
    let path = frame.source.as_ref()?.path.as_deref()?;
    lines_around(Path::new(path), frame.line, around)
}

pub(crate) fn lines_around(path: &Path, line: i64, around: i64) -> Option<String> {
    const LONGEST_FILE: u64 = 4 * 1024 * 1024;
    if files::metadata(path).ok()?.len() > LONGEST_FILE {
        return None;
    }
    let content = files::read(path).ok()?;
    let content = String::from_utf8_lossy(&content);
    let (first, last) = (line - around, line + around);
    let width = last.to_string().len();
    let shown: Vec<String> = content
        .lines()
        .zip(1_i64..)
        .skip_while(|(_, number)| *number < first)
        .take_while(|(_, number)| *number <= last)
        .map(|(text, number)| {
            let mark = if number == line { '→' } else { ' ' };
            format!("{mark}{number:>width$} {}", shortened(text.trim_end(), 160))
        })
        .collect();
    (!shown.is_empty()).then(|| shown.join("\n"))
}

/// Joins output and shortens it to its end.
pub fn printed((pieces, gone): &(Vec<OutputPiece>, u64), most: usize) -> Option<String> {
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let text = crate::values::without_escapes(&text);
    if text.is_empty() {
        return None;
    }
    if text.len() <= most && *gone == 0 {
        return Some(text);
    }
    let keep = text.len() - floor_boundary(&text, text.len().saturating_sub(most));
    let left_out = text.len() - keep + usize::try_from(*gone).unwrap_or_default();
    Some(format!("[{left_out} bytes before; `get_output` has them]\n{}", &text[text.len() - keep..]))
}

fn exception_report(info: &ExceptionInfo, detail: Detail) -> ExceptionReport {
    let details = info.details.as_ref();
    let kind = details
        .and_then(|details| details.type_name.clone().or_else(|| details.full_type_name.clone()))
        .unwrap_or_else(|| info.exception_id.clone());
    let message = details.and_then(|details| details.message.clone()).or_else(|| info.description.clone());
    ExceptionReport {
        kind: shortened(plain_kind(&kind), 200),
        message: message.map(|message| shortened(&message, detail.value_length.max(300))),
    }
}

/// Returns an exception's type without debugpy's remark.
pub(crate) fn plain_kind(kind: &str) -> &str {
    kind.split("(note:").next().unwrap_or(kind).trim()
}

fn exception_text(stop: &Stop, info: Option<&ExceptionInfo>) -> Option<String> {
    let said = stop.text.clone().filter(|text| !text.is_empty());
    let text = said.or_else(|| info.and_then(|info| info.description.clone()))?;
    Some(shortened(plain_kind(&text), 600))
}
