//! For each fault, what whoever debugs is told, and how long that takes.

mod answers;
mod events;
mod handshake;

use std::time::Duration;

use serde_json::{Value, json};
use stepwell_test_support::{Act, AdapterScript};

pub fn behaved() -> AdapterScript {
    AdapterScript::behaved()
}

pub fn answer(body: Value) -> Act {
    Act::Answer(body)
}

pub fn event(name: &str, body: Value) -> Act {
    Act::Event(name.to_owned(), body)
}

pub fn stopped(reason: &str, thread: i64) -> Act {
    event("stopped", json!({ "reason": reason, "threadId": thread, "allThreadsStopped": true }))
}

pub fn framed(body: &str) -> Act {
    Act::Raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

pub fn seconds(count: u64) -> Act {
    Act::Wait(Duration::from_secs(count))
}
