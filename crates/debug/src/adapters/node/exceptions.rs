//! Which exceptions stop the program, and what is known of one that did.

use serde_json::{Value, json};

use super::inspector::{Answer, Inspector};
use super::values;

/// What threads are told of stops nobody set a place for.
#[derive(Debug, Default)]
pub(crate) struct PauseOn {
    caught: bool,
    uncaught: bool,
    /// Patterns of scripts that are passed over.
    pub skipped: Vec<String>,
}

impl PauseOn {
    /// In the inspector's words.
    pub(crate) fn state(&self) -> &'static str {
        match (self.caught, self.uncaught) {
            (true, _) => "all",
            (false, true) => "uncaught",
            (false, false) => "none",
        }
    }
}

impl Inspector {
    pub(crate) async fn set_exception_breakpoints(&self, arguments: &Value) -> Answer {
        let filters = arguments.get("filters").and_then(Value::as_array).cloned().unwrap_or_default();
        let state = {
            let mut pause_on = self.pause_on.lock();
            pause_on.caught = filters.iter().any(|filter| filter == "all");
            pause_on.uncaught = filters.iter().any(|filter| filter == "uncaught");
            pause_on.state()
        };
        for target in self.all_targets() {
            self.ask(&target, "Debugger.setPauseOnExceptions", json!({ "state": state })).await?;
        }
        Ok(json!({}))
    }

    pub(crate) async fn exception_info(&self, arguments: &Value) -> Answer {
        let target = self.target_of(arguments)?;
        let thrown = target.paused().and_then(|paused| paused.thrown.clone());
        let Some(thrown) = thrown else {
            return Err(format!("thread {} did not stop at an exception", target.thread));
        };
        // Anything can be thrown; what is in an object is told when it is asked for.
        let shown = match thrown.get("subtype") {
            Some(subtype) if subtype == "error" => thrown.clone(),
            _ => self.with_preview(&target, &thrown).await,
        };
        let (kind, message) = described(Some(&shown));
        let unhandled = thrown.get("uncaught").and_then(Value::as_bool) == Some(true);
        let stack = thrown.get("description").and_then(Value::as_str);
        Ok(json!({
            "exceptionId": kind,
            "description": message,
            "breakMode": if unhandled { "unhandled" } else { "always" },
            "details": { "typeName": kind, "message": message, "stackTrace": stack },
        }))
    }
}

/// The type and the message of what was thrown.
pub(crate) fn described(thrown: Option<&Value>) -> (String, String) {
    let Some(thrown) = thrown else {
        return ("RangeError".to_owned(), "the heap is nearly full".to_owned());
    };
    let text = |name: &str| thrown.get(name).and_then(Value::as_str);
    if text("subtype") != Some("error") {
        let kind = text("className").or_else(|| text("type")).unwrap_or_default();
        let message = match text("value") {
            Some(message) => message.to_owned(),
            None => values::shown(thrown),
        };
        return (kind.to_owned(), message);
    }
    let description = text("description").unwrap_or_default();
    let head = description.split("\n    at ").next().unwrap_or_default().trim_end();
    let head = without_source(head);
    let class = text("className").filter(|class| !class.is_empty()).unwrap_or("Error");
    match head.split_once(": ") {
        // `AssertionError [ERR_ASSERTION]: message`
        Some((kind, message)) if is_name(kind.split(" [").next().unwrap_or_default()) => {
            let kind = kind.split(" [").next().unwrap_or_default();
            // A class that does not say its name has that of its parent.
            let kind = if kind == "Error" { class } else { kind };
            (kind.to_owned(), message.to_owned())
        }
        _ if head == class || head.starts_with(&format!("{class} [")) => (class.to_owned(), String::new()),
        _ => (class.to_owned(), head.to_owned()),
    }
}

/// Node puts the line that it could not parse before the error: `/me/a.js:1`, the line, a mark below it.
fn without_source(head: &str) -> &str {
    let is_place = |line: &str| {
        line.rsplit_once(':').is_some_and(|(file, line)| file.contains('/') && line.parse::<u32>().is_ok())
    };
    match head.rsplit_once("\n\n") {
        Some((source, error)) if source.lines().next().is_some_and(is_place) => error,
        _ => head,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_thrown_has_a_type_and_a_message() {
        let error = |class: &str, description: &str| json!({ "type": "object", "subtype": "error", "className": class, "description": description });
        let rows = [
            (error("TypeError", "TypeError: x is null\n    at f (a.js:1:1)"), "TypeError", "x is null"),
            (
                error(
                    "AssertionError",
                    "AssertionError [ERR_ASSERTION]: not equal:\n\n1 !== 2\n\n    at a.js:1:1",
                ),
                "AssertionError",
                "not equal:\n\n1 !== 2",
            ),
            (
                error(
                    "SyntaxError",
                    "/me/a.ts:1\ninterface Item {\n          ^^^^\n\nSyntaxError: Unexpected identifier",
                ),
                "SyntaxError",
                "Unexpected identifier",
            ),
            (error("Mine", "Mine\n    at f (a.js:1:1)"), "Mine", ""),
            (error("Mine", "Error: gone\n    at f (a.js:1:1)"), "Mine", "gone"),
            (error("Error", "no such file: x\n    at f (a.js:1:1)"), "Error", "no such file: x"),
            (json!({ "type": "string", "value": "oops" }), "string", "oops"),
            (json!({ "type": "number", "description": "3", "value": 3 }), "number", "3"),
        ];
        for (thrown, kind, message) in rows {
            assert_eq!(described(Some(&thrown)), (kind.to_owned(), message.to_owned()), "{thrown}");
        }
    }
}
