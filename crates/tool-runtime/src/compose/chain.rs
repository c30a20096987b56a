//! Steps that run as one call, each fed by the one before it and each judged like any other call.

use serde_json::{Map, Value};
use stepwell_protocol::{ToolCall, ToolCallId, ToolResult};

use super::{Misfit, Transform, TransformError, compatibility};
use crate::executor::Invoker;
use crate::registry::RegisteredTool;

#[derive(Clone, Debug)]
pub struct ChainStep {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// Turns the output of the step before it into arguments of this one.
    pub transform: Transform,
    /// The argument that gets the value, where it is no object.
    pub into: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Chain {
    pub steps: Vec<ChainStep>,
}

/// What came of a step.
#[derive(Clone, Debug)]
pub struct StepReport {
    pub result: ToolResult,
    pub output: Option<Value>,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum ChainError {
    #[error("a chain needs at least one step")]
    NoSteps,
    #[error("step {step}: there is no tool `{tool}`")]
    UnknownTool { step: usize, tool: String },
    #[error("step {step}: the output of `{from}` does not fit `{tool}`: {}", list(misfits))]
    DoesNotFit { step: usize, from: String, tool: String, misfits: Vec<Misfit> },
    #[error("step {step}: {source}")]
    Transform { step: usize, source: TransformError },
    #[error("step {step}: say with `into` which argument of `{tool}` gets the value")]
    NoPlace { step: usize, tool: String },
    #[error("step {step} (`{tool}`) failed: {message}")]
    StepFailed { step: usize, tool: String, message: String, result: Box<ToolResult> },
}

fn list(misfits: &[Misfit]) -> String {
    misfits.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl Chain {
    /// Finds before anything runs what cannot work: unknown tools, and outputs that do not fit where nothing
    /// turns them.
    pub fn check(&self, invoker: &dyn Invoker) -> Result<(), ChainError> {
        let mut before: Option<std::sync::Arc<RegisteredTool>> = None;
        for (index, step) in self.steps.iter().enumerate() {
            let number = index + 1;
            let unknown = || ChainError::UnknownTool { step: number, tool: step.tool.clone() };
            let tool = invoker.find(&step.tool).ok_or_else(unknown)?;
            let plain = step.transform.is_empty() && step.into.is_none();
            if let Some((from, output)) = before.as_ref().and_then(|from| Some((from, from.output_schema()?)))
            {
                let mut misfits = compatibility(output, tool.arguments().schema());
                misfits.retain(|misfit| match misfit {
                    Misfit::Missing { field } | Misfit::Type { field, .. } => {
                        !step.arguments.contains_key(field)
                    }
                });
                if plain && !misfits.is_empty() {
                    let from = from.name().to_owned();
                    return Err(ChainError::DoesNotFit {
                        step: number,
                        from,
                        tool: step.tool.clone(),
                        misfits,
                    });
                }
            }
            before = Some(tool);
        }
        if before.is_none() { Err(ChainError::NoSteps) } else { Ok(()) }
    }

    /// Runs the steps in order; the first that fails ends the chain.
    pub async fn run(
        &self,
        invoker: &dyn Invoker,
        call_id: &ToolCallId,
    ) -> Result<Vec<StepReport>, ChainError> {
        self.check(invoker)?;
        let mut reports: Vec<StepReport> = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            let number = index + 1;
            let previous = reports.last().and_then(|report| report.output.as_ref());
            let arguments = step.arguments_after(number, previous, invoker)?;
            let call = ToolCall {
                id: ToolCallId::from(format!("{call_id}.{number}")),
                name: step.tool.clone(),
                arguments: Value::Object(arguments),
                opaque: None,
            };
            let outcome = invoker.invoke(&call).await;
            if let Some(error) = &outcome.result.error {
                return Err(ChainError::StepFailed {
                    step: number,
                    tool: step.tool.clone(),
                    message: error.message.clone(),
                    result: Box::new(outcome.result),
                });
            }
            reports.push(StepReport { result: outcome.result, output: outcome.output });
        }
        Ok(reports)
    }
}

impl ChainStep {
    fn arguments_after(
        &self,
        step: usize,
        previous: Option<&Value>,
        invoker: &dyn Invoker,
    ) -> Result<Map<String, Value>, ChainError> {
        let mut arguments = self.arguments.clone();
        let Some(previous) = previous else { return Ok(arguments) };
        let value =
            self.transform.apply(previous).map_err(|source| ChainError::Transform { step, source })?;
        if let Some(into) = &self.into {
            arguments.insert(into.clone(), value);
            return Ok(arguments);
        }
        let tool = invoker
            .find(&self.tool)
            .ok_or_else(|| ChainError::UnknownTool { step, tool: self.tool.clone() })?;
        let schema = tool.arguments().schema();
        match value {
            Value::Object(fields) => {
                let known = schema.get("properties").and_then(Value::as_object);
                // Arguments that were written down win, and what the tool does not know is not passed on.
                for (name, field) in fields {
                    if known.is_none_or(|known| known.contains_key(&name)) {
                        arguments.entry(name).or_insert(field);
                    }
                }
            }
            value => {
                let mut open =
                    crate::arguments::required(schema).filter(|field| !arguments.contains_key(*field));
                let only = open.next().filter(|_| open.next().is_none());
                let place = only.ok_or_else(|| ChainError::NoPlace { step, tool: self.tool.clone() })?;
                arguments.insert(place.to_owned(), value);
            }
        }
        Ok(arguments)
    }
}
