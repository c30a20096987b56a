//! Puts values for `${...}` in texts, keys and values alike, by the rules of VS Code.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use super::context::{Context, base_name};
use super::error::{LaunchError, Result};
use super::inputs::{InputRequest, plain_text};
use super::python::find_python;
use super::secrets::{SecretUse, placeholder};
use super::settings::Setting;

/// How often a value that contains variables is resolved again.
const MOST_ROUNDS: usize = 8;
/// What all values put in may have together; a variable that contains itself grows.
const MOST_BYTES: usize = 1024 * 1024;
/// As deep as the reader of JSON goes.
const DEEPEST: usize = 128;

/// One resolution: collects the inputs nobody has answered, so that they can be asked for at once.
pub(super) struct Substitution<'a> {
    ctx: &'a Context,
    inputs: &'a [InputRequest],
    missing: Vec<InputRequest>,
    bytes: usize,
}

impl<'a> Substitution<'a> {
    pub(super) fn new(ctx: &'a Context, inputs: &'a [InputRequest]) -> Self {
        Self { ctx, inputs, missing: Vec::new(), bytes: 0 }
    }

    /// Fails if an input was met that has no value.
    pub(super) fn finish(self) -> Result<()> {
        if self.missing.is_empty() {
            Ok(())
        } else {
            Err(LaunchError::MissingInputs { inputs: self.missing })
        }
    }

    pub(super) fn map(&mut self, fields: &Map<String, Value>) -> Result<Map<String, Value>> {
        self.fields(fields, 0)
    }

    fn fields(&mut self, fields: &Map<String, Value>, depth: usize) -> Result<Map<String, Value>> {
        let mut resolved = Map::new();
        for (key, value) in fields {
            resolved.insert(self.text(key)?, self.value(value, depth + 1)?);
        }
        Ok(resolved)
    }

    fn value(&mut self, value: &Value, depth: usize) -> Result<Value> {
        if depth > DEEPEST {
            return Err(LaunchError::TooLong { limit: MOST_BYTES });
        }
        Ok(match value {
            Value::String(text) => Value::String(self.text(text)?),
            Value::Array(items) => {
                let items: Result<Vec<_>> = items.iter().map(|item| self.value(item, depth + 1)).collect();
                Value::Array(items?)
            }
            Value::Object(fields) => Value::Object(self.fields(fields, depth)?),
            other => other.clone(),
        })
    }

    pub(super) fn text(&mut self, text: &str) -> Result<String> {
        self.round(text, 0)
    }

    fn round(&mut self, text: &str, round: usize) -> Result<String> {
        let mut resolved = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = next_variable(rest) {
            resolved.push_str(before);
            rest = after;
            if let Some(kept) = self.secret(name, round)? {
                resolved.push_str(&kept);
                continue;
            }
            match self.variable(name)? {
                Some(value) => {
                    self.bytes += value.len();
                    if self.bytes > MOST_BYTES {
                        return Err(LaunchError::TooLong { limit: MOST_BYTES });
                    }
                    if value.contains("${") && round + 1 < MOST_ROUNDS {
                        resolved.push_str(&self.round(&value, round + 1)?);
                    } else {
                        resolved.push_str(&value);
                    }
                }
                // What is no variable stays as it is written.
                None => resolved.push_str(&format!("${{{name}}}")),
            }
        }
        resolved.push_str(rest);
        Ok(resolved)
    }

    /// The placeholder of a variable that holds a secret; `None` for every other. One that stands in a value that was put
    /// in is an error: the value may come from somebody who may not use it.
    fn secret(&self, whole: &str, round: usize) -> Result<Option<String>> {
        let mut parts = whole.split(':');
        let (Some("env"), Some(name)) = (parts.next(), parts.next()) else { return Ok(None) };
        match &self.ctx.secrets {
            SecretUse::Held(names) if names.contains(name) && round == 0 => Ok(Some(placeholder(name))),
            SecretUse::Held(names) | SecretUse::Refused(names) if names.contains(name) => {
                let reason = "it holds a secret, which only the folder's own launch.json may name".to_owned();
                Err(LaunchError::Variable { variable: format!("${{{whole}}}"), reason })
            }
            _ => Ok(None),
        }
    }

    /// The value of what stands between the braces; `None` when there is no such variable.
    fn variable(&mut self, whole: &str) -> Result<Option<String>> {
        // A variable within a variable is not resolved, neither the inner nor the outer.
        if whole.contains("${") {
            return Ok(None);
        }
        // VS Code takes what is between the first two colons.
        let mut parts = whole.split(':');
        let name = parts.next().unwrap_or_default();
        let argument = parts.next().filter(|argument| !argument.is_empty());
        let failed = |reason: String| LaunchError::Variable { variable: format!("${{{whole}}}"), reason };
        let argument_of = |what: &str| argument.ok_or_else(|| failed(format!("it names no {what}")));
        let ctx = self.ctx;
        Ok(Some(match name {
            "env" => ctx.environment.get(argument_of("environment variable")?).cloned().unwrap_or_default(),
            "config" => self.setting(argument_of("setting")?).map_err(failed)?,
            "command" => self.command(argument_of("command")?)?,
            "input" => self.input(argument_of("input")?).map_err(failed)??,
            "extensionInstallFolder" => {
                argument_of("extension")?;
                return Err(failed("no extensions of an editor are installed here".to_owned()));
            }
            "workspaceFolder" | "workspaceRoot" | "cwd" => shown(&self.folder(argument).map_err(failed)?),
            "workspaceFolderBasename" | "workspaceRootFolderName" => {
                base_name(&self.folder(argument).map_err(failed)?)
            }
            "userHome" => {
                shown(ctx.home.as_ref().ok_or_else(|| failed("the home folder is not known".to_owned()))?)
            }
            // Where there is no editor, VS Code too leaves these as they are written.
            "execPath" => match &ctx.exec_path {
                Some(program) => shown(program),
                None => return Ok(None),
            },
            "execInstallFolder" => match ctx.exec_path.as_deref().and_then(Path::parent) {
                Some(folder) => shown(folder),
                None => return Ok(None),
            },
            "pathSeparator" | "/" => "/".to_owned(),
            "lineNumber" => number(ctx.editor.line).ok_or_else(|| failed(NO_EDITOR.to_owned()))?,
            "columnNumber" => number(ctx.editor.column).ok_or_else(|| failed(NO_EDITOR.to_owned()))?,
            "selectedText" => ctx
                .editor
                .selected_text
                .clone()
                .filter(|text| !text.is_empty())
                .ok_or_else(|| failed("no text is selected".to_owned()))?,
            "file"
            | "fileWorkspaceFolder"
            | "fileWorkspaceFolderBasename"
            | "relativeFile"
            | "relativeFileDirname"
            | "fileDirname"
            | "fileDirnameBasename"
            | "fileBasename"
            | "fileBasenameNoExtension"
            | "fileExtname" => {
                let file = ctx.editor.file.as_deref().ok_or_else(|| failed(NO_EDITOR.to_owned()))?;
                self.of_file(name, &ctx.folder.join(file), argument).map_err(failed)?
            }
            _ => return Ok(None),
        }))
    }

    fn setting(&self, name: &str) -> std::result::Result<String, String> {
        match self.ctx.settings.get(name) {
            Setting::Missing => Err(format!("there is no setting `{name}`")),
            Setting::Structured => Err(format!("setting `{name}` has parts and no value of its own")),
            Setting::Value(Value::Array(items)) => {
                let items: Vec<_> = items.iter().map(|item| plain_text(item).unwrap_or_default()).collect();
                Ok(items.join(","))
            }
            Setting::Value(value) => Ok(plain_text(&value).unwrap_or_default()),
        }
    }

    /// What extensions of the editor would answer, where we can know it.
    fn command(&self, command: &str) -> Result<String> {
        if let Some(value) = self.ctx.commands.get(command) {
            return Ok(value.clone());
        }
        let python = || find_python(self.ctx).map(|path| shown(&path));
        match command {
            "python.interpreterPath" | "python.command.python.interpreterPath" => {
                python().ok_or_else(|| LaunchError::Variable {
                    variable: format!("${{command:{command}}}"),
                    reason: "no Python is installed".to_owned(),
                })
            }
            _ if picks_process(command) => Err(LaunchError::PickProcess { command: command.to_owned() }),
            _ => Err(LaunchError::Command { command: command.to_owned() }),
        }
    }

    /// The outer error is about the variable, the inner one about its value.
    fn input(&mut self, id: &str) -> std::result::Result<Result<String>, String> {
        let Some(input) = self.inputs.iter().find(|input| input.id == id) else {
            return Err(format!("no input `{id}` is declared under `inputs`"));
        };
        Ok(input.value(self.ctx).map(|value| {
            value.unwrap_or_else(|| {
                if !self.missing.contains(input) {
                    self.missing.push(input.clone());
                }
                String::new()
            })
        }))
    }

    fn folder(&self, name: Option<&str>) -> std::result::Result<PathBuf, String> {
        let Some(name) = name else { return Ok(self.ctx.folder.clone()) };
        let found = self.ctx.folders.iter().find(|folder| folder.name == name);
        found.map(|folder| folder.path.clone()).ok_or_else(|| {
            let known: Vec<_> = self.ctx.folders.iter().map(|folder| format!("`{}`", folder.name)).collect();
            format!("there is no folder `{name}`; there are {}", known.join(", "))
        })
    }

    fn of_file(
        &self,
        name: &str,
        file: &Path,
        argument: Option<&str>,
    ) -> std::result::Result<String, String> {
        let parent = file.parent().unwrap_or(file);
        let extension =
            || file.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
        Ok(match name {
            "file" => shown(file),
            "fileWorkspaceFolder" => shown(&self.folder_of(file)?),
            "fileWorkspaceFolderBasename" => base_name(&self.folder_of(file)?),
            "relativeFile" => relative(&self.folder(argument)?, file),
            "relativeFileDirname" => {
                let path = relative(&self.folder(argument)?, parent);
                if path.is_empty() { ".".to_owned() } else { path }
            }
            "fileDirname" => shown(parent),
            "fileDirnameBasename" => base_name(parent),
            "fileBasename" => base_name(file),
            "fileBasenameNoExtension" => {
                let base = base_name(file);
                base.strip_suffix(&extension()).unwrap_or(&base).to_owned()
            }
            _ => extension(),
        })
    }

    fn folder_of(&self, file: &Path) -> std::result::Result<PathBuf, String> {
        let folders = self.ctx.folders.iter().map(|folder| folder.path.as_path());
        let innermost = folders
            .filter(|folder| file.starts_with(folder))
            .max_by_key(|folder| folder.components().count());
        innermost
            .map(Path::to_path_buf)
            .ok_or_else(|| format!("`{}` is in no folder of the workspace", file.display()))
    }
}

const NO_EDITOR: &str = "no file is open in an editor; say which one is meant";

/// `pickProcess`, `extension.pickNativeProcess`, `lldb.pickMyProcess` and their like.
fn picks_process(command: &str) -> bool {
    let name = command.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    name.starts_with("pick") && name.ends_with("process")
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn number(number: Option<u32>) -> Option<String> {
    number.map(|number| number.to_string())
}

/// The path from one absolute place to another, over `..` where they part.
fn relative(from: &Path, to: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n(Component::ParentDir, from.len() - shared);
    let path: PathBuf = up.chain(to[shared..].iter().copied()).collect();
    shown(&path)
}

/// The text before the first `${...}`, what stands between its braces, and the text behind it.
fn next_variable(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(start) = text[from..].find("${").map(|at| from + at) {
        let inside = &text[start + 2..];
        // As in JavaScript, the pattern does not go over the end of a line.
        let end = inside.find(['}', '\n', '\r', '\u{2028}', '\u{2029}'])?;
        if inside[end..].starts_with('}') {
            return Some((&text[..start], &inside[..end], &inside[end + 1..]));
        }
        from = start + 2 + end;
    }
    None
}
