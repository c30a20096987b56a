//! `stepwell checkpoints`, `undo` and `redo`: see what the agent changed, and take it back.

mod show;

use std::path::{Path, PathBuf};

use serde_json::json;
use stepwell_protocol::{Event, MessageId};
use stepwell_store::Home;
use stepwell_store::checkpoints::{
    Checkpoint, CheckpointKind, Checkpoints, Obstacle, RestorePlan, Restored, Selection,
};

use crate::args::{CheckpointsCommand, RedoArgs, RestoreArgs, RestoreWhat, UndoArgs};
use crate::assemble::{Assembly, AssemblyOptions, workspace_root};
use crate::exit::Exit;
use crate::language::Language;
use crate::report;
use crate::settings::SettingsLayer;
use crate::terminal::{Style, out_line};

pub fn run(command: CheckpointsCommand) -> anyhow::Result<Exit> {
    match command {
        CheckpointsCommand::List { limit, json } => {
            let mut door = Door::open(None)?;
            let mut all = door.checkpoints.list()?;
            all.drain(..all.len().saturating_sub(limit));
            show::list(&all, door.language, json)?;
        }
        CheckpointsCommand::Diff { checkpoint, paths, since } => {
            let mut door = Door::open(None)?;
            let changes = if since {
                let plan = door.checkpoints.plan(&Selection::Since(checkpoint), true)?;
                show::forward(&plan)
            } else {
                door.checkpoints.list()?;
                door.checkpoints.changes_of(checkpoint)?
            };
            show::diff(&door.checkpoints, &changes, &paths)?;
        }
        CheckpointsCommand::Restore(args) => return restore(&args),
    }
    Ok(Exit::Done)
}

pub fn undo(args: &UndoArgs) -> anyhow::Result<Exit> {
    let mut door = Door::open(args.how.cwd.as_deref())?;
    let nothing = door.language.word("there is nothing to undo");
    door.take_back(&Selection::LastCalls(args.count), nothing, Way::Back, &args.how)
}

pub fn redo(args: &RedoArgs) -> anyhow::Result<Exit> {
    let mut door = Door::open(args.cwd.as_deref())?;
    let nothing = door.language.word("there is nothing to redo");
    door.take_back(&Selection::LastRestore, nothing, Way::Forth, args)
}

/// Which command takes a change back again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Back,
    Forth,
}

fn restore(args: &RestoreArgs) -> anyhow::Result<Exit> {
    let mut door = Door::open(None)?;
    let mut exit = Exit::Done;
    // Checked before anything is touched: both or neither.
    let rewind = match args.what {
        RestoreWhat::Files => None,
        RestoreWhat::Conversation | RestoreWhat::Both => Some(door.message_of(args.checkpoint)?),
    };
    if args.what != RestoreWhat::Conversation {
        let selection = if args.all {
            Selection::EverythingSince(args.checkpoint)
        } else {
            Selection::Since(args.checkpoint)
        };
        let mut plan = door.checkpoints.plan(&selection, args.force)?;
        if !args.path.is_empty() {
            narrow(&mut plan, &args.path)?;
        }
        if !args.hunk.is_empty() {
            let [path] = args.path.as_slice() else {
                return Err(report::usage(
                    "--hunk needs the file it is in",
                    "give exactly one --path with it",
                ));
            };
            let count = match plan.steps.first() {
                Some(step) => door.checkpoints.hunks(step)?.len(),
                None => 0,
            };
            if let Some(missing) = args.hunk.iter().find(|number| **number == 0 || **number > count) {
                return Err(report::usage(
                    format!("`{}` has {count} hunks, and {missing} is none of them", path.display()),
                    format!("`stepwell checkpoints diff {} --since` shows them in order", args.checkpoint),
                ));
            }
            door.checkpoints.keep_hunks(&mut plan, path, &args.hunk)?;
        }
        let nothing = door.language.word("the files are as they were then");
        exit = door.carry_out(&plan, nothing, Way::Back, args.dry_run, args.json)?;
    }
    if let Some((task, message)) = rewind
        && !args.dry_run
    {
        stepwell_store::rewind_task(&door.home, &task, &message)?;
        let words = door.language.word("the conversation goes on from before that call");
        out_line(&format!("{words} ({task})"));
    }
    Ok(exit)
}

/// Leaves only these files of a plan.
fn narrow(plan: &mut RestorePlan, paths: &[PathBuf]) -> anyhow::Result<()> {
    let wanted = |path: &Path| paths.iter().any(|wanted| path.starts_with(wanted));
    plan.steps.retain(|step| wanted(&step.path));
    plan.obstacles.retain(|(path, _)| wanted(path));
    // A part of what the calls did is not the calls.
    plan.reversed.clear();
    if plan.steps.is_empty() && plan.obstacles.is_empty() {
        let named: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(report::usage(
            format!("nothing to restore in {}", named.join(", ")),
            "paths are relative to the folder the agent worked in; `stepwell checkpoints diff` shows them",
        ));
    }
    Ok(())
}

struct Door {
    home: Home,
    language: Language,
    checkpoints: Checkpoints,
}

impl Door {
    /// The checkpoints of this folder, or of the nearest above it that has some.
    fn open(folder: Option<&Path>) -> anyhow::Result<Self> {
        let here = workspace_root(folder)?;
        let assembly = Assembly::new(AssemblyOptions {
            workspace: here.clone(),
            extra_roots: Vec::new(),
            command_line: SettingsLayer::default(),
            record: None,
        })?;
        let home = assembly.home().clone();
        let language = Language::choose(assembly.settings.language().as_deref());
        let Some(root) = here.ancestors().find(|folder| Checkpoints::exist(&home, folder)) else {
            return Err(report::failed(
                format!("`{}` has no checkpoints", here.display()),
                "they are made in the folder an agent works in, before each change",
            ));
        };
        let limits = assembly.settings.checkpoints().limits();
        let checkpoints = Checkpoints::open(&home, root, limits)?;
        Ok(Self { home, language, checkpoints })
    }

    fn take_back(
        &mut self,
        selection: &Selection,
        nothing: &str,
        way: Way,
        args: &RedoArgs,
    ) -> anyhow::Result<Exit> {
        let plan = self.checkpoints.plan(selection, args.force)?;
        self.carry_out(&plan, nothing, way, args.dry_run, args.json)
    }

    fn carry_out(
        &mut self,
        plan: &RestorePlan,
        nothing: &str,
        way: Way,
        dry_run: bool,
        as_json: bool,
    ) -> anyhow::Result<Exit> {
        let restored = if dry_run {
            Restored { obstacles: plan.obstacles.clone(), changes: show::planned(plan), id: None }
        } else {
            self.checkpoints.apply(plan)?
        };
        if as_json {
            let obstacles: Vec<_> = restored
                .obstacles
                .iter()
                .map(|(path, why)| json!({"path": path.to_string_lossy(), "why": why}))
                .collect();
            let value = json!({
                "checkpoint": restored.id, "dry_run": dry_run, "undone": plan.reversed, "commands": plan.commands,
                "changes": restored.changes, "left": obstacles,
            });
            out_line(&serde_json::to_string_pretty(&value)?);
        } else {
            self.tell(&restored, nothing, way, dry_run);
            if !restored.changes.is_empty() && way == Way::Back {
                self.tell_of_commands(&plan.commands, dry_run);
            }
        }
        let is_left = restored.obstacles.iter().any(|(_, why)| *why != Obstacle::NotEmpty);
        Ok(if is_left && restored.changes.is_empty() { Exit::Failed } else { Exit::Done })
    }

    fn tell(&self, restored: &Restored, nothing: &str, way: Way, dry_run: bool) {
        let style = Style::for_stdout();
        let language = self.language;
        if restored.changes.is_empty() && restored.obstacles.is_empty() {
            out_line(nothing);
            return;
        }
        for change in &restored.changes {
            out_line(&show::change_line(change, style));
        }
        for (path, why) in &restored.obstacles {
            let why = match why {
                Obstacle::ChangedSince => {
                    language.word("changed by somebody else since; --force restores it too")
                }
                Obstacle::NotKept => language.word("too large, it was not kept"),
                Obstacle::NotEmpty => language.word("has other files in it"),
            };
            let left = language.word("left as it is");
            out_line(&style.yellow(&format!("! {} {left}: {why}", show::path_text(path))));
        }
        let ending = match (dry_run, restored.id) {
            (true, _) => language.word("nothing was touched (--dry-run)").to_owned(),
            (false, Some(id)) => {
                let command = if way == Way::Back { "redo" } else { "undo" };
                match language {
                    Language::English => {
                        format!("done; `stepwell {command}` takes it back (checkpoint {id})")
                    }
                    Language::Chinese => format!("已完成；可用 `stepwell {command}` 还原（检查点 {id}）"),
                }
            }
            (false, None) => return,
        };
        out_line(&style.dim(&ending));
    }

    /// Nobody can tell who changed a file while a command ran, so the person is told.
    fn tell_of_commands(&self, commands: &[String], dry_run: bool) {
        let Some((first, rest)) = commands.split_first() else { return };
        let more = if rest.is_empty() { String::new() } else { format!(" (+{})", rest.len()) };
        let first = crate::terminal::harmless(first);
        let words = match self.language {
            Language::English => {
                let undone = if dry_run { "would be" } else { "was" };
                format!(
                    "if you changed one of these files while it ran, that {undone} undone too: {first}{more}; `stepwell redo` brings it back"
                )
            }
            Language::Chinese => {
                format!(
                    "若您在命令运行期间改动过这些文件，改动也一并撤销：{first}{more}；可用 `stepwell redo` 恢复"
                )
            }
        };
        out_line(&Style::for_stdout().dim(&words));
    }

    /// The message in which a checkpoint's call was made, and its task.
    fn message_of(&mut self, id: u64) -> anyhow::Result<(stepwell_protocol::TaskId, MessageId)> {
        let all = self.checkpoints.list()?;
        let found = all.into_iter().find(|checkpoint| checkpoint.id == id);
        let Some(Checkpoint { kind: CheckpointKind::Call { cause, .. }, .. }) = found else {
            return Err(report::usage(
                format!("checkpoint {id} belongs to no call of a task"),
                "`stepwell checkpoints list` shows which do",
            ));
        };
        let records = stepwell_store::read_log(&self.home, &cause.task).map_err(|error| {
            report::failed(
                format!("the conversation of that call is gone: {error}"),
                "restore the files alone",
            )
        })?;
        let message = records.iter().find_map(|record| match &record.event {
            Event::Action { message_id, call } if call.id == cause.call => Some(message_id.clone()),
            _ => None,
        });
        let message = message.ok_or_else(|| {
            report::failed("that call is in no conversation", "restore the files alone: `--what files`")
        })?;
        Ok((cause.task, message))
    }
}
