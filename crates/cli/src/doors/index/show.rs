//! Answers of the index as a person or a program reads them.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use stepwell_code_intel::ask::{
    Ask, Certainty, DefinedSymbol, Definitions, OmittedFile, References, SearchHits, SymbolFilter,
};
use stepwell_code_intel::facts::Kind;
use stepwell_code_intel::index::{Index, Refreshed};

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
            let words = self.language.word("reading files");
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
    let omitted = Ask::new(index).status().omitted;
    if as_json {
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
    for OmittedFile { file, reason } in omitted {
        let words = language.word("left out");
        out_line(&format!("{words}: {file}: {reason}"));
    }
    let heading = language.word("language servers");
    match servers.as_array().map(Vec::as_slice) {
        None => out_line(&format!("{heading}: {}", language.word("off"))),
        Some([]) => {
            out_line(&format!("{heading}: {}", language.word("none is on the machine")));
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

/// One line per definition.
pub fn definitions(answer: &Definitions) {
    for one in &answer.definitions {
        let DefinedSymbol { file, line, column, kind, path, text, .. } = one;
        out_line(&format!("{file}:{line}:{column}: {kind} {path}: {text}"));
    }
}

/// One line per reference.
pub fn references(answer: &References) {
    for one in &answer.references {
        let mark = if one.certainty == Certainty::ByName { "  (by name)" } else { "" };
        out_line(&format!("{}:{}:{}: {}{mark}", one.file, one.line, one.column, one.text));
    }
}

/// Prints the symbols of a file and returns their number.
pub fn symbols(ask: &Ask<'_>, file: &str, kinds: &[String], as_json: bool) -> anyhow::Result<usize> {
    let mut wanted = Vec::new();
    for kind in kinds {
        let known = Kind::ALL.map(Kind::name).join(", ");
        let kind = Kind::named(kind).ok_or_else(|| {
            report::usage(format!("there is no kind `{kind}`"), format!("the kinds are {known}"))
        })?;
        wanted.push(kind);
    }
    let filter = if wanted.is_empty() { SymbolFilter::Outline } else { SymbolFilter::Kinds(&wanted) };
    let answer = ask.symbols(file, filter)?;
    if as_json {
        print_json(&answer)?;
    } else {
        for one in &answer.symbols {
            out_line(&format!("{}: {} {}: {}", one.line, one.kind, one.path, one.signature));
        }
    }
    Ok(answer.symbols.len())
}

/// One line per symbol found.
pub fn hits(answer: &SearchHits) {
    for hit in &answer.hits {
        let doc = hit.doc.as_deref().map(|doc| format!("  # {doc}")).unwrap_or_default();
        out_line(&format!("{}:{}: {}: {}{doc}", hit.file, hit.line, hit.path, hit.signature));
    }
}
