//! Files that are made to hurt: none of them makes the tools that read code panic, hang or take what they like.

use serde_json::{Value, json};
use stepwell_protocol::ErrorClass;

use crate::bench::{Bench, free};

/// Endings of the languages that have a grammar.
const ENDINGS: &[&str] = &[
    "py", "ts", "tsx", "js", "rs", "go", "c", "cpp", "java", "rb", "cs", "php", "sh", "json", "yaml", "html",
    "css", "toml",
];

/// Everything that looks into a file, on one file.
fn questions(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("ast_parse", json!({"file": path, "depth": 60})),
        ("ast_parse", json!({"file": path, "start_line": 1, "end_line": 1})),
        ("ast_parse", json!({"file": path, "query": "(_) @any"})),
        ("ast_find_symbols", json!({"file": path})),
        ("find_references", json!({"symbol": "f", "file": path, "line": 1})),
        ("edit_by_ast", json!({"operation": "insert_after", "file_path": path, "symbol": "f", "code": "x"})),
        ("edit_by_ast", json!({"operation": "delete", "file_path": path, "line": 1})),
        (
            "edit_by_ast",
            json!({"operation": "rename", "file_path": path, "symbol": "f", "line": 1, "new_name": "g"}),
        ),
        (
            "edit_by_ast",
            json!({"operation": "rewrite", "file_path": path, "pattern": "f($X)", "code": "h($X)"}),
        ),
    ]
}

/// Asks everything; each question ends in an answer or in an error that says why.
async fn asked(bench: &Bench, path: &str) {
    let before = stepwell_workspace::files::read(&bench.path(path)).expect("the file");
    for (tool, arguments) in questions(path) {
        let told = bench.call(tool, arguments.clone()).await.result;
        if let Some(error) = &told.error {
            let is_plain = matches!(
                error.class,
                ErrorClass::ValidationError | ErrorClass::ParameterError | ErrorClass::ExecutionError
            );
            assert!(is_plain && !told.output.is_empty(), "{tool} {arguments}: {error:?} {}", told.output);
            assert!(!told.output.contains("panic"), "{tool} {arguments}: {}", told.output);
        }
        assert!(told.output.len() < 100 * 1024, "{tool} {arguments}");
        bench.put(path, &before);
        bench.call("read", json!({"file_path": path, "limit": 1})).await;
    }
}

#[tokio::test]
async fn brackets_a_hundred_thousand_deep_are_answered() {
    const DEEP: usize = 100_000;
    for (open, middle, close, endings) in [
        ("(", "1", ")", &["py", "rs", "c"][..]),
        ("f(", "f", ")", &["js", "go", "java"][..]),
        ("[", "1", "]", &["json", "ts", "cpp"][..]),
    ] {
        let bench = free();
        for ending in endings {
            let text = format!("{}{middle}{}\n", open.repeat(DEEP), close.repeat(DEEP));
            bench.put(&format!("deep.{ending}"), text.as_bytes());
        }
        let first = format!("deep.{}", endings[0]);
        if open == "f(" {
            asked(&bench, &first).await;
        }
        let told = bench.call("ast_parse", json!({"file": first, "query": "(_) @any"})).await.result;
        assert!(told.output.len() < 100 * 1024, "{}", told.output.len());
        let told = bench.call("code_index_build", json!({})).await.result;
        assert!(told.is_success(), "{}", told.output);
    }
}

#[tokio::test]
async fn malformed_files_are_answered() {
    let bench = free();
    let broken = "class f { def f( }}} fn f(( => \"unclosed\n/* never ends\nf(f(f(\n#if X\n<<<<<<< HEAD\nf(1)\n=======\n\u{feff}\u{202e}é 中文\r\r\n\t f = '";
    for ending in ENDINGS {
        let path = format!("broken.{ending}");
        bench.put(&path, broken.as_bytes());
        asked(&bench, &path).await;
    }
}

#[tokio::test]
async fn binary_files_are_answered() {
    let bench = free();
    let bytes: Vec<u8> = (0..40_000_u32).map(|nth| (nth.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for ending in ["py", "rs", "c", "json"] {
        let path = format!("binary.{ending}");
        bench.put(&path, &bytes);
        asked(&bench, &path).await;
    }
}

#[tokio::test]
async fn files_that_are_no_utf8_are_answered() {
    let bench = free();
    // Latin-1, a truncated sequence, UTF-16 with a mark, and GBK.
    let utf16: Vec<u8> = std::iter::once(0xFEFF)
        .chain("def f():\n    pass\n".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    for (nth, bytes) in [
        b"# caf\xe9\ndef f():\n    return '\xff\xfe'\n".to_vec(),
        b"def f(): # \xe4\xb8\n    pass\n".to_vec(),
        utf16,
        b"# \xd6\xd0\xce\xc4\xd7\xd6\xb7\xfb\ndef f():\n    pass\n".to_vec(),
    ]
    .into_iter()
    .enumerate()
    {
        for ending in ["py", "rs", "c", "js"] {
            let path = format!("odd{nth}.{ending}");
            bench.put(&path, &bytes);
            asked(&bench, &path).await;
        }
    }
}

/// R02: files that are too large are answered about, or passed over with a reason.
#[tokio::test]
async fn gigantic_files_are_answered() {
    let bench = free();
    bench.put("huge.c", "int f(void);\n".repeat(400_000).as_bytes());
    asked(&bench, "huge.c").await;
    // Between what the index takes and what is too large for a tree, a file is still shown and edited.
    let filler = format!("{}\n", "x = 1  # much to say".repeat(5));
    let many = format!("def f():\n    return 1\n\n\n{}", filler.repeat(22_000));
    bench.put("many.py", many.as_bytes());
    for (tool, arguments) in [
        ("ast_parse", json!({"file": "many.py", "query": "(function_definition) @f"})),
        (
            "edit_by_ast",
            json!({"operation": "replace_body", "file_path": "many.py", "symbol": "f", "code": "return 2"}),
        ),
    ] {
        let told = bench.call(tool, arguments).await.result;
        assert!(told.is_success(), "{tool}: {}", told.output);
    }
    assert_eq!(bench.content("many.py"), many.replacen("return 1", "return 2", 1));
}
