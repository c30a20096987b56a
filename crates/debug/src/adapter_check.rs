//! Whether an adapter that was found really works: it is started, greeted and let go.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use stepwell_workspace::files;
use stepwell_workspace::process::capture_text;

use crate::adapters::{self, AdapterKind, How, Located};
use crate::dap::types::Capabilities;
use crate::session::{Opening, Session, Way};
use crate::{Debugger, Error, Result};

/// What an adapter said when it was greeted.
#[derive(Debug)]
pub struct AdapterCheck {
    /// From its start to its first answer.
    pub took: Duration,
    pub capabilities: Capabilities,
}

impl Debugger {
    /// Starts an adapter, asks what it can do, and ends it. No program is run.
    pub async fn check_adapter(
        &self,
        kind: AdapterKind,
        located: Located,
        time: Duration,
    ) -> Result<AdapterCheck> {
        // Nothing is started to greet this one, so its version speaks.
        if kind == AdapterKind::Node
            && let Some(error) = version_of(kind, &located).as_deref().and_then(adapters::node_too_old)
        {
            return Err(error);
        }
        let opening = Opening {
            name: kind.name().to_owned(),
            adapter: adapters::adapter(kind),
            way: Way::Start(located),
            how: How::Launch,
            arguments: Map::new(),
            no_debug: false,
            probes: BTreeMap::new(),
            functions: Vec::new(),
            exception_filters: None,
            breakpoints: false,
            time,
        };
        let session = Session::new(Arc::clone(&self.house), &opening, None);
        let started = Instant::now();
        let greeted = session.greet(&opening, tokio::time::Instant::now() + time).await;
        let took = started.elapsed();
        session.end().await;
        match greeted {
            Ok(_) => Ok(AdapterCheck { took, capabilities: session.capabilities() }),
            Err(error) => {
                let (reason, hint) = session.explained(&error);
                Err(Error::Launch { reason, hint })
            }
        }
    }
}

/// The version of an adapter that was found, asked in the way of each; `None` where it does not say.
pub fn version_of(kind: AdapterKind, located: &Located) -> Option<String> {
    if let Some(version) = &located.version {
        return Some(version.clone());
    }
    let program = files::resolved(&located.program);
    let asked = |program: &std::path::Path, word: &str| capture_text(&program.to_string_lossy(), &[word]);
    let noted = |path: &std::path::Path| -> Option<String> {
        let text = files::read_if_exists(path).ok().flatten()?;
        let facts: Value = serde_json::from_str(&text).ok()?;
        facts.get("version")?.as_str().map(str::to_owned)
    };
    let said = match kind {
        AdapterKind::Delve => asked(&program, "version")?,
        AdapterKind::Node => asked(&program, "--version")?,
        // It has no version of its own; the debugger beside it has.
        AdapterKind::LldbDap => asked(&program.with_file_name("lldb"), "--version")?,
        AdapterKind::CodeLldb => noted(&program.parent()?.parent()?.join("version.json"))?,
        AdapterKind::JsDebug => {
            let server = std::path::Path::new(located.arguments.first()?);
            noted(&server.with_file_name("manifest.json"))?
        }
        _ => return None,
    };
    said.split_whitespace()
        .map(|word| word.trim_start_matches('v'))
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.'))
        .map(str::to_owned)
}
