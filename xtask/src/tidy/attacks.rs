//! The table of attacks: each id is covered by tests that exist and name it, or waits for something that does not exist.

use std::collections::{BTreeMap, BTreeSet};

use super::source_files;

const TABLE: &str = "crates/cli/tests/attacks.toml";
/// Cases of the project's list.
const CASES: usize = 100;

/// What the table says of one attack.
#[derive(Default)]
struct Attack {
    tests: Vec<String>,
    twins: Vec<String>,
    waits_for: Option<String>,
    reason: Option<String>,
    about: Option<String>,
}

fn table() -> BTreeMap<String, Attack> {
    let text = std::fs::read_to_string(crate::root().join(TABLE)).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let read = |value: &toml::Value| {
        let texts = |key: &str| -> Vec<String> {
            let listed = value.get(key).and_then(toml::Value::as_array).into_iter().flatten();
            listed.map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let text = |key: &str| value.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        Attack {
            tests: texts("tests"),
            twins: texts("twins"),
            waits_for: text("waits_for"),
            reason: text("reason"),
            about: text("about"),
        }
    };
    table.iter().map(|(id, value)| (id.clone(), read(value))).collect()
}

/// Whether a text names an id as a word of its own: `P05`, `p05_links`, `"C01"`.
fn names(text: &str, id: &str) -> bool {
    let text = text.to_uppercase();
    text.match_indices(id).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + id.len()..].chars().next();
        !before.is_some_and(|letter| letter.is_ascii_alphanumeric())
            && !after.is_some_and(|letter| letter.is_ascii_alphanumeric())
    })
}

/// Why `file::function` is no test; `None` where it is one. A `proptest!` block's functions are tests too.
fn missing(test: &str) -> Option<String> {
    let (file, function) = test.split_once("::")?;
    let Ok(text) = std::fs::read_to_string(crate::root().join(file)) else {
        return Some(format!("`{file}` does not exist"));
    };
    let Some(at) = text.find(&format!("fn {function}(")) else {
        return Some(format!("`{file}` has no `{function}`"));
    };
    let line_start = text[..at].rfind('\n').unwrap_or(0);
    let before: Vec<&str> = text[..line_start].lines().rev().take(12).collect();
    let attributes = before.iter().take_while(|line| {
        let line = line.trim();
        line.starts_with('#') || line.starts_with("//") || line.is_empty()
    });
    let is_test = attributes.into_iter().any(|line| line.contains("test]") || line.contains("test("));
    (!is_test).then(|| format!("`{test}` is no test"))
}

/// Whether the thing that an entry waits for is there by now.
fn exists(waits_for: &str) -> bool {
    match waits_for.split_once(' ') {
        Some(("crate", name)) => crate::root().join("crates").join(name).exists(),
        Some(("tool", name)) => {
            let spec = format!("name: \"{name}\"");
            source_files().iter().any(|path| {
                path.components().any(|part| part.as_os_str() == "src")
                    && std::fs::read_to_string(path).unwrap().contains(&spec)
            })
        }
        _ => panic!("`{waits_for}` is neither `tool NAME` nor `crate NAME`"),
    }
}

#[test]
fn every_attack_is_covered_by_a_test_or_has_a_reason() {
    let table = table();
    let mut wrong = Vec::new();
    for (id, attack) in &table {
        if attack.about.as_deref().unwrap_or_default().is_empty() {
            wrong.push(format!("{id}: nothing says what it is about"));
        }
        match (&attack.waits_for, attack.tests.is_empty()) {
            (None, true) => wrong.push(format!("{id}: neither tests nor what it waits for")),
            (Some(_), false) => wrong.push(format!("{id}: tested, and still waiting")),
            (Some(_), true) if attack.reason.is_none() => wrong.push(format!("{id}: waits without a reason")),
            (Some(thing), true) if exists(thing) => {
                wrong.push(format!("{id}: waits for {thing}, which is there; write its test"));
            }
            _ => {}
        }
        wrong.extend(
            attack
                .tests
                .iter()
                .chain(&attack.twins)
                .filter_map(|test| missing(test))
                .map(|why| format!("{id}: {why}")),
        );
        for test in &attack.tests {
            let file = test.split("::").next().unwrap();
            let text = std::fs::read_to_string(crate::root().join(file)).unwrap_or_default();
            if !names(&text, id) {
                wrong.push(format!("{id}: `{file}` does not name it"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(table.len(), CASES);
}

/// A test that bears an id in its name is in the table, so that the table stays whole.
#[test]
fn every_test_named_after_an_attack_is_in_the_table() {
    let table = table();
    let listed: BTreeSet<&str> = table
        .values()
        .flat_map(|attack| attack.tests.iter().chain(&attack.twins))
        .map(String::as_str)
        .collect();
    let mut wrong = Vec::new();
    for path in source_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = path.strip_prefix(crate::root()).unwrap().display().to_string();
        for line in text.lines().map(str::trim) {
            let Some(name) = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn ")) else {
                continue;
            };
            let Some(name) = name.split('(').next() else { continue };
            let bears_id = name.split('_').next().is_some_and(|id| table.contains_key(&id.to_uppercase()));
            if bears_id && !listed.contains(format!("{file}::{name}").as_str()) {
                wrong.push(format!("`{file}::{name}` is not in {TABLE}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ids_are_found_as_words() {
    assert!(
        names("fn p05_and_p07_links()", "P05") && names("/// S05: no", "S05") && names("(\"C01\", x)", "C01")
    );
    assert!(!names("MP05", "P05") && !names("P051", "P05") && !names("U+0C01", "C01"));
}
