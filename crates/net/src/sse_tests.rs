//! The event parser: line ends, marks, comments, borders, limits.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn parse(chunks: &[&[u8]], limit: usize) -> Result<Vec<(String, String)>, EventTooLong> {
    let mut parser = SseParser::new(limit);
    let mut events = Vec::new();
    let mut sink = |event: SseEvent<'_>| {
        events.push((
            String::from_utf8_lossy(event.name).into_owned(),
            String::from_utf8_lossy(event.data).into_owned(),
        ));
        Ok(())
    };
    for chunk in chunks {
        parser.feed(chunk, &mut sink)?;
    }
    parser.finish(&mut sink)?;
    Ok(events)
}

fn check(text: &str, expect: Expect) {
    let events = parse(&[text.as_bytes()], 1000).unwrap();
    expect.assert_eq(&format!("{events:?}"));
}

#[test]
fn line_ends_may_be_of_any_kind() {
    check("data: a\n\ndata:b\r\n\r\ndata: c\r\r", expect![[r#"[("", "a"), ("", "b"), ("", "c")]"#]]);
}

#[test]
fn comments_names_and_unknown_fields() {
    check(": ping\n\nevent: x\nid: 7\nretry: 3\ndata: 1\n\n", expect![[r#"[("x", "1")]"#]]);
}

#[test]
fn several_data_lines_are_joined() {
    check("data: a\ndata\ndata:  b\n\n", expect![[r#"[("", "a\n\n b")]"#]]);
}

#[test]
fn byte_order_mark_is_skipped() {
    check("\u{feff}data: a\n\n", expect![[r#"[("", "a")]"#]]);
}

#[test]
fn last_event_without_an_empty_line_counts() {
    check("data: a\n\ndata: [DONE]", expect![[r#"[("", "a"), ("", "[DONE]")]"#]]);
}

#[test]
fn name_is_forgotten_with_its_event() {
    check("event: x\n\ndata: 1\n\n", expect![[r#"[("", "1")]"#]]);
}

#[test]
fn an_endless_event_is_an_error() {
    assert_eq!(parse(&[b"data: ", &[b'x'; 100]], 64), Err(EventTooLong { limit: 64 }));
    let lines = "data: 0123456789\n".repeat(10);
    assert_eq!(parse(&[lines.as_bytes()], 64), Err(EventTooLong { limit: 64 }));
}

#[test]
fn every_border_gives_the_same_events() {
    let text = "\u{feff}event: a\r\ndata: {\"x\":\"é漢\"}\r\n\r\n: c\rdata: 1\rdata: 2\r\rdata: end\n\n";
    let whole = parse(&[text.as_bytes()], 1000).unwrap();
    for border in 0..=text.len() {
        let (left, right) = text.as_bytes().split_at(border);
        assert_eq!(parse(&[left, right], 1000).unwrap(), whole, "border {border}");
    }
    let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    assert_eq!(parse(&single, 1000).unwrap(), whole);
}

proptest! {
    #[test]
    fn chunking_never_changes_the_events(
        lines in prop::collection::vec("(data:|data: |event: |: |id: )?[a-zé\u{1f600} ]{0,8}(\n|\r|\r\n|\n\n|\r\n\r\n)", 0..20),
        sizes in prop::collection::vec(1usize..9, 1..40),
    ) {
        let text = lines.concat();
        let whole = parse(&[text.as_bytes()], 10_000).unwrap();
        let mut rest = text.as_bytes();
        let mut chunks = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() { break; }
            let (chunk, tail) = rest.split_at((*size).min(rest.len()));
            chunks.push(chunk);
            rest = tail;
        }
        prop_assert_eq!(parse(&chunks, 10_000).unwrap(), whole);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), size in 1usize..50) {
        let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
        let outcome = parse(&chunks, 128);
        prop_assert!(outcome.is_ok() || outcome.is_err());
    }
}
