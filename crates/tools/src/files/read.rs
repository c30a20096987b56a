//! `read`: files' lines with their numbers, the text of documents, or images.

mod content;
mod documents;
mod kinds;
mod lines;
mod wanted;

pub(super) use lines::next_line;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Serialize;
use stepwell_protocol::{ErrorClass, Image, Preview, PreviewFile, Risk};
use stepwell_tool_runtime::{
    Category, Planned, Refused, Tool, ToolContext, ToolError, ToolOutput, ToolSpec, counted,
};
use stepwell_workspace::{Inside, Workspace};

use self::content::{Call, Found, content, told};
use self::documents::pdf;
pub(crate) use self::documents::pdf::PdfReader;
use self::wanted::{ReadInput, Wanted};
use super::explained;
use super::service::FileService;
use crate::catalog::CatalogOptions;

pub use documents::pdf::{PDF_TEXT_WORD, pdf_text_main};

/// Text of one call; the rest is read with another.
const LARGEST_ANSWER: usize = 200 * 1024;
/// What the names and notes of files may add to it.
const ROOM_FOR_NOTES: usize = 32 * 1024;
/// For all PDF documents of a call; less than its time limit.
const PDF_TIME: Duration = Duration::from_secs(40);
const MOST_IMAGES: usize = 20;
/// Characters of all images of a call, as they are sent.
const LARGEST_IMAGES: usize = 16 * 1024 * 1024;

pub struct Read {
    service: FileService,
    pdf: Option<PdfReader>,
}

impl Read {
    pub fn new(service: FileService, options: &CatalogOptions) -> Self {
        Self { service, pdf: PdfReader::new(options) }
    }
}

/// One file of a call.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct FileRead {
    path: String,
    /// The lines with their numbers; empty for an image.
    content: String,
    first_line: usize,
    lines: usize,
    /// Whether lines follow.
    more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Why this file could not be read, where others could.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip)]
    images: Vec<Image>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ReadOutput {
    One(FileRead),
    Several { files: Vec<FileRead> },
}

impl FileRead {
    fn told(place: &Inside, note: String) -> Self {
        Self { path: place.display(), note: Some(note), ..Self::default() }
    }

    fn failed(path: String, error: ToolError) -> Self {
        Self { path, error: Some(error.message), ..Self::default() }
    }

    fn add_note(&mut self, added: &str) {
        match &mut self.note {
            Some(note) => {
                note.push_str("; ");
                note.push_str(added);
            }
            None => self.note = Some(added.to_owned()),
        }
    }

    fn for_model(&self) -> Cow<'_, str> {
        match (&self.error, &self.note) {
            (Some(error), _) => Cow::Owned(format!("error: {error}")),
            (None, None) => Cow::Borrowed(&self.content),
            (None, Some(note)) => Cow::Owned(format!("{}({note})", self.content)),
        }
    }

    /// Keeps the images that a call has room for, and says how many it left out.
    fn keep_images(&mut self, room: &mut ImageRoom) {
        let before = self.images.len();
        self.images.retain(|image| {
            let fits = room.images > 0 && image.data.len() <= room.characters;
            if fits {
                room.images -= 1;
                room.characters -= image.data.len();
            }
            fits
        });
        if let left_out @ 1.. = before - self.images.len() {
            let left_out = counted(left_out as u64, "image");
            self.add_note(&format!("{left_out} left out: too much for one call, read them one by one"));
        }
    }
}

/// What is left for images.
struct ImageRoom {
    images: usize,
    characters: usize,
}

impl ToolOutput for ReadOutput {
    fn for_model(&self) -> Cow<'_, str> {
        match self {
            Self::One(file) => file.for_model(),
            Self::Several { files } => {
                let texts: Vec<String> = files
                    .iter()
                    .map(|file| format!("==> {} <==\n{}", file.path, file.for_model().trim_end_matches('\n')))
                    .collect();
                Cow::Owned(texts.join("\n\n") + "\n")
            }
        }
    }

    fn images(&self) -> Vec<Image> {
        match self {
            Self::One(file) => file.images.clone(),
            Self::Several { files } => files.iter().flat_map(|file| file.images.clone()).collect(),
        }
    }
}

#[async_trait]
impl Tool for Read {
    type Input = ReadInput;
    type Plan = ReadInput;
    type Output = ReadOutput;

    fn is_basic(&self) -> bool {
        true
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read",
            aliases: &["read_file", "view", "cat"],
            category: Category::Files,
            risk: Risk::Read,
            time_limit: Duration::from_mins(1),
            output_limit: LARGEST_ANSWER + ROOM_FOR_NOTES,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let quoted: Vec<String> = input.files.iter().map(|file| format!("`{}`", file.path)).collect();
        let single = |file: &Wanted| PreviewFile { path: file.path.clone(), diff: None };
        let preview = Preview {
            summary: format!("Read {}", quoted.join(", ")),
            paths: self.service.named(input.files.iter().map(|file| file.path.clone())),
            files: if input.files.len() > 1 { input.files.iter().map(single).collect() } else { Vec::new() },
            ..Preview::default()
        };
        Planned::ready(preview, input)
    }

    fn exclude(&self, mut plan: ReadInput, refused: &Refused) -> Result<ReadInput, ToolError> {
        plan.files.retain(|file| !refused.files.contains(&file.path));
        if plan.files.is_empty() {
            return Err(ToolError::permission("the person refused every file of this call"));
        }
        Ok(plan)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let wanted = input.files;
        let count = wanted.len();
        let started = Instant::now();
        let mut text_left = LARGEST_ANSWER;
        let mut room = ImageRoom { images: MOST_IMAGES, characters: LARGEST_IMAGES };
        let (mut files, mut failures) = (Vec::with_capacity(count), Vec::new());
        for (done, file) in wanted.iter().enumerate() {
            // What a file leaves over is shared by those after it.
            match self.read(ctx, file, text_left / (count - done), started).await {
                Ok(mut read) => {
                    text_left = text_left.saturating_sub(read.content.len());
                    read.keep_images(&mut room);
                    files.push(read);
                }
                Err(error) if count == 1 || error.class == ErrorClass::Interrupted => return Err(error),
                Err(error) => {
                    failures.push(error.clone());
                    files.push(FileRead::failed(file.path.clone(), error));
                }
            }
        }
        self.service.record_seen(ctx).await;
        if failures.len() == count
            && let Some(first) = failures.first()
        {
            let told: Vec<&str> = failures.iter().map(|error| error.message.as_str()).collect();
            return Err(ToolError::new(first.class, told.join("\n")));
        }
        match files.pop() {
            Some(only) if files.is_empty() => Ok(ReadOutput::One(only)),
            last => Ok(ReadOutput::Several { files: files.into_iter().chain(last).collect() }),
        }
    }
}

impl Read {
    async fn read(
        &self,
        ctx: &ToolContext,
        wanted: &Wanted,
        budget: usize,
        started: Instant,
    ) -> Result<FileRead, ToolError> {
        let (workspace, place) = self.find(ctx, &wanted.path).await?;
        let (seen, task) = (Arc::clone(&self.service.seen), ctx.task.clone());
        let call = Call {
            lines: wanted.lines.clone(),
            budget,
            cancel: ctx.cancel.clone(),
            redacted: ctx.redactor.stream(),
        };
        // A file may be huge and its disk slow; neither must hold up the rest of the program.
        let reading = tokio::task::spawn_blocking(move || {
            seen.note_read(&task, &workspace, &place);
            (content(&workspace, &place, call), place)
        });
        let (found, place) = reading
            .await
            .map_err(|error| ToolError::execution(format!("the file could not be read: {error}")))?;
        let (bytes, call) = match found? {
            Found::Read(read) => return Ok(read),
            Found::Pdf { bytes, call } => (bytes, call),
        };
        let Some(pdf) = &self.pdf else {
            let size = counted(bytes.len() as u64, "byte");
            return Ok(FileRead::told(&place, format!("PDF document, {size}; PDF cannot be read here")));
        };
        let time = pdf::TIME_LIMIT.min(PDF_TIME.saturating_sub(started.elapsed()));
        if time.is_zero() {
            return Err(ToolError::execution(format!(
                "`{}` was not read: other PDF documents took all of the call's time; read it in another call",
                place.display()
            )));
        }
        let document = pdf.text(&place.display(), bytes, time, &call.cancel).await?;
        told(&place, document, call)
    }

    /// The workspace a path belongs to: the task's own, or the folder of its artifacts.
    async fn find(&self, ctx: &ToolContext, path: &str) -> Result<(Workspace, Inside), ToolError> {
        let refused = match self.service.workspace.place(path) {
            Ok(place) => return Ok((self.service.workspace.clone(), place)),
            Err(error) => explained(&self.service.workspace, None, error),
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
