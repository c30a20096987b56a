//! Stacks and scopes of a thread that stands. Numbers of frames belong to one stop.

use std::sync::Arc;

use serde_json::{Value, json};

use super::inspector::{Answer, Inspector};
use super::target::{CallFrame, Paused, Target, is_nodes_own, path_of};
use super::values::Reference;

/// Frames of one stop that can have a number.
const MOST_FRAMES: u64 = 100_000;
/// Text of a script that is shown where there is no file.
const LONGEST_SOURCE: usize = 4 * 1024 * 1024;

/// A frame by its number.
pub(crate) struct FrameAt {
    pub target: Arc<Target>,
    /// `None` for a caller from before something was put off: it is over.
    pub frame: Option<CallFrame>,
}

impl Inspector {
    pub(crate) fn frame_at(&self, number: i64) -> Result<FrameAt, String> {
        let over = || format!("frame {number} belongs to a stop that is over");
        let number = u64::try_from(number).map_err(|_| over())?;
        let (serial, at) = (number / MOST_FRAMES, number % MOST_FRAMES);
        for target in self.all_targets() {
            if let Some(paused) = target.paused()
                && paused.serial == serial
            {
                return Ok(FrameAt { frame: paused.frames.get(at as usize).cloned(), target });
            }
        }
        Err(over())
    }

    pub(crate) fn stack_trace(&self, arguments: &Value) -> Answer {
        let target = self.target_of(arguments)?;
        let paused = target.paused().ok_or_else(|| format!("thread {} is running", target.thread))?;
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64).unwrap_or_default() as usize;
        let levels = match number("levels") {
            0 => usize::MAX,
            levels => levels,
        };
        // A stack may be deep, and only a part of it is asked for.
        let start = number("startFrame").min(paused.frames.len());
        let here = paused.frames.iter().enumerate().skip(start).take(levels);
        let mut shown: Vec<Value> = here.map(|(at, frame)| frame_here(&target, &paused, at, frame)).collect();
        let before = frames_before(&target, &paused);
        let total = paused.frames.len() + before.len();
        let skipped = number("startFrame") - start;
        let left = levels - shown.len();
        shown.extend(before.into_iter().skip(skipped).take(left));
        Ok(json!({ "stackFrames": shown, "totalFrames": total }))
    }

    pub(crate) fn scopes(&self, arguments: &Value) -> Answer {
        let number = arguments.get("frameId").and_then(Value::as_i64).unwrap_or_default();
        let FrameAt { target, frame } = self.frame_at(number)?;
        let Some(frame) = frame else { return Ok(json!({ "scopes": [] })) };
        let mut references = self.references.lock();
        let mut scopes = Vec::new();
        for (at, scope) in frame.scope_chain.iter().enumerate() {
            let name = match (scope.kind.as_str(), scope.name.as_deref().filter(|name| !name.is_empty())) {
                ("local", _) => "Local".to_owned(),
                ("block", _) => "Block".to_owned(),
                ("catch", _) => "Block (catch)".to_owned(),
                ("closure", Some(name)) => format!("Closure ({name})"),
                ("closure", None) => "Closure".to_owned(),
                ("module", _) => "Module".to_owned(),
                ("script", _) => "Script".to_owned(),
                ("global", _) => "Global".to_owned(),
                (other, _) => other.to_owned(),
            };
            let Some(object) = scope.object.get("objectId").and_then(Value::as_str) else { continue };
            let reference = references.add(
                target.thread,
                Reference::Scope { frame: Box::new(frame.clone()), number: at, object: object.to_owned() },
                None,
            )?;
            let mut told = json!({ "name": name, "variablesReference": reference,
                "expensive": scope.kind == "global" });
            if scope.kind == "local" {
                told["presentationHint"] = "locals".into();
            }
            scopes.push(told);
        }
        Ok(json!({ "scopes": scopes }))
    }

    /// The text of a script that is no file.
    pub(crate) async fn source(&self, arguments: &Value) -> Answer {
        let number = arguments
            .get("sourceReference")
            .or_else(|| arguments.pointer("/source/sourceReference"))
            .and_then(Value::as_i64)
            .unwrap_or_default();
        let main = self.target_of(&Value::Null)?;
        let params = json!({ "scriptId": number.to_string() });
        let source = self.ask(&main, "Debugger.getScriptSource", params).await?;
        let text = source.get("scriptSource").and_then(Value::as_str).unwrap_or_default();
        let cut = crate::output::floor_boundary(text, LONGEST_SOURCE);
        Ok(json!({ "content": &text[..cut], "mimeType": "text/javascript" }))
    }
}

/// A frame that is there.
fn frame_here(target: &Target, paused: &Paused, at: usize, frame: &CallFrame) -> Value {
    let address = target.address_of(&frame.location.script_id);
    let place = (frame.location.line_number + 1, frame.location.column_number + 1);
    let number = paused.serial * MOST_FRAMES + at as u64;
    let mut told = told_frame(number, &frame.function_name, &address, &frame.location.script_id, place);
    if is_nodes_own(&address) {
        told["presentationHint"] = "subtle".into();
    }
    told
}

/// Those that led to the frames that are there before something was put off.
fn frames_before(target: &Target, paused: &Paused) -> Vec<Value> {
    let mut number = paused.serial * MOST_FRAMES + paused.frames.len() as u64;
    let mut next = || {
        let this = number;
        number += 1;
        this
    };
    let mut frames = Vec::new();
    let mut parent = paused.parents.as_ref();
    while let Some(trace) = parent {
        let address_of = |script: &str, url: &str| {
            let known = target.address_of(script);
            if known.is_empty() { url.to_owned() } else { known }
        };
        let own: Vec<_> = trace
            .call_frames
            .iter()
            .map(|frame| (frame, address_of(&frame.script_id, &frame.url)))
            .filter(|(_, address)| !is_nodes_own(address))
            .collect();
        if !own.is_empty() {
            frames.push(json!({ "id": next(), "name": format!("--- {} ---", trace.description), "line": 0,
                "column": 0, "presentationHint": "label" }));
        }
        for (frame, address) in own {
            let place = (frame.line_number + 1, frame.column_number + 1);
            frames.push(told_frame(next(), &frame.function_name, &address, &frame.script_id, place));
        }
        parent = trace.parent.as_deref();
    }
    frames
}

fn told_frame(id: u64, name: &str, address: &str, script: &str, (line, column): (i64, i64)) -> Value {
    let name = if name.is_empty() { "<anonymous>" } else { name };
    let source = if let Some(path) = path_of(address) {
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
        json!({ "name": file, "path": path.to_string_lossy() })
    } else {
        let shown = if address.is_empty() { "evaluated code" } else { address };
        let reference: i64 = script.parse().unwrap_or_default();
        json!({ "name": shown, "sourceReference": reference, "presentationHint": "deemphasize" })
    };
    json!({ "id": id, "name": name, "line": line, "column": column, "source": source })
}
