//! What of a long conversation is sent.

use std::sync::Arc;

use proptest::prelude::*;
use stepwell_agent::ContextWindow;
use stepwell_llm::estimate_message;
use stepwell_protocol::{Message, Part, Role, ToolCall, ToolCallId, ToolResult};

/// A conversation of exchanges: a user message or a call with its result, of various sizes.
fn conversation() -> impl Strategy<Value = Vec<Arc<Message>>> {
    let exchange = (any::<bool>(), 1_usize..400).prop_map(|(is_call, words)| {
        let text = "word ".repeat(words);
        if is_call {
            let call = ToolCall {
                id: ToolCallId::generate(),
                name: "look".into(),
                arguments: serde_json::json!({"text": "x"}),
                opaque: None,
            };
            let result = ToolResult {
                call_id: call.id.clone(),
                tool: "look".into(),
                output: text,
                error: None,
                images: Vec::new(),
                artifacts: Vec::new(),
                detail: None,
                duration_ms: 0,
            };
            vec![
                Message::new(Role::Assistant, vec![Part::ToolCall { call }]),
                Message::new(Role::Tool, vec![Part::ToolResult { result }]),
            ]
        } else {
            vec![Message::new(Role::Assistant, vec![Part::text(text)]), Message::user("go on")]
        }
    });
    proptest::collection::vec(exchange, 1..40).prop_map(|exchanges| {
        let mut messages = vec![Arc::new(Message::user("the goal"))];
        messages.extend(exchanges.into_iter().flatten().map(Arc::new));
        messages
    })
}

fn tokens(messages: &[Arc<Message>]) -> u64 {
    messages.iter().map(|message| estimate_message(message)).sum()
}

proptest! {
    /// The request fits, the newest message is in it, the goal too, and no call is parted from its result.
    #[test]
    fn property_13_the_context_fits_and_keeps_the_newest(history in conversation(), room in 600_u64..6_000) {
        let mut window = ContextWindow::default();
        // As in a real run, the history grows turn by turn.
        for end in 1..=history.len() {
            let history = &history[..end];
            if history.last().unwrap().role == Role::Assistant && history.last().unwrap().tool_calls().next().is_some() {
                continue;
            }
            let fitted = window.fit(history, room).unwrap();
            prop_assert!(tokens(&fitted.messages) <= room, "{} > {room}", tokens(&fitted.messages));
            prop_assert_eq!(&fitted.messages.last().unwrap().id, &history.last().unwrap().id);
            prop_assert!(fitted.messages[0].text().starts_with("the goal"));
            prop_assert_eq!(fitted.messages.len() + fitted.dropped, history.len());
            for (index, message) in fitted.messages.iter().enumerate() {
                if message.role == Role::Tool {
                    prop_assert_eq!(fitted.messages[index - 1].tool_calls().count(), 1, "a result without its call");
                }
            }
        }
    }
}

#[test]
fn the_beginning_stays_the_same_between_two_cuts() {
    let mut window = ContextWindow::default();
    let mut history = vec![Arc::new(Message::user("the goal"))];
    let mut cuts = 0;
    let mut second: Option<stepwell_protocol::MessageId> = None;
    for _ in 0..200 {
        history.push(Arc::new(Message::new(Role::Assistant, vec![Part::text("word ".repeat(50))])));
        history.push(Arc::new(Message::user("go on")));
        let fitted = window.fit(&history, 2_000).unwrap();
        let now = fitted.messages[1].id.clone();
        if second.as_ref().is_some_and(|before| *before != now) {
            cuts += 1;
        }
        second = Some(now);
    }
    // 200 exchanges of about 55 tokens in a window of 2,000, of which a cut frees 600: far fewer cuts than turns.
    assert!((10..=30).contains(&cuts), "{cuts} cuts");
}

#[test]
fn one_message_that_is_too_long_is_clipped_not_lost() {
    let mut window = ContextWindow::default();
    let history = vec![Arc::new(Message::user(format!("start {} end", "word ".repeat(20_000))))];
    let fitted = window.fit(&history, 1_000).unwrap();
    let text = fitted.messages[0].text();
    assert!(text.starts_with("start") && text.ends_with("end"), "{text}");
    assert!(tokens(&fitted.messages) <= 1_000);
}
