//! Secrets that a configuration names: they stay placeholders in everything that is shown, and become values when a
//! program is started.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use serde_json::{Map, Value};
use stepwell_workspace::process::ProgramCall;

/// What becomes of `${env:NAME}` where the variable holds a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SecretUse {
    /// Its value is put in, as for every other variable.
    #[default]
    Plain,
    /// Variables of these names stay as they are written until the program starts.
    Held(BTreeSet<String>),
    /// Variables of these names are errors: nobody who may know them wrote the configuration.
    Refused(BTreeSet<String>),
}

/// The values of placeholders.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Arc<BTreeMap<String, String>>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

impl FromIterator<(String, String)> for Secrets {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(values: T) -> Self {
        Self(Arc::new(values.into_iter().collect()))
    }
}

impl Secrets {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn with(&self, more: &Self) -> Self {
        self.0.iter().chain(more.0.iter()).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Puts values for the placeholders of a text; a value is not looked into again.
    pub fn expanded(&self, text: &str) -> String {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            expanded.push_str(&rest[..at]);
            rest = &rest[at..];
            let length = rest.find('}').map_or(2, |end| end + 1);
            if let Some(value) = self.0.get(&rest[..length]) {
                expanded.push_str(value);
                rest = &rest[length..];
            } else {
                expanded.push_str("${");
                rest = &rest[2..];
            }
        }
        expanded + rest
    }

    /// Puts values for the placeholders of all texts and keys.
    pub fn expanded_map(&self, fields: &Map<String, Value>) -> Map<String, Value> {
        if self.is_empty() {
            return fields.clone();
        }
        fields.iter().map(|(key, value)| (self.expanded(key), self.expanded_value(value))).collect()
    }

    fn expanded_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.expanded(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.expanded_value(item)).collect()),
            Value::Object(fields) => Value::Object(self.expanded_map(fields)),
            other => other.clone(),
        }
    }

    /// Puts values for the placeholders of a command and its variables.
    pub fn expand_call(&self, call: &mut ProgramCall) {
        if self.is_empty() {
            return;
        }
        let expand = |text: &OsStr| text.to_str().map(|text| OsString::from(self.expanded(text)));
        let values = call.environment.set.iter_mut().map(|(_, value)| value);
        for text in std::iter::once(&mut call.program).chain(&mut call.arguments).chain(values) {
            if let Some(expanded) = expand(text) {
                *text = expanded;
            }
        }
    }
}

/// How a variable that holds a secret is written.
pub(crate) fn placeholder(variable: &str) -> String {
    format!("${{env:{variable}}}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn placeholders_become_values_once_and_nothing_else_changes() {
        let secrets: Secrets = [("${env:KEY}", "k-${env:OTHER}"), ("${env:OTHER}", "o")]
            .map(|(a, b)| (a.into(), b.into()))
            .into_iter()
            .collect();
        for (text, expected) in [
            ("", ""),
            ("plain $KEY {env:KEY}", "plain $KEY {env:KEY}"),
            ("${env:KEY}", "k-${env:OTHER}"),
            ("a${env:OTHER}b${env:OTHER}", "aobo"),
            ("${env:UNKNOWN}${env:OTHER}", "${env:UNKNOWN}o"),
            ("${${env:OTHER}", "${o"),
            ("${env:OTHER", "${env:OTHER"),
            ("主${env:OTHER}程", "主o程"),
        ] {
            assert_eq!(secrets.expanded(text), expected, "{text}");
        }
        let fields = json!({ "args": ["${env:OTHER}", 1], "env": { "A": "x${env:OTHER}" } });
        let Value::Object(fields) = fields else { panic!() };
        assert_eq!(
            Value::Object(secrets.expanded_map(&fields)),
            json!({ "args": ["o", 1], "env": { "A": "xo" } })
        );
        let shown = format!("{secrets:?}");
        assert!(shown.contains("KEY") && !shown.contains("k-"), "{shown}");
    }
}
