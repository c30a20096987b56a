//! Calls over lines: results, errors, progress, cancel, logging, in each version of the protocol.

use std::sync::atomic::Ordering;

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_mcp::WorkspaceChoice;

use crate::line_client::LineClient;
use crate::test_server::{WAITING, server, server_with};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[tokio::test]
async fn tools_are_listed_small_and_in_order() {
    let server = server();
    let mut client = LineClient::connect(&server, "2025-06-18", json!({})).await;
    let listed = client.ask("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted() && !names.contains(&"test_hidden"), "{names:?}");
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    expect![[r#"{"name":"test_structured","description":"A tool for tests: test_structured.","inputSchema":{"type":"object","properties":{}},"outputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},"annotations":{"title":"Test structured","readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}"#]]
    .assert_eq(&tool("test_structured").to_string());
    expect![[r#"{"title":"Test wait","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}"#]]
    .assert_eq(&tool("test_wait")["annotations"].to_string());
    assert!(tool("test_simple_text").get("outputSchema").is_none(), "a text is told once");
    client.close().await.unwrap();
}

#[tokio::test]
async fn results_have_the_form_their_tool_has() {
    let server = server();
    for version in VERSIONS {
        let mut client = LineClient::connect(&server, version, json!({})).await;
        let plain = client.call("test_simple_text", json!({})).await;
        expect![[r#"{"content":[{"type":"text","text":"This is a simple text response for testing."}],"isError":false}"#]]
            .assert_eq(&plain["result"].to_string());
        let structured = client.call("test_structured", json!({})).await;
        expect![[r#"{"content":[{"type":"text","text":"{\"text\":\"two\\nlines\"}"}],"structuredContent":{"text":"two\nlines"},"isError":false}"#]]
        .assert_eq(&structured["result"].to_string());
        let failed = client.call("test_error_handling", json!({})).await;
        expect![[r#"{"content":[{"type":"text","text":"{\"status\":\"error\",\"message\":\"This tool intentionally returns an error for testing\"}"}],"isError":true}"#]]
        .assert_eq(&failed["result"].to_string());
        let image = client.call("test_image_content", json!({})).await;
        assert_eq!(image["result"]["content"][1]["type"], "image", "{image}");
        let large = client.call("test_large", json!({})).await;
        let text = large["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("too many to give") && text.contains("the whole is in"), "{text}");
        assert!(large["result"]["isError"] == true && large.to_string().len() < 100_000, "{text}");
        client.close().await.unwrap();
    }
    let mut client = LineClient::modern(&server);
    let plain = client.call("test_simple_text", json!({})).await;
    assert_eq!(plain["result"]["resultType"], "complete", "{plain}");
    let discovered = client.ask("server/discover", json!({})).await;
    assert_eq!(discovered["result"]["supportedVersions"].as_array().map(Vec::len), Some(5), "{discovered}");
    client.close().await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_done_is_told() {
    let server = server();
    let mut client = LineClient::connect(&server, "2025-06-18", json!({})).await;
    let table = [
        ("tools/call", json!({"name": "test_simple_txt"}), -32602, "did you mean test_simple_text?"),
        ("tools/call", json!({"name": "test_hidden"}), -32602, "--tools debug,files,shell"),
        ("tools/call", json!({"name": "nothing_like_it_at_all"}), -32602, "tools/list"),
        ("tools/call", json!({}), -32602, "it takes `name`"),
        ("tools/call", json!({"name": 5}), -32602, "it takes `name`"),
        ("tools/call", json!({"name": "test_wait", "requestState": "x"}), -32602, "no call waits"),
        ("prompts/get", json!({"name": "nothing"}), -32602, "test_simple_prompt"),
        ("prompts/get", json!({"name": "test_prompt_with_arguments"}), -32602, "`arg1` is missing"),
        ("resources/read", json!({"uri": "test://nothing"}), -32002, "test://nothing"),
        ("no/such/method", json!({}), -32601, "no/such/method"),
        ("logging/setLevel", json!({"level": "loud"}), -32602, "level"),
    ];
    for (method, params, code, words) in table {
        let answer = client.ask(method, params.clone()).await;
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{method} {params}: {answer}");
    }
    // Arguments that do not fit are for the model to mend.
    let wrong = client.call("test_reach", json!({"paht": "/ws/a.txt"})).await;
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    client.close().await.unwrap();
}

#[tokio::test]
async fn lines_that_are_no_messages_are_answered_and_passed_over() {
    let server = server();
    let mut client = LineClient::connect(&server, "2025-06-18", json!({})).await;
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"{}\"}}", "x".repeat(9 * 1024 * 1024));
    let table = [
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"meth", -32700, "no JSON"),
        ("garbage", -32700, "no JSON"),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, "batches"),
        ("{\"id\": 3, \"method\": \"ping\"}", -32600, "\"2.0\""),
        ("\u{0}\u{1}", -32700, "no JSON"),
        ("true", -32600, "no JSON-RPC request"),
        (long.as_str(), -32600, "at most"),
    ];
    for (line, code, words) in table {
        let sent: String = line.chars().take(40).collect();
        client.send_text(line).await;
        let answer = client.next().await;
        assert_eq!(answer["error"]["code"], code, "{sent}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{sent}: {answer}");
    }
    client.send_text("").await;
    let alive = client.call("test_simple_text", json!({})).await;
    assert_eq!(alive["result"]["isError"], false, "{alive}");
    client.close().await.unwrap();
}

#[tokio::test]
async fn progress_is_told_where_it_is_wanted() {
    let server = server();
    let mut client = LineClient::connect(&server, "2025-11-25", json!({})).await;
    let params = json!({"name": "test_tool_with_progress", "_meta": {"progressToken": "p1"}});
    let id = client.request("tools/call", params).await;
    let (_, before) = client.answer_to(id).await;
    let told: Vec<(&Value, &Value)> =
        before.iter().map(|note| (&note["params"]["message"], &note["params"]["progressToken"])).collect();
    assert_eq!(
        told,
        [
            (&json!("0 of 100"), &json!("p1")),
            (&json!("50 of 100"), &json!("p1")),
            (&json!("100 of 100"), &json!("p1"))
        ]
    );
    let counts: Vec<f64> = before.iter().map(|note| note["params"]["progress"].as_f64().unwrap()).collect();
    assert!(counts.is_sorted(), "{counts:?}");
    let id = client.request("tools/call", json!({"name": "test_tool_with_progress"})).await;
    assert!(client.answer_to(id).await.1.is_empty(), "nobody asked");
    client.close().await.unwrap();
}

#[tokio::test]
async fn the_logging_level_is_honoured() {
    let server = server();
    let mut client = LineClient::connect(&server, "2025-06-18", json!({})).await;
    let notes = async |client: &mut LineClient| {
        let id = client.request("tools/call", json!({"name": "test_tool_with_logging"})).await;
        client.answer_to(id).await.1.len()
    };
    assert_eq!(notes(&mut client).await, 3);
    client.ask("logging/setLevel", json!({"level": "warning"})).await;
    assert_eq!(notes(&mut client).await, 0);
    client.ask("logging/setLevel", json!({"level": "debug"})).await;
    assert_eq!(notes(&mut client).await, 3);
    client.close().await.unwrap();
}

/// Waits until a call of `test_wait` runs.
async fn waiting(client: &mut LineClient) {
    let started = client.next().await;
    assert_eq!(started["params"]["message"], "waiting", "{started}");
}

#[tokio::test]
async fn calls_end_with_whoever_wanted_them() {
    let server = server();
    let wait = |token: &str| json!({"name": "test_wait", "_meta": {"progressToken": token}});
    let mut client = LineClient::connect(&server, "2025-06-18", json!({})).await;
    // A cancel ends the call; nothing is answered, and others go on.
    let id = client.request("tools/call", wait("a")).await;
    waiting(&mut client).await;
    assert_eq!(WAITING.load(Ordering::SeqCst), 1);
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"})).await;
    let other = client.call("test_simple_text", json!({})).await;
    assert_eq!(other["result"]["isError"], false);
    // One that is silent says that it still runs.
    let id = client.request("tools/call", wait("quiet")).await;
    waiting(&mut client).await;
    let beat = client.next().await;
    assert!(beat["params"]["message"].as_str().unwrap().starts_with("still running after"), "{beat}");
    client.notify("notifications/cancelled", json!({"requestId": id})).await;
    // Calls side by side.
    let ids = [client.request("tools/call", wait("b")).await, client.request("tools/call", wait("c")).await];
    waiting(&mut client).await;
    waiting(&mut client).await;
    let between = client.call("test_simple_text", json!({})).await;
    assert_eq!(between["result"]["isError"], false, "{ids:?}");
    // A client that goes takes its calls along.
    client.close().await.unwrap();
    server.finish().await;
    assert_eq!(WAITING.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn more_calls_than_can_wait_are_refused() {
    let server = server();
    let mut client = LineClient::connect(&server, "2025-06-18", json!({})).await;
    for _ in 0..600 {
        client.request("tools/call", json!({"name": "test_wait"})).await;
    }
    let refused = client.next().await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("too many calls"), "{refused}");
    assert!(WAITING.load(Ordering::SeqCst) <= 64);
    // What is no call is answered all the same.
    let id = client.request("ping", json!({})).await;
    client.answer_to(id).await;
    client.stop.cancel();
    client.close().await.unwrap();
    server.finish().await;
    assert_eq!(WAITING.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_stop_ends_the_server() {
    let server = server();
    let client = LineClient::connect(&server, "2025-06-18", json!({})).await;
    client.stop.cancel();
    client.close().await.unwrap();
    // One that never said a word.
    let silent = LineClient::modern(&server);
    silent.close().await.unwrap();
}

#[tokio::test]
async fn the_first_root_is_the_workspace_and_changes_are_followed() {
    let first = tempfile::tempdir().unwrap();
    let second = tempfile::tempdir().unwrap();
    let server = server_with(WorkspaceChoice::FirstRoot);
    let mut client =
        LineClient::connect(&server, "2025-06-18", json!({"roots": {"listChanged": true}})).await;
    for folder in [&first, &second] {
        let asked = client.next().await;
        assert_eq!(asked["method"], "roots/list", "{asked}");
        let roots = json!([
            {"uri": "file:///no/such/folder"},
            {"uri": format!("file://{}", folder.path().display()), "name": "work"},
        ]);
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}})).await;
        // What lies in the root is written without asking; what lies beside it is not.
        let inside = client.call("test_reach", json!({"path": folder.path().join("a.txt")})).await;
        assert_eq!(inside["result"]["isError"], false, "{inside}");
        let outside = client.call("test_reach", json!({"path": "/elsewhere/a.txt"})).await;
        assert_eq!(outside["result"]["isError"], true, "{outside}");
        client.notify("notifications/roots/list_changed", json!({})).await;
    }
    client.close().await.unwrap();
}
