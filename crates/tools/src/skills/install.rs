//! `skill_installer`: a skill from a folder or a repository, shown and pinned before it is used.
//!
//! What comes from another machine is fetched first, into a folder of downloads. Then the call is made once more with
//! that folder as its source: the person sees what came before any of it lies where skills are read.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use stepwell_protocol::{Preview, Risk, ToolCall, ToolCallId};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::{Executable, Workspace};

use super::fetch::{SkillSource, find_skills};
use crate::library::{InstallLocation, SkillContent, SkillPin, ToolLibrary};

/// Bytes of `SKILL.md` in a preview.
const MOST_SHOWN: usize = 20 * 1024;
const HTTPS: u16 = 443;

pub struct SkillInstaller {
    workspace: Workspace,
    library: Arc<dyn ToolLibrary>,
}

impl SkillInstaller {
    pub fn new(workspace: Workspace, library: Arc<dyn ToolLibrary>) -> Self {
        Self { workspace, library }
    }
}

/// Installs a skill from `owner/repo`, an https address of a repository, or a folder of the workspace. The user sees its
/// content first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SkillInstallerInput {
    skill_source: String,
    /// Which skill, where the source has several.
    skill_name: Option<String>,
    #[serde(default)]
    install_location: InstallLocation,
    /// The default branch of the repository, unless given.
    branch: Option<String>,
    /// What the content was when it was fetched.
    #[schemars(extend("x-hidden" = true))]
    pinned: Option<Pinned>,
}

/// What a fetched folder is, for the second half of a call.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Pinned {
    source: String,
    commit: Option<String>,
    sha256: String,
}

/// What a call is going to do.
#[derive(Clone, Debug)]
pub enum InstallPlan {
    Fetch { input: SkillInstallerInput, source: SkillSource },
    Copy { content: Box<SkillContent>, from: PathBuf, into: PathBuf, pin: SkillPin, in_project: bool },
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SkillInstallerOutput {
    name: String,
    folder: String,
    sha256: String,
    #[serde(skip)]
    text: String,
}

impl ToolOutput for SkillInstallerOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

impl SkillInstaller {
    fn planned(&self, input: &SkillInstallerInput) -> Result<(Preview, InstallPlan), ToolError> {
        let source =
            SkillSource::read(&input.skill_source, self.workspace.root()).map_err(ToolError::validation)?;
        if let SkillSource::Repository { url, host, .. } = &source {
            let branch =
                input.branch.as_ref().map(|branch| format!(" (branch {branch})")).unwrap_or_default();
            let preview = Preview {
                summary: format!("Fetch skills from {url}{branch}"),
                hosts: vec![format!("{host}:{HTTPS}")],
                ..Preview::default()
            };
            return Ok((preview, InstallPlan::Fetch { input: input.clone(), source }));
        }
        let SkillSource::Folder(folder) = &source else {
            return Err(ToolError::validation("there is no such source"));
        };
        let folder = self.allowed(folder)?;
        let from = choose(&self.library, &folder, input.skill_name.as_deref())?;
        let content = self.library.inspect_skill(&from).map_err(ToolError::validation)?;
        if let Some(pinned) = &input.pinned
            && pinned.sha256 != content.sha256
        {
            return Err(ToolError::validation("the folder is not what was fetched; fetch it again"));
        }
        let into = self.library.skills_folder(input.install_location).join(&content.name);
        let pin = SkillPin {
            folder: into.clone(),
            source: input
                .pinned
                .as_ref()
                .map_or_else(|| from.display().to_string(), |pinned| pinned.source.clone()),
            branch: input.branch.clone(),
            commit: input.pinned.as_ref().and_then(|pinned| pinned.commit.clone()),
            sha256: content.sha256.clone(),
        };
        let preview = Preview {
            summary: format!(
                "Install the skill `{}` from {} into {}",
                content.name,
                pin.source,
                into.display()
            ),
            diff: Some(shown(&content)),
            paths: vec![into.display().to_string()],
            warnings: content.warnings.clone(),
            ..Preview::default()
        };
        let in_project = input.install_location == InstallLocation::Project;
        Ok((preview, InstallPlan::Copy { content: Box::new(content), from, into, pin, in_project }))
    }

    /// A folder within the workspace, or one that was fetched.
    fn allowed(&self, folder: &Path) -> Result<PathBuf, ToolError> {
        let gone = |error: std::io::Error| ToolError::validation(format!("`{}`: {error}", folder.display()));
        let real = folder.canonicalize().map_err(gone)?;
        let downloads = self.library.downloads().map_err(ToolError::execution)?;
        let downloads = downloads.canonicalize().map_err(gone)?;
        if real.starts_with(&downloads) {
            return Ok(real);
        }
        crate::files::place(&self.workspace, &real.to_string_lossy())?;
        Ok(real)
    }
}

/// The skill that is meant.
fn choose(library: &Arc<dyn ToolLibrary>, folder: &Path, name: Option<&str>) -> Result<PathBuf, ToolError> {
    let found = find_skills(folder);
    let is_named = |path: &PathBuf, name: &str| {
        path.file_name().is_some_and(|folder| folder == name)
            || library.inspect_skill(path).is_ok_and(|content| content.name == name)
    };
    match (found.as_slice(), name) {
        ([], _) => Err(ToolError::validation(format!("there is no SKILL.md below `{}`", folder.display()))),
        ([only], None) => Ok(only.clone()),
        (all, Some(name)) => all.iter().find(|path| is_named(path, name)).cloned().ok_or_else(|| {
            ToolError::validation(format!("there is no skill `{name}`; there are: {}", names(all)))
        }),
        (all, None) => Err(ToolError::validation(format!(
            "say which skill with `skill_name`; there are: {}",
            names(all)
        ))),
    }
}

fn names(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders
        .iter()
        .take(50)
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.join(", ")
}

/// What the person sees of a skill before it is installed.
fn shown(content: &SkillContent) -> String {
    let mut text = format!("sha256 {}\n", content.sha256);
    for (path, bytes) in &content.files {
        writeln!(text, "+ {} ({bytes} bytes)", path.display()).ok();
    }
    let end = content.text.floor_char_boundary(MOST_SHOWN);
    for line in content.text[..end].lines() {
        writeln!(text, "+{line}").ok();
    }
    text
}

/// Copies the files of a skill in place of what was there.
pub fn copy_skill(
    content: &SkillContent,
    from: &Path,
    into: &Path,
    project: Option<&Workspace>,
) -> Result<(), String> {
    if from.starts_with(into) || into.starts_with(from) {
        return Err(format!("`{}` is where it lies already", into.display()));
    }
    // All of it is read before anything is replaced.
    let mut read = Vec::new();
    for (relative, bytes) in &content.files {
        let content = files::read(&from.join(relative)).map_err(|error| error.to_string())?;
        if content.len() as u64 != *bytes {
            return Err(format!("`{}` changed meanwhile", relative.display()));
        }
        read.push((into.join(relative), content));
    }
    // Files of an older version would stay behind. A link is left alone: it leads to somebody else's files.
    if into.canonicalize().is_ok_and(|real| real == *into) {
        files::remove_dir_all(into).map_err(|error| error.to_string())?;
    }
    for (target, content) in read {
        if let Some(workspace) = project {
            let place = workspace.place(&target.to_string_lossy()).map_err(|error| error.to_string())?;
            workspace.write_as(&place, &content, Executable::Keep).map_err(|error| error.to_string())?;
        } else {
            let folder = target.parent().unwrap_or(into);
            files::create_private_dir(folder).map_err(|error| error.to_string())?;
            files::write_atomic(&target, &content, Privacy::Shared).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

#[async_trait]
impl Tool for SkillInstaller {
    type Input = SkillInstallerInput;
    type Plan = InstallPlan;
    type Output = SkillInstallerOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "skill_installer",
            aliases: &[],
            category: Category::Files,
            // Reaching the other machine is judged by itself.
            risk: Risk::Write,
            time_limit: Duration::from_mins(5),
            output_limit: 8 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        match self.planned(&input) {
            Ok((preview, plan)) => Planned::ready(preview, plan),
            Err(error) => {
                let summary = format!("Install a skill from `{}`", input.skill_source);
                Planned::new(Preview { summary, ..Preview::default() }, Err(error))
            }
        }
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError> {
        match plan {
            InstallPlan::Fetch { input, source } => self.fetch(ctx, &input, &source).await,
            InstallPlan::Copy { content, from, into, pin, in_project } => {
                let (workspace, library) = (self.workspace.clone(), Arc::clone(&self.library));
                let copied = tokio::task::spawn_blocking(move || {
                    copy_skill(&content, &from, &into, in_project.then_some(&workspace))?;
                    library.pin_skill(&pin)?;
                    Ok::<_, String>((content.name.clone(), into, content.sha256.clone()))
                });
                let copied = copied.await.map_err(|error| ToolError::execution(error.to_string()))?;
                let (name, folder, sha256) = copied.map_err(ToolError::execution)?;
                let folder = folder.display().to_string();
                let text = format!("the skill `{name}` is installed in {folder} (sha256 {sha256})");
                Ok(SkillInstallerOutput { name, folder, sha256, text })
            }
        }
    }
}

impl SkillInstaller {
    async fn fetch(
        &self,
        ctx: &ToolContext,
        input: &SkillInstallerInput,
        source: &SkillSource,
    ) -> Result<SkillInstallerOutput, ToolError> {
        let SkillSource::Repository { host, .. } = source else {
            return Err(ToolError::validation("there is nothing to fetch"));
        };
        ctx.network.admit(host, HTTPS).await.map_err(ToolError::permission)?;
        let downloads = self.library.downloads().map_err(ToolError::execution)?;
        // Removed with everything in it when this function is left.
        let folder = tempfile::Builder::new().prefix("skill-").tempdir_in(downloads);
        let folder = folder.map_err(|error| ToolError::execution(error.to_string()))?;
        let into = folder.path().join("repository");
        let fetched =
            source.fetch(input.branch.as_deref(), &into, &ctx.cancel).await.map_err(ToolError::execution)?;
        let wanted = input.skill_name.as_deref().or(source.skill());
        let from = choose(&self.library, &fetched.folder, wanted)?;
        let content = self.library.inspect_skill(&from).map_err(ToolError::validation)?;
        let call = ToolCall {
            id: ToolCallId::generate(),
            name: self.spec().name.to_owned(),
            arguments: json!({
                "skill_source": from,
                "install_location": input.install_location,
                "branch": input.branch,
                "pinned": Pinned { source: input.skill_source.clone(), commit: fetched.commit, sha256: content.sha256.clone() },
            }),
            opaque: None,
        };
        let outcome = ctx.invoker.invoke(&call).await;
        if let Some(error) = outcome.result.error {
            return Err(ToolError::new(error.class, error.message));
        }
        let folder = self.library.skills_folder(input.install_location).join(&content.name);
        Ok(SkillInstallerOutput {
            name: content.name,
            folder: folder.display().to_string(),
            sha256: content.sha256,
            text: outcome.result.output,
        })
    }
}
