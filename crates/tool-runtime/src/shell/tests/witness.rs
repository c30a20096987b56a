//! Bash as a witness: it runs generated command lines, and every program it tried to start must have been found.
//!
//! Nothing can happen: there is no folder on the path, so each program ends in `command_not_found_handle`, which
//! notes its name, and redirections go to files of a temporary folder.

#![allow(clippy::disallowed_methods, reason = "the witness is a process")]

use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::shell::analyse;

const PIECES: &[&str] = &[
    "p1",
    "p2 a",
    "p3 'a b'",
    "p4 \"x y\"",
    " ; ",
    " && ",
    " || ",
    " | ",
    "\n",
    " & ",
    "$(",
    ")",
    "(",
    "`",
    "\"",
    "'",
    "\\",
    "{ ",
    "; }",
    "<(",
    "> f",
    "2>&1",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "#",
    " # c\n",
    "${x:-",
    "}",
    "$x",
    "$'\\''",
    "$'p\\x31'",
    "if ",
    "; then ",
    "; fi",
    "for i in a; do ",
    "; done",
    "case a in a) ",
    ";; esac",
    "p5() { ",
    "[[ a == ",
    " ]]",
    "x=",
    "x=(",
    "$((",
    "))",
    "1",
    "!",
    "\\\n",
    "\\`",
    "\\$",
    "=",
    "<<<",
    "*",
    "{a,b}",
    "p6\\ q",
    "~",
    "-",
    "<<-E\n\t",
    "|&",
    "&>",
    "E",
    "time ",
    "eval ",
    "else ",
    "while ",
    "in ",
    "p7",
    "exec ",
    "$\"",
    "[",
    "]",
    "\t",
];

/// Commands around a command.
const TEMPLATES: &[&str] = &[
    "@",
    "q1 $(@)",
    "q2 \"$(@) x\"",
    "q3 `q`",
    "q4 <(@)",
    "x=$(@) q5",
    "(@)",
    "{ @; }",
    "if @; then q6; fi",
    "while @; do q7; break; done",
    "for i in $(@); do q8; done",
    "case $(@) in *) q9;; esac",
    "case x in (x) @;; y) q; esac",
    "qf() { @; }; qf",
    "cat <<E\n$(@)\nE\n",
    "cat <<'E'\n$(no)\nE\n@",
    "cat <<-E\n\t$(@)\n\tE\n",
    "[[ -n $(@) ]] && q10",
    "q11 ${x:-$(@)}",
    "q12 $((1+$(@)))",
    "@ > f",
    "@ 2>&1 | q13",
    "q14 || @",
    "@ && q15",
    "! @",
    "@ & q16",
    "q17 <<< $(@)",
    "arr=(a $(@))",
    "q18 # c '\n@",
    "q19 'a\nb' ; @",
    "q20 \\\n && @",
    "eval '@'",
    "q21 \"a`q22 b`\" ; @",
    "time @",
    "q23 $'a\\'b' ; @",
    "q24 a\\;b ; @",
    "{ q25 | @; } 2>f",
    "q26 \"${x:-\"$(@)\"}\"",
    "until @; do break; done",
    "cat <<A <<B; @\n$(q27)\nA\nx\nB\n",
    "q28 $(q29 # )\n @)",
    "q30 $(case a in a) @;; esac)",
    "select i in a; do @; break; done <<< 1",
];

/// The programs bash tried to start.
fn witnessed(bash: &Path, text: &str, folder: &Path) -> Vec<String> {
    let script = "command_not_found_handle() { builtin printf '%s\\0' \"$1\" >> \"$LOG\"; return 0; }\n\
                  enable -n kill . source trap\nulimit -t 2 -u 200 2>/dev/null\neval \"$TEXT\"\nwait";
    // A new one each time: what still runs in the background of another text writes to its own.
    let log = tempfile::Builder::new().prefix("log").tempfile_in(folder).unwrap().into_temp_path();
    let mut child = Command::new(bash);
    child
        .args(["--norc", "--noprofile", "-c", script, "bash"])
        .env_clear()
        .env("PATH", "/nowhere")
        .env("LOG", &*log)
        .env("TEXT", text)
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    child.status().unwrap();
    let names = std::fs::read(&*log).unwrap_or_default();
    names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

pub(super) fn find_bash() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("bash")).find(|bash| bash.is_file());
    if found.is_none() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "bash is missing, and CI needs it");
        println!("skipped: there is no bash to compare with");
    }
    found
}

fn compare(bash: &Path, text: &str, folder: &Path) -> Result<(), String> {
    let analysis = analyse(text);
    // What is not understood, or opaque, is never allowed by itself; only silence would be wrong.
    if analysis.opaque().is_some() {
        return Ok(());
    }
    let found: Vec<&str> =
        analysis.parts.iter().map(|part| part.words.first().map_or("", |word| word.text.as_str())).collect();
    for name in witnessed(bash, text, folder) {
        if !found.contains(&name.as_str()) {
            return Err(format!("bash ran `{name}`, found were {found:?} in {text:?}"));
        }
    }
    Ok(())
}

#[test]
fn what_bash_runs_was_found() {
    let Some(bash) = find_bash() else { return };
    let folder = tempfile::tempdir().unwrap();
    for command in super::table() {
        // These ran programs of the machine by their path, or hold the shell.
        if !command.contains("/bin/") && !command.contains(":|:") {
            compare(&bash, &command, folder.path()).unwrap();
        }
    }
    // The number can be raised for a longer search.
    let cases = std::env::var("WITNESS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let nested = proptest::collection::vec(prop::sample::select(TEMPLATES), 1..5);
    let spoilt =
        proptest::collection::vec((any::<prop::sample::Index>(), prop::sample::select(PIECES)), 0..3);
    let outcome = runner.run(&(nested, spoilt), |(nested, spoilt)| {
        let mut text = nested.iter().fold("p0 a".to_owned(), |inner, template| template.replace('@', &inner));
        for (place, piece) in spoilt {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            text.insert_str(*place.get(&places), piece);
        }
        compare(&bash, &text, folder.path()).map_err(TestCaseError::fail)
    });
    outcome.unwrap();
}
