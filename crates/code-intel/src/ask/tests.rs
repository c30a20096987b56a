//! Answers as programs read them.

use schemars::schema_for;
use serde_json::{Value, json};

use super::*;
use crate::index::tests::workspace;
use crate::resolve::Direction;

const FILES: &[(&str, &str)] =
    &[("a.py", "def one():\n    return two()\n\n\ndef two():\n    return one\n\n\nimport os\n")];

#[test]
fn answers_serialize_as_plain_data() {
    let (_folder, index) = workspace(FILES);
    let ask = Ask::new(&index);
    let definition = ask.definition(&Target::parse("a.py:2:12")).unwrap();
    assert_eq!(
        json!(definition),
        json!({
            "source": "index", "server": null, "note": null, "certainty": "resolved",
            "definitions": [{
                "file": "a.py", "line": 5, "column": 5, "name": "two", "path": "two", "kind": "function",
                "text": "def two():", "doc": null,
            }],
        })
    );
    let references = ask.references(&Target::parse("two"), 10).unwrap();
    assert_eq!(
        json!(references),
        json!({
            "source": "index", "server": null, "note": null, "certainty": "by_name", "total": 1,
            "references": [
                {"file": "a.py", "line": 2, "column": 12, "text": "return two()", "certainty": "resolved"},
            ],
        })
    );
    let options = CallOptions { direction: Direction::Callers, depth: 2, max_nodes: 10 };
    let calls = json!(ask.call_graph(&Target::parse("two()"), options).unwrap());
    assert_eq!(calls["edges"], json!([{"from": 1, "to": 0, "certainty": "resolved"}]));
    assert_eq!((&calls["complete"], &calls["nodes"][1]["name"]), (&json!(true), &json!("one")));
    assert_eq!(json!(ask.imports("a.py").unwrap())["imports"][0]["module"], "os");
}

#[test]
fn unknown_and_external_targets_are_told_apart() {
    let (_folder, index) = workspace(FILES);
    let ask = Ask::new(&index);
    let unresolved = |target: &str| {
        let answer = ask.definition(&Target::parse(target)).unwrap();
        json!(answer)["certainty"].as_str().unwrap().to_owned()
    };
    assert_eq!(unresolved("three"), "unknown");
    assert_eq!(unresolved("a.py:9:8"), "external");
    let answer = ask.references(&Target::parse("Type.two"), 10).unwrap();
    assert!(
        matches!(answer.unresolved(), Some(Unresolved::Unknown { similar_names: [only] }) if only == "`two` (a.py:5)")
    );
}

#[test]
fn every_answer_has_the_schema_of_an_object() {
    let schemas = [
        schema_for!(Definitions),
        schema_for!(References),
        schema_for!(CallGraph),
        schema_for!(Graph),
        schema_for!(Symbols),
        schema_for!(Imports),
        schema_for!(Excerpts),
        schema_for!(SearchHits),
        schema_for!(IndexStatus),
    ];
    for schema in schemas {
        let schema = Value::from(schema);
        assert_eq!(schema["type"], "object", "{schema}");
        assert!(schema["properties"].as_object().is_some_and(|fields| !fields.is_empty()), "{schema}");
    }
    let schema = Value::from(schema_for!(CallGraph));
    for field in ["source", "server", "note", "certainty", "nodes", "edges", "cycles", "complete"] {
        assert!(schema["properties"].get(field).is_some(), "{field}");
    }
}
