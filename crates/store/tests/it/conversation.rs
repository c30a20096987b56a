//! Conversations as JSON: nothing lost on the way there and back, and three different errors.

use std::sync::Arc;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Map, Value};
use stepwell_protocol::{Message, Part, Role, Timestamp};
use stepwell_store::{
    CONVERSATION_VERSION, Conversation, ConversationMessage, ConversationMetadata, ConversationRole,
    ConversationToolCall, ConversationToolResult, Error, Index, ModelHistory, check_history, import_task,
    read_log, to_markdown,
};

use crate::runs::{
    action, answer, call, events, failure, partial, success, task_with, temp_home, thought, turns, user,
};

fn object() -> impl Strategy<Value = Map<String, Value>> {
    let value = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        "\\PC{0,10}".prop_map(Value::from),
        prop::collection::vec("\\PC{0,4}".prop_map(Value::from), 0..3).prop_map(Value::from),
    ];
    prop::collection::vec(("\\PC{1,6}", value), 0..4).prop_map(|fields| fields.into_iter().collect())
}

fn tool_call() -> impl Strategy<Value = ConversationToolCall> {
    (".{1,8}", object(), any::<bool>(), "\\PC{0,20}", prop::option::of("\\PC{0,10}")).prop_map(
        |(name, parameters, success, output, error)| ConversationToolCall {
            name,
            parameters,
            result: ConversationToolResult { success, output, error },
        },
    )
}

fn conversation() -> impl Strategy<Value = Conversation> {
    let role = prop_oneof![
        Just(ConversationRole::User),
        Just(ConversationRole::Assistant),
        Just(ConversationRole::System),
        Just(ConversationRole::Tool),
    ];
    let message = (role, "(?s).{0,20}", any::<i64>(), prop::option::of(tool_call()), tool_call(), object());
    let messages = prop::collection::vec(message, 0..8).prop_map(|messages| {
        let with_ids = messages.into_iter().enumerate();
        with_ids
            .map(|(index, (role, content, timestamp, some, always, extra))| ConversationMessage {
                id: format!("m{index}"),
                role,
                content,
                timestamp,
                tool_call: if role == ConversationRole::Tool { Some(always) } else { some },
                extra,
            })
            .collect::<Vec<_>>()
    });
    let metadata = ("\\PC{0,10}", any::<u64>(), prop::collection::vec("\\PC{0,6}", 0..4)).prop_map(
        |(model, total_tokens, tools_used)| ConversationMetadata { model, total_tokens, tools_used },
    );
    ("\\PC{0,10}", "(?s).{0,20}", messages, metadata, any::<(i64, i64)>(), object()).prop_map(
        |(id, title, messages, metadata, (created_at, updated_at), extra)| Conversation {
            version: CONVERSATION_VERSION,
            id,
            title,
            messages,
            metadata,
            created_at,
            updated_at,
            extra,
        },
    )
}

/// Messages without what an import gives anew.
pub fn said(messages: &[Arc<Message>]) -> Vec<(Role, Vec<Part>)> {
    messages.iter().map(|message| (message.role, message.parts.clone())).collect()
}

proptest! {
    /// S3, property 1: serialised and read again, a conversation is the same.
    #[test]
    fn property_1_conversation_round_trip(conversation in conversation()) {
        let json = conversation.serialize().unwrap();
        prop_assert_eq!(Conversation::deserialize(&json).unwrap(), conversation);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn our_own_export_comes_back_whole(turns in turns("[a-z$é中 \n\"]{1,12}".boxed())) {
        let (_folder, home) = temp_home();
        let id = task_with(&home, "source", &events(&turns));
        let records = read_log(&home, &id).unwrap();
        let exported = Conversation::of(&records).serialize().unwrap();
        let task = Conversation::deserialize(&exported).unwrap().into_task();
        import_task(&home, &"copy".into(), task).unwrap();
        let copy = ModelHistory::of(&read_log(&home, &"copy".into()).unwrap()).messages();
        let original = ModelHistory::of(&records).messages();
        // Results may stand in the order of their calls rather than of their arrival.
        let sorted = |mut all: Vec<(Role, Vec<Part>)>| {
            for (_, parts) in all.iter_mut().filter(|(role, _)| *role == Role::Tool) {
                parts.sort_by_key(|part| serde_json::to_string(part).unwrap());
            }
            all
        };
        prop_assert_eq!(sorted(said(&copy)), sorted(said(&original)));
    }

    #[test]
    fn no_text_is_a_reason_to_panic(text in "\\PC{0,60}") {
        prop_assert!(Conversation::deserialize(&text).is_err());
    }
}

#[test]
fn version_1_is_migrated() {
    let old = include_str!("../fixtures/conversation-version-1.json");
    let conversation = Conversation::deserialize(old).unwrap();
    assert_eq!(conversation.version, CONVERSATION_VERSION);
    let roles: Vec<String> =
        conversation.messages.iter().map(|message| format!("{:?} {}", message.role, message.id)).collect();
    assert_eq!(
        roles,
        ["User m1", "Assistant m2", "Tool m2.call", "Assistant m3", "Tool m3.call", "Assistant m4"]
    );

    let (_folder, home) = temp_home();
    let started = Timestamp::now();
    import_task(&home, &"imported".into(), conversation.into_task()).unwrap();
    let records = read_log(&home, &"imported".into()).unwrap();
    let messages = ModelHistory::of(&records).messages();
    check_history(&messages).unwrap();
    let calls: Vec<&str> =
        messages.iter().flat_map(|message| message.tool_calls()).map(|call| call.name.as_str()).collect();
    assert_eq!(calls, ["read", "bash"]);
    assert_eq!(messages.last().unwrap().text(), "It starts at 1.");
    assert_eq!(records[1].ts.0, 1_760_000_000_000, "times are kept");
    let row = Index::open(&home).unwrap().resolve("imported").unwrap();
    assert_eq!(row.created_at.0, 1_760_000_000_000);
    assert!(row.updated_at >= started, "it came here just now");
}

#[test]
fn each_way_to_be_unreadable_has_its_own_error() {
    let whole = include_str!("../fixtures/conversation-version-1.json");
    let check = |text: &str, expected: expect_test::Expect| {
        let error = Conversation::deserialize(text).unwrap_err();
        expected.assert_eq(&format!("{error}\nhint: {}", error.hint().unwrap()));
        error
    };
    let error = check(
        &whole.replace("\"m1\",", "\"m1\""),
        expect![[r"
            the conversation is not valid JSON: expected `,` or `}` (line 6, column 18)
            hint: check that the file was copied whole and is the exported file"]],
    );
    assert!(matches!(error, Error::InvalidJson { line: 6, .. }));
    assert!(matches!(Conversation::deserialize(&whole[..400]), Err(Error::InvalidJson { .. })));
    let error = check(
        &whole.replace("\"version\": 1", "\"version\": 3"),
        expect![[r"
            the conversation has version 3; this program reads versions 1 to 2
            hint: update Stepwell, or export again with the version you have"]],
    );
    assert!(matches!(error, Error::SchemaVersion { .. }));
    let error = check(
        &whole.replace("\"m4\"", "\"m1\""),
        expect![[r"
            the conversation is damaged: two messages have the id `m1`
            hint: import it again from a backup or a fresh export"]],
    );
    assert!(matches!(error, Error::DataCorruption { .. }));
    check(
        &whole.replace("\"createdAt\"", "\"created\""),
        expect![[r"
            the conversation is damaged: missing field `createdAt`
            hint: import it again from a backup or a fresh export"]],
    );
}

#[test]
fn markdown_reads_well_and_cannot_be_broken_out_of() {
    let (_folder, home) = temp_home();
    let read = call("c1", "read", serde_json::json!({"file_path": "a.md"}));
    let bash = call("c2", "bash", serde_json::json!({"command": "ls"}));
    let id = task_with(
        &home,
        "md",
        &[
            user("u1", "Explain *this*"),
            thought("a1", "Let me look."),
            action("a1", read.clone()),
            success(&read, "````\n```rust\n</details>\n```\n````"),
            action("a1", bash.clone()),
            failure(&bash, "not found"),
            answer("a2", "It is a list."),
            partial("a3", 0, "And fur"),
        ],
    );
    let text = to_markdown(&home, &read_log(&home, &id).unwrap());
    let body = text.split_once("0 out\n\n").unwrap().1;
    let (heading, rest) = body.split_once(" (").unwrap();
    assert_eq!(heading, "## User");
    expect![[r#"
        Explain *this*

        ## Assistant

        Let me look.

        <details>
        <summary>Tool: read</summary>

        ```json
        {
          "file_path": "a.md"
        }
        ```

        `````text
        ````
        ```rust
        </details>
        ```
        ````
        `````

        </details>

        <details>
        <summary>Tool: bash (failed)</summary>

        ```json
        {
          "command": "ls"
        }
        ```

        ```text
        not found
        ```

        </details>

        ## Assistant

        It is a list.

        ## Assistant

        And fur

        *(The answer was cut off here.)*
    "#]]
    .assert_eq(rest.split_once("\n\n").unwrap().1);
}
