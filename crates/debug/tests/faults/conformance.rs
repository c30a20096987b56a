//! Every message that is sent, against the protocol's official schema, which debugpy brings along.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};
use stepwell_debug::adapters::{AdapterKind, StartMode};
use stepwell_debug::breakpoints::NewBreakpoint;
use stepwell_debug::ids::{AdapterFrameId, AdapterReference};
use stepwell_debug::session::{Paging, SessionStart, Step};
use stepwell_debug::{Outcome, Wait};
use stepwell_test_support::{Act, AdapterScript, FakeAdapter};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::driver::{Driver, opening, run};

const FIND: &str = "import os, debugpy; print(os.path.join(os.path.dirname(debugpy.__file__), \
    '_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json'))";

/// The schema, or `None` where debugpy is missing.
fn schema() -> Option<Value> {
    let output = Command::new("python3").args(["-c", FIND]).output();
    let path = output.ok().filter(|output| output.status.success());
    let path = path.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let Some(text) = path.and_then(|path| std::fs::read_to_string(path).ok()) else {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!in_ci, "debugpy is missing, and with it the protocol's schema");
        println!("skipped: debugpy is missing, and with it the protocol's schema");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

/// Why a message is not as the definition says.
fn faults(schema: &Value, definition: &str, message: &Value) -> Vec<String> {
    assert!(schema["definitions"].get(definition).is_some(), "the schema has no {definition}: {message}");
    let one = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "definitions": schema["definitions"],
        "allOf": [{ "$ref": format!("#/definitions/{definition}") }],
    });
    let validator = jsonschema::validator_for(&one).unwrap();
    validator.iter_errors(message).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn definition_of(message: &Value) -> String {
    let command = message["command"].as_str().unwrap();
    let (first, rest) = command.split_at(1);
    let name = format!("{}{rest}", first.to_uppercase());
    match (message["type"].as_str().unwrap(), message["success"].as_bool()) {
        ("request", _) => format!("{name}Request"),
        ("response", Some(true)) => format!("{name}Response"),
        // A refusal has no body that the schema could know.
        _ => "Response".to_owned(),
    }
}

/// Uses everything a session can ask for.
async fn everything(kind: AdapterKind, how: StartMode) -> Vec<Value> {
    let driver = Driver::new();
    let path = driver.source();
    let at = |line| NewBreakpoint { path: path.clone(), line, ..NewBreakpoint::default() };
    let breakpoints = [
        at(1),
        NewBreakpoint { condition: Some("a == 1".to_owned()), ..at(2) },
        NewBreakpoint { hit_condition: Some(">= 3".to_owned()), ..at(3) },
        NewBreakpoint { log_message: Some("a is {a}".to_owned()), column: Some(1), ..at(4) },
    ];
    for breakpoint in breakpoints {
        driver.debugger.set_breakpoint(breakpoint).await.unwrap();
    }
    driver
        .debugger
        .set_function_breakpoint("main", Some("x > 1".to_owned()), Some("2".to_owned()))
        .await
        .unwrap();
    let asks = [
        Act::Ask("runInTerminal".to_owned(), json!({ "cwd": "", "args": ["true"] })),
        Act::Ask("runInTerminal".to_owned(), json!({ "cwd": "", "args": [] })),
        Act::Ask(
            "startDebugging".to_owned(),
            json!({ "request": "attach", "configuration": { "connect": { "host": "127.0.0.1", "port": 9 } } }),
        ),
        Act::Ask("unheardOf".to_owned(), json!({})),
    ];
    let stopped = Act::Event("stopped".to_owned(), json!({ "reason": "exception", "threadId": 1 }));
    let mut done = vec![Act::Answer(json!({}))];
    done.extend(asks);
    done.push(stopped);
    let script =
        AdapterScript::behaved().once("configurationDone", done).on("continue", [Act::Answer(json!({}))]);
    let adapter = FakeAdapter::new(script);
    let session = driver.debugger.start(SessionStart { how, ..opening(kind, &adapter) }).unwrap();
    let outcome = driver.wait(&session, 0).await;
    let Outcome::Stopped(_, stop) = outcome else { panic!("{outcome:?}") };
    session.report(&stop, stepwell_debug::stop_report::Detail::COMPACT).await.unwrap();
    session.threads().await.unwrap();
    let (frame, container) = (AdapterFrameId(1000), AdapterReference(7));
    session.evaluate("x + 1", Some(frame), "repl").await.unwrap();
    session.evaluate("x + 1", None, "hover").await.unwrap();
    let paging = Paging { start: Some(0), count: Some(10), total: Some(20), ..Paging::default() };
    session.variables(container, Some(frame), paging).await.unwrap();
    session.set_variable(container, Some(frame), "x", "2").await.unwrap();
    session.set_expression(frame, "x.y", "2").await.unwrap();
    session
        .set_exception_filters(vec!["uncaught".to_owned()], vec![("uncaught".to_owned(), "x".to_owned())])
        .await
        .unwrap();
    for step in [Step::Over, Step::Into, Step::Out] {
        let after = driver.debugger.serial();
        session.step(None, step).await.unwrap();
        driver.wait(&session, after).await;
    }
    session.resume(None).await.unwrap();
    let wait = Wait {
        deadline: Instant::now() + std::time::Duration::from_secs(60),
        cancel: CancellationToken::new(),
    };
    driver.debugger.pause(&session, None, &wait).await.unwrap();
    session.set_probes(&path, vec![1]).await.unwrap();
    driver.debugger.clear_breakpoints().await;
    driver.debugger.end(&session).await;
    adapter.heard()
}

#[test]
fn everything_that_is_sent_is_as_the_schema_says() {
    let Some(schema) = schema() else { return };
    let mut said = BTreeSet::new();
    for kind in [AdapterKind::Debugpy, AdapterKind::LldbDap, AdapterKind::Gdb, AdapterKind::JsDebug] {
        for how in [StartMode::Launch, StartMode::Attach] {
            for message in run(everything(kind, how)) {
                let definition = definition_of(&message);
                let faults = faults(&schema, &definition, &message);
                assert!(faults.is_empty(), "{kind}, {definition}: {faults:?}\n{message}");
                said.insert(definition);
            }
        }
    }
    let said: Vec<String> = said.into_iter().collect();
    expect_test::expect![[r#"
        AttachRequest
        ConfigurationDoneRequest
        ContinueRequest
        DisconnectRequest
        EvaluateRequest
        ExceptionInfoRequest
        InitializeRequest
        LaunchRequest
        NextRequest
        PauseRequest
        Response
        RunInTerminalResponse
        ScopesRequest
        SetBreakpointsRequest
        SetExceptionBreakpointsRequest
        SetExpressionRequest
        SetFunctionBreakpointsRequest
        SetVariableRequest
        StackTraceRequest
        StartDebuggingResponse
        StepInRequest
        StepOutRequest
        ThreadsRequest
        VariablesRequest"#]]
    .assert_eq(&said.join("\n"));
}
