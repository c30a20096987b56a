//! What the tools for skills and commands need of people's folders. The one who assembles the program gives an
//! implementation.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// The skills and commands of a workspace.
pub trait ToolLibrary: Debug + Send + Sync {
    /// Names and descriptions of all skills.
    fn skills(&self) -> Vec<(String, String)>;

    /// The text of a skill. The error says what there is.
    fn load_skill(&self, name: &str) -> Result<LoadedSkill, String>;

    /// Names and descriptions of all commands.
    fn commands(&self) -> Vec<(String, String)>;

    /// The text of a command with its arguments in place.
    fn expand_command(&self, name: &str, arguments: &str) -> Result<String, String>;

    /// Looks at a folder that is to become a skill.
    fn inspect_skill(&self, folder: &Path) -> Result<SkillContent, String>;

    /// Where skills of a location are kept.
    fn skills_folder(&self, location: InstallLocation) -> PathBuf;

    /// A folder for downloads, which exists when this returns.
    fn downloads(&self) -> Result<PathBuf, String>;

    /// Remembers what was installed, so that a change is noticed.
    fn pin_skill(&self, pin: &SkillPin) -> Result<(), String>;
}

/// A skill that was loaded.
#[derive(Clone, Debug)]
pub struct LoadedSkill {
    pub name: String,
    pub text: String,
    pub tools: Vec<String>,
    /// `project`, `user` or `plugin`.
    pub source: String,
    /// Set where it is not what it was when it was installed or last loaded.
    pub changed: Option<String>,
}

/// What a folder would be as a skill.
#[derive(Clone, Debug)]
pub struct SkillContent {
    pub name: String,
    pub description: String,
    pub sha256: String,
    /// Paths from the folder, with sizes.
    pub files: Vec<(PathBuf, u64)>,
    /// The whole of `SKILL.md`.
    pub text: String,
    /// What the specification has against it.
    pub warnings: Vec<String>,
}

/// Where a skill is put.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum InstallLocation {
    /// For this project, below `.stepwell/skills`.
    #[default]
    Project,
    /// For all projects of the user.
    Global,
}

/// What was installed.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SkillPin {
    pub folder: PathBuf,
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    pub sha256: String,
}
