//! An `index.scip` that is current, old, damaged or hostile.

#![allow(clippy::disallowed_methods, reason = "tests make files to look at")]

use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::wire::names;
use super::*;
use crate::index::tests::workspace;
use crate::units::Units;

const MODEL: &str = "class Order:\n    def total(self):\n        return 1\n";
const APP: &str = "from model import Order\n\ndef pay():\n    é = '𝒳'; Order().total()\n";
const ORDER: &str = "scip-python python shop 1.0 model/Order#";
const TOTAL: &str = "scip-python python shop 1.0 model/Order#total().";
const PAY: &str = "scip-python python shop 1.0 app/pay().";

fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn field(bytes: &mut Vec<u8>, field: u64, content: &[u8]) {
    number(bytes, field << 3 | 2);
    number(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}

fn numbered(bytes: &mut Vec<u8>, field: u64, value: u64) {
    number(bytes, field << 3);
    number(bytes, value);
}

/// An occurrence: its range, its symbol, its roles.
fn occurrence((range, symbol, roles): &(&[u64], &str, u64)) -> Vec<u8> {
    let (mut bytes, mut packed) = (Vec::new(), Vec::new());
    for part in *range {
        number(&mut packed, *part);
    }
    field(&mut bytes, 1, &packed);
    field(&mut bytes, 2, symbol.as_bytes());
    numbered(&mut bytes, 3, *roles);
    bytes
}

fn document(path: &str, units: u64, occurrences: &[(&[u64], &str, u64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    field(&mut bytes, 1, path.as_bytes());
    numbered(&mut bytes, 6, units);
    for one in occurrences {
        field(&mut bytes, 2, &occurrence(one));
    }
    bytes
}

fn index_of(documents: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    field(&mut bytes, 1, b"\x1a\x08file:///");
    for document in documents {
        field(&mut bytes, 2, document);
    }
    bytes
}

/// What an indexer says of the two files, with columns in UTF-16.
fn shop() -> Vec<u8> {
    let model = document(
        "model.py",
        2,
        &[(&[0, 6, 11], ORDER, 1), (&[1, 8, 13], TOTAL, 1), (&[1, 14, 18], "local 0", 1)],
    );
    let app = document(
        "app.py",
        2,
        &[
            (&[0, 18, 23], ORDER, 2),
            (&[2, 4, 7], PAY, 1),
            (&[3, 4, 5], "local 0", 1),
            (&[3, 14, 19], ORDER, 8),
            (&[3, 22, 27], TOTAL, 8),
        ],
    );
    index_of(&[model, app])
}

/// Gives a file of the workspace a time so many seconds ago.
fn age(folder: &Path, path: &str, seconds: u64) {
    let file = std::fs::File::options().write(true).open(folder.join("work").join(path)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

fn with_scip(scip: &[u8]) -> (tempfile::TempDir, Index) {
    let (folder, index) = workspace(&[("model.py", MODEL), ("app.py", APP)]);
    age(folder.path(), "model.py", 100);
    age(folder.path(), "app.py", 100);
    std::fs::write(folder.path().join("work/index.scip"), scip).unwrap();
    age(folder.path(), "index.scip", 50);
    (folder, index)
}

/// An answer as lines: places, then the note.
fn query(index: &Index, target: &str) -> SymbolQuery {
    crate::ask::Target::parse(target).query(index)
}

fn told(consulted: SourceReply) -> String {
    match consulted {
        SourceReply::Absent => "absent".to_owned(),
        SourceReply::Declined(why) => why,
        SourceReply::Answered(answer) => {
            let places = answer.locations.iter();
            let places =
                places.map(|one| format!("{}:{}:{} {}", one.path, one.at.line, one.at.column, one.name));
            places.chain(answer.note).collect::<Vec<_>>().join(", ")
        }
    }
}

#[test]
fn a_current_index_answers_by_place_and_by_name() {
    let (_folder, index) = with_scip(&shop());
    for (target, defined, used) in [
        ("Order", "model.py:1:7 Order", "app.py:1:19 Order, app.py:4:14 Order"),
        ("Order.total", "model.py:2:9 total", "app.py:4:22 total"),
        // Columns count characters, not the units of the file.
        ("app.py:4:14", "model.py:1:7 Order", "app.py:1:19 Order, app.py:4:14 Order"),
        ("app.py:4:24", "model.py:2:9 total", "app.py:4:22 total"),
        ("./app.py:3:5", "app.py:3:5 pay", ""),
        // The first local symbol of one file is not that of another.
        ("app.py:4:5", "app.py:4:5 é", ""),
        ("model.py:2:15", "model.py:2:15 self", ""),
    ] {
        let asked = query(&index, target);
        assert_eq!(told(definitions(&index, &asked)), defined, "{target}");
        assert_eq!(told(references(&index, &asked)), used, "{target}");
    }
    let only = |path: &str| SymbolQuery::Named { name: "Order".to_owned(), path: Some(path.to_owned()) };
    assert_eq!(told(definitions(&index, &only("model.py"))), "model.py:1:7 Order");
    assert_eq!(
        told(definitions(&index, &only("app.py"))),
        "`index.scip` has no answer: it defines no `Order`"
    );
}

#[test]
fn what_it_cannot_know_is_said_and_left_to_the_index() {
    let (folder, mut index) = with_scip(&shop());
    for (target, expected) in [
        ("Nothing", "`index.scip` has no answer: it defines no `Nothing`"),
        ("app.py:2:1", "`index.scip` has no answer: it has no name at line 2, column 1 of `app.py`"),
        ("other.py:1:1", "`index.scip` has no answer: `other.py` is not in it"),
    ] {
        assert_eq!(told(definitions(&index, &query(&index, target))), expected);
    }
    // A file that is newer, and one that is not in it.
    std::fs::write(folder.path().join("work/app.py"), format!("\n{APP}")).unwrap();
    std::fs::write(folder.path().join("work/new.py"), "from model import Order\nOrder()\n").unwrap();
    index.refresh(&|_, _| {}, &|| false).unwrap();
    let stale = "`index.scip` has no answer: `app.py` was changed after it was made";
    assert_eq!(told(definitions(&index, &query(&index, "app.py:4:14"))), stale);
    assert_eq!(
        told(references(&index, &query(&index, "Order"))),
        "app.py:2:19 Order, app.py:5:14 Order, new.py:1:19 Order, new.py:2:1 Order, 4 uses from the code index, in files that changed after `index.scip` was made or are not in it"
    );
    assert_eq!(
        told(definitions(&index, &query(&index, "pay"))),
        "`index.scip` has no answer: it defines no `pay`"
    );
    // The definition moved: its line in the file would be wrong.
    std::fs::write(folder.path().join("work/model.py"), format!("\n{MODEL}")).unwrap();
    std::fs::write(folder.path().join("work/app.py"), APP).unwrap();
    age(folder.path(), "app.py", 100);
    index.refresh(&|_, _| {}, &|| false).unwrap();
    let stale = "`index.scip` has no answer: `model.py` was changed after it was made";
    assert_eq!(told(definitions(&index, &query(&index, "app.py:1:19"))), stale);
}

#[test]
fn it_is_read_again_when_it_changes_and_forgotten_when_it_is_gone() {
    let (folder, index) = with_scip(&shop());
    let asked = query(&index, "Order");
    assert_eq!(told(definitions(&index, &asked)), "model.py:1:7 Order");
    let place = folder.path().join("work/index.scip");
    std::fs::write(&place, b"this is no index").unwrap();
    assert_eq!(told(definitions(&index, &asked)), "`index.scip` is not used: it is damaged");
    std::fs::write(&place, shop()).unwrap();
    assert_eq!(told(definitions(&index, &asked)), "model.py:1:7 Order");
    std::fs::remove_file(&place).unwrap();
    assert_eq!(definitions(&index, &asked), SourceReply::Absent);
    std::fs::create_dir(&place).unwrap();
    assert!(told(definitions(&index, &asked)).starts_with("`index.scip` is not used"));
}

#[test]
fn a_giant_is_not_read() {
    let (folder, index) = with_scip(&[]);
    let file = std::fs::File::options().write(true).open(folder.path().join("work/index.scip")).unwrap();
    file.set_len(2 << 30).unwrap();
    let told = told(definitions(&index, &query(&index, "Order")));
    assert_eq!(told, "`index.scip` is not used: it is larger than 1024 MiB");
}

#[test]
fn documents_outside_of_the_workspace_are_not_shown() {
    let (folder, index) = with_scip(&index_of(&[document("../secret.py", 1, &[(&[0, 0, 6], ORDER, 1)])]));
    std::fs::write(folder.path().join("secret.py"), "secret = 1\n").unwrap();
    let expected = "`index.scip` has no answer: it defines no `Order`";
    assert_eq!(told(definitions(&index, &query(&index, "Order"))), expected);
}

#[test]
fn a_method_is_used_where_the_one_it_overrides_is() {
    let base = "scip-python python shop 1.0 model/Base#total().";
    let (mut relation, mut information) = (Vec::new(), Vec::new());
    field(&mut relation, 1, base.as_bytes());
    numbered(&mut relation, 2, 1);
    field(&mut information, 1, TOTAL.as_bytes());
    field(&mut information, 4, &relation);
    let mut model = document("model.py", 1, &[(&[1, 8, 13], TOTAL, 1)]);
    field(&mut model, 3, &information);
    let (_folder, index) = with_scip(&index_of(&[model, document("app.py", 2, &[(&[3, 22, 27], base, 8)])]));
    assert_eq!(told(references(&index, &query(&index, "Order.total"))), "app.py:4:22 total");
}

#[test]
fn places_are_also_read_as_messages() {
    let (mut range, mut one) = (Vec::new(), Vec::new());
    for (part, value) in [(1, 0), (2, 6), (3, 11)] {
        numbered(&mut range, part, value);
    }
    field(&mut one, 2, ORDER.as_bytes());
    numbered(&mut one, 3, 1);
    field(&mut one, 8, &range);
    let mut model = document("model.py", 1, &[]);
    field(&mut model, 2, &one);
    let (_folder, index) = with_scip(&index_of(&[model]));
    assert_eq!(told(definitions(&index, &query(&index, "model.py:1:8"))), "model.py:1:7 Order");
}

#[test]
fn symbols_are_taken_apart() {
    for (symbol, expected) in [
        (TOTAL, "model Order total"),
        ("scip-typescript npm shop 1.0.0 src/`app.ts`/pay().", "src app.ts pay"),
        ("rust-analyzer cargo a  b 0.1 x/impl#[Order]total(+1).(self)", "x impl Order total self"),
        ("s . . . `a``b`#", "a`b"),
        ("local 3", ""),
        ("broken", ""),
        ("s . . . open`", ""),
    ] {
        let found: Vec<String> = names(symbol).into_iter().map(|(name, _)| name).collect();
        assert_eq!(found.join(" "), expected, "{symbol}");
    }
}

#[test]
fn columns_count_in_the_units_of_the_document() {
    for (units, column, expected) in
        [(Units::Utf8, 7, 4), (Units::Utf16, 4, 4), (Units::Utf32, 3, 4), (Units::Utf8, 900, 6)]
    {
        assert_eq!(units.column("é𝒳abc", column), expected, "{units:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_damaged_index_never_panics(cut in 0usize..400, at in 0usize..400, byte: u8, more: Vec<u8>) {
        let mut bytes = shop();
        bytes.truncate(bytes.len().saturating_sub(cut % bytes.len()));
        if let Some(slot) = bytes.get_mut(at) {
            *slot = byte;
        }
        bytes.extend(more);
        let (_folder, index) = with_scip(&bytes);
        for target in ["Order", "app.py:4:14", "app.py:4:24"] {
            definitions(&index, &query(&index, target));
            references(&index, &query(&index, target));
        }
    }

    #[test]
    fn no_symbol_panics(symbol in ".{0,60}") {
        names(&format!("s . . . {symbol}"));
        names(&symbol);
    }
}
