//! The text of PDF documents, which a process of its own finds: what it gives, and what becomes of hostile ones.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use crate::world::World;

/// The answer of `read`, and its exit code.
fn read(world: &World, arguments: serde_json::Value) -> (Option<i32>, String) {
    let output = world.output(&["tool", "call", "read", &arguments.to_string()]);
    (output.status.code(), world.show(&output))
}

fn put(world: &World, name: &str, bytes: &[u8]) {
    std::fs::write(world.work().join(name), bytes).unwrap();
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/documents").join(name)).unwrap()
}

/// A document of these objects, numbered from 1; the first is its root.
fn pdf(objects: &[&str]) -> Vec<u8> {
    let mut text = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (nth, object) in objects.iter().enumerate() {
        places.push(text.len());
        write!(text, "{} 0 obj\n{object}\nendobj\n", nth + 1).unwrap();
    }
    let table = text.len();
    write!(text, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for place in places {
        writeln!(text, "{place:010} 00000 n ").unwrap();
    }
    write!(text, "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1).unwrap();
    text.into_bytes()
}

fn page_of(content: &str) -> Vec<u8> {
    pdf(&[
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        &format!("<</Length {}>>\nstream\n{content}\nendstream", content.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ])
}

#[test]
fn pdf_text_is_read_by_pages() {
    let world = World::new([]);
    put(&world, "two.pdf", &fixture("two-pages.pdf"));
    put(&world, "chinese.pdf", &fixture("chinese.pdf"));
    put(&world, "own.pdf", &page_of("BT /F 12 Tf 20 100 Td (Hello there) Tj ET"));
    put(&world, "empty.pdf", &page_of(""));
    for (arguments, expected) in [
        (
            json!({"file_path": "two.pdf"}),
            "     1\t[page 1]\n     2\tHello from reportlab\n     3\tsecond line, 3.14\n     4\t[page 2]\n     5\tPage two\n(PDF document, 2 pages, as text)",
        ),
        (
            json!({"file_path": "two.pdf", "ranges": ["5"]}),
            "     5\tPage two\n(PDF document, 2 pages, as text)",
        ),
        (
            json!({"file_path": "chinese.pdf", "offset": 2}),
            "     2\t调试器 断点 hello\n(PDF document, 1 page, as text)",
        ),
        (
            json!({"file_path": "own.pdf", "offset": 2}),
            "     2\tHello there\n(PDF document, 1 page, as text)",
        ),
        (json!({"file_path": "empty.pdf"}), "it holds none, only pictures of pages perhaps)"),
    ] {
        let (code, shown) = read(&world, arguments.clone());
        assert!(code == Some(0) && shown.contains(expected), "{arguments}: {shown}");
    }
    // Without a sandbox it is read as well.
    world.set_config("[sandbox]\nenabled = false\n");
    let both = json!({"files": ["two.pdf", "missing.pdf", "own.pdf"]});
    let (_, shown) = read(&world, both);
    assert!(
        shown.contains("Page two")
            && shown.contains("`missing.pdf` does not exist")
            && shown.contains("Hello there"),
        "{shown}"
    );
}

#[test]
fn a_hostile_pdf_is_an_error_and_never_a_hang() {
    let world = World::new([]);
    let good = page_of("BT /F 12 Tf 20 100 Td (alive) Tj ET");
    put(&world, "good.pdf", &good);
    let nested = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    // The tree of pages leads back to itself.
    let ring = pdf(&["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000>>"]);
    let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let hostile = [
        ("cut.pdf", good[..good.len() / 2].to_vec()),
        ("head.pdf", b"%PDF-1.7\n".to_vec()),
        ("noise.pdf", [&b"%PDF-1.7\n"[..], &noise].concat()),
        ("nested.pdf", pdf(&["<</Type/Catalog/Pages 2 0 R>>", &nested])),
        ("ring.pdf", ring),
        ("deep-content.pdf", page_of(&format!("BT {nested} TJ ET"))),
        (
            "length.pdf",
            pdf(&["<</Type/Catalog/Pages 2 0 R>>", "<</Length 99999999999999>>\nstream\nx\nendstream"]),
        ),
    ];
    for (name, bytes) in &hostile {
        put(&world, name, bytes);
        let (code, shown) = read(&world, json!({"file_path": name}));
        // Damaged documents are mended where that can be done; whatever happens is told.
        let told = shown.contains("PDF document, ") || shown.contains("is a PDF whose text cannot be read: ");
        assert!(code.is_some() && told, "{name}: {code:?} {shown}");
    }
    let all: Vec<&str> = hostile.iter().map(|(name, _)| *name).chain(["good.pdf"]).collect();
    let (code, shown) = read(&world, json!({"files": all}));
    assert!(code == Some(0) && shown.contains("alive"), "{shown}");
}

#[test]
fn the_reader_of_a_pdf_has_bounds_of_its_own() {
    let world = World::new([]);
    let output = world.output(&["pdf-text"]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && told.starts_with("{\"problem\":"), "{told}");
    let help = world.show(&world.output(&["--help"]));
    assert!(!help.contains("pdf-text"), "{help}");
}
