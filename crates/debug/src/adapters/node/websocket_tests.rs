//! Messages in any number of parts come out whole, and one that is too long costs itself alone.

use proptest::prelude::*;

use super::*;

/// A part as a server sends it: not masked.
fn part(kind: u8, is_last: bool, bytes: &[u8]) -> Vec<u8> {
    let mut part = vec![kind | if is_last { IS_LAST } else { 0 }];
    match bytes.len() {
        length @ 0..=125 => part.push(length as u8),
        length @ 126..=0xffff => {
            part.push(IN_TWO);
            part.extend((length as u16).to_be_bytes());
        }
        length => {
            part.push(IN_EIGHT);
            part.extend((length as u64).to_be_bytes());
        }
    }
    part.extend_from_slice(bytes);
    part
}

fn read(bytes: Vec<u8>) -> (Vec<Message>, io::Error) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut reader = Reader { source: Box::new(io::Cursor::new(bytes)), buffer: Vec::new(), at: 0 };
        let mut messages = Vec::new();
        loop {
            match reader.next().await {
                Ok(message) => messages.push(message),
                Err(error) => return (messages, error),
            }
        }
    })
}

#[test]
fn what_is_no_websocket_is_refused() {
    for (bytes, reason) in [
        (vec![0xc1, 0], "no WebSocket"),
        (vec![0x81, 0x80, 0, 0, 0, 0], "no WebSocket"),
        (vec![0x83, 0], "no known kind"),
        (vec![0x09, 0], "control message"),
        (vec![0x81, IN_EIGHT, 1, 0, 0, 0, 0, 0, 0, 0], "absurd length"),
        (b"HTTP/1.1 400".to_vec(), "no WebSocket"),
        (vec![0x81, 5, b'x'], "unexpected end of file"),
    ] {
        let (messages, error) = read(bytes.clone());
        assert!(messages.is_empty() && error.to_string().contains(reason), "{bytes:?} {error}");
    }
}

#[test]
fn a_message_that_is_too_long_is_read_past() {
    let mut long = br#"{"id":7,"result":""#.to_vec();
    long.resize(LONGEST_MESSAGE as usize - 5, b'x');
    let mut bytes = part(TEXT, false, &long);
    bytes.extend(part(PING, true, b"?"));
    bytes.extend(part(CONTINUED, false, &[b'y'; 100]));
    bytes.extend(part(CONTINUED, true, b"\"}"));
    bytes.extend(part(TEXT, true, b"next"));
    let (messages, _) = read(bytes);
    match &messages[..] {
        [Message::TooLong { length, beginning }, Message::Text(next)] => {
            assert_eq!(*length, LONGEST_MESSAGE + 97);
            assert!(beginning.starts_with(b"{\"id\":7,") && beginning.len() == KEPT_OF_LONG);
            assert_eq!(next, b"next");
        }
        other => panic!("{} messages", other.len()),
    }
}

proptest! {
    #[test]
    fn parts_become_messages(
        messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..6),
        cut in 1_usize..200,
        pings in any::<bool>(),
    ) {
        let mut bytes = Vec::new();
        for message in &messages {
            let parts: Vec<&[u8]> = if message.is_empty() { vec![&[]] } else { message.chunks(cut).collect() };
            for (at, piece) in parts.iter().enumerate() {
                if pings && at > 0 {
                    bytes.extend(part(PING, true, b"are you there"));
                }
                bytes.extend(part(if at == 0 { TEXT } else { CONTINUED }, at + 1 == parts.len(), piece));
            }
        }
        bytes.extend(part(CLOSE, true, &[]));
        let (read, _) = read(bytes);
        let texts: Vec<&Vec<u8>> =
            read.iter().filter_map(|message| if let Message::Text(text) = message { Some(text) } else { None }).collect();
        prop_assert_eq!(texts, messages.iter().collect::<Vec<_>>());
        prop_assert!(matches!(read.last(), Some(Message::Closed)));
    }

    #[test]
    fn what_is_sent_is_masked_and_whole(message in proptest::collection::vec(any::<u8>(), 0..70_000)) {
        let frame = text(&message);
        prop_assert!(frame[1] & IS_MASKED != 0);
        let head = match message.len() { 0..=125 => 2, 126..=0xffff => 4, _ => 10 };
        let mask = &frame[head..head + 4];
        let sent: Vec<u8> = frame[head + 4..].iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        prop_assert_eq!(sent, message);
    }
}
