//! The model that makes images, where the settings name one.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use stepwell_llm::{ImageKind, ImageModel, ImageOptions};
use stepwell_protocol::Image;
use stepwell_tool_runtime::ToolError;
use stepwell_tools::{ImageMaker, MadeImage};

use crate::models::Models;

/// Less than the time limit of the tool.
const DEADLINE: Duration = Duration::from_mins(4);

/// Connects when the first image is asked for.
pub struct Images {
    pub name: String,
    pub models: Arc<Models>,
}

impl std::fmt::Debug for Images {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Images").field("name", &self.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl ImageMaker for Images {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn make(&self, prompt: &str, from: Option<Image>) -> Result<MadeImage, ToolError> {
        let failed = |error: stepwell_llm::Error| {
            let hint = error.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            ToolError::execution(format!("{}{hint}", error.message))
        };
        let options = self.models.options(&self.name).map_err(failed)?;
        let model = ImageModel::new(ImageOptions {
            provider: options.provider,
            model: options.model,
            key: options.key,
            client: options.client,
        });
        let made = model.map_err(failed)?.make(prompt, from.as_ref(), DEADLINE).await.map_err(failed)?;
        let media_type = match made.kind {
            ImageKind::Png => "image/png",
            ImageKind::Jpeg => "image/jpeg",
            ImageKind::Gif => "image/gif",
            ImageKind::WebP => "image/webp",
        };
        Ok(MadeImage { content: made.content, media_type })
    }
}
