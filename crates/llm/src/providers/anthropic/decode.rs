//! Reading a Messages stream: blocks that start, grow and stop.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use stepwell_protocol::Usage;

use crate::model::StopReason;
use crate::wire::assembly::Assembly;
use crate::wire::text::Text;
use crate::wire::{Decoder, Fault, event_text};
use stepwell_net::SseEvent;

#[derive(Debug, Default)]
pub(crate) struct AnthropicDecoder {
    /// By the server's number.
    blocks: Vec<(u64, Block)>,
    usage: Usage,
}

#[derive(Debug)]
enum Block {
    Text,
    Thinking { signature: String },
    Redacted { data: String },
    Call { index: usize, whole: Option<String> },
    Other,
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembly) -> Result<(), Fault> {
        let text = event_text(event.data);
        let wire: WireEvent<'_> =
            serde_json::from_str(&text).map_err(|cause| Fault::unreadable(event.data, &cause))?;
        let number = wire.index.unwrap_or(0);
        match &*wire.kind {
            "content_block_delta" => {
                if let Some(delta) = wire.delta {
                    self.delta(number, delta, out);
                }
            }
            "content_block_start" => {
                if let Some(block) = wire.content_block {
                    self.start(number, block, out);
                }
            }
            "content_block_stop" => self.stop(number, out),
            "message_start" => {
                if let Some(usage) = wire.message.and_then(|message| message.usage) {
                    self.count(&usage, out);
                }
            }
            "message_delta" => {
                if let Some(usage) = wire.usage {
                    self.count(&usage, out);
                }
                if let Some(reason) = wire.delta.and_then(|delta| delta.stop_reason) {
                    out.stop(stop_reason(&reason));
                }
            }
            "message_stop" => out.close(),
            "error" => return Err(Fault::Refused { body: event.data.to_vec() }),
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], out: &mut Assembly) -> Result<(), Fault> {
        let text = event_text(body);
        let message: WireMessage<'_> =
            serde_json::from_str(&text).map_err(|cause| Fault::unreadable(body, &cause))?;
        if message.kind.as_deref() == Some("error") {
            return Err(Fault::Refused { body: body.to_vec() });
        }
        for (number, block) in message.content.unwrap_or_default().into_iter().enumerate() {
            self.start(number as u64, block, out);
            self.stop(number as u64, out);
        }
        if let Some(usage) = message.usage {
            self.count(&usage, out);
        }
        if let Some(reason) = message.stop_reason {
            out.stop(stop_reason(&reason));
        }
        Ok(())
    }
}

impl AnthropicDecoder {
    fn start(&mut self, number: u64, block: WireBlock<'_>, out: &mut Assembly) {
        let opened = match &*block.kind {
            "text" => {
                out.text(block.text.as_deref().unwrap_or_default());
                Block::Text
            }
            "thinking" => {
                out.reasoning(block.thinking.as_deref().unwrap_or_default());
                Block::Thinking { signature: block.signature.unwrap_or_default().to_string() }
            }
            "redacted_thinking" => Block::Redacted { data: block.data.unwrap_or_default().to_string() },
            "tool_use" => {
                let id = block.id.unwrap_or_default();
                let index = out.start_call(&id, &block.name.unwrap_or_default());
                // While streaming this is an empty object, and the arguments follow as text.
                let whole = block.input.map(RawValue::get).filter(|input| *input != "{}");
                Block::Call { index, whole: whole.map(ToOwned::to_owned) }
            }
            _ => Block::Other,
        };
        self.blocks.retain(|(found, _)| *found != number);
        self.blocks.push((number, opened));
    }

    fn delta(&mut self, number: u64, delta: WireDelta<'_>, out: &mut Assembly) {
        let Some((_, block)) = self.blocks.iter_mut().find(|(found, _)| *found == number) else { return };
        match block {
            Block::Text => out.text(delta.text.as_deref().unwrap_or_default()),
            Block::Thinking { signature } => {
                out.reasoning(delta.thinking.as_deref().unwrap_or_default());
                signature.push_str(delta.signature.as_deref().unwrap_or_default());
            }
            Block::Call { index, .. } => {
                out.arguments(*index, delta.partial_json.as_deref().unwrap_or_default());
            }
            Block::Redacted { .. } | Block::Other => {}
        }
    }

    fn stop(&mut self, number: u64, out: &mut Assembly) {
        let Some(position) = self.blocks.iter().position(|(found, _)| *found == number) else { return };
        match self.blocks.remove(position).1 {
            Block::Thinking { signature } => {
                let opaque =
                    (!signature.is_empty()).then(|| json!({ "anthropic": { "signature": signature } }));
                out.end_reasoning(opaque);
            }
            Block::Redacted { data } => {
                out.end_reasoning(Some(json!({ "anthropic": { "redacted": Value::String(data) } })));
            }
            Block::Call { index, whole } => {
                if let Some(whole) = whole.filter(|_| !out.has_arguments(index)) {
                    out.arguments(index, &whole);
                }
                out.end_call(index, None);
            }
            Block::Text | Block::Other => {}
        }
    }

    /// Counts come in two events; what the second leaves out stays as the first said.
    fn count(&mut self, wire: &WireUsage, out: &mut Assembly) {
        let usage = &mut self.usage;
        usage.input_tokens = wire.input_tokens.unwrap_or(usage.input_tokens);
        usage.output_tokens = wire.output_tokens.unwrap_or(usage.output_tokens);
        usage.cache_read_tokens = wire.cache_read_input_tokens.unwrap_or(usage.cache_read_tokens);
        usage.cache_write_tokens = wire.cache_creation_input_tokens.unwrap_or(usage.cache_write_tokens);
        out.usage(*usage);
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" => StopReason::Refusal,
        _ => StopReason::EndTurn,
    }
}

#[derive(Deserialize)]
struct WireEvent<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Text<'a>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<WireDelta<'a>>,
    #[serde(borrow, default)]
    content_block: Option<WireBlock<'a>>,
    #[serde(borrow, default)]
    message: Option<WireMessage<'a>>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct WireDelta<'a> {
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(borrow, default)]
    thinking: Option<Text<'a>>,
    #[serde(borrow, default)]
    signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    partial_json: Option<Text<'a>>,
    #[serde(borrow, default)]
    stop_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct WireBlock<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(borrow, default)]
    thinking: Option<Text<'a>>,
    #[serde(borrow, default)]
    signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    data: Option<Text<'a>>,
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireMessage<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    content: Option<Vec<WireBlock<'a>>>,
    #[serde(borrow, default)]
    stop_reason: Option<Text<'a>>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
#[allow(clippy::struct_field_names, reason = "the wire's own names")]
struct WireUsage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
}
