//! Unified diffs, plain and as git writes them.

use stepwell_workspace::Executable;

use super::model::{FilePatch, Hunk, Kind, body_line, hunk_header};

/// What the lines before a file's first hunk say.
#[derive(Default)]
struct Head {
    old: Option<String>,
    new: Option<String>,
    rename_from: Option<String>,
    rename_to: Option<String>,
    created: bool,
    deleted: bool,
    mode: Option<Executable>,
    /// Whether anything was said at all.
    any: bool,
}

/// Reads a patch. The error says which line is wrong.
pub fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let lines: Vec<&str> = patch.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let mut files = Vec::new();
    let mut head = Head::default();
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        at += 1;
        if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err("the patch changes a binary file, which cannot be done".to_owned());
        }
        if line.starts_with("@@") {
            let (hunk, after) = hunk(&lines, at - 1)?;
            hunks.push(hunk);
            at = after;
            continue;
        }
        let begins = line.starts_with("diff --git ") || line.starts_with("--- ") && next.starts_with("+++ ");
        if begins && (!hunks.is_empty() || head.any && line.starts_with("diff --git ")) {
            files.push(finished(std::mem::take(&mut head), std::mem::take(&mut hunks)));
        }
        if line.starts_with("--- ") && next.starts_with("+++ ") {
            head.any = true;
            head.created |= line.trim_end() == "--- /dev/null" || line.starts_with("--- /dev/null\t");
            head.deleted |= next.trim_end() == "+++ /dev/null" || next.starts_with("+++ /dev/null\t");
            head.old = path(&line[4..]);
            head.new = path(&next[4..]);
            at += 1;
            continue;
        }
        head.read(line);
    }
    if head.any || !hunks.is_empty() {
        files.push(finished(head, hunks));
    }
    if files.is_empty() {
        return Err("it is no patch: it has neither `@@` nor `*** Begin Patch`".to_owned());
    }
    Ok(files)
}

impl Head {
    /// A line of git's own header; anything else is a remark.
    fn read(&mut self, line: &str) {
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.any = true;
            if let Some((old, new)) = git_names(names) {
                self.old = Some(old);
                self.new = Some(new);
            }
            return;
        }
        if !self.any {
            return;
        }
        let executable =
            |mode: &str| if mode.trim().ends_with("755") { Executable::Yes } else { Executable::No };
        if let Some(mode) = line.strip_prefix("new file mode ") {
            self.created = true;
            self.mode = Some(executable(mode));
        } else if line.starts_with("deleted file mode ") {
            self.deleted = true;
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.mode = Some(executable(mode));
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.rename_from = Some(unquoted(name));
        } else if let Some(name) = line.strip_prefix("rename to ") {
            self.rename_to = Some(unquoted(name));
        }
    }
}

fn finished(head: Head, hunks: Vec<Hunk>) -> FilePatch {
    let kind = match (head.created, head.deleted) {
        (true, _) => Kind::Add,
        (false, true) => Kind::Delete,
        (false, false) => Kind::Update,
    };
    FilePatch {
        old_path: head.rename_from.or(head.old).filter(|_| kind != Kind::Add),
        new_path: head.rename_to.or(head.new).filter(|_| kind != Kind::Delete),
        kind,
        hunks,
        executable: head.mode.unwrap_or(Executable::Keep),
    }
}

/// One hunk and the number of the line after it. Its counts say where it ends only when it agrees with them: models
/// miscount.
fn hunk(lines: &[&str], at: usize) -> Result<(Hunk, usize), String> {
    let header = lines[at];
    let numbers = hunk_header(header);
    let mut hunk = Hunk { start: numbers.map(|(old, _)| old.0), ..Hunk::default() };
    let (mut old_left, mut new_left) = numbers.map_or((usize::MAX, usize::MAX), |(old, new)| (old.1, new.1));
    if numbers.is_none() {
        let anchor = header.trim_matches('@').trim();
        if !anchor.is_empty() && anchor != "..." {
            hunk.anchors.push(anchor.to_owned());
        }
    }
    let mut next = at + 1;
    while let Some(line) = lines.get(next) {
        let is_complete = old_left == 0 && new_left == 0;
        let following = lines.get(next + 1).copied().unwrap_or_default();
        if line.starts_with('\\') {
            hunk.unend();
            next += 1;
            continue;
        }
        let is_header = line.starts_with("--- ") && following.starts_with("+++ ");
        let ends = line.starts_with("@@")
            || line.starts_with("diff --git ")
            || (is_complete || numbers.is_none()) && is_header
            || is_complete && (line.is_empty() || *line == "-- ")
            || line.is_empty() && lines[next..].iter().all(|rest| rest.is_empty());
        if ends {
            break;
        }
        let Some((side, text)) = body_line(line) else {
            if is_complete || line.starts_with("```") {
                break;
            }
            return Err(format!(
                "line {} of the patch begins with neither ` `, `+` nor `-`: `{}`",
                next + 1,
                line.chars().take(80).collect::<String>()
            ));
        };
        hunk.push(side, text);
        let take =
            |left: &mut usize| *left = if *left == usize::MAX { usize::MAX } else { left.saturating_sub(1) };
        if side != super::model::Side::New {
            take(&mut old_left);
        }
        if side != super::model::Side::Old {
            take(&mut new_left);
        }
        next += 1;
    }
    if hunk.lines.is_empty() {
        return Err(format!("the hunk at line {} of the patch is empty", at + 1));
    }
    Ok((hunk, next))
}

/// The path of a `---` or `+++` line; `None` for /dev/null.
fn path(text: &str) -> Option<String> {
    // A time may follow after a tab.
    let name = if text.starts_with('"') { text } else { text.split('\t').next().unwrap_or(text) };
    let name = unquoted(name.trim_end());
    (name != "/dev/null" && !name.is_empty()).then_some(name)
}

/// The two names of `diff --git a/x b/x`.
fn git_names(text: &str) -> Option<(String, String)> {
    let text = text.trim_end();
    if let Some(rest) = text.strip_prefix('"') {
        let end = rest.find("\" ")?;
        return Some((unquoted(&text[..end + 2]), unquoted(&rest[end + 2..])));
    }
    // Names may contain blanks: both halves are the same but for their first letter.
    let middle = text
        .match_indices(" b/")
        .map(|(at, _)| at)
        .find(|at| text.get(2..*at) == text.get(at + 3..))
        .or_else(|| text.find(" b/"))?;
    Some((text[..middle].to_owned(), text[middle + 1..].to_owned()))
}

/// A name as git quotes it: `"a/\303\244.txt"`.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return name.trim().to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'3') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.push(value as u8);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
