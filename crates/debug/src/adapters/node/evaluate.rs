//! Expressions, and other values for variables.

use std::sync::Arc;

use serde_json::{Value, json};

use super::frames::FrameAt;
use super::inspector::{Answer, Inspector};
use super::target::{CallFrame, Target};
use super::values::{GROUP, Reference, kind, shown};

/// How long an expression may run, in milliseconds; the session waits a little longer.
const LONGEST_RUN: u64 = 15_000;

impl Inspector {
    pub(crate) async fn evaluate(&self, arguments: &Value) -> Answer {
        let expression = arguments.get("expression").and_then(Value::as_str).unwrap_or_default();
        let hovers = arguments.get("context").and_then(Value::as_str) == Some("hover");
        let (target, frame) = self.frame_of(arguments)?;
        let value = self.value_of(&target, frame.as_ref(), expression, hovers).await?;
        let mut answer = json!({ "result": shown(&value), "type": kind(&value) });
        self.refer(&target, &value, Some(format!("({expression})")), &mut answer)?;
        Ok(answer)
    }

    /// The frame a request means, or only the thread.
    fn frame_of(&self, arguments: &Value) -> Result<(Arc<Target>, Option<CallFrame>), String> {
        match arguments.get("frameId").and_then(Value::as_i64) {
            Some(number) => {
                let FrameAt { target, frame } = self.frame_at(number)?;
                Ok((target, frame))
            }
            None => Ok((self.target_of(&Value::Null)?, None)),
        }
    }

    /// The value of an expression, in the inspector's form.
    async fn value_of(
        &self,
        target: &Target,
        frame: Option<&CallFrame>,
        expression: &str,
        hovers: bool,
    ) -> Answer {
        let trimmed = expression.trim();
        // Braces alone would be a block.
        let expression = if trimmed.starts_with('{') && trimmed.ends_with('}') {
            format!("({trimmed})")
        } else {
            trimmed.to_owned()
        };
        let mut params = json!({ "expression": expression, "objectGroup": GROUP, "generatePreview": true,
            "silent": true, "includeCommandLineAPI": true, "timeout": LONGEST_RUN });
        if hovers {
            params["throwOnSideEffect"] = true.into();
        }
        let method = if let Some(frame) = frame {
            params["callFrameId"] = frame.id.as_str().into();
            "Debugger.evaluateOnCallFrame"
        } else {
            params["disableBreaks"] = true.into();
            "Runtime.evaluate"
        };
        let wire = self.wire()?;
        let asked = wire.ask(target.route.as_deref(), method, params).await;
        let time = self.answer_time.max(std::time::Duration::from_millis(LONGEST_RUN + 1000));
        let answer = asked.answer(time).await.map_err(|failure| failure.to_string())?;
        result_of(&answer).cloned()
    }

    pub(crate) async fn set_expression(&self, arguments: &Value) -> Answer {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let (target, frame) = self.frame_of(arguments)?;
        let assignment = format!("{} = ({})", text("expression"), text("value"));
        let value = self.value_of(&target, frame.as_ref(), &assignment, false).await?;
        self.told(&target, &value)
    }

    pub(crate) async fn set_variable(&self, arguments: &Value) -> Answer {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let (name, value) = (text("name"), text("value"));
        let number = arguments.get("variablesReference").and_then(Value::as_i64).unwrap_or_default();
        let (thread, what) = {
            let references = self.references.lock();
            let referred = references.get(number)?;
            (referred.thread, referred.what.clone())
        };
        let target = self.target_of(&json!({ "threadId": thread }))?;
        match what {
            Reference::Scope { frame, number, .. } => {
                let new = self.value_of(&target, Some(&frame), value, false).await?;
                let params = json!({ "scopeNumber": number, "variableName": name,
                    "newValue": argument(&new), "callFrameId": frame.id });
                let set = self.ask(&target, "Debugger.setVariableValue", params).await;
                // V8 changes only some kinds of scopes from outside; the program's own way reaches the others.
                if set.is_err() {
                    let assignment = format!("{name} = ({value})");
                    self.value_of(&target, Some(&frame), &assignment, false).await?;
                }
                self.told(&target, &new)
            }
            Reference::Object { object, shape } => {
                if !matches!(shape, super::values::Shape::List(_)) && shape.indexed().is_some() {
                    return Err("entries of maps and sets are changed by an expression, such as `map.set(key, value)`".to_owned());
                }
                let frame = target.paused().and_then(|paused| paused.frames.first().cloned());
                let new = self.value_of(&target, frame.as_ref(), value, false).await?;
                let params = json!({ "objectId": object, "silent": true,
                    "functionDeclaration": "function(name, value) { 'use strict'; this[name] = value; }",
                    "arguments": [{ "value": name }, argument(&new)] });
                let set = self.ask(&target, "Runtime.callFunctionOn", params).await?;
                result_of(&set)?;
                self.told(&target, &new)
            }
            Reference::Getter { .. } => Err(format!("`{name}` is computed and cannot be set here")),
        }
    }

    /// The answer to whoever changed a value.
    fn told(&self, target: &Target, value: &Value) -> Answer {
        let mut answer = json!({ "value": shown(value), "type": kind(value) });
        self.refer(target, value, None, &mut answer)?;
        Ok(answer)
    }
}

/// A value as it is handed back to the inspector.
fn argument(value: &Value) -> Value {
    for (name, given) in
        [("objectId", "objectId"), ("unserializableValue", "unserializableValue"), ("value", "value")]
    {
        if let Some(given) = value.get(given) {
            return json!({ name: given });
        }
    }
    json!({})
}

/// The value of an evaluation, or what it threw.
pub(crate) fn result_of(answer: &Value) -> Result<&Value, String> {
    if let Some(details) = answer.get("exceptionDetails") {
        let (kind, message) = match details.get("exception") {
            Some(thrown) => super::exceptions::described(Some(thrown)),
            None => ("Error".to_owned(), details["text"].as_str().unwrap_or_default().to_owned()),
        };
        let said = if message.is_empty() { kind } else { format!("{kind}: {message}") };
        if said.contains("Possible side-effect") {
            return Err(
                "it may change the program, which looking at it must not; evaluate it instead".to_owned()
            );
        }
        return Err(said);
    }
    answer.get("result").ok_or_else(|| "Node gave no value".to_owned())
}
