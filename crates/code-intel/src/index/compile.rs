//! The macros that a build defines for its files, from a `compile_commands.json`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use stepwell_workspace::Workspace;
use stepwell_workspace::files::{self, FileStamp};

/// Where build systems put it.
const PLACES: &[&str] = &["compile_commands.json", "build/compile_commands.json"];
const LARGEST: u64 = 64 << 20;

type Flags = Arc<[String]>;

/// What was read of the file, and what it was when it was read.
#[derive(Default)]
pub(super) struct Commands(RefCell<Option<(FileStamp, Table)>>);

#[derive(Default)]
struct Table {
    /// The `-D`, `-U` and `-std` of each file, by its path in the workspace.
    by_path: HashMap<String, Flags>,
    /// Those of the first file of each folder: headers are not compiled, and have what their neighbours have.
    by_folder: HashMap<String, Flags>,
    first: Flags,
}

#[derive(Deserialize)]
struct Command {
    #[serde(default)]
    directory: String,
    file: String,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default, rename = "command")]
    line: String,
}

impl Commands {
    /// The `-D`, `-U` and `-std` that a file is compiled with, or would be.
    pub fn flags(&self, workspace: &Workspace, path: &str) -> Flags {
        for place in PLACES {
            let Ok(place) = workspace.place(place) else { continue };
            let Ok(Some(stamp)) = files::stamp(place.absolute()) else { continue };
            let mut known = self.0.borrow_mut();
            if !known.as_ref().is_some_and(|(old, _)| *old == stamp) {
                let text = workspace.read_text(&place, LARGEST).map(|file| file.text).unwrap_or_default();
                *known = Some((stamp, Table::read(&text, workspace.root())));
            }
            return known.as_ref().map(|(_, table)| table.flags(path)).unwrap_or_default();
        }
        Flags::default()
    }
}

impl Table {
    fn read(text: &str, root: &Path) -> Self {
        let mut table = Self::default();
        // One that cannot be read says nothing.
        let commands: Vec<Command> = serde_json::from_str(text).unwrap_or_default();
        let mut last = Flags::default();
        for (number, command) in commands.into_iter().enumerate() {
            let words = if command.arguments.is_empty() { words(&command.line) } else { command.arguments };
            let flags = macros(words);
            // Most files have the same.
            let flags = if *flags == *last { Arc::clone(&last) } else { Flags::from(flags) };
            last = Arc::clone(&flags);
            let file = root.join(command.directory).join(command.file);
            let Ok(relative) = file.strip_prefix(root) else { continue };
            let path = relative.to_string_lossy().into_owned();
            if number == 0 {
                table.first = Arc::clone(&flags);
            }
            let folder = super::names::split_path(&path).0.to_owned();
            table.by_folder.entry(folder).or_insert_with(|| Arc::clone(&flags));
            table.by_path.insert(path, flags);
        }
        table
    }

    fn flags(&self, path: &str) -> Flags {
        if let Some(flags) = self.by_path.get(path) {
            return Arc::clone(flags);
        }
        let mut folder = super::names::split_path(path).0;
        loop {
            if let Some(flags) = self.by_folder.get(folder) {
                return Arc::clone(flags);
            }
            if folder.is_empty() {
                return Arc::clone(&self.first);
            }
            folder = super::names::split_path(folder).0;
        }
    }
}

/// The `-D`, `-U` and `-std` among the words of a command, each as one word.
fn macros(words: Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-D" | "-U" => found.extend(words.next().map(|name| format!("{word}{name}"))),
            word if ["-D", "-U", "-std="].iter().any(|head| word.starts_with(head)) => {
                found.push(word.to_owned());
            }
            _ => {}
        }
    }
    found
}

/// The words of a command line, as a shell takes them apart.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(characters.next()),
            (character, Some(open)) if character == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (' ' | '\t' | '\n', None) => words.extend(word.take()),
            (character, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_give_the_macros_of_their_files_and_of_the_headers_near_them() {
        let text = r#"[
            {"directory": "/w", "file": "src/a.c", "arguments": ["cc", "-DA", "-D", "B=1", "-Isrc", "-std=c11", "-c", "src/a.c"]},
            {"directory": "/w/lib", "file": "b.c", "command": "cc -DC='\"x y\"' -U D -DE=\\\"q\\\" -c b.c"},
            {"directory": "/elsewhere", "file": "c.c", "command": "cc -DF"}
        ]"#;
        let table = Table::read(text, Path::new("/w"));
        for (path, expected) in [
            ("src/a.c", &["-DA", "-DB=1", "-std=c11"][..]),
            ("src/deep/a.h", &["-DA", "-DB=1", "-std=c11"]),
            ("lib/b.c", &["-DC=\"x y\"", "-UD", "-DE=\"q\""]),
            ("lib/b.h", &["-DC=\"x y\"", "-UD", "-DE=\"q\""]),
            ("other/c.h", &["-DA", "-DB=1", "-std=c11"]),
        ] {
            assert_eq!(*table.flags(path), *expected, "{path}");
        }
        for odd in ["", "{}", "[{}]", "[{\"file\": 1}]", "[]"] {
            assert!(Table::read(odd, Path::new("/w")).flags("a.c").is_empty(), "{odd}");
        }
    }
}
