//! Which Python a folder's programs run with.

use std::path::PathBuf;

use super::context::{Context, is_file};

/// The interpreter of the active virtual environment, of the folder's own, or of the search path.
pub(crate) fn find_python(ctx: &Context) -> Option<PathBuf> {
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .iter()
        .filter_map(|name| ctx.environment.get(*name))
        .map(PathBuf::from);
    // A program in a folder of the workspace uses the workspace's environment where the folder has none.
    let folders = std::iter::once(&ctx.folder).chain(ctx.folders.iter().map(|folder| &folder.path));
    let of_folder = folders.flat_map(|folder| [".venv", "venv", "env", ".env"].map(|name| folder.join(name)));
    active
        .chain(of_folder)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("bin/python"))
        .find(|python| is_file(python))
        .or_else(|| ctx.on_path("python3"))
        .or_else(|| ctx.on_path("python"))
}
