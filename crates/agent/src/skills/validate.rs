//! Whether a skill is one by the Agent Skills specification, as `skills-ref` judges it.

use std::path::Path;

use serde_json::{Map, Value};
use stepwell_workspace::files;

use super::file_of;

const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;
const LONGEST_COMPATIBILITY: usize = 500;
const LARGEST_FILE: u64 = 4 * 1024 * 1024;

/// Fields of the specification.
const FIELDS: &[&str] = &["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
/// Fields that Stepwell reads besides, and other agents' validators refuse.
const OWN_FIELDS: &[&str] = &["triggers", "tools", "agent_modes"];

/// Something that is wrong with a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Against the specification.
    Error,
    /// Works here; the specification's validator refuses it.
    Warning,
}

/// What is wrong with the skill of a folder. Nothing at all means that `skills-ref` accepts it too.
pub fn validate(folder: &Path) -> Vec<Finding> {
    let mut found = Findings::default();
    if !folder.exists() {
        return found.error(format!("there is no folder `{}`", folder.display()));
    }
    if !folder.is_dir() {
        return found.error(format!("`{}` is no folder", folder.display()));
    }
    let Some(file) = file_of(folder) else {
        return found.error("there is no SKILL.md in the folder");
    };
    let text = match files::read_beginning(&file, LARGEST_FILE).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => return found.error("SKILL.md is not UTF-8"),
        Err(error) => return found.error(error.to_string()),
    };
    // The specification's validator looks for the three hyphens anywhere.
    let Some(rest) = text.strip_prefix("---") else {
        return found.error("SKILL.md must begin with front matter: a line of `---`");
    };
    let Some((yaml, _)) = rest.split_once("---") else {
        return found.error("the front matter is never closed by a line of `---`");
    };
    let fields = match serde_saphyr::from_str::<Value>(yaml) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return found.error("the front matter must be a mapping of names to values"),
        Err(error) => {
            let message = error.to_string();
            let message = message.lines().next().unwrap_or_default();
            return found.error(format!("the front matter is no YAML: {message}"));
        }
    };
    strict_yaml(&mut found, yaml);
    check_fields(&mut found, &fields, folder);
    found.0
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, severity: Severity, message: impl Into<String>) {
        self.0.push(Finding { severity, message: message.into() });
    }

    /// Adds an error after which nothing more can be said.
    fn error(&mut self, message: impl Into<String>) -> Vec<Finding> {
        self.add(Severity::Error, message);
        std::mem::take(&mut self.0)
    }
}

/// The specification's validator reads a part of YAML only: no `[a, b]`, no anchors, no tags.
fn strict_yaml(found: &mut Findings, yaml: &str) {
    let mut block: Option<usize> = None;
    for line in yaml.lines() {
        let indent = line.len() - line.trim_start().len();
        if let Some(start) = block {
            if line.trim().is_empty() || indent > start {
                continue;
            }
            block = None;
        }
        let value = line.trim_start().trim_start_matches("- ");
        let value = value.split_once(": ").map_or(value, |(_, value)| value).trim();
        if value.starts_with(['|', '>']) {
            block = Some(indent);
        }
        let what = match value.chars().next() {
            Some('[' | '{') => "lists and mappings in brackets",
            Some('&' | '*') => "anchors",
            Some('!') => "tags",
            _ => continue,
        };
        found.add(Severity::Warning, format!("other agents' validators refuse {what}: `{value}`"));
    }
}

fn check_fields(found: &mut Findings, fields: &Map<String, Value>, folder: &Path) {
    for name in fields.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
        if OWN_FIELDS.contains(&name.as_str()) {
            let message =
                format!("only Stepwell reads `{name}` here; below `metadata` every agent accepts it");
            found.add(Severity::Warning, message);
        } else {
            let known = FIELDS.join(", ");
            found.add(Severity::Error, format!("there is no field `{name}`; known: {known}"));
        }
    }
    match fields.get("name") {
        None => found.add(Severity::Error, "`name` is missing"),
        Some(value) => match scalar(value) {
            Some(name) => check_name(found, name.trim(), folder),
            None => found.add(Severity::Error, "`name` must be a text"),
        },
    }
    match fields.get("description") {
        None => found.add(Severity::Error, "`description` is missing"),
        Some(value) => match scalar(value).filter(|text| !text.trim().is_empty()) {
            None => {
                found.add(Severity::Error, "`description` must be a text that says what it does and when");
            }
            Some(text) => check_length(found, "description", &text, LONGEST_DESCRIPTION),
        },
    }
    if let Some(value) = fields.get("compatibility") {
        match scalar(value) {
            None => found.add(Severity::Error, "`compatibility` must be a text"),
            Some(text) => check_length(found, "compatibility", &text, LONGEST_COMPATIBILITY),
        }
    }
}

fn check_length(found: &mut Findings, field: &str, text: &str, most: usize) {
    let length = text.chars().count();
    if length > most {
        found.add(Severity::Error, format!("`{field}` has {length} characters; {most} are allowed"));
    }
}

fn check_name(found: &mut Findings, name: &str, folder: &Path) {
    if name.is_empty() {
        return found.add(Severity::Error, "`name` must be a text");
    }
    check_length(found, "name", name, LONGEST_NAME);
    if name.to_lowercase() != name {
        found.add(Severity::Error, format!("the name `{name}` must be in small letters"));
    }
    if name.starts_with('-') || name.ends_with('-') {
        found.add(Severity::Error, format!("the name `{name}` may not begin or end with a hyphen"));
    }
    if name.contains("--") {
        found.add(Severity::Error, format!("the name `{name}` may not have two hyphens in a row"));
    }
    if !name.chars().all(|c| c.is_alphanumeric() || c == '-') {
        found.add(Severity::Error, format!("the name `{name}` may have letters, digits and hyphens only"));
    }
    // `.` and a link have a name of their own elsewhere.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let folder_name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if folder_name != name {
        found.add(Severity::Error, format!("the folder is called `{folder_name}` and the skill `{name}`"));
    }
}

/// A value as that validator sees it: everything that is no list and no mapping is a text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}
