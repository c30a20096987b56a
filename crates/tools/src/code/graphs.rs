//! `call_graph` and `dependency_graph`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_code_intel::Result;
use stepwell_code_intel::ask::{
    Ask, CallGraph as Calls, CallOptions, Certainty, Graph, REFERENCE_DEADLINE, ServerReply, SourceKind,
    Target,
};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::lsp::Question;
use stepwell_code_intel::resolve::Direction;
use stepwell_protocol::{GraphEdge, GraphNode, ToolDetail};

use super::answer::{SymbolQuestion, TextAnswer, note_lines, source_name, unresolved_text};
use super::code_tool;
use super::names::TargetInput;
use super::service::SourceChoice;

const MOST_NODES: usize = 300;

code_tool!(CallGraph, "call_graph", &[], CallInput => Drawn<Calls>, calls, asking_servers);
code_tool!(DependencyGraph, "dependency_graph", &[], DependencyInput => Drawn<Graph>, dependencies);

/// Shows who calls a function, or whom it calls, several steps far, with cycles.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct CallInput {
    #[serde(flatten)]
    target: TargetInput,
    #[serde(default)]
    direction: Way,
    /// Steps, 2 by default, 10 at most.
    depth: Option<u32>,
    #[serde(default)]
    format: Format,
    #[serde(default)]
    source: SourceChoice,
}

/// Shows which files import which, with cycles: of one file, or of all.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct DependencyInput {
    #[schemars(extend("x-aliases" = ["file_path", "path"]))]
    file: Option<String>,
    #[serde(default)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    #[default]
    Callers,
    Callees,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    #[default]
    Text,
    Json,
    Mermaid,
    Dot,
}

/// A graph with its drawing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Drawn<G> {
    #[serde(flatten)]
    graph: G,
    /// The graph in Mermaid or DOT, where that format was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagram: Option<String>,
}

impl CallInput {
    fn subject(&self) -> (String, Vec<String>) {
        self.target.subject()
    }

    fn options(&self) -> CallOptions {
        let direction = match self.direction {
            Way::Callers => Direction::Callers,
            Way::Callees => Direction::Callees,
        };
        CallOptions { direction, depth: self.depth.unwrap_or(2).clamp(1, 10), max_nodes: MOST_NODES }
    }
}

impl SymbolQuestion for CallInput {
    fn target(&self) -> Target {
        self.target.target()
    }

    fn question(&self) -> Question {
        let CallOptions { direction, depth, max_nodes } = self.options();
        Question::Calls { direction, depth, most: max_nodes }
    }
}

impl DependencyInput {
    fn subject(&self) -> (String, Vec<String>) {
        let subject = self.file.as_ref().map_or("all files".to_owned(), |file| format!("`{file}`"));
        (subject, self.file.iter().cloned().collect())
    }
}

fn calls(
    index: &mut Index,
    input: &CallInput,
    reply: Option<&ServerReply>,
) -> Result<TextAnswer<Drawn<Calls>>> {
    let ask = Ask::new(index).within(REFERENCE_DEADLINE).with_server(reply);
    let answer = ask.call_graph(&input.target(), input.options())?;
    if let Some(unresolved) = answer.unresolved() {
        let text = unresolved_text(&input.subject().0, unresolved, &answer.origin.notes);
        return Ok(TextAnswer::new(Drawn { graph: answer, diagram: None }, text));
    }
    let origin = &answer.origin;
    let mut about = match origin.source {
        SourceKind::Index => String::new(),
        SourceKind::Scip | SourceKind::Lsp => format!("source: {}\n", source_name(origin)),
    };
    about.push_str(&note_lines(&origin.notes));
    let graph = answer.graph.clone();
    Ok(drawn(answer, &graph, input.options().direction, input.format, &about))
}

fn dependencies(index: &mut Index, input: &DependencyInput) -> Result<TextAnswer<Drawn<Graph>>> {
    let graph = Ask::new(index).dependency_graph(input.file.as_deref(), MOST_NODES)?;
    if graph.nodes.is_empty() && matches!(input.format, Format::Text) {
        let text = "No file of the workspace imports another one, as far as the index can tell.";
        return Ok(TextAnswer::new(Drawn { graph, diagram: None }, text));
    }
    Ok(drawn(graph.clone(), &graph, Direction::Callees, input.format, ""))
}

/// Draws a graph in a format. Notes about it are comments in Mermaid and DOT, and fields in JSON.
fn drawn<A: Serialize>(
    answer: A,
    graph: &Graph,
    direction: Direction,
    format: Format,
    about: &str,
) -> TextAnswer<Drawn<A>> {
    let commented =
        |mark: &str| about.split_inclusive('\n').flat_map(|line| [mark, " ", line]).collect::<String>();
    let diagram = match format {
        Format::Text | Format::Json => None,
        Format::Mermaid => Some(graph.mermaid() + &commented("%%")),
        Format::Dot => Some(graph.dot() + &commented("//")),
    };
    let text = match (&diagram, format) {
        (Some(diagram), _) => diagram.clone(),
        (None, Format::Json) => serde_json::to_string(&answer).unwrap_or_default(),
        (None, _) if about.is_empty() => graph.text(direction),
        (None, _) => format!("{}\n{about}", graph.text(direction)),
    };
    TextAnswer::new(Drawn { graph: answer, diagram }, text).showing(shown(graph))
}

/// A graph as screens draw it. Its first node is the one that was asked about.
fn shown(graph: &Graph) -> ToolDetail {
    let nodes = graph.nodes.iter().enumerate().map(|(at, node)| GraphNode {
        id: at.to_string(),
        label: node.name.clone(),
        file: Some(node.file.clone()).filter(|file| !file.is_empty()),
        line: Some(node.line).filter(|line| *line > 0),
        root: at == 0,
    });
    let edges = graph.edges.iter().map(|edge| GraphEdge {
        from: edge.from.to_string(),
        to: edge.to.to_string(),
        sure: edge.certainty != Certainty::ByName,
    });
    ToolDetail::Graph { nodes: nodes.collect(), edges: edges.collect() }
}
