//! How a repository's commits are written: prefixes, capitals, tense, bodies. Learned from the newest ones.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;

/// Types of the conventional form.
const TYPES: &[&str] =
    &["feat", "fix", "docs", "chore", "refactor", "test", "build", "ci", "perf", "style", "revert"];

/// How subjects begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrefixStyle {
    /// `feat(parser): add arrays`.
    Conventional,
    /// `parser: Add arrays`.
    Area,
    /// `[parser] Add arrays`.
    Bracketed,
    /// `ABC-12 Add arrays`.
    Ticket,
    /// `Add arrays`.
    Plain,
}

/// What most commits have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommitHabits {
    pub prefix: PrefixStyle,
    /// Whether the conventional form names a scope.
    pub scope: bool,
    pub capital: bool,
    /// `Added` instead of `Add`.
    pub past_tense: bool,
    pub period: bool,
    pub body: bool,
    pub signed_off: bool,
    /// Prefixes that were used, the most frequent first.
    pub prefixes: Vec<String>,
}

static TICKET: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[A-Z][A-Z0-9]+-\d+\b").ok());
static CONVENTIONAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^([a-z]+)(?:\(([^)]+)\))?!?: (.*)").ok());
static AREA: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^([A-Za-z0-9_./{},*-]+(?: [a-z-]+)?): (.*)").ok());
static BRACKETED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\[([^\]]+)\] ?(.*)").ok());

/// A subject taken apart.
struct Subject<'t> {
    style: PrefixStyle,
    prefix: Option<&'t str>,
    scope: Option<&'t str>,
    rest: &'t str,
}

fn take_apart(subject: &str) -> Subject<'_> {
    let find =
        |shape: &'static LazyLock<Option<Regex>>| shape.as_ref().and_then(|shape| shape.captures(subject));
    if let Some(found) = find(&CONVENTIONAL)
        && let (Some(kind), Some(rest)) = (found.get(1), found.get(3))
        && TYPES.contains(&kind.as_str())
    {
        let scope = found.get(2).map(|scope| scope.as_str());
        return Subject { style: PrefixStyle::Conventional, prefix: scope, scope, rest: rest.as_str() };
    }
    for (shape, style) in [(&BRACKETED, PrefixStyle::Bracketed), (&AREA, PrefixStyle::Area)] {
        if let Some(found) = find(shape)
            && let (Some(prefix), Some(rest)) = (found.get(1), found.get(2))
        {
            return Subject { style, prefix: Some(prefix.as_str()), scope: None, rest: rest.as_str() };
        }
    }
    if let Some(found) = TICKET.as_ref().and_then(|shape| shape.find(subject)) {
        let rest = subject[found.end()..].trim_start_matches([':', ' ', '-']);
        return Subject { style: PrefixStyle::Ticket, prefix: Some(found.as_str()), scope: None, rest };
    }
    Subject { style: PrefixStyle::Plain, prefix: None, scope: None, rest: subject }
}

impl CommitHabits {
    /// Learns from messages: subject and body of each.
    pub fn of(messages: &[(&str, &str)]) -> Self {
        let subjects: Vec<Subject<'_>> = messages
            .iter()
            .map(|(subject, _)| take_apart(subject))
            .filter(|subject| !subject.rest.is_empty())
            .collect();
        let share = |of: &dyn Fn(&Subject<'_>) -> bool| subjects.iter().filter(|subject| of(subject)).count();
        let most = |count: usize| count > 0 && count * 5 >= subjects.len() * 2;
        let styles =
            [PrefixStyle::Conventional, PrefixStyle::Bracketed, PrefixStyle::Area, PrefixStyle::Ticket];
        let prefix = styles
            .into_iter()
            .map(|style| (share(&|subject| subject.style == style), style))
            .filter(|(count, _)| most(*count))
            .max_by_key(|(count, _)| *count)
            .map_or(PrefixStyle::Plain, |(_, style)| style);
        let mut used: BTreeMap<&str, usize> = BTreeMap::new();
        for name in
            subjects.iter().filter(|subject| subject.style == prefix).filter_map(|subject| subject.prefix)
        {
            *used.entry(name).or_default() += 1;
        }
        let mut prefixes: Vec<(&str, usize)> = used.into_iter().collect();
        prefixes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let first_word =
            |subject: &Subject<'_>| subject.rest.split(' ').next().unwrap_or_default().to_lowercase();
        let half = |count: usize| count * 2 >= subjects.len().max(1);
        let capital = match share(&|subject| subject.rest.starts_with(char::is_alphabetic)) {
            // Without any example a sentence begins with a capital.
            0 => true,
            known => share(&|subject| subject.rest.starts_with(char::is_uppercase)) * 2 >= known,
        };
        let bodies = messages.iter().filter(|(_, body)| has_prose(body)).count();
        let signed = messages.iter().filter(|(_, body)| body.contains("Signed-off-by: ")).count();
        Self {
            prefix,
            scope: prefix == PrefixStyle::Conventional
                && share(&|subject| subject.scope.is_some()) * 2 >= share(&|subject| subject.style == prefix),
            capital,
            past_tense: !subjects.is_empty() && half(share(&|subject| is_past(&first_word(subject)))),
            period: !subjects.is_empty() && half(share(&|subject| subject.rest.ends_with('.'))),
            body: half(bodies) && bodies > 0,
            signed_off: half(signed) && signed > 0,
            prefixes: prefixes.into_iter().take(20).map(|(name, _)| name.to_owned()).collect(),
        }
    }

    /// Words for a model that writes the message itself.
    pub fn described(&self) -> String {
        let form = match (self.prefix, self.scope) {
            (PrefixStyle::Conventional, true) => "`type(scope): ...`",
            (PrefixStyle::Conventional, false) => "`type: ...`",
            (PrefixStyle::Area, _) => "`area: ...`",
            (PrefixStyle::Bracketed, _) => "`[area] ...`",
            (PrefixStyle::Ticket, _) => "`TICKET-1 ...`",
            (PrefixStyle::Plain, _) => "no prefix",
        };
        let known: Vec<&str> = self.prefixes.iter().take(8).map(String::as_str).collect();
        let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
        format!(
            "{form}{known}, {}, {}{}{}",
            if self.capital { "capitalised" } else { "lower case" },
            if self.past_tense { "past tense" } else { "imperative" },
            if self.body { ", with a body" } else { "" },
            if self.signed_off { ", signed off" } else { "" },
        )
    }
}

fn is_past(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed") && !matches!(word, "embed" | "need" | "speed" | "exceed" | "feed")
}

/// Whether a body says more than trailers do.
fn has_prose(body: &str) -> bool {
    body.lines().any(|line| !line.trim().is_empty() && !line.contains(": ") && !line.starts_with('('))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(subjects: &[&str], expected: &Expect) {
        let messages: Vec<(&str, &str)> = subjects.iter().map(|subject| (*subject, "")).collect();
        expected.assert_eq(&CommitHabits::of(&messages).described());
    }

    #[test]
    fn habits_follow_the_newest_commits() {
        check(&[], &expect!["no prefix, capitalised, imperative"]);
        check(&["Add x", "Mend y", "Merge branch 'a'"], &expect!["no prefix, capitalised, imperative"]);
        check(&["added x", "changed y.", "removed z"], &expect!["no prefix, lower case, past tense"]);
        check(
            &["feat(cli): add x", "fix(net): mend y", "fix(cli)!: z", "wip"],
            &expect!["`type(scope): ...` (cli, net), lower case, imperative"],
        );
        check(&["fix: x", "feat: y"], &expect!["`type: ...`, lower case, imperative"]);
        check(
            &["tools: Add x", "agent: Keep y", "tools: Mend z"],
            &expect!["`area: ...` (tools, agent), capitalised, imperative"],
        );
        check(&["[core] Fix", "[ui] Add"], &expect!["`[area] ...` (core, ui), capitalised, imperative"]);
        check(&["ABC-12 Add x", "ABC-13: Fix"], &expect!["`TICKET-1 ...` (ABC-12), capitalised, imperative"]);
    }

    #[test]
    fn bodies_and_sign_offs_are_learned() {
        let habits = CommitHabits::of(&[
            ("Add x", "Because y.\n\nSigned-off-by: A <a@b.c>"),
            ("Add z", "Signed-off-by: A <a@b.c>"),
        ]);
        assert!(habits.signed_off && habits.body);
        assert!(!CommitHabits::of(&[("Add x", "Change-Id: I1")]).body);
    }
}
