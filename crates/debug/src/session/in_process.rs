//! Starts programs for an adapter that runs in this process, and returns how they ended.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use stepwell_workspace::process::{Companion, Ending, Environment, KeepOutput, Pipes, ProgramCall};

use tokio::time::Instant;

use super::Session;
use super::stdin::ProgramStdin;
use crate::adapters::{ProgramCommand, ProgramHost, ProgramInput, Started, Streams};
use crate::dap::{Link, connect};
use crate::{Error, Result};

/// Deadline for the exit status of a program that has ended.
const REAPED: Duration = Duration::from_secs(1);

/// The session that starts programs for its adapter.
#[derive(Debug)]
pub(super) struct SessionProgramHost(Weak<Session>);

impl SessionProgramHost {
    pub(super) fn of(session: &Arc<Session>) -> Arc<Self> {
        Arc::new(Self(Arc::downgrade(session)))
    }
}

#[async_trait]
impl ProgramHost for SessionProgramHost {
    fn start(&self, wanted: ProgramCommand) -> Result<Started> {
        let session = self.0.upgrade().ok_or_else(|| Error::parameter("the session is over"))?;
        let Environment { mut removed, mut set } = session.environment(Vec::new());
        for (name, value) in wanted.environment {
            match value {
                Some(value) => set.push((name, value)),
                None => removed.push(name),
            }
        }
        if wanted.input == ProgramInput::Typed {
            set.push(("TERM".into(), "dumb".into()));
        }
        let call = ProgramCall {
            program: wanted.program,
            arguments: wanted.arguments,
            folder: wanted.folder,
            environment: Environment { removed, set },
            input: None,
            time_limit: Duration::MAX,
            keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
        };
        let (companion, streams) = match wanted.input {
            ProgramInput::Typed => {
                let (companion, terminal) = Companion::on_terminal(&session.wrapped_command(call))?;
                session.takes_input_on(terminal.clone());
                (companion, Streams::Terminal(terminal))
            }
            ProgramInput::Nothing => {
                let (companion, pipes) = Companion::on_pipes(&session.wrapped_command(call))?;
                let Pipes { stdin, stdout, stderr } = pipes;
                if session.opening.stdin != ProgramStdin::Nothing {
                    session.takes_input_from(stdin);
                }
                (companion, Streams::Separate { stdout, stderr })
            }
        };
        let end = companion.watch_end().map_err(|error| Error::Launch {
            reason: format!("the program cannot be watched: {error}"),
            hint: None,
        })?;
        session.companions.lock().push(companion);
        Ok(Started { streams, end })
    }

    async fn connect(&self, address: SocketAddr, deadline: Instant) -> io::Result<Link> {
        let session = self.0.upgrade().ok_or(io::ErrorKind::NotConnected)?;
        connect(address, session.sandbox().as_deref(), deadline).await
    }

    async fn ending(&self) -> Option<Ending> {
        let companion = {
            let session = self.0.upgrade()?;
            let mut companions = session.companions.lock();
            (!companions.is_empty()).then(|| companions.remove(0))
        };
        companion?.end(REAPED).await
    }
}
