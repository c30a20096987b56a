//! Threads beside the main one: greeted before their first line, forgotten when they are gone.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::inspector::Inspector;
use super::target::Target;

/// Threads at the same time; more are not debugged.
const MOST_THREADS: usize = 256;

impl Inspector {
    /// A thread begins and waits for us.
    pub(crate) fn worker_came(self: &Arc<Self>, params: &Value) {
        let text = |path: &str| params.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let route = text("/sessionId").to_owned();
        let number = text("/workerInfo/workerId").to_owned();
        let title = text("/workerInfo/title");
        let name = if title.is_empty() || title.starts_with("Worker ") {
            format!("worker {number}")
        } else {
            format!("worker {number} ({title})")
        };
        let added = {
            let mut targets = self.targets.lock();
            // Numbers are not used again: one may still be on somebody's mind.
            let thread = self.last_thread.fetch_add(1, Ordering::Relaxed) + 1;
            let target = Arc::new(Target::worker(thread, name, route.clone()));
            let fits = targets.len() < MOST_THREADS;
            if fits {
                targets.push(Arc::clone(&target));
            }
            fits.then_some(target)
        };
        let inspector = Arc::clone(self);
        tokio::spawn(async move {
            if let Some(target) = added {
                inspector.tell("thread", json!({ "reason": "started", "threadId": target.thread })).await;
                if inspector.initialize(&target).await.is_ok() {
                    inspector.bind_all(&target).await;
                }
            }
            // In any case it must not wait any longer.
            if let Ok(wire) = inspector.wire() {
                wire.call(Some(&route), "Runtime.runIfWaitingForDebugger", json!({})).await.ok();
            }
        });
    }

    pub(crate) async fn worker_left(self: &Arc<Self>, params: &Value) {
        let route = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        let Some(target) = self.target_by_route(Some(route)) else { return };
        self.targets.lock().retain(|one| one.thread != target.thread);
        self.references.lock().forget(target.thread);
        self.places.lock().forget(target.thread);
        let was_told = self.told.lock().take_if(|thread| *thread == target.thread).is_some();
        self.tell("thread", json!({ "reason": "exited", "threadId": target.thread })).await;
        if was_told {
            if target.is_paused() {
                let body = json!({ "threadId": target.thread, "allThreadsContinued": false });
                self.tell("continued", body).await;
            }
            self.tell_next().await;
        }
    }
}
