//! The output of the code tools: an answer as data, with the text that a model reads.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use stepwell_code_intel::ask::{Origin, Target, Unresolved};
use stepwell_code_intel::lsp::Question;
use stepwell_protocol::ToolDetail;
use stepwell_tool_runtime::ToolOutput;

/// An answer for programs, and the same as text for the model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct TextAnswer<A> {
    answer: A,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    detail: Option<ToolDetail>,
}

impl<A> TextAnswer<A> {
    pub fn new(answer: A, text: impl Into<String>) -> Self {
        Self { answer, text: text.into(), detail: None }
    }

    /// The same, with what a person is shown.
    pub fn showing(self, detail: ToolDetail) -> Self {
        Self { detail: Some(detail), ..self }
    }
}

impl<A: Serialize + JsonSchema + Send + 'static> ToolOutput for TextAnswer<A> {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }

    fn detail(&self) -> Option<ToolDetail> {
        self.detail.clone()
    }
}

/// The input of a tool that can also ask a language server.
pub trait SymbolQuestion {
    fn target(&self) -> Target;

    fn question(&self) -> Question;
}

/// The source of an answer as the model reads it: `lsp (pyright)`.
pub fn source_name(origin: &Origin) -> String {
    let server = origin.server.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{}{server}", origin.source.name())
}

/// A line for each note.
pub fn note_lines(notes: &[String]) -> String {
    notes.iter().flat_map(|note| ["note: ", note, "\n"]).collect()
}

/// Says why a symbol has no definition in the workspace.
pub fn unresolved_text(subject: &str, unresolved: Unresolved<'_>, notes: &[String]) -> String {
    let text = match unresolved {
        Unresolved::External => format!(
            "{subject} is not known here: no file of the workspace defines it. It may belong to a dependency or to the language."
        ),
        Unresolved::Unknown { similar_names: [] } => format!(
            "{subject} is not defined in the workspace as far as the index can tell. Give the file and line where it is used, or search with `grep`."
        ),
        Unresolved::Unknown { similar_names } => {
            format!("{subject} is not defined in the workspace, but there is {}.", similar_names.join(", "))
        }
    };
    if notes.is_empty() { text } else { format!("{text}\n{}", note_lines(notes)) }
}
