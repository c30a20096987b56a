//! The modes of a workspace: built in, of the person, of the project.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_agent::mode::{Mode, ModeGroup, ModeSource, Modes, read_roo_modes, vocabulary};
use stepwell_tool_runtime::{FilePattern, ToolGroup, Vocabulary};

use super::{Places, Settings, Source};

/// Where Roo-Code keeps the modes of the person, below the home folder.
const ROO_CODE: &str = "User/globalStorage/rooveterinaryinc.roo-cline/settings/custom_modes.yaml";
const EDITORS: &[&str] = &["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

/// A mode of your own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModeSettings {
    /// What people call it; its key by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The role section of the system prompt, such as `You are a technical writer.`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// When to switch to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_to_use: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Text added to the model's instructions in this mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Groups of tools it has: `read`, `edit`, `command`, `debug`, `browser`, `mcp`.
    pub groups: Vec<String>,
    /// A regular expression: only files whose path from the workspace matches may be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
    /// The model to use in this mode, as `PROVIDER/MODEL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The names of tools that the model is shown: `stepwell`, or `roo` for those of Roo-Code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<String>,
}

impl ModeSettings {
    fn mode(&self, slug: &str) -> Result<Mode, String> {
        let files = self.files.as_deref().map(|files| FilePattern::new(files, None)).transpose()?;
        let group = |name: &String| {
            let group = ToolGroup::by_name(name).ok_or_else(|| format!("there is no group `{name}`"))?;
            Ok(ModeGroup { group, files: files.clone().filter(|_| group == ToolGroup::Edit) })
        };
        Ok(Mode {
            slug: slug.to_owned(),
            name: self.name.clone().unwrap_or_else(|| slug.to_owned()),
            role: self.role.clone().unwrap_or_default(),
            when_to_use: self.when_to_use.clone(),
            description: self.description.clone(),
            instructions: self.instructions.clone(),
            groups: self.groups.iter().map(group).collect::<Result<_, String>>()?,
            shown_tools: Vec::new(),
            model: self.model.clone(),
            vocabulary: self.vocabulary.as_deref().map_or(Ok(Vocabulary::default()), vocabulary)?,
            source: ModeSource::Settings,
        })
    }
}

impl Settings {
    /// Every mode there is, and what is wrong with some. A folder that is not trusted can add modes, but can neither
    /// replace one nor choose a model.
    pub fn modes(&self, places: &Places, workspace: &Path) -> anyhow::Result<(Modes, Vec<String>)> {
        let mut found = FoundModes::default();
        for path in global_files(places) {
            found.add_file(&path, Author::Person)?;
        }
        let project = Places::project(workspace);
        let project_settings = Places::project_settings(project);
        let author = if self.trusted { Author::Person } else { Author::UntrustedProject };
        let is_project = |source: &Source| *source == Source::File(project_settings.clone());
        for (source, layer) in self.layers.iter().filter(|(source, _)| !is_project(source)) {
            found.add_settings(source, layer.modes.iter(), Author::Person);
        }
        found.add_file(&project.join(".roomodes"), author)?;
        for (source, layer) in self.layers.iter().filter(|(source, _)| is_project(source)) {
            found.add_settings(source, layer.modes.iter(), author);
        }
        Ok((found.modes, found.problems))
    }
}

/// Whose word a mode is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Author {
    Person,
    UntrustedProject,
}

#[derive(Default)]
struct FoundModes {
    modes: Modes,
    problems: Vec<String>,
}

impl FoundModes {
    fn add_file(&mut self, path: &Path, author: Author) -> anyhow::Result<()> {
        let (modes, problems) = read_roo_modes(path)?;
        self.problems.extend(problems.iter().map(ToString::to_string));
        for mode in modes {
            self.add(mode, author);
        }
        Ok(())
    }

    fn add_settings<'m>(
        &mut self,
        source: &Source,
        modes: impl Iterator<Item = (&'m String, &'m ModeSettings)>,
        author: Author,
    ) {
        for (slug, settings) in modes {
            match settings.mode(slug) {
                Ok(mode) => self.add(mode, author),
                Err(reason) => {
                    self.problems.push(format!("{source}: the mode `{slug}` is left out: {reason}"));
                }
            }
        }
    }

    fn add(&mut self, mut mode: Mode, author: Author) {
        if author == Author::UntrustedProject {
            if self.modes.get(&mode.slug).is_some() {
                let (slug, source) = (&mode.slug, &mode.source);
                self.problems.push(format!(
                    "{source}: the mode `{slug}` would replace another one, which needs `stepwell config trust`"
                ));
                return;
            }
            mode.model = None;
        }
        self.modes.add(mode);
    }
}

/// Files with modes of the person, the strongest last.
fn global_files(places: &Places) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if let Some(home) = &places.user_home {
        files.extend(EDITORS.iter().map(|editor| home.join(".config").join(editor).join(ROO_CODE)));
        files.push(home.join(".roo/custom_modes.yaml"));
    }
    files.push(places.config.join("custom_modes.yaml"));
    files
}
