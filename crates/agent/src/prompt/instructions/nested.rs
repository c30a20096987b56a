//! Instructions of folders below the workspace, and rules for some files: they come when a tool touches such a file.

use std::path::{Path, PathBuf};

use super::{
    Instruction, InstructionPlaces, InstructionSource, Instructions, Loader, Owner, repository_root, rules,
};
use crate::error::Result;

/// Touched files that are looked at in one call; a task that touches more is told of the others with later ones.
const MOST_TOUCHED: usize = 200;

/// The instructions that files bring along which tools have touched. The nearest folder comes last, because where two
/// disagree the later one counts.
pub fn nested(places: &InstructionPlaces<'_>, touched: &[PathBuf]) -> Result<Instructions> {
    let mut loader = Loader::new(places);
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in touched.iter().take(MOST_TOUCHED) {
        for folder in folders_below_roots(places, path) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    // Outer folders before inner ones, whichever file was touched first.
    folders.sort_by_key(|folder| folder.components().count());
    for folder in folders {
        loader.add_of_folder(&folder)?;
        loader.add_claude_rules(&folder.join(".claude/rules"), Owner::Project)?;
    }
    add_rules_for(&mut loader, touched)?;
    Ok(loader.found)
}

/// Adds the rules whose `paths:` match a touched file.
fn add_rules_for(loader: &mut Loader<'_>, touched: &[PathBuf]) -> Result<()> {
    let places = loader.places;
    let root = repository_root(places.workspace).to_path_buf();
    let home = places.user_home.map(|home| (home.join(".claude/rules"), Owner::Person));
    let own = [(places.workspace.join(".claude/rules"), Owner::Project)];
    for (folder, owner) in home.into_iter().chain(own) {
        for path in rules::markdown_below(&folder)? {
            let Some(read) = loader.read(&path, owner)? else { continue };
            let (text, globs) = rules::scoped(&read.text);
            let is_for = |file: &PathBuf| {
                let from =
                    |base: &Path| file.strip_prefix(base).is_ok_and(|rest| rules::matches(&globs, rest));
                from(&root) || from(places.workspace)
            };
            if !globs.is_empty() && !text.trim().is_empty() && touched.iter().take(MOST_TOUCHED).any(is_for) {
                let source = InstructionSource::File(path.clone());
                loader.take(&path, Instruction { source, text }, owner)?;
            }
        }
    }
    Ok(())
}

/// The folders of a file that no task was told of at its start.
fn folders_below_roots(places: &InstructionPlaces<'_>, file: &Path) -> Vec<PathBuf> {
    let Some(folder) = file.parent() else { return Vec::new() };
    let within = |root: &Path| -> Vec<PathBuf> {
        folder.ancestors().take_while(|above| above.starts_with(root)).map(Path::to_path_buf).collect()
    };
    if folder.starts_with(places.workspace) {
        let mut folders = within(places.workspace);
        folders.retain(|folder| folder != places.workspace);
        return folders;
    }
    places
        .extra_roots
        .iter()
        .find(|root| folder.starts_with(root))
        .map(|root| within(root))
        .unwrap_or_default()
}
