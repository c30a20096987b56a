//! The sandbox of the next command, built while the model thinks.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use stepwell_sandbox::{HostGate, Network, Policy, PreparedSandbox, Proxy};
use stepwell_tool_runtime::NetworkGate;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::confine::{CallGate, Walls};

/// A spare that nobody used for so long is given up: it holds three processes.
const IDLE: Duration = Duration::from_mins(2);

/// How long closing waits for a sandbox that is being built.
const CLOSING: Duration = Duration::from_secs(5);

/// At most one sandbox that waits for a command.
#[derive(Default)]
pub struct SpareSlot {
    spare: Mutex<Option<Spare>>,
    taken: Arc<Notify>,
    building: Mutex<Building>,
}

#[derive(Default)]
struct Building {
    is_closed: bool,
    tasks: Vec<JoinHandle<()>>,
}

/// A sandbox without a command, and its way to the network.
pub(super) struct Spare {
    pub prepared: PreparedSandbox,
    pub line: Option<Line>,
}

/// A proxy that admits nobody until it belongs to a command.
pub(super) struct Line {
    pub proxy: Proxy,
    gate: Arc<LateGate>,
}

impl Line {
    /// Gives the way to a command, with the ports of this machine that are open to it.
    pub fn open(&self, gate: CallGate) -> Network {
        let loopback = gate.loopback_ports();
        let network = Network::Proxy { socket: self.proxy.socket().to_path_buf(), loopback };
        // A spare is used once, so there is no other command's gate.
        self.gate.call.set(gate).ok();
        network
    }
}

#[derive(Default)]
struct LateGate {
    call: OnceLock<CallGate>,
}

#[async_trait]
impl HostGate for LateGate {
    async fn admit(&self, host: &str, port: u16) -> Result<(), String> {
        match self.call.get() {
            Some(gate) => gate.admit(host, port).await,
            None => Err("no command runs here".into()),
        }
    }

    fn loopback_ports(&self) -> Vec<u16> {
        self.call.get().map(HostGate::loopback_ports).unwrap_or_default()
    }
}

impl Walls {
    /// Takes the spare, if it has the network that is wanted, or none where none is.
    pub(super) fn take_spare(&self, with_network: bool) -> Option<Spare> {
        let spare = self.spare.spare.lock().take_if(|spare| spare.line.is_some() == with_network);
        if spare.is_some() {
            self.spare.taken.notify_waiters();
        }
        spare
    }

    /// Builds the sandbox of the next command beside everything else. One like the last is the best guess.
    pub(super) fn prepare_next(self: &Arc<Self>, network: Option<Arc<dyn NetworkGate>>) {
        let mut building = self.spare.building.lock();
        if building.is_closed {
            return;
        }
        let walls = Arc::clone(self);
        // A spare that cannot be made is none: the command builds its own, and says what is wrong.
        let task = tokio::task::spawn_blocking(move || {
            if let Ok(Some(spare)) = walls.prepare(network) {
                walls.keep(spare);
            }
        });
        building.tasks.retain(|task| !task.is_finished());
        building.tasks.push(task);
    }

    /// Gives up the spare and waits for those that are being built, so that none leaves its files behind.
    pub(super) async fn close_spare(&self) {
        let tasks = {
            let mut building = self.spare.building.lock();
            building.is_closed = true;
            std::mem::take(&mut building.tasks)
        };
        for task in tasks {
            // Building takes milliseconds. One that panicked is over too.
            tokio::time::timeout(CLOSING, task).await.ok();
        }
        self.spare.spare.lock().take();
    }

    fn prepare(&self, network: Option<Arc<dyn NetworkGate>>) -> stepwell_sandbox::Result<Option<Spare>> {
        let mut policy = Policy { temporary: Some(self.temporary()?), ..self.policy.clone() };
        let line = match network {
            None => None,
            Some(network) => {
                let gate = Arc::new(LateGate::default());
                let proxy = Proxy::start(&self.place, Arc::clone(&gate) as Arc<dyn HostGate>)?;
                let loopback = self.call_gate(network).loopback_ports();
                policy.network = Network::Proxy { socket: proxy.socket().to_path_buf(), loopback };
                Some(Line { proxy, gate })
            }
        };
        Ok(self.sandbox.prepare(&policy)?.map(|prepared| Spare { prepared, line }))
    }

    /// Keeps a spare until it is taken, or until nobody needed it for long.
    fn keep(self: &Arc<Self>, spare: Spare) {
        *self.spare.spare.lock() = Some(spare);
        // The walls are not held: the spare ends with them.
        let (walls, taken) = (Arc::downgrade(self), Arc::clone(&self.spare.taken));
        taken.notify_waiters();
        tokio::spawn(async move {
            if tokio::time::timeout(IDLE, taken.notified()).await.is_err()
                && let Some(walls) = walls.upgrade()
            {
                walls.spare.spare.lock().take();
            }
        });
    }
}
