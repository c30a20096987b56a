//! How a command and its arguments become one line for a shell: by VS Code's rules, which are not a shell's own.

use serde_json::Value;

/// An argument, with the way it wants to be quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellWord {
    pub(super) text: String,
    pub(super) quoting: Quoting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Only where a space needs it.
    IfNeeded,
    Escape,
    Strong,
    Weak,
}

impl ShellWord {
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), quoting: Quoting::IfNeeded }
    }

    /// A text, a list of texts, or `{"value", "quoting"}`.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Object(fields) => {
                let quoting = match fields.get("quoting").and_then(Value::as_str) {
                    Some("escape") => Quoting::Escape,
                    Some("weak") => Quoting::Weak,
                    _ => Quoting::Strong,
                };
                Some(Self { text: joined(fields.get("value")?)?, quoting })
            }
            other => joined(other).map(|text| Self { text, quoting: Quoting::IfNeeded }),
        }
    }

    fn quoted(&self) -> String {
        match self.quoting {
            Quoting::IfNeeded if needs_quotes(&self.text) => format!("'{}'", self.text),
            Quoting::IfNeeded => self.text.clone(),
            Quoting::Strong => format!("'{}'", self.text),
            Quoting::Weak => format!("\"{}\"", self.text),
            Quoting::Escape => {
                let mut escaped = String::new();
                for found in self.text.chars() {
                    if matches!(found, ' ' | '"' | '\'') {
                        escaped.push('\\');
                    }
                    escaped.push(found);
                }
                escaped
            }
        }
    }
}

fn joined(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Array(parts) => Some(parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        Value::Null | Value::Object(_) => None,
    }
}

/// Whether there is a space outside of quotes. As in VS Code, a backslash before it does not count.
fn needs_quotes(text: &str) -> bool {
    let (first, last) = (text.chars().next(), text.chars().last());
    if text.chars().count() >= 2 && first == last && matches!(first, Some('\'' | '"')) {
        return false;
    }
    let mut quote = None;
    for found in text.chars() {
        match (quote, found) {
            (Some(open), _) if open == found => quote = None,
            (None, '\'' | '"') => quote = Some(found),
            (None, ' ') => return true,
            (_, _) => {}
        }
    }
    false
}

/// A command without arguments is a whole command line and stays as it is, unless it is one word with a variable whose
/// value brought the spaces.
pub(super) fn command_line(command: &ShellWord, written: Option<&str>, arguments: &[ShellWord]) -> String {
    let is_line = written.is_none_or(|written| written == command.text || needs_quotes(written));
    if arguments.is_empty() && command.quoting == Quoting::IfNeeded && is_line {
        return command.text.clone();
    }
    let words: Vec<_> = std::iter::once(command).chain(arguments).map(ShellWord::quoted).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_form_of_argument() {
        let mut told = String::new();
        for (command, arguments) in [
            (json!("make -j 4 && echo done"), json!([])),
            (
                json!("make"),
                json!(["all", "two words", "'already quoted'", "\"weak\"", "a\\ b", "x='in quotes'", "it's"]),
            ),
            (json!("my tool"), json!(["x"])),
            (json!({"value": "my tool", "quoting": "escape"}), json!([])),
            (
                json!("echo"),
                json!([{"value": "$HOME a", "quoting": "strong"}, {"value": "$HOME a", "quoting": "weak"},
                       {"value": "a 'b\"", "quoting": "escape"}, {"value": ["a", "b"], "quoting": "weak"}, 1, true, null]),
            ),
        ] {
            let command = ShellWord::from_json(&command).unwrap();
            let arguments: Vec<_> =
                arguments.as_array().unwrap().iter().filter_map(ShellWord::from_json).collect();
            told.push_str(&command_line(&command, Some(&command.text), &arguments));
            told.push('\n');
        }
        let command = ShellWord::plain("/my place/tool");
        told.push_str(&command_line(&command, Some("${workspaceFolder}/tool"), &[]));
        told.push('\n');
        told.push_str(&command_line(&command, Some("${workspaceFolder} x"), &[]));
        expect![[r#"
            make -j 4 && echo done
            make all 'two words' 'already quoted' "weak" 'a\ b' x='in quotes' it's
            'my tool' x
            my\ tool
            echo '$HOME a' "$HOME a" a\ \'b\" "a b" 1 true
            '/my place/tool'
            /my place/tool"#]]
        .assert_eq(&told);
    }
}
