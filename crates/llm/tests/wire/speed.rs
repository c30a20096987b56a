//! What must stay fast. Run with `cargo test --release -p stepwell-llm --test wire speed -- --ignored --nocapture`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use stepwell_llm::{Delta, ProviderKind, estimate_text};
use stepwell_protocol::{Message, Part, Role};
use stepwell_test_support::{ModelServer, Turn};

use crate::support::{KINDS, collect, hello, model, request};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures; only a release build says anything"]
async fn a_long_answer_in_small_events() {
    let event = |text: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-0123456789abcdef\",\"object\":\"chat.completion.chunk\",\"created\":1731709412,\
             \"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let text = " the quick brown fox jumps over it now";
    let mut body = event(text).repeat(131_000);
    body.push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    let server = ModelServer::start();
    server.script([Turn::garbage(body).write_size(16 * 1024)]);
    let started = Instant::now();
    let mut stream = model(&server, ProviderKind::OpenaiChat).stream(hello());
    let (mut bytes, mut deltas) = (0, 0);
    while let Some(item) = stream.next().await {
        if let Delta::Text(text) = item.unwrap() {
            bytes += text.len();
            deltas += 1;
        }
    }
    let elapsed = started.elapsed();
    println!("131,000 events, {bytes} bytes of text in {deltas} deltas: {elapsed:?}");
    assert_eq!(bytes, 131_000 * text.len());
    assert!(elapsed < Duration::from_millis(400), "{elapsed:?}");
}

#[tokio::test]
#[ignore = "measures; only a release build says anything"]
async fn the_thousandth_turn() {
    for kind in KINDS {
        let server = ModelServer::start();
        server.respond_with(|_| Turn::text("ok"));
        let mut long = request(vec![]);
        for turn in 0..1000 {
            long.messages
                .push(Arc::new(Message::user(format!("{turn} {}", "some words \"quoted\"\n".repeat(50)))));
            let answer = Message::new(Role::Assistant, vec![Part::text("an answer\n".repeat(100))]);
            long.messages.push(Arc::new(answer));
        }
        long.messages.push(Arc::new(Message::user("last")));
        let model = model(&server, kind);
        for round in 0..3 {
            let started = Instant::now();
            collect(&model, long.clone()).await;
            let size = server.last_request().raw_body.len();
            println!("{kind:?} request {round} of {size} bytes, sent and answered: {:?}", started.elapsed());
        }
    }
}

#[tokio::test]
#[ignore = "measures; only a release build says anything"]
async fn the_first_request() {
    let server = ModelServer::start();
    server.respond_with(|_| Turn::text("ok"));
    let started = Instant::now();
    let model = model(&server, ProviderKind::OpenaiChat);
    let connected = started.elapsed();
    collect(&model, hello()).await;
    println!("connect: {connected:?}, first answer: {:?}", started.elapsed());
    let started = Instant::now();
    collect(&model, hello()).await;
    println!("second answer: {:?}", started.elapsed());
}

#[test]
#[ignore = "measures; only a release build says anything"]
fn estimating_tokens() {
    let text = include_str!("failures.rs").repeat(2000);
    let started = Instant::now();
    let tokens = estimate_text(&text);
    let rate = text.len() as f64 / started.elapsed().as_secs_f64() / 1e6;
    println!("{tokens} tokens of {} bytes: {rate:.0} MB/s", text.len());
}
