//! Google's Gemini API.

mod decode;
pub(crate) mod images;
mod schema;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use stepwell_net::header::HeaderName;
use stepwell_protocol::{Image, Message, Part, ToolDefinition, ToolResult};
use url::Url;

use crate::model::{Effort, Error, ModelInfo, Request, ToolChoice};
use crate::wire::conversation::{IMAGE_OMITTED, NO_RESULT, Turn};
use crate::wire::json::{JsonText, arguments_object};
use crate::wire::written::{Form, TurnWriter, Written};
use crate::wire::{self, Dialect};

pub(crate) use decode::GeminiDecoder;

/// The API's own word for a call that another model made and that has no signature.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

#[derive(Default)]
pub(crate) struct Gemini {
    written: Written,
}

impl Gemini {
    fn options(info: &ModelInfo, request: &Request, body: &mut JsonText) -> Result<(), Error> {
        let options = &request.options;
        let mut config = serde_json::Map::new();
        if let Some(limit) = options.max_output_tokens.or(info.max_output_tokens) {
            config.insert("maxOutputTokens".into(), limit.into());
        }
        if let Some(temperature) = options.temperature {
            config.insert("temperature".into(), temperature.into());
        }
        if !options.stop.is_empty() {
            config.insert("stopSequences".into(), json!(options.stop));
        }
        if let Some(thinking) = thinking(&info.id, options.effort) {
            config.insert("thinkingConfig".into(), thinking);
        }
        body.member("generationConfig", &config)?;
        if !request.tools.is_empty() {
            let mode = match options.tool_choice {
                ToolChoice::Auto => None,
                ToolChoice::None => Some("NONE"),
                ToolChoice::Required => Some("ANY"),
            };
            if let Some(mode) = mode {
                body.member("toolConfig", &json!({ "functionCallingConfig": { "mode": mode } }))?;
            }
        }
        Ok(())
    }
}

struct Turns<'a> {
    info: &'a ModelInfo,
}

impl TurnWriter for Turns<'_> {
    fn input(&self, turn: &Turn<'_>, _is_marked: bool, body: &mut JsonText) -> Result<(), Error> {
        let Turn::Input { messages, unanswered, note } = turn else { return Ok(()) };
        body.comma().raw(r#"{"role":"user","parts":["#);
        let mut forms = Vec::with_capacity(messages.len());
        for message in messages {
            forms.push(input_form(self.info, message)?);
        }
        for form in &forms {
            body.items(&form.results);
        }
        for call in unanswered {
            let response = json!({ "id": call.id, "name": call.name, "response": { "error": NO_RESULT } });
            body.comma().raw("{").member("functionResponse", &response)?.raw("}");
        }
        for form in &forms {
            body.items(&form.parts);
        }
        if let Some(note) = note {
            write_text(note, body.comma())?;
        }
        body.raw("]}");
        Ok(())
    }

    fn assistant(&self, messages: &[Arc<Message>], body: &mut JsonText) -> Result<(), Error> {
        body.comma().raw(r#"{"role":"model","parts":["#);
        for message in messages {
            body.items(&assistant_form(message)?.parts);
        }
        body.raw("]}");
        Ok(())
    }
}

impl Dialect for Gemini {
    type Decoder = GeminiDecoder;

    fn url(&self, base: &Url, model: &str) -> Result<Url, Error> {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let mut url = wire::join(base, &["models", &format!("{model}:streamGenerateContent")])?;
        url.query_pairs_mut().append_pair("alt", "sse");
        Ok(url)
    }

    fn authorization(&self, key: &str) -> (HeaderName, String) {
        (HeaderName::from_static("x-goog-api-key"), key.to_owned())
    }

    fn body(&self, info: &ModelInfo, request: &Request) -> Result<Bytes, Error> {
        let mut body = JsonText::with_capacity(64 * 1024);
        body.raw("{");
        Self::options(info, request, &mut body)?;
        if !request.system.is_empty() {
            body.comma().raw(r#""systemInstruction":{"parts":["#);
            write_text(&request.system, &mut body)?;
            body.raw("]}");
        }
        if !request.tools.is_empty() {
            let tools = self.written.tools(&request.tools, write_tools)?;
            body.comma().raw(r#""tools":[{"functionDeclarations":["#).append(&tools).raw("]}]");
        }
        body.comma().raw("\"contents\":[");
        self.written.request(body, &request.messages, &Turns { info })
    }

    fn decoder(&self) -> GeminiDecoder {
        GeminiDecoder::default()
    }
}

/// Gemini 2.5 takes a budget of tokens, Gemini 3 a level; older ones do not think.
fn thinking(model: &str, effort: Option<Effort>) -> Option<Value> {
    let bare = model.rsplit('/').next().unwrap_or(model);
    if bare.starts_with("gemini-3") {
        let level = match effort {
            None => return Some(json!({ "includeThoughts": true })),
            Some(Effort::None | Effort::Low) => "low",
            Some(Effort::Medium | Effort::High) => "high",
        };
        return Some(json!({ "includeThoughts": true, "thinkingLevel": level }));
    }
    if !bare.starts_with("gemini-2.5") {
        return None;
    }
    let budget = match effort {
        None => return Some(json!({ "includeThoughts": true })),
        // The Pro model cannot be kept from thinking; this is its least.
        Some(Effort::None) if bare.contains("pro") => 128,
        Some(Effort::None) => return Some(json!({ "thinkingBudget": 0 })),
        Some(Effort::Low) => 2048,
        Some(Effort::Medium) => 8192,
        Some(Effort::High) => 24_576,
    };
    Some(json!({ "includeThoughts": true, "thinkingBudget": budget }))
}

fn write_tools(tools: &[ToolDefinition]) -> Result<JsonText, Error> {
    let mut out = JsonText::default();
    for tool in tools {
        out.comma().raw("{").member("name", &tool.name)?.member("description", &tool.description)?;
        let schema = schema::adapt(&tool.input_schema);
        // An object without properties is refused as a parameter schema; none at all is taken.
        if schema.get("properties").and_then(Value::as_object).is_some_and(|members| !members.is_empty()) {
            out.member("parameters", &schema)?;
        }
        out.raw("}");
    }
    Ok(out)
}

fn input_form(info: &ModelInfo, message: &Message) -> Result<Form, Error> {
    let mut form = Form::default();
    for part in &message.parts {
        match part {
            Part::Text { text } => write_text(text, form.parts.comma())?,
            Part::Image { image } => write_image(info, image, form.parts.comma())?,
            Part::ToolResult { result } => {
                write_result(result, form.results.comma())?;
                for image in &result.images {
                    write_image(info, image, form.parts.comma())?;
                }
            }
            Part::Reasoning { .. } | Part::ToolCall { .. } => {}
        }
    }
    Ok(form)
}

fn assistant_form(message: &Message) -> Result<Form, Error> {
    let mut form = Form::default();
    let out = &mut form.parts;
    let signature = |opaque: &Option<Value>| {
        let own = opaque.as_ref().and_then(|opaque| opaque.pointer("/gemini/thought_signature"));
        own.and_then(Value::as_str).map(ToOwned::to_owned)
    };
    // Only the first call of an answer needs a signature; one that another model made has none to show.
    let mut first_call = true;
    for part in &message.parts {
        match part {
            Part::Text { text } if !text.is_empty() => write_text(text, out.comma())?,
            Part::Reasoning { opaque, .. } => {
                if let Some(signature) = signature(opaque) {
                    out.comma().raw(r#"{"text":"""#).member("thoughtSignature", &signature)?.raw("}");
                }
            }
            Part::ToolCall { call } => {
                let function = json!({ "id": call.id, "name": call.name, "args": arguments_object(call) });
                out.comma().raw("{").member("functionCall", &function)?;
                let first = std::mem::take(&mut first_call);
                if let Some(signature) = signature(&call.opaque) {
                    out.member("thoughtSignature", &signature)?;
                } else if first {
                    out.member("thoughtSignature", FOREIGN_SIGNATURE)?;
                }
                out.raw("}");
            }
            _ => {}
        }
    }
    Ok(form)
}

fn write_text(text: &str, out: &mut JsonText) -> Result<(), Error> {
    out.raw(r#"{"text":"#).value(text)?.raw("}");
    Ok(())
}

fn write_image(info: &ModelInfo, image: &Image, out: &mut JsonText) -> Result<(), Error> {
    if !info.images {
        return write_text(IMAGE_OMITTED, out);
    }
    out.raw(r#"{"inlineData":{"mimeType":"#).value(&image.media_type)?;
    out.raw(r#","data":"#).value(&image.data)?.raw("}}");
    Ok(())
}

fn write_result(result: &ToolResult, out: &mut JsonText) -> Result<(), Error> {
    let field = if result.is_success() { "output" } else { "error" };
    out.raw(r#"{"functionResponse":{"#).member("id", &result.call_id)?.member("name", &result.tool)?;
    out.raw(r#","response":{"#).member(field, &result.output)?.raw("}}}");
    Ok(())
}
