//! Questions about a folder with an `index.scip`, as scip-typescript 0.4 writes it (its metadata, which names a folder,
//! taken out).

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::world::World;

const FILES: [&str; 3] = ["src/model.ts", "src/app.ts", "index.scip"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scip").join(name)
}

/// The fixture's files, the index written after the sources.
fn world() -> World {
    let world = World::new([]);
    std::fs::create_dir_all(world.work().join("src")).unwrap();
    for (age, name) in [300, 200, 100].into_iter().zip(FILES) {
        let place = world.work().join(name);
        std::fs::copy(fixture(name), &place).unwrap();
        let file = std::fs::File::options().write(true).open(place).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    world
}

fn check(world: &World, rows: &[(&[&str], &str)]) {
    for (arguments, expected) in rows {
        let output = world.output(arguments);
        let shown = world.show(&output);
        assert!(output.status.success() && shown.contains(expected), "{arguments:?}: {shown}");
    }
}

#[test]
fn a_real_index_answers_where_it_is_current() {
    let world = world();
    let by_place = r#"{"symbol": "total", "file": "src/app.ts", "line": 2}"#;
    check(
        &world,
        &[
            (
                &["index", "def", "Order.total"],
                "src/model.ts:3:3: method Order.total: total(): number { return 1 }",
            ),
            // Behind a character that is two units of UTF-16.
            (&["index", "def", "src/app.ts:2:68"], "src/model.ts:3:3: method Order.total"),
            (&["index", "refs", "pay"], "src/app.ts:3:20: export const sum = pay() + pay()"),
            (&["index", "--json", "def", "Order"], r#""source": "scip""#),
            (&["index", "--json", "refs", "Order"], r#""source": "scip""#),
            (&["tool", "call", "find_definition", by_place], "source: scip\nsrc/model.ts:3: method: total()"),
            (&["tool", "call", "find_references", by_place], "references, source: scip\nsrc/app.ts:2: "),
            (&["tool", "call", "find_references", r#"{"symbol": "pay"}"#], "2 references, source: scip"),
        ],
    );
}

#[test]
fn what_changed_since_comes_from_our_own_index_and_says_so() {
    let world = world();
    world.write("src/app.ts", "import { Order } from \"./model\"\n\nnew Order().total()\n");
    check(
        &world,
        &[
            (&["index", "def", "src/app.ts:3:13"], "src/model.ts:3:3: method Order.total"),
            (
                &["index", "def", "src/app.ts:3:13"],
                "note: `index.scip` has no answer: `src/app.ts` was changed",
            ),
            (&["index", "refs", "Order"], "src/app.ts:3:5: new Order().total()"),
            (
                &[
                    "tool",
                    "call",
                    "find_definition",
                    r#"{"symbol": "total", "file": "src/app.ts", "line": 3}"#,
                ],
                "source: index, resolved\nnote: `index.scip` has no answer: `src/app.ts` was changed",
            ),
            (
                &["tool", "call", "find_references", r#"{"symbol": "Order"}"#],
                "source: scip\nnote: 2 uses from the code index, in files that changed after `index.scip` was made",
            ),
            (
                &["tool", "call", "find_definition", r#"{"symbol": "nothing"}"#],
                "note: `index.scip` has no answer: it defines no `nothing`",
            ),
        ],
    );
    world.write("index.scip", "no index");
    check(&world, &[(&["index", "def", "Order"], "note: `index.scip` is not used: it is damaged")]);
    std::fs::remove_file(world.work().join("index.scip")).unwrap();
    let output = world.output(&["index", "--json", "def", "Order"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((answer["source"].as_str(), output.stderr.as_slice()), (Some("index"), &b""[..]));
}

#[test]
fn programs_are_told_where_an_answer_is_from() {
    let world = world();
    let questions = [
        r#"{"id": 1, "op": "find_definition", "file": "src/app.ts", "line": 2, "col": 68}"#,
        r#"{"id": 2, "op": "find_references", "symbol": "nothing"}"#,
    ];
    let output = world.given(&["index", "serve", "--jsonl"], &questions.join("\n"));
    let answers = String::from_utf8(output.stdout).unwrap();
    let mut answers = answers.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let first = answers.next().unwrap();
    assert_eq!((first["source"].as_str(), first["locations"][0]["line"].as_u64()), (Some("scip"), Some(3)));
    assert!(answers.next().unwrap()["note"].as_str().unwrap().contains("it defines no `nothing`"));
}
