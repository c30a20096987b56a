//! Hears what Node says by itself, in the order it comes.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use serde_json::Value;

use super::cdp::CdpListener;
use super::inspector::Inspector;
use super::launch::LaunchMode;

/// Hears for an adapter; one that is gone hears nothing.
#[derive(Debug)]
pub(crate) struct InspectorListener(pub Weak<Inspector>);

#[async_trait]
impl CdpListener for InspectorListener {
    async fn event(&self, route: Option<&str>, method: &str, params: Value) {
        let Some(inspector) = self.0.upgrade() else { return };
        match method {
            "NodeWorker.attachedToWorker" => return inspector.worker_came(&params),
            "NodeWorker.detachedFromWorker" => return inspector.worker_left(&params).await,
            // The program is done; it waits for nobody but us.
            "NodeRuntime.waitingForDisconnect" if route.is_none() => return inspector.let_go.cancel(),
            _ => {}
        }
        let Some(target) = inspector.target_by_route(route) else { return };
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        match method {
            "Debugger.scriptParsed" => {
                target.add_script(text("scriptId"), text("url"));
                // Newer ones say here what older ones say apart.
                for resolved in
                    params.get("resolvedBreakpoints").and_then(Value::as_array).into_iter().flatten()
                {
                    inspector.breakpoint_resolved(&target, resolved).await;
                }
            }
            "Debugger.breakpointResolved" => inspector.breakpoint_resolved(&target, &params).await,
            "Debugger.paused" => inspector.paused(&target, params).await,
            "Debugger.resumed" => inspector.resumed(&target).await,
            _ => {}
        }
    }

    async fn garbled(&self, reason: &str) {
        if let Some(inspector) = self.0.upgrade() {
            inspector.print("console", &format!("a message of Node is no JSON: {reason}\n")).await;
        }
    }

    async fn closed(&self, reason: &str) {
        let Some(inspector) = self.0.upgrade() else { return };
        if inspector.let_go.is_cancelled() {
            return;
        }
        match inspector.mode.get() {
            // Its end is seen when its process ends.
            Some(LaunchMode::Launched { .. } | LaunchMode::Watched) => {
                let reason = format!("Node's inspector is gone while the program still runs: {reason}");
                inspector.lost.send_replace(Some(reason));
            }
            _ => inspector.ended(None).await,
        }
    }
}

impl Inspector {
    /// Lets go of the program. The session ends what it started.
    pub(crate) async fn disconnect(self: &Arc<Self>) -> Result<Value, String> {
        if self.mode.get() == Some(&LaunchMode::Attached { opened: true })
            && let Ok(main) = self.target_of(&Value::Null)
        {
            self.close_inspector(&main).await;
        }
        // What is closed goes on by itself, without our breakpoints.
        self.let_go.cancel();
        Ok(Value::Object(serde_json::Map::new()))
    }
}
