//! One registered tool: its facts, computed when first needed, and its statistics.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use stepwell_protocol::ToolDefinition;

use crate::arguments::ArgumentSchema;
use crate::{DynTool, HookTool, ToolSpec};

/// Whether a tool is offered and may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolStatus {
    Enabled,
    Disabled,
}

/// How a tool has fared since it was registered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub calls: u64,
    pub errors: u64,
    pub total_time: Duration,
    pub last_error: Option<String>,
}

pub struct RegisteredTool {
    name: Arc<str>,
    tool: Arc<dyn DynTool>,
    spec: ToolSpec,
    source: Option<Arc<str>>,
    disabled: AtomicBool,
    calls: AtomicU64,
    errors: AtomicU64,
    total_micros: AtomicU64,
    last_error: Mutex<Option<String>>,
    definition: OnceLock<ToolDefinition>,
    arguments: OnceLock<ArgumentSchema>,
    output_schema: OnceLock<Option<Value>>,
}

impl RegisteredTool {
    /// The tool as hooks hear of it.
    pub(crate) fn for_hooks(&self) -> HookTool {
        HookTool { name: self.name.to_string(), aliases: self.spec.aliases }
    }

    pub(super) fn new(name: Arc<str>, tool: Arc<dyn DynTool>, source: Option<Arc<str>>) -> Self {
        let spec = tool.spec();
        Self {
            name,
            tool,
            spec,
            source,
            disabled: AtomicBool::new(false),
            calls: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            total_micros: AtomicU64::new(0),
            last_error: Mutex::new(None),
            definition: OnceLock::new(),
            arguments: OnceLock::new(),
            output_schema: OnceLock::new(),
        }
    }

    /// The name it is registered under.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn tool(&self) -> &Arc<dyn DynTool> {
        &self.tool
    }

    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The source that brought it; `None` for a built-in.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    pub fn status(&self) -> ToolStatus {
        if self.disabled.load(Ordering::Acquire) { ToolStatus::Disabled } else { ToolStatus::Enabled }
    }

    pub fn is_enabled(&self) -> bool {
        self.status() == ToolStatus::Enabled
    }

    pub fn definition(&self) -> &ToolDefinition {
        self.definition
            .get_or_init(|| ToolDefinition { name: self.name.to_string(), ..self.tool.definition() })
    }

    pub fn arguments(&self) -> &ArgumentSchema {
        self.arguments.get_or_init(|| ArgumentSchema::new(self.tool.input_schema()))
    }

    pub fn output_schema(&self) -> Option<&Value> {
        self.output_schema.get_or_init(|| self.tool.output_schema()).as_ref()
    }

    pub fn statistics(&self) -> Statistics {
        Statistics {
            calls: self.calls.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            total_time: Duration::from_micros(self.total_micros.load(Ordering::Relaxed)),
            last_error: self.last_error.lock().clone(),
        }
    }

    pub(crate) fn count(&self, time: Duration, error: Option<&str>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.total_micros.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
        if let Some(error) = error {
            self.errors.fetch_add(1, Ordering::Relaxed);
            *self.last_error.lock() = Some(error.to_owned());
        }
    }

    /// Returns whether anything changed.
    pub(super) fn set_status(&self, status: ToolStatus) -> bool {
        let disabled = status == ToolStatus::Disabled;
        self.disabled.swap(disabled, Ordering::AcqRel) != disabled
    }

    /// Takes over status and statistics of the tool that had this name before a refresh.
    pub(super) fn inherit(&self, earlier: &Self) {
        self.set_status(earlier.status());
        let statistics = earlier.statistics();
        self.calls.store(statistics.calls, Ordering::Relaxed);
        self.errors.store(statistics.errors, Ordering::Relaxed);
        self.total_micros.store(statistics.total_time.as_micros() as u64, Ordering::Relaxed);
        *self.last_error.lock() = statistics.last_error;
    }
}
