//! Patches as git prints them, file by file, cut to a size.

use schemars::JsonSchema;
use serde::Serialize;
use stepwell_tool_runtime::counted;

/// A file of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedFile {
    /// Relative to the workspace.
    pub path: String,
    /// Where it was before it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// Lines; absent for files that are not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<u64>,
}

/// Reads the output of `--numstat -z`.
pub(super) fn read_counts(output: &str) -> Vec<ChangedFile> {
    let mut fields = output.split('\0');
    let mut found = Vec::new();
    while let Some(field) = fields.next() {
        let mut columns = field.splitn(3, '\t');
        let (Some(added), Some(deleted), Some(path)) = (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let (added, deleted) = (added.trim().parse().ok(), deleted.parse().ok());
        // A renamed file has its two names in fields of their own.
        let (old_path, path) = match path {
            "" => (fields.next().map(str::to_owned), fields.next().unwrap_or_default().to_owned()),
            path => (None, path.to_owned()),
        };
        found.push(ChangedFile { path, old_path, added, deleted });
    }
    found
}

/// `2 files, 10 lines added, 3 deleted`.
pub(super) fn totals(files: &[ChangedFile]) -> String {
    let sum = |of: fn(&ChangedFile) -> Option<u64>| files.iter().filter_map(of).sum::<u64>();
    let (added, deleted) = (sum(|file| file.added), sum(|file| file.deleted));
    format!("{}, {} added, {deleted} deleted", counted(files.len() as u64, "file"), counted(added, "line"))
}

/// `+10 -3 src/a.rs`, as a table of lines.
pub(super) fn count_lines(files: &[ChangedFile]) -> String {
    let line = |file: &ChangedFile| {
        let counts = match (file.added, file.deleted) {
            (Some(added), Some(deleted)) => format!("+{added} -{deleted}"),
            _ => "binary".to_owned(),
        };
        let from = file.old_path.as_ref().map(|old| format!(" (was {old})")).unwrap_or_default();
        format!("{counts}\t{}{from}\n", file.path)
    };
    files.iter().map(line).collect()
}

/// The patches of a diff, each with the line that begins it.
pub(super) fn sections(patch: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = patch.match_indices("\ndiff --git ").map(|(at, _)| at + 1).collect();
    if patch.starts_with("diff --git ") {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    starts.iter().zip(ends).map(|(start, end)| &patch[*start..end]).collect()
}

/// The patches within a limit. Small ones stay whole; what is left is shared by the large ones, which are cut at the end
/// of a line.
pub(super) fn fitted(sections: &[&str], limit: usize) -> (String, usize) {
    let mut sizes: Vec<usize> = sections.iter().map(|section| section.len()).collect();
    sizes.sort_unstable();
    let (mut left, mut share) = (limit, 0);
    for (at, size) in sizes.iter().enumerate() {
        share = left / (sizes.len() - at);
        if *size > share {
            break;
        }
        left -= size;
        share = *size;
    }
    let (mut text, mut cut) = (String::new(), 0);
    for section in sections {
        if section.len() <= share.max(1) {
            text.push_str(section);
            continue;
        }
        cut += 1;
        let end = section.floor_char_boundary(share);
        let end = section[..end].rfind('\n').map_or(0, |at| at + 1);
        let kept = &section[..end];
        let omitted = section[end..].lines().count() as u64;
        text.push_str(kept);
        text.push_str(&format!("[{} of this file left out; give its `path`]\n", counted(omitted, "line")));
    }
    (text, cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_renamed_and_binary_files_are_read() {
        let found = read_counts("3\t1\ta b.rs\0-\t-\tlogo.png\x000\t0\t\0old.rs\0new.rs\0");
        assert_eq!(count_lines(&found), "+3 -1\ta b.rs\nbinary\tlogo.png\n+0 -0\tnew.rs (was old.rs)\n");
        assert_eq!(totals(&found), "3 files, 3 lines added, 1 deleted");
    }

    #[test]
    fn large_patches_are_cut_and_small_ones_stay() {
        let small = "diff --git a/s b/s\n+x\n";
        let large = format!("diff --git a/l b/l\n{}", "+a line that is long\n".repeat(1000));
        let patch = format!("{small}{large}{small}");
        let found = sections(&patch);
        assert_eq!(found, [small, &large, small]);
        let (text, cut) = fitted(&found, 2000);
        assert_eq!(cut, 1);
        assert!(text.len() < 2100 && text.starts_with(small) && text.ends_with(small), "{}", text.len());
        assert!(text.contains("lines of this file left out"));
        let (whole, cut) = fitted(&found, 100_000);
        assert_eq!((whole, cut), (patch.clone(), 0));
        assert!(sections("").is_empty());
        assert_eq!(fitted(&[], 10), (String::new(), 0));
    }
}
