//! Which Python a folder's programs run with.

use std::path::PathBuf;

use super::context::{Context, is_file};

/// Names of the folders that are taken for a folder's own environment.
const ENVIRONMENTS: [&str; 4] = [".venv", "venv", "env", ".env"];

/// The folder's own environment that [`find_python`] passes over because the folder is not trusted.
pub(crate) fn unused_environment(ctx: &Context) -> Option<&'static str> {
    if ctx.trusted || ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().any(|name| ctx.environment.contains_key(*name)) {
        return None;
    }
    ENVIRONMENTS.into_iter().find(|name| is_file(&ctx.folder.join(name).join("bin/python")))
}

/// The interpreter of the active virtual environment, of a trusted folder's own, or of the search path.
pub(crate) fn find_python(ctx: &Context) -> Option<PathBuf> {
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .iter()
        .filter_map(|name| ctx.environment.get(*name))
        .map(PathBuf::from);
    // A program in a folder of the workspace uses the workspace's environment where the folder has none.
    let folders = std::iter::once(&ctx.folder).chain(ctx.folders.iter().map(|folder| &folder.path));
    let of_folder = folders.flat_map(|folder| ENVIRONMENTS.map(|name| folder.join(name)));
    active
        .chain(of_folder.filter(|_| ctx.trusted))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("bin/python"))
        .find(|python| is_file(python))
        .or_else(|| ctx.on_path("python3"))
        .or_else(|| ctx.on_path("python"))
}
