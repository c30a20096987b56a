//! Remembers which tests failed last, for a run of these alone. Kept in a file, so that a new process knows them too.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stepwell_workspace::files::{self, Privacy};

use super::framework::Framework;

/// Failures that are remembered.
const MOST: usize = 500;

/// A test that failed: its id, and the package or file it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedId {
    pub id: String,
    pub group: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    framework: Framework,
    folder: PathBuf,
    failed: Vec<FailedId>,
}

/// The failures of one workspace.
#[derive(Clone, Debug)]
pub struct LastFailures {
    file: PathBuf,
}

impl LastFailures {
    pub fn new(folder: &Path, root: &Path) -> Self {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        root.hash(&mut hasher);
        Self { file: folder.join(format!("{:016x}.json", hasher.finish())) }
    }

    /// What failed last time in a folder.
    pub fn of(&self, framework: Framework, folder: &Path) -> Vec<FailedId> {
        let all = self.read();
        let found = all.into_iter().find(|kept| kept.framework == framework && kept.folder == folder);
        found.map(|kept| kept.failed).unwrap_or_default()
    }

    /// Replaces what is known of a folder; where only some tests ran, those that were not run stay as they were.
    pub fn keep(&self, framework: Framework, folder: &Path, ran: &[&str], failed: Vec<FailedId>, all: bool) {
        let mut kept = self.read();
        let before = kept.iter().position(|kept| kept.framework == framework && kept.folder == folder);
        let mut now: Vec<FailedId> = match before.map(|at| kept.remove(at)) {
            Some(before) if !all => {
                before.failed.into_iter().filter(|test| !ran.contains(&test.id.as_str())).collect()
            }
            _ => Vec::new(),
        };
        now.extend(failed);
        now.truncate(MOST);
        kept.push(Kept { framework, folder: folder.to_path_buf(), failed: now });
        kept.sort_by(|left, right| left.folder.cmp(&right.folder));
        // Without it the next run cannot choose by it, which is no reason to fail this one.
        if let (Some(parent), Ok(text)) = (self.file.parent(), serde_json::to_vec(&kept)) {
            files::create_private_dir(parent).ok();
            files::write_atomic(&self.file, &text, Privacy::Private).ok();
        }
    }

    fn read(&self) -> Vec<Kept> {
        let text = files::read_if_exists(&self.file).ok().flatten();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}
