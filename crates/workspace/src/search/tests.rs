//! What is found is what is there: all of it, and nothing else.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::Workspace;

struct House {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

fn house(files: &[(&str, &str)]) -> House {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let workspace = Workspace::open(folder.path(), &[]).unwrap();
    House { folder, workspace }
}

impl House {
    fn lines(&self, query: &TextQuery, rules: &WalkRules) -> Vec<String> {
        let place = self.workspace.place(".").unwrap();
        let found = self.workspace.search_text(&place, query, rules, &|| false).unwrap();
        let mut lines = Vec::new();
        for file in found.files {
            for line in file.lines {
                let mark = if line.is_context { '-' } else { ':' };
                lines.push(format!("{}{mark}{}{mark}{}", file.path.display(), line.number, line.text));
            }
        }
        lines
    }

    fn names(&self, pattern: &str) -> Vec<String> {
        let place = self.workspace.place(".").unwrap();
        let query = NameQuery { pattern: pattern.to_owned(), limit: 1000 };
        let found = self.workspace.find_files(&place, &query, &WalkRules::default(), &|| false).unwrap();
        let mut names: Vec<String> = found.files.iter().map(|file| file.path.display().to_string()).collect();
        names.sort();
        names
    }
}

fn query(pattern: &str) -> TextQuery {
    TextQuery { pattern: pattern.to_owned(), ..TextQuery::default() }
}

#[test]
fn lines_are_found_as_the_options_say() {
    let house = house(&[
        ("a.rs", "fn main() {\n    Let x = 1;\n    let y = 2;\n}\n"),
        ("sub/b.py", "let it be\nand\nlet go\n"),
        ("skip.log", "let me out\n"),
        (".gitignore", "*.log\n"),
        ("binary", "let\0it\n"),
        ("crlf.txt", "one let\r\ntwo\r\n"),
    ]);
    let all = WalkRules::default();
    assert_eq!(
        house.lines(&query("let"), &all),
        ["a.rs:3:    let y = 2;", "crlf.txt:1:one let", "sub/b.py:1:let it be", "sub/b.py:3:let go"]
    );
    let case = TextQuery { ignore_case: true, ..query("let x") };
    assert_eq!(house.lines(&case, &all), ["a.rs:2:    Let x = 1;"]);
    let around = TextQuery { before: 1, after: 1, ..query("^and$") };
    assert_eq!(house.lines(&around, &all), ["sub/b.py-1-let it be", "sub/b.py:2:and", "sub/b.py-3-let go"]);
    let spanning = TextQuery { multiline: true, ..query("be.*go") };
    assert_eq!(house.lines(&spanning, &all).len(), 3);
    let literal = TextQuery { literal: true, ..query("main() {") };
    assert_eq!(house.lines(&literal, &all), ["a.rs:1:fn main() {"]);
    let words = TextQuery { whole_words: true, ..query("b") };
    assert_eq!(house.lines(&words, &all), [""; 0]);
    let rust = WalkRules { types: vec!["rust".into()], ..all.clone() };
    assert_eq!(house.lines(&query("let"), &rust), ["a.rs:3:    let y = 2;"]);
    let but = WalkRules { globs: vec!["!*.py".into(), "!*.txt".into()], ..all.clone() };
    assert_eq!(house.lines(&query("let"), &but), ["a.rs:3:    let y = 2;"]);
    let ignored = WalkRules { include_ignored: true, ..all.clone() };
    assert_eq!(house.lines(&query("let me"), &ignored), ["skip.log:1:let me out"]);
    for bad in ["(", "", "a{100000}{100000}"] {
        let place = house.workspace.place(".").unwrap();
        let refused = house.workspace.search_text(&place, &query(bad), &all, &|| false);
        assert!(matches!(refused, Err(Error::BadPattern { .. })), "{bad}");
    }
    assert!(house.folder.path().exists());
}

#[test]
fn names_are_found_in_every_folder_or_by_path() {
    let house =
        house(&[("a.rs", ""), ("src/b.rs", ""), ("src/deep/c.rs", ""), ("src/d.ts", ""), (".x/e.rs", "")]);
    assert_eq!(house.names("*.rs"), [".x/e.rs", "a.rs", "src/b.rs", "src/deep/c.rs"]);
    assert_eq!(house.names("src/*.rs"), ["src/b.rs"]);
    assert_eq!(house.names("src/**/*.{rs,ts}"), ["src/b.rs", "src/d.ts", "src/deep/c.rs"]);
    assert_eq!(house.names("./a.rs"), ["a.rs"]);
    assert_eq!(house.names("[cd].*"), ["src/d.ts", "src/deep/c.rs"]);
}

/// E4: what the person hides is not found, not listed and not opened, by whatever way.
#[test]
fn hidden_paths_are_hidden_from_everything() {
    let files = [
        (".stepwellignore", "secret/\n*.pem\n"),
        (".rooignore", "roo.txt\n"),
        ("secret/deep/plan.txt", "needle"),
        ("key.pem", "needle"),
        ("roo.txt", "needle"),
        ("open.txt", "needle"),
    ];
    let house = house(&files);
    std::os::unix::fs::symlink("secret/deep/plan.txt", house.folder.path().join("link")).unwrap();
    assert_eq!(house.lines(&query("needle"), &WalkRules::default()), ["open.txt:1:needle"]);
    let ignored = WalkRules { include_ignored: true, ..WalkRules::default() };
    assert_eq!(house.lines(&query("needle"), &ignored), ["open.txt:1:needle"]);
    assert_eq!(house.names("*.txt"), ["open.txt"]);
    for path in
        ["secret", "secret/deep/plan.txt", "key.pem", "roo.txt", "./secret/../key.pem", "secret/new.txt"]
    {
        assert!(matches!(house.workspace.place(path), Err(Error::Hidden { .. })), "{path}");
    }
    let link = house.workspace.place("link").unwrap();
    assert!(matches!(house.workspace.open_file(&link), Err(Error::Hidden { .. })));
    let open = house.workspace.place("open.txt").unwrap();
    assert!(house.workspace.open_file(&open).is_ok());
}

/// R01: an engine without backtracking answers hard patterns at once.
#[test]
fn patterns_that_hang_other_engines_do_not_hang_this_one() {
    let text = "a".repeat(1_000_000);
    let house = house(&[("a.txt", &text)]);
    assert_eq!(house.lines(&query("(a+)+$"), &WalkRules::default()).len(), 1);
    let alternatives = (0..100_000).map(|number| format!("word{number}")).collect::<Vec<_>>().join("|");
    for pattern in ["x".repeat(1_000_000), alternatives] {
        let place = house.workspace.place(".").unwrap();
        let refused = house.workspace.search_text(&place, &query(&pattern), &WalkRules::default(), &|| false);
        assert!(matches!(refused, Err(Error::BadPattern { .. })));
    }
}

#[test]
fn a_limited_list_is_the_beginning_of_the_whole() {
    let house = house(&[]);
    for number in 0..3000 {
        let folder = house.folder.path().join(format!("d{}", number % 7));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{}.txt", (number * 7919) % 3001)), "").unwrap();
    }
    let place = house.workspace.place(".").unwrap();
    let list = |limit| house.workspace.list(&place, &WalkRules::default(), limit, &|| false).unwrap();
    let whole = list(10_000);
    assert!(!whole.more && whole.entries.len() == 3007);
    assert!(whole.entries.is_sorted_by(|left, right| left.path < right.path));
    for limit in [1, 50, 3006] {
        let part = list(limit);
        assert!(part.more);
        assert_eq!(part.entries, whole.entries[..limit]);
    }
}

#[test]
fn a_cancelled_search_says_that_it_is_not_whole() {
    let house = house(&[("a.txt", "needle")]);
    let place = house.workspace.place(".").unwrap();
    let found =
        house.workspace.search_text(&place, &query("needle"), &WalkRules::default(), &|| true).unwrap();
    assert!(found.is_cut);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every line that holds the text is found, and no other.
    #[test]
    fn property_8_search_results_contain_the_pattern(
        texts in prop::collection::vec("[ab(.*\n\u{e9}]{0,40}", 1..6),
        needle in "[ab(.*\u{e9}]{1,3}",
    ) {
        let names: Vec<String> = (0..texts.len()).map(|number| format!("f{number}.txt")).collect();
        let files: Vec<(&str, &str)> =
            names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let house = house(&files);
        let found = house.lines(&TextQuery { literal: true, ..query(&needle) }, &WalkRules::default());
        let mut expected = Vec::new();
        for (name, text) in &files {
            for (number, line) in text.split('\n').enumerate() {
                if line.contains(&needle) {
                    expected.push(format!("{name}:{}:{line}", number + 1));
                }
            }
        }
        prop_assert_eq!(found, expected);
    }

    /// Every file whose name matches is found, and no other.
    #[test]
    fn property_9_file_search_returns_matching_paths(
        names in prop::collection::btree_set("[ab]{1,2}/[abc]{1,3}\\.(rs|ts)", 1..12),
        stem in "[abc*?]{1,3}",
        ending in "rs|ts|\\*",
    ) {
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        let house = house(&files);
        let pattern = format!("{stem}.{ending}");
        let regex = pattern.replace('.', "\\.").replace('*', "[^/]*").replace('?', "[^/]");
        let regex = grep_regex::RegexMatcher::new(&format!("^(.*/)?{regex}$")).unwrap();
        let is_match = |name: &&String| {
            use grep_matcher::Matcher;
            regex.is_match(name.as_bytes()).unwrap()
        };
        let expected: BTreeSet<String> = names.iter().filter(is_match).cloned().collect();
        let found: BTreeSet<String> = house.names(&pattern).into_iter().collect();
        prop_assert_eq!(found, expected);
    }
}
