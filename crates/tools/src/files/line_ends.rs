//! How the lines of a new file end: as the project says or its neighbours do it, else LF.

use std::path::Path;

use stepwell_workspace::search::WalkRules;
use stepwell_workspace::{Inside, TextFile, Workspace, patterns};

/// Neighbours that are looked at.
const NEIGHBOURS: usize = 20;
/// Entries of the folder among which they are looked for.
const LISTED: usize = 500;
const LARGEST: u64 = 256 * 1024;

/// `.editorconfig` files from the file's folder upwards speak first (the first that says anything about the file's
/// line ends), then the files beside it with the same ending, when all of those have CR LF.
pub fn for_new_file(workspace: &Workspace, place: &Inside) -> &'static str {
    if let Some(said) = editorconfig(workspace, place) {
        return said;
    }
    let Some(folder) =
        place.absolute().parent().and_then(|path| workspace.place(&path.to_string_lossy()).ok())
    else {
        return "\n";
    };
    let rules = WalkRules { depth: Some(1), ..WalkRules::default() };
    let Ok(listing) = workspace.list(&folder, &rules, LISTED, &|| false) else { return "\n" };
    let same_ending = |path: &Path| path.extension() == place.relative().extension();
    let neighbours: Vec<TextFile> = listing
        .entries
        .iter()
        .filter(|entry| same_ending(&entry.path))
        .take(NEIGHBOURS)
        .filter_map(|entry| {
            let path = folder.absolute().join(&entry.path);
            workspace.read_text(&workspace.place(&path.to_string_lossy()).ok()?, LARGEST).ok()
        })
        .filter(|file| file.text.contains('\n'))
        .collect();
    if !neighbours.is_empty() && neighbours.iter().all(TextFile::uses_crlf) { "\r\n" } else { "\n" }
}

fn editorconfig(workspace: &Workspace, place: &Inside) -> Option<&'static str> {
    for folder in place.absolute().ancestors().skip(1) {
        let path = folder.join(".editorconfig");
        // Ancestors above the root are not placed: the walk ends there.
        let config = workspace.place(&path.to_string_lossy()).ok()?;
        let Ok(text) = workspace.read_text(&config, LARGEST) else { continue };
        if let Some(said) = end_of_line(&text.text, place.relative()) {
            return Some(said);
        }
        if text.text.lines().any(|line| line.replace(' ', "").eq_ignore_ascii_case("root=true")) {
            return None;
        }
    }
    None
}

/// What an `.editorconfig` says about a file, in the patterns that are in use: `*`, `*.ext`, `*.{a,b}`, a name.
pub fn end_of_line(config: &str, path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let (mut applies, mut said) = (false, None);
    for line in config.lines().map(str::trim) {
        if let Some(pattern) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            applies = matches(pattern, &name);
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| applies) else { continue };
        if key.trim().eq_ignore_ascii_case("end_of_line") {
            said = match value.trim().to_ascii_lowercase().as_str() {
                "crlf" => Some("\r\n"),
                "lf" => Some("\n"),
                "cr" => Some("\r"),
                _ => said,
            };
        }
    }
    said
}

fn matches(pattern: &str, name: &str) -> bool {
    // Braces are followed by recursion.
    if patterns::check(pattern).is_err() {
        return false;
    }
    if let (Some(open), Some(close)) = (pattern.find('{'), pattern.rfind('}')) {
        let (head, tail) = (&pattern[..open], &pattern[close + 1..]);
        return open < close
            && pattern[open + 1..close]
                .split(',')
                .any(|one| matches(&format!("{head}{}{tail}", one.trim()), name));
    }
    match pattern.trim_start_matches("**/").split_once('*') {
        None => pattern == name,
        Some((head, tail)) => {
            name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editorconfig_says_how_lines_end() {
        let config = "root = true\n[*]\nend_of_line = lf\n[*.{bat,cmd}]\nend_of_line = CRLF\n[Makefile]\nindent_style = tab\n";
        for (path, expected) in [("a/run.bat", Some("\r\n")), ("x.rs", Some("\n")), ("Makefile", Some("\n"))]
        {
            assert_eq!(end_of_line(config, Path::new(path)), expected, "{path}");
        }
        assert_eq!(end_of_line("[*.md]\nend_of_line = crlf\n", Path::new("x.rs")), None);
    }
}
