//! The client with a server of the protocol's own makers: `@modelcontextprotocol/server-everything`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use stepwell_mcp::client::{Origin, ServerEntry, ServerState};

use crate::client_world::{ClientWorld, Person};

/// The server's program, where `scripts/test.sh` has installed it. In CI it must be there.
fn program() -> Option<PathBuf> {
    let folder = std::env::var_os("STEPWELL_TEST_MCP");
    let program = folder.map(|folder| Path::new(&folder).join("node_modules/.bin/mcp-server-everything"));
    let found = program.filter(|program| program.is_file());
    if found.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "server-everything is missing; `scripts/test.sh` installs it"
        );
        eprintln!("skipped: server-everything is missing; `scripts/test.sh` installs it");
    }
    found
}

#[tokio::test]
async fn the_official_example_server_is_used_with_all_it_offers() {
    let Some(program) = program() else { return };
    let world = ClientWorld::new();
    let entry: ServerEntry =
        serde_json::from_value(json!({"command": program, "args": ["stdio"], "startup_timeout": 60}))
            .unwrap();
    world.servers.apply(vec![world.config("everything", &entry, Origin::User)]);
    world.servers.settled().await;
    assert!(matches!(world.state(), ServerState::Ready { .. }));
    // What depends on this client's roots and forms is listed once the server has asked for them.
    world.until(|| world.registry.get("mcp__everything__trigger-elicitation-request").is_some()).await;
    for (tool, arguments, expected) in [
        ("echo", json!({"message": "hi"}), "Echo: hi"),
        ("get-sum", json!({"a": 2, "b": "3"}), "The sum of 2 and 3 is 5."),
        ("get-structured-content", json!({"location": "Chicago"}), "temperature"),
        ("get-resource-links", json!({"count": 1}), "resource demo://resource/dynamic/"),
        ("get-roots-list", json!({}), &world.folder.path().to_string_lossy()),
    ] {
        let told = world.text(&format!("mcp__everything__{tool}"), arguments).await;
        assert!(told.contains(expected), "{tool}: {told}");
    }
    let person = Arc::new(Person::default());
    let outcome = world.call(&person, "mcp__everything__get-tiny-image", json!({})).await;
    assert_eq!(outcome.result.images.len(), 1);
    let arguments = json!({"duration": 1, "steps": 2});
    let outcome = world.call(&person, "mcp__everything__trigger-long-running-operation", arguments).await;
    assert!(outcome.result.is_success(), "{}", outcome.result.output);
    world.until(|| !person.shown.lock().is_empty()).await;
    *person.option.lock() = Some("decline".to_owned());
    let outcome = world.call(&person, "mcp__everything__trigger-elicitation-request", json!({})).await;
    assert!(outcome.result.output.to_lowercase().contains("declined"), "{}", outcome.result.output);
    assert!(!person.questions.lock().is_empty());
}
