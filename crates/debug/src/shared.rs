//! State that all sessions of a debugger share: the list of sessions, breakpoints, identifiers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use stepwell_workspace::Denial;
use stepwell_workspace::process::{ProgramCall, keeper};
use tokio::sync::watch;

use crate::adapters::{AdapterKind, Search};
use crate::breakpoints::BreakpointStore;
use crate::function_finder::FunctionFinder;
use crate::ids::{IdTable, SessionId};
use crate::sandbox::SessionSandbox;
use crate::session::{Phase, Session};
use crate::{Error, Result};

/// Ended sessions that are remembered for their output and exit code.
const REMEMBERED: usize = 20;
/// Maximum number of live sessions.
const MOST_SESSIONS: usize = 64;

/// Options of a [`Debugger`](crate::Debugger).
#[derive(Clone, Debug, Default)]
pub struct DebuggerOptions {
    pub search: Search,
    /// The program that answers to [`stepwell_workspace::process::keeper::KEEPER_WORD`]; without one, only process
    /// groups are ended.
    pub keeper: Option<PathBuf>,
    /// The file in which breakpoints are stored.
    pub breakpoint_file: Option<PathBuf>,
    /// Source files whose lines are shown to nobody.
    pub hidden_sources: Denial,
    /// Environment variables that are removed for debugged programs.
    pub removed_variables: Vec<String>,
    /// Tells where functions begin and end.
    pub function_finder: Option<Arc<dyn FunctionFinder>>,
    /// Installs an adapter that is missing.
    pub installer: Option<Arc<dyn Installer>>,
}

/// Installs adapters when they are first needed, where the person allows it.
#[async_trait::async_trait]
pub trait Installer: Send + Sync + std::fmt::Debug {
    /// Returns whether the adapter was installed; the error says why it could not be.
    async fn install(&self, kind: AdapterKind) -> std::result::Result<bool, String>;
}

#[derive(Debug)]
pub struct Shared {
    pub options: DebuggerOptions,
    pub breakpoints: BreakpointStore,
    pub ids: IdTable,
    pub serial: AtomicU64,
    pub next_session: AtomicU64,
    changes: watch::Sender<u64>,
    sessions: Mutex<Vec<Arc<Session>>>,
    /// The session that calls without a session id mean.
    active: Mutex<Option<SessionId>>,
}

impl Shared {
    pub fn new(options: DebuggerOptions) -> Self {
        Self {
            breakpoints: BreakpointStore::open(options.breakpoint_file.clone()),
            options,
            ids: IdTable::default(),
            serial: AtomicU64::new(0),
            next_session: AtomicU64::new(1),
            changes: watch::Sender::new(0),
            sessions: Mutex::default(),
            active: Mutex::default(),
        }
    }

    /// Wraps a command to run it in a sandbox and to end it with all its children.
    pub(crate) fn wrapped_command(
        &self,
        call: ProgramCall,
        sandbox: Option<&dyn SessionSandbox>,
    ) -> ProgramCall {
        let call = match sandbox {
            Some(sandbox) => sandbox.join(call),
            None => call,
        };
        match &self.options.keeper {
            Some(keeper) => keeper::kept(keeper, call),
            None => call,
        }
    }

    pub fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn serial_now(&self) -> u64 {
        self.serial.load(Ordering::Relaxed)
    }

    pub fn add(&self, session: Arc<Session>) -> Result<()> {
        let mut sessions = self.sessions.lock();
        let alive = sessions.iter().filter(|session| !session.phase().is_over()).count();
        if alive >= MOST_SESSIONS {
            return Err(Error::State {
                what: format!("{alive} sessions are running already"),
                hint: "end some with `stop_debugging`".to_owned(),
            });
        }
        let mut over = sessions.len() - alive;
        sessions.retain(|session| {
            let forget = over > REMEMBERED && session.phase().is_over();
            over -= usize::from(forget);
            !forget
        });
        *self.active.lock() = Some(session.id.clone());
        sessions.push(session);
        Ok(())
    }

    /// Makes this the session that calls without a session id mean.
    pub(crate) fn touch(&self, id: &SessionId) {
        *self.active.lock() = Some(id.clone());
    }

    pub fn sessions(&self) -> Vec<Arc<Session>> {
        self.sessions.lock().clone()
    }

    pub fn forget_ended(&self) {
        self.sessions.lock().retain(|session| session.phase() != Phase::Terminated);
    }

    pub fn clear(&self) -> Vec<Arc<Session>> {
        std::mem::take(&mut *self.sessions.lock())
    }

    /// Returns the session with this id, or the active one.
    pub fn session(&self, id: Option<&SessionId>) -> Result<Arc<Session>> {
        let sessions = self.sessions();
        if let Some(id) = id {
            return sessions.iter().find(|session| session.id == *id).cloned().ok_or_else(|| {
                let known: Vec<&str> = sessions.iter().map(|session| session.id.0.as_str()).collect();
                Error::NoSession {
                    id: id.clone(),
                    hint: if known.is_empty() {
                        "start one with `start_debugging`".to_owned()
                    } else {
                        format!("known are {}", known.join(", "))
                    },
                }
            });
        }
        let active = self.active.lock().clone();
        let alive = |session: &&Arc<Session>| !session.phase().is_over();
        sessions
            .iter()
            .find(|session| Some(&session.id) == active.as_ref() && alive(session))
            .or_else(|| sessions.iter().rev().find(|session| session.stop().is_some()))
            .or_else(|| sessions.iter().rev().find(alive))
            .or_else(|| sessions.last())
            .cloned()
            .ok_or(Error::NoSessionAtAll)
    }

    /// Returns the root of a session's tree.
    pub(crate) fn root_of(&self, session: &Session) -> SessionId {
        let sessions = self.sessions();
        let mut id = session.id.clone();
        while let Some(parent) =
            sessions.iter().find(|session| session.id == id).and_then(|session| session.parent.clone())
        {
            id = parent;
        }
        id
    }

    /// Returns a session and all its descendants, itself first.
    pub fn tree(&self, root: &SessionId) -> Vec<Arc<Session>> {
        let sessions = self.sessions();
        let mut tree: Vec<Arc<Session>> =
            sessions.iter().filter(|session| session.id == *root).cloned().collect();
        let mut at = 0;
        while at < tree.len() {
            let of = tree[at].id.clone();
            tree.extend(sessions.iter().filter(|session| session.parent.as_ref() == Some(&of)).cloned());
            at += 1;
        }
        tree
    }
}
