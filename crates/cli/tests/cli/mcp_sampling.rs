//! What servers may do beyond their tools, through the binary: ask the model, and stay hidden where rules deny.

use serde_json::{Value, json};
use stepwell_protocol::Event;
use stepwell_test_support::{MCP_SERVER, Turn, call};

use crate::world::World;

/// A world with the scripted server in the person's own settings.
fn world(turns: impl IntoIterator<Item = Turn>, script: &Value, permissions: &str, sampling: bool) -> World {
    let world = World::new(turns);
    world.write("bin/server.py", MCP_SERVER);
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    world.set_config(&format!(
        "{config}\n[permissions]\n{permissions}\n[mcp_servers.test]\ncommand = \"python3\"\n\
         args = ['bin/server.py', '{script}', 'mcp.log']\nsampling = {sampling}\n"
    ));
    world
}

fn use_tool(tool: &str) -> Turn {
    let arguments = json!({"server_name": "test", "tool_name": tool, "arguments": {"text": "Which color?"}});
    Turn::calls([call("use_mcp_tool", arguments)])
}

#[test]
fn a_server_asks_the_tasks_model_and_the_task_pays() {
    let turns = [
        use_tool("sample").with_usage(100, 10),
        Turn::text("blue").with_usage(40, 2),
        Turn::text("done").with_usage(200, 5),
    ];
    let world = world(turns, &json!({"tools": ["sample"]}), "allow = [\"mcp__test\"]", true);
    let output = world.output(&["run", "--quiet", "go"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\ndone\n");
    let requests = world.server.requests();
    assert_eq!(requests.len(), 3);
    // The server's request holds nothing of the task.
    let sampled = requests[1].body.to_string();
    assert!(sampled.contains("Be brief.") && sampled.contains("Which color?"), "{sampled}");
    assert!(requests[1].tool_names().is_empty() && !sampled.contains("use_mcp_tool"), "{sampled}");
    let given = &requests[2].tool_results()[0].text;
    assert!(given.contains("\"text\": \"blue\""), "{given}");
    let used: Vec<u64> = world
        .log(&world.only_task())
        .iter()
        .filter_map(|record| match &record.event {
            Event::Usage { usage, .. } => Some(usage.input_tokens),
            _ => None,
        })
        .collect();
    assert_eq!(used.iter().sum::<u64>(), 340, "{used:?}");
}

#[test]
fn without_a_person_or_a_rule_no_server_asks_the_model() {
    let turns = [use_tool("sample"), Turn::text("done")];
    let world = world(turns, &json!({"tools": ["sample"]}), "allow = [\"mcp__test__sample\"]", true);
    let output = world.output(&["run", "--quiet", "go"]);
    let shown = world.show(&output);
    assert!(shown.contains("refused without approval: Let the MCP server `test` ask the model"), "{shown}");
    assert!(shown.contains("allow = [\"mcp__test__sampling--create\"]"), "{shown}");
    let given = &world.server.last_request().tool_results()[0].text;
    assert!(given.contains("\"code\": -1"), "{given}");
}

#[test]
fn a_denied_tool_of_a_server_that_connects_later_is_not_shown() {
    let turns = [use_tool("echo"), Turn::text("done")];
    let rules = "allow = [\"mcp__test__echo\"]\ndeny = [\"mcp__test__roots\"]";
    let world = world(turns, &json!({"tools": ["echo", "roots"]}), rules, false);
    world.output(&["run", "--quiet", "go"]);
    let request = world.server.last_request();
    let names = request.tool_names();
    assert!(names.contains(&"mcp__test__echo".to_owned()), "{names:?}");
    assert!(!request.body["tools"].to_string().contains("mcp__test__roots"), "{names:?}");
}
