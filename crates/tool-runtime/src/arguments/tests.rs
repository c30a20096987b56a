//! Arguments as models really send them.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn schema() -> ArgumentSchema {
    ArgumentSchema::new(json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "file_path": { "type": "string", "description": "Path of the file.", "x-aliases": ["path"] },
            "limit": { "type": "integer", "minimum": 1 },
            "ratio": { "type": "number" },
            "recursive": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "status": { "type": "string", "enum": ["pending", "in_progress"] },
            "todos": { "type": "array", "items": {
                "type": "object", "required": ["content"], "properties": { "content": { "type": "string" } } } },
            "extra": { "type": "object" }
        },
        "required": ["file_path"]
    }))
}

fn check(raw: Value, risk: Risk, expected: Expect) {
    let text = match schema().prepare(&raw, risk) {
        Ok(prepared) if prepared.notes.is_empty() => prepared.arguments.to_string(),
        Ok(prepared) => format!("{} [{}]", prepared.arguments, prepared.notes.join("; ")),
        Err(error) => error.message,
    };
    expected.assert_eq(&text);
}

#[test]
fn values_are_bent_to_the_schema() {
    check(
        json!({"path": "a", "limit": "5", "ratio": "1.5", "recursive": "True", "tags": "x", "status": "In-Progress"}),
        Risk::Read,
        expect![[
            r#"{"limit":5,"ratio":1.5,"recursive":true,"tags":["x"],"status":"in_progress","file_path":"a"}"#
        ]],
    );
    check(
        json!({"filePath": 7, "limit": null, "tags": "[\"a\", \"b\"]", "extra": "{\"k\": 1}", "todos": ["one", {"content": "two"}]}),
        Risk::Read,
        expect![[
            r#"{"tags":["a","b"],"extra":{"k":1},"todos":[{"content":"one"},{"content":"two"}],"file_path":"7"}"#
        ]],
    );
}

#[test]
fn almost_json_is_read() {
    for text in [
        r#"{"file_path": "a\d+"}"#,
        "Here is the call:\n```json\n{\"file_path\": \"a\\d+\"}\n```\nDone.",
        r#"{"file_path": "a\d+",}"#,
        r#""{\"file_path\": \"a\\\\d+\"}""#,
    ] {
        check(json!(text), Risk::Execute, expect![[r#"{"file_path":"a\\d+"}"#]]);
    }
    check(json!("{file_path: 'a'}"), Risk::Execute, expect![[r#"{"file_path":"a"}"#]]);
    check(json!("{\"file_path\": \"two\nlines\"}"), Risk::Write, expect![[r#"{"file_path":"two\nlines"}"#]]);
}

#[test]
fn half_a_call_that_changes_something_never_runs() {
    let half = json!(r#"{"file_path": "/tmp/build"#);
    for risk in [Risk::Write, Risk::Execute, Risk::Network, Risk::Control] {
        check(
            half.clone(),
            risk,
            expect![[
                r"the arguments end in the middle (25 bytes arrived), so the call was not run; send the call again, in smaller parts if it is long"
            ]],
        );
    }
    check(
        half,
        Risk::Read,
        expect![[r#"{"file_path":"/tmp/build"} [the arguments ended in the middle; what arrived was used]"#]],
    );
}

#[test]
fn problems_are_said_so_that_a_model_can_act() {
    check(
        json!({"file_pth": "a"}),
        Risk::Read,
        expect![[r#"
            the arguments do not fit: `file_path` is required (a string: Path of the file.)
            - `file_pth` is unknown; did you mean `file_path`?
            example: {"file_path":"..."}"#]],
    );
    check(
        json!({"file_path": "a", "limit": 0, "status": "done", "recursive": "maybe"}),
        Risk::Read,
        expect![[r#"
        the arguments do not fit: `limit` must be at least 1, got the number 0
        - `status` must be one of "pending", "in_progress", got the string "done"
        - `recursive` must be a boolean, got the string "maybe"
        example: {"file_path":"..."}"#]],
    );
    check(
        json!({"file_path": "a", "recursiv": true, "zzz": 1}),
        Risk::Read,
        expect![[
            r#"{"file_path":"a"} [unknown argument `recursiv` was ignored; did you mean `recursive`?; unknown argument `zzz` was ignored]"#
        ]],
    );
    check(json!([1, 2]), Risk::Read, expect!["the arguments must be a JSON object, got an array of 2"]);
    check(
        json!("rm -rf"),
        Risk::Read,
        expect!["the arguments are no JSON: expected value at line 1 column 1; send one JSON object"],
    );
}

#[test]
fn bottomless_nesting_is_refused() {
    for text in ["[".repeat(200_000), "{\"a\":".repeat(200_000)] {
        let text = format!("{{\"file_path\": {text}");
        let error = schema().prepare(&Value::String(text), Risk::Read).expect_err("too deep");
        assert!(error.message.contains("nested more than 200 levels"), "{}", error.message);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f32>().prop_map(|float| json!(float)),
        "[a-z\\[\\]{}\":0-9, .]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(
                (
                    prop_oneof![
                        Just("path".to_owned()),
                        Just("file_path".into()),
                        Just("limit".into()),
                        Just("tags".into()),
                        Just("todos".into()),
                        Just("status".into()),
                        Just("ratio".into()),
                        Just("recursive".into()),
                        Just("content".into()),
                        Just("extra".into())
                    ],
                    inner
                ),
                0..5
            )
            .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn coercion_is_idempotent(mut value in any_json()) {
        let schema = schema();
        coerce(&mut value, schema.schema());
        let once = value.clone();
        coerce(&mut value, schema.schema());
        prop_assert_eq!(once, value);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,80}|[{}\\[\\]\"\\\\a-z:, ]{0,60}") {
        schema().prepare(&Value::String(text), Risk::Read).ok();
    }
}
