//! Where everything lies on the disk, and the small numbers people call tasks by.

use std::path::{Path, PathBuf};

use stepwell_protocol::TaskId;
use stepwell_workspace::files::{self, LockFile, Privacy};

use crate::{Error, Result};

/// The folder Stepwell keeps its tasks in.
#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn tasks_dir(&self) -> PathBuf {
        self.root.join("tasks")
    }

    pub fn index_path(&self) -> PathBuf {
        self.root.join("index.sqlite")
    }

    /// The folder of a task; fails for an id that is no plain file name.
    pub fn task_dir(&self, id: &TaskId) -> Result<PathBuf> {
        if !id.is_valid() {
            return Err(Error::InvalidTaskId { id: id.clone() });
        }
        Ok(self.tasks_dir().join(id.as_str()))
    }

    pub fn log_path(&self, id: &TaskId) -> Result<PathBuf> {
        Ok(self.task_dir(id)?.join("log.jsonl"))
    }

    pub fn blobs_dir(&self, id: &TaskId) -> Result<PathBuf> {
        Ok(self.task_dir(id)?.join("blobs"))
    }

    /// Where whole tool outputs and files made for the person are kept; made by who writes the first one.
    pub fn artifacts_dir(&self, id: &TaskId) -> Result<PathBuf> {
        Ok(self.task_dir(id)?.join("artifacts"))
    }

    /// The document of the task's plan, which the person may edit.
    pub fn plan_path(&self, id: &TaskId) -> Result<PathBuf> {
        Ok(self.task_dir(id)?.join("plan.md"))
    }

    pub(crate) fn lock_path(&self, id: &TaskId) -> Result<PathBuf> {
        Ok(self.task_dir(id)?.join("lock"))
    }

    /// The ids of all task folders, also of those whose log cannot be read, oldest first.
    pub fn task_ids(&self) -> Result<Vec<TaskId>> {
        let entries = files::list_dir(&self.tasks_dir())?;
        let names = entries.iter().filter_map(|path| path.file_name()?.to_str()).map(TaskId::from);
        Ok(names.filter(TaskId::is_valid).collect())
    }

    /// Takes the next task number. Two processes never get the same one; a number is not given twice, also
    /// after its task was deleted. Needs no index: the counter is a file, and where that is missing the logs are asked.
    pub fn allocate_number(&self) -> Result<u32> {
        files::create_private_dir(&self.root)?;
        let _lock = LockFile::take(&self.root.join("number.lock"))?;
        let path = self.root.join("number");
        let last = match files::read_if_exists(&path)?.and_then(|text| text.trim().parse::<u32>().ok()) {
            Some(last) => last,
            None => self.highest_number()?,
        };
        let number = last.saturating_add(1);
        files::write_atomic(&path, format!("{number}\n").as_bytes(), Privacy::Private)?;
        Ok(number)
    }

    fn highest_number(&self) -> Result<u32> {
        let mut highest = 0;
        for id in self.task_ids()? {
            if let Ok(info) = crate::log::read_info(self, &id) {
                highest = highest.max(info.number);
            }
        }
        Ok(highest)
    }
}
