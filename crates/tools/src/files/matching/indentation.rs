//! From the indentation a model wrote to the one the file has.

use std::collections::BTreeMap;

use super::normal::{indent, is_blank_line};

/// For each indentation of the search, that of the same line in the file.
#[derive(Debug)]
pub struct IndentMap<'a> {
    known: BTreeMap<&'a str, &'a str>,
    /// What the first line has: in the search and in the file.
    first: Option<(&'a str, &'a str)>,
}

impl<'a> IndentMap<'a> {
    /// `None` when one indentation of the search stands for several of the file.
    pub fn new(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let mut known = BTreeMap::new();
        let mut first = None;
        for (search, file) in pairs.filter(|(search, _)| !is_blank_line(search)) {
            let (from, to) = (indent(search), indent(file));
            first.get_or_insert((from, to));
            if *known.entry(from).or_insert(to) != to {
                return None;
            }
        }
        Some(Self { known, first })
    }

    /// Whether what is deeper in the search is deeper in the file.
    pub fn keeps_order(&self) -> bool {
        let mut widths: Vec<(usize, usize)> =
            self.known.iter().map(|(from, to)| (width(from), width(to))).collect();
        widths.sort_unstable();
        widths.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1)
    }

    /// Whether the replacement was written with the indentation of the file already.
    pub fn is_already_that_of_the_file(&self, replacement: &[&str]) -> bool {
        let own = replacement.iter().find(|line| !is_blank_line(line)).map(|line| indent(line));
        matches!((self.first, own), (Some((from, to)), Some(own)) if own == to && own != from)
    }

    /// The indentation a new line gets; `None` when that cannot be told.
    pub fn translate(&self, own: &str) -> Option<String> {
        if let Some(to) = self.known.get(own) {
            return Some((*to).to_owned());
        }
        if self.known.iter().all(|(from, to)| from == to) {
            return Some(own.to_owned());
        }
        // Deeper than a line that is known: the same amount deeper in the file.
        if let Some((from, to)) =
            self.known.iter().filter(|(from, _)| own.starts_with(**from)).max_by_key(|(from, _)| from.len())
        {
            let deeper = &own[from.len()..];
            return Some(format!("{to}{}", self.in_file_units(deeper)?));
        }
        // Less deep than all that are known: the same amount less.
        let (from, to) =
            self.known.iter().filter(|(from, _)| from.starts_with(own)).min_by_key(|(from, _)| from.len())?;
        let less = self.in_file_units(&from[own.len()..])?;
        to.strip_suffix(less.as_str()).map(str::to_owned)
    }

    /// A stretch of indentation in the characters the file uses.
    fn in_file_units(&self, stretch: &str) -> Option<String> {
        let file_tabs = self.known.values().any(|to| to.contains('\t'));
        let file_blanks = self.known.values().any(|to| to.contains(' '));
        let own_tabs = stretch.contains('\t');
        let own_blanks = stretch.contains(' ');
        if own_tabs && own_blanks {
            return None;
        }
        match (own_tabs, file_tabs, file_blanks) {
            (false, true, false) => {
                let unit = self.blanks_per_tab(|to, from| (to, from))?;
                stretch.len().is_multiple_of(unit).then(|| "\t".repeat(stretch.len() / unit))
            }
            (true, false, true) => {
                let unit = self.blanks_per_tab(|to, from| (from, to))?;
                Some(" ".repeat(stretch.len() * unit))
            }
            (_, true, true) => None,
            _ => Some(stretch.to_owned()),
        }
    }

    /// How many blanks stand for one tab, from the lines that are known. `sides` says which side has the tabs.
    fn blanks_per_tab(&self, sides: impl Fn(&'a str, &'a str) -> (&'a str, &'a str)) -> Option<usize> {
        let mut unit = None;
        for (from, to) in &self.known {
            let (tabs, blanks) = sides(to, from);
            let count = tabs.matches('\t').count();
            if count == 0 || blanks.is_empty() {
                continue;
            }
            let this = blanks.len().is_multiple_of(count).then(|| blanks.len() / count)?;
            if *unit.get_or_insert(this) != this {
                return None;
            }
        }
        unit
    }
}

fn width(indent: &str) -> usize {
    indent.chars().map(|character| if character == '\t' { 8 } else { 1 }).sum()
}
