//! Modules and crates of Rust as files.

use std::collections::HashMap;

use super::Rust;
use crate::facts::{Definition, Kind};
use crate::index::FileId;
use crate::resolve::modules::{folder, join, normal};

impl Rust<'_, '_> {
    /// The file of a path like `crate::a::b`, as far as it names modules that are files.
    pub(super) fn rust_module(&self, file: FileId, path: &str) -> Option<FileId> {
        let mut parts = path.split("::").filter(|part| !part.is_empty()).peekable();
        let mut current = match parts.peek().copied()? {
            "crate" | "$crate" => {
                parts.next();
                self.crate_root(file)?
            }
            "self" => {
                parts.next();
                file
            }
            "super" => {
                parts.next();
                self.parent_module(file)?
            }
            first => {
                // A module declared here, or (since 2018) a crate.
                match self.child_module(file, first) {
                    Some(found) => {
                        parts.next();
                        found
                    }
                    None => {
                        return self.crate_named(first).and_then(|root| {
                            parts.next();
                            parts.try_fold(root, |module, part| self.child_module(module, part))
                        });
                    }
                }
            }
        };
        for part in parts {
            current = if part == "super" {
                self.parent_module(current)?
            } else {
                self.child_module(current, part)?
            };
        }
        Some(current)
    }

    /// The root file of a crate of the workspace with that name.
    fn crate_named(&self, name: &str) -> Option<FileId> {
        let dashed = name.replace('_', "-");
        let root = self.index.workspace().root();
        let own = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if own == name || own == dashed {
            return self.index.file("src/lib.rs");
        }
        let named = self.index.crates(|| self.named_crates());
        if let Some(found) = named.get(name) {
            return Some(*found);
        }
        [name, &dashed].iter().find_map(|name| {
            self.index
                .file(&format!("crates/{name}/src/lib.rs"))
                .or_else(|| self.index.file(&format!("{name}/src/lib.rs")))
        })
    }

    /// The library of each crate of the workspace, by the name its manifest gives it.
    fn named_crates(&self) -> HashMap<String, FileId> {
        let mut crates = HashMap::new();
        for manifest in self.index.files_called("Cargo.toml") {
            let source = self.index.source(manifest);
            let mut is_package = false;
            let name = source.lines().find_map(|line| {
                if line.starts_with('[') {
                    is_package = line.trim() == "[package]";
                }
                let (key, value) = line.split_once('=').filter(|_| is_package)?;
                (key.trim() == "name").then(|| value.trim().trim_matches('"').replace('-', "_"))
            });
            let base = folder(self.index.path(manifest));
            let root = self.index.file(&join(base, "src/lib.rs"));
            if let (Some(name), Some(root)) = (name, root) {
                crates.insert(name, root);
            }
        }
        crates
    }

    pub(super) fn crate_root(&self, file: FileId) -> Option<FileId> {
        let mut base = folder(self.index.path(file));
        loop {
            for name in ["lib.rs", "main.rs"] {
                if let Some(found) = self.index.file(&join(base, name)) {
                    return Some(found);
                }
            }
            if base.is_empty() {
                return None;
            }
            base = folder(base);
        }
    }

    fn parent_module(&self, file: FileId) -> Option<FileId> {
        let path = self.index.path(file);
        let (base, name) = (folder(path), path.rsplit('/').next()?);
        if matches!(name, "lib.rs" | "main.rs") {
            return None;
        }
        let above = if name == "mod.rs" { folder(base) } else { base };
        let by_name =
            above.is_empty().then_some(()).map_or_else(|| self.index.file(&format!("{above}.rs")), |()| None);
        by_name
            .or_else(|| self.index.file(&join(above, "mod.rs")))
            .or_else(|| self.index.file(&join(above, "lib.rs")))
            .or_else(|| self.index.file(&join(above, "main.rs")))
    }

    fn child_module(&self, file: FileId, name: &str) -> Option<FileId> {
        let outline = self.index.outline(file);
        let mut named = outline.named(name);
        let declared = named.find(|definition| definition.kind == Kind::Module)?;
        if !declared.is_declaration {
            // A module in braces: its names stand in the same file.
            return Some(file);
        }
        self.declared_files(file, declared).first().copied()
    }

    /// The files that `mod name;` may stand for.
    pub(super) fn declared_files(&self, file: FileId, declared: &Definition) -> Vec<FileId> {
        let (path, name) = (self.index.path(file), &declared.name);
        let (base, own) = (folder(path), path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs"));
        let inside = if matches!(own, "lib" | "main" | "mod") { base.to_owned() } else { join(base, own) };
        let candidates = [join(&inside, &format!("{name}.rs")), join(&inside, &format!("{name}/mod.rs"))];
        if let Some(found) = candidates.iter().find_map(|candidate| self.index.file(candidate)) {
            return vec![found];
        }
        let named = self.paths_in_attributes(file, declared);
        named.iter().filter_map(|path| self.index.file(&normal(&join(base, path))?)).collect()
    }
}
