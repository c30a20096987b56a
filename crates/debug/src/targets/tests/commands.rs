//! What is made of each command line and description.

use expect_test::{Expect, expect};

use super::*;

fn check(lines: &[&str], expected: Expect) {
    let place = world();
    let mut all = String::new();
    for line in lines {
        let outcome = describe(&Description::CommandLine((*line).to_owned()), &context(place.path()));
        all.push_str(&format!("{line}\n{}", told(outcome)));
    }
    let root = files_resolved(place.path());
    expected.assert_eq(&all.replace(&root, "/root").replace(&place.path().display().to_string(), "/root"));
}

#[test]
fn python_commands() {
    check(
        &[
            "python app.py a 'b c'",
            "python -u -X dev app.py",
            "python3.11 -m pytest -q",
            "python3.12 app.py",
            "python -m pkg --flag",
            "python -c 'print(1)' x",
            "python pkg",
            "python",
            "python none.py",
            "python -m",
            "./usr/python3.11 app.py",
            "pytest tests/test_x.py::test_y -q",
            ".venv/bin/pytest -x",
            "FOO=1 BAR='a b' pytest",
            "env -u HOME A=1 python app.py",
            "uv run pytest -q",
            "uv run --with rich app.py x",
            "uv run -m pkg",
            "poetry run python app.py",
            "coverage run -m pytest",
            "timeout -k 5 60 nice -n 5 python app.py",
            "cd pkg && python ../app.py",
            "serve --port 1",
            "black x.py",
            "uv run serve",
            "uv run black x.py",
        ],
        expect![[r#"
            python app.py a 'b c'
              Run `app.py` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/app.py" args=["a","b c"] python="/root/.venv/bin/python" cwd="/root"
            python -u -X dev app.py
              Run `app.py` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/app.py" python="/root/.venv/bin/python" pythonArgs=["-u","-X","dev"] cwd="/root"
            python3.11 -m pytest -q
              Run the tests by pytest with `usr/python3.11` under debugpy.
              debugpy launch module="pytest" args=["-q"] python="/root/usr/python3.11" purpose=["debug-test"] cwd="/root"
            python3.12 app.py
              ! there is no program `python3.12`
            python -m pkg --flag
              Run the module `pkg` with `.venv/bin/python` under debugpy.
              debugpy launch module="pkg" args=["--flag"] python="/root/.venv/bin/python" cwd="/root"
            python -c 'print(1)' x
              Run the code given to Python under debugpy.
              debugpy launch code="print(1)" args=["x"] python="/root/.venv/bin/python" cwd="/root"
            python pkg
              Run `pkg` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/pkg" python="/root/.venv/bin/python" cwd="/root"
            python
              ! `python` cannot be debugged: no script, module or code is given
            python none.py
              ! there is no program `none.py`
            python -m
              ! `python` cannot be debugged: `-m` names no module
            ./usr/python3.11 app.py
              Run `app.py` with `usr/python3.11` under debugpy.
              debugpy launch program="/root/app.py" python="/root/usr/python3.11" cwd="/root"
            pytest tests/test_x.py::test_y -q
              Run the tests by pytest with `.venv/bin/python` under debugpy.
              debugpy launch module="pytest" args=["tests/test_x.py::test_y","-q"] python="/root/.venv/bin/python" purpose=["debug-test"] cwd="/root"
            .venv/bin/pytest -x
              Run the tests by pytest with `.venv/bin/python` under debugpy.
              debugpy launch module="pytest" args=["-x"] python="/root/.venv/bin/python" purpose=["debug-test"] cwd="/root"
            FOO=1 BAR='a b' pytest
              Run the tests by pytest with `.venv/bin/python` under debugpy.
              debugpy launch module="pytest" python="/root/.venv/bin/python" purpose=["debug-test"] cwd="/root" env={"FOO":"1","BAR":"a b"}
            env -u HOME A=1 python app.py
              Run `app.py` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/app.py" python="/root/.venv/bin/python" cwd="/root" env={"HOME":null,"A":"1"}
            uv run pytest -q
              Run the tests by pytest with `.venv/bin/python` under debugpy.
              debugpy launch module="pytest" args=["-q"] python="/root/.venv/bin/python" purpose=["debug-test"] cwd="/root"
            uv run --with rich app.py x
              Run `app.py` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/app.py" args=["x"] python="/root/.venv/bin/python" cwd="/root"
            uv run -m pkg
              Run the module `pkg` with `.venv/bin/python` under debugpy.
              debugpy launch module="pkg" python="/root/.venv/bin/python" cwd="/root"
            poetry run python app.py
              Run `app.py` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/app.py" python="/root/.venv/bin/python" cwd="/root"
            coverage run -m pytest
              Run the tests by pytest with `.venv/bin/python` under debugpy.
              debugpy launch module="pytest" python="/root/.venv/bin/python" purpose=["debug-test"] cwd="/root"
            timeout -k 5 60 nice -n 5 python app.py
              Run `app.py` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/app.py" python="/root/.venv/bin/python" cwd="/root"
            cd pkg && python ../app.py
              Run `app.py` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/app.py" python="/root/.venv/bin/python" cwd="/root/pkg"
            serve --port 1
              Run `usr/serve` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/usr/serve" args=["--port","1"] python="/root/.venv/bin/python" cwd="/root"
            black x.py
              Run `.venv/bin/black` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/.venv/bin/black" args=["x.py"] python="/root/.venv/bin/python" cwd="/root"
            uv run serve
              Run `.venv/bin/serve` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/.venv/bin/serve" python="/root/.venv/bin/python" cwd="/root"
            uv run black x.py
              Run `.venv/bin/black` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/.venv/bin/black" args=["x.py"] python="/root/.venv/bin/python" cwd="/root"
        "#]],
    );
}

#[test]
fn javascript_commands() {
    check(
        &[
            "node a.js x",
            "node a",
            "node --inspect-brk -r ./hook.js a.js",
            "node --test b.test.js",
            "node --test",
            "node -e 'console.log(1)'",
            "node",
            "node none.js",
            "npx vitest run web/x.test.ts",
            "npx vitest",
            "npx jest b.test.js -t name",
            "npx tsx c.ts",
            "npx mocha",
            "npm test",
            "npm test -- -t x",
            "yarn test -t x",
            "npm run both",
            "npm start",
            "npm run loop",
            "npm run py",
            "npm run none",
            "npm run",
            "bun a.js",
        ],
        expect![[r#"
            node a.js x
              Run `a.js` in node under its own debugger.
              pwa-node launch program="/root/a.js" args=["x"] cwd="/root"
            node a
              Run `a.js` in node under its own debugger.
              pwa-node launch program="/root/a.js" cwd="/root"
            node --inspect-brk -r ./hook.js a.js
              Run `a.js` in node under its own debugger.
              pwa-node launch program="/root/a.js" cwd="/root" runtimeArgs=["-r","./hook.js"]
            node --test b.test.js
              Run the tests of `b.test.js` in node under its own debugger.
              pwa-node launch program="/root/b.test.js" cwd="/root"
            node --test
              Run node's tests, each file in a process of its own, under js-debug.
              pwa-node launch runtimeArgs=["--test"] runtimeExecutable="node" cwd="/root"
            node -e 'console.log(1)'
              Run the code given to node under its own debugger.
              pwa-node launch runtimeArgs=["-e","console.log(1)"] runtimeExecutable="node" cwd="/root"
            node
              ! `node` cannot be debugged: no script is given
            node none.js
              ! there is no program `none.js`
            npx vitest run web/x.test.ts
              Run the tests by vitest under js-debug.
              pwa-node launch runtimeExecutable="npx" runtimeArgs=["vitest","run","web/x.test.ts","--no-file-parallelism","--testTimeout=0"] cwd="/root"
            npx vitest
              Run the tests by vitest under js-debug.
              pwa-node launch runtimeExecutable="npx" runtimeArgs=["vitest","run","--no-file-parallelism","--testTimeout=0"] cwd="/root"
            npx jest b.test.js -t name
              Run the tests by jest under js-debug.
              pwa-node launch program="/root/node_modules/.bin/jest" args=["b.test.js","-t","name","--runInBand","--testTimeout=100000000"] cwd="/root"
            npx tsx c.ts
              Run it with tsx under js-debug.
              pwa-node launch runtimeExecutable="/root/node_modules/.bin/tsx" runtimeArgs=["c.ts"] cwd="/root"
            npx mocha
              Run the tests by mocha under js-debug.
              pwa-node launch runtimeExecutable="npx" runtimeArgs=["mocha","--timeout=0"] cwd="/root"
            npm test
              `npm test` is `jest --ci`. Run the tests by jest under js-debug.
              pwa-node launch program="/root/node_modules/.bin/jest" args=["--ci","--runInBand","--testTimeout=100000000"] cwd="/root"
            npm test -- -t x
              `npm test` is `jest --ci`. Run the tests by jest under js-debug.
              pwa-node launch program="/root/node_modules/.bin/jest" args=["--ci","-t","x","--runInBand","--testTimeout=100000000"] cwd="/root"
            yarn test -t x
              `yarn test` is `jest --ci`. Run the tests by jest under js-debug.
              pwa-node launch program="/root/node_modules/.bin/jest" args=["--ci","-t","x","--runInBand","--testTimeout=100000000"] cwd="/root"
            npm run both
              Run `npm both`, which is `tsc && node a.js`, and debug each node it starts under js-debug.
              pwa-node launch runtimeExecutable="npm" runtimeArgs=["run","both"] cwd="/root"
            npm start
              `npm start` is `NODE_ENV=dev node a.js`. Run `a.js` in node under its own debugger.
              pwa-node launch program="/root/a.js" cwd="/root" env={"NODE_ENV":"dev"}
            npm run loop
              `npm loop` is `npm run loop`. Run `npm loop`, which is `npm run loop`, and debug each node it starts under js-debug.
              pwa-node launch runtimeExecutable="npm" runtimeArgs=["run","loop"] cwd="/root"
            npm run py
              `npm py` is `python app.py`. Run `app.py` with `.venv/bin/python` under debugpy.
              debugpy launch program="/root/app.py" python="/root/.venv/bin/python" cwd="/root"
            npm run none
              ! `npm none` cannot be debugged: package.json has no such script; it has `test`, `both`, `start`, `loop`, `py`
            npm run
              ! `npm` cannot be debugged: no script is given
            bun a.js
              ! `bun` cannot be debugged: its programs cannot be debugged yet; run it with node
        "#]],
    );
}

#[test]
fn rust_commands() {
    check(
        &[
            "cargo test name",
            "cargo test -p x --test it name -- --exact",
            "cargo +nightly test --release",
            "cargo nextest run name",
            "cargo nextest run -E 'test(x)'",
            "cargo test --doc",
            "cargo run -- a b",
            "cargo run --bin tool -q --features=x a",
            "cargo run --example=demo",
            "RUST_LOG=debug cargo r",
            "cargo build",
        ],
        expect![[r#"
            cargo test name
              Build with cargo and run the tests that match `name` under a native debugger.
              lldb-dap launch args=["name","--nocapture"] cwd="/root"
              build: cargo test --no-run --message-format=json-render-diagnostics Tests { filter: Some("name"), exact: false }
            cargo test -p x --test it name -- --exact
              Build with cargo and run the tests that match `name` under a native debugger.
              lldb-dap launch args=["name","--exact","--nocapture"] cwd="/root"
              build: cargo test --no-run --message-format=json-render-diagnostics -p x --test it Tests { filter: Some("name"), exact: true }
            cargo +nightly test --release
              Build with cargo and run the tests under a native debugger.
              lldb-dap launch args=["--nocapture"] cwd="/root"
              build: cargo +nightly test --no-run --message-format=json-render-diagnostics --release Tests { filter: None, exact: false }
              # with `--release` many variables are gone and lines jump; leave it out to see them
            cargo nextest run name
              Build with cargo and run the tests that match `name` under a native debugger.
              lldb-dap launch args=["name","--nocapture"] cwd="/root"
              build: cargo test --no-run --message-format=json-render-diagnostics Tests { filter: Some("name"), exact: false }
            cargo nextest run -E 'test(x)'
              ! `cargo nextest` cannot be debugged: a filter expression is not understood; name the test
            cargo test --doc
              ! `cargo test --doc` cannot be debugged: examples in documentation have no binary of their own
            cargo run -- a b
              Build the program with cargo and run it under a native debugger.
              lldb-dap launch args=["a","b"] cwd="/root"
              build: cargo build --message-format=json-render-diagnostics Program { name: None }
            cargo run --bin tool -q --features=x a
              Build `tool` with cargo and run it under a native debugger.
              lldb-dap launch args=["a"] cwd="/root"
              build: cargo build --message-format=json-render-diagnostics --bin tool --features=x Program { name: Some("tool") }
            cargo run --example=demo
              Build `demo` with cargo and run it under a native debugger.
              lldb-dap launch cwd="/root"
              build: cargo build --message-format=json-render-diagnostics --example=demo Program { name: Some("demo") }
            RUST_LOG=debug cargo r
              Build the program with cargo and run it under a native debugger.
              lldb-dap launch cwd="/root" env={"RUST_LOG":"debug"}
              build: cargo build --message-format=json-render-diagnostics Program { name: None }
            cargo build
              ! `cargo` cannot be debugged: only `cargo run` and `cargo test` start a program
        "#]],
    );
}

#[test]
fn go_commands() {
    check(
        &[
            "go test ./pkg -run TestX",
            "go test -v -count=1 -tags integration -race -timeout 30s -run=TestX/sub ./pkg -args a",
            "go test",
            "go test ./...",
            "go test ./... -run TestX/sub",
            "go test ./... -run '^TestBoth$'",
            "go test ./... -run helper",
            "go test ./other/...",
            "go test ./pkg ./other",
            "go test ./none",
            "go test -run",
            "go run . a b",
            "go run main.go a",
            "go run -tags x ./pkg",
            "go vet",
        ],
        expect![[r#"
            go test ./pkg -run TestX
              Build the tests of `pkg` and run them under delve.
              go launch mode="test" program="/root/pkg" args=["-test.run","TestX"] cwd="/root/pkg"
            go test -v -count=1 -tags integration -race -timeout 30s -run=TestX/sub ./pkg -args a
              Build the tests of `pkg` and run them under delve.
              go launch mode="test" program="/root/pkg" args=["-test.v","-test.count","1","-test.run","TestX/sub","a"] buildFlags="-tags integration -race" cwd="/root/pkg"
            go test
              Build the tests of `.` and run them under delve.
              go launch mode="test" program="/root" cwd="/root"
            go test ./...
              ! the package to debug could be several: `./other`, `./pkg`
            go test ./... -run TestX/sub
              Build the tests of `pkg` and run them under delve.
              go launch mode="test" program="/root/pkg" args=["-test.run","TestX/sub"] cwd="/root/pkg"
            go test ./... -run '^TestBoth$'
              ! the package to debug could be several: `./other`, `./pkg`
            go test ./... -run helper
              ! `go test` cannot be debugged: no package of `./...` has such a test
            go test ./other/...
              Build the tests of `other` and run them under delve.
              go launch mode="test" program="/root/other" cwd="/root/other"
            go test ./pkg ./other
              ! the package to debug could be several: ./pkg, ./other
            go test ./none
              ! there is no program `./none`
            go test -run
              ! `go test` cannot be debugged: `-run` needs a value
            go run . a b
              Build `.` and run it under delve.
              go launch mode="debug" program="/root" args=["a","b"] cwd="/root"
            go run main.go a
              Build `main.go` and run it under delve.
              go launch mode="debug" program="/root/main.go" args=["a"] cwd="/root"
            go run -tags x ./pkg
              Build `pkg` and run it under delve.
              go launch mode="debug" program="/root/pkg" buildFlags="-tags x" cwd="/root"
            go vet
              ! `go` cannot be debugged: only `go test` and `go run` start a program
        "#]],
    );
}

#[test]
fn other_commands() {
    check(
        &[
            "ruby -w a.rb x",
            "bundle exec rspec spec",
            "java -cp out:lib.jar -Xmx1g app.Main a",
            "java -jar x.jar",
            "bash a.sh x",
            "bash -c 'x y'",
            "sh a.sh",
            "./script a",
            "ctest --test-dir build -R two",
            "ctest --test-dir build -R deep",
            "ctest --test-dir build",
            "ctest --test-dir build -R one",
            "ctest",
            "./a.c",
            "./none",
            "none",
            "tsc-less",
            "sudo ./script",
            "make test",
            "",
            "FOO=1",
            "a | b",
            "a && b",
            "a > out",
            "a $(b)",
            "'open",
            "./src x",
        ],
        expect![[r#"
            ruby -w a.rb x
              Run `a.rb` under rdbg.
              rdbg launch command="ruby" args=["-w","a.rb","x"] cwd="/root"
            bundle exec rspec spec
              Run rspec under rdbg.
              rdbg launch command="rspec" args=["spec"] cwd="/root"
            java -cp out:lib.jar -Xmx1g app.Main a
              Run the class `app.Main` in a Java virtual machine that is debugged.
              java launch mainClass="app.Main" classPaths=["/root/out","/root/lib.jar"] args=["a"] vmArgs="-Xmx1g" cwd="/root"
            java -jar x.jar
              ! `java -jar` cannot be debugged: name the class with `java -cp FILE.jar CLASS` instead
            bash a.sh x
              Run the script `a.sh` under bash's debugger.
              bashdb launch program="/root/a.sh" args=["x"] cwd="/root"
            bash -c 'x y'
              ! `bash -c` cannot be debugged: name the command inside, without the shell
            sh a.sh
              ! `sh` cannot be debugged: only scripts of bash can be debugged; name the command inside instead
            ./script a
              Run the script `script` under bash's debugger.
              bashdb launch program="/root/script" args=["a"] cwd="/root"
            ctest --test-dir build -R two
              The test `two` is `../script y`. Run the script `script` under bash's debugger.
              bashdb launch program="/root/script" args=["y"] cwd="/root/build"
            ctest --test-dir build -R deep
              The test `deep` is `../../script`. Run the script `script` under bash's debugger.
              bashdb launch program="/root/script" cwd="/root/build/sub"
            ctest --test-dir build
              ! the test to debug could be several: `unit one`, `two`, `deep`
            ctest --test-dir build -R one
              ! there is no program `/bin/no such`
            ctest
              ! `ctest` cannot be debugged: there is no CTestTestfile.cmake with tests; build the project, or name its folder with `--test-dir`
            ./a.c
              ! `/root/a.c` cannot be debugged: it has to be compiled first, such as with `cc -g -O0`; then name the binary
            ./none
              ! there is no program `./none`
            none
              ! there is no program `none`
            tsc-less
              ! `/root/usr/tsc-less` cannot be debugged: it is neither a binary nor a script we know
            sudo ./script
              ! `sudo` cannot be debugged: programs of other users are not debugged; name the command without it
            make test
              ! `make` cannot be debugged: it only starts other programs; name the one to debug

              ! no command is given
            FOO=1
              ! no command is given
            a | b
              ! `a | b` is a line for a shell: `|` joins several commands
            a && b
              ! `a && b` is a line for a shell: `&&` joins several commands
            a > out
              ! `a > out` is a line for a shell: `>` joins several commands
            a $(b)
              ! `a $(b)` is a line for a shell: `$(` joins several commands
            'open
              ! `'open` has a quote that is not closed
            ./src x
              ! there is no program `./src`
        "#]],
    );
}

#[test]
fn descriptions_without_a_command() {
    let place = world();
    let ctx = context(place.path());
    let test = |id: &str| Description::Test { id: id.to_owned() };
    let program = |path: &str| Description::Program { path: path.to_owned(), args: vec!["a".to_owned()] };
    let mut all = String::new();
    for description in [
        program("app.py"),
        program("a.js"),
        program("c.ts"),
        program("main.go"),
        program("pkg/x_test.go"),
        program("src/main.rs"),
        program("src/bin/tool.rs"),
        program("src/lib.rs"),
        program("examples/demo.rs"),
        program("tests/it.rs"),
        program("a.c"),
        program("pkg"),
        program("."),
        program("web"),
        program("none"),
        Description::Module { name: "pkg.tool".to_owned(), args: vec!["x".to_owned()] },
        test("tests/test_x.py::TestY::test_z[1-a b]"),
        test("web/x.test.ts::adds"),
        test("b.test.js"),
        test("b.test.js::adds"),
        test("pkg/x_test.go::TestX/sub.case"),
        test("tests/it.rs::works"),
        test("cart::tests::adds"),
        test("./script::Suite.Case"),
        Description::Core { core: "app.py".to_owned(), program: None },
        Description::Command(vec!["node".to_owned(), "a.js".to_owned(), "a | b".to_owned()]),
        Description::Command(Vec::new()),
        Description::Process { pid: std::process::id() },
        Description::Process { pid: u32::MAX },
    ] {
        let label = format!("{description:?}").replace(&std::process::id().to_string(), "US");
        all.push_str(&format!("{label}\n{}", told(describe(&description, &ctx))));
    }
    let root = files_resolved(place.path());
    let all = all.replace(&root, "/root").replace(&std::process::id().to_string(), "US");
    expect![[r#"
        Program { path: "app.py", args: ["a"] }
          Run `app.py` with `.venv/bin/python` under debugpy.
          debugpy launch program="/root/app.py" args=["a"] python="/root/.venv/bin/python" cwd="/root"
        Program { path: "a.js", args: ["a"] }
          Run `a.js` in node under its own debugger.
          pwa-node launch program="/root/a.js" args=["a"] cwd="/root"
        Program { path: "c.ts", args: ["a"] }
          Run `c.ts` with tsx under js-debug.
          pwa-node launch program="/root/c.ts" args=["a"] runtimeExecutable="/root/node_modules/.bin/tsx" cwd="/root"
        Program { path: "main.go", args: ["a"] }
          Build `main.go` and run it under delve.
          go launch mode="debug" program="/root/main.go" args=["a"] cwd="/root"
        Program { path: "pkg/x_test.go", args: ["a"] }
          Build the tests of `pkg` and run them under delve.
          go launch mode="test" program="/root/pkg" args=["a"] cwd="/root/pkg"
        Program { path: "src/main.rs", args: ["a"] }
          Build the program with cargo and run it under a native debugger.
          lldb-dap launch args=["a"] cwd="/root"
          build: cargo build --message-format=json-render-diagnostics Program { name: None }
        Program { path: "src/bin/tool.rs", args: ["a"] }
          Build `tool` with cargo and run it under a native debugger.
          lldb-dap launch args=["a"] cwd="/root"
          build: cargo build --message-format=json-render-diagnostics --bin tool Program { name: Some("tool") }
        Program { path: "src/lib.rs", args: ["a"] }
          ! `src/lib.rs` cannot be debugged: it is a part of a program; name a binary, an example or a test
        Program { path: "examples/demo.rs", args: ["a"] }
          Build `demo` with cargo and run it under a native debugger.
          lldb-dap launch args=["a"] cwd="/root"
          build: cargo build --message-format=json-render-diagnostics --example demo Program { name: Some("demo") }
        Program { path: "tests/it.rs", args: ["a"] }
          Build with cargo and run the tests under a native debugger.
          lldb-dap launch args=["a","--nocapture"] cwd="/root"
          build: cargo test --no-run --message-format=json-render-diagnostics --test it Tests { filter: None, exact: false }
        Program { path: "a.c", args: ["a"] }
          ! `/root/a.c` cannot be debugged: it has to be compiled first, such as with `cc -g -O0`; then name the binary
        Program { path: "pkg", args: ["a"] }
          Run `pkg` with `.venv/bin/python` under debugpy.
          debugpy launch program="/root/pkg" args=["a"] python="/root/.venv/bin/python" cwd="/root"
        Program { path: ".", args: ["a"] }
          Build the program with cargo and run it under a native debugger.
          lldb-dap launch args=["a"] cwd="/root"
          build: cargo build --message-format=json-render-diagnostics Program { name: None }
        Program { path: "web", args: ["a"] }
          ! `/root/web` cannot be debugged: it is a folder; name a program in it
        Program { path: "none", args: ["a"] }
          ! there is no program `/root/none`
        Module { name: "pkg.tool", args: ["x"] }
          Run the module `pkg.tool` with `.venv/bin/python` under debugpy.
          debugpy launch module="pkg.tool" args=["x"] python="/root/.venv/bin/python" cwd="/root"
        Test { id: "tests/test_x.py::TestY::test_z[1-a b]" }
          Run the tests by pytest with `.venv/bin/python` under debugpy.
          debugpy launch module="pytest" args=["tests/test_x.py::TestY::test_z[1-a b]"] python="/root/.venv/bin/python" purpose=["debug-test"] cwd="/root"
        Test { id: "web/x.test.ts::adds" }
          Run the tests by vitest under js-debug.
          pwa-node launch runtimeExecutable="npx" runtimeArgs=["vitest","run","web/x.test.ts","-t","adds","--no-file-parallelism","--testTimeout=0"] cwd="/root"
        Test { id: "b.test.js" }
          Run the tests of `b.test.js` in node under its own debugger.
          pwa-node launch program="/root/b.test.js" cwd="/root"
        Test { id: "b.test.js::adds" }
          Run the tests of `b.test.js` in node under its own debugger.
          pwa-node launch program="/root/b.test.js" runtimeArgs=["--test-name-pattern","adds"] cwd="/root"
        Test { id: "pkg/x_test.go::TestX/sub.case" }
          Build the tests of `pkg` and run them under delve.
          go launch mode="test" program="/root/pkg" args=["-test.run","^TestX$/^sub\\.case$"] cwd="/root/pkg"
        Test { id: "tests/it.rs::works" }
          Build with cargo and run the tests that match `works` under a native debugger.
          lldb-dap launch args=["works","--exact","--nocapture"] cwd="/root"
          build: cargo test --no-run --message-format=json-render-diagnostics --test it Tests { filter: Some("works"), exact: true }
        Test { id: "cart::tests::adds" }
          Build with cargo and run the tests that match `cart::tests::adds` under a native debugger.
          lldb-dap launch args=["cart::tests::adds","--exact","--nocapture"] cwd="/root"
          build: cargo test --no-run --message-format=json-render-diagnostics Tests { filter: Some("cart::tests::adds"), exact: true }
        Test { id: "./script::Suite.Case" }
          Run the script `script` under bash's debugger.
          bashdb launch program="/root/script" args=["--gtest_filter=Suite.Case"] cwd="/root"
        Core { core: "app.py", program: None }
          ! `app.py` cannot be debugged: it is no core file
        Command(["node", "a.js", "a | b"])
          Run `a.js` in node under its own debugger.
          pwa-node launch program="/root/a.js" args=["a | b"] cwd="/root"
        Command([])
          ! no command is given
        Process { pid: US }
          ! `process US` cannot be debugged: it is Stepwell itself or runs Stepwell, and would stop with it
        Process { pid: 4294967295 }
          ! there is no program `process 4294967295`
    "#]].assert_eq(&all);
}

#[test]
fn nothing_of_an_untrusted_folder_is_chosen() {
    let place = world();
    let mut ctx = context(place.path());
    ctx.trusted = false;
    for line in [
        "python app.py",
        "python -m pytest",
        "pytest -x",
        "jest",
        "vitest run",
        "mocha",
        "tsx app.ts",
        "node app.js",
    ] {
        let told = self::told(describe(&Description::CommandLine(line.to_owned()), &ctx));
        let run: String =
            told.lines().filter(|line| !line.starts_with("  !") && !line.starts_with("  #")).collect();
        assert!(
            !run.contains(".venv") && !run.contains("node_modules/.bin") && !run.contains("npx"),
            "{line}: {told}"
        );
    }
    let told = self::told(describe(&Description::CommandLine("python app.py".to_owned()), &ctx));
    assert!(told.contains("`.venv/bin/python` is not run") && told.contains("not trusted"), "{told}");
    let system = place.path().join("usr/python3");
    stepwell_workspace::files::write_atomic(&system, b"", stepwell_workspace::files::Privacy::Shared)
        .unwrap();
    let told = self::told(describe(&Description::CommandLine("python app.py".to_owned()), &ctx));
    assert!(told.contains("`.venv` is not used") && told.contains("stepwell config trust"), "{told}");
    // `npx` asks for the folder's own program, as it does in a shell.
    let asked = self::told(describe(&Description::CommandLine("npx jest".to_owned()), &ctx));
    assert!(!asked.contains("not trusted"), "{asked}");
    // What is named by its path was chosen by whoever named it.
    let named = self::told(describe(&Description::CommandLine(".venv/bin/python app.py".to_owned()), &ctx));
    assert!(named.contains(".venv/bin/python"), "{named}");
}
