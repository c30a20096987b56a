//! What the model is sent: one conversation, in every format.

use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use stepwell_llm::{
    Catalog, ConnectOptions, Effort, ModelFacts, Provider, ProviderConfig, ProviderKind, RetryPolicy,
    ToolCallForm, connect, list_models, validate,
};
use stepwell_net::{HttpClient, Timeouts};
use stepwell_protocol::{ErrorClass, Image, Message, Part, Role, ToolCall, ToolResult};
use stepwell_test_support::{ModelServer, Turn};

use crate::support::{KEY, KINDS, base_url, collect, model, preset_of, request};

fn tool_call(id: &str, command: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "bash".into(), arguments: json!({ "command": command }), opaque: None }
}

fn image() -> Image {
    Image { media_type: "image/png".into(), data: "iVBOR".into() }
}

/// A conversation with everything in it: reasoning, two calls, one of which failed, images, an interruption.
fn conversation() -> Vec<Message> {
    let opaque = |value: Value| Part::Reasoning { text: "Hm.".into(), opaque: Some(value) };
    let first = tool_call("call_1", "ls");
    let second = tool_call("call_2", "cat x");
    let mut good = ToolResult::failure(&first, ErrorClass::ExecutionError, "a.txt");
    good.error = None;
    good.images = vec![image()];
    let bad = ToolResult::failure(&second, ErrorClass::ExecutionError, "no such file");
    vec![
        Message::new(Role::User, vec![Part::text("Look at this"), Part::Image { image: image() }]),
        Message::new(
            Role::Assistant,
            vec![
                opaque(
                    json!({ "anthropic": { "signature": "sig" }, "openai": { "encrypted_content": "enc" } }),
                ),
                Part::text("I will look."),
                Part::ToolCall { call: first },
                Part::ToolCall { call: second },
            ],
        ),
        Message::new(Role::Tool, vec![Part::ToolResult { result: good }]),
        Message::new(Role::Tool, vec![Part::ToolResult { result: bad }]),
        Message { interrupted: true, ..Message::new(Role::Assistant, vec![Part::text("One file and")]) },
        Message::user("Go on"),
    ]
}

async fn sent(kind: ProviderKind, messages: Vec<Message>) -> Value {
    let server = ModelServer::start();
    server.script([Turn::text("ok")]);
    let mut request = request(messages);
    request.options.effort = Some(Effort::Medium);
    request.options.cache_key = Some("task-7".into());
    let (_, error) = collect(&model(&server, kind), request).await;
    assert_eq!(error, None);
    server.last_request().body
}

/// The body, one line per member and per message.
fn told(body: &Value) -> String {
    let mut out = String::new();
    for (name, value) in body.as_object().unwrap() {
        match value.as_array().filter(|_| matches!(name.as_str(), "messages" | "input" | "contents")) {
            Some(items) => {
                out.push_str(&format!("{name}:\n"));
                for item in items {
                    out.push_str(&format!("  {item}\n"));
                }
            }
            None => out.push_str(&format!("{name}: {value}\n")),
        }
    }
    out
}

async fn check(kind: ProviderKind, expect: Expect) {
    expect.assert_eq(&told(&sent(kind, conversation()).await));
}

#[tokio::test]
async fn chat_completions() {
    check(ProviderKind::OpenaiChat, expect![[r#"
        model: "gpt-4.1"
        stream: true
        stream_options: {"include_usage":true}
        max_completion_tokens: 32768
        prompt_cache_key: "task-7"
        parallel_tool_calls: true
        tools: [{"type":"function","function":{"name":"bash","description":"Runs a command.","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}}]
        messages:
          {"role":"developer","content":"You are a careful engineer."}
          {"role":"user","content":[{"type":"text","text":"Look at this"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBOR"}}]}
          {"role":"assistant","content":"I will look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}},{"id":"call_2","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cat x\"}"}}]}
          {"role":"tool","tool_call_id":"call_1","content":"a.txt"}
          {"role":"tool","tool_call_id":"call_2","content":"[error] no such file"}
          {"role":"user","content":[{"type":"text","text":"Images from the tool results above:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBOR"}}]}
          {"role":"assistant","content":"One file and"}
          {"role":"user","content":"Go on"}
    "#]]).await;
}

#[tokio::test]
async fn responses() {
    check(ProviderKind::OpenaiResponses, expect![[r#"
        model: "gpt-5"
        stream: true
        store: false
        include: ["reasoning.encrypted_content"]
        reasoning: {"summary":"auto","effort":"medium"}
        prompt_cache_key: "task-7"
        parallel_tool_calls: true
        tools: [{"type":"function","name":"bash","description":"Runs a command.","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]},"strict":false}]
        instructions: "You are a careful engineer."
        input:
          {"type":"message","role":"user","content":[{"type":"input_text","text":"Look at this"},{"type":"input_image","image_url":"data:image/png;base64,iVBOR"}]}
          {"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"enc"}
          {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I will look."}]}
          {"type":"function_call","call_id":"call_1","name":"bash","arguments":"{\"command\":\"ls\"}"}
          {"type":"function_call","call_id":"call_2","name":"bash","arguments":"{\"command\":\"cat x\"}"}
          {"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"a.txt"},{"type":"input_image","image_url":"data:image/png;base64,iVBOR"}]}
          {"type":"function_call_output","call_id":"call_2","output":"[error] no such file"}
          {"type":"message","role":"assistant","content":[{"type":"output_text","text":"One file and"}]}
          {"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}
    "#]]).await;
}

#[tokio::test]
async fn anthropic() {
    check(ProviderKind::Anthropic, expect![[r#"
        model: "claude-sonnet-4-5"
        stream: true
        max_tokens: 64000
        thinking: {"type":"enabled","budget_tokens":12288}
        tools: [{"name":"bash","description":"Runs a command.","input_schema":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]},"cache_control":{"type":"ephemeral"}}]
        system: [{"type":"text","text":"You are a careful engineer.","cache_control":{"type":"ephemeral"}}]
        messages:
          {"role":"user","content":[{"type":"text","text":"Look at this"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBOR"}}]}
          {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"sig"},{"type":"text","text":"I will look."},{"type":"tool_use","id":"call_1","name":"bash","input":{"command":"ls"}},{"type":"tool_use","id":"call_2","name":"bash","input":{"command":"cat x"}}]}
          {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"a.txt"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBOR"}}]},{"type":"tool_result","tool_use_id":"call_2","content":"no such file","is_error":true,"cache_control":{"type":"ephemeral"}}]}
          {"role":"assistant","content":[{"type":"text","text":"One file and"}]}
          {"role":"user","content":[{"type":"text","text":"Go on","cache_control":{"type":"ephemeral"}}]}
    "#]]).await;
}

#[tokio::test]
async fn reasoning_that_led_to_nothing_is_not_sent_back() {
    let reasoning = || Part::Reasoning {
        text: "Hm.".into(),
        opaque: Some(
            json!({ "anthropic": { "signature": "sig" }, "openai": { "encrypted_content": "enc" } }),
        ),
    };
    let cut_off = Message::new(Role::Assistant, vec![reasoning(), Part::text("So"), reasoning()]);
    let history = || vec![Message::user("a"), cut_off.clone(), Message::user("b")];
    let body = sent(ProviderKind::Anthropic, history()).await;
    assert_eq!(
        body["messages"][1]["content"],
        json!([{ "type": "thinking", "thinking": "Hm.", "signature": "sig" }, { "type": "text", "text": "So" }])
    );
    let body = sent(ProviderKind::OpenaiResponses, history()).await;
    assert_eq!(body["input"].to_string().matches("encrypted_content").count(), 1);
}

#[tokio::test]
async fn gemini() {
    check(ProviderKind::Gemini, expect![[r#"
        generationConfig: {"maxOutputTokens":65536,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}
        systemInstruction: {"parts":[{"text":"You are a careful engineer."}]}
        tools: [{"functionDeclarations":[{"name":"bash","description":"Runs a command.","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}]}]
        contents:
          {"role":"user","parts":[{"text":"Look at this"},{"inlineData":{"mimeType":"image/png","data":"iVBOR"}}]}
          {"role":"model","parts":[{"text":"I will look."},{"functionCall":{"id":"call_1","name":"bash","args":{"command":"ls"}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"call_2","name":"bash","args":{"command":"cat x"}}}]}
          {"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"bash","response":{"output":"a.txt"}}},{"functionResponse":{"id":"call_2","name":"bash","response":{"error":"no such file"}}},{"inlineData":{"mimeType":"image/png","data":"iVBOR"}}]}
          {"role":"model","parts":[{"text":"One file and"}]}
          {"role":"user","parts":[{"text":"Go on"}]}
    "#]]).await;
}

#[tokio::test]
async fn a_longer_history_begins_with_the_same_bytes() {
    for kind in KINDS {
        let server = ModelServer::start();
        server.respond_with(|_| Turn::text("ok"));
        let model = model(&server, kind);
        let mut all = request(vec![]);
        let mut before: Vec<u8> = Vec::new();
        for turn in 0..6 {
            all.messages.push(Arc::new(Message::user(format!("question {turn} \"é\""))));
            for _ in 0..2 {
                let (_, error) = collect(&model, all.clone()).await;
                assert_eq!(error, None);
            }
            let requests = server.requests();
            let [.., first, second] = requests.as_slice() else { panic!("two requests") };
            assert_eq!(first.raw_body, second.raw_body, "{kind:?}: the same request, the same bytes");
            if kind != ProviderKind::Anthropic {
                // Anthropic's cache marks move along with the end.
                let common =
                    before.iter().zip(&first.raw_body).take_while(|(left, right)| left == right).count();
                assert!(common + 4 >= before.len(), "{kind:?}: {common} of {}", before.len());
            }
            before.clone_from(&first.raw_body);
            let answer = Message::new(Role::Assistant, vec![Part::text(format!("answer {turn}"))]);
            all.messages.push(Arc::new(answer));
        }
    }
}

#[tokio::test]
async fn the_last_two_inputs_are_marked_for_the_cache() {
    let mut messages = Vec::new();
    for turn in 0..4 {
        messages.push(Message::user(format!("q{turn}")));
        messages.push(Message::new(Role::Assistant, vec![Part::text("a")]));
    }
    messages.push(Message::user("last"));
    let body = sent(ProviderKind::Anthropic, messages).await;
    let marked: Vec<usize> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .filter(|(_, message)| message.to_string().contains("cache_control"))
        .map(|(position, _)| position)
        .collect();
    assert_eq!(marked, [6, 8]);
    assert!(body["system"].to_string().contains("cache_control"));
    assert!(body["tools"].to_string().contains("cache_control"));
}

fn options(provider: Provider) -> ConnectOptions {
    ConnectOptions {
        provider,
        model: "m".into(),
        key: Some(KEY.into()),
        facts: ModelFacts::default(),
        catalog: Catalog::built_in(),
        client: HttpClient::new(Timeouts::STANDARD),
        retry: RetryPolicy::IMMEDIATE,
    }
}

#[tokio::test]
async fn xml_calls_need_no_native_tools() {
    let server = ModelServer::start();
    server.script([Turn::text("Look:\n<bash>\n<command>ls</command>\n</bash>").chunk_size(3)]);
    let config = ProviderConfig {
        base_url: Some(server.openai_url()),
        tool_calls: Some(ToolCallForm::Xml),
        ..ProviderConfig::default()
    };
    let model = connect(options(Provider::resolve("ollama", Some(&config)).unwrap())).unwrap();
    let (deltas, error) = collect(&model, request(conversation())).await;
    assert_eq!(error, None);
    assert_eq!(
        crate::support::told(&deltas),
        "text: Look:\ncall 0 start: bash\ncall 0: {\"command\":\"ls\"}\ncall 0 end\n\
         usage: in 10 out 5 read 0 write 0 cost -1.0000000\nstop: ToolCalls"
    );
    let seen = server.last_request();
    assert!(seen.tool_names().is_empty());
    assert!(seen.system_text().contains("## bash"));
    assert!(seen.messages()[1].text.contains("<command>cat x</command>"));
    assert!(seen.messages()[2].text.contains("[Result of bash]\n[error] no such file"));
}

#[tokio::test]
async fn settings_are_checked_with_a_live_call() {
    for kind in KINDS {
        let server = ModelServer::start();
        server.set_models(&["zeta", "alpha"]);
        let config = ProviderConfig { base_url: Some(base_url(&server, kind)), ..ProviderConfig::default() };
        let provider = Provider::resolve(preset_of(kind), Some(&config)).unwrap();
        let client = HttpClient::new(Timeouts::STANDARD);
        let names = list_models(&provider, Some(KEY.into()), &client, Duration::from_secs(5)).await.unwrap();
        assert_eq!(names, ["alpha", "zeta"], "{kind:?}");
        server.script([Turn::text("OK"), Turn::error(401, "no")]);
        let validation = validate(options(provider.clone())).await.unwrap();
        assert_eq!(validation.answer, "OK", "{kind:?}");
        let error = validate(options(provider)).await.unwrap_err();
        assert!(error.hint.unwrap().contains("_API_KEY"), "{kind:?}");
        server.finish();
    }
}

#[tokio::test]
async fn what_the_server_sees_can_be_read_in_any_format() {
    for kind in KINDS {
        let server = ModelServer::start();
        server.script([Turn::text("ok")]);
        collect(&model(&server, kind), request(conversation())).await;
        let seen = server.last_request();
        assert_eq!(seen.system_text(), "You are a careful engineer.", "{kind:?}");
        assert_eq!(seen.tool_names(), ["bash"], "{kind:?}");
        assert_eq!(seen.tool_results().len(), 2, "{kind:?}");
        assert_eq!(seen.last_user_text(), "Go on", "{kind:?}");
        let calls: Vec<_> = seen.messages().into_iter().flat_map(|message| message.calls).collect();
        assert_eq!(calls.len(), 2, "{kind:?}");
        assert_eq!(calls[1].arguments, json!({ "command": "cat x" }), "{kind:?}");
        assert_eq!(seen.messages().iter().map(|message| message.images).sum::<usize>(), 2, "{kind:?}");
    }
}
