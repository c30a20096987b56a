//! Graphs as people and programs read them: text, Mermaid, DOT.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts;
use crate::index::{FileId, Index};
use crate::resolve::{Direction, Graph, Resolver};

/// A graph of names, whatever they are names of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedGraph {
    /// The name of each node, with where it is.
    pub nodes: Vec<GraphName>,
    /// Who points at whom, by their places.
    pub edges: Vec<(usize, usize)>,
    /// Each ring, by the places of its nodes.
    pub cycles: Vec<Vec<usize>>,
    pub is_cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphName {
    pub name: String,
    pub file: String,
    pub line: u32,
}

/// The calls around a function, with names to show.
pub fn of_calls(index: &Index, graph: &Graph) -> NamedGraph {
    let nodes = graph.nodes.iter().map(|node| {
        let whole = index.whole(node.found.file);
        let definition = &node.found.definition;
        let place = whole.1.definitions.iter().position(|one| one.name_span == definition.name_span);
        GraphName {
            name: place
                .map_or_else(|| definition.name.clone(), |place| facts::described(&whole.1, place as u32)),
            file: index.path(node.found.file).to_owned(),
            line: definition.at.line,
        }
    });
    let nodes: Vec<GraphName> = nodes.collect();
    let edges: Vec<(usize, usize)> = graph.edges.iter().map(|edge| (edge.caller, edge.callee)).collect();
    let cycles = cycles(nodes.len(), &edges);
    NamedGraph { nodes, edges, cycles, is_cut: graph.is_cut }
}

/// What files import from each other: all of them, or what one file imports and who imports it.
pub fn of_files(index: &Index, only: Option<FileId>, most: usize) -> NamedGraph {
    let resolver = Resolver::new(index);
    let mut ids: Vec<FileId> = index.entries().map(|(id, _)| id).collect();
    ids.sort_by_key(|id| index.path(*id).to_owned());
    let mut pairs: Vec<(FileId, FileId)> = Vec::new();
    for id in ids {
        pairs.extend(resolver.dependencies(id).into_iter().map(|other| (id, other)));
    }
    if let Some(only) = only {
        pairs.retain(|(from, to)| *from == only || *to == only);
    }
    let mut places: BTreeMap<FileId, usize> = BTreeMap::new();
    let mut graph = NamedGraph::default();
    let mut place = |graph: &mut NamedGraph, id: FileId| {
        if let Some(place) = places.get(&id) {
            return Some(*place);
        }
        if graph.nodes.len() >= most {
            graph.is_cut = true;
            return None;
        }
        let path = index.path(id).to_owned();
        graph.nodes.push(GraphName { name: path.clone(), file: path, line: 1 });
        places.insert(id, graph.nodes.len() - 1);
        Some(graph.nodes.len() - 1)
    };
    if let Some(only) = only {
        place(&mut graph, only);
    }
    for (from, to) in pairs {
        if let (Some(from), Some(to)) = (place(&mut graph, from), place(&mut graph, to)) {
            graph.edges.push((from, to));
        }
    }
    graph.cycles = cycles(graph.nodes.len(), &graph.edges);
    graph
}

/// The groups of nodes that reach each other, and nodes that point at themselves.
pub(crate) fn cycles(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut following = vec![Vec::new(); count];
    let mut preceding = vec![Vec::new(); count];
    for (from, to) in edges {
        following[*from].push(*to);
        preceding[*to].push(*from);
    }
    // Kosaraju's two walks, without recursion.
    let mut order = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    for start in 0..count {
        let mut open = vec![(start, 0)];
        while let Some((node, next)) = open.pop() {
            if next == 0 && std::mem::replace(&mut seen[node], true) {
                continue;
            }
            match following[node].get(next) {
                Some(target) => {
                    open.push((node, next + 1));
                    if !seen[*target] {
                        open.push((*target, 0));
                    }
                }
                None => order.push(node),
            }
        }
    }
    let mut group = vec![usize::MAX; count];
    let mut found: Vec<Vec<usize>> = Vec::new();
    for start in order.into_iter().rev() {
        if group[start] != usize::MAX {
            continue;
        }
        let (mut open, mut members) = (vec![start], BTreeSet::new());
        group[start] = found.len();
        while let Some(node) = open.pop() {
            members.insert(node);
            for before in &preceding[node] {
                if group[*before] == usize::MAX {
                    group[*before] = found.len();
                    open.push(*before);
                }
            }
        }
        found.push(members.into_iter().collect());
    }
    let is_ring = |members: &Vec<usize>| {
        members.len() > 1 || members.first().is_some_and(|only| following[*only].contains(only))
    };
    let mut rings: Vec<Vec<usize>> = found.into_iter().filter(is_ring).collect();
    rings.sort();
    rings
}

impl NamedGraph {
    /// One line per node with what it points at, or (for callers) what points at it.
    pub fn text(&self, direction: Direction) -> String {
        let mut text = String::new();
        for (place, node) in self.nodes.iter().enumerate() {
            let others: Vec<&str> = self
                .edges
                .iter()
                .filter_map(|(from, to)| match direction {
                    Direction::Callees => (*from == place).then_some(*to),
                    Direction::Callers => (*to == place).then_some(*from),
                })
                .filter_map(|other| Some(self.nodes.get(other)?.name.as_str()))
                .collect();
            let arrow = if direction == Direction::Callees { "->" } else { "<-" };
            let others =
                if others.is_empty() { String::new() } else { format!(" {arrow} {}", others.join(", ")) };
            let at = if node.name == node.file {
                String::new()
            } else {
                format!(" ({}:{})", node.file, node.line)
            };
            text.push_str(&format!("{}{at}{others}\n", node.name));
        }
        for ring in &self.cycles {
            let names: Vec<&str> =
                ring.iter().filter_map(|place| Some(self.nodes.get(*place)?.name.as_str())).collect();
            text.push_str(&format!("cycle: {}\n", names.join(" -> ")));
        }
        if self.is_cut {
            text.push_str("(there is more than is shown)\n");
        }
        text
    }

    pub fn mermaid(&self) -> String {
        let mut text = "graph LR\n".to_owned();
        for (place, node) in self.nodes.iter().enumerate() {
            text.push_str(&format!("  n{place}[\"{}\"]\n", mermaid_label(&node.name)));
        }
        for (from, to) in &self.edges {
            text.push_str(&format!("  n{from} --> n{to}\n"));
        }
        text
    }

    pub fn dot(&self) -> String {
        let mut text = "digraph {\n  rankdir=LR;\n".to_owned();
        for (place, node) in self.nodes.iter().enumerate() {
            let name = node.name.replace('\\', "\\\\").replace('"', "\\\"");
            text.push_str(&format!("  n{place} [label=\"{name}\"];\n"));
        }
        for (from, to) in &self.edges {
            text.push_str(&format!("  n{from} -> n{to};\n"));
        }
        text.push_str("}\n");
        text
    }
}

/// A name in quotes of Mermaid, which reads `#...;` and tags of HTML in them.
fn mermaid_label(name: &str) -> String {
    let escaped = name.chars().map(|character| match character {
        '"' => "#quot;".to_owned(),
        '#' => "#35;".to_owned(),
        '<' => "#lt;".to_owned(),
        '>' => "#gt;".to_owned(),
        other => other.to_string(),
    });
    escaped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_labels_that_mermaid_and_dot_read() {
        let node = GraphName { name: "operator<#\"\\".to_owned(), file: "a.cc".to_owned(), line: 1 };
        let graph = NamedGraph { nodes: vec![node], ..NamedGraph::default() };
        assert_eq!(graph.mermaid(), "graph LR\n  n0[\"operator#lt;#35;#quot;\\\"]\n");
        assert_eq!(graph.dot(), "digraph {\n  rankdir=LR;\n  n0 [label=\"operator<#\\\"\\\\\"];\n}\n");
    }

    #[test]
    fn rings_are_found() {
        for (count, edges, expected) in [
            (3, &[(0, 1), (1, 2)][..], vec![]),
            (3, &[(0, 1), (1, 0), (1, 2)][..], vec![vec![0, 1]]),
            (2, &[(1, 1)][..], vec![vec![1]]),
            (5, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 3)][..], vec![vec![0, 1, 2], vec![3, 4]]),
        ] {
            assert_eq!(cycles(count, edges), expected, "{edges:?}");
        }
    }
}
