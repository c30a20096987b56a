//! `edit`: one exact piece of text replaced by another.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use similar::TextDiff;
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Redactor, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use stepwell_workspace::{Inside, TextFile, Workspace};

use super::diff::{self, Change};
use super::{LARGEST_EDIT, explained, place};

pub struct Edit {
    workspace: Workspace,
}

impl Edit {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// Replaces text in a file. `old_str` must match exactly, white space included, and occur once; give more lines
/// around it where it does not, or set `replace_all`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EditInput {
    /// Relative to the workspace, or absolute within it.
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    file_path: String,
    /// Text to find, without line numbers.
    #[schemars(extend("x-aliases" = ["old_string", "search", "old_text"]))]
    old_str: String,
    /// Text to put in its place.
    #[schemars(extend("x-aliases" = ["new_string", "replace", "new_text", "replacement"]))]
    new_str: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct EditOutput {
    path: String,
    replacements: usize,
    /// Line of the first replacement.
    line: usize,
    added: usize,
    removed: usize,
    #[serde(skip)]
    diff: String,
}

impl ToolOutput for EditOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let Self { path, replacements, line, added, removed, .. } = self;
        let times = if *replacements == 1 { String::new() } else { format!(" {replacements} times, first") };
        Cow::Owned(format!("edited `{path}`{times} at line {line} (+{added} -{removed})"))
    }

    fn detail(&self) -> Option<Value> {
        Some(json!({ "path": self.path, "diff": self.diff, "added": self.added, "removed": self.removed }))
    }
}

/// A file with the edit made, not yet written.
struct Edited {
    place: Inside,
    old: String,
    new: TextFile,
    replacements: usize,
    line: usize,
}

#[async_trait]
impl Tool for Edit {
    type Input = EditInput;
    type Output = EditOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit",
            aliases: &["search_and_replace", "str_replace", "edit_file", "search_replace"],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn preview(&self, ctx: &ToolContext, input: &Self::Input) -> Preview {
        // An edit that cannot be made is shown as it was asked for; running it tells what is wrong.
        let redactor = &ctx.redactor;
        let change = match self.edited(redactor, input) {
            Ok(edited) => diff::change(redactor, &edited.place.display(), &edited.old, &edited.new.text),
            Err(_) => diff::change(redactor, &input.file_path, &input.old_str, &input.new_str),
        };
        Preview {
            summary: format!("Edit `{}`", input.file_path),
            diff: Some(change.diff),
            paths: vec![input.file_path.clone()],
            ..Preview::default()
        }
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Input) -> Result<Self::Output, ToolError> {
        let Edited { place, old, new, replacements, line } = self.edited(&ctx.redactor, &input)?;
        self.workspace
            .write(&place, &new.to_bytes())
            .map_err(|error| explained(&self.workspace, Some(&place), error))?;
        let path = place.display();
        let Change { diff, added, removed } = diff::change(&ctx.redactor, &path, &old, &new.text);
        Ok(EditOutput { path, replacements, line, added, removed, diff })
    }
}

impl Edit {
    fn edited(&self, redactor: &Redactor, input: &EditInput) -> Result<Edited, ToolError> {
        let place = place(&self.workspace, &input.file_path)?;
        if input.old_str.is_empty() {
            return Err(ToolError::validation("`old_str` is empty; use `write` for a new file"));
        }
        if input.old_str == input.new_str {
            return Err(ToolError::validation("`old_str` and `new_str` are the same"));
        }
        let file = self
            .workspace
            .read_text(&place, LARGEST_EDIT)
            .map_err(|error| explained(&self.workspace, Some(&place), error))?;
        let (wanted, replacement) = with_line_ends(&file, input);
        let lines: Vec<usize> = occurrences(&file.text, &wanted);
        let line = match lines.as_slice() {
            [] => {
                // A part of a private key looks like no key.
                let shown = redactor.redact_lines(&file.text).map_or(file.text, |lines| lines.concat());
                return Err(not_found(&place, &shown, &input.old_str));
            }
            [only] => *only,
            [first, ..] if input.replace_all => *first,
            many => {
                let shown: Vec<String> = many.iter().take(10).map(ToString::to_string).collect();
                let more = if many.len() > 10 { ", …" } else { "" };
                return Err(ToolError::validation(format!(
                    "`old_str` occurs {} times in `{}`, at lines {}{more}; add lines around it until it is unique, \
                     or set `replace_all`",
                    many.len(),
                    place.display(),
                    shown.join(", ")
                )));
            }
        };
        let new = file.text.replace(wanted.as_ref(), &replacement);
        Ok(Edited {
            place,
            new: TextFile { text: new, encoding: file.encoding },
            old: file.text,
            replacements: lines.len(),
            line,
        })
    }
}

/// The texts with the line ends of the file: models write LF, whatever the file has.
fn with_line_ends<'a>(file: &TextFile, input: &'a EditInput) -> (Cow<'a, str>, Cow<'a, str>) {
    let plain = (Cow::Borrowed(input.old_str.as_str()), Cow::Borrowed(input.new_str.as_str()));
    let to_crlf = |text: &str| Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"));
    let to_lf = |text: &str| Cow::Owned(text.replace("\r\n", "\n"));
    if file.uses_crlf() && !file.text.contains(&input.old_str) {
        (to_crlf(&input.old_str), to_crlf(&input.new_str))
    } else if file.uses_crlf() && !input.old_str.contains('\n') {
        (plain.0, to_crlf(&input.new_str))
    } else if !file.text.contains('\r') && input.old_str.contains('\r') {
        (to_lf(&input.old_str), to_lf(&input.new_str))
    } else {
        plain
    }
}

/// The lines at which a text begins, from 1.
fn occurrences(text: &str, wanted: &str) -> Vec<usize> {
    let mut line = 1;
    let mut counted = 0;
    text.match_indices(wanted)
        .map(|(at, _)| {
            line += text[counted..at].matches('\n').count();
            counted = at;
            line
        })
        .collect()
}

fn not_found(place: &Inside, text: &str, wanted: &str) -> ToolError {
    let path = place.display();
    let message = match nearest(text, wanted) {
        Some((line, nearest)) => format!(
            "`old_str` does not occur in `{path}`; the nearest text is at line {line}:\n{nearest}\ncopy it exactly, \
             white space included"
        ),
        None => format!("`old_str` does not occur in `{path}`; read the file again, it may have changed"),
    };
    ToolError::validation(message)
}

/// The lines of a file most like a text, where any are.
fn nearest(text: &str, wanted: &str) -> Option<(usize, String)> {
    const LONGEST_SEARCH: usize = 20_000;
    let lines: Vec<&str> = text.lines().take(LONGEST_SEARCH).collect();
    let wanted: Vec<&str> = wanted.lines().collect();
    let anchor = wanted.iter().map(|line| line.trim()).max_by_key(|line| line.len())?;
    let anchor_at = wanted.iter().position(|line| line.trim() == anchor)?;
    if anchor.is_empty() {
        return None;
    }
    let (at, ratio) = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.len() < 4 * anchor.len() + 40)
        .map(|(at, line)| (at, likeness(line.trim(), anchor)))
        .max_by(|left, right| left.1.total_cmp(&right.1).then(right.0.cmp(&left.0)))?;
    if ratio < 0.6 {
        return None;
    }
    let start = at.saturating_sub(anchor_at);
    let end = (start + wanted.len().clamp(1, 20)).min(lines.len());
    Some((start + 1, lines.get(start..end)?.join("\n")))
}

/// How alike two lines are, from 0 to 1.
fn likeness(left: &str, right: &str) -> f32 {
    if left == right {
        return 1.0;
    }
    let (short, long) = if left.len() < right.len() { (left, right) } else { (right, left) };
    // No need to compare what cannot reach the threshold.
    if short.len() * 3 < long.len() {
        return 0.0;
    }
    TextDiff::configure().timeout(Duration::from_millis(5)).diff_chars(left, right).ratio()
}
