//! What reached the server, readable without knowing the wire format it came in.

use serde_json::Value;

/// The wire format of a request, known by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    OpenAiChat,
    OpenAiResponses,
    Anthropic,
    Gemini,
}

impl WireFormat {
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        match path {
            _ if path.ends_with("/chat/completions") => Some(Self::OpenAiChat),
            _ if path.ends_with("/responses") => Some(Self::OpenAiResponses),
            _ if path.ends_with("/messages") => Some(Self::Anthropic),
            _ if path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent") => {
                Some(Self::Gemini)
            }
            _ => None,
        }
    }
}

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub raw_body: Vec<u8>,
    pub format: Option<WireFormat>,
}

/// A message as the model sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenMessage {
    /// `user`, `assistant` or `tool`.
    pub role: String,
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<SeenCall>,
    pub results: Vec<SeenResult>,
    /// How many images.
    pub images: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SeenCall {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SeenResult {
    /// The call's id; for Gemini, which has none, the tool's name.
    pub call_id: String,
    pub text: String,
}

impl RecordedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The model that was asked for.
    pub fn model(&self) -> String {
        if let Some(model) = self.body["model"].as_str() {
            return model.to_owned();
        }
        let last = self.path.rsplit('/').next().unwrap_or_default();
        last.split(':').next().unwrap_or_default().to_owned()
    }

    /// The system prompt.
    pub fn system_text(&self) -> String {
        match self.format {
            Some(WireFormat::OpenAiChat) => {
                let first = &self.body["messages"][0];
                let role = first["role"].as_str().unwrap_or_default();
                if matches!(role, "system" | "developer") {
                    text_of(&first["content"])
                } else {
                    String::new()
                }
            }
            Some(WireFormat::OpenAiResponses) => text_of(&self.body["instructions"]),
            Some(WireFormat::Anthropic) => text_of(&self.body["system"]),
            Some(WireFormat::Gemini) => text_of(&self.body["systemInstruction"]["parts"]),
            None => String::new(),
        }
    }

    pub fn tool_names(&self) -> Vec<String> {
        let tools = &self.body["tools"];
        let names: Vec<&Value> = match self.format {
            Some(WireFormat::OpenAiChat) => list(tools).map(|tool| &tool["function"]["name"]).collect(),
            Some(WireFormat::Gemini) => list(tools)
                .flat_map(|tool| list(&tool["functionDeclarations"]))
                .map(|tool| &tool["name"])
                .collect(),
            _ => list(tools).map(|tool| &tool["name"]).collect(),
        };
        names.into_iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
    }

    /// The conversation, without the system prompt.
    pub fn messages(&self) -> Vec<SeenMessage> {
        match self.format {
            Some(WireFormat::OpenAiChat) => list(&self.body["messages"])
                .filter(|message| !matches!(message["role"].as_str(), Some("system" | "developer")))
                .map(chat_message)
                .collect(),
            Some(WireFormat::OpenAiResponses) => list(&self.body["input"]).map(responses_item).collect(),
            Some(WireFormat::Anthropic) => list(&self.body["messages"])
                .map(|message| {
                    blocks(message["role"].as_str(), list(&message["content"]), &message["content"])
                })
                .collect(),
            Some(WireFormat::Gemini) => list(&self.body["contents"]).map(gemini_content).collect(),
            None => Vec::new(),
        }
    }

    /// All tool results of the conversation, in order.
    pub fn tool_results(&self) -> Vec<SeenResult> {
        self.messages().into_iter().flat_map(|message| message.results).collect()
    }

    /// The text of the last message that the person, not a tool, sent.
    pub fn last_user_text(&self) -> String {
        let messages = self.messages();
        let last = messages.iter().rev().find(|message| message.role == "user" && !message.text.is_empty());
        last.map(|message| message.text.clone()).unwrap_or_default()
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of a string, or of a list of parts.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn parsed(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| arguments.clone()),
        other => other.clone(),
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn chat_message(message: &Value) -> SeenMessage {
    let role = string(&message["role"]);
    if role == "tool" {
        let result =
            SeenResult { call_id: string(&message["tool_call_id"]), text: text_of(&message["content"]) };
        return SeenMessage { role, results: vec![result], ..SeenMessage::default() };
    }
    let calls = list(&message["tool_calls"]).map(|call| SeenCall {
        id: string(&call["id"]),
        name: string(&call["function"]["name"]),
        arguments: parsed(&call["function"]["arguments"]),
    });
    SeenMessage {
        role,
        text: text_of(&message["content"]),
        reasoning: string(&message["reasoning_content"]),
        calls: calls.collect(),
        results: Vec::new(),
        images: list(&message["content"]).filter(|part| part["type"] == "image_url").count(),
    }
}

fn responses_item(item: &Value) -> SeenMessage {
    let mut seen = SeenMessage::default();
    match item["type"].as_str().unwrap_or("message") {
        "function_call" => {
            seen.role = "assistant".into();
            seen.calls.push(SeenCall {
                id: string(&item["call_id"]),
                name: string(&item["name"]),
                arguments: parsed(&item["arguments"]),
            });
        }
        "function_call_output" => {
            seen.role = "tool".into();
            seen.images = list(&item["output"]).filter(|part| part["type"] == "input_image").count();
            seen.results
                .push(SeenResult { call_id: string(&item["call_id"]), text: text_of(&item["output"]) });
        }
        "reasoning" => {
            seen.role = "assistant".into();
            seen.reasoning = text_of(&item["summary"]);
        }
        _ => {
            seen.role = string(&item["role"]);
            seen.text = text_of(&item["content"]);
            seen.images = list(&item["content"]).filter(|part| part["type"] == "input_image").count();
        }
    }
    seen
}

fn blocks<'a>(role: Option<&str>, blocks: impl Iterator<Item = &'a Value>, content: &Value) -> SeenMessage {
    let mut seen = SeenMessage { role: role.unwrap_or_default().to_owned(), ..SeenMessage::default() };
    if let Value::String(text) = content {
        seen.text.clone_from(text);
    }
    for block in blocks {
        match block["type"].as_str().unwrap_or_default() {
            "text" => seen.text.push_str(block["text"].as_str().unwrap_or_default()),
            "thinking" => seen.reasoning.push_str(block["thinking"].as_str().unwrap_or_default()),
            "image" => seen.images += 1,
            "tool_use" => seen.calls.push(SeenCall {
                id: string(&block["id"]),
                name: string(&block["name"]),
                arguments: block["input"].clone(),
            }),
            "tool_result" => {
                seen.images += list(&block["content"]).filter(|part| part["type"] == "image").count();
                let result =
                    SeenResult { call_id: string(&block["tool_use_id"]), text: text_of(&block["content"]) };
                seen.results.push(result);
            }
            _ => {}
        }
    }
    seen
}

fn gemini_content(content: &Value) -> SeenMessage {
    let role = if content["role"] == "model" { "assistant" } else { "user" };
    let mut seen = SeenMessage { role: role.into(), ..SeenMessage::default() };
    for part in list(&content["parts"]) {
        if let Some(text) = part["text"].as_str() {
            if part["thought"] == true { &mut seen.reasoning } else { &mut seen.text }.push_str(text);
        } else if part["inlineData"].is_object() {
            seen.images += 1;
        } else if let Some(name) = part["functionCall"]["name"].as_str() {
            let call = &part["functionCall"];
            seen.calls.push(SeenCall {
                id: string(&call["id"]),
                name: name.to_owned(),
                arguments: call["args"].clone(),
            });
        } else if let Some(name) = part["functionResponse"]["name"].as_str() {
            let response = &part["functionResponse"]["response"];
            let text = ["output", "error"].iter().find_map(|field| response[field].as_str());
            seen.results
                .push(SeenResult { call_id: name.to_owned(), text: text.unwrap_or_default().to_owned() });
        }
    }
    seen
}
