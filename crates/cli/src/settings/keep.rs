//! Keeping what the person always allows: the user's settings file, changed in place.

use std::path::{Path, PathBuf};

use stepwell_tool_runtime::{Grant, GrantKeeper};
use stepwell_workspace::files::{self, LockFile, Privacy};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

use super::{Places, SettingsLayer};

/// Writes grants as rules into the user's settings. Comments and order stay as they are.
pub struct UserSettingsKeeper {
    path: PathBuf,
}

impl UserSettingsKeeper {
    pub fn new(places: &Places) -> Self {
        Self { path: places.user_settings() }
    }

    fn add(&self, grant: &Grant) -> anyhow::Result<()> {
        if let Some(folder) = self.path.parent() {
            files::create_private_dir(folder)?;
        }
        let _lock = LockFile::take(&self.path.with_extension("toml.lock"))?;
        let before = files::read_if_exists(&self.path)?.unwrap_or_default();
        let after = with_grant(&before, grant)?;
        // A file that could not be read again would lock the person out.
        toml::from_str::<SettingsLayer>(&after)?;
        write(&self.path, &after)
    }
}

impl GrantKeeper for UserSettingsKeeper {
    fn keep(&self, grant: &Grant) -> Result<(), String> {
        self.add(grant).map_err(|error| {
            format!(
                "what you always allow holds for this task only, it could not be kept in `{}`: {error:#}",
                self.path.display()
            )
        })
    }
}

/// Follows a link, so that settings that are kept elsewhere stay there.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    Ok(files::write_atomic(&target, text.as_bytes(), Privacy::Private)?)
}

/// The settings with a grant in them.
fn with_grant(text: &str, grant: &Grant) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse()?;
    let permissions = document.entry("permissions").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let permissions =
        permissions.as_table_like_mut().ok_or_else(|| anyhow::anyhow!("`permissions` is no table"))?;
    match grant {
        Grant::Rules(rules) => {
            let allow = permissions.entry("allow").or_insert_with(|| value(Array::new()));
            let allow =
                allow.as_array_mut().ok_or_else(|| anyhow::anyhow!("`permissions.allow` is no list"))?;
            for rule in rules {
                if !allow.iter().any(|known| known.as_str() == Some(rule)) {
                    allow.push(rule.as_str());
                }
            }
        }
        Grant::Exact { tool, command } => {
            let rules =
                permissions.entry("rules").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
            let fields = [("effect", "allow"), ("tool", tool.as_str()), ("exact", command.as_str())];
            if let Some(rules) = rules.as_array_of_tables_mut() {
                let is_known = |table: &Table| {
                    fields.iter().all(|(name, text)| table.get(name).and_then(Item::as_str) == Some(text))
                };
                if !rules.iter().any(is_known) {
                    let mut table = Table::new();
                    for (name, text) in fields {
                        table.insert(name, value(text));
                    }
                    rules.push(table);
                }
            } else if let Some(rules) = rules.as_array_mut() {
                let inline: toml_edit::InlineTable =
                    fields.iter().map(|(name, text)| (*name, toml_edit::Value::from(*text))).collect();
                rules.push(inline);
            } else {
                anyhow::bail!("`permissions.rules` is no list");
            }
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn grants_are_added_and_comments_stay() {
        let rules = |rule: &str| Grant::Rules(vec![rule.to_owned()]);
        let exact = Grant::Exact { tool: "bash".into(), command: "rm -f \"a b\"".into() };
        let mut text =
            "# mine\nmodel = \"a/b\" # the good one\n\n[providers.x]\nkind = \"openai-chat\"\n".to_owned();
        for grant in [rules("bash(cargo test *)"), exact.clone(), rules("write"), rules("write"), exact] {
            text = with_grant(&text, &grant).unwrap();
            toml::from_str::<SettingsLayer>(&text).unwrap();
        }
        expect![[r#"
            # mine
            model = "a/b" # the good one

            [providers.x]
            kind = "openai-chat"

            [permissions]
            allow = ["bash(cargo test *)", "write"]

            [[permissions.rules]]
            effect = "allow"
            tool = "bash"
            exact = 'rm -f "a b"'
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn settings_of_another_shape_are_not_overwritten() {
        let grant = Grant::Rules(vec!["write".into()]);
        assert!(with_grant("permissions = 3\n", &grant).is_err());
        assert!(with_grant("[permissions]\nallow = \"x\"\n", &grant).is_err());
        assert!(with_grant("not toml", &grant).is_err());
    }
}
