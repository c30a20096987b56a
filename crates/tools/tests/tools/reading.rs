//! `read`: several files, ranges, documents, and what is no text.

use std::io::Write as _;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::bench::{Bench, free};

async fn read(bench: &Bench, arguments: Value) -> String {
    bench.call("read", arguments).await.result.output
}

/// An archive of these parts.
fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in parts {
        writer.start_file(*name, options).expect("begun");
        writer.write_all(content.as_bytes()).expect("written");
    }
    writer.finish().expect("finished").into_inner()
}

fn docx(body: &str) -> Vec<u8> {
    let styles = r#"<w:styles xmlns:w="w"><w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style>
        <w:style w:styleId="a3"><w:name w:val="Title"/></w:style></w:styles>"#;
    let document = format!(
        r#"<?xml version="1.0"?><w:document xmlns:w="w" xmlns:mc="mc"><w:body>{body}</w:body></w:document>"#
    );
    archive(&[("word/document.xml", &document), ("word/styles.xml", styles)])
}

#[tokio::test]
async fn ranges_are_read_in_order_with_gaps_marked() {
    let bench = free();
    bench.put("a.txt", b"l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\n");
    for (arguments, expected) in [
        (
            json!({"file_path": "a.txt", "ranges": ["8-", "2-3"]}),
            "     2\tl2\n     3\tl3\n   ...\n     8\tl8\n     9\tl9\n",
        ),
        (
            json!({"path": "a.txt", "line_range": "1-2"}),
            "     1\tl1\n     2\tl2\n(more lines follow; go on with offset 3)",
        ),
        (json!({"path": "a.txt", "mode": "slice", "offset": 9, "limit": 5}), "     9\tl9\n"),
        (
            json!({"file_path": "a.txt", "ranges": ["20-30"]}),
            "(the file has 9 lines; line 20 lies behind its end)",
        ),
    ] {
        bench.check_exact("read", arguments, expected).await;
    }
    bench
        .check(
            "read",
            json!({"file_path": "a.txt", "ranges": ["9-2"]}),
            expect!["ParameterError: the arguments do not fit: `9-2` is no range of lines; write `10-20`, `40-`, `-20` or one number"],
        )
        .await;
    bench
        .check(
            "read",
            json!({"limit": 3}),
            expect!["ParameterError: the arguments do not fit: no file is named; give `file_path`, or `files` for several"],
        )
        .await;
}

#[tokio::test]
async fn one_file_that_fails_does_not_lose_the_others() {
    let bench = free();
    bench.put("src/a.txt", b"one\ntwo\n");
    bench.put("dot.png", b"\x89PNG\r\n\x1a\n0000");
    bench.put("dot.gif", b"GIF89a");
    let together = json!({"files": [{"file_path": "src/a.txt", "ranges": ["2"]}, "a.txt", {"path": "dot.png"}, "dot.gif"]});
    let shown = bench.call("read", together).await.result;
    assert_eq!(
        shown.output,
        "==> src/a.txt <==\n     2\ttwo\n\n\
         ==> a.txt <==\nerror: `a.txt` does not exist; similar files: src/a.txt\n\n\
         ==> dot.png <==\n(image/png, 12 bytes)\n\n\
         ==> dot.gif <==\n(image/gif, 6 bytes)\n"
    );
    let kinds: Vec<&str> = shown.images.iter().map(|image| image.media_type.as_str()).collect();
    assert_eq!(kinds, ["image/png", "image/gif"]);
    // Roo-Code's form.
    let roo = json!({"args": {"file": [{"path": "src/a.txt", "line_range": "1-1"}, {"path": "dot.gif"}]}});
    let shown = read(&bench, roo).await;
    assert!(shown.starts_with("==> src/a.txt <==\n     1\tone\n(more lines"), "{shown}");
    bench
        .check(
            "read",
            json!({"files": ["x1", "../x2"]}),
            expect![[r"
                ExecutionError: `x1` does not exist; list the folder or search for the file by name
                `../x2` lies outside the workspace ($TMP/ws); nothing outside it may be read or written"]],
        )
        .await;
}

#[tokio::test]
async fn an_answer_is_bounded_and_shared_fairly() {
    let bench = free();
    let large = "x".repeat(99) + "\n";
    for name in ["a", "b", "c"] {
        bench.put(name, large.repeat(20_000).as_bytes());
    }
    let all = json!({"files": [
        {"file_path": "a", "limit": 20_000}, {"file_path": "b", "limit": 20_000}, {"file_path": "c", "limit": 20_000}
    ]});
    let shown = read(&bench, all).await;
    assert!(shown.len() < 240 * 1024, "{}", shown.len());
    let parts: Vec<usize> = shown.split("==> ").skip(1).map(str::len).collect();
    assert!(parts.len() == 3 && parts.iter().all(|part| *part > 60 * 1024), "{parts:?}");
    assert_eq!(shown.matches("more lines follow").count(), 3);
    // Images have a bound of their own.
    bench.put("dot.png", b"\x89PNG\r\n\x1a\n0000");
    let many: Vec<&str> = std::iter::repeat_n("dot.png", 25).collect();
    let shown = bench.call("read", json!({"files": many})).await.result;
    assert_eq!((shown.images.len(), shown.output.matches("1 image left out").count()), (20, 5));
}

#[tokio::test]
async fn notebooks_are_cells() {
    let bench = free();
    let notebook = json!({
        "nbformat": 4, "metadata": {"kernelspec": {"language": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "text"]},
            {"cell_type": "code", "execution_count": 3, "source": "print(1)\nplot()", "outputs": [
                {"output_type": "stream", "name": "stdout", "text": (1..=100).map(|n| format!("{n}\n")).collect::<Vec<_>>()},
                {"output_type": "display_data", "data": {"image/png": "iVBO\nRw0K", "text/plain": ["<Figure>"]}},
                {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u{1b}[0;31mE\u{1b}[0m: v"]},
                {"output_type": "execute_result", "data": {"application/x-widget": {}}},
            ]},
        ],
    });
    bench.put("n.ipynb", notebook.to_string().as_bytes());
    let shown = bench.call("read", json!({"file_path": "n.ipynb"})).await.result;
    let without_numbers: Vec<&str> =
        shown.output.lines().map(|line| line.split_once('\t').map_or(line, |(_, text)| text)).collect();
    let middle = without_numbers.iter().position(|line| *line == "(... 40 lines left out ...)").expect("cut");
    assert_eq!(
        (&without_numbers[..9], &without_numbers[middle - 1..=middle + 1]),
        (
            &[
                "[cell 1: markdown]",
                "# Title",
                "text",
                "",
                "[cell 2: code, run 3]",
                "print(1)",
                "plot()",
                "[cell 2: stdout]",
                "1"
            ][..],
            &["40", "(... 40 lines left out ...)", "81"][..]
        )
    );
    assert_eq!(
        &without_numbers[middle + 21..],
        [
            "[cell 2: display_data]",
            "<Figure>",
            "(image/png, image 1)",
            "[cell 2: error]",
            "E: v",
            "[cell 2: execute_result]",
            "(application/x-widget; not shown)",
            "",
            "(notebook in python as text, 2 cells; the line numbers are not those of the file)",
        ]
    );
    assert_eq!(shown.images[0].data, "iVBORw0K");
    bench
        .check_exact(
            "read",
            json!({"file_path": "n.ipynb", "offset": 2, "limit": 1}),
            "     2\t# Title\n(notebook in python as text, 2 cells; the line numbers are not those of the file; more lines follow; go on with offset 3)",
        )
        .await;
}

#[tokio::test]
async fn a_damaged_notebook_is_shown_as_it_is() {
    let bench = free();
    let nested = "[".repeat(100_000);
    for (content, beginning) in [
        (
            "{\"cells\": [",
            "     1\t{\"cells\": [\n(this is no notebook that can be understood, so it is shown as it is)",
        ),
        ("", "(the file is empty; this is no notebook"),
        ("{}", "     1\t{}\n(this is no notebook"),
        ("{\"cells\": 3}", "     1\t{\"cells\": 3}\n(this is no notebook"),
        (&nested, "     1\t[[[["),
    ] {
        bench.put("n.ipynb", content.as_bytes());
        let shown = read(&bench, json!({"file_path": "n.ipynb"})).await;
        assert!(shown.starts_with(beginning), "{shown}");
    }
}

#[tokio::test]
async fn documents_are_text_with_headings_lists_and_tables() {
    let bench = free();
    let body = r#"
        <w:p><w:pPr><w:pStyle w:val="a3"/></w:pPr><w:r><w:t>Plan &amp; more</w:t></w:r></w:p>
        <w:p><w:r><w:t xml:space="preserve">First </w:t></w:r><w:r><w:tab/><w:t>line&#33;</w:t><w:br/><w:t>second</w:t></w:r></w:p>
        <w:p/>
        <w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="2"/></w:numPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>item</w:t></w:r></w:p>
        <w:p><w:pPr><w:pStyle w:val="1"/></w:pPr><w:r><w:t>标题</w:t></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a|b</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>c</w:t></w:r></w:p><w:p><w:r><w:t>d</w:t></w:r></w:p></w:tc></w:tr>
        <w:tr><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>ner</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc><w:tc/></w:tr></w:tbl>
        <w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:drawing><wp:docPr xmlns:wp="wp" descr="a cat"/></w:drawing></w:r></w:p>
        <mc:AlternateContent><mc:Choice><w:p><w:r><w:t>once</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>twice</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"#;
    bench.put("plan.docx", &docx(body));
    bench
        .check_exact(
            "read",
            json!({"file_path": "plan.docx"}),
            "     1\t# Plan & more\n     2\tFirst \tline!\n     3\tsecond\n     4\t  - item\n     5\t\n     6\t# 标题\n\
             \u{20}    7\t| a\\|b | c d |\n     8\t| --- | --- |\n     9\t| in, ner |  |\n    10\t\n    11\t[picture: a cat]\n    12\tonce\n\
             (DOCX document with 1 picture that cannot be shown, as text)",
        )
        .await;
    let odt = r#"<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:text>
        <text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
        <text:h text:outline-level="2">Head</text:h><text:p>one<text:s text:c="2"/>two<text:line-break/>three</text:p>
        <text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>
        <table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>
        </office:text></office:body></office:document-content>"#;
    bench.put(
        "plan.odt",
        &archive(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", odt)]),
    );
    bench
        .check_exact(
            "read",
            json!({"file_path": "plan.odt", "limit": 6}),
            "     1\t## Head\n     2\tone  two\n     3\tthree\n     4\t- item\n     5\t| x |\n     6\t| --- |\n\
             (ODT document, as text; more lines follow; go on with offset 7)",
        )
        .await;
}

#[tokio::test]
async fn a_hostile_document_is_refused_and_its_twin_read() {
    let bench = free();
    let good = docx("<w:p><w:r><w:t>alive</w:t></w:r></w:p>");
    bench.put("good.docx", &good);
    assert!(read(&bench, json!({"file_path": "good.docx"})).await.starts_with("     1\talive\n"));
    bench.put("cut.docx", &good[..good.len() / 2]);
    bench.put("other.docx", &archive(&[("x", "y")]));
    // Unpacked, this has 64 MB; packed, a thousandth of it.
    bench.put("bomb.docx", &archive(&[("word/document.xml", &" ".repeat(64 << 20))]));
    bench.put("broken.docx", &archive(&[("word/document.xml", "<a><b></a>")]));
    for (file, beginning) in [
        ("cut.docx", "`cut.docx` cannot be read as a document: it is damaged, or no archive at all ("),
        ("other.docx", "`other.docx` cannot be read as a document: the archive holds neither"),
        (
            "bomb.docx",
            "`bomb.docx` cannot be read as a document: its part `word/document.xml` cannot be unpacked (it is larger than",
        ),
        ("broken.docx", "`broken.docx` cannot be read as a document: its XML is damaged ("),
    ] {
        let shown = read(&bench, json!({"file_path": file})).await;
        assert!(shown.starts_with(beginning), "{shown}");
    }
    // Neither depth nor a document type with entities has any effect.
    let deep = "<w:tbl><w:tr><w:tc><w:p>".repeat(50_000);
    bench.put("deep.docx", &archive(&[("word/document.xml", &deep)]));
    let shown = read(&bench, json!({"file_path": "deep.docx"})).await;
    assert_eq!(shown, "(DOCX document, as text; it holds none)");
    let entities = r#"<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:p><w:t>[&a;]</w:t></w:p>"#;
    bench.put("entity.docx", &archive(&[("word/document.xml", entities)]));
    assert!(read(&bench, json!({"file_path": "entity.docx"})).await.starts_with("     1\t[]\n"));
}

#[tokio::test]
async fn what_is_no_text_is_named() {
    let bench = free();
    for (bytes, kind) in [
        (&b"\x7fELF\x02\x01\x01\0"[..], "ELF program or library, 8 bytes"),
        (b"\0asm\x01\0\0\0", "WebAssembly module, 8 bytes"),
        (b"SQLite format 3\0", "SQLite database, 16 bytes"),
        (b"PK\x03\x04\x14\0", "zip archive, 6 bytes"),
        (b"\x1f\x8b\x08\0\0", "gzip archive, 5 bytes"),
        (b"BZh91AY&SY\0\xff", "bzip2 archive, 12 bytes"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office document in the format from before 2007, 8 bytes"),
        (b"MZ\x90\0", "Windows program or library, 4 bytes"),
        (b"a\0b", "binary file, 3 bytes"),
    ] {
        bench.put("blob", bytes);
        bench.check_exact("read", json!({"file_path": "blob"}), &format!("({kind}; not shown)")).await;
    }
    // Text may begin with the same letters.
    bench.put("text", b"BM and MZ\n");
    bench.check_exact("read", json!({"file_path": "text"}), "     1\tBM and MZ\n").await;
    bench.put("large.png", &[&b"\x89PNG"[..], &vec![0; 6 << 20]].concat());
    let shown = read(&bench, json!({"file_path": "large.png"})).await;
    assert_eq!(shown, "(image/png, 6291460 bytes; larger than the 5242880 bytes that can be shown)");
}

#[tokio::test]
async fn attack_p17_a_pipe_or_a_device_is_refused_at_once() {
    let bench = free();
    bench.put("file", b"alive\n");
    bench.call("bash", json!({"command": "mkfifo f f.ipynb f.docx; ln -s /dev/zero zero"})).await;
    for file in ["f", "f.ipynb", "f.docx", "zero"] {
        let outcome = bench.call("read", json!({"file_path": file})).await.result;
        assert!(outcome.error.is_some(), "{file}: {}", outcome.output);
    }
    let all = read(&bench, json!({"files": ["f", "file", "zero"]})).await;
    assert!(all.contains("==> file <==\n     1\talive\n") && all.matches("error: ").count() == 2, "{all}");
}

#[test]
fn property_reading_never_panics_or_exceeds_its_bounds() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let bench = free();
    let magics: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"PK\x03\x04".to_vec(),
        b"%PDF-1.7\n".to_vec(),
        b"\x89PNG".to_vec(),
        b"{\"cells\": [".to_vec(),
        docx("<w:p><w:r><w:t>alive</w:t></w:r></w:p>"),
    ];
    let names = proptest::sample::select(vec!["a.docx", "a.odt", "a.ipynb", "a.txt", "a.bin"]);
    let input = (
        proptest::sample::select(magics),
        proptest::collection::vec(any::<u8>(), 0..300),
        names,
        any::<prop::sample::Index>(),
    );
    proptest!(ProptestConfig::with_cases(128), |((mut bytes, noise, name, at) in input)| {
        // The noise overwrites some of what is well formed, or follows it.
        let at = at.index(bytes.len() + 1);
        bytes.truncate(at.max(4));
        bytes.extend(noise);
        bench.put(name, &bytes);
        let shown = runtime.block_on(read(&bench, json!({"file_path": name})));
        prop_assert!(shown.len() < 240 * 1024);
    });
}
