//! From the inspector's pauses to stops, and on from there.
//!
//! One stop is told at a time: a thread that stops while another stands waits until that goes on. So no stop is missed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::inspector::{Answer, Inspector};
use super::launch::LaunchMode;
use super::target::{AsyncTrace, CallFrame, Motion, Paused, Target};
use super::values::GROUP;

/// Why the inspector paused; it may name several reasons.
struct Reasons<'a>(Vec<(&'a str, &'a Value)>);

impl<'a> Reasons<'a> {
    fn of(params: &'a Value) -> Self {
        let reason = params.get("reason").and_then(Value::as_str).unwrap_or_default();
        let data = params.get("data").unwrap_or(&Value::Null);
        if reason != "ambiguous" {
            return Self(vec![(reason, data)]);
        }
        let several = data.get("reasons").and_then(Value::as_array).into_iter().flatten();
        let named = several.filter_map(|one| {
            Some((one.get("reason")?.as_str()?, one.get("auxData").unwrap_or(&Value::Null)))
        });
        Self(named.collect())
    }

    fn has(&self, reason: &str) -> bool {
        self.0.iter().any(|(one, _)| *one == reason)
    }

    fn thrown(&self) -> Option<&'a Value> {
        let mut thrown = self.0.iter().filter(|(one, _)| matches!(*one, "exception" | "promiseRejection"));
        thrown.next().map(|(_, data)| *data)
    }
}

impl Inspector {
    /// A thread stands. Heard in the task that reads: nothing is asked of Node here.
    pub(crate) async fn paused(self: &Arc<Self>, target: &Arc<Target>, mut params: Value) {
        let frames: Vec<CallFrame> = params
            .get_mut("callFrames")
            .map(Value::take)
            .and_then(|it| serde_json::from_value(it).ok())
            .unwrap_or_default();
        let parents: Option<AsyncTrace> = params
            .get_mut("asyncStackTrace")
            .map(Value::take)
            .and_then(|trace| serde_json::from_value(trace).ok());
        let reasons = Reasons::of(&params);
        let hit: Vec<&str> = params
            .get("hitBreakpoints")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let hits = self.places.lock().numbers(target.thread, &hit);
        let only_node = frames.iter().all(|frame| target.is_nodes_own(frame));
        let inside_node = frames.first().is_some_and(|top| target.is_nodes_own(top));
        let (motion, at_entry) = {
            let mut state = target.state.lock();
            let at_entry = state.entry_place.take_if(|place| hit.contains(&place.as_str()));
            (std::mem::take(&mut state.motion), at_entry)
        };
        let thrown = reasons.thrown().cloned();
        let is_start = reasons.has("Break on start");
        let reason = if !hits.is_empty() {
            "breakpoint"
        } else if thrown.is_some() || reasons.has("OOM") {
            "exception"
        } else if is_start || at_entry.is_some() {
            "entry"
        } else {
            match motion {
                Motion::Stepping => "step",
                Motion::Pausing => "pause",
                // A `debugger` in the source.
                Motion::Running => "breakpoint",
            }
        };
        let serial = self.stops.fetch_add(1, Ordering::Relaxed) + 1;
        let paused = Paused { serial, frames, parents, thrown, reason, hits };
        target.state.lock().paused = Some(Arc::new(paused));
        let inspector = Arc::clone(self);
        let target = Arc::clone(target);
        if is_start {
            tokio::spawn(async move { inspector.enter(&target).await });
        } else if let Some(place) = at_entry {
            tokio::spawn(async move {
                inspector
                    .ask(&target, "Debugger.removeBreakpoint", json!({ "breakpointId": place }))
                    .await
                    .ok();
                inspector.publish(&target).await;
            });
        } else if only_node && reason == "exception" {
            // Node 24 throws on what a module threw; where it was thrown first was told.
            tokio::spawn(
                async move { inspector.go_on(&target, Motion::Running, "Debugger.resume").await.ok() },
            );
        } else if reason == "step" && inside_node {
            // Only what Node asserts with is not passed over by itself.
            tokio::spawn(
                async move { inspector.go_on(&target, Motion::Stepping, "Debugger.stepOut").await.ok() },
            );
        } else {
            self.publish(&target).await;
        }
    }

    /// The program stands before its first line.
    async fn enter(self: &Arc<Self>, target: &Arc<Target>) {
        let is_main = target.route.is_none();
        if is_main && let Err(reason) = self.introduce(target).await {
            return self.give_up(reason);
        }
        let stops = is_main && self.mode.get() == Some(&LaunchMode::Launched { stop_on_entry: true });
        let Some(paused) = target.paused() else { return };
        if stops && paused.frames.first().is_some_and(|top| target.is_nodes_own(top)) {
            // A module is only about to run; its first line is.
            let module = paused.frames.iter().find(|frame| !target.is_nodes_own(frame));
            if let Some(module) = module {
                let location = json!({ "scriptId": module.location.script_id, "lineNumber": 0 });
                let set = self.ask(target, "Debugger.setBreakpoint", json!({ "location": location })).await;
                let place = set.ok().and_then(|set| set.get("breakpointId")?.as_str().map(str::to_owned));
                target.state.lock().entry_place = place;
            }
            self.go_on(target, Motion::Running, "Debugger.resume").await.ok();
        } else if stops || !paused.hits.is_empty() || self.says_debugger(target, &paused).await {
            self.publish(target).await;
        } else {
            self.go_on(target, Motion::Running, "Debugger.resume").await.ok();
        }
    }

    /// Whether the program begins with the word that stops it, which V8 passes over when it stands there already.
    async fn says_debugger(&self, target: &Target, paused: &Paused) -> bool {
        let Some(top) = paused.frames.first() else { return false };
        let place = |column: i64| {
            json!({ "scriptId": top.location.script_id, "lineNumber": top.location.line_number,
                "columnNumber": column })
        };
        let column = top.location.column_number;
        let params = json!({ "start": place(column), "end": place(column + 1) });
        let found = self.ask(target, "Debugger.getPossibleBreakpoints", params).await;
        let says = found.is_ok_and(|found| {
            let kind = found.pointer("/locations/0/type").and_then(Value::as_str);
            kind == Some("debuggerStatement")
        });
        if says {
            let mut state = target.state.lock();
            state.paused = state.paused.take().map(|paused| {
                let paused = Arc::unwrap_or_clone(paused);
                Arc::new(Paused { reason: "breakpoint", ..paused })
            });
        }
        says
    }

    /// Tells the session of a stop, unless another one must be dealt with first.
    async fn publish(self: &Arc<Self>, target: &Arc<Target>) {
        {
            let mut told = self.told.lock();
            let is_next = told.is_none_or(|thread| thread == target.thread);
            target.state.lock().waits = !is_next;
            if !is_next {
                return;
            }
            *told = Some(target.thread);
        }
        let Some(paused) = target.paused() else { return };
        let alone = self.targets.lock().len() == 1;
        let mut body =
            json!({ "reason": paused.reason, "threadId": target.thread, "allThreadsStopped": alone });
        if paused.reason == "exception" {
            let (kind, message) = super::exceptions::described(paused.thrown.as_ref());
            body["description"] = "an exception was thrown".into();
            body["text"] = if message.is_empty() { kind } else { format!("{kind}: {message}") }.into();
        }
        if !paused.hits.is_empty() {
            body["hitBreakpointIds"] = json!(paused.hits);
        }
        self.tell("stopped", body).await;
        self.explain_conditions(target, &paused);
    }

    /// Tells the next stop that waits, if the one before was dealt with.
    pub(crate) async fn tell_next(self: &Arc<Self>) {
        if self.told.lock().is_some() {
            return;
        }
        let waiting = self.all_targets().into_iter().filter(|target| target.waits());
        let next = waiting.min_by_key(|target| target.paused().map_or(u64::MAX, |paused| paused.serial));
        if let Some(next) = next {
            self.publish(&next).await;
        }
    }

    /// Something else let the thread go on.
    pub(crate) async fn resumed(self: &Arc<Self>, target: &Arc<Target>) {
        {
            let mut state = target.state.lock();
            state.waits = false;
            if state.paused.take().is_none() {
                return;
            }
        }
        self.references.lock().forget(target.thread);
        let was_told = self.told.lock().take_if(|thread| *thread == target.thread).is_some();
        if was_told {
            let body = json!({ "threadId": target.thread, "allThreadsContinued": false });
            self.tell("continued", body).await;
            self.tell_next().await;
        }
    }

    /// What belonged to the stop is gone, and the thread goes on in a way.
    async fn go_on(&self, target: &Target, motion: Motion, method: &str) -> Answer {
        let was = {
            let mut state = target.state.lock();
            let was = state.paused.take();
            state.waits = false;
            state.motion = motion;
            was
        };
        if was.is_none() {
            return Err(format!("thread {} is running", target.thread));
        }
        self.references.lock().forget(target.thread);
        let wire = self.wire()?;
        // Nobody waits for this answer.
        drop(
            wire.ask(target.route.as_deref(), "Runtime.releaseObjectGroup", json!({ "objectGroup": GROUP }))
                .await,
        );
        let answer = self.ask(target, method, json!({})).await;
        if answer.is_err() && !self.let_go.is_cancelled() {
            let mut state = target.state.lock();
            if state.paused.is_none() {
                state.paused = was;
                state.motion = Motion::Running;
            }
        }
        answer
    }

    pub(crate) async fn resume(self: &Arc<Self>, arguments: &Value) -> Answer {
        let target = self.target_of(arguments)?;
        self.told.lock().take_if(|thread| *thread == target.thread);
        self.go_on(&target, Motion::Running, "Debugger.resume").await?;
        let alone = self.targets.lock().len() == 1;
        Ok(json!({ "allThreadsContinued": alone }))
    }

    /// Steps; until the step ends, no other thread's stop is told.
    pub(crate) async fn step(self: &Arc<Self>, arguments: &Value, method: &str) -> Answer {
        let target = self.target_of(arguments)?;
        self.go_on(&target, Motion::Stepping, method).await?;
        Ok(json!({}))
    }

    pub(crate) async fn pause(self: &Arc<Self>, arguments: &Value) -> Answer {
        let target = self.target_of(arguments)?;
        // A thread may wait for one whose stop was not told.
        let waiting = self.all_targets().into_iter().find(|one| one.waits());
        if let Some(waiting) = waiting {
            *self.told.lock() = None;
            self.publish(&waiting).await;
            return Ok(json!({}));
        }
        if target.is_paused() {
            return Ok(json!({}));
        }
        target.state.lock().motion = Motion::Pausing;
        self.ask(&target, "Debugger.pause", json!({})).await?;
        Ok(json!({}))
    }

    pub(crate) fn threads(&self) -> Value {
        let targets = self.targets.lock();
        let threads: Vec<Value> =
            targets.iter().map(|target| json!({ "id": target.thread, "name": target.name })).collect();
        json!({ "threads": threads })
    }
}
