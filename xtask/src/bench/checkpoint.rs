//! What undo costs: a turn in a folder of 50,000 files beside one in an empty folder, and beside a shadow
//! repository that commits the same small change.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};

use super::agents::Agent;
use super::server::Script;
use super::{Table, around, median, millis, work_in};

const FOLDERS: usize = 500;
const FILES_EACH: usize = 100;
const TURNS: usize = 30;

pub fn measure(ours: &Agent, table: &mut Table) -> anyhow::Result<()> {
    // Every turn changes one file.
    let script = Script::repeated(TURNS, "echo TURN >> changed.txt");
    let empty = tempfile::tempdir()?;
    let small = work_in(empty.path(), ours, &script)?;

    let large = tempfile::tempdir()?;
    let tree = large.path().join("work");
    make_tree(&tree)?;
    let first = Instant::now();
    work_in(large.path(), ours, &Script::command("touch first.txt"))?;
    let first = millis(first.elapsed());
    let before = disk(&large.path().join(".local/share/stepwell/checkpoints"))?;
    let run = work_in(large.path(), ours, &script)?;
    let after = disk(&large.path().join(".local/share/stepwell/checkpoints"))?;

    let at = TURNS - 10;
    let (Some(small), Some(with)) = (around(&small, at), around(&run, at)) else { bail!("too few turns") };
    table.add("turn in an empty folder, ms", vec![Some(small)]);
    table.add("turn in a folder of 50,000 files, ms", vec![Some(with)]);
    table.add("two looks at 50,000 files, ms", vec![Some(with - small)]);
    table.add("shadow `git add -A && commit`, ms", vec![shadow_commit(&tree)?]);
    table.add_note(&format!(
        "checkpoints on the disk: {:.1} MB for the first look ({first:.0} ms), {} bytes per turn after it",
        before as f64 / 1e6,
        after.saturating_sub(before) / TURNS as u64
    ));
    Ok(())
}

fn make_tree(tree: &Path) -> anyhow::Result<()> {
    for folder in 0..FOLDERS {
        let path = tree.join(format!("pack{}/part{folder}", folder % 20));
        std::fs::create_dir_all(&path)?;
        for file in 0..FILES_EACH {
            let text = format!("// file {file} of {folder}\n").repeat(20 + (file * 7 + folder) % 60);
            std::fs::write(path.join(format!("file{file}.rs")), text)?;
        }
    }
    Ok(())
}

/// A repository beside the tree, as other agents keep it: the time of a commit with one changed file.
fn shadow_commit(tree: &Path) -> anyhow::Result<Option<f64>> {
    let shadow = tempfile::tempdir()?;
    let git = |arguments: &[&str]| -> anyhow::Result<()> {
        let status = Command::new("git")
            .args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"])
            .arg("--git-dir")
            .arg(shadow.path())
            .arg("--work-tree")
            .arg(tree)
            .args(arguments)
            .current_dir(tree)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .context("git is needed for the comparison")?;
        if !status.success() {
            bail!("git {arguments:?} failed");
        }
        Ok(())
    };
    git(&["init", "-q"])?;
    git(&["add", "-A"])?;
    git(&["commit", "-qm", "first"])?;
    let mut times = Vec::new();
    for number in 0..7 {
        std::fs::write(tree.join("changed.txt"), format!("{number}\n"))?;
        let started = Instant::now();
        git(&["add", "-A"])?;
        git(&["commit", "-qm", "next"])?;
        times.push(millis(started.elapsed()));
    }
    Ok(median(times))
}

fn disk(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?
        {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                bytes += entry.metadata()?.len();
            }
        }
    }
    Ok(bytes)
}
