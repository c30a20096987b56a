//! One file's content: told from its first bytes and its name what it is, and read as that.

use std::fs::File;
use std::io::{self, BufReader};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use stepwell_protocol::Image;
use stepwell_tool_runtime::{StreamRedactor, ToolError, counted};
use stepwell_workspace::{Error, Inside, Workspace};
use tokio_util::sync::CancellationToken;

use super::FileRead;
use super::documents::{self, Document, notebook};
use super::kinds;
use super::lines::{Numbered, numbered, numbered_text};
use super::wanted::Lines;
use crate::files::explained;

const LARGEST_IMAGE: u64 = 5 * 1024 * 1024;
/// Text in another encoding than UTF-8 is read as a whole.
const LARGEST_ENCODED: u64 = 20 * 1024 * 1024;
const LARGEST_DOCUMENT: u64 = 50 * 1024 * 1024;
const LARGEST_NOTEBOOK: u64 = 30 * 1024 * 1024;

/// What one file is read with.
pub struct Call {
    pub lines: Lines,
    /// Bytes of text.
    pub budget: usize,
    pub cancel: CancellationToken,
    pub redacted: StreamRedactor,
}

/// A file that was read, or a PDF, which another process reads.
pub enum Found {
    Read(FileRead),
    Pdf { bytes: Vec<u8>, call: Call },
}

pub fn content(workspace: &Workspace, place: &Inside, call: Call) -> Result<Found, ToolError> {
    let fail = |error| explained(workspace, Some(place), error);
    let (head, size) = workspace.peek(place).map_err(fail)?;
    if let Some(media_type) = kinds::image_type(&head) {
        return image(workspace, place, media_type, size).map(Found::Read);
    }
    match kinds::document(&head, &place.display()) {
        Some(kinds::Document::Notebook) if size <= LARGEST_NOTEBOOK => {
            let file = workspace.read_text(place, LARGEST_NOTEBOOK);
            if let Ok(document) = file.map_err(|_| ()).and_then(|file| notebook::text(&file.text).ok_or(())) {
                return told(place, document, call).map(Found::Read);
            }
            let mut shown = text(workspace, place, &head, size, call)?;
            shown.add_note("this is no notebook that can be understood, so it is shown as it is");
            return Ok(Found::Read(shown));
        }
        Some(kinds::Document::Office) => {
            if size > LARGEST_DOCUMENT {
                return Ok(Found::Read(too_large(place, "document", size, LARGEST_DOCUMENT)));
            }
            let bytes = workspace.read(place, LARGEST_DOCUMENT).map_err(fail)?;
            let document = documents::office_text(&bytes).map_err(|problem| {
                ToolError::execution(format!("`{}` cannot be read as a document: {problem}", place.display()))
            })?;
            return told(place, document, call).map(Found::Read);
        }
        Some(kinds::Document::Pdf) => {
            if size > LARGEST_DOCUMENT {
                return Ok(Found::Read(too_large(place, "PDF document", size, LARGEST_DOCUMENT)));
            }
            let bytes = workspace.read(place, LARGEST_DOCUMENT).map_err(fail)?;
            return Ok(Found::Pdf { bytes, call });
        }
        Some(kinds::Document::Notebook) | None => {}
    }
    text(workspace, place, &head, size, call).map(Found::Read)
}

fn text(
    workspace: &Workspace,
    place: &Inside,
    head: &[u8],
    size: u64,
    call: Call,
) -> Result<FileRead, ToolError> {
    let fail = |error| explained(workspace, Some(place), error);
    let is_utf8 =
        std::str::from_utf8(head).map_or_else(|cut| cut.error_len().is_none(), |_| !head.contains(&0));
    if !is_utf8 {
        if let Some(kind) = kinds::binary(head) {
            return Ok(FileRead::told(place, format!("{kind}, {}; not shown", counted(size, "byte"))));
        }
        match workspace.read_text(place, LARGEST_ENCODED) {
            Ok(file) => {
                let found = numbered_text(&file.text, &call.lines, call.budget, call.redacted)?;
                return Ok(FileRead::of(place, found));
            }
            Err(Error::Binary { .. } | Error::TooLarge { .. }) if head.contains(&0) => {
                let note = format!("binary file, {}; not shown", counted(size, "byte"));
                return Ok(FileRead::told(place, note));
            }
            Err(Error::Binary { .. } | Error::TooLarge { .. }) => {}
            Err(error) => return Err(fail(error)),
        }
    }
    let cancel = call.cancel.clone();
    let file = UntilCancelled { file: workspace.open_file(place).map_err(fail)?, cancel: call.cancel };
    let source = BufReader::with_capacity(64 * 1024, file);
    match numbered(source, &call.lines, call.budget, call.redacted) {
        Ok(found) => Ok(FileRead::of(place, found)),
        Err(_) if cancel.is_cancelled() => {
            Err(ToolError::interrupted(format!("reading `{}` was stopped", place.display())))
        }
        Err(error) => Err(ToolError::execution(format!("cannot read `{}`: {error}", place.display()))),
    }
}

/// A document's text, in lines like any other.
pub fn told(place: &Inside, document: Document, call: Call) -> Result<FileRead, ToolError> {
    if document.text.trim().is_empty() && document.images.is_empty() {
        return Ok(FileRead::told(place, format!("{}; it holds none", document.note)));
    }
    let mut found = numbered_text(&document.text, &call.lines, call.budget, call.redacted)?;
    found.notes.insert(0, document.note);
    let mut read = FileRead::of(place, found);
    read.images = document.images;
    Ok(read)
}

impl FileRead {
    fn of(place: &Inside, found: Numbered) -> Self {
        Self {
            path: place.display(),
            content: found.content,
            first_line: found.first_line,
            lines: found.lines,
            more: found.more,
            note: (!found.notes.is_empty()).then(|| found.notes.join("; ")),
            ..Self::default()
        }
    }
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

fn image(workspace: &Workspace, place: &Inside, media_type: &str, size: u64) -> Result<FileRead, ToolError> {
    if size > LARGEST_IMAGE {
        return Ok(too_large(place, media_type, size, LARGEST_IMAGE));
    }
    let bytes =
        workspace.read(place, LARGEST_IMAGE).map_err(|error| explained(workspace, Some(place), error))?;
    let mut output = FileRead::told(place, format!("{media_type}, {}", counted(size, "byte")));
    output.images = vec![Image { media_type: media_type.to_owned(), data: STANDARD.encode(bytes) }];
    Ok(output)
}

fn too_large(place: &Inside, kind: &str, size: u64, limit: u64) -> FileRead {
    FileRead::told(place, format!("{kind}, {size} bytes; larger than the {limit} bytes that can be shown"))
}
