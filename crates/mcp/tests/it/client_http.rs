//! The client over HTTP, in both forms, with this program's own server on the other side.

use std::sync::Arc;

use serde_json::json;
use stepwell_mcp::client::{Origin, ServerState};
use stepwell_mcp::http::{Hosts, HttpOptions, Token, serve};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::client_world::{ClientWorld, Person};
use crate::test_server::server;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Serves the test tools on a free port and gives its address.
async fn serving(stop: &CancellationToken) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (server, stop) = (server(), stop.clone());
    tokio::spawn(async move {
        let options = HttpOptions::new(Token::new(TOKEN).unwrap(), Hosts::Loopback);
        Box::pin(serve(&server, listener, &options, stop)).await.unwrap();
    });
    format!("http://{address}")
}

fn entry(kind: &str, url: &str, token: &str) -> stepwell_mcp::client::ServerEntry {
    let headers = json!({"Authorization": format!("Bearer {token}")});
    serde_json::from_value(json!({"type": kind, "url": url, "headers": headers})).unwrap()
}

#[tokio::test]
async fn tools_are_called_over_streamable_http_and_sse() {
    let stop = CancellationToken::new();
    let address = serving(&stop).await;
    let world = ClientWorld::new();
    world.servers.apply(vec![
        world.config("new", &entry("http", &format!("{address}/mcp"), TOKEN), Origin::Project),
        world.config("old", &entry("sse", &format!("{address}/sse"), TOKEN), Origin::Project),
    ]);
    world.servers.settled().await;
    for server in ["new", "old"] {
        let person = Arc::new(Person::default());
        let name = format!("mcp__{server}__test_simple_text");
        let outcome = world.call(&person, &name, json!({})).await;
        assert!(
            outcome.result.output.contains("a simple text response"),
            "{server}: {}",
            outcome.result.output
        );
        let request = person.approvals.lock()[0].clone();
        let host = address.strip_prefix("http://").unwrap();
        assert_eq!(request.preview.hosts, [host], "rules about hosts see where the call goes");
        let outcome = world.call(&person, &format!("mcp__{server}__test_image_content"), json!({})).await;
        assert_eq!(outcome.result.images.len(), 1, "{server}");
        let arguments = json!({"server_name": server, "uri": "test://static-text"});
        assert!(
            world.text("access_mcp_resource", arguments).await.contains("static text resource"),
            "{server}"
        );
    }
    stop.cancel();
}

#[tokio::test]
async fn a_server_that_refuses_the_token_asks_for_a_login() {
    let stop = CancellationToken::new();
    let address = serving(&stop).await;
    let world = ClientWorld::new();
    let wrong = entry("http", &format!("{address}/mcp"), "wrong");
    world.servers.apply(vec![world.config("new", &wrong, Origin::User)]);
    world.servers.settled().await;
    assert!(matches!(world.state(), ServerState::NeedsLogin));
    let told = world.text("use_mcp_tool", json!({"server_name": "new", "tool_name": "x"})).await;
    assert!(told.contains("stepwell mcp login new"), "{told}");
    stop.cancel();
}
