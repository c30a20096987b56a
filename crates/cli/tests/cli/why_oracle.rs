//! `why` against an oracle: generated programs of C, JavaScript, Rust and Go, and the same programs with every write noted by
//! themselves. A line that is named as the last writer must be the one that the program noted.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use crate::why::stepwell_why;
use crate::world::World;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    C,
    JavaScript,
    Rust,
    Go,
}

/// The words of a language around the lines that are the same in all.
struct Words {
    /// Three lines, of which the last declares a function that returns its argument.
    head: [&'static str; 3],
    notes: &'static str,
    start: &'static str,
    fails: &'static str,
    tells: &'static str,
    end: &'static str,
}

impl Language {
    fn words(self) -> Words {
        match self {
            Self::C => Words {
                head: ["#include <stdio.h>", "#include <stdlib.h>", "static int same(int x) { return x; }"],
                notes: "static int la, lb, lc, ld;",
                start: "static int run(void) {",
                fails: "abort();",
                tells: "printf(\"%d %d %d %d\\n\", la, lb, lc, ld);",
                end: "}\nint main(void) { return run(); }",
            },
            Self::JavaScript => Words {
                head: ["'use strict';", "// generated", "function same(x) { return x; }"],
                notes: "let la, lb, lc, ld;",
                start: "function run() {",
                fails: "throw new Error('end');",
                tells: "console.log(la, lb, lc, ld);",
                end: "}\nrun();",
            },
            Self::Rust => Words {
                head: ["#![allow(warnings)]", "// generated", "fn same(x: i64) -> i64 { x }"],
                notes: "static mut la: i64 = 0; static mut lb: i64 = 0; static mut lc: i64 = 0; static mut ld: i64 = 0;",
                start: "fn run() {",
                fails: "panic!(\"end\");",
                tells: "println!(\"{} {} {} {}\", unsafe { la }, unsafe { lb }, unsafe { lc }, unsafe { ld });",
                end: "}\nfn main() { run(); }",
            },
            Self::Go => Words {
                head: ["package main", "import \"fmt\"", "func same(x int) int { return x }"],
                notes: "var la, lb, lc, ld int",
                start: "func run() {",
                fails: "panic(\"end\")",
                tells: "fmt.Println(la, lb, lc, ld)",
                end: "}\nfunc main() { run(); _ = fmt.Sprint }",
            },
        }
    }

    /// A declaration of a variable with its value.
    fn declaration(self, name: &str, value: u64) -> String {
        match self {
            Self::C => format!("int {name} = {value};"),
            Self::JavaScript => format!("let {name} = {value};"),
            Self::Rust => format!("let mut {name}: i64 = {value};"),
            Self::Go => format!("var {name} int = {value};"),
        }
    }

    /// The head of a branch.
    fn branch(self, condition: &str) -> String {
        match self {
            Self::C | Self::JavaScript => format!("if ({condition}) {{"),
            Self::Rust | Self::Go => format!("if {condition} {{"),
        }
    }

    /// Notes the line of a write.
    fn note(self, name: &str, line: usize) -> String {
        match self {
            Self::Rust => format!("unsafe {{ l{name} = {line}; }}"),
            Self::C | Self::JavaScript | Self::Go => format!("l{name} = {line};"),
        }
    }
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// A small generator of random numbers, so that a seed gives the same program everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }

    fn name(&mut self) -> &'static str {
        NAMES[usize::try_from(self.below(4)).unwrap()]
    }
}

/// A program in two texts with the same lines: plain, and noting the line of every write.
struct Program {
    language: Language,
    random: Random,
    plain: Vec<String>,
    noting: Vec<String>,
    depth: usize,
    /// Variables that heads of loops use, so that no body makes a loop endless.
    taken: Vec<&'static str>,
}

impl Program {
    fn generate(language: Language, seed: u64) -> Self {
        let mut program = Self {
            language,
            random: Random(seed.wrapping_add(77)),
            plain: Vec::new(),
            noting: Vec::new(),
            depth: 0,
            taken: Vec::new(),
        };
        let words = language.words();
        for line in words.head {
            program.line(line, line);
        }
        program.line("", words.notes);
        program.line(words.start, words.start);
        program.depth = 1;
        for name in NAMES {
            let value = program.random.below(4);
            program.write(name, &language.declaration(name, value));
        }
        for _ in 0..program.random.below(5) + 4 {
            program.statement();
        }
        let test = language.branch("a + b + c + d > -100000");
        program.line(&format!("{test} {} }}", words.fails), &format!("{test} {} }}", words.tells));
        if language == Language::C {
            program.line("return 0;", "return 0;");
        }
        program.depth = 0;
        program.line(words.end, words.end);
        program
    }

    fn line(&mut self, plain: &str, noting: &str) {
        let indent = "  ".repeat(self.depth);
        self.plain.push(format!("{indent}{plain}"));
        self.noting.push(format!("{indent}{noting}"));
    }

    /// The line that is written next.
    fn here(&self) -> usize {
        self.plain.len() + 1
    }

    fn write(&mut self, name: &str, plain: &str) {
        let noting = format!("{plain} {}", self.language.note(name, self.here()));
        self.line(plain, &noting);
    }

    /// A variable that no loop around counts with.
    fn free(&mut self) -> &'static str {
        loop {
            let name = self.random.name();
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }

    fn value(&mut self) -> String {
        match self.random.below(4) {
            0 => self.random.below(5).to_string(),
            1 => self.random.name().to_owned(),
            2 => format!("{} + {}", self.random.name(), self.random.below(3)),
            _ => format!("same({})", self.random.name()),
        }
    }

    fn condition(&mut self) -> String {
        format!("{} > {}", self.random.name(), self.random.below(4))
    }

    fn block(&mut self) {
        self.depth += 1;
        for _ in 0..=self.random.below(2) {
            self.statement();
        }
        self.depth -= 1;
        self.line("}", "}");
    }

    fn statement(&mut self) {
        let kinds = if self.depth < 3 && self.taken.len() < 2 { 8 } else { 4 };
        let name = self.free();
        match self.random.below(kinds) {
            0 | 1 => {
                // `a = a` is no write where a compiler sees it.
                let value =
                    Some(self.value()).filter(|value| value != name).unwrap_or_else(|| "7".to_owned());
                self.write(name, &format!("{name} = {value};"));
            }
            2 => {
                let (condition, value) = (self.condition(), self.value());
                let value = if value == name { "7".to_owned() } else { value };
                let here = self.here();
                let (head, note) = (self.language.branch(&condition), self.language.note(name, here));
                let plain = format!("{head} {name} = {value}; }}");
                let noting = format!("{head} {name} = {value}; {note} }}");
                self.line(&plain, &noting);
            }
            3 => {
                let (here, value) = (self.here(), self.value());
                self.line(&format!("{name} = same("), &format!("{name} = same("));
                self.depth += 1;
                // Go wants a comma where a line ends within parentheses.
                let value = if self.language == Language::Go { format!("{value},") } else { value };
                self.line(&value, &value);
                self.depth -= 1;
                self.line(");", &format!("); {}", self.language.note(name, here)));
            }
            4 => {
                let condition = self.condition();
                let head = self.language.branch(&condition);
                self.line(&head, &head);
                self.block();
            }
            5 => self.counted_loop(name),
            6 => {
                // Another variable of the name, in a block of its own.
                let value = self.random.below(9);
                self.line("{", "{");
                self.depth += 1;
                let text = self.language.declaration(name, value);
                self.line(&text, &text);
                let text = format!("{name} = same({name}) + 1;");
                self.line(&text, &text);
                self.depth -= 1;
                self.line("}", "}");
            }
            _ => {
                let text = format!("{name} += {};", self.random.below(3) + 1);
                self.write(name, &text);
            }
        }
    }
}

impl Program {
    fn counted_loop(&mut self, name: &'static str) {
        let (here, rounds) = (self.here(), self.random.below(4));
        let head = match self.language {
            Language::C | Language::JavaScript => {
                let note = format!("l{name} = {here}");
                Some((
                    format!("for ({name} = 0; {name} < {rounds}; {name}++) {{"),
                    format!("for ({name} = 0, {note}; {name} < {rounds}; {name}++, {note}) {{"),
                ))
            }
            Language::Go => Some((
                format!("for {name} = 0; {name} < {rounds}; {name}++ {{"),
                format!(
                    "for {name}, l{name} = 0, {here}; {name} < {rounds}; {name}, l{name} = {name} + 1, {here} {{"
                ),
            )),
            Language::Rust => None,
        };
        if let Some((plain, noting)) = head {
            self.line(&plain, &noting);
        } else if self.random.below(2) == 0 {
            // Another variable of the name.
            let head = format!("for {name} in 0..{rounds} {{");
            self.line(&head, &head);
        } else {
            self.write(name, &format!("{name} = 0;"));
            let head = format!("while {name} < {rounds} {{");
            self.line(&head, &head);
            self.depth += 1;
            self.write(name, &format!("{name} += 1;"));
            self.depth -= 1;
        }
        self.taken.push(name);
        self.block();
        self.taken.pop();
    }
}

/// Runs programs from these seeds; returns how many writers were named, all of them right.
fn compare(language: Language, seeds: std::ops::Range<u64>) -> usize {
    let world = World::new([]);
    let (plain, noting) = match language {
        Language::C => ("plain.c", "noting.c"),
        Language::JavaScript => ("plain.js", "noting.js"),
        Language::Rust => ("plain.rs", "noting.rs"),
        Language::Go => ("plain/main.go", "noting/main.go"),
    };
    if language == Language::Go {
        for name in ["plain", "noting"] {
            world.write(&format!("{name}/go.mod"), &format!("module {name}\n\ngo 1.19\n"));
        }
    }
    let mut named = 0;
    for seed in seeds {
        let program = Program::generate(language, seed);
        world.write(plain, &(program.plain.join("\n") + "\n"));
        world.write(noting, &(program.noting.join("\n") + "\n"));
        let run = |folder: &str, words: &[&str]| {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).current_dir(world.work().join(folder));
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "seed {seed}: {words:?} {said}\n{}", program.noting.join("\n"));
            output
        };
        let build = |words: &[&str]| {
            for name in ["plain", "noting"] {
                let end = if language == Language::C { "c" } else { "rs" };
                run("", &[words, &["-o", name, &format!("{name}.{end}")]].concat());
            }
        };
        let (folder, command, oracle) = match language {
            Language::C => {
                build(&["cc", "-g", "-O0", "-w"]);
                ("", vec!["./plain"], run("", &["./noting"]))
            }
            Language::Rust => {
                build(&["rustc", "-g", "--edition", "2021", "-A", "warnings"]);
                ("", vec!["./plain"], run("", &["./noting"]))
            }
            Language::JavaScript => ("", vec!["node", "plain.js"], run("", &["node", "noting.js"])),
            Language::Go => ("plain", vec!["go", "run", "."], run("noting", &["go", "run", "."])),
        };
        let told = String::from_utf8(oracle.stdout).unwrap();
        let lines: Vec<i64> = told.split_whitespace().map(|line| line.parse().unwrap()).collect();
        let output = stepwell_why(&world, &world.work().join(folder), &["--json"], &command);
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        for (name, line) in NAMES.iter().zip(lines) {
            let values = report["values"].as_array().unwrap();
            let value = values.iter().find(|value| value["name"] == *name);
            if let Some(writer) = value.and_then(|value| value["writes"][0]["line"].as_i64()) {
                let mut numbered = String::new();
                for (text, number) in program.plain.iter().zip(1..) {
                    writeln!(numbered, "{number:>3} {text}").unwrap();
                }
                assert_eq!(writer, line, "{name} in seed {seed}:\n{numbered}\n{report:#}");
                named += 1;
            }
        }
    }
    named
}

/// How many programs a run of the tests generates; `ORACLE_CASES` makes it longer.
fn cases(usual: u64) -> u64 {
    std::env::var("ORACLE_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(usual)
}

#[test]
fn no_c_line_is_named_that_did_not_write_last() {
    let count = cases(5);
    let named = compare(Language::C, 0..count);
    assert!(named as u64 >= count * 2, "only {named} writers are named");
}

#[test]
fn no_javascript_line_is_named_that_did_not_write_last() {
    let count = cases(8);
    let named = compare(Language::JavaScript, 0..count);
    assert!(named as u64 >= count * 2, "only {named} writers are named");
}

#[test]
fn no_rust_line_is_named_that_did_not_write_last() {
    let count = cases(3);
    let named = compare(Language::Rust, 0..count);
    assert!(named as u64 >= count * 2, "only {named} writers are named");
}

#[test]
fn no_go_line_is_named_that_did_not_write_last() {
    let count = cases(3);
    let named = compare(Language::Go, 0..count);
    assert!(named as u64 >= count * 2, "only {named} writers are named");
}
