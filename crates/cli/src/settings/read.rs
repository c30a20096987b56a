//! Reading one layer of settings, and saying what is wrong with one that cannot be used.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stepwell_tool_runtime::near_names;
use stepwell_workspace::files;

use super::SettingsLayer;
use crate::report;

/// Where a layer is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    File(PathBuf),
    CommandLine,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "in `{}`", path.display()),
            Self::CommandLine => f.write_str("of the command line"),
        }
    }
}

/// The layer of a file, where there is one.
pub fn file(path: &Path) -> anyhow::Result<Option<SettingsLayer>> {
    let place = Place::File(path.to_path_buf());
    // Anything but a plain file, such as a pipe, could keep us waiting for ever.
    if path.exists() && !path.is_file() {
        return Err(unusable(&place, "it is no plain file", None));
    }
    let text = match files::read_if_exists(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(None),
        Err(error) => return Err(unusable(&place, &error.to_string(), None)),
    };
    match toml::from_str(&text) {
        Ok(layer) => Ok(Some(layer)),
        Err(error) => {
            let meant = text.parse().ok().and_then(|table| meant(&table));
            Err(unusable(&place, &format!("\n{error}"), meant))
        }
    }
}

/// The layer that a table is.
pub fn layer(table: toml::Table, place: &Place) -> anyhow::Result<SettingsLayer> {
    let meant = meant(&table);
    table.try_into().map_err(|error: toml::de::Error| unusable(place, error.to_string().trim_end(), meant))
}

/// The error of a file whose text is no settings.
pub fn unusable_file(path: &Path, error: &toml::de::Error) -> anyhow::Error {
    unusable(&Place::File(path.to_path_buf()), &format!("\n{error}"), None)
}

pub fn unusable(place: &Place, problem: &str, meant: Option<String>) -> anyhow::Error {
    let hint = meant.unwrap_or_else(|| "`stepwell config schema` prints what is allowed".into());
    report::usage(format!("the settings {place} cannot be used: {problem}"), hint)
}

/// What the first key that no setting has was probably meant to be.
fn meant(table: &toml::Table) -> Option<String> {
    let schema = schemars::schema_for!(SettingsLayer).to_value();
    let (key, known) = unknown_key(table, &schema, &schema, "")?;
    let near = near_names(key.rsplit('.').next()?, known.iter().map(String::as_str));
    let prefix = key.rsplit_once('.').map(|(prefix, _)| format!("{prefix}.")).unwrap_or_default();
    let near: Vec<String> = near.iter().map(|name| format!("`{prefix}{name}`")).collect();
    (!near.is_empty()).then(|| {
        format!(
            "`{key}` is no setting; did you mean {}? `stepwell config schema` prints all",
            near.join(" or ")
        )
    })
}

/// The first key of a table that its schema does not have, and those it has.
fn unknown_key(
    table: &toml::Table,
    schema: &Value,
    root: &Value,
    prefix: &str,
) -> Option<(String, Vec<String>)> {
    let schema = resolved(schema, root);
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties");
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        let known = properties.and_then(|properties| properties.get(key));
        let inner = match (known.or(others.filter(|others| others.is_object())), properties) {
            (Some(inner), _) => inner,
            (None, Some(properties)) if others == Some(&Value::Bool(false)) => {
                return Some((path, properties.keys().cloned().collect()));
            }
            (None, _) => continue,
        };
        if let toml::Value::Table(below) = value
            && let Some(found) = unknown_key(below, inner, root, &format!("{path}."))
        {
            return Some(found);
        }
    }
    None
}

/// A schema behind its references and its being optional.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return resolved(&root["$defs"][name], root);
    }
    let real = |schema: &&Value| schema["type"] != "null";
    match schema["anyOf"].as_array().and_then(|choices| choices.iter().find(real)) {
        Some(choice) => resolved(choice, root),
        None => schema,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_told_with_what_was_meant() {
        for (text, expected) in [
            ("modle = 'x'", Some("`model`")),
            ("[sandbox]\nenabeld = true", Some("`sandbox.enabled`")),
            ("[providers.mine]\nbase-url = 'x'", Some("`providers.mine.base_url`")),
            ("[loop_guard]\nrepetition = 2", Some("`loop_guard.repetitions`")),
            ("xyzzy = 1", None),
            ("model = 'x'", None),
        ] {
            let told = meant(&text.parse().unwrap());
            assert_eq!(told.is_some(), expected.is_some(), "{text}: {told:?}");
            assert!(told.zip(expected).is_none_or(|(told, expected)| told.contains(expected)), "{text}");
        }
    }
}
