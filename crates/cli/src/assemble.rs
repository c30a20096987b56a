//! The one place where the parts are put together: settings, models, tools, store, engine.

pub mod code;
pub mod confinement;
pub mod debugging;
pub mod embeddings;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_agent::prompt::instructions::{self, InstructionPlaces};
use stepwell_agent::{
    Attendance, Budget, Engine, EngineOptions, ModelSource, Workbench, WorkbenchSource, WorkspaceCheckpoints,
};
use stepwell_llm::RequestOptions;
use stepwell_protocol::PermissionMode;
use stepwell_store::Home;
use stepwell_tool_runtime::{
    Checkpoints, DeniedReads, Executor, ExecutorOptions, Hooks, JudgeOptions, Redactor, Registry, RuleJudge,
};
use stepwell_tools::catalog::{self, CatalogOptions};
use stepwell_tools::ports::{ArtifactFiles, HookProcesses};
use stepwell_tools::{CodeService, DebugService};
use stepwell_workspace::Workspace;

use crate::keys;
use crate::language::Language;
use crate::models::Models;
use crate::report;
use crate::settings::{self, Places, Settings, SettingsLayer, UserSettingsKeeper};
use crate::terminal::{self, Style};

/// The modes there are; custom ones are data files and come with the mode system.
pub const MODES: [&str; 1] = ["code"];

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
    extra_roots: Vec<PathBuf>,
    record: Option<PathBuf>,
    redactor: Arc<Redactor>,
}

impl Assembly {
    pub fn new(options: AssemblyOptions) -> anyhow::Result<Self> {
        let places = Places::find()?;
        let settings = Settings::load(&places, &options.workspace, options.command_line)?;
        let home = Home::new(&places.data);
        let redactor = Arc::new(Redactor::with_secrets(stepwell_tools::secret_variables()));
        redactor.add_secrets(keys::all_known(&places, &settings));
        Ok(Self {
            workspace: options.workspace,
            places: Arc::new(places),
            settings: Arc::new(settings),
            home,
            extra_roots: options.extra_roots,
            record: options.record,
            redactor,
        })
    }

    /// The current folder, with nothing from the command line.
    pub fn here() -> anyhow::Result<Self> {
        Self::new(AssemblyOptions {
            workspace: workspace_root(None)?,
            extra_roots: Vec::new(),
            command_line: SettingsLayer::default(),
            record: None,
        })
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
            let (what, hint) = match language {
                Language::English => (
                    format!("this folder's own settings may not decide: {withheld}"),
                    "look at .stepwell/config.toml, then `stepwell config trust`",
                ),
                Language::Chinese => (
                    format!("此文件夹自带的设置无权决定：{withheld}"),
                    "请先查看 .stepwell/config.toml，再运行 `stepwell config trust`",
                ),
            };
            terminal::error_line(&format!(
                "{} {what}\n\n{} {hint}",
                style.yellow(language.warning()),
                style.cyan(language.hint()),
            ));
        }
    }

    pub fn models(&self) -> Models {
        Models::new(
            Arc::clone(&self.places),
            Arc::clone(&self.settings),
            Arc::clone(&self.redactor),
            self.record.clone(),
            self.workspace.clone(),
        )
    }

    /// The workspace as tools see it.
    pub fn open_workspace(&self) -> anyhow::Result<Workspace> {
        self.benches().open(&self.workspace)
    }

    /// Vectors of the code of this workspace, where the settings name a server for them.
    pub fn embeddings(&self) -> anyhow::Result<Option<Arc<stepwell_code_intel::embeddings::Embeddings>>> {
        let denied = self.benches().denied_reads(&self.workspace)?;
        embeddings::embeddings(&self.places, &self.settings, &self.redactor, &self.workspace, denied)
    }

    pub fn engine(&self) -> Engine {
        let settings = &self.settings;
        let options = EngineOptions {
            attendance: Attendance::Headless,
            default_model: settings.model(),
            default_mode: settings.mode(),
            known_modes: MODES.iter().map(ToString::to_string).collect(),
            max_turns: settings.max_turns(),
            budget: Budget { max_tokens: settings.max_tokens(), max_cost_usd: settings.max_cost_usd() },
            request: RequestOptions {
                max_output_tokens: settings.max_output_tokens(),
                temperature: settings.temperature(),
                effort: settings.effort(),
                ..RequestOptions::default()
            },
            loop_limits: settings.loop_limits(),
            date: today(),
        };
        let models: Arc<dyn ModelSource> = Arc::new(self.models());
        let benches: Arc<dyn WorkbenchSource> = Arc::new(self.benches());
        Engine::new(self.home.clone(), models, benches, options)
    }

    pub fn benches(&self) -> Benches {
        Benches {
            places: Arc::clone(&self.places),
            settings: Arc::clone(&self.settings),
            extra_roots: self.extra_roots.clone(),
            redactor: Arc::clone(&self.redactor),
        }
    }
}

/// The tools of a workspace, and the desks at which those of the debugger and those that ask about code work.
pub struct ToolsAndDesks {
    pub executor: Arc<Executor>,
    pub debugger: Arc<DebugService>,
    pub code: Arc<CodeService>,
}

/// Makes the workbench of a workspace.
pub struct Benches {
    places: Arc<Places>,
    settings: Arc<Settings>,
    extra_roots: Vec<PathBuf>,
    redactor: Arc<Redactor>,
}

impl Benches {
    /// The tools of a workspace behind an executor.
    pub fn executor(&self, workspace: &Path) -> anyhow::Result<Arc<Executor>> {
        Ok(self.tools(workspace)?.executor)
    }

    /// The tools, and the desks that others work at, too.
    pub fn tools(&self, workspace: &Path) -> anyhow::Result<ToolsAndDesks> {
        let denied = self.denied_reads(workspace)?;
        let workspace = self.open(workspace)?;
        let registry = Arc::new(Registry::new());
        let debugger = DebugService::new(
            workspace.clone(),
            &debugging::options(&self.places, &self.settings, workspace.root())?,
        );
        let options = self.catalog_options(&workspace, denied.as_ref())?;
        let code = catalog::code_service(&workspace, &options);
        registry.register_all(catalog::builtin(&workspace, &options, &debugger, &code))?;
        let executor = Executor::new(registry, ExecutorOptions::standard(Arc::new(ArtifactFiles)));
        Ok(ToolsAndDesks { executor: Arc::new(executor), debugger, code })
    }

    /// A workspace as tools see it: without what rules deny reading.
    fn open(&self, workspace: &Path) -> anyhow::Result<Workspace> {
        let denial = settings::denial(self.denied_reads(workspace)?);
        Ok(Workspace::open_without(workspace, &self.extra_roots, &denial)?)
    }

    /// What rules deny reading, which tools and commands then do not find at all.
    fn denied_reads(&self, workspace: &Path) -> anyhow::Result<Option<DeniedReads>> {
        let places = settings::judge_places(&self.places, workspace, &self.extra_roots);
        Ok(DeniedReads::of(&self.settings.rules(&self.places, &places)?))
    }

    /// Commands get no provider's key, whatever the variable is called that holds it.
    fn catalog_options(
        &self,
        workspace: &Workspace,
        denied: Option<&DeniedReads>,
    ) -> anyhow::Result<CatalogOptions> {
        let named = self.settings.providers().into_values().filter_map(|provider| provider.api_key_env);
        let named = named.chain(self.settings.embeddings().and_then(|embeddings| embeddings.api_key_env));
        let mut roots = vec![workspace.root().to_path_buf()];
        roots.extend(self.extra_roots.iter().cloned());
        let confinement = confinement::confinement(&self.places, &self.settings, &roots, denied)?;
        Ok(CatalogOptions {
            removed_variables: named.collect(),
            confinement,
            code_indexes: code_indexes(&self.places),
            language_servers: code::servers(&self.settings, workspace)?,
            embeddings: embeddings::embeddings(
                &self.places,
                &self.settings,
                &self.redactor,
                workspace.root(),
                denied.cloned(),
            )?,
            unfinished_edits: self.places.data.join("edits"),
            own_program: Some(confinement::OWN_PROGRAM.into()),
        })
    }

    /// Keeps what calls change, unless the settings say not to.
    pub fn checkpoints(&self, workspace: &Path) -> anyhow::Result<Option<Arc<dyn Checkpoints>>> {
        let settings = self.settings.checkpoints();
        if !settings.enabled {
            return Ok(None);
        }
        let workspace = Workspace::open(workspace, &self.extra_roots)?;
        let home = Home::new(&self.places.data);
        Ok(Some(Arc::new(WorkspaceCheckpoints::new(home, workspace, settings.limits()))))
    }

    pub fn hooks(&self) -> anyhow::Result<Hooks> {
        let mut hooks = Hooks::none();
        for config in self.settings.hooks() {
            hooks.merge(Hooks::from_json(&config, Arc::new(HookProcesses))?);
        }
        Ok(hooks)
    }

    /// The judge of a task in a workspace.
    pub fn judge(&self, workspace: &Path) -> anyhow::Result<RuleJudge> {
        self.judge_options(workspace).map(RuleJudge::new)
    }

    /// What the settings say about permission in a workspace.
    pub fn judge_options(&self, workspace: &Path) -> anyhow::Result<JudgeOptions> {
        let places = settings::judge_places(&self.places, workspace, &self.extra_roots);
        Ok(JudgeOptions {
            mode: self.permission_mode(),
            rules: self.settings.rules(&self.places, &places)?,
            auto_approve: self.settings.auto_approve(),
            asked_for: Vec::new(),
            places,
            keeper: Some(Arc::new(UserSettingsKeeper::new(&self.places))),
        })
    }

    pub fn permission_mode(&self) -> PermissionMode {
        self.settings.permission_mode()
    }

    pub fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.redactor)
    }

    pub fn instructions(
        &self,
        workspace: &Path,
        mode: &str,
    ) -> stepwell_agent::Result<stepwell_agent::prompt::Instructions> {
        instructions::load(&InstructionPlaces {
            config_dir: &self.places.config,
            user_home: self.places.user_home.as_deref(),
            workspace,
            mode,
            text: self.settings.instructions().as_deref(),
            language: self.settings.language().as_deref(),
            trusted: self.settings.trusted,
        })
    }
}

impl WorkbenchSource for Benches {
    fn open(&self, workspace: &Path, mode: &str) -> stepwell_agent::Result<Workbench> {
        let setup =
            |error: anyhow::Error| stepwell_agent::Error::Setup { message: format!("{error:#}"), hint: None };
        let tools = self.tools(workspace).map_err(setup)?;
        Ok(Workbench {
            overview: code::overview(&self.settings, &tools.code),
            executor: tools.executor,
            permission: Arc::new(self.judge(workspace).map_err(setup)?),
            permission_mode: self.permission_mode(),
            hooks: Arc::new(self.hooks().map_err(setup)?),
            redactor: self.redactor(),
            instructions: self.instructions(workspace, mode)?,
            extra_roots: self.extra_roots.clone(),
            checkpoints: self.checkpoints(workspace).map_err(setup)?,
        })
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

/// `2026-11-15`, in the time zone of the machine.
fn today() -> String {
    jiff::Zoned::now().date().to_string()
}
