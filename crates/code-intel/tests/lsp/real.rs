//! Real servers: they answer as the index does on a small project, and see what changes.

use expect_test::{Expect, expect};
use stepwell_code_intel::lsp::{Question, known};
use stepwell_code_intel::resolve::Direction;

use crate::lab::{Lab, PATIENT, runtime, skipped};

const CALLERS: Question = Question::Calls { direction: Direction::Callers, depth: 2, most: 50 };

const PYTHON: &[(&str, &str)] = &[
    ("shop/model.py", "class Order:\n    def total(self):\n        return 1\n"),
    ("shop/__init__.py", ""),
    (
        "app.py",
        "from shop.model import Order\n\n\ndef pay():\n    return '😀', Order().total()\n\n\ndef main():\n    pay()\n",
    ),
];

const C: &[(&str, &str)] = &[
    (
        "compile_commands.json",
        r#"[{"directory": "@ROOT", "file": "shop.c", "command": "cc -c shop.c"},
            {"directory": "@ROOT", "file": "main.c", "command": "cc -c main.c"}]"#,
    ),
    ("shop.h", "int total(int count);\n"),
    ("shop.c", "#include \"shop.h\"\n\nint total(int count) {\n    return count;\n}\n"),
    ("main.c", "#include \"shop.h\"\n\nint pay(void) {\n    return /* 😀 */ total(2);\n}\n"),
];

const TYPESCRIPT: &[(&str, &str)] = &[
    ("tsconfig.json", "{\"compilerOptions\": {\"module\": \"esnext\", \"moduleResolution\": \"node\"}}\n"),
    ("model.ts", "export class Order {\n  total() {\n    return 1;\n  }\n}\n"),
    (
        "app.ts",
        "import { Order } from './model';\n\nexport function pay() {\n  return ['😀', new Order().total()];\n}\n",
    ),
];

const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.com/shop\n\ngo 1.19\n"),
    (
        "model/order.go",
        "package model\n\ntype Order struct{}\n\nfunc (o *Order) Total() int {\n\treturn 1\n}\n",
    ),
    (
        "main.go",
        "package main\n\nimport \"example.com/shop/model\"\n\nfunc pay() (string, int) {\n\treturn \"😀\", (&model.Order{}).Total()\n}\n\nfunc main() {\n\tpay()\n}\n",
    ),
];

/// The server of this name; `None` where it is not on the machine, or not in the folder the tests have for servers.
fn lab(name: &str, files: &[(&str, &str)]) -> Option<Lab> {
    let mut spec = known().into_iter().find(|spec| spec.name == name).unwrap();
    if let Some(folder) = std::env::var_os("STEPWELL_TEST_SERVERS") {
        let own = std::path::Path::new(&folder).join("node_modules/.bin").join(&spec.command);
        if own.is_file() {
            spec.command = own.to_string_lossy().into_owned();
        }
    }
    if spec.program(std::path::Path::new("/nowhere")).is_none() {
        skipped(&format!("{name} is missing: `{}`", spec.command));
        return None;
    }
    Some(Lab::new(files, |_| spec, PATIENT))
}

/// Asks, changes a file by one line at its top, and asks again about the places one line further down.
#[track_caller]
fn check(lab: Option<Lab>, at: (&str, u32, u32), changed: (&str, &str), expected: Expect) {
    let Some(mut lab) = lab else { return };
    let (path, line, column) = at;
    let target = |line: u32| format!("{path}:{line}:{column}");
    let shown = runtime().block_on(async {
        let mut shown = String::new();
        for (name, question) in
            [("definition", Question::Definition), ("references", Question::References), ("callers", CALLERS)]
        {
            shown += &format!("{name}:\n{}\n", lab.ask(&target(line), question).await);
        }
        let (changed, comment) = changed;
        let text = std::fs::read_to_string(lab.root().join(changed)).unwrap();
        lab.write(changed, &format!("{comment}\n{text}"));
        let moved = line + u32::from(changed == path);
        shown += &format!("after a change:\n{}", lab.ask(&target(moved), Question::Definition).await);
        shown += &format!("\n{}\n", lab.ask(&target(moved), Question::References).await);
        lab.servers.close().await;
        shown
    });
    expected.assert_eq(&shown);
}

#[test]
fn pyright_answers_as_the_index_does() {
    check(
        lab("pyright", PYTHON),
        ("app.py", 5, 25),
        ("shop/model.py", "# moved"),
        expect![[r#"
        definition:
        shop/model.py:2:9 total
        references:
        app.py:5:25 total
        callers:
        total shop/model.py:2
        pay app.py:4
        main app.py:8
        1->0
        2->1
        after a change:
        shop/model.py:3:9 total
        app.py:5:25 total
    "#]],
    );
}

#[test]
fn typescript_answers_as_the_index_does() {
    check(
        lab("typescript", TYPESCRIPT),
        ("app.ts", 4, 29),
        ("model.ts", "// moved"),
        expect![[r#"
            definition:
            model.ts:2:3 total
            references:
            app.ts:4:28 total
            callers:
            total model.ts:2
            pay app.ts:3
            1->0
            after a change:
            model.ts:3:3 total
            app.ts:4:28 total
        "#]],
    );
}

#[test]
fn clangd_answers_as_the_index_does() {
    check(
        lab("clangd", C),
        ("shop.c", 3, 5),
        ("shop.c", "// moved"),
        expect![[r#"
        definition:
        shop.c:3:5 total
        shop.h:1:5 total
        references:
        main.c:4:20 total
        callers:
        total shop.c:3
        pay main.c:3
        1->0
        after a change:
        shop.c:4:5 total
        shop.h:1:5 total
        main.c:4:20 total
    "#]],
    );
}

#[test]
fn gopls_answers_as_the_index_does() {
    check(
        lab("gopls", GO),
        ("main.go", 6, 34),
        ("model/order.go", "// moved"),
        expect![[r#"
            definition:
            model/order.go:5:17 Total
            references:
            main.go:6:31 Total
            callers:
            Total model/order.go:5
            pay main.go:5
            main main.go:9
            1->0
            2->1
            after a change:
            model/order.go:6:17 Total
            main.go:6:31 Total
        "#]],
    );
}
