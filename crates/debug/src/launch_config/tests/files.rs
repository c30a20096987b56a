//! Where configurations are read from, and what resolving them as a whole does.

use expect_test::{Expect, expect};
use serde_json::json;

use super::super::env_file::parse_for_test;
use super::super::*;
use super::{context, folder, object, write};

#[test]
fn no_file_is_an_empty_list() {
    let empty = folder(&[]);
    let file = LaunchFile::read(empty.path()).unwrap();
    assert!(file.configurations.is_empty() && file.compounds.is_empty() && file.names().is_empty());
    let blank = folder(&[(".vscode/launch.json", "\u{feff}  \n")]);
    assert!(LaunchFile::read(blank.path()).unwrap().configurations.is_empty());
    let no_folder = folder(&[(".vscode", "a file")]);
    assert!(LaunchFile::read(no_folder.path()).unwrap().configurations.is_empty());
}

#[test]
fn all_places_are_read_and_every_field_is_kept() {
    let place = folder(&[
        (
            ".vscode/launch.json",
            "\u{feff}{ // ours\n \"version\": \"0.2.0\", \"configurations\": [\
             {\"name\": \"b\", \"type\": \"python\", \"zeta\": {\"y\": [1]}, \"alpha\": null, \"presentation\": {\"group\": \"2\", \"order\": 1}},\
             {\"name\": \"hidden\", \"presentation\": {\"hidden\": true}},\
             {\"name\": \"a\", \"presentation\": {\"group\": \"1\"}}, ],\
             \"compounds\": [{\"name\": \"both\", \"configurations\": [\"a\", {\"name\": \"b\", \"folder\": \"x\"}], \"stopAll\": true}]}",
        ),
        (".vscode/settings.json", r#"{"launch": {"configurations": [{"name": "s"}]}}"#),
        (
            "my.code-workspace",
            r#"{"folders": [{"path": "."}, {"path": "sub", "name": "Sub"}], "launch": {"configurations": [{"name": "w"}]}}"#,
        ),
    ]);
    let file = LaunchFile::read(place.path()).unwrap();
    assert_eq!(file.names(), ["a", "b", "s", "w", "both"]);
    let names: Vec<_> = file.configurations.iter().map(|found| found.name.as_str()).collect();
    assert_eq!(names, ["b", "hidden", "a", "s", "w"]);
    let keys: Vec<_> = file.configurations[0].fields.keys().map(String::as_str).collect();
    assert_eq!(keys, ["name", "type", "zeta", "alpha", "presentation"]);
    assert_eq!(file.compounds[0].configurations, ["a", "b"]);
    assert_eq!(file.folders[1].name, "Sub");
    assert!(file.configurations[4].source.ends_with("my.code-workspace"));
}

#[test]
fn broken_files_are_errors_that_say_where() {
    let broken = [
        ("{\n \"configurations\": [}\n", "line 2, column 21"),
        ("[]", "its content is no object"),
        ("{\"configurations\": {}}", "`configurations` is no list"),
        ("{\"configurations\": [1]}", "`configurations[0]` is no object"),
    ];
    for (text, expected) in broken {
        let place = folder(&[(".vscode/launch.json", text)]);
        let error = LaunchFile::read(place.path()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.hint().is_some());
    }
    let place = folder(&[]);
    write(&place.path().join(".vscode/launch.json/x"), "");
    assert!(LaunchFile::read(place.path()).unwrap_err().to_string().contains("not a regular file"));
}

fn check(written: serde_json::Value, expected: Expect) {
    let told = match resolve_configuration(&object(written), &[], &context()) {
        Ok(resolved) => format!("{resolved:#?}\n"),
        Err(error) => format!("{error}\n"),
    };
    expected.assert_eq(&told);
}

#[test]
fn platform_keys_lie_over_the_others_and_go() {
    let written = json!({
        "name": "x", "type": "cppdbg", "request": "launch", "program": "a", "MIMode": "lldb",
        "linux": {"MIMode": "gdb", "program": "${workspaceFolder}/l"}, "osx": {"program": "o"}, "windows": {"type": "cppvsdbg"},
        "env-${env:PORT}": {"${workspaceFolderBasename}": ["${lineNumber}", 1, null, {"a": "${columnNumber}"}]},
        "preLaunchTask": "${defaultBuildTask}", "postDebugTask": {"type": "npm", "script": "clean"},
        "serverReadyAction": {"pattern": "on (\\d+)"}, "debugServer": "4711",
        "presentation": {"hidden": true, "order": 3}, "internalConsoleOptions": "neverOpen",
    });
    check(
        written,
        expect![[r#"
            Resolved {
                name: "x",
                kind: "cppdbg",
                request: Launch,
                arguments: {
                    "program": String("/work/shop/l"),
                    "MIMode": String("gdb"),
                    "env-8080": Object {
                        "shop": Array [
                            String("42"),
                            Number(1),
                            Null,
                            Object {
                                "a": String("7"),
                            },
                        ],
                    },
                },
                pre_launch_task: Some(
                    DefaultBuild,
                ),
                post_debug_task: Some(
                    Properties(
                        {
                            "type": String("npm"),
                            "script": String("clean"),
                        },
                    ),
                ),
                server_ready: Some(
                    ServerReady {
                        pattern: "on (\\d+)",
                        uri_format: None,
                        action: "openExternally",
                    },
                ),
                debug_server: Some(
                    4711,
                ),
                presentation: Presentation {
                    hidden: true,
                    group: None,
                    order: Some(
                        3.0,
                    ),
                },
                folder: "/work/shop",
                env_files: [],
                only_for_debuggers: [],
                secrets: {},
            }
        "#]],
    );
}

#[test]
fn what_is_wrong_with_a_configuration_is_said() {
    check(
        json!({"name": "x", "request": "launch"}),
        expect![[r#"
        configuration `x` has no `type`
    "#]],
    );
    check(
        json!({"name": "x", "type": "node", "request": "run"}),
        expect![[r#"
        configuration `x` needs a `request` that is `launch` or `attach`
    "#]],
    );
    check(
        json!({"name": "x", "type": "node", "request": "launch", "linux": 1}),
        expect![[r#"
        configuration `x` has a `linux` that is no object
    "#]],
    );
    check(
        json!({"name": "x", "type": "node", "request": "launch", "debugServer": 70000}),
        expect![[r#"
        configuration `x` has the `debugServer` `70000`, which is no port
    "#]],
    );
    check(
        json!({"name": "x", "type": "node", "request": "launch", "envFile": "no/such/file"}),
        expect![[r#"
            configuration `x` names the `envFile` `/work/shop/no/such/file`, which does not exist
        "#]],
    );
    check(
        json!({"name": "x", "type": "node", "request": "launch", "envFile": 1}),
        expect![[r#"
        configuration `x` has an `envFile` that is neither a path nor a list of paths
    "#]],
    );
    check(
        json!({"name": "x", "type": "node", "request": "launch", "serverReadyAction": 1}),
        expect![[r#"
            configuration `x` has a `serverReadyAction` that is no object
        "#]],
    );
}

#[test]
fn environment_files_lie_under_env() {
    let place = folder(&[("one.env", "A=1\nB=2\n"), ("two.env", "B=3\nC=${B}${HOME}\n")]);
    let mut ctx = context();
    ctx.folder = place.path().to_path_buf();
    let written = json!({"name": "x", "type": "go", "request": "launch",
        "envFile": ["${workspaceFolder}/one.env", "two.env"], "env": {"A": null, "D": "4"}});
    let resolved = resolve_configuration(&object(written), &[], &ctx).unwrap();
    assert_eq!(json!(resolved.arguments), json!({"env": {"A": null, "B": "3", "C": "3/home/me", "D": "4"}}));
    assert_eq!(resolved.env_files.len(), 2);
    let missing =
        json!({"name": "x", "type": "python", "request": "launch", "envFile": "${workspaceFolder}/.env"});
    assert!(resolve_configuration(&object(missing), &[], &ctx).unwrap().arguments.is_empty());
}

#[test]
fn the_format_of_environment_files() {
    let text = "# comment\n\nA=1 # one\nexport B = two words \nC='${A} #'\nD=\"x\\n${A}\\\"y\\\"\" # z\nbad line\n=x\nE=\nF=\"open\nG=${A}${NONE}${HOME}\nH=a=b\r\n";
    expect![[r#"
        A="1"
        B="two words"
        C="${A} #"
        D="x\n1\"y\""
        E=""
        F="\"open"
        G="1/home/me"
        H="a=b"
    "#]]
    .assert_eq(&parse_for_test(text, "python"));
    expect![[r#"
        A="1"
        G="${A}"
    "#]]
    .assert_eq(&parse_for_test("A=1\nG=${A}\n", "node"));
}

#[test]
fn compounds_resolve_to_all_their_parts() {
    let place = folder(&[(
        ".vscode/launch.json",
        r#"{"configurations": [
            {"name": "server", "type": "node", "request": "launch", "program": "${workspaceFolder}/s.js"},
            {"name": "client", "type": "chrome", "request": "attach", "port": 9}],
          "compounds": [{"name": "all", "configurations": ["server", "client"], "stopAll": true, "preLaunchTask": "build"},
            {"name": "lost", "configurations": ["server", "nobody"]}, {"name": "none", "configurations": []}]}"#,
    )]);
    let file = LaunchFile::read(place.path()).unwrap();
    let all = file.resolve("all", &context()).unwrap();
    assert_eq!(all.sessions.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["server", "client"]);
    assert!(all.stop_all);
    assert_eq!(all.pre_launch_task, Some(TaskRef::Label("build".to_owned())));
    assert_eq!(all.sessions[0].arguments["program"], "/work/shop/s.js");
    assert!(!file.resolve("server", &context()).unwrap().stop_all);
    let told: Vec<_> = ["lost", "none", "Server"]
        .iter()
        .map(|name| file.resolve(name, &context()).unwrap_err().to_string())
        .collect();
    expect![[r#"
        there is no configuration `nobody`; there are `server`, `client`, `all`, `lost`, `none`
        configuration `none` is a compound without `configurations`
        there is no configuration `Server`; there are `server`, `client`, `all`, `lost`, `none`"#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn the_inputs_of_a_compound_are_asked_for_together() {
    let place = folder(&[(
        ".vscode/launch.json",
        r#"{"inputs": [{"id": "one", "type": "promptString"}, {"id": "two", "type": "promptString"}],
          "configurations": [{"name": "a", "type": "node", "request": "launch", "program": "${input:one}"},
            {"name": "b", "type": "node", "request": "launch", "program": "${input:two}${input:one}"}],
          "compounds": [{"name": "all", "configurations": ["a", "b"]}]}"#,
    )]);
    let error = LaunchFile::read(place.path()).unwrap().resolve("all", &context()).unwrap_err();
    assert_eq!(error.to_string(), "values are needed for `one`; `two`");
}

#[test]
fn settings_are_those_of_the_folder_the_workspace_and_the_person() {
    let place = folder(&[
        (
            ".vscode/settings.json",
            r#"{"a": "folder", // ours
            "deep": {"x": 1}}"#,
        ),
        ("w.code-workspace", r#"{"settings": {"a": "workspace", "b": "workspace"}}"#),
        ("home/.config/Code/User/settings.json", r#"{"a": "person", "b": "person", "c": "person"}"#),
    ]);
    let mut ctx = context();
    ctx.settings = Settings::read(place.path(), &user_settings_files(&place.path().join("home"))).unwrap();
    let written = json!({"name": "x", "type": "node", "request": "launch", "all": "${config:a} ${config:b} ${config:c} ${config:deep.x}"});
    let resolved = resolve_configuration(&object(written), &[], &ctx).unwrap();
    assert_eq!(resolved.arguments["all"], "folder workspace person 1");
}

#[test]
fn python_is_that_of_the_folder() {
    let place = folder(&[(".venv/bin/python", ""), ("bin/python3", ""), ("active/bin/python", "")]);
    let root = place.path().display().to_string();
    let mut ctx = Context::new(place.path(), [("PATH".to_owned(), format!("relative:{root}/bin"))].into());
    let found = || {
        let written = json!({"name": "x", "type": "python", "request": "launch", "python": "${command:python.interpreterPath}"});
        let resolved = resolve_configuration(&object(written), &[], &ctx).unwrap();
        resolved.arguments["python"].as_str().unwrap().replace(&root, "")
    };
    assert_eq!(found(), "/.venv/bin/python");
    ctx.trusted = false;
    let untrusted = find_python(&ctx).unwrap().display().to_string().replace(&root, "");
    assert_eq!(untrusted, "/bin/python3");
    ctx.environment.insert("VIRTUAL_ENV".to_owned(), format!("{root}/active"));
    let found = || find_python(&ctx).unwrap().display().to_string().replace(&root, "");
    assert_eq!(found(), "/active/bin/python");
}
