//! `generate_image`: an image from a text, written into the workspace.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Image, Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use stepwell_workspace::{Inside, Workspace};

const LARGEST_INPUT: u64 = 10 * 1024 * 1024;
const ENDINGS: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
];

/// Makes images with the model that the person named.
#[async_trait]
pub trait ImageMaker: Debug + Send + Sync {
    /// The model, for people.
    fn name(&self) -> String;

    async fn make(&self, prompt: &str, from: Option<Image>) -> Result<MadeImage, ToolError>;
}

/// An image that was made.
#[derive(Debug)]
pub struct MadeImage {
    pub content: Vec<u8>,
    /// `image/png` and so on.
    pub media_type: &'static str,
}

pub struct GenerateImage {
    workspace: Workspace,
    maker: Arc<dyn ImageMaker>,
}

impl GenerateImage {
    pub fn new(workspace: Workspace, maker: Arc<dyn ImageMaker>) -> Self {
        Self { workspace, maker }
    }
}

/// Makes an image from a description and writes it to a file of the workspace.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct GenerateImageInput {
    prompt: String,
    /// Where to write it, such as `docs/logo.png`.
    #[schemars(extend("x-aliases" = ["file_path"]))]
    path: String,
    /// An image of the workspace to begin with.
    image: Option<String>,
}

#[derive(Clone, Debug)]
pub struct ImagePlan {
    prompt: String,
    place: Inside,
    from: Option<Inside>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GenerateImageOutput {
    path: String,
    bytes: usize,
    media_type: String,
    #[serde(skip)]
    text: String,
}

impl ToolOutput for GenerateImageOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

fn media_type(place: &Inside) -> Option<&'static str> {
    let ending = place.absolute().extension()?.to_string_lossy().to_lowercase();
    ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, media_type)| *media_type)
}

impl GenerateImage {
    fn planned(&self, input: GenerateImageInput) -> Result<ImagePlan, ToolError> {
        if input.prompt.trim().is_empty() {
            return Err(ToolError::parameter("`prompt` is empty; describe the image"));
        }
        let place = crate::files::place(&self.workspace, &input.path)?;
        if media_type(&place).is_none() {
            return Err(ToolError::parameter(format!(
                "`{}` is no name of an image; end it with .png, .jpg, .gif or .webp",
                input.path
            )));
        }
        let from = input.image.map(|path| crate::files::place(&self.workspace, &path)).transpose()?;
        Ok(ImagePlan { prompt: input.prompt, place, from })
    }

    async fn beginning(&self, place: Inside) -> Result<Image, ToolError> {
        let Some(media_type) = media_type(&place) else {
            return Err(ToolError::parameter(format!("`{}` is no image", place.display())));
        };
        let workspace = self.workspace.clone();
        let read = tokio::task::spawn_blocking(move || {
            workspace
                .read(&place, LARGEST_INPUT)
                .map_err(|error| crate::files::explained(&workspace, Some(&place), error))
        });
        let bytes = read.await.map_err(|error| ToolError::execution(error.to_string()))??;
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        Ok(Image { media_type: media_type.to_owned(), data })
    }
}

#[async_trait]
impl Tool for GenerateImage {
    type Input = GenerateImageInput;
    type Plan = ImagePlan;
    type Output = GenerateImageOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "generate_image",
            aliases: &[],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: Duration::from_mins(5),
            output_limit: 4 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let mut paths = vec![input.path.clone()];
        paths.extend(input.image.clone());
        let summary = format!("Make `{}` with {}: {}", input.path, self.maker.name(), input.prompt);
        Planned::new(Preview { summary, paths, ..Preview::default() }, self.planned(input))
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError> {
        let from = match plan.from {
            Some(place) => Some(self.beginning(place).await?),
            None => None,
        };
        let made = tokio::select! {
            made = self.maker.make(&plan.prompt, from) => made?,
            () = ctx.cancel.cancelled() => return Err(ToolError::interrupted("the call was cancelled")),
        };
        let wanted = media_type(&plan.place).unwrap_or(made.media_type);
        let note = if wanted == made.media_type {
            String::new()
        } else {
            format!("; note that it is {}", made.media_type)
        };
        let (workspace, place, bytes) = (self.workspace.clone(), plan.place.clone(), made.content.len());
        let written = tokio::task::spawn_blocking(move || {
            workspace
                .write(&place, &made.content)
                .map_err(|error| crate::files::explained(&workspace, Some(&place), error))
        });
        written.await.map_err(|error| ToolError::execution(error.to_string()))??;
        let path = plan.place.display();
        let text = format!("wrote `{path}` ({bytes} bytes){note}");
        Ok(GenerateImageOutput { path, bytes, media_type: made.media_type.to_owned(), text })
    }
}
