//! What a change must not do: break the syntax, or change what stands around its place.

use std::collections::{BTreeMap, HashMap};

use super::{LIMITS, Refusal, Result, SourceText, Splice, spliced};
use crate::facts::{self, Facts, Kind};
use crate::languages::Language;
use crate::syntax::{self, SyntaxError};

/// What must not change outside of the replacements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// The functions and types around the place.
    Definitions,
    /// Only the syntax: names and forms change everywhere.
    Syntax,
}

/// Applies replacements and checks the result.
pub fn applied(source: &SourceText<'_>, splices: &[Splice], around: Around) -> Result<String> {
    let after = spliced(source.text, splices)
        .ok_or_else(|| Refusal::ChangesAround("the places overlap".to_owned()))?;
    if after == source.text {
        return Err(Refusal::ChangesNothing);
    }
    unbroken(source.language, source.text, &after, splices)?;
    if around == Around::Definitions {
        kept(source, &after, splices)?;
    }
    Ok(after)
}

/// Refuses a text that has syntax errors which the old one did not have.
pub(crate) fn unbroken(language: Language, before: &str, after: &str, splices: &[Splice]) -> Result<()> {
    let new = syntax::errors(language, after, LIMITS)?;
    if new.is_empty() {
        return Ok(());
    }
    let old = syntax::errors(language, before, LIMITS)?;
    let lines = |text: &str, ranges: &[(usize, usize)]| -> Vec<(usize, usize)> {
        let breaks: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line = |at: usize| breaks.partition_point(|found| *found < at) + 1;
        ranges.iter().map(|(start, end)| (line(*start), line(*end))).collect()
    };
    let within = |error: &SyntaxError, lines: &[(usize, usize)]| {
        lines.iter().any(|(first, last)| *first <= error.line && error.line <= *last)
    };
    let new_lines = lines(after, &new_ranges(splices));
    let old_ranges: Vec<(usize, usize)> =
        splices.iter().map(|splice| (splice.range.start, splice.range.end)).collect();
    let old_lines = lines(before, &old_ranges);
    let is_broken_here = new.iter().any(|error| within(error, &new_lines))
        && !old.iter().any(|error| within(error, &old_lines));
    if new.len() <= old.len() && !is_broken_here {
        return Ok(());
    }
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    for error in &old {
        *known.entry((&error.what, &error.text)).or_default() += 1;
    }
    let fresh = new.iter().find(|error| match known.get_mut(&(error.what.as_str(), error.text.as_str())) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    let told = new.iter().find(|error| within(error, &new_lines)).or(fresh).or(new.first());
    Err(Refusal::BreaksSyntax(told.map(ToString::to_string).unwrap_or_default()))
}

/// Where the new pieces stand in the new text.
fn new_ranges(splices: &[Splice]) -> Vec<(usize, usize)> {
    let mut ordered: Vec<&Splice> = splices.iter().collect();
    ordered.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut shift = 0_isize;
    let mut ranges = Vec::new();
    for splice in ordered {
        let start = splice.range.start.saturating_add_signed(shift);
        ranges.push((start, start + splice.text.len()));
        shift += splice.text.len() as isize - splice.range.len() as isize;
    }
    ranges
}

/// Refuses a change after which functions and types outside of it are others: a brace too many closes a type early.
fn kept(source: &SourceText<'_>, after: &str, splices: &[Splice]) -> Result<()> {
    let changed = SourceText::of(source.language, after)?;
    if let Some((start, end)) = new_ranges(splices).into_iter().find(|range| !is_whole(&changed, *range)) {
        let first = after.get(start..end).unwrap_or_default().trim().lines().next().unwrap_or_default();
        return Err(Refusal::ChangesAround(format!("`{first}` is no whole piece of code there")));
    }
    let facts = &changed.facts;
    let old: Vec<(usize, usize)> =
        splices.iter().map(|splice| (splice.range.start, splice.range.end)).collect();
    let before = standing(&source.facts, &old);
    let now = standing(facts, &new_ranges(splices));
    let less = |some: &BTreeMap<String, usize>, others: &BTreeMap<String, usize>| {
        let found = others.iter().find(|(name, count)| some.get(*name).is_none_or(|other| other < count));
        found.map(|(name, _)| name.clone())
    };
    match (less(&now, &before), less(&before, &now)) {
        (None, None) => Ok(()),
        (Some(name), _) => {
            Err(Refusal::ChangesAround(format!("`{name}` would no longer stand where it does")))
        }
        (None, Some(name)) => Err(Refusal::ChangesAround(format!("`{name}` would be defined there"))),
    }
}

/// Whether bytes are whole nodes: what they begin ends in them, and nothing else does.
fn is_whole(source: &SourceText<'_>, (start, end): (usize, usize)) -> bool {
    let text = source.slice(start..end);
    let first = start + (text.len() - text.trim_start().len());
    let last = start + text.trim_end().len();
    if first >= last {
        return true;
    }
    let Some(node) = source.node_at(first..last) else { return true };
    node.byte_range() == (first..last)
        || !node.children(&mut node.walk()).any(|child| {
            let (from, to) = (child.start_byte(), child.end_byte());
            // Annotations that stay stand among the modifiers of what is new.
            from < first && first < to && child.kind() != "modifiers" || from < last && last < to
        })
}

/// The functions and types whose names stand outside of some bytes.
fn standing(facts: &Facts, ranges: &[(usize, usize)]) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for (place, definition) in facts.definitions.iter().enumerate() {
        let (start, end) = (definition.name_span.start as usize, definition.name_span.end as usize);
        let is_inside = ranges.iter().any(|(from, to)| start < *to && end > *from);
        let is_solid = definition.kind.is_callable() && !definition.is_function
            || definition.kind.is_type() && definition.kind != Kind::TypeParameter
            || definition.kind == Kind::Module;
        if is_solid && !is_inside {
            *names.entry(facts::described(facts, place as u32)).or_default() += 1;
        }
    }
    names
}
