//! Which folder an import of Go means: by `go.mod`, `go.work` and `vendor`, or by where a file lies beneath `src` as
//! in the days before modules.

use std::rc::Rc;

use super::Go;
use crate::index::FileId;
use crate::languages::Language;
use crate::resolve::modules::{folder, join, normal};

/// What a `go.mod` or a `go.work` says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GoModule {
    name: String,
    /// Modules that are taken from a folder, which is relative to the file.
    replaced: Vec<(String, String)>,
    /// The folders of the modules that are worked on together.
    used: Vec<String>,
}

impl Go<'_, '_> {
    /// The files of the package that an import means, without the file that imports it.
    pub(super) fn go_package(&self, from: &str, import: &str) -> Vec<FileId> {
        for folder in self.go_folders(folder(from), import) {
            let mut found = self.go_files(&folder);
            found.retain(|found| self.index.path(*found) != from);
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// The Go files of a folder.
    pub(super) fn go_files(&self, folder: &str) -> Vec<FileId> {
        let mut found = self.index.files_in(folder);
        found.retain(|id| self.language(*id) == Some(Language::Go));
        found
    }

    /// The folders that an import may mean, seen from a folder; the first that has files is meant.
    fn go_folders(&self, from: &str, import: &str) -> Vec<String> {
        let mut folders = Vec::new();
        let Some((base, module)) = self.go_file_above(from, "go.mod") else {
            return self.beneath_src(from, import);
        };
        folders.push(join(&base, &format!("vendor/{import}")));
        folders.extend(below(import, &module.name).map(|rest| inside(&base, rest)));
        for (name, local) in &module.replaced {
            let local = normal(&join(&base, local));
            folders.extend(local.zip(below(import, name)).map(|(local, rest)| inside(&local, rest)));
        }
        if let Some((base, work)) = self.go_file_above(from, "go.work") {
            for used in &work.used {
                let Some(used) = normal(&join(&base, used)) else { continue };
                let Some(module) = self.go_file(&join(&used, "go.mod")) else { continue };
                folders.extend(below(import, &module.name).map(|rest| inside(&used, rest)));
            }
        }
        folders
    }

    /// An import is the path of a folder beneath `src`; some keep that order without one, behind the name of a host.
    fn beneath_src(&self, from: &str, import: &str) -> Vec<String> {
        let root = self.index.workspace().root().to_string_lossy().into_owned();
        let here = format!("{}/", join(&root, from).trim_end_matches('/'));
        let to_folder = |base: &str| {
            let wanted = format!("{base}/{import}");
            wanted
                .strip_prefix(&root)
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
                .map(|rest| rest[rest.len().min(1)..].to_owned())
        };
        let mut folders: Vec<String> = here
            .rmatch_indices("/src/")
            .filter_map(|(at, src)| to_folder(&here[..at + src.len() - 1]))
            .collect();
        let host = import.split('/').next().filter(|host| host.contains('.'));
        if let Some(at) = host.and_then(|host| here.rfind(&format!("/{host}/"))) {
            folders.extend(to_folder(&here[..at]));
        }
        folders
    }

    /// The nearest file of that name in a folder or above it, and where it lies.
    fn go_file_above(&self, from: &str, name: &str) -> Option<(String, Rc<GoModule>)> {
        let mut base = from;
        loop {
            if let Some(found) = self.go_file(&join(base, name)) {
                return Some((base.to_owned(), found));
            }
            if base.is_empty() {
                return None;
            }
            base = folder(base);
        }
    }

    fn go_file(&self, path: &str) -> Option<Rc<GoModule>> {
        const LARGEST: u64 = 1 << 20;
        if let Some(known) = self.go_modules.borrow().get(path) {
            return known.clone();
        }
        let workspace = self.index.workspace();
        let text = workspace.place(path).and_then(|place| workspace.read_text(&place, LARGEST));
        let found = text.ok().map(|file| Rc::new(GoModule::read(&file.text)));
        self.go_modules.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }
}

impl GoModule {
    fn read(text: &str) -> Self {
        let mut module = Self::default();
        let mut block = String::new();
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or_default().trim();
            if line == ")" {
                block.clear();
                continue;
            }
            if let Some(word) = line.strip_suffix('(') {
                word.trim().clone_into(&mut block);
                continue;
            }
            let (word, rest) = match block.as_str() {
                "" => line.split_once(char::is_whitespace).unwrap_or((line, "")),
                block => (block, line),
            };
            let plain = |text: &str| text.trim().trim_matches(['"', '`']).to_owned();
            match word {
                "module" => module.name = plain(rest),
                "use" => module.used.push(plain(rest)),
                "replace" => {
                    let Some((old, new)) = rest.split_once("=>") else { continue };
                    let (old, new) = (plain(old.split_whitespace().next().unwrap_or_default()), plain(new));
                    if new.starts_with("./") || new.starts_with("../") {
                        module.replaced.push((old, new));
                    }
                }
                _ => {}
            }
        }
        module
    }
}

/// What stands behind a module's name in an import of one of its packages.
fn below<'i>(import: &'i str, module: &str) -> Option<&'i str> {
    let rest = import.strip_prefix(module).filter(|_| !module.is_empty())?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

fn inside(base: &str, rest: &str) -> String {
    if rest.is_empty() { base.to_owned() } else { join(base, rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_file_is_read_line_by_line_or_in_blocks() {
        let text = "// The app.\nmodule \"example.com/app\" // here\n\ngo 1.22\n\nrequire example.com/x v1.0.0\n\nreplace (\n\texample.com/x v1.0.0 => ./third/x\n\texample.com/z => example.com/y v1.2.3\n)\nreplace example.com/lib => ../lib\n";
        let read = GoModule::read(text);
        assert_eq!(read.name, "example.com/app");
        let replaced: Vec<(&str, &str)> =
            read.replaced.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
        assert_eq!(replaced, [("example.com/x", "./third/x"), ("example.com/lib", "../lib")]);
        assert_eq!(
            GoModule::read("go 1.22\nuse ./a\nuse (\n\t./b\n\t\"./c\"\n)\n").used,
            ["./a", "./b", "./c"]
        );
        for odd in ["", "module", "replace a =>", "use", "replace (\n", ")\n)\n", "module (\n x\n)"] {
            GoModule::read(odd);
        }
    }
}
