//! The four wire formats.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

use crate::images::{ImageFormat, openai};
use crate::presets::ProviderKind;

/// How servers of a wire format are asked for images, where they make any.
pub(crate) fn image_format(kind: ProviderKind) -> Option<&'static dyn ImageFormat> {
    match kind {
        ProviderKind::OpenaiChat | ProviderKind::OpenaiResponses => Some(&openai::Images),
        ProviderKind::Gemini => Some(&gemini::images::Images),
        ProviderKind::Anthropic => None,
    }
}
