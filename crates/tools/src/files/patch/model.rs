//! A patch, whatever form it was written in.

use stepwell_workspace::Executable;

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// As the patch names it, before and after; `None` for a file that is not there then, or is not named.
    pub old_path: Option<String>,
    pub new_path: Option<String>,
    pub kind: Kind,
    pub hunks: Vec<Hunk>,
    pub executable: Executable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Update,
    Add,
    Delete,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Line of the old file at which it is said to begin, from 1; with no old lines, the line after which it goes.
    pub start: Option<usize>,
    /// Lines to look for first, one after the other; the hunk follows them.
    pub anchors: Vec<String>,
    /// Whether the hunk ends with the file.
    pub at_end: bool,
    pub lines: Vec<HunkLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    pub side: Side,
    pub text: String,
    /// Whether the patch says that no line break follows.
    pub unended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Both,
    Old,
    New,
}

impl Hunk {
    pub fn old(&self) -> Vec<&HunkLine> {
        self.lines.iter().filter(|line| line.side != Side::New).collect()
    }

    pub fn new_side(&self) -> Vec<&HunkLine> {
        self.lines.iter().filter(|line| line.side != Side::Old).collect()
    }

    pub fn push(&mut self, side: Side, text: &str) {
        self.lines.push(HunkLine { side, text: text.to_owned(), unended: false });
    }

    /// Notes that the last line has no line break.
    pub fn unend(&mut self) {
        if let Some(last) = self.lines.last_mut() {
            last.unended = true;
        }
    }
}

/// A line of a hunk by its first character; `None` when it is none.
pub fn body_line(line: &str) -> Option<(Side, &str)> {
    let side = match line.bytes().next() {
        // Empty lines of context lose their blank easily.
        None => return Some((Side::Both, "")),
        Some(b' ') => Side::Both,
        Some(b'-') => Side::Old,
        Some(b'+') => Side::New,
        // A tab in the place of the blank is part of the line.
        Some(b'\t') => return Some((Side::Both, line)),
        _ => return None,
    };
    Some((side, &line[1..]))
}

/// `12` and `3` of `-12,3`; the count is 1 where it is left out.
pub fn span(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

/// The numbers of `@@ -a,b +c,d @@`.
pub fn hunk_header(line: &str) -> Option<((usize, usize), (usize, usize))> {
    let inside = line.strip_prefix("@@ ")?;
    let (inside, _) = inside.split_once(" @@").unwrap_or((inside, ""));
    let (old, new) = inside.trim().split_once(' ')?;
    Some((span(old.strip_prefix('-')?)?, span(new.trim().strip_prefix('+')?)?))
}
