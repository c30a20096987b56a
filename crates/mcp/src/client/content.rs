//! From what a server answers to what the model reads.

use rmcp::model::{CallToolResult, ContentBlock, ReadResourceResult, Resource, ResourceContents};
use serde_json::json;
use stepwell_protocol::Image;
use stepwell_tool_runtime::{DynOutput, ToolError};

/// Images of one answer that the model is given.
const MOST_IMAGES: usize = 8;
/// Bytes of one image in base64.
const LARGEST_IMAGE: usize = 5 * 1024 * 1024;
/// Image types that models read.
const IMAGE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The output of a call, or the server's own error.
pub(crate) fn call_output(result: CallToolResult) -> Result<DynOutput, ToolError> {
    let mut output = Collected::default();
    for block in result.content {
        output.add(block);
    }
    let text = match (&result.structured_content, output.lines.is_empty()) {
        (Some(structured), true) => structured.to_string(),
        _ => output.lines.join("\n"),
    };
    if result.is_error == Some(true) {
        let told =
            if text.is_empty() { "the server reports an error and says no more".to_owned() } else { text };
        return Err(ToolError::execution(told));
    }
    let value = result.structured_content.unwrap_or_else(|| json!({"text": text}));
    Ok(DynOutput { value, text, images: output.images, ..DynOutput::default() })
}

/// The content of a resource.
pub(crate) fn resource_output(result: ReadResourceResult) -> DynOutput {
    let mut output = Collected::default();
    for contents in result.contents {
        output.add_resource(contents);
    }
    let text = output.lines.join("\n");
    DynOutput { value: json!({"text": text}), text, images: output.images, ..DynOutput::default() }
}

/// A list of resources, a line each.
pub(crate) fn resource_list(resources: &[Resource]) -> DynOutput {
    let lines: Vec<String> = resources.iter().map(resource_line).collect();
    let text = if lines.is_empty() { "the server has no resources".to_owned() } else { lines.join("\n") };
    let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
    DynOutput { value: json!({"resources": uris}), text, ..DynOutput::default() }
}

/// One line about a resource that can be read.
fn resource_line(resource: &Resource) -> String {
    let about = resource.description.as_deref().unwrap_or_default();
    let kind = resource.mime_type.as_deref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    format!("{}{kind}: {} {about}", resource.uri, resource.name).trim_end().to_owned()
}

#[derive(Default)]
struct Collected {
    lines: Vec<String>,
    images: Vec<Image>,
}

impl Collected {
    fn add(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.lines.push(text.text),
            ContentBlock::Image(image) => self.add_image(image.mime_type, image.data),
            ContentBlock::Audio(audio) => self.leave_out("audio", &audio.mime_type, audio.data.len()),
            ContentBlock::Resource(resource) => self.add_resource(resource.resource),
            ContentBlock::ResourceLink(resource) => {
                self.lines.push(format!("resource {}", resource_line(&resource)));
            }
            _ => self.lines.push("[content of an unknown kind left out]".to_owned()),
        }
    }

    fn add_resource(&mut self, contents: ResourceContents) {
        match contents {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                self.lines.push(format!("{uri}:\n{text}"));
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                if IMAGE_TYPES.contains(&kind.as_str()) {
                    self.lines.push(format!("{uri}:"));
                    self.add_image(kind, blob);
                } else {
                    self.leave_out(&uri, &kind, blob.len());
                }
            }
            _ => self.lines.push("[a resource of an unknown kind left out]".to_owned()),
        }
    }

    fn add_image(&mut self, media_type: String, data: String) {
        let fits = IMAGE_TYPES.contains(&media_type.as_str())
            && data.len() <= LARGEST_IMAGE
            && self.images.len() < MOST_IMAGES;
        if fits {
            self.images.push(Image { media_type, data });
        } else {
            self.leave_out("image", &media_type, data.len());
        }
    }

    /// Says what the model is not given.
    fn leave_out(&mut self, what: &str, media_type: &str, base64_length: usize) {
        self.lines.push(format!("[{what} left out: {media_type}, {} bytes]", base64_length / 4 * 3));
    }
}
