//! Questions to the person through the client, in both styles, and without any.

use serde_json::{Value, json};

use crate::line_client::LineClient;
use crate::test_server::server;

const OUTSIDE: &str = "/elsewhere/a.txt";

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// Answers `elicitation/create` with this result.
async fn elicited(client: &mut LineClient, result: Value) -> String {
    let asked = client.next().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).await;
    asked["params"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn older_clients_are_asked_by_elicitation() {
    let server = server();
    for version in ["2025-06-18", "2025-11-25"] {
        let mut client = LineClient::connect(&server, version, json!({"elicitation": {}})).await;
        let yes = json!({"action": "accept", "content": {"answer": "yes, this once"}});
        let table = [
            (yes, false),
            (json!({"action": "decline"}), true),
            (json!({"action": "accept", "content": {}}), true),
        ];
        for (result, refused) in table {
            let params = json!({"name": "test_reach", "arguments": {"path": OUTSIDE}});
            let id = client.request("tools/call", params).await;
            let message = elicited(&mut client, result.clone()).await;
            assert!(message.contains(OUTSIDE), "{message}");
            let (answer, _) = client.answer_to(id).await;
            assert_eq!(answer["result"]["isError"], refused, "{result}: {answer}");
        }
        // The twin: what stays inside is not asked about.
        let inside = client.call("test_reach", json!({"path": "/ws/a.txt"})).await;
        assert_eq!(inside["result"]["isError"], false, "{inside}");
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_cannot_ask_gets_a_refusal_with_a_way_out() {
    let server = server();
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let mut client = LineClient::connect(&server, "2025-11-25", capabilities).await;
        let refused = client.call("test_reach", json!({"path": OUTSIDE})).await;
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert!(text(&refused).contains("The person can"), "{refused}");
        let inside = client.call("test_reach", json!({"path": "/ws/a.txt"})).await;
        assert_eq!(inside["result"]["isError"], false, "{inside}");
        client.close().await.unwrap();
    }
}

/// Makes the call of a result that needs input once more, with an answer.
async fn answered(client: &mut LineClient, call: &Value, asked: &Value, responses: Value) -> Value {
    let mut params = call.clone();
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = responses;
    client.ask("tools/call", params).await
}

#[tokio::test]
async fn newer_clients_are_asked_by_their_next_request() {
    let server = server();
    let mut client = LineClient::modern(&server);
    let call = json!({"name": "test_reach", "arguments": {"path": OUTSIDE}});
    let yes = json!({"answer": {"action": "accept", "content": {"answer": "yes, this once"}}});
    let asked = client.ask("tools/call", call.clone()).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let form = &asked["result"]["inputRequests"]["answer"];
    assert_eq!(form["method"], "elicitation/create", "{asked}");
    assert!(form["params"]["message"].as_str().unwrap().contains(OUTSIDE), "{asked}");
    // Another call, a wrong word and no answer do not take the place of an answer.
    let other = json!({"name": "test_reach", "arguments": {"path": "/elsewhere/b.txt"}});
    let wrong = answered(&mut client, &other, &asked, yes.clone()).await;
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let mut guessed = asked.clone();
    guessed["result"]["requestState"] = json!("00000000000000000000000000000000");
    let wrong = answered(&mut client, &call, &guessed, yes.clone()).await;
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let again = answered(&mut client, &call, &asked, json!({"other": {}})).await;
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    assert_ne!(again["result"]["requestState"], asked["result"]["requestState"]);
    let done = answered(&mut client, &call, &again, yes.clone()).await;
    assert_eq!(done["result"]["isError"], false, "{done}");
    // A word is good once.
    let twice = answered(&mut client, &call, &again, yes).await;
    assert_eq!(twice["error"]["code"], -32602, "{twice}");
    let asked = client.ask("tools/call", call.clone()).await;
    let no = json!({"answer": {"action": "decline"}});
    let refused = answered(&mut client, &call, &asked, no).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_call_may_ask_more_than_once() {
    let server = server();
    let call = json!({"name": "test_two_questions", "arguments": {}});
    let word = |word: &str| json!({"action": "accept", "content": {"answer": word}});
    let mut client = LineClient::modern(&server);
    let first = client.ask("tools/call", call.clone()).await;
    let second = answered(&mut client, &call, &first, json!({"answer": word("one")})).await;
    assert_eq!(second["result"]["resultType"], "input_required", "{second}");
    let done = answered(&mut client, &call, &second, json!({"answer": word("two")})).await;
    assert_eq!(text(&done), "one and two", "{done}");
    client.close().await.unwrap();

    let mut client = LineClient::connect(&server, "2025-11-25", json!({"elicitation": {"form": {}}})).await;
    let id = client.request("tools/call", call.clone()).await;
    elicited(&mut client, word("one")).await;
    elicited(&mut client, word("two")).await;
    let (done, _) = client.answer_to(id).await;
    assert_eq!(text(&done), "one and two", "{done}");
    client.close().await.unwrap();

    let mut client = LineClient::connect(&server, "2025-11-25", json!({})).await;
    let done = client.ask("tools/call", call).await;
    assert_eq!(text(&done), "nothing and nothing", "{done}");
    client.close().await.unwrap();
}
