//! A diff made from two texts, applied to the first, gives the second: in every form, or an error, never another text.

use proptest::prelude::*;
use similar::{ChangeTag, DiffOp, TextDiff};
use stepwell_tool_runtime::Redactor;

use super::*;
use crate::files::apply_diff;
use crate::files::matching::Amount;
use crate::files::replace::{Pattern, Replacement};

/// Texts of few different lines, so that most are there more than once, with and without a final line break.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("a"),
        Just("b"),
        Just(""),
        Just("    a"),
        Just("\ta"),
        Just("-- x"),
        Just("++ y"),
        Just("======="),
        Just("@@ z"),
        Just("<<<<<<< SEARCH"),
        Just("{"),
        Just("}"),
        Just("-------"),
        Just("\\x"),
        Just(":start_line:3")
    ];
    (proptest::collection::vec(line, 0..14), any::<bool>()).prop_map(|(lines, ended)| {
        let text = lines.join("\n");
        if ended && !text.is_empty() { text + "\n" } else { text }
    })
}

/// Texts whose lines are all different.
fn distinct() -> impl Strategy<Value = (String, String)> {
    let changes = proptest::collection::vec((0usize..12, 0usize..3), 0..4);
    (4usize..12, changes).prop_map(|(count, changes)| {
        let old: Vec<String> = (0..count).map(|line| format!("line {line} of it")).collect();
        let mut new = old.clone();
        for (nth, (at, what)) in changes.into_iter().enumerate() {
            let at = at % new.len().max(1);
            match what {
                0 => new.insert(at, format!("new {nth}")),
                1 if new.len() > 2 => drop(new.remove(at)),
                _ => new[at] = format!("changed {nth}"),
            }
        }
        (old.join("\n") + "\n", new.join("\n") + "\n")
    })
}

fn unified(old: &str, new: &str, radius: usize) -> String {
    TextDiff::from_lines(old, new).unified_diff().context_radius(radius).header("a/f", "b/f").to_string()
}

fn patched(old: &str, patch: &str) -> Result<String, String> {
    let files = if sections::is_this_form(patch) { sections::parse(patch)? } else { unified::parse(patch)? };
    let [file] = files.as_slice() else { return Err("not one file".to_owned()) };
    hunks::applied("f", old, &file.hunks, &Redactor::new())
        .map(|replaced| replaced.text)
        .map_err(|failures| failures.join("; "))
}

/// The same change in the `*** Begin Patch` form.
fn begin_patch(old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut out = "*** Begin Patch\n*** Update File: f\n".to_owned();
    for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
        out.push_str("@@\n");
        for change in hunk.iter_changes() {
            out.push_str(&change.tag().to_string());
            out.push_str(change.value());
        }
    }
    out + "*** End Patch\n"
}

/// The same change as blocks of `apply_diff`, each with a line of context where there is one.
fn blocks(old: &str, new: &str) -> String {
    let escape = |line: &str| {
        let mark = line.trim_end();
        let special =
            mark == "=======" || mark == "-------" || mark.starts_with("<<<<<<<") || mark.starts_with(':');
        if special { format!("\\{line}") } else { line.to_owned() }
    };
    let diff = TextDiff::from_lines(old, new);
    let (old_lines, mut out) = (old.split_inclusive('\n').collect::<Vec<_>>(), String::new());
    for group in diff.grouped_ops(1) {
        let (Some(first), Some(_)) = (group.first(), group.last()) else { continue };
        let start = first.old_range().start;
        let mut search = String::new();
        let mut replacement = String::new();
        for op in &group {
            for change in diff.iter_changes(op) {
                if change.tag() != ChangeTag::Insert {
                    search.push_str(&escape(change.value()));
                }
                if change.tag() != ChangeTag::Delete {
                    replacement.push_str(&escape(change.value()));
                }
            }
        }
        out.push_str(&format!(
            "<<<<<<< SEARCH\n:start_line:{}\n-------\n{search}=======\n{replacement}>>>>>>> REPLACE\n",
            start + 1
        ));
    }
    assert!(old_lines.len() < 100);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_unified_diff_gives_the_new_text(old in text(), new in text(), radius in 0usize..4) {
        prop_assume!(old != new);
        prop_assert_eq!(patched(&old, &unified(&old, &new, radius)), Ok(new));
    }

    #[test]
    fn a_unified_diff_with_wrong_numbers_gives_the_new_text_or_an_error(old in text(), new in text(), off in 1usize..9) {
        prop_assume!(old != new);
        let patch = unified(&old, &new, 3).replace("@@ -1", &format!("@@ -{off}"));
        if let Ok(text) = patched(&old, &patch) {
            // A text of few different lines can be right in two ways; what is taken must at least have the new lines.
            let count = |text: &str| text.lines().count();
            prop_assert_eq!(count(&text), count(&new));
        }
    }

    #[test]
    fn every_form_gives_the_new_text_where_lines_are_distinct((old, new) in distinct()) {
        prop_assume!(old != new);
        prop_assert_eq!(patched(&old, &begin_patch(&old, &new)), Ok(new.clone()));
        for off in [1, 3, 40] {
            let patch = unified(&old, &new, 3).replace("@@ -1,", &format!("@@ -{off},"));
            prop_assert_eq!(patched(&old, &patch), Ok(new.clone()));
        }
        let applied = apply_diff::applied("f", &old, &blocks(&old, &new), &Redactor::new()).map(|replaced| replaced.text);
        prop_assert_eq!(applied.map_err(|error| error.message), Ok(new.clone()));
        // As edits, one after the other.
        let mut text = old.clone();
        let diff = TextDiff::from_lines(&old, &new);
        for group in diff.grouped_ops(1) {
            let side = |tag: ChangeTag| -> String {
                group.iter().flat_map(|op: &DiffOp| diff.iter_changes(op)).filter(|change| change.tag() != tag).map(|change| change.value()).collect()
            };
            let edit = Replacement { old: side(ChangeTag::Insert), new: side(ChangeTag::Delete), amount: Amount::One, lines: None, pattern: Pattern::Text };
            text = edit.apply("f", &text, &Redactor::new()).map_err(|error| TestCaseError::fail(error.message))?.text;
        }
        prop_assert_eq!(text, new);
    }

    #[test]
    fn blocks_and_sections_give_the_new_text_or_an_error(old in text(), new in text()) {
        let ended = |text: String| text.trim_end_matches('\n').to_owned() + "\n";
        let (old, new) = (ended(old), ended(new));
        prop_assume!(old != new);
        if let Ok(replaced) = apply_diff::applied("f", &old, &blocks(&old, &new), &Redactor::new()) {
            prop_assert_eq!(&replaced.text, &new);
        }
        if let Ok(text) = patched(&old, &begin_patch(&old, &new)) {
            prop_assert_eq!(text, new);
        }
    }

    #[test]
    fn any_text_can_be_read_as_a_patch(patch in "[-+ @a\\n\\\\*]{0,80}", wrapped in any::<bool>()) {
        let patch = if wrapped { format!("*** Begin Patch\n*** Update File: f\n{patch}\n*** End Patch") } else { patch };
        let _text: Result<String, String> = patched("a\nb\n", &patch);
        let _blocks = apply_diff::applied("f", "a\nb\n", &patch, &Redactor::new()).is_ok();
    }
}
