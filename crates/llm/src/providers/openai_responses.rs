//! OpenAI's Responses API, used without its memory: nothing is stored there, reasoning goes back encrypted.

mod decode;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use stepwell_net::header::{AUTHORIZATION, HeaderName};
use stepwell_protocol::{Image, Message, Part, ToolDefinition, ToolResult};
use url::Url;

use crate::model::{Effort, Error, ModelInfo, Request, ToolChoice};
use crate::presets::Quirks;
use crate::wire::conversation::{self, IMAGE_OMITTED, NO_RESULT, Turn};
use crate::wire::json::{JsonText, arguments_object};
use crate::wire::written::{Form, TurnWriter, Written};
use crate::wire::{self, Dialect};

pub(crate) use decode::ResponsesDecoder;

/// The API refuses longer ids.
const MAX_CALL_ID: usize = 64;

pub(crate) struct OpenAiResponses {
    quirks: Quirks,
    written: Written,
}

impl OpenAiResponses {
    pub(crate) fn new(quirks: Quirks) -> Self {
        Self { quirks, written: Written::default() }
    }

    fn options(&self, info: &ModelInfo, request: &Request, body: &mut JsonText) -> Result<(), Error> {
        let options = &request.options;
        body.member("store", &false)?;
        let reasons = reasons(&info.id);
        if reasons {
            body.member("include", &["reasoning.encrypted_content"])?;
            let mut reasoning = json!({ "summary": "auto" });
            if let Some(effort) = options.effort {
                reasoning["effort"] = Value::from(match effort {
                    // Not every reasoning model can leave it off; all of them know the least.
                    Effort::None if info.id.starts_with("gpt-5.") => "none",
                    Effort::None | Effort::Low => "low",
                    Effort::Medium => "medium",
                    Effort::High => "high",
                });
            }
            body.member("reasoning", &reasoning)?;
        }
        if let Some(schema) = &options.answer_schema {
            // Not strict: that takes only a part of JSON Schema, and the answer is checked in any case.
            let format =
                json!({ "type": "json_schema", "name": "answer", "strict": false, "schema": schema });
            body.member("text", &json!({ "format": format }))?;
        }
        if let Some(limit) = options.max_output_tokens {
            body.member("max_output_tokens", &limit)?;
        }
        // Reasoning models refuse it.
        if let Some(temperature) = options.temperature.filter(|_| !reasons) {
            body.member("temperature", &temperature)?;
        }
        if let Some(key) = options.cache_key.as_ref().filter(|_| self.quirks.prompt_cache_key) {
            body.member("prompt_cache_key", key)?;
        }
        if !request.tools.is_empty() {
            match options.tool_choice {
                ToolChoice::Auto => {}
                ToolChoice::None => drop(body.member("tool_choice", "none")?),
                ToolChoice::Required => drop(body.member("tool_choice", "required")?),
            }
            if self.quirks.parallel_tool_calls {
                body.member("parallel_tool_calls", &true)?;
            }
            let tools = self.written.tools(&request.tools, write_tools)?;
            body.comma().raw("\"tools\":[").append(&tools).raw("]");
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
        let mut forms = Vec::with_capacity(messages.len());
        for message in messages {
            forms.push(input_form(self.info, message)?);
        }
        for form in &forms {
            body.items(&form.results);
        }
        for call in unanswered {
            body.comma().raw(r#"{"type":"function_call_output""#);
            body.member("call_id", call_id(call.id.as_str()))?.member("output", NO_RESULT)?.raw("}");
        }
        if forms.iter().any(|form| !form.parts.is_empty()) || note.is_some() {
            body.comma().raw(r#"{"type":"message","role":"user","content":["#);
            for form in &forms {
                body.items(&form.parts);
            }
            if let Some(note) = note {
                write_text("input_text", note, body.comma())?;
            }
            body.raw("]}");
        }
        Ok(())
    }

    fn assistant(&self, messages: &[Arc<Message>], body: &mut JsonText) -> Result<(), Error> {
        for message in messages {
            body.items(&assistant_form(message)?.parts);
        }
        Ok(())
    }
}

impl Dialect for OpenAiResponses {
    type Decoder = ResponsesDecoder;

    fn url(&self, base: &Url, _model: &str) -> Result<Url, Error> {
        wire::join(base, &["responses"])
    }

    fn authorization(&self, key: &str) -> (HeaderName, String) {
        (AUTHORIZATION, format!("Bearer {key}"))
    }

    fn body(&self, info: &ModelInfo, request: &Request) -> Result<Bytes, Error> {
        let mut body = JsonText::with_capacity(64 * 1024);
        body.raw("{").member("model", &info.id)?.member("stream", &true)?;
        self.options(info, request, &mut body)?;
        if !request.system.is_empty() {
            body.member("instructions", &*request.system)?;
        }
        body.comma().raw("\"input\":[");
        self.written.request(body, &request.messages, &Turns { info })
    }

    fn decoder(&self) -> ResponsesDecoder {
        ResponsesDecoder::default()
    }
}

/// Whether the model reasons, and so takes the settings of reasoning. Others refuse them.
fn reasons(model: &str) -> bool {
    let bare = model.rsplit('/').next().unwrap_or(model);
    let numbered = bare.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    numbered
        || bare.starts_with("codex")
        || bare.starts_with("gpt-oss")
        || (bare.starts_with("gpt-5") && !bare.contains("chat"))
}

fn write_tools(tools: &[ToolDefinition]) -> Result<JsonText, Error> {
    let mut out = JsonText::default();
    for tool in tools {
        out.comma().raw(r#"{"type":"function""#).member("name", &tool.name)?;
        out.member("description", &tool.description)?.member("parameters", &tool.input_schema)?;
        out.raw(r#","strict":false}"#);
    }
    Ok(out)
}

fn input_form(info: &ModelInfo, message: &Message) -> Result<Form, Error> {
    let mut form = Form::default();
    for part in &message.parts {
        match part {
            Part::Text { text } => write_text("input_text", text, form.parts.comma())?,
            Part::Image { image } => write_image(info, image, form.parts.comma())?,
            Part::ToolResult { result } => write_result(info, result, form.results.comma())?,
            Part::Reasoning { .. } | Part::ToolCall { .. } => {}
        }
    }
    Ok(form)
}

fn assistant_form(message: &Message) -> Result<Form, Error> {
    let mut form = Form::default();
    let out = &mut form.parts;
    // Reasoning must be followed by what it led to; an answer cut off before that loses it.
    let last_said = conversation::last_said(message);
    for (position, part) in message.parts.iter().enumerate() {
        match part {
            Part::Text { text } if !text.is_empty() => {
                out.comma().raw(r#"{"type":"message","role":"assistant","content":["#);
                write_text("output_text", text, out)?;
                out.raw("]}");
            }
            Part::Reasoning { text, opaque } if last_said.is_some_and(|last| position < last) => {
                let own = opaque.as_ref().and_then(|opaque| opaque.get("openai"));
                let Some(content) = own.and_then(|own| own.get("encrypted_content")) else { continue };
                out.comma().raw(r#"{"type":"reasoning","summary":["#);
                if !text.is_empty() {
                    write_text("summary_text", text, out)?;
                }
                out.raw(r#"],"encrypted_content":"#).value(content)?.raw("}");
            }
            Part::ToolCall { call } => {
                let arguments = arguments_object(call).to_string();
                out.comma().raw(r#"{"type":"function_call""#);
                out.member("call_id", call_id(call.id.as_str()))?.member("name", &call.name)?;
                out.member("arguments", &arguments)?.raw("}");
            }
            _ => {}
        }
    }
    Ok(form)
}

fn write_text(kind: &str, text: &str, out: &mut JsonText) -> Result<(), Error> {
    out.raw("{").member("type", kind)?.member("text", text)?.raw("}");
    Ok(())
}

fn write_image(info: &ModelInfo, image: &Image, out: &mut JsonText) -> Result<(), Error> {
    if !info.images {
        return write_text("input_text", IMAGE_OMITTED, out);
    }
    out.raw(r#"{"type":"input_image","image_url":"data:"#).escaped(&image.media_type)?;
    out.raw(";base64,").escaped(&image.data)?.raw("\"}");
    Ok(())
}

fn write_result(info: &ModelInfo, result: &ToolResult, out: &mut JsonText) -> Result<(), Error> {
    let text = conversation::result_text(result);
    out.raw(r#"{"type":"function_call_output""#).member("call_id", call_id(result.call_id.as_str()))?;
    if result.images.is_empty() {
        out.member("output", &*text)?;
    } else {
        out.raw(r#","output":["#);
        write_text("input_text", &text, out)?;
        for image in &result.images {
            write_image(info, image, out.comma())?;
        }
        out.raw("]");
    }
    out.raw("}");
    Ok(())
}

fn call_id(id: &str) -> &str {
    conversation::end_of_id(id, MAX_CALL_ID)
}
