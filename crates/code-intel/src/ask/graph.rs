//! Graphs of calls and imports, as data, text, Mermaid or DOT.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::answers::{Certainty, FileLine};
use crate::facts;
use crate::index::{FileId, Index};
use crate::resolve::{self, Direction, Resolver};

/// A directed graph of functions or files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Graph {
    pub nodes: Vec<GraphNode>,
    pub edges: Vec<GraphEdge>,
    /// The nodes of each cycle, by their index in `nodes`.
    pub cycles: Vec<Vec<usize>>,
    /// False where the graph was cut at its largest size.
    pub complete: bool,
}

/// A function or a file, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphNode {
    pub name: String,
    pub file: String,
    pub line: u32,
}

/// A call or an import: who calls or imports whom, by their index in `nodes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphEdge {
    pub from: usize,
    pub to: usize,
    /// `by_name` where the call is known by the name of what is called alone.
    pub certainty: Certainty,
}

impl GraphEdge {
    fn is_by_name(self) -> bool {
        self.certainty == Certainty::ByName
    }
}

impl Default for Graph {
    fn default() -> Self {
        Self { nodes: Vec::new(), edges: Vec::new(), cycles: Vec::new(), complete: true }
    }
}

impl Graph {
    /// The calls around a function.
    pub(super) fn of_calls(index: &Index, graph: &resolve::CallGraph) -> Self {
        let nodes = graph.nodes.iter().map(|node| {
            let whole = index.whole(node.found.file);
            let definition = &node.found.definition;
            GraphNode {
                name: facts::qualified_name(&whole.1, definition),
                file: index.path(node.found.file).to_owned(),
                line: definition.at.line,
            }
        });
        let edges = graph.edges.iter().map(|edge| GraphEdge {
            from: edge.caller,
            to: edge.callee,
            certainty: edge.certainty.into(),
        });
        let graph = Self {
            nodes: nodes.collect(),
            edges: edges.collect(),
            complete: !graph.is_cut,
            ..Self::default()
        };
        graph.with_cycles()
    }

    /// The imports between files: of all, or what one file imports and what imports it.
    pub(super) fn of_files(index: &Index, only: Option<FileId>, most: usize) -> Self {
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
        let mut graph = Self::default();
        let mut place = |graph: &mut Self, id: FileId| {
            if let Some(place) = places.get(&id) {
                return Some(*place);
            }
            if graph.nodes.len() >= most {
                graph.complete = false;
                return None;
            }
            let path = index.path(id).to_owned();
            graph.nodes.push(GraphNode { name: path.clone(), file: path, line: 1 });
            places.insert(id, graph.nodes.len() - 1);
            Some(graph.nodes.len() - 1)
        };
        if let Some(only) = only {
            place(&mut graph, only);
        }
        for (from, to) in pairs {
            if let (Some(from), Some(to)) = (place(&mut graph, from), place(&mut graph, to)) {
                graph.edges.push(GraphEdge { from, to, certainty: Certainty::Resolved });
            }
        }
        graph.with_cycles()
    }

    /// The same graph with its cycles.
    pub(crate) fn with_cycles(mut self) -> Self {
        self.cycles = cycles(self.nodes.len(), &self.edges);
        self
    }

    /// The nodes with an edge that leaves them, in the order of files and lines.
    pub(super) fn callers(&self) -> Vec<FileLine> {
        let callers: BTreeSet<usize> = self.edges.iter().map(|edge| edge.from).collect();
        let callers = callers.into_iter().filter_map(|caller| self.nodes.get(caller));
        let mut callers: Vec<FileLine> =
            callers.map(|node| FileLine { file: node.file.clone(), line: node.line }).collect();
        callers.sort();
        callers
    }

    /// One line per node with the nodes it points at, or for callers those that point at it.
    pub fn text(&self, direction: Direction) -> String {
        let mut text = String::new();
        for (place, node) in self.nodes.iter().enumerate() {
            let others: Vec<String> = self
                .edges
                .iter()
                .filter_map(|edge| match direction {
                    Direction::Callees => (edge.from == place).then_some((edge, edge.to)),
                    Direction::Callers => (edge.to == place).then_some((edge, edge.from)),
                })
                .filter_map(|(edge, other)| {
                    let mark = if edge.is_by_name() { " (by name)" } else { "" };
                    Some(format!("{}{mark}", self.nodes.get(other)?.name))
                })
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
        for cycle in &self.cycles {
            let names: Vec<&str> =
                cycle.iter().filter_map(|place| Some(self.nodes.get(*place)?.name.as_str())).collect();
            text.push_str(&format!("cycle: {}\n", names.join(" -> ")));
        }
        if !self.complete {
            text.push_str("(there is more than is shown)\n");
        }
        text
    }

    /// The graph as a Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        let mut text = "graph LR\n".to_owned();
        for (place, node) in self.nodes.iter().enumerate() {
            text.push_str(&format!("  n{place}[\"{}\"]\n", mermaid_label(&node.name)));
        }
        for edge @ GraphEdge { from, to, .. } in &self.edges {
            let arrow = if edge.is_by_name() { "-.->" } else { "-->" };
            text.push_str(&format!("  n{from} {arrow} n{to}\n"));
        }
        text
    }

    /// The graph in the DOT language of Graphviz.
    pub fn dot(&self) -> String {
        let mut text = "digraph {\n  rankdir=LR;\n".to_owned();
        for (place, node) in self.nodes.iter().enumerate() {
            let name = node.name.replace('\\', "\\\\").replace('"', "\\\"");
            text.push_str(&format!("  n{place} [label=\"{name}\"];\n"));
        }
        for edge @ GraphEdge { from, to, .. } in &self.edges {
            let style = if edge.is_by_name() { " [style=dashed]" } else { "" };
            text.push_str(&format!("  n{from} -> n{to}{style};\n"));
        }
        text.push_str("}\n");
        text
    }
}

/// The groups of nodes that reach each other, and nodes that point at themselves.
fn cycles(count: usize, edges: &[GraphEdge]) -> Vec<Vec<usize>> {
    let mut following = vec![Vec::new(); count];
    let mut preceding = vec![Vec::new(); count];
    for edge in edges {
        following[edge.from].push(edge.to);
        preceding[edge.to].push(edge.from);
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
    let is_cycle = |members: &Vec<usize>| {
        members.len() > 1 || members.first().is_some_and(|only| following[*only].contains(only))
    };
    let mut cycles: Vec<Vec<usize>> = found.into_iter().filter(is_cycle).collect();
    cycles.sort();
    cycles
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
        let node = GraphNode { name: "operator<#\"\\".to_owned(), file: "a.cc".to_owned(), line: 1 };
        let graph = Graph { nodes: vec![node], ..Graph::default() };
        assert_eq!(graph.mermaid(), "graph LR\n  n0[\"operator#lt;#35;#quot;\\\"]\n");
        assert_eq!(graph.dot(), "digraph {\n  rankdir=LR;\n  n0 [label=\"operator<#\\\"\\\\\"];\n}\n");
    }

    #[test]
    fn cycles_are_found() {
        for (count, edges, expected) in [
            (3, &[(0, 1), (1, 2)][..], vec![]),
            (3, &[(0, 1), (1, 0), (1, 2)][..], vec![vec![0, 1]]),
            (2, &[(1, 1)][..], vec![vec![1]]),
            (5, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 3)][..], vec![vec![0, 1, 2], vec![3, 4]]),
        ] {
            let edge = |(from, to): &(usize, usize)| GraphEdge {
                from: *from,
                to: *to,
                certainty: Certainty::Resolved,
            };
            let edges: Vec<_> = edges.iter().map(edge).collect();
            assert_eq!(cycles(count, &edges), expected, "{edges:?}");
        }
    }
}
