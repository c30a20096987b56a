//! `stepwell index`: questions about the code of a folder.

mod meaning;
mod serve;
mod servers;
mod show;

use std::path::Path;

use serde_json::{Value, json};
use stepwell_code_intel::answer::{Answer, Asked};
use stepwell_code_intel::graph::{self, NamedGraph};
use stepwell_code_intel::index::{Index, Refreshed};
use stepwell_code_intel::lsp::{Question, Reply};
use stepwell_code_intel::resolve::{Certainty, Direction, Found, Meaning, Resolver};
use stepwell_code_intel::{Error, search, whereabouts};

use servers::Standing;

use crate::args::{CallsArg, GraphArg, IndexArgs, IndexCommand, IndexTarget};
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
        let words =
            language.pick("the folder is too large: not all of it was read", "文件夹过大：未全部读取");
        crate::terminal::error_line(words);
    }
    answer(&Looked { assembly: &assembly, index: &index, refreshed, language }, &args)
}

/// A folder that was looked at.
struct Looked<'l> {
    assembly: &'l Assembly,
    index: &'l Index,
    refreshed: Refreshed,
    language: Language,
}

impl Looked<'_> {
    /// Says on standard error what a person would wonder about: an answer that is empty, or not certain.
    fn tell(&self, english: &str, chinese: &str) {
        tell(Some(self.language.pick(english, chinese)));
    }
}

impl IndexTarget {
    /// The same with a target that is given in full.
    fn completed(&self, index: &Index) -> anyhow::Result<Self> {
        Ok(Self { target: whereabouts::completed(index, &self.target)?, source: self.source })
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

fn answer(looked: &Looked<'_>, args: &IndexArgs) -> anyhow::Result<Exit> {
    let index = looked.index;
    let resolver = Resolver::new(index);
    match &args.command {
        IndexCommand::Build { .. } | IndexCommand::Status => {
            if let IndexCommand::Build { .. } = &args.command {
                meaning::build(looked)?;
            }
            let servers = servers::found(looked)?;
            show::status(index, looked.refreshed, &servers, args.json, looked.language)?;
        }
        IndexCommand::Def(target) => {
            let target = &target.completed(index)?;
            let (answer, notes) = consulted(looked, target, Question::Definition)?;
            if let Some(answer) = answer {
                return show::consulted_definitions(index, &answer, args.json).map(|()| Exit::Done);
            }
            let meaning = asked(&resolver, index, &target.target)?;
            let found: Vec<Value> = meaning.found().iter().map(|found| show::place(index, found)).collect();
            if args.json {
                let certainty = match &meaning {
                    Meaning::Found(_, certainty) => certainty.name(),
                    Meaning::External => "external",
                    Meaning::Unknown => "unknown",
                };
                let answer = json!({"source": "index", "certainty": certainty, "definitions": found});
                print_json(&show::with_note(answer, notes))?;
            } else {
                show::places(index, meaning.found());
                let is_place = matches!(Asked::parse(&target.target), Asked::At { .. });
                if is_place && matches!(meaning, Meaning::Found(_, Certainty::ByName)) {
                    looked.tell(
                        "by its name alone: the type before it is not known",
                        "仅按名称：其前的类型未知",
                    );
                }
            }
        }
        IndexCommand::Refs(target) => {
            let target = &target.completed(index)?;
            let (answer, notes) = consulted(looked, target, Question::References)?;
            if let Some(answer) = answer {
                return show::consulted_uses(index, &answer, args.json).map(|()| Exit::Done);
            }
            let found = targets(&resolver, index, &target.target)?;
            let uses = whereabouts::uses(&resolver, &found);
            show::uses(index, &uses, notes, args.json)?;
            if uses.is_empty() {
                looked.tell("nothing uses it, as far as the index can tell", "索引未发现任何使用之处");
            }
        }
        IndexCommand::Calls { target, direction, depth, format } => {
            let target = &target.completed(index)?;
            let direction = match direction {
                CallsArg::Callers => Direction::Callers,
                CallsArg::Callees => Direction::Callees,
            };
            let question = Question::Calls { direction, depth: *depth, most: MOST_NODES };
            let standing = Standing::asked_for(looked, target)?;
            let said = standing.map(|standing| {
                let said = standing.ask(index, &Asked::parse(&target.target), question);
                standing.close();
                said
            });
            let (server, graph, note) = match said {
                Some(Ok(Reply::Calls { server, graph, note })) => {
                    tell(note.as_deref());
                    (Some(server), graph, note)
                }
                said => {
                    let found = targets(&resolver, index, &target.target)?;
                    let Some(start) = found.first() else { return Ok(Exit::Done) };
                    let notes = said.and_then(Result::err).into_iter();
                    let notes: Vec<String> = notes.chain(whereabouts::only_first(index, &found)).collect();
                    let note = (!notes.is_empty()).then(|| notes.join("; "));
                    tell(note.as_deref());
                    let calls = resolver.call_graph(start, direction, *depth, MOST_NODES);
                    (None, graph::of_calls(index, &calls), note)
                }
            };
            let is_json = *format == GraphArg::Json || *format == GraphArg::Text && args.json;
            if is_json {
                let mut answer = show::graph(&graph);
                answer["source"] = json!(if server.is_some() { "lsp" } else { "index" });
                answer["server"] = json!(server);
                print_json(&show::with_note(answer, note))?;
            } else {
                print_graph(&graph, direction, *format, args.json)?;
            }
            if graph.edges.is_empty() {
                match direction {
                    Direction::Callers => looked.tell("nothing calls it", "没有调用者"),
                    Direction::Callees => {
                        looked.tell("it calls nothing of this folder", "它未调用此文件夹中的函数");
                    }
                }
            }
        }
        IndexCommand::Deps { file, format } => {
            let only = file.as_deref().map(|file| index.named(file)).transpose()?;
            let graph = graph::of_files(index, only, MOST_NODES);
            print_graph(&graph, Direction::Callees, *format, args.json)?;
            if graph.edges.is_empty() {
                looked.tell("no imports between files were found", "未发现文件之间的导入");
            }
        }
        IndexCommand::Symbols { file, kind } => {
            if show::symbols(index, index.named(file)?, kind, args.json)? == 0 {
                looked.tell("the file defines nothing of that kind", "该文件未定义此类符号");
            }
        }
        IndexCommand::Search { words, limit, near } => {
            let question = words.join(" ");
            if !question.contains(char::is_alphanumeric) {
                return Err(Error::NoWords { question }.into());
            }
            let in_hand = near.iter().map(|path| index.named(path)).collect::<Result<Vec<_>, _>>()?;
            let asked = search::Question { words: &question, near: None, in_hand: &in_hand, limit: *limit };
            let (hits, note) = meaning::search(looked, &asked)?;
            tell(note.as_deref());
            show::hits(index, &hits, note, args.json)?;
            if hits.hits.is_empty() {
                looked.tell("nothing is about these words", "没有与这些词相关的代码");
            }
            if hits.is_cut {
                looked.tell(
                    "the folder is large: there was no time for all of it",
                    "文件夹过大：未能在限定时间内搜索全部内容",
                );
            }
        }
        IndexCommand::Map { tokens } => {
            let map = search::map(index, *tokens);
            if args.json {
                print_json(&json!({"map": map}))?;
            } else {
                out(&map);
            }
            if map.is_empty() {
                looked.tell(
                    "there are no symbols, or none fits into so few tokens",
                    "没有符号，或令牌数太少无法容纳",
                );
            }
        }
        IndexCommand::Serve { .. } => {}
    }
    Ok(Exit::Done)
}

/// The answer of who knows more than the index. Who could not answer, and why, is told, and given for those who read
/// JSON.
fn consulted(
    looked: &Looked<'_>,
    target: &IndexTarget,
    question: Question,
) -> anyhow::Result<(Option<Answer>, Option<String>)> {
    let standing = Standing::asked_for(looked, target)?;
    let said = servers::consulted(looked.index, standing.as_ref(), &Asked::parse(&target.target), question);
    if let Some(standing) = standing {
        standing.close();
    }
    let (answer, note) = match said {
        Ok(answer) => (Some(answer.clone()), answer.note),
        Err(note) => (None, note),
    };
    tell(note.as_deref());
    Ok((answer, note))
}

/// Says on standard error what an answer is not made of, and why.
fn tell(note: Option<&str>) {
    if let Some(note) = note {
        crate::terminal::error_line(&format!("note: {note}"));
    }
}

/// What is asked about; an error where it is nothing of this folder.
fn asked(resolver: &Resolver<'_>, index: &Index, target: &str) -> anyhow::Result<Meaning> {
    match resolver.asked(target).map_err(|error| whereabouts::explained(index, error))? {
        Meaning::Unknown => {
            let others = whereabouts::others(index, target);
            let hint = if !others.is_empty() {
                format!("there is {}", others.join(", "))
            } else if index.entries().next().is_none() {
                "the folder has no file that can be read: give another one with -C".to_owned()
            } else {
                "give a name as it is written, `Type.member`, FILE:LINE or FILE:LINE:COLUMN; `stepwell index search` finds code by words".to_owned()
            };
            let what = format!("`{target}` is not defined in this folder as far as the index can tell");
            Err(report::failed(what, hint))
        }
        Meaning::External => Err(report::failed(
            format!("`{target}` is external: it is defined outside of this folder"),
            "its package is among the dependencies of the project, or it is built into the language",
        )),
        found @ Meaning::Found(..) => Ok(found),
    }
}

fn targets(resolver: &Resolver<'_>, index: &Index, target: &str) -> anyhow::Result<Vec<Found>> {
    Ok(asked(resolver, index, target)?.found().to_vec())
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
