//! Which files a module is, by the rules of each language.

use std::collections::{HashMap, HashSet};

use super::Resolver;
use crate::facts::Kind;
use crate::index::FileId;
use crate::languages::Language;

impl Resolver<'_> {
    /// The files a module's name means, seen from a file; empty for one outside of the workspace.
    pub(super) fn module_files(&self, file: FileId, module: &str) -> Vec<FileId> {
        let key = (file, module.to_owned());
        if let Some(known) = self.modules.borrow().get(&key) {
            return known.clone();
        }
        let found = self.find_module_files(file, module);
        self.modules.borrow_mut().insert(key, found.clone());
        found
    }

    fn find_module_files(&self, file: FileId, module: &str) -> Vec<FileId> {
        let path = self.index.path(file);
        match self.language(file) {
            Some(Language::Python) => self.python_module(path, module),
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
                self.script_module(path, module)
            }
            Some(Language::Go) => self.go_package(path, module),
            Some(Language::C | Language::Cpp) => self.included(path, module),
            Some(Language::Java) => self.java_files(module),
            Some(Language::Rust) => self.rust_module(file, module).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The files of the workspace that a file imports directly.
    pub fn dependencies(&self, file: FileId) -> Vec<FileId> {
        let outline = self.index.outline(file);
        let mut found = Vec::new();
        let mut seen = HashSet::from([file]);
        for import in outline.imports.iter().filter(|import| !import.module.is_empty()) {
            let mut files = Vec::new();
            match self.language(file) {
                Some(Language::Python) => {
                    // Importing a name from a package runs the package, and the name may be a module of it.
                    files.extend(self.module_files(file, &import.module));
                    let names = import.names.iter().map(|name| name.name.as_str());
                    for name in names.filter(|name| !matches!(*name, "" | "*")) {
                        files.extend(self.module_files(file, &join_python(&import.module, name)));
                    }
                }
                Some(Language::Rust) => {
                    for name in &import.names {
                        let joined = format!("{}::{}", import.module, name.name);
                        let below = self.rust_module(file, joined.trim_start_matches("::"));
                        files.extend(below.or_else(|| self.rust_module(file, &import.module)));
                    }
                }
                _ => files.extend(self.module_files(file, &import.module)),
            }
            found.extend(files.into_iter().filter(|found| seen.insert(*found)));
        }
        found
    }

    pub(super) fn first(&self, candidates: &[String]) -> Vec<FileId> {
        candidates.iter().find_map(|candidate| self.index.file(&normal(candidate)?)).into_iter().collect()
    }

    fn python_module(&self, from: &str, module: &str) -> Vec<FileId> {
        let dots = module.len() - module.trim_start_matches('.').len();
        let rest = module[dots..].replace('.', "/");
        let forms = |base: &str| {
            let joined = join(base, &rest);
            vec![
                format!("{joined}.py"),
                join(&joined, "__init__.py"),
                format!("{joined}.pyi"),
                join(&joined, "__init__.pyi"),
            ]
        };
        if dots > 0 {
            let mut base = folder(from);
            for _ in 1..dots {
                base = folder(base);
            }
            if rest.is_empty() {
                return self.first(&[join(base, "__init__.py"), join(base, "__init__.pyi")]);
            }
            return self.first(&forms(base));
        }
        // The root, then `src`, then the folders above the file that are no packages themselves: where tests and
        // scripts import from. Within a package a plain name never means the file beside.
        let mut bases = vec![String::new(), "src".to_owned(), "lib".to_owned()];
        let mut base = folder(from);
        while !base.is_empty() {
            if self.index.file(&join(base, "__init__.py")).is_none() {
                bases.push(base.to_owned());
            }
            base = folder(base);
        }
        let candidates: Vec<String> = bases.iter().flat_map(|base| forms(base)).collect();
        self.first(&candidates)
    }

    fn included(&self, from: &str, module: &str) -> Vec<FileId> {
        let beside = join(folder(from), module);
        if let Some(found) = normal(&beside).and_then(|path| self.index.file(&path)) {
            return vec![found];
        }
        if let Some(found) = self.index.file(module) {
            return vec![found];
        }
        // An include folder that is not named: the file whose path ends so, the nearest first.
        let ending = format!("/{}", module.trim_start_matches("./").trim_start_matches("../"));
        let mut found: Vec<(usize, &str, FileId)> = Vec::new();
        let name = ending.rsplit('/').next().unwrap_or_default();
        for id in self.index.files_called(name) {
            let path = self.index.path(id);
            if path.ends_with(&ending) {
                let common =
                    from.split('/').zip(path.split('/')).take_while(|(one, other)| one == other).count();
                found.push((usize::MAX - common, path, id));
            }
        }
        found.sort_unstable();
        found.first().map(|(.., id)| *id).into_iter().collect()
    }

    /// The files that a type of this whole name may stand in.
    pub(super) fn java_files(&self, module: &str) -> Vec<FileId> {
        let ending = format!("{}.java", module.replace('.', "/"));
        let name = ending.rsplit('/').next().unwrap_or_default();
        let is_meant = |id: &FileId| {
            let path = self.index.path(*id);
            path == ending || path.strip_suffix(&ending).is_some_and(|before| before.ends_with('/'))
        };
        self.index.files_called(name).into_iter().filter(is_meant).collect()
    }

    /// The file of a path like `crate::a::b`, as far as it names modules that are files.
    pub(super) fn rust_module(&self, file: FileId, path: &str) -> Option<FileId> {
        let mut parts = path.split("::").filter(|part| !part.is_empty()).peekable();
        let mut current = match parts.peek().copied()? {
            "crate" => {
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
        let mut named = outline.named(name).map(|(_, one)| one);
        let declared = named.find(|definition| definition.kind == Kind::Module)?;
        if !declared.is_declaration {
            // A module in braces: its names stand in the same file.
            return Some(file);
        }
        let path = self.index.path(file);
        let (base, own) = (folder(path), path.rsplit('/').next()?.trim_end_matches(".rs"));
        let inside = if matches!(own, "lib" | "main" | "mod") { base.to_owned() } else { join(base, own) };
        let candidates = [join(&inside, &format!("{name}.rs")), join(&inside, &format!("{name}/mod.rs"))];
        candidates.iter().find_map(|candidate| self.index.file(candidate))
    }
}

pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn join(base: &str, rest: &str) -> String {
    if base.is_empty() { rest.to_owned() } else { format!("{base}/{rest}") }
}

pub(super) fn join_python(module: &str, name: &str) -> String {
    if module.ends_with('.') { format!("{module}{name}") } else { format!("{module}.{name}") }
}

/// Without `.` and `..`; `None` where it leads out.
pub(super) fn normal(path: &str) -> Option<String> {
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
