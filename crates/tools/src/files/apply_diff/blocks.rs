//! The block format of `apply_diff`, read strictly: a block that is not whole is an error, never skipped.

use super::FileDiff;

/// What is replaced by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// From 1.
    pub start_line: Option<usize>,
    pub search: String,
    pub replacement: String,
}

enum State {
    Outside,
    /// Behind the first marker, before the text begins.
    Head,
    Search,
    Replacement,
}

const SEARCH: &str = "<<<<<<< SEARCH";
const MIDDLE: &str = "=======";
const REPLACE: &str = ">>>>>>> REPLACE";
const RULE: &str = "-------";

/// Reads the blocks of a diff. The error says which line is wrong and what should stand there.
pub fn parse(diff: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut state = State::Outside;
    let (mut search, mut replacement, mut start_line) = (Vec::new(), Vec::new(), None);
    for (index, line) in diff.lines().enumerate() {
        let number = index + 1;
        let mark = line.trim_end();
        let unexpected = |expected: &str| {
            Err(format!(
                "line {number} of the diff is `{mark}` where {expected} was expected; if it belongs to the text, put a \
                 backslash before it"
            ))
        };
        match state {
            State::Outside if mark == SEARCH || mark == "<<<<<<< SEARCH>" => state = State::Head,
            State::Outside if mark.is_empty() || mark.starts_with("```") => {}
            State::Outside => return unexpected(&format!("`{SEARCH}`")),
            State::Head if is_hint(mark, ":start_line:") => {
                let said = mark.trim_start_matches(":start_line:").trim();
                let line = said.parse::<usize>().map_err(|_| {
                    format!("line {number} of the diff: `:start_line:` needs a number, not `{said}`")
                })?;
                start_line = Some(line).filter(|line| *line > 0);
            }
            State::Head if is_hint(mark, ":end_line:") => {}
            State::Head if mark == RULE => state = State::Search,
            State::Head | State::Search if mark == MIDDLE => state = State::Replacement,
            State::Head | State::Search if is_marker(mark) => return unexpected(&format!("`{MIDDLE}`")),
            State::Head | State::Search => {
                search.push(unescaped(line));
                state = State::Search;
            }
            State::Replacement if mark == REPLACE => {
                let joined = |lines: &[&str]| lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
                blocks.push(Block {
                    start_line: start_line.take(),
                    search: joined(&search),
                    replacement: joined(&replacement),
                });
                search.clear();
                replacement.clear();
                state = State::Outside;
            }
            State::Replacement if is_marker(mark) => return unexpected(&format!("`{REPLACE}`")),
            State::Replacement => replacement.push(unescaped(line)),
        }
    }
    match state {
        State::Outside if blocks.is_empty() => {
            Err(format!("the diff has no block; begin with a line `{SEARCH}`"))
        }
        State::Outside => Ok(blocks),
        State::Head | State::Search => Err(format!("the diff ends before `{MIDDLE}`; nothing was changed")),
        State::Replacement => Err(format!("the diff ends before `{REPLACE}`; nothing was changed")),
    }
}

fn is_hint(line: &str, hint: &str) -> bool {
    line.starts_with(hint)
}

/// Whether a line would be read as a marker. A row of `=` or `-` of another length is text.
fn is_marker(line: &str) -> bool {
    line == MIDDLE
        || line.starts_with("<<<<<<< ")
        || line.starts_with(">>>>>>> ")
        || line == "<<<<<<<"
        || line == ">>>>>>>"
}

/// A line without the backslash that keeps it from being read as a marker.
fn unescaped(line: &str) -> &str {
    match line.strip_prefix('\\') {
        Some(rest)
            if is_marker(rest.trim_end())
                || rest.starts_with("<<<<<<<")
                || rest.starts_with(">>>>>>>")
                || rest.trim_end() == RULE
                || rest.starts_with(":start_line:")
                || rest.starts_with(":end_line:") =>
        {
            rest
        }
        _ => line,
    }
}

/// Roo-Code's XML form for several files.
pub fn from_xml(text: &str) -> Result<Vec<FileDiff>, String> {
    let mut files = Vec::new();
    let mut rest = text;
    while let Some((file, after)) = element(rest, "file") {
        let path = element(file, "path").map(|(path, _)| path.trim());
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return Err("a `<file>` in `args` has no `<path>`".to_owned());
        };
        let mut diffs = String::new();
        let mut inner = file;
        while let Some((diff, after_diff)) = element(inner, "diff") {
            let content = element(diff, "content").map_or(diff, |(content, _)| content);
            let content = content.trim_start_matches('\n');
            let content =
                content.trim().strip_prefix("<![CDATA[").map_or(content, |data| data.trim_end_matches("]]>"));
            let hint = element(diff, "start_line").and_then(|(line, _)| line.trim().parse::<usize>().ok());
            diffs.push_str(&with_hint(content, hint));
            diffs.push('\n');
            inner = after_diff;
        }
        if diffs.is_empty() {
            return Err(format!("`{path}` in `args` has no `<diff>`"));
        }
        files.push(FileDiff { file_path: path.to_owned(), diff: diffs });
        rest = after;
    }
    if files.is_empty() {
        return Err("`args` has no `<file>`".to_owned());
    }
    Ok(files)
}

/// Puts a hint that stands beside a block into it.
fn with_hint(content: &str, hint: Option<usize>) -> String {
    match (hint, content.trim_start().strip_prefix(SEARCH)) {
        (Some(line), Some(rest))
            if !content.contains(":start_line:") && content.matches(SEARCH).count() == 1 =>
        {
            format!("{SEARCH}\n:start_line:{line}\n{RULE}{}", rest.strip_prefix("\n-------").unwrap_or(rest))
        }
        _ => content.to_owned(),
    }
}

/// The inside of the first element of a name, and what follows it. A `diff` ends at the last end tag before the next
/// one begins: its text may contain anything.
fn element<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let start = text.find(&open)? + open.len();
    let inside = &text[start..];
    let limit = inside.find(&open).unwrap_or(inside.len());
    let end = inside[..limit].rfind(&close)?;
    Some((&inside[..end], &inside[end + close.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_or_refused() {
        let diff = "<<<<<<< SEARCH\n:start_line:3\n-------\na\n\\=======\n=======\nb\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nc\n=======\n>>>>>>> REPLACE\n";
        let blocks = parse(diff).expect("blocks");
        let expected = [
            Block { start_line: Some(3), search: "a\n=======\n".into(), replacement: "b\n".into() },
            Block { start_line: None, search: "c\n".into(), replacement: String::new() },
        ];
        assert_eq!(blocks, expected);
        for (diff, told) in [
            ("", "no block"),
            ("hello", "line 1 of the diff is `hello`"),
            ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE", "line 3"),
            ("<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE", "line 5"),
            ("<<<<<<< SEARCH\na\n=======\nb\n", "ends before `>>>>>>> REPLACE`"),
            ("<<<<<<< SEARCH\na\n", "ends before `=======`"),
            ("<<<<<<< SEARCH\n:start_line:x\n=======\n>>>>>>> REPLACE", "needs a number"),
            ("<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", "line 1"),
        ] {
            let error = parse(diff).expect_err(diff);
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn several_files_as_xml() {
        let args = "<file><path>a.rs</path><diff><content>\n<<<<<<< SEARCH\n</diff>\n=======\ny\n>>>>>>> REPLACE\n</content><start_line>4</start_line></diff></file>\n<file><path>b.rs</path><diff>\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE\n</diff></file>";
        let files = from_xml(args).expect("files");
        assert_eq!(files.len(), 2);
        assert_eq!(parse(&files[0].diff).expect("blocks")[0].start_line, Some(4));
        assert_eq!(parse(&files[0].diff).expect("blocks")[0].search, "</diff>\n");
        assert_eq!(parse(&files[1].diff).expect("blocks")[0].search, "c\n");
        assert!(from_xml("<file><diff>x</diff></file>").is_err());
    }
}
