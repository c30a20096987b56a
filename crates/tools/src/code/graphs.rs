//! `call_graph` and `dependency_graph`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use stepwell_code_intel::Result;
use stepwell_code_intel::graph::{self, NamedGraph};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::lsp::{Question, Reply};
use stepwell_code_intel::resolve::{Direction, Meaning, PATIENCE, Resolver};

use super::code_tool;
use super::desk::{ForServers, FromServer, Source, Told};
use super::names::{Target, noted, nothing};

const MOST_NODES: usize = 300;

code_tool!(CallGraph, "call_graph", &[], CallInput, calls, asking_servers);
code_tool!(DependencyGraph, "dependency_graph", &[], DependencyInput, dependencies);

/// Shows who calls a function, or whom it calls, several steps far, with rings.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CallInput {
    #[serde(flatten)]
    target: Target,
    #[serde(default)]
    direction: Way,
    /// Steps, 2 by default, 10 at most.
    depth: Option<u32>,
    #[serde(default)]
    format: Format,
    #[serde(default)]
    source: Source,
}

/// Shows which files import which, with rings: of one file, or of all.
#[derive(Debug, Deserialize, JsonSchema)]
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

impl CallInput {
    fn subject(&self) -> (String, Vec<String>) {
        self.target.subject()
    }

    fn direction(&self) -> Direction {
        match self.direction {
            Way::Callers => Direction::Callers,
            Way::Callees => Direction::Callees,
        }
    }

    fn depth(&self) -> u32 {
        self.depth.unwrap_or(2).clamp(1, 10)
    }
}

impl ForServers for CallInput {
    fn question(&self) -> Question {
        Question::Calls { direction: self.direction(), depth: self.depth(), most: MOST_NODES }
    }
}

impl DependencyInput {
    fn subject(&self) -> (String, Vec<String>) {
        let subject = self.file.as_ref().map_or("all files".to_owned(), |file| format!("`{file}`"));
        (subject, self.file.iter().cloned().collect())
    }
}

fn calls(index: &mut Index, input: &CallInput, said: FromServer) -> Result<Told> {
    let direction = input.direction();
    let mut notes = String::new();
    match said {
        Some(Ok(Reply::Calls { server, graph, note })) => {
            let source = format!("source: lsp ({server})\n{}", noted(note.as_deref()));
            return Ok(shown(&graph, direction, input.format).noted(&source));
        }
        Some(Err(why)) => notes = noted(Some(&why)),
        Some(Ok(Reply::Places(_))) | None => {}
    }
    let resolver = Resolver::within(index, PATIENCE);
    let meaning = input.target.meaning(index, &resolver)?;
    let Some(start) = meaning.found().first() else {
        return Ok(nothing(&input.target, &Meaning::Unknown).noted(&notes));
    };
    let calls = resolver.call_graph(start, direction, input.depth(), MOST_NODES);
    notes.push_str(&noted(resolver.note().as_deref()));
    Ok(shown(&graph::of_calls(index, &calls), direction, input.format).noted(&notes))
}

fn dependencies(index: &mut Index, input: &DependencyInput) -> Result<Told> {
    let only = input.file.as_deref().map(|file| index.named(file)).transpose()?;
    Ok(shown(&graph::of_files(index, only, MOST_NODES), Direction::Callees, input.format))
}

fn shown(graph: &NamedGraph, direction: Direction, format: Format) -> Told {
    Told::new(match format {
        Format::Text => graph.text(direction),
        Format::Mermaid => graph.mermaid(),
        Format::Dot => graph.dot(),
        Format::Json => {
            let nodes: Vec<_> = graph
                .nodes
                .iter()
                .map(|node| json!({"name": node.name, "file": node.file, "line": node.line}))
                .collect();
            let complete = !graph.is_cut;
            json!({"nodes": nodes, "edges": graph.edges, "cycles": graph.cycles, "complete": complete})
                .to_string()
        }
    })
}
