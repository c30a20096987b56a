//! What a server asks of the model and of the person beyond forms: sampling, and pages to open.

use std::sync::Arc;

use serde_json::{Value, json};
use stepwell_mcp::client::Origin;
use tokio_util::sync::CancellationToken;

use crate::client_world::{ClientWorld, Person};

async fn world(origin: Origin, sampling: bool, script: Value) -> ClientWorld {
    let world = ClientWorld::new();
    let mut entry = world.entry(&script);
    entry.sampling = sampling;
    world.servers.apply(vec![world.config("test", &entry, origin)]);
    world.servers.settled().await;
    world
}

async fn sample(world: &ClientWorld, person: &Arc<Person>, rules: &str) -> String {
    let env = world.env(person, CancellationToken::new(), rules);
    world.call_with(env, "mcp__test__sample", json!({"text": "Which color?"})).await.result.output
}

#[tokio::test]
async fn no_server_asks_the_model_unless_the_persons_settings_allow_it() {
    for (origin, sampling) in [(Origin::User, false), (Origin::Project, true)] {
        let world = world(origin, sampling, json!({"tools": ["sample"]})).await;
        let person = Arc::new(Person::default());
        let told = sample(&world, &person, "{}").await;
        assert!(told.contains("-32601"), "{told}");
        assert!(person.sampled.lock().is_empty());
        assert!(!world.log().contains("sampling"), "{}", world.log());
    }
}

#[tokio::test]
async fn the_person_is_asked_before_a_server_asks_the_model() {
    let world = world(Origin::User, true, json!({"tools": ["sample"]})).await;
    let person = Arc::new(Person::default());
    let told: Value = serde_json::from_str(&sample(&world, &person, "{}").await).unwrap();
    assert_eq!(told["content"], json!({"type": "text", "text": "blue"}));
    assert_eq!((&told["model"], &told["stopReason"]), (&json!("test/model"), &json!("endTurn")));
    let summaries: Vec<String> =
        person.approvals.lock().iter().map(|asked| asked.preview.summary.clone()).collect();
    assert_eq!(summaries.len(), 2, "{summaries:?}");
    assert_eq!(summaries[1], "Let the MCP server `test` ask the model for up to 4096 tokens: Which color?");
    let sampled = person.sampled.lock();
    assert_eq!((sampled[0].system.as_str(), sampled[0].max_tokens), ("Be brief.", 4096));
    assert_eq!(sampled[0].messages[0].text(), "Which color?");
}

#[tokio::test]
async fn refusals_and_rules_decide_about_the_servers_requests() {
    let world = world(Origin::User, true, json!({"tools": ["sample"]})).await;
    let refusing = Arc::new(Person { refuses: true, ..Person::default() });
    let told = sample(&world, &refusing, r#"{"allow": ["mcp__test__sample"]}"#).await;
    assert!(told.contains("\"code\": -1"), "{told}");
    assert_eq!(refusing.approvals.lock().len(), 1);
    assert!(refusing.sampled.lock().is_empty());

    let told =
        sample(&world, &refusing, r#"{"allow": ["mcp__test__sample", "mcp__test__sampling--create"]}"#).await;
    assert!(told.contains("blue"), "{told}");
    assert_eq!(refusing.approvals.lock().len(), 1, "a rule allows it");

    let person = Arc::new(Person::default());
    let denied = r#"{"deny": ["mcp__test__sampling--create"]}"#;
    let told = sample(&world, &person, denied).await;
    assert!(told.contains("\"code\": -1"), "{told}");
    assert!(person.sampled.lock().is_empty());
}

#[tokio::test]
async fn a_call_asks_the_model_a_few_times_at_most() {
    let world = world(Origin::User, true, json!({"tools": ["sample"], "times": 7})).await;
    let person = Arc::new(Person::default());
    let told = sample(&world, &person, r#"{"allow": ["mcp__test"]}"#).await;
    assert_eq!(person.sampled.lock().len(), 5);
    assert_eq!(told.matches("a call may ask the model 5 times").count(), 2, "{told}");
}

#[tokio::test]
async fn a_page_to_open_is_shown_with_its_host_and_never_opened() {
    let world = world(Origin::User, false, json!({"tools": ["visit"]})).await;
    let visit = |person: Arc<Person>, address: &'static str| {
        let world = &world;
        async move {
            let outcome = world.call(&person, "mcp__test__visit", json!({"text": address})).await;
            let answer: Value = serde_json::from_str(&outcome.result.output).unwrap();
            answer["action"].as_str().unwrap().to_owned()
        }
    };
    let person = |option: Option<&str>| {
        let person = Person::default();
        *person.option.lock() = option.map(str::to_owned);
        Arc::new(person)
    };
    let agrees = person(Some("accept"));
    assert_eq!(visit(Arc::clone(&agrees), "https://login.test/start?id=1").await, "accept");
    let asked = agrees.questions.lock()[0].text.clone();
    assert_eq!(
        asked,
        "The MCP server `test` asks you to open a page of `login.test`: Log in there\nhttps://login.test/start?id=1"
    );
    // Letters of other scripts are spelled out, so that one host cannot pass for another.
    assert_eq!(visit(Arc::clone(&agrees), "https://аpple.test/").await, "accept");
    assert!(agrees.questions.lock()[1].text.contains("`xn--pple-43d.test`"));

    assert_eq!(visit(person(Some("decline")), "https://login.test/").await, "decline");
    assert_eq!(visit(person(None), "https://login.test/").await, "decline", "nobody is there");
    for address in ["file:///etc/passwd", "javascript:alert(1)", "https://bank.test@evil.test/", "nowhere"] {
        let agrees = person(Some("accept"));
        assert_eq!(visit(Arc::clone(&agrees), address).await, "decline", "{address}");
        assert!(agrees.questions.lock().is_empty(), "{address}");
    }
}
