//! The commands, skills and instructions of a folder and of the person who works in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_agent::commands::{Commands, SlashCommand};
use stepwell_agent::library::{Library, LibraryPlaces, Origin, Plugin};
use stepwell_agent::prompt::Instructions;
use stepwell_agent::prompt::instructions::{self, HiddenBy, InstructionPlaces};
use stepwell_agent::skills::Skills;
use stepwell_tool_runtime::DeniedReads;
use stepwell_workspace::Workspace;

use crate::settings::{self, Places, Settings};

/// Reads files of the project and of the person when asked.
pub struct FolderLibrary {
    pub places: Arc<Places>,
    pub settings: Arc<Settings>,
    pub root: PathBuf,
    pub extra_roots: Vec<PathBuf>,
}

impl FolderLibrary {
    /// The instructions that a task in a mode begins with.
    pub fn instructions(&self, mode: &str) -> stepwell_agent::Result<Instructions> {
        self.with_places(mode, instructions::load)
    }

    fn with_places(
        &self,
        mode: &str,
        read: impl FnOnce(&InstructionPlaces<'_>) -> stepwell_agent::Result<Instructions>,
    ) -> stepwell_agent::Result<Instructions> {
        let workspace = self.workspace();
        let hides = |path: &Path| match workspace
            .as_ref()
            .map(|workspace| workspace.place(&path.to_string_lossy()))
        {
            Some(Err(stepwell_workspace::Error::Hidden { by, .. })) => Some(by),
            Some(_) => None,
            // Where the rules cannot be read, nothing is known to be visible.
            None => Some("rules that cannot be read".to_owned()),
        };
        read(&InstructionPlaces {
            config_dir: &self.places.config,
            user_home: self.places.user_home.as_deref(),
            workspace: &self.root,
            extra_roots: &self.extra_roots,
            mode,
            text: self.settings.instructions().as_deref(),
            language: self.settings.language().as_deref(),
            trusted: self.settings.trusted,
            hidden: HiddenBy(&hides),
        })
    }

    /// The folder as tools see it.
    fn workspace(&self) -> Option<Workspace> {
        let places = settings::judge_places(&self.places, &self.root, &self.extra_roots);
        let rules = self.settings.rules(&self.places, &places).ok()?;
        let denial = settings::denial(DeniedReads::of(&rules));
        Workspace::open_without(&self.root, &self.extra_roots, &denial).ok()
    }

    fn library_places(&self) -> LibraryPlaces {
        library_places(&self.places, &self.settings, &self.root).0
    }
}

/// Where commands and skills are looked for, and what is wrong with plug-ins.
pub fn library_places(places: &Places, settings: &Settings, root: &Path) -> (LibraryPlaces, Vec<String>) {
    let (mut plugins, mut problems) = (Vec::new(), Vec::new());
    for folder in settings.plugins() {
        let folder = match (folder.strip_prefix("~"), &places.user_home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => root.join(&folder),
        };
        match Plugin::read(&folder) {
            Ok(plugin) => plugins.push(plugin),
            Err(problem) => problems.push(problem),
        }
    }
    let found = LibraryPlaces {
        config_dir: places.config.clone(),
        user_home: places.user_home.clone(),
        workspace: root.to_path_buf(),
        plugins,
    };
    (found, problems)
}

impl Library for FolderLibrary {
    fn commands(&self) -> Commands {
        Commands::read(&self.library_places())
    }

    fn skills(&self) -> Skills {
        Skills::read(&self.library_places())
    }

    fn follows(&self, command: &SlashCommand) -> bool {
        let project = Places::project(&self.root);
        !matches!(command.origin, Origin::Project(_))
            || settings::is_trusted(&self.places, project).unwrap_or(false)
    }

    fn nested(&self, mode: &str, touched: &[PathBuf]) -> stepwell_agent::Result<Instructions> {
        self.with_places(mode, |places| instructions::nested(places, touched))
    }
}
