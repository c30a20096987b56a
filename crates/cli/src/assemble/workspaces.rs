//! Opens workspaces: each with the settings, rules and trust of its own folder, its services shared by all who use it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde_json::Value;
use stepwell_agent::mode::Modes;
use stepwell_agent::prompt::instructions::{Instruction, InstructionSource as InstructionOrigin};
use stepwell_agent::subagent::Subagents;
use stepwell_agent::{
    AgentWorkspace, Budget, EnvironmentSettings, PlanApproval, RunSettings, Setup, WorkspaceCheckpoints,
    WorkspaceSource,
};
use stepwell_llm::RequestOptions;
use stepwell_mcp::client::Servers;
use stepwell_store::Home;
use stepwell_tool_runtime::{
    Checkpoints, DeniedReads, Executor, ExecutorOptions, Hooks, JudgeOptions, Redactor, Registry, RuleJudge,
    WorkspacePolicy, WorkspaceServices,
};
use stepwell_tools::catalog::{self, CatalogOptions};
use stepwell_tools::ports::{ArtifactFiles, HookProcesses};
use stepwell_tools::{BackgroundCommands, CodeService, Confinement, DebugService, ImageMaker};
use stepwell_workspace::Workspace;

use super::images::Images;
use super::library::FolderLibrary;
use super::lookup::{Activity, Lookup};
use super::resources::DebugResources;
use super::{code, code_indexes, confinement, debugging, embeddings, today};
use crate::models::Models;
use crate::settings::{self, Places, Settings, SettingsLayer, UserSettingsKeeper};

/// What the command line adds to every request to a model.
#[derive(Clone, Debug, Default)]
pub struct RequestAdditions {
    /// Stands at the end of the instructions.
    pub system_prompt: Option<String>,
    /// The JSON Schema that the final answer must fit.
    pub answer_schema: Option<Arc<Value>>,
    /// Who approves a plan.
    pub plan_approval: PlanApproval,
}

/// What workspaces are opened with.
pub struct Workspaces {
    places: Arc<Places>,
    /// Stronger than every file, in every workspace of this process.
    command_line: SettingsLayer,
    extra_roots: Vec<PathBuf>,
    record: Option<PathBuf>,
    additions: RequestAdditions,
    redactor: Arc<Redactor>,
    open: Mutex<HashMap<PathBuf, Shared>>,
}

/// What the users of a workspace share while there is one.
struct Shared {
    services: Weak<WorkspaceServices>,
    mcp: Weak<Servers>,
    models: Arc<Models>,
}

/// A workspace with its settings.
pub struct OpenWorkspace {
    pub services: Arc<WorkspaceServices>,
    pub settings: Arc<Settings>,
    pub policy: WorkspacePolicy,
    modes: Arc<Modes>,
    subagents: Arc<Subagents>,
    /// MCP servers of others; they end with the services.
    pub mcp: Arc<Servers>,
    models: Arc<Models>,
}

impl OpenWorkspace {
    /// A judge with the rules of the workspace.
    pub fn judge(&self) -> RuleJudge {
        RuleJudge::new(self.policy.judge.clone())
    }
}

impl Workspaces {
    pub fn new(
        places: Arc<Places>,
        command_line: SettingsLayer,
        extra_roots: Vec<PathBuf>,
        record: Option<PathBuf>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let additions = RequestAdditions::default();
        Self { places, command_line, extra_roots, record, additions, redactor, open: Mutex::default() }
    }

    /// The same with additions to every request.
    pub fn with_additions(self, additions: RequestAdditions) -> Self {
        Self { additions, ..self }
    }

    /// Opens a folder. Its settings are read anew; its services are those that are open already, or new ones.
    pub fn open(&self, root: &Path) -> anyhow::Result<OpenWorkspace> {
        let settings = Arc::new(Settings::load(&self.places, root, self.command_line.clone())?);
        let policy = WorkspacePolicy {
            judge: self.judge_options(&settings, root)?,
            hooks: Arc::new(hooks(&settings)?),
        };
        let (modes, mode_problems) = settings.modes(&self.places, root)?;
        let modes = Arc::new(modes);
        let (subagents, subagent_problems) = settings.subagents(&self.places, root)?;
        let subagents = Arc::new(subagents);
        // Held while a workspace is opened, so that two who open it at the same moment share it.
        let mut open = self.open.lock();
        open.retain(|_, shared| shared.services.strong_count() > 0);
        if let Some(shared) = open.get(root)
            && let Some(services) = shared.services.upgrade()
            && let Some(mcp) = shared.mcp.upgrade()
        {
            let models = Arc::clone(&shared.models);
            return Ok(OpenWorkspace { services, settings, policy, modes, subagents, mcp, models });
        }
        let (services, mcp) = self.services(&settings, root)?;
        let services = Arc::new(services);
        let registry = services.executor.registry();
        let mut warnings = settings.unknown_tools(&policy.judge.rules, &policy.hooks, registry);
        warnings.extend(mode_problems);
        warnings.extend(subagent_problems);
        super::tell_warnings(&settings, &warnings);
        let models = Arc::new(self.models(&settings, root));
        let shared = Shared {
            services: Arc::downgrade(&services),
            mcp: Arc::downgrade(&mcp),
            models: Arc::clone(&models),
        };
        open.insert(root.to_path_buf(), shared);
        Ok(OpenWorkspace { services, settings, policy, modes, subagents, mcp, models })
    }

    pub(super) fn places(&self) -> Arc<Places> {
        Arc::clone(&self.places)
    }

    pub(super) fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.redactor)
    }

    /// The walls around programs of a folder, and variables that these do not get.
    pub(super) fn walls(&self, root: &Path) -> anyhow::Result<(Confinement, Vec<String>)> {
        let settings = Settings::load(&self.places, root, self.command_line.clone())?;
        let workspace = self.open_folder(&settings, root)?;
        let denied = self.denied_reads(&settings, root)?;
        let options = self.catalog_options(&settings, &workspace, denied.as_ref())?;
        Ok((options.confinement, options.removed_variables))
    }

    /// Connects to the MCP servers that the settings name now. It waits for none of them.
    pub fn connect(&self, workspace: &OpenWorkspace) {
        let OpenWorkspace { services, settings, mcp, .. } = workspace;
        let (configs, problems) = settings.mcp_configs(&self.places, &services.root);
        super::tell_warnings(settings, &problems);
        super::mcp::hide_secrets(&configs, &self.redactor);
        mcp.apply(configs);
    }

    pub fn models(&self, settings: &Arc<Settings>, root: &Path) -> Models {
        Models::new(
            Arc::clone(&self.places),
            Arc::clone(settings),
            Arc::clone(&self.redactor),
            self.record.clone(),
            root.to_path_buf(),
        )
    }

    fn services(
        &self,
        settings: &Arc<Settings>,
        root: &Path,
    ) -> anyhow::Result<(WorkspaceServices, Arc<Servers>)> {
        let denied = self.denied_reads(settings, root)?;
        let workspace = self.open_folder(settings, root)?;
        let mut options = self.catalog_options(settings, &workspace, denied.as_ref())?;
        options.images = settings.image_model().map(|name| {
            let models = Arc::new(self.models(settings, root));
            Arc::new(Images { name, models }) as Arc<dyn ImageMaker>
        });
        options.library = Some(Arc::new(FolderLibrary {
            places: Arc::clone(&self.places),
            settings: Arc::clone(settings),
            root: root.to_path_buf(),
            extra_roots: self.extra_roots.clone(),
        }));
        let confinement = options.confinement.clone();
        let background = BackgroundCommands::default();
        let mut debug_options =
            debugging::options(&self.places, settings, workspace.root(), confinement.clone())?;
        debug_options.background = background.clone();
        let debugger = DebugService::new(workspace.clone(), &debug_options);
        let code: Arc<CodeService> = catalog::code_service(&workspace, &options);
        let registry = Arc::new(Registry::new());
        registry.register_all(catalog::builtin(&workspace, &options, &debugger, &code, &background))?;
        let mut roots = vec![root.to_path_buf()];
        roots.extend(self.extra_roots.iter().cloned());
        let mcp = super::mcp::servers(&self.places, settings, &roots, denied.as_ref(), &registry)?;
        let executor = Executor::new(registry, ExecutorOptions::standard(Arc::new(ArtifactFiles)));
        let redactor = Arc::clone(&self.redactor);
        let services = WorkspaceServices {
            root: root.to_path_buf(),
            extra_roots: self.extra_roots.clone(),
            executor: Arc::new(executor),
            checkpoints: self.checkpoints(settings, root)?,
            resources: Arc::new(DebugResources {
                service: Arc::clone(&debugger),
                redactor: Arc::clone(&redactor),
            }),
            redactor,
            activity: Arc::new(Activity { debugger, background, confinement, mcp: Arc::clone(&mcp) }),
            lookup: Arc::new(Lookup::new(settings, workspace, code)),
        };
        Ok((services, mcp))
    }

    /// A folder as tools see it: without what rules deny reading.
    pub fn open_folder(&self, settings: &Settings, root: &Path) -> anyhow::Result<Workspace> {
        let denial = settings::denial(self.denied_reads(settings, root)?);
        Ok(Workspace::open_without(root, &self.extra_roots, &denial)?)
    }

    /// What rules deny reading, which tools and commands then do not find at all.
    pub fn denied_reads(&self, settings: &Settings, root: &Path) -> anyhow::Result<Option<DeniedReads>> {
        let places = settings::judge_places(&self.places, root, &self.extra_roots);
        Ok(DeniedReads::of(&settings.rules(&self.places, &places)?))
    }

    /// Commands get no provider's key, whatever the variable is called that holds it.
    fn catalog_options(
        &self,
        settings: &Settings,
        workspace: &Workspace,
        denied: Option<&DeniedReads>,
    ) -> anyhow::Result<CatalogOptions> {
        let named = settings.providers().into_values().filter_map(|provider| provider.api_key_env);
        let named = named.chain(settings.embeddings().and_then(|embeddings| embeddings.api_key_env));
        let mut roots = vec![workspace.root().to_path_buf()];
        roots.extend(self.extra_roots.iter().cloned());
        let confinement = confinement::confinement(&self.places, settings, &roots, denied)?;
        Ok(CatalogOptions {
            removed_variables: named.collect(),
            // A folder whose settings need no trust may still hold a repository that was made by others.
            trusted: settings::is_trusted(&self.places, workspace.root())?,
            confinement,
            code_indexes: code_indexes(&self.places),
            language_servers: code::servers(settings, workspace)?,
            embeddings: embeddings::embeddings(
                &self.places,
                settings,
                &self.redactor,
                workspace.root(),
                denied.cloned(),
            )?,
            unfinished_edits: self.places.shared.join("edits"),
            variables: Some(super::variables::task_variables(&self.places, workspace.root())),
            test_results: self.places.shared.join("tests"),
            own_program: Some(confinement::OWN_PROGRAM.into()),
            library: None,
            images: None,
        })
    }

    /// Keeps what calls change, unless the settings say not to.
    fn checkpoints(&self, settings: &Settings, root: &Path) -> anyhow::Result<Option<Arc<dyn Checkpoints>>> {
        let settings = settings.checkpoints();
        if !settings.enabled {
            return Ok(None);
        }
        let workspace = Workspace::open(root, &self.extra_roots)?;
        let home = Home::new(&self.places.data);
        Ok(Some(Arc::new(WorkspaceCheckpoints::new(home, workspace, settings.limits()))))
    }

    /// What the settings say about permission in a workspace.
    fn judge_options(&self, settings: &Settings, root: &Path) -> anyhow::Result<JudgeOptions> {
        let places = settings::judge_places(&self.places, root, &self.extra_roots);
        Ok(JudgeOptions {
            mode: settings.permission_mode(),
            rules: settings.rules(&self.places, &places)?,
            auto_approve: settings.auto_approve(),
            asked_for: Vec::new(),
            places,
            keeper: Some(Arc::new(UserSettingsKeeper::new(&self.places))),
        })
    }
}

fn is_replay(settings: &Settings) -> bool {
    settings.model().is_some_and(|model| model.starts_with("replay"))
}

fn hooks(settings: &Settings) -> anyhow::Result<Hooks> {
    let mut hooks = Hooks::none();
    for config in settings.hooks() {
        hooks.merge(Hooks::from_json(&config, Arc::new(HookProcesses))?);
    }
    Ok(hooks)
}

impl WorkspaceSource for Workspaces {
    fn open(&self, root: &Path) -> stepwell_agent::Result<AgentWorkspace> {
        let setup = |error: anyhow::Error| {
            let report = crate::report::to_error_report(&error);
            stepwell_agent::Error::Setup { message: report.message, hint: report.hint }
        };
        let root = super::workspace_root(Some(root)).map_err(setup)?;
        let workspace = Self::open(self, &root).map_err(setup)?;
        self.connect(&workspace);
        let OpenWorkspace { services, settings, policy, modes, subagents, models, .. } = workspace;
        let run = RunSettings {
            default_model: settings.model(),
            default_mode: settings.mode(),
            modes,
            subagents,
            subtasks: settings.subtask_limits(),
            max_turns: settings.max_turns(),
            condense_percent: settings.condense_percent(),
            budget: Budget { max_tokens: settings.max_tokens(), max_cost_usd: settings.max_cost_usd() },
            request: RequestOptions {
                max_output_tokens: settings.max_output_tokens(),
                temperature: settings.temperature(),
                effort: settings.effort(),
                answer_schema: self.additions.answer_schema.clone(),
                ..RequestOptions::default()
            },
            loop_limits: settings.loop_limits(),
            tools: settings.tool_set(&policy.judge.rules, services.executor.registry()),
            checkpoints: settings.checkpoints().limits(),
            plan_approval: self.additions.plan_approval,
            in_force: settings.in_force(),
            date: today(),
            // A recording must be the same when it is played.
            environment: EnvironmentSettings {
                enabled: settings.environment_details() && self.record.is_none() && !is_replay(&settings),
                now: super::now,
            },
        };
        let library = Arc::new(FolderLibrary {
            places: Arc::clone(&self.places),
            settings,
            root,
            extra_roots: self.extra_roots.clone(),
        });
        let own = Arc::clone(&library);
        let added = self.additions.system_prompt.clone();
        let instructions = move |mode: &str| {
            let mut found = own.instructions(mode)?;
            found.items.extend(
                added.clone().map(|text| Instruction { source: InstructionOrigin::CommandLine, text }),
            );
            Ok(found)
        };
        let instructions = Arc::new(instructions);
        Ok(AgentWorkspace { services, policy, settings: run, models, instructions, library })
    }

    fn setup(self: Arc<Self>) -> Option<Arc<dyn Setup>> {
        Some(self)
    }
}
