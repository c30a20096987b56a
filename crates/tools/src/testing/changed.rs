//! Tests that a change may concern: those in changed files, and those that import them, directly or not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use stepwell_code_intel::ask::Ask;
use stepwell_tool_runtime::{ToolContext, ToolError};
use stepwell_workspace::{Workspace, files};

use super::framework::Framework;
use crate::code::CodeService;
use crate::git::Repository;

/// Files of the graph of imports that are looked at.
const MOST_FILES: usize = 20_000;

/// The files that changed since the last commit, untracked ones included, relative to the workspace.
pub async fn changed_files(ctx: &ToolContext, workspace: &Workspace) -> Result<Vec<String>, ToolError> {
    let repository = Repository::new(workspace, ctx);
    let base = if repository.has_commit().await? { "HEAD" } else { "--cached" };
    let options = ["--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff", "--diff-filter=d"];
    let mut words = vec!["diff", base, "--ignore-submodules=dirty"];
    words.extend(options);
    let changed = repository.ask(&words).await?;
    let untracked = repository.ask(&["ls-files", "--others", "--exclude-standard", "-z"]).await?;
    let all: BTreeSet<String> = changed
        .split('\0')
        .chain(untracked.split('\0'))
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    Ok(all.into_iter().collect())
}

/// The lines that are not committed, by file: those that a diff adds, and all of untracked files.
pub async fn changed_lines(
    ctx: &ToolContext,
    workspace: &Workspace,
) -> Result<BTreeMap<String, Vec<(u32, u32)>>, ToolError> {
    let repository = Repository::new(workspace, ctx);
    let base = if repository.has_commit().await? { "HEAD" } else { "--cached" };
    let options =
        ["--unified=0", "--relative", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];
    let mut words = vec!["diff", base, "--ignore-submodules=dirty", "--src-prefix=a/", "--dst-prefix=b/"];
    words.extend(options);
    let patch = repository.ask(&words).await?;
    let mut found: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    let mut file = None;
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("+++ ") {
            file = name.strip_prefix("b/").map(|name| name.trim_end_matches('\t').to_owned());
        } else if let (Some(rest), Some(file)) = (line.strip_prefix("@@ -"), &file) {
            let added = rest.split_once(" +").and_then(|(_, rest)| rest.split_once(" @@"));
            let Some((added, _)) = added else { continue };
            let (start, count) = added.split_once(',').unwrap_or((added, "1"));
            if let (Ok(start), Ok(count @ 1..)) = (start.parse::<u32>(), count.parse::<u32>()) {
                found.entry(file.clone()).or_default().push((start, start + count - 1));
            }
        }
    }
    let untracked = repository.ask(&["ls-files", "--others", "--exclude-standard", "-z"]).await?;
    for name in untracked.split('\0').filter(|name| !name.is_empty()) {
        found.insert(name.to_owned(), vec![(1, u32::MAX)]);
    }
    Ok(found)
}

/// What a framework is to run for changed files: test files, packages or crates, relative to its folder.
pub async fn affected(
    ctx: &ToolContext,
    workspace: &Workspace,
    code: &Arc<CodeService>,
    framework: Framework,
    folder: &Path,
) -> Result<Vec<String>, ToolError> {
    if matches!(framework, Framework::Ctest | Framework::Gtest) {
        return Err(ToolError::parameter(format!(
            "`changed_only` cannot tell which tests of {} a change concerns",
            framework.name()
        )));
    }
    let changed = changed_files(ctx, workspace).await?;
    let graph = code.ask(ctx, |index| Ask::new(index).dependency_graph(None, MOST_FILES)).await?;
    let mut importers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for edge in &graph.edges {
        if let (Some(from), Some(to)) = (graph.nodes.get(edge.from), graph.nodes.get(edge.to)) {
            importers.entry(to.file.as_str()).or_default().push(from.file.as_str());
        }
    }
    let mut reached: BTreeSet<&str> = changed.iter().map(String::as_str).collect();
    let mut queue: Vec<&str> = reached.iter().copied().collect();
    while let Some(file) = queue.pop() {
        for importer in importers.get(file).into_iter().flatten() {
            if reached.insert(importer) {
                queue.push(importer);
            }
        }
    }
    let root = workspace.root();
    let inside = |file: &str| {
        let path = root.join(file);
        path.strip_prefix(folder).ok().map(|path| path.display().to_string())
    };
    let mut parts: BTreeSet<String> = BTreeSet::new();
    for file in reached {
        let Some(name) = inside(file) else { continue };
        match framework {
            Framework::GoTest if has_end(&name, "go") => {
                parts.insert(name.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned());
            }
            Framework::Cargo | Framework::Nextest if has_end(&name, "rs") || name.ends_with("Cargo.toml") => {
                parts.extend(crate_of(&root.join(file), folder));
            }
            // Fixtures of a folder concern all tests in it.
            Framework::Pytest if name.ends_with("conftest.py") => {
                parts.insert(name.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned());
            }
            Framework::Maven | Framework::Gradle if framework.is_test_file(&name) => {
                let stem = Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
                parts.extend(stem);
            }
            Framework::GoTest | Framework::Cargo | Framework::Nextest => {}
            _ if framework.is_test_file(&name) => {
                parts.insert(name);
            }
            _ => {}
        }
    }
    Ok(parts.into_iter().collect())
}

fn has_end(name: &str, end: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == end)
}

/// The crate that a file belongs to.
fn crate_of(file: &Path, top: &Path) -> Option<String> {
    let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
    folders.filter_map(|folder| files::read_if_exists(&folder.join("Cargo.toml")).ok().flatten()).find_map(
        |text| {
            let package = text.split_once("[package]")?.1;
            let line = package.lines().find(|line| line.trim_start().starts_with("name"))?;
            Some(line.split_once('=')?.1.trim().trim_matches('"').to_owned())
        },
    )
}
