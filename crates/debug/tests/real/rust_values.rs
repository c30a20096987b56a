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
