//! Every dialect into every adapter that can serve it.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::super::*;
use super::{context, folder, object};
use crate::adapters::{AdapterKind, ConfiguredAdapter};

/// One that a person configured.
fn java() -> &'static ConfiguredAdapter {
    ConfiguredAdapter { name: "java".to_owned(), ..ConfiguredAdapter::default() }.interned()
}

fn told(written: &Value, ctx: &Context) -> String {
    let mut written = written.clone();
    written["name"] = json!("x");
    let resolved = resolve_configuration(&object(written), &[], ctx).unwrap();
    let adapters = match adapters_for(&resolved, &[java()]) {
        Ok(adapters) => adapters,
        Err(error) => return format!("{error}\n"),
    };
    let mut text = String::new();
    for adapter in adapters {
        text.push_str(&format!("{adapter}\n"));
        match translate(&resolved, adapter) {
            Ok(translated) => {
                if translated.request != resolved.request {
                    text.push_str(&format!("  as {}\n", translated.request.name()));
                }
                for (key, value) in &translated.arguments {
                    text.push_str(&format!("  {key}: {value}\n"));
                }
                for command in &translated.debugger_commands {
                    text.push_str(&format!("  > {command}\n"));
                }
                if let Some(debugger) = &translated.debugger {
                    text.push_str(&format!("  with {debugger}\n"));
                }
                for note in &translated.notes {
                    text.push_str(&format!("  # {note}\n"));
                }
            }
            Err(error) => text.push_str(&format!("  ! {error}\n")),
        }
    }
    text
}

fn check(written: Value, expected: Expect) {
    expected.assert_eq(&told(&written, &context()));
}

#[test]
fn cppdbg() {
    check(
        json!({
            "type": "cppdbg", "request": "launch", "program": "${workspaceFolder}/app", "args": ["a b", "c"], "stopAtEntry": true,
            "environment": [{"name": "A", "value": "1"}], "env": {"B": null}, "externalConsole": true, "MIMode": "gdb",
            "miDebuggerPath": "/usr/bin/gdb-16", "sourceFileMap": {"/build": "/src", "/b2": {"editorPath": "/s2", "useForBreakpoints": true}},
            "setupCommands": [{"text": "-enable-pretty-printing"}, {"text": "-gdb-set print elements 10"}, {"text": "handle SIGPIPE nostop"},
                {"text": "-interpreter-exec console \"set pagination off\""}, {"text": "-target-select x"}],
            "symbolSearchPath": "/sym", "logging": {},
        }),
        expect![[r#"
            gdb
              program: "/work/shop/app"
              args: ["a b","c"]
              cwd: "/work/shop"
              stopAtBeginningOfMainSubprogram: true
              console: "integratedTerminal"
              > unset environment B
              > set environment A=1
              > set substitute-path /build /src
              > set substitute-path /b2 /s2
              > set print elements 10
              > handle SIGPIPE nostop
              > set pagination off
              with /usr/bin/gdb-16
              # `-target-select x` cannot be given to a console and is left out
              # `symbolSearchPath` has no counterpart in gdb and is left out
            lldb-dap
              program: "/work/shop/app"
              args: ["a b","c"]
              cwd: "/work/shop"
              initCommands: ["settings append target.unset-env-vars B"]
              preRunCommands: ["breakpoint set --one-shot true --name main"]
              env: ["A=1"]
              runInTerminal: true
              sourceMap: [["/build","/src"],["/b2","/s2"]]
              # `-target-select x` cannot be given to a console and is left out
              # `symbolSearchPath` has no counterpart in lldb-dap and is left out
              # commands for gdb are left out: set print elements 10; handle SIGPIPE nostop; set pagination off
            codelldb
              program: "/work/shop/app"
              args: ["a b","c"]
              cwd: "/work/shop"
              preRunCommands: ["breakpoint set --one-shot true --name main"]
              env: {"B":"","A":"1"}
              terminal: "integrated"
              sourceMap: {"/build":"/src","/b2":"/s2"}
              # `-target-select x` cannot be given to a console and is left out
              # `symbolSearchPath` has no counterpart in codelldb and is left out
              # commands for gdb are left out: set print elements 10; handle SIGPIPE nostop; set pagination off
              # codelldb cannot take `B` out of the environment; it is set to nothing
        "#]],
    );
    check(
        json!({"type": "cppdbg", "request": "attach", "program": "/app", "processId": "42"}),
        expect![[r#"
            gdb
              program: "/app"
              pid: 42
            lldb-dap
              program: "/app"
              pid: 42
            codelldb
              program: "/app"
              pid: 42
              terminal: "console"
        "#]],
    );
    check(
        json!({"type": "cppdbg", "request": "launch", "program": "/app", "coreDumpPath": "/tmp/core"}),
        expect![[r#"
            lldb-dap
              as attach
              program: "/app"
              coreFile: "/tmp/core"
            codelldb
              program: "/app"
              terminal: "console"
              targetCreateCommands: ["target create --core /tmp/core /app"]
              processCreateCommands: []
            gdb
              as attach
              program: "/app"
              coreFile: "/tmp/core"
              # gdb opens core files from release 17 on; lldb-dap does in every release
        "#]],
    );
    check(
        json!({"type": "cppdbg", "request": "launch", "program": "/app", "miDebuggerServerAddress": "board:3333", "MIMode": "lldb",
               "setupCommands": [{"text": "settings set x y"}]}),
        expect![[r#"
            lldb-dap
              as attach
              program: "/app"
              initCommands: ["settings set x y"]
              attachCommands: ["gdb-remote board:3333"]
            codelldb
              program: "/app"
              initCommands: ["settings set x y"]
              terminal: "console"
              targetCreateCommands: ["target create /app"]
              processCreateCommands: ["gdb-remote board:3333"]
            gdb
              as attach
              program: "/app"
              target: "board:3333"
              # commands for LLDB are left out: settings set x y
        "#]],
    );
}

#[test]
fn codelldb() {
    check(
        json!({
            "type": "lldb", "request": "launch", "program": "/app", "args": "one 'two three'", "cwd": "/here", "env": {"A": "1"},
            "stopOnEntry": true, "terminal": "integrated", "initCommands": ["command script import x.py"], "preRunCommands": ["p"],
            "exitCommands": ["q"], "sourceMap": {"/build": "/src"}, "sourceLanguages": ["rust"], "expressions": "native",
        }),
        expect![[r#"
            codelldb
              program: "/app"
              args: ["one","two three"]
              cwd: "/here"
              stopOnEntry: true
              initCommands: ["command script import x.py"]
              preRunCommands: ["p"]
              exitCommands: ["q"]
              env: {"A":"1"}
              terminal: "integrated"
              sourceMap: {"/build":"/src"}
              sourceLanguages: ["rust"]
              expressions: "native"
            lldb-dap
              program: "/app"
              args: ["one","two three"]
              cwd: "/here"
              stopOnEntry: true
              initCommands: ["command script import x.py"]
              preRunCommands: ["p"]
              exitCommands: ["q"]
              env: ["A=1"]
              runInTerminal: true
              sourceMap: [["/build","/src"]]
              # `expressions` has no counterpart in lldb-dap and is left out
            gdb
              program: "/app"
              args: ["one","two three"]
              cwd: "/here"
              stopOnEntry: true
              console: "integratedTerminal"
              > set environment A=1
              > set substitute-path /build /src
              # `expressions` has no counterpart in gdb and is left out
              # commands for LLDB are left out: command script import x.py; p; q
        "#]],
    );
    check(
        json!({"type": "lldb", "request": "attach", "pid": "42", "waitFor": true}),
        expect![[r#"
        codelldb
          pid: 42
          waitFor: true
          terminal: "console"
        lldb-dap
          pid: 42
          waitFor: true
        gdb
          ! configuration `x` uses `waitFor`, which gdb cannot; start the program first
    "#]],
    );
    check(
        json!({"type": "lldb", "request": "launch", "targetCreateCommands": ["target create --core /tmp/core /app"], "processCreateCommands": []}),
        expect![[r#"
            codelldb
              program: "/app"
              terminal: "console"
              targetCreateCommands: ["target create --core /tmp/core /app"]
              processCreateCommands: []
            lldb-dap
              as attach
              program: "/app"
              coreFile: "/tmp/core"
            gdb
              as attach
              program: "/app"
              coreFile: "/tmp/core"
              # gdb opens core files from release 17 on; lldb-dap does in every release
        "#]],
    );
}

#[test]
fn lldb_dap() {
    check(
        json!({
            "type": "lldb-dap", "request": "launch", "program": "/app", "env": ["A=1"], "runInTerminal": true, "stopOnEntry": true,
            "sourceMap": [["/build", "/src"]], "initCommands": ["i"], "timeout": 30,
        }),
        expect![[r#"
            lldb-dap
              program: "/app"
              cwd: "/work/shop"
              stopOnEntry: true
              initCommands: ["i"]
              env: ["A=1"]
              runInTerminal: true
              sourceMap: [["/build","/src"]]
              timeout: 30
            codelldb
              program: "/app"
              cwd: "/work/shop"
              stopOnEntry: true
              initCommands: ["i"]
              env: {"A":"1"}
              terminal: "integrated"
              sourceMap: {"/build":"/src"}
              # `timeout` has no counterpart in codelldb and is left out
            gdb
              program: "/app"
              cwd: "/work/shop"
              stopOnEntry: true
              console: "integratedTerminal"
              > set environment A=1
              > set substitute-path /build /src
              # `timeout` has no counterpart in gdb and is left out
              # commands for LLDB are left out: i
        "#]],
    );
    check(
        json!({"type": "lldb-dap", "request": "attach", "gdb-remote-port": 3333}),
        expect![[r#"
        lldb-dap
          attachCommands: ["gdb-remote localhost:3333"]
        codelldb
          terminal: "console"
          targetCreateCommands: ["target create"]
          processCreateCommands: ["gdb-remote localhost:3333"]
        gdb
          target: "localhost:3333"
    "#]],
    );
    check(
        json!({"type": "lldb-dap", "request": "attach", "program": "/app", "coreFile": "/tmp/core"}),
        expect![[r#"
            lldb-dap
              program: "/app"
              coreFile: "/tmp/core"
            codelldb
              program: "/app"
              terminal: "console"
              targetCreateCommands: ["target create --core /tmp/core /app"]
              processCreateCommands: []
            gdb
              program: "/app"
              coreFile: "/tmp/core"
              # gdb opens core files from release 17 on; lldb-dap does in every release
        "#]],
    );
}

#[test]
fn gdb() {
    check(
        json!({"type": "gdb", "request": "launch", "program": "/app", "stopAtBeginningOfMainSubprogram": true, "env": {"A": "1"}}),
        expect![[r#"
            gdb
              program: "/app"
              cwd: "/work/shop"
              stopAtBeginningOfMainSubprogram: true
              > set environment A=1
            lldb-dap
              program: "/app"
              cwd: "/work/shop"
              preRunCommands: ["breakpoint set --one-shot true --name main"]
              env: ["A=1"]
            codelldb
              program: "/app"
              cwd: "/work/shop"
              preRunCommands: ["breakpoint set --one-shot true --name main"]
              env: {"A":"1"}
              terminal: "console"
        "#]],
    );
    check(
        json!({"type": "gdb", "request": "attach", "target": "localhost:1234", "program": "/app"}),
        expect![[r#"
            gdb
              program: "/app"
              target: "localhost:1234"
            lldb-dap
              program: "/app"
              attachCommands: ["gdb-remote localhost:1234"]
            codelldb
              program: "/app"
              terminal: "console"
              targetCreateCommands: ["target create /app"]
              processCreateCommands: ["gdb-remote localhost:1234"]
        "#]],
    );
}

#[test]
fn python() {
    check(
        json!({"type": "python", "request": "launch", "program": "app.py", "args": "-v 'a b'", "pythonPath": "/venv/bin/python", "justMyCode": false}),
        expect![[r#"
            debugpy
              program: "/work/shop/app.py"
              args: ["-v","a b"]
              justMyCode: false
              cwd: "/work/shop"
              python: "/venv/bin/python"
              redirectOutput: true
              showReturnValue: true
              name: "x"
              type: "python"
              request: "launch"
              workspaceFolder: "/work/shop"
              with /venv/bin/python
        "#]],
    );
    check(
        json!({"type": "debugpy", "request": "launch", "module": "flask", "args": ["run"], "cwd": "/x"}),
        expect![[r#"
            debugpy
              module: "flask"
              args: ["run"]
              cwd: "/x"
              redirectOutput: true
              showReturnValue: true
              name: "x"
              type: "python"
              request: "launch"
              workspaceFolder: "/work/shop"
        "#]],
    );
    check(
        json!({"type": "python", "request": "attach", "port": 5678, "host": "box", "localRoot": "/l", "remoteRoot": "/r"}),
        expect![[r#"
            debugpy
              connect: {"host":"box","port":5678}
              pathMappings: [{"localRoot":"/l","remoteRoot":"/r"}]
              showReturnValue: true
              name: "x"
              type: "python"
              request: "attach"
              workspaceFolder: "/work/shop"
        "#]],
    );
    check(
        json!({"type": "python", "request": "attach"}),
        expect![[r#"
        debugpy
          ! configuration `x` names neither `connect` nor `listen` nor `processId`
    "#]],
    );
}

#[test]
fn node() {
    check(
        json!({"type": "node", "request": "launch", "program": "a.js", "skipFiles": ["<node_internals>/**"], "protocol": "inspector"}),
        expect![[r#"
            node
              program: "/work/shop/a.js"
              skipFiles: ["<node_internals>/**"]
              cwd: "/work/shop"
              name: "x"
              request: "launch"
            js-debug
              program: "/work/shop/a.js"
              skipFiles: ["<node_internals>/**"]
              cwd: "/work/shop"
              name: "x"
              type: "pwa-node"
              request: "launch"
              __workspaceFolder: "/work/shop"
        "#]],
    );
    check(
        json!({"type": "node-terminal", "request": "launch", "command": "npm test"}),
        expect![[r#"
            js-debug
              runtimeExecutable: "/bin/sh"
              runtimeArgs: ["-c","npm test"]
              cwd: "/work/shop"
              name: "x"
              type: "pwa-node"
              request: "launch"
              __workspaceFolder: "/work/shop"
        "#]],
    );
    check(
        json!({"type": "pwa-node", "request": "attach", "port": "9229", "cwd": "sub"}),
        expect![[r#"
            node
              port: 9229
              cwd: "/work/shop/sub"
              name: "x"
              request: "attach"
            js-debug
              port: 9229
              cwd: "/work/shop/sub"
              name: "x"
              type: "pwa-node"
              request: "attach"
              __workspaceFolder: "/work/shop"
        "#]],
    );
    check(
        json!({"type": "chrome", "request": "launch", "url": "http://localhost", "runtimeVersion": "18"}),
        expect![[r#"
            js-debug
              url: "http://localhost"
              name: "x"
              type: "pwa-chrome"
              request: "launch"
              __workspaceFolder: "/work/shop"
              # `runtimeVersion` has no meaning for js-debug outside of an editor and is left out
        "#]],
    );
}

#[test]
fn go_finds_its_mode() {
    let place = folder(&[("main.go", ""), ("pkg/a_test.go", ""), ("bin/app", "\x7fELF")]);
    let mut ctx = context();
    ctx.folder = place.path().to_path_buf();
    let root = place.path().display().to_string();
    let mut all = String::new();
    for written in [
        json!({"type": "go", "request": "launch", "mode": "auto", "program": "${workspaceFolder}"}),
        json!({"type": "go", "request": "launch", "program": "main.go", "args": "a b", "showLog": true}),
        json!({"type": "go", "request": "launch", "mode": "auto", "program": "pkg/a_test.go"}),
        json!({"type": "go", "request": "launch", "mode": "auto", "program": "bin/app", "dlvToolPath": "/dlv"}),
        json!({"type": "go", "request": "attach", "processId": 42}),
        json!({"type": "go", "request": "attach", "mode": "remote", "host": "box", "port": 2345}),
        json!({"type": "go", "request": "attach"}),
    ] {
        all.push_str(&told(&written, &ctx).replace(&root, "/root"));
    }
    expect![[r#"
        delve
          mode: "debug"
          program: "/root"
          dlvCwd: "/root"
          outputMode: "remote"
        delve
          program: "/root/main.go"
          args: ["a","b"]
          dlvCwd: "/root"
          mode: "debug"
          outputMode: "remote"
        delve
          mode: "test"
          program: "/root/pkg"
          dlvCwd: "/root/pkg"
          outputMode: "remote"
        delve
          mode: "exec"
          program: "/root/bin/app"
          outputMode: "remote"
          with /dlv
        delve
          processId: 42
          mode: "local"
          outputMode: "remote"
        delve
          mode: "remote"
          host: "box"
          port: 2345
          outputMode: "remote"
        delve
          ! configuration `x` has the process `null`, which is no process's number
    "#]]
    .assert_eq(&all);
}

#[test]
fn others() {
    check(
        json!({"type": "rdbg", "request": "launch", "script": "a.rb", "args": ["x"]}),
        expect![[r#"
        rdbg
          script: "a.rb"
          args: ["x"]
          cwd: "/work/shop"
          localfs: true
    "#]],
    );
    check(
        json!({"type": "ruby_lsp", "request": "launch", "program": "ruby a.rb --x"}),
        expect![[r#"
        rdbg
          cwd: "/work/shop"
          script: "a.rb"
          args: ["--x"]
          localfs: true
    "#]],
    );
    check(
        json!({"type": "ruby_lsp", "request": "launch", "program": "rspec a_spec.rb"}),
        expect![[r#"
        rdbg
          cwd: "/work/shop"
          command: "rspec"
          script: "a_spec.rb"
          localfs: true
    "#]],
    );
    check(
        json!({"type": "java", "request": "launch", "mainClass": "a.B", "classPaths": ["$Auto", "/x", "/y"], "args": "1 2"}),
        expect![[r#"
            java
              mainClass: "a.B"
              classPaths: ["$Auto","/x","/y"]
              args: ["1","2"]
              cwd: "/work/shop"
              classpath: "/x:/y"
        "#]],
    );
    check(
        json!({"type": "bashdb", "request": "launch", "program": "a.sh", "pathBash": "/evil"}),
        expect![[r#"
            bash
              program: "/work/shop/a.sh"
              cwd: "/work/shop"
              with /evil
        "#]],
    );
    check(
        json!({"type": "bashdb", "request": "attach", "program": "a.sh"}),
        expect![[r#"
        bash
          ! configuration `x` attaches, which a shell script's debugger cannot
    "#]],
    );
    check(
        json!({"type": "cppvsdbg", "request": "launch"}),
        expect![[r#"
        configuration type `cppvsdbg` cannot run here: it needs Visual Studio's debugger, which exists on Windows alone; `cppdbg` or `lldb` do the same here
    "#]],
    );
    check(
        json!({"type": "coreclr", "request": "launch"}),
        expect![[r#"
        configuration type `coreclr` cannot run here: no debugger for .NET is supported
    "#]],
    );
    check(
        json!({"type": "frob", "request": "launch"}),
        expect![[r#"
            configuration type `frob` cannot run here: no adapter for it is known; `debug.custom` in the settings names one by its command
        "#]],
    );
}

#[test]
fn what_cannot_be_said_is_refused() {
    for (written, expected) in [
        (
            json!({"type": "cppdbg", "request": "launch", "program": "/a", "pipeTransport": {"pipeProgram": "ssh"}}),
            "pipeTransport",
        ),
        (json!({"type": "cppdbg", "request": "launch"}), "names no `program`"),
        (
            json!({"type": "cppdbg", "request": "launch", "program": "/a", "env": {"A": "1\nshell id"}}),
            "more than one line",
        ),
        (json!({"type": "cppdbg", "request": "launch", "program": "/a", "args": "'open"}), "quote"),
        (
            json!({"type": "cppdbg", "request": "launch", "program": "/a", "args": 1}),
            "neither a list nor a text",
        ),
        (json!({"type": "cppdbg", "request": "attach", "processId": "-1"}), "no process's number"),
        (json!({"type": "gdb", "request": "attach", "pid": 0}), "no process's number"),
        (json!({"type": "cppdbg", "request": "launch", "program": "/a", "environment": [1]}), "environment"),
        (
            json!({"type": "gdb", "request": "launch", "program": "/a", "env": {"A\nshell": "id"}}),
            "is no name",
        ),
    ] {
        let told = told(&written, &context());
        assert!(told.starts_with("gdb\n  ! ") && told.lines().nth(1).unwrap().contains(expected), "{told}");
    }
    let resolved = object(json!({"name": "x", "type": "python", "request": "launch"}));
    let resolved = resolve_configuration(&resolved, &[], &context()).unwrap();
    assert!(matches!(translate(&resolved, AdapterKind::Gdb), Err(LaunchError::Refused { .. })));
}
