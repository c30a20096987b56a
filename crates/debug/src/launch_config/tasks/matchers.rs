//! When a task that never ends is ready: the patterns of its problem matcher, read line by line.

use regex::Regex;
use serde_json::Value;

use crate::launch_config::error::{LaunchError, Result};

/// Lines are matched up to this length.
const LONGEST_LINE: usize = 8 * 1024;

/// How a task says that it has begun and ended a round of work.
#[derive(Clone, Debug)]
pub struct Background {
    active_on_start: bool,
    begins: Option<Regex>,
    ends: Regex,
}

/// Matchers that VS Code or widely used extensions bring along: name, begin, end.
const NAMED: &[(&str, &str, &str)] = &[
    (
        "$tsc-watch",
        r"(?:Starting compilation in watch mode|File change detected\. Starting incremental compilation)\.\.\.",
        r"(?:Compilation complete\.|Found \d+ errors?\.) Watching for file changes\.",
    ),
    ("$esbuild-watch", r"\[watch\] build started", r"\[watch\] build finished"),
    ("$esbuild", r"\[watch\] build started", r"\[watch\] build finished"),
    ("$rustc-watch", r"^\[Running\b", r"^\[Finished running\b"),
    (
        "$ts-webpack-watch",
        r"[Cc]ompil(?:ing|ation starting)",
        r"[Cc]ompil(?:ed|ation) .*?(?:successfully|with|warnings?|errors?)|webpack .* compiled",
    ),
    (
        "$ts-checker-webpack-watch",
        r"[Ii]ssues? checking|[Cc]ompil(?:ing|ation starting)",
        r"No (?:type )?errors? found|Found \d+ errors?|No issues found",
    ),
    ("$gulp-tsc-watch", r"Starting '", r"Finished '"),
];

impl Background {
    /// The backgrounds of a task's `problemMatcher`: a name, an object, or a list of these.
    pub(super) fn all(label: &str, matcher: Option<&Value>) -> Result<Vec<Self>> {
        match matcher {
            Some(Value::Array(matchers)) => {
                let each: Result<Vec<_>> = matchers.iter().map(|matcher| Self::one(label, matcher)).collect();
                Ok(each?.into_iter().flatten().collect())
            }
            Some(matcher) => Ok(Self::one(label, matcher)?.into_iter().collect()),
            None => Ok(Vec::new()),
        }
    }

    fn one(label: &str, matcher: &Value) -> Result<Option<Self>> {
        match matcher {
            Value::String(name) => Self::named(label, name),
            Value::Object(fields) => {
                let base = match fields.get("base").and_then(Value::as_str) {
                    Some(name) => Self::named(label, name)?,
                    None => None,
                };
                // `watching` is the older word.
                let Some(own) = fields.get("background").or_else(|| fields.get("watching")) else {
                    return Ok(base);
                };
                let pattern = |key: &str| {
                    let written = own.get(key)?;
                    written.as_str().or_else(|| written.get("regexp")?.as_str())
                };
                let begins = match pattern("beginsPattern") {
                    Some(pattern) => Some(compiled(label, pattern)?),
                    None => base.as_ref().and_then(|base| base.begins.clone()),
                };
                let ends = match pattern("endsPattern") {
                    Some(pattern) => Some(compiled(label, pattern)?),
                    None => base.as_ref().map(|base| base.ends.clone()),
                };
                let active_on_start = own.get("activeOnStart").and_then(Value::as_bool);
                let active_on_start =
                    active_on_start.unwrap_or(base.is_some_and(|base| base.active_on_start));
                // Without a pattern for the beginning nothing else could make it active.
                let active_on_start = active_on_start || begins.is_none();
                Ok(ends.map(|ends| Self { active_on_start, begins, ends }))
            }
            _ => Ok(None),
        }
    }

    fn named(label: &str, name: &str) -> Result<Option<Self>> {
        let Some((_, begins, ends)) = NAMED.iter().find(|(known, _, _)| *known == name) else {
            return Ok(None);
        };
        let (begins, ends) = (compiled(label, begins)?, compiled(label, ends)?);
        Ok(Some(Self { active_on_start: true, begins: Some(begins), ends }))
    }
}

fn compiled(label: &str, pattern: &str) -> Result<Regex> {
    regex::RegexBuilder::new(pattern).size_limit(1 << 20).build().map_err(|error| LaunchError::BadTask {
        label: label.to_owned(),
        problem: format!(
            "has the pattern `{pattern}`, which cannot be used: {}",
            error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ")
        ),
    })
}

/// Watches a task's output for the end of its first round.
#[derive(Debug)]
pub(crate) struct Readiness {
    matchers: Vec<(Background, bool)>,
    line: String,
    has_begun: bool,
}

impl Readiness {
    pub(crate) fn new(backgrounds: &[Background]) -> Self {
        let matchers: Vec<_> =
            backgrounds.iter().map(|found| (found.clone(), found.active_on_start)).collect();
        let has_begun = matchers.iter().any(|(_, active)| *active);
        Self { matchers, line: String::new(), has_begun }
    }

    /// Whether the task is ready with this piece of output.
    pub(crate) fn push(&mut self, text: &str) -> bool {
        let mut ready = false;
        for piece in text.split_inclusive(['\n', '\r']) {
            let content = piece.trim_end_matches(['\n', '\r']);
            let mut room = LONGEST_LINE.saturating_sub(self.line.len()).min(content.len());
            while !content.is_char_boundary(room) {
                room -= 1;
            }
            self.line.push_str(&content[..room]);
            if piece.len() > content.len() {
                let line = std::mem::take(&mut self.line);
                ready |= self.line_ends(&without_colours(&line));
            }
        }
        ready
    }

    fn line_ends(&mut self, line: &str) -> bool {
        let mut ended = false;
        for (background, active) in &mut self.matchers {
            if !*active && background.begins.as_ref().is_some_and(|begins| begins.is_match(line)) {
                *active = true;
                self.has_begun = true;
            }
            if *active && background.ends.is_match(line) {
                *active = false;
                ended = true;
            }
        }
        ended && self.has_begun && self.matchers.iter().all(|(_, active)| !active)
    }
}

/// The line without escape sequences of a terminal.
fn without_colours(line: &str) -> String {
    let mut plain = String::new();
    let mut chars = line.chars();
    while let Some(found) = chars.next() {
        if found != '\u{1b}' {
            plain.push(found);
            continue;
        }
        // Of `ESC [ ... letter` everything goes; of any other sequence its one letter.
        if chars.next() == Some('[') {
            chars.by_ref().find(|found| ('@'..='~').contains(found));
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn ready_after(matcher: &Value, lines: &[&str]) -> Option<usize> {
        let mut readiness = Readiness::new(&Background::all("t", Some(matcher)).unwrap());
        lines.iter().position(|line| readiness.push(&format!("{line}\n")))
    }

    #[test]
    fn tasks_are_ready_when_their_round_ends() {
        let own = json!({"background": {"activeOnStart": false, "beginsPattern": "^go$", "endsPattern": {"regexp": "^done"}}});
        let rows: [(Value, &[&str], Option<usize>); 9] = [
            (
                json!("$tsc-watch"),
                &[
                    "[10:00:00 AM] Starting compilation in watch mode...",
                    "",
                    "x.ts(1,1): error",
                    "[10:00:01 AM] Found 0 errors. Watching for file changes.",
                ],
                Some(3),
            ),
            (
                json!(["$tsc-watch"]),
                &["\u{1b}[90m10:00\u{1b}[0m - Found 1 error. Watching for file changes."],
                Some(0),
            ),
            (own.clone(), &["done early", "go", "done 1"], Some(2)),
            (own, &["done"], None),
            (json!({"background": {"endsPattern": "ready"}}), &["not yet", "ready"], Some(1)),
            (
                json!({"base": "$tsc-watch", "background": {"endsPattern": "listening"}}),
                &["Found 0 errors. Watching for file changes.", "listening"],
                Some(1),
            ),
            (
                json!([{"background": {"endsPattern": "a"}}, {"background": {"endsPattern": "b"}}]),
                &["a", "c", "b"],
                Some(2),
            ),
            (json!("$gcc"), &["anything"], None),
            (
                json!("$esbuild-watch"),
                &["[watch] build started", "[watch] build finished, watching for changes..."],
                Some(1),
            ),
        ];
        for (matcher, lines, expected) in rows {
            assert_eq!(ready_after(&matcher, lines), expected, "{matcher} {lines:?}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_used_is_said() {
        let error =
            Background::all("t", Some(&json!({"background": {"endsPattern": "(?<!a)b"}}))).unwrap_err();
        assert!(error.to_string().contains("task `t` has the pattern `(?<!a)b`"), "{error}");
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[a-c\ré\u{1b}\\[m]{0,30}", cut in 0usize..30) {
            let matcher = json!({"background": {"endsPattern": "^a+b"}});
            let background = Background::all("t", Some(&matcher)).unwrap();
            let whole = format!("{text}\n");
            let mut cut = cut.min(whole.len());
            while !whole.is_char_boundary(cut) {
                cut -= 1;
            }
            let expected = Readiness::new(&background).push(&whole);
            let mut pieces = Readiness::new(&background);
            let ready = pieces.push(&whole[..cut]);
            prop_assert_eq!(ready | pieces.push(&whole[cut..]), expected);
        }
    }
}
