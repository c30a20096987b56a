//! Where tools come from besides the built-in ones.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use super::RegistryError;
use crate::DynTool;

/// Why a source could not list its tools.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SourceError {
    #[error("the source `{name}` cannot list its tools: {reason}")]
    Unavailable { name: String, reason: String },
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// A set of tools that is plugged in and out at run time, such as an MCP server's.
#[async_trait]
pub trait ToolSource: Send + Sync {
    fn name(&self) -> &str;

    async fn tools(&self) -> Result<Vec<Arc<dyn DynTool>>, SourceError>;

    /// Each rings when the set has changed; none when it never does by itself.
    fn changes(&self) -> Vec<watch::Receiver<u64>> {
        Vec::new()
    }
}

/// Tools that do not change.
pub struct StaticSource {
    name: String,
    tools: Vec<Arc<dyn DynTool>>,
}

impl StaticSource {
    pub fn new(name: impl Into<String>, tools: Vec<Arc<dyn DynTool>>) -> Self {
        Self { name: name.into(), tools }
    }
}

#[async_trait]
impl ToolSource for StaticSource {
    fn name(&self) -> &str {
        &self.name
    }

    async fn tools(&self) -> Result<Vec<Arc<dyn DynTool>>, SourceError> {
        Ok(self.tools.clone())
    }
}

/// Asks another source at most once per time to live. When that fails, the last good answer stands.
pub struct CachedSource {
    inner: Arc<dyn ToolSource>,
    time_to_live: Duration,
    cached: Mutex<Option<CachedTools>>,
}

#[derive(Clone)]
struct CachedTools {
    at: Instant,
    tools: Vec<Arc<dyn DynTool>>,
}

impl CachedSource {
    pub fn new(inner: Arc<dyn ToolSource>, time_to_live: Duration) -> Self {
        Self { inner, time_to_live, cached: Mutex::new(None) }
    }
}

#[async_trait]
impl ToolSource for CachedSource {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn tools(&self) -> Result<Vec<Arc<dyn DynTool>>, SourceError> {
        let cached = self.cached.lock().clone();
        if let Some(fresh) = cached.as_ref().filter(|cached| cached.at.elapsed() < self.time_to_live) {
            return Ok(fresh.tools.clone());
        }
        match (self.inner.tools().await, cached) {
            (Ok(tools), _) => {
                *self.cached.lock() = Some(CachedTools { at: Instant::now(), tools: tools.clone() });
                Ok(tools)
            }
            (Err(_), Some(cached)) => Ok(cached.tools),
            (Err(error), None) => Err(error),
        }
    }

    fn changes(&self) -> Vec<watch::Receiver<u64>> {
        self.inner.changes()
    }
}

/// Several sources as one. One that fails is left out, unless all fail.
pub struct CompositeSource {
    name: String,
    parts: Vec<Arc<dyn ToolSource>>,
}

impl CompositeSource {
    pub fn new(name: impl Into<String>, parts: Vec<Arc<dyn ToolSource>>) -> Self {
        Self { name: name.into(), parts }
    }
}

#[async_trait]
impl ToolSource for CompositeSource {
    fn name(&self) -> &str {
        &self.name
    }

    async fn tools(&self) -> Result<Vec<Arc<dyn DynTool>>, SourceError> {
        let answers = futures::future::join_all(self.parts.iter().map(|part| part.tools())).await;
        let mut tools: Vec<Arc<dyn DynTool>> = Vec::new();
        let mut failure = None;
        let mut answered = self.parts.is_empty();
        for answer in answers {
            match answer {
                Ok(found) => {
                    answered = true;
                    for tool in found {
                        // The first source that has a name keeps it.
                        if !tools.iter().any(|known| known.name() == tool.name()) {
                            tools.push(tool);
                        }
                    }
                }
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(error) if !answered => Err(error),
            _ => Ok(tools),
        }
    }

    fn changes(&self) -> Vec<watch::Receiver<u64>> {
        self.parts.iter().flat_map(|part| part.changes()).collect()
    }
}
