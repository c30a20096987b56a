//! Generated runs: what the engine would have appended, with every kind of ending.

use proptest::prelude::*;
use serde_json::{Value, json};
use stepwell_protocol::{
    AnswerOrigin, ApprovalAnswer, ApprovalId, ApprovalRequest, ApprovalSource, ErrorClass, Event, Image,
    InterruptReason, Message, MessageId, Part, PartialKind, Preview, Risk, Role, TaskId, TaskInfo, TaskState,
    Timestamp, ToolCall, ToolResult, Usage,
};
use stepwell_store::{Home, OpenedLog, TaskLog};
use tempfile::TempDir;

/// A home in memory where the system has one: thousands of syncs are no test of the disk.
pub fn temp_home() -> (TempDir, Home) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let home = Home::new(folder.path());
    (folder, home)
}

pub fn info(id: &str) -> TaskInfo {
    TaskInfo {
        id: id.into(),
        root: id.into(),
        parent: None,
        forked_from: None,
        number: 1,
        title: String::new(),
        mode: "code".into(),
        agent: None,
        model: "test/model".into(),
        workspace: "/project".into(),
        created_at: Timestamp(1_760_000_000_000),
    }
}

/// Makes a task that holds these events.
pub fn task_with(home: &Home, id: &str, events: &[Event]) -> TaskId {
    let OpenedLog { mut log, .. } = TaskLog::create(home, info(id)).unwrap();
    for batch in events.chunks(3) {
        log.append(batch).unwrap();
    }
    id.into()
}

pub fn user(id: &str, text: &str) -> Event {
    Event::UserMessage { message: message(id, vec![Part::text(text)]) }
}

pub fn message(id: &str, parts: Vec<Part>) -> Message {
    Message { id: id.into(), role: Role::User, parts, ts: Timestamp(1_760_000_000_001), interrupted: false }
}

pub fn thought(id: &str, text: &str) -> Event {
    let parts = if text.is_empty() { vec![] } else { vec![Part::text(text)] };
    Event::Thought { message_id: id.into(), parts }
}

pub fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments, opaque: None }
}

pub fn action(message_id: &str, call: ToolCall) -> Event {
    Event::Action { message_id: message_id.into(), call }
}

pub fn success(call: &ToolCall, output: &str) -> Event {
    let mut result = ToolResult::failure(call, ErrorClass::ExecutionError, output);
    result.error = None;
    Event::Observation { result }
}

pub fn failure(call: &ToolCall, output: &str) -> Event {
    Event::Observation { result: ToolResult::failure(call, ErrorClass::ExecutionError, output) }
}

pub fn answer(id: &str, text: &str) -> Event {
    Event::Answer { message_id: id.into(), content: text.into(), origin: AnswerOrigin::Text }
}

pub fn partial(id: &str, offset: u64, text: &str) -> Event {
    Event::PartialAnswer { message_id: id.into(), kind: PartialKind::Text, offset, content: text.into() }
}

#[derive(Clone, Debug)]
pub struct Turn {
    text: String,
    image: bool,
    steps: Vec<Step>,
    ending: Ending,
}

#[derive(Clone, Debug)]
struct Step {
    said: String,
    reasoning: bool,
    calls: Vec<(String, bool, bool)>,
    interleaved: bool,
}

#[derive(Clone, Debug)]
enum Ending {
    Answer(String),
    Completion(String),
    Interrupted(String),
    Rewound,
}

pub fn turns(texts: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = Vec<Turn>> {
    let call = (texts.clone(), any::<bool>(), any::<bool>());
    let step = (texts.clone(), any::<bool>(), prop::collection::vec(call, 1..3), any::<bool>())
        .prop_map(|(said, reasoning, calls, interleaved)| Step { said, reasoning, calls, interleaved });
    let ending = prop_oneof![
        4 => texts.clone().prop_map(Ending::Answer),
        1 => texts.clone().prop_map(Ending::Completion),
        1 => texts.clone().prop_map(Ending::Interrupted),
        1 => Just(Ending::Rewound),
    ];
    let turn = (texts, any::<bool>(), prop::collection::vec(step, 0..3), ending)
        .prop_map(|(text, image, steps, ending)| Turn { text, image, steps, ending });
    prop::collection::vec(turn, 1..3)
}

/// The events of a run, in the order in which the engine appends them.
pub fn events(turns: &[Turn]) -> Vec<Event> {
    let mut events = vec![Event::StateChanged { state: TaskState::Running }];
    let mut next = 0;
    let mut id = |kind: &str| {
        next += 1;
        format!("{kind}{next}")
    };
    for turn in turns {
        let user_id = id("u");
        let mut parts = vec![Part::text(format!("? {}", turn.text))];
        if turn.image {
            let image = Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
            parts.push(Part::Image { image });
        }
        let message = message(&user_id, parts);
        events.push(Event::MessageQueued { message: message.clone() });
        events.push(Event::UserMessage { message });
        for step in &turn.steps {
            step_events(step, &mut id, &mut events);
        }
        let last = id("a");
        match &turn.ending {
            Ending::Answer(text) => {
                let (first, rest) = text.split_at(text.floor_char_boundary(text.len() / 2));
                events.push(partial(&last, 0, first));
                events.push(partial(&last, first.len() as u64, rest));
                events.push(Event::Thought {
                    message_id: last.as_str().into(),
                    parts: vec![Part::Reasoning { text: "hm".into(), opaque: Some(json!({"sig": "x"})) }],
                });
                events.push(answer(&last, text));
                events.push(Event::StateChanged { state: TaskState::Completed });
            }
            Ending::Completion(text) => {
                let call = call(&id("c"), "attempt_completion", json!({"result": text}));
                events.push(thought(&last, ""));
                events.push(action(&last, call.clone()));
                events.push(success(&call, "done"));
                events.push(Event::Answer {
                    message_id: last.as_str().into(),
                    content: text.clone(),
                    origin: AnswerOrigin::Completion,
                });
            }
            Ending::Interrupted(text) => {
                events.push(partial(&last, 0, text));
                events.push(Event::AnswerInterrupted {
                    message_id: last.as_str().into(),
                    reason: InterruptReason::Cancelled,
                });
            }
            Ending::Rewound => events.push(Event::HistoryRewound { to_before: user_id.into() }),
        }
    }
    events
}

fn step_events(step: &Step, id: &mut impl FnMut(&str) -> String, events: &mut Vec<Event>) {
    let message_id = id("a");
    events.push(partial(&message_id, 0, &step.said));
    let mut parts = Vec::new();
    if step.reasoning {
        parts.push(Part::Reasoning { text: "let me see".into(), opaque: None });
    }
    if !step.said.is_empty() {
        parts.push(Part::text(&step.said));
    }
    events.push(Event::Thought { message_id: MessageId::from(message_id.as_str()), parts });
    events.push(Event::Usage {
        model: "test/model".into(),
        usage: Usage { input_tokens: 10, output_tokens: 2, cost_usd: Some(0.25), ..Usage::default() },
    });
    let mut results = Vec::new();
    for (text, ok, asks) in &step.calls {
        let call_id = id("c");
        let call = call(&call_id, "read", json!({"file_path": text, "offset": 3, "$blob": [text, 0.1]}));
        events.push(action(&message_id, call.clone()));
        if *asks {
            let approval = ApprovalId::from(id("p"));
            events.push(Event::ApprovalRequested {
                request: ApprovalRequest {
                    id: approval.clone(),
                    call: call.clone(),
                    risk: Risk::Execute,
                    reason: "asks".into(),
                    preview: Preview::default(),
                    grant: None,
                    from: None,
                },
            });
            events.push(Event::ApprovalResolved {
                id: approval,
                answer: ApprovalAnswer::yes(),
                source: ApprovalSource::Person,
            });
        }
        let result = if *ok { success(&call, text) } else { failure(&call, text) };
        if step.interleaved {
            events.push(result);
        } else {
            results.push(result);
        }
    }
    results.reverse();
    events.append(&mut results);
}
