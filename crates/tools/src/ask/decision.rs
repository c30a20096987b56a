//! `request_decision`: which way the person wants to go.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_protocol::{DecisionKind, Preview, Question, QuestionId, QuestionKind, QuestionOption, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec, near_names};

use super::answer::{AnswerOutput, ask, with_ids};

pub struct Decision;

/// Lets the person decide at a fork: a branch, a method, a confirmation or a risk, with the options weighed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct DecisionInput {
    question: String,
    #[serde(default)]
    decision_type: DecisionKind,
    #[schemars(extend("x-aliases" = ["choices"]))]
    options: Vec<DecisionOption>,
    #[serde(default)]
    allow_custom: bool,
    /// Id of the option taken when nobody answers.
    default_option: Option<String>,
    context: Option<String>,
    /// Seconds to wait.
    #[schemars(extend("x-aliases" = ["timeout_seconds"]))]
    timeout: Option<u64>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct DecisionOption {
    id: Option<String>,
    #[schemars(extend("x-aliases" = ["text", "value", "title"]))]
    label: String,
    description: Option<String>,
    #[serde(default)]
    recommended: bool,
    estimated_time: Option<String>,
    estimated_cost: Option<String>,
    #[serde(default)]
    risks: Vec<String>,
}

#[async_trait]
impl Tool for Decision {
    type Input = DecisionInput;
    type Plan = DecisionInput;
    type Output = AnswerOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "request_decision",
            aliases: &[],
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
        if input.options.is_empty() {
            return Err(ToolError::validation(
                "a decision needs options; use `ask_clarification` for an open question",
            ));
        }
        let options = input.options.into_iter().map(|option| QuestionOption {
            id: option.id.unwrap_or_default(),
            label: option.label,
            description: option.description,
            recommended: option.recommended,
            estimated_time: option.estimated_time,
            estimated_cost: option.estimated_cost,
            risks: option.risks,
        });
        let options = with_ids(options.collect())?;
        if let Some(default) = &input.default_option {
            let ids: Vec<&str> = options.iter().map(|option| option.id.as_str()).collect();
            if !ids.contains(&default.as_str()) {
                let near = near_names(default, ids.iter().copied());
                let meant = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let known = ids.join(", ");
                return Err(ToolError::validation(format!(
                    "`default_option` must be the id of an option ({known}), got `{default}`{meant}"
                )));
            }
        }
        let question = Question {
            id: QuestionId::generate(),
            kind: QuestionKind::Decision(input.decision_type),
            text: input.question,
            context: input.context,
            options,
            allow_custom: input.allow_custom,
            default_option: input.default_option,
            timeout_seconds: input.timeout.map(|seconds| seconds.clamp(1, 86_400)),
            from: None,
        };
        ask(ctx, question).await
    }
}
