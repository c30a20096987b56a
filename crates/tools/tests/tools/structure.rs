//! Code read and changed by its structure, through the tools.

use expect_test::expect;
use serde_json::{Value, json};
use stepwell_protocol::PermissionMode;

use crate::bench::{Bench, bench, free};

async fn must(bench: &Bench, tool: &str, arguments: Value) -> String {
    let result = bench.call(tool, arguments).await.result;
    assert!(result.is_success(), "{}", result.output);
    result.output
}

async fn refused(bench: &Bench, tool: &str, arguments: Value, told: &str) {
    let result = bench.call(tool, arguments).await.result;
    assert!(!result.is_success() && result.output.contains(told), "{}", result.output);
}

fn shop() -> Bench {
    let bench = free();
    bench.put("shop/model.py", b"class Order:\n    def total(self):\n        return 1\n\n\nclass Bill:\n    def total(self):\n        return 2\n");
    bench.put(
        "app.py",
        b"from shop.model import Order\n\n\ndef pay(order: Order, other):\n    # total is paid\n    return order.total() + other.total()\n",
    );
    bench
}

#[tokio::test]
async fn a_tree_is_shown_by_lines_or_by_a_query() {
    let bench = shop();
    bench
        .check(
            "ast_parse",
            json!({"file": "shop/model.py", "start_line": 2, "end_line": 2}),
            expect![[r#"
            Python
            function_definition [2:5-3:17]
              name: identifier [2:9-2:14] "total"
              parameters: parameters [2:14-2:20]
                identifier [2:15-2:19] "self"
        "#]],
        )
        .await;
    bench
        .check(
            "ast_parse",
            json!({"path": "shop/model.py", "query": "(class_definition name: (identifier) @name)"}),
            expect![[r#"
                Python
                @name identifier [1:7-1:12] "Order"
                @name identifier [6:7-6:11] "Bill"
            "#]],
        )
        .await;
    bench
        .check("ast_parse", json!({"file": "app.py", "query": "(call_expression) @call"}), expect![[r#"
            ValidationError: `app.py`: the query cannot be read: line 1, column 2: the grammar has no node `call_expression`; look at the tree without a query
            (call_expression) @call
             ^"#]])
        .await;
    bench.put("a.txt", b"text\n");
    bench.put("c.py", b"\x00\x01\x02");
    for (file, told) in [
        ("a.txt", "language is not known"),
        ("c.py", "is not text"),
        ("none.py", "does not exist"),
        ("../x.py", "outside"),
    ] {
        refused(&bench, "ast_parse", json!({"file": file}), told).await;
    }
    refused(&bench, "ast_parse", json!({"file": "app.py", "start_line": 99}), "has 6 lines").await;
}

#[tokio::test]
async fn a_symbol_is_edited_by_its_name_and_nothing_else_changes() {
    let bench = shop();
    let before = bench.content("shop/model.py");
    let output = must(
        &bench,
        "edit_by_ast",
        json!({"operation": "replace_body", "symbol": "Order.total", "code": "return 3"}),
    )
    .await;
    assert!(output.starts_with("edited `shop/model.py` at line 3 (+1 -1)\n--- a/shop/model.py"), "{output}");
    assert_eq!(bench.content("shop/model.py"), before.replace("return 1", "return 3"));
    bench
        .check("edit_by_ast", json!({"operation": "delete", "symbol": "total"}), expect![[r#"
            ValidationError: nothing was changed: `total` is ambiguous; give `Type.member`, or the file and line of the one that is meant:
            shop/model.py:2: method Order.total
            shop/model.py:7: method Bill.total"#]])
        .await;
    bench
        .check(
            "edit_by_ast",
            json!({"operation": "replace", "symbol": "pay", "code": "def pay(:\n    pass"}),
            expect!["ValidationError: `app.py` was not changed: it would break the syntax: line 4, column 9: missing `)`: def pay(:"],
        )
        .await;
    for (arguments, told) in [
        (json!({"operation": "delete"}), "give a `symbol`"),
        (json!({"operation": "replace", "symbol": "pay"}), "`code` is missing"),
        (json!({"operation": "rename", "symbol": "pay"}), "`new_name` is missing"),
        (json!({"operation": "delete", "symbol": "nothing"}), "no `nothing`"),
        (json!({"operation": "delete", "file_path": "app.py", "line": 2}), "nothing is defined at line 2"),
        (json!({"operation": "rewrite", "pattern": "a($X)", "code": "b($X)"}), "`glob`"),
        (
            json!({"operation": "rewrite", "pattern": "zzz($X)", "code": "b($X)", "glob": "**/*.py"}),
            "fits nothing in 2 files",
        ),
        (
            json!({"operation": "rewrite", "pattern": "a(", "code": "b", "glob": "**/*.py"}),
            "pattern cannot be read",
        ),
    ] {
        refused(&bench, "edit_by_ast", arguments, told).await;
    }
}

#[tokio::test]
async fn a_name_is_changed_where_it_is_certain_and_the_rest_is_listed() {
    let bench = shop();
    let before = bench.content("app.py");
    let rename = json!({"operation": "rename", "symbol": "Order.total", "new_name": "sum"});
    let output = must(&bench, "preview_edit", json!({"edits": [rename]})).await;
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    expect![[r"
        nothing was changed; this would be the change:
        --- a/app.py
        +++ b/app.py
        @@ -3,4 +3,4 @@
         def pay(order: Order, other):
             # total is paid
        -    return order.total() + other.total()
        +    return order.sum() + other.total()
        --- a/shop/model.py
        +++ b/shop/model.py
        @@ -1,5 +1,5 @@
         class Order:
        -    def total(self):
        +    def sum(self):
                 return 1
        note: `app.py` renamed app.py:6: sure: return order.total() + other.total()
        note: `app.py` left alone app.py:6: not sure: its type is not known: return order.total() + other.total()
        note: `app.py` set `include_unsure` to rename what was left alone too
        note: `app.py` 1 line with the old name in comments or texts stay: app.py:5
        note: `shop/model.py` renamed shop/model.py:2: sure: def total(self):"]]
    .assert_eq(&lines.join("\n"));
    assert_eq!(bench.content("app.py"), before, "a preview changes nothing");
    let output = must(&bench, "edit_by_ast", rename).await;
    assert!(output.contains("left alone app.py:6"), "{output}");
    assert_eq!(bench.content("app.py"), before.replace("order.total()", "order.sum()"));
    let model = bench.content("shop/model.py");
    assert_eq!((model.matches("def sum(").count(), model.matches("def total(").count()), (1, 1));
    refused(
        &bench,
        "edit_by_ast",
        json!({"operation": "rename", "symbol": "other", "file_path": "app.py", "line": 4, "new_name": "order"}),
        "has a meaning already",
    )
    .await;
    must(
        &bench,
        "edit_by_ast",
        json!({"operation": "rename", "symbol": "other", "file_path": "app.py", "line": 4, "new_name": "extra"}),
    )
    .await;
    assert!(bench.content("app.py").contains("extra.total()"));
    refused(
        &bench,
        "edit_by_ast",
        json!({"operation": "rename", "symbol": "pay", "new_name": "class"}),
        "syntax",
    )
    .await;
    refused(
        &bench,
        "edit_by_ast",
        json!({"operation": "rename", "symbol": "pay", "new_name": "a.b"}),
        "one name",
    )
    .await;
}

#[tokio::test]
async fn what_another_module_calls_so_keeps_its_name() {
    let bench = free();
    let text = "import { one, two as own } from 'nowhere';\none(1);\nown(2);\n";
    bench.put("app.ts", text.as_bytes());
    let rename = |symbol: &str, line: u32| json!({"operation": "rename", "symbol": symbol, "file_path": "app.ts", "line": line, "new_name": "other"});
    refused(&bench, "edit_by_ast", rename("one", 2), "another module").await;
    must(&bench, "edit_by_ast", rename("own", 3)).await;
    assert_eq!(bench.content("app.ts"), text.replace("own", "other"));
}

#[tokio::test]
async fn a_form_is_rewritten_in_many_files_or_in_none() {
    let bench = free();
    bench.put("a/one.py", b"x = old(1)\n");
    bench.put("a/two.py", b"y = [old(2), old(3)]\n");
    bench.put("b/three.py", b"z = old(4)\n");
    bench.put("a/not.js", b"old(5);\n");
    let rewrite = |glob: &str, code: &str| json!({"operation": "rewrite", "pattern": "old($X)", "code": code, "glob": glob});
    refused(&bench, "edit_by_ast", rewrite("a/**/*.py", "new($X"), "break the syntax").await;
    assert_eq!(bench.content("a/one.py"), "x = old(1)\n");
    must(&bench, "edit_by_ast", rewrite("a/**/*.py", "new($X)")).await;
    assert_eq!(bench.content("a/one.py"), "x = new(1)\n");
    assert_eq!(bench.content("a/two.py"), "y = [new(2), new(3)]\n");
    assert_eq!(
        (bench.content("b/three.py").as_str(), bench.content("a/not.js").as_str()),
        ("z = old(4)\n", "old(5);\n")
    );
}

#[tokio::test]
async fn a_batch_mixes_edits_by_text_and_by_structure() {
    let bench = shop();
    let before = (bench.content("app.py"), bench.content("shop/model.py"));
    let edits = |last: &str| {
        json!({"edits": [
            {"path": "app.py", "old_string": "# total is paid", "new_string": "# paid"},
            {"operation": "insert_after", "file_path": "app.py", "symbol": "pay", "code": "def again():\n    return pay(None, None)"},
            {"operation": "delete", "symbol": last},
        ]})
    };
    refused(&bench, "batch_edit", edits("nothing"), "edit 3: there is no `nothing`").await;
    assert_eq!((bench.content("app.py"), bench.content("shop/model.py")), before);
    must(&bench, "batch_edit", edits("Bill")).await;
    assert_eq!(
        bench.content("app.py"),
        before.0.replace("# total is paid", "# paid") + "\n\ndef again():\n    return pay(None, None)\n"
    );
    assert_eq!(bench.content("shop/model.py"), "class Order:\n    def total(self):\n        return 1\n");
}

#[tokio::test]
async fn encodings_marks_and_line_ends_are_kept() {
    for (name, before, after) in [
        (
            "bom.py",
            &b"\xef\xbb\xbfdef a():\r\n    return 1\r\n"[..],
            &b"\xef\xbb\xbfdef a():\r\n    x = 2\r\n    return x\r\n"[..],
        ),
        (
            "latin.py",
            &b"# caf\xe9 \xe0 la carte, d\xe9j\xe0 vu\ndef a():\n    return 1\n"[..],
            &b"# caf\xe9 \xe0 la carte, d\xe9j\xe0 vu\ndef a():\n    x = 2\n    return x\n"[..],
        ),
        ("end.py", &b"def a():\n    return 1"[..], &b"def a():\n    x = 2\n    return x"[..]),
    ] {
        let bench = free();
        bench.put(name, before);
        must(
            &bench,
            "edit_by_ast",
            json!({"operation": "replace_body", "file_path": name, "symbol": "a", "code": "x = 2\nreturn x\n"}),
        )
        .await;
        let stored = stepwell_workspace::files::read(&bench.path(name)).expect("the file");
        assert_eq!(String::from_utf8_lossy(&stored), String::from_utf8_lossy(after), "{name}");
        assert_eq!(stored, after, "{name}");
    }
}

#[tokio::test]
async fn what_changed_behind_the_agents_back_is_not_edited() {
    let bench = shop();
    must(&bench, "read", json!({"file_path": "app.py"})).await;
    bench.put("app.py", (bench.content("app.py") + "# more\n").as_bytes());
    for arguments in [
        json!({"operation": "delete", "symbol": "pay"}),
        json!({"operation": "rename", "symbol": "pay", "new_name": "settle"}),
        json!({"operation": "rewrite", "pattern": "$A.total()", "code": "$A.sum()", "glob": "*.py"}),
    ] {
        refused(&bench, "edit_by_ast", arguments, "was changed by someone else").await;
    }
    must(&bench, "read", json!({"file_path": "app.py"})).await;
    must(&bench, "edit_by_ast", json!({"operation": "rename", "symbol": "pay", "new_name": "settle"})).await;
}

#[tokio::test]
async fn the_person_is_shown_every_file_and_the_diff() {
    let asking = bench(PermissionMode::Default);
    asking.put("a.py", b"def one():\n    pass\n");
    asking.put("b.py", b"from a import one\none()\n");
    asking.call("edit_by_ast", json!({"operation": "rename", "symbol": "one", "new_name": "two"})).await;
    let requests = asking.host.approvals.lock();
    let request = requests.first().expect("the person is asked");
    let preview = &request.preview;
    assert_eq!(preview.summary, "Rename `one` to `two`");
    assert!(
        preview.paths.contains(&"a.py".to_owned()) && preview.paths.contains(&"b.py".to_owned()),
        "{preview:?}"
    );
    let diff = preview.diff.clone().unwrap_or_default();
    assert!(diff.contains("+def two():") && diff.contains("+from a import two"), "{diff}");
    assert_eq!(asking.content("a.py"), "def one():\n    pass\n");
}
