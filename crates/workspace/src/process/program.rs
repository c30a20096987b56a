//! Finding programs the way a shell does, but never in the workspace.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The program of that name on the search path. Relative entries and those below `workspace` are passed over: what
/// a repository brings along must not stand in for a program of the machine.
pub fn find_program(name: &str, workspace: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() && !folder.starts_with(workspace))
        .map(|folder| folder.join(name))
        .find(|program| {
            program.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_machine_is_found_and_one_of_the_workspace_is_not() {
        let found = find_program("sh", Path::new("/nowhere")).unwrap();
        assert!(found.is_absolute());
        assert_eq!(find_program("sh", Path::new("/")), None);
        assert_eq!(find_program("no-such-program", Path::new("/nowhere")), None);
    }
}
