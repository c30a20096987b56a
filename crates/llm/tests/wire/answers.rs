//! What a server streams comes out as the same deltas, whichever format it speaks.

use std::time::Duration;

use expect_test::expect;
use futures::StreamExt;
use serde_json::json;
use stepwell_llm::{Delta, ProviderKind, StopReason};
use stepwell_test_support::{ModelServer, Turn, call};

use crate::support::{KINDS, collect, hello, model, told};

async fn answer(kind: ProviderKind, turn: Turn) -> String {
    let server = ModelServer::start();
    server.script([turn]);
    let (deltas, error) = collect(&model(&server, kind), hello()).await;
    assert_eq!(error, None, "{kind:?}");
    server.finish();
    told(&deltas)
}

#[tokio::test]
async fn text_and_usage() {
    for kind in KINDS {
        let turn = Turn::text("Grüße, 世界! How are you?").with_usage(100, 7).chunk_size(3);
        assert_eq!(
            answer(kind, turn).await,
            "text: Grüße, 世界! How are you?\nusage: in 100 out 7 read 0 write 0 cost 0.0001140\nstop: EndTurn",
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn cached_tokens_are_counted_once() {
    for kind in KINDS {
        let text = answer(kind, Turn::text("x").with_usage(100, 7).with_cache(40, 0)).await;
        assert!(text.contains("usage: in 100 out 7 read 40 write 0 cost 0.0001180"), "{kind:?}: {text}");
    }
    for kind in [ProviderKind::OpenaiChat, ProviderKind::Anthropic] {
        let text = answer(kind, Turn::text("x").with_usage(100, 7).with_cache(40, 8)).await;
        assert!(text.contains("usage: in 100 out 7 read 40 write 8"), "{kind:?}: {text}");
    }
}

#[tokio::test]
async fn reasoning_text_and_parallel_calls() {
    let turn = || {
        Turn::calls([
            call("bash", json!({ "command": "ls -la", "n": 1 })),
            call("read", json!({ "file_path": "a \"quoted\" \\ path" })),
            call("list", json!({})),
        ])
        .with_reasoning("I should look first.")
        .with_text("Let me look.")
        .chunk_size(4)
    };
    let mut out = String::new();
    for kind in KINDS {
        out.push_str(&format!("== {kind:?}\n{}\n", answer(kind, turn()).await));
    }
    expect![[r#"
        == OpenaiChat
        reasoning: I should look first.
        reasoning end
        text: Let me look.
        call 0 start: bash
        call 0: {"command":"ls -la","n":1}
        call 1 start: read
        call 1: {"file_path":"a \"quoted\" \\ path"}
        call 2 start: list
        call 2: {}
        call 0 end
        call 1 end
        call 2 end
        usage: in 10 out 5 read 0 write 0 cost 0.0000200
        stop: ToolCalls
        == OpenaiResponses
        reasoning: I should look first.
        reasoning end: {"openai":{"encrypted_content":"enc-scripted"}}
        text: Let me look.
        call 0 start: bash
        call 0: {"command":"ls -la","n":1}
        call 0 end
        call 1 start: read
        call 1: {"file_path":"a \"quoted\" \\ path"}
        call 1 end
        call 2 start: list
        call 2: {}
        call 2 end
        usage: in 10 out 5 read 0 write 0 cost 0.0000200
        stop: ToolCalls
        == Anthropic
        reasoning: I should look first.
        reasoning end: {"anthropic":{"signature":"sig-scripted"}}
        text: Let me look.
        call 0 start: bash
        call 0: {"command":"ls -la","n":1}
        call 0 end
        call 1 start: read
        call 1: {"file_path":"a \"quoted\" \\ path"}
        call 1 end
        call 2 start: list
        call 2: {}
        call 2 end
        usage: in 10 out 5 read 0 write 0 cost 0.0000200
        stop: ToolCalls
        == Gemini
        reasoning: I should look first.
        reasoning end
        text: Let me look.
        call 0 start: bash
        call 0: {"command":"ls -la","n":1}
        call 0 end: {"gemini":{"thought_signature":"sig-scripted"}}
        call 1 start: read
        call 1: {"file_path":"a \"quoted\" \\ path"}
        call 1 end: {"gemini":{"thought_signature":"sig-scripted"}}
        call 2 start: list
        call 2: {}
        call 2 end: {"gemini":{"thought_signature":"sig-scripted"}}
        usage: in 10 out 5 read 0 write 0 cost 0.0000200
        stop: ToolCalls
    "#]]
    .assert_eq(&out);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    for kind in KINDS {
        let turn =
            || Turn::calls([call("bash", json!({ "command": "ls" }))]).with_text("Hm.").with_reasoning("So.");
        let streamed = answer(kind, turn()).await;
        let whole = answer(kind, turn().without_streaming()).await;
        assert_eq!(streamed, whole, "{kind:?}");
    }
}

#[tokio::test]
async fn stop_reasons() {
    for kind in KINDS {
        assert!(answer(kind, Turn::text("x").truncated()).await.ends_with("stop: MaxTokens"), "{kind:?}");
        assert!(answer(kind, Turn::text("x").refused()).await.ends_with("stop: Refusal"), "{kind:?}");
    }
}

#[tokio::test]
async fn pieces_come_out_as_they_come_in() {
    for kind in KINDS {
        let server = ModelServer::start();
        let (turn, gate) = Turn::text("abcdef").chunk_size(2).gated();
        server.script([turn]);
        let mut stream = model(&server, kind).stream(hello());
        let mut seen = Vec::new();
        // Events without text give nothing, so they are let through one by one until the next piece is there.
        while seen.len() < 3 {
            gate.release(1);
            match tokio::time::timeout(Duration::from_millis(20), stream.next()).await {
                Ok(Some(Ok(Delta::Text(text)))) => seen.push(text),
                Ok(other) => panic!("{other:?}"),
                Err(_) => {}
            }
        }
        assert_eq!(seen, ["ab", "cd", "ef"], "{kind:?}");
    }
}

#[tokio::test]
async fn every_way_of_cutting_the_body_gives_the_same_answer() {
    for kind in KINDS {
        let turn =
            || Turn::calls([call("bash", json!({ "command": "é漢😀" }))]).with_text("Ünï").chunk_size(5);
        let whole = answer(kind, turn()).await;
        for size in [1, 2, 3, 7, 64, 1000] {
            assert_eq!(answer(kind, turn().write_size(size)).await, whole, "{kind:?} in writes of {size}");
        }
    }
}

#[tokio::test]
async fn liberties_of_compatible_servers() {
    // No numbers; an object as arguments; `stop` after calls; a name in every piece; text in parts; usage on a choice.
    let turn = Turn::raw_sse([
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"Hi"}],"reasoning":"Hm"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"x","arguments":{"p":1}}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"y","arguments":"{\"q\""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":":2}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":4}}]}"#,
    ]);
    expect![[r#"
        reasoning: Hm
        reasoning end
        text: Hi
        call 0 start: x
        call 0: {"p":1}
        call 1 start: y
        call 1: {"q":2}
        call 0 end
        call 1 end
        usage: in 5 out 2 read 4 write 0 cost 0.0000094
        stop: ToolCalls"#]]
    .assert_eq(&answer(ProviderKind::OpenaiChat, turn).await);
    // The same number for every call.
    let turn = Turn::raw_sse([
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":"{}"}}]}}]}"#,
        "[DONE]",
    ]);
    let text = answer(ProviderKind::OpenaiChat, turn).await;
    assert!(text.contains("call 1 start: y") && text.ends_with("stop: ToolCalls"), "{text}");
    // No numbers, and an id of its own for every piece.
    let turn = Turn::raw_sse([
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{\"p\""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"arguments":":1}"}}]}}]}"#,
        "[DONE]",
    ]);
    let text = answer(ProviderKind::OpenaiChat, turn).await;
    assert!(text.contains(r#"call 0: {"p":1}"#) && !text.contains("call 1"), "{text}");
}

#[tokio::test]
async fn reasoning_in_the_text_of_a_local_model_is_reasoning() {
    let turn = || {
        Turn::calls([call("bash", json!({ "command": "ls" }))])
            .with_text("<think>\nI should look.\n</think>\n\nLet me look.")
    };
    let expected = expect![[r#"
        reasoning: I should look.
        reasoning end
        text: Let me look.
        call 0 start: bash
        call 0: {"command":"ls"}
        call 0 end
        usage: in 10 out 5 read 0 write 0 cost 0.0000200
        stop: ToolCalls"#]];
    for size in [1, 4, 1000] {
        expected.assert_eq(&answer(ProviderKind::OpenaiChat, turn().chunk_size(size)).await);
    }
    expected.assert_eq(&answer(ProviderKind::OpenaiChat, turn().without_streaming()).await);
}

#[tokio::test]
async fn redacted_thinking_is_kept() {
    let turn = Turn::raw_sse([
        r#"{"type":"message_start","message":{"usage":{"input_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"xyz"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let text = answer(ProviderKind::Anthropic, turn).await;
    assert!(text.starts_with(r#"reasoning end: {"anthropic":{"redacted":"xyz"}}"#), "{text}");
}

#[tokio::test]
async fn one_connection_serves_all_requests() {
    for kind in KINDS {
        let server = ModelServer::start();
        server.respond_with(|_| Turn::text("ok"));
        let model = model(&server, kind);
        for _ in 0..5 {
            let (deltas, error) = collect(&model, hello()).await;
            assert_eq!(error, None);
            assert_eq!(deltas.last(), Some(&Delta::Stop(StopReason::EndTurn)));
        }
        assert_eq!(server.connections(), 1, "{kind:?}");
    }
}
