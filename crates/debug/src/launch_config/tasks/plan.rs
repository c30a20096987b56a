//! What a task would run: its own command and those it depends on, in an order.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::file::{TaskFile, label_of};
use super::matchers::Background;
use super::quoting::{ShellWord, command_line};
use crate::launch_config::context::{Context, is_file};
use crate::launch_config::error::{LaunchError, Result};
use crate::launch_config::resolve::{TaskRef, task_ref, text};
use crate::launch_config::run_preview::{PlannedCommand, PlannedRun, RunRole};
use crate::launch_config::shell_words;
use crate::launch_config::variables::Substitution;

/// More dependencies than anyone writes by hand.
const MOST_STEPS: usize = 200;

/// A task and all it depends on. Each task is there once, behind those it waits for.
#[derive(Clone, Debug)]
pub struct TaskPlan {
    pub label: String,
    pub steps: Vec<TaskStep>,
}

/// One task of a plan.
#[derive(Clone, Debug)]
pub struct TaskStep {
    pub label: String,
    /// The steps that must be done, or ready, before this one begins; places in [`TaskPlan::steps`].
    pub after: Vec<usize>,
    /// None for a task that only gathers others.
    pub command: Option<TaskCommand>,
}

/// The command of a task.
#[derive(Clone, Debug)]
pub struct TaskCommand {
    pub program: String,
    pub arguments: Vec<String>,
    pub folder: PathBuf,
    /// Variables to set, or with `None` to take out.
    pub environment: Vec<(String, Option<String>)>,
    /// The command line as it is written.
    pub shown: String,
    /// A task that does not end: it is ready when these patterns say so, at once where there are none.
    pub background: Option<Vec<Background>>,
}

impl TaskCommand {
    /// Returns the command line with the variables it sets before it. Variables that are taken out have no word in a
    /// shell's line; the row shows them.
    fn line(&self) -> String {
        let set = self.environment.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let mut words: Vec<String> =
            set.map(|(name, value)| format!("{name}={}", shell_words::quoted(value))).collect();
        words.push(self.shown.clone());
        words.join(" ")
    }
}

impl TaskPlan {
    /// A row for each command line.
    pub fn runs(&self) -> Vec<PlannedRun> {
        let commands = self.steps.iter().filter_map(|step| Some((&step.label, step.command.as_ref()?)));
        let row = |(label, command): (&String, &TaskCommand)| {
            let environment = command.environment.iter().map(|(name, value)| match value {
                Some(value) => format!("{name}={} ", shell_words::quoted(value)),
                None => format!("-{name} "),
            });
            let environment: Vec<_> = environment.collect();
            PlannedRun {
                role: RunRole::Task,
                key: label.clone(),
                text: format!("{}{} (in {})", environment.concat(), command.shown, command.folder.display()),
                command: Some(PlannedCommand { line: command.line(), folder: command.folder.clone() }),
                warning: None,
            }
        };
        commands.map(row).collect()
    }
}

/// Plans a task. Nothing is run.
pub(crate) fn plan_task(file: &TaskFile, task: &TaskRef, ctx: &Context) -> Result<TaskPlan> {
    let fields = file.find(task, ctx)?;
    let mut planner = Planner { file, ctx, steps: Vec::new(), path: Vec::new() };
    let label = label_of(&fields);
    planner.add(&fields, &[])?;
    Ok(TaskPlan { label, steps: planner.steps })
}

struct Planner<'a> {
    file: &'a TaskFile,
    ctx: &'a Context,
    steps: Vec<TaskStep>,
    /// The tasks that are waiting for the one being added.
    path: Vec<String>,
}

impl Planner<'_> {
    /// Adds the task behind its dependencies and says where it is.
    fn add(&mut self, fields: &Map<String, Value>, after: &[usize]) -> Result<usize> {
        let label = label_of(fields);
        if let Some(known) = self.steps.iter().position(|step| step.label == label) {
            return Ok(known);
        }
        self.path.push(label.clone());
        if self.path[..self.path.len() - 1].contains(&label) {
            return Err(LaunchError::TaskCycle { labels: self.path.clone() });
        }
        if self.path.len() + self.steps.len() > MOST_STEPS {
            return Err(bad(&label, format!("needs more than {MOST_STEPS} others")));
        }
        let depends_on = match fields.get("dependsOn") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(tasks)) => tasks.clone(),
            Some(task) => vec![task.clone()],
        };
        let in_sequence = text(fields, "dependsOrder").as_deref() == Some("sequence");
        let mut before: Vec<usize> = after.to_vec();
        let mut own = Vec::new();
        for task in depends_on {
            let task = task_ref(Some(task))
                .ok_or_else(|| bad(&label, "has a `dependsOn` that names no task".to_owned()))?;
            let place = self.add(&self.file.find(&task, self.ctx)?, &before)?;
            own.push(place);
            if in_sequence {
                before.push(place);
            }
        }
        let mut waits = after.to_vec();
        waits.extend(own);
        waits.sort_unstable();
        waits.dedup();
        let command = command_of(&label, fields, self.file, self.ctx)?;
        let gathers = !waits.is_empty() || fields.contains_key("dependsOn");
        if command.is_none() && !gathers {
            return Err(bad(&label, "has no `command`".to_owned()));
        }
        self.path.pop();
        self.steps.push(TaskStep { label, after: waits, command });
        Ok(self.steps.len() - 1)
    }
}

fn bad(label: &str, problem: String) -> LaunchError {
    LaunchError::BadTask { label: label.to_owned(), problem }
}

/// What the task's type makes of its fields.
struct Spec {
    command: ShellWord,
    arguments: Vec<ShellWord>,
    in_shell: bool,
    /// A folder below the workspace's.
    folder: Option<String>,
    /// For a type that watches without saying so.
    matcher: Option<&'static str>,
}

fn command_of(
    label: &str,
    written: &Map<String, Value>,
    file: &TaskFile,
    ctx: &Context,
) -> Result<Option<TaskCommand>> {
    let merged = with_common(written, &file.common, ctx);
    let mut substitution = Substitution::new(ctx, &file.inputs);
    let task = substitution.map(&merged)?;
    substitution.finish()?;
    let Some(spec) = spec_of(label, &task, ctx)? else { return Ok(None) };
    let options = task.get("options").and_then(Value::as_object).cloned().unwrap_or_default();
    let folder = text(&options, "cwd").filter(|cwd| !cwd.is_empty()).or(spec.folder);
    let folder = folder.map_or_else(|| ctx.folder.clone(), |path| ctx.absolute(&path));
    let environment = environment(label, &options)?;
    let written_command = text(&merged, "command");
    let line = command_line(&spec.command, written_command.as_deref(), &spec.arguments);
    let (program, arguments, shown) = if spec.in_shell {
        let (shell, mut arguments) = shell_of(&options, ctx);
        arguments.push(line.clone());
        (shell, arguments, line)
    } else {
        let arguments: Vec<_> = spec.arguments.iter().map(|word| word.text.clone()).collect();
        let words = std::iter::once(spec.command.text.as_str()).chain(arguments.iter().map(String::as_str));
        let shown = shell_words::joined(words);
        (spec.command.text, arguments, shown)
    };
    let is_background = task.get("isBackground").and_then(Value::as_bool).unwrap_or(spec.matcher.is_some());
    let background = if is_background {
        let named = spec.matcher.map(Value::from);
        let matcher = task.get("problemMatcher").filter(|matcher| !is_empty(matcher)).or(named.as_ref());
        Some(Background::all(label, matcher)?)
    } else {
        None
    };
    Ok(Some(TaskCommand { program, arguments, folder, environment, shown, background }))
}

fn is_empty(matcher: &Value) -> bool {
    matcher.is_null() || matcher.as_array().is_some_and(Vec::is_empty)
}

/// Lays the platform's keys over the task's and both over what is common; only `options` are merged.
fn with_common(task: &Map<String, Value>, common: &Map<String, Value>, ctx: &Context) -> Map<String, Value> {
    let key = ctx.platform.key();
    let of_platform =
        |fields: &Map<String, Value>| fields.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let layers = [common.clone(), of_platform(common), task.clone(), of_platform(task)];
    let mut options = Map::new();
    for layer in &layers {
        for (name, value) in layer.get("options").and_then(Value::as_object).into_iter().flatten() {
            match (options.get_mut(name), value) {
                (Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
                _ => {
                    options.insert(name.clone(), value.clone());
                }
            }
        }
    }
    let mut merged = task.clone();
    merged.extend(of_platform(task));
    for platform in ["windows", "osx", "linux", "dependsOn"] {
        merged.shift_remove(platform);
    }
    if !options.is_empty() {
        merged.insert("options".to_owned(), Value::Object(options));
    }
    merged
}

fn spec_of(label: &str, task: &Map<String, Value>, ctx: &Context) -> Result<Option<Spec>> {
    let needed = |key: &str| text(task, key).ok_or_else(|| bad(label, format!("names no `{key}`")));
    let plain = |words: &[&str]| words.iter().map(|word| ShellWord::plain(word)).collect::<Vec<_>>();
    let shell = |command: &str, arguments: Vec<ShellWord>| Spec {
        command: ShellWord::plain(command),
        arguments,
        in_shell: true,
        folder: None,
        matcher: None,
    };
    let arguments = || -> Result<Vec<ShellWord>> {
        let words = match task.get("args") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(words)) => words,
            Some(_) => return Err(bad(label, "has `args` that are no list".to_owned())),
        };
        let each = words.iter().map(ShellWord::from_json);
        each.map(|word| word.ok_or_else(|| bad(label, "has an argument that is no text".to_owned())))
            .collect()
    };
    let kind = text(task, "type").unwrap_or_else(|| "process".to_owned());
    Ok(Some(match kind.as_str() {
        "shell" | "process" | "cppbuild" => {
            let command = match task.get("command") {
                None | Some(Value::Null) => return Ok(None),
                Some(command) => ShellWord::from_json(command).filter(|command| !command.text.is_empty()),
            };
            let command = command.ok_or_else(|| bad(label, "has a `command` that is no text".to_owned()))?;
            Spec { command, arguments: arguments()?, in_shell: kind == "shell", folder: None, matcher: None }
        }
        "npm" => {
            let script = needed("script")?;
            let folder = text(task, "path");
            Spec { folder, ..shell(package_manager(ctx), plain(&["run", &script])) }
        }
        "typescript" => {
            let tsconfig = needed("tsconfig")?;
            let own = ctx.folder.join("node_modules/.bin/tsc");
            let tsc = if ctx.trusted && is_file(&own) {
                own.to_string_lossy().into_owned()
            } else {
                "tsc".to_owned()
            };
            let watches = text(task, "option").as_deref() == Some("watch");
            let mut words = plain(&["-p", &tsconfig]);
            words.extend(watches.then(|| ShellWord::plain("--watch")));
            Spec { matcher: watches.then_some("$tsc-watch"), ..shell(&tsc, words) }
        }
        "gulp" | "grunt" | "jake" => shell(&kind, plain(&[&needed("task")?])),
        "cargo" => {
            let mut words = plain(&[&needed("command")?]);
            words.extend(arguments()?);
            Spec { in_shell: false, ..shell("cargo", words) }
        }
        _ => return Err(bad(label, format!("is of type `{kind}`, which needs an extension of an editor"))),
    }))
}

/// What installs this folder's packages also runs its scripts.
fn package_manager(ctx: &Context) -> &'static str {
    let by_lock =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    by_lock.iter().find(|(lock, _)| is_file(&ctx.folder.join(lock))).map_or("npm", |(_, manager)| manager)
}

fn environment(label: &str, options: &Map<String, Value>) -> Result<Vec<(String, Option<String>)>> {
    let variables = match options.get("env") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(variables)) => variables,
        Some(_) => return Err(bad(label, "has an `env` that is no object".to_owned())),
    };
    let one = |(name, value): (&String, &Value)| {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(bad(label, format!("sets the variable `{name}`, which is no name")));
        }
        match value {
            Value::Null => Ok((name.clone(), None)),
            Value::String(text) => Ok((name.clone(), Some(text.clone()))),
            Value::Number(_) | Value::Bool(_) => Ok((name.clone(), Some(value.to_string()))),
            _ => Err(bad(label, format!("gives the variable `{name}` a value that is no text"))),
        }
    };
    variables.iter().map(one).collect()
}

/// The shell and what makes it run a command line.
fn shell_of(options: &Map<String, Value>, ctx: &Context) -> (String, Vec<String>) {
    let own = options.get("shell").and_then(Value::as_object);
    let shell = own.and_then(|own| text(own, "executable")).filter(|shell| !shell.is_empty());
    let shell =
        shell.or_else(|| ctx.environment.get("SHELL").filter(|shell| shell.starts_with('/')).cloned());
    let shell = shell.unwrap_or_else(|| "/bin/sh".to_owned());
    let arguments = own.and_then(|own| own.get("args")).and_then(Value::as_array);
    let mut arguments: Vec<String> =
        arguments.into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    let name = shell.rsplit('/').next().unwrap_or_default();
    let runs = if matches!(name, "pwsh" | "powershell") { "-Command" } else { "-c" };
    if !arguments.iter().any(|argument| argument == runs) {
        arguments.push(runs.to_owned());
    }
    (shell, arguments)
}
