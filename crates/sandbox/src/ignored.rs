//! What is hidden from agents in a writable folder: by `.stepwellignore` and `.rooignore` at its top, and by rules
//! that deny reading.

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use stepwell_workspace::{Denial, files, patterns};

use crate::{Error, Result};

const IGNORE_FILES: [&str; 2] = [".stepwellignore", ".rooignore"];
/// Entries looked at before it is better to say that this takes too long.
const LONGEST_WALK: usize = 200_000;

/// Everything in a folder that its ignore files name or a rule denies. Without either nothing is looked at.
pub fn below(root: &Path, denial: &Denial) -> Result<Vec<PathBuf>> {
    let rules = rules(root)?;
    if rules.is_none() && denial.is_empty() {
        return Ok(Vec::new());
    }
    let rules = rules.unwrap_or_else(Gitignore::empty);
    let mut hidden = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for path in files::list_dir(&folder)? {
            seen += 1;
            if seen > LONGEST_WALK {
                return Err(Error::IgnoredTooMany { root: root.to_path_buf(), most: LONGEST_WALK });
            }
            // Links are covered with what they lead to, and not followed.
            let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
            if denial.of(&path).is_some() {
                hidden.push(path);
                continue;
            }
            match rules.matched(&path, is_folder) {
                Match::Ignore(_) => hidden.push(path),
                Match::None | Match::Whitelist(_) if is_folder && !path.ends_with(".git") => {
                    folders.push(path);
                }
                Match::None | Match::Whitelist(_) => {}
            }
        }
    }
    Ok(hidden)
}

fn rules(root: &Path) -> Result<Option<Gitignore>> {
    let mut builder = GitignoreBuilder::new(root);
    let mut found = false;
    for name in IGNORE_FILES {
        let path = root.join(name);
        if path.symlink_metadata().is_err() {
            continue;
        }
        found = true;
        // A line that nobody understands might be the one that matters.
        let unusable = |problem: String| Error::IgnoreFile { path: path.clone(), problem };
        let text =
            patterns::read_ignore_file(&path).ok_or_else(|| unusable("it cannot be read".to_owned()))?;
        for line in text.trim_start_matches('\u{feff}').lines() {
            patterns::check(line).map_err(|problem| unusable(format!("a line of it: {problem}")))?;
            builder.add_line(None, line).map_err(|problem| unusable(problem.to_string()))?;
        }
    }
    let unusable = |problem: ignore::Error| Error::IgnoreFile {
        path: root.join(IGNORE_FILES[0]),
        problem: problem.to_string(),
    };
    if found { builder.build().map(Some).map_err(unusable) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(rules: &str, expected: Expect) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in
            [".env", "src/.env", "src/main.rs", "keys/a.pem", "keys/b/c.pem", "docs/keep.md", ".git/x.pem"]
        {
            files::create_private_dir(root.join(path).parent().unwrap()).unwrap();
            files::write_atomic(&root.join(path), b"", files::Privacy::Shared).unwrap();
        }
        files::write_atomic(&root.join(".stepwellignore"), rules.as_bytes(), files::Privacy::Shared).unwrap();
        let told = match below(root, &Denial::default()) {
            Ok(mut hidden) => {
                hidden.sort();
                let names = hidden.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string());
                names.collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string().replace(&root.display().to_string(), "ROOT"),
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn rules_are_those_of_git() {
        check("", expect![""]);
        check(".env\n", expect![".env src/.env"]);
        check("/.env\nkeys/\n", expect![".env keys"]);
        check("*.pem\n!c.pem\n", expect!["keys/a.pem"]);
        check("# nothing\n\ndocs/*\n!docs/keep.md\n", expect![""]);
    }

    #[test]
    fn an_ignore_file_that_cannot_be_read_is_no_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        files::create_private_dir(&folder.path().join(".rooignore")).unwrap();
        assert!(
            below(folder.path(), &Denial::default())
                .is_err_and(|error| error.to_string().contains(".rooignore"))
        );
    }
}
