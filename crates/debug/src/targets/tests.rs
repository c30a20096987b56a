//! Each command line as a row, binaries made by real compilers, and real builds.

mod commands;
mod real;

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::launch_config::tests::folder;

/// A folder with a bit of everything.
fn world() -> tempfile::TempDir {
    folder(&[
        ("app.py", ""),
        ("pkg/__main__.py", ""),
        ("tests/test_x.py", ""),
        (".venv/bin/python", ""),
        (".venv/bin/pytest", "#!/usr/bin/env python3"),
        ("usr/python3.11", ""),
        ("usr/serve", "#!/usr/bin/env python3\n"),
        ("usr/tsc-less", "plain text"),
        (".venv/bin/serve", "#!/usr/bin/env python3\n"),
        (".venv/bin/black", "#!/usr/bin/env python3\n"),
        ("a.js", ""),
        ("b.test.js", ""),
        ("c.ts", ""),
        ("web/package.json", r#"{"devDependencies": {"vitest": "1"}}"#),
        ("web/x.test.ts", ""),
        (
            "package.json",
            r#"{"scripts": {"test": "jest --ci", "both": "tsc && node a.js", "start": "NODE_ENV=dev node a.js", "loop": "npm run loop", "py": "python app.py"}}"#,
        ),
        ("node_modules/.bin/jest", "#!/usr/bin/env node\n"),
        ("node_modules/.bin/tsx", "#!/bin/sh\n"),
        ("go.mod", "module x"),
        ("main.go", ""),
        ("pkg/x.go", ""),
        ("pkg/x_test.go", "package x\nfunc TestX(t *testing.T) {}\nfunc TestBoth(t *testing.T) {}\n"),
        ("other/y_test.go", "package y\nfunc TestBoth(t *testing.T) {}\nfunc helper() {}\n"),
        ("vendor/z/z_test.go", "package z\nfunc TestX(t *testing.T) {}\n"),
        ("Cargo.toml", ""),
        ("src/main.rs", ""),
        ("src/lib.rs", ""),
        ("src/bin/tool.rs", ""),
        ("tests/it.rs", ""),
        ("examples/demo.rs", ""),
        ("a.rb", ""),
        ("a.sh", ""),
        ("script", "#!/bin/bash\n"),
        ("a.c", ""),
        (
            "build/CTestTestfile.cmake",
            "# made\nadd_test([=[unit one]=] \"/bin/no such\" \"--x\" \"a b\")\nadd_test(two \"../script\" \"y\")\nsubdirs(\"sub\")\n",
        ),
        (
            "build/sub/CTestTestfile.cmake",
            "add_test(deep \"../../script\")\nset_tests_properties(deep PROPERTIES X 1)\n",
        ),
    ])
}

fn context(root: &Path) -> Context {
    let environment = [("PATH", format!("{}/usr", root.display())), ("HOME", "/home/me".to_owned())];
    Context::new(root, environment.map(|(name, value)| (name.to_owned(), value)).into())
}

fn told(outcome: Result<Target>) -> String {
    let target = match outcome {
        Ok(target) => target,
        Err(error) => return format!("  ! {error}\n"),
    };
    let resolved = &target.resolved;
    let mut text = format!("  {}\n  {} {}", target.how, resolved.kind, resolved.request.name());
    for (key, value) in resolved.arguments.iter().filter(|(key, _)| *key != "skipFiles") {
        text.push_str(&format!(" {key}={value}"));
    }
    text.push('\n');
    if let Some(build) = &target.build {
        text.push_str(&format!("  build: {} {:?}\n", build.command_line(), build.choice));
    }
    for warning in &target.warnings {
        text.push_str(&format!("  # {warning}\n"));
    }
    text
}

fn files_resolved(path: &Path) -> String {
    stepwell_workspace::files::resolved(path).display().to_string()
}

proptest! {
    #[test]
    fn no_command_line_makes_it_panic(line in "(go|cargo|node|python|npm|env|timeout|uv run|ctest|java|bash|cd x &&)?[ a-z$'\"\\-=|/.]{0,30}") {
        let place = folder(&[]);
        describe(&Description::CommandLine(line), &context(place.path())).ok();
    }

    #[test]
    fn no_binary_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), wide in any::<bool>()) {
        let mut content = vec![0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1];
        content.extend(bytes);
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("binary");
        stepwell_workspace::files::write_atomic(&path, &content, stepwell_workspace::files::Privacy::Private).unwrap();
        FileKind::of(&path).ok();
    }
}
