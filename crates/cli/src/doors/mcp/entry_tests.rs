//! Entries put into files that are somebody else's.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{Change, put};
use crate::doors::mcp::clients::Format;

fn entry() -> Value {
    json!({"command": "/usr/bin/stepwell", "args": ["mcp", "--tools", "all"]})
}

fn check(format: Format, text: &str, key: &str, expected: Expect) {
    let shown = match put(format, text, key, "stepwell", &entry()) {
        Ok(Change::Nothing) => "nothing".to_owned(),
        Ok(Change::Added(text)) => format!("added\n{text}"),
        Ok(Change::Replaced(text)) => format!("replaced\n{text}"),
        Err(problem) => format!("error: {problem}"),
    };
    expected.assert_eq(&shown);
    // Once more is nothing.
    if let Ok(Change::Added(text) | Change::Replaced(text)) = put(format, text, key, "stepwell", &entry()) {
        assert_eq!(put(format, &text, key, "stepwell", &entry()), Ok(Change::Nothing), "{text}");
    }
}

#[test]
fn json_keeps_its_comments() {
    check(
        Format::Json,
        "// mine\n{\n  \"a\": 1, // one\n  \"mcpServers\": {\n    // theirs\n    \"other\": {\"command\": \"x\"},\n  },\n}\n",
        "mcpServers",
        expect![[r#"
            added
            // mine
            {
              "a": 1, // one
              "mcpServers": {
                // theirs
                "other": {"command": "x"},
                "stepwell": {
                  "command": "/usr/bin/stepwell",
                  "args": ["mcp", "--tools", "all"],
                },
              },
            }
        "#]],
    );
    check(
        Format::Json,
        "",
        "servers",
        expect![[r#"
            added
            {
              "servers": {
                "stepwell": {
                  "command": "/usr/bin/stepwell",
                  "args": ["mcp", "--tools", "all"]
                }
              }
            }
        "#]],
    );
    check(
        Format::Json,
        r#"{"mcpServers": {"stepwell": {"command": "old"}, "b": 2}}"#,
        "mcpServers",
        expect![[r#"
            replaced
            {"mcpServers": {"stepwell": {
                  "command": "/usr/bin/stepwell",
                  "args": ["mcp", "--tools", "all"]
                }, "b": 2}}
        "#]],
    );
}

#[test]
fn toml_keeps_its_comments_and_what_the_person_added() {
    check(
        Format::Toml,
        "# mine\nmodel = \"x\" # good\n\n[mcp_servers.other]\ncommand = \"y\"\n",
        "mcp_servers",
        expect![[r#"
            added
            # mine
            model = "x" # good

            [mcp_servers.other]
            command = "y"

            [mcp_servers.stepwell]
            command = "/usr/bin/stepwell"
            args = ["mcp", "--tools", "all"]
        "#]],
    );
    check(
        Format::Toml,
        "",
        "mcp_servers",
        expect![[r#"
            added
            [mcp_servers.stepwell]
            command = "/usr/bin/stepwell"
            args = ["mcp", "--tools", "all"]
        "#]],
    );
    let text = "[mcp_servers.stepwell]\nurl = \"http://x\"\nstartup_timeout_sec = 20 # slow\n";
    let Ok(Change::Replaced(changed)) = put(Format::Toml, text, "mcp_servers", "stepwell", &entry()) else {
        panic!("it was there before");
    };
    assert!(changed.contains("startup_timeout_sec = 20 # slow") && !changed.contains("url"), "{changed}");
}

#[test]
fn files_of_another_shape_are_left_alone() {
    let table = [
        (Format::Json, "[1]", "mcpServers"),
        (Format::Json, "{\"mcpServers\": 3}", "mcpServers"),
        (Format::Json, "{\"mcpServers\": {", "mcpServers"),
        (Format::Json, "{mcpServers: {}}", "mcpServers"),
        (Format::Json, "not json", "mcpServers"),
        (Format::Toml, "mcp_servers = 3", "mcp_servers"),
        (Format::Toml, "[mcp_servers]\nstepwell = 3", "mcp_servers"),
        (Format::Toml, "not toml", "mcp_servers"),
    ];
    for (format, text, key) in table {
        assert!(put(format, text, key, "stepwell", &entry()).is_err(), "{text}");
    }
}
