//! JavaScript and TypeScript: node, its test runner, jest, vitest, mocha, scripts of package.json.

use std::path::Path;

use serde_json::{Map, Value, json};
use stepwell_workspace::files;

use super::call::Call;
use super::error::{Result, TargetError};
use super::{Target, nearest, of_call, shown, target, text};
use crate::adapters::node_debugger;
use crate::launch_config::{Context, is_file};

/// Flags of node that take the next word.
const WITH_VALUE: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--env-file",
    "-C",
    "--conditions",
    "--test-name-pattern",
];

const SKIPPED: &str = "<node_internals>/**";

/// `what` is a sentence that lacks the debugger.
fn made(call: &Call, name: &str, mut fields: Value, what: &str) -> Target {
    fields["skipFiles"] = json!([SKIPPED]);
    let mut made = target(call, "pwa-node", name, fields, String::new());
    let debugger = node_debugger(&made.resolved.arguments, &call.folder);
    made.how = format!("{what} under {debugger}.");
    made
}

/// `node [flags] script`, `node --test files`, `node -e code`.
pub(super) fn node(call: &Call, ctx: &Context) -> Result<Target> {
    let word = &call.words[0];
    let mut flags: Vec<String> = Vec::new();
    let mut rest = call.arguments();
    while let Some((flag, behind)) =
        rest.split_first().filter(|(flag, _)| flag.starts_with('-') && flag.len() > 1)
    {
        rest = behind;
        if flag == "--" {
            break;
        }
        // Whoever asks for the inspector gets the debugger instead.
        if flag.starts_with("--inspect") {
            continue;
        }
        flags.push(flag.clone());
        let takes_value = WITH_VALUE.contains(&flag.as_str())
            || matches!(flag.as_str(), "-e" | "--eval" | "-p" | "--print");
        if takes_value && let Some((value, behind)) = rest.split_first() {
            flags.push(value.clone());
            rest = behind;
        }
    }
    let executable = word.contains('/').then(|| text(&call.place(word)));
    let tests = flags.iter().any(|flag| flag == "--test");
    if tests {
        let (files, others): (Vec<_>, Vec<_>) = rest.iter().partition(|word| is_file(&call.place(word)));
        if let ([file], true) = (files.as_slice(), others.is_empty()) {
            // A file of tests runs them by itself, in one process, which is what one wants to look into.
            flags.retain(|flag| flag != "--test");
            let path = call.place(file);
            let name = shown(&path, call);
            let fields =
                json!({"program": text(&path), "runtimeArgs": flags, "runtimeExecutable": executable});
            return Ok(made(
                call,
                &format!("node --test {name}"),
                fields,
                &format!("Run the tests of `{name}` in node"),
            ));
        }
        flags.extend(rest.iter().cloned());
        let fields = json!({"runtimeArgs": flags, "runtimeExecutable": executable.unwrap_or_else(|| "node".to_owned())});
        return Ok(made(call, "node --test", fields, "Run node's tests, each file in a process of its own,"));
    }
    let Some((script, arguments)) = rest.split_first() else {
        if flags.iter().any(|flag| matches!(flag.as_str(), "-e" | "--eval" | "-p" | "--print")) {
            let fields = json!({"runtimeArgs": flags, "runtimeExecutable": executable.unwrap_or_else(|| "node".to_owned())});
            return Ok(made(call, "node -e", fields, "Run the code given to node"));
        }
        return Err(TargetError::not_debuggable(word, "no script is given"));
    };
    let path = call.place(script);
    // As node does, the extension may be left out, and a folder means its index.
    let path = [path.clone(), path.with_extension("js"), path.join("index.js")]
        .into_iter()
        .find(|path| is_file(path))
        .ok_or_else(|| TargetError::NotFound { program: script.clone() })?;
    let mut target = program(call, ctx, &path, arguments);
    let fields = &mut target.resolved.arguments;
    if let Some(executable) = executable {
        fields.insert("runtimeExecutable".to_owned(), json!(executable));
    }
    if !flags.is_empty() {
        fields.insert("runtimeArgs".to_owned(), json!(flags));
    }
    Ok(target)
}

/// A script by its file.
pub(super) fn program(call: &Call, ctx: &Context, path: &Path, arguments: &[String]) -> Target {
    let name = shown(path, call);
    let mut fields = json!({"program": text(path), "args": arguments});
    let mut what = format!("Run `{name}` in node");
    let is_typescript =
        path.extension().is_some_and(|end| matches!(end.to_str(), Some("ts" | "mts" | "cts" | "tsx")));
    if is_typescript && let Some(tsx) = local_tool(call, ctx, "tsx") {
        fields["runtimeExecutable"] = json!(tsx);
        what = format!("Run `{name}` with tsx");
    }
    made(call, &name, fields, &what)
}

/// The nearest `node_modules/.bin/NAME` of a folder that is trusted, or that the command asks for.
fn local_tool(call: &Call, ctx: &Context, name: &str) -> Option<String> {
    if !ctx.trusted && !call.asks_for_the_folder() {
        return None;
    }
    let tool = format!("node_modules/.bin/{name}");
    nearest(&call.folder, &tool).map(|folder| text(&folder.join(tool)))
}

/// jest, vitest, mocha, tsx and their like: tools that are scripts of node themselves.
pub(super) fn tool(call: &Call, ctx: &Context) -> Result<Target> {
    let word = &call.words[0];
    let name = word.rsplit('/').next().unwrap_or_default();
    let mut arguments = call.arguments().to_vec();
    // A stop at a breakpoint must not end a test, and all tests shall run where the debugger is.
    let own: &[&str] = match name {
        "jest" => &["--runInBand", "--testTimeout=100000000"],
        "vitest" => &["--no-file-parallelism", "--testTimeout=0"],
        "mocha" => &["--timeout=0"],
        _ => &[],
    };
    if name == "vitest" && !arguments.iter().any(|word| word == "run" || word == "--run") {
        arguments.retain(|word| word != "watch" && word != "dev");
        arguments.insert(0, "run".to_owned());
    }
    let own = own.iter().map(|flag| (*flag).to_owned()).filter(|flag| !call.words.contains(flag));
    let own: Vec<String> = own.collect();
    arguments.extend(own.iter().cloned());
    let path = if word.contains('/') { Some(text(&call.place(word))) } else { local_tool(call, ctx, name) };
    let is_runner = matches!(name, "tsx" | "ts-node");
    let what = if is_runner { format!("Run it with {name}") } else { format!("Run the tests by {name}") };
    let fields = match path {
        // The link in `.bin` leads to the script, unless a package manager put a shell script there.
        Some(path) if is_script_of_node(Path::new(&path)) => {
            json!({"program": text(&files::resolved(Path::new(&path))), "args": arguments})
        }
        Some(path) => json!({"runtimeExecutable": path, "runtimeArgs": arguments}),
        None if ctx.on_path(name).is_some() => json!({"runtimeExecutable": name, "runtimeArgs": arguments}),
        // npx would run the one of the folder.
        None if !ctx.trusted && !call.asks_for_the_folder() => return Err(call.not_found(name, ctx)),
        None => {
            arguments.insert(0, name.to_owned());
            json!({"runtimeExecutable": "npx", "runtimeArgs": arguments})
        }
    };
    let mut target = made(call, name, fields, &what);
    target.resolved.only_for_debuggers = own;
    Ok(target)
}

fn is_script_of_node(path: &Path) -> bool {
    matches!(super::FileKind::of(&files::resolved(path)), Ok(super::FileKind::JavaScript))
}

/// `npm test`, `npm run x`, `yarn x`: what package.json says, where it is a plain command.
pub(super) fn script(call: &Call, ctx: &Context, detours: usize) -> Result<Target> {
    let manager = call.words[0].as_str();
    let mut rest = call.arguments();
    if let [first, behind @ ..] = rest
        && matches!(first.as_str(), "run" | "run-script")
    {
        rest = behind;
    }
    let Some((name, rest)) = rest.split_first() else {
        return Err(TargetError::not_debuggable(manager, "no script is given"));
    };
    let name = match name.as_str() {
        "t" | "tst" => "test",
        name => name,
    };
    // npm hands on what stands behind `--`, the others everything.
    let handed_on = match rest.iter().position(|word| word == "--") {
        Some(at) => &rest[at + 1..],
        None if manager == "npm" => &[],
        None => rest,
    };
    let folder = nearest(&call.folder, "package.json")
        .ok_or_else(|| TargetError::NotFound { program: "package.json".to_owned() })?;
    let scripts = scripts(&folder)?;
    let Some(line) = scripts.get(name).and_then(Value::as_str) else {
        let known: Vec<_> = scripts.keys().map(|name| format!("`{name}`")).collect();
        let reason = format!("package.json has no such script; it has {}", known.join(", "));
        return Err(TargetError::not_debuggable(&format!("{manager} {name}"), &reason));
    };
    let mut inner_ctx = ctx.clone();
    inner_ctx.folder.clone_from(&folder);
    let plain = Call::parse(line, &inner_ctx).and_then(|mut inner| {
        inner.words.extend(handed_on.iter().cloned());
        inner.environment.splice(0..0, call.environment.iter().cloned());
        inner.workspace.clone_from(&call.workspace);
        of_call(&inner, &inner_ctx, detours + 1)
    });
    if let Ok(mut target) = plain {
        if detours == 0 {
            target.how = format!("`{manager} {name}` is `{line}`. {}", target.how);
        }
        return Ok(target);
    }
    // A line for a shell: every node it starts is debugged.
    let mut arguments = vec!["run".to_owned(), name.to_owned()];
    if !handed_on.is_empty() {
        arguments.extend((manager == "npm").then(|| "--".to_owned()));
        arguments.extend(handed_on.iter().cloned());
    }
    let mut own = call.clone();
    own.folder = folder;
    let what = format!("Run `{manager} {name}`, which is `{line}`, and debug each node it starts");
    Ok(made(
        &own,
        &format!("{manager} {name}"),
        json!({"runtimeExecutable": manager, "runtimeArgs": arguments}),
        &what,
    ))
}

fn scripts(folder: &Path) -> Result<Map<String, Value>> {
    let package = crate::launch_config::read_jsonc(&folder.join("package.json"))?;
    let scripts = package.as_ref().and_then(|package| package.get("scripts")?.as_object());
    Ok(scripts.cloned().unwrap_or_default())
}

/// Which runner a package's tests use, by what it depends on.
pub(super) fn test_runner(folder: &Path) -> &'static str {
    let Some(folder) = nearest(folder, "package.json") else { return "node" };
    let package =
        crate::launch_config::read_jsonc(&folder.join("package.json")).ok().flatten().unwrap_or_default();
    let depends = |name: &str| {
        ["devDependencies", "dependencies"]
            .iter()
            .any(|kind| package.get(kind).and_then(|kind| kind.get(name)).is_some())
    };
    ["vitest", "jest", "mocha"].into_iter().find(|name| depends(name)).unwrap_or("node")
}
