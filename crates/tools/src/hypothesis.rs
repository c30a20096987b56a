//! `hypothesis`: the ledger of supposed causes. A value that was seen decides, not the model's opinion.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_protocol::{
    Event, Hypothesis, HypothesisEvidence, HypothesisStatus, Preview, Risk, ToolCall, ToolCallId,
};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// Hypotheses of one task at most.
const MOST: usize = 100;
/// Longest field, in characters.
const LONGEST: usize = 1_000;

pub struct HypothesisTool;

/// Keeps the hypotheses of this task. State one before you probe: `claim`, `probe`, `predicted` value. Afterwards give its
/// `id` with what was seen: `expression` (evaluated in the stopped program) or `observed` (a value from a tool's result).
/// The value decides whether it is confirmed or refuted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(extend("examples" = [{"claim": "discount is None for new customers", "probe": "break invoice.py:13, evaluate discount",
    "predicted": "None"}]))]
pub struct HypothesisInput {
    /// What is supposed to be the cause.
    claim: Option<String>,
    /// How it is looked at.
    probe: Option<String>,
    /// The value if the claim is true. Also `> 5`, `!= 0`, `contains x`, `not None`.
    predicted: Option<String>,
    /// The hypothesis that was probed.
    id: Option<u32>,
    /// Evaluated in the stopped debug session; its value is what was seen.
    expression: Option<String>,
    /// The debug session, where there are several.
    session_id: Option<String>,
    /// The value a tool showed, as it showed it.
    observed: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct HypothesisOutput {
    hypotheses: Vec<Value>,
    #[serde(skip)]
    text: String,
}

impl ToolOutput for HypothesisOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

/// What a call asks for.
#[derive(Clone, Debug)]
pub enum Step {
    List,
    State { claim: String, probe: String, predicted: String },
    Observe { id: u32, seen: Seen },
}

#[derive(Clone, Debug)]
pub enum Seen {
    Expression { expression: String, session_id: Option<String> },
    Value(String),
}

impl HypothesisInput {
    fn step(self) -> Result<Step, ToolError> {
        let short = |text: String| text.trim().chars().take(LONGEST).collect::<String>();
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty()).map(short);
        if let Some(id) = self.id {
            let seen = match (given(self.expression), given(self.observed)) {
                (Some(expression), _) => Seen::Expression { expression, session_id: self.session_id },
                (None, Some(value)) => Seen::Value(value),
                (None, None) => {
                    let words =
                        "give `expression` to evaluate it in the stopped program, or the `observed` value";
                    return Err(ToolError::parameter(words));
                }
            };
            return Ok(Step::Observe { id, seen });
        }
        match (given(self.claim), given(self.probe), given(self.predicted)) {
            (None, None, None) => Ok(Step::List),
            (Some(claim), Some(probe), Some(predicted)) => Ok(Step::State { claim, probe, predicted }),
            _ => Err(ToolError::parameter("a new hypothesis needs `claim`, `probe` and `predicted`")),
        }
    }
}

#[async_trait]
impl Tool for HypothesisTool {
    type Input = HypothesisInput;
    type Plan = Step;
    type Output = HypothesisOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "hypothesis",
            aliases: &[],
            category: Category::Planning,
            risk: Risk::Control,
            time_limit: Duration::from_secs(60),
            output_limit: 16 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let step = input.step();
        let summary = match &step {
            Ok(Step::State { claim, .. }) => format!("Suppose: {claim}"),
            Ok(Step::Observe { id, .. }) => format!("Note what was seen of hypothesis {id}"),
            Ok(Step::List) | Err(_) => "List the hypotheses".to_owned(),
        };
        Planned::new(Preview { summary, ..Preview::default() }, step)
    }

    async fn run(&self, ctx: &ToolContext, step: Self::Plan) -> Result<Self::Output, ToolError> {
        let mut items = ctx.host.hypotheses();
        let said = match step {
            Step::List if items.is_empty() => "there are no hypotheses yet".to_owned(),
            Step::List => String::new(),
            Step::State { claim, probe, predicted } => {
                if items.len() >= MOST {
                    return Err(ToolError::validation(format!("there are {MOST} hypotheses already")));
                }
                let id = items.iter().map(|known| known.id).max().unwrap_or(0) + 1;
                items.push(Hypothesis {
                    id,
                    claim,
                    probe,
                    predicted,
                    observed: None,
                    status: HypothesisStatus::Open,
                    evidence: None,
                });
                keep(ctx, &items).await?;
                format!("hypothesis {id} is open: now probe it")
            }
            Step::Observe { id, seen } => {
                let (value, evidence) = look(ctx, seen).await?;
                let Some(known) = items.iter_mut().find(|known| known.id == id) else {
                    return Err(ToolError::parameter(format!("there is no hypothesis {id}")));
                };
                let holds = fits(&known.predicted, &value);
                known.status = if holds { HypothesisStatus::Confirmed } else { HypothesisStatus::Refuted };
                known.observed = Some(value);
                known.evidence = Some(evidence);
                let line = line(known);
                keep(ctx, &items).await?;
                line
            }
        };
        let text = match said {
            said if said.is_empty() => items.iter().map(line).collect::<Vec<_>>().join("\n"),
            said => said,
        };
        let hypotheses = items.iter().filter_map(|item| serde_json::to_value(item).ok()).collect();
        Ok(HypothesisOutput { hypotheses, text })
    }
}

async fn keep(ctx: &ToolContext, items: &[Hypothesis]) -> Result<(), ToolError> {
    let redact = |text: &String| ctx.redactor.redact(text).into_owned();
    let items = items.iter().map(|item| Hypothesis {
        claim: redact(&item.claim),
        probe: redact(&item.probe),
        predicted: redact(&item.predicted),
        observed: item.observed.as_ref().map(redact),
        ..item.clone()
    });
    let event = Event::Hypotheses { items: items.collect() };
    ctx.host.record(event).await.map_err(|error| ToolError::execution(error.0))
}

/// The value that was seen, and where it comes from.
async fn look(ctx: &ToolContext, seen: Seen) -> Result<(String, HypothesisEvidence), ToolError> {
    match seen {
        Seen::Value(value) => {
            let evidence = match ctx.host.seen_in_result(&value) {
                Some(call_id) => HypothesisEvidence::Call { call_id },
                None => HypothesisEvidence::Reported,
            };
            Ok((value, evidence))
        }
        Seen::Expression { expression, session_id } => {
            let mut arguments = json!({ "expression": expression });
            if let Some(session) = session_id {
                arguments["session_id"] = session.into();
            }
            let call = ToolCall {
                id: ToolCallId::generate(),
                name: "evaluate_expression".into(),
                arguments,
                opaque: None,
            };
            let outcome = ctx.invoker.invoke(&call).await;
            if let Some(error) = outcome.result.error {
                return Err(ToolError::new(error.class, format!("`{expression}`: {}", error.message)));
            }
            let output = outcome.output.unwrap_or_default();
            let value = output.get("result").and_then(Value::as_str).map(str::to_owned);
            let value = value.ok_or_else(|| ToolError::execution("the debugger gave no value"))?;
            Ok((value.chars().take(LONGEST).collect(), HypothesisEvidence::Debugger { expression }))
        }
    }
}

fn line(known: &Hypothesis) -> String {
    let seen = match (&known.observed, &known.evidence) {
        (None, _) => "not probed yet".to_owned(),
        (Some(value), Some(HypothesisEvidence::Debugger { expression })) => {
            format!("`{expression}` is {value}")
        }
        (Some(value), Some(HypothesisEvidence::Call { .. })) => format!("seen: {value}"),
        (Some(value), _) => format!("{value}, as you report it; no result of a tool holds it"),
    };
    let Hypothesis { id, claim, predicted, status, .. } = known;
    format!("hypothesis {id} is {}: {claim} (predicted {predicted}; {seen})", status.name())
}

/// Whether a value is what was predicted. Quotes around texts and white space do not matter.
fn fits(predicted: &str, observed: &str) -> bool {
    let bare = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let quoted = text.len() >= 2
            && ['"', '\'', '`'].iter().any(|quote| text.starts_with(*quote) && text.ends_with(*quote));
        if quoted { text[1..text.len() - 1].to_owned() } else { text }
    };
    let predicted = predicted.trim();
    let observed = bare(observed);
    for (operator, holds) in [
        (">=", (|a, b| a >= b) as fn(f64, f64) -> bool),
        ("<=", |a, b| a <= b),
        (">", |a, b| a > b),
        ("<", |a, b| a < b),
    ] {
        if let Some(limit) = predicted.strip_prefix(operator) {
            let numbers = (observed.parse::<f64>(), limit.trim().parse::<f64>());
            return matches!(numbers, (Ok(value), Ok(limit)) if holds(value, limit));
        }
    }
    if let Some(other) = predicted.strip_prefix("!=").or_else(|| predicted.strip_prefix("not ")) {
        return bare(other) != observed;
    }
    if let Some(part) = predicted.strip_prefix("contains ") {
        return observed.contains(&bare(part));
    }
    let predicted = bare(predicted.strip_prefix("==").unwrap_or(predicted));
    if predicted == observed {
        return true;
    }
    matches!((predicted.parse::<f64>(), observed.parse::<f64>()), (Ok(a), Ok(b)) if a.total_cmp(&b).is_eq())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_decides() {
        for (predicted, observed, expected) in [
            ("None", "None", true),
            ("None", "'None '", false),
            ("'alan'", "\"alan\"", true),
            ("alan", "'alan'", true),
            ("3", "3.0", true),
            ("> 5", "6", true),
            ("> 5", "5", false),
            (">= 5", "5", true),
            ("< 0", "not a number", false),
            ("!= 0", "1", true),
            ("not None", "None", false),
            ("contains total", "KeyError: 'total'", true),
            ("== [1,  2]", "[1, 2]", true),
        ] {
            assert_eq!(fits(predicted, observed), expected, "{predicted} / {observed}");
        }
    }
}
