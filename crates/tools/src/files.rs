//! Tools on files of the workspace.

mod apply_diff;
mod batch_edit;
mod diff;
mod edit;
mod edit_by_ast;
mod edit_plan;
mod glob;
mod grep;
mod insert;
mod journal;
mod line_ends;
mod list;
mod matching;
mod omission;
mod patch;
mod preview_edit;
mod read;
mod replace;
mod report;
mod seen;
mod service;
mod structure;
mod write;

use std::path::Path;

use stepwell_protocol::ErrorClass;
use stepwell_tool_runtime::{ToolContext, ToolError};
use stepwell_workspace::{Error, Inside, Workspace};

pub use apply_diff::ApplyDiff;
pub use batch_edit::BatchEdit;
pub use edit::Edit;
pub use edit_by_ast::EditByAst;
pub use glob::Glob;
pub use grep::Grep;
pub use insert::Insert;
pub use line_ends::end_of_line;
pub use list::List;
pub use patch::{Patch, patched_paths};
pub use preview_edit::PreviewEdit;
pub(crate) use read::PdfReader;
pub use read::{PDF_TEXT_WORD, Read, pdf_text_main};
pub use service::FileService;
pub use write::Write;

/// Files larger than this are not edited as a whole.
const LARGEST_EDIT: u64 = 20 * 1024 * 1024;

/// Places a path a model gave.
pub(crate) fn place(workspace: &Workspace, path: &str) -> Result<Inside, ToolError> {
    workspace.place(path).map_err(|error| explained(workspace, None, error))
}

/// A file error as the model reads it: what happened, and what to do about it.
pub(crate) fn explained(workspace: &Workspace, place: Option<&Inside>, error: Error) -> ToolError {
    let message = match (&error, place) {
        (Error::NotFound { .. }, Some(place)) => {
            format!("`{}` does not exist; {}", place.display(), workspace.not_found_help(place))
        }
        (Error::LinkOutside { .. }, Some(place)) => format!(
            "`{}` leads outside the workspace ({}) through a symbolic link; nothing outside it may be read or written",
            place.display(),
            workspace.root().display()
        ),
        (Error::OutsideWorkspace { .. } | Error::LinkOutside { .. }, _) => {
            format!("{error} ({}); nothing outside it may be read or written", workspace.root().display())
        }
        (Error::IsAFolder { .. }, _) => format!("{error}; use `list` to see what is in it"),
        _ => match error.hint() {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        },
    };
    let class = match error {
        Error::OutsideWorkspace { .. }
        | Error::LinkOutside { .. }
        | Error::Denied { .. }
        | Error::Hidden { .. }
        | Error::ReadOnly { .. } => ErrorClass::PermissionError,
        Error::BadPath { .. }
        | Error::IsAFolder { .. }
        | Error::NotAFolder { .. }
        | Error::NotAFile { .. }
        | Error::TooLarge { .. }
        | Error::BadPattern { .. }
        | Error::Binary { .. } => ErrorClass::ValidationError,
        _ => ErrorClass::ExecutionError,
    };
    ToolError::new(class, message)
}

/// Does work that may take long on a thread of its own; it hears when the call is cancelled.
async fn in_background<T: Send + 'static>(
    ctx: &ToolContext,
    workspace: &Workspace,
    place: &Inside,
    work: impl FnOnce(&Workspace, &(dyn Fn() -> bool + Sync)) -> stepwell_workspace::Result<T> + Send + 'static,
) -> Result<T, ToolError> {
    let (workspace, place, cancel) = (workspace.clone(), place.clone(), ctx.cancel.clone());
    let done = tokio::task::spawn_blocking(move || {
        work(&workspace, &|| cancel.is_cancelled())
            .map_err(|error| explained(&workspace, Some(&place), error))
    });
    done.await.map_err(|error| ToolError::execution(format!("the search ended early: {error}")))?
}

/// A path found beneath a place, as tools take it.
fn under(place: &Inside, found: &Path) -> String {
    let shown = place.display();
    match (shown.as_str(), found.as_os_str().is_empty()) {
        (_, true) => shown,
        (".", false) => found.display().to_string(),
        (folder, false) => Path::new(folder).join(found).display().to_string(),
    }
}

/// A size for people: "5 B", "1.5 KB", "16 MB".
pub(crate) fn readable_size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1024 => return format!("{bytes} B"),
        1024..1_048_576 => (1024.0, "KB"),
        _ => (1_048_576.0, "MB"),
    };
    let size = format!("{:.1}", bytes as f64 / unit);
    format!("{} {name}", size.strip_suffix(".0").unwrap_or(&size))
}
