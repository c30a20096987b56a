//! A server's request to the model (sampling).
//!
//! It becomes a call of an internal tool, so that rules, modes and the person decide about it like about any other call.
//! The model of the task answers, and the task pays.

#![allow(deprecated, reason = "sampling is deprecated since 2026-07-28 and what servers of today use")]

use std::time::Duration;

use async_trait::async_trait;
use rmcp::ErrorData;
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ErrorCode, Role as McpRole, SamplingMessage,
    SamplingMessageContentBlock,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_protocol::{Message, Part, Preview, Risk, Role, ToolCall};
use stepwell_tool_runtime::{
    Category, DynOutput, DynPlan, DynTool, Planned, SampleRequest, ToolContext, ToolError, ToolSpec,
};

use super::active_calls::Asking;
use super::config::ServerConfig;
use super::tool::tool_name;

/// Requests that a server may make within one call of a tool.
pub(crate) const MOST_REQUESTS: u32 = 5;
/// Tokens of one answer, whatever the server asks for.
const MOST_TOKENS: u64 = 4_096;
/// Bytes of text in one request, and messages.
const LONGEST_REQUEST: usize = 200 * 1024;
const MOST_MESSAGES: usize = 50;
const MOST_STOPS: usize = 4;
/// Characters of the newest message that the person is shown.
const SHOWN_TEXT: usize = 600;
/// The model's deadline and that of the person who is asked are the host's.
const LONGEST_CALL: Duration = Duration::from_hours(1);
/// JSON-RPC error code for a request that the person refused.
const REFUSED: ErrorCode = ErrorCode(-1);

/// The name under which a server's requests to the model are judged.
pub(crate) fn sampler_name(server: &str) -> String {
    tool_name(server, "sampling--create")
}

/// The arguments of the internal tool.
#[derive(Clone, Serialize, Deserialize)]
struct Asked {
    system: String,
    messages: Vec<AskedMessage>,
    max_tokens: u64,
    temperature: Option<f64>,
    stop: Vec<String>,
}

#[derive(Clone, Serialize, Deserialize)]
struct AskedMessage {
    by_model: bool,
    text: String,
}

#[derive(Deserialize)]
struct Answered {
    model: String,
    text: String,
    is_cut: bool,
}

/// Answers a request in the name of the call it belongs to.
pub(crate) async fn answer(
    server: &str,
    request: CreateMessageRequestParams,
    asking: &Asking,
) -> Result<CreateMessageResult, ErrorData> {
    let refused = |told: String| ErrorData::new(REFUSED, told, None);
    if asking.sampled > MOST_REQUESTS {
        return Err(refused(format!("a call may ask the model {MOST_REQUESTS} times")));
    }
    let asked = read(request).map_err(|told| ErrorData::invalid_params(told, None))?;
    let call = ToolCall {
        id: asking.call_id.clone(),
        name: sampler_name(server),
        arguments: serde_json::to_value(asked)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?,
        opaque: None,
    };
    let outcome = asking.invoker.invoke(&call).await;
    if outcome.result.error.is_some() {
        return Err(refused(outcome.result.output));
    }
    let answered: Answered = serde_json::from_value(outcome.output.unwrap_or_default())
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let message = SamplingMessage::assistant_text(answered.text);
    let mut result = CreateMessageResult::new(message, answered.model);
    let reason = if answered.is_cut {
        CreateMessageResult::STOP_REASON_END_MAX_TOKEN
    } else {
        CreateMessageResult::STOP_REASON_END_TURN
    };
    result.stop_reason = Some(reason.to_owned());
    Ok(result)
}

/// Takes what can be answered from a request; the error says what cannot.
fn read(request: CreateMessageRequestParams) -> Result<Asked, String> {
    if request.tools.is_some_and(|tools| !tools.is_empty()) {
        return Err("this client lends the model without tools".to_owned());
    }
    if request.messages.is_empty() || request.messages.len() > MOST_MESSAGES {
        return Err(format!("a request has 1 to {MOST_MESSAGES} messages"));
    }
    let system = request.system_prompt.unwrap_or_default();
    let mut size = system.len();
    let mut messages = Vec::with_capacity(request.messages.len());
    for message in request.messages {
        let by_model = message.role == McpRole::Assistant;
        let mut text = String::new();
        for block in message.content.into_vec() {
            let SamplingMessageContentBlock::Text(block) = block else {
                return Err("this client takes only text for the model".to_owned());
            };
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&block.text);
        }
        size += text.len();
        messages.push(AskedMessage { by_model, text });
    }
    if size > LONGEST_REQUEST {
        return Err(format!("a request has at most {LONGEST_REQUEST} bytes of text"));
    }
    Ok(Asked {
        system,
        messages,
        max_tokens: u64::from(request.max_tokens).clamp(1, MOST_TOKENS),
        temperature: request.temperature.map(f64::from),
        stop: request.stop_sequences.unwrap_or_default().into_iter().take(MOST_STOPS).collect(),
    })
}

/// Asks the model for a server. It is no tool of the model's: only a server's request reaches it.
pub(crate) struct Sampler {
    name: String,
    server: String,
}

impl Sampler {
    /// The sampler of a server that may ask the model.
    pub fn new(config: &ServerConfig) -> Option<Self> {
        config.sampling.then(|| Self { name: sampler_name(&config.name), server: config.name.clone() })
    }
}

#[async_trait]
impl DynTool for Sampler {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "mcp_sampling",
            aliases: &[],
            category: Category::External,
            risk: Risk::Network,
            time_limit: LONGEST_CALL,
            output_limit: LONGEST_REQUEST,
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> String {
        format!("Asks the model for the MCP server `{}`.", self.server)
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {}, "additionalProperties": true})
    }

    fn output_schema(&self) -> Option<Value> {
        None
    }

    fn is_internal(&self) -> bool {
        true
    }

    async fn plan(&self, _: &ToolContext, arguments: Value) -> Result<Planned<DynPlan>, ToolError> {
        let asked: Asked =
            serde_json::from_value(arguments).map_err(|error| ToolError::parameter(error.to_string()))?;
        let newest: String = asked
            .messages
            .last()
            .map(|last| last.text.chars().take(SHOWN_TEXT).collect())
            .unwrap_or_default();
        let summary = format!(
            "Let the MCP server `{}` ask the model for up to {} tokens: {}",
            self.server,
            asked.max_tokens,
            stepwell_tool_runtime::shell::visible(&newest)
        );
        Ok(Planned::ready(Preview { summary, ..Preview::default() }, DynPlan::new(asked)))
    }

    async fn run(&self, ctx: &ToolContext, plan: DynPlan) -> Result<DynOutput, ToolError> {
        let asked: Asked = plan.take()?;
        let message = |message: AskedMessage| {
            let role = if message.by_model { Role::Assistant } else { Role::User };
            Message::new(role, vec![Part::text(message.text)])
        };
        let request = SampleRequest {
            system: asked.system,
            messages: asked.messages.into_iter().map(message).collect(),
            max_tokens: asked.max_tokens,
            temperature: asked.temperature,
            stop: asked.stop,
        };
        let answer =
            ctx.host.sample(request).await.map_err(|error| ToolError::execution(error.to_string()))?;
        let value = json!({"model": answer.model, "text": answer.text, "is_cut": answer.is_cut});
        Ok(DynOutput { value, text: answer.text, ..DynOutput::default() })
    }
}
