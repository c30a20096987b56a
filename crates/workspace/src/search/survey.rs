//! All files and folders with the states they are in, for who wants to know later what has changed.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{IsCancelled, WalkRules};
use crate::files::FileStamp;
use crate::{Inside, Result, Workspace};

/// A file that a survey came by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedFile {
    /// Relative to the folder that was surveyed.
    pub path: PathBuf,
    pub seen: Seen,
}

/// A name in a folder, with the state of the file behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// `None` where a link leads nowhere, or to a folder: those are found where they are.
    pub stamp: Option<FileStamp>,
    /// Whether it can be changed by another path: a link leads to it, or it is one.
    pub is_shared: bool,
}

impl Seen {
    /// What is there by this name now; `None` when there is nothing, or nothing that may be looked at.
    pub fn at(path: &Path) -> Option<Self> {
        std::fs::symlink_metadata(path).ok().map(|metadata| Self::of(path, &metadata))
    }

    /// By what is known of the name itself.
    fn of(path: &Path, metadata: &Metadata) -> Self {
        if !metadata.is_symlink() {
            return Self { stamp: Some(FileStamp::of(metadata)), is_shared: metadata.nlink() > 1 };
        }
        // Of the link as well: a file that is moved over a link to it is not the link, which may have been refused.
        let both =
            |target: FileStamp| FileStamp { inode: target.inode.rotate_left(32) ^ metadata.ino(), ..target };
        let target = std::fs::metadata(path).ok().filter(|target| !target.is_dir());
        Self { stamp: target.as_ref().map(FileStamp::of).map(both), is_shared: true }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// In no order, as are the folders.
    pub files: Vec<SurveyedFile>,
    /// Beneath the folder that was surveyed, also those without files; the state is that before they were listed.
    pub folders: Vec<(PathBuf, Option<FileStamp>)>,
    /// The walk was stopped before its end.
    pub is_cut: bool,
}

impl Workspace {
    /// The folders beneath a place, and the files in them that are wanted by their paths.
    pub fn survey(
        &self,
        place: &Inside,
        rules: &WalkRules,
        is_wanted: &(dyn Fn(&Path) -> bool + Sync),
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Survey> {
        let (parts, is_cut) =
            self.walk(place, rules, is_cancelled, Survey::default, |survey, entry, path| {
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                if !is_folder && !is_wanted(path) {
                    return;
                }
                let Ok(metadata) = entry.metadata() else { return };
                if is_folder {
                    survey.folders.push((path.to_path_buf(), Some(FileStamp::of(&metadata))));
                    return;
                }
                let seen = Seen::of(entry.path(), &metadata);
                survey.files.push(SurveyedFile { path: path.to_path_buf(), seen });
            })?;
        let mut all = Survey { is_cut, ..Survey::default() };
        for mut part in parts {
            all.files.append(&mut part.files);
            all.folders.append(&mut part.folders);
        }
        Ok(all)
    }
}
