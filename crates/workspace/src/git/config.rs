//! The settings file of a repository, as far as to see which programs it names.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Keys whose value git may run, or that lead to other settings; `*` stands for the name in the middle.
const RUNNING: &[&str] = &[
    "core.pager",
    "core.editor",
    "core.alternaterefscommand",
    "core.worktree",
    "sequence.editor",
    "pager.*",
    "diff.external",
    "diff.*.command",
    "diff.*.textconv",
    "filter.*.clean",
    "filter.*.smudge",
    "filter.*.process",
    "gpg.program",
    "gpg.*.program",
    "gpg.*.defaultkeycommand",
    "tar.*.command",
    "interactive.difffilter",
    "include.path",
    "includeif.*.path",
];

/// Keys that matter where reading fetches what is missing, because the clone is partial.
const FETCHING: &[&str] = &[
    "core.askpass",
    "core.sshcommand",
    "core.gitproxy",
    "credential.helper",
    "credential.*.helper",
    "remote.*.uploadpack",
    "remote.*.vcs",
    "protocol.allow",
    "protocol.*.allow",
];
const PARTIAL: &[&str] = &["remote.*.promisor", "extensions.partialclone"];

/// The text of a small file; `Ok(None)` where there is none.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<String>, ()> {
    let Ok(found) = std::fs::metadata(path) else {
        return if path.symlink_metadata().is_ok() { Err(()) } else { Ok(None) };
    };
    if !found.is_file() || found.len() > most {
        return Err(());
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(|_| ())?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The first key that could make git run something. A file that is not understood holds one.
pub fn running_key(text: &str) -> Option<String> {
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut section = String::new();
    let (mut partial, mut fetching) = (false, None);
    for line in text.lines() {
        let mut line = line.trim_start_matches('\u{feff}').trim();
        while let Some(rest) = line.strip_prefix('[') {
            let Some(end) = section_end(rest) else { return Some(line.to_owned()) };
            section = name_of(&rest[..end]);
            line = rest[end + 1..].trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        let key = format!("{section}.{}", key.trim().to_ascii_lowercase());
        if key == "core.fsmonitor" && !is_boolean(value) || RUNNING.iter().any(|known| is_like(known, &key)) {
            return Some(key);
        }
        partial |= PARTIAL.iter().any(|known| is_like(known, &key));
        if fetching.is_none() && FETCHING.iter().any(|known| is_like(known, &key)) {
            fetching = Some(key);
        }
    }
    fetching.filter(|_| partial)
}

/// Where the `]` of a section stands; quoted ones do not count.
fn section_end(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' if quoted => {
                characters.next();
            }
            '"' => quoted = !quoted,
            ']' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// `diff.evil` of `diff "evil"`; the first part without regard to case.
fn name_of(section: &str) -> String {
    match section.split_once('"') {
        Some((name, rest)) => {
            format!("{}.{}", name.trim().to_ascii_lowercase(), rest.trim_end().trim_end_matches('"'))
        }
        None => section.trim().to_ascii_lowercase(),
    }
}

fn is_boolean(value: &str) -> bool {
    let value = value.split(['#', ';']).next().unwrap_or(value).trim().to_ascii_lowercase();
    matches!(value.as_str(), "true" | "false" | "yes" | "no" | "on" | "off" | "1" | "0" | "")
}

fn is_like(pattern: &str, key: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            key.len() > start.len() + end.len() && key.starts_with(start) && key.ends_with(end)
        }
        None => pattern == key,
    }
}
