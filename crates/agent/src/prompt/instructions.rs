//! Instructions the user and the project give: from the settings and from files other agents read too.
//!
//! Order, the later the stronger: the user's settings, `AGENTS.md` of the user, then for each folder from the
//! repository's root down to the workspace `AGENTS.md` (or `CLAUDE.md` where there is none), then the rules
//! folders for every mode and for this one.

use std::fmt;
use std::path::{Path, PathBuf};

use stepwell_workspace::files;

use crate::error::Result;

/// A single file may not fill the model's window.
const FILE_LIMIT: usize = 64 * 1024;

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

/// Where to look.
#[derive(Clone, Debug)]
pub struct InstructionPlaces<'a> {
    /// The folder of the user's settings.
    pub config_dir: &'a Path,
    /// The user's home, for `.roo` and `.claude`.
    pub user_home: Option<&'a Path>,
    pub workspace: &'a Path,
    pub mode: &'a str,
    /// From the settings.
    pub text: Option<&'a str>,
    pub language: Option<&'a str>,
    /// Whether the project may replace the built-in prompt.
    pub trusted: bool,
}

/// Reads everything there is; files that cannot be read are errors, missing ones are not.
pub fn load(places: &InstructionPlaces<'_>) -> Result<Instructions> {
    let mut found = Instructions { language: places.language.map(str::to_owned), ..Instructions::default() };
    if let Some(text) = places.text.filter(|text| !text.trim().is_empty()) {
        found.items.push(Instruction { source: InstructionSource::Settings, text: text.to_owned() });
    }
    found.add_first(&[places.config_dir.join("AGENTS.md")], None)?;
    if let Some(home) = places.user_home {
        found.add_rules(&home.join(".roo"), places.mode, None)?;
    }
    let folders = folders_down_to(places.workspace);
    // What a repository links to from elsewhere is not the repository's to show.
    let root = folders.first().map(|root| root.canonicalize().unwrap_or_else(|_| root.clone()));
    let root = root.as_deref();
    for folder in &folders {
        found.add_first(
            &[
                folder.join("AGENTS.md"),
                folder.join("AGENT.md"),
                folder.join("CLAUDE.md"),
                folder.join(".claude/CLAUDE.md"),
            ],
            root,
        )?;
        found.add_first(&[folder.join("AGENTS.local.md"), folder.join("CLAUDE.local.md")], root)?;
    }
    found.add_rules(&places.workspace.join(".roo"), places.mode, root)?;
    for name in [".roorules", ".clinerules"] {
        found.add_first(&[places.workspace.join(name)], root)?;
        found.add_first(&[places.workspace.join(format!("{name}-{}", places.mode))], root)?;
    }
    for path in [
        places.workspace.join(format!(".stepwell/system-prompt-{}.md", places.mode)),
        places.workspace.join(format!(".roo/system-prompt-{}", places.mode)),
    ] {
        if !places.trusted && path.is_file() {
            found.skipped.push(format!("{}: the folder is not trusted", path.display()));
            continue;
        }
        if let Some(item) = found.read(&path, root)? {
            found.replacement = Some(item);
            break;
        }
    }
    Ok(found)
}

impl Instructions {
    /// Adds the first of the files that exists.
    fn add_first(&mut self, paths: &[PathBuf], within: Option<&Path>) -> Result<()> {
        for path in paths {
            if let Some(item) = self.read(path, within)? {
                self.items.push(item);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Adds `rules/*` and `rules-MODE/*` of a `.roo` folder, by name.
    fn add_rules(&mut self, roo: &Path, mode: &str, within: Option<&Path>) -> Result<()> {
        for folder in [roo.join("rules"), roo.join(format!("rules-{mode}"))] {
            for path in files::list_dir(&folder)? {
                if let Some(item) = self.read(&path, within)? {
                    self.items.push(item);
                }
            }
        }
        Ok(())
    }

    /// Reads a file if it is there, and if no link leads from it to outside the repository.
    fn read(&mut self, path: &Path, within: Option<&Path>) -> Result<Option<Instruction>> {
        if let Some(root) = within
            && path.is_file()
            && !path.canonicalize().is_ok_and(|real| real.starts_with(root))
        {
            self.skipped.push(format!("{}: a link that leads outside the repository", path.display()));
            return Ok(None);
        }
        read_instruction(path)
    }
}

/// From the root of the repository (the nearest folder with `.git`) down to the workspace itself.
fn folders_down_to(workspace: &Path) -> Vec<PathBuf> {
    let root = workspace.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(workspace);
    let mut folders: Vec<PathBuf> =
        workspace.ancestors().take_while(|folder| folder.starts_with(root)).map(Path::to_path_buf).collect();
    folders.reverse();
    folders
}

fn read_instruction(path: &Path) -> Result<Option<Instruction>> {
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = files::read(path)?;
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
#[allow(clippy::disallowed_methods, reason = "tests lay out their own files")]
mod tests {
    use std::fs;

    use expect_test::{Expect, expect};

    use super::*;

    /// Lays out files, loads from `workspace`, and shows the sources in order.
    fn check(layout: &[&str], workspace: &str, expected: Expect) {
        let dir = tempfile::tempdir().unwrap();
        for path in layout {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("say {}", path.file_name().unwrap().display())).unwrap();
        }
        fs::create_dir_all(dir.path().join("repo/.git")).unwrap();
        let workspace = dir.path().join(workspace);
        fs::create_dir_all(&workspace).unwrap();
        let found = load(&InstructionPlaces {
            config_dir: &dir.path().join("config"),
            user_home: Some(&dir.path().join("home")),
            workspace: &workspace,
            mode: "code",
            text: None,
            language: None,
            trusted: true,
        })
        .unwrap();
        let mut shown = String::new();
        for item in found.items.iter().chain(&found.replacement) {
            shown.push_str(&item.source.to_string().replace(&format!("{}/", dir.path().display()), ""));
            shown.push('\n');
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn nearest_comes_last() {
        check(
            &["AGENTS.md", "repo/AGENTS.md", "repo/a/b/AGENTS.md", "config/AGENTS.md"],
            "repo/a/b",
            expect![[r"
                config/AGENTS.md
                repo/AGENTS.md
                repo/a/b/AGENTS.md
            "]],
        );
    }

    #[test]
    fn claude_is_read_where_there_is_no_agents_file() {
        check(
            &["repo/AGENTS.md", "repo/CLAUDE.md", "repo/a/CLAUDE.md"],
            "repo/a",
            expect![[r"
                repo/AGENTS.md
                repo/a/CLAUDE.md
            "]],
        );
    }

    #[test]
    fn rules_of_this_mode_and_of_all_modes() {
        check(
            &[
                "repo/.roo/rules/b.md",
                "repo/.roo/rules/a.md",
                "repo/.roo/rules-code/c.md",
                "repo/.roo/rules-ask/d.md",
                "home/.roo/rules/e.md",
                "repo/.stepwell/system-prompt-code.md",
            ],
            "repo",
            expect![[r"
                home/.roo/rules/e.md
                repo/.roo/rules/a.md
                repo/.roo/rules/b.md
                repo/.roo/rules-code/c.md
                repo/.stepwell/system-prompt-code.md
            "]],
        );
    }

    #[test]
    fn links_that_lead_out_of_the_repository_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (repo, secret) = (dir.path().join("repo"), dir.path().join("secret"));
        fs::create_dir_all(repo.join(".git")).unwrap();
        fs::create_dir_all(repo.join("docs")).unwrap();
        fs::write(&secret, "the secret").unwrap();
        fs::write(repo.join("docs/rules.md"), "inside").unwrap();
        std::os::unix::fs::symlink(&secret, repo.join("AGENTS.md")).unwrap();
        std::os::unix::fs::symlink("docs/rules.md", repo.join(".clinerules")).unwrap();
        let found = load(&InstructionPlaces {
            config_dir: dir.path(),
            user_home: None,
            workspace: &repo,
            mode: "code",
            text: None,
            language: None,
            trusted: false,
        })
        .unwrap();
        let texts: Vec<&str> = found.items.iter().map(|item| item.text.as_str()).collect();
        assert_eq!(texts, ["inside"]);
        assert!(found.skipped[0].contains("AGENTS.md"), "{:?}", found.skipped);
    }
}
