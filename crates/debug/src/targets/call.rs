//! A command without its wrappings: variables before it, `env`, `uv run`, `npx` and their like.

use std::path::{Component, Path, PathBuf};

use super::error::{Result, TargetError};
use crate::launch_config::{Context, is_file, shell_words};

/// The command that really runs.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Never empty.
    pub(super) words: Vec<String>,
    /// Variables to set, or with `None` to take out.
    pub(super) environment: Vec<(String, Option<String>)>,
    pub(super) folder: PathBuf,
    pub(super) workspace: PathBuf,
    looks_first: LooksFirst,
}

/// Where a bare name is looked for first: `uv run` and `npx` mean what the folder has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LooksFirst {
    OnThePath,
    InTheFolder,
}

impl Call {
    pub(super) fn plain(words: Vec<String>, ctx: &Context) -> Self {
        Self {
            words,
            environment: Vec::new(),
            folder: ctx.folder.clone(),
            workspace: ctx.folder.clone(),
            looks_first: LooksFirst::OnThePath,
        }
    }

    /// From a line as one types it. `cd folder &&` before it is understood, other operators of a shell are not.
    pub(super) fn parse(line: &str, ctx: &Context) -> Result<Self> {
        let split =
            || shell_words::split(line).ok_or_else(|| TargetError::OpenQuote { line: line.to_owned() });
        if let Some((folder, rest)) = after_cd(line) {
            let mut inner = ctx.clone();
            inner.folder = ctx.folder.join(folder);
            let call = Self::parse(rest, &inner)?;
            return Ok(Self { workspace: ctx.folder.clone(), ..call });
        }
        if let Some(operator) = shell_operator(line) {
            return Err(TargetError::ShellLine { line: line.to_owned(), operator });
        }
        Self::unwrap(split()?, ctx)
    }

    pub(super) fn unwrap(words: Vec<String>, ctx: &Context) -> Result<Self> {
        let mut call = Self::plain(words, ctx);
        while call.unwrap_one()? {}
        if call.words.is_empty() { Err(TargetError::Empty) } else { Ok(call) }
    }

    /// Takes off one wrapping; whether there was one.
    fn unwrap_one(&mut self) -> Result<bool> {
        let Some(first) = self.words.first() else { return Ok(false) };
        if let Some((name, value)) = assignment(first) {
            self.environment.push((name.to_owned(), Some(value.to_owned())));
            self.words.remove(0);
            return Ok(true);
        }
        let name = first.rsplit('/').next().unwrap_or_default().to_owned();
        let second = self.words.get(1).map(String::as_str);
        match (name.as_str(), second) {
            ("env", _) => self.unwrap_env()?,
            ("exec" | "command" | "nohup" | "time" | "setsid", _) => self.drop_with_flags(1, &[]),
            ("nice", _) => self.drop_with_flags(1, &["-n"]),
            ("timeout", _) => {
                self.drop_with_flags(1, &["-s", "-k", "--signal", "--kill-after"]);
                // The time itself.
                self.drop_first(1);
            }
            ("stdbuf", _) => self.drop_with_flags(1, &["-i", "-o", "-e"]),
            ("uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch", Some("run")) => {
                self.looks_first = LooksFirst::InTheFolder;
                self.drop_with_flags(2, UV_VALUES);
                if self.words.first().is_some_and(|word| is_python_source(word)) {
                    self.words.insert(0, "python".to_owned());
                }
            }
            ("npx" | "bunx" | "pnpx", _) => {
                self.looks_first = LooksFirst::InTheFolder;
                self.drop_with_flags(1, &["-p", "--package", "-c", "--call"]);
            }
            ("npm" | "pnpm" | "yarn", Some("exec" | "dlx" | "x")) => {
                self.looks_first = LooksFirst::InTheFolder;
                self.drop_with_flags(2, &["-p", "--package"]);
            }
            ("bundle", Some("exec")) => self.drop_with_flags(2, &[]),
            ("coverage", Some("run")) => {
                self.drop_with_flags(2, &["--source", "--rcfile", "--omit", "--include"]);
                if self.words.first().is_some_and(|word| word != "python") {
                    self.words.insert(0, "python".to_owned());
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn drop_first(&mut self, count: usize) {
        self.words.drain(..count.min(self.words.len()));
    }

    /// Drops the wrapper's own words and its flags; `-m` belongs to Python.
    fn drop_with_flags(&mut self, own: usize, with_value: &[&str]) {
        self.drop_first(own);
        while let Some(flag) = self.words.first().filter(|word| word.starts_with('-')).cloned() {
            if flag == "-m" || flag == "--module" {
                "-m".clone_into(&mut self.words[0]);
                self.words.insert(0, "python".to_owned());
                return;
            }
            self.drop_first(if with_value.contains(&flag.as_str()) { 2 } else { 1 });
            if flag == "--" {
                return;
            }
        }
    }

    fn unwrap_env(&mut self) -> Result<()> {
        self.drop_first(1);
        while let Some(flag) = self.words.first().filter(|word| word.starts_with('-')).cloned() {
            self.drop_first(1);
            match flag.as_str() {
                "-u" | "--unset" if !self.words.is_empty() => {
                    self.environment.push((self.words.remove(0), None));
                }
                "-C" | "--chdir" if !self.words.is_empty() => {
                    self.folder = self.folder.join(self.words.remove(0));
                }
                "--" => break,
                _ if flag.starts_with("--unset=") => {
                    self.environment.push((flag["--unset=".len()..].to_owned(), None));
                }
                _ => {
                    return Err(TargetError::not_debuggable(
                        "env",
                        &format!("its flag `{flag}` is not understood"),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether the command itself asks for a program that the folder brings along, as `npx jest` does. Trust decides only
    /// about what is chosen unasked.
    pub(super) fn asks_for_the_folder(&self) -> bool {
        self.looks_first == LooksFirst::InTheFolder
    }

    /// The file a command's first word means.
    pub(super) fn find(&self, program: &str, ctx: &Context) -> Option<PathBuf> {
        if program.contains('/') {
            let path = self.place(program);
            return is_file(&path).then_some(path);
        }
        let of_environment =
            crate::launch_config::find_python(ctx).and_then(|python| Some(python.parent()?.join(program)));
        let of_folder = || {
            let candidates = [of_environment, Some(self.folder.join("node_modules/.bin").join(program))];
            let mut candidates = candidates.into_iter().flatten();
            let may_be_of_folder = ctx.trusted || self.asks_for_the_folder();
            candidates.find(|path| is_file(path) && (may_be_of_folder || !path.starts_with(&ctx.folder)))
        };
        // What a repository brings along stands in for a program of the machine only where that was asked for.
        match self.looks_first {
            LooksFirst::OnThePath => ctx.on_path(program).or_else(of_folder),
            LooksFirst::InTheFolder => of_folder().or_else(|| ctx.on_path(program)),
        }
    }

    /// Why no program of this name was chosen: it lies in a folder that is not trusted, or nowhere.
    pub(super) fn not_found(&self, program: &str, ctx: &Context) -> TargetError {
        let trusting = Context { trusted: true, ..ctx.clone() };
        let found = if ctx.trusted || program.contains('/') { None } else { self.find(program, &trusting) };
        match found {
            Some(path) => TargetError::Untrusted { program: path.display().to_string() },
            None => TargetError::NotFound { program: program.to_owned() },
        }
    }

    /// The path as seen from the folder, in the form a debugger compares: without `.` and `..`.
    pub(super) fn place(&self, path: &str) -> PathBuf {
        let path: PathBuf = self.folder.join(path).components().collect();
        if !path.components().any(|part| part == Component::ParentDir) {
            return path;
        }
        // The file itself may be a link on purpose, as interpreters of virtual environments are.
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => stepwell_workspace::files::resolved(parent).join(name),
            _ => stepwell_workspace::files::resolved(&path),
        }
    }

    pub(super) fn arguments(&self) -> &[String] {
        &self.words[1..]
    }
}

/// Flags of `uv run` that take a value.
const UV_VALUES: &[&str] = &[
    "--with",
    "--with-editable",
    "--with-requirements",
    "--python",
    "-p",
    "--extra",
    "--group",
    "--only-group",
    "--package",
    "--directory",
    "--project",
    "--env-file",
    "--index",
    "--index-url",
    "--cache-dir",
    "--config-file",
    "-C",
];

fn is_python_source(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "py")
}

/// `NAME=value` before a command.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|found| found.is_ascii_alphanumeric() || found == '_')
    };
    is_name(name).then_some((name, value))
}

/// The folder and the rest of `cd folder && rest`.
fn after_cd(line: &str) -> Option<(String, &str)> {
    let (cd, rest) = line.split_once("&&")?;
    match shell_words::split(cd)?.as_slice() {
        [cd, folder] if cd == "cd" => Some((folder.clone(), rest)),
        _ => None,
    }
}

/// The first operator of a shell outside of quotes.
fn shell_operator(line: &str) -> Option<String> {
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(found) = chars.next() {
        match (quote, found) {
            (Some('"') | None, '\\') => {
                chars.next();
            }
            (Some('"') | None, '`') => return Some("`".to_owned()),
            (Some('"') | None, '$') if chars.peek() == Some(&'(') => return Some("$(".to_owned()),
            (Some(open), _) if open == found => quote = None,
            (None, '\'' | '"') => quote = Some(found),
            (None, '|' | '&' | ';' | '<' | '>' | '\n') => {
                let mut operator = found.to_string();
                operator.extend(chars.next_if_eq(&found));
                return Some(operator.replace('\n', "a new line"));
            }
            _ => {}
        }
    }
    None
}
