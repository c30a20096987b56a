//! `call_graph` and `dependency_graph`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use stepwell_code_intel::graph::{self, NamedGraph};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::lsp::{Question, Reply};
use stepwell_code_intel::resolve::{Direction, PATIENCE, Resolver};
use stepwell_code_intel::{Result, whereabouts};

use super::code_tool;
use super::names::{Target, noted, nothing};
use super::service::{ForServers, FromServer, Source, Told};

const MOST_NODES: usize = 300;

code_tool!(CallGraph, "call_graph", &[], CallInput, calls, asking_servers);
code_tool!(DependencyGraph, "dependency_graph", &[], DependencyInput, dependencies);

/// Shows who calls a function, or whom it calls, several steps far, with rings.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
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

/// Who made a graph, and what must be known about it.
#[derive(Default)]
struct Made {
    /// The language server, where one did.
    server: Option<String>,
    notes: Vec<String>,
}

fn calls(index: &mut Index, input: &CallInput, said: FromServer) -> Result<Told> {
    let direction = input.direction();
    let mut made = Made::default();
    match said {
        Some(Ok(Reply::Calls { server, graph, note })) => {
            let made = Made { server: Some(server), notes: note.into_iter().collect() };
            return Ok(shown(&graph, direction, input.format, &made));
        }
        Some(Err(why)) => made.notes.push(why),
        Some(Ok(Reply::Places(_))) | None => {}
    }
    let resolver = Resolver::within(index, PATIENCE);
    let meaning = input.target.meaning(index, &resolver)?;
    let Some(start) = meaning.found().first() else {
        let notes: String = made.notes.iter().map(|note| noted(Some(note))).collect();
        return Ok(nothing(index, &input.target, &meaning).noted(&notes));
    };
    let calls = resolver.call_graph(start, direction, input.depth(), MOST_NODES);
    made.notes.extend(resolver.note());
    made.notes.extend(whereabouts::only_first(index, meaning.found()));
    Ok(shown(&graph::of_calls(index, &calls), direction, input.format, &made))
}

fn dependencies(index: &mut Index, input: &DependencyInput) -> Result<Told> {
    let only = input.file.as_deref().map(|file| index.named(file)).transpose()?;
    let graph = graph::of_files(index, only, MOST_NODES);
    if graph.nodes.is_empty() && matches!(input.format, Format::Text) {
        return Ok(Told::new("No file of the workspace imports another one, as far as the index can tell."));
    }
    Ok(shown(&graph, Direction::Callees, input.format, &Made::default()))
}

/// A graph in a form, with what must be known about it where that form has room for it: programs read all but `text`.
fn shown(graph: &NamedGraph, direction: Direction, format: Format, made: &Made) -> Told {
    let source = made.server.as_ref().map(|server| format!("source: lsp ({server})\n"));
    let notes = made.notes.iter().map(|note| noted(Some(note)));
    let about: String = source.into_iter().chain(notes).collect();
    let remarked =
        |mark: &str| about.split_inclusive('\n').flat_map(|line| [mark, " ", line]).collect::<String>();
    Told::new(match format {
        Format::Text => return Told::new(graph.text(direction)).noted(&about),
        Format::Mermaid => graph.mermaid() + &remarked("%%"),
        Format::Dot => graph.dot() + &remarked("//"),
        Format::Json => {
            let nodes: Vec<_> = graph
                .nodes
                .iter()
                .map(|node| json!({"name": node.name, "file": node.file, "line": node.line}))
                .collect();
            let complete = !graph.is_cut;
            let mut answer =
                json!({"nodes": nodes, "edges": graph.edges, "cycles": graph.cycles, "complete": complete});
            if let Some(server) = &made.server {
                answer["source"] = json!("lsp");
                answer["server"] = json!(server);
            }
            if !made.notes.is_empty() {
                answer["note"] = json!(made.notes.join("; "));
            }
            answer.to_string()
        }
    })
}
