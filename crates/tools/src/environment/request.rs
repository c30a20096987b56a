//! `request_env_var`: asks the person to set a variable. The value does not travel with the answer, because answers are kept
//! in the task's log: the person sets it with `stepwell env set`, and then says so.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{
    ClarificationKind, Preview, Question, QuestionId, QuestionKind, QuestionOption, Risk,
};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec};

use super::{TaskVariables, checked_name, checked_use};
use crate::code::TextAnswer;

const DONE: &str = "done";
const NOT_NOW: &str = "not_now";

pub struct RequestEnvVar {
    variables: TaskVariables,
}

impl RequestEnvVar {
    pub fn new(variables: TaskVariables) -> Self {
        Self { variables }
    }
}

/// Asks the user to set a variable that commands need, such as a key. You never see the value; once it is set,
/// `get_env_var` makes it visible to commands.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct RequestEnvVarInput {
    #[schemars(extend("x-aliases" = ["variable_name", "variable", "key"]))]
    name: String,
    /// What it is needed for, and where the user finds it.
    #[schemars(extend("x-aliases" = ["reason", "description", "message"]))]
    why: Option<String>,
    #[serde(default)]
    scope: RequestScope,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestScope {
    /// For this folder.
    #[default]
    Project,
    /// For all folders.
    #[serde(alias = "global", alias = "user")]
    Person,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RequestEnvVarBody {
    name: String,
    set: bool,
}

#[async_trait]
impl Tool for RequestEnvVar {
    type Input = RequestEnvVarInput;
    type Plan = RequestEnvVarInput;
    type Output = TextAnswer<RequestEnvVarBody>;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "request_env_var",
            aliases: &[],
            category: Category::Environment,
            risk: Risk::Control,
            // The host waits for the person and knows for how long.
            time_limit: Duration::MAX,
            output_limit: 4 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let summary = format!("Ask for the variable `{}`", input.name.escape_debug());
        let checked = checked_name(&input.name).and_then(|()| checked_use(&input.name));
        Planned::new(Preview { summary, ..Preview::default() }, checked.map(|()| input))
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let name = input.name;
        let is_set = || -> Result<bool, ToolError> { Ok(self.variables.value(&name)?.is_some()) };
        if is_set()? {
            let text = format!("`{name}` is set already; `get_env_var` makes it visible to commands");
            return Ok(TextAnswer::new(RequestEnvVarBody { name, set: true }, text));
        }
        let flag = match input.scope {
            RequestScope::Project => "",
            RequestScope::Person => " --global",
        };
        let option = |id: &str, label: &str| QuestionOption {
            id: id.to_owned(),
            label: label.to_owned(),
            recommended: id == NOT_NOW,
            ..QuestionOption::default()
        };
        let question = Question {
            id: QuestionId::generate(),
            kind: QuestionKind::Clarification(ClarificationKind::Prerequisite),
            text: format!(
                "The task needs the variable `{name}`. Set it in another terminal with `stepwell env set {name}{flag}`; do not type its value here."
            ),
            context: input.why,
            options: vec![option(DONE, "It is set"), option(NOT_NOW, "Go on without it")],
            // Whatever is typed here would be kept in the log.
            allow_custom: false,
            default_option: Some(NOT_NOW.to_owned()),
            timeout_seconds: None,
            from: None,
        };
        let answer = tokio::select! {
            answer = ctx.host.ask(question) => answer,
            () = ctx.cancel.cancelled() => return Err(ToolError::interrupted("the question was withdrawn")),
        };
        let set = is_set()?;
        let text = match (set, answer.option.as_deref()) {
            (true, _) => format!("`{name}` is set now; `get_env_var` makes it visible to commands"),
            (false, Some(DONE)) => {
                format!("`{name}` is still not set; `stepwell env set {name}{flag}` sets it")
            }
            (false, _) => {
                format!("`{name}` is not set; go on without it, or say what cannot be done without it")
            }
        };
        Ok(TextAnswer::new(RequestEnvVarBody { name, set }, text))
    }
}
