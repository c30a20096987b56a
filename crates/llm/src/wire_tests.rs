//! Decoders fed with anything: they may refuse it, they may not panic, and what they give keeps its order.

use proptest::prelude::*;

use super::*;
use crate::model::Delta;
use crate::providers::anthropic::AnthropicDecoder;
use crate::providers::gemini::GeminiDecoder;
use crate::providers::openai_chat::ChatDecoder;
use crate::providers::openai_responses::ResponsesDecoder;

/// Feeds the events to a decoder and takes what comes out, up to the first fault.
fn decode(mut decoder: impl Decoder, events: &[Vec<u8>]) -> Vec<Delta> {
    let mut assembly = Assembly::new(None);
    for event in events {
        if decoder.event(SseEvent { name: b"", data: event }, &mut assembly).is_err() {
            break;
        }
    }
    assembly.finish();
    let mut deltas = Vec::new();
    while let Some(delta) = assembly.pop() {
        deltas.push(delta);
    }
    deltas
}

/// Calls are started once, in order, and nothing comes for a call that is not open.
fn assert_in_order(deltas: &[Delta]) {
    let mut open: Vec<bool> = Vec::new();
    for delta in deltas {
        match delta {
            Delta::CallStart { index, .. } => {
                assert_eq!(*index, open.len());
                open.push(true);
            }
            Delta::CallArguments { index, .. } => assert!(open[*index]),
            Delta::CallEnd { index, .. } => assert!(std::mem::take(&mut open[*index])),
            _ => {}
        }
    }
    if matches!(deltas.last(), Some(Delta::Stop(_))) {
        assert!(open.iter().all(|open| !open), "{deltas:?}");
    }
}

fn try_all(events: &[Vec<u8>]) {
    assert_in_order(&decode(ChatDecoder::default(), events));
    assert_in_order(&decode(ResponsesDecoder::default(), events));
    assert_in_order(&decode(AnthropicDecoder::default(), events));
    assert_in_order(&decode(GeminiDecoder::default(), events));
    let whole = events.concat();
    let mut assembly = Assembly::new(None);
    // Whether it is taken or refused is not the point here.
    drop(ChatDecoder::default().whole(&whole, &mut assembly));
    drop(ResponsesDecoder::default().whole(&whole, &mut assembly));
    drop(AnthropicDecoder::default().whole(&whole, &mut assembly));
    drop(GeminiDecoder::default().whole(&whole, &mut assembly));
}

/// Events of all formats with holes, repetitions and wrong order.
fn event() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        r#"{"choices":[{"delta":{"tool_calls":[{"index":I,"id":"a","function":{"name":"n","arguments":"{"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":I,"function":{"arguments":"}"}}]},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"arguments":{"x":I}}}],"content":"t"}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"r","content":null}}],"usage":{"prompt_tokens":I}}"#,
        r#"{"type":"content_block_start","index":I,"content_block":{"type":"tool_use","id":"a","name":"n","input":{}}}"#,
        r#"{"type":"content_block_start","index":I,"content_block":{"type":"thinking"}}"#,
        r#"{"type":"content_block_delta","index":I,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":I}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":I}}"#,
        r#"{"type":"response.output_item.added","output_index":I,"item":{"type":"function_call","call_id":"c","name":"n"}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":I,"delta":"{}"}"#,
        r#"{"type":"response.output_item.done","output_index":I,"item":{"type":"function_call","arguments":"{}"}}"#,
        r#"{"type":"response.completed","response":{"status":"completed"}}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"n","args":{"a":I}}},{"text":"t","thought":true}]}}]}"#,
        r#"{"candidates":[{"finishReason":"STOP"}]}"#,
        r"[DONE]",
        r#"{"type":"message_stop"}"#,
        "{}",
        "null",
        "[]",
    ]);
    prop_oneof![
        8 => (words, 0u8..4).prop_map(|(word, number)| word.replace('I', &number.to_string()).into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #[test]
    fn any_events_are_survived(events in prop::collection::vec(event(), 0..12)) {
        try_all(&events);
    }

    #[test]
    fn cut_events_are_survived(event in event(), cut in 0usize..80) {
        let cut = cut.min(event.len());
        try_all(&[event[..cut].to_vec(), event]);
    }
}

#[test]
fn paths_are_added_to_a_base() {
    for (base, expected) in [
        ("http://x/v1", "http://x/v1/a/b"),
        ("http://x/v1/", "http://x/v1/a/b"),
        ("http://x", "http://x/a/b"),
        ("http://x/d?api-version=7", "http://x/d/a/b?api-version=7"),
    ] {
        assert_eq!(join(&Url::parse(base).unwrap(), &["a", "b"]).unwrap().as_str(), expected);
    }
    assert!(join(&Url::parse("data:x").unwrap(), &["a"]).is_err());
}
