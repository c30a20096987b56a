//! A hash of everything in the folder of a skill, by which a change is noticed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use stepwell_workspace::files;

/// Bounds of a skill; a larger folder is none.
const MOST_FILES: usize = 500;
const MOST_BYTES: u64 = 20 * 1024 * 1024;
const DEEPEST: usize = 8;

/// What the folder of a skill holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillDigest {
    /// SHA-256 over names and contents, in hex.
    pub sha256: String,
    /// Paths from the folder, with their sizes.
    pub files: Vec<(PathBuf, u64)>,
}

/// Hashes the folder of a skill. Links in it are refused, because they lead elsewhere on another machine.
pub fn digest(folder: &Path) -> Result<SkillDigest, String> {
    let mut hasher = Sha256::new();
    let (mut listed, mut bytes) = (Vec::new(), 0);
    for relative in checked_files(folder)? {
        let content = files::read(&folder.join(&relative)).map_err(|error| error.to_string())?;
        bytes += content.len() as u64;
        if bytes > MOST_BYTES {
            return Err(format!("{}: it has more than {} MB", folder.display(), MOST_BYTES >> 20));
        }
        hasher.update(relative.to_string_lossy().as_bytes());
        hasher.update((content.len() as u64).to_le_bytes());
        hasher.update(&content);
        listed.push((relative, content.len() as u64));
    }
    Ok(SkillDigest { sha256: hex(&hasher.finalize()), files: listed })
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
    }
    text
}

/// The files of a skill as far as they can be listed, for showing.
pub(super) fn files_below(folder: &Path) -> Vec<PathBuf> {
    walk(folder).map(|(files, _)| files).unwrap_or_default()
}

fn checked_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let (found, link) = walk(folder)?;
    match link {
        Some(link) => Err(format!("{}: a skill may not hold links", link.display())),
        None => Ok(found),
    }
}

/// The plain files, sorted, and the first link.
fn walk(folder: &Path) -> Result<(Vec<PathBuf>, Option<PathBuf>), String> {
    let mut found = Vec::new();
    let mut link = None;
    let mut folders = vec![(folder.to_path_buf(), 0)];
    while let Some((path, depth)) = folders.pop() {
        for (entry, kind) in files::list_kinds(&path).map_err(|error| error.to_string())? {
            let name = entry.file_name().unwrap_or_default();
            if kind.is_symlink() {
                link.get_or_insert(entry);
            } else if kind.is_dir() {
                if name != ".git" && name != "__pycache__" && name != "node_modules" && depth < DEEPEST {
                    folders.push((entry, depth + 1));
                }
            } else if kind.is_file() {
                found.extend(entry.strip_prefix(folder).ok().map(Path::to_path_buf));
                if found.len() > MOST_FILES {
                    return Err(format!("{}: it has more than {MOST_FILES} files", folder.display()));
                }
            }
        }
    }
    found.sort();
    Ok((found, link))
}
