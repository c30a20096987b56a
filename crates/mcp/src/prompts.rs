//! Prompts as data files: `prompts/*.md`, with what they are for and what they take at the top.
//!
//! ```text
//! title: Why does this test fail
//! about: One line for the person who chooses it
//! argument: test (required): what it is
//!
//! Words with {{test}} in them. [[Words that are only there when {{command}} was given.]]
//! ```

use serde_json::{Map, Value};

use crate::ports::{PromptArgument, PromptEntry, Prompts};

/// The prompts that come with the program.
const FILES: &[(&str, &str)] = &[
    ("attach-to-hanging-process", include_str!("../prompts/attach-to-hanging-process.md")),
    ("compare-two-runs", include_str!("../prompts/compare-two-runs.md")),
    ("where-is-this-value-written", include_str!("../prompts/where-is-this-value-written.md")),
    ("why-does-this-test-fail", include_str!("../prompts/why-does-this-test-fail.md")),
];

/// Bytes an argument may have.
const LONGEST_ARGUMENT: usize = 10_000;

#[derive(Clone, Copy, Debug, Default)]
pub struct FilePrompts;

impl Prompts for FilePrompts {
    fn list(&self) -> Vec<PromptEntry> {
        FILES.iter().map(|(name, text)| parse(name, text).0).collect()
    }

    fn get(&self, name: &str, arguments: &Map<String, Value>) -> Result<Option<String>, String> {
        let Some((name, text)) = FILES.iter().find(|(known, _)| *known == name) else { return Ok(None) };
        let (entry, body) = parse(name, text);
        fill(&entry, body, arguments).map(Some)
    }
}

/// A file's head and the words below it.
fn parse<'t>(name: &str, text: &'t str) -> (PromptEntry, &'t str) {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut entry = PromptEntry {
        name: name.to_owned(),
        title: String::new(),
        description: String::new(),
        arguments: Vec::new(),
    };
    for line in head.lines() {
        match line.split_once(": ") {
            Some(("title", title)) => title.clone_into(&mut entry.title),
            Some(("about", about)) => about.clone_into(&mut entry.description),
            Some(("argument", argument)) => {
                let (name, description) = argument.split_once(": ").unwrap_or((argument, ""));
                let required = name.ends_with(" (required)");
                entry.arguments.push(PromptArgument {
                    name: name.trim_end_matches(" (required)").to_owned(),
                    description: description.to_owned(),
                    required,
                });
            }
            _ => {}
        }
    }
    (entry, body.trim_end())
}

fn fill(entry: &PromptEntry, body: &str, arguments: &Map<String, Value>) -> Result<String, String> {
    let known =
        || entry.arguments.iter().map(|argument| argument.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(unknown) =
        arguments.keys().find(|name| !entry.arguments.iter().any(|known| known.name == **name))
    {
        return Err(format!("the prompt `{}` takes no `{unknown}`; it takes {}", entry.name, known()));
    }
    let mut values = Vec::new();
    for argument in &entry.arguments {
        let value = match arguments.get(&argument.name) {
            None | Some(Value::Null) => "",
            Some(Value::String(text)) => text.trim(),
            Some(_) => {
                return Err(format!("the argument `{}` of `{}` must be text", argument.name, entry.name));
            }
        };
        if value.is_empty() && argument.required {
            return Err(format!(
                "the prompt `{}` needs `{}`: {}",
                entry.name, argument.name, argument.description
            ));
        }
        if value.len() > LONGEST_ARGUMENT {
            return Err(format!("the argument `{}` is longer than {LONGEST_ARGUMENT} bytes", argument.name));
        }
        values.push((argument.name.as_str(), value));
    }
    Ok(filled(body, &values))
}

/// Puts values into their places; what stands in `[[...]]` stays only where all values in it are there. Each place is
/// filled once: a value that looks like a place is left alone.
fn filled(body: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = body;
    while let Some(start) = rest.find("[[") {
        text.push_str(&places(&rest[..start], values).0);
        let inner = &rest[start + 2..];
        let end = inner.find("]]").unwrap_or(inner.len());
        let (words, complete) = places(&inner[..end], values);
        if complete {
            text.push_str(&words);
        }
        rest = inner.get(end + 2..).unwrap_or_default();
    }
    text.push_str(&places(rest, values).0);
    text
}

/// The text with its places filled, and whether every one had a value.
fn places(text: &str, values: &[(&str, &str)]) -> (String, bool) {
    let (mut filled, mut complete, mut rest) = (String::new(), true, text);
    while let Some(start) = rest.find("{{") {
        filled.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let end = inner.find("}}").unwrap_or(inner.len());
        let value = values.iter().find(|(name, _)| *name == &inner[..end]).map_or("", |(_, value)| value);
        complete &= !value.is_empty();
        filled.push_str(value);
        rest = inner.get(end + 2..).unwrap_or_default();
    }
    filled.push_str(rest);
    (filled, complete)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{FILES, FilePrompts, parse};
    use crate::ports::Prompts;

    fn arguments(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn every_file_is_whole() {
        for (name, text) in FILES {
            let (entry, body) = parse(name, text);
            assert!(!entry.title.is_empty() && !entry.description.is_empty(), "{name}");
            assert!(!entry.arguments.is_empty() && !body.is_empty(), "{name}");
            for argument in &entry.arguments {
                assert!(!argument.description.is_empty(), "{name}: {}", argument.name);
                assert!(body.contains(&format!("{{{{{}}}}}", argument.name)), "{name}: {}", argument.name);
            }
            assert_eq!(body.matches("[[").count(), body.matches("]]").count(), "{name}");
        }
    }

    #[test]
    fn arguments_take_their_places_once() {
        let get = |given: Value| FilePrompts.get("why-does-this-test-fail", &arguments(given));
        let text = get(json!({"test": "tests/test_a.py::test_x {{command}}"})).unwrap().unwrap();
        assert!(text.contains("tests/test_a.py::test_x {{command}}"), "{text}");
        assert!(!text.contains("[[") && !text.contains("]]"), "{text}");
        let with_command = get(json!({"test": "t", "command": "pytest -k t"})).unwrap().unwrap();
        assert!(with_command.contains("pytest -k t"), "{with_command}");
        let refused = [
            (json!({}), "needs `test`"),
            (json!({"test": " "}), "needs `test`"),
            (json!({"test": 5}), "must be text"),
            (json!({"test": "t", "tset": "u"}), "takes no `tset`"),
            (json!({"test": "x".repeat(10_001)}), "longer than"),
        ];
        for (given, expected) in refused {
            let problem = get(given.clone()).unwrap_err();
            assert!(problem.contains(expected), "{given}: {problem}");
        }
        assert_eq!(FilePrompts.get("no-such", &Map::new()), Ok(None));
    }
}
