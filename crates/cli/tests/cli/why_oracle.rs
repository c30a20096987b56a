//! `why` against an oracle: generated C and JavaScript programs, and the same programs with every write noted by
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
        let c = language == Language::C;
        let (head, notes) = if c {
            let notes = "static int la, lb, lc, ld;";
            (["#include <stdio.h>", "#include <stdlib.h>", "static int same(int x) { return x; }"], notes)
        } else {
            (["'use strict';", "// generated", "function same(x) { return x; }"], "let la, lb, lc, ld;")
        };
        for line in head {
            program.line(line, line);
        }
        program.line("", notes);
        let start = if c { "static int run(void) {" } else { "function run() {" };
        program.line(start, start);
        program.depth = 1;
        for name in NAMES {
            let value = program.random.below(4);
            program.write(name, &format!("{} {name} = {value};", program.declares()));
        }
        for _ in 0..program.random.below(5) + 4 {
            program.statement();
        }
        let fails = if c { "abort();" } else { "throw new Error('end');" };
        let tells =
            if c { "printf(\"%d %d %d %d\\n\", la, lb, lc, ld);" } else { "console.log(la, lb, lc, ld);" };
        let test = "if (a + b + c + d > -100000)";
        program.line(&format!("{test} {{ {fails} }}"), &format!("{test} {{ {tells} }}"));
        if c {
            program.line("return 0;", "return 0;");
        }
        program.depth = 0;
        let end = if c { "}\nint main(void) { return run(); }" } else { "}\nrun();" };
        program.line(end, end);
        program
    }

    fn declares(&self) -> &'static str {
        if self.language == Language::C { "int" } else { "let" }
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
        let noting = format!("{plain} l{name} = {};", self.here());
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
                let plain = format!("if ({condition}) {{ {name} = {value}; }}");
                let noting = format!("if ({condition}) {{ {name} = {value}; l{name} = {here}; }}");
                self.line(&plain, &noting);
            }
            3 => {
                let (here, value) = (self.here(), self.value());
                self.line(&format!("{name} = same("), &format!("{name} = same("));
                self.depth += 1;
                self.line(&value, &value);
                self.depth -= 1;
                self.line(");", &format!("); l{name} = {here};"));
            }
            4 => {
                let condition = self.condition();
                let head = format!("if ({condition}) {{");
                self.line(&head, &head);
                self.block();
            }
            5 => {
                let (here, rounds) = (self.here(), self.random.below(4));
                let plain = format!("for ({name} = 0; {name} < {rounds}; {name}++) {{");
                let note = format!("l{name} = {here}");
                let noting = format!("for ({name} = 0, {note}; {name} < {rounds}; {name}++, {note}) {{");
                self.line(&plain, &noting);
                self.taken.push(name);
                self.block();
                self.taken.pop();
            }
            6 => {
                // Another variable of the name, in a block of its own.
                let declares = self.declares();
                let value = self.random.below(9);
                self.line("{", "{");
                self.depth += 1;
                let text = format!("{declares} {name} = {value};");
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

/// Runs programs from these seeds; returns how many writers were named, all of them right.
fn compare(language: Language, seeds: std::ops::Range<u64>) -> usize {
    let world = World::new([]);
    let (plain, noting) = match language {
        Language::C => ("plain.c", "noting.c"),
        Language::JavaScript => ("plain.js", "noting.js"),
    };
    let mut named = 0;
    for seed in seeds {
        let program = Program::generate(language, seed);
        world.write(plain, &(program.plain.join("\n") + "\n"));
        world.write(noting, &(program.noting.join("\n") + "\n"));
        let (command, oracle) = match language {
            Language::C => {
                for name in ["plain", "noting"] {
                    let source = format!("{name}.c");
                    let built = Command::new("cc")
                        .args(["-g", "-O0", "-w", "-o", name, &source])
                        .current_dir(world.work())
                        .status();
                    assert!(built.unwrap().success());
                }
                (vec!["./plain"], Command::new("./noting").current_dir(world.work()).output().unwrap())
            }
            Language::JavaScript => (
                vec!["node", "plain.js"],
                Command::new("node").arg("noting.js").current_dir(world.work()).output().unwrap(),
            ),
        };
        let told = String::from_utf8(oracle.stdout).unwrap();
        let lines: Vec<i64> = told.split_whitespace().map(|line| line.parse().unwrap()).collect();
        let output = stepwell_why(&world, &world.work(), &["--json"], &command);
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
