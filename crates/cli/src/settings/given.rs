//! Settings given on the command line as `-c KEY=VALUE`.

use std::sync::OnceLock;

use super::SettingsLayer;
use super::read::{self, Place};
use crate::report;

/// Set once by `main`, before any door opens: settings are loaded in many places, and each must see the same ones.
static GIVEN: OnceLock<SettingsLayer> = OnceLock::new();

/// Keeps the settings of the command line for every load of settings in this process.
pub fn keep(words: &[String]) -> anyhow::Result<()> {
    if !words.is_empty() {
        let layer = parse(words)?;
        GIVEN.get_or_init(|| layer);
    }
    Ok(())
}

/// The layer of `-c`, where there is one.
pub fn layer() -> Option<&'static SettingsLayer> {
    GIVEN.get()
}

/// The layer that some `KEY=VALUE` words make; a later word wins over an earlier one with the same key.
fn parse(words: &[String]) -> anyhow::Result<SettingsLayer> {
    let mut table = toml::Table::new();
    for word in words {
        merge(&mut table, assignment(word)?);
    }
    read::layer(table, &Place::CommandLine)
}

/// One `KEY=VALUE` as TOML. A value that is no TOML value and does not begin like one is a string.
fn assignment(word: &str) -> anyhow::Result<toml::Table> {
    let wrong = |problem: String| {
        report::usage(
            format!("`-c {word}` cannot be used: {problem}"),
            "write `-c KEY=VALUE` with a TOML value: `-c max_turns=5`, `-c 'sandbox.network=[\"example.com\"]'`",
        )
    };
    let (key, value) = word.split_once('=').ok_or_else(|| wrong("there is no `=`".into()))?;
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() || key.starts_with('[') || key.contains(['\n', '#']) {
        return Err(wrong("there is no key before `=`".into()));
    }
    let as_toml = format!("{key} = {value}").parse::<toml::Table>();
    let begins_like_toml = value.starts_with(['"', '\'', '[', '{']);
    match as_toml {
        Ok(table) => Ok(table),
        Err(error) if begins_like_toml || value.is_empty() => Err(wrong(error.message().to_owned())),
        Err(_) => format!("{key} = {}", toml::Value::from(value))
            .parse::<toml::Table>()
            .map_err(|error| wrong(error.message().to_owned())),
    }
}

fn merge(into: &mut toml::Table, from: toml::Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(known)), toml::Value::Table(more)) => merge(known, more),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_settings() {
        let words = [
            "max_turns=5",
            "model=openai/gpt-5",
            "language = \"Chinese\"",
            "sandbox.enabled=false",
            "sandbox.network=[\"example.com\"]",
            "providers.mine.base_url=http://127.0.0.1:1/v1",
            "models.\"a/b*\".images=true",
            "max_turns=6",
        ];
        let layer = parse(&words.map(str::to_owned)).unwrap();
        assert_eq!(layer.max_turns, Some(6));
        assert_eq!(layer.model.as_deref(), Some("openai/gpt-5"));
        assert_eq!(layer.language.as_deref(), Some("Chinese"));
        let sandbox = layer.sandbox.unwrap();
        assert_eq!((sandbox.enabled, sandbox.network), (Some(false), vec!["example.com".to_owned()]));
        assert_eq!(layer.providers["mine"].base_url.as_deref(), Some("http://127.0.0.1:1/v1"));
        assert_eq!(layer.models["a/b*"].images, Some(true));
    }

    #[test]
    fn words_that_are_no_settings_are_refused() {
        for word in [
            "max_turns",
            "=5",
            "max_turns=",
            "max_turns=many",
            "modle=x",
            "sandbox.network=[",
            "a\nb=1",
            "[a]=1",
        ] {
            assert!(parse(&[word.to_owned()]).is_err(), "{word}");
        }
    }
}
