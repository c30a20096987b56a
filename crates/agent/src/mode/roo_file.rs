//! Custom modes as Roo-Code writes them: `.roomodes` of a project and `custom_modes.yaml`, in YAML or JSON.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;
use stepwell_tool_runtime::{FilePattern, ToolGroup, Vocabulary};
use stepwell_workspace::files;

use super::{Mode, ModeGroup, ModeSource};
use crate::error::Result;
use crate::file_problem::FileProblem;

/// A file of modes larger than this is not read.
const LARGEST: usize = 1024 * 1024;
/// More modes than this are not taken from one file.
const MOST_MODES: usize = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileOfModes {
    custom_modes: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RooMode {
    slug: String,
    name: String,
    role_definition: String,
    when_to_use: Option<String>,
    description: Option<String>,
    custom_instructions: Option<String>,
    #[serde(default)]
    groups: Vec<RooGroup>,
    /// Not Roo-Code's: the model to switch to.
    model: Option<String>,
    /// Not Roo-Code's: the names of tools that the model is shown.
    vocabulary: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RooGroup {
    Name(String),
    WithFiles(String, RooFiles),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RooFiles {
    file_regex: Option<String>,
    description: Option<String>,
}

/// Reads a file of modes if it is there. A mode that is wrong is left out and told; the others are used.
pub fn read_roo_modes(path: &Path) -> Result<(Vec<Mode>, Vec<FileProblem>)> {
    if !path.is_file() {
        return Ok((Vec::new(), Vec::new()));
    }
    let bytes = files::read(path)?;
    let problem = |line, message| FileProblem { file: path.to_path_buf(), line, message };
    if bytes.len() > LARGEST {
        return Ok((
            Vec::new(),
            vec![problem(None, format!("larger than {} KB, so it is not read", LARGEST >> 10))],
        ));
    }
    Ok(parse(&cleaned(&String::from_utf8_lossy(&bytes)), path))
}

fn parse(text: &str, path: &Path) -> (Vec<Mode>, Vec<FileProblem>) {
    let problem = |line, message| FileProblem { file: path.to_path_buf(), line, message };
    // JSON is YAML too, but for tabs and some escapes.
    let file = match serde_json::from_str::<FileOfModes>(text) {
        Ok(file) => file,
        Err(_) => match serde_saphyr::from_str::<FileOfModes>(text) {
            Ok(file) => file,
            Err(error) => {
                let line = error.location().map(|place| place.line() as usize);
                let message = error.to_string();
                let message = message.lines().next().unwrap_or_default().to_owned();
                return (Vec::new(), vec![problem(line, format!("no file of modes: {message}"))]);
            }
        },
    };
    let (mut modes, mut problems) = (Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for value in file.custom_modes.into_iter().take(MOST_MODES) {
        let slug = value.get("slug").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        let line = line_of(text, &slug);
        match mode(value, path) {
            Ok(mode) if known.insert(mode.slug.clone()) => modes.push(mode),
            Ok(mode) => problems.push(problem(line, format!("the mode `{}` is there twice", mode.slug))),
            Err(message) => {
                let which = if slug.is_empty() { "a mode".to_owned() } else { format!("the mode `{slug}`") };
                problems.push(problem(line, format!("{which} is left out: {message}")));
            }
        }
    }
    (modes, problems)
}

fn mode(value: serde_json::Value, path: &Path) -> std::result::Result<Mode, String> {
    let read: RooMode = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let is_slug = |slug: &str| {
        !slug.is_empty() && slug.len() <= 64 && slug.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    if !is_slug(&read.slug) {
        return Err("`slug` may have letters, digits and hyphens only".to_owned());
    }
    let mut groups = Vec::new();
    for group in read.groups {
        let (name, files) = match group {
            RooGroup::Name(name) => (name, None),
            RooGroup::WithFiles(name, files) => (name, Some(files)),
        };
        // Roo-Code's group for switching modes; every mode may ask for that here.
        if name == "modes" {
            continue;
        }
        let group = ToolGroup::by_name(&name).ok_or_else(|| {
            let known: Vec<&str> = ToolGroup::ALL.into_iter().map(ToolGroup::name).collect();
            format!("there is no group `{name}`; known: {}", known.join(", "))
        })?;
        let pattern = files.and_then(|files| Some((files.file_regex?, files.description)));
        let files = pattern.map(|(regex, description)| FilePattern::new(&regex, description)).transpose()?;
        if group == ToolGroup::Command {
            // Roo-Code knows no debugger; who may run programs may run them under one.
            groups.push(ModeGroup { group: ToolGroup::Debug, files: None });
        }
        groups.push(ModeGroup { group, files });
    }
    Ok(Mode {
        slug: read.slug,
        name: read.name,
        role: read.role_definition,
        when_to_use: read.when_to_use,
        description: read.description,
        instructions: read.custom_instructions,
        groups,
        shown_tools: Vec::new(),
        model: read.model,
        vocabulary: read.vocabulary.map_or(Ok(Vocabulary::default()), |name| super::vocabulary(&name))?,
        source: ModeSource::File(path.to_path_buf()),
    })
}

/// The line that names a mode.
fn line_of(text: &str, slug: &str) -> Option<usize> {
    if slug.is_empty() {
        return None;
    }
    let is_it = |line: &str| line.contains("slug") && line.contains(slug);
    text.lines().position(is_it).map(|line| line + 1)
}

/// Removes what editors put into such files by mistake: a byte order mark, typographic quotes, unusual spaces.
fn cleaned(text: &str) -> String {
    text.trim_start_matches('\u{feff}')
        .chars()
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201c}' | '\u{201d}' => '"',
            '\u{a0}' => ' ',
            c => c,
        })
        .collect()
}

#[cfg(test)]
#[path = "roo_file_tests.rs"]
mod tests;
