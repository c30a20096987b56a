//! Changing one setting in a file, with comments and order kept.

use std::path::{Path, PathBuf};

use serde_json::Value;
use stepwell_protocol::SettingScope;
use stepwell_workspace::files::{self, LockFile, Privacy};
use toml_edit::{DocumentMut, Item, Table};

use super::{Places, SettingsLayer, read};
use crate::report;

/// The file that holds the settings of a scope.
pub fn file_of(places: &Places, workspace: &Path, scope: SettingScope) -> PathBuf {
    match scope {
        SettingScope::User => places.user_settings(),
        SettingScope::Project => Places::project_settings(Places::project(workspace)),
    }
}

/// Why a text cannot be used as settings.
pub fn problem_of(path: &Path, text: &str) -> Option<String> {
    let error = toml::from_str::<SettingsLayer>(text).err()?;
    Some(report::to_error_report(&read::unusable_file(path, &error)).message)
}

/// Sets a value, or removes it where there is none. A change that makes the file unusable is not written.
pub fn set(path: &Path, name: &str, value: Option<&Value>) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        files::create_private_dir(folder)?;
    }
    let _lock = LockFile::take(&path.with_extension("toml.lock"))?;
    let before = files::read_if_exists(path)?.unwrap_or_default();
    let after = changed(&before, name, value)?;
    toml::from_str::<SettingsLayer>(&after).map_err(|error| read::unusable_file(path, &error))?;
    // Follows a link, so that settings that are kept elsewhere stay there.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    Ok(files::write_atomic(&target, after.as_bytes(), Privacy::Private)?)
}

/// The text with one setting changed.
fn changed(text: &str, name: &str, value: Option<&Value>) -> anyhow::Result<String> {
    let refused = |problem: String| {
        report::usage(problem, "`stepwell config schema` prints the names and kinds of settings")
    };
    let mut document: DocumentMut = text.parse()?;
    let mut keys: Vec<&str> = name.split('.').collect();
    let Some(last) = keys.pop().filter(|last| !last.is_empty()) else {
        return Err(refused(format!("`{name}` is no name of a setting")));
    };
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for key in keys {
        if value.is_none() && table.get(key).is_none() {
            return Ok(text.to_owned());
        }
        let inner = table.entry(key).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        table = inner
            .as_table_like_mut()
            .ok_or_else(|| refused(format!("`{key}` of `{name}` holds a value, not settings")))?;
    }
    match value {
        None => {
            table.remove(last);
        }
        Some(value) => {
            let value = toml_value(value).ok_or_else(|| {
                refused(format!("the value of `{name}` has a part that settings cannot hold"))
            })?;
            match table.get_mut(last).and_then(Item::as_value_mut) {
                // What stands behind the value, such as a comment, stays.
                Some(known) => {
                    let decor = known.decor().clone();
                    *known = value;
                    *known.decor_mut() = decor;
                }
                None => {
                    table.insert(last, Item::Value(value));
                }
            }
        }
    }
    Ok(document.to_string())
}

/// A JSON value in TOML, which has no null.
fn toml_value(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            let items: Option<Vec<toml_edit::Value>> = items.iter().map(toml_value).collect();
            toml_edit::Value::Array(items?.into_iter().collect())
        }
        Value::Object(fields) => {
            let mut table = toml_edit::InlineTable::new();
            for (name, field) in fields {
                table.insert(name, toml_value(field)?);
            }
            table.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn changed_settings_keep_comments_and_order() {
        let mut text = "# mine\nmodel = \"a/b\" # the good one\n\n[sandbox]\nenabled = true\n".to_owned();
        let changes = [
            ("model", Some(json!("c/d"))),
            ("sandbox.enabled", None),
            ("permissions.allow", Some(json!(["read", "bash(ls)"]))),
            ("max_turns", Some(json!(12))),
            ("checkpoints.enabled", None),
        ];
        for (name, value) in changes {
            text = changed(&text, name, value.as_ref()).unwrap();
        }
        expect![[r#"
            # mine
            model = "c/d" # the good one
            max_turns = 12

            [sandbox]

            [permissions]
            allow = ["read", "bash(ls)"]
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn values_that_settings_do_not_allow_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        set(&path, "max_turns", Some(&json!(5))).unwrap();
        assert!(set(&path, "max_turns", Some(&json!("many"))).is_err());
        assert!(set(&path, "no_such_setting", Some(&json!(1))).is_err());
        assert!(set(&path, "max_turns.deep", Some(&json!(1))).is_err());
        assert!(set(&path, "", Some(&json!(1))).is_err());
        assert_eq!(files::read_to_string(&path).unwrap(), "max_turns = 5\n");
    }
}
