//! Files in, configurations out: every variable, every rule of resolution.

mod files;
mod runs;
mod translate;
mod variables;

use std::path::Path;

use serde_json::{Map, Value};

use super::*;

/// A folder of the given files.
pub(crate) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(&folder.path().join(path), text);
    }
    folder
}

#[allow(clippy::disallowed_methods, reason = "tests lay out their own files")]
pub(crate) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A context that has an answer for everything.
pub(crate) fn context() -> Context {
    let environment = [
        ("HOME", "/home/me"),
        ("PORT", "8080"),
        ("SELF", "<${env:SELF}>"),
        ("FOLDER", "${workspaceFolder}/x"),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut ctx = Context::new(Path::new("/work/shop"), environment.into());
    ctx.folders.push(WorkspaceFolder { name: "api".to_owned(), path: "/work/api".into() });
    ctx.editor = Editor {
        file: Some("/work/shop/src/deep/cart.test.py".into()),
        line: Some(42),
        column: Some(7),
        selected_text: Some("total".to_owned()),
    };
    ctx.exec_path = Some("/opt/editor/bin/code".into());
    ctx.platform = Platform::Linux;
    ctx
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}
