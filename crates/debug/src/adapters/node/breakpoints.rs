//! Breakpoints: by the addresses of their files, in every thread, with what V8 made of them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use stepwell_workspace::files;

use super::cdp::Failure;
use super::inspector::{Answer, Inspector};
use super::target::{Paused, Target, pattern_of};

/// BreakpointTable that V8 named before we knew them ourselves.
const MOST_EARLY: usize = 1000;
const NOT_LOADED: &str = "no script of this file is loaded yet; it is set as soon as one is";

/// All breakpoints.
#[derive(Debug, Default)]
pub(crate) struct BreakpointTable {
    last: i64,
    files: HashMap<PathBuf, Vec<NodeBreakpoint>>,
    /// Ours by the inspector's names, which are a thread's own.
    ours: HashMap<(i64, String), i64>,
    early: HashMap<(i64, String), ResolvedLocation>,
}

#[derive(Clone, Debug)]
struct NodeBreakpoint {
    id: i64,
    requested: RequestedBreakpoint,
    /// By thread.
    bound: HashMap<i64, Bound>,
    problem: Option<String>,
}

/// Where V8 put it; lines and columns count from one.
#[derive(Clone, Copy, Debug)]
struct ResolvedLocation {
    line: i64,
    column: i64,
}

#[derive(Clone, Debug)]
struct Bound {
    name: String,
    at: Option<ResolvedLocation>,
}

#[derive(Clone, Debug, PartialEq)]
struct RequestedBreakpoint {
    line: i64,
    column: Option<i64>,
    condition: Option<String>,
}

impl BreakpointTable {
    /// Our numbers of what was hit.
    pub(crate) fn numbers(&self, thread: i64, names: &[&str]) -> Vec<i64> {
        names.iter().filter_map(|name| self.ours.get(&(thread, (*name).to_owned())).copied()).collect()
    }

    /// The conditions of breakpoints.
    fn conditions(&self, ids: &[i64]) -> Vec<String> {
        let places = self.files.values().flatten().filter(|place| ids.contains(&place.id));
        places.filter_map(|place| place.requested.condition.clone()).collect()
    }

    /// Forgets a thread that has ended.
    pub(crate) fn forget(&mut self, thread: i64) {
        self.ours.retain(|(of, _), _| *of != thread);
        self.early.retain(|(of, _), _| *of != thread);
        for place in self.files.values_mut().flatten() {
            place.bound.remove(&thread);
        }
    }

    fn place(&mut self, id: i64) -> Option<&mut NodeBreakpoint> {
        self.files.values_mut().flatten().find(|place| place.id == id)
    }

    /// Notes what became of a place in a thread.
    fn bind(&mut self, id: i64, thread: i64, set: Result<Value, Failure>) {
        let early = &mut self.early;
        let mut name = None;
        let Some(place) = self.files.values_mut().flatten().find(|place| place.id == id) else { return };
        match set {
            Ok(set) => {
                let given = set.get("breakpointId").and_then(Value::as_str).unwrap_or_default().to_owned();
                let known = early.remove(&(thread, given.clone()));
                let at = set.pointer("/locations/0").map(at_of).or(known);
                place.bound.insert(thread, Bound { name: given.clone(), at });
                name = Some(given);
            }
            Err(failure) => place.problem = Some(failure.to_string()),
        }
        if let Some(name) = name {
            self.ours.insert((thread, name), id);
        }
    }
}

impl NodeBreakpoint {
    fn at(&self) -> Option<ResolvedLocation> {
        self.bound.values().find_map(|bound| bound.at)
    }

    fn told(&self) -> Value {
        let mut told = json!({ "id": self.id, "verified": false, "line": self.requested.line });
        match (self.at(), &self.problem) {
            (Some(at), _) => {
                told["verified"] = true.into();
                told["line"] = at.line.into();
                told["column"] = at.column.into();
            }
            (None, Some(problem)) => told["message"] = problem.as_str().into(),
            (None, None) => told["message"] = NOT_LOADED.into(),
        }
        told
    }
}

impl RequestedBreakpoint {
    fn of(asked: &Value) -> Self {
        let condition = asked.get("condition").and_then(Value::as_str).map(str::trim);
        Self {
            line: asked.get("line").and_then(Value::as_i64).unwrap_or(1).max(1),
            column: asked.get("column").and_then(Value::as_i64).filter(|column| *column > 0),
            condition: condition.filter(|condition| !condition.is_empty()).map(str::to_owned),
        }
    }

    fn params(&self, path: &PathBuf) -> Value {
        // Node knows its scripts by their real paths.
        let mut paths = vec![path.clone()];
        let real = files::resolved(path);
        if real != *path {
            paths.push(real);
        }
        let mut params = json!({ "lineNumber": self.line - 1, "urlRegex": pattern_of(&paths) });
        if let Some(column) = self.column {
            params["columnNumber"] = (column - 1).into();
        }
        if let Some(condition) = &self.condition {
            // A condition that fails stops, so that it is seen.
            params["condition"] =
                format!("(() => {{ try {{ return ({condition}\n); }} catch {{ return true; }} }})()").into();
        }
        params
    }
}

fn at_of(location: &Value) -> ResolvedLocation {
    let number = |name: &str| location.get(name).and_then(Value::as_i64).unwrap_or_default() + 1;
    ResolvedLocation { line: number("lineNumber"), column: number("columnNumber") }
}

impl Inspector {
    pub(crate) async fn set_breakpoints(self: &Arc<Self>, arguments: &Value) -> Answer {
        let path = arguments.pointer("/source/path").and_then(Value::as_str);
        let path = PathBuf::from(path.ok_or("a breakpoint needs its file's path")?);
        let asked = arguments.get("breakpoints").and_then(Value::as_array).cloned().unwrap_or_default();
        let wishes: Vec<RequestedBreakpoint> = asked.iter().map(RequestedBreakpoint::of).collect();
        let mut problems = Vec::new();
        for requested in &wishes {
            problems.push(self.problem_of(requested).await);
        }
        // Those that are wished as they are stay as they are.
        let (removed, added, ids) = {
            let mut places = self.places.lock();
            let places = &mut *places;
            let mut old = places.files.remove(&path).unwrap_or_default();
            let mut new = Vec::new();
            let mut added = Vec::new();
            for (requested, problem) in wishes.into_iter().zip(problems) {
                if let Some(at) = old.iter().position(|place| place.requested == requested) {
                    new.push(old.remove(at));
                    continue;
                }
                places.last += 1;
                if problem.is_none() {
                    added.push((places.last, requested.clone()));
                }
                new.push(NodeBreakpoint { id: places.last, requested, bound: HashMap::new(), problem });
            }
            let removed: Vec<(i64, String)> = old
                .into_iter()
                .flat_map(|place| place.bound.into_iter().map(|(thread, bound)| (thread, bound.name)))
                .collect();
            for key in &removed {
                places.ours.remove(key);
            }
            let ids: Vec<i64> = new.iter().map(|place| place.id).collect();
            places.files.insert(path.clone(), new);
            (removed, added, ids)
        };
        if let Ok(wire) = self.wire() {
            for target in self.all_targets() {
                let route = target.route.as_deref();
                let mut removing = Vec::new();
                for (_, name) in removed.iter().filter(|(thread, _)| *thread == target.thread) {
                    let params = json!({ "breakpointId": name });
                    removing.push(wire.ask(route, "Debugger.removeBreakpoint", params).await);
                }
                let mut setting = Vec::new();
                for (id, requested) in &added {
                    let params = requested.params(&path);
                    setting.push((*id, wire.ask(route, "Debugger.setBreakpointByUrl", params).await));
                }
                for asked in removing {
                    asked.answer(self.answer_time).await.ok();
                }
                for (id, asked) in setting {
                    let set = asked.answer(self.answer_time).await;
                    self.places.lock().bind(id, target.thread, set);
                }
            }
        }
        let mut places = self.places.lock();
        let told: Vec<Value> =
            ids.iter().filter_map(|id| places.place(*id).map(|place| place.told())).collect();
        Ok(json!({ "breakpoints": told }))
    }

    /// Why a breakpoint cannot be set: V8 takes any text for a condition, and never stops where it is none.
    async fn problem_of(&self, requested: &RequestedBreakpoint) -> Option<String> {
        let condition = requested.condition.as_ref()?;
        let main = self.target_of(&Value::Null).ok()?;
        let params =
            json!({ "expression": format!("({condition}\n)"), "sourceURL": "", "persistScript": false });
        let compiled = self.ask(&main, "Runtime.compileScript", params).await.ok()?;
        let thrown = compiled.pointer("/exceptionDetails/exception/description")?.as_str()?;
        let reason = thrown.lines().next().unwrap_or_default();
        Some(format!("the condition `{condition}` is no JavaScript: {reason}"))
    }

    /// Sets all breakpoints in a thread that has just come.
    pub(crate) async fn bind_all(&self, target: &Target) {
        let wished: Vec<(i64, Value)> = {
            let places = self.places.lock();
            let all = places.files.iter().flat_map(|(path, of)| of.iter().map(move |place| (path, place)));
            let usable = all.filter(|(_, place)| place.problem.is_none());
            usable.map(|(path, place)| (place.id, place.requested.params(path))).collect()
        };
        let Ok(wire) = self.wire() else { return };
        let mut setting = Vec::new();
        for (id, params) in wished {
            let asked = wire.ask(target.route.as_deref(), "Debugger.setBreakpointByUrl", params).await;
            setting.push((id, asked));
        }
        for (id, asked) in setting {
            let set = asked.answer(self.answer_time).await;
            self.places.lock().bind(id, target.thread, set);
        }
    }

    /// V8 found the place of a breakpoint in a script that was loaded.
    pub(crate) async fn breakpoint_resolved(&self, target: &Target, params: &Value) {
        let name = params.get("breakpointId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(at) = params.get("location").map(at_of) else { return };
        let told = {
            let mut places = self.places.lock();
            let key = (target.thread, name);
            let Some(id) = places.ours.get(&key).copied() else {
                // Its name is on its way to us.
                if places.early.len() < MOST_EARLY {
                    places.early.insert(key, at);
                }
                return;
            };
            let Some(place) = places.place(id) else { return };
            let before = place.at().is_some();
            if let Some(bound) = place.bound.get_mut(&target.thread) {
                bound.at.get_or_insert(at);
            }
            if before {
                return;
            }
            place.told()
        };
        self.tell("breakpoint", json!({ "reason": "changed", "breakpoint": told })).await;
    }

    /// Says why a breakpoint stopped whose condition could not be judged.
    pub(crate) fn explain_conditions(self: &Arc<Self>, target: &Arc<Target>, paused: &Paused) {
        let conditions = self.places.lock().conditions(&paused.hits);
        let Some(frame) = paused.frames.first().map(|frame| frame.id.clone()) else { return };
        let (inspector, target) = (Arc::clone(self), Arc::clone(target));
        if conditions.is_empty() {
            return;
        }
        tokio::spawn(async move {
            for condition in conditions {
                let params = json!({ "callFrameId": frame, "expression": format!("({condition}\n)"), "silent": true,
                    "throwOnSideEffect": true });
                let Ok(judged) = inspector.ask(&target, "Debugger.evaluateOnCallFrame", params).await else {
                    return;
                };
                let thrown =
                    judged.pointer("/exceptionDetails/exception/description").and_then(Value::as_str);
                let Some(thrown) = thrown.and_then(|thrown| thrown.lines().next()) else { continue };
                if !thrown.contains("Possible side-effect") {
                    inspector.print("console", &format!("condition `{condition}`: {thrown}\n")).await;
                }
            }
        });
    }
}
