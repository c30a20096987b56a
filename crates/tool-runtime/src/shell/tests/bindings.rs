//! Every way in which bash gives a variable a value or runs a word, as a table: with a name that decides what runs
//! the form is opaque (asked about, whatever rules allow), with a harmless one it is not. Bash itself is the witness
//! that each form does bind its name.

#![allow(clippy::disallowed_methods, reason = "the witness is a process")]

use std::fmt::Write as _;
use std::process::Command;

use expect_test::expect_file;

use crate::shell::analyse;

/// Forms that bind `@`, with what they leave in it. `+` begins those that bash 5.3 brought, `!` those of which the
/// harmless twin is opaque too, `=` those that bind for another program alone.
const FORMS: &[&str] = &[
    "@=new",
    "@+=new",
    "@[0]=new",
    "@=(new)",
    "= @=new true",
    "for @ in new; do true; done",
    "for @ in new\ndo true; done",
    "for @ in new; { true; }",
    "set -e; for @ in new; do true; done",
    "! for ((@=1; @<2; @++)); do true; done",
    "select @ in new; do break; done <<< 1",
    "read @ <<< new",
    "read -r @ <<< new",
    "read -r x @ <<< 'a new'",
    "read -a @ <<< new",
    "read -a@ <<< new",
    "read -ra @ <<< new",
    "read -p '' -t 1 @ <<< new",
    "read -d '' @ <<< new",
    "read -- @ <<< new",
    "IFS= read -r @ <<< new",
    "printf -v @ new",
    "printf -v@ new",
    "printf -v @ -- new",
    "mapfile @ <<< new",
    "mapfile -t @ <<< new",
    "mapfile -n 1 -t @ <<< new",
    "readarray -t @ <<< new",
    "getopts n @ -n",
    "getopts n @ -- -n",
    "coproc @ { true; }",
    "coproc @ ( true )",
    "+ true ${ @=new; }",
    "+ true ${\n@=new\n}",
    "+ true ${| @=new; }",
    "declare @=new",
    "declare -x @=new",
    "declare -r @=new",
    "declare -g @=new",
    "declare -a @=(new)",
    "declare -u @=new",
    "declare '@=new'",
    "declare \"@\"=new",
    "typeset @=new",
    "export @=new",
    "export '@=new'",
    "export -- @=new",
    "readonly @=new",
    "f() { local @=new; printf %s \"$@\" > /dev/null; }; export @=new; f",
    "builtin export @=new",
    "command export @=new",
    "builtin read @ <<< new",
    "command printf -v @ new",
    "builtin mapfile -t @ <<< new",
    "eval '@=new'",
    "eval export @=new",
    "= trap '@=new' EXIT; exit",
    "trap '@=new' DEBUG; true",
    "true && @=new",
    "{ @=new; }",
    "if true; then @=new; fi",
    "case a in a) @=new;; esac",
    "while true; do @=new; break; done",
    "! declare -n r=@; r=new",
    "! typeset -n r=@; r=new",
    "! declare -i @=1",
    "! let @=1",
    "! let '@ = 1'",
    "! ((@=1))",
    "! true $((@=1))",
    "! true $[@=1]",
    "! [[ 1 -eq @=1 ]]",
    "! x=abc; true ${x:@=1}",
    "unset @; true ${@:=new}",
    "unset @; true ${@=new}",
    "unset @; true \"${@:=new}\"",
    "unset @; cat <<E\n${@:=new}\nE",
    "unset @",
    "unset -v @",
    "true & wait -p @ -n",
    "true & wait -n -p@",
    "exec {@}>/dev/null",
    "exec {@}</dev/null",
    "exec {@}>&1",
    "true {@}>/dev/null",
    "{ true; } {@}>/dev/null",
    "= env @=new true",
    "= env -u @ true",
    "= env -u@ true",
    "= env --unset=@ true",
    "= sudo @=new true",
    "= xargs --process-slot-var=@ true",
    "= xargs --process-slot-var @ true",
    "= nice env @=new true",
    "= bash -c '@=new true'",
    "= @=new bash -c true",
];

/// Names that decide what runs, one of each kind.
const DANGEROUS: &[&str] = &[
    "PATH",
    "CDPATH",
    "HOME",
    "LD_PRELOAD",
    "BASH_ENV",
    "PROMPT_COMMAND",
    "PS4",
    "GIT_DIR",
    "PAGER",
    "GLOBIGNORE",
];

/// The mark of a form, and the form.
fn marked(form: &str) -> (char, &str) {
    match form.split_once(' ') {
        Some((mark @ ("+" | "!" | "="), rest)) => (mark.chars().next().unwrap_or(' '), rest),
        _ => (' ', form),
    }
}

/// A form with a name in the place of `@`; the `"$@"` of a function body stays a use of the same name.
fn with(form: &str, name: &str) -> String {
    form.replace('@', name)
}

#[test]
fn every_form_of_binding_a_dangerous_name_is_opaque_and_its_twin_is_not() {
    let mut table = String::new();
    for form in FORMS {
        let (mark, form) = marked(form);
        for name in DANGEROUS {
            let command = with(form, name);
            let opaque = analyse(&command).opaque();
            assert!(opaque.is_some(), "{command}");
            assert!(!analyse(&command).is_read_only(), "{command}");
        }
        let twin = with(form, "word");
        let opaque = analyse(&twin).opaque();
        assert_eq!(opaque.is_some(), mark == '!', "{twin}: {opaque:?}");
        let reason = analyse(&with(form, "PATH")).opaque().unwrap_or_default();
        writeln!(table, "{}\n    {}", with(form, "PATH").replace('\n', "⏎"), reason).unwrap();
    }
    expect_file!["bindings.expected.txt"].assert_eq(&table);
}

#[test]
fn bash_binds_the_name_in_every_form() {
    let Some(bash) = super::witness::find_bash() else { return };
    let version =
        Command::new(&bash).args(["-c", "echo $((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))"]).output();
    let version: u32 = String::from_utf8(version.unwrap().stdout).unwrap().trim().parse().unwrap();
    let mut silent = Vec::new();
    for form in FORMS {
        let (mark, form) = marked(form);
        if mark == '=' || mark == '+' && version < 503 {
            continue;
        }
        // Whatever a form leaves, it is not what was there before.
        let script =
            format!("word=old\ntrap 'printf %s \"${{word-unset}}\" >&9' EXIT\n{}", with(form, "word"));
        let output = Command::new(&bash)
            .args(["--norc", "--noprofile", "-c", &format!("exec 9>&1 >/dev/null\n{script}\n")])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let left = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if left == "old" || left.is_empty() {
            silent.push(format!("{form}: {left} {said}"));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// Ways to run a word that no simple command names.
#[test]
fn every_way_to_run_a_text_is_opaque_or_shows_the_command() {
    let hidden = [
        "x='a[$(evil)]'; echo ${@:x}",
        "x='a[$(evil)]'; echo \"${-:x}\"",
        "x='a[$(evil)]'; echo ${*:x} ${?:x} ${$:x}",
        "x='$(evil)'; echo ${x@P}",
        "x='$(evil)'; echo ${x[0]@P}",
        "bash -c 'echo \"${@@P}\"' _ '$(evil)'",
        "declare -a a='($(evil))'",
        "x='($(evil))'; declare -a a=\"$x\"",
        "x='($(evil))'; declare -a a; declare a=\"$x\"",
        "x='($(evil))'; a=(1); export a=\"$x\"",
        "x='($(evil))'; a[0]=1; readonly a=\"$x\"",
        "x='($(evil))'; read -a a <<< 1; declare a=\"$x\"",
        "x='($(evil))'; mapfile a < f; declare a=\"$x\"",
        "x='b PATH=c'; \\export a=$x",
        "x='b PATH=c'; builtin export a=$x",
        "x='b PATH=c'; command export a=$x",
        "env 'BASH_FUNC_ls%%=() { evil; }' bash -c ls",
        "jobs -x evil",
        "alias ls=evil",
        "hash -p ./evil ls",
        "enable -f ./evil.so evil",
        "complete -C evil ls",
        "compgen -C evil",
        "bind -x 'x:evil'",
        "fc -s",
        "history -w f",
        "mapfile -C evil -c 1 a < f",
        "mapfile -tC evil a < f",
        "source ./f",
        ". ./f",
        "exec 3<>/dev/tcp/127.0.0.1/80",
        "{a[$(evil)]}>f true",
        "exec {a[0]}>f",
        "read {HO,x}ME",
        "read $x",
        "unset H*",
        "printf -v $x y",
        "wait $x",
        "shopt -s expand_aliases",
        "set -o history",
        "trap \"$x\" EXIT",
    ];
    for command in hidden {
        let analysis = analyse(command);
        assert!(analysis.opaque().is_some(), "{command}");
        assert!(!analysis.is_read_only(), "{command}");
    }
    let shown = [
        "coproc evil x",
        "coproc { evil; }",
        "coproc word { evil; }",
        "coproc word if evil; then true; fi",
        "echo ${ evil; }",
        "echo \"${ evil; }\"",
        "echo ${| evil; }",
        "echo ${\tevil\n}",
        "cat <<E\n${ evil; }\nE",
        "echo ${x:-${ evil; }}",
        "for x in ${ evil; }; do true; done",
        "select x in $(evil); do true; done",
        "exec {x}> >(evil)",
        "trap evil DEBUG",
        "trap -- evil RETURN",
        "time evil",
        "exec -a ls evil",
        "command -p evil",
        "builtin eval evil",
        "f() { evil; }",
        "function f { evil; }",
        "f() if evil; then true; fi",
    ];
    for command in shown {
        let analysis = analyse(command);
        let found = analysis.parts.iter().any(|part| part.name() == "evil");
        assert!(found, "{command}: {analysis:?}");
    }
}

#[test]
fn everyday_scripts_are_understood() {
    let everyday = [
        "for path in src/*; do wc -l \"$path\"; done",
        "for _ in 1 2 3; do date; done",
        "while IFS= read -r line; do echo \"$line\"; done < f",
        "while IFS=, read -r a b _; do echo \"$a\"; done < f",
        "config=$(cat f); echo \"$config\"",
        "option=1; echo ${option:-2}",
        "export RUST_LOG=debug; ls",
        "export word=\"$x\"",
        "declare -a list=(a b); declare other=\"$x\"",
        "mapfile -t lines < f; echo ${#lines[@]}",
        "printf -v padded '%05d' 7",
        "exec {out}>f",
        "sleep 1 & wait $!",
        "echo ${x:1:2} ${x: -1} ${@:2} ${x@Q}",
        "trap - EXIT",
        "local x=1",
    ];
    for command in everyday {
        let opaque = analyse(command).opaque();
        assert_eq!(opaque, None, "{command}");
    }
}
