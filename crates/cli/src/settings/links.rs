//! Where the links on a path lead, for the judge of calls: `cat notes` may read a file far away.

use std::path::{Path, PathBuf};

use stepwell_tool_runtime::Below;
use stepwell_workspace::files;

/// Entries of folders that are looked at for one pattern; of more it is not known where they lead.
const MOST_ENTRIES: usize = 10_000;

/// Where a path really leads, and where the links do that lie below it. What leads where it seems to is left out.
pub fn follow(below: &Below<'_>) -> Option<Vec<String>> {
    let path = Path::new(below.path);
    let real = real_path(path);
    let mut found = Vec::new();
    if real != path {
        found.push(real.to_string_lossy().into_owned());
    }
    let mut folders = vec![(real, below.levels)];
    let mut seen = 0;
    while let Some((folder, levels)) = folders.pop() {
        if levels == 0 {
            continue;
        }
        // A folder that is not there, or is a file, holds no links.
        for entry in files::list_dir(&folder).unwrap_or_default() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return None;
            }
            let name = entry.file_name().unwrap_or_default().as_encoded_bytes();
            if levels == below.levels && !name.starts_with(below.beginning.as_bytes()) {
                continue;
            }
            let Ok(kind) = entry.symlink_metadata() else { continue };
            if kind.is_symlink() {
                found.push(real_path(&entry).to_string_lossy().into_owned());
            } else if kind.is_dir() {
                folders.push((entry, levels - 1));
            }
        }
    }
    Some(found)
}

/// The path without links, as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = above.canonicalize() {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
        // A link that leads to nothing yet: what is made through it lies there.
        if let (Ok(target), Some(folder)) = (above.read_link(), above.parent()) {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            return folder.join(target).join(rest);
        }
    }
    path.to_path_buf()
}
