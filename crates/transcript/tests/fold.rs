//! Whoever joins late sees what the others see: the log, what streams at that moment, and the events after it fold to the
//! same as all events from the beginning.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use stepwell_protocol::{
    AnswerOrigin, Event, EventRecord, InterruptReason, Message, MessageId, Part, PartialKind, Seq, Timestamp,
    ToolCall, ToolCallId, ToolResult,
};
use stepwell_transcript::{Entry, Transcript};

/// One thing that happens in a turn of the model.
#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Reasoning(String),
    Arguments(String),
    /// What streamed so far goes into the log.
    Keep,
    /// The connection was lost and the answer begins anew.
    Restart,
    Output(String),
}

/// How a turn ends.
#[derive(Clone, Debug)]
enum End {
    Answer,
    Calls(usize),
    Interrupted,
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let text = "[a-z é你\n]{1,6}";
    let piece = prop_oneof![
        4 => text.prop_map(Piece::Text),
        2 => text.prop_map(Piece::Reasoning),
        2 => text.prop_map(Piece::Arguments),
        2 => Just(Piece::Keep),
        1 => Just(Piece::Restart),
        1 => text.prop_map(Piece::Output),
    ];
    prop::collection::vec(piece, 0..12)
}

fn turns() -> impl Strategy<Value = Vec<(Vec<Piece>, End)>> {
    let end = prop_oneof![Just(End::Answer), (1usize..3).prop_map(End::Calls), Just(End::Interrupted)];
    prop::collection::vec((pieces(), end), 1..5)
}

/// What streams and how much of it the log has.
#[derive(Clone, Debug, Default)]
struct Stream {
    message: Option<MessageId>,
    text: String,
    reasoning: String,
    kept_text: usize,
    kept_reasoning: usize,
    call: Option<(ToolCallId, String)>,
}

/// A run as events, with what streams after each of them.
#[derive(Default)]
struct Script {
    events: Vec<(EventRecord, Stream)>,
    seq: u64,
    stream: Stream,
}

impl Script {
    fn push(&mut self, event: Event) {
        self.seq += u64::from(event.is_durable());
        let record = EventRecord { seq: Seq(self.seq), ts: Timestamp(0), event };
        self.events.push((record, self.stream.clone()));
    }

    fn turn(&mut self, number: usize, pieces: Vec<Piece>, end: &End) {
        let id = MessageId::new(format!("m{number}"));
        let message = Message {
            id: MessageId::new(format!("u{number}")),
            ts: Timestamp(0),
            ..Message::user(format!("question {number}"))
        };
        self.push(Event::UserMessage { message });
        self.stream = Stream { message: Some(id.clone()), ..Stream::default() };
        for piece in pieces {
            self.piece(number, &id, piece);
        }
        if matches!(end, End::Interrupted) {
            // What was received is kept before the answer is marked as cut off.
            self.piece(number, &id, Piece::Keep);
        }
        self.finish(number, &id, end);
    }

    fn piece(&mut self, number: usize, id: &MessageId, piece: Piece) {
        let message_id = id.clone();
        match piece {
            Piece::Text(content) => {
                let offset = self.stream.text.len() as u64;
                self.stream.text.push_str(&content);
                self.push(Event::Token { message_id, offset, content });
            }
            Piece::Reasoning(content) => {
                let offset = self.stream.reasoning.len() as u64;
                self.stream.reasoning.push_str(&content);
                self.push(Event::ReasoningToken { message_id, offset, content });
            }
            Piece::Arguments(arguments) => {
                let call_id = ToolCallId::new(format!("c{number}.0"));
                let call = self.stream.call.get_or_insert_with(|| (call_id.clone(), String::new()));
                let offset = call.1.len() as u64;
                call.1.push_str(&arguments);
                self.push(Event::CallForming {
                    message_id,
                    call_id,
                    name: "write".into(),
                    offset,
                    arguments,
                });
            }
            Piece::Keep => {
                let text = self.stream.text[self.stream.kept_text..].to_owned();
                let reasoning = self.stream.reasoning[self.stream.kept_reasoning..].to_owned();
                for (kind, kept, content) in [
                    (PartialKind::Reasoning, self.stream.kept_reasoning, reasoning),
                    (PartialKind::Text, self.stream.kept_text, text),
                ] {
                    if content.is_empty() {
                        continue;
                    }
                    match kind {
                        PartialKind::Text => self.stream.kept_text += content.len(),
                        PartialKind::Reasoning => self.stream.kept_reasoning += content.len(),
                    }
                    let (message_id, offset) = (id.clone(), kept as u64);
                    self.push(Event::PartialAnswer { message_id, kind, offset, content });
                }
            }
            Piece::Restart => {
                self.stream = Stream { message: Some(id.clone()), ..Stream::default() };
                self.push(Event::AnswerRestarted { message_id });
            }
            Piece::Output(text) => self.push(Event::ToolProgress { call_id: ToolCallId::new("none"), text }),
        }
    }

    fn finish(&mut self, number: usize, id: &MessageId, end: &End) {
        let Stream { text, reasoning, kept_text, .. } = std::mem::take(&mut self.stream);
        let mut parts = Vec::new();
        if !reasoning.is_empty() {
            parts.push(Part::Reasoning { text: reasoning, opaque: None });
        }
        match end {
            End::Answer => {
                if !parts.is_empty() {
                    // The text still streams, as far as anybody knows.
                    let (kept_text, message) = (kept_text.min(text.len()), Some(id.clone()));
                    self.stream = Stream { message, text: text.clone(), kept_text, ..Stream::default() };
                    self.push(Event::Thought { message_id: id.clone(), parts });
                    self.stream = Stream::default();
                }
                let origin = AnswerOrigin::Text;
                self.push(Event::Answer { message_id: id.clone(), content: text, origin });
            }
            End::Calls(count) => {
                parts.push(Part::text(text));
                self.push(Event::Thought { message_id: id.clone(), parts });
                let calls: Vec<ToolCall> = (0..*count).map(|index| call(number, index)).collect();
                for call in &calls {
                    self.push(Event::Action { message_id: id.clone(), call: call.clone() });
                }
                for call in &calls {
                    let result = ToolResult { output: "done".into(), ..failure(call) };
                    self.push(Event::Observation { result });
                }
            }
            End::Interrupted => {
                let reason = InterruptReason::Cancelled;
                self.push(Event::AnswerInterrupted { message_id: id.clone(), reason });
            }
        }
    }
}

fn call(number: usize, index: usize) -> ToolCall {
    ToolCall {
        id: ToolCallId::new(format!("c{number}.{index}")),
        name: "write".into(),
        arguments: serde_json::json!({}),
        opaque: None,
    }
}

fn failure(call: &ToolCall) -> ToolResult {
    ToolResult { error: None, ..ToolResult::failure(call, stepwell_protocol::ErrorClass::ExecutionError, "") }
}

/// What somebody is sent who joins after `count` events: the log, and what streams and is not in it.
fn late(events: &[(EventRecord, Stream)], count: usize) -> Transcript {
    let mut transcript = Transcript::default();
    for (record, _) in events[..count].iter().filter(|(record, _)| record.event.is_durable()) {
        transcript.apply(record);
    }
    let Some((last, stream)) = count.checked_sub(1).map(|index| &events[index]) else { return transcript };
    let Some(message_id) = stream.message.clone() else { return transcript };
    let mut show = |event| transcript.apply(&EventRecord { seq: last.seq, ts: Timestamp(0), event });
    if stream.reasoning.len() > stream.kept_reasoning {
        let content = stream.reasoning[stream.kept_reasoning..].to_owned();
        let offset = stream.kept_reasoning as u64;
        show(Event::ReasoningToken { message_id: message_id.clone(), offset, content });
    }
    if stream.text.len() > stream.kept_text {
        let content = stream.text[stream.kept_text..].to_owned();
        show(Event::Token { message_id: message_id.clone(), offset: stream.kept_text as u64, content });
    }
    if let Some((call_id, arguments)) = stream.call.clone() {
        show(Event::CallForming { message_id, call_id, name: "write".into(), offset: 0, arguments });
    }
    transcript
}

/// What a person reads. Where a streaming answer began is nobody's business, and an empty one is not seen.
fn seen(transcript: &Transcript) -> (Vec<Entry>, Vec<(String, String)>) {
    let entries = transcript.items().iter().map(|item| item.entry.clone());
    let is_seen = |entry: &Entry| !matches!(entry, Entry::Answer { content, reasoning, unfinished: true, .. } if content.is_empty() && reasoning.is_empty());
    let forming =
        transcript.activity.forming.iter().map(|call| (call.call_id.to_string(), call.arguments.clone()));
    (entries.filter(is_seen).collect(), forming.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn joining_at_any_point_shows_the_same_from_there_on(turns in turns(), at in any::<prop::sample::Index>()) {
        let mut script = Script::default();
        for (number, (pieces, end)) in turns.into_iter().enumerate() {
            script.turn(number, pieces, &end);
        }
        let events = script.events;
        let join = at.index(events.len() + 1);
        let mut whole = Transcript::default();
        for (record, _) in &events[..join] {
            whole.apply(record);
        }
        let mut late = late(&events, join);
        prop_assert_eq!(seen(&late), seen(&whole), "at the moment of joining");
        for (index, (record, _)) in events.iter().enumerate().skip(join) {
            whole.apply(record);
            late.apply(record);
            prop_assert_eq!(seen(&late), seen(&whole), "after event {}: {:?}", index, record.event);
        }
        prop_assert_eq!(&late.summary, &whole.summary);
    }

    #[test]
    fn a_piece_of_the_log_that_is_read_twice_changes_nothing(turns in turns(), at in any::<prop::sample::Index>()) {
        let mut script = Script::default();
        for (number, (pieces, end)) in turns.into_iter().enumerate() {
            script.turn(number, pieces, &end);
        }
        let log: Vec<EventRecord> =
            script.events.into_iter().map(|(record, _)| record).filter(|record| record.event.is_durable()).collect();
        let once = Transcript::of(&log);
        let again = at.index(log.len());
        let twice: Vec<EventRecord> = log.iter().chain(&log[again..]).cloned().collect();
        prop_assert_eq!(seen(&Transcript::of(&twice)), seen(&once));
    }
}

/// The page has a fold of its own, in TypeScript. It is compared with this one on these cases: `web/src/fold/twin.test.ts`.
/// `UPDATE_EXPECT=1` writes them anew.
#[test]
fn cases_for_the_fold_of_the_page_are_fresh() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut cases = vec![every_event()];
    for _ in 0..24 {
        let turns = turns().new_tree(&mut runner).unwrap().current();
        let mut script = Script::default();
        for (number, (pieces, end)) in turns.into_iter().enumerate() {
            script.turn(number, pieces, &end);
        }
        cases.push(script.events.into_iter().map(|(record, _)| record).collect());
    }
    let cases: Vec<serde_json::Value> = cases
        .iter()
        .map(|records| serde_json::json!({"records": records, "folded": Transcript::of(records)}))
        .collect();
    let text = serde_json::to_string(&cases).unwrap() + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases.json");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert!(std::fs::read_to_string(path).unwrap_or_default() == text, "run with UPDATE_EXPECT=1");
}

/// A task in which everything happens once.
fn every_event() -> Vec<EventRecord> {
    let events: Vec<Event> = serde_json::from_str(include_str!("every_event.json")).unwrap();
    let mut seq = 0;
    let record = |event: Event| {
        seq += u64::from(event.is_durable());
        EventRecord { seq: Seq(seq), ts: Timestamp(i64::try_from(seq).unwrap() * 1000), event }
    };
    events.into_iter().map(record).collect()
}

#[test]
fn the_case_of_everything_has_every_event() {
    let schema = stepwell_protocol::json_schema();
    let known = schema["$defs"]["Event"]["oneOf"].as_array().unwrap().iter();
    let names = known.map(|variant| variant["properties"]["type"]["const"].as_str().unwrap().to_owned());
    let there: Vec<String> = every_event()
        .iter()
        .map(|record| serde_json::to_value(&record.event).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    let missing: Vec<String> = names.filter(|name| !there.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
