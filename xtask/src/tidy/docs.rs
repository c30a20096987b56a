//! Checks of the documentation: the length of ARCHITECTURE.md, its dependency law, the index of decisions, links.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Words ARCHITECTURE.md may have. Reasons belong in `docs/decisions`.
const LONGEST_MAP: usize = 1_500;

/// Reads the dependency law from ARCHITECTURE.md: which packages a package may use. `*` stands for all.
pub(super) fn dependency_law() -> BTreeMap<String, Vec<String>> {
    let map = read("ARCHITECTURE.md");
    let block = map.split("```").find(|block| block.trim_start().starts_with("cli -> ")).unwrap_or_default();
    parse_law(block)
}

/// Parses lines such as `llm, store -> net -> nothing (a remark)`.
fn parse_law(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut law: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains("->")) {
        let line = line.split(['(', ';']).next().unwrap_or_default();
        let steps: Vec<Vec<String>> = line.split("->").map(packages).collect();
        for (users, used) in steps.iter().zip(&steps[1..]) {
            for user in users {
                law.entry(user.clone()).or_default().extend(used.iter().cloned());
            }
        }
    }
    law
}

fn packages(names: &str) -> Vec<String> {
    let package = |name: &str| match name {
        "nothing" => None,
        "everything" => Some("*".to_owned()),
        "cli" => Some("stepwell".to_owned()),
        name => Some(format!("stepwell-{name}")),
    };
    names.split(',').map(str::trim).filter_map(package).collect()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(crate::root().join(path)).unwrap()
}

/// The Markdown files of the project.
fn pages() -> Vec<PathBuf> {
    let root = crate::root();
    let mut pages = Vec::new();
    for folder in ["", "docs", "docs/decisions"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    pages.sort();
    pages
}

/// The targets of relative links, with what follows `#`.
fn links(text: &str) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    for piece in text.split("](").skip(1) {
        let Some(target) = piece.split(')').next() else { continue };
        if target.contains("://") || target.contains(char::is_whitespace) {
            continue;
        }
        let (path, anchor) = match target.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor.to_owned())),
            None => (target, None),
        };
        found.push((path.to_owned(), anchor));
    }
    found
}

/// The anchor a heading gets: lower case, spaces as hyphens, punctuation removed.
fn anchor(heading: &str) -> String {
    let kept = |letter: char| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || letter == '-' || letter == '_' => Some(letter),
        _ => None,
    };
    heading.trim_start_matches('#').trim().to_lowercase().chars().filter_map(kept).collect()
}

fn has_anchor(page: &Path, wanted: &str) -> bool {
    let text = std::fs::read_to_string(page).unwrap();
    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == wanted)
}

#[test]
fn architecture_is_a_map() {
    let words = read("ARCHITECTURE.md").split_whitespace().count();
    assert!(
        words <= LONGEST_MAP,
        "ARCHITECTURE.md has {words} words, {LONGEST_MAP} are allowed; move reasons to docs/decisions"
    );
}

#[test]
fn architecture_describes_every_crate() {
    let map = read("ARCHITECTURE.md");
    let mut missing = Vec::new();
    for entry in std::fs::read_dir(crate::root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !map.contains(&format!("| `{name}` |")) {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "not in the code map: {}", missing.join(", "));
}

#[test]
fn law_is_read_from_its_lines() {
    let law = parse_law(
        "cli -> everything; it alone\nllm, mcp -> net, protocol  (a, b)\nnet -> protocol -> nothing\n",
    );
    let expected = [
        ("stepwell", vec!["*"]),
        ("stepwell-llm", vec!["stepwell-net", "stepwell-protocol"]),
        ("stepwell-mcp", vec!["stepwell-net", "stepwell-protocol"]),
        ("stepwell-net", vec!["stepwell-protocol"]),
        ("stepwell-protocol", vec![]),
    ];
    let expected = expected
        .into_iter()
        .map(|(user, used)| (user.to_owned(), used.into_iter().map(str::to_owned).collect()))
        .collect();
    assert_eq!(law, expected);
}

#[test]
fn index_of_decisions_is_complete() {
    let index = read("docs/decisions/README.md");
    let listed: Vec<String> = links(&index).into_iter().map(|(path, _)| path).collect();
    let missing: Vec<String> = pages()
        .iter()
        .filter(|page| page.parent().is_some_and(|folder| folder.ends_with("decisions")))
        .map(|page| page.file_name().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "README.md" && !listed.contains(name))
        .collect();
    assert!(missing.is_empty(), "not in docs/decisions/README.md: {}", missing.join(", "));
}

#[test]
fn links_between_pages_resolve() {
    let mut broken = Vec::new();
    for page in pages() {
        for (path, anchor) in links(&std::fs::read_to_string(&page).unwrap()) {
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(&path) };
            let found = match &anchor {
                Some(anchor) if target.is_file() => has_anchor(&target, anchor),
                _ => target.exists(),
            };
            if !found {
                broken.push(format!("{}: {path}#{}", page.display(), anchor.unwrap_or_default()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
