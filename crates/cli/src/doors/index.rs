//! `stepwell index`: questions about the code of a folder.

mod meaning;
mod serve;
mod servers;
mod show;

use std::path::Path;

use serde::Serialize;
use stepwell_code_intel::ask::{
    Ask, CallOptions, Certainty, Graph, SearchRequest, ServerReply, Target, Unresolved,
};
use stepwell_code_intel::index::{Index, Refreshed};
use stepwell_code_intel::lsp::Question;
use stepwell_code_intel::resolve::Direction;

use servers::RunningServers;

use crate::args::{CallsArg, GraphArg, IndexArgs, IndexCommand, IndexTarget, SourceArg};
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
        let (language, root) = serve::meant(language.as_deref(), root.as_deref())?;
        let (assembly, mut index) = open(root.or(args.cwd.as_deref()))?;
        return serve::serve(&assembly, &mut index, language);
    }
    let (assembly, mut index) = open(args.cwd.as_deref())?;
    let language = Language::choose(assembly.settings.language().as_deref());
    if let IndexCommand::Build { fresh: true } = &args.command {
        index.clear();
    }
    let progress = show::Progress::new(language);
    let refreshed = index.refresh(&|done, all| progress.tell(done, all), &|| false);
    progress.finish();
    let refreshed = refreshed?;
    if refreshed.is_cut {
        let words = language.word("the folder is too large: not all of it was read");
        crate::terminal::error_line(words);
    }
    answer(&IndexedFolder { assembly: &assembly, index: &index, refreshed, language }, &args)
}

/// A folder whose index is up to date.
struct IndexedFolder<'l> {
    assembly: &'l Assembly,
    index: &'l Index,
    refreshed: Refreshed,
    language: Language,
}

impl IndexedFolder<'_> {
    /// Explains an answer that is empty or not certain, on standard error.
    fn tell(&self, english: &str, chinese: &str) {
        tell(Some(self.language.pick(english, chinese)));
    }
}

fn open(folder: Option<&Path>) -> anyhow::Result<(Assembly, Index)> {
    let assembly = Assembly::new(AssemblyOptions {
        workspace: workspace_root(folder)?,
        extra_roots: Vec::new(),
        command_line: SettingsLayer::default(),
        record: None,
    })?;
    // The tools read the same index: it holds nothing that they may not read.
    let index = Index::open(&code_indexes(&assembly.places), &assembly.open_workspace()?)?;
    Ok((assembly, index))
}

fn answer(folder: &IndexedFolder<'_>, args: &IndexArgs) -> anyhow::Result<Exit> {
    let ask = Ask::new(folder.index);
    match &args.command {
        IndexCommand::Build { .. } | IndexCommand::Status => {
            if let IndexCommand::Build { .. } = &args.command {
                meaning::build(folder)?;
            }
            let servers = servers::found(folder)?;
            show::status(folder.index, folder.refreshed, &servers, args.json, folder.language)?;
        }
        IndexCommand::Def(target) => {
            let (target, reply) = asked(folder, target, Question::Definition)?;
            let answer = ask.with_server(reply.as_ref()).definition(&target)?;
            tell(answer.origin.note().as_deref());
            check_resolved(folder.index, &target, answer.unresolved())?;
            if args.json {
                print_json(&answer)?;
            } else {
                show::definitions(&answer);
                if target.is_position() && answer.certainty == Certainty::ByName {
                    folder.tell(
                        "by its name alone: the type before it is not known",
                        "仅按名称：其前的类型未知",
                    );
                }
            }
        }
        IndexCommand::Refs(target) => {
            let (target, reply) = asked(folder, target, Question::References)?;
            let answer = ask.with_server(reply.as_ref()).references(&target, usize::MAX)?;
            tell(answer.origin.note().as_deref());
            check_resolved(folder.index, &target, answer.unresolved())?;
            if args.json {
                print_json(&answer)?;
            } else {
                show::references(&answer);
            }
            if answer.references.is_empty() {
                folder.tell("nothing uses it, as far as the index can tell", "索引未发现任何使用之处");
            }
        }
        IndexCommand::Calls { target, direction, depth, format } => {
            let direction = match direction {
                CallsArg::Callers => Direction::Callers,
                CallsArg::Callees => Direction::Callees,
            };
            let question = Question::Calls { direction, depth: *depth, most: MOST_NODES };
            let (target, reply) = asked(folder, target, question)?;
            let options = CallOptions { direction, depth: *depth, max_nodes: MOST_NODES };
            let answer = ask.with_server(reply.as_ref()).call_graph(&target, options)?;
            tell(answer.origin.note().as_deref());
            check_resolved(folder.index, &target, answer.unresolved())?;
            print_graph(&answer, &answer.graph, direction, *format, args.json)?;
            if answer.graph.edges.is_empty() {
                match direction {
                    Direction::Callers => folder.tell("nothing calls it", "没有调用者"),
                    Direction::Callees => {
                        folder.tell("it calls nothing of this folder", "它未调用此文件夹中的函数");
                    }
                }
            }
        }
        IndexCommand::Deps { file, format } => {
            let graph = ask.dependency_graph(file.as_deref(), MOST_NODES)?;
            print_graph(&graph, &graph, Direction::Callees, *format, args.json)?;
            if graph.edges.is_empty() {
                folder.tell("no imports between files were found", "未发现文件之间的导入");
            }
        }
        IndexCommand::Symbols { file, kind } => {
            if show::symbols(&ask, file, kind, args.json)? == 0 {
                folder.tell("the file defines nothing of that kind", "该文件未定义此类符号");
            }
        }
        IndexCommand::Search { words, limit, near } => {
            let words = &words.join(" ");
            let request = SearchRequest { words, vector: None, open_files: near, limit: *limit };
            let answer = meaning::search(folder, &request)?;
            for note in &answer.notes {
                tell(Some(note));
            }
            if args.json {
                print_json(&answer)?;
            } else {
                show::hits(&answer);
            }
            if answer.hits.is_empty() {
                folder.tell("nothing is about these words", "没有与这些词相关的代码");
            }
            if !answer.complete {
                folder.tell(
                    "the folder is large: there was no time for all of it",
                    "文件夹过大：未能在限定时间内搜索全部内容",
                );
            }
        }
        IndexCommand::Map { tokens } => {
            let answer = ask.overview(*tokens);
            if args.json {
                print_json(&answer)?;
            } else {
                out(&answer.map);
            }
            if answer.map.is_empty() {
                folder.tell(
                    "there are no symbols, or none fits into so few tokens",
                    "没有符号，或令牌数太少无法容纳",
                );
            }
        }
        IndexCommand::Serve { .. } => {}
    }
    Ok(Exit::Done)
}

/// What is asked about, and the reply of a language server where the command line asks for one.
fn asked(
    folder: &IndexedFolder<'_>,
    target: &IndexTarget,
    question: Question,
) -> anyhow::Result<(Target, Option<ServerReply>)> {
    let source = target.source;
    let target = Target::parse(&target.target);
    let reply = match source {
        SourceArg::Index => None,
        SourceArg::Lsp => {
            let servers = RunningServers::new(folder.assembly, folder.index)?;
            let reply = servers.ask(folder.index, &target, question);
            servers.close();
            Some(reply)
        }
    };
    Ok((target, reply))
}

/// Prints a note about an answer on standard error.
fn tell(note: Option<&str>) {
    if let Some(note) = note {
        crate::terminal::error_line(&format!("note: {note}"));
    }
}

/// Fails where a target has no definition in this folder.
fn check_resolved(index: &Index, target: &Target, unresolved: Option<Unresolved<'_>>) -> anyhow::Result<()> {
    let Some(unresolved) = unresolved else { return Ok(()) };
    Err(match unresolved {
        Unresolved::Unknown { similar_names } => {
            let hint = if !similar_names.is_empty() {
                format!("there is {}", similar_names.join(", "))
            } else if index.entries().next().is_none() {
                "the folder has no file that can be read: give another one with -C".to_owned()
            } else {
                "give a name as it is written, `Type.member`, FILE:LINE or FILE:LINE:COLUMN; `stepwell index search` finds code by words".to_owned()
            };
            let what = format!("`{target}` is not defined in this folder as far as the index can tell");
            report::failed(what, hint)
        }
        Unresolved::External => report::failed(
            format!("`{target}` is not known here: no file of this folder defines it"),
            "it may belong to a dependency of the project, or be built into the language",
        ),
    })
}

fn print_json(answer: &impl Serialize) -> anyhow::Result<()> {
    out_line(&serde_json::to_string_pretty(answer)?);
    Ok(())
}

fn print_graph(
    answer: &impl Serialize,
    graph: &Graph,
    direction: Direction,
    format: GraphArg,
    as_json: bool,
) -> anyhow::Result<()> {
    match format {
        GraphArg::Text if !as_json => out(&graph.text(direction)),
        GraphArg::Text | GraphArg::Json => print_json(answer)?,
        GraphArg::Mermaid => out(&graph.mermaid()),
        GraphArg::Dot => out(&graph.dot()),
    }
    Ok(())
}
