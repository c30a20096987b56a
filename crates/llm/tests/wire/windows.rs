//! How a model's context window is learned from its server.

use serde_json::{Value, json};
use stepwell_llm::{
    Catalog, ConnectOptions, ModelFacts, Provider, ProviderConfig, ProviderKind, RetryPolicy, WindowSize,
    WindowSource, connect,
};
use stepwell_net::HttpClient;
use stepwell_test_support::{ModelServer, Turn};

use crate::support::{QUICK, base_url, collect, hello};

/// A model of a server that answers these addresses.
fn connected(
    server: &ModelServer,
    kind: ProviderKind,
    model: &str,
    facts: ModelFacts,
) -> std::sync::Arc<dyn stepwell_llm::Model> {
    let config = ProviderConfig {
        kind: Some(kind),
        base_url: Some(base_url(server, kind)),
        ..ProviderConfig::default()
    };
    connect(ConnectOptions {
        provider: Provider::resolve("mine", Some(&config)).unwrap(),
        model: model.into(),
        key: None,
        facts,
        catalog: Catalog::built_in(),
        client: HttpClient::new(QUICK),
        retry: RetryPolicy::IMMEDIATE,
    })
    .unwrap()
}

#[tokio::test]
async fn a_server_of_ones_own_is_asked_for_its_window() {
    use ProviderKind::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
    type Case = (&'static str, ProviderKind, Vec<(&'static str, Value)>, WindowSize);
    let size = |tokens, source| WindowSize { tokens, source };
    let cases: Vec<Case> = vec![
        (
            "llama.cpp",
            OpenaiChat,
            vec![("/props", json!({"default_generation_settings": {"n_ctx": 2048}}))],
            size(2048, WindowSource::Server),
        ),
        (
            "vLLM",
            OpenaiResponses,
            vec![("/v1/models", json!({"data": [{"id": "qwen3-coder", "max_model_len": 4096}]}))],
            size(4096, WindowSource::Server),
        ),
        (
            "Ollama with num_ctx",
            OpenaiChat,
            vec![(
                "/api/show",
                json!({"parameters": "num_ctx 16384", "model_info": {"q.context_length": 99999}}),
            )],
            size(16384, WindowSource::Server),
        ),
        (
            "Ollama with the most it can do",
            OpenaiChat,
            vec![("/api/show", json!({"parameters": "", "model_info": {"q.context_length": 8192}}))],
            size(8192, WindowSource::Assumed),
        ),
        (
            "LiteLLM in Anthropic's format",
            Anthropic,
            vec![(
                "/model/info",
                json!({"data": [{"model_name": "qwen3-coder", "model_info": {"max_input_tokens": 32768}}]}),
            )],
            size(32768, WindowSource::Server),
        ),
        (
            "LiteLLM in Gemini's format",
            Gemini,
            vec![(
                "/model/info",
                json!({"data": [{"model_name": "qwen3-coder", "model_info": {"max_input_tokens": 16384}}]}),
            )],
            size(16384, WindowSource::Server),
        ),
        (
            "Gemini",
            Gemini,
            vec![(
                "/v1beta/models/qwen3-coder",
                json!({"name": "models/qwen3-coder", "inputTokenLimit": 1000}),
            )],
            size(1000, WindowSource::Server),
        ),
        ("one that tells nothing", OpenaiChat, vec![], size(262_144, WindowSource::Assumed)),
    ];
    for (name, kind, answers, expected) in cases {
        let server = ModelServer::start();
        for (path, body) in answers {
            server.set_answer(path, body);
        }
        let model = connected(&server, kind, "qwen3-coder", ModelFacts::default());
        assert_eq!(model.window().await, expected, "{name}");
        server.finish();
        let facts = ModelFacts { context_window: Some(5000), ..ModelFacts::default() };
        let model = connected(&server, kind, "qwen3-coder", facts);
        assert_eq!(model.window().await, size(5000, WindowSource::Settings), "{name}");
    }
}

#[tokio::test]
async fn ollama_is_asked_again_once_the_model_is_loaded() {
    let server = ModelServer::start();
    server.set_answer("/api/show", json!({"model_info": {"q.context_length": 32768}}));
    let model = connected(&server, ProviderKind::OpenaiChat, "qwen3-coder", ModelFacts::default());
    assert_eq!(model.window().await.tokens, 32768);
    server.set_answer("/api/ps", json!({"models": [{"name": "qwen3-coder:latest", "context_length": 4096}]}));
    assert_eq!(model.window().await, WindowSize { tokens: 4096, source: WindowSource::Server });
}

#[tokio::test]
async fn nobody_at_the_address_leaves_the_window_assumed() {
    let server = ModelServer::start();
    let model = connected(&server, ProviderKind::OpenaiChat, "unheard-of", ModelFacts::default());
    drop(server);
    assert_eq!(model.window().await, WindowSize { tokens: 128_000, source: WindowSource::Assumed });
}

#[tokio::test]
async fn a_refusal_teaches_the_window() {
    let server = ModelServer::start();
    let refusal = json!({"error": {"code": 400, "message": "request (3031 tokens) exceeds the available context size (2048 tokens)", "type": "exceed_context_size_error", "n_prompt_tokens": 3031, "n_ctx": 2048}});
    server.script([Turn::raw(400, "application/json", refusal.to_string())]);
    let model = connected(&server, ProviderKind::OpenaiChat, "unheard-of", ModelFacts::default());
    let (_, error) = collect(&model, hello()).await;
    let error = error.expect("a refusal");
    assert_eq!((error.overflow.limit, error.overflow.sent), (Some(2048), Some(3031)));
    assert_eq!(model.window().await, WindowSize { tokens: 2048, source: WindowSource::Server });
}
