//! A model connected to the scripted server, in each of the four formats.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use stepwell_llm::{
    Catalog, ConnectOptions, Delta, Error, Model, ModelFacts, Price, Provider, ProviderConfig, ProviderKind,
    Request, RequestOptions, RetryPolicy, connect,
};
use stepwell_net::{HttpClient, Timeouts};
use stepwell_protocol::{Message, ToolDefinition};
use stepwell_test_support::ModelServer;

pub const KINDS: [ProviderKind; 4] =
    [ProviderKind::OpenaiChat, ProviderKind::OpenaiResponses, ProviderKind::Anthropic, ProviderKind::Gemini];

pub const KEY: &str = "sk-very-secret-0123456789";

pub const QUICK: Timeouts = Timeouts {
    connect: Duration::from_secs(5),
    first_byte: Duration::from_secs(5),
    idle: Duration::from_millis(200),
};

pub fn base_url(server: &ModelServer, kind: ProviderKind) -> String {
    match kind {
        ProviderKind::OpenaiChat | ProviderKind::OpenaiResponses => server.openai_url(),
        ProviderKind::Anthropic => server.anthropic_url(),
        ProviderKind::Gemini => server.gemini_url(),
    }
}

/// The name of the preset whose quirks fit the kind.
pub fn preset_of(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::OpenaiChat => "openai-chat",
        ProviderKind::OpenaiResponses => "openai",
        ProviderKind::Anthropic => "anthropic",
        ProviderKind::Gemini => "gemini",
    }
}

pub fn model_of(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::OpenaiChat => "gpt-4.1",
        ProviderKind::OpenaiResponses => "gpt-5",
        ProviderKind::Anthropic => "claude-sonnet-4-5",
        ProviderKind::Gemini => "gemini-2.5-flash",
    }
}

pub fn model_at(base_url: String, kind: ProviderKind, retry: RetryPolicy) -> Arc<dyn Model> {
    let config = ProviderConfig { base_url: Some(base_url), ..ProviderConfig::default() };
    let facts = ModelFacts {
        price: Some(Price { input: 1.0, output: 2.0, cache_read: Some(0.1), cache_write: Some(1.25) }),
        ..ModelFacts::default()
    };
    connect(ConnectOptions {
        provider: Provider::resolve(preset_of(kind), Some(&config)).unwrap(),
        model: model_of(kind).into(),
        key: Some(KEY.into()),
        facts,
        catalog: Catalog::built_in(),
        client: HttpClient::new(QUICK),
        retry,
    })
    .unwrap()
}

pub fn model(server: &ModelServer, kind: ProviderKind) -> Arc<dyn Model> {
    let policy = RetryPolicy { connection_retries: 0, rate_limit_retries: 0, ..RetryPolicy::IMMEDIATE };
    model_at(base_url(server, kind), kind, policy)
}

pub fn retrying_model(server: &ModelServer, kind: ProviderKind) -> Arc<dyn Model> {
    model_at(base_url(server, kind), kind, RetryPolicy::IMMEDIATE)
}

pub fn request(messages: Vec<Message>) -> Request {
    Request {
        system: "You are a careful engineer.".into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        deferred: Arc::from([]),
        tools: Arc::from([ToolDefinition {
            name: "bash".into(),
            description: "Runs a command.".into(),
            input_schema: serde_json::json!({
                "type": "object",
                "properties": { "command": { "type": "string" } },
                "required": ["command"],
            }),
            forms: stepwell_protocol::CallForms::default(),
        }]),
        options: RequestOptions::default(),
    }
}

pub fn hello() -> Request {
    request(vec![Message::user("Hello")])
}

/// Everything that comes, and the error if it ends in one.
pub async fn collect(model: &Arc<dyn Model>, request: Request) -> (Vec<Delta>, Option<Error>) {
    let mut stream = model.stream(request);
    let mut deltas = Vec::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(delta) => deltas.push(delta),
            Err(error) => return (deltas, Some(error)),
        }
    }
    (deltas, None)
}

/// The answer on a few lines: neighbouring pieces joined, ids masked.
pub fn told(deltas: &[Delta]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut last = String::new();
    for delta in deltas {
        let (kind, text) = match delta {
            Delta::Text(text) => ("text".to_owned(), text.clone()),
            Delta::Reasoning(text) => ("reasoning".to_owned(), text.clone()),
            Delta::ReasoningEnd { opaque } => {
                ("reasoning end".to_owned(), opaque.as_ref().map(ToString::to_string).unwrap_or_default())
            }
            Delta::CallStart { index, name, .. } => (format!("call {index} start"), name.clone()),
            Delta::CallArguments { index, json } => (format!("call {index}"), json.clone()),
            Delta::CallEnd { index, opaque } => {
                (format!("call {index} end"), opaque.as_ref().map(ToString::to_string).unwrap_or_default())
            }
            Delta::Usage(usage) => (
                "usage".to_owned(),
                format!(
                    "in {} out {} read {} write {} cost {:.7}",
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cache_read_tokens,
                    usage.cache_write_tokens,
                    usage.cost_usd.unwrap_or(-1.0)
                ),
            ),
            Delta::Retrying { attempt, limit, reason, .. } => {
                ("retrying".to_owned(), format!("{attempt}/{limit} {reason}"))
            }
            Delta::Restarted => ("restarted".to_owned(), String::new()),
            Delta::Stop(reason) => ("stop".to_owned(), format!("{reason:?}")),
        };
        let joins = kind == last
            && matches!(delta, Delta::Text(_) | Delta::Reasoning(_) | Delta::CallArguments { .. });
        match lines.last_mut() {
            Some(line) if joins => line.push_str(&text),
            _ if text.is_empty() => lines.push(kind.clone()),
            _ => lines.push(format!("{kind}: {text}")),
        }
        last = kind;
    }
    lines.join("\n")
}
