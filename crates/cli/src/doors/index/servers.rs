//! Language servers, asked at the command line.

use serde_json::{Value, json};
use stepwell_code_intel::answer::Asked;
use stepwell_code_intel::lsp::{Inquiry, Question, Reply};
use tokio_util::sync::CancellationToken;

use super::Looked;
use crate::args::{IndexTarget, SourceArg};
use crate::assemble::code;

/// What a language server said, or why it did not; nothing where none was to be asked.
pub fn ask(
    looked: &Looked<'_>,
    target: &IndexTarget,
    question: Question,
) -> anyhow::Result<Option<Result<Reply, String>>> {
    if target.source == SourceArg::Index {
        return Ok(None);
    }
    let index = looked.index;
    let Some(servers) = code::servers(&looked.assembly.settings, index.workspace())? else {
        let off = "language servers are off: set `servers = \"auto\"` in `[code]` of your settings (they run code of the project)";
        return Ok(Some(Err(off.to_owned())));
    };
    let inquiry = match Inquiry::of(index, &Asked::parse(&target.target)) {
        Ok(inquiry) => inquiry,
        Err(why) => return Ok(Some(Err(format!("no language server was asked: {why}")))),
    };
    let said = crate::wait(async {
        let said = servers.ask(&inquiry, question, &CancellationToken::new()).await;
        servers.close().await;
        Ok(said)
    })?;
    Ok(Some(said.map(|reply| reply.known(index, question))))
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
