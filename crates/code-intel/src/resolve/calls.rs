//! Callers, callees and call graphs.

use std::collections::{HashMap, HashSet};

use super::{DefinitionSite, Reference, Resolver};
use crate::facts::{Definition, Kind, Occurrence};
use crate::index::FileId;

/// A function in a call graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub found: DefinitionSite,
    /// Steps from the function that was asked for.
    pub depth: u32,
}

/// A call, by the index of both functions in `nodes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    pub caller: usize,
    pub callee: usize,
    /// The line of the first call.
    pub line: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallGraph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// There is more than the limits allow to show.
    pub is_cut: bool,
}

/// Direction in which a call graph is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Callers,
    Callees,
}

impl Resolver<'_> {
    /// Finds the functions that call a definition, each with the line of its first call.
    pub fn callers(&self, target: &DefinitionSite) -> Vec<(DefinitionSite, u32)> {
        if let Some(maker) = self.rules(target.file).maker(target) {
            return vec![(maker, target.definition.at.line)];
        }
        let mut called: Vec<(Reference, DefinitionSite)> = Vec::new();
        self.each_use(std::slice::from_ref(target), &mut |used| {
            let around = self.rules(used.file).caller(target, &used);
            // The name of a method that it overrides is no call.
            let is_call = |function: &DefinitionSite| function.definition.name_span != used.occurrence.span;
            called.extend(around.filter(is_call).map(|function| (used, function)));
        });
        called.sort_by(|(left, _), (right, _)| self.place_of_use(left).cmp(&self.place_of_use(right)));
        let mut seen = HashSet::new();
        called.retain(|(_, function)| seen.insert(function.key()));
        called.into_iter().map(|(used, function)| (function, used.occurrence.at.line)).collect()
    }

    /// Finds the functions of the workspace that a definition calls, each with the line of the first call.
    pub fn callees(&self, of: &DefinitionSite) -> Vec<(DefinitionSite, u32)> {
        let whole = self.index.whole(of.file);
        let mut found: Vec<(DefinitionSite, u32)> = Vec::new();
        let mut seen = HashSet::from([of.key()]);
        let is_call = |occurrence: &Occurrence| {
            let after = whole.0.get(occurrence.span.end as usize..).unwrap_or_default();
            after.trim_start_matches(['!', '?', ' ']).starts_with('(')
                || after.starts_with("::<")
                || after.starts_with('<')
        };
        for occurrence in whole.1.occurrences.iter().filter(|one| of.definition.span.contains(one.span.start))
        {
            if !is_call(occurrence) || of.definition.name_span == occurrence.span {
                continue;
            }
            self.begin();
            for one in self.resolve_occurrence(of.file, occurrence).found() {
                let one = &self.implementation(one);
                if (one.definition.is_callable() || one.definition.kind.is_type()) && seen.insert(one.key()) {
                    found.push((one.clone(), occurrence.at.line));
                }
            }
        }
        found
    }

    /// The innermost function around a place that has a name.
    pub(crate) fn function_around(&self, file: FileId, offset: u32) -> Option<DefinitionSite> {
        let whole = self.index.whole(file);
        let is_function = |one: &Definition| one.kind.is_callable() || one.kind == Kind::Property;
        let rules = self.rules(file);
        let is_table = |one: &Definition| rules.is_function_table(one);
        let innermost =
            whole.1.innermost(offset, is_function).or_else(|| whole.1.innermost(offset, is_table))?;
        Some(DefinitionSite { file, definition: innermost.clone() })
    }

    /// Builds the call graph around a definition, up to `depth` calls away.
    pub fn call_graph(
        &self,
        start: &DefinitionSite,
        direction: Direction,
        depth: u32,
        most: usize,
    ) -> CallGraph {
        let mut graph =
            CallGraph { nodes: vec![Node { found: start.clone(), depth: 0 }], ..CallGraph::default() };
        let mut places = HashMap::from([(start.key(), 0_usize)]);
        let mut next = 0;
        while let Some(node) = graph.nodes.get(next).cloned() {
            if node.depth >= depth {
                break;
            }
            let around = match direction {
                Direction::Callers => self.callers(&node.found),
                Direction::Callees => self.callees(&node.found),
            };
            for (found, line) in around {
                let key = found.key();
                let place = match places.get(&key) {
                    Some(place) => *place,
                    None if graph.nodes.len() >= most => {
                        graph.is_cut = true;
                        continue;
                    }
                    None => {
                        graph.nodes.push(Node { found, depth: node.depth + 1 });
                        places.insert(key, graph.nodes.len() - 1);
                        graph.nodes.len() - 1
                    }
                };
                let edge = match direction {
                    Direction::Callers => Edge { caller: place, callee: next, line },
                    Direction::Callees => Edge { caller: next, callee: place, line },
                };
                if !graph.edges.contains(&edge) {
                    graph.edges.push(edge);
                }
            }
            next += 1;
        }
        graph.is_cut |= self.unread.get() > 0;
        graph
    }
}
