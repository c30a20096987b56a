//! What the runtime needs of the world and may not do itself.

use std::path::Path;

use async_trait::async_trait;

use crate::HostError;

/// Keeps whole outputs as files; the one who assembles the program gives an implementation.
#[async_trait]
pub trait ArtifactWriter: Send + Sync {
    /// Writes a new file that only its owner may read.
    async fn write(&self, path: &Path, content: &[u8]) -> Result<(), HostError>;
}
