//! What was answered, for the model.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use stepwell_protocol::{AnsweredBy, Question, QuestionAnswer, QuestionOption};
use stepwell_tool_runtime::{ToolContext, ToolError, ToolOutput};

#[derive(Debug, Serialize, JsonSchema)]
pub struct AnswerOutput {
    /// The id of the chosen option.
    #[serde(skip_serializing_if = "Option::is_none")]
    option: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// What the person wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    answered_by: AnsweredBy,
}

impl ToolOutput for AnswerOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let how = match self.answered_by {
            AnsweredBy::Person => "",
            AnsweredBy::Policy => "nobody is here; by policy: ",
            AnsweredBy::Timeout => "nobody answered in time; by default: ",
            AnsweredBy::Nobody => {
                return Cow::Borrowed(
                    "nobody can answer. Choose the safest reading yourself and say which one you chose, or end the \
                     task if no choice is safe",
                );
            }
        };
        let chosen = self.option.as_ref().map(|id| {
            let label = self.label.as_deref().unwrap_or(id);
            format!("{label} (option `{id}`)")
        });
        Cow::Owned(match (chosen, &self.text) {
            (Some(chosen), Some(text)) => format!("{how}{chosen}: {text}"),
            (Some(chosen), None) => format!("{how}{chosen}"),
            (None, Some(text)) => format!("{how}{text}"),
            (None, None) => format!("{how}no option was chosen; decide yourself"),
        })
    }
}

/// Asks, unless the call is cancelled first.
pub(super) async fn ask(ctx: &ToolContext, question: Question) -> Result<AnswerOutput, ToolError> {
    let options = question.options.clone();
    let QuestionAnswer { option, text, by, .. } = tokio::select! {
        answer = ctx.host.ask(question) => answer,
        () = ctx.cancel.cancelled() => return Err(ToolError::interrupted("the question was withdrawn")),
    };
    let label = option.as_ref().and_then(|id| options.iter().find(|option| option.id == *id));
    let label = label.map(|option| option.label.clone());
    Ok(AnswerOutput { option, label, text, answered_by: by })
}

/// Gives every option an id of its own.
pub(super) fn with_ids(mut options: Vec<QuestionOption>) -> Result<Vec<QuestionOption>, ToolError> {
    for index in 0..options.len() {
        let (before, rest) = options.split_at_mut(index);
        let Some(option) = rest.first_mut() else { break };
        if option.label.trim().is_empty() {
            return Err(ToolError::validation(format!("option {} has no label", index + 1)));
        }
        let taken = before.iter().any(|earlier| earlier.id == option.id);
        if option.id.is_empty() || taken {
            option.id = format!("option_{}", index + 1);
        }
    }
    Ok(options)
}
