//! `ask_clarification`: what the person means.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::{
    ClarificationKind, Preview, Question, QuestionId, QuestionKind, QuestionOption, Risk,
};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec};

use super::answer::{AnswerOutput, ask, with_ids};

pub struct Clarification;

/// Asks the person what they mean, when the task cannot be done well without knowing and no file tells.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ClarificationInput {
    question: String,
    #[serde(default)]
    clarification_type: ClarificationKind,
    /// Answers to choose from.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["follow_up", "suggestions", "choices"]))]
    options: Vec<ClarificationOption>,
    /// Whether another answer is welcome; true by default.
    allow_custom: Option<bool>,
    /// Why it is asked.
    context: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ClarificationOption {
    id: Option<String>,
    #[schemars(extend("x-aliases" = ["text", "answer", "value", "title"]))]
    label: String,
    description: Option<String>,
    #[serde(default)]
    recommended: bool,
}

#[async_trait]
impl Tool for Clarification {
    type Input = ClarificationInput;
    type Plan = ClarificationInput;
    type Output = AnswerOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ask_clarification",
            aliases: &["ask_followup_question", "ask_user"],
            category: Category::Interaction,
            risk: Risk::Control,
            // The host waits for the person and knows for how long.
            time_limit: Duration::MAX,
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let preview = Preview { summary: format!("Ask: {}", input.question), ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<AnswerOutput, ToolError> {
        if input.question.trim().is_empty() {
            return Err(ToolError::validation("the question is empty"));
        }
        let options = input.options.into_iter().map(|option| QuestionOption {
            id: option.id.unwrap_or_default(),
            label: option.label,
            description: option.description,
            recommended: option.recommended,
            ..QuestionOption::default()
        });
        let options = with_ids(options.collect())?;
        let question = Question {
            id: QuestionId::generate(),
            kind: QuestionKind::Clarification(input.clarification_type),
            text: input.question,
            context: input.context,
            // Without options only a free answer is possible.
            allow_custom: input.allow_custom.unwrap_or(true) || options.is_empty(),
            options,
            default_option: None,
            timeout_seconds: None,
            from: None,
        };
        ask(ctx, question).await
    }
}
