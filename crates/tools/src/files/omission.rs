//! Content that is not what was meant: parts left out with a comment, a fence around it, line numbers in it, the
//! placeholder of a hidden secret.

use stepwell_tool_runtime::{Redactor, ToolError};

use super::matching::without_numbers;
use super::service::Change;

/// Refuses a change that would put a stand-in where real text was.
pub fn check(change: &Change, redactor: &Redactor) -> Result<(), ToolError> {
    const PLACEHOLDER: &str = "[redacted:";
    let (old, new) = (change.old_text(), change.new_text());
    if old.is_empty() || new.is_empty() {
        return Ok(());
    }
    let path = change.place.display();
    if let Some((line, marker)) = marker(old, new) {
        return Err(ToolError::validation(format!(
            "`{path}` was not changed: line {line} of the new text stands for code that was left out (`{marker}`); \
             write the text in full, or use `edit` for the part that changes"
        )));
    }
    // What was hidden from the model comes back as its placeholder.
    let count = |text: &str| text.matches(PLACEHOLDER).count();
    if count(new) > count(old) && count(&redactor.redact(old)) > count(old) {
        return Err(ToolError::validation(format!(
            "`{path}` was not changed: the new text has `{PLACEHOLDER}…]` where the file has a secret that was hidden \
             from you; use `edit` on the lines around it"
        )));
    }
    Ok(())
}

/// The first line of the new text that stands for text left out and is not in the old, with its number.
pub fn marker<'a>(old: &str, new: &'a str) -> Option<(usize, &'a str)> {
    let found = new.lines().enumerate().find(|(_, line)| {
        let line = line.trim();
        stands_for_omission(line) && !old.lines().any(|other| other.trim() == line)
    });
    found.map(|(index, line)| (index + 1, line.trim()))
}

const COMMENT_LEADERS: &[&str] = &[
    "//", "#", "--", "/*", "<!--", "*", ";", "%", "{/*", "\"\"\"", "'''", "[", "(", "<", "...", "…", "REM ",
    "'",
];
/// With dots these say that something was left out.
const WITH_DOTS: &[&str] = &[
    "rest of",
    "existing",
    "remaining",
    "unchanged",
    "same as before",
    "previous code",
    "other code",
    "original code",
    "omitted",
    "as before",
    "code here",
    "其余",
    "其他代码",
    "现有代码",
    "原有代码",
    "保持不变",
    "省略",
];
/// These say it without.
const WITHOUT_DOTS: &[&str] = &[
    "rest of code unchanged",
    "rest of the code unchanged",
    "rest of code remains",
    "rest of the code remains",
    "rest of the file remains",
    "rest of file unchanged",
    "rest of the file unchanged",
    "rest of the function remains",
    "remaining code unchanged",
    "remaining code remains",
    "existing code here",
    "existing code unchanged",
    "keep existing code",
    "code unchanged",
    "其余代码不变",
    "其余代码保持不变",
];

fn stands_for_omission(line: &str) -> bool {
    const LONGEST: usize = 160;
    if line.len() > LONGEST || !COMMENT_LEADERS.iter().any(|leader| line.starts_with(leader)) {
        return false;
    }
    let lower = line.to_lowercase();
    let dots = lower.contains("...") || lower.contains('…');
    dots && WITH_DOTS.iter().any(|phrase| lower.contains(phrase))
        || WITHOUT_DOTS.iter().any(|phrase| lower.contains(phrase))
}

/// Content as it was meant, with notes on what was taken off it.
pub fn cleaned(path: &str, content: &str) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    let mut text = content.to_owned();
    if let Some(inner) = without_fence(path, &text) {
        text = inner;
        notes.push("the Markdown fence around the content was left out".to_owned());
    }
    if text.lines().count() > 1
        && let Some((1, inner)) = without_numbers(&text)
    {
        text = inner;
        notes.push("the line numbers in the content were left out".to_owned());
    }
    (text, notes)
}

/// The text inside a fence that is around the whole of it. Markdown files may be meant to be just that.
fn without_fence(path: &str, content: &str) -> Option<String> {
    let is_markdown =
        [".md", ".mdx", ".markdown", ".rst", ".txt"].iter().any(|end| path.to_lowercase().ends_with(end));
    let body = content.trim();
    let (first, rest) = body.split_once('\n')?;
    let language = first.trim_end().strip_prefix("```")?;
    let inner = rest.strip_suffix("```")?;
    let is_plain =
        language.chars().all(|character| character.is_alphanumeric() || "+#-_.:/".contains(character));
    let is_nested = inner.lines().any(|line| line.trim_start().starts_with("```"));
    (!is_markdown && is_plain && !is_nested && (inner.is_empty() || inner.ends_with('\n')))
        .then(|| inner.to_owned())
}

/// What to say about content that has far fewer lines than were announced or than the file had.
pub fn shrink(old: &str, new: &str) -> Option<String> {
    const WORTH_A_WORD: usize = 50;
    let (before, after) = (old.lines().count(), new.lines().count());
    (before >= WORTH_A_WORD && after * 5 < before).then(|| {
        format!(
            "the file had {before} lines and has {after} now; if that was not meant, write it again in full"
        )
    })
}

/// Refuses content that ends long before the line its writer announced.
pub fn check_line_count(content: &str, announced: usize) -> Result<(), ToolError> {
    let lines = content.lines().count();
    // Models miscount; a part that is missing is more than a tenth.
    if announced > lines + 5 && lines * 10 < announced * 9 {
        return Err(ToolError::validation(format!(
            "`content` has {lines} lines and `line_count` says {announced}: it seems to be cut off; nothing was \
             written; send the whole content, in parts with `insert` if it is long"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_omitted_code_is_known() {
        for line in [
            "// ... existing code ...",
            "# rest of code unchanged",
            "<!-- ... rest of the page ... -->",
            "/* ... remaining methods ... */",
            "-- ... existing columns",
            "... rest of the file unchanged ...",
            "{/* ... existing code ... */}",
            "// Rest of the code remains the same",
            "# ... 其余代码保持不变 ...",
            "// … existing code …",
            "[... rest of function ...]",
        ] {
            assert!(stands_for_omission(line), "{line}");
        }
        for line in [
            "// Leaves the rest of the line to the caller.",
            "let rest = ...;",
            "# existing users keep their settings",
            "fn unchanged() {}",
            "// see the remaining cases below",
            "* the rest of the list",
            "println!(\"... existing code ...\");",
        ] {
            assert!(!stands_for_omission(line), "{line}");
        }
        assert_eq!(marker("// ... existing code ...\n", "x\n// ... existing code ...\n"), None);
    }

    #[test]
    fn fences_and_line_numbers_are_taken_off() {
        for (path, content, expected) in [
            ("a.rs", "```rust\nfn main() {}\n```", "fn main() {}\n"),
            ("a.rs", "```\nx\n```\n", "x\n"),
            ("a.md", "```rust\nfn main() {}\n```", "```rust\nfn main() {}\n```"),
            ("a.rs", "```rust\na\n```\nand\n```\nb\n```", "```rust\na\n```\nand\n```\nb\n```"),
            ("a.py", "     1\timport os\n     2\tprint(1)\n", "import os\nprint(1)\n"),
            ("a.tsv", "7\tx\n8\ty\n", "7\tx\n8\ty\n"),
            ("a.txt", "1 apple\n2 pears\n", "1 apple\n2 pears\n"),
        ] {
            assert_eq!(cleaned(path, content).0, expected, "{path}");
        }
    }
}
