//! Call graphs from a server's call hierarchy.

use std::collections::HashMap;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::client::ServerError;
use super::replies::{self, CallItem, LocationReader, WirePosition};
use super::running::RunningServer;
use crate::ask::{Certainty, Graph, GraphEdge, GraphNode};
use crate::resolve::Direction;

/// Calls of one function that are looked at.
const MOST_CALLS: usize = 2000;

/// The calls around functions, and how many of them lead to places that the files do not have. What leads out of the
/// workspace is left out, as the index does.
pub(crate) async fn graph(
    running: &RunningServer,
    reader: &mut LocationReader<'_>,
    starts: Vec<CallItem>,
    (direction, depth, most): (Direction, u32, usize),
    deadline: Instant,
) -> Result<(Graph, usize), ServerError> {
    let (method, other) = match direction {
        Direction::Callers => ("callHierarchy/incomingCalls", "from"),
        Direction::Callees => ("callHierarchy/outgoingCalls", "to"),
    };
    let mut builder =
        CallGraphBuilder { reader, most, graph: Graph::default(), places: HashMap::new(), missing: 0 };
    let mut open = Vec::new();
    for start in starts {
        if let Some(place) = builder.add(&start) {
            open.push((place, 0, start));
        }
    }
    if open.is_empty() {
        return Err(ServerError::Useless("it knows no function there".to_owned()));
    }
    let mut next = 0;
    while next < open.len() {
        let (place, steps, item) = (open[next].0, open[next].1, open[next].2.whole.clone());
        next += 1;
        if steps >= depth {
            continue;
        }
        let answer = running.request(method, &json!({"item": item}), deadline).await?;
        let Value::Array(calls) = answer else { continue };
        let items = calls.into_iter().take(MOST_CALLS).map(|mut call| replies::item(call[other].take()));
        let mut items = items.collect::<Result<Vec<CallItem>, ServerError>>()?;
        // gopls has them in another order each time.
        items.sort_by(|one, two| (&one.uri, one.selection_range).cmp(&(&two.uri, two.selection_range)));
        for item in items {
            let before = builder.graph.nodes.len();
            let Some(around) = builder.add(&item) else { continue };
            let edge = match direction {
                Direction::Callers => GraphEdge { from: around, to: place, certainty: Certainty::Resolved },
                Direction::Callees => GraphEdge { from: place, to: around, certainty: Certainty::Resolved },
            };
            if !builder.graph.edges.contains(&edge) {
                builder.graph.edges.push(edge);
            }
            if around == before {
                open.push((around, steps + 1, item));
            }
        }
    }
    Ok((builder.graph.with_cycles(), builder.missing))
}

/// A call graph while the server's answers come in.
struct CallGraphBuilder<'r, 'w> {
    reader: &'r mut LocationReader<'w>,
    most: usize,
    graph: Graph,
    places: HashMap<(String, WirePosition), usize>,
    missing: usize,
}

impl CallGraphBuilder<'_, '_> {
    /// The node of a function; none where there is no room, or it is not in the files of the workspace.
    fn add(&mut self, item: &CallItem) -> Option<usize> {
        let key = (item.uri.clone(), item.selection_range.start);
        if let Some(known) = self.places.get(&key) {
            return Some(*known);
        }
        let Some(place) = self.reader.place(&item.uri, item.selection_range) else {
            self.missing += 1;
            return None;
        };
        if place.path.starts_with('/') {
            return None;
        }
        if self.graph.nodes.len() >= self.most {
            self.graph.complete = false;
            return None;
        }
        let name = item.name.chars().take(200).collect();
        self.graph.nodes.push(GraphNode { name, file: place.path, line: place.at.line });
        self.places.insert(key, self.graph.nodes.len() - 1);
        Some(self.graph.nodes.len() - 1)
    }
}
