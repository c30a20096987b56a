//! Slash commands: Markdown files that a person runs by name, such as `/review 12`.
//!
//! The text of a command stands in for what the person would have written. A command of a project is the project's
//! text: it grants nothing, and what it names is brought through the same permissions as everything else.

mod builtin;
mod expand;

use std::collections::BTreeMap;
use std::path::Path;

use stepwell_workspace::files;

pub use expand::{invocation, shell_parts};

use crate::front_matter::FrontMatter;
use crate::library::{LibraryPlaces, Origin};

/// What the text of a command begins with in a message.
pub(crate) const COMMAND_TEXT: &str = "<command name=";

/// A command longer than this is cut.
const LONGEST: usize = 64 * 1024;
const MOST_COMMANDS: usize = 500;
const DEEPEST: usize = 4;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// Without the slash. Commands of a sub-folder have its name before theirs: `frontend:component`.
    pub name: String,
    pub description: Option<String>,
    /// What to write behind the name, such as `[issue]`.
    pub argument_hint: Option<String>,
    /// The mode it is meant for.
    pub mode: Option<String>,
    pub model: Option<String>,
    /// What other agents would allow for it; here it grants nothing.
    pub allowed_tools: Vec<String>,
    pub body: String,
    pub origin: Origin,
}

impl SlashCommand {
    /// The text with its arguments in place.
    pub fn expanded(&self, arguments: &str) -> String {
        expand::expand(&self.body, arguments)
    }

    /// What it is for, in a line.
    pub fn summary(&self) -> String {
        let text = self.description.as_deref().unwrap_or_else(|| self.body.trim());
        let line = text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
        let mut short: String = line.chars().take(120).collect();
        if short.len() < line.len() {
            short.push('…');
        }
        short
    }
}

/// The commands of a workspace, and what is wrong with some.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    by_name: BTreeMap<String, SlashCommand>,
    pub problems: Vec<String>,
}

impl Commands {
    /// Reads the commands of every place, the strongest last.
    pub fn read(places: &LibraryPlaces) -> Self {
        let mut found = Self::default();
        for command in builtin::commands() {
            found.add(command);
        }
        for folder in places.folders("commands") {
            found.add_folder(&folder.path, &folder.origin, places);
        }
        found
    }

    fn add(&mut self, command: SlashCommand) {
        if self.by_name.len() < MOST_COMMANDS || self.by_name.contains_key(&command.name) {
            self.by_name.insert(command.name.clone(), command);
        }
    }

    fn add_folder(&mut self, folder: &Path, origin: &Origin, places: &LibraryPlaces) {
        let mut folders = vec![(folder.to_path_buf(), String::new(), 0)];
        while let Some((path, namespace, depth)) = folders.pop() {
            // A folder that cannot be listed has no commands.
            for entry in files::list_dir(&path).unwrap_or_default() {
                let Some(stem) = entry.file_stem().and_then(|stem| stem.to_str()) else { continue };
                if entry.is_dir() {
                    if depth < DEEPEST && !stem.starts_with('.') {
                        folders.push((entry.clone(), format!("{namespace}{stem}:"), depth + 1));
                    }
                } else if entry.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md")) {
                    if let Some(reason) = places.refuses(&entry, origin) {
                        self.problems.push(format!("{}: {reason}", entry.display()));
                        continue;
                    }
                    self.add_file(&entry, &format!("{namespace}{stem}"), origin);
                }
            }
        }
    }

    fn add_file(&mut self, path: &Path, name: &str, origin: &Origin) {
        let name = match origin {
            Origin::Plugin { name: plugin, .. } => format!("{plugin}:{name}"),
            _ => name.to_owned(),
        };
        if name.chars().any(|c| c.is_whitespace() || c.is_control()) || name.len() > 100 {
            self.problems.push(format!("{}: the name of a command has no spaces", path.display()));
            return;
        }
        let read = match files::read_beginning(path, LONGEST as u64) {
            Ok(bytes) => FrontMatter::of(&String::from_utf8_lossy(&bytes)),
            Err(error) => {
                self.problems.push(error.to_string());
                return;
            }
        };
        if let Some(problem) = &read.problem {
            self.problems.push(format!("{}: {problem}", path.display()));
        }
        // Other agents write `[a] [b]` here, which YAML takes for a list.
        let hint = read.text("argument-hint").or_else(|| {
            let words = read.list("argument-hint");
            (!words.is_empty()).then(|| format!("[{}]", words.join(", ")))
        });
        self.add(SlashCommand {
            name,
            description: read.text("description"),
            argument_hint: hint,
            mode: read.text("mode"),
            model: read.text("model").filter(|model| model != "inherit"),
            allowed_tools: read.list("allowed-tools"),
            body: read.body.trim().to_owned(),
            origin: origin.at(path),
        });
    }

    /// The command of a name. One in a sub-folder is found by its last name too, where no other has that.
    pub fn get(&self, name: &str) -> Option<&SlashCommand> {
        let name = name.trim_start_matches('/');
        self.by_name.get(name).or_else(|| {
            let ending = format!(":{name}");
            let mut found = self.by_name.values().filter(|command| command.name.ends_with(&ending));
            found.next().filter(|_| found.next().is_none())
        })
    }

    pub fn all(&self) -> impl Iterator<Item = &SlashCommand> {
        self.by_name.values()
    }
}

/// A text as a message carries it. Nothing in the text ends it.
pub(crate) fn in_message(name: &str, text: &str) -> String {
    let text = text.replace("</command>", "</command");
    format!("{COMMAND_TEXT}\"{name}\">\n{}\n</command>", text.trim())
}
