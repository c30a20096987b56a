//! Modules as files, and paths.

use std::collections::HashSet;

use super::Resolver;
use crate::index::FileId;

impl Resolver<'_> {
    /// The files a module's name means, seen from a file; empty for one outside of the workspace.
    pub(crate) fn module_files(&self, file: FileId, module: &str) -> Vec<FileId> {
        let key = (file, module.to_owned());
        if let Some(known) = self.modules.borrow().get(&key) {
            return known.clone();
        }
        let found = self.rules(file).find_module_files(file, module);
        self.modules.borrow_mut().insert(key, found.clone());
        found
    }

    /// Lists the files of the workspace that a file imports directly.
    pub fn dependencies(&self, file: FileId) -> Vec<FileId> {
        let outline = self.index.outline(file);
        let mut found = Vec::new();
        let mut seen = HashSet::from([file]);
        for import in outline.imports.iter().filter(|import| !import.module.is_empty()) {
            let files = self.rules(file).imported_files(file, import);
            found.extend(files.into_iter().filter(|found| seen.insert(*found)));
        }
        found
    }

    pub(crate) fn first(&self, candidates: &[String]) -> Vec<FileId> {
        candidates.iter().find_map(|candidate| self.index.file(&normal(candidate)?)).into_iter().collect()
    }
}

pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(crate) fn join(base: &str, rest: &str) -> String {
    if base.is_empty() { rest.to_owned() } else { format!("{base}/{rest}") }
}

/// Without `.` and `..`; `None` where it leads out.
pub(crate) fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
