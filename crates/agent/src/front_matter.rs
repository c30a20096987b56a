//! Front matter: the YAML between two lines of `---` at the start of a Markdown file.

use serde_json::{Map, Value};

/// Front matter longer than this is not read.
const LONGEST: usize = 64 * 1024;

/// A Markdown file, parted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrontMatter {
    /// Empty where the file has none.
    pub fields: Map<String, Value>,
    pub body: String,
    /// Why the fields could not be read; the body is used all the same.
    pub problem: Option<String>,
}

impl FrontMatter {
    /// Parts a file. What is no front matter belongs to the body.
    pub fn of(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let Some((yaml, body)) = parted(text) else {
            return Self { body: text.to_owned(), ..Self::default() };
        };
        let body = body.to_owned();
        match fields(yaml) {
            Ok(fields) => Self { fields, body, problem: None },
            // Other agents read `description: a: b` as text, which is no YAML.
            Err(problem) => match plain_fields(yaml) {
                Some(fields) => Self { fields, body, problem: None },
                None => Self { fields: Map::new(), body, problem: Some(problem) },
            },
        }
    }

    /// A field as text; numbers and truth values are written out.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.fields.get(name)? {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// A field that is a list, or a text of words between commas.
    pub fn list(&self, name: &str) -> Vec<String> {
        let words = |text: &str| -> Vec<String> {
            split_outside_brackets(text)
                .map(|word| word.trim().trim_matches(['"', '\'']).to_owned())
                .collect()
        };
        let all = match self.fields.get(name) {
            Some(Value::String(text)) => words(text),
            Some(Value::Array(items)) => {
                items.iter().filter_map(|item| item.as_str().map(|text| text.trim().to_owned())).collect()
            }
            _ => Vec::new(),
        };
        all.into_iter().filter(|word| !word.is_empty()).collect()
    }
}

/// Splits at commas, except within brackets, as in `Bash(a,b), Read`.
fn split_outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |c| {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    })
}

/// The YAML and the rest, where the text begins with front matter that is closed.
pub(crate) fn parted(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?;
    let rest = rest.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n')?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn fields(yaml: &str) -> Result<Map<String, Value>, String> {
    if yaml.len() > LONGEST {
        return Err(format!("the front matter is longer than {} KB", LONGEST >> 10));
    }
    if yaml.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_saphyr::from_str::<Value>(yaml) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err("the front matter is no mapping".to_owned()),
        Err(error) => {
            let line = error.location().map(|place| format!(" (line {})", place.line() + 1));
            let message = error.to_string();
            let message = message.lines().next().unwrap_or_default();
            Err(format!("the front matter is no YAML{}: {message}", line.unwrap_or_default()))
        }
    }
}

/// Reads lines of `name: anything`, for files that were never checked by a YAML parser.
fn plain_fields(yaml: &str) -> Option<Map<String, Value>> {
    let mut fields = Map::new();
    for line in yaml.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        let (name, value) = line.split_once(':')?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        let value = value.trim();
        // Lists and blocks need a real parser, which refused them.
        if !is_name || value.is_empty() || value.starts_with(['|', '>', '[', '{', '&', '*', '"', '\'']) {
            return None;
        }
        fields.insert(name.to_owned(), Value::String(value.to_owned()));
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_and_body_are_parted() {
        let read = FrontMatter::of(
            "\u{feff}---\r\nname: a\ntools: Read, Bash(git log:*, x)\nn: 3\n---\nBody\n---\n",
        );
        assert_eq!(read.body, "Body\n---\n");
        assert_eq!(read.text("name").as_deref(), Some("a"));
        assert_eq!(read.text("n").as_deref(), Some("3"));
        assert_eq!(read.list("tools"), ["Read", "Bash(git log:*, x)"]);
        assert_eq!(read.problem, None);
    }

    #[test]
    fn files_without_front_matter_are_all_body() {
        for text in ["plain", "---\nnever closed", "--- a\nb\n---\n", ""] {
            let read = FrontMatter::of(text);
            assert_eq!((read.body.as_str(), read.fields.len()), (text, 0), "{text}");
        }
    }

    #[test]
    fn colons_in_values_are_read_as_other_agents_do() {
        let read = FrontMatter::of("---\ndescription: Use when: always\nargument-hint: [a] [b]\n---\nx");
        // The second line is no plain value, so the whole cannot be saved.
        assert!(read.problem.is_some() && read.body == "x", "{read:?}");
        let read = FrontMatter::of("---\ndescription: Use when: always\n---\nx");
        assert_eq!(Value::Object(read.fields), json!({"description": "Use when: always"}));
    }
}
