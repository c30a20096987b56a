//! Every command under a Chinese locale: no English sentence of ours is left, but for names, commands and code.

use std::process::Output;

use regex::Regex;
use serde_json::json;
use stepwell_test_support::{Turn, call};

use crate::world::World;

/// What is in English in every language: the words of models, tools and files that a test brings along.
const NOT_OURS: &[&str] = &["find the reason why the build fails", "the words of a file are its own"];

/// The English sentences of a text: four words and more in a row, outside of code.
fn sentences(text: &str) -> Vec<String> {
    let mut text = text.to_owned();
    for words in NOT_OURS {
        text = text.replace(words, "");
    }
    let code = Regex::new(r"`[^`\n]*`|\[ROOT\]\S*|stepwell [a-z-]+( [a-z-]+)*|--[a-z-]+").unwrap();
    let text = code.replace_all(&text, "·");
    let sentence = Regex::new(r"[A-Za-z][a-z']*(?: [A-Za-z][a-z']*){3,}").unwrap();
    sentence.find_iter(&text).map(|found| found.as_str().to_owned()).collect()
}

fn chinese(world: &World, arguments: &[&str]) -> Output {
    world.command(arguments).env("LANG", "zh_CN.UTF-8").output().unwrap()
}

/// A world with a task that changed a file, a checkpoint, a rule, a key that is missing and a folder with settings.
fn world() -> World {
    let world = World::new([
        Turn::calls([call("write", json!({"file_path": "a.txt", "content": "x\n"}))]),
        Turn::calls([call("bash", json!({"command": "touch made"}))]),
        Turn::text("完成"),
    ]);
    world.write("README.md", "the words of a file are its own\n");
    world.write(".stepwell/config.toml", "permission_mode = \"bypassPermissions\"\n");
    let output =
        chinese(&world, &["run", "--permission-mode", "acceptEdits", "find the reason why the build fails"]);
    assert_eq!(sentences(&world.show(&output)), Vec::<String>::new(), "{}", world.show(&output));
    world
}

#[test]
fn every_command_speaks_chinese() {
    let world = world();
    let commands: &[&[&str]] = &[
        &["doctor", "--offline"],
        &["tasks", "list"],
        &["tasks", "list", "--all"],
        &["tasks", "list", "--favourites"],
        &["tasks", "search", "nothing-like-it"],
        &["tasks", "repair", "1"],
        &["tasks", "fork", "1"],
        &["tasks", "delete", "1"],
        &["tasks", "show", "99"],
        &["tasks", "rename", "1", ""],
        &["checkpoints", "list"],
        &["checkpoints", "diff", "99"],
        &["undo", "--dry-run"],
        &["undo"],
        &["redo"],
        &["permissions", "list"],
        &["permissions", "test", "ls && make; sudo rm -rf /"],
        &["permissions", "test", "echo x > .git/config"],
        &["permissions", "test", "cat /etc/passwd"],
        &["permissions", "test", "--tool", "nothing", "--args", "{}"],
        &["config", "show"],
        &["config", "trust"],
        &["config", "trust", "--revoke"],
        &["config", "instructions"],
        &["adapters", "list"],
        &["adapters", "install", "nothing"],
        &["models"],
        &["sandbox", "status"],
        &["sandbox", "run", "--hide", "..", "--", "true"],
        &["index", "search", "nothing"],
        &["index", "definitions", "nothing"],
        &["index", "nothing"],
        &["tool", "call", "nothing", "{}"],
        &["run", "--model", "nothing/x", "hello"],
        &["run", "--model", "nothing", "hello"],
        &["run"],
        &["run", "-C", "/nowhere/at/all", "hello"],
        &["run", "--resume", "99", "hello"],
        &["run", "--mode", "nothing", "hello"],
        &["-c", "nothing", "config", "show"],
        &["mcp", "--http", "0.0.0.0:0"],
        &["mcp", "list"],
        &["mcp", "get", "nothing"],
        &["mcp", "remove", "nothing"],
        &["mcp", "add", "two words", "x"],
        &["mcp", "add", "x", "--type", "http", "./x"],
        &["mcp", "add", "here", "--scope", "project", "no-such-program"],
        &["mcp", "add", "mine", "no-such-program"],
        &["mcp", "list"],
        &["mcp", "test"],
        &["mcp", "login", "mine"],
        &["mcp", "remove", "mine"],
        &["why", "--", "no-such-program"],
        &["serve", "status"],
        &["serve", "stop"],
        &["serve", "--listen", "0.0.0.0:0"],
    ];
    let mut wrong = Vec::new();
    for arguments in commands {
        let shown = world.show(&chinese(&world, arguments));
        for sentence in sentences(&shown) {
            wrong.push(format!("{arguments:?}: {sentence}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where the settings name a language, the locale does not decide.
#[test]
fn the_language_of_the_settings_holds_for_errors_too() {
    let world = World::new([]);
    world.set_config("language = \"Chinese\"\n");
    let shown = world.show(&world.output(&["checkpoints", "diff", "99"]));
    assert!(shown.contains("错误："), "{shown}");
    let output = world.command(&["tasks", "show", "99"]).env("STEPWELL_LANGUAGE", "zh").output().unwrap();
    assert!(world.show(&output).contains("没有任务 `99`"), "{}", world.show(&output));
    let output = world.command(&["tasks", "show", "99"]).env("LANG", "en_US.UTF-8").output().unwrap();
    assert!(world.show(&output).contains("there is no task `99`"), "{}", world.show(&output));
}

/// What models and other programs read stays English.
#[test]
fn what_programs_and_models_read_stays_english() {
    let world =
        World::new([Turn::calls([call("read", json!({"file_path": "none.txt"}))]), Turn::text("完成")]);
    chinese(&world, &["run", "--quiet", "x"]);
    let result = world.server.last_request().tool_results()[0].text.clone();
    assert!(result.contains("does not exist"), "{result}");
    let output = chinese(&world, &["doctor", "--offline", "--json"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"data folder\""));
}
