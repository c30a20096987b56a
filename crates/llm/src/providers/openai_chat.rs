//! Chat Completions: OpenAI's older format, which nearly every other server speaks too.

mod decode;
mod think_tags;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use stepwell_net::header::{AUTHORIZATION, HeaderName};
use stepwell_protocol::{Image, Message, Part, ToolDefinition};
use url::Url;

use crate::model::{Effort, Error, ModelInfo, Request, ToolChoice};
use crate::presets::{EffortField, MaxTokensField, Quirks, SystemRole};
use crate::wire::conversation::{self, IMAGE_OMITTED, NO_RESULT, Turn};
use crate::wire::json::{JsonText, arguments_object};
use crate::wire::written::{Form, TurnWriter, Written};
use crate::wire::{self, Dialect};

pub(crate) use decode::ChatDecoder;

/// Images that a tool returned follow its result as the person's message: the format's tool messages are text.
const RESULT_IMAGES: &str = "Images from the tool results above:";

/// OpenAI refuses longer ids.
const MAX_CALL_ID: usize = 40;

pub(crate) struct OpenAiChat {
    quirks: Quirks,
    written: Written,
}

impl OpenAiChat {
    pub(crate) fn new(quirks: Quirks) -> Self {
        Self { quirks, written: Written::default() }
    }

    fn options(&self, info: &ModelInfo, request: &Request, body: &mut JsonText) -> Result<(), Error> {
        let options = &request.options;
        let quirks = &self.quirks;
        if quirks.stream_usage {
            body.member("stream_options", &json!({ "include_usage": true }))?;
        }
        if let Some(limit) = options.max_output_tokens.or(info.max_output_tokens) {
            match quirks.max_tokens {
                MaxTokensField::MaxTokens => body.member("max_tokens", &limit)?,
                MaxTokensField::MaxCompletionTokens => body.member("max_completion_tokens", &limit)?,
                MaxTokensField::Unsent => body,
            };
        }
        if let Some(temperature) = options.temperature {
            body.member("temperature", &temperature)?;
        }
        if !options.stop.is_empty() {
            body.member("stop", &options.stop)?;
        }
        // OpenAI's models before the reasoning ones refuse the setting.
        if let Some(effort) = options.effort.filter(|_| !info.id.starts_with("gpt-4")) {
            write_effort(quirks.effort, effort, body)?;
        }
        if let Some(key) = options.cache_key.as_ref().filter(|_| quirks.prompt_cache_key) {
            body.member("prompt_cache_key", key)?;
        }
        if !request.tools.is_empty() {
            match options.tool_choice {
                ToolChoice::Auto => {}
                ToolChoice::None => drop(body.member("tool_choice", "none")?),
                ToolChoice::Required => drop(body.member("tool_choice", "required")?),
            }
            if quirks.parallel_tool_calls {
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
    quirks: Quirks,
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
            body.comma();
            write_result(call_id(call.id.as_str()), NO_RESULT, body)?;
        }
        let said: Vec<_> = forms.iter().filter(|form| !form.parts.is_empty()).collect();
        if said.is_empty() && note.is_none() {
            return Ok(());
        }
        body.comma().raw(r#"{"role":"user","content":"#);
        // Local servers' templates often want plain text where there is only text.
        if said.iter().all(|form| form.text.is_some()) {
            body.raw("\"");
            let mut first = true;
            for text in said.iter().filter_map(|form| form.text.as_ref()) {
                if !std::mem::take(&mut first) {
                    body.raw(r"\n\n");
                }
                body.append(text);
            }
            if let Some(note) = note {
                body.escaped(note)?;
            }
            body.raw("\"}");
        } else {
            body.raw("[");
            for form in said {
                body.items(&form.parts);
            }
            body.raw("]}");
        }
        Ok(())
    }

    fn assistant(&self, messages: &[Arc<Message>], body: &mut JsonText) -> Result<(), Error> {
        for message in messages {
            body.items(&assistant_form(self.quirks, message)?.parts);
        }
        Ok(())
    }
}

impl Dialect for OpenAiChat {
    type Decoder = ChatDecoder;

    fn url(&self, base: &Url, _model: &str) -> Result<Url, Error> {
        wire::join(base, &["chat", "completions"])
    }

    fn authorization(&self, key: &str) -> (HeaderName, String) {
        (AUTHORIZATION, format!("Bearer {key}"))
    }

    fn body(&self, info: &ModelInfo, request: &Request) -> Result<Bytes, Error> {
        let mut body = JsonText::with_capacity(64 * 1024);
        body.raw("{").member("model", &info.id)?.member("stream", &true)?;
        self.options(info, request, &mut body)?;
        body.comma().raw("\"messages\":[");
        if !request.system.is_empty() {
            let role = match self.quirks.system_role {
                SystemRole::System => "system",
                SystemRole::Developer => "developer",
            };
            body.raw("{").member("role", role)?.member("content", &*request.system)?.raw("}");
        }
        self.written.request(body, &request.messages, &Turns { info, quirks: self.quirks })
    }

    fn decoder(&self) -> ChatDecoder {
        ChatDecoder::default()
    }
}

fn assistant_form(quirks: Quirks, message: &Message) -> Result<Form, Error> {
    let mut form = Form::default();
    let out = &mut form.parts;
    out.raw(r#"{"role":"assistant""#);
    let text = message.text();
    let has_calls = message.tool_calls().any(|_| true);
    if text.is_empty() && has_calls {
        // An empty string is taken by servers that refuse null, and the other way round.
        out.member("content", &Value::Null)?;
    } else {
        out.member("content", &text)?;
    }
    if quirks.replay_reasoning && has_calls {
        let reasoning: String = message
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Reasoning { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        if !reasoning.is_empty() {
            out.member("reasoning_content", &reasoning)?;
        }
    }
    if has_calls {
        out.raw(r#","tool_calls":["#);
        for call in message.tool_calls() {
            out.comma().raw(r#"{"id":"#).value(call_id(call.id.as_str()))?;
            out.raw(r#","type":"function","function":{"name":"#).value(&call.name)?;
            let arguments = arguments_object(call).to_string();
            out.raw(r#","arguments":"#).value(&arguments)?.raw("}}");
        }
        out.raw("]");
    }
    out.raw("}");
    Ok(form)
}

fn input_form(info: &ModelInfo, message: &Message) -> Result<Form, Error> {
    let mut form = Form::default();
    let mut texts: Vec<&str> = Vec::new();
    let mut images = 0;
    for part in &message.parts {
        match part {
            Part::Text { text } => {
                write_text(text, form.parts.comma())?;
                texts.push(text);
            }
            Part::Image { image } if info.images => {
                write_image(image, form.parts.comma())?;
                images += 1;
            }
            Part::Image { .. } => {
                write_text(IMAGE_OMITTED, form.parts.comma())?;
                texts.push(IMAGE_OMITTED);
            }
            Part::ToolResult { result } => {
                let text = conversation::result_text(result);
                let id = call_id(result.call_id.as_str());
                write_result(id, &text, form.results.comma())?;
                if info.images && !result.images.is_empty() {
                    write_text(RESULT_IMAGES, form.parts.comma())?;
                    for image in &result.images {
                        write_image(image, form.parts.comma())?;
                        images += 1;
                    }
                }
            }
            Part::Reasoning { .. } | Part::ToolCall { .. } => {}
        }
    }
    if images == 0 {
        let mut text = JsonText::default();
        text.escaped(&texts.join("\n\n"))?;
        form.text = Some(text);
    }
    Ok(form)
}

fn write_effort(field: EffortField, effort: Effort, body: &mut JsonText) -> Result<(), Error> {
    let word = match effort {
        Effort::None => "none",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    };
    let thinks = effort != Effort::None;
    match field {
        EffortField::ReasoningEffort => drop(body.member("reasoning_effort", word)?),
        EffortField::Reasoning => drop(body.member("reasoning", &json!({ "effort": word }))?),
        EffortField::EnableThinking => drop(body.member("enable_thinking", &thinks)?),
        EffortField::Thinking => {
            let word = if thinks { "enabled" } else { "disabled" };
            body.member("thinking", &json!({ "type": word }))?;
        }
        EffortField::Unsent => {}
    }
    Ok(())
}

fn write_tools(tools: &[ToolDefinition]) -> Result<JsonText, Error> {
    let mut out = JsonText::default();
    for tool in tools {
        out.comma().raw(r#"{"type":"function","function":{"#);
        out.member("name", &tool.name)?.member("description", &tool.description)?;
        out.member("parameters", &tool.input_schema)?.raw("}}");
    }
    Ok(out)
}

fn write_text(text: &str, out: &mut JsonText) -> Result<(), Error> {
    out.raw(r#"{"type":"text","text":"#).value(text)?.raw("}");
    Ok(())
}

fn write_image(image: &Image, out: &mut JsonText) -> Result<(), Error> {
    out.raw(r#"{"type":"image_url","image_url":{"url":"data:"#);
    // The media type and base64 need no escaping; what does would not be an image.
    out.escaped(&image.media_type)?.raw(";base64,").escaped(&image.data)?.raw("\"}}");
    Ok(())
}

fn write_result(id: &str, text: &str, out: &mut JsonText) -> Result<(), Error> {
    out.raw(r#"{"role":"tool""#).member("tool_call_id", id)?.member("content", text)?.raw("}");
    Ok(())
}

fn call_id(id: &str) -> &str {
    conversation::end_of_id(id, MAX_CALL_ID)
}
