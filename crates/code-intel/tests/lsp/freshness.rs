//! What a server learns of the files, and when it ends.

use std::time::Duration;

use serde_json::{Value, json};
use stepwell_code_intel::lsp::{Question, ReadyBy};

use crate::lab::{Lab, PATIENT, runtime, scripted};

const FILES: &[(&str, &str)] =
    &[("a.py", "def total():\n    return 1\n"), ("b.py", "import a\n"), ("c.py", "import a\n")];

fn names(params: &[Value]) -> Vec<String> {
    let uris = params.iter().map(|one| one["textDocument"]["uri"].as_str().unwrap().to_owned());
    uris.map(|uri| uri.rsplit('/').next().unwrap().to_owned()).collect()
}

#[test]
fn every_change_on_the_disk_is_told_before_the_next_question() {
    let runs = json!([{"textDocument/definition": [{"answer": null}]}]);
    let mut lab = Lab::scripted(FILES, &runs, PATIENT);
    runtime().block_on(async {
        lab.ask("a.py:1:5", Question::Definition).await;
        assert_eq!(names(&lab.got("textDocument/didOpen")), ["a.py"]);
        assert!(lab.got("workspace/didChangeWatchedFiles").is_empty());

        lab.write("a.py", "# moved\ndef total():\n    return 1\n");
        lab.write("b.py", "import a as other\n");
        lab.write("d.py", "import a\n");
        lab.write("go.mod", "module x\n");
        std::fs::remove_file(lab.root().join("c.py")).unwrap();
        lab.ask("a.py:2:5", Question::Definition).await;
        assert_eq!(names(&lab.got("textDocument/didOpen")), ["a.py", "b.py", "d.py"]);
        let changed = lab.got("textDocument/didChange");
        assert_eq!(changed[0]["contentChanges"][0]["text"], "# moved\ndef total():\n    return 1\n");
        assert_eq!(changed[0]["textDocument"]["version"], 2);
        let told = lab.got("workspace/didChangeWatchedFiles");
        let told: Vec<String> = told[0]["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                format!("{} {}", one["uri"].as_str().unwrap().rsplit('/').next().unwrap(), one["type"])
            })
            .collect();
        assert_eq!(told, ["a.py 2", "b.py 2", "d.py 1", "c.py 3", "go.mod 2"]);

        // Nothing changed: nothing is told.
        lab.ask("a.py:2:5", Question::Definition).await;
        assert_eq!(lab.got("workspace/didChangeWatchedFiles").len(), 1);
        std::fs::remove_file(lab.root().join("b.py")).unwrap();
        lab.ask("a.py:2:5", Question::Definition).await;
        assert_eq!(names(&lab.got("textDocument/didClose")), ["b.py"]);
    });
}

#[test]
fn a_server_that_would_have_to_learn_too_much_starts_anew() {
    let runs = json!([{"textDocument/definition": [{"answer": null}]}]);
    let mut lab = Lab::scripted(FILES, &runs, PATIENT);
    runtime().block_on(async {
        lab.ask("total", Question::Definition).await;
        for number in 0..250 {
            lab.write(&format!("m{number}.py"), "import a\n");
        }
        lab.ask("total", Question::Definition).await;
    });
    assert_eq!(lab.log().iter().filter(|line| line.get("start").is_some()).count(), 2);
    assert_eq!(lab.got("textDocument/didOpen").len(), 2);
}

#[test]
fn a_server_ends_when_nobody_asks_and_starts_with_the_next_question() {
    let runs = json!([{"textDocument/definition": [{"answer": null}]}]);
    let idle = Duration::from_millis(200);
    let spec = |folder: &std::path::Path| scripted(folder, &runs, ReadyBy::Answering);
    let mut lab = Lab::idle_after(FILES, spec, PATIENT, idle);
    runtime().block_on(async {
        lab.ask("total", Question::Definition).await;
        let ended = async {
            while lab.got("exit").is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENT, ended).await.unwrap();
        lab.ask("total", Question::Definition).await;
        assert_eq!(lab.log().iter().filter(|line| line.get("start").is_some()).count(), 2);
    });
}

#[test]
fn a_server_gets_no_secrets_and_what_the_settings_set() {
    let spec = |folder: &std::path::Path| {
        let mut spec = scripted(folder, &json!([{}]), ReadyBy::Answering);
        let show = "import os, sys; print('error', os.environ.get('SECRET'), os.environ.get('GIVEN'), file=sys.stderr)";
        spec.arguments = vec!["-c".to_owned(), show.to_owned()];
        spec.environment = vec![("GIVEN".to_owned(), "yes".to_owned())];
        spec
    };
    let mut lab = Lab::new(FILES, spec, PATIENT);
    let shown = runtime().block_on(lab.ask("total", Question::Definition));
    assert!(shown.ends_with("its last words: error None yes"), "{shown}");
}
