//! Frames, good and bad, cut anywhere.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use stepwell_workspace::frames::LONGEST_MESSAGE;

use super::*;

async fn read_all(bytes: &[u8]) -> String {
    let mut reader = MessageReader::new(bytes);
    let mut out = String::new();
    loop {
        match reader.next().await {
            Ok(Incoming::Message(message)) => {
                let body = message.body.map(|body| body.get().chars().take(40).collect::<String>());
                out += &format!("{} {}{} {body:?}\n", message.kind, message.command, message.event);
            }
            Ok(other) => out += &format!("{other:?}\n"),
            Err(error) => return out + &error.to_string(),
        }
    }
}

#[track_caller]
fn check(bytes: &[u8], expected: Expect) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    expected.assert_eq(&runtime.block_on(read_all(bytes)));
}

fn framed(json: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{json}", json.len()).into_bytes()
}

#[test]
fn messages_are_told_apart() {
    let mut bytes = framed(r#"{"seq":1,"type":"event","event":"initialized"}"#);
    bytes.extend(b"Content-Type: x\r\n");
    bytes.extend(framed(r#"{"seq":2,"type":"response","request_seq":1,"success":true,"command":"next","body":{"a":1},"more":2}"#));
    check(
        &bytes,
        expect![[r#"
        event initialized None
        response next Some("{\"a\":1}")
        the adapter closed the connection"#]],
    );
}

#[test]
fn noise_before_a_message_is_passed_over() {
    let mut bytes = b"Debugger 1.0 is listening\n".to_vec();
    bytes.extend(b"Content-Length: 31\n\n{\"type\":\"event\",\"event\":\"hello\"}");
    check(
        &bytes,
        expect![[r#"
        Malformed("EOF while parsing an object at line 1 column 31")
        the adapter closed the connection"#]],
    );
    check(
        &vec![b'x'; 200_000],
        expect![[
            r#"the adapter does not speak the Debug Adapter Protocol: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx""#
        ]],
    );
}

#[test]
fn bad_lengths_and_bodies_end_in_words() {
    check(
        b"Content-Length: -5\r\n\r\n{}",
        expect!["the adapter does not speak the Debug Adapter Protocol: `-5` is no length of a message"],
    );
    check(
        b"Content-Length: 9000000000000000000000\r\n\r\n{}",
        expect![
            "the adapter does not speak the Debug Adapter Protocol: `9000000000000000000000` is no length of a message"
        ],
    );
    check(
        b"Content-Length: 9000000000000000000\r\n\r\n{}",
        expect![
            "the adapter does not speak the Debug Adapter Protocol: `9000000000000000000` is no length of a message"
        ],
    );
    check(
        &framed("[1,2"),
        expect![[r#"
            Malformed("invalid type: integer `2`, expected a string at line 1 column 4")
            the adapter closed the connection"#]],
    );
    let deep = format!("{{\"body\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    check(
        &framed(&deep),
        expect![[r#"
              Some("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[")
            the adapter closed the connection"#]],
    );
    let mut latin = b"Content-Length: 45\r\n\r\n".to_vec();
    latin.extend(b"{\"type\":\"event\",\"event\":\"x\",\"body\":\"caf\xe9 \xff\xfe\"} ");
    check(
        &latin,
        expect![[r#"
            event x Some("\"caf� ��\"")
            the adapter closed the connection"#]],
    );
}

#[test]
fn a_message_beyond_the_bounds_is_read_past() {
    let long = format!(r#"{{"type":"response","request_seq": 77,"body":"{}"}}"#, "x".repeat(LONGEST_MESSAGE));
    let mut bytes = framed(&long);
    bytes.extend(framed(r#"{"type":"event","event":"after"}"#));
    check(
        &bytes,
        expect![[r#"
            TooLong { length: 16777263, request_seq: Some(77) }
            event after None
            the adapter closed the connection"#]],
    );
}

proptest! {
    #[test]
    fn any_bytes_end_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(read_all(&bytes));
    }

    #[test]
    fn what_is_framed_is_read_back(texts in proptest::collection::vec(".{0,200}", 0..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut bytes = Vec::new();
        for text in &texts {
            bytes.extend(frame(&serde_json::json!({ "type": "event", "event": text })).unwrap());
        }
        let read = runtime.block_on(async {
            let mut reader = MessageReader::new(bytes.as_slice());
            let mut read = Vec::new();
            while let Ok(Incoming::Message(message)) = reader.next().await {
                read.push(message.event);
            }
            read
        });
        prop_assert_eq!(read, texts);
    }
}
