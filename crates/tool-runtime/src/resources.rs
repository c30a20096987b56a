//! What can be read besides calling tools: a program's output, a source file as a debugger knows it.

use async_trait::async_trait;

/// Something that can be read by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceEntry {
    pub uri: String,
    pub name: String,
    pub description: Option<String>,
    pub mime_type: Option<String>,
}

/// A family of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceTemplateEntry {
    /// As in RFC 6570: `stepwell://output/{session}`.
    pub uri_template: String,
    pub name: String,
    pub description: Option<String>,
    pub mime_type: Option<String>,
}

/// What stands behind an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    Text {
        text: String,
        mime_type: Option<String>,
    },
    /// Bytes as base64.
    Binary {
        base64: String,
        mime_type: Option<String>,
    },
}

/// The resources of a workspace.
#[async_trait]
pub trait Resources: Send + Sync {
    async fn list(&self) -> Vec<ResourceEntry>;

    async fn templates(&self) -> Vec<ResourceTemplateEntry>;

    /// `None` when there is nothing of this address. An error says why it cannot be read.
    async fn read(&self, uri: &str) -> Result<Option<ResourceBody>, String>;
}

/// No resources.
pub struct NoResources;

#[async_trait]
impl Resources for NoResources {
    async fn list(&self) -> Vec<ResourceEntry> {
        Vec::new()
    }

    async fn templates(&self) -> Vec<ResourceTemplateEntry> {
        Vec::new()
    }

    async fn read(&self, _uri: &str) -> Result<Option<ResourceBody>, String> {
        Ok(None)
    }
}
