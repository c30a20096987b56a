//! Questions about nodes that are asked so often that what they cost counts: a field by its name, and whether a kind
//! of node says anything. tree-sitter answers both by comparing texts; here the answer is kept.

use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroU16;
use std::rc::Rc;

use tree_sitter::{Language, Node};

use super::extract::Rules;

/// A node's child by the name of its field.
pub(crate) trait Fields<'n> {
    fn field(self, name: &'static str) -> Option<Node<'n>>;
}

impl<'n> Fields<'n> for Node<'n> {
    fn field(self, name: &'static str) -> Option<Node<'n>> {
        self.child_by_field_id(field_id(&self.language(), name)?.get())
    }
}

const SLOTS: usize = 512;

/// The number of a field in a grammar, by the place of the text that names it.
#[derive(Clone)]
struct Slot {
    name: &'static str,
    language: Language,
    id: Option<NonZeroU16>,
}

thread_local! {
    static FIELDS: RefCell<Vec<Option<Slot>>> = RefCell::new(vec![None; SLOTS]);
    static KINDS: RefCell<HashMap<crate::languages::Language, Kinds>> = RefCell::default();
}

pub(crate) fn field_id(language: &Language, name: &'static str) -> Option<NonZeroU16> {
    FIELDS.with_borrow_mut(|slots| {
        let slot = &mut slots[name.as_ptr().addr() % SLOTS];
        match slot {
            Some(slot) if std::ptr::eq(slot.name, name) && slot.language == *language => slot.id,
            _ => {
                let id = language.field_id_for_name(name);
                *slot = Some(Slot { name, language: language.clone(), id });
                id
            }
        }
    })
}

/// What the kinds of nodes of a language mean to its rules, by their numbers.
#[derive(Clone)]
pub(crate) struct Kinds(Rc<[KindUse]>);

#[derive(Clone, Copy, Default)]
pub(crate) struct KindUse {
    /// A leaf of this kind is a name.
    pub is_name: bool,
    /// The rules look at nodes of this kind.
    pub is_visited: bool,
    /// Nothing in a node of this kind is looked at.
    pub is_closed: bool,
    /// The kind, where the rules say which ones they look at.
    pub name: &'static str,
}

impl Kinds {
    pub fn of(language: crate::languages::Language, grammar: &Language, rules: &Rules) -> Self {
        let make = || {
            let kinds = 0..u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
            let kinds = kinds.map(|id| grammar.node_kind_for_id(id).unwrap_or_default());
            let kinds = kinds.map(|kind| {
                let visited = rules.visited.iter().find(|visited| **visited == kind);
                KindUse {
                    is_name: rules.names.contains(&kind),
                    is_visited: rules.visited.is_empty() || visited.is_some(),
                    is_closed: rules.closed.contains(&kind),
                    name: visited.copied().unwrap_or_default(),
                }
            });
            Self(kinds.collect())
        };
        KINDS.with_borrow_mut(|known| known.entry(language).or_insert_with(make).clone())
    }

    /// Of what is no kind of the grammar (what could not be parsed) nothing is known.
    pub fn get(&self, node: Node<'_>) -> KindUse {
        self.0.get(usize::from(node.kind_id())).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::languages::Language;

    /// The kinds that the arms of a visit are for.
    fn arms(source: &str, function: &str) -> Vec<String> {
        let body =
            source.lines().skip_while(|line| !line.trim_start_matches("pub(super) ").starts_with(function));
        let body = body.take_while(|line| *line != "}");
        let is_arm = |line: &&str| line.starts_with("        \"") || line.starts_with("        | \"");
        let heads = body.filter(is_arm).map(|line| line.split("=>").next().unwrap_or_default());
        heads.flat_map(|head| head.split('"').skip(1).step_by(2).map(str::to_owned)).collect()
    }

    #[test]
    fn the_kinds_that_are_visited_are_those_the_visits_are_for() {
        let scripts = [
            arms(include_str!("../languages/script/facts.rs"), "fn visit<"),
            arms(include_str!("../languages/script/facts.rs"), "fn visit_plain<"),
            arms(include_str!("../languages/script/facts/contexts.rs"), "fn visit("),
        ];
        for (language, arms) in [
            (Language::C, arms(include_str!("../languages/c/facts.rs"), "fn visit<")),
            (Language::Go, arms(include_str!("../languages/go/facts.rs"), "fn visit<")),
            (Language::Java, arms(include_str!("../languages/java/facts.rs"), "fn visit<")),
            (Language::Python, arms(include_str!("../languages/python/facts.rs"), "fn visit<")),
            (Language::Rust, arms(include_str!("../languages/rust/facts.rs"), "fn visit<")),
            (Language::JavaScript, scripts.concat()),
            (Language::TypeScript, scripts.concat()),
        ] {
            let rules = language.definition().facts;
            assert!(arms.len() > 10, "the visit was not found");
            for kind in &arms {
                assert!(rules.visited.contains(&kind.as_str()), "`{kind}` has an arm and is not visited");
            }
            for kind in rules.visited {
                assert!(arms.iter().any(|arm| arm == kind), "`{kind}` is visited and has no arm");
            }
        }
    }
}
