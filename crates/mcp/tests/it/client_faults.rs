//! The client with servers that hang, die, flood or are not there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use stepwell_mcp::client::{Origin, ServerState};
use stepwell_protocol::ErrorClass;
use tokio_util::sync::CancellationToken;

use crate::client_world::{ClientWorld, Person};

#[tokio::test]
async fn a_server_that_hangs_delays_nobody_and_is_given_up() {
    let world = ClientWorld::new();
    let mut hanging = world.entry(&json!({"hang": true}));
    hanging.startup_timeout = Some(2);
    let good = world.entry(&json!({"tools": ["echo"]}));
    world.servers.apply(vec![
        world.config("good", &good, Origin::User),
        world.config("hanging", &hanging, Origin::User),
    ]);
    let arguments = json!({"server_name": "good", "tool_name": "echo", "arguments": {"text": "x"}});
    assert_eq!(world.text("use_mcp_tool", arguments).await, "echo: x");
    world.until(|| matches!(world.servers.statuses()[1].state, ServerState::Failed { .. })).await;
    let told = world.text("use_mcp_tool", json!({"server_name": "hanging", "tool_name": "echo"})).await;
    assert!(told.contains("the MCP server `hanging` does not run: it did not answer within 2 s"), "{told}");
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_started_again() {
    let world = ClientWorld::new();
    world.start(json!({"tools": ["echo", "die"]})).await;
    let outcome = world.call(&Arc::default(), "mcp__test__die", json!({})).await;
    assert_eq!(outcome.result.error.unwrap().class, ErrorClass::ExecutionError);
    assert!(outcome.result.output.contains("ended during the call"), "{}", outcome.result.output);
    assert!(world.registry.get("mcp__test__echo").is_some(), "its tools stay while it is started again");
    // The call waits for the server to be back.
    assert_eq!(world.text("mcp__test__echo", json!({"text": "back"})).await, "echo: back");
    assert_eq!(world.log().lines().filter(|line| line.starts_with("start")).count(), 2);
}

#[tokio::test]
async fn a_server_that_dies_at_every_start_is_given_up_with_its_last_words() {
    let world = ClientWorld::new();
    let entry = world.entry(&json!({"dies": 100}));
    world.servers.apply(vec![world.config("test", &entry, Origin::User)]);
    // Restarts come after 0.5, 1, 2, 4 and 8 s.
    world.until(|| matches!(world.state(), ServerState::Failed { .. })).await;
    let ServerState::Failed { reason } = world.state() else { panic!() };
    assert!(reason.contains("started 5 times more") && reason.contains("it said: not today"), "{reason}");
    assert_eq!(world.log().lines().filter(|line| line.starts_with("start")).count(), 6);
}

#[tokio::test]
async fn a_server_that_dies_twice_at_its_start_is_used_in_the_end() {
    let world = ClientWorld::new();
    world.servers.apply(vec![world.config("test", &world.entry(&json!({"dies": 2})), Origin::User)]);
    world.until(|| matches!(world.state(), ServerState::Ready { .. })).await;
    assert_eq!(world.text("mcp__test__echo", json!({"text": "at last"})).await, "echo: at last");
}

/// T08: what is too large is read past.
#[tokio::test]
async fn a_flood_is_read_past_and_the_server_stays_usable() {
    let world = ClientWorld::new();
    world.start(json!({"tools": ["echo", "flood"]})).await;
    let before = peak_memory();
    assert_eq!(world.text("mcp__test__flood", json!({})).await, "dry again");
    let grown = peak_memory() - before;
    assert!(grown < 48 << 10, "64 MB in one line took {grown} kB");
    assert_eq!(world.text("mcp__test__echo", json!({"text": "x"})).await, "echo: x");
}

/// T05: what was approved is the tool as it was listed first. Others of the server stay.
#[tokio::test]
async fn t05_a_tool_that_changes_after_it_was_offered_is_withheld() {
    let world = ClientWorld::new();
    world.start(json!({"tools": ["echo", "turn", "grow"]})).await;
    assert_eq!(world.text("mcp__test__echo", json!({"text": "x"})).await, "echo: x");
    assert_eq!(world.text("mcp__test__turn", json!({})).await, "turned");
    world.until(|| world.registry.get("mcp__test__echo").is_none()).await;
    assert_eq!(world.text("mcp__test__grow", json!({})).await, "one more");
    world.until(|| world.registry.get("mcp__test__grown").is_some()).await;
    assert!(world.registry.get("mcp__test__echo").is_none());
}

/// The most memory this process has had, in kB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_silent_call_ends_at_the_servers_limit_and_the_server_is_told() {
    let world = ClientWorld::new();
    let mut entry = world.entry(&json!({}));
    entry.timeout = Some(1);
    world.servers.apply(vec![world.config("test", &entry, Origin::User)]);
    world.servers.settled().await;
    let began = Instant::now();
    let person = Arc::new(Person::default());
    let env = world.env(&person, CancellationToken::new(), "{}");
    let outcome = world.call_with(env, "mcp__test__slow", json!({})).await;
    assert_eq!(outcome.result.error.unwrap().class, ErrorClass::TimeoutError);
    assert!(outcome.result.output.contains("silent for 1 s"), "{}", outcome.result.output);
    assert!(began.elapsed() >= Duration::from_secs(1));
    world.logged("notifications/cancelled", 1).await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_and_not_tried_again() {
    let world = ClientWorld::new();
    let entry = serde_json::from_value(json!({"command": "no-such-mcp-server"})).unwrap();
    world.servers.apply(vec![world.config("test", &entry, Origin::User)]);
    world.servers.settled().await;
    let ServerState::Failed { reason } = world.state() else { panic!() };
    assert_eq!(reason, "it cannot be started: the program `no-such-mcp-server` is not in PATH");
}

#[tokio::test]
async fn settings_that_change_start_and_end_servers() {
    let world = ClientWorld::new();
    let one = world.entry(&json!({"tools": ["echo"]}));
    world.servers.apply(vec![world.config("one", &one, Origin::User)]);
    world.servers.settled().await;
    world
        .servers
        .apply(vec![world.config("one", &one, Origin::User), world.config("two", &one, Origin::User)]);
    world.servers.settled().await;
    assert_eq!(world.log().lines().filter(|line| line.starts_with("start")).count(), 2, "the first runs on");
    assert_eq!(world.text("mcp__two__echo", json!({"text": "x"})).await, "echo: x");
    world.servers.apply(vec![world.config("two", &one, Origin::User)]);
    assert!(world.registry.get("mcp__one__echo").is_none(), "its tools go at once");
    world.logged("end of input", 1).await;
    world.servers.apply(Vec::new());
    assert!(world.registry.names().is_empty(), "{:?}", world.registry.names());
}
