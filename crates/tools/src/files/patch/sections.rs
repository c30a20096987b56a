//! The `*** Begin Patch` form: files by name, places by context instead of line numbers.

use stepwell_workspace::Executable;

use super::model::{FilePatch, Hunk, Kind, Side, body_line, hunk_header};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

pub fn is_this_form(patch: &str) -> bool {
    patch.lines().any(|line| line.trim() == BEGIN)
}

/// Reads a patch. The error says which line is wrong.
pub fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut lines = patch.lines().enumerate().skip_while(|(_, line)| line.trim() != BEGIN).skip(1);
    let mut ended = false;
    for (index, line) in &mut lines {
        let wrong = |what: &str| Err(format!("line {} of the patch {what}: `{}`", index + 1, cut(line)));
        let mark = line.trim_end();
        if mark == END {
            ended = true;
            break;
        }
        if let Some(file) = section(mark) {
            if file.old_path.as_deref().or(file.new_path.as_deref()).is_none_or(str::is_empty) {
                return wrong("names no file");
            }
            files.push(file);
            continue;
        }
        let Some(file) = files.last_mut() else {
            if mark.is_empty() {
                continue;
            }
            return wrong("stands before any `*** Add File:`, `*** Update File:` or `*** Delete File:`");
        };
        if let Some(to) = mark.strip_prefix("*** Move to: ") {
            file.new_path = Some(to.trim().to_owned());
            continue;
        }
        match file.kind {
            Kind::Delete if mark.is_empty() => {}
            Kind::Delete => return wrong("belongs to no file"),
            Kind::Add => match line.strip_prefix('+') {
                Some(text) => hunk_of(file).push(Side::New, text),
                None if mark.is_empty() => {}
                None if mark.starts_with('\\') => hunk_of(file).unend(),
                None => return wrong("does not begin with `+`, as lines of a new file do"),
            },
            Kind::Update if mark == "*** End of File" => hunk_of(file).at_end = true,
            Kind::Update if mark.starts_with("***") => return wrong("is not understood"),
            Kind::Update if mark.starts_with("@@") => anchor(file, mark),
            Kind::Update if mark.starts_with('\\') => hunk_of(file).unend(),
            Kind::Update => match body_line(line) {
                Some((side, text)) => hunk_of(file).push(side, text),
                None => return wrong("begins with neither ` `, `+` nor `-`"),
            },
        }
    }
    if !ended {
        return Err(format!("the patch ends before `{END}`; nothing was changed"));
    }
    for file in &mut files {
        let is_move = file.new_path != file.old_path;
        for hunk in &mut file.hunks {
            drop_last_blank(hunk);
        }
        file.hunks.retain(|hunk| !hunk.lines.is_empty());
        if file.kind == Kind::Update && file.hunks.is_empty() && !is_move {
            let name = file.old_path.as_deref().unwrap_or_default();
            return Err(format!("the patch updates `{name}` and says nothing of what changes"));
        }
    }
    if files.is_empty() {
        return Err("the patch names no file".to_owned());
    }
    Ok(files)
}

fn cut(line: &str) -> String {
    line.chars().take(80).collect()
}

fn section(line: &str) -> Option<FilePatch> {
    let (kind, path) = [
        (Kind::Add, line.strip_prefix("*** Add File:")),
        (Kind::Update, line.strip_prefix("*** Update File:")),
        (Kind::Delete, line.strip_prefix("*** Delete File:")),
    ]
    .into_iter()
    .find_map(|(kind, path)| path.map(|path| (kind, path.trim().to_owned())))?;
    Some(FilePatch {
        old_path: (kind != Kind::Add).then(|| path.clone()),
        new_path: (kind != Kind::Delete).then_some(path),
        kind,
        hunks: Vec::new(),
        executable: Executable::Keep,
    })
}

/// The hunk lines go to; lines before the first `@@` have one too.
fn hunk_of(file: &mut FilePatch) -> &mut Hunk {
    if file.hunks.is_empty() {
        file.hunks.push(Hunk::default());
    }
    let last = file.hunks.len() - 1;
    &mut file.hunks[last]
}

/// `@@ context`; several in a row lead to the place step by step.
fn anchor(file: &mut FilePatch, line: &str) {
    let goes_on = file.hunks.last().is_some_and(|hunk| hunk.lines.is_empty() && !hunk.anchors.is_empty());
    if !goes_on {
        file.hunks.push(Hunk::default());
    }
    let hunk = hunk_of(file);
    if let Some((old, _)) = hunk_header(line) {
        hunk.start = Some(old.0);
        return;
    }
    let text = line.trim_start_matches('@').trim_end_matches('@').trim();
    if !text.is_empty() {
        hunk.anchors.push(text.to_owned());
    }
}

/// An empty line between two sections is not one of the file.
fn drop_last_blank(hunk: &mut Hunk) {
    while hunk.lines.last().is_some_and(|line| line.side == Side::Both && line.text.is_empty())
        && hunk.lines.len() > 1
    {
        hunk.lines.pop();
    }
}
