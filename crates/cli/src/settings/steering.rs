//! Files of a project that run because its settings name them: scripts of hooks, of tasks, of servers and adapters.
//!
//! Trust covers them like the settings themselves: a change ends it, and the agent may not change them unasked. What
//! such a script starts in turn is not followed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stepwell_debug::launch_config::LaunchFile;
use stepwell_workspace::files;

use super::Places;

/// Maximum size of a settings file, and of a script that settings name, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;
/// Names of the project's folder in hooks and tasks.
const PROJECT: &[&str] = &[
    "${workspaceFolder}",
    "${workspaceRoot}",
    "${STEPWELL_PROJECT_DIR}",
    "${CLAUDE_PROJECT_DIR}",
    "$STEPWELL_PROJECT_DIR",
    "$CLAUDE_PROJECT_DIR",
];

/// Fields of a configuration about the program itself, which the agent works on. All others name helpers: interpreters,
/// debuggers, files of variables, commands of a debugger's console.
const OF_THE_PROGRAM: &[&str] = &[
    "name",
    "type",
    "request",
    "program",
    "module",
    "code",
    "args",
    "cwd",
    "console",
    "presentation",
    "url",
    "webRoot",
    "sources",
    "sourceMaps",
    "sourceFileMap",
    "sourceMapPathOverrides",
    "pathMappings",
    "localRoot",
    "remoteRoot",
    "outFiles",
    "skipFiles",
    "resolveSourceMapLocations",
    "coreDumpPath",
    "testRunner",
    "mainClass",
    "projectName",
];

/// The files in the project that its settings, tasks and launch configurations name, sorted.
pub fn named_files(project: &Path) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let text_of = |path: &Path| {
        let small = path.metadata().is_ok_and(|found| found.is_file() && found.len() < LONGEST);
        small.then(|| files::read_to_string(path).ok()).flatten()
    };
    if let Some(text) = text_of(&Places::project_settings(project))
        && let Ok(settings) = text.parse::<toml::Table>()
    {
        add_strings(&toml::Value::Table(settings), project, &mut found);
    }
    for path in super::mcp_files(project).into_iter().chain([project.join(".vscode/tasks.json")]) {
        for string in text_of(&path).map(|text| json_strings(&text)).unwrap_or_default() {
            add_words(&string, project, &mut found);
        }
    }
    for configuration in LaunchFile::read(project).map(|file| file.configurations).unwrap_or_default() {
        let helpers = configuration.fields.iter().filter(|(key, _)| !OF_THE_PROGRAM.contains(&key.as_str()));
        helpers.for_each(|(_, value)| add_json(value, project, &mut found));
    }
    found.into_iter().collect()
}

fn add_json(value: &serde_json::Value, project: &Path, found: &mut BTreeSet<PathBuf>) {
    match value {
        serde_json::Value::String(text) => add_words(text, project, found),
        serde_json::Value::Array(values) => values.iter().for_each(|value| add_json(value, project, found)),
        serde_json::Value::Object(fields) => {
            fields.values().for_each(|value| add_json(value, project, found));
        }
        _ => {}
    }
}

fn add_strings(value: &toml::Value, project: &Path, found: &mut BTreeSet<PathBuf>) {
    match value {
        toml::Value::String(text) => add_words(text, project, found),
        toml::Value::Array(values) => values.iter().for_each(|value| add_strings(value, project, found)),
        toml::Value::Table(table) => table.values().for_each(|value| add_strings(value, project, found)),
        _ => {}
    }
}

/// Adds the files that a text names, as a whole or with one of its words.
fn add_words(text: &str, project: &Path, found: &mut BTreeSet<PathBuf>) {
    let folder = project.to_string_lossy();
    let text = PROJECT.iter().fold(text.to_owned(), |text, name| text.replace(name, &folder));
    let plain: String = text.chars().filter(|letter| !matches!(letter, '"' | '\'' | '\\')).collect();
    let is_end = |letter: char| letter.is_whitespace() || ";&|<>()=`".contains(letter);
    for word in plain.split(is_end).chain([text.as_str(), plain.as_str()]).filter(|word| !word.is_empty()) {
        // A path through a link is the file it leads to, but the link decides too.
        let path = project.join(word);
        let Ok(real) = path.canonicalize() else { continue };
        if real.starts_with(project) && real.is_file() {
            found.insert(real);
        }
    }
}

/// The strings of a text in JSON with comments. One in a comment is one too many, which does no harm.
fn json_strings(text: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '"' {
            continue;
        }
        let mut string = String::from('"');
        while let Some(letter) = letters.next() {
            string.push(letter);
            match letter {
                '\\' => string.extend(letters.next()),
                '"' => break,
                _ => {}
            }
        }
        strings.extend(serde_json::from_str::<String>(&string));
    }
    strings
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the tests make a project")]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_settings_and_tasks_name_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(project.join(path).parent().unwrap()).unwrap();
            std::fs::write(project.join(path), text).unwrap();
        };
        for path in
            ["hooks/a.sh", "hooks/b b.sh", "bin/server", "bin/adapter", "build.sh", "lint.py", "src/main.rs"]
        {
            write(path, "x");
        }
        write(
            ".stepwell/config.toml",
            "[[hooks.PreToolUse]]\nhooks = [{ type = \"command\", command = 'bash \"$CLAUDE_PROJECT_DIR/hooks/a.sh\" --x' },\n\
             { type = \"command\", command = \"sh\", args = [\"hooks/b b.sh\"] }]\n\
             [debug.adapters]\ngdb = \"./bin/adapter\"\n[code.server.x]\ncommand = [\"bin/server\"]\n\
             [permissions]\nallow = [\"bash(src *)\"]\n",
        );
        write(
            ".vscode/tasks.json",
            "// tasks\n{\"tasks\": [{\"command\": \"${workspaceFolder}/build.sh\", \"args\": [\"\\\"lint.py\\\"\"]},]}",
        );
        write(".mcp.json", r#"{"mcpServers": {"a": {"command": "python3", "args": ["bin/mcp.py"]}}}"#);
        write("bin/mcp.py", "x");
        for path in ["tools/gdb", "dev.env", "init.lldb", "app.py"] {
            write(path, "x");
        }
        write(
            ".vscode/launch.json",
            r#"{"configurations": [
                {"name": "a", "type": "cppdbg", "request": "launch", "program": "app.py", "args": ["src/main.rs"],
                 "miDebuggerPath": "${workspaceFolder}/tools/gdb", "envFile": "dev.env",
                 "setupCommands": [{"text": "source ./init.lldb"}]},
            ]}"#,
        );
        let shown: Vec<String> = named_files(&project)
            .iter()
            .map(|path| path.strip_prefix(&project).unwrap().display().to_string())
            .collect();
        assert_eq!(
            shown,
            [
                "bin/adapter",
                "bin/mcp.py",
                "bin/server",
                "build.sh",
                "dev.env",
                "hooks/a.sh",
                "hooks/b b.sh",
                "init.lldb",
                "lint.py",
                "tools/gdb"
            ]
        );
    }
}
