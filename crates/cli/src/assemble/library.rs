//! The commands, skills and instructions of a folder and of the person who works in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_agent::commands::{Commands, SlashCommand};
use stepwell_agent::library::{Library, LibraryPlaces, Origin, Plugin};
use stepwell_agent::prompt::Instructions;
use stepwell_agent::prompt::instructions::{self, HiddenBy, InstructionPlaces};
use stepwell_agent::skills::{self, Severity, Skill, Skills};
use stepwell_tool_runtime::{DeniedReads, near_names};
use stepwell_tools::library::{InstallLocation, LoadedSkill, SkillContent, SkillPin, ToolLibrary};
use stepwell_workspace::{Workspace, files};

use super::skill_pins;
use crate::settings::{self, Places, Settings};

/// Reads files of the project and of the person when asked.
#[derive(Debug)]
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

impl FolderLibrary {
    /// Says how a skill differs from what was installed, or from what was loaded last. A skill of the project is
    /// remembered as it is now.
    pub fn changed(&self, skill: &Skill) -> Option<String> {
        let now = skills::digest(&skill.folder).ok()?;
        let Some(pin) = skill_pins::pin_of(&self.places, &skill.folder) else {
            self.remember(skill, &now.sha256);
            return None;
        };
        if pin.sha256 == now.sha256 {
            return None;
        }
        if pin.source.is_empty() {
            self.remember(skill, &now.sha256);
            return Some("has changed since it was last loaded".to_owned());
        }
        Some(format!("has changed since it was installed from {}", pin.source))
    }

    fn remember(&self, skill: &Skill, sha256: &str) {
        if matches!(skill.origin, Origin::Project(_)) {
            let pin = SkillPin {
                folder: skill.folder.clone(),
                source: String::new(),
                branch: None,
                commit: None,
                sha256: sha256.to_owned(),
            };
            // That a change cannot be noticed later must not keep the skill from being used.
            skill_pins::pin(&self.places, &pin).ok();
        }
    }
}

impl ToolLibrary for FolderLibrary {
    fn skills(&self) -> Vec<(String, String)> {
        Library::skills(self).all().map(|skill| (skill.name.clone(), skill.description.clone())).collect()
    }

    fn load_skill(&self, name: &str) -> Result<LoadedSkill, String> {
        let all = Library::skills(self);
        let Some(skill) = all.get(name) else {
            let names: Vec<&str> = all.all().map(|skill| skill.name.as_str()).collect();
            let near = near_names(name, names.iter().copied());
            let help = match (near.first(), names.is_empty()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, true) => "there are none here".to_owned(),
                (None, false) => format!("there are: {}", names.join(", ")),
            };
            return Err(format!("there is no skill `{name}`; {help}"));
        };
        if skill.by_person_only {
            return Err(format!("the skill `{name}` is started by the user only, with `/{name}`"));
        }
        Ok(LoadedSkill {
            name: skill.name.clone(),
            text: skill.load()?,
            tools: skill.tools.clone(),
            source: skill.origin.kind().to_owned(),
            changed: self.changed(skill),
        })
    }

    fn commands(&self) -> Vec<(String, String)> {
        Library::commands(self).all().map(|command| (command.name.clone(), command.summary())).collect()
    }

    fn expand_command(&self, name: &str, arguments: &str) -> Result<String, String> {
        let all = Library::commands(self);
        if let Some(command) = all.get(name) {
            return Ok(command.expanded(arguments));
        }
        let names: Vec<&str> = all.all().map(|command| command.name.as_str()).collect();
        Err(format!("there is no command `/{name}`; there are: {}", names.join(", ")))
    }

    fn inspect_skill(&self, folder: &Path) -> Result<SkillContent, String> {
        let origin = Origin::Person(folder.to_path_buf());
        let skill = Skill::read(folder, &origin)?;
        let is_plain = skill.name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
        if !is_plain || skill.name.is_empty() {
            return Err(format!("`{}` cannot be the name of a skill's folder", skill.name));
        }
        let digest = skills::digest(folder)?;
        let file = skill.origin.path().cloned().unwrap_or_else(|| folder.join("SKILL.md"));
        let bytes = files::read_beginning(&file, 1024 * 1024).map_err(|error| error.to_string())?;
        let warnings = skills::validate(folder)
            .into_iter()
            .filter(|finding| finding.severity == Severity::Error)
            // Downloads have folders of other names.
            .filter(|finding| !finding.message.starts_with("the folder is called"))
            .map(|finding| finding.message)
            .collect();
        Ok(SkillContent {
            name: skill.name,
            description: skill.description,
            sha256: digest.sha256,
            files: digest.files,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            warnings,
        })
    }

    fn skills_folder(&self, location: InstallLocation) -> PathBuf {
        match location {
            InstallLocation::Project => self.root.join(".stepwell/skills"),
            InstallLocation::Global => self.places.config.join("skills"),
        }
    }

    fn downloads(&self) -> Result<PathBuf, String> {
        let folder = self.places.shared.join("skill-downloads");
        files::create_private_dir(&folder).map_err(|error| error.to_string())?;
        Ok(folder)
    }

    fn pin_skill(&self, pin: &SkillPin) -> Result<(), String> {
        skill_pins::pin(&self.places, pin)
    }
}
