//! Reading a Gemini stream: every event is an answer of its own with the next few parts.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use stepwell_protocol::Usage;

use crate::model::StopReason;
use crate::wire::assembly::Assembly;
use crate::wire::text::Text;
use crate::wire::{Decoder, Fault, event_text};
use stepwell_net::SseEvent;

#[derive(Debug, Default)]
pub(crate) struct GeminiDecoder {}

impl Decoder for GeminiDecoder {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembly) -> Result<(), Fault> {
        if event.data.is_empty() || event.data == b"[DONE]" {
            return Ok(());
        }
        let text = event_text(event.data);
        let chunk = serde_json::from_str(&text).map_err(|cause| Fault::unreadable(event.data, &cause))?;
        read(chunk, event.data, out)
    }

    fn whole(&mut self, body: &[u8], out: &mut Assembly) -> Result<(), Fault> {
        let text = event_text(body);
        let unreadable = |cause: serde_json::Error| Fault::unreadable(body, &cause);
        // Without `alt=sse`, as a proxy may have it, the chunks come as one array.
        if text.trim_start().starts_with('[') {
            let chunks: Vec<WireChunk<'_>> = serde_json::from_str(&text).map_err(unreadable)?;
            return chunks.into_iter().try_for_each(|chunk| read(chunk, body, out));
        }
        read(serde_json::from_str(&text).map_err(unreadable)?, body, out)
    }
}

fn read(chunk: WireChunk<'_>, data: &[u8], out: &mut Assembly) -> Result<(), Fault> {
    if chunk.error.is_some() {
        return Err(Fault::Refused { body: data.to_vec() });
    }
    if let Some(usage) = chunk.usage {
        out.usage(usage.counts());
    }
    if chunk.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some()) {
        out.stop(StopReason::Refusal);
    }
    let candidates = chunk.candidates.unwrap_or_default();
    for candidate in candidates.into_iter().filter(|candidate| candidate.index.unwrap_or(0) == 0) {
        for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
            read_part(part, out);
        }
        if let Some(reason) = candidate.finish_reason {
            out.stop(stop_reason(&reason));
        }
    }
    Ok(())
}

fn read_part(part: WirePart<'_>, out: &mut Assembly) {
    let signature = part.thought_signature.filter(|signature| !signature.is_empty());
    let opaque = signature.map(|signature| json!({ "gemini": { "thought_signature": &*signature } }));
    if let Some(call) = part.function_call {
        let index =
            out.start_call(call.id.as_deref().unwrap_or_default(), call.name.as_deref().unwrap_or_default());
        let arguments = call.args.map(RawValue::get).filter(|arguments| *arguments != "null");
        out.arguments(index, arguments.unwrap_or("{}"));
        out.end_call(index, opaque);
        return;
    }
    let text = part.text.as_deref().unwrap_or_default();
    if part.thought.unwrap_or(false) {
        out.reasoning(text);
        if opaque.is_some() {
            out.end_reasoning(opaque);
        }
        return;
    }
    out.text(text);
    // A signature on the model's words has no place of its own in a message; it is kept as empty reasoning.
    if opaque.is_some() {
        out.end_reasoning(opaque);
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            StopReason::Refusal
        }
        _ => StopReason::EndTurn,
    }
}

#[derive(Deserialize)]
struct WireChunk<'a> {
    #[serde(borrow, default)]
    candidates: Option<Vec<WireCandidate<'a>>>,
    #[serde(default, rename = "usageMetadata")]
    usage: Option<WireUsage>,
    #[serde(borrow, default, rename = "promptFeedback")]
    prompt_feedback: Option<WireFeedback<'a>>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct WireFeedback<'a> {
    #[serde(borrow, default, rename = "blockReason")]
    block_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct WireCandidate<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    content: Option<WireContent<'a>>,
    #[serde(borrow, default, rename = "finishReason")]
    finish_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct WireContent<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<WirePart<'a>>>,
}

#[derive(Deserialize)]
struct WirePart<'a> {
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(borrow, default, rename = "thoughtSignature")]
    thought_signature: Option<Text<'a>>,
    #[serde(borrow, default, rename = "functionCall")]
    function_call: Option<WireCall<'a>>,
}

#[derive(Deserialize)]
struct WireCall<'a> {
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default, rename = "promptTokenCount")]
    prompt: Option<u64>,
    #[serde(default, rename = "cachedContentTokenCount")]
    cached: Option<u64>,
    #[serde(default, rename = "candidatesTokenCount")]
    candidates: Option<u64>,
    #[serde(default, rename = "thoughtsTokenCount")]
    thoughts: Option<u64>,
    #[serde(default, rename = "toolUsePromptTokenCount")]
    tool_use: Option<u64>,
}

impl WireUsage {
    fn counts(&self) -> Usage {
        let cached = self.cached.unwrap_or(0);
        let thoughts = self.thoughts.unwrap_or(0);
        let prompt = self.prompt.unwrap_or(0).saturating_add(self.tool_use.unwrap_or(0));
        Usage {
            input_tokens: prompt.saturating_sub(cached),
            output_tokens: self.candidates.unwrap_or(0).saturating_add(thoughts),
            cache_read_tokens: cached,
            reasoning_tokens: thoughts,
            ..Usage::default()
        }
    }
}
