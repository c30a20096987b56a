//! The client with a server that behaves: names, calls, contents, questions, rules.

use std::sync::Arc;

use serde_json::{Map, json};
use stepwell_mcp::client::{Origin, ServerState};
use stepwell_protocol::{ErrorClass, Risk};
use stepwell_tool_runtime::{ToolGate, ToolSet};
use tokio_util::sync::CancellationToken;

use crate::client_world::{ClientWorld, DEADLINE, Person};

#[tokio::test]
async fn tools_are_registered_under_the_names_of_other_agents_and_called() {
    let world = ClientWorld::new();
    world.start(json!({"tools": ["echo", "fail"], "noise": 3})).await;
    assert!(
        matches!(world.state(), ServerState::Ready { tools: 2, identity: Some(ref who) } if who == "test 1")
    );
    let names = world.registry.names();
    let expected = [
        "access_mcp_resource",
        "mcp__test__echo",
        "mcp__test__fail",
        "mcp__test__resources--read",
        "use_mcp_tool",
    ];
    assert_eq!(names, expected);
    assert_eq!(world.text("mcp__test__echo", json!({"text": "hi"})).await, "echo: hi");
    let failed = world.call(&Arc::default(), "mcp__test__fail", json!({})).await;
    assert_eq!(failed.result.output, "no luck");
    assert_eq!(failed.result.error.unwrap().class, ErrorClass::ExecutionError);
}

#[tokio::test]
async fn roo_tools_reach_a_server_by_name_and_wait_for_it() {
    let world = ClientWorld::new();
    // Not waited for: the call comes while the server is still connecting.
    world.servers.apply(vec![world.config("test", &world.entry(&json!({})), Origin::User)]);
    let arguments = json!({"server_name": "test", "tool_name": "echo", "arguments": {"text": "roo"}});
    assert_eq!(world.text("use_mcp_tool", arguments).await, "echo: roo");
    let list = world.text("access_mcp_resource", json!({"server_name": "test"})).await;
    assert_eq!(list, "test://a (text/plain): a");
    let read = world.text("access_mcp_resource", json!({"server_name": "test", "uri": "test://a"})).await;
    assert_eq!(read, "test://a:\nthe text of a");
    for (arguments, expected) in [
        (
            json!({"server_name": "other", "tool_name": "echo"}),
            "there is no MCP server `other`; there are: test",
        ),
        (json!({"server_name": "test", "tool_name": "nothing"}), "has no tool `nothing`; it has: echo, slow"),
    ] {
        let told = world.text("use_mcp_tool", arguments).await;
        assert!(told.contains(expected), "{told}");
    }
}

#[tokio::test]
async fn prompts_are_listed_and_filled() {
    let world = ClientWorld::new();
    world.start(json!({})).await;
    let prompts = world.servers.prompts("test").await.unwrap();
    assert_eq!(prompts[0].name, "review");
    assert_eq!(prompts[0].arguments, [("file".to_owned(), true)]);
    let arguments: Map<_, _> = json!({"file": "a.rs"}).as_object().cloned().unwrap();
    assert_eq!(world.servers.prompt("test", "review", arguments).await.unwrap(), "Review a.rs");
}

/// T08: what a result links to is named and not fetched.
#[tokio::test]
async fn every_kind_of_content_reaches_the_model_or_is_named() {
    let world = ClientWorld::new();
    world.start(json!({})).await;
    let outcome = world.call(&Arc::default(), "mcp__test__content", json!({})).await;
    let expected = "first\n[audio left out: audio/wav, 3 bytes]\ntest://b:\ninside\nresource test://a: a";
    assert_eq!(outcome.result.output, expected);
    assert_eq!(outcome.result.images.len(), 1);
    assert_eq!(outcome.output.unwrap(), json!({"count": 2}));
}

#[tokio::test]
async fn progress_is_shown_in_rising_order() {
    let world = ClientWorld::new();
    world.start(json!({})).await;
    let person = Arc::new(Person::default());
    let outcome = world.call(&person, "mcp__test__progress", json!({})).await;
    assert_eq!(outcome.result.output, "done");
    // Notifications are handled beside the call, so the last may be shown after it has ended.
    world.until(|| !person.shown.lock().is_empty()).await;
    let shown = person.shown.lock().clone();
    assert!(shown.iter().all(|text| text.starts_with("step (") && text.ends_with("/3)")), "{shown:?}");
    assert!(shown.is_sorted(), "{shown:?}");
}

#[tokio::test]
async fn a_servers_question_is_asked_in_the_task_that_called_it() {
    let world = ClientWorld::new();
    world.start(json!({})).await;
    let person = Arc::new(Person::default());
    *person.option.lock() = Some("blue".to_owned());
    let outcome = world.call(&person, "mcp__test__ask", json!({})).await;
    let answer: serde_json::Value = serde_json::from_str(&outcome.result.output).unwrap();
    assert_eq!(answer, json!({"action": "accept", "content": {"color": "blue"}}));
    let question = person.questions.lock()[0].clone();
    assert_eq!(question.text, "The MCP server `test` asks: Which color?\ncolor");
    let options: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
    assert_eq!(options, ["red", "blue", "decline"]);
    // Where nobody answers, the server learns that there is no answer.
    let outcome = world.call(&Arc::default(), "mcp__test__ask", json!({})).await;
    assert!(outcome.result.output.contains("cancel"), "{}", outcome.result.output);
    *person.option.lock() = Some("decline".to_owned());
    let outcome = world.call(&person, "mcp__test__ask", json!({})).await;
    assert!(outcome.result.output.contains("decline"), "{}", outcome.result.output);
}

#[tokio::test]
async fn roots_are_the_workspace() {
    let world = ClientWorld::new();
    world.start(json!({})).await;
    let told = world.text("mcp__test__roots", json!({})).await;
    assert!(told.contains(&format!("file://{}", world.folder.path().display())), "{told}");
}

#[tokio::test]
async fn a_changed_list_of_tools_refreshes_the_registry() {
    let world = ClientWorld::new();
    world.start(json!({"tools": ["echo", "grow"]})).await;
    let before = world.registry.get("mcp__test__echo").unwrap();
    assert_eq!(world.text("mcp__test__grow", json!({})).await, "one more");
    world.until(|| world.registry.get("mcp__test__grown").is_some()).await;
    assert_eq!(world.text("mcp__test__grown", json!({"text": "up"})).await, "echo: up");
    let after = world.registry.get("mcp__test__echo").unwrap();
    assert!(Arc::ptr_eq(before.tool(), after.tool()), "a tool that has not changed stays the same");
}

#[tokio::test]
async fn cancelling_a_call_tells_the_server() {
    let world = ClientWorld::new();
    world.start(json!({})).await;
    let cancel = CancellationToken::new();
    let env = world.env(&Arc::default(), cancel.clone(), "{}");
    let calling = world.call_with(env, "mcp__test__slow", json!({}));
    let cancelling = async {
        world.logged("tools/call", 1).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(calling, cancelling);
    assert_eq!(outcome.result.error.unwrap().class, ErrorClass::Interrupted);
    world.logged("notifications/cancelled", 1).await;
    assert_eq!(world.text("mcp__test__echo", json!({"text": "alive"})).await, "echo: alive");
}

#[tokio::test]
async fn risk_follows_the_hint_of_the_persons_own_servers_only() {
    let world = ClientWorld::new();
    let entry = world.entry(&json!({"tools": ["echo", "fail"], "read_only": ["echo"]}));
    world.servers.apply(vec![
        world.config("mine", &entry, Origin::User),
        world.config("theirs", &entry, Origin::Project),
    ]);
    world.servers.settled().await;
    for (name, expected) in [
        ("mcp__mine__echo", Risk::Read),
        ("mcp__mine__fail", Risk::Execute),
        ("mcp__theirs__echo", Risk::Execute),
        ("mcp__theirs__fail", Risk::Execute),
    ] {
        assert_eq!(world.registry.get(name).unwrap().spec().risk, expected, "{name}");
    }
}

#[tokio::test]
async fn rules_about_servers_and_tools_hold_however_the_tool_is_called() {
    let world = ClientWorld::new();
    world.start(json!({})).await;
    let roo = |tool: &str| json!({"server_name": "test", "tool_name": tool, "arguments": {"text": "x"}});
    for (rules, name, arguments, asked, allowed) in [
        ("{}", "mcp__test__echo", json!({"text": "x"}), 1, true),
        (r#"{"allow": ["mcp__test"]}"#, "mcp__test__echo", json!({"text": "x"}), 0, true),
        (r#"{"allow": ["mcp__test__echo"]}"#, "use_mcp_tool", roo("echo"), 0, true),
        (r#"{"allow": ["mcp__test__fail"]}"#, "use_mcp_tool", roo("echo"), 1, true),
        (r#"{"deny": ["mcp__test__echo"]}"#, "use_mcp_tool", roo("echo"), 0, false),
        (r#"{"deny": ["mcp__test"]}"#, "mcp__test__echo", json!({"text": "x"}), 0, false),
        (
            r#"{"deny": ["mcp__test"]}"#,
            "access_mcp_resource",
            json!({"server_name": "test", "uri": "test://a"}),
            0,
            false,
        ),
        (
            r#"{"deny": ["mcp__other"]}"#,
            "access_mcp_resource",
            json!({"server_name": "test", "uri": "test://a"}),
            0,
            true,
        ),
    ] {
        let person = Arc::new(Person::default());
        let env = world.env(&person, CancellationToken::new(), rules);
        let outcome = world.call_with(env, name, arguments).await;
        assert_eq!(outcome.result.is_success(), allowed, "{rules} {name}: {}", outcome.result.output);
        assert_eq!(person.approvals.lock().len(), asked, "{rules} {name}");
    }
}

#[tokio::test]
async fn internal_tools_are_not_offered_and_servers_beyond_the_budget_are_deferred() {
    let world = ClientWorld::new();
    let small = world.entry(&json!({"tools": ["echo"]}));
    let large = world.entry(&json!({"tools": ["echo", "fail"], "description": 3000}));
    world.servers.apply(vec![world.config("small", &small, Origin::User)]);
    world.servers.settled().await;
    let gate = ToolGate::new(ToolSet::all().with_source_tokens(1_000));
    let names = |gate: &ToolGate| -> Vec<String> {
        gate.definitions(&world.registry).iter().map(|tool| tool.name.clone()).collect()
    };
    let first = names(&gate);
    assert_eq!(first, ["access_mcp_resource", "mcp__small__echo", "use_mcp_tool"]);
    world.servers.apply(vec![
        world.config("small", &small, Origin::User),
        world.config("large", &large, Origin::User),
    ]);
    world.servers.settled().await;
    assert_eq!(names(&gate), first, "what was offered stays as it was");
    let deferred: Vec<String> =
        gate.deferred(&world.registry).iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(deferred, ["mcp__large__echo", "mcp__large__fail"]);
    gate.load(&world.registry.get("mcp__large__fail").unwrap());
    let loaded = [first.clone(), vec!["mcp__large__fail".to_owned()]].concat();
    assert_eq!(names(&gate), loaded, "a loaded tool stands at the end");
    assert_eq!(names(&ToolGate::new(ToolSet::all())).len(), 5, "without a budget all are offered");
}

#[tokio::test]
async fn disabled_tools_and_removed_variables_stay_away() {
    let world = ClientWorld::new();
    let mut entry = world.entry(&json!({"tools": ["echo", "fail", "variable"]}));
    entry.disabled_tools = vec!["fail".to_owned()];
    entry.env.insert("GIVEN".to_owned(), "yes".to_owned());
    world.servers.apply(vec![world.config("test", &entry, Origin::User)]);
    world.servers.settled().await;
    assert!(world.registry.get("mcp__test__fail").is_none());
    assert_eq!(world.text("mcp__test__variable", json!({"text": "GIVEN"})).await, "yes");
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert_eq!(world.text("mcp__test__variable", json!({"text": "CARGO_MANIFEST_DIR"})).await, "unset");
}

#[tokio::test]
async fn servers_end_with_their_workspace() {
    let world = ClientWorld::new();
    world.start(json!({})).await;
    let told = world.text("mcp__test__family", json!({})).await;
    let pid: i32 = told.split(' ').next().unwrap().parse().unwrap();
    let alive = || std::path::Path::new(&format!("/proc/{pid}")).exists();
    assert!(alive());
    tokio::time::timeout(DEADLINE, world.servers.close()).await.unwrap();
    world.until(|| !alive()).await;
    assert!(
        world.log().ends_with("end of input\n"),
        "it was asked to end before it was ended: {}",
        world.log()
    );
    // The child left the group; without a keeper nobody finds it.
    let child: i32 = told.split(' ').nth(1).unwrap().parse().unwrap();
    std::process::Command::new("kill").arg(child.to_string()).status().unwrap();
}
