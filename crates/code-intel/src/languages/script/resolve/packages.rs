//! Which file a module of a script is: by its path, by the settings of the project, by the packages of the workspace.

use stepwell_workspace::files;

use super::Script;
use crate::facts::{Manifest, mapped};
use crate::index::FileId;
use crate::resolve::modules::{folder, join};
use crate::resolve::type_ref::has_word;

/// Folders that hold what is built; what it is built from is beneath `src`.
const BUILT: &[&str] = &["dist", "lib", "build", "out", "esm", "cjs", "es"];

/// Modules that come with Node; who says their types is a package.
const OF_NODE: &str = "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel \
    dns domain events fs http http2 https inspector module net os path perf_hooks process punycode \
    querystring readline repl stream string_decoder timers tls tty url util v8 vm worker_threads zlib";

/// The package of a module: `@scope/name/file` is in `@scope/name`.
fn package_of(module: &str) -> &str {
    let parts = if module.starts_with('@') { 2 } else { 1 };
    module.match_indices('/').nth(parts - 1).map_or(module, |(at, _)| &module[..at])
}

impl Script<'_, '_> {
    pub(super) fn script_module(&self, from: &str, module: &str) -> Vec<FileId> {
        if module.starts_with('.') {
            return self.script_file(&join(folder(from), module)).into_iter().collect();
        }
        if module.is_empty() || module.starts_with('/') || module.starts_with("node:") {
            return Vec::new();
        }
        let found = if module.starts_with('#') {
            self.by_imports(from, module)
        } else {
            self.by_settings(from, module)
        };
        found.or_else(|| self.by_package(from, module)).into_iter().collect()
    }

    /// Whether a module is neither in the workspace nor installed, so that nothing is known of it but its import.
    pub(super) fn is_nowhere(&self, file: FileId, module: &str) -> bool {
        let path = self.index.path(file);
        if module.is_empty() || !self.module_files(file, module).is_empty() {
            return false;
        }
        if module.starts_with(['.', '/', '#']) {
            return true;
        }
        let key = (folder(path).to_owned(), package_of(module).to_owned());
        if let Some(known) = self.nowhere.borrow().get(&key) {
            return *known;
        }
        let is_nowhere = !self.is_installed(&key.0, &key.1);
        self.nowhere.borrow_mut().insert(key, is_nowhere);
        is_nowhere
    }

    /// Whether a folder or one above it has a package installed, or what says its types. Node looks above the
    /// workspace too.
    fn is_installed(&self, from: &str, package: &str) -> bool {
        let is_of_node = package.starts_with("node:") || has_word(OF_NODE, package);
        let types = match package.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
            _ if is_of_node => "@types/node".to_owned(),
            Some((scope, name)) => format!("@types/{scope}__{name}"),
            None => format!("@types/{package}"),
        };
        let start = self.index.workspace().root().join(from);
        start.ancestors().any(|above| {
            let installed = above.join("node_modules");
            files::metadata(&installed).is_ok()
                && [package, types.as_str()].iter().any(|name| files::metadata(&installed.join(name)).is_ok())
        })
    }

    /// The file of a path that may lack its ending.
    fn script_file(&self, base: &str) -> Option<FileId> {
        let mut candidates = vec![base.to_owned()];
        let stem =
            ["js", "mjs", "cjs", "jsx"].iter().find_map(|ending| base.strip_suffix(&format!(".{ending}")));
        for stem in [Some(base), stem].into_iter().flatten() {
            for ending in ["ts", "tsx", "d.ts", "mts", "cts", "js", "jsx", "mjs", "cjs", "json"] {
                candidates.push(format!("{stem}.{ending}"));
            }
        }
        for ending in ["ts", "tsx", "d.ts", "js", "jsx", "mjs", "cjs"] {
            candidates.push(join(base, &format!("index.{ending}")));
        }
        self.first(&candidates).first().copied()
    }

    /// By `paths` and `baseUrl` of the nearest settings.
    fn by_settings(&self, from: &str, module: &str) -> Option<FileId> {
        let mut base = folder(from);
        loop {
            for name in ["tsconfig.json", "jsconfig.json"] {
                if let Some(settings) = self.index.file(&join(base, name))
                    && let Some(found) = self.by_settings_file(settings, module)
                {
                    return Some(found);
                }
            }
            if base.is_empty() {
                return None;
            }
            base = folder(base);
        }
    }

    fn by_settings_file(&self, settings: FileId, module: &str) -> Option<FileId> {
        const LONGEST: usize = 8;
        let mut open = vec![settings];
        let mut seen = 0;
        while let Some(settings) = open.pop() {
            seen += 1;
            if seen > LONGEST {
                return None;
            }
            let manifest = self.index.manifest(settings);
            let own = folder(self.index.path(settings)).to_owned();
            let base = join(&own, manifest.base.as_deref().unwrap_or("."));
            for path in mapped(&manifest.paths, module) {
                if let Some(found) = self.script_file(&join(&base, &path)) {
                    return Some(found);
                }
            }
            if manifest.base.is_some()
                && let Some(found) = self.script_file(&join(&base, module))
            {
                return Some(found);
            }
            for extended in manifest.extends.iter().rev().filter(|path| path.starts_with('.')) {
                let path = join(&own, extended);
                open.extend(self.first(&[path.clone(), format!("{path}.json")]));
            }
        }
        None
    }

    /// `#name`, by the nearest package.
    fn by_imports(&self, from: &str, module: &str) -> Option<FileId> {
        let mut base = folder(from);
        loop {
            if let Some(package) = self.index.file(&join(base, "package.json")) {
                let manifest = self.index.manifest(package);
                return self.entered(base, &mapped(&manifest.imports, module));
            }
            if base.is_empty() {
                return None;
            }
            base = folder(base);
        }
    }

    /// By the name of a package of the workspace; of several the nearest.
    fn by_package(&self, from: &str, module: &str) -> Option<FileId> {
        let (name, rest) = module.split_at(package_of(module).len());
        let common =
            |path: &str| from.split('/').zip(path.split('/')).take_while(|(one, other)| one == other).count();
        let packages = self.index.packages();
        let named = packages.iter().filter(|package| self.index.manifest(**package).name == name);
        let package = named.max_by_key(|package| common(self.index.path(**package)))?;
        let (manifest, base) = (self.index.manifest(*package), folder(self.index.path(*package)));
        self.of_package(&manifest, base, rest.trim_start_matches('/'))
    }

    fn of_package(&self, manifest: &Manifest, base: &str, rest: &str) -> Option<FileId> {
        let asked = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
        if let Some(found) = self.entered(base, &mapped(&manifest.exports, &asked)) {
            return Some(found);
        }
        let entries = if rest.is_empty() { manifest.entries.clone() } else { vec![rest.to_owned()] };
        self.entered(base, &entries).or_else(|| {
            let inside = if rest.is_empty() { "src/index".to_owned() } else { format!("src/{rest}") };
            let last = if rest.is_empty() { "index" } else { rest };
            self.entered(base, &[inside, last.to_owned()])
        })
    }

    /// The first of the paths of a package that is there, or what it is built from.
    fn entered(&self, base: &str, paths: &[String]) -> Option<FileId> {
        let as_is = paths.iter().find_map(|path| self.script_file(&join(base, path)));
        as_is.or_else(|| {
            paths.iter().find_map(|path| {
                let (first, rest) = path.trim_start_matches("./").split_once('/')?;
                let plain = rest.strip_suffix(".d.ts").unwrap_or(rest);
                BUILT.contains(&first).then(|| self.script_file(&join(base, &format!("src/{plain}"))))?
            })
        })
    }
}
