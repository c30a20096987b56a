//! Whether an adapter that was found really works: it is started, greeted and let go.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Map;

use crate::adapters::{AdapterKind, Located, StartMode, Transport};
use crate::dap::types::Capabilities;
use crate::session::{Connection, Session, SessionStart};
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
        // One that lives in this process answers whatever its program's version is, so that is asked for itself.
        if kind.adapter().reach() == Transport::InProcess
            && let Some(version) = kind.adapter().version(&located)
        {
            kind.adapter().check_version(&version)?;
        }
        let opening = SessionStart {
            name: kind.name().to_owned(),
            adapter: kind.adapter(),
            way: Connection::Start(located),
            how: StartMode::Launch,
            arguments: Map::new(),
            no_debug: false,
            probes: BTreeMap::new(),
            functions: Vec::new(),
            exception_filters: None,
            breakpoints: false,
            stdin: crate::session::ProgramStdin::Nothing,
            secrets: crate::launch_config::Secrets::default(),
            isolation: None,
            time,
        };
        let session = Session::new(Arc::clone(&self.shared), &opening, None);
        let started = Instant::now();
        let greeted = session.initialize(&opening, tokio::time::Instant::now() + time).await;
        let took = started.elapsed();
        session.end().await;
        match greeted {
            Ok(_) => Ok(AdapterCheck { took, capabilities: session.capabilities() }),
            Err(error) => {
                let (reason, hint) = session.explain_failure(&error);
                Err(Error::Launch { reason, hint })
            }
        }
    }
}
