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

/// Whether a host may be reached. The executor gives one to every call; it asks the person where rules and mode
/// say so, and an answer for the session holds for the host.
#[async_trait]
pub trait NetworkGate: Send + Sync {
    /// The error says why not, for the model and the person.
    async fn admit(&self, host: &str, port: u16) -> Result<(), String>;

    /// Returns the ports of this machine's own loopback that a rule opens by name, such as `network(localhost:8080)`.
    fn loopback_ports(&self) -> Vec<u16> {
        Vec::new()
    }
}
