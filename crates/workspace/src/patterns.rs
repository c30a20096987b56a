//! Bounds for patterns that come from a repository or a model: the libraries that read them follow nested braces by
//! recursion, so a long enough pattern would end the process.

use std::io::Read;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Longest pattern, deepest nesting of braces, and most of them in one pattern.
const LONGEST: usize = 8 * 1024;
const DEEPEST: usize = 10;
const MOST_BRACES: usize = 200;
/// Longest ignore file, and most lines of it that are read.
const LONGEST_FILE: u64 = 1024 * 1024;
const MOST_LINES: usize = 20_000;

/// Why a pattern is not read.
pub fn check(pattern: &str) -> Result<(), &'static str> {
    if pattern.len() > LONGEST {
        return Err("it is too long");
    }
    let (mut depth, mut braces) = (0_usize, 0_usize);
    for byte in pattern.bytes() {
        match byte {
            b'{' => {
                depth += 1;
                braces += 1;
            }
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST || braces > MOST_BRACES {
            return Err("it has too many braces");
        }
    }
    Ok(())
}

/// The lines of an ignore file that are within bounds. Git passes over what it does not understand, too.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim_start_matches('\u{feff}');
    text.lines().take(MOST_LINES).filter(|line| check(line).is_ok())
}

/// The text of an ignore file; `None` where there is none, or where it is no plain file of sensible size.
pub fn read_ignore_file(path: &Path) -> Option<String> {
    let found = std::fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > LONGEST_FILE {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(LONGEST_FILE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The rules of an ignore file for the folder it lies in.
pub fn gitignore(path: &Path) -> Gitignore {
    rules(path.parent().unwrap_or(path), &read_ignore_file(path).unwrap_or_default())
}

/// The rules of a text for a folder. What is not understood is passed over.
pub fn rules(folder: &Path, text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    for line in lines(text) {
        builder.add_line(None, line).ok();
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Compiles a glob of file names. A pattern without a slash matches at every depth.
pub fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    check(pattern)?;
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let everywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(&everywhere).literal_separator(true).backslash_escape(true).build();
    Ok(glob.map_err(|error| error.to_string())?.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_patterns_are_within_bounds() {
        for pattern in ["**/*.{rs,toml}", "{a,{b,c}}/**", "!target/", "\\{x\\}", ""] {
            assert_eq!(check(pattern), Ok(()), "{pattern}");
        }
        let bombs = [
            format!("{}a{}", "{".repeat(20_000), "}".repeat(20_000)),
            "{".repeat(20_000),
            "{a,b}".repeat(1000),
            "*".repeat(100_000),
        ];
        for pattern in bombs {
            assert!(check(&pattern).is_err(), "{}", &pattern[..20]);
            assert_eq!(lines(&format!("a\n{pattern}\nb")).collect::<Vec<_>>(), ["a", "b"]);
        }
    }
}
