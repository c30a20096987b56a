//! One test by the name its runner gives it.

use std::path::Path;

use super::call::Call;
use super::error::{Result, TargetError};
use super::{Target, javascript, nearest, of_call};
use crate::launch_config::{Context, is_file};

/// Finds the runner by the form of the id and the files around it.
pub(super) fn describe(id: &str, ctx: &Context) -> Result<Target> {
    let (file, name) = match id.split_once("::") {
        Some((file, name)) => (file, Some(name)),
        None => (id, None),
    };
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let words: Vec<&str> = match (extension, name) {
        ("py", _) => vec!["pytest", id],
        ("js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "tsx" | "jsx", name) => {
            let folder = ctx.folder.join(file);
            let runner = javascript::test_runner(folder.parent().unwrap_or(&ctx.folder));
            match (runner, name) {
                ("node", Some(name)) => vec!["node", "--test-name-pattern", name, "--test", file],
                ("node", None) => vec!["node", "--test", file],
                ("mocha", Some(name)) => vec!["mocha", file, "--grep", name],
                (runner, Some(name)) => vec![runner, file, "-t", name],
                (runner, None) => vec![runner, file],
            }
        }
        ("go", Some(name)) => return go_test(file, name, ctx),
        ("rs", Some(name)) if file.starts_with("tests/") => {
            let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            vec!["cargo", "test", "--test", stem, name, "--", "--exact"]
        }
        // `binary::Suite.Case` of GoogleTest.
        (_, Some(name)) if is_file(&ctx.folder.join(file)) => {
            let words = vec![dotted(file), format!("--gtest_filter={name}")];
            return of_call(&Call::plain(words, ctx), ctx, 0);
        }
        // A path of Rust, `module::tests::name`, or a bare name.
        _ if nearest(&ctx.folder, "Cargo.toml").is_some() => vec!["cargo", "test", id, "--", "--exact"],
        _ => {
            return Err(TargetError::not_debuggable(
                id,
                "it names no test we know; write it as `tests/test_x.py::test_y`, `pkg/x_test.go::TestY`, `src/x.test.ts::name`, \
                 `module::tests::name` or `build/tests::Suite.Case`",
            ));
        }
    };
    let words = words.into_iter().map(ToOwned::to_owned).collect();
    of_call(&Call::plain(words, ctx), ctx, 0)
}

fn go_test(file: &str, name: &str, ctx: &Context) -> Result<Target> {
    let folder = Path::new(file).parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
    // Subtests are named with `/`, and each part is a pattern of its own.
    let pattern: Vec<_> = name.split('/').map(|part| format!("^{}$", regex::escape(part))).collect();
    let words = ["go", "test", &dotted(&folder), "-run", &pattern.join("/")].map(ToOwned::to_owned);
    of_call(&Call::plain(words.to_vec(), ctx), ctx, 0)
}

/// A path that cannot be taken for a name.
fn dotted(path: &str) -> String {
    if path.starts_with('/') || path.starts_with('.') { path.to_owned() } else { format!("./{path}") }
}
