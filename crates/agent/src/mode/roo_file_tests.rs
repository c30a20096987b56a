//! Files of modes: YAML, JSON, and what is wrong in them.

use stepwell_tool_runtime::EditScope;

use super::*;

fn shown(text: &str) -> String {
    let (modes, problems) = parse(&cleaned(text), Path::new(".roomodes"));
    let mut shown = String::new();
    for mode in modes {
        let groups: Vec<String> = mode.groups.iter().map(super::super::group_text).collect();
        shown.push_str(&format!("{} ({}): {}\n", mode.slug, mode.name, groups.join(", ")));
    }
    for problem in problems {
        shown.push_str(&format!("! {problem}\n"));
    }
    shown
}

#[test]
fn yaml_and_json_say_the_same() {
    let yaml = "\u{feff}customModes:\n  - slug: docs\n    name: Docs\n    roleDefinition: >-\n      You write.\n    groups:\n      - read\n      - - edit\n        - fileRegex: \\.(md|mdx)$\n          description: Documents\n      - command\n";
    let json = r#"{"customModes": [{"slug": "docs", "name": "Docs", "roleDefinition": "You write.",
        "groups": ["read", ["edit", {"fileRegex": "\\.(md|mdx)$", "description": "Documents"}], "command"]}]}"#;
    expect_test::expect![[r#"
        docs (Docs): read, edit (\.(md|mdx)$), debug, command
    "#]]
    .assert_eq(&shown(yaml));
    assert_eq!(shown(yaml), shown(json));
}

#[test]
fn a_wrong_mode_is_told_with_its_line_and_the_others_are_used() {
    let yaml = "customModes:\n  - slug: fine\n    name: Fine\n    roleDefinition: x\n    groups: [read]\n  - slug: a b\n    name: Bad\n    roleDefinition: x\n  - slug: odd\n    name: Odd\n    roleDefinition: x\n    groups: [everything]\n  - slug: pat\n    name: Pat\n    roleDefinition: x\n    groups: [[edit, {fileRegex: '('}]]\n  - slug: fine\n    name: Again\n    roleDefinition: x\n  - name: nameless\n";
    let shown = shown(yaml);
    assert!(shown.starts_with("fine (Fine): read\n"), "{shown}");
    for part in [
        ".roomodes:6: the mode `a b` is left out: `slug` may have",
        ".roomodes:9: the mode `odd` is left out: there is no group `everything`",
        ".roomodes:13: the mode `pat` is left out: `(` is no pattern",
        "the mode `fine` is there twice",
        "a mode is left out: missing field `slug`",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn what_is_no_file_of_modes_is_told_with_its_line() {
    let shown = shown("customModes:\n  - slug: [unclosed\n");
    assert!(shown.starts_with("! .roomodes:"), "{shown}");
}

#[test]
fn a_file_pattern_limits_what_a_mode_may_change() {
    let yaml = "customModes:\n  - slug: docs\n    name: Docs\n    roleDefinition: x\n    groups: [read, [edit, {fileRegex: '\\.md$'}]]\n";
    let (modes, _) = parse(yaml, Path::new(".roomodes"));
    assert!(matches!(modes[0].edits(), EditScope::Matching(patterns) if patterns.len() == 1));
}
