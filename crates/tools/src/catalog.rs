//! The tools Stepwell comes with.

use std::path::PathBuf;
use std::sync::Arc;

use stepwell_code_intel::embeddings::Embeddings;
use stepwell_code_intel::lsp::Servers;
use stepwell_tool_runtime::DynTool;
use stepwell_workspace::Workspace;

use crate::library::ToolLibrary;
use crate::{BackgroundCommands, CodeService, Confinement, DebugService, ImageMaker, TaskVariables};
use crate::{
    artifacts, ask, chain, code, commands, complete, debug, environment, files, git, hypothesis, images,
    plan, shell, skills, subtasks, switch_mode, testing, todo, tool_search, web,
};

/// What the tools must know of the settings.
#[derive(Clone, Debug)]
pub struct CatalogOptions {
    /// Variables that commands never see, besides those whose names say that they hold a secret: a provider's key
    /// may have any name.
    pub removed_variables: Vec<String>,
    /// Whether the person trusts the folder, so that hooks of its repository run.
    pub trusted: bool,
    /// Variables that the person keeps for commands; without them their tools are not there.
    pub variables: Option<TaskVariables>,
    /// How commands are confined.
    pub confinement: Confinement,
    /// Where the indexes of code are kept.
    pub code_indexes: PathBuf,
    /// The language servers that may be asked, where the person lets them run.
    pub language_servers: Option<Arc<Servers>>,
    /// Vectors of code, where the person names a server that makes them.
    pub embeddings: Option<Arc<Embeddings>>,
    /// Where it is noted what a call is about to change, as long as it is not done.
    pub unfinished_edits: PathBuf,
    /// Where it is noted which tests failed last.
    pub test_results: PathBuf,
    /// Skills and commands of people's folders; without them their tools are not there.
    pub library: Option<Arc<dyn ToolLibrary>>,
    /// Makes images, where the person names a model for it.
    pub images: Option<Arc<dyn ImageMaker>>,
    /// The program that answers to [`crate::PDF_TEXT_WORD`]; without one, PDF is not read.
    pub own_program: Option<PathBuf>,
}

/// Answers questions about code for the tools and for other callers.
pub fn code_service(workspace: &Workspace, options: &CatalogOptions) -> Arc<CodeService> {
    let service = CodeService::new(workspace.clone(), options.code_indexes.clone());
    Arc::new(service.with(options.language_servers.clone(), options.embeddings.clone()))
}

/// All built-in tools for a workspace. Cheap: schemas are made when first asked for.
pub fn builtin(
    workspace: &Workspace,
    options: &CatalogOptions,
    debugger: &Arc<DebugService>,
    code: &Arc<CodeService>,
    background: &BackgroundCommands,
) -> Vec<Arc<dyn DynTool>> {
    let service = files::FileService::new(workspace.clone(), Arc::clone(code), &options.unfinished_edits);
    let mut tools: Vec<Arc<dyn DynTool>> = vec![
        Arc::new(artifacts::BatchExportArtifacts::new(workspace.clone())),
        Arc::new(artifacts::ExportArtifact::new(workspace.clone())),
        Arc::new(artifacts::ImportFile::new(workspace.clone())),
        Arc::new(artifacts::ImportFilesBatch::new(workspace.clone())),
        Arc::new(artifacts::ListArtifacts),
        Arc::new(ask::Clarification),
        Arc::new(ask::Decision),
        Arc::new(chain::ToolChain),
        Arc::new(complete::AttemptCompletion),
        Arc::new(hypothesis::HypothesisTool),
        Arc::new(subtasks::NewTask),
        Arc::new(subtasks::Task),
        Arc::new(switch_mode::SwitchMode),
        Arc::new(files::ApplyDiff::new(service.clone())),
        Arc::new(files::BatchEdit::new(service.clone())),
        Arc::new(files::Edit::new(service.clone())),
        Arc::new(files::EditByAst::new(service.clone())),
        Arc::new(files::Insert::new(service.clone())),
        Arc::new(files::Glob::new(workspace.clone())),
        Arc::new(files::Grep::new(workspace.clone())),
        Arc::new(files::List::new(workspace.clone())),
        Arc::new(files::Patch::new(service.clone())),
        Arc::new(files::PreviewEdit::new(service.clone())),
        Arc::new(files::Read::new(service.clone(), options)),
        Arc::new(files::Write::new(service)),
        Arc::new(git::GenerateCommit::new(workspace.clone(), options)),
        Arc::new(git::GitDiff::new(workspace.clone())),
        Arc::new(git::GitLog::new(workspace.clone())),
        Arc::new(plan::PlanEnter),
        Arc::new(plan::PlanExit),
        Arc::new(plan::PlanUpdate),
        Arc::new(plan::StepComplete),
        Arc::new(shell::Bash::new(workspace.clone(), options, background.clone())),
        Arc::new(shell::ProcessInput::new(background.clone())),
        Arc::new(shell::ProcessKill::new(background.clone())),
        Arc::new(shell::ProcessRead::new(background.clone())),
        Arc::new(testing::AnalyzeCoverage::new(workspace.clone(), Arc::clone(code))),
        Arc::new(testing::RunTests::new(workspace.clone(), options, Arc::clone(code))),
        Arc::new(todo::TodoRead),
        Arc::new(todo::TodoWrite),
        Arc::new(tool_search::ToolSearch),
        Arc::new(web::Fetch::new(options)),
    ];
    if let Some(library) = &options.library {
        tools.push(Arc::new(commands::FetchInstructions));
        tools.push(Arc::new(commands::RunSlashCommand::new(Arc::clone(library))));
        tools.push(Arc::new(skills::SkillLoader::new(Arc::clone(library))));
        tools.push(Arc::new(skills::SkillInstaller::new(workspace.clone(), Arc::clone(library))));
    }
    if let Some(variables) = &options.variables {
        tools.push(Arc::new(environment::CheckEnvVars::new(variables.clone())));
        tools.push(Arc::new(environment::GetEnvVar::new(variables.clone())));
        tools.push(Arc::new(environment::RequestEnvVar::new(variables.clone())));
    }
    if let Some(maker) = &options.images {
        tools.push(Arc::new(images::GenerateImage::new(workspace.clone(), Arc::clone(maker))));
    }
    tools.extend(debug::tools(debugger));
    tools.extend(code::tools(code));
    tools
}
