//! Edits of real-looking sources, spoiled the way models spoil them. The same seed gives the same attempts.

use serde_json::{Value, json};

use super::Attempt;

const SOURCES: [(&str, &str); 5] = [
    ("cache.rs", include_str!("../../corpus/sample.rs.txt")),
    ("totals.py", include_str!("../../corpus/sample.py.txt")),
    ("queue.go", include_str!("../../corpus/sample.go.txt")),
    ("loader.js", include_str!("../../corpus/sample.js.txt")),
    ("guide.md", include_str!("../../corpus/sample.md.txt")),
];

/// How what the model says differs from what is there.
const SPOILS: [&str; 18] = [
    "exact",
    "trailing blanks",
    "deeper",
    "less deep",
    "tabs for blanks",
    "runs of blanks",
    "curly quotes",
    "no-break spaces",
    "escaped",
    "line numbers",
    "blank lines around",
    "wrong line",
    "drifted line",
    "drifted target",
    "omitted part",
    "file twice",
    "typing error",
    "exact, no final newline",
];

const FORMS: [&str; 7] = ["lf", "crlf", "cr", "mark", "utf16", "gbk", "lf"];
const TOOLS: [&str; 5] = ["edit", "batch_edit", "apply_diff", "patch", "begin patch"];

pub struct Generator {
    state: u64,
}

/// A window of a file and what it becomes.
struct Change {
    start: usize,
    old: Vec<String>,
    new: Vec<String>,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number below a limit (xorshift64*).
    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    pub fn next(&mut self) -> Attempt {
        loop {
            if let Some(attempt) = self.attempt() {
                return attempt;
            }
        }
    }

    /// `None` where the spoiled text is exactly that of another place: then nobody can tell what was meant.
    fn attempt(&mut self) -> Option<Attempt> {
        let (path, text) = SOURCES[self.below(SOURCES.len())];
        let spoil = self.pick(&SPOILS);
        let tool = self.pick(&TOOLS);
        let form = self.pick(&FORMS);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let change = self.change(&lines);
        let mut before = lines.clone();
        let (mut search, mut replacement) = (change.old.clone(), change.new.clone());
        let mut hint = change.start + 1;
        let mut expected_new = change.new.clone();
        match spoil {
            "file twice" => before.extend(lines.iter().cloned()),
            "wrong line" => hint = (hint + self.below(30)).saturating_sub(self.below(30)).max(1),
            "drifted line" | "drifted target" => {
                // Someone changed a line of the window meanwhile.
                let kept = |line: &String| change.new.contains(line) == (spoil == "drifted line");
                let candidates: Vec<usize> = (0..change.old.len())
                    .filter(|at| kept(&change.old[*at]) && change.old[*at].trim().len() > 6)
                    .collect();
                if let Some(at) = candidates.get(self.below(candidates.len())) {
                    let drifted = format!("{} // changed since", change.old[*at]);
                    before[change.start + at].clone_from(&drifted);
                    let old = &change.old[*at];
                    for line in expected_new.iter_mut().filter(|line| *line == old) {
                        line.clone_from(&drifted);
                    }
                }
            }
            "omitted part" if search.len() > 3 => {
                let middle = search.len() - 2;
                search.splice(1..=middle, ["    ...".to_owned()]);
            }
            "typing error" => {
                let at = self.below(search.len());
                search[at].push_str("xq");
            }
            _ => spoil_lines(spoil, &change, &mut search, &mut replacement),
        }
        let is_elsewhere =
            |(start, window): (usize, &[String])| start != change.start && window == search.as_slice();
        if spoil != "file twice" && before.windows(search.len()).enumerate().any(is_elsewhere) {
            return None;
        }
        let mut after = before.clone();
        after.splice(change.start..change.start + change.old.len(), expected_new);
        let ended = spoil != "exact, no final newline";
        let arguments = self.arguments(tool, path, spoil, &search, &replacement, hint);
        Some(Attempt {
            kind: spoil.to_owned(),
            tool: if tool == "begin patch" { "patch" } else { tool }.to_owned(),
            path: path.to_owned(),
            arguments,
            before: stored(&before, form, ended),
            after: stored(&after, form, ended),
        })
    }

    /// A window of lines that is there once, and a change of it.
    fn change(&mut self, lines: &[String]) -> Change {
        loop {
            let start = self.below(lines.len());
            let count = (1 + self.below(7)).min(lines.len() - start);
            let old = lines[start..start + count].to_vec();
            let is_blank = |line: &String| line.trim().is_empty();
            let text = |lines: &[String]| format!("{}\n", lines.join("\n"));
            let places = text(lines).matches(&text(&old)).count();
            if places != 1 || old.iter().all(is_blank) || is_blank(&old[0]) || is_blank(&old[count - 1]) {
                continue;
            }
            let mut new = old.clone();
            let at = self.below(count);
            // How deep a line stands that takes the place of an empty one cannot be told.
            if is_blank(&old[at]) {
                continue;
            }
            let indent: String = old[at].chars().take_while(|character| character.is_whitespace()).collect();
            match self.below(4) {
                0 => new.insert(at + 1, format!("{indent}inserted_line(1);")),
                1 if count > 1 => drop(new.remove(at)),
                2 => new
                    .splice(at..=at, [format!("{indent}first(2);"), format!("{indent}second(3);")])
                    .for_each(drop),
                _ => new[at] = format!("{} + changed(4)", old[at]),
            }
            return Change { start, old, new };
        }
    }

    fn arguments(
        &mut self,
        tool: &str,
        path: &str,
        spoil: &str,
        search: &[String],
        replacement: &[String],
        hint: usize,
    ) -> Value {
        let escaped = |text: String| text.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"");
        let text = |lines: &[String]| {
            let text = lines.join("\n");
            // Of one line alone nobody can tell that it was escaped.
            if spoil == "escaped" && search.len() > 1 { escaped(text) } else { text }
        };
        let body = |lines: &[String]| lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>();
        match tool {
            "edit" | "batch_edit" => {
                // A whole window: with its line break, or a deletion would leave an empty line.
                let end = if spoil == "escaped" { "" } else { "\n" };
                let mut edit = json!({
                    "old_str": format!("{}{end}", text(search)),
                    "new_str": format!("{}{end}", text(replacement)),
                });
                if spoil == "exact, no final newline" {
                    edit = json!({"old_str": search.join("\n"), "new_str": replacement.join("\n")});
                }
                if tool == "edit" { edit } else { json!({ "edits": [edit] }) }
            }
            "apply_diff" => {
                let hint = if self.below(3) == 0 && spoil != "file twice" {
                    String::new()
                } else {
                    format!(":start_line:{hint}\n-------\n")
                };
                let diff = format!(
                    "<<<<<<< SEARCH\n{hint}{}=======\n{}>>>>>>> REPLACE\n",
                    body(search),
                    body(replacement)
                );
                json!({ "diff": diff })
            }
            _ => {
                let marked = |mark: char, lines: &[String]| -> String {
                    lines.iter().flat_map(|line| [mark.to_string(), line.clone(), "\n".to_owned()]).collect()
                };
                let change = format!("{}{}", marked('-', search), marked('+', replacement));
                let patch = if tool == "patch" {
                    let header = format!("@@ -{hint},{} +{hint},{} @@", search.len(), replacement.len());
                    format!("--- a/{path}\n+++ b/{path}\n{header}\n{change}")
                } else {
                    format!("*** Begin Patch\n*** Update File: {path}\n@@\n{change}*** End Patch\n")
                };
                json!({ "patch_content": patch })
            }
        }
    }
}

/// Spoils lines: those of the search, and those the replacement keeps, in the same way.
fn spoil_lines(how: &str, change: &Change, search: &mut Vec<String>, replacement: &mut Vec<String>) {
    let everywhere = matches!(how, "deeper" | "less deep" | "tabs for blanks");
    let spoiled = |line: &str| -> String {
        let body = line.trim_start();
        let indent = &line[..line.len() - body.len()];
        match how {
            "trailing blanks" => format!("{line}  "),
            "deeper" if !body.is_empty() => format!("    {line}"),
            "less deep" => line.strip_prefix("    ").unwrap_or(line).to_owned(),
            "tabs for blanks" => format!("{}{body}", indent.replace("    ", "\t")),
            "runs of blanks" => format!("{indent}{}", body.replace(' ', "  ")),
            "curly quotes" => line.replace('"', "\u{201d}").replace('\'', "\u{2019}"),
            "no-break spaces" => format!("{indent}{}", body.replace(' ', "\u{a0}")),
            _ => line.to_owned(),
        }
    };
    for line in search.iter_mut() {
        *line = spoiled(line);
    }
    for line in replacement.iter_mut().filter(|line| everywhere || change.old.contains(line)) {
        *line = spoiled(line);
    }
    if how == "blank lines around" {
        for lines in [search, replacement] {
            lines.insert(0, String::new());
            lines.push(String::new());
        }
    } else if how == "line numbers" {
        let first = change.start + 1;
        for lines in [search, replacement] {
            *lines =
                lines.iter().enumerate().map(|(nth, line)| format!("{:>6}\t{line}", first + nth)).collect();
        }
    }
}

/// The lines as a file of a form holds them.
fn stored(lines: &[String], form: &str, ended: bool) -> Vec<u8> {
    let line_end = match form {
        "crlf" | "utf16" => "\r\n",
        "cr" => "\r",
        _ => "\n",
    };
    let mut text = lines.join(line_end);
    if ended {
        text.push_str(line_end);
    }
    match form {
        "mark" => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        "utf16" => [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
        // A comment in GBK before the rest, where the rest has nothing GBK lacks.
        "gbk" if text.is_ascii() => {
            let comment: &[u8] = b"// \xc9\xe8\xd6\xc3\xb3\xac\xca\xb1\xca\xb1\xbc\xe4\xa3\xac\xb5\xa5\xce\xbb\xce\xaa\xc3\xeb";
            // At the end, so that line numbers stay right.
            [text.as_bytes(), if ended { b"" } else { b"\n" }, comment, b"\n"].concat()
        }
        _ => text.into_bytes(),
    }
}
