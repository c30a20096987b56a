//! Language servers at the command line.

use std::sync::Arc;

use serde_json::{Value, json};
use stepwell_code_intel::ask::{ServerQuestion, ServerReply, Target};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::lsp::{Question, Servers};
use tokio_util::sync::CancellationToken;

use super::IndexedFolder;
use crate::assemble::{Assembly, code};

/// Language servers that keep running between questions.
pub struct RunningServers {
    /// `None` where the settings switch them off.
    servers: Option<Arc<Servers>>,
    runtime: tokio::runtime::Runtime,
}

impl RunningServers {
    pub fn new(assembly: &Assembly, index: &Index) -> anyhow::Result<Self> {
        let servers = code::servers(&assembly.settings, index.workspace())?;
        // A thread of its own listens to the servers while nobody asks.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        Ok(Self { servers, runtime })
    }

    /// Asks the server of the target's language.
    pub fn ask(&self, index: &Index, target: &Target, question: Question) -> ServerReply {
        let prepared = ServerQuestion::prepare(index, target, question);
        self.runtime.block_on(prepared.send(self.servers.as_deref(), &CancellationToken::new()))
    }

    pub fn close(self) {
        if let Some(servers) = &self.servers {
            self.runtime.block_on(servers.close());
        }
        self.runtime.shutdown_background();
    }
}

/// The language servers that may be used and are on the machine; `null` where they are off.
pub fn found(folder: &IndexedFolder<'_>) -> anyhow::Result<Value> {
    let Some(servers) = code::servers(&folder.assembly.settings, folder.index.workspace())? else {
        return Ok(Value::Null);
    };
    let found = servers.found().into_iter().filter_map(|(spec, program)| {
        let languages: Vec<&str> = spec.languages.iter().map(|language| language.name()).collect();
        Some(json!({"name": spec.name, "languages": languages, "program": program?}))
    });
    Ok(found.collect())
}
