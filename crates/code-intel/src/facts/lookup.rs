//! Tables over what a file says, made when they are first needed: questions go through a file many times.

use std::sync::OnceLock;

use super::{Definition, Facts, Kind, Occurrence, Span};

/// A short hash of a name, to find what may have it.
pub(crate) fn name_hash(name: &str) -> u32 {
    // FNV-1a.
    name.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The tables of a file. They repeat what is in the lists, so two files are the same whether they were made or not; the
/// lists must not change any more when they are.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    definitions: OnceLock<Definitions>,
    /// Occurrences by the hashes of their names, in the order of the text.
    uses: OnceLock<Vec<(u32, u32)>>,
}

impl Clone for Lookup {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Lookup {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Lookup {}

/// Definitions by numbers that tell much about them, each with its place in the list.
#[derive(Debug)]
struct Definitions {
    by_name: Vec<(u32, u32)>,
    /// By where the name stands.
    by_place: Vec<(u32, u32)>,
    by_kind: Vec<(u32, u32)>,
    /// By where all of it begins.
    by_start: Vec<(Span, u32)>,
    /// Where the farthest of those up to a place in `by_start` ends.
    reach: Vec<u32>,
}

impl Definitions {
    fn of(definitions: &[Definition]) -> Self {
        let sorted = |key: &dyn Fn(&Definition) -> u32| {
            let mut keys: Vec<(u32, u32)> =
                definitions.iter().enumerate().map(|(place, one)| (key(one), place as u32)).collect();
            keys.sort_unstable();
            keys
        };
        let mut by_start: Vec<(Span, u32)> =
            definitions.iter().enumerate().map(|(place, one)| (one.span, place as u32)).collect();
        by_start.sort_unstable_by_key(|(span, place)| (span.start, *place));
        let mut farthest = 0;
        let reach = by_start.iter().map(|(span, _)| {
            farthest = farthest.max(span.end);
            farthest
        });
        Self {
            reach: reach.collect(),
            by_name: sorted(&|one| name_hash(&one.name)),
            by_place: sorted(&|one| one.name_span.start),
            by_kind: sorted(&|one| one.kind as u32),
            by_start,
        }
    }
}

/// The places of all that have a key.
fn range(sorted: &[(u32, u32)], key: u32) -> &[(u32, u32)] {
    let from = sorted.partition_point(|(other, _)| *other < key);
    let rest = sorted.get(from..).unwrap_or_default();
    let count = rest.partition_point(|(other, _)| *other == key);
    rest.get(..count).unwrap_or_default()
}

impl Facts {
    fn tables(&self) -> &Definitions {
        self.lookup.definitions.get_or_init(|| Definitions::of(&self.definitions))
    }

    fn at(&self, place: u32) -> Option<(usize, &Definition)> {
        self.definitions.get(place as usize).map(|one| (place as usize, one))
    }

    /// The definitions of a name with their places in the list, in its order.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &Definition> {
        self.numbered(name).map(|(_, one)| one)
    }

    /// The same, with their places in the list.
    pub(crate) fn numbered(&self, name: &str) -> impl Iterator<Item = (usize, &Definition)> {
        let found = range(&self.tables().by_name, name_hash(name)).iter();
        found.filter_map(|(_, place)| self.at(*place)).filter(move |(_, one)| one.name == name)
    }

    /// The definitions whose names stand in these bytes, likewise.
    pub(crate) fn defined_at(&self, name: Span) -> impl Iterator<Item = (usize, &Definition)> {
        let found = range(&self.tables().by_place, name.start).iter();
        found.filter_map(|(_, place)| self.at(*place)).filter(move |(_, one)| one.name_span == name)
    }

    /// Whether the function, class or property at a place of the list is defined once more later in its scope.
    pub(crate) fn is_defined_again(&self, place: usize) -> bool {
        let Some(one) = self.definitions.get(place) else { return false };
        let is_real =
            |one: &Definition| one.kind.is_callable() || matches!(one.kind, Kind::Class | Kind::Property);
        let is_again = |(at, other): (usize, &Definition)| {
            at > place
                && is_real(other)
                && (other.scope, other.container, other.is_member)
                    == (one.scope, one.container, one.is_member)
        };
        is_real(one) && self.numbered(&one.name).any(is_again)
    }

    /// The definitions of a kind, likewise.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (usize, &Definition)> {
        range(&self.tables().by_kind, kind as u32).iter().filter_map(|(_, place)| self.at(*place))
    }

    /// The innermost definition of some kind around a place: the shortest, and of two the first.
    pub(crate) fn innermost(
        &self,
        offset: u32,
        is_wanted: impl Fn(&Definition) -> bool,
    ) -> Option<&Definition> {
        let tables = self.tables();
        let until = tables.by_start.partition_point(|(span, _)| span.start <= offset);
        let before = tables.by_start.iter().zip(&tables.reach).take(until).rev();
        let near = before.take_while(|(_, reach)| **reach > offset);
        let around = near.filter(|((span, _), _)| span.end > offset);
        let around = around.filter_map(|((span, place), _)| Some((span.len(), *place, self.at(*place)?.1)));
        let wanted = around.filter(|(.., one)| is_wanted(one));
        wanted.min_by_key(|(length, place, _)| (*length, *place)).map(|(.., one)| one)
    }

    /// Where a name stands in the text that was read, in the order of the text.
    pub(crate) fn uses(&self, text: &str, name: &str) -> impl Iterator<Item = &Occurrence> {
        let uses = self.lookup.uses.get_or_init(|| {
            let names = self.occurrences.iter().map(|occurrence| name_hash(occurrence.span.of(text)));
            let mut uses: Vec<(u32, u32)> =
                names.enumerate().map(|(place, hash)| (hash, place as u32)).collect();
            uses.sort_unstable();
            uses
        });
        let found = range(uses, name_hash(name)).iter();
        let found = found.filter_map(|(_, place)| self.occurrences.get(*place as usize));
        found.filter(move |occurrence| occurrence.span.of(text) == name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts;
    use crate::languages::Language;

    const LINES: &str = "(class [A-C]:\n    z = 1\n    def [f-h]\\(self, x\\):\n        y = x\n|def [f-h]\\(a, f\\):\n    \
                         def [f-h]\\(\\): return a\n|[f-h] = [f-h]\\(\\)\n){0,8}";

    proptest! {
        #[test]
        fn the_tables_say_what_the_lists_do(text in LINES) {
            let read = facts::read(Language::Python, &text).unwrap();
            for name in ["f", "A", "self", "x", "nothing"] {
                let places: Vec<usize> = read.numbered(name).map(|(place, _)| place).collect();
                let all = read.definitions.iter().enumerate();
                let expected: Vec<usize> =
                    all.filter(|(_, one)| one.name == name).map(|(place, _)| place).collect();
                prop_assert_eq!(places, expected);
                let uses: Vec<&Occurrence> = read.uses(&text, name).collect();
                let all = read.occurrences.iter();
                prop_assert_eq!(uses, all.filter(|one| one.span.of(&text) == name).collect::<Vec<_>>());
            }
            for one in &read.definitions {
                let found: Vec<&Definition> = read.defined_at(one.name_span).map(|(_, one)| one).collect();
                let all = read.definitions.iter();
                prop_assert_eq!(found, all.filter(|other| other.name_span == one.name_span).collect::<Vec<_>>());
                let found: Vec<&Definition> = read.of_kind(one.kind).map(|(_, one)| one).collect();
                let all = read.definitions.iter();
                prop_assert_eq!(found, all.filter(|other| other.kind == one.kind).collect::<Vec<_>>());
            }
            for offset in 0..=text.len() as u32 {
                for is_wanted in [Definition::is_callable, |one: &Definition| one.kind.is_type()] {
                    let around = read.definitions.iter().filter(|one| one.span.contains(offset));
                    let expected = around.filter(|one| is_wanted(one)).min_by_key(|one| one.span.len());
                    prop_assert_eq!(read.innermost(offset, is_wanted), expected);
                }
            }
        }
    }
}
