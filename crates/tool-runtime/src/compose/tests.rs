//! Paths, filters, aggregates, and whether schemas fit.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::compose::compatibility;

fn check(transform: Value, expected: Expect) {
    let value = json!({
        "results": [
            {"id": 1, "title": "one", "tags": ["a"]},
            {"id": 2, "title": "two", "tags": ["a", "b"]},
            {"id": 3, "title": "three", "tags": []}
        ],
        "count": 3
    });
    let transform: Transform = serde_json::from_value(transform).expect("a transform");
    let text = match transform.apply(&value) {
        Ok(value) => value.to_string(),
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&text);
}

#[test]
fn transforms() {
    check(json!({"extract_path": "results[1].title"}), expect![[r#""two""#]]);
    check(json!({"extract_path": "results.0.id"}), expect!["1"]);
    check(json!({"extract_path": "results[*].id"}), expect!["[1,2,3]"]);
    check(json!({"extract_path": "results[*].id", "aggregate": "sum"}), expect!["6"]);
    check(json!({"extract_path": "results[*].id", "aggregate": "avg"}), expect!["2"]);
    check(json!({"extract_path": "results[*].id", "aggregate": "max"}), expect!["3"]);
    check(
        json!({"extract_path": "results", "filter": {"field": "id", "op": "gt", "value": 1}, "aggregate": "count"}),
        expect!["2"],
    );
    check(
        json!({"extract_path": "results", "filter": {"field": "tags", "op": "contains", "value": "b"}, "aggregate": "first", "field_mapping": {"title": "path"}}),
        expect![[r#"{"path":"two"}"#]],
    );
    for (filter, kept) in [
        (json!({"title": "two"}), "[2]"),
        (json!({"title": "two", "id": 2}), "[2]"),
        (json!({"title": "two", "id": 3}), "[]"),
        (json!({"tags": ["a"]}), "[1]"),
        (json!({"nothing": 1}), "[]"),
        (json!({"value": 1}), "[]"),
        (json!({}), "[1,2,3]"),
    ] {
        let transform: Transform =
            serde_json::from_value(json!({"extract_path": "results", "filter": filter}))
                .expect("a transform");
        let all = json!({"results": [
            {"id": 1, "title": "one", "tags": ["a"]}, {"id": 2, "title": "two", "tags": ["a", "b"]}, {"id": 3, "title": "three", "tags": []}]});
        let ids = extract_path(&transform.apply(&all).expect("a list"), "[*].id").expect("ids");
        assert_eq!(ids.to_string(), kept, "{filter}");
    }
    check(
        json!({"extract_path": "result"}),
        expect![
            "error: the path `result` leads nowhere: there is no `result` in an object with results, count"
        ],
    );
    check(
        json!({"extract_path": "count", "aggregate": "sum"}),
        expect!["error: `sum` needs a list, got a number"],
    );
    check(
        json!({"extract_path": "results", "filter": {"field": "id", "op": "lt", "value": 0}, "aggregate": "first"}),
        expect!["error: `first` of an empty list"],
    );
}

#[test]
fn schemas_fit_or_say_why_not() {
    let input = json!({"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}, "depth": {"type": "number"}}});
    let fits = |output: Value| {
        compatibility(&output, &input).iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(fits(json!({"type": "string"})), "");
    assert_eq!(fits(json!({"type": "integer"})), "`url` is integer and must be string");
    assert_eq!(
        fits(
            json!({"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}, "depth": {"type": "integer"}}})
        ),
        ""
    );
    assert_eq!(
        fits(
            json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "depth": {"type": "string"}}})
        ),
        "the required `url` is missing; `depth` is string and must be number"
    );
}
