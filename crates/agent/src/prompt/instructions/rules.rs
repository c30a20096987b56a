//! Folders of rules: `.roo/rules*` and `.clinerules/` as Roo-Code reads them, `.claude/rules` with `paths:`.

use std::path::{Path, PathBuf};

use stepwell_workspace::{files, patterns};

use crate::error::Result;
use crate::front_matter::FrontMatter;

/// Files of one folder of rules.
const MOST_FILES: usize = 200;
/// Levels of folders below one.
const DEEPEST: usize = 5;
/// Entries that are looked at in one folder of rules.
const MOST_ENTRIES: usize = 5000;

/// Names and endings of files that programs leave behind.
const LEFT_BEHIND: &[&str] = &[".ds_store", "thumbs.db", "desktop.ini"];
const LEFT_BEHIND_ENDINGS: &[&str] = &[
    "bak",
    "cache",
    "crdownload",
    "db",
    "dmp",
    "dump",
    "eslintcache",
    "lock",
    "log",
    "old",
    "part",
    "partial",
    "pyc",
    "pyo",
    "stackdump",
    "swo",
    "swp",
    "temp",
    "tmp",
];

/// Every file below a folder that holds rules, by name.
pub(super) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    let mut folders = vec![(folder.to_path_buf(), 0)];
    let mut looked_at = 0;
    while let Some((folder, depth)) = folders.pop() {
        for path in files::list_dir(&folder)? {
            looked_at += 1;
            if looked_at > MOST_ENTRIES {
                break;
            }
            if path.is_dir() {
                if depth + 1 < DEEPEST {
                    folders.push((path, depth + 1));
                }
            } else if path.is_file() && !is_left_behind(&path) {
                found.push(path);
            }
        }
    }
    let key = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    found.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.cmp(b)));
    found.truncate(MOST_FILES);
    Ok(found)
}

fn is_left_behind(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    LEFT_BEHIND.contains(&name.as_str()) || LEFT_BEHIND_ENDINGS.contains(&ending) || name.ends_with('~')
}

/// The Markdown files below a folder of `.claude/rules`.
pub(super) fn markdown_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = files_below(folder)?;
    found.retain(|path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md")));
    Ok(found)
}

/// A rule without its front matter, and the globs of the files it is for; none for a rule that always holds.
pub(super) fn scoped(text: &str) -> (String, Vec<String>) {
    let read = FrontMatter::of(text);
    let mut paths = read.list("paths");
    paths.extend(read.list("globs"));
    (read.body, paths)
}

/// Whether one of the globs matches a path from the repository's root.
pub(super) fn matches(globs: &[String], relative: &Path) -> bool {
    globs.iter().any(|glob| {
        let glob = glob.trim_start_matches('/');
        patterns::glob(glob).is_ok_and(|matcher| matcher.is_match(relative))
    })
}
