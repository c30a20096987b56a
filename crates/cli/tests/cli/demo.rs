//! The demo of the README still does what it shows. `STEPWELL_RECORD_DEMO=1` records it anew.

use std::path::{Path, PathBuf};

use serde_json::json;
use stepwell_test_support::{Turn, call};

use crate::world::World;

const PROMPT: &str = "the tests of ranges.py fail; find out why and fix it";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo")
}

/// The words of the model, as they were once said.
fn words() -> [Turn; 5] {
    let test = json!({"command": "python3 -m unittest -q"});
    [
        Turn::calls([call("bash", test.clone())]).with_text("I run the tests to see the failure itself.").with_usage(2210, 41),
        Turn::calls([call("read", json!({"file_path": "ranges.py"}))])
            .with_text("`1-3` gives `[1, 2]`: the last number is missing. Where is it lost?")
            .with_usage(2530, 48),
        Turn::calls([call(
            "edit",
            json!({"file_path": "ranges.py", "old_str": "range(int(first), int(last)))", "new_str": "range(int(first), int(last) + 1))"}),
        )])
        .with_text("`range` excludes its end, but both ends belong to a range here.")
        .with_usage(2760, 96),
        Turn::calls([call("bash", test)]).with_usage(2890, 33),
        Turn::text(
            "`parse_range` in `ranges.py:8` lost the last number of every range: `range(first, last)` excludes its end. \
             It now ends at `last + 1`. All 3 tests pass.",
        )
        .with_usage(2960, 52),
    ]
}

fn world(turns: impl IntoIterator<Item = Turn>) -> World {
    let world = World::new(turns);
    for name in ["ranges.py", "test_ranges.py"] {
        world.write(name, &std::fs::read_to_string(fixtures().join("project").join(name)).unwrap());
    }
    world
}

#[test]
fn the_demo_fixes_its_program() {
    let cassette = fixtures().join("fix-ranges.cassette");
    if std::env::var_os("STEPWELL_RECORD_DEMO").is_some() {
        std::fs::remove_file(&cassette).ok();
        let world = world(words());
        let record = cassette.display().to_string();
        let output =
            world.output(&["run", "--permission-mode", "bypassPermissions", "--record", &record, PROMPT]);
        assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    }
    let world = world([]);
    let model = format!("replay-lenient:{}", cassette.display());
    let output = world.output(&["run", "--permission-mode", "bypassPermissions", "--model", &model, PROMPT]);
    let text = world.show(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("All 3 tests pass."), "{text}");
    let fixed = std::fs::read_to_string(world.work().join("ranges.py")).unwrap();
    assert!(fixed.contains("int(last) + 1"), "{fixed}");
    let log = world.log(&world.only_task());
    let last_run = log.iter().rev().find_map(|record| match &record.event {
        stepwell_protocol::Event::Observation { result } => Some(result.output.clone()),
        _ => None,
    });
    assert!(last_run.is_some_and(|output| output.contains("OK")), "the tests really pass: {text}");
}
