//! Command lines and what is found in them, as data; properties; and bash itself as a witness.

mod bindings;
mod witness;

use std::fmt::Write as _;

use expect_test::expect_file;
use proptest::prelude::*;

use super::{Analysis, Word, analyse};

/// The command lines of the table.
pub(crate) fn table() -> Vec<String> {
    let lines = include_str!("tests/commands.txt").lines().filter(|line| !line.starts_with("# "));
    lines.map(|line| line.replace('⏎', "\n").replace('␣', " ")).collect()
}

fn shown(words: &[Word]) -> String {
    let show = |word: &Word| {
        let unsure = if word.literal { "" } else { "?" };
        format!("{}{unsure}", word.text.escape_debug())
    };
    words.iter().map(show).collect::<Vec<_>>().join(" ")
}

fn describe(command: &str, analysis: &Analysis) -> String {
    let mut text = format!("$ {}\n", command.replace('\n', "⏎"));
    for part in &analysis.parts {
        text.push_str("  ");
        for outer in &part.within {
            write!(text, "{outer} > ").unwrap();
        }
        for (name, value) in &part.assignments {
            write!(text, "{name}={} ", shown(std::slice::from_ref(value))).unwrap();
        }
        write!(text, "{}", shown(&part.words)).unwrap();
        for (what, files) in [("writes", &part.writes), ("into", &part.redirected), ("reads", &part.reads)] {
            if !files.is_empty() {
                write!(text, " [{what} {}]", shown(files)).unwrap();
            }
        }
        if part.transparent {
            text.push_str(" (transparent)");
        }
        if let Some(reason) = &part.opaque {
            write!(text, " OPAQUE {}", reason.escape_debug()).unwrap();
        }
        text.push('\n');
    }
    if let Some(problem) = &analysis.problem {
        writeln!(text, "  PROBLEM {problem}").unwrap();
    }
    if analysis.is_read_only() {
        text.push_str("  only reads\n");
    }
    text
}

#[test]
fn the_table() {
    let commands = table();
    assert!(commands.len() >= 150, "{}", commands.len());
    let text: String = commands.iter().map(|command| describe(command, &analyse(command))).collect();
    expect_file!["tests/commands.expected.txt"].assert_eq(&text);
}

#[test]
fn limits_are_problems_and_not_gaps() {
    let deep = ["$(", "\"$(", "(", "{ ", "${x:-", "if true; then ", "case a in a) ", "<(", "$((", "[[ ( "];
    for open in deep {
        for times in [100, 5000] {
            let analysis = analyse(&open.repeat(times));
            assert!(analysis.problem.is_some(), "{open}");
        }
    }
    assert!(analyse(&"true;".repeat(1500)).problem.is_some());
    assert!(analyse(&"a ".repeat(40_000)).problem.is_some());
    assert!(analyse(&format!("{}ls", "env ".repeat(100))).opaque().is_some());
    let closed = format!("{}ls{}", "$(".repeat(200), ")".repeat(200));
    assert!(analyse(&closed).problem.is_some());
    // Sixty commands are few.
    let many = analyse(&format!("{}curl x", "true;".repeat(60)));
    assert!(many.problem.is_none() && many.parts.iter().any(|part| part.name() == "curl"));
}

fn programs(command: &str) -> Vec<String> {
    analyse(command).parts.iter().map(|part| part.name().to_owned()).collect()
}

/// Commands that are understood as a whole.
fn understood() -> Vec<String> {
    let whole = |command: &String| {
        let analysis = analyse(command);
        // A comment or an open here-document at the end swallows what is appended on the same line.
        analysis.problem.is_none() && !command.contains('#') && !command.contains("<<")
    };
    table().into_iter().filter(whole).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,80}") {
        analyse(&text);
    }

    #[test]
    fn no_shell_like_text_makes_it_panic(
        pieces in proptest::collection::vec(
            prop::sample::select(vec![
                "$(", ")", "(", "((", "))", "`", "\"", "'", "\\", "\n", " ", ";", "&", "|", "<", ">", "<<", "EOF", "${", "}",
                "{", "$", "#", "=", "[", "]", "[[", "]]", "if", "then", "fi", "for", "do", "done", "case", "esac", "in", "a", "~",
                "*", "!", "$'", "\\x", "é", "𐍈", "-", "rm", "find", "-exec", "sed", "git", "--o", "xargs", "env", "sh", "-c", ",",
            ]),
            0..60,
        )
    ) {
        analyse(&pieces.concat());
        analyse(&pieces.join(" "));
    }

    #[test]
    fn an_appended_command_is_found(
        command in prop::sample::select(understood()),
        operator in prop::sample::select(vec![" && ", " || ", " ; ", " | ", " & ", "\n", " |& ", "\n\n\t", ";\\\n"]),
    ) {
        let appended = format!("{command}{operator}evil --now");
        let analysis = analyse(&appended);
        let found = analysis.parts.iter().any(|part| part.name() == "evil");
        prop_assert!(found || analysis.problem.is_some(), "{}", appended);
        prop_assert!(!analysis.is_read_only(), "{}", appended);
    }

    #[test]
    fn a_command_within_another_is_found(
        template in prop::sample::select(vec![
            "echo $(@)", "echo \"$(@)\"", "echo `@`", "cat <(@)", "x=$(@)", "(@)", "{ @; }", "if @; then a; fi",
            "while @; do a; done", "for x in $(@); do a; done", "case $(@) in *) ;; esac", "case x in x) @;; esac",
            "f() { @; }", "cat <<E\n$(@)\nE", "cat <<E\n`@`\nE", "[[ -n $(@) ]]", "echo ${x:-$(@)}", "echo $((1+$(@)))",
            "sudo @", "env @", "timeout 3 @", "nohup @", "xargs @", "bash -c '@'", "eval '@'", "trap '@' EXIT",
            "find . -exec @ \\;", "time @", "! @", "a | @", "echo $(echo $(@))", "a > $(@)", "a <<< $(@)", "A=$(@) b",
            "arr=(a $(@))", "nice -n 3 sudo env X=1 @",
        ]),
    ) {
        let command = template.replace('@', "evil now");
        prop_assert!(programs(&command).iter().any(|name| name == "evil"), "{}: {:?}", command, programs(&command));
    }

    #[test]
    fn a_quoted_program_is_the_same_program(quotes in proptest::collection::vec(0..6_usize, 4)) {
        let quoted: String = "evil"
            .chars()
            .zip(&quotes)
            .map(|(letter, quote)| match quote {
                0 => letter.to_string(),
                1 => format!("'{letter}'"),
                2 => format!("\"{letter}\""),
                3 => format!("\\{letter}"),
                4 => format!("$'\\x{:02x}'", letter as u32),
                _ => format!("$'\\{:03o}'\"\"", letter as u32),
            })
            .collect();
        prop_assert_eq!(programs(&format!("{quoted} x")), vec!["evil".to_owned()], "{}", quoted);
    }
}
