//! A thousand random edits by structure: each ends in a file whose syntax is as whole as before and whose bytes outside
//! of the symbol are the same, or in an error that changed nothing.
//!
//! The sources are generated and the repository's fixtures; where `STEPWELL_CORPORA` names a folder, its files too.

mod generate;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_code_intel::facts::{self, Definition, Facts, Kind};
use stepwell_code_intel::languages::Language;
use stepwell_code_intel::syntax::{self, Limits};
use stepwell_workspace::files;

use crate::bench::{Bench, free};
use generate::Random;

/// Edits that must succeed.
const WANTED: usize = 1000;
const LIMITS: Limits = Limits { bytes: 4 * 1024 * 1024, time: Duration::from_secs(10), errors: 100_000 };
const FRESH: &str = "zqfresh";

struct File {
    path: String,
    text: String,
    language: Language,
    facts: Facts,
}

const LANGUAGES: [Language; 9] = [
    Language::Python,
    Language::TypeScript,
    Language::Tsx,
    Language::JavaScript,
    Language::Rust,
    Language::Go,
    Language::C,
    Language::Cpp,
    Language::Java,
];

/// Puts a source into the workspace, if it is one that can be edited.
fn add(bench: &Bench, sources: &mut Vec<File>, path: String, text: String) {
    let Some(language) = Language::detect(Path::new(&path), &text) else { return };
    let Ok(facts) = facts::read(language, &text) else { return };
    if !LANGUAGES.contains(&language)
        || facts.definitions.is_empty()
        || text.len() > 60_000
        || path.contains(' ')
    {
        return;
    }
    bench.put(&path, text.as_bytes());
    sources.push(File { path, text, language, facts });
}

/// The source files beneath a folder, in order.
fn beneath(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in files::list_dir(folder).unwrap_or_default() {
        if entry.is_symlink() {
            continue;
        }
        if entry.is_dir() {
            beneath(&entry, found);
        } else if Language::detect(&entry, "").is_some_and(|language| LANGUAGES.contains(&language)) {
            found.push(entry);
        }
    }
}

/// Some files of a folder, spread over all of it.
fn add_some(bench: &Bench, sources: &mut Vec<File>, folder: &Path, name: &str, most: usize) {
    let mut found = Vec::new();
    beneath(folder, &mut found);
    let step = found.len().div_ceil(most.max(1)).max(1);
    for path in found.iter().step_by(step) {
        let Ok(text) = files::read_to_string(path) else { continue };
        let relative = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        add(bench, sources, format!("{name}/{relative}"), text);
    }
}

/// An edit and the bytes of the file that it may change.
struct Attempt {
    kind: &'static str,
    arguments: Value,
    allowed: std::ops::Range<usize>,
}

/// The bytes that belong to a definition: its comments, the punctuation behind it, the blank lines around it.
fn surroundings(file: &File, definition: &Definition) -> std::ops::Range<usize> {
    let whole = facts::whole(&file.text, definition);
    let mut before = file.text[..whole.start as usize].trim_end();
    // Lines within a comment may begin with anything.
    if file.text[whole.start as usize..].trim_start().starts_with("*/") {
        before = before[..before.rfind("/*").unwrap_or(before.len())].trim_end();
    }
    while before.ends_with("*/") {
        let Some(open) = before.rfind("/*") else { break };
        before = before[..open].trim_end();
    }
    let start = before.strip_suffix(',').unwrap_or(before).len();
    let mut end = definition.span.end as usize;
    let line = file.text[end..].find('\n').map_or(file.text.len(), |at| end + at);
    let rest = file.text[end..line].trim_start_matches([' ', '\t', ',', ';']);
    if rest.is_empty()
        || rest.starts_with("//")
        || rest.starts_with('#')
        || rest.starts_with("/*")
        || rest.starts_with('\r')
    {
        end = line;
    } else {
        end = line - rest.len();
    }
    let after = &file.text[end..];
    start..end + (after.len() - after.trim_start_matches(['\n', '\r', ' ', '\t']).len())
}

fn snippet(language: Language, definition: &Definition, nth: usize) -> String {
    let name = format!("{FRESH}{nth}");
    let is_member = definition.is_member;
    match (language, definition.kind) {
        (Language::Python, _) => format!("def {name}(self=None):\n    return 1"),
        (Language::Rust, Kind::Field) => format!("{name}: u8"),
        (_, Kind::EnumMember) => name,
        (Language::Rust, _) => format!("fn {name}() -> u8 {{\n    1\n}}"),
        (Language::Go, Kind::Field) => format!("{name} int"),
        (Language::Go, _) => format!("func {name}() int {{\n\treturn 1\n}}"),
        (Language::C, _) | (Language::Cpp | Language::Java, Kind::Field) => format!("int {name};"),
        (Language::Cpp | Language::Java, _) => format!("int {name}() {{\n    return 1;\n}}"),
        (_, Kind::Property) => format!("{name}: 1"),
        // `module.exports = …` is no field of a class.
        (_, Kind::Field) if definition.name_span.start == definition.span.start => format!("{name} = 1;"),
        (_, _) if is_member => format!("{name}() {{\n  return 1;\n}}"),
        _ => format!("function {name}() {{\n  return 1;\n}}"),
    }
}

fn body(language: Language) -> &'static str {
    match language {
        Language::Python => "value = 1\nreturn value",
        Language::Rust => "let value = 1;\ntodo!()",
        Language::Go => "panic(1)",
        Language::Java => "int value = 1;\nthrow null;",
        _ => "int_value = 1;\nreturn int_value;",
    }
}

/// A random edit of a file; `None` where the file has nothing for it.
fn attempt(file: &File, random: &mut Random, nth: usize) -> Option<Attempt> {
    let kind = ["replace", "replace_body", "insert_before", "insert_after", "delete", "rename", "rewrite"]
        [random.below(7)];
    let everything = 0..file.text.len();
    if kind == "rewrite" {
        // Any call of a plain name.
        let calls: Vec<&str> = file
            .facts
            .occurrences
            .iter()
            .filter(|one| file.text[one.span.end as usize..].starts_with('('))
            .map(|one| one.span.of(&file.text))
            .collect();
        let name = *calls.get(random.below(calls.len()))?;
        let arguments = json!({"operation": "rewrite", "file_path": file.path, "pattern": format!("{name}($$$A)"), "code": format!("{FRESH}{nth}($$$A)")});
        return Some(Attempt { kind, arguments, allowed: everything });
    }
    let wanted: Vec<&Definition> = file
        .facts
        .definitions
        .iter()
        .filter(|one| match kind {
            "replace_body" => one.is_callable() && !one.is_declaration,
            "rename" => true,
            _ => !matches!(one.kind, Kind::Parameter | Kind::TypeParameter),
        })
        .collect();
    let definition = *wanted.get(random.below(wanted.len()))?;
    let symbol = definition.name.clone();
    let mut arguments =
        json!({"operation": kind, "file_path": file.path, "symbol": symbol, "line": definition.at.line});
    let comment = if file.language == Language::Python { "#" } else { "//" };
    match kind {
        "rename" => arguments["new_name"] = format!("{FRESH}{nth}").into(),
        "replace" => {
            arguments["code"] = format!("{comment} {FRESH}{nth}\n{}", definition.span.of(&file.text)).into();
        }
        "replace_body" => arguments["code"] = body(file.language).into(),
        "delete" => {}
        _ => arguments["code"] = snippet(file.language, definition, nth).into(),
    }
    let allowed = if kind == "rename" { everything } else { surroundings(file, definition) };
    Some(Attempt { kind, arguments, allowed })
}

/// What is wrong with a file after an edit of it or of another; nothing where all is well.
fn judged(file: &File, attempt: &Attempt, now: &str, nth: usize) -> Option<String> {
    let fresh = format!("{FRESH}{nth}");
    let count =
        |text: &str| syntax::errors(file.language, text, LIMITS).map_or(usize::MAX, |errors| errors.len());
    let (before, after) = (count(&file.text), count(now));
    if after > before {
        return Some(format!("{before} syntax errors became {after}"));
    }
    let old = file.text.as_bytes();
    match attempt.kind {
        "rename" | "rewrite" => {
            let name = match attempt.kind {
                "rename" => attempt.arguments["symbol"].as_str().unwrap_or_default().to_owned(),
                _ => attempt.arguments["pattern"]
                    .as_str()
                    .unwrap_or_default()
                    .trim_end_matches("($$$A)")
                    .to_owned(),
            };
            let back = now
                .replace(&format!("{name}: {fresh}"), &name)
                .replace(&format!("{fresh}: {name}"), &name)
                .replace(&fresh, &name);
            let spelled = file.text.replace(&format!("{name}: {name}"), &name);
            let is_same = back == file.text || back.replace(&format!("{name}: {name}"), &name) == spelled;
            // A rewritten call loses the white space and the comma before its closing parenthesis, nothing else.
            let squeezed = |text: &str| text.replace(|one: char| one.is_whitespace() || one == ',', "");
            let is_near = attempt.kind == "rewrite" && squeezed(&back) == squeezed(&file.text);
            (!is_same && !is_near).then(|| "other text changed".to_owned())
        }
        _ => {
            let range = &attempt.allowed;
            let is_kept = now.as_bytes().starts_with(&old[..range.start])
                && now.as_bytes().ends_with(&old[range.end..])
                && now.len() >= range.start + (old.len() - range.end);
            (!is_kept).then(|| format!("bytes outside of {range:?} changed"))
        }
    }
}

type Table = BTreeMap<String, [usize; 3]>;

#[allow(clippy::print_stdout, reason = "the table is what the test is for")]
fn print(table: &Table, reasons: &BTreeMap<String, usize>) {
    println!("{:<32} made  refused  wrong", "");
    let mut all = [0; 3];
    for (kind, counts) in table {
        println!("{kind:<32} {:>4}  {:>7}  {:>5}", counts[0], counts[1], counts[2]);
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    println!("{:<32} {:>4}  {:>7}  {:>5}", "all", all[0], all[1], all[2]);
    for (reason, count) in reasons {
        println!("refused {count:>4}: {reason}");
    }
}

#[tokio::test]
async fn a_thousand_random_edits_leave_everything_else_as_it_is() {
    let mut bench = free();
    let mut random = Random::new(0x5EED_1234);
    let mut sources = Vec::new();
    for round in 0..4 {
        for language in LANGUAGES {
            let (path, text) = generate::source(language, &mut random, round);
            add(&bench, &mut sources, path, text);
        }
    }
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    add_some(&bench, &mut sources, &fixtures, "fixtures", 40);
    if let Some(corpora) = std::env::var_os("STEPWELL_CORPORA").map(PathBuf::from) {
        for folder in files::list_dir(&corpora).expect("a folder") {
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            add_some(&bench, &mut sources, &folder, &name, 40);
        }
    }
    let originals: BTreeMap<String, usize> =
        sources.iter().enumerate().map(|(at, file)| (file.path.clone(), at)).collect();
    // A file is written by renaming, so its stamp tells that it was.
    let stamp = |bench: &Bench, path: &str| files::stamp(&bench.path(path)).expect("a stamp");
    let mut stamps: BTreeMap<String, _> =
        originals.keys().map(|path| (path.clone(), stamp(&bench, path))).collect();
    let (mut table, mut reasons, mut wrong) = (Table::new(), BTreeMap::new(), Vec::new());
    let (mut made, mut nth) = (0, 0);
    while made < WANTED {
        nth += 1;
        assert!(nth < 20 * WANTED, "too few edits succeed: {made} of {nth}");
        let file = &sources[random.below(sources.len())];
        let Some(attempt) = attempt(file, &mut random, nth) else { continue };
        // What the test put back is no change behind the back of a new task.
        bench.env.task = format!("t{nth}").as_str().into();
        let result = bench.call("edit_by_ast", attempt.arguments.clone()).await.result;
        let kind = format!("{} {}", attempt.kind, file.language.name());
        let counts = table.entry(kind.clone()).or_default();
        let mut problems = Vec::new();
        let mut touched = Vec::new();
        let paths: Vec<&String> = if attempt.kind == "rename" && result.is_success() {
            originals.keys().filter(|path| stamps[*path] != stamp(&bench, path)).collect()
        } else {
            vec![&file.path]
        };
        for path in paths {
            let other = &sources[originals[path]];
            let now = bench.content(path);
            if now != other.text {
                touched.push(path.clone());
                if result.is_success() {
                    problems.extend(
                        judged(other, &attempt, &now, nth).map(|problem| format!("{path}: {problem}")),
                    );
                } else {
                    problems.push(format!("{path}: an error, and it changed"));
                }
            }
        }
        if result.is_success() && touched.is_empty() {
            problems.push("it says that it changed something".to_owned());
        }
        let is_insert = attempt.kind.starts_with("insert");
        if result.is_success() && is_insert {
            let undo =
                json!({"operation": "delete", "file_path": file.path, "symbol": format!("{FRESH}{nth}")});
            let undone = bench.call("edit_by_ast", undo).await.result;
            if undone.is_success() && bench.content(&file.path) == file.text {
                counts[0] += 1;
                made += 1;
                stamps.insert(file.path.clone(), stamp(&bench, &file.path));
                touched.clear();
            } else {
                problems.push(format!("not undone: {}", undone.output));
            }
        }
        match (problems.is_empty(), result.is_success()) {
            (true, true) => {
                counts[0] += 1;
                made += 1;
            }
            (true, false) => {
                counts[1] += 1;
                let reason: String =
                    result.output.split(": ").nth(1).unwrap_or(&result.output).chars().take(60).collect();
                *reasons.entry(reason).or_insert(0) += 1;
            }
            (false, _) => {
                counts[2] += 1;
                wrong.push(format!(
                    "{kind} {}\n{}\n{}",
                    attempt.arguments,
                    problems.join("\n"),
                    result.output
                ));
            }
        }
        for path in touched {
            bench.put(&path, sources[originals[&path]].text.as_bytes());
            stamps.insert(path.clone(), stamp(&bench, &path));
        }
    }
    print(&table, &reasons);
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n\n")
    );
}
