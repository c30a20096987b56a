//! The catalogue has no hole: every message of errors and hints, no message that is gone, every value in its place.
#![allow(clippy::disallowed_methods, reason = "the tests read the sources")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::*;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The sources of some crates without their tests.
fn sources(names: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = names.iter().map(|name| crates().join(name).join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "tests" {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !name.contains("tests") {
                let text = std::fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]").next().unwrap().to_owned();
                found.push((path, text));
            }
        }
    }
    found
}

/// A literal of the sources as the catalogue writes it.
fn as_key(literal: &str) -> String {
    static LINE_END: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\\\n\s*").unwrap());
    static VALUE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{[^{}]*\}").unwrap());
    let joined = LINE_END.replace_all(literal, "");
    let plain = joined.replace("\\\"", "\"").replace("\\\\", "\\").replace("\\u{2026}", "…");
    let plain = plain.replace("{{", "\u{1}").replace("}}}", "}\u{2}").replace("}}", "\u{2}");
    let values = VALUE.replace_all(&plain, "{}");
    values.replace('\u{1}', "{").replace('\u{2}', "}")
}

fn literals(text: &str) -> Vec<String> {
    static LITERAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""((?:[^"\\]|\\[\s\S])*)""#).unwrap());
    // Characters in quotes would begin a literal.
    let text = text.replace("'\"'", "' '");
    LITERAL.captures_iter(&text).map(|found| as_key(&found[1])).collect()
}

/// Messages of the crates whose errors reach a person, and what to do about them.
fn needed() -> BTreeSet<(String, String)> {
    let mut needed = BTreeSet::new();
    let add = |path: &Path, key: String, needed: &mut BTreeSet<(String, String)>| {
        let key = key.trim_start_matches("\\n").trim_end().to_owned();
        // The rest of a sentence comes with its beginning.
        if key.starts_with([' ', ';', ',']) {
            return;
        }
        let has_words =
            key.split(' ').filter(|word| word.chars().all(|letter| letter.is_ascii_alphabetic())).count() > 1;
        if has_words && !key.starts_with("{}") || key.contains(' ') && key.len() > 25 {
            needed.insert((key, path.file_name().unwrap().to_string_lossy().into_owned()));
        }
    };
    let error = Regex::new(r#"#\[error\(\s*("(?:[^"\\]|\\[\s\S])*")"#).unwrap();
    // What `why` adds to its report.
    let note = Regex::new(r#"notes\s*\.push\(\s*(?:format!\(\s*)?("(?:[^"\\]|\\[\s\S])*")"#).unwrap();
    for (path, text) in sources(&["store", "workspace", "sandbox", "agent", "net", "debug"]) {
        // Errors of one protocol's other side are shown as they are, in a sentence that is translated.
        if path.components().any(|part| part.as_os_str() == "node") || path.ends_with("fold/validity.rs") {
            continue;
        }
        for found in error.captures_iter(&text) {
            for key in literals(&found[1]) {
                add(&path, key, &mut needed);
            }
        }
        let is_of_report = path.components().any(|part| part.as_os_str() == "failure");
        for found in note.captures_iter(&text).filter(|_| is_of_report) {
            for key in literals(&found[1]) {
                add(&path, key, &mut needed);
            }
        }
        if path.ends_with("error.rs")
            && let Some((_, body)) = text.split_once("fn hint(")
        {
            for key in literals(body) {
                add(&path, key, &mut needed);
            }
        }
    }
    let report =
        Regex::new(r#"report::(?:usage|failed)\(\s*(?:format!\()?\s*("(?:[^"\\]|\\[\s\S])*")"#).unwrap();
    let word = Regex::new(r#"\.word\(\s*("(?:[^"\\]|\\[\s\S])*")"#).unwrap();
    let said = Regex::new(r#"\bsaid\(\s*&?(?:format!\()?\s*("(?:[^"\\]|\\[\s\S])*")"#).unwrap();
    for (path, text) in sources(&["cli"]) {
        for found in word.captures_iter(&text) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            needed.extend(literals(&found[1]).into_iter().map(|key| (key, name.clone())));
        }
        for found in said.captures_iter(&text) {
            for key in literals(&found[1]) {
                add(&path, key, &mut needed);
            }
        }
        for found in report.captures_iter(&text) {
            for key in literals(&found[1]) {
                add(&path, key, &mut needed);
            }
        }
    }
    needed
}

/// What is left in English on purpose: it is for programs and models, or no sentence.
const ENGLISH: &[&str] = &[
    "a `{}` event is transient and does not belong in the log",
    "an event cannot be written as JSON: {}",
    "an event of the stream is longer than {} bytes",
    "what came is no message: {}",
    "the connection is closed: {}",
];

#[test]
fn every_message_of_errors_and_hints_is_translated() {
    let known: BTreeSet<&str> = pairs(CHINESE).into_iter().map(|(english, _)| english).collect();
    let missing: Vec<_> = needed()
        .into_iter()
        .filter(|(key, _)| !known.contains(key.as_str()) && !ENGLISH.contains(&key.as_str()))
        // A sentence that the catalogue has with a value in its place is covered too.
        .filter(|(key, _)| !Language::Chinese.knows(&key.replace("{}", "x")))
        // A word that decides how the sentence goes on has a line for each.
        .filter(|(key, _)| {
            !["this task", "no"].iter().any(|word| Language::Chinese.knows(&key.replacen("{}", word, 1)))
        })
        .collect();
    assert!(missing.is_empty(), "not in messages.zh.txt: {missing:#?}");
}

#[test]
fn every_line_of_the_catalogue_is_whole() {
    assert_eq!(CHINESE.lines().count() % 2, 0, "a line stands alone");
    let pairs = pairs(CHINESE);
    let mut seen = BTreeSet::new();
    for (english, chinese) in &pairs {
        assert!(seen.insert(*english), "`{english}` stands there twice");
        let values = english.matches("{}").count();
        let by_number = (1..=values).all(|number| chinese.matches(&format!("{{{number}}}")).count() == 1);
        let in_order = chinese.matches("{}").count() == values;
        assert!(
            in_order || by_number && values > 0,
            "`{english}` has {values} values, `{chinese}` has others"
        );
        let is_translated = chinese.chars().any(|letter| letter as u32 > 0x2E80);
        assert!(is_translated, "`{english}` is not translated");
        // Names, commands and code are the same in every language.
        for code in english.split('`').skip(1).step_by(2).filter(|code| !code.contains("{}")) {
            assert!(chinese.contains(&format!("`{code}`")), "`{code}` is missing in `{chinese}`");
        }
    }
}

/// Every sentence of the catalogue stands in the sources; one that is gone would only mislead.
#[test]
fn no_message_of_the_catalogue_is_gone() {
    let all = [
        "cli",
        "store",
        "workspace",
        "sandbox",
        "agent",
        "net",
        "debug",
        "llm",
        "tool-runtime",
        "protocol",
        "tools",
        "mcp",
    ];
    // What clap and the system say.
    let foreign = ["error: ", "tip: ", "Usage: ", "For more information", "[possible values"];
    let mut known = BTreeSet::new();
    let mut joined = String::new();
    for (_, text) in sources(&all) {
        for key in literals(&text) {
            joined.push_str(&key);
            joined.push('\n');
            known.insert(key);
        }
    }
    let gone: Vec<&str> = pairs(CHINESE)
        .into_iter()
        .map(|(english, _)| english)
        .filter(|english| !known.contains(*english))
        .filter(|english| {
            !foreign.iter().any(|start| english.starts_with(start)) && !english.contains("(os error ")
        })
        // One that is put together of several literals is there when its longest part is.
        .filter(|english| {
            let part =
                english.split("{}").flat_map(|part| part.split([':', ';', ',', '(', ')'])).map(str::trim);
            part.max_by_key(|part| part.len()).is_some_and(|part| !joined.contains(part))
        })
        // So is one of which a literal leaves some words open.
        .filter(|english| {
            !known.iter().any(|literal| {
                let parts: Vec<&str> = literal.trim().split("{}").collect();
                let letters = parts.iter().map(|part| part.trim().len()).sum::<usize>();
                parts.len() > 1 && letters > 3 && values(&parts, english).is_some()
            })
        })
        .collect();
    assert!(gone.is_empty(), "in messages.zh.txt and nowhere else: {gone:#?}");
}

#[test]
fn values_are_put_where_they_belong() {
    let check = |english: &str, chinese: &str| assert_eq!(Language::Chinese.say(english), chinese);
    check("there is no task `4`", "没有任务 `4`");
    check("cannot read `/a b`: the disk is full", "无法读取 `/a b`：磁盘已满");
    check("there is no open request `q` in task `t`", "任务 `t` 中没有待处理的请求 `q`");
    check("  no tasks", "  没有任务");
    check("`no tasks` does not exist", "`no tasks` 不存在");
    check("words of somebody else", "words of somebody else");
    assert_eq!(Language::English.say("no tasks"), "no tasks");
    for odd in ["", "{}", "`", "\n", "there is no task `", "delete these {} tasks", "： {0} {9}"] {
        Language::Chinese.say(odd);
    }
}
