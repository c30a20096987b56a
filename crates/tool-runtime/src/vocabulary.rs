//! Which names of tools and parameters a model is shown. Calls are understood in every vocabulary.

use serde_json::{Map, Value};
use stepwell_protocol::ToolDefinition;

/// The names that a model is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabulary {
    #[default]
    Canonical,
    /// Those of Roo-Code, for models and instructions that know them.
    Roo,
}

/// Roo-Code's tools, with the parameters that it calls otherwise than the tool it stands for.
const ROO: &[(&str, &[&str])] = &[
    ("read_file", &["path"]),
    ("write_to_file", &["path"]),
    ("search_and_replace", &["path", "search", "replace"]),
    ("insert_content", &["path", "line"]),
    ("list_files", &[]),
    ("search_files", &["regex", "file_pattern"]),
    ("list_code_definition_names", &["path"]),
    ("codebase_search", &[]),
    ("execute_command", &["cwd"]),
    ("ask_followup_question", &["follow_up"]),
    ("update_todo_list", &[]),
    ("apply_diff", &["path"]),
    ("browser_action", &[]),
];

impl Vocabulary {
    pub const ALL: [Self; 2] = [Self::Canonical, Self::Roo];

    pub fn name(self) -> &'static str {
        match self {
            Self::Canonical => "stepwell",
            Self::Roo => "roo",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vocabulary| vocabulary.name() == name)
    }

    /// A definition in this vocabulary. One that it has no words for stays as it is.
    pub fn shown(self, mut definition: ToolDefinition) -> ToolDefinition {
        let is_called = |name: &str| {
            definition.name == name || definition.forms.aliases.iter().any(|alias| alias == name)
        };
        let words = match self {
            Self::Canonical => None,
            Self::Roo => ROO.iter().find(|(name, _)| is_called(name)),
        };
        let Some((name, parameters)) = words else { return definition };
        let canonical = std::mem::replace(&mut definition.name, (*name).to_owned());
        definition.forms.aliases.retain(|alias| alias != name);
        definition.forms.aliases.push(canonical);
        for shown in *parameters {
            let Some(known) = definition.forms.parameters.get(*shown).cloned() else { continue };
            rename(&mut definition.input_schema, &known, shown);
            if let Some(Value::Object(example)) = &mut definition.forms.example {
                rename_key(example, &known, shown);
            }
        }
        definition
    }
}

/// Gives a property of a schema another name, in its place.
fn rename(schema: &mut Value, known: &str, shown: &str) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        rename_key(properties, known, shown);
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        for name in required.iter_mut().filter(|name| *name == known) {
            *name = Value::String(shown.to_owned());
        }
    }
}

fn rename_key(fields: &mut Map<String, Value>, known: &str, shown: &str) {
    if !fields.contains_key(known) || fields.contains_key(shown) {
        return;
    }
    let name = |key: String| if key == known { shown.to_owned() } else { key };
    *fields = std::mem::take(fields).into_iter().map(|(key, value)| (name(key), value)).collect();
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stepwell_protocol::CallForms;

    use super::*;

    #[test]
    fn a_definition_is_shown_with_the_names_of_roo_code() {
        let definition = ToolDefinition {
            name: "grep".into(),
            description: "Searches.".into(),
            input_schema: json!({
                "properties": {"pattern": {"type": "string"}, "path": {"type": "string"}},
                "required": ["pattern"],
            }),
            forms: CallForms {
                aliases: vec!["search_files".into()],
                parameters: [("regex".to_owned(), "pattern".to_owned())].into(),
                example: Some(json!({"pattern": "x"})),
            },
        };
        assert_eq!(Vocabulary::Canonical.shown(definition.clone()), definition);
        let shown = Vocabulary::Roo.shown(definition);
        assert_eq!(shown.name, "search_files");
        assert_eq!(shown.forms.aliases, ["grep"]);
        let keys: Vec<&String> = shown.input_schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["regex", "path"]);
        assert_eq!(shown.input_schema["required"], json!(["regex"]));
        assert_eq!(shown.forms.example, Some(json!({"regex": "x"})));
    }
}
