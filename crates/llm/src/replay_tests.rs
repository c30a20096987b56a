//! Recording, playing back, and saying what differs.

use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::json;
use stepwell_protocol::{Message, Part, Role, ToolCall, ToolResult};

use super::*;
use crate::model::{RequestOptions, StopReason};

/// Answers with what it was asked.
struct Echo {
    info: ModelInfo,
}

impl Model for Echo {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let text = request.messages.last().map(|message| message.text()).unwrap_or_default();
        let retrying =
            Delta::Retrying { attempt: 1, limit: 3, delay: Duration::from_secs(9), reason: "gone".into() };
        let call = Delta::CallStart { index: 0, id: "call_abcdef".into(), name: "bash".into() };
        let deltas = [retrying, Delta::Text(text), call, Delta::Stop(StopReason::EndTurn)];
        Box::pin(stream::iter(deltas.map(Ok)))
    }
}

#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Tape {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        system: "Today is 2026-11-15.".into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::from([]),
        deferred: Arc::from([]),
        options: RequestOptions::default(),
    }
}

fn at(path: &str) -> Normalizer {
    Normalizer { workspace: Some(path.to_owned()) }
}

fn conversation(path: &str, output: &str) -> Vec<Message> {
    let call = ToolCall {
        id: stepwell_protocol::ToolCallId::generate(),
        name: "bash".into(),
        arguments: json!({ "command": format!("ls {path}/src") }),
        opaque: None,
    };
    let mut result = ToolResult::failure(&call, stepwell_protocol::ErrorClass::ExecutionError, output);
    result.error = None;
    vec![
        Message::user("look"),
        Message::new(Role::Assistant, vec![Part::ToolCall { call }]),
        Message::new(Role::Tool, vec![Part::ToolResult { result }]),
    ]
}

async fn record(requests: Vec<Request>) -> String {
    let info = crate::Catalog::built_in().info("echo", "echo", &crate::ModelFacts::default());
    let tape = Tape::default();
    let recorder = Recorder::new(Arc::new(Echo { info }), Box::new(tape.clone()), at("/home/ada/shop"));
    for request in requests {
        recorder.stream(request).collect::<Vec<_>>().await;
    }
    drop(recorder);
    tape.text()
}

#[tokio::test]
async fn a_run_is_played_back_elsewhere_and_later() {
    let first = conversation("/home/ada/shop", "done in 1.25s at 12:00:01 (msg_0192aa77)");
    let cassette = record(vec![request(vec![Message::user("hi")]), request(first)]).await;
    let replay = Replay::new(&cassette, Matching::Strict, at("/tmp/x")).unwrap();
    assert_eq!(replay.info().id, "echo");
    let answer: Vec<_> = replay.stream(request(vec![Message::user("hi")])).collect().await;
    assert_eq!(answer.len(), 3);
    assert_eq!(answer[0], Ok(Delta::Text("hi".into())));
    let mut later = request(conversation("/tmp/x", "done in 3 ms at 23:10:09 (msg_ffffffff)"));
    later.system = "Today is 2027-01-01.".into();
    let answer: Vec<_> = replay.stream(later).collect().await;
    assert_eq!(answer[1], Ok(Delta::CallStart { index: 0, id: "call_abcdef".into(), name: "bash".into() }));
    assert_eq!(replay.remaining(), 0);
}

async fn check(recorded: Vec<Message>, asked: Request, matching: Matching, expect: Expect) {
    let cassette = record(vec![request(recorded)]).await;
    let replay = Replay::new(&cassette, matching, at("/tmp/x")).unwrap();
    let answer: Vec<_> = replay.stream(asked).collect().await;
    expect.assert_eq(&answer[0].as_ref().map_or_else(ToString::to_string, |delta| format!("{delta:?}")));
}

#[tokio::test]
async fn a_difference_is_named() {
    check(
        conversation("/home/ada/shop", "three files"),
        request(conversation("/tmp/x", "four files")),
        Matching::Strict,
        expect![[r#"request 1 is not the recorded one: message 3 (Tool) part 1 was "result: bash three files" and is "result: bash four files""#]],
    )
    .await;
    check(
        vec![Message::user("hi")],
        request(vec![Message::user("hi"), Message::user("there")]),
        Matching::Strict,
        expect![[r#"request 1 is not the recorded one: message 2 (User: "text: there") was not there"#]],
    )
    .await;
    let mut other = request(vec![Message::user("hi")]);
    other.tools = Arc::from([stepwell_protocol::ToolDefinition {
        name: "bash".into(),
        description: String::new(),
        input_schema: json!({}),
        forms: stepwell_protocol::CallForms::default(),
    }]);
    check(
        vec![Message::user("hi")],
        other,
        Matching::Strict,
        expect![[r#"request 1 is not the recorded one: the tools differ: missing [], new ["bash"] (or their order)"#]],
    )
    .await;
}

#[tokio::test]
async fn lenient_matching_looks_at_turns_and_last_words() {
    check(
        conversation("/home/ada/shop", "three files"),
        request(conversation("/tmp/x", "four files")),
        Matching::Lenient,
        expect![[r#"Text("")"#]],
    )
    .await;
    check(
        vec![Message::user("hi")],
        request(vec![Message::user("ho")]),
        Matching::Lenient,
        expect![[
            r#"request 1 is not the recorded one: the person's last words were "text: hi" and are "text: ho""#
        ]],
    )
    .await;
}

#[tokio::test]
async fn what_is_told_of_the_surroundings_does_not_matter() {
    let mut told = Message::user("hi");
    told.parts.push(Part::surroundings("a.py: run:1"));
    for matching in [Matching::Strict, Matching::Lenient] {
        let answer = expect![[r#"Text("hi")"#]];
        check(vec![Message::user("hi")], request(vec![told.clone()]), matching, answer).await;
        let details = Message::new(Role::User, vec![Part::surroundings("a.py: run:1")]);
        let answer = expect![[r#"Text("hi")"#]];
        check(vec![Message::user("hi")], request(vec![Message::user("hi"), details]), matching, answer).await;
    }
}

#[tokio::test]
async fn a_cassette_that_ends_says_so() {
    let cassette = record(vec![]).await;
    let replay = Replay::new(&cassette, Matching::Strict, Normalizer::default()).unwrap();
    let answer: Vec<_> = replay.stream(request(vec![])).collect().await;
    assert_eq!(
        answer[0].as_ref().unwrap_err().to_string(),
        "the cassette has 0 answers, and this is request 1"
    );
}

#[tokio::test]
async fn damage_is_named_and_a_torn_end_forgiven() {
    let cassette = record(vec![request(vec![Message::user("hi")])]).await;
    let torn = &cassette[..cassette.len() - 10];
    let replay = Replay::new(torn, Matching::Strict, Normalizer::default()).unwrap();
    assert_eq!(replay.remaining(), 0);
    let damaged = cassette.replace("\"request\"", "\"requst\"");
    let error = Replay::new(&damaged, Matching::Strict, Normalizer::default()).err().unwrap();
    assert!(error.to_string().starts_with("line 2 of the cassette cannot be read: missing field"), "{error}");
    assert!(Replay::new("", Matching::Strict, Normalizer::default()).is_err());
}
