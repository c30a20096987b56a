//! `stepwell index`: questions about the code of a folder.

mod serve;
mod show;

use std::path::Path;

use serde_json::{Value, json};
use stepwell_code_intel::graph::{self, NamedGraph};
use stepwell_code_intel::index::{Index, Refreshed};
use stepwell_code_intel::resolve::{Direction, Found, Meaning, Resolver};
use stepwell_code_intel::scip::{self, Answer, Asked, Consulted};
use stepwell_code_intel::search;
use stepwell_workspace::Workspace;

use crate::args::{CallsArg, GraphArg, IndexArgs, IndexCommand};
use crate::assemble::{Assembly, AssemblyOptions, code_indexes, workspace_root};
use crate::exit::Exit;
use crate::language::Language;
use crate::report;
use crate::settings::SettingsLayer;
use crate::terminal::{out, out_line};

/// Functions or files shown in one graph.
const MOST_NODES: usize = 2000;

pub fn run(args: IndexArgs) -> anyhow::Result<Exit> {
    if let IndexCommand::Serve { root, language, .. } = &args.command {
        let (mut index, _) = open(root.as_deref().or(args.cwd.as_deref()))?;
        return serve::serve(&mut index, language.as_deref());
    }
    let (mut index, language) = open(args.cwd.as_deref())?;
    if let IndexCommand::Build { fresh: true } = &args.command {
        index.clear();
    }
    let progress = show::Progress::new(language);
    let refreshed = index.refresh(&|done, all| progress.tell(done, all), &|| false);
    progress.finish();
    let refreshed = refreshed?;
    if refreshed.is_cut {
        let words =
            language.pick("the folder is too large: not all of it was read", "文件夹过大：未全部读取");
        crate::terminal::error_line(words);
    }
    answer(&index, refreshed, &args, language)
}

fn open(folder: Option<&Path>) -> anyhow::Result<(Index, Language)> {
    let assembly = Assembly::new(AssemblyOptions {
        workspace: workspace_root(folder)?,
        extra_roots: Vec::new(),
        command_line: SettingsLayer::default(),
        record: None,
    })?;
    let workspace = Workspace::open(&assembly.workspace, &[])?;
    let language = Language::choose(assembly.settings.language().as_deref());
    Ok((Index::open(&code_indexes(&assembly.places), &workspace)?, language))
}

fn answer(index: &Index, refreshed: Refreshed, args: &IndexArgs, language: Language) -> anyhow::Result<Exit> {
    let resolver = Resolver::new(index);
    match &args.command {
        IndexCommand::Build { .. } | IndexCommand::Status => {
            show::status(index, refreshed, args.json, language)?;
        }
        IndexCommand::Def(target) => {
            if let Some(answer) = told(scip::definitions(index, &Asked::parse(&target.target))) {
                return show::scip_definitions(index, &answer, args.json).map(|()| Exit::Done);
            }
            let meaning = asked(&resolver, &target.target)?;
            let found: Vec<Value> = meaning.found().iter().map(|found| show::place(index, found)).collect();
            if args.json {
                let certainty = match &meaning {
                    Meaning::Found(_, certainty) => certainty.name(),
                    Meaning::External => "external",
                    Meaning::Unknown => "unknown",
                };
                print_json(&json!({"source": "index", "certainty": certainty, "definitions": found}))?;
            } else {
                show::places(index, meaning.found());
            }
        }
        IndexCommand::Refs(target) => {
            if let Some(answer) = told(scip::references(index, &Asked::parse(&target.target))) {
                return show::scip_uses(index, &answer, args.json).map(|()| Exit::Done);
            }
            let found = targets(&resolver, &target.target)?;
            let uses: Vec<_> = found.iter().flat_map(|found| resolver.references(found)).collect();
            show::uses(index, &uses, args.json)?;
        }
        IndexCommand::Calls { target, direction, depth, format } => {
            let found = targets(&resolver, &target.target)?;
            let direction = match direction {
                CallsArg::Callers => Direction::Callers,
                CallsArg::Callees => Direction::Callees,
            };
            if let Some(start) = found.first() {
                let calls = resolver.call_graph(start, direction, *depth, MOST_NODES);
                print_graph(&graph::of_calls(index, &calls), direction, *format, args.json)?;
            }
        }
        IndexCommand::Deps { file, format } => {
            let only = file.as_deref().map(|file| index.named(file)).transpose()?;
            let graph = graph::of_files(index, only, MOST_NODES);
            print_graph(&graph, Direction::Callees, *format, args.json)?;
        }
        IndexCommand::Symbols { file, kind } => show::symbols(index, index.named(file)?, kind, args.json)?,
        IndexCommand::Search { words, limit } => {
            let hits = search::search(index, &words.join(" "), *limit);
            show::hits(index, &hits, args.json)?;
        }
        IndexCommand::Map { tokens } => {
            let map = search::map(index, *tokens);
            if args.json { print_json(&json!({"map": map}))? } else { out(&map) }
        }
        IndexCommand::Serve { .. } => {}
    }
    Ok(Exit::Done)
}

/// The answer of an `index.scip`. Why it has none, and what of its answer is not from it, goes to standard error.
fn told(consulted: Consulted) -> Option<Answer> {
    let (note, answer) = match consulted {
        Consulted::Absent => (None, None),
        Consulted::Declined(why) => (Some(why), None),
        Consulted::Answered(answer) => (answer.note.clone(), Some(answer)),
    };
    if let Some(note) = note {
        crate::terminal::error_line(&format!("note: {note}"));
    }
    answer
}

/// What is asked about; an error where it is nothing of this folder.
fn asked(resolver: &Resolver<'_>, target: &str) -> anyhow::Result<Meaning> {
    match resolver.asked(target)? {
        Meaning::Unknown => Err(report::failed(
            format!("`{target}` is not defined in this folder as far as the index can tell"),
            "give a name as it is written, `Type.member`, or FILE:LINE:COLUMN; `stepwell index search` finds code by words",
        )),
        Meaning::External => Err(report::failed(
            format!("`{target}` is external: it is defined outside of this folder"),
            "its package is among the dependencies of the project, or it is built into the language",
        )),
        found @ Meaning::Found(..) => Ok(found),
    }
}

fn targets(resolver: &Resolver<'_>, target: &str) -> anyhow::Result<Vec<Found>> {
    Ok(asked(resolver, target)?.found().to_vec())
}

fn print_json(value: &Value) -> anyhow::Result<()> {
    out_line(&serde_json::to_string_pretty(value)?);
    Ok(())
}

fn print_graph(
    graph: &NamedGraph,
    direction: Direction,
    format: GraphArg,
    as_json: bool,
) -> anyhow::Result<()> {
    match format {
        GraphArg::Text if !as_json => out(&graph.text(direction)),
        GraphArg::Text | GraphArg::Json => print_json(&show::graph(graph))?,
        GraphArg::Mermaid => out(&graph.mermaid()),
        GraphArg::Dot => out(&graph.dot()),
    }
    Ok(())
}
