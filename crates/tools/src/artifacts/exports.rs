//! `export_artifact` and `batch_export_artifacts`: keep copies of files with the task.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stepwell_protocol::{Artifact, ArtifactId, Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::{Inside, Workspace};

use super::{ExportedArtifact, MOST_EXPORTS, folder, media_type, read_exports, write_exports};
use crate::files::readable_size;

const LARGEST: u64 = 100 * 1024 * 1024;
const MOST_FILES: usize = 100;
/// Characters of a text in the list.
const PREVIEW: usize = 400;

pub struct ExportArtifact {
    workspace: Workspace,
}

impl ExportArtifact {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

pub struct BatchExportArtifacts {
    workspace: Workspace,
}

impl BatchExportArtifacts {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// Keeps a copy of a file with the task, as a result for the user.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ExportArtifactInput {
    #[schemars(extend("x-aliases" = ["path"]))]
    file_path: String,
    /// The name of the file by default.
    #[schemars(extend("x-aliases" = ["name"]))]
    artifact_name: Option<String>,
}

/// Keeps copies of several files with the task, all or none.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct BatchExportInput {
    #[schemars(extend("x-aliases" = ["paths", "files"]))]
    file_paths: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ExportOutput {
    artifacts: Vec<ExportedArtifact>,
}

impl ToolOutput for ExportOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let line = |one: &ExportedArtifact| {
            format!(
                "kept `{}` as `{}` ({}, {}, sha256 {}): {}\n",
                one.source,
                one.name,
                one.media_type,
                readable_size(one.bytes),
                one.sha256.get(..16).unwrap_or(&one.sha256),
                one.path
            )
        };
        Cow::Owned(self.artifacts.iter().map(line).collect())
    }

    fn artifacts(&self) -> Vec<Artifact> {
        let of = |one: &ExportedArtifact| Artifact {
            id: one.id.as_str().into(),
            label: one.name.clone(),
            path: one.path.clone(),
            bytes: one.bytes,
            media_type: one.media_type.clone(),
        };
        self.artifacts.iter().map(of).collect()
    }
}

/// A file and the name of its copy.
#[derive(Clone, Debug)]
pub struct ExportPlan {
    files: Vec<(Inside, String)>,
}

fn spec(name: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        aliases: &[],
        category: Category::Artifacts,
        // The workspace is only read; what is written belongs to the task.
        risk: Risk::Read,
        time_limit: Duration::from_mins(2),
        output_limit: 16 * 1024,
    }
}

fn planned(workspace: &Workspace, wanted: &[(&str, Option<&str>)]) -> Result<ExportPlan, ToolError> {
    if wanted.is_empty() {
        return Err(ToolError::parameter("name at least one file"));
    }
    if wanted.len() > MOST_FILES {
        return Err(ToolError::parameter(format!("at most {MOST_FILES} files at a time")));
    }
    let one = |(path, name): &(&str, Option<&str>)| {
        let place = crate::files::place(workspace, path)?;
        let own = place.absolute().file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.map(str::to_owned).or(own).unwrap_or_default();
        if name.is_empty() || name.len() > 200 || name.contains(['/', '\0', '\n']) {
            return Err(ToolError::parameter(format!("`{}` is no name of an artifact", name.escape_debug())));
        }
        Ok((place, name))
    };
    Ok(ExportPlan { files: wanted.iter().map(one).collect::<Result<_, _>>()? })
}

async fn export(
    ctx: &ToolContext,
    workspace: &Workspace,
    plan: ExportPlan,
) -> Result<ExportOutput, ToolError> {
    let folder = folder(ctx).await?;
    let (workspace, redactor) = (workspace.clone(), ctx.redactor.clone());
    let work = tokio::task::spawn_blocking(move || {
        // All are read before one is written.
        let mut read = Vec::new();
        for (place, name) in plan.files {
            let content = workspace
                .read(&place, LARGEST)
                .map_err(|error| crate::files::explained(&workspace, Some(&place), error))?;
            read.push((place, name, content));
        }
        let mut exports = read_exports(&folder).map_err(ToolError::execution)?;
        if exports.len() + read.len() > MOST_EXPORTS {
            return Err(ToolError::validation(format!("a task keeps at most {MOST_EXPORTS} artifacts")));
        }
        let mut made = Vec::new();
        for (place, name, content) in read {
            // The store holds no value that the person keeps secret.
            let content = match std::str::from_utf8(&content) {
                Ok(text) => redactor.redact(text).into_owned().into_bytes(),
                Err(_) => content,
            };
            let id = ArtifactId::generate();
            let end = place.absolute().extension().map(|end| format!(".{}", end.to_string_lossy()));
            let path = folder.join(format!("{id}{}", end.unwrap_or_default()));
            files::write_atomic(&path, &content, Privacy::Private)
                .map_err(|error| ToolError::execution(error.to_string()))?;
            let digest = Sha256::digest(&content);
            let preview = std::str::from_utf8(&content).ok().map(|text| text.chars().take(PREVIEW).collect());
            made.push(ExportedArtifact {
                id: id.to_string(),
                name,
                source: place.display(),
                path: path.display().to_string(),
                sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat(),
                bytes: content.len() as u64,
                media_type: media_type(place.absolute(), &content).to_owned(),
                preview,
            });
        }
        exports.extend(made.iter().cloned());
        write_exports(&folder, &exports)?;
        Ok(ExportOutput { artifacts: made })
    });
    work.await.map_err(|error| ToolError::execution(error.to_string()))?
}

#[async_trait]
impl Tool for ExportArtifact {
    type Input = ExportArtifactInput;
    type Plan = ExportPlan;
    type Output = ExportOutput;

    fn spec(&self) -> ToolSpec {
        spec("export_artifact")
    }

    fn brings(&self) -> &'static [&'static str] {
        &["batch_export_artifacts", "list_artifacts"]
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let preview = Preview {
            summary: format!("Keep a copy of `{}`", input.file_path),
            paths: vec![input.file_path.clone()],
            ..Preview::default()
        };
        Planned::new(preview, planned(&self.workspace, &[(&input.file_path, input.artifact_name.as_deref())]))
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError> {
        export(ctx, &self.workspace, plan).await
    }
}

#[async_trait]
impl Tool for BatchExportArtifacts {
    type Input = BatchExportInput;
    type Plan = ExportPlan;
    type Output = ExportOutput;

    fn spec(&self) -> ToolSpec {
        spec("batch_export_artifacts")
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let summary = format!("Keep copies of {} files", input.file_paths.len());
        let wanted: Vec<(&str, Option<&str>)> =
            input.file_paths.iter().map(|path| (path.as_str(), None)).collect();
        let plan = planned(&self.workspace, &wanted);
        Planned::new(Preview { summary, paths: input.file_paths.clone(), ..Preview::default() }, plan)
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError> {
        export(ctx, &self.workspace, plan).await
    }
}
