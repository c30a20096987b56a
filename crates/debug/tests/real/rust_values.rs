//! Rust's values under LLDB, compared with what the program itself prints of them.

use std::collections::BTreeMap;

use stepwell_debug::adapters::AdapterKind;

use super::lab::{Lab, Language, printed};

#[tokio::test]
async fn lldb_shows_rust_values_as_the_program_prints_them() {
    let Some(lab) = Lab::open_program(AdapterKind::LldbDap, Language::Rust, "values") else { return };
    lab.debugger.set_breakpoint(lab.at("end")).await.unwrap();
    let session = lab.start("");
    let (session, _) = lab.stop(&session).await;
    let shown = values(&session).await;
    let output = printed(&session);
    let rows: Vec<_> = output.lines().filter_map(|line| line.trim_end().split_once(" = ")).collect();
    assert!(rows.len() > 60, "{output}");
    let wrong: Vec<String> = rows
        .iter()
        .filter(|(name, expected)| shown.get(*name).map(String::as_str) != Some(*expected))
        .map(|(name, expected)| format!("{name}: {expected}, shown {:?}", shown.get(*name)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(shown["cell"], "Cell(3)");
    assert_eq!(shown["borrowed"], "RefCell(4)");
    lab.debugger.end(&session).await;
}

/// Values that gdb does not show as the program prints them, and how it does: the debug information does not tell more.
const OTHERWISE_IN_GDB: [(&str, &str); 7] = [
    ("array", ""),
    ("shared_text", "Rc(strong=1, weak=0)"),
    ("sure", "<Result: the debug information does not tell the variant>"),
    ("pause", "Duration { secs: 1, nanos: Nanoseconds(500000000) }"),
    ("short", "Some(Duration { secs: 2, nanos: Nanoseconds(0) })"),
    ("dynamic", "Err(…)"),
    ("foreign", "Err(…)"),
];

#[tokio::test]
async fn gdb_shows_no_rust_value_as_something_else() {
    let Some(lab) = Lab::open_program(AdapterKind::Gdb, Language::Rust, "values") else { return };
    lab.debugger.set_breakpoint(lab.at("end")).await.unwrap();
    let session = lab.start("");
    let (session, _) = lab.stop(&session).await;
    let shown = values(&session).await;
    let output = printed(&session);
    let rows: Vec<_> = output.lines().filter_map(|line| line.trim_end().split_once(" = ")).collect();
    assert!(rows.len() > 60, "{output}");
    let mut wrong = Vec::new();
    for (name, expected) in rows {
        let otherwise = OTHERWISE_IN_GDB.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        let value = shown.get(name).map_or("<nothing>", String::as_str);
        // What a pointer points to is looked into, not shown beside its address.
        let is_address = value.starts_with("0x");
        if !is_address && value != otherwise.unwrap_or(expected) {
            wrong.push(format!("{name}: {expected}, shown {value}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    lab.debugger.end(&session).await;
}

/// The variables of the top frame, without the addresses and codes that LLDB has before pointers and letters.
async fn values(session: &stepwell_debug::session::Session) -> BTreeMap<String, String> {
    let frame = session.top_frame().await.unwrap();
    let (_, rows) = session.locals(frame.id, 200).await.unwrap().unwrap();
    let plain = |value: &str| match value.split_once(' ') {
        Some((first, rest)) if first.starts_with("0x") || first.starts_with("U+0x") => rest.to_owned(),
        _ => value.to_owned(),
    };
    rows.into_iter().map(|row| (row.name, plain(&row.value))).collect()
}
