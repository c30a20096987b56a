//! `--output-schema`: an answer that must be JSON of a given form.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use stepwell_workspace::files;

use crate::report;

/// A schema longer than this would fill the model's window.
const LONGEST: u64 = 256 * 1024;
/// How many mistakes the model is told of.
const MOST_PROBLEMS: usize = 10;

/// The schema the answer must fit.
pub struct AnswerSchema {
    pub schema: Arc<Value>,
    validator: jsonschema::Validator,
}

/// An answer that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct FittingAnswer {
    /// The JSON alone, as the model wrote it.
    pub text: String,
    pub value: Value,
}

impl AnswerSchema {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let wrong = |problem: String| {
            report::usage(
                format!("the schema in `{}` cannot be used: {problem}", path.display()),
                "give a file with a JSON Schema, such as {\"type\": \"object\", \"required\": [\"summary\"]}",
            )
        };
        let size = files::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
        if size > LONGEST {
            return Err(wrong(format!("it has {size} bytes; at most {LONGEST} are taken")));
        }
        let text = files::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let schema: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if !schema.is_object() {
            return Err(wrong("it is no JSON object".into()));
        }
        let validator = jsonschema::validator_for(&schema).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { schema: Arc::new(schema), validator })
    }

    /// What the model is told from the beginning.
    pub fn instruction(&self) -> String {
        format!(
            "Your final answer must be a single JSON value that fits the JSON Schema below, with no words and no \
             code fence around it. A program reads it.\n\n{}",
            self.schema
        )
    }

    /// The answer, or what is wrong with it.
    pub fn check(&self, answer: &str) -> Result<FittingAnswer, Vec<String>> {
        let text = without_fence(answer.trim());
        let value: Value =
            serde_json::from_str(text).map_err(|error| vec![format!("it is no JSON: {error}")])?;
        let problems: Vec<String> = self
            .validator
            .iter_errors(&value)
            .take(MOST_PROBLEMS)
            .map(|error| match error.instance_path().to_string() {
                path if path.is_empty() => error.to_string(),
                path => format!("{path}: {error}"),
            })
            .collect();
        if problems.is_empty() { Ok(FittingAnswer { text: text.to_owned(), value }) } else { Err(problems) }
    }
}

/// What the model is told when its answer does not fit.
pub fn correction(problems: &[String]) -> String {
    format!(
        "Your answer does not fit the JSON Schema it must fit:\n- {}\n\nAnswer again with a single JSON value that \
         fits, and nothing else.",
        problems.join("\n- ")
    )
}

/// The inside of a code fence that is the whole text, which models put around JSON in spite of what they are told.
fn without_fence(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inside.and_then(|inside| inside.split_once('\n')) {
        Some((word, json)) if word.trim().chars().all(char::is_alphanumeric) => json.trim(),
        _ => text,
    }
}
