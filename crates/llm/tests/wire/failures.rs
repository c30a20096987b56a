//! Everything that goes wrong between a request and the end of its answer.

use std::time::Duration;

use futures::StreamExt;
use serde_json::json;
use stepwell_llm::{Delta, ProviderKind, RetryPolicy, StopReason};
use stepwell_protocol::ErrorKind;
use stepwell_test_support::{ModelServer, Turn, call};

use crate::support::{KEY, KINDS, base_url, collect, hello, model, model_at, retrying_model, told};

async fn failure(kind: ProviderKind, turn: Turn) -> stepwell_llm::Error {
    let server = ModelServer::start();
    server.script([turn]);
    let (_, error) = collect(&model(&server, kind), hello()).await;
    error.expect("an error")
}

#[tokio::test]
async fn refusals_have_their_cause_in_every_format() {
    for kind in KINDS {
        for (status, message, expected) in [
            (401, "wrong key", ErrorKind::LlmAuthentication),
            (403, "not yours", ErrorKind::LlmAuthentication),
            (404, "no such model", ErrorKind::LlmUnknownModel),
            (400, "prompt is too long: 9 > 8", ErrorKind::LlmContextTooLong),
            (413, "too large", ErrorKind::LlmContextTooLong),
            (429, "slow down", ErrorKind::LlmRateLimit),
            (503, "busy", ErrorKind::LlmRateLimit),
            (529, "overloaded", ErrorKind::LlmRateLimit),
            (500, "oops", ErrorKind::LlmConnection),
            (400, "what?", ErrorKind::LlmProtocol),
        ] {
            let error = failure(kind, Turn::error(status, message)).await;
            assert_eq!(error.kind, expected, "{kind:?} {status}: {error}");
            assert!(error.to_string().contains(message), "{kind:?} {status}: {error}");
        }
        let error = failure(kind, Turn::error(429, "slow down").retry_after("7")).await;
        assert_eq!(error.retry_after, Some(Duration::from_secs(7)), "{kind:?}");
    }
}

#[tokio::test]
async fn an_error_inside_the_stream_is_an_error() {
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    for (kind, event, expected) in [
        (ProviderKind::Anthropic, overloaded, ErrorKind::LlmRateLimit),
        (
            ProviderKind::OpenaiChat,
            r#"{"error":{"message":"upstream died","code":502}}"#,
            ErrorKind::LlmConnection,
        ),
        (
            ProviderKind::OpenaiResponses,
            r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"x"}}}"#,
            ErrorKind::LlmConnection,
        ),
        (
            ProviderKind::Gemini,
            r#"{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}"#,
            ErrorKind::LlmRateLimit,
        ),
    ] {
        let error = failure(kind, Turn::raw_sse([event])).await;
        assert_eq!(error.kind, expected, "{kind:?}: {error}");
        // The same as a whole answer with status 200.
        let error = failure(kind, Turn::raw(200, "application/json", event)).await;
        assert_eq!(error.kind, expected, "{kind:?}: {error}");
    }
}

#[tokio::test]
async fn garbage_is_named() {
    for kind in KINDS {
        let error = failure(kind, Turn::raw_sse(["this is no JSON"])).await;
        assert_eq!(error.kind, ErrorKind::LlmProtocol, "{kind:?}: {error}");
        assert!(error.to_string().contains("this is no JSON"), "{kind:?}: {error}");
        let error = failure(kind, Turn::raw(200, "text/html", "<html><body>Log in</body></html>")).await;
        assert!(error.to_string().contains("HTML page") && error.to_string().contains("Log in"), "{error}");
        let error = failure(kind, Turn::raw(200, "application/json", "{\"half\":")).await;
        assert_eq!(error.kind, ErrorKind::LlmProtocol, "{kind:?}: {error}");
        let error = failure(kind, Turn::garbage("")).await;
        assert_eq!(error.kind, ErrorKind::LlmConnection, "{kind:?}: {error}");
        let error = failure(kind, Turn::raw(302, "text/plain", "moved").header("location", "/x")).await;
        assert_eq!(error.kind, ErrorKind::LlmProtocol, "{kind:?}: {error}");
        assert!(error.to_string().contains("redirects (302) to http://127.0.0.1:"), "{error}");
        for (body, expected) in [
            (&b"\x28\xb5\x2f\xfd\x04"[..], "28 b5 2f fd 04"),
            (b"\x00\x01\x02\x03", "bytes 00 01 02 03"),
            (b"hello, this is a web server\n", "\"hello, this is a web server\""),
        ] {
            let error = failure(kind, Turn::garbage(body)).await;
            assert_eq!(error.kind, ErrorKind::LlmProtocol, "{kind:?}: {error}");
            assert!(error.to_string().contains(expected), "{kind:?}: {error}");
        }
        let error = failure(kind, Turn::garbage("data: x").header("content-encoding", "br")).await;
        assert_eq!(error.kind, ErrorKind::LlmProtocol, "{kind:?}: {error}");
        assert!(error.to_string().contains("compressed with `br`"), "{kind:?}: {error}");
    }
}

/// `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}` and an empty line, as gzip writes it.
const COMPRESSED: &[u8] = &[
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x0d, 0xc8, 0xc1, 0x09, 0x80, 0x30, 0x0c,
    0x05, 0xd0, 0x7b, 0xa7, 0x90, 0x7f, 0x76, 0x82, 0xac, 0x22, 0x22, 0xa1, 0x8d, 0x34, 0x20, 0x89, 0x98,
    0xdc, 0x4a, 0x77, 0xb7, 0xef, 0xf8, 0x1a, 0x27, 0xd3, 0x36, 0x50, 0xbb, 0x6b, 0x95, 0x00, 0x1d, 0x03,
    0x4d, 0x9e, 0x64, 0xd0, 0x4a, 0xb7, 0x14, 0x4b, 0x10, 0xba, 0x62, 0xee, 0xb8, 0xd5, 0x34, 0xfa, 0xf5,
    0x09, 0x87, 0xdb, 0xda, 0x48, 0x7f, 0x31, 0xcf, 0x59, 0xca, 0x0f, 0x36, 0x14, 0x47, 0xbf, 0x47, 0x00,
    0x00, 0x00,
];

#[tokio::test]
async fn an_answer_that_is_compressed_unasked_is_understood() {
    let server = ModelServer::start();
    server.script([Turn::garbage(COMPRESSED).header("content-encoding", "gzip")]);
    let (deltas, error) = collect(&model(&server, ProviderKind::OpenaiChat), hello()).await;
    assert_eq!((told(&deltas).as_str(), error), ("text: hi\nstop: EndTurn", None));
    assert_eq!(server.last_request().header("accept-encoding"), Some("identity"));
}

/// What was said, without retries and without counts: those follow the end of an answer and may be lost alone.
fn answer_of(deltas: &[Delta]) -> String {
    let said = deltas.iter().filter(|delta| !matches!(delta, Delta::Retrying { .. } | Delta::Usage(_)));
    told(&said.cloned().collect::<Vec<_>>())
}

#[tokio::test]
async fn a_stream_cut_at_any_byte_is_noticed_and_repeated() {
    for kind in KINDS {
        let turn =
            || Turn::calls([call("bash", json!({ "command": "ls" })).with_id("call_1")]).with_text("Hi");
        let server = ModelServer::start();
        server.script([turn()]);
        let (whole, _) = collect(&model(&server, kind), hello()).await;
        let whole = answer_of(&whole);
        let model = retrying_model(&server, kind);
        // Close together in the short format, a sample of the long ones.
        let step = if kind == ProviderKind::OpenaiChat { 5 } else { 41 };
        for cut in (0..4000).step_by(step) {
            server.script([turn().drop_after_bytes(cut), turn()]);
            let before = server.requests().len();
            let (deltas, error) = collect(&model, hello()).await;
            assert_eq!(error, None, "{kind:?} cut at {cut}");
            let last_start =
                deltas.iter().rposition(|delta| *delta == Delta::Restarted).map_or(0, |at| at + 1);
            let rest = answer_of(&deltas[last_start..]);
            assert_eq!(rest, whole, "{kind:?} cut at {cut}");
            if server.requests().len() == before + 1 {
                // The cut came after the end of the answer; nothing was lost.
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_broken_answer_restarts() {
    for kind in KINDS {
        let server = ModelServer::start();
        server.script([
            Turn::text("Hello world, this is long").chunk_size(5).drop_after_bytes(900),
            Turn::error(503, "busy"),
            Turn::text("Hello again"),
        ]);
        let (deltas, error) = collect(&retrying_model(&server, kind), hello()).await;
        assert_eq!(error, None, "{kind:?}");
        let text = told(&deltas);
        let retries: Vec<&str> = text.lines().filter(|line| line.starts_with("retrying")).collect();
        assert_eq!(retries.len(), 2, "{kind:?}: {text}");
        assert!(retries[0].starts_with("retrying: 1/3") && retries[1].starts_with("retrying: 1/5"), "{text}");
        assert!(text.contains("\nrestarted\ntext: Hello again\n"), "{kind:?}: {text}");
        server.finish();
    }
}

#[tokio::test]
async fn silence_is_a_lost_connection() {
    for kind in KINDS {
        let server = ModelServer::start();
        let long = Turn::text("x".repeat(400)).chunk_size(4);
        server.script([long.stall_after_bytes(1000), Turn::text("Hello")]);
        let (deltas, error) = collect(&retrying_model(&server, kind), hello()).await;
        assert_eq!(error, None, "{kind:?}");
        assert!(told(&deltas).contains("sent nothing for 0.2 s"), "{kind:?}: {}", told(&deltas));
        assert_eq!(deltas.last(), Some(&Delta::Stop(StopReason::EndTurn)));
    }
}

#[tokio::test]
async fn nobody_listening_is_said_with_the_address() {
    let address = {
        let server = ModelServer::start();
        base_url(&server, ProviderKind::OpenaiChat)
    };
    let policy = RetryPolicy::IMMEDIATE;
    let (deltas, error) =
        collect(&model_at(address.clone(), ProviderKind::OpenaiChat, policy), hello()).await;
    let error = error.unwrap();
    assert_eq!(deltas.len(), 3);
    assert_eq!(error.kind, ErrorKind::LlmConnection);
    assert!(error.to_string().contains("nothing listens at 127.0.0.1:"), "{error}");
    assert!(error.hint.unwrap().contains("base_url"));
}

#[tokio::test]
async fn the_key_goes_out_and_never_comes_back() {
    for kind in KINDS {
        let server = ModelServer::start();
        server.script([
            Turn::error(400, &format!("bad key {KEY}")),
            Turn::raw_sse([format!("{KEY} is no JSON")]),
        ]);
        let model = model(&server, kind);
        for _ in 0..2 {
            let (_, error) = collect(&model, hello()).await;
            let error = error.unwrap();
            assert!(!format!("{error:?}").contains(KEY), "{kind:?}: {error:?}");
            assert!(error.to_string().contains("[key]"), "{kind:?}: {error}");
        }
        let request = server.last_request();
        assert!(request.headers.iter().any(|(_, value)| value.contains(KEY)), "{kind:?}");
        assert!(!request.path.contains(KEY) && !request.body.to_string().contains(KEY), "{kind:?}");
    }
}

#[tokio::test]
async fn odd_bytes_and_long_lines_are_borne() {
    let server = ModelServer::start();
    let mut event = br#"data: {"choices":[{"delta":{"content":"a"#.to_vec();
    event.extend_from_slice(&[0xff, 0xfe]);
    event.extend_from_slice(b"b\"},\"finish_reason\":\"stop\"}]}\n\n");
    let long = "x".repeat(1_000_000);
    server.script([Turn::garbage(event), Turn::text(long.clone()).chunk_size(2_000_000)]);
    let model = model(&server, ProviderKind::OpenaiChat);
    let (deltas, error) = collect(&model, hello()).await;
    assert_eq!((told(&deltas).as_str(), error), ("text: a\u{fffd}\u{fffd}b\nstop: EndTurn", None));
    let (deltas, error) = collect(&model, hello()).await;
    assert_eq!(error, None);
    assert_eq!(deltas[0], Delta::Text(long));
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let server = ModelServer::start();
    let (turn, gate) = Turn::text("abcdefgh").chunk_size(1).gated();
    server.script([turn]);
    let mut stream = model(&server, ProviderKind::OpenaiChat).stream(hello());
    gate.release(2);
    assert_eq!(stream.next().await.unwrap().unwrap(), Delta::Text("a".into()));
    drop(stream);
    // The server's writes fail once the client is gone; it takes the next connection all the same.
    gate.open();
    server.script([Turn::text("next")]);
    let (deltas, error) = collect(&model(&server, ProviderKind::OpenaiChat), hello()).await;
    assert_eq!(error, None);
    assert_eq!(deltas[0], Delta::Text("next".into()));
}
