//! Paths the person hides from the agent with `.stepwellignore` or `.rooignore`, in gitignore's syntax.

use std::io::Read;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::{Error, Result};

const HIDING_FILES: [&str; 2] = [".stepwellignore", ".rooignore"];

/// An ignore file longer than this is not one.
const LONGEST: u64 = 1024 * 1024;

/// The rules of one root. They are read once: an agent that could change them during its work could unhide.
#[derive(Debug)]
pub(crate) struct Hidden {
    rules: Option<Gitignore>,
}

impl Hidden {
    /// Reads the rules. A file that is there and cannot be read is an error: its rules would not hold.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut builder = GitignoreBuilder::new("");
        let mut any = false;
        for name in HIDING_FILES {
            let path = root.join(name);
            let mut text = String::new();
            let opened = match std::fs::File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io("read", &path, error)),
            };
            opened
                .take(LONGEST)
                .read_to_string(&mut text)
                .map_err(|error| Error::io("read", &path, error))?;
            for line in text.trim_start_matches('\u{feff}').lines() {
                builder.add_line(Some(path.clone()), line).map_err(|error| {
                    Error::io("understand", &path, std::io::Error::other(error.to_string()))
                })?;
                any = true;
            }
        }
        let rules = any.then(|| builder.build()).transpose();
        let rules =
            rules.map_err(|error| Error::io("understand", root, std::io::Error::other(error.to_string())))?;
        Ok(Self { rules: rules.filter(|rules| !rules.is_empty()) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_none()
    }

    /// The ignore file that hides a path beneath the root, where one does.
    pub(crate) fn by(&self, relative: &Path) -> Option<PathBuf> {
        let rules = self.rules.as_ref()?;
        if relative.as_os_str().is_empty() {
            return None;
        }
        // A name may be a folder's: a rule that ends in a slash then holds for it too.
        let matched = [false, true]
            .into_iter()
            .map(|is_folder| rules.matched_path_or_any_parents(relative, is_folder))
            .find(ignore::Match::is_ignore)?;
        let from = matched.inner().and_then(|glob| glob.from()).and_then(Path::file_name);
        Some(from.map_or_else(|| HIDING_FILES[0].into(), PathBuf::from))
    }
}
