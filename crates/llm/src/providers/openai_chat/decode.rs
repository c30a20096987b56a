//! Reading a Chat Completions stream, with the liberties that compatible servers take.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use stepwell_protocol::Usage;

use super::think_tags::ThinkTags;
use crate::model::StopReason;
use crate::wire::assembly::Assembly;
use crate::wire::text::Text;
use crate::wire::{Decoder, Fault, event_text};
use stepwell_net::SseEvent;

#[derive(Debug, Default)]
pub(crate) struct ChatDecoder {
    calls: Vec<Call>,
    think_tags: ThinkTags,
}

/// A call as the server numbers it.
#[derive(Debug)]
struct Call {
    number: Option<u64>,
    id: String,
    /// Ours, once the call has a name.
    index: Option<usize>,
    /// Arguments that came before the name.
    early: String,
}

impl Decoder for ChatDecoder {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembly) -> Result<(), Fault> {
        if event.data == b"[DONE]" {
            self.think_tags.flush(out);
            out.close();
            return Ok(());
        }
        if event.data.is_empty() {
            return Ok(());
        }
        self.chunk(event.data, out)
    }

    fn whole(&mut self, body: &[u8], out: &mut Assembly) -> Result<(), Fault> {
        self.chunk(body, out)
    }
}

impl ChatDecoder {
    fn chunk(&mut self, data: &[u8], out: &mut Assembly) -> Result<(), Fault> {
        let text = event_text(data);
        let chunk: Chunk<'_> =
            serde_json::from_str(&text).map_err(|cause| Fault::unreadable(data, &cause))?;
        if chunk.error.is_some() || chunk.object.as_deref() == Some("error") {
            return Err(Fault::Refused { body: data.to_vec() });
        }
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(delta) = choice.delta.or(choice.message) {
                self.delta(delta, out);
            }
            if let Some(usage) = choice.usage {
                out.usage(usage.counts());
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.think_tags.flush(out);
                out.stop(stop_reason(&reason));
            }
        }
        if let Some(usage) = chunk.usage {
            out.usage(usage.counts());
        }
        Ok(())
    }

    fn delta(&mut self, delta: WireDelta<'_>, out: &mut Assembly) {
        // Servers in the midst of renaming the field send both.
        let mut spellings = [delta.reasoning_content, delta.reasoning].into_iter().flatten();
        if let Some(reasoning) = spellings.find(|reasoning| !reasoning.0.is_empty()) {
            out.reasoning(&reasoning.0);
        }
        if let Some(content) = delta.content {
            self.think_tags.push(&content.0, out);
        }
        if let Some(refusal) = delta.refusal {
            out.text(&refusal);
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.call(call, out);
        }
    }

    fn call(&mut self, piece: WireCall<'_>, out: &mut Assembly) {
        let id = piece.id.as_deref().unwrap_or_default();
        let function = piece.function.unwrap_or_default();
        let name = function.name.as_deref().unwrap_or_default();
        let position = self.position(piece.index, id, name);
        let position = position.unwrap_or_else(|| {
            let call = Call { number: piece.index, id: id.to_owned(), index: None, early: String::new() };
            self.calls.push(call);
            self.calls.len() - 1
        });
        self.think_tags.flush(out);
        let call = &mut self.calls[position];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.index.is_none() && !name.is_empty() {
            let index = out.start_call(&call.id, name);
            out.arguments(index, &std::mem::take(&mut call.early));
            call.index = Some(index);
        }
        let arguments = function.arguments.map_or(Cow::Borrowed(""), arguments_text);
        match call.index {
            Some(index) => out.arguments(index, &arguments),
            None => call.early.push_str(&arguments),
        }
    }

    /// Which call a piece belongs to. Some servers leave the number off, some give every call number 0.
    fn position(&self, number: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let found = match number {
            Some(_) => self.calls.iter().rposition(|call| call.number == number),
            None if id.is_empty() && name.is_empty() => self.calls.len().checked_sub(1),
            None if id.is_empty() => None,
            // A piece without a name goes on with a call, even where every piece has an id of its own.
            None => self
                .calls
                .iter()
                .rposition(|call| call.id == id)
                .or_else(|| self.calls.len().checked_sub(1).filter(|_| name.is_empty())),
        };
        found.filter(|position| {
            let call = &self.calls[*position];
            id.is_empty() || call.id.is_empty() || call.id == id || name.is_empty()
        })
    }
}

/// Arguments are a JSON text within a string; a few servers send the object itself.
fn arguments_text(raw: &RawValue) -> Cow<'_, str> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'"') => serde_json::from_str::<Text<'_>>(text).map_or(Cow::Borrowed(""), |value| value.0),
        Some(b'n') => Cow::Borrowed(""),
        _ => Cow::Borrowed(text),
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "length" | "max_tokens" => StopReason::MaxTokens,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "content_filter" | "refusal" | "sensitive" => StopReason::Refusal,
        _ => StopReason::EndTurn,
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Option<IgnoredAny>,
    #[serde(borrow, default)]
    object: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<WireDelta<'a>>,
    /// In place of the delta where the server does not stream.
    #[serde(borrow, default)]
    message: Option<WireDelta<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Text<'a>>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct WireDelta<'a> {
    #[serde(borrow, default)]
    content: Option<LooseText<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<LooseText<'a>>,
    #[serde(borrow, default)]
    reasoning: Option<LooseText<'a>>,
    #[serde(borrow, default)]
    refusal: Option<Text<'a>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<WireCall<'a>>>,
}

#[derive(Deserialize)]
struct WireCall<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    function: Option<WireFunction<'a>>,
}

#[derive(Default, Deserialize)]
struct WireFunction<'a> {
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[allow(clippy::struct_field_names, reason = "the wire's own names")]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's spelling.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
    /// Moonshot's spelling.
    #[serde(default)]
    cached_tokens: Option<u64>,
    /// OpenRouter reports what it charged.
    #[serde(default)]
    cost: Option<f64>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default)]
    cache_write_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Option<u64>,
}

impl WireUsage {
    fn counts(&self) -> Usage {
        let details = self.prompt_tokens_details.as_ref();
        let read = details
            .and_then(|details| details.cached_tokens)
            .or(self.prompt_cache_hit_tokens)
            .or(self.cached_tokens)
            .unwrap_or(0);
        let written = details.and_then(|details| details.cache_write_tokens).unwrap_or(0);
        let whole = self.prompt_tokens.unwrap_or(0);
        let reasoning =
            self.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens).unwrap_or(0);
        Usage {
            input_tokens: whole.saturating_sub(read).saturating_sub(written),
            output_tokens: self.completion_tokens.unwrap_or(0),
            cache_read_tokens: read,
            cache_write_tokens: written,
            reasoning_tokens: reasoning,
            cost_usd: self.cost,
        }
    }
}

/// Text as a string, or as a list of parts with text in them.
struct LooseText<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for LooseText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LooseVisitor;

        impl<'de> Visitor<'de> for LooseVisitor {
            type Value = LooseText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a list of text parts")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(LooseText(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(LooseText(Cow::Owned(text.to_owned())))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(LooseText(Cow::Borrowed("")))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut out = String::new();
                while let Some(part) = items.next_element::<LooseText<'de>>()? {
                    out.push_str(&part.0);
                }
                Ok(LooseText(Cow::Owned(out)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut out = Cow::Borrowed("");
                while let Some(name) = members.next_key::<Text<'de>>()? {
                    if &*name == "text" {
                        out = members.next_value::<LooseText<'de>>()?.0;
                    } else {
                        members.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(LooseText(out))
            }
        }

        deserializer.deserialize_any(LooseVisitor)
    }
}
