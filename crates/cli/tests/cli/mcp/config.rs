//! `stepwell mcp config`: entries for clients, printed and put in.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::world::World;

const CLIENTS: [&str; 10] = [
    "claude-code",
    "claude-desktop",
    "codex",
    "cursor",
    "cline",
    "roo",
    "vscode",
    "zed",
    "gemini",
    "opencode",
];

/// The file that a printed entry belongs to.
fn place(world: &World, words: &[&str]) -> String {
    let output = world.output(&[&["mcp", "config"], words].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let line = said.lines().find(|line| line.starts_with("for ")).unwrap_or_else(|| panic!("{said}"));
    line.split(", in ").nth(1).unwrap().to_owned()
}

#[test]
fn every_client_gets_its_entry_once() {
    for scope in ["user", "project"] {
        let world = World::new([]);
        for client in CLIENTS {
            if scope == "project" && matches!(client, "claude-desktop" | "cline") {
                let output = world.output(&["mcp", "config", client, "--scope", scope]);
                assert_eq!(output.status.code(), Some(2), "{client}: {}", world.show(&output));
                continue;
            }
            let words = [client, "--scope", scope, "--tools", "all", "--read-only"];
            let path = place(&world, &words);
            assert!(!std::path::Path::new(&path).exists(), "printing changes nothing: {path}");
            let install = [&["mcp", "config"], &words[..], &["--install"]].concat();
            for expected in ["added to", "already"] {
                let output = world.output(&install);
                let shown = world.show(&output);
                assert!(output.status.code() == Some(0) && shown.contains(expected), "{client}: {shown}");
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for word in ["stepwell", "mcp", "--tools", "all", "--read-only"] {
                assert!(text.contains(&format!("\"{word}\"")) || text.contains(word), "{client}: {text}");
            }
            let changed = world.output(&["mcp", "config", client, "--scope", scope, "--install"]);
            let shown = world.show(&changed);
            assert!(shown.contains("changed in"), "{client}: {shown}");
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("--read-only"), "{client}: {text}");
        }
    }
}

#[test]
fn an_entry_leaves_the_rest_alone() {
    let world = World::new([]);
    let home = world.work().parent().unwrap().to_path_buf();
    let path = home.join(".claude.json");
    std::fs::write(&path, "{\"numStartups\": 5, \"mcpServers\": {\"other\": {\"command\": \"x\"}}}").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let output = world.output(&["mcp", "config", "claude-code", "--install"]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let value: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(value["numStartups"], 5);
    assert_eq!(value["mcpServers"]["other"], json!({"command": "x"}));
    assert_eq!(value["mcpServers"]["stepwell"]["args"], json!(["mcp"]));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    // A file that is not understood is not touched.
    std::fs::write(&path, "{\"mcpServers\": ").unwrap();
    let output = world.output(&["mcp", "config", "claude-code", "--install"]);
    assert_eq!(output.status.code(), Some(1), "{}", world.show(&output));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"mcpServers\": ");
    // Settings that are linked from elsewhere stay there.
    let kept = home.join("dotfiles.json");
    std::fs::write(&kept, "{}").unwrap();
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&kept, &path).unwrap();
    world.output(&["mcp", "config", "claude-code", "--install"]);
    assert!(path.is_symlink() && std::fs::read_to_string(&kept).unwrap().contains("stepwell"));
}

/// H10: the token is shown nowhere, and stands only in a file that is the person's alone.
#[test]
fn an_entry_for_http_keeps_the_token_private() {
    let world = World::new([]);
    let url = "http://127.0.0.1:8123/mcp";
    for client in CLIENTS.into_iter().filter(|client| *client != "claude-desktop") {
        let printed = world.show(&world.output(&["mcp", "config", client, "--http", url]));
        assert!(printed.contains(url) && printed.contains("Bearer TOKEN"), "{client}: {printed}");
        let path = place(&world, &[client, "--http", url]);
        let output = world.output(&["mcp", "config", client, "--http", url, "--install"]);
        let token = std::fs::read_to_string(world.data().join("mcp-token")).unwrap();
        let shown = world.show(&output);
        assert!(output.status.code() == Some(0) && !shown.contains(&token), "{client}: {shown}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!("Bearer {token}")), "{client}: {text}");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{client}");
    }
    for words in [
        &["claude-desktop", "--http", url][..],
        &["cursor", "--http", url, "--install", "--scope", "project"],
        &["cursor", "--http", "ftp://x"],
        &["cursor", "--name", "a b"],
    ] {
        let output = world.output(&[&["mcp", "config"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", world.show(&output));
    }
}
