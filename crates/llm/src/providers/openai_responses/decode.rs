//! Reading a Responses stream: items that are added, grow and are done.

use serde::Deserialize;
use serde_json::json;
use stepwell_protocol::Usage;

use crate::model::StopReason;
use crate::wire::assembly::Assembly;
use crate::wire::text::Text;
use crate::wire::{Decoder, Fault, event_text};
use stepwell_net::SseEvent;

#[derive(Debug, Default)]
pub(crate) struct ResponsesDecoder {
    /// Calls by the server's number of the item.
    calls: Vec<(u64, usize)>,
    /// The item whose reasoning or text has streamed already, so that its end does not repeat it.
    streamed: Vec<u64>,
    summary: Option<(u64, u64)>,
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembly) -> Result<(), Fault> {
        if event.data == b"[DONE]" {
            return Ok(());
        }
        let text = event_text(event.data);
        let wire: WireEvent<'_> =
            serde_json::from_str(&text).map_err(|cause| Fault::unreadable(event.data, &cause))?;
        let number = wire.output_index.unwrap_or(0);
        let delta = wire.delta.as_deref().unwrap_or_default();
        match &*wire.kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.note_streamed(number);
                out.text(delta);
            }
            "response.function_call_arguments.delta" => {
                if let Some(index) = self.call(number) {
                    out.arguments(index, delta);
                }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let part = (number, wire.summary_index.unwrap_or(0));
                if self.summary.replace(part).is_some_and(|before| before.0 == part.0 && before != part) {
                    out.reasoning("\n\n");
                }
                self.note_streamed(number);
                out.reasoning(delta);
            }
            "response.output_item.added" => {
                if let Some(item) = wire.item.filter(|item| &*item.kind == "function_call") {
                    self.start_call(number, &item, out);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = wire.item {
                    self.item(number, &item, out);
                }
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                if let Some(response) = wire.response {
                    finish(&response, out);
                }
                out.close();
            }
            "response.failed" | "error" => return Err(Fault::Refused { body: event.data.to_vec() }),
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], out: &mut Assembly) -> Result<(), Fault> {
        let text = event_text(body);
        let response: WireResponse<'_> =
            serde_json::from_str(&text).map_err(|cause| Fault::unreadable(body, &cause))?;
        if response.error.is_some() || response.status.as_deref() == Some("failed") {
            return Err(Fault::Refused { body: body.to_vec() });
        }
        let Some(items) = &response.output else {
            // Not an answer, but perhaps a single event.
            return self.event(SseEvent { name: b"", data: body }, out);
        };
        for (number, item) in items.iter().enumerate() {
            self.item(number as u64, item, out);
        }
        finish(&response, out);
        out.close();
        Ok(())
    }
}

impl ResponsesDecoder {
    fn call(&self, number: u64) -> Option<usize> {
        self.calls.iter().find(|(found, _)| *found == number).map(|(_, index)| *index)
    }

    fn note_streamed(&mut self, number: u64) {
        if self.streamed.last() != Some(&number) {
            self.streamed.push(number);
        }
    }

    fn start_call(&mut self, number: u64, item: &WireItem<'_>, out: &mut Assembly) -> usize {
        let id = item.call_id.as_ref().or(item.id.as_ref()).map_or("", |id| id);
        let index = out.start_call(id, item.name.as_deref().unwrap_or_default());
        self.calls.push((number, index));
        index
    }

    /// An item is complete; what was not streamed of it is taken from here.
    fn item(&mut self, number: u64, item: &WireItem<'_>, out: &mut Assembly) {
        let streamed = self.streamed.contains(&number);
        match &*item.kind {
            "function_call" => {
                let index = match self.call(number) {
                    Some(index) => index,
                    None => self.start_call(number, item, out),
                };
                if !out.has_arguments(index) {
                    out.arguments(index, item.arguments.as_deref().unwrap_or_default());
                }
                out.end_call(index, None);
            }
            "message" if !streamed => {
                for part in item.content.iter().flatten() {
                    let text = part.text.as_ref().or(part.refusal.as_ref());
                    out.text(text.map_or("", |text| text));
                }
            }
            "reasoning" => {
                if !streamed {
                    for (position, part) in item.summary.iter().flatten().enumerate() {
                        if position > 0 {
                            out.reasoning("\n\n");
                        }
                        out.reasoning(part.text.as_deref().unwrap_or_default());
                    }
                }
                let content = item.encrypted_content.as_deref().filter(|content| !content.is_empty());
                out.end_reasoning(
                    content.map(|content| json!({ "openai": { "encrypted_content": content } })),
                );
            }
            _ => {}
        }
    }
}

fn finish(response: &WireResponse<'_>, out: &mut Assembly) {
    if let Some(usage) = &response.usage {
        out.usage(usage.counts());
    }
    let reason = response.incomplete_details.as_ref().and_then(|details| details.reason.as_deref());
    out.stop(match (response.status.as_deref(), reason) {
        (_, Some("content_filter")) => StopReason::Refusal,
        (_, Some("max_output_tokens")) | (Some("incomplete"), _) => StopReason::MaxTokens,
        _ => StopReason::EndTurn,
    });
}

#[derive(Deserialize)]
struct WireEvent<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Text<'a>,
    #[serde(default)]
    output_index: Option<u64>,
    #[serde(default)]
    summary_index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<Text<'a>>,
    #[serde(borrow, default)]
    item: Option<WireItem<'a>>,
    #[serde(borrow, default)]
    response: Option<WireResponse<'a>>,
}

#[derive(Deserialize)]
struct WireItem<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    call_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    arguments: Option<Text<'a>>,
    #[serde(borrow, default)]
    content: Option<Vec<WirePart<'a>>>,
    #[serde(borrow, default)]
    summary: Option<Vec<WirePart<'a>>>,
    #[serde(borrow, default)]
    encrypted_content: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct WirePart<'a> {
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(borrow, default)]
    refusal: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct WireResponse<'a> {
    #[serde(borrow, default)]
    status: Option<Text<'a>>,
    #[serde(borrow, default)]
    output: Option<Vec<WireItem<'a>>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(borrow, default)]
    incomplete_details: Option<IncompleteDetails<'a>>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct IncompleteDetails<'a> {
    #[serde(borrow, default)]
    reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    input_tokens_details: Option<InputDetails>,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OutputDetails {
    #[serde(default)]
    reasoning_tokens: Option<u64>,
}

impl WireUsage {
    fn counts(&self) -> Usage {
        let read = self.input_tokens_details.as_ref().and_then(|details| details.cached_tokens).unwrap_or(0);
        let reasoning = self.output_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
        Usage {
            input_tokens: self.input_tokens.unwrap_or(0).saturating_sub(read),
            output_tokens: self.output_tokens.unwrap_or(0),
            cache_read_tokens: read,
            reasoning_tokens: reasoning.unwrap_or(0),
            ..Usage::default()
        }
    }
}
