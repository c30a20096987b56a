//! The one place where the parts are put together: settings, models, tools, store, engine.

pub mod code;
pub mod confinement;
pub mod debugging;
pub mod embeddings;
mod images;
mod library;
mod lookup;
pub mod mcp;
mod private;
mod repository;
mod resources;
mod setup;
pub mod skill_pins;
pub mod variables;
mod workspaces;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_agent::{Engine, EngineOptions, WorkspaceSource};
use stepwell_store::Home;
use stepwell_tool_runtime::Redactor;
use stepwell_workspace::Workspace;

use crate::keys;
use crate::language::Language;
use crate::models::Models;
use crate::report;
use crate::settings::{Places, Settings, SettingsLayer};
use crate::terminal::{self, Style};

pub use library::{FolderLibrary, library_places};
pub use workspaces::{OpenWorkspace, RequestAdditions, Workspaces};

pub struct AssemblyOptions {
    pub workspace: PathBuf,
    pub extra_roots: Vec<PathBuf>,
    pub command_line: SettingsLayer,
    /// Where the model's answers are recorded.
    pub record: Option<PathBuf>,
}

/// Everything a door needs, put together on demand.
pub struct Assembly {
    pub workspace: PathBuf,
    pub places: Arc<Places>,
    pub settings: Arc<Settings>,
    home: Home,
    workspaces: Arc<Workspaces>,
    redactor: Arc<Redactor>,
}

impl Assembly {
    pub fn new(options: AssemblyOptions) -> anyhow::Result<Self> {
        Self::in_places(Places::find()?, options, RequestAdditions::default())
    }

    /// An assembly for given folders, with additions to every request.
    pub fn in_places(
        places: Places,
        options: AssemblyOptions,
        additions: RequestAdditions,
    ) -> anyhow::Result<Self> {
        let settings = Settings::load(&places, &options.workspace, options.command_line.clone())?;
        Language::settle(settings.language().as_deref());
        Ok(Self::of(places, settings, options, additions))
    }

    /// The current folder with what of its settings can be used, and what is wrong with the rest: for looking, not
    /// for working, because a rule may be missing.
    pub fn for_diagnosis() -> anyhow::Result<(Self, Vec<anyhow::Error>)> {
        Self::for_diagnosis_of(Places::find()?, &workspace_root(None)?)
    }

    /// The same for another folder.
    pub fn for_diagnosis_of(places: Places, root: &Path) -> anyhow::Result<(Self, Vec<anyhow::Error>)> {
        let options = Self::nothing_more(root.to_path_buf());
        let (settings, problems) = Settings::load_usable(&places, &options.workspace)?;
        Language::settle(settings.language().as_deref());
        Ok((Self::of(places, settings, options, RequestAdditions::default()), problems))
    }

    fn of(places: Places, settings: Settings, options: AssemblyOptions, additions: RequestAdditions) -> Self {
        let home = Home::new(&places.data);
        let redactor = crate::logging::redactor();
        redactor.add_secrets(keys::all_known(&places, &settings));
        redactor.add_secrets(variables::known_values(&places));
        let places = Arc::new(places);
        let workspaces = Workspaces::new(
            Arc::clone(&places),
            options.command_line,
            options.extra_roots,
            options.record,
            Arc::clone(&redactor),
        )
        .with_additions(additions);
        Self {
            workspace: options.workspace,
            places,
            settings: Arc::new(settings),
            home,
            workspaces: Arc::new(workspaces),
            redactor,
        }
    }

    /// The current folder, with nothing from the command line.
    pub fn here() -> anyhow::Result<Self> {
        Self::in_folder(None)
    }

    /// A folder, or the current one, with nothing from the command line.
    pub fn in_folder(folder: Option<&Path>) -> anyhow::Result<Self> {
        Self::new(Self::nothing_more(workspace_root(folder)?))
    }

    fn nothing_more(workspace: PathBuf) -> AssemblyOptions {
        AssemblyOptions {
            workspace,
            extra_roots: Vec::new(),
            command_line: SettingsLayer::default(),
            record: None,
        }
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Says what the project's settings wanted and did not get.
    pub fn tell_withheld(&self) {
        if !self.settings.withheld.is_empty() {
            let style = Style::for_stderr();
            let language = Language::choose(self.settings.language().as_deref());
            let withheld = self.settings.withheld.join(", ");
            let what = format!("this folder's own settings may not decide: {withheld}");
            let hint = "look at what it says, then run `stepwell config trust`";
            let (what, hint) = (language.say(&what), language.say(hint));
            terminal::error_line(&format!(
                "{} {what}\n\n{} {hint}",
                style.yellow(language.warning()),
                style.cyan(language.hint()),
            ));
        }
    }

    /// Commands, skills and instructions of the workspace.
    pub fn library(&self) -> FolderLibrary {
        FolderLibrary {
            places: Arc::clone(&self.places),
            settings: Arc::clone(&self.settings),
            root: self.workspace.clone(),
            extra_roots: Vec::new(),
        }
    }

    pub fn models(&self) -> Models {
        self.workspaces.models(&self.settings, &self.workspace)
    }

    /// The workspace as tools see it.
    pub fn open_workspace(&self) -> anyhow::Result<Workspace> {
        self.workspaces.open_folder(&self.settings, &self.workspace)
    }

    /// The workspace with its services.
    pub fn open(&self) -> anyhow::Result<OpenWorkspace> {
        self.workspaces.open(&self.workspace)
    }

    /// Connects an open workspace to the MCP servers that the settings name. It waits for none of them.
    pub fn connect(&self, workspace: &OpenWorkspace) {
        self.workspaces.connect(workspace);
    }

    /// Vectors of the code of this workspace, where the settings name a server for them.
    pub fn embeddings(&self) -> anyhow::Result<Option<Arc<stepwell_code_intel::embeddings::Embeddings>>> {
        let denied = self.workspaces.denied_reads(&self.settings, &self.workspace)?;
        embeddings::embeddings(&self.places, &self.settings, &self.redactor, &self.workspace, denied)
    }

    pub fn engine(&self) -> Engine {
        self.engine_with(EngineOptions::default())
    }

    pub fn engine_with(&self, options: EngineOptions) -> Engine {
        let workspaces: Arc<dyn WorkspaceSource> = Arc::clone(&self.workspaces) as _;
        Engine::new(self.home.clone(), workspaces, options)
    }
}

/// Says what is wrong with settings that can be used all the same.
fn tell_warnings(settings: &Settings, warnings: &[String]) {
    let style = Style::for_stderr();
    let language = Language::choose(settings.language().as_deref());
    for warning in warnings {
        terminal::error_line(&format!("{} {}", style.yellow(language.warning()), terminal::visible(warning)));
    }
}

/// Where the indexes of code are kept.
pub fn code_indexes(places: &Places) -> PathBuf {
    places.data.join("code")
}

/// The folder to work in: the given one or the current one, absolute and without links.
pub fn workspace_root(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let path = match given {
        Some(path) => path.to_path_buf(),
        None => current_dir()?,
    };
    let root = path.canonicalize().map_err(|error| {
        report::usage(format!("cannot work in `{}`: {error}", path.display()), "give a folder that exists")
    })?;
    if root.to_str().is_none() {
        return Err(report::usage(
            format!("the path `{}` is not UTF-8", root.display()),
            "rename the folder, or reach it by another path",
        ));
    }
    if !root.is_dir() {
        return Err(report::usage(
            format!("`{}` is no folder", root.display()),
            "give the folder of the project",
        ));
    }
    Ok(root)
}

/// The folder the command was given in.
pub fn current_dir() -> anyhow::Result<PathBuf> {
    std::env::current_dir().map_err(|error| {
        report::usage(
            format!("the current folder cannot be used: {error}"),
            "change into a folder that exists",
        )
    })
}

/// `2026-11-15 14:03 +01:00 (Europe/Paris)`.
fn now() -> String {
    let now = jiff::Zoned::now();
    let zone = now.time_zone().iana_name().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{}{zone}", now.strftime("%Y-%m-%d %H:%M %:z"))
}

/// `2026-11-15`, in the time zone of the machine.
fn today() -> String {
    jiff::Zoned::now().date().to_string()
}
