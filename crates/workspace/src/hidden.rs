//! Paths the person hides from the agent: with `.stepwellignore` or `.rooignore`, in gitignore's syntax, or by a
//! rule that denies reading.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::{Error, Result, patterns};

const HIDING_FILES: [&str; 2] = [".stepwellignore", ".rooignore"];

/// An ignore file longer than this is not one.
const LONGEST: u64 = 1024 * 1024;

/// What may not be read by a rule of the person's: an absolute path in, the rule's text out.
#[derive(Clone, Default)]
pub struct Denial(Option<Arc<Denies>>);

type Denies = dyn Fn(&Path) -> Option<String> + Send + Sync;

impl Denial {
    pub fn new(denies: impl Fn(&Path) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(denies)))
    }

    /// Whether nothing at all is denied.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The rule that denies reading a path.
    pub fn of(&self, absolute: &Path) -> Option<String> {
        self.0.as_ref().and_then(|denies| denies(absolute))
    }
}

impl std::fmt::Debug for Denial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_empty() { "Denial(nothing)" } else { "Denial(by rules)" })
    }
}

/// The rules of one root. They are read once: an agent that could change them during its work could unhide.
#[derive(Debug)]
pub(crate) struct Hidden {
    root: PathBuf,
    denial: Denial,
    rules: Option<Gitignore>,
}

impl Hidden {
    /// Reads the rules. A file that is there and cannot be read is an error: its rules would not hold.
    pub(crate) fn read(root: &Path, denial: &Denial) -> Result<Self> {
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
                patterns::check(line).map_err(|problem| {
                    Error::io("understand", &path, std::io::Error::other(format!("a line of it: {problem}")))
                })?;
                builder.add_line(Some(path.clone()), line).map_err(|error| {
                    Error::io("understand", &path, std::io::Error::other(error.to_string()))
                })?;
                any = true;
            }
        }
        let rules = any.then(|| builder.build()).transpose();
        let rules =
            rules.map_err(|error| Error::io("understand", root, std::io::Error::other(error.to_string())))?;
        Ok(Self {
            root: root.to_path_buf(),
            denial: denial.clone(),
            rules: rules.filter(|rules| !rules.is_empty()),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_none() && self.denial.is_empty()
    }

    /// The ignore file or the rule that hides a path beneath the root, where one does.
    pub(crate) fn by(&self, relative: &Path) -> Option<String> {
        if relative.as_os_str().is_empty() {
            return None;
        }
        if !self.denial.is_empty()
            && let Some(rule) = self.denial.of(&self.root.join(relative))
        {
            return Some(rule);
        }
        let rules = self.rules.as_ref()?;
        // A name may be a folder's: a rule that ends in a slash then holds for it too.
        let matched = [false, true]
            .into_iter()
            .map(|is_folder| rules.matched_path_or_any_parents(relative, is_folder))
            .find(ignore::Match::is_ignore)?;
        let from = matched.inner().and_then(|glob| glob.from()).and_then(Path::file_name);
        Some(from.map_or_else(|| HIDING_FILES[0].to_owned(), |name| name.to_string_lossy().into_owned()))
    }
}
