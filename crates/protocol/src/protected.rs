//! Files that steer tools, editors and agents: who changes them changes what runs later.
//!
//! A change of one is always asked about, and commands find them read-only. The list is data that permission
//! rules, file tools and the sandbox share.

/// Folders that are protected with everything in them, wherever they lie.
pub const PROTECTED_FOLDERS: &[&str] = &[
    ".git",
    ".stepwell",
    ".vscode",
    ".idea",
    ".zed",
    ".roo",
    ".claude",
    ".cursor",
    ".codex",
    ".agents",
    ".agent",
    ".gemini",
    ".continue",
    ".husky",
    ".devcontainer",
];

/// Files that are protected wherever they lie.
pub const PROTECTED_FILES: &[&str] = &[
    ".stepwellignore",
    ".rooignore",
    ".roomodes",
    ".roorules",
    ".clinerules",
    ".cursorrules",
    ".cursorignore",
    ".windsurfrules",
    ".mcp.json",
    ".gitmodules",
    ".gitconfig",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    "agents.md",
    "agents.local.md",
    "agent.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
];

/// Beginnings and endings of further names.
const PROTECTED_BEGINNINGS: &[&str] = &[".roorules-", ".clinerules-"];
const PROTECTED_ENDINGS: &[&str] = &[".code-workspace"];

/// The part of a path that makes it protected. Names are compared without regard to case, because file systems
/// may do the same, and without the dots, blanks and stream names that some ignore at the end of a name.
pub fn protected_part(path: &str) -> Option<&str> {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    parts.iter().enumerate().find_map(|(at, part)| {
        let name = plain_name(part);
        let is_last = at + 1 == parts.len();
        let is_protected = PROTECTED_FOLDERS.contains(&name.as_str())
            || is_last
                && (PROTECTED_FILES.contains(&name.as_str())
                    || PROTECTED_BEGINNINGS.iter().any(|start| name.starts_with(start))
                    || PROTECTED_ENDINGS.iter().any(|end| name.ends_with(end)));
        is_protected.then_some(*part)
    })
}

/// A name as the most forgiving file system would compare it.
fn plain_name(part: &str) -> String {
    let without_stream = part.split_once(':').map_or(part, |(name, _)| name);
    let visible = without_stream.chars().filter(|character| !is_ignorable(*character));
    // Both ways: a long s is no capital letter, and still the same as `s` to a file system that folds names.
    let folded: String = visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    // Windows' short name of `.git`.
    match folded.trim_end_matches(['.', ' ']) {
        "git~1" => ".git".to_owned(),
        name => name.to_owned(),
    }
}

/// Characters that some file systems leave out when they compare names.
fn is_ignorable(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::protected_part;

    #[test]
    fn what_steers_tools_is_protected_in_every_spelling() {
        let protected = [
            (".git/hooks/post-checkout", ".git"),
            (".GIT/config", ".GIT"),
            ("sub/.Vscode/settings.json", ".Vscode"),
            ("./AGENTS.md", "AGENTS.md"),
            (".git./config", ".git."),
            ("GIT~1/config", "GIT~1"),
            (".g\u{200c}it/config", ".g\u{200c}it"),
            (".git", ".git"),
            (".v\u{17f}code/tasks.json", ".v\u{17f}code"),
            (".hus\u{212a}y/pre-commit", ".hus\u{212a}y"),
            ("deep/er/.mcp.json", ".mcp.json"),
            (".roorules-code", ".roorules-code"),
            ("x.code-workspace", "x.code-workspace"),
            ("/abs/.stepwell/config.toml", ".stepwell"),
        ];
        for (path, part) in protected {
            assert_eq!(protected_part(path), Some(part), "{path}");
        }
        for path in ["src/main.rs", ".gitignore", ".github/workflows/ci.yml", "git/x", "agents.md/x", "", "."]
        {
            assert_eq!(protected_part(path), None, "{path}");
        }
    }
}
