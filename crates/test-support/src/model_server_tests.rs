//! The fake itself, asked over plain sockets.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::*;

/// Posts a body and reads until the server closes or the body ends.
fn post(server: &ModelServer, path: &str, body: &Value) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let body = body.to_string();
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut out = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => out.extend_from_slice(&buffer[..count]),
        }
        if out.ends_with(b"0\r\n\r\n") {
            break;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[test]
fn speaks_every_format() {
    let server = ModelServer::start();
    let turn = || Turn::calls([call("bash", json!({ "command": "ls" }))]).with_text("Look:").chunk_size(100);
    server.script([turn(), turn(), turn(), turn()]);
    for (path, sign) in [
        ("/v1/chat/completions", "\"finish_reason\":\"tool_calls\""),
        ("/v1/responses", "event: response.completed"),
        ("/v1/messages", "\"stop_reason\":\"tool_use\""),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", "\"finishReason\":\"STOP\""),
    ] {
        let answer = post(&server, path, &json!({ "model": "m" }));
        assert!(answer.contains(sign), "{path}: {answer}");
        assert!(answer.contains("Look:") && answer.contains("bash"), "{path}: {answer}");
    }
    assert_eq!(server.requests().len(), 4);
    assert!(server.requests().iter().all(|request| request.model() == "m"));
    server.finish();
}

#[test]
fn an_unscripted_request_fails_loudly() {
    let server = ModelServer::start();
    let answer = post(&server, "/v1/messages", &json!({}));
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    assert!(answer.contains("has no scripted turn"), "{answer}");
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.finish())).is_err());
}

#[test]
fn an_unused_turn_fails_the_test() {
    let server = ModelServer::start();
    server.script([Turn::text("never asked")]);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.finish())).is_err());
}

#[test]
fn a_dropped_connection_ends_where_it_was_told_to() {
    let server = ModelServer::start();
    server.script([Turn::garbage("0123456789").drop_after_bytes(4)]);
    let answer = post(&server, "/v1/messages", &json!({}));
    assert!(answer.ends_with("4\r\n0123\r\n"), "{answer}");
}

#[test]
fn a_closure_answers_what_the_script_does_not() {
    let server = ModelServer::start();
    server.script([Turn::text("first")]);
    server
        .respond_with(|request| Turn::text(format!("you said {}", request.last_user_text())).chunk_size(100));
    let body = json!({ "messages": [{ "role": "user", "content": "hi" }] });
    assert!(post(&server, "/v1/chat/completions", &body).contains("first"));
    assert!(post(&server, "/v1/chat/completions", &body).contains("you said hi"));
    server.finish();
}

#[test]
fn a_gate_holds_pieces_back() {
    let server = ModelServer::start();
    let (turn, gate) = Turn::raw_sse(["one", "two"]).gated();
    server.script([turn]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"POST /v1/messages HTTP/1.1\r\ncontent-length: 0\r\n\r\n").unwrap();
    server.wait_for_requests(1, Duration::from_secs(5));
    gate.release(1);
    let mut seen = String::new();
    let mut buffer = [0; 1024];
    while !seen.contains("one") {
        let count = stream.read(&mut buffer).unwrap();
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    assert!(!seen.contains("two"));
    gate.open();
    while !seen.contains("0\r\n\r\n") {
        let count = stream.read(&mut buffer).unwrap();
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    assert!(seen.contains("two"));
}

#[test]
fn errors_take_the_form_of_the_format() {
    let server = ModelServer::start();
    let turn = || Turn::error(429, "slow down").retry_after("3");
    server.script([turn(), turn(), turn()]);
    let chat = post(&server, "/v1/chat/completions", &json!({}));
    assert!(chat.starts_with("HTTP/1.1 429") && chat.contains("retry-after: 3"), "{chat}");
    assert!(post(&server, "/v1/messages", &json!({})).contains("rate_limit_error"));
    assert!(
        post(&server, "/v1beta/models/m:streamGenerateContent", &json!({})).contains("RESOURCE_EXHAUSTED")
    );
}
