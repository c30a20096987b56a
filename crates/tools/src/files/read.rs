//! `read`: a file's lines with their numbers, or an image.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Image, Preview, Risk};
use stepwell_tool_runtime::{
    Category, StreamRedactor, Tool, ToolContext, ToolError, ToolOutput, ToolSpec, counted,
};
use stepwell_workspace::{Error, Inside, Workspace};
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::explained;

const DEFAULT_LINES: usize = 2000;
const LONGEST_LINE: usize = 2000;
const LARGEST_IMAGE: u64 = 5 * 1024 * 1024;
/// Text in another encoding than UTF-8 is read as a whole.
const LARGEST_ENCODED: u64 = 20 * 1024 * 1024;
/// Text of one call; the rest is read with another.
const LARGEST_ANSWER: usize = 200 * 1024;

pub struct Read {
    desk: Desk,
}

impl Read {
    pub fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

/// Reads a file. Text comes with line numbers, up to 2000 lines from `offset`; images are shown. Also reads
/// outputs that were kept as artifacts.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReadInput {
    /// Relative to the workspace, or absolute within it.
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    file_path: String,
    /// First line to read, from 1.
    #[schemars(extend("x-aliases" = ["start_line", "line"]))]
    offset: Option<usize>,
    /// Number of lines.
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ReadOutput {
    path: String,
    /// The lines with their numbers; empty for an image.
    content: String,
    first_line: usize,
    lines: usize,
    /// Whether lines follow.
    more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip)]
    image: Option<Image>,
}

impl ToolOutput for ReadOutput {
    fn for_model(&self) -> Cow<'_, str> {
        match &self.note {
            None => Cow::Borrowed(&self.content),
            Some(note) if self.content.is_empty() => Cow::Owned(format!("({note})")),
            Some(note) => Cow::Owned(format!("{}({note})", self.content)),
        }
    }

    fn images(&self) -> Vec<Image> {
        self.image.clone().into_iter().collect()
    }
}

#[async_trait]
impl Tool for Read {
    type Input = ReadInput;
    type Output = ReadOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read",
            aliases: &["read_file", "view", "cat"],
            category: Category::Files,
            risk: Risk::Read,
            time_limit: Duration::from_secs(30),
            output_limit: LARGEST_ANSWER + 1024,
        }
    }

    async fn preview(&self, _: &ToolContext, input: &Self::Input) -> Preview {
        Preview {
            summary: format!("Read `{}`", input.file_path),
            paths: vec![input.file_path.clone()],
            ..Preview::default()
        }
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Input) -> Result<Self::Output, ToolError> {
        let (workspace, place) = self.find(ctx, &input.file_path).await?;
        let (cancel, redacted) = (ctx.cancel.clone(), ctx.redactor.stream());
        let (seen, task) = (Arc::clone(&self.desk.seen), ctx.task.clone());
        // A file may be huge and its disk slow; neither must hold up the rest of the program.
        tokio::task::spawn_blocking(move || {
            seen.note_read(&task, &workspace, &place);
            content(&workspace, &place, &input, cancel, redacted)
        })
        .await
        .map_err(|error| ToolError::execution(format!("the file could not be read: {error}")))?
    }
}

impl Read {
    /// The workspace a path belongs to: the task's own, or the folder of its artifacts.
    async fn find(&self, ctx: &ToolContext, path: &str) -> Result<(Workspace, Inside), ToolError> {
        let refused = match self.desk.workspace.place(path) {
            Ok(place) => return Ok((self.desk.workspace.clone(), place)),
            Err(error) => explained(&self.desk.workspace, None, error),
        };
        if !Path::new(path).is_absolute() {
            return Err(refused);
        }
        let Ok(folder) = ctx.host.artifact_dir().await else { return Err(refused) };
        let Ok(artifacts) = Workspace::open(&folder, &[]) else { return Err(refused) };
        match artifacts.place(path) {
            Ok(place) => Ok((artifacts, place)),
            Err(_) => Err(refused),
        }
    }
}

impl ReadOutput {
    fn told(place: &Inside, note: String) -> Self {
        Self {
            path: place.display(),
            content: String::new(),
            first_line: 0,
            lines: 0,
            more: false,
            note: Some(note),
            image: None,
        }
    }
}

fn content(
    workspace: &Workspace,
    place: &Inside,
    input: &ReadInput,
    cancel: CancellationToken,
    redacted: StreamRedactor,
) -> Result<ReadOutput, ToolError> {
    let fail = |error| explained(workspace, Some(place), error);
    let (head, size) = workspace.peek(place).map_err(fail)?;
    if let Some(media_type) = image_type(&head) {
        return image(workspace, place, media_type, size);
    }
    let is_utf8 =
        std::str::from_utf8(&head).map_or_else(|cut| cut.error_len().is_none(), |_| !head.contains(&0));
    if !is_utf8 {
        match workspace.read_text(place, LARGEST_ENCODED) {
            Ok(file) => return lines(place, file.text.as_bytes(), input, redacted),
            Err(Error::Binary { .. } | Error::TooLarge { .. }) if head.contains(&0) => {
                let note = format!("binary file, {}; not shown", counted(size, "byte"));
                return Ok(ReadOutput::told(place, note));
            }
            Err(Error::Binary { .. } | Error::TooLarge { .. }) => {}
            Err(error) => return Err(fail(error)),
        }
    }
    let file = UntilCancelled { file: workspace.open_file(place).map_err(fail)?, cancel: cancel.clone() };
    lines(place, BufReader::with_capacity(64 * 1024, file), input, redacted).map_err(|error| {
        let stopped = || ToolError::interrupted(format!("reading `{}` was stopped", place.display()));
        if cancel.is_cancelled() { stopped() } else { error }
    })
}

/// A file that cannot be read any more once the call is cancelled or late.
struct UntilCancelled {
    file: File,
    cancel: CancellationToken,
}

impl io::Read for UntilCancelled {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("the call was cancelled"));
        }
        self.file.read(buffer)
    }
}

fn image(
    workspace: &Workspace,
    place: &Inside,
    media_type: &str,
    size: u64,
) -> Result<ReadOutput, ToolError> {
    if size > LARGEST_IMAGE {
        let note =
            format!("{media_type}, {size} bytes; larger than the {LARGEST_IMAGE} bytes that can be shown");
        return Ok(ReadOutput::told(place, note));
    }
    let bytes =
        workspace.read(place, LARGEST_IMAGE).map_err(|error| explained(workspace, Some(place), error))?;
    let mut output = ReadOutput::told(place, format!("{media_type}, {}", counted(size, "byte")));
    output.image = Some(Image { media_type: media_type.to_owned(), data: STANDARD.encode(bytes) });
    Ok(output)
}

fn image_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Reads lines without ever holding more than one and the answer. Secrets are hidden here, before the numbers: with
/// them, the lines of a private key look like no key.
fn lines(
    place: &Inside,
    mut source: impl BufRead,
    input: &ReadInput,
    mut redacted: StreamRedactor,
) -> Result<ReadOutput, ToolError> {
    let first_line = input.offset.unwrap_or(1).max(1);
    let wanted = input.limit.unwrap_or(DEFAULT_LINES).max(1);
    let mut content = String::new();
    let mut line = Vec::new();
    let (mut number, mut shown, mut more, mut cut, mut invalid) = (0, 0, false, false, false);
    loop {
        let kept = next_line(&mut source, &mut line)
            .map_err(|error| ToolError::execution(format!("cannot read `{}`: {error}", place.display())))?;
        if !kept {
            break;
        }
        number += 1;
        if number < first_line {
            redacted.skip_line(&String::from_utf8_lossy(&line));
            continue;
        }
        if shown == wanted || content.len() >= LARGEST_ANSWER {
            more = true;
            break;
        }
        let bytes = if number == 1 { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line) } else { &line };
        let text = String::from_utf8_lossy(bytes);
        invalid |= matches!(text, Cow::Owned(_));
        let text = redacted.push_line(&format!("{}\n", text.trim_end_matches('\r')));
        let (text, was_cut) = shortened(text.trim_end_matches('\n'));
        cut |= was_cut;
        writeln!(content, "{number:>6}\t{text}").map_err(|error| ToolError::execution(error.to_string()))?;
        shown += 1;
    }
    let mut notes = Vec::new();
    if number == 0 {
        notes.push("the file is empty".to_owned());
    } else if shown == 0 {
        notes.push(format!(
            "the file has {}; offset {first_line} lies behind its end",
            counted(number as u64, "line")
        ));
    }
    if more {
        notes.push(format!("more lines follow; go on with offset {}", first_line + shown));
    }
    if cut {
        notes.push(format!("lines longer than {LONGEST_LINE} characters are cut"));
    }
    if invalid {
        notes.push("the file is not UTF-8; what could not be read is shown as \u{FFFD}".to_owned());
    }
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Ok(ReadOutput { path: place.display(), content, first_line, lines: shown, more, note, image: None })
}

/// Reads one line without its end; keeps only the beginning of a very long one. False at the end of the file.
fn next_line(source: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    const KEPT: usize = LONGEST_LINE * 4 + 4;
    line.clear();
    let mut any = false;
    loop {
        let available = source.fill_buf()?;
        if available.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        line.extend_from_slice(&part[..part.len().min(KEPT.saturating_sub(line.len()))]);
        let used = end.map_or(available.len(), |end| end + 1);
        source.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn shortened(line: &str) -> (&str, bool) {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => (&line[..end], true),
        None => (line, false),
    }
}
