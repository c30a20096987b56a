//! Imports: `@path` in a file of instructions brings another file.

use std::path::{Path, PathBuf};

use crate::prose::outside_code;

/// Where an import may lead.
pub(super) struct ImportScope<'a> {
    /// The repository, without links.
    pub repository: Option<&'a Path>,
    pub user_home: Option<&'a Path>,
    pub config_dir: &'a Path,
}

/// Folders of the person below the home folder whose Markdown files may be imported.
const OWN_FOLDERS: &[&str] = &[".claude", ".roo", ".agents", ".codex"];

impl ImportScope<'_> {
    /// The file that an import means, as it was written in a file.
    pub fn target(&self, from: &Path, written: &str) -> Option<PathBuf> {
        match written.strip_prefix("~/") {
            Some(rest) => Some(self.user_home?.join(rest)),
            None => Some(from.parent()?.join(written)),
        }
    }

    /// Why a file may not be imported. `real` has no links in it.
    pub fn refuses(&self, real: &Path) -> Option<&'static str> {
        if self.repository.is_some_and(|root| real.starts_with(root)) {
            return None;
        }
        let is_own = |folder: PathBuf| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
        let home = self.user_home.into_iter().flat_map(|home| OWN_FOLDERS.iter().map(|name| home.join(name)));
        if !home.chain([self.config_dir.to_path_buf()]).any(is_own) {
            return Some("imports stay in the repository and in your own folders of instructions");
        }
        // Keys of agents lie in these folders too.
        let is_markdown = real.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
        (!is_markdown).then_some("only Markdown files of your own folders can be imported")
    }
}

/// The paths a text imports, in order. What stands in code is no import.
pub(super) fn imports(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    outside_code(text, |prose| {
        for (at, _) in prose.match_indices('@') {
            let before = prose[..at].chars().next_back();
            if before.is_some_and(|c| !c.is_whitespace() && !"([{\"'>*-:".contains(c)) {
                continue;
            }
            let rest = &prose[at + 1..];
            let end =
                rest.find(|c: char| c.is_whitespace() || ")]}\"'<>,;".contains(c)).unwrap_or(rest.len());
            let path = rest[..end].trim_end_matches(['.', ':', '!', '?']);
            if is_path(path) && !found.iter().any(|known| known == path) {
                found.push(path.to_owned());
            }
        }
    });
    found
}

/// Whether it can be a path: `@team` is a person, `@docs/team.md` and `@README` are not.
fn is_path(text: &str) -> bool {
    !text.is_empty() && text.len() <= 512 && !text.contains('\0') && !text.starts_with('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_stand_outside_of_code() {
        let text = "See @README.md and @docs/a.md, or (@b.md).\n- @~/.claude/own.md\nmail me@x.org `@no.md` ``a ` @no.md``\n\
                    ```\n@no.md\n```\n~~~sh\n@no.md\n```\n~~~\nopen ` tick @last.md\n\n`@a\n@no.md` @README.md @@twice";
        assert_eq!(imports(text), ["README.md", "docs/a.md", "b.md", "~/.claude/own.md", "last.md"]);
    }
}
