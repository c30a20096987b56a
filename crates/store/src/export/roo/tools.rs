//! One ability, two names: our tools and Roo-Code's.

use serde_json::{Map, Value};

struct Pair {
    ours: &'static str,
    roo: &'static str,
    /// Parameters that are called differently: ours, Roo-Code's.
    parameters: &'static [(&'static str, &'static str)],
}

const PAIRS: &[Pair] = &[
    Pair { ours: "read", roo: "read_file", parameters: &[("file_path", "path")] },
    Pair { ours: "write", roo: "write_to_file", parameters: &[("file_path", "path")] },
    Pair {
        ours: "edit",
        roo: "search_and_replace",
        parameters: &[("old_str", "old_string"), ("new_str", "new_string")],
    },
    Pair { ours: "insert", roo: "insert_content", parameters: &[("file_path", "path")] },
    Pair { ours: "patch", roo: "apply_patch", parameters: &[("patch_content", "patch")] },
    Pair { ours: "list", roo: "list_files", parameters: &[] },
    Pair {
        ours: "grep",
        roo: "search_files",
        parameters: &[("pattern", "regex"), ("include", "file_pattern")],
    },
    Pair { ours: "bash", roo: "execute_command", parameters: &[("working_dir", "cwd")] },
    Pair {
        ours: "ast_find_symbols",
        roo: "list_code_definition_names",
        parameters: &[("file_path", "path")],
    },
    Pair { ours: "ask_clarification", roo: "ask_followup_question", parameters: &[("options", "follow_up")] },
    Pair { ours: "todowrite", roo: "update_todo_list", parameters: &[] },
];

/// Key that holds arguments which are no object; Roo-Code's calls always have one.
const RAW: &str = "_raw";

/// A call under Roo-Code's name, with its parameters.
pub(super) fn to_roo(name: &str, arguments: &Value) -> (String, Value) {
    let Value::Object(arguments) = arguments else {
        let mut wrapped = Map::new();
        wrapped.insert(RAW.to_owned(), arguments.clone());
        return (name.to_owned(), Value::Object(wrapped));
    };
    let pair = PAIRS.iter().find(|pair| pair.ours == name);
    // A call that already uses one of the other names could not be told apart when it comes back.
    let Some(pair) = pair.filter(|pair| pair.parameters.iter().all(|(_, roo)| !arguments.contains_key(*roo)))
    else {
        return (name.to_owned(), Value::Object(arguments.clone()));
    };
    (
        pair.roo.to_owned(),
        renamed(arguments, |key| other_name(pair.parameters, key, |(ours, roo)| (ours, roo))),
    )
}

/// A call under our name, with our parameters.
pub(super) fn from_roo(name: &str, input: &Value) -> (String, Value) {
    let Value::Object(input) = input else { return (name.to_owned(), input.clone()) };
    if input.len() == 1
        && let Some(raw) = input.get(RAW)
    {
        return (name.to_owned(), raw.clone());
    }
    match PAIRS.iter().find(|pair| pair.roo == name) {
        Some(pair) => {
            let arguments = renamed(input, |key| other_name(pair.parameters, key, |(ours, roo)| (roo, ours)));
            (pair.ours.to_owned(), arguments)
        }
        None => (name.to_owned(), Value::Object(input.clone())),
    }
}

type Names = (&'static str, &'static str);

fn other_name<'a>(names: &[Names], key: &'a str, from_to: impl Fn(Names) -> Names) -> &'a str
where
    'static: 'a,
{
    names.iter().map(|pair| from_to(*pair)).find(|(from, _)| *from == key).map_or(key, |(_, to)| to)
}

fn renamed<'a>(fields: &'a Map<String, Value>, name: impl Fn(&'a str) -> &'a str) -> Value {
    Value::Object(fields.iter().map(|(key, value)| (name(key).to_owned(), value.clone())).collect())
}
