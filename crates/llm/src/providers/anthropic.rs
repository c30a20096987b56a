//! Anthropic's Messages API.

mod decode;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use stepwell_net::header::HeaderName;
use stepwell_protocol::{Image, Message, Part, ToolDefinition, ToolResult};
use url::Url;

use crate::model::{Effort, Error, ModelInfo, Request, ToolChoice};
use crate::wire::conversation::{self, IMAGE_OMITTED, NO_RESULT, Turn};
use crate::wire::json::{JsonText, arguments_object};
use crate::wire::written::{Form, TurnWriter, Written};
use crate::wire::{self, Dialect};

pub(crate) use decode::AnthropicDecoder;

/// The API wants a limit; this is one that every model of the last years accepts.
const DEFAULT_MAX_TOKENS: u64 = 8192;

/// The least the API accepts as a thinking budget.
const MIN_THINKING: u64 = 1024;

#[derive(Default)]
pub(crate) struct Anthropic {
    written: Written,
}

impl Anthropic {
    fn options(info: &ModelInfo, request: &Request, body: &mut JsonText) -> Result<(), Error> {
        let options = &request.options;
        let limit = options.max_output_tokens.or(info.max_output_tokens).unwrap_or(DEFAULT_MAX_TOKENS);
        body.member("max_tokens", &limit)?;
        let version = claude_version(&info.id);
        let thinking = Thinking::new(version, options.effort, limit);
        match thinking {
            Thinking::Off => {}
            Thinking::Budget(tokens) => {
                body.member("thinking", &json!({ "type": "enabled", "budget_tokens": tokens }))?;
            }
            Thinking::Adaptive(effort) => {
                // Claude 4.7 and later leave out the words unless they are asked for.
                body.member("thinking", &json!({ "type": "adaptive", "display": "summarized" }))?;
                body.member("output_config", &json!({ "effort": effort }))?;
            }
        }
        // With thinking the API takes no temperature but its own, and from Claude 4.7 on it takes none at all.
        let takes_temperature = thinking == Thinking::Off && version.is_none_or(|version| version < (4, 7));
        if let Some(temperature) = options.temperature.filter(|_| takes_temperature) {
            body.member("temperature", &temperature)?;
        }
        if !options.stop.is_empty() {
            body.member("stop_sequences", &options.stop)?;
        }
        if !request.tools.is_empty() {
            // Nor does it let a thinking model be forced to call a tool.
            let choice = match options.tool_choice {
                ToolChoice::Auto => None,
                ToolChoice::None => Some("none"),
                ToolChoice::Required if thinking != Thinking::Off => None,
                ToolChoice::Required => Some("any"),
            };
            if let Some(choice) = choice {
                body.member("tool_choice", &json!({ "type": choice }))?;
            }
        }
        Ok(())
    }
}

struct Turns<'a> {
    info: &'a ModelInfo,
}

impl TurnWriter for Turns<'_> {
    /// Marked for the cache, so that the next request finds this one's prefix in it.
    const MARKED_INPUTS: usize = 2;

    fn input(&self, turn: &Turn<'_>, is_marked: bool, body: &mut JsonText) -> Result<(), Error> {
        let Turn::Input { messages, unanswered, note } = turn else { return Ok(()) };
        body.comma().raw(r#"{"role":"user","content":["#);
        let mut forms = Vec::with_capacity(messages.len());
        for message in messages {
            forms.push(input_form(self.info, message)?);
        }
        // Results come first: the API wants them right after their calls.
        for form in &forms {
            body.items(&form.results);
        }
        for call in unanswered {
            body.comma().raw(r#"{"type":"tool_result""#);
            body.member("tool_use_id", &call_id(call.id.as_str()))?.member("content", NO_RESULT)?;
            body.raw(r#","is_error":true}"#);
        }
        for form in &forms {
            body.items(&form.parts);
        }
        if let Some(note) = note {
            write_text(note, body.comma())?;
        }
        if is_marked {
            body.member_of_last("cache_control", &ephemeral())?;
        }
        body.raw("]}");
        Ok(())
    }

    fn assistant(&self, messages: &[Arc<Message>], body: &mut JsonText) -> Result<(), Error> {
        body.comma().raw(r#"{"role":"assistant","content":["#);
        for message in messages {
            body.items(&assistant_form(message)?.parts);
        }
        body.raw("]}");
        Ok(())
    }
}

impl Dialect for Anthropic {
    type Decoder = AnthropicDecoder;

    fn url(&self, base: &Url, _model: &str) -> Result<Url, Error> {
        // Both `https://api.anthropic.com` and `.../v1` are found in people's settings.
        let path = base.path().trim_end_matches('/');
        if path.is_empty() { wire::join(base, &["v1", "messages"]) } else { wire::join(base, &["messages"]) }
    }

    fn authorization(&self, key: &str) -> (HeaderName, String) {
        (HeaderName::from_static("x-api-key"), key.to_owned())
    }

    fn extra_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn body(&self, info: &ModelInfo, request: &Request) -> Result<Bytes, Error> {
        let mut body = JsonText::with_capacity(64 * 1024);
        body.raw("{").member("model", &info.id)?.member("stream", &true)?;
        Self::options(info, request, &mut body)?;
        if !request.tools.is_empty() {
            let tools = self.written.tools(&request.tools, write_tools)?;
            body.comma().raw("\"tools\":[").append(&tools).raw("]");
        }
        if !request.system.is_empty() {
            body.comma().raw("\"system\":[");
            write_text(&request.system, &mut body)?;
            body.member_of_last("cache_control", &ephemeral())?.raw("]");
        }
        body.comma().raw("\"messages\":[");
        self.written.request(body, &request.messages, &Turns { info })
    }

    fn decoder(&self) -> AnthropicDecoder {
        AnthropicDecoder::default()
    }
}

fn ephemeral() -> Value {
    json!({ "type": "ephemeral" })
}

/// How a model is told to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thinking {
    Off,
    Budget(u64),
    /// The model decides how much, guided by an effort. Claude 4.7 and later refuse a budget.
    Adaptive(&'static str),
}

impl Thinking {
    fn new(version: Option<(u32, u32)>, effort: Option<Effort>, limit: u64) -> Self {
        let (word, wanted) = match effort {
            None | Some(Effort::None) => return Self::Off,
            Some(Effort::Low) => ("low", 4096),
            Some(Effort::Medium) => ("medium", 12_288),
            Some(Effort::High) => ("high", 32_000),
        };
        if version.is_some_and(|version| version >= (4, 6)) {
            return Self::Adaptive(word);
        }
        // The budget must stay below the limit of the whole answer.
        let budget = wanted.min(limit * 3 / 4);
        if budget < MIN_THINKING { Self::Off } else { Self::Budget(budget) }
    }
}

/// The version in a name such as `claude-opus-4-7` or `claude-3-7-sonnet-20250219`; a date is none.
fn claude_version(model: &str) -> Option<(u32, u32)> {
    let (_, name) = model.split_once("claude-")?;
    let words = name.split(['-', '.', '@', ':']).filter(|word| word.len() <= 2);
    let mut numbers = words.filter_map(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next().unwrap_or(0)))
}

fn write_tools(tools: &[ToolDefinition]) -> Result<JsonText, Error> {
    let mut out = JsonText::default();
    for tool in tools {
        out.comma().raw("{").member("name", &tool.name)?.member("description", &tool.description)?;
        out.member("input_schema", &tool.input_schema)?.raw("}");
    }
    out.member_of_last("cache_control", &ephemeral())?;
    Ok(out)
}

fn input_form(info: &ModelInfo, message: &Message) -> Result<Form, Error> {
    let mut form = Form::default();
    for part in &message.parts {
        match part {
            // The API refuses empty text blocks.
            Part::Text { text } if text.trim().is_empty() => {}
            Part::Text { text } => write_text(text, form.parts.comma())?,
            Part::Image { image } => write_image(info, image, form.parts.comma())?,
            Part::ToolResult { result } => write_result(info, result, form.results.comma())?,
            Part::Reasoning { .. } | Part::ToolCall { .. } => {}
        }
    }
    if form.parts.is_empty() && form.results.is_empty() {
        write_text("(empty message)", &mut form.parts)?;
    }
    Ok(form)
}

fn assistant_form(message: &Message) -> Result<Form, Error> {
    let mut form = Form::default();
    let out = &mut form.parts;
    // The API refuses a message that ends with thinking, as one does that was cut off there.
    let last_said = conversation::last_said(message);
    for (position, part) in message.parts.iter().enumerate() {
        match part {
            Part::Text { text } if text.trim().is_empty() => {}
            Part::Text { text } => {
                let is_last = position + 1 == message.parts.len();
                // A last block that ends in white space is refused.
                write_text(if is_last { text.trim_end() } else { text }, out.comma())?;
            }
            Part::Reasoning { .. } if last_said.is_none_or(|last| position > last) => {}
            // Reasoning without Anthropic's signature cannot be sent back.
            Part::Reasoning { text, opaque } => {
                let Some(own) = opaque.as_ref().and_then(|opaque| opaque.get("anthropic")) else { continue };
                if let Some(data) = own.get("redacted") {
                    out.comma().raw(r#"{"type":"redacted_thinking","data":"#).value(data)?.raw("}");
                } else if let Some(signature) = own.get("signature") {
                    out.comma().raw(r#"{"type":"thinking","thinking":"#).value(text)?;
                    out.raw(r#","signature":"#).value(signature)?.raw("}");
                }
            }
            Part::ToolCall { call } => {
                out.comma().raw(r#"{"type":"tool_use""#).member("id", &call_id(call.id.as_str()))?;
                out.member("name", &call.name)?.member("input", &*arguments_object(call))?.raw("}");
            }
            Part::Image { .. } | Part::ToolResult { .. } => {}
        }
    }
    Ok(form)
}

fn write_text(text: &str, out: &mut JsonText) -> Result<(), Error> {
    out.raw(r#"{"type":"text","text":"#).value(text)?.raw("}");
    Ok(())
}

fn write_image(info: &ModelInfo, image: &Image, out: &mut JsonText) -> Result<(), Error> {
    if !info.images {
        return write_text(IMAGE_OMITTED, out);
    }
    out.raw(r#"{"type":"image","source":{"type":"base64","media_type":"#).value(&image.media_type)?;
    out.raw(r#","data":"#).value(&image.data)?.raw("}}");
    Ok(())
}

fn write_result(info: &ModelInfo, result: &ToolResult, out: &mut JsonText) -> Result<(), Error> {
    out.raw(r#"{"type":"tool_result""#).member("tool_use_id", &call_id(result.call_id.as_str()))?;
    if result.images.is_empty() {
        out.member("content", &result.output)?;
    } else {
        out.raw(r#","content":["#);
        if !result.output.trim().is_empty() {
            write_text(&result.output, out)?;
        }
        for image in &result.images {
            write_image(info, image, out.comma())?;
        }
        out.raw("]");
    }
    if !result.is_success() {
        out.raw(r#","is_error":true"#);
    }
    out.raw("}");
    Ok(())
}

/// The API takes letters, digits, `-` and `_` only; ids of other providers may have more.
fn call_id(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_of_thinking_follows_the_version() {
        for (model, version, thinking) in [
            ("claude-3-7-sonnet-20250219", Some((3, 7)), Thinking::Budget(12_288)),
            ("claude-sonnet-4-20250514", Some((4, 0)), Thinking::Budget(12_288)),
            ("claude-haiku-4-5", Some((4, 5)), Thinking::Budget(12_288)),
            ("us.anthropic.claude-opus-4-6-v1:0", Some((4, 6)), Thinking::Adaptive("medium")),
            ("anthropic/claude-opus-4.7", Some((4, 7)), Thinking::Adaptive("medium")),
            ("claude-opus-5", Some((5, 0)), Thinking::Adaptive("medium")),
            ("glm-4.6", None, Thinking::Budget(12_288)),
        ] {
            assert_eq!(claude_version(model), version, "{model}");
            assert_eq!(Thinking::new(version, Some(Effort::Medium), 64_000), thinking, "{model}");
        }
        assert_eq!(Thinking::new(None, Some(Effort::High), 1000), Thinking::Off);
        assert_eq!(Thinking::new(Some((5, 0)), Some(Effort::None), 64_000), Thinking::Off);
    }
}
