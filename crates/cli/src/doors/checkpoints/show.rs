//! Checkpoints and changes as a person reads them.

use std::path::{Path, PathBuf};

use serde_json::json;
use similar::TextDiff;
use stepwell_protocol::Timestamp;
use stepwell_store::checkpoints::{
    Change, Checkpoint, CheckpointKind, Checkpoints, EntryKind, EntryState, RestorePlan,
};

use crate::language::Language;
use crate::terminal::{Style, harmless, out_foreign, out_line};

pub fn list(all: &[Checkpoint], language: Language, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        out_line(&serde_json::to_string_pretty(&json!(all))?);
        return Ok(());
    }
    if all.is_empty() {
        out_line(language.word("no checkpoints yet"));
        return Ok(());
    }
    let style = Style::for_stdout();
    for checkpoint in all {
        let what = match &checkpoint.kind {
            CheckpointKind::Call { cause, is_ended: true, .. } => harmless(&cause.summary),
            CheckpointKind::Call { cause, is_ended: false, .. } => {
                let cut_off = language.word("cut off");
                format!("{} ({cut_off})", harmless(&cause.summary))
            }
            CheckpointKind::Outside => style.dim(language.word("changed by somebody else")),
            CheckpointKind::Restore { is_redo, .. } => {
                style.cyan(if *is_redo { language.word("redo") } else { language.word("restore") })
            }
        };
        let files = match (language, checkpoint.changed) {
            (Language::English, 1) => "1 path".to_owned(),
            (Language::English, count) => format!("{count} paths"),
            (Language::Chinese, count) => format!("{count} 个路径"),
        };
        let undone = if checkpoint.is_undone {
            style.yellow(language.pick(" undone", " 已撤销"))
        } else {
            String::new()
        };
        let number = style.bold(&format!("{:>5}", checkpoint.id));
        out_line(&format!("{number}  {}  {files:<10} {what}{undone}", time(checkpoint.at)));
    }
    Ok(())
}

fn time(at: Timestamp) -> String {
    let Ok(at) = jiff::Timestamp::from_millisecond(at.0) else { return "?".to_owned() };
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// What a plan's steps will change.
pub fn planned(plan: &RestorePlan) -> Vec<Change> {
    let change = |step: &stepwell_store::checkpoints::RestoreStep| Change {
        path: step.path.clone(),
        before: step.from,
        after: step.to,
    };
    plan.steps.iter().map(change).collect()
}

/// What happened since the state a plan leads back to.
pub fn forward(plan: &RestorePlan) -> Vec<Change> {
    let turned = |change: Change| Change { before: change.after, after: change.before, ..change };
    planned(plan).into_iter().map(turned).collect()
}

pub fn path_text(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

/// `M src/main.rs`, as git shows it.
pub fn change_line(change: &Change, style: Style) -> String {
    let folder = [change.before, change.after].iter().flatten().any(|state| state.kind == EntryKind::Folder);
    let path = format!("{}{}", path_text(&change.path), if folder { "/" } else { "" });
    match (change.before, change.after) {
        (None, _) => format!("{} {path}", style.green("A")),
        (_, None) => format!("{} {path}", style.red("D")),
        (Some(_), Some(_)) => format!("{} {path}", style.yellow("M")),
    }
}

/// Unified diffs of the files among some changes.
pub fn diff(checkpoints: &Checkpoints, changes: &[Change], only: &[PathBuf]) -> anyhow::Result<()> {
    let style = Style::for_stdout();
    let wanted = |change: &&Change| only.is_empty() || only.iter().any(|path| change.path.starts_with(path));
    for change in changes.iter().filter(wanted) {
        let is_folder =
            |state: Option<EntryState>| state.is_some_and(|state| state.kind == EntryKind::Folder);
        if is_folder(change.before) || is_folder(change.after) {
            out_line(&change_line(change, style));
            continue;
        }
        let (Some(old), Some(new)) = (text(checkpoints, change.before)?, text(checkpoints, change.after)?)
        else {
            out_line(&format!("{} (not text, or not kept)", change_line(change, style)));
            continue;
        };
        let path = path_text(&change.path);
        let name = |state: Option<EntryState>, side: &str| match state {
            Some(_) => format!("{side}/{path}"),
            None => "/dev/null".to_owned(),
        };
        if let (Some(before), Some(after)) = (change.before, change.after)
            && before.mode != after.mode
        {
            out_line(&format!("mode of {path}: {:04o} -> {:04o}", before.mode, after.mode));
        }
        let diff = TextDiff::from_lines(&old, &new);
        let mut unified = diff.unified_diff();
        unified.header(&name(change.before, "a"), &name(change.after, "b"));
        for line in unified.to_string().split_inclusive('\n') {
            let plain = line.trim_end_matches('\n');
            let shown = match plain.as_bytes().first() {
                Some(b'+') => style.green(&harmless(plain)),
                Some(b'-') => style.red(&harmless(plain)),
                Some(b'@') => style.cyan(&harmless(plain)),
                _ => harmless(plain),
            };
            out_foreign(&format!("{shown}\n"));
        }
    }
    Ok(())
}

/// The text of a state: empty where there was nothing, `None` where it cannot be shown.
fn text(checkpoints: &Checkpoints, state: Option<EntryState>) -> anyhow::Result<Option<String>> {
    let Some(state) = state else { return Ok(Some(String::new())) };
    Ok(checkpoints.content(&state)?.and_then(|bytes| String::from_utf8(bytes).ok()))
}
