//! Where settings and data live.

use std::path::{Path, PathBuf};

/// The folders of this user on this machine. Nothing is created by looking.
#[derive(Clone, Debug)]
pub struct Places {
    pub config: PathBuf,
    /// Tasks, checkpoints and indexes. A folder of its own for a run that keeps nothing.
    pub data: PathBuf,
    /// What every run shares and leaves in order: installed debug adapters, edits that a crash cut off.
    pub shared: PathBuf,
    /// What may be lost: log files.
    pub state: PathBuf,
    pub user_home: Option<PathBuf>,
}

impl Places {
    /// `STEPWELL_CONFIG` and `STEPWELL_HOME` come first, then the XDG folders, then the usual ones below `$HOME`.
    pub fn find() -> anyhow::Result<Self> {
        for name in ["STEPWELL_CONFIG", "STEPWELL_HOME"] {
            if let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty())
                && !Path::new(&value).is_absolute()
            {
                return Err(crate::report::usage(
                    format!("{name} is `{}`, which is no absolute path", value.display()),
                    "give the whole path of the folder",
                ));
            }
        }
        let folder = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let user_home = folder("HOME");
        let below = |own: &str, xdg: &str, usual: &str| {
            folder(own)
                .or_else(|| folder(xdg).map(|path| path.join("stepwell")))
                .or_else(|| user_home.as_ref().map(|home| home.join(usual).join("stepwell")))
                .ok_or_else(|| {
                    crate::report::usage(
                        format!("neither {own} nor HOME names an absolute folder"),
                        "set HOME, or STEPWELL_HOME and STEPWELL_CONFIG",
                    )
                })
        };
        let data = below("STEPWELL_HOME", "XDG_DATA_HOME", ".local/share")?;
        let state = folder("XDG_STATE_HOME")
            .or_else(|| user_home.as_ref().map(|home| home.join(".local/state")))
            .map_or_else(|| data.join("state"), |path| path.join("stepwell"));
        Ok(Self {
            config: below("STEPWELL_CONFIG", "XDG_CONFIG_HOME", ".config")?,
            shared: data.clone(),
            data,
            state,
            user_home,
        })
    }

    /// The same places with another folder for what tasks leave behind.
    pub fn with_data(self, data: PathBuf) -> Self {
        Self { data, ..self }
    }

    pub fn managed_settings() -> PathBuf {
        PathBuf::from("/etc/stepwell/config.toml")
    }

    pub fn user_settings(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The project a workspace belongs to: the nearest folder with settings, up to the repository's root.
    pub fn project(workspace: &Path) -> &Path {
        let root = workspace.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(workspace);
        workspace
            .ancestors()
            .take_while(|folder| folder.starts_with(root))
            .find(|folder| folder.join(".stepwell").is_dir())
            .unwrap_or(workspace)
    }

    pub fn project_settings(project: &Path) -> PathBuf {
        project.join(".stepwell/config.toml")
    }

    pub fn keys(&self) -> PathBuf {
        self.config.join("keys.toml")
    }

    pub fn log_file(&self) -> PathBuf {
        self.state.join("stepwell.log")
    }

    pub fn trusted_folders(&self) -> PathBuf {
        self.config.join("trusted-folders")
    }
}
