//! Answers of the index as a person or a program reads them.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use stepwell_code_intel::answer::{self, Answer, Place};
use stepwell_code_intel::facts::{self, Kind};
use stepwell_code_intel::graph::NamedGraph;
use stepwell_code_intel::index::{FileId, Index, Refreshed};
use stepwell_code_intel::resolve::{Certainty, Found, Use};
use stepwell_code_intel::search::Hits;

use super::print_json;
use crate::language::Language;
use crate::report;
use crate::terminal::{error_line, out_line};

/// Tells now and then how far a build has come, where a person looks on.
pub struct Progress {
    language: Language,
    is_shown: bool,
    last: AtomicUsize,
}

impl Progress {
    /// Files after which a build is worth a word.
    const MANY: usize = 500;

    pub fn new(language: Language) -> Self {
        Self { language, is_shown: std::io::stderr().is_terminal(), last: AtomicUsize::new(0) }
    }

    pub fn tell(&self, done: usize, all: usize) {
        let percent = done * 10 / all.max(1) * 10;
        if self.is_shown && all >= Self::MANY && self.last.fetch_max(percent, Ordering::Relaxed) < percent {
            let words = self.language.pick("reading files", "正在读取文件");
            error_line(&format!("{words}: {percent} % ({done}/{all})"));
        }
    }

    pub fn finish(&self) {
        self.last.store(0, Ordering::Relaxed);
    }
}

/// What the index holds and leaves out, and which language servers may be asked.
pub fn status(
    index: &Index,
    refreshed: Refreshed,
    servers: &Value,
    as_json: bool,
    language: Language,
) -> anyhow::Result<()> {
    let mut omitted: Vec<(&str, &str)> = index
        .entries()
        .filter_map(|(_, entry)| Some((entry.path.as_str(), entry.omission?.reason())))
        .collect();
    omitted.sort_unstable();
    if as_json {
        let omitted: Vec<Value> =
            omitted.iter().map(|(path, reason)| json!({"file": path, "reason": reason})).collect();
        return print_json(&json!({
            "files": refreshed.files, "read": refreshed.read, "removed": refreshed.removed, "omitted": omitted,
            "bytes": index.size(), "kept": index.is_kept(), "complete": !refreshed.is_cut,
            "language_servers": servers,
        }));
    }
    out_line(&match language {
        Language::English => format!(
            "{} files, {} read now, {} gone; the index takes {} KiB",
            refreshed.files,
            refreshed.read,
            refreshed.removed,
            index.size() / 1024
        ),
        Language::Chinese => format!(
            "{} 个文件，本次读取 {} 个，移除 {} 个；索引占用 {} KiB",
            refreshed.files,
            refreshed.read,
            refreshed.removed,
            index.size() / 1024
        ),
    });
    for (path, reason) in omitted {
        let words = language.pick("left out", "未索引");
        out_line(&format!("{words}: {path}: {reason}"));
    }
    let heading = language.pick("language servers", "语言服务器");
    match servers.as_array().map(Vec::as_slice) {
        None => out_line(&format!("{heading}: {}", language.pick("off", "未启用"))),
        Some([]) => {
            out_line(&format!("{heading}: {}", language.pick("none is on the machine", "本机未安装")));
        }
        Some(found) => {
            for one in found {
                let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
                out_line(&format!("{heading}: {}: {}", text("name"), text("program")));
            }
        }
    }
    Ok(())
}

/// An answer of the index with why nobody else gave one.
pub fn with_note(mut answer: Value, note: Option<String>) -> Value {
    if let Some(note) = note {
        answer["note"] = Value::String(note);
    }
    answer
}

pub fn place(index: &Index, found: &Found) -> Value {
    let whole = index.whole(found.file);
    let definition = &found.definition;
    json!({
        "file": index.path(found.file), "line": definition.at.line, "column": definition.at.column,
        "name": definition.name, "path": described(index, found), "kind": definition.kind.name(),
        "text": answer::definition_line(index, found),
        "doc": facts::doc_line(&whole.0, definition),
    })
}

/// The name with what it stands in, which tells things of one name apart: `Order.total`.
fn described(index: &Index, found: &Found) -> String {
    let whole = index.whole(found.file);
    let place = whole.1.definitions.iter().position(|one| one.name_span == found.definition.name_span);
    place.map_or_else(|| found.definition.name.clone(), |place| facts::described(&whole.1, place as u32))
}

pub fn places(index: &Index, found: &[Found]) {
    for one in found {
        let definition = &one.definition;
        out_line(&format!(
            "{}:{}:{}: {} {}: {}",
            index.path(one.file),
            definition.at.line,
            definition.at.column,
            definition.kind.name(),
            described(index, one),
            answer::definition_line(index, one)
        ));
    }
}

pub fn uses(index: &Index, uses: &[Use], note: Option<String>, as_json: bool) -> anyhow::Result<()> {
    let texts = uses.iter().map(|used| (used, index.source_line(used.file, used.occurrence.at.line)));
    if as_json {
        let all: Vec<Value> = texts
            .map(|(used, text)| {
                let at = used.occurrence.at;
                json!({
                    "file": index.path(used.file), "line": at.line, "column": at.column, "text": text,
                    "certainty": used.certainty.name(),
                })
            })
            .collect();
        return print_json(&with_note(json!({"source": "index", "references": all}), note));
    }
    for (used, text) in texts {
        let at = used.occurrence.at;
        let mark = if used.certainty == Certainty::ByName { "  (by name)" } else { "" };
        out_line(&format!("{}:{}:{}: {text}{mark}", index.path(used.file), at.line, at.column));
    }
    Ok(())
}

/// Definitions from an `index.scip` or a language server.
pub fn consulted_definitions(index: &Index, answer: &Answer, as_json: bool) -> anyhow::Result<()> {
    let kind =
        |place: &Place| place.found.as_ref().map_or("definition", |found| found.definition.kind.name());
    if as_json {
        let all = answer.places.iter().map(|one| {
            let text = answer::source_line(index, &one.path, one.at.line);
            one.found.as_ref().map_or_else(
                || {
                    let at = one.at;
                    json!({
                        "file": one.path, "line": at.line, "column": at.column, "name": one.name,
                        "path": one.name, "kind": kind(one), "text": text, "doc": null,
                    })
                },
                |found| place(index, found),
            )
        });
        let all: Vec<Value> = all.collect();
        return print_json(&json!({
            "source": answer.source.name(), "server": answer.source.server(), "certainty": "resolved",
            "definitions": all, "note": answer.note,
        }));
    }
    for one in &answer.places {
        let (at, text) = (one.at, answer::source_line(index, &one.path, one.at.line));
        let name = one.found.as_ref().map_or_else(|| one.name.clone(), |found| described(index, found));
        out_line(&format!("{}:{}:{}: {} {name}: {text}", one.path, at.line, at.column, kind(one)));
    }
    Ok(())
}

/// Uses from an `index.scip` or a language server.
pub fn consulted_uses(index: &Index, answer: &Answer, as_json: bool) -> anyhow::Result<()> {
    let texts = answer.places.iter().map(|one| (one, answer::source_line(index, &one.path, one.at.line)));
    if as_json {
        let all = texts.map(
            |(one, text)| json!({"file": one.path, "line": one.at.line, "column": one.at.column, "text": text}),
        );
        let all: Vec<Value> = all.collect();
        return print_json(&json!({
            "source": answer.source.name(), "server": answer.source.server(), "references": all, "note": answer.note,
        }));
    }
    for (one, text) in texts {
        out_line(&format!("{}:{}:{}: {text}", one.path, one.at.line, one.at.column));
    }
    Ok(())
}

/// What a file defines; gives how much that is.
pub fn symbols(index: &Index, file: FileId, kinds: &[String], as_json: bool) -> anyhow::Result<usize> {
    let mut wanted = Vec::new();
    for kind in kinds {
        let known = Kind::ALL.map(Kind::name).join(", ");
        let kind = Kind::named(kind).ok_or_else(|| {
            report::usage(format!("there is no kind `{kind}`"), format!("the kinds are {known}"))
        })?;
        wanted.push(kind);
    }
    let whole = index.whole(file);
    let (mut shown, mut count) = (Vec::new(), 0);
    for (place, definition) in whole.1.definitions.iter().enumerate() {
        let is_wanted = if wanted.is_empty() {
            definition.scope.is_none() || definition.kind.is_callable() || definition.kind == Kind::Class
        } else {
            wanted.contains(&definition.kind)
        };
        if !is_wanted {
            continue;
        }
        count += 1;
        let path = facts::described(&whole.1, place as u32);
        let signature = facts::signature(&whole.0, definition);
        if as_json {
            shown.push(json!({
                "name": definition.name, "path": path, "kind": definition.kind.name(),
                "line": definition.at.line, "column": definition.at.column, "last_line": definition.last_line,
                "signature": signature, "doc": facts::doc_line(&whole.0, definition),
            }));
        } else {
            out_line(&format!("{}: {} {path}: {signature}", definition.at.line, definition.kind.name()));
        }
    }
    if as_json {
        print_json(&json!({"symbols": shown}))?;
    }
    Ok(count)
}

pub fn hits(index: &Index, hits: &Hits, note: Option<String>, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let all: Vec<Value> = hits
            .hits
            .iter()
            .map(|hit| {
                json!({
                    "file": index.path(hit.found.file), "line": hit.found.definition.at.line,
                    "last_line": hit.found.definition.last_line, "path": hit.path,
                    "kind": hit.found.definition.kind.name(), "signature": hit.signature, "doc": hit.doc,
                    "score": (hit.score * 100.0).round() / 100.0,
                })
            })
            .collect();
        return print_json(&with_note(json!({"hits": all, "complete": !hits.is_cut}), note));
    }
    for hit in &hits.hits {
        let doc = hit.doc.as_deref().map(|doc| format!("  # {doc}")).unwrap_or_default();
        let file = index.path(hit.found.file);
        out_line(&format!("{file}:{}: {}: {}{doc}", hit.found.definition.at.line, hit.path, hit.signature));
    }
    Ok(())
}

pub fn graph(graph: &NamedGraph) -> Value {
    let nodes: Vec<Value> = graph
        .nodes
        .iter()
        .map(|node| json!({"name": node.name, "file": node.file, "line": node.line}))
        .collect();
    let edges: Vec<Value> = graph.edges.iter().map(|(from, to)| json!({"from": from, "to": to})).collect();
    json!({"nodes": nodes, "edges": edges, "cycles": graph.cycles, "complete": !graph.is_cut})
}
