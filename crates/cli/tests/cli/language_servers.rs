//! Questions that language servers answer, and what is told where they cannot.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_test_support::LANGUAGE_SERVER;

use crate::world::World;

/// A folder with Python in it and a scripted server in the settings of the person.
fn world(runs: &Value) -> World {
    let world = World::new([]);
    world.write("shop/model.py", "class Order:\n    def total(self):\n        return 1\n");
    world.write("app.py", "from shop.model import Order\n\n\ndef pay():\n    return Order().total()\n");
    let runs = runs.to_string().replace("@ROOT", &format!("file://{}", world.work().display()));
    std::fs::write(world.config().join("server.py"), LANGUAGE_SERVER).unwrap();
    std::fs::write(world.config().join("script"), runs).unwrap();
    world.set_config(&settings(&world, "servers = \"auto\""));
    world
}

fn settings(world: &World, code: &str) -> String {
    let words = ["server.py", "script", "log"].map(|name| world.config().join(name));
    format!(
        "[code]\n{code}\n[code.server.scripted]\ncommand = \"python3\"\nargs = {words:?}\nlanguages = [\"python\"]\n"
    )
}

fn location(path: &str, line: u32, character: u32) -> Value {
    json!({"uri": format!("@ROOT/{path}"), "range": {"start": {"line": line, "character": character},
        "end": {"line": line, "character": character + 5}}})
}

fn good() -> Value {
    json!([{"textDocument/definition": [{"answer": location("shop/model.py", 1, 8)}],
        "textDocument/references": [{"answer": [location("app.py", 4, 19), location("shop/model.py", 1, 8)]}],
        "textDocument/prepareCallHierarchy": [{"answer": [function("total", "shop/model.py", 1, 8)]}],
        "callHierarchy/incomingCalls": [{"answer": [
            {"from": function("total", "shop/model.py", 1, 8), "fromRanges": []},
            {"from": function("pay", "app.py", 3, 4), "fromRanges": []}]}]}])
}

fn function(name: &str, path: &str, line: u32, character: u32) -> Value {
    let mut function = location(path, line, character);
    function["selectionRange"] = function["range"].clone();
    function["name"] = json!(name);
    function
}

fn check(world: &World, rows: &[(&[&str], &[&str])]) {
    for (arguments, expected) in rows {
        let output = world.output(arguments);
        let shown = world.show(&output);
        let is_right = expected.iter().all(|part| shown.contains(part));
        assert!(output.status.success() && is_right, "{arguments:?}: {expected:?}\n{shown}");
    }
}

#[test]
fn a_server_answers_where_it_is_asked_for() {
    let by_place = r#"{"symbol": "total", "file": "app.py", "line": 5, "source": "lsp"}"#;
    check(
        &world(&good()),
        &[
            (
                &["index", "def", "app.py:5:20", "--source", "lsp"],
                &["shop/model.py:2:9: method Order.total: def total(self):"],
            ),
            (
                &["index", "--json", "def", "Order.total", "--source", "lsp"],
                &["\"source\": \"lsp\"", "\"server\": \"scripted\"", "\"kind\": \"method\""],
            ),
            (
                &["index", "refs", "Order.total", "--source", "lsp"],
                &["app.py:5:20: return Order().total()\n"],
            ),
            (
                &["index", "--json", "calls", "Order.total", "--source", "lsp"],
                &["\"source\": \"lsp\"", "\"server\": \"scripted\"", "\"name\": \"pay\""],
            ),
            (&["index", "status"], &["language servers: scripted: "]),
            (
                &["tool", "call", "find_definition", by_place],
                &["source: lsp (scripted)\nshop/model.py:2: method: def total(self):"],
            ),
            (
                &["tool", "call", "find_references", by_place],
                &["1 references, source: lsp (scripted)\napp.py:5: return Order().total()"],
            ),
            // Who does not ask for one gets the index, and nothing is started.
            (&["index", "--json", "def", "Order.total"], &["\"source\": \"index\""]),
        ],
    );
}

/// Programs read all forms of a graph but the text, so what must be known about it stands where they expect it.
#[test]
fn graphs_stay_readable_with_what_is_told_about_them() {
    let said = "has no answer: it knows no function there";
    for (runs, format, expected) in [
        (good(), "json", "\"source\":\"lsp\",\"server\":\"scripted\""),
        (good(), "mermaid", "\n%% source: lsp (scripted)"),
        (json!([{}]), "json", said),
        (json!([{}]), "mermaid", "\n%% note: the language server"),
        (json!([{}]), "dot", "}\n// note: the language server"),
        (json!([{}]), "text", "\nnote: the language server"),
    ] {
        let world = world(&runs);
        let input = json!({"symbol": "total", "source": "lsp", "format": format}).to_string();
        let output = world.output(&["tool", "call", "call_graph", &input]);
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains(expected), "{format}: {shown}");
        assert!(format != "json" || serde_json::from_str::<Value>(&shown).is_ok(), "{shown}");
    }
}

#[test]
fn questions_line_by_line_are_put_to_one_server_that_stays() {
    let questions = [
        json!({"id": 1, "op": "find_definition", "file": "app.py", "line": 5, "col": 20, "source": "lsp"}),
        json!({"id": 2, "op": "find_references", "symbol": "Order.total", "source": "lsp"}),
        json!({"id": 3, "op": "callers", "symbol": "Order.total", "source": "lsp"}),
        json!({"id": 4, "op": "find_definition", "symbol": "Order.total"}),
        json!({"id": 5, "op": "find_definition", "symbol": "Order.total", "source": "oracle"}),
    ];
    let answers = |world: &World| -> Vec<Value> {
        let lines = questions.each_ref().map(Value::to_string).join("\n");
        let output = world.given(&["index", "serve", "--jsonl"], &lines);
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    // One run of the script: a second server would find none.
    let world = world(&good());
    let said = answers(&world);
    assert_eq!(said[0]["source"], "lsp");
    assert_eq!(said[0]["locations"], json!([{"file": "shop/model.py", "line": 2}]));
    assert_eq!(said[1]["source"], "lsp");
    assert_eq!(said[1]["locations"], json!([{"file": "app.py", "line": 5}]));
    // A function that calls itself is among its callers.
    let callers = json!([{"file": "app.py", "line": 4}, {"file": "shop/model.py", "line": 2}]);
    assert_eq!((&said[2]["source"], &said[2]["locations"]), (&json!("lsp"), &callers));
    assert!(said[3].get("source").is_none() && said[3]["locations"][0]["line"] == 2, "{said:?}");
    assert!(said[4]["error"].as_str().unwrap().contains("oracle"), "{said:?}");
    world.set_config("");
    let said = answers(&world);
    assert!(said[0]["note"].as_str().unwrap().contains("language servers are off"), "{said:?}");
    assert_eq!(said[0]["locations"], json!([{"file": "shop/model.py", "line": 2}]));
}

#[test]
fn where_a_server_cannot_answer_the_index_does_and_says_so() {
    let by_place = r#"{"symbol": "total", "file": "app.py", "line": 5, "source": "lsp"}"#;
    let note = "the language server `scripted` has no answer: it knows nothing there";
    check(
        &world(&json!([{}])),
        &[
            (&["index", "def", "app.py:5:20", "--source", "lsp"], &["shop/model.py:2:9: method", note]),
            (
                &["index", "--json", "refs", "Order.total", "--source", "lsp"],
                &["\"source\": \"index\"", "\"line\": 5", "\"note\": \"the language server"],
            ),
            (
                &["index", "--json", "calls", "Order.total", "--source", "lsp"],
                &["\"name\": \"pay\"", "\"source\": \"index\"", "it knows no function there"],
            ),
            (
                &["tool", "call", "find_definition", by_place],
                &[
                    "source: index, resolved\nnote: the language server `scripted` has no answer",
                    "model.py:2: method",
                ],
            ),
            (
                &["tool", "call", "call_graph", r#"{"symbol": "total", "source": "lsp"}"#],
                &["<- pay", "note: the language server `scripted` has no answer: it knows no function there"],
            ),
            (
                &["tool", "call", "find_references", r#"{"symbol": "nowhere", "source": "lsp"}"#],
                &[
                    "is not defined in the workspace",
                    "note: no language server was asked: the code index does not know",
                ],
            ),
        ],
    );
}

#[test]
fn servers_are_off_until_the_person_lets_them_run() {
    let world = world(&good());
    let rows: &[(&[&str], &[&str])] = &[
        (
            &["index", "def", "Order.total", "--source", "lsp"],
            &["shop/model.py:2:9: method Order.total", "note: language servers are off"],
        ),
        (&["index", "status"], &["language servers: off"]),
        (
            &["tool", "call", "find_definition", r#"{"symbol": "Order.total", "source": "lsp"}"#],
            &["source: index, by_name\nnote: language servers are off"],
        ),
    ];
    world.set_config(&settings(&world, ""));
    check(&world, rows);
    // A folder that is not trusted cannot turn them on, nor name a program.
    world.set_config("");
    world.write(".stepwell/config.toml", &settings(&world, "servers = \"auto\""));
    check(&world, rows);
    assert!(!world.config().join("log").exists(), "the server was started");
    let trusted = world.output(&["config", "trust"]);
    assert!(trusted.status.success(), "{}", world.show(&trusted));
    check(
        &world,
        &[(&["index", "--json", "def", "Order.total", "--source", "lsp"], &["\"source\": \"lsp\""])],
    );
}

#[test]
fn settings_that_cannot_be_meant_are_explained() {
    let world = world(&good());
    for (code, expected) in [
        ("servers = \"on\"", "unknown variant `on`"),
        (
            "servers = \"auto\"\n[code.server.mine]\ncommand = \"x\"",
            "code.server.mine is not known by its name: `command` and `languages` are needed",
        ),
        (
            "servers = \"auto\"\n[code.server.pyright]\nlanguages = [\"klingon\"]",
            "code.server.pyright: there is no language `klingon`",
        ),
        (
            "servers = \"auto\"\n[code.server.pyright]\ncommand = \"./here\"",
            "`command` is neither a program's name nor a whole path",
        ),
    ] {
        world.set_config(&format!("[code]\n{code}\n"));
        let output = world.output(&["index", "def", "Order", "--source", "lsp"]);
        let shown = world.show(&output);
        assert!(output.status.code() == Some(2) && shown.contains(expected), "{code}: {shown}");
    }
}

/// What the scripted server noted under a name.
fn logged(world: &World, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(world.config().join("log")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| line.get(name).cloned()).collect()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

#[test]
fn a_server_does_not_outlive_a_program_that_is_killed() {
    let world = world(&json!([{"textDocument/definition": [{"hang": null}]}]));
    let mut child = world.spawn(&["index", "def", "Order.total", "--source", "lsp"]);
    let is_asked =
        |world: &World| logged(world, "got").iter().any(|got| got["method"] == "textDocument/definition");
    wait_until("the server was asked", || is_asked(&world));
    let pid = logged(&world, "pid")[0].as_i64().unwrap();
    let is_running = || Path::new("/proc").join(pid.to_string()).exists();
    assert!(is_running());
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the server is gone", || !is_running());
}
