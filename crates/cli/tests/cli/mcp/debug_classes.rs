//! Permission class, MCP annotations and `--read-only` agree for every debugger tool: one table.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::talker::Talker;
use crate::world::World;

/// The class of every tool. Tools that move or end a program, or change where it stops, do not only read.
fn classes() -> BTreeMap<String, String> {
    serde_json::from_str(include_str!("../../../../mcp/tests/debugger-classes.json")).unwrap()
}

fn listed(world: &World, words: &[&str]) -> BTreeMap<String, Value> {
    let mut client = Talker::start(world, words);
    client.hello("2025-06-18", json!({}));
    let answer = client.ask("tools/list", json!({}));
    client.end();
    let tools = answer["result"]["tools"].as_array().unwrap().clone();
    tools.into_iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool)).collect()
}

#[test]
fn annotations_and_read_only_follow_from_the_class_of_each_tool() {
    let world = World::new([]);
    let classes = classes();
    assert_eq!(classes.len(), 31);
    let all = listed(&world, &[]);
    assert!(all.keys().eq(classes.keys()), "{:?}", all.keys());
    let read_only = listed(&world, &["--read-only"]);
    for (name, class) in &classes {
        let reads = class == "read";
        let hints = &all[name]["annotations"];
        assert_eq!(hints["readOnlyHint"], reads, "{name}: {hints}");
        assert_eq!(hints["idempotentHint"], reads, "{name}: {hints}");
        let destructive = hints.get("destructiveHint").and_then(Value::as_bool).unwrap_or(false);
        assert_eq!(destructive, !reads, "{name}: {hints}");
        assert_eq!(read_only.contains_key(name), reads, "{name} with --read-only");
    }
}

#[test]
fn read_only_refuses_what_is_not_served() {
    let world = World::new([]);
    let mut client = Talker::start(&world, &["--read-only"]);
    client.hello("2025-06-18", json!({}));
    for (name, class) in classes() {
        if class != "read" {
            let refused = client.call(&name, json!({}));
            assert!(
                refused["error"]["message"].as_str().unwrap().contains("--read-only"),
                "{name}: {refused}"
            );
        }
    }
    client.end();
}
