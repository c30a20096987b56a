//! Skills: folders with a `SKILL.md` that tell the agent how to do one kind of work.
//!
//! A skill is seen in three steps. Its name and description stand in the prompt; where the person's words contain one of
//! its triggers, its text comes with the message; otherwise the model loads it when it needs it. Files beside
//! `SKILL.md` are read with the ordinary tools.

mod digest;
mod validate;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stepwell_workspace::files;

pub(crate) use digest::hex;
pub use digest::{SkillDigest, digest};
pub use validate::{Finding, Severity, validate};

use crate::front_matter::FrontMatter;
use crate::library::{LibraryFolder, LibraryPlaces, Origin};

/// A `SKILL.md` longer than this is cut.
const LONGEST: usize = 64 * 1024;
const MOST_SKILLS: usize = 300;
/// Characters of a description in the prompt, and of the whole list.
const LISTED_DESCRIPTION: usize = 240;
const LISTED_TOTAL: usize = 4000;
/// A trigger shorter than this would fire by accident.
const SHORTEST_TRIGGER: usize = 2;
const MOST_TRIGGERS: usize = 50;

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    /// Words of the person that bring it by themselves.
    pub triggers: Vec<String>,
    /// Tools it works with; a hint to the reader, which grants nothing.
    pub tools: Vec<String>,
    /// Modes it is for; all where it names none. `default` stands for every mode but planning.
    pub modes: Vec<String>,
    /// Whether only the person starts it.
    pub by_person_only: bool,
    /// The folder of its `SKILL.md`.
    pub folder: PathBuf,
    pub origin: Origin,
}

impl Skill {
    /// Reads the skill of a folder.
    pub fn read(folder: &Path, origin: &Origin) -> Result<Self, String> {
        let file = file_of(folder).ok_or_else(|| format!("{}: there is no SKILL.md", folder.display()))?;
        let read = read_file(&file)?;
        let shown = file.display();
        if let Some(problem) = read.problem {
            return Err(format!("{shown}: {problem}"));
        }
        let folder_name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = read.text("name").unwrap_or(folder_name);
        let is_name = name.len() <= 200 && !name.chars().any(|c| c.is_control() || c.is_whitespace());
        if !is_name {
            return Err(format!("{shown}: the name of a skill has no spaces and at most 64 characters"));
        }
        let Some(description) = read.text("description") else {
            return Err(format!("{shown}: it has no `description`, so nobody can know when to use it"));
        };
        let name = match origin {
            Origin::Plugin { name: plugin, .. } => format!("{plugin}:{name}"),
            _ => name,
        };
        // Other agents' validators refuse fields of their own; what stands below `metadata` they accept.
        let listed = |field: &str| {
            let own = read.list(field);
            if own.is_empty() { below_metadata(&read, field) } else { own }
        };
        let mut triggers = listed("triggers");
        triggers.retain(|trigger| trigger.chars().count() >= SHORTEST_TRIGGER);
        triggers.truncate(MOST_TRIGGERS);
        let mut tools = listed("tools");
        tools.extend(read.list("allowed-tools"));
        Ok(Self {
            name,
            description: description.split_whitespace().collect::<Vec<_>>().join(" "),
            triggers,
            tools,
            modes: listed("agent_modes"),
            by_person_only: read.text("disable-model-invocation").as_deref() == Some("true"),
            folder: folder.to_path_buf(),
            origin: origin.at(&file),
        })
    }

    /// The text of its `SKILL.md`, without the front matter, and the files beside it.
    pub fn load(&self) -> Result<String, String> {
        let file = file_of(&self.folder)
            .ok_or_else(|| format!("the skill `{}` is gone from {}", self.name, self.folder.display()))?;
        let body = read_file(&file)?.body;
        let mut text = format!(
            "# Skill: {}\nIts files are in {}; paths in its text start there.\n\n{}",
            self.name,
            self.folder.display(),
            body.trim()
        );
        let beside = digest::files_below(&self.folder)
            .into_iter()
            .map(|path| path.to_string_lossy().into_owned())
            .filter(|path| !path.eq_ignore_ascii_case("SKILL.md"))
            .collect::<Vec<_>>();
        if !beside.is_empty() {
            write!(text, "\n\n# Files of the skill, to be read when needed\n- {}", beside.join("\n- ")).ok();
        }
        Ok(text)
    }

    /// Whether it is for this mode.
    pub fn is_for(&self, mode: &str) -> bool {
        let is_it =
            |wanted: &String| wanted == mode || wanted == "all" || wanted == "default" && mode != "plan";
        self.modes.is_empty() || self.modes.iter().any(is_it)
    }

    /// The first of its triggers that the words contain.
    pub fn triggered_by(&self, words: &str) -> Option<&str> {
        let words = words.to_lowercase();
        self.triggers.iter().map(String::as_str).find(|trigger| occurs(&words, &trigger.to_lowercase()))
    }
}

/// Whether a trigger occurs as whole words. Scripts that have no spaces have no such bounds.
fn occurs(words: &str, trigger: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    words.match_indices(trigger).any(|(at, _)| {
        let before = words[..at].chars().next_back();
        let after = words[at + trigger.len()..].chars().next();
        let begins = !trigger.starts_with(is_part) || !before.is_some_and(is_part);
        begins && (!trigger.ends_with(is_part) || !after.is_some_and(is_part))
    })
}

fn below_metadata(read: &FrontMatter, field: &str) -> Vec<String> {
    let metadata = read.fields.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    FrontMatter { fields: metadata, ..FrontMatter::default() }.list(field)
}

/// The `SKILL.md` of a folder; older skills write it small.
pub(crate) fn file_of(folder: &Path) -> Option<PathBuf> {
    ["SKILL.md", "skill.md"].map(|name| folder.join(name)).into_iter().find(|path| path.is_file())
}

fn read_file(path: &Path) -> Result<FrontMatter, String> {
    let bytes = files::read_beginning(path, LONGEST as u64).map_err(|error| error.to_string())?;
    Ok(FrontMatter::of(&String::from_utf8_lossy(&bytes)))
}

/// The skills of a workspace, and what is wrong with some.
#[derive(Clone, Debug, Default)]
pub struct Skills {
    by_name: BTreeMap<String, Skill>,
    pub problems: Vec<String>,
}

impl Skills {
    /// Reads the skills of every place; of two with one name the nearer is used.
    pub fn read(places: &LibraryPlaces) -> Self {
        let mut found = Self::default();
        for folder in places.folders("skills") {
            found.add_folder(&folder, places);
        }
        found
    }

    fn add_folder(&mut self, folder: &LibraryFolder, places: &LibraryPlaces) {
        for path in files::list_dir(&folder.path).unwrap_or_default() {
            let Some(file) = file_of(&path) else { continue };
            if let Some(reason) = places.refuses(&file, &folder.origin) {
                self.problems.push(format!("{}: {reason}", file.display()));
                continue;
            }
            match Skill::read(&path, &folder.origin) {
                Ok(mut skill) => {
                    skill.modes.extend(folder.mode.clone());
                    if self.by_name.len() < MOST_SKILLS || self.by_name.contains_key(&skill.name) {
                        self.by_name.insert(skill.name.clone(), skill);
                    }
                }
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.by_name.get(name.trim().trim_start_matches('/'))
    }

    pub fn all(&self) -> impl Iterator<Item = &Skill> {
        self.by_name.values()
    }

    /// The section of the prompt that names them; `None` where there is none for the mode.
    pub fn listing(&self, mode: &str) -> Option<String> {
        let mut text = String::new();
        let mut left_out = 0;
        for skill in self.all().filter(|skill| skill.is_for(mode) && !skill.by_person_only) {
            let mut what: String = skill.description.chars().take(LISTED_DESCRIPTION).collect();
            if what.len() < skill.description.len() {
                what.push('…');
            }
            if text.len() + what.len() > LISTED_TOTAL {
                left_out += 1;
            } else {
                writeln!(text, "- `{}`: {what}", skill.name).ok();
            }
        }
        if left_out > 0 {
            writeln!(text, "- {left_out} more, which `skill_loader` names").ok();
        }
        (!text.is_empty()).then_some(text)
    }

    /// The skills that the person's words bring, with the word that does.
    pub fn triggered<'s>(&'s self, words: &str, mode: &str) -> Vec<(&'s Skill, &'s str)> {
        let fitting = self.all().filter(|skill| skill.is_for(mode));
        fitting.filter_map(|skill| Some((skill, skill.triggered_by(words)?))).collect()
    }
}

#[cfg(test)]
#[path = "skills_tests.rs"]
mod tests;
