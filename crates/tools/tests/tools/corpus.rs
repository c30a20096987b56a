//! Edit attempts as models make them, by the hundred: every one ends in the right file or in an error that changed
//! nothing, none in a wrong file.
//!
//! Cases made by hand stand in `tests/corpus/cases.jsonl`. Generated ones take a window of a real-looking source, change
//! it, and spoil what the model says about it in a known way, so that the right outcome is known too.

mod generate;

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use stepwell_workspace::files;

use crate::bench::free;

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Right,
    Error,
    Wrong,
}

/// An edit of one file and what it must lead to.
struct Attempt {
    kind: String,
    tool: String,
    path: String,
    arguments: Value,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// Makes the attempt on a file of its own.
async fn attempt(attempt: &Attempt) -> (Outcome, String) {
    let bench = free();
    bench.put(&attempt.path, &attempt.before);
    let mut arguments = attempt.arguments.clone();
    match arguments.get_mut("edits").and_then(Value::as_array_mut) {
        Some(edits) => edits.iter_mut().for_each(|edit| edit["file_path"] = attempt.path.as_str().into()),
        None if attempt.tool == "patch" => {}
        None => arguments["file_path"] = attempt.path.as_str().into(),
    }
    let result = bench.call(&attempt.tool, arguments).await.result;
    let stored = files::read(&bench.path(&attempt.path)).expect("the file is still there");
    let outcome = match (result.is_success(), stored == attempt.after, stored == attempt.before) {
        (true, true, _) => Outcome::Right,
        (false, _, true) => Outcome::Error,
        _ => Outcome::Wrong,
    };
    let told = format!("{}\n--- stored ---\n{}", result.output, String::from_utf8_lossy(&stored));
    (outcome, told)
}

type Table = BTreeMap<String, [usize; 3]>;

#[allow(clippy::print_stdout, reason = "the table is what the corpus is for")]
fn print(title: &str, table: &Table) {
    println!("{title:<44} right  error  wrong");
    let mut total = [0; 3];
    for (kind, counts) in table {
        println!("{kind:<44} {:>5}  {:>5}  {:>5}", counts[0], counts[1], counts[2]);
        total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    println!("{:<44} {:>5}  {:>5}  {:>5}", "all", total[0], total[1], total[2]);
}

#[tokio::test]
async fn attempts_made_by_hand_end_as_they_should() {
    let text = include_str!("../corpus/cases.jsonl");
    let mut table = Table::new();
    let mut failures = Vec::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let word = |key: &str| case[key].as_str().map(str::to_owned);
        let bytes = |key: &str| match (word(key), word(&format!("{key}_base64"))) {
            (Some(text), _) => Some(text.into_bytes()),
            (None, Some(coded)) => Some(STANDARD.decode(coded).expect("base64")),
            (None, None) => None,
        };
        let name = format!("{} ({})", word("name").expect("name"), word("tool").expect("tool"));
        let before = bytes("before").expect("before");
        let after = bytes("after");
        let asked = Attempt {
            kind: word("tool").expect("tool"),
            tool: word("tool").expect("tool"),
            path: word("path").unwrap_or_else(|| "file.txt".to_owned()),
            arguments: case["args"].clone(),
            after: after.clone().unwrap_or_else(|| before.clone()),
            before,
        };
        let (outcome, told) = attempt(&asked).await;
        table.entry(asked.kind.clone()).or_default()[outcome as usize] += 1;
        let is_expected = match &after {
            Some(_) => outcome == Outcome::Right,
            None => outcome == Outcome::Error && told.contains(case["error"].as_str().expect("error")),
        };
        if !is_expected {
            failures.push(format!("{name}: {outcome:?}: {told}"));
        }
    }
    print("made by hand", &table);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[tokio::test]
async fn generated_attempts_end_right_or_in_an_error() {
    const ATTEMPTS: usize = 1000;
    let mut generator = generate::Generator::new(0x5eed);
    let mut table = Table::new();
    let mut wrong = Vec::new();
    for _ in 0..ATTEMPTS {
        let asked = generator.next();
        let (outcome, told) = attempt(&asked).await;
        table.entry(asked.kind.clone()).or_default()[outcome as usize] += 1;
        let must_succeed = asked.kind.starts_with("exact");
        if outcome == Outcome::Wrong || must_succeed && outcome != Outcome::Right {
            let expected = String::from_utf8_lossy(&asked.after).into_owned();
            wrong
                .push(format!("{}\n{:#}\n{told}\n--- expected ---\n{expected}", asked.kind, asked.arguments));
        }
    }
    print("generated", &table);
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.into_iter().take(3).collect::<Vec<_>>().join("\n\n")
    );
    // Most of what can be understood is understood.
    let right: usize = table.values().map(|counts| counts[0]).sum();
    assert!(right * 10 > ATTEMPTS * 7, "only {right} of {ATTEMPTS} were understood");
}

#[tokio::test]
async fn writing_what_was_read_changes_nothing_in_any_encoding() {
    let text = "naïve = \"é\"; // Überprüfung\r\nvaleur = 3; // créée à l'été\r\nlast";
    let utf16 = |mark: bool, little: bool| -> Vec<u8> {
        let units = mark.then_some(0xFEFF).into_iter().chain(text.encode_utf16());
        units.flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
    };
    let latin: Vec<u8> = text.chars().map(|character| character as u8).collect();
    let forms: Vec<(&str, Vec<u8>)> = vec![
        ("utf-8", text.as_bytes().to_vec()),
        ("utf-8 with a mark", [b"\xEF\xBB\xBF", text.as_bytes()].concat()),
        ("utf-16le", utf16(true, true)),
        ("utf-16be", utf16(true, false)),
        ("utf-16le without a mark", utf16(false, true)),
        ("utf-16be without a mark", utf16(false, false)),
        ("windows-1252", latin),
    ];
    for (name, bytes) in forms {
        let bench = free();
        bench.put("f.txt", &bytes);
        let shown = bench.call("read", json!({"file_path": "f.txt"})).await.result.output;
        let lines: Vec<&str> = shown.lines().map(|line| line.split_once('\t').expect("a number").1).collect();
        let result =
            bench.call("write", json!({"file_path": "f.txt", "content": lines.join("\n")})).await.result;
        assert!(result.is_success(), "{name}: {}", result.output);
        assert_eq!(files::read(&bench.path("f.txt")).expect("read"), bytes, "{name}");
    }
}
