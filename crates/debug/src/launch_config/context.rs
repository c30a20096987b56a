//! What a configuration is resolved against: folders, editor, environment, answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::secrets::{SecretUse, Secrets, placeholder};
use super::settings::Settings;

/// Everything variables can stand for. All of it is given, so the same configuration resolves the same everywhere.
#[derive(Clone, Debug)]
pub struct Context {
    /// The folder whose configuration it is.
    pub folder: PathBuf,
    /// All folders of the workspace, for `${workspaceFolder:name}`.
    pub folders: Vec<WorkspaceFolder>,
    pub editor: Editor,
    /// Answers for `${input:...}` by id.
    pub inputs: BTreeMap<String, String>,
    /// Values for `${command:...}` by the command's name.
    pub commands: BTreeMap<String, String>,
    pub environment: BTreeMap<String, String>,
    pub secrets: SecretUse,
    pub settings: Settings,
    pub home: Option<PathBuf>,
    /// The program that stands for the editor.
    pub exec_path: Option<PathBuf>,
    pub platform: Platform,
    /// Whether the person trusts the folder: else no interpreter and no tool that lies in it is chosen.
    pub trusted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceFolder {
    pub name: String,
    pub path: PathBuf,
}

impl WorkspaceFolder {
    /// A folder bears its own name unless a workspace file gives it another.
    pub fn at(path: &Path) -> Self {
        Self { name: base_name(path), path: path.to_path_buf() }
    }
}

/// What an editor would have open. Without one, variables about it are errors unless they are given here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Editor {
    pub file: Option<PathBuf>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub selected_text: Option<String>,
}

/// Which of a configuration's `linux`, `osx` and `windows` keys holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    Linux,
    MacOs,
    Windows,
}

impl Platform {
    pub const fn current() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }

    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::MacOs => "osx",
            Self::Windows => "windows",
        }
    }
}

impl Context {
    /// A context of one folder and an environment; the rest is set field by field.
    pub fn new(folder: &Path, environment: BTreeMap<String, String>) -> Self {
        Self {
            folder: folder.to_path_buf(),
            folders: vec![WorkspaceFolder::at(folder)],
            editor: Editor::default(),
            inputs: BTreeMap::new(),
            commands: BTreeMap::new(),
            settings: Settings::default(),
            home: environment.get("HOME").map(PathBuf::from),
            environment,
            secrets: SecretUse::Plain,
            exec_path: None,
            platform: Platform::current(),
            trusted: true,
        }
    }

    /// The values of variables that stay placeholders.
    pub(crate) fn secret_values(&self) -> Secrets {
        let SecretUse::Held(names) = &self.secrets else { return Secrets::default() };
        let value = |name: &String| Some((placeholder(name), self.environment.get(name)?.clone()));
        names.iter().filter_map(value).collect()
    }

    /// The path as seen from the folder.
    pub(crate) fn absolute(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// The program of that name on the context's own search path.
    pub(crate) fn on_path(&self, name: &str) -> Option<PathBuf> {
        let path = self.environment.get("PATH")?;
        path.split(':')
            .filter(|folder| folder.starts_with('/'))
            .map(|folder| Path::new(folder).join(name))
            .find(|program| is_file(program))
    }
}

pub(crate) fn is_file(path: &Path) -> bool {
    stepwell_workspace::files::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

pub(crate) fn is_dir(path: &Path) -> bool {
    stepwell_workspace::files::metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

pub(super) fn base_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
