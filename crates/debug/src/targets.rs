//! What to debug when there is no launch.json: a program, a module, a test, a process, a core file, or a command line.
//!
//! [`describe`] makes a configuration of it and says in one sentence how. It only reads files; what has to be built first
//! is a [`BuildStep`], which [`build`](BuildStep::build) runs when somebody wants it.

mod binary;
mod build;
mod call;
mod error;
mod go;
mod javascript;
mod other;
mod processes;
mod python;
mod rust;
mod test_id;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::launch_config::{Context, Presentation, Request, Resolved, Secrets};
use binary::FileKind;
use call::Call;

pub use build::BuildStep;
pub use build::Built;
pub use error::Result;
pub use error::TargetError;
pub use processes::Relation;
pub use processes::{Process, check_attach, processes};

/// What a person or a model wants to debug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Description {
    /// A script, a source file or a binary.
    Program {
        path: String,
        args: Vec<String>,
    },
    /// A module of Python.
    Module {
        name: String,
        args: Vec<String>,
    },
    /// A test by the name its runner gives it, such as `tests/test_x.py::test_y`.
    Test {
        id: String,
    },
    Process {
        pid: u32,
    },
    Core {
        core: String,
        program: Option<String>,
    },
    /// A command that is already split into words.
    Command(Vec<String>),
    /// A command as one would type it.
    CommandLine(String),
}

/// A configuration made of a description.
#[derive(Clone, Debug)]
pub struct Target {
    /// After [`BuildStep::build`], where there is one, it names the program too.
    pub resolved: Resolved,
    pub build: Option<BuildStep>,
    /// What will happen, in one sentence for the person.
    pub how: String,
    /// What will make debugging poor, and what to do about it.
    pub warnings: Vec<String>,
}

/// As [`describe`] for what is started in a folder of the workspace: names are looked for there.
pub fn describe_in(description: &Description, ctx: &Context, folder: &Path) -> Result<Target> {
    let mut inner = ctx.clone();
    inner.folder = folder.to_path_buf();
    let mut target = describe(description, &inner)?;
    target.resolved.folder.clone_from(&ctx.folder);
    Ok(target)
}

/// Makes a configuration. Nothing is run.
pub fn describe(description: &Description, ctx: &Context) -> Result<Target> {
    let mut target = recognise(description, ctx)?;
    if target.resolved.kind == "debugpy"
        && let Some(unused) = crate::launch_config::unused_environment(ctx)
    {
        target.warnings.push(format!(
            "the folder's own `{unused}` is not used, because the folder is not trusted; look at it and run `stepwell config trust`"
        ));
    }
    Ok(target)
}

fn recognise(description: &Description, ctx: &Context) -> Result<Target> {
    match description {
        Description::Program { path, args } => {
            let words = std::iter::once(path.clone()).chain(args.iter().cloned()).collect();
            let call = Call::plain(words, ctx);
            of_program(&call, ctx, &call.place(path))
        }
        Description::Module { name, args } => {
            let words = ["python", "-m", name]
                .into_iter()
                .map(ToOwned::to_owned)
                .chain(args.iter().cloned())
                .collect();
            python::interpreter(&Call::plain(words, ctx), ctx)
        }
        Description::Test { id } => test_id::describe(id, ctx),
        Description::Process { pid } => processes::attach(*pid, ctx),
        Description::Core { core, program } => other::core(core, program.as_deref(), ctx),
        Description::Command(words) => of_call(&Call::unwrap(words.clone(), ctx)?, ctx, 0),
        Description::CommandLine(line) => of_call(&Call::parse(line, ctx)?, ctx, 0),
    }
}

/// Scripts of package.json can name each other.
const MOST_DETOURS: usize = 5;

/// Recognises the command by its first word.
fn of_call(call: &Call, ctx: &Context, detours: usize) -> Result<Target> {
    let program = call.words[0].as_str();
    let name = program.rsplit('/').next().unwrap_or_default();
    if python::is_interpreter(name) {
        return python::interpreter(call, ctx);
    }
    match name {
        "pytest" | "py.test" => python::pytest(call, ctx),
        "cargo" => rust::cargo(call),
        "go" => go::go(call),
        "node" | "nodejs" => javascript::node(call, ctx),
        "vitest" | "jest" | "mocha" | "tsx" | "ts-node" | "ava" => javascript::tool(call, ctx),
        "npm" | "pnpm" | "yarn" if detours < MOST_DETOURS => javascript::script(call, ctx, detours),
        "deno" | "bun" => {
            Err(TargetError::not_debuggable(program, "its programs cannot be debugged yet; run it with node"))
        }
        "ruby" | "rspec" | "rake" | "rails" => other::ruby(call),
        "java" => other::java(call),
        "bash" => other::bash(call),
        "sh" | "dash" | "zsh" | "fish" => Err(TargetError::not_debuggable(
            program,
            "only scripts of bash can be debugged; name the command inside instead",
        )),
        "ctest" => other::ctest(call, ctx),
        "sudo" | "doas" | "su" => Err(TargetError::not_debuggable(
            program,
            "programs of other users are not debugged; name the command without it",
        )),
        "make" | "ninja" | "cmake" | "docker" | "ssh" | "tox" | "nox" => {
            Err(TargetError::not_debuggable(program, "it only starts other programs; name the one to debug"))
        }
        _ => {
            let path = call.find(program, ctx).ok_or_else(|| call.not_found(program, ctx))?;
            of_program(call, ctx, &path)
        }
    }
}

/// Recognises a program by its file.
fn of_program(call: &Call, ctx: &Context, path: &Path) -> Result<Target> {
    let arguments = &call.words[1..];
    match FileKind::of(path)? {
        FileKind::Binary(binary) => Ok(binary::describe(call, path, &binary)),
        FileKind::Core => other::core(&path.to_string_lossy(), None, ctx),
        FileKind::Python(interpreter) => python::script(call, ctx, path, interpreter, arguments),
        FileKind::JavaScript => Ok(javascript::program(call, ctx, path, arguments)),
        FileKind::Go => go::source(call, path, arguments),
        FileKind::Rust => rust::source(call, path, arguments),
        FileKind::Ruby => other::ruby_script(call, path, arguments),
        FileKind::Bash => Ok(other::bash_script(call, path, arguments)),
        FileKind::Folder => of_folder(call, ctx, path),
        FileKind::Source { compiler } => Err(TargetError::not_debuggable(
            &path.to_string_lossy(),
            &format!("it has to be compiled first, such as with `{compiler} -g -O0`; then name the binary"),
        )),
        FileKind::Unknown => Err(TargetError::not_debuggable(
            &path.to_string_lossy(),
            "it is neither a binary nor a script we know",
        )),
    }
}

/// A folder means the package in it.
fn of_folder(call: &Call, ctx: &Context, path: &Path) -> Result<Target> {
    let has = |file: &str| crate::launch_config::is_file(&path.join(file));
    let arguments = call.arguments().iter().map(String::as_str);
    let folder = text(path);
    let words: Vec<&str> = if has("__main__.py") {
        ["python", &folder].into_iter().chain(arguments).collect()
    } else if has("Cargo.toml") {
        ["cargo", "run", "--"].into_iter().chain(arguments).collect()
    } else if has("main.go") {
        ["go", "run", &folder].into_iter().chain(arguments).collect()
    } else if has("index.js") {
        ["node", &folder].into_iter().chain(arguments).collect()
    } else {
        return Err(TargetError::not_debuggable(&folder, "it is a folder; name a program in it"));
    };
    let mut inner = call.clone();
    inner.words = words.into_iter().map(ToOwned::to_owned).collect();
    if inner.words[0] == "cargo" {
        inner.folder = path.to_path_buf();
    }
    of_call(&inner, ctx, 0)
}

/// Fills a configuration; `arguments` are those of the adapter.
fn target(call: &Call, kind: &str, name: &str, arguments: Value, how: String) -> Target {
    let mut fields = match arguments {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    fields.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty()));
    fields.insert("cwd".to_owned(), json!(call.folder.to_string_lossy()));
    if !call.environment.is_empty() {
        let variables: Map<_, _> =
            call.environment.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        fields.insert("env".to_owned(), Value::Object(variables));
    }
    Target {
        resolved: Resolved {
            name: name.to_owned(),
            kind: kind.to_owned(),
            request: Request::Launch,
            arguments: fields,
            pre_launch_task: None,
            post_debug_task: None,
            server_ready: None,
            debug_server: None,
            presentation: Presentation::default(),
            folder: call.workspace.clone(),
            env_files: Vec::new(),
            only_for_debuggers: Vec::new(),
            secrets: Secrets::default(),
        },
        build: None,
        how,
        warnings: Vec::new(),
    }
}

/// The path as a person knows it: below the workspace without its beginning.
fn shown(path: &Path, call: &Call) -> String {
    let short = path.strip_prefix(&call.workspace).unwrap_or(path);
    short.to_string_lossy().into_owned()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The nearest folder upwards that has the file.
fn nearest(folder: &Path, file: &str) -> Option<PathBuf> {
    folder.ancestors().find(|folder| crate::launch_config::is_file(&folder.join(file))).map(Path::to_path_buf)
}
