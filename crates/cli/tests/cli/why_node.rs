//! `stepwell why` for commands that start Node behind a test runner or a package script. js-debug is not installed here:
//! a recorder inside of Node sees the failure.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::World;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// The report of a command, without any adapter installed.
fn why(world: &World, options: &[&str], words: &[&str]) -> Value {
    let mut command = world.command(&["why", "--quiet", "--json"]);
    let output = command.args(options).arg("--").args(words).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{stderr}"))
}

/// A folder with these packages, which `scripts/test.sh` fetches; `None` where there are none.
fn packages() -> Option<PathBuf> {
    let folder = std::env::var_os("STEPWELL_TEST_RUNNERS").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join("node_modules/vitest").is_dir());
    if folder.is_none() {
        assert!(std::env::var_os("CI").is_none(), "STEPWELL_TEST_RUNNERS has no vitest");
        eprintln!("skipped: STEPWELL_TEST_RUNNERS is not set");
    }
    folder
}

/// Lets tools of the folder run, such as those of its `node_modules`.
fn trust(world: &World) {
    let output = world.command(&["config", "trust"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn place(report: &Value) -> String {
    let file = report["place"]["file"].as_str().unwrap_or_else(|| panic!("{report:#}"));
    format!("{}:{}", Path::new(file).file_name().unwrap().to_string_lossy(), report["place"]["line"])
}

/// `name = value`, and the lines that wrote it.
#[track_caller]
fn value(report: &Value, name: &str) -> (String, Vec<i64>) {
    let rows = report["values"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{report:#}"));
    let writes = row["writes"].as_array().into_iter().flatten();
    let lines = writes.map(|write| write["line"].as_i64().unwrap()).collect();
    (row["value"].as_str().unwrap().to_owned(), lines)
}

const TOTAL: &str = "\
function total(items) {
  let sum = 0
  for (const item of items) {
    sum += item.price.amount
  }
  return sum
}
";

#[test]
fn script_of_a_shell_line_is_seen_in_the_process_that_fails() {
    let world = World::new([]);
    let text = format!("{TOTAL}console.log(total([{{ price: {{ amount: 4 }} }}, {{}}]))\n");
    write(
        &world.work(),
        &[("package.json", r#"{"scripts": {"check": "echo start && node check.js"}}"#), ("check.js", &text)],
    );
    let report = why(&world, &[], &["npm", "run", "check"]);
    assert_eq!(place(&report), "check.js:4", "{report:#}");
    assert_eq!(report["exception"]["type"], "TypeError", "{report:#}");
    assert_eq!(value(&report, "sum"), ("4".to_owned(), vec![4, 2]), "{report:#}");
    assert_eq!(value(&report, "item").0, "{}", "{report:#}");
    assert_eq!(report["frames"][1]["line"], 8, "{report:#}");
}

#[test]
fn tests_of_node_in_processes_of_their_own_are_listed() {
    let world = World::new([]);
    let text = "import test from 'node:test'\ntest('adds', () => {\n  let sum = 1\n  sum += 2\n  if (sum > 2) throw new Error('too much')\n})\n";
    let other = text.replace("adds", "adds more").replace("'too much'", "'far too much'");
    write(&world.work(), &[("a.test.mjs", text), ("b.test.mjs", &other)]);
    let report = why(&world, &["--failure", "2"], &["node", "--test"]);
    assert_eq!(report["failures"].as_array().unwrap().len(), 2, "{report:#}");
    assert_eq!(place(&report), "b.test.mjs:5", "{report:#}");
    assert_eq!(value(&report, "sum"), ("3".to_owned(), vec![4, 3]), "{report:#}");
}

#[test]
fn endless_loop_behind_a_script_has_a_place() {
    let world = World::new([]);
    write(
        &world.work(),
        &[
            ("package.json", r#"{"scripts": {"spin": "true && node spin.js"}}"#),
            ("spin.js", "let rounds = 0\nfunction spin() {\n  while (true) { rounds += 1 }\n}\nspin()\n"),
        ],
    );
    let report = why(&world, &["--timeout", "5"], &["npm", "run", "spin"]);
    assert_eq!(report["verdict"], "hangs", "{report:#}");
    assert_eq!(place(&report), "spin.js:3", "{report:#}");
}

#[test]
fn vitest_names_the_lines_of_typescript() {
    let Some(packages) = packages() else { return };
    let world = World::new([]);
    std::os::unix::fs::symlink(packages.join("node_modules"), world.work().join("node_modules")).unwrap();
    trust(&world);
    let source = "\
export interface Item { price: { amount: number } }

export function total(items: Item[]): number {
  let sum: number = 0
  for (const item of items) {
    sum += item.price.amount
  }
  return sum
}
";
    let test = "\
import { expect, it } from 'vitest'
import { total, type Item } from './total'

it('adds', () => {
  const sum = total([{ price: { amount: 4 } }])
  expect(sum).toBe(5)
})

it('skips what has no price', () => {
  total([{ price: { amount: 4 } }, {} as Item])
})
";
    write(
        &world.work(),
        &[("package.json", r#"{"type": "module"}"#), ("total.ts", source), ("total.test.ts", test)],
    );
    let first = why(&world, &[], &["npx", "vitest", "run"]);
    assert_eq!(place(&first), "total.test.ts:6", "{first:#}");
    assert_eq!(value(&first, "sum"), ("4".to_owned(), vec![5]), "{first:#}");
    assert_eq!(first["exception"]["type"], "AssertionError", "{first:#}");
    let second = why(&world, &["--failure", "2"], &["npx", "vitest", "run"]);
    assert_eq!(second["failures"].as_array().unwrap().len(), 2, "{second:#}");
    assert_eq!(place(&second), "total.ts:6", "{second:#}");
    assert_eq!(value(&second, "sum"), ("4".to_owned(), vec![6, 4]), "{second:#}");
    assert_eq!(value(&second, "item").0, "{}", "{second:#}");
}

#[test]
fn jest_names_the_lines_of_transformed_sources() {
    let Some(packages) = packages() else { return };
    let world = World::new([]);
    std::os::unix::fs::symlink(packages.join("node_modules"), world.work().join("node_modules")).unwrap();
    trust(&world);
    let source = format!("{TOTAL}module.exports = {{ total }}\n");
    let test = "\
const { total } = require('./total')
test('skips what has no price', () => {
  const sum = total([{ price: { amount: 4 } }, {}])
  expect(sum).toBe(4)
})
";
    write(&world.work(), &[("package.json", "{}"), ("total.js", &source), ("total.test.js", test)]);
    let report = why(&world, &[], &["npx", "jest"]);
    assert_eq!(place(&report), "total.js:4", "{report:#}");
    assert_eq!(value(&report, "sum"), ("4".to_owned(), vec![4, 2]), "{report:#}");
    assert_eq!(report["test"], "skips what has no price", "{report:#}");
}
