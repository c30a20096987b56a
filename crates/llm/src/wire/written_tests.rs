//! A request that goes on from an earlier one is the same as one written from nothing.

use proptest::prelude::*;
use serde_json::json;
use stepwell_protocol::{Part, Role, ToolCall, ToolResult};

use super::*;

/// Writes what is there to see: which messages, and where marks are.
struct Plain;

impl TurnWriter for Plain {
    const MARKED_INPUTS: usize = 2;

    fn input(&self, turn: &Turn<'_>, is_marked: bool, body: &mut JsonText) -> Result<(), Error> {
        let Turn::Input { messages, unanswered, note } = turn else { return Ok(()) };
        let texts: Vec<String> = messages.iter().map(|message| format!("{:?}", message.parts)).collect();
        let calls: Vec<&str> = unanswered.iter().map(|call| call.id.as_str()).collect();
        body.comma().value(&json!({ "in": texts, "calls": calls, "note": note, "mark": is_marked }))?;
        Ok(())
    }

    fn assistant(&self, messages: &[Arc<Message>], body: &mut JsonText) -> Result<(), Error> {
        for message in messages {
            body.comma().value(&format!("{:?}", message.parts))?;
        }
        Ok(())
    }
}

fn head(text: &str) -> JsonText {
    let mut head = JsonText::default();
    head.raw(text).raw("[");
    head
}

fn call(id: u8) -> ToolCall {
    ToolCall { id: format!("c{id}").into(), name: "bash".into(), arguments: json!({}), opaque: None }
}

/// Messages of every kind, in any order, results without calls and calls without results among them.
fn messages() -> impl Strategy<Value = Vec<Arc<Message>>> {
    let message = (0_u8..6, 0_u8..4).prop_map(|(kind, id)| {
        let (role, parts) = match kind {
            0 => (Role::User, vec![Part::text(format!("u{id}"))]),
            1 => (Role::Assistant, vec![Part::text(format!("a{id}"))]),
            2 => (Role::Assistant, vec![Part::ToolCall { call: call(id) }]),
            3 => {
                let mut result =
                    ToolResult::failure(&call(id), stepwell_protocol::ErrorClass::TimeoutError, "r");
                result.error = None;
                (Role::Tool, vec![Part::ToolResult { result }])
            }
            4 => (Role::Assistant, vec![Part::Reasoning { text: "hm".into(), opaque: None }]),
            _ => (Role::User, Vec::new()),
        };
        Arc::new(Message::new(role, parts))
    });
    prop::collection::vec(message, 0..40)
}

proptest! {
    #[test]
    fn every_request_is_as_if_written_from_nothing(
        messages in messages(),
        lengths in prop::collection::vec((0_usize..40, 0_usize..2), 1..20),
    ) {
        let kept = Written::default();
        for (length, system) in lengths {
            let part = &messages[..length.min(messages.len())];
            let head_text = ["one", "two"][system];
            let again = kept.request(head(head_text), part, &Plain).unwrap();
            let fresh = Written::default().request(head(head_text), part, &Plain).unwrap();
            prop_assert_eq!(again, fresh);
        }
    }
}

#[test]
fn only_what_is_new_is_written() {
    struct Counting(std::cell::Cell<usize>);
    impl TurnWriter for Counting {
        fn input(&self, turn: &Turn<'_>, is_marked: bool, body: &mut JsonText) -> Result<(), Error> {
            self.0.set(self.0.get() + 1);
            Plain.input(turn, is_marked, body)
        }

        fn assistant(&self, messages: &[Arc<Message>], body: &mut JsonText) -> Result<(), Error> {
            self.0.set(self.0.get() + 1);
            Plain.assistant(messages, body)
        }
    }
    let kept = Written::default();
    let mut history = vec![Arc::new(Message::user("go"))];
    for turn in 0..200 {
        let count = Counting(std::cell::Cell::default());
        kept.request(head("h"), &history, &count).unwrap();
        assert!(count.0.get() <= 4, "turn {turn} wrote {} turns", count.0.get());
        history.push(Arc::new(Message::new(Role::Assistant, vec![Part::text("a")])));
        history.push(Arc::new(Message::user("u")));
    }
}

#[test]
fn a_changed_message_is_written_anew() {
    let kept = Written::default();
    let mut history: Vec<Arc<Message>> = (0..10)
        .map(|number| {
            let role = if number % 2 == 0 { Role::User } else { Role::Assistant };
            Arc::new(Message::new(role, vec![Part::text(number.to_string())]))
        })
        .collect();
    kept.request(head("h"), &history, &Plain).unwrap();
    Arc::make_mut(&mut history[2]).parts = vec![Part::text("changed")];
    let text = kept.request(head("h"), &history, &Plain).unwrap();
    assert!(String::from_utf8_lossy(&text).contains("changed"));
}

#[test]
fn few_conversations_are_kept() {
    let kept = Written::default();
    for number in 0..20 {
        let history: Vec<Arc<Message>> = (0..10)
            .map(|_| {
                Arc::new(Message::new(
                    if number % 2 == 0 { Role::User } else { Role::Assistant },
                    vec![Part::text("x")],
                ))
            })
            .chain([Arc::new(Message::user("y"))])
            .collect();
        kept.request(head("h"), &history, &Plain).unwrap();
    }
    assert!(kept.inner.lock().beginnings.len() <= MOST_BEGINNINGS);
}
