//! Writes a commit message by rules, from what changed and from the repository's habits.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::habits::{CommitHabits, PrefixStyle};
use super::patches::ChangedFile;

/// Longest subject; what git and its front ends show whole.
const LONGEST_SUBJECT: usize = 72;
/// Files that a body lists.
const MOST_LISTED: usize = 20;

/// How a file changed, as git's letter says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Added,
    Deleted,
    Renamed,
    Modified,
}

impl ChangeKind {
    pub(super) fn of(letter: &str) -> Self {
        match letter.chars().next() {
            Some('A' | 'C') => Self::Added,
            Some('D') => Self::Deleted,
            Some('R') => Self::Renamed,
            _ => Self::Modified,
        }
    }
}

/// A file that is going to be committed.
#[derive(Clone, Debug)]
pub(super) struct FileChange {
    pub file: ChangedFile,
    pub kind: ChangeKind,
    /// Its patch; empty where it is not read.
    pub patch: String,
}

/// What a message is made from.
pub(super) struct MessageSource<'a> {
    pub changes: &'a [FileChange],
    pub habits: &'a CommitHabits,
    pub branch: &'a str,
}

/// Lines that define something, in the languages that are written most.
static DEFINITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shape = concat!(
        r"^[+-]\s*(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|static|async|abstract|final|unsafe|const)\s+)*",
        r"(?:fn|def|class|func(?:\s*\([^)]*\))?|function\*?|struct|enum|trait|interface|type|impl|module)\s+([A-Za-z_][A-Za-z0-9_]*)",
    );
    Regex::new(shape).ok()
});

/// Definitions that a patch adds, removes, or changes the inside of.
#[derive(Debug, Default, PartialEq, Eq)]
struct Definitions {
    added: Vec<String>,
    removed: Vec<String>,
    touched: Vec<String>,
}

fn definitions(patch: &str) -> Definitions {
    let mut found = Definitions::default();
    let Some(shape) = DEFINITION.as_ref() else { return found };
    let name_in = |line: &str| Some(shape.captures(line)?.get(1)?.as_str().to_owned());
    let push = |list: &mut Vec<String>, name: String| {
        if !list.contains(&name) {
            list.push(name);
        }
    };
    for line in patch.lines() {
        if line.starts_with("+++") || line.starts_with("---") {
            continue;
        }
        if let Some(around) = line.strip_prefix("@@ ").and_then(|rest| rest.split_once(" @@ ")) {
            if let Some(name) = name_in(&format!("+{}", around.1)) {
                push(&mut found.touched, name);
            }
        } else if line.starts_with('+') {
            if let Some(name) = name_in(line) {
                push(&mut found.added, name);
            }
        } else if line.starts_with('-')
            && let Some(name) = name_in(line)
        {
            push(&mut found.removed, name);
        }
    }
    // One whose first line changed is neither new nor gone.
    let both: Vec<String> = found.added.iter().filter(|name| found.removed.contains(name)).cloned().collect();
    found.added.retain(|name| !both.contains(name));
    found.removed.retain(|name| !both.contains(name));
    for name in both {
        push(&mut found.touched, name);
    }
    found.touched.retain(|name| !found.added.contains(name));
    found
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileRole {
    Documentation,
    Test,
    Dependencies,
    Pipeline,
    Code,
}

/// Files that name what a project depends on.
const MANIFESTS: &[&str] = &[
    "cargo.toml",
    "cargo.lock",
    "package.json",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "go.mod",
    "go.sum",
    "requirements.txt",
    "pyproject.toml",
    "poetry.lock",
    "uv.lock",
    "gemfile",
    "gemfile.lock",
    "composer.json",
    "composer.lock",
    "pom.xml",
];

fn role(path: &str) -> FileRole {
    let name =
        Path::new(path).file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let has_end = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    let parts: Vec<String> = path.to_lowercase().split('/').map(str::to_owned).collect();
    let below = |names: &[&str]| parts.iter().rev().skip(1).any(|part| names.contains(&part.as_str()));
    if path.starts_with(".github/") || path.starts_with(".gitlab-ci") || path.starts_with(".circleci/") {
        FileRole::Pipeline
    } else if MANIFESTS.contains(&name.as_str()) {
        FileRole::Dependencies
    } else if below(&["tests", "test", "__tests__", "spec"])
        || name.starts_with("test_")
        || has_end(&[
            "_test.go",
            "_test.py",
            "_tests.rs",
            ".test.js",
            ".test.ts",
            ".test.tsx",
            ".spec.ts",
            ".spec.js",
        ])
    {
        FileRole::Test
    } else if has_end(&[".md", ".rst", ".adoc", ".txt"]) || below(&["docs", "doc"]) {
        FileRole::Documentation
    } else {
        FileRole::Code
    }
}

/// Writes the message.
pub(super) fn write(source: &MessageSource<'_>) -> String {
    let changes = source.changes;
    let sentence = sentence(changes, source.habits);
    let subject = format!("{}{sentence}", prefix(source));
    let mut message = shortened(&subject);
    if source.habits.period && !message.ends_with('.') {
        message.push('.');
    }
    if source.habits.body && changes.len() > 1 {
        message.push('\n');
        for change in changes.iter().take(MOST_LISTED) {
            message.push_str(&format!("\n- {}", about_file(change)));
        }
        if changes.len() > MOST_LISTED {
            message.push_str(&format!("\n- and {} more files", changes.len() - MOST_LISTED));
        }
    }
    message
}

/// What was done, in words that fit the habits.
fn sentence(changes: &[FileChange], habits: &CommitHabits) -> String {
    let all = |kind: ChangeKind| changes.iter().all(|change| change.kind == kind);
    let all_roles = |wanted: FileRole| changes.iter().all(|change| role(&change.file.path) == wanted);
    let names = || named(changes.iter().map(|change| file_name(&change.file.path)).collect());
    let (verb, rest) = if let ([change], true) = (changes, all(ChangeKind::Renamed)) {
        let old = change.file.old_path.as_deref().map(file_name).unwrap_or_default();
        let new = file_name(&change.file.path);
        if old == new {
            ("Move", format!("{new} to {}", folder(&change.file.path)))
        } else {
            ("Rename", format!("{old} to {new}"))
        }
    } else if all(ChangeKind::Added) {
        ("Add", names())
    } else if all(ChangeKind::Deleted) {
        ("Remove", names())
    } else if all(ChangeKind::Renamed) {
        ("Rename", names())
    } else if all_roles(FileRole::Dependencies) {
        ("Update", "dependencies".to_owned())
    } else {
        let found: Vec<Definitions> = changes.iter().map(|change| definitions(&change.patch)).collect();
        let collect = |of: fn(&Definitions) -> &Vec<String>| -> Vec<String> {
            found.iter().flat_map(|definitions| of(definitions).iter().cloned()).collect()
        };
        let is_code: Vec<Definitions> = changes
            .iter()
            .filter(|change| role(&change.file.path) == FileRole::Code)
            .map(|change| definitions(&change.patch))
            .collect();
        let new: Vec<String> = is_code.iter().flat_map(|found| found.added.clone()).collect();
        let (added, removed, touched) =
            (collect(|found| &found.added), collect(|found| &found.removed), collect(|found| &found.touched));
        let place = format!(" in {}", places(changes));
        match (new.is_empty(), added.is_empty(), removed.is_empty(), touched.is_empty()) {
            (false, ..) => ("Add", format!("{}{place}", named(new))),
            (_, false, ..) => ("Add", format!("{}{place}", named(added))),
            (_, _, false, true) => ("Remove", format!("{}{place}", named(removed))),
            (_, _, _, false) => ("Change", format!("{}{place}", named(touched))),
            _ => ("Update", names()),
        }
    };
    let verb = match (habits.past_tense, verb) {
        (true, "Move") => "Moved",
        (true, "Rename") => "Renamed",
        (true, "Add") => "Added",
        (true, "Remove") => "Removed",
        (true, "Update") => "Updated",
        (true, "Change") => "Changed",
        (_, verb) => verb,
    };
    let verb = if habits.capital { verb.to_owned() } else { verb.to_lowercase() };
    format!("{verb} {rest}")
}

/// `feat(parser): ` and its like.
fn prefix(source: &MessageSource<'_>) -> String {
    match source.habits.prefix {
        PrefixStyle::Plain => String::new(),
        PrefixStyle::Conventional => {
            let kind = kind(source);
            match area(source).filter(|_| source.habits.scope) {
                Some(scope) => format!("{kind}({scope}): "),
                None => format!("{kind}: "),
            }
        }
        PrefixStyle::Area => area(source).map(|area| format!("{area}: ")).unwrap_or_default(),
        PrefixStyle::Bracketed => area(source).map(|area| format!("[{area}] ")).unwrap_or_default(),
        PrefixStyle::Ticket => {
            let mut words = source.branch.split(['/', '_']);
            let ticket = words.find_map(|word| {
                let (team, rest) = word.split_once('-')?;
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                let is_team = !team.is_empty() && team.chars().all(|letter| letter.is_ascii_alphabetic());
                (is_team && !digits.is_empty()).then(|| format!("{}-{digits} ", team.to_uppercase()))
            });
            ticket.unwrap_or_default()
        }
    }
}

/// The type of the conventional form.
fn kind(source: &MessageSource<'_>) -> &'static str {
    let all = |wanted: FileRole| source.changes.iter().all(|change| role(&change.file.path) == wanted);
    if all(FileRole::Documentation) {
        return "docs";
    }
    if all(FileRole::Test) {
        return "test";
    }
    if all(FileRole::Dependencies) {
        return "build";
    }
    if all(FileRole::Pipeline) {
        return "ci";
    }
    let branch = source.branch.split(['/', '-']).next().unwrap_or_default();
    match branch {
        "fix" | "bugfix" | "hotfix" => return "fix",
        "feat" | "feature" => return "feat",
        "refactor" => return "refactor",
        _ => {}
    }
    let code = || source.changes.iter().filter(|change| role(&change.file.path) == FileRole::Code);
    if code().any(|change| change.kind == ChangeKind::Added || !definitions(&change.patch).added.is_empty()) {
        return "feat";
    }
    if code().all(|change| matches!(change.kind, ChangeKind::Renamed | ChangeKind::Deleted)) {
        return "refactor";
    }
    "fix"
}

/// Folders that say nothing of what lies in them.
const GENERAL: &[&str] = &["src", "crates", "packages", "lib", "pkg", "cmd", "internal", "apps", "source"];

/// The part of the project that changed: a prefix that was used before and names a folder or file of the changes, or the
/// folder that most of them lie in.
fn area(source: &MessageSource<'_>) -> Option<String> {
    let paths: Vec<&str> = source.changes.iter().map(|change| change.file.path.as_str()).collect();
    let is_in = |path: &str, name: &str| path.split(['/', '.']).any(|part| part.eq_ignore_ascii_case(name));
    let count = |name: &String| paths.iter().filter(|path| is_in(path, name)).count();
    let known = source.habits.prefixes.iter().map(|name| (count(name), name)).filter(|(count, _)| *count > 0);
    if let Some((_, name)) = known.rev().max_by_key(|(count, _)| *count) {
        return Some(name.clone());
    }
    let first =
        |path: &str| {
            let folders: Vec<&str> = path.split('/').collect();
            let (file, folders) = folders.split_last()?;
            let folder = folders.iter().find(|folder| !GENERAL.contains(folder) && !folder.starts_with('.'));
            Some(folder.map_or_else(
                || file.split('.').next().unwrap_or(file).to_lowercase(),
                |name| (*name).to_owned(),
            ))
        };
    let mut areas: Vec<String> = paths.iter().filter_map(|path| first(path)).collect();
    areas.sort();
    areas.dedup();
    match areas.len() {
        1 => areas.pop(),
        _ => None,
    }
}

fn about_file(change: &FileChange) -> String {
    let path = &change.file.path;
    let what = match change.kind {
        ChangeKind::Added => "new".to_owned(),
        ChangeKind::Deleted => "removed".to_owned(),
        ChangeKind::Renamed => format!("was {}", change.file.old_path.as_deref().unwrap_or_default()),
        ChangeKind::Modified => {
            let Definitions { added, removed, touched } = definitions(&change.patch);
            let lists = [("add", added), ("remove", removed), ("change", touched)];
            let told: Vec<String> = lists
                .into_iter()
                .filter(|(_, names)| !names.is_empty())
                .map(|(verb, names)| format!("{verb} {}", named(names)))
                .collect();
            if told.is_empty() { "changed".to_owned() } else { told.join(", ") }
        }
    };
    format!("{path}: {what}")
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

fn folder(path: &str) -> String {
    path.rsplit_once('/').map_or_else(|| "the top folder".to_owned(), |(folder, _)| folder.to_owned())
}

/// The one file, the one folder, or how many files.
fn places(changes: &[FileChange]) -> String {
    let code: Vec<&FileChange> =
        changes.iter().filter(|change| role(&change.file.path) == FileRole::Code).collect();
    match code.as_slice() {
        [only] => file_name(&only.file.path),
        [] if changes.len() == 1 => {
            changes.first().map(|change| file_name(&change.file.path)).unwrap_or_default()
        }
        several => {
            let mut folders: Vec<String> = several.iter().map(|change| folder(&change.file.path)).collect();
            folders.sort();
            folders.dedup();
            match folders.as_slice() {
                [one] => one.clone(),
                _ => format!("{} files", changes.len()),
            }
        }
    }
}

/// `a`, `a and b`, `a, b and 3 more`.
fn named(names: Vec<String>) -> String {
    match names.as_slice() {
        [] => "files".to_owned(),
        [only] => only.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, two, three] => format!("{one}, {two} and {three}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} more", rest.len()),
    }
}

/// Cuts a subject at a word.
fn shortened(subject: &str) -> String {
    if subject.chars().count() <= LONGEST_SUBJECT {
        return subject.to_owned();
    }
    let end = subject.char_indices().nth(LONGEST_SUBJECT).map_or(subject.len(), |(end, _)| end);
    let end = subject[..end].rfind(' ').unwrap_or(end);
    subject[..end].trim_end_matches([',', ' ']).trim_end_matches(" and").trim_end_matches(" in").to_owned()
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
