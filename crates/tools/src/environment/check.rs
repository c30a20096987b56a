//! `check_env_vars`: which variables are set.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec};

use super::TaskVariables;
use crate::code::TextAnswer;

const MOST_NAMES: usize = 100;

pub struct CheckEnvVars {
    variables: TaskVariables,
}

impl CheckEnvVars {
    pub fn new(variables: TaskVariables) -> Self {
        Self { variables }
    }
}

/// Tells which variables the user keeps for commands, or which of those named are set and which are missing. Values are
/// never shown.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct CheckEnvVarsInput {
    /// All that are kept, unless given.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["required_vars", "variables", "variable_names"]))]
    names: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckEnvVarsBody {
    set: Vec<SetVariable>,
    missing: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SetVariable {
    name: String,
    /// `project` or `person`.
    scope: &'static str,
    /// Whether commands of this task see it.
    loaded: bool,
}

#[async_trait]
impl Tool for CheckEnvVars {
    type Input = CheckEnvVarsInput;
    type Plan = CheckEnvVarsInput;
    type Output = TextAnswer<CheckEnvVarsBody>;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "check_env_vars",
            aliases: &[],
            category: Category::Environment,
            risk: Risk::Read,
            time_limit: Duration::from_secs(30),
            output_limit: 16 * 1024,
        }
    }

    fn brings(&self) -> &'static [&'static str] {
        &["get_env_var", "request_env_var"]
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let summary = "See which variables are set".to_owned();
        Planned::ready(Preview { summary, ..Preview::default() }, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let known = self.variables.names()?;
        let mut body = CheckEnvVarsBody { set: Vec::new(), missing: Vec::new() };
        let mut add = |name: &str, scope: &'static str| {
            if !body.set.iter().any(|set| set.name == name) {
                let loaded = self.variables.is_loaded(&ctx.task, name);
                body.set.push(SetVariable { name: name.to_owned(), scope, loaded });
            }
        };
        if input.names.is_empty() {
            for (name, scope) in &known {
                add(name, scope);
            }
        }
        let mut missing = Vec::new();
        for name in input.names.iter().take(MOST_NAMES) {
            match known.iter().find(|(known, _)| known == name) {
                Some((name, scope)) => add(name, scope),
                None => missing.push(name.clone()),
            }
        }
        body.missing = missing;
        let mut text = String::new();
        for set in &body.set {
            let seen = if set.loaded { "commands see it" } else { "`get_env_var` lets commands see it" };
            text.push_str(&format!("{}: set ({}); {seen}\n", set.name, set.scope));
        }
        for name in &body.missing {
            text.push_str(&format!("{name}: missing; `request_env_var` asks for it\n"));
        }
        if text.is_empty() {
            text.push_str("no variable is kept for commands");
        }
        Ok(TextAnswer::new(body, text))
    }
}
