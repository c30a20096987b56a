//! `stepwell demo` still does what the README shows. `STEPWELL_RECORD_DEMO=1` records it anew.

use std::path::{Path, PathBuf};

use serde_json::json;
use stepwell_test_support::{Turn, call};

use crate::world::World;

const PROMPT: &str = "invoice.py fails; find out why and fix it";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The words of the model, as they were once said.
fn words() -> [Turn; 5] {
    let failing = json!({"command": "python3 invoice.py"});
    [
        Turn::calls([call("debug_failure", failing.clone())])
            .with_text("I run it under its debugger to see where and with which values it fails.")
            .with_usage(4310, 44),
        Turn::calls([call("read", json!({"file_path": "invoice.py"}))])
            .with_text(
                "In `invoice.py:13` `discount` is `None`, set in line 12 by `discount_for(customer)`. I read how that is looked up.",
            )
            .with_usage(4980, 58),
        Turn::calls([call(
            "edit",
            json!({"file_path": "invoice.py", "old_str": "DISCOUNTS.get(customer)", "new_str": "DISCOUNTS.get(customer, 0.0)"}),
        )])
        .with_text("Customers without an entry have no discount; the look-up gives them `None` instead of `0.0`.")
        .with_usage(5420, 92),
        Turn::calls([call("debug_failure", failing)]).with_usage(5610, 31),
        Turn::text(
            "`alan` has no entry in `DISCOUNTS`, so `discount_for` gave `None` and `total` multiplied by it \
             (`invoice.py:13`: `discount = None`, `net = 99.0`). It gives `0.0` now, and the program ends with exit code 0.",
        )
        .with_usage(5720, 66),
    ]
}

#[test]
fn the_demo_fixes_its_program() {
    let cassette = repository().join("fixtures/demo/fix-invoice.cassette");
    if std::env::var_os("STEPWELL_RECORD_DEMO").is_some() {
        std::fs::remove_file(&cassette).ok();
        let world = World::new(words());
        world.write(
            "invoice.py",
            &std::fs::read_to_string(repository().join("examples/python/invoice.py")).unwrap(),
        );
        let record = cassette.display().to_string();
        let output =
            world.output(&["run", "--permission-mode", "bypassPermissions", "--record", &record, PROMPT]);
        assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    }
    let world = World::new([]);
    let output = world.output(&["demo", "--keep"]);
    let text = world.show(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("the program ends with exit code 0"), "{text}");
    // Its task is gone with its folder.
    assert!(!text.contains("--resume"), "{text}");
    let kept =
        text.lines().find_map(|line| line.split_once("kept: ")).map(|(_, path)| PathBuf::from(path.trim()));
    let folder = kept.unwrap_or_else(|| panic!("{text}"));
    let fixed = std::fs::read_to_string(folder.join("work/invoice.py")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(fixed.contains("get(customer, 0.0)"), "{fixed}");
}
