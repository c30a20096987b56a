//! A folder that a confined test runner can write its report to, and that only a call's own files lie in.

use std::path::{Path, PathBuf};

use stepwell_protocol::ArtifactId;
use stepwell_tool_runtime::ToolError;
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::{Workspace, files::remove_dir_all};

use crate::shell::confine::Confinement;

/// Largest report that is read.
const LARGEST_REPORT: u64 = 64 * 1024 * 1024;

/// Gone with this value.
#[derive(Debug)]
pub struct ReportFolder {
    outside: PathBuf,
    inside: PathBuf,
}

impl ReportFolder {
    pub fn make(confinement: &Confinement) -> Result<Self, ToolError> {
        let failed = |error: stepwell_workspace::Error| ToolError::execution(error.to_string());
        let name = format!("stepwell-tests-{}", ArtifactId::generate());
        let (outside, inside) = match confinement {
            // What is `/tmp` in the sandbox lies elsewhere outside of it.
            Confinement::Walls(walls) => {
                (walls.temporary().map_err(failed)?.join(&name), Path::new("/tmp").join(&name))
            }
            Confinement::Off { .. } => (std::env::temp_dir().join(&name), std::env::temp_dir().join(&name)),
        };
        files::create_private_dir(&outside).map_err(failed)?;
        Ok(Self { outside, inside })
    }

    /// The path of a file as the runner knows it.
    pub fn inside(&self, name: &str) -> String {
        self.inside.join(name).display().to_string()
    }

    pub fn put(&self, name: &str, content: &str) -> Result<String, ToolError> {
        files::write_atomic(&self.outside.join(name), content.as_bytes(), Privacy::Shared)
            .map_err(|error| ToolError::execution(error.to_string()))?;
        Ok(self.inside(name))
    }

    /// What the runner wrote. Links that it left lead nowhere.
    pub fn read(&self, name: &str) -> Option<String> {
        let folder = Workspace::open(&self.outside, &[]).ok()?;
        let place = folder.place(name).ok()?;
        let bytes = folder.read(&place, LARGEST_REPORT).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for ReportFolder {
    fn drop(&mut self) {
        remove_dir_all(&self.outside).ok();
    }
}
