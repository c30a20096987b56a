//! Callers, callees and call graphs.

use std::collections::HashMap;

use super::{Certainty, DefinitionSite, Reference, Resolution, Resolver};
use crate::facts::{Definition, Kind, Occurrence, Receiver, Span};
use crate::index::FileId;

/// A function in a call graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub found: DefinitionSite,
    /// Steps from the function that was asked for.
    pub depth: u32,
}

/// A call, by the index of both functions in `nodes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub caller: usize,
    pub callee: usize,
    pub certainty: Certainty,
}

/// A function that calls or is called, with the first call that is surest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub function: DefinitionSite,
    pub line: u32,
    pub certainty: Certainty,
}

/// Each function once, in the order of its first call.
fn surest(calls: impl Iterator<Item = Call>) -> Vec<Call> {
    let mut places = HashMap::new();
    let mut found: Vec<Call> = Vec::new();
    for call in calls {
        let place = *places.entry(call.function.key()).or_insert(found.len());
        match found.get_mut(place) {
            Some(known) if call.certainty < known.certainty => *known = call,
            Some(_) => {}
            None => found.push(call),
        }
    }
    found
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
    /// Finds the functions that call a definition.
    pub fn callers(&self, target: &DefinitionSite) -> Vec<Call> {
        if let Some(function) = self.rules(target.file).maker(target) {
            let line = target.definition.at.line;
            return vec![Call { function, line, certainty: Certainty::Resolved }];
        }
        let mut called: Vec<(Reference, DefinitionSite)> = Vec::new();
        self.each_use(std::slice::from_ref(target), &mut |used| {
            let around = self.rules(used.file).caller(target, &used);
            // The name of a method that it overrides is no call.
            let is_call = |function: &DefinitionSite| function.definition.name_span != used.occurrence.span;
            called.extend(around.filter(is_call).map(|function| (used, function)));
        });
        called.sort_by(|(left, _), (right, _)| self.place_of_use(left).cmp(&self.place_of_use(right)));
        surest(called.into_iter().map(|(used, function)| {
            let (line, certainty) = (used.occurrence.at.line, used.certainty);
            Call { function, line, certainty }
        }))
    }

    /// Finds the functions of the workspace that a definition calls.
    pub fn callees(&self, of: &DefinitionSite) -> Vec<Call> {
        let whole = self.index.whole(of.file);
        let rules = self.rules(of.file);
        let mut found: Vec<Call> = Vec::new();
        let is_call = |occurrence: &Occurrence| {
            let after = whole.0.get(occurrence.span.end as usize..).unwrap_or_default();
            after.trim_start_matches(['!', '?', ' ']).starts_with('(')
                || after.starts_with("::<")
                || after.starts_with('<')
        };
        for occurrence in whole.1.occurrences.iter().filter(|one| of.definition.span.contains(one.span.start))
        {
            // Reading a property calls the function that computes it.
            let may_read =
                rules.properties_are_functions() && matches!(occurrence.receiver, Receiver::Value(_));
            let is_called = is_call(occurrence);
            if !is_called && !may_read || of.definition.name_span == occurrence.span {
                continue;
            }
            self.begin();
            let meaning = self.resolve_occurrence(of.file, occurrence);
            let Resolution::Found(meant, certainty) = &meaning else { continue };
            for one in meant {
                let function = self.implementation(one);
                let (kind, line) = (function.definition.kind, occurrence.at.line);
                let is_read = may_read && self.is_accessor_used(&function, of.file, occurrence);
                let is_run = is_called && (function.definition.is_callable() || kind.is_type());
                if (is_run || is_read) && function.key() != of.key() {
                    found.push(Call { function, line, certainty: *certainty });
                }
            }
        }
        surest(found.into_iter())
    }

    /// Whether a use of a property runs this function of it: what reads it, or what sets it.
    pub(crate) fn is_accessor_used(
        &self,
        accessor: &DefinitionSite,
        file: FileId,
        used: &Occurrence,
    ) -> bool {
        let definition = &accessor.definition;
        if definition.kind != Kind::Property {
            return false;
        }
        let own = self.index.whole(accessor.file);
        let before = Span { start: definition.span.start, end: definition.name_span.start }.of(&own.0);
        let has = |word: &str| before.split_whitespace().any(|part| part == word);
        let whole = self.index.whole(file);
        let after = whole.0.get(used.span.end as usize..).unwrap_or_default().trim_start();
        let is_assigned = after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>");
        let operator = after.trim_start_matches(|sign: char| "+-*/%&|^<>?".contains(sign));
        let is_changed = after.starts_with("++")
            || after.starts_with("--")
            || operator.len() < after.len() && operator.starts_with('=') && !operator.starts_with("==");
        match (has("set"), has("get")) {
            (true, false) => is_assigned || is_changed,
            (false, true) => !is_assigned,
            _ => true,
        }
    }

    /// The innermost function around a place that has a name.
    pub(crate) fn function_around(&self, file: FileId, offset: u32) -> Option<DefinitionSite> {
        let whole = self.index.whole(file);
        let is_function = |one: &Definition| one.kind.is_callable() || one.kind == Kind::Property;
        let rules = self.rules(file);
        let is_table = |one: &Definition| rules.is_function_table(one);
        let innermost =
            whole.1.innermost(offset, is_function).or_else(|| whole.1.innermost(offset, is_table))?;
        Some(DefinitionSite::new(file, innermost))
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
            for Call { function: found, certainty, .. } in around {
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
                    Direction::Callers => Edge { caller: place, callee: next, certainty },
                    Direction::Callees => Edge { caller: next, callee: place, certainty },
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
