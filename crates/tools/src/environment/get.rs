//! `get_env_var`: lets the commands of a task see a variable.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec};

use super::{TaskVariables, checked_name, checked_use};
use crate::code::TextAnswer;

pub struct GetEnvVar {
    variables: TaskVariables,
}

impl GetEnvVar {
    pub fn new(variables: TaskVariables) -> Self {
        Self { variables }
    }
}

/// Makes a variable that the user keeps, such as a key, visible to later commands and tests of this task as `$NAME`. The
/// value itself is never shown.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct GetEnvVarInput {
    #[schemars(extend("x-aliases" = ["variable_name", "variable", "key"]))]
    name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GetEnvVarBody {
    name: String,
    /// Whether commands see it now.
    loaded: bool,
    /// `project` or `person`.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
}

#[async_trait]
impl Tool for GetEnvVar {
    type Input = GetEnvVarInput;
    type Plan = GetEnvVarInput;
    type Output = TextAnswer<GetEnvVarBody>;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "get_env_var",
            aliases: &[],
            category: Category::Environment,
            // What a command does with the value cannot be taken back.
            risk: Risk::Execute,
            time_limit: Duration::from_secs(30),
            output_limit: 4 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let summary =
            format!("Let the commands of this task use the variable `{}`", input.name.escape_debug());
        let checked = checked_name(&input.name).and_then(|()| checked_use(&input.name));
        Planned::new(Preview { summary, ..Preview::default() }, checked.map(|()| input))
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let name = input.name;
        let Some(value) = self.variables.value(&name)? else {
            let elsewhere = if std::env::var_os(&name).is_some() {
                " It is in Stepwell's own environment, which commands do not get from there."
            } else {
                ""
            };
            let text = format!("`{name}` is not set.{elsewhere} Ask for it with `request_env_var`.");
            return Ok(TextAnswer::new(GetEnvVarBody { name, loaded: false, scope: None }, text));
        };
        ctx.redactor.add_secrets([(name.clone(), value.expose_secret().to_owned())]);
        let names = self.variables.names()?;
        let scope = names.iter().find(|(known, _)| *known == name).map(|(_, scope)| *scope);
        self.variables.load(&ctx.task, &name, value);
        let text = format!(
            "`{name}` is set ({}). Commands and tests of this task see it as `${name}`; its value is hidden in all output.",
            scope.unwrap_or("person")
        );
        Ok(TextAnswer::new(GetEnvVarBody { name, loaded: true, scope }, text))
    }
}
