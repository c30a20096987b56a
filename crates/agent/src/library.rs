//! What people's folders add to the agent: commands, skills, and instructions of nested folders.

use std::path::{Path, PathBuf};

use crate::commands::{Commands, SlashCommand};
use crate::error::Result;
use crate::prompt::Instructions;
use crate::skills::Skills;

/// Where commands, skills and nested instructions come from. Read anew when asked, because people edit these files.
pub trait Library: Send + Sync {
    fn commands(&self) -> Commands;

    fn skills(&self) -> Skills;

    /// Whether a command may switch the mode and the model: the person's own may, a project's only where the person
    /// trusts its folder.
    fn follows(&self, command: &SlashCommand) -> bool {
        !matches!(command.origin, Origin::Project(_))
    }

    /// The instructions that touched files bring along.
    fn nested(&self, mode: &str, touched: &[PathBuf]) -> Result<Instructions>;
}

/// Only what is built in.
pub struct NoLibrary;

impl Library for NoLibrary {
    fn commands(&self) -> Commands {
        Commands::default()
    }

    fn skills(&self) -> Skills {
        Skills::default()
    }

    fn nested(&self, _mode: &str, _touched: &[PathBuf]) -> Result<Instructions> {
        Ok(Instructions::default())
    }
}

/// Where a command or a skill comes from; the later, the stronger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    /// Of a plug-in that the person named.
    Plugin {
        name: String,
        path: PathBuf,
    },
    Person(PathBuf),
    Project(PathBuf),
}

impl Origin {
    /// The same for a file.
    #[must_use]
    pub fn at(&self, file: &Path) -> Self {
        let path = file.to_path_buf();
        match self {
            Self::BuiltIn => Self::BuiltIn,
            Self::Plugin { name, .. } => Self::Plugin { name: name.clone(), path },
            Self::Person(_) => Self::Person(path),
            Self::Project(_) => Self::Project(path),
        }
    }

    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::BuiltIn => None,
            Self::Plugin { path, .. } | Self::Person(path) | Self::Project(path) => Some(path),
        }
    }

    /// `built in`, `plugin`, `user` or `project`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::Plugin { .. } => "plugin",
            Self::Person(_) => "user",
            Self::Project(_) => "project",
        }
    }
}

/// The folders that are looked at.
#[derive(Clone, Debug)]
pub struct LibraryPlaces {
    /// The folder of the user's settings.
    pub config_dir: PathBuf,
    pub user_home: Option<PathBuf>,
    pub workspace: PathBuf,
    pub plugins: Vec<Plugin>,
}

/// A plug-in folder of Claude Code's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    pub name: String,
    pub folder: PathBuf,
}

/// A folder of commands or skills.
#[derive(Clone, Debug)]
pub struct LibraryFolder {
    pub path: PathBuf,
    pub origin: Origin,
    /// The mode it is for, as Roo-Code's `skills-code`.
    pub mode: Option<String>,
}

/// The agents whose folders are read, the weakest first.
const AGENT_FOLDERS: &[&str] = &[".codex", ".agents", ".roo", ".claude", ".stepwell"];

impl LibraryPlaces {
    /// The folders of a kind (`commands`, `skills`), the strongest last.
    pub fn folders(&self, kind: &str) -> Vec<LibraryFolder> {
        let mut found = Vec::new();
        for plugin in &self.plugins {
            let path = plugin.folder.join(kind);
            let origin = Origin::Plugin { name: plugin.name.clone(), path: path.clone() };
            found.push(LibraryFolder { path, origin, mode: None });
        }
        if let Some(home) = &self.user_home {
            add_agents(&mut found, home, kind, Origin::Person);
        }
        let own = self.config_dir.join(kind);
        found.push(LibraryFolder { path: own.clone(), origin: Origin::Person(own), mode: None });
        add_agents(&mut found, &self.workspace, kind, Origin::Project);
        found.retain(|folder| folder.path.is_dir());
        found
    }

    /// Why a file of the project is not read: a link may not lead outside the repository.
    pub fn refuses(&self, file: &Path, origin: &Origin) -> Option<&'static str> {
        if !matches!(origin, Origin::Project(_)) {
            return None;
        }
        let root = self.workspace.ancestors().find(|folder| folder.join(".git").exists());
        let root = root.unwrap_or(&self.workspace).canonicalize().ok()?;
        let is_inside = file.canonicalize().is_ok_and(|real| real.starts_with(root));
        (!is_inside).then_some("a link that leads outside the repository")
    }
}

fn add_agents(found: &mut Vec<LibraryFolder>, base: &Path, kind: &str, origin: fn(PathBuf) -> Origin) {
    for agent in AGENT_FOLDERS {
        let folder = base.join(agent);
        let path = folder.join(kind);
        found.push(LibraryFolder { path: path.clone(), origin: origin(path), mode: None });
        // Roo-Code has folders for single modes beside the one for all.
        if *agent == ".roo" {
            let beginning = format!("{kind}-");
            for path in stepwell_workspace::files::list_dir(&folder).unwrap_or_default() {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if let Some(mode) = name.strip_prefix(&beginning) {
                    let mode = Some(mode.to_owned());
                    found.push(LibraryFolder { path: path.clone(), origin: origin(path), mode });
                }
            }
        }
    }
}
