//! `stepwell index`: questions about a folder's code.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::world::World;

fn world() -> World {
    let world = World::new([]);
    world.write(
        "shop/model.py",
        "class Order:\n    \"\"\"What somebody bought.\"\"\"\n\n    def total(self):\n        return 1\n",
    );
    world.write("app.py", "from shop.model import Order\n\n\ndef pay():\n    return Order().total()\n\n\ndef main():\n    pay()\n");
    // Files that were written this moment could change again within the clock's grain, so the index reads them twice.
    for file in ["shop/model.py", "app.py"] {
        let file = std::fs::File::options().write(true).open(world.work().join(file)).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600)).unwrap();
    }
    world
}

fn json(world: &World, arguments: &[&str]) -> Value {
    let output = world.output(&[&["index", "--json"][..], arguments].concat());
    assert!(output.status.success(), "{}", world.show(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The tools answer from the same index.
#[test]
fn what_may_not_be_read_is_not_in_the_index() {
    let world = world();
    assert!(json(&world, &["def", "Order.total"]).to_string().contains("shop/model.py"));
    world.set_config("[permissions]\ndeny = [\"read(shop/**)\"]\n");
    let output = world.output(&["index", "def", "Order"]);
    assert!(!world.show(&output).contains("shop/model.py"), "{}", world.show(&output));
    assert!(json(&world, &["def", "pay"]).to_string().contains("app.py"));
}

#[test]
fn every_question_has_an_answer_for_people_and_for_programs() {
    let world = world();
    for (arguments, expected) in [
        (&["build"][..], "2 files"),
        (&["status"], "2 files, 0 read now"),
        (&["def", "Order.total"], "shop/model.py:4:9: method Order.total: def total(self):"),
        (&["def", "app.py:4"], "app.py:4:5: function pay: def pay():"),
        (&["def", "pay()"], "app.py:4:5: function pay: def pay():"),
        (&["def", "app.py:5:20"], "shop/model.py:4:9"),
        (&["refs", "Order"], "app.py:5:12: return Order().total()"),
        (&["calls", "Order.total", "--depth", "2"], "pay (app.py:4) <- main"),
        (&["calls", "main", "--direction", "callees", "--format", "mermaid"], "n0 --> n1"),
        (&["deps"], "app.py -> shop/model.py"),
        (&["deps", "app.py", "--format", "dot"], "n0 -> n1;"),
        (&["symbols", "shop/model.py"], "1: class Order: class Order"),
        (&["search", "compute", "total"], "shop/model.py:4: Order.total"),
        (&["map"], "shop/model.py: Order:1, Order.total:4"),
    ] {
        let output = world.output(&[&["index"][..], arguments].concat());
        let shown = world.show(&output);
        assert!(output.status.success() && shown.contains(expected), "{arguments:?}: {shown}");
    }
    assert_eq!(json(&world, &["status"])["files"], 2);
    let def = json(&world, &["def", "Order"]);
    assert_eq!(def["definitions"][0]["doc"], "What somebody bought.");
    assert_eq!(json(&world, &["refs", "pay"])["references"][0]["line"], 9);
    assert_eq!(json(&world, &["calls", "pay"])["nodes"][1]["name"], "main");
    assert_eq!(json(&world, &["deps"])["edges"][0]["to"], 1);
    assert_eq!(json(&world, &["symbols", "app.py", "--kind", "function"])["symbols"][1]["name"], "main");
    assert_eq!(json(&world, &["search", "total"])["hits"][0]["path"], "Order.total");
}

#[test]
fn a_question_that_cannot_be_answered_says_why() {
    let world = world();
    for (arguments, expected) in [
        (&["def", "Nothing"][..], "`Nothing` is not defined"),
        (&["def", "app.py:1:1"], "no name at line 1, column 1; the line has `shop` at 6"),
        (&["def", "app.py:5"], "the line has `Order` at 12, `total` at 20"),
        (&["def", "Shop.total"], "there is `Order.total` (shop/model.py:4)"),
        (&["symbols", "gone.py"], "it does not exist"),
        (&["symbols", "shop"], "it is a folder"),
        (&["search"], "required arguments were not provided"),
        (&["search", "!!"], "has no word"),
        (&["symbols", "app.py", "--kind", "thing"], "there is no kind `thing`"),
        (&["serve", "--jsonl", "klingon"], "there is no language `klingon`"),
    ] {
        let output = world.output(&[&["index"][..], arguments].concat());
        let shown = world.show(&output);
        assert!(!output.status.success() && shown.contains(expected), "{arguments:?}: {shown}");
    }
}

/// An answer that is empty or is about one of several things must not look like an answer about everything.
#[test]
fn what_a_person_would_wonder_about_is_told() {
    let world = world();
    world.write("other.py", "class Cart:\n    def total(self):\n        return 2\n");
    for (arguments, expected) in [
        (&["refs", "main"][..], "note: nothing uses it"),
        (&["calls", "main"], "note: nothing calls it"),
        (&["calls", "Cart.total", "--direction", "callees"], "note: it calls nothing of this folder"),
        (&["deps", "other.py"], "note: no imports between files"),
        (&["symbols", "other.py", "--kind", "enum"], "note: the file defines nothing of that kind"),
        (&["search", "zebra"], "note: nothing is about these words"),
        (&["map", "--tokens", "1"], "note: there are no symbols"),
        (
            &["calls", "total"],
            "note: 2 definitions are called `total`; this is about the one at other.py:2:9",
        ),
    ] {
        let output = world.output(&[&["index"][..], arguments].concat());
        let shown = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && shown.contains(expected), "{arguments:?}: {shown}");
        let chinese =
            world.command(&[&["index"][..], arguments].concat()).env("LANG", "zh_CN.UTF-8").output();
        let is_from_the_index = expected.contains("definitions");
        let shown = String::from_utf8(chinese.unwrap().stderr).unwrap();
        assert!(
            is_from_the_index || !shown.contains(expected) && !shown.is_empty(),
            "{arguments:?}: {shown}"
        );
    }
    for arguments in
        [&["refs", "Order"][..], &["calls", "pay"], &["deps"], &["map"], &["calls", "Order.total"]]
    {
        let output = world.output(&[&["index"][..], arguments].concat());
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments:?}");
    }
}

#[test]
fn uses_by_their_name_alone_are_marked() {
    let world = world();
    world.write("guess.py", "def add(some):\n    return some.total()\n");
    let output = world.output(&["index", "refs", "Order.total"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    let expected = "app.py:5:20: return Order().total()\nguess.py:2:17: return some.total()  (by name)\n";
    assert_eq!(shown, expected);
    let uses = json(&world, &["refs", "Order.total"])["references"].clone();
    assert_eq!((&uses[0]["certainty"], &uses[1]["certainty"]), (&"resolved".into(), &"by_name".into()));
    let output = world.output(&["tool", "call", "find_references", r#"{"symbol": "Order.total"}"#]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("().total()\n") && shown.contains("some.total()  (by name)\n"), "{shown}");
    let output = world.output(&["index", "def", "guess.py:2:17"]);
    assert!(world.show(&output).contains("note: by its name alone"), "{}", world.show(&output));
}

#[test]
fn questions_line_by_line_see_every_change() {
    let world = world();
    let mut command = world.command(&["index", "serve", "--jsonl", "python"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut ask = |question: &str| -> Value {
        use std::io::BufRead;
        writeln!(questions, "{question}").unwrap();
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let place =
        r#"{"id": 1, "op": "find_definition", "symbol": "total", "file": "app.py", "line": 5, "col": 20}"#;
    assert_eq!(ask(place)["locations"][0]["line"], 4);
    world.write("shop/model.py", "class Order:\n    def total(self):\n        return 1\n");
    assert_eq!(ask(place)["locations"][0]["line"], 2);
    assert_eq!(ask(r#"{"id": 2, "op": "dependencies", "file": "app.py"}"#)["files"][0], "shop/model.py");
    assert_eq!(ask(r#"{"id": 3, "op": "callers", "symbol": "pay"}"#)["locations"][0]["line"], 8);
    assert!(ask("no json")["error"].as_str().unwrap().contains("no question"));
    assert!(
        ask(r#"{"op": "dance"}"#)["error"].as_str().unwrap().contains("`dance`; there are find_definition")
    );
    // A place that is not given in full.
    for (place, expected) in [
        (r#""symbol": "total", "file": "app.py", "line": 5"#, r#"[{"file":"shop/model.py","line":2}]"#),
        (r#""symbol": "total", "file": "app.py""#, r#"[{"file":"shop/model.py","line":2}]"#),
        (r#""file": "app.py", "line": 4"#, r#"[{"file":"app.py","line":4}]"#),
        (r#""symbol": "main", "file": "app.py", "line": 5"#, "it stands in line 8"),
        (r#""file": "app.py", "line": 5, "col": 1"#, "the line has `Order` at 12, `total` at 20"),
    ] {
        let answer = ask(&format!(r#"{{"op": "find_definition", {place}}}"#)).to_string();
        assert!(answer.contains(expected), "{place}: {answer}");
    }
    drop(questions);
    assert!(child.wait().unwrap().success());
}

#[test]
fn one_word_for_serve_is_a_language_or_a_folder() {
    let world = world();
    for words in [&["python"][..], &["."], &["python", "."], &["shop"]] {
        let arguments = [&["index", "serve", "--jsonl"][..], words].concat();
        let output = world.given(&arguments, r#"{"op": "find_definition", "symbol": "Order"}"#);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let file = if words == ["shop"] { "model.py" } else { "shop/model.py" };
        assert_eq!(answer["locations"][0]["file"], file, "{words:?}");
    }
}

#[test]
fn the_agents_tools_ask_the_same_index() {
    let world = world();
    for (tool, arguments, expected) in [
        (
            "find_definition",
            r#"{"symbol": "total", "file": "app.py", "line": 5}"#,
            "shop/model.py:4: method: def total(self):",
        ),
        ("find_definition", r#"{"symbol": "Order.total"}"#, "source: index, by_name"),
        ("find_definition", r#"{"symbol": "nothing"}"#, "is not defined in the workspace"),
        ("find_definition", r#"{"symbol": "Shop.total"}"#, "there is `Order.total` (shop/model.py:4)"),
        ("find_definition", r#"{"symbol": "pay()"}"#, "app.py:4: function: def pay():"),
        // The file only uses it.
        ("find_definition", r#"{"symbol": "total", "file": "app.py"}"#, "resolved\nshop/model.py:4: method"),
        ("find_definition", r#"{"symbol": "Order.total", "file": "app.py"}"#, "shop/model.py:4: method"),
        ("find_definition", r#"{"file": "app.py", "line": 4}"#, "app.py:4: function: def pay():"),
        ("find_references", r#"{"symbol": "Order"}"#, "app.py:5: return Order().total()"),
        ("call_graph", r#"{"symbol": "pay"}"#, "pay (app.py:4) <- main"),
        ("call_graph", r#"{"symbol": "main", "direction": "callees", "format": "dot"}"#, "n0 -> n1;"),
        ("dependency_graph", r#"{"file": "app.py"}"#, "app.py -> shop/model.py"),
        ("codebase_search", r#"{"query": "what somebody bought"}"#, "shop/model.py:1-5: Order: class Order"),
        ("ast_find_symbols", r#"{"file": "app.py", "kinds": ["function"]}"#, "4-5: function pay: def pay()"),
        ("list_code_definition_names", r#"{"path": "shop/model.py"}"#, "class Order"),
        ("ast_find_symbols", r#"{"file": "shop"}"#, "# shop/model.py\n1-5: class Order"),
        ("ast_extract_function", r#"{"file": "shop/model.py", "name": "Order.total"}"#, "        return 1"),
        ("ast_get_imports", r#"{"file": "app.py"}"#, "1: shop.model (Order)"),
        ("code_index_build", r#"{"fresh": true}"#, "2 files"),
    ] {
        let output = world.output(&["tool", "call", tool, arguments]);
        let shown = world.show(&output);
        assert!(output.status.success() && shown.contains(expected), "{tool} {arguments}: {shown}");
    }
    for (tool, arguments, expected) in [
        ("ast_get_imports", r#"{"file": "../outside.py"}"#, "outside"),
        ("ast_extract_function", r#"{"file": "app.py", "name": "gone"}"#, "defines no function"),
        ("codebase_search", r#"{"query": "?!"}"#, "no word"),
        ("find_definition", "{}", "give a `symbol`"),
        ("find_definition", r#"{"file": "app.py"}"#, "give a `symbol`"),
        ("find_definition", r#"{"symbol": "main", "file": "app.py", "line": 5}"#, "it stands in line 8"),
        ("find_references", r#"{"file": "app.py", "line": 5}"#, "the line has `Order` at 12, `total` at 20"),
        ("call_graph", r#"{"symbol": "gone", "file": "app.py"}"#, "`app.py` does not have the name `gone`"),
    ] {
        let output = world.output(&["tool", "call", tool, arguments]);
        let shown = world.show(&output);
        assert!(!output.status.success() && shown.contains(expected), "{tool} {arguments}: {shown}");
    }
}
