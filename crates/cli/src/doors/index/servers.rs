//! Those who know more than the index, asked at the command line: language servers, and an `index.scip`.

use std::sync::Arc;

use serde_json::{Value, json};
use stepwell_code_intel::answer::{Answer, Asked, Consulted};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::lsp::{Inquiry, Question, Reply, Servers};
use stepwell_code_intel::scip;
use tokio_util::sync::CancellationToken;

use super::Looked;
use crate::args::{IndexTarget, SourceArg};
use crate::assemble::{Assembly, code};

const OFF: &str = "language servers are off: set `servers = \"auto\"` in `[code]` of your settings (they run code of the project)";

/// The answer of a language server where one is to be asked, else of an `index.scip`; the error says why somebody who
/// was asked has none.
pub fn consulted(
    index: &Index,
    standing: Option<&Standing>,
    asked: &Asked,
    question: Question,
) -> Result<Answer, Option<String>> {
    let mut notes = Vec::new();
    match standing.map(|standing| standing.ask(index, asked, question)) {
        Some(Ok(Reply::Places(answer))) => return Ok(answer),
        Some(Err(why)) => notes.push(why),
        Some(Ok(Reply::Calls { .. })) | None => {}
    }
    let joined = |notes: &[String]| (!notes.is_empty()).then(|| notes.join("; "));
    let from_scip = match question {
        Question::Definition => scip::definitions(index, asked),
        Question::References => scip::references(index, asked),
        Question::Calls { .. } => Consulted::Absent,
    };
    match from_scip {
        Consulted::Answered(mut answer) => {
            notes.extend(answer.note.take());
            answer.note = joined(&notes);
            Ok(answer)
        }
        Consulted::Declined(why) => {
            notes.push(why);
            Err(joined(&notes))
        }
        Consulted::Absent => Err(joined(&notes)),
    }
}

/// Servers that go on running between questions.
pub struct Standing {
    /// `None` where they are off.
    servers: Option<Arc<Servers>>,
    runtime: tokio::runtime::Runtime,
}

impl Standing {
    /// Where the command line says that one is to be asked.
    pub fn asked_for(looked: &Looked<'_>, target: &IndexTarget) -> anyhow::Result<Option<Self>> {
        match target.source {
            SourceArg::Index => Ok(None),
            SourceArg::Lsp => Self::new(looked.assembly, looked.index).map(Some),
        }
    }

    pub fn new(assembly: &Assembly, index: &Index) -> anyhow::Result<Self> {
        let servers = code::servers(&assembly.settings, index.workspace())?;
        // A thread of its own listens to the servers while nobody asks.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        Ok(Self { servers, runtime })
    }

    /// What the server of the language says; the error tells why it does not, as people read it.
    pub fn ask(&self, index: &Index, asked: &Asked, question: Question) -> Result<Reply, String> {
        let servers = self.servers.as_ref().ok_or(OFF)?;
        let inquiry =
            Inquiry::of(index, asked).map_err(|why| format!("no language server was asked: {why}"))?;
        let said = self.runtime.block_on(servers.ask(&inquiry, question, &CancellationToken::new()))?;
        Ok(said.known(index, question))
    }

    pub fn close(self) {
        if let Some(servers) = &self.servers {
            self.runtime.block_on(servers.close());
        }
        self.runtime.shutdown_background();
    }
}

/// The language servers that may be used and are on the machine; `null` where they are off.
pub fn found(looked: &Looked<'_>) -> anyhow::Result<Value> {
    let Some(servers) = code::servers(&looked.assembly.settings, looked.index.workspace())? else {
        return Ok(Value::Null);
    };
    let found = servers.found().into_iter().filter_map(|(spec, program)| {
        let languages: Vec<&str> = spec.languages.iter().map(|language| language.name()).collect();
        Some(json!({"name": spec.name, "languages": languages, "program": program?}))
    });
    Ok(found.collect())
}
