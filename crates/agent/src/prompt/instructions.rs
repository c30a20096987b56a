//! Instructions the user and the project give: from the settings and from files other agents read too.
//!
//! Order, the later the stronger: the user's settings, `~/.claude/CLAUDE.md` with its rules, `AGENTS.md` of the user,
//! the user's `~/.roo/rules*`, then for each folder from the repository's root down to the workspace `AGENTS.md` (or
//! `CLAUDE.md` where there is none), then the rules folders for every mode and for this one.
//!
//! What lies below the workspace comes with `nested`, when a tool first touches a file there.

mod imports;
mod nested;
mod rules;

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use stepwell_workspace::files;

pub use nested::nested;

use crate::error::Result;
use imports::{ImportScope, imports};

/// A single file may not fill the model's window.
const FILE_LIMIT: usize = 64 * 1024;
/// All files together; later ones are left out and told.
const TOTAL_LIMIT: usize = 256 * 1024;
/// How far imports are followed from file to file.
const IMPORT_HOPS: usize = 4;
const MOST_IMPORTS: usize = 50;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    pub language: Option<String>,
    pub items: Vec<Instruction>,
    /// A file that takes the place of the built-in prompt for this mode.
    pub replacement: Option<Instruction>,
    /// Files that were not read, and why.
    pub skipped: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub source: InstructionSource,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstructionSource {
    Settings,
    /// Of the mode with this name.
    Mode(String),
    File(PathBuf),
    CommandLine,
}

impl fmt::Display for InstructionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings => f.write_str("the settings"),
            Self::Mode(slug) => write!(f, "the mode `{slug}`"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::CommandLine => f.write_str("the command line"),
        }
    }
}

/// Says which ignore file or rule hides a file of the project, where one does.
#[derive(Clone, Copy)]
pub struct HiddenBy<'a>(pub &'a (dyn Fn(&Path) -> Option<String> + 'a));

impl HiddenBy<'_> {
    /// Hides nothing.
    pub const NOTHING: HiddenBy<'static> = HiddenBy(&|_| None);
}

impl fmt::Debug for HiddenBy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HiddenBy")
    }
}

/// Where to look.
#[derive(Clone, Debug)]
pub struct InstructionPlaces<'a> {
    /// The folder of the user's settings.
    pub config_dir: &'a Path,
    /// The user's home, for `.roo` and `.claude`.
    pub user_home: Option<&'a Path>,
    pub workspace: &'a Path,
    pub extra_roots: &'a [PathBuf],
    pub mode: &'a str,
    /// From the settings.
    pub text: Option<&'a str>,
    pub language: Option<&'a str>,
    /// Whether the project may replace the built-in prompt.
    pub trusted: bool,
    pub hidden: HiddenBy<'a>,
}

/// Reads everything there is; files that cannot be read are errors, missing ones are not.
pub fn load(places: &InstructionPlaces<'_>) -> Result<Instructions> {
    let mut loader = Loader::new(places);
    loader.found.language = places.language.map(str::to_owned);
    if let Some(text) = places.text.filter(|text| !text.trim().is_empty()) {
        loader.found.items.push(Instruction { source: InstructionSource::Settings, text: text.to_owned() });
    }
    let mode = places.mode;
    if let Some(home) = places.user_home {
        loader.add_first(&[home.join(".claude/CLAUDE.md")], Owner::Person)?;
        loader.add_claude_rules(&home.join(".claude/rules"), Owner::Person)?;
    }
    loader.add_first(&[places.config_dir.join("AGENTS.md")], Owner::Person)?;
    if let Some(home) = places.user_home {
        for folder in [home.join(".roo/rules"), home.join(format!(".roo/rules-{mode}"))] {
            loader.add_folder(&folder, Owner::Person)?;
        }
    }
    for folder in folders_down_to(places.workspace) {
        loader.add_of_folder(&folder)?;
    }
    let workspace = places.workspace;
    loader.add_claude_rules(&workspace.join(".claude/rules"), Owner::Project)?;
    for ending in [String::new(), format!("-{mode}")] {
        // The files are older forms of the folder.
        if !loader.add_folder(&workspace.join(format!(".roo/rules{ending}")), Owner::Project)? {
            loader.add_first(&[workspace.join(format!(".roorules{ending}"))], Owner::Project)?;
            let older = workspace.join(format!(".clinerules{ending}"));
            if !loader.add_folder(&older, Owner::Project)? {
                loader.add_first(&[older], Owner::Project)?;
            }
        }
    }
    loader.find_replacement()?;
    Ok(loader.found)
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Person,
    /// What a repository links to from elsewhere is not the repository's to show.
    Project,
}

struct Loader<'a> {
    places: &'a InstructionPlaces<'a>,
    /// The repository, without links.
    root: PathBuf,
    found: Instructions,
    /// Files that were read, without links.
    known: HashSet<PathBuf>,
    bytes: usize,
    imported: usize,
}

impl<'a> Loader<'a> {
    fn new(places: &'a InstructionPlaces<'a>) -> Self {
        let root = repository_root(places.workspace);
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        Self { places, root, found: Instructions::default(), known: HashSet::new(), bytes: 0, imported: 0 }
    }

    /// Adds the files of one folder of the repository.
    fn add_of_folder(&mut self, folder: &Path) -> Result<()> {
        let names = ["AGENTS.md", "AGENT.md", "CLAUDE.md", ".claude/CLAUDE.md"];
        self.add_first(&names.map(|name| folder.join(name)), Owner::Project)?;
        let local = ["AGENTS.local.md", "CLAUDE.local.md"];
        self.add_first(&local.map(|name| folder.join(name)), Owner::Project)
    }

    /// Adds the first of the files that exists.
    fn add_first(&mut self, paths: &[PathBuf], owner: Owner) -> Result<()> {
        for path in paths {
            if self.add(path, owner)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Adds every file of a folder of rules; `false` when it has none.
    fn add_folder(&mut self, folder: &Path, owner: Owner) -> Result<bool> {
        let mut any = false;
        for path in rules::files_below(folder)? {
            any |= self.add(&path, owner)?;
        }
        Ok(any)
    }

    /// Adds the rules that hold for every file.
    fn add_claude_rules(&mut self, folder: &Path, owner: Owner) -> Result<()> {
        for path in rules::markdown_below(folder)? {
            let Some(read) = self.read(&path, owner)? else { continue };
            let (text, globs) = rules::scoped(&read.text);
            if globs.is_empty() && !text.trim().is_empty() {
                self.take(&path, Instruction { text, ..read }, owner)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, owner: Owner) -> Result<bool> {
        let Some(read) = self.read(path, owner)? else { return Ok(false) };
        self.take(path, read, owner)?;
        Ok(true)
    }

    /// Keeps what was read, and what it imports.
    fn take(&mut self, path: &Path, read: Instruction, owner: Owner) -> Result<()> {
        if !self.known.insert(path.canonicalize().unwrap_or_else(|_| path.to_path_buf())) {
            return Ok(());
        }
        if self.bytes + read.text.len() > TOTAL_LIMIT {
            let limit = TOTAL_LIMIT >> 10;
            let told = format!("{}: all instructions together are longer than {limit} KB", path.display());
            self.found.skipped.push(told);
            return Ok(());
        }
        self.bytes += read.text.len();
        let has_imports = is_claude_file(path);
        let text = if has_imports { read.text.clone() } else { String::new() };
        self.found.items.push(read);
        if has_imports {
            self.follow_imports(path, &text, owner, IMPORT_HOPS)?;
        }
        Ok(())
    }

    fn follow_imports(&mut self, from: &Path, text: &str, owner: Owner, hops: usize) -> Result<()> {
        let scope = ImportScope {
            repository: (owner == Owner::Project).then_some(self.root.as_path()),
            user_home: self.places.user_home,
            config_dir: self.places.config_dir,
        };
        let mut targets = Vec::new();
        let mut refused = Vec::new();
        for written in imports(text) {
            let Some(path) = scope.target(from, &written) else { continue };
            // What is no file was no import: people are mentioned in the same way.
            let Some(real) = path.canonicalize().ok().filter(|real| real.is_file()) else { continue };
            match scope.refuses(&real) {
                None => targets.push(real),
                Some(reason) => {
                    refused.push(format!("{} (imported by {}): {reason}", path.display(), from.display()));
                }
            }
        }
        self.found.skipped.extend(refused);
        for path in targets {
            if self.known.contains(&path) {
                continue;
            }
            if hops == 0 || self.imported >= MOST_IMPORTS {
                let told = format!(
                    "{}: imports are followed over {IMPORT_HOPS} files in a row and {MOST_IMPORTS} in all",
                    path.display()
                );
                self.found.skipped.push(told);
                continue;
            }
            self.imported += 1;
            // The scope was looked at; a file of the person that a project imports lies outside of the repository.
            let inside = path.starts_with(&self.root);
            let Some(read) = self.read(&path, if inside { owner } else { Owner::Person })? else { continue };
            self.known.insert(path.clone());
            if self.bytes + read.text.len() > TOTAL_LIMIT {
                self.found.skipped.push(format!("{}: the instructions are too long already", path.display()));
                continue;
            }
            self.bytes += read.text.len();
            let text = read.text.clone();
            self.found.items.push(read);
            self.follow_imports(&path, &text, owner, hops - 1)?;
        }
        Ok(())
    }

    fn find_replacement(&mut self) -> Result<()> {
        let (workspace, mode) = (self.places.workspace, self.places.mode);
        for path in [
            workspace.join(format!(".stepwell/system-prompt-{mode}.md")),
            workspace.join(format!(".roo/system-prompt-{mode}")),
        ] {
            if !self.places.trusted && path.is_file() {
                self.found.skipped.push(format!("{}: the folder is not trusted", path.display()));
                continue;
            }
            if let Some(item) = self.read(&path, Owner::Project)? {
                self.found.replacement = Some(item);
                break;
            }
        }
        Ok(())
    }

    /// Reads a file if it is there, and if it is the owner's to show.
    fn read(&mut self, path: &Path, owner: Owner) -> Result<Option<Instruction>> {
        if owner == Owner::Project && path.is_file() {
            let real = path.canonicalize().ok();
            if !real.as_ref().is_some_and(|real| self.is_inside(real)) {
                let told = format!("{}: a link that leads outside the repository", path.display());
                self.found.skipped.push(told);
                return Ok(None);
            }
            if let Some(by) = real.and_then(|real| (self.places.hidden.0)(&real)) {
                self.found.skipped.push(format!("{}: hidden by {by}", path.display()));
                return Ok(None);
            }
        }
        read_instruction(path)
    }

    fn is_inside(&self, real: &Path) -> bool {
        real.starts_with(&self.root) || self.places.extra_roots.iter().any(|root| real.starts_with(root))
    }
}

/// Whether a file is one of those in which Claude Code follows imports.
fn is_claude_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("CLAUDE.") || path.ancestors().any(|folder| folder.ends_with(".claude/rules"))
}

/// The root of the repository: the nearest folder with `.git`, or the workspace itself.
fn repository_root(workspace: &Path) -> &Path {
    workspace.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(workspace)
}

/// From the root of the repository down to the workspace itself.
fn folders_down_to(workspace: &Path) -> Vec<PathBuf> {
    let root = repository_root(workspace);
    let mut folders: Vec<PathBuf> =
        workspace.ancestors().take_while(|folder| folder.starts_with(root)).map(Path::to_path_buf).collect();
    folders.reverse();
    folders
}

fn read_instruction(path: &Path) -> Result<Option<Instruction>> {
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = files::read_beginning(path, FILE_LIMIT as u64 + 4)?;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if text.trim().is_empty() {
        return Ok(None);
    }
    if text.len() > FILE_LIMIT {
        text.truncate(text.floor_char_boundary(FILE_LIMIT));
        text.push_str("\n[the rest of this file is too long and was left out]");
    }
    Ok(Some(Instruction { source: InstructionSource::File(path.to_path_buf()), text }))
}

#[cfg(test)]
#[path = "instructions_tests.rs"]
mod tests;
