//! MCP servers of others, through the binary: trust, calls, rules, ends, and the commands that manage them.

use std::path::Path;
use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_test_support::{MCP_SERVER, Turn, call};

use crate::world::World;

const DEADLINE: Duration = Duration::from_secs(30);
const BYPASS: [&str; 5] = ["run", "--quiet", "--permission-mode", "bypassPermissions", "go"];

fn world(turns: impl IntoIterator<Item = Turn>) -> World {
    let world = World::new(turns);
    world.write("bin/server.py", MCP_SERVER);
    world
}

/// The entry of the scripted server. Its log lies in the workspace.
fn entry(script: &Value) -> Value {
    json!({"command": "python3", "args": ["bin/server.py", script.to_string(), "mcp.log"], "startup_timeout": 3600})
}

fn write_servers(world: &World, path: &str, script: &Value) {
    let file = json!({"mcpServers": {"test": entry(script)}});
    world.write(path, &serde_json::to_string_pretty(&file).unwrap());
}

fn trust(world: &World) {
    assert!(world.output(&["config", "trust"]).status.success());
}

fn server_log(world: &World) -> Option<String> {
    std::fs::read_to_string(world.work().join("mcp.log")).ok()
}

/// Waits until a process is gone; the system sends no event for one that is not ours.
fn gone(pid: &str) -> bool {
    let started = Instant::now();
    while Path::new("/proc").join(pid).exists() {
        if started.elapsed() > DEADLINE {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

fn use_tool(tool: &str) -> Turn {
    let arguments = json!({"server_name": "test", "tool_name": tool, "arguments": {"text": "hi"}});
    Turn::calls([call("use_mcp_tool", arguments)])
}

#[test]
fn a_run_calls_the_tools_of_a_projects_server() {
    for path in [".mcp.json", ".roo/mcp.json"] {
        let direct = Turn::calls([call("mcp__test__echo", json!({"text": "again"}))]);
        let world = world([use_tool("echo"), direct, Turn::text("heard")]);
        write_servers(&world, path, &json!({"tools": ["echo"]}));
        trust(&world);
        let output = world.output(&BYPASS);
        assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nheard\n", "{path}");
        let requests = world.server.requests();
        let results: Vec<String> =
            world.server.last_request().tool_results().iter().map(|result| result.text.clone()).collect();
        assert_eq!(results, ["echo: hi", "echo: again"], "{path}");
        // The server was ready by the second request at the latest; its tools stand behind those of the first.
        let (first, second) = (requests[0].tool_names(), requests[1].tool_names());
        assert!(second.contains(&"mcp__test__echo".to_owned()), "{second:?}");
        assert_eq!(second[..first.len()], first[..], "{path}");
        assert!(!second.iter().any(|name| name.contains("resources--read")), "{second:?}");
        let log = server_log(&world).unwrap();
        let pid = log.lines().next().unwrap().strip_prefix("start ").unwrap().to_owned();
        assert!(gone(&pid), "the server outlives the run: {log}");
    }
}

#[test]
fn a_projects_server_starts_only_while_its_files_are_trusted() {
    let world = world([Turn::text("one"), Turn::text("two"), use_tool("echo"), Turn::text("three")]);
    write_servers(&world, ".mcp.json", &json!({}));
    let shown = world.show(&world.output(&["run", "go"]));
    assert!(
        shown.contains("this folder's own settings may not decide: MCP servers of .mcp.json (test)"),
        "{shown}"
    );
    assert_eq!(server_log(&world), None, "it was started without trust");
    trust(&world);
    // A script that the file names is part of what is trusted.
    world.write("bin/server.py", &format!("{MCP_SERVER}\n# changed\n"));
    world.output(&BYPASS);
    assert_eq!(server_log(&world), None, "it was started after its program had changed");
    trust(&world);
    world.output(&BYPASS);
    assert!(server_log(&world).is_some_and(|log| log.contains("tools/call")), "it runs with trust");
}

#[test]
fn a_server_of_the_persons_own_needs_no_trust() {
    let world = world([use_tool("echo"), Turn::text("heard")]);
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    let script = json!({"tools": ["echo"]}).to_string();
    let server = format!(
        "[mcp_servers.test]\ncommand = \"python3\"\nargs = [\"bin/server.py\", '{script}', \"mcp.log\"]\nalways_allow = [\"echo\"]\n"
    );
    world.set_config(&format!("{config}{server}"));
    // In the default mode nobody is there to ask: `always_allow` is what lets the call run.
    let output = world.output(&["run", "--quiet", "go"]);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nheard\n");
    assert_eq!(world.server.last_request().tool_results()[0].text, "echo: hi");
}

#[test]
fn a_call_that_nobody_allowed_is_refused() {
    for (mode, expected) in [("default", "nobody can be asked"), ("plan", "plan mode allows no commands")] {
        let world = world([use_tool("echo"), Turn::text("refused")]);
        write_servers(&world, ".mcp.json", &json!({"read_only": ["echo"]}));
        trust(&world);
        world.output(&["run", "--quiet", "--permission-mode", mode, "go"]);
        let told = &world.server.last_request().tool_results()[0].text;
        assert!(told.contains(expected), "{mode}: {told}");
        assert!(!server_log(&world).unwrap().contains("tools/call"), "{mode}");
    }
}

#[test]
fn a_request_does_not_wait_for_a_server_that_hangs() {
    let world = world([Turn::text("done")]);
    write_servers(&world, ".mcp.json", &json!({"hang": true}));
    trust(&world);
    // The server may take an hour to say hello and never does: a run that waited for it would not end here.
    let output = world.output(&BYPASS);
    assert_eq!(world.show(&output), "exit code: 0\n--- stdout\ndone\n");
    let log = server_log(&world).unwrap_or_default();
    assert!(!log.contains("tools/list"), "{log}");
}

#[test]
fn a_kill_ends_the_server_and_what_it_started() {
    let world = world([use_tool("family"), Turn::silent()]);
    write_servers(&world, ".mcp.json", &json!({}));
    trust(&world);
    let mut running = world.spawn(&BYPASS);
    let requests = world.server.wait_for_requests(2, DEADLINE);
    let pids = requests[1].tool_results()[0].text.clone();
    assert_eq!(pids.split(' ').count(), 2, "{pids}");
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(pids.split(' ').all(gone), "{pids}");
}

#[test]
fn a_broken_file_is_told_and_the_run_goes_on() {
    let world = world([Turn::text("done")]);
    world.write(".mcp.json", "{\"mcpServers\": {\"a\": {\"args\": 5}}}");
    let shown = world.show(&world.output(&["run", "go"]));
    assert!(shown.contains(".mcp.json cannot be used: the server `a` cannot be read"), "{shown}");
    assert!(shown.starts_with("exit code: 0"), "{shown}");
}

#[test]
fn servers_are_added_shown_tested_and_removed() {
    let world = world([]);
    let script = json!({"tools": ["echo", "fail"]}).to_string();
    world.check(
        &["mcp", "add", "mine", "-e", "API_KEY=s3cret", "--", "python3", "bin/server.py", &script, "mcp.log"],
        expect![[r#"
            exit code: 0
            --- stdout
            added `mine` to [ROOT]/config/config.toml
        "#]],
    );
    world.check(
        &["mcp", "add", "docs", "--scope", "project", "-H", "X-Key: ${DOCS}", "https://docs.test/mcp"],
        expect![[r#"
            exit code: 0
            --- stdout
            added `docs` to [ROOT]/work/.mcp.json
            it starts once the folder is trusted: `stepwell config trust`
        "#]],
    );
    let file: Value =
        serde_json::from_slice(&std::fs::read(world.work().join(".mcp.json")).unwrap()).unwrap();
    let expected = json!({"type": "http", "url": "https://docs.test/mcp", "headers": {"X-Key": "${DOCS}"}});
    assert_eq!(file["mcpServers"]["docs"], expected);
    trust(&world);
    world.check(
        &["mcp", "list"],
        expect![[r#"
            exit code: 0
            --- stdout
            docs             https://docs.test/mcp [ROOT]/work/.mcp.json
            mine             python3 bin/server.py {"tools":["echo","fail"]} mcp.log [ROOT]/config/config.toml
            the MCP server `docs` uses the variable `DOCS`, which is not set
        "#]],
    );
    let shown = world.show(&world.output(&["mcp", "get", "mine"]));
    assert!(shown.contains("\"API_KEY\": \"…\"") && !shown.contains("s3cret"), "{shown}");
    let shown = world.show(&world.output(&["config", "show"]));
    assert!(shown.contains("mcp_servers.mine") && !shown.contains("s3cret"), "{shown}");
    world.check(
        &["mcp", "test", "mine"],
        expect![[r#"
            exit code: 1
            --- stdout
            ✓ mine  test 1  2 tools
                echo
                fail
            the MCP server `docs` uses the variable `DOCS`, which is not set
        "#]],
    );
    world.check(
        &["mcp", "remove", "mine"],
        expect![[r#"
            exit code: 0
            --- stdout
            removed `mine` from [ROOT]/config/config.toml
        "#]],
    );
    world.check(
        &["mcp", "get", "mine"],
        expect![[r#"
            exit code: 2
            --- stderr
            error: there is no MCP server `mine`

            hint: `stepwell mcp list` shows them all
        "#]],
    );
}

#[test]
fn a_tool_of_a_server_is_called_by_hand() {
    let world = world([]);
    write_servers(&world, ".mcp.json", &json!({"tools": ["echo"]}));
    trust(&world);
    world.check(
        &[
            "tool",
            "call",
            "--permission-mode",
            "bypassPermissions",
            "mcp__test__echo",
            "{\"text\": \"by hand\"}",
        ],
        expect![[r#"
            exit code: 0
            --- stdout
            echo: by hand
        "#]],
    );
}

#[test]
fn a_confined_server_sees_no_private_files() {
    let world = world([use_tool("variable"), Turn::text("done")]);
    let mut server = entry(&json!({}));
    server["sandbox"] = json!(true);
    world.write(".mcp.json", &json!({"mcpServers": {"test": server}}).to_string());
    trust(&world);
    let output = world.output(&BYPASS);
    let told = &world.server.last_request().tool_results()[0].text;
    assert_eq!(told, "unset", "{}", world.show(&output));
    // In the sandbox processes are numbered anew.
    let log = server_log(&world).unwrap();
    let pid: u32 = log.lines().next().unwrap().strip_prefix("start ").unwrap().parse().unwrap();
    assert!(pid < 100, "it ran outside of the sandbox as {pid}");
}
