//! Interpreters, modules and tools in a project that run without being named: virtual environments and the programs of
//! `node_modules/.bin`.
//!
//! Trust covers what starts them: the interpreter or the link to it, the files that Python runs at its start, and small
//! scripts beside it. Packages as such are not read; they are as many as a project likes.

use std::path::{Path, PathBuf};

use stepwell_workspace::files;

/// Folders that are taken for virtual environments of a project.
const ENVIRONMENTS: &[&str] = &[".venv", "venv", "env", ".env"];
/// Modules that Python imports at its start, or that a debugger of Python begins with.
const MODULES: &[&str] = &[
    "sitecustomize.py",
    "usercustomize.py",
    "sitecustomize/__init__.py",
    "usercustomize/__init__.py",
    "debugpy/__init__.py",
    "debugpy/__main__.py",
    "debugpy/adapter/__init__.py",
    "debugpy/adapter/__main__.py",
    "debugpy/launcher/__init__.py",
    "debugpy/launcher/__main__.py",
    "debugpy/server/__init__.py",
    "debugpy/server/cli.py",
];
/// Programs of a folder whose content counts; with more, the times of the folder do too.
const MOST_PROGRAMS: usize = 1000;
/// Maximum size in bytes of a file whose content counts; of a larger one its size and its times do.
const LONGEST: u64 = 256 * 1024;

/// The files that decide what runs when an interpreter or a tool of the project is started, sorted.
pub fn runtime_files(project: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for environment in ENVIRONMENTS.iter().map(|name| project.join(name)) {
        if environment.join("bin/python").symlink_metadata().is_err() {
            continue;
        }
        found.push(environment.join("pyvenv.cfg"));
        found.extend(programs(&environment.join("bin")));
        // `lib64` is a link to `lib` on most systems, and a folder of its own on some.
        for library in ["lib", "lib64"].map(|name| environment.join(name)) {
            if library.is_symlink() {
                found.push(library);
                continue;
            }
            for version in files::list_dir(&library).unwrap_or_default() {
                let packages = version.join("site-packages");
                found.extend(MODULES.iter().map(|module| packages.join(module)));
                let listed = files::list_dir(&packages).unwrap_or_default();
                found.extend(
                    listed.into_iter().filter(|path| path.extension().is_some_and(|end| end == "pth")),
                );
            }
        }
    }
    found.extend(programs(&project.join("node_modules/.bin")));
    found.retain(|path| path.symlink_metadata().is_ok());
    found.sort();
    found.dedup();
    found
}

/// Those of the files with which an interpreter of the project begins, whatever it is to run.
pub fn starting_files(project: &Path) -> Vec<PathBuf> {
    let mut found = runtime_files(project);
    found.retain(|path| {
        let is_program =
            path.parent().is_some_and(|folder| folder.ends_with("bin") || folder.ends_with(".bin"));
        let is_python = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
        !path.is_dir() && (!is_program || is_python)
    });
    found
}

/// The programs of a folder; more than are looked at make the folder itself count, which changes with its entries.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut listed = files::list_dir(folder).unwrap_or_default();
    if listed.len() > MOST_PROGRAMS {
        listed.truncate(MOST_PROGRAMS);
        listed.push(folder.to_path_buf());
    }
    listed
}

/// What of a file must stay as it is: where a link leads, and the content of what lies in the project. A program of the
/// machine that a link leads to is the machine's to change.
pub fn fingerprint(project: &Path, path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    let mut print = Vec::new();
    if let Ok(target) = path.read_link() {
        print.extend_from_slice(target.as_os_str().as_bytes());
        print.push(0);
    }
    let Ok(real) = path.canonicalize() else { return print };
    print.extend_from_slice(real.as_os_str().as_bytes());
    print.push(0);
    if !real.starts_with(files::resolved(project)) {
        return print;
    }
    match files::metadata(&real) {
        Ok(found) if found.is_file() && found.len() <= LONGEST => {
            print.extend(files::read(&real).unwrap_or_default());
        }
        Ok(found) => {
            for number in
                [found.size() as i64, found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()]
            {
                print.extend_from_slice(&number.to_le_bytes());
            }
        }
        Err(_) => {}
    }
    print
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the tests make a project")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    type Change = fn(&Project);

    struct Project {
        folder: tempfile::TempDir,
    }

    impl Project {
        fn new() -> Self {
            let project = Self { folder: tempfile::tempdir().unwrap() };
            project.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
            project.write(".venv/bin/pytest", "#!/x/python\n");
            project.write(".venv/lib/python3.11/site-packages/a.pth", "import a\n");
            project.write(".venv/lib/python3.11/site-packages/sitecustomize.py", "\n");
            project.write(".venv/lib/python3.11/site-packages/requests/__init__.py", "\n");
            project.write("node_modules/jest/bin/jest.js", "1\n");
            project.write("node_modules/jest/index.js", "1\n");
            std::fs::create_dir_all(project.path("node_modules/.bin")).unwrap();
            symlink("../jest/bin/jest.js", project.path("node_modules/.bin/jest")).unwrap();
            symlink("/bin/sh", project.path(".venv/bin/python")).unwrap();
            project
        }

        fn path(&self, path: &str) -> PathBuf {
            self.folder.path().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            std::fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
            std::fs::write(self.path(path), text).unwrap();
        }

        fn prints(&self) -> Vec<(PathBuf, Vec<u8>)> {
            let project = self.folder.path();
            runtime_files(project)
                .into_iter()
                .map(|path| (path.clone(), fingerprint(project, &path)))
                .collect()
        }
    }

    #[test]
    fn what_starts_an_interpreter_or_a_tool_counts_and_packages_do_not() {
        let project = Project::new();
        let before = project.prints();
        for (path, text) in [
            (".venv/lib/python3.11/site-packages/requests/__init__.py", "changed\n"),
            ("node_modules/jest/index.js", "changed\n"),
            ("src/main.py", "changed\n"),
        ] {
            project.write(path, text);
            assert_eq!(project.prints(), before, "{path}");
        }
        let changes: [(&str, Change); 9] = [
            ("settings", |project| project.write(".venv/pyvenv.cfg", "home = /tmp\n")),
            ("script", |project| project.write(".venv/bin/pytest", "evil\n")),
            ("new script", |project| project.write(".venv/bin/black", "evil\n")),
            ("pth", |project| project.write(".venv/lib/python3.11/site-packages/a.pth", "import b\n")),
            ("new pth", |project| project.write(".venv/lib/python3.11/site-packages/b.pth", "import b\n")),
            ("start module", |project| {
                project.write(".venv/lib/python3.11/site-packages/usercustomize.py", "evil\n");
            }),
            ("interpreter", |project| {
                std::fs::remove_file(project.path(".venv/bin/python")).unwrap();
                symlink("/bin/true", project.path(".venv/bin/python")).unwrap();
            }),
            ("copied interpreter", |project| {
                std::fs::remove_file(project.path(".venv/bin/python")).unwrap();
                project.write(".venv/bin/python", &"x".repeat(LONGEST as usize + 1));
            }),
            ("tool", |project| project.write("node_modules/jest/bin/jest.js", "evil\n")),
        ];
        for (name, change) in changes {
            let project = Project::new();
            let before = project.prints();
            assert_eq!(project.prints(), before, "{name}");
            change(&project);
            assert_ne!(project.prints(), before, "{name}");
        }
    }

    #[test]
    fn a_project_without_its_own_runtimes_has_nothing_to_trust() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("env/production")).unwrap();
        std::fs::write(folder.path().join(".env"), "A=1\n").unwrap();
        assert_eq!(runtime_files(folder.path()), Vec::<PathBuf>::new());
    }
}
