//! `import_file` and `import_files_batch`: bring files from an address or from the workspace into the workspace, and take
//! archives apart safely.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_net::PageLimits;
use stepwell_protocol::{Preview, Risk, protected_part};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec};
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::{Executable, Inside, UnpackLimits, Workspace, unpack_tar_gz, unpack_zip};
use url::Url;

use crate::code::TextAnswer;
use crate::files::readable_size;
use crate::web::reach::{Reached, host_and_port, literal_refusal, reach, web_address};

const LARGEST: usize = 100 * 1024 * 1024;
const LIMITS: PageLimits =
    PageLimits { connect: Duration::from_secs(10), whole: Duration::from_mins(5), bytes: LARGEST };
const UNPACK: UnpackLimits = UnpackLimits { files: 5000, bytes: 500 * 1024 * 1024 };
const MOST_FILES: usize = 50;

pub struct ImportFile {
    workspace: Workspace,
}

impl ImportFile {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

pub struct ImportFilesBatch {
    workspace: Workspace,
}

impl ImportFilesBatch {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// Brings a file into the workspace, from an https address or from a file of the workspace.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ImportFileInput {
    #[serde(flatten)]
    file: WantedFile,
}

/// Brings several files into the workspace.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ImportBatchInput {
    files: Vec<WantedFile>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct WantedFile {
    #[schemars(extend("x-aliases" = ["url", "source", "source_path"]))]
    source_url: String,
    /// Where to write it.
    #[schemars(extend("x-aliases" = ["destination", "path"]))]
    dest_path: String,
    /// Takes a .tar.gz or .zip apart into the folder `dest_path`.
    #[serde(default)]
    extract: bool,
    /// Replaces what is there.
    #[serde(default)]
    overwrite: bool,
}

/// Where a file comes from and where it goes.
#[derive(Clone, Debug)]
pub struct ImportPlan {
    files: Vec<PlannedImport>,
}

#[derive(Clone, Debug)]
struct PlannedImport {
    source: Source,
    place: Inside,
    extract: bool,
    overwrite: bool,
}

#[derive(Clone, Debug)]
enum Source {
    Address(Url),
    File(Inside),
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportBody {
    files: Vec<ImportedFile>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportedFile {
    source: String,
    path: String,
    bytes: u64,
    /// Files that were unpacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    unpacked: Option<usize>,
    /// Files of an archive that steer tools or editors and were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

fn spec(name: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        aliases: &[],
        category: Category::Artifacts,
        // Reaching the other machine is judged by its host.
        risk: Risk::Write,
        time_limit: Duration::from_mins(15),
        output_limit: 16 * 1024,
    }
}

fn planned(ctx: &ToolContext, workspace: &Workspace, wanted: &[WantedFile]) -> Planned<ImportPlan> {
    let mut preview = Preview { summary: summary(wanted), ..Preview::default() };
    let mut plans = Vec::new();
    let mut problem = None;
    if wanted.is_empty() || wanted.len() > MOST_FILES {
        problem = Some(ToolError::parameter(format!("name 1 to {MOST_FILES} files")));
    }
    for file in wanted {
        preview.paths.push(file.dest_path.clone());
        match one(ctx, workspace, file) {
            Ok(plan) => {
                if let Source::Address(url) = &plan.source {
                    let (host, port) = host_and_port(url);
                    preview.hosts.push(format!("{host}:{port}"));
                }
                plans.push(plan);
            }
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    preview.hosts.sort();
    preview.hosts.dedup();
    Planned::new(preview, problem.map_or(Ok(ImportPlan { files: plans }), Err))
}

fn summary(wanted: &[WantedFile]) -> String {
    match wanted {
        [one] => format!("Import {} as `{}`", one.source_url.escape_debug(), one.dest_path),
        many => format!("Import {} files", many.len()),
    }
}

fn one(ctx: &ToolContext, workspace: &Workspace, file: &WantedFile) -> Result<PlannedImport, ToolError> {
    let place = crate::files::place(workspace, &file.dest_path)?;
    if place.absolute().symlink_metadata().is_ok() && !file.overwrite {
        return Err(ToolError::validation(format!("`{}` exists; `overwrite` replaces it", place.display())));
    }
    let source = if file.source_url.contains("://") {
        let url = web_address(&file.source_url)?;
        if let Some(refused) = literal_refusal(&url, &*ctx.network) {
            return Err(refused);
        }
        Source::Address(url)
    } else {
        Source::File(crate::files::place(workspace, &file.source_url)?)
    };
    Ok(PlannedImport { source, place, extract: file.extract, overwrite: file.overwrite })
}

async fn import(
    ctx: &ToolContext,
    workspace: &Workspace,
    plan: ImportPlan,
) -> Result<TextAnswer<ImportBody>, ToolError> {
    let mut done = Vec::new();
    for file in plan.files {
        let (source, content) = content(ctx, workspace, &file.source).await?;
        let folder = super::folder(ctx).await?;
        let workspace = workspace.clone();
        let written = tokio::task::spawn_blocking(move || put(&workspace, &folder, &file, source, content));
        done.push(written.await.map_err(|error| ToolError::execution(error.to_string()))??);
    }
    let line = |file: &ImportedFile| {
        let what = match file.unpacked {
            Some(count) => format!("unpacked {count} files of {} into `{}`", file.source, file.path),
            None => format!("wrote `{}` ({}) from {}", file.path, readable_size(file.bytes), file.source),
        };
        let left = match file.left_out.as_slice() {
            [] => String::new(),
            names => format!("; left out what steers tools: {}", names.join(", ")),
        };
        format!("{what}{left}\n")
    };
    let text: String = done.iter().map(line).collect();
    Ok(TextAnswer::new(ImportBody { files: done }, text))
}

async fn content(
    ctx: &ToolContext,
    workspace: &Workspace,
    source: &Source,
) -> Result<(String, Vec<u8>), ToolError> {
    match source {
        Source::Address(url) => {
            let Reached { url, page } = reach(ctx, url, "*/*", LIMITS).await?;
            if !(200..300).contains(&page.status) {
                return Err(ToolError::execution(format!("{url} answers with status {}", page.status)));
            }
            if page.is_cut {
                let most = readable_size(LARGEST as u64);
                return Err(ToolError::validation(format!("{url} has more than {most}")));
            }
            Ok((url.to_string(), page.body))
        }
        Source::File(place) => {
            let read = workspace
                .read(place, LARGEST as u64)
                .map_err(|error| crate::files::explained(workspace, Some(place), error))?;
            Ok((place.display(), read))
        }
    }
}

fn put(
    workspace: &Workspace,
    folder: &Path,
    file: &PlannedImport,
    source: String,
    content: Vec<u8>,
) -> Result<ImportedFile, ToolError> {
    let failed =
        |error: stepwell_workspace::Error| crate::files::explained(workspace, Some(&file.place), error);
    let (path, bytes) = (file.place.display(), content.len() as u64);
    if !file.extract {
        if file.place.absolute().symlink_metadata().is_ok() && !file.overwrite {
            return Err(ToolError::validation(format!("`{path}` exists by now")));
        }
        workspace.write(&file.place, &content).map_err(failed)?;
        return Ok(ImportedFile { source, path, bytes, unpacked: None, left_out: Vec::new() });
    }
    // Taken apart outside of the workspace first: an archive that is refused leaves nothing behind.
    let room = tempfile::Builder::new().prefix("import-").tempdir_in(folder);
    let room = room.map_err(|error| ToolError::execution(error.to_string()))?;
    let (archive, unpacked) = (room.path().join("archive"), room.path().join("unpacked"));
    let broken = |error: stepwell_workspace::Error| ToolError::validation(format!("{source}: {error}"));
    files::write_atomic(&archive, &content, Privacy::Private).map_err(broken)?;
    let everything = |path: &Path| Some(path.to_path_buf());
    match content.as_slice() {
        [0x1f, 0x8b, ..] => unpack_tar_gz(&archive, &unpacked, &everything, UNPACK),
        [b'P', b'K', ..] => unpack_zip(&archive, &unpacked, &everything, UNPACK),
        _ => return Err(ToolError::validation(format!("{source} is no .tar.gz and no .zip"))),
    }
    .map_err(broken)?;
    let mut left_out = Vec::new();
    let mut count = 0;
    for relative in below(&unpacked).map_err(broken)? {
        if protected_part(&relative.to_string_lossy()).is_some() {
            left_out.push(relative.display().to_string());
            continue;
        }
        let target = file.place.join(&relative);
        if target.absolute().symlink_metadata().is_ok() && !file.overwrite {
            return Err(ToolError::validation(format!(
                "`{}` exists; `overwrite` replaces it",
                target.display()
            )));
        }
        // What the person hides is not written over either.
        let target = crate::files::place(workspace, &target.absolute().to_string_lossy())?;
        let bytes = files::read(&unpacked.join(&relative)).map_err(broken)?;
        workspace.write_as(&target, &bytes, Executable::Keep).map_err(failed)?;
        count += 1;
    }
    Ok(ImportedFile { source, path, bytes, unpacked: Some(count), left_out })
}

/// Files below a folder, relative to it.
fn below(folder: &Path) -> stepwell_workspace::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for (path, kind) in files::list_kinds(&at)? {
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                found.extend(path.strip_prefix(folder).ok().map(Path::to_path_buf));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[async_trait]
impl Tool for ImportFile {
    type Input = ImportFileInput;
    type Plan = ImportPlan;
    type Output = TextAnswer<ImportBody>;

    fn spec(&self) -> ToolSpec {
        spec("import_file")
    }

    fn brings(&self) -> &'static [&'static str] {
        &["import_files_batch"]
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        planned(ctx, &self.workspace, &[input.file])
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError> {
        import(ctx, &self.workspace, plan).await
    }
}

#[async_trait]
impl Tool for ImportFilesBatch {
    type Input = ImportBatchInput;
    type Plan = ImportPlan;
    type Output = TextAnswer<ImportBody>;

    fn spec(&self) -> ToolSpec {
        spec("import_files_batch")
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        planned(ctx, &self.workspace, &input.files)
    }

    async fn run(&self, ctx: &ToolContext, plan: Self::Plan) -> Result<Self::Output, ToolError> {
        import(ctx, &self.workspace, plan).await
    }
}
