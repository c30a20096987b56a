//! Which server runs on this machine for this user: a lock that its process holds, and a file that says where it is.
//!
//! The lock is the truth: the kernel frees it however the process ends. The file beside it only counts while the lock is
//! held by the process it names.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stepwell_workspace::files::{self, LockAttempt, LockFile, Privacy};

use crate::report;
use crate::settings::Places;

/// How long a server that has the lock may take to say where it is.
const TO_START: Duration = Duration::from_secs(15);
/// How often to look again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What a server says about itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub pid: u32,
    pub port: u16,
    pub version: String,
    /// Milliseconds since 1970.
    pub started_at: i64,
}

/// The files of a machine and user.
#[derive(Clone, Debug)]
pub struct Registry {
    lock: PathBuf,
    entry: PathBuf,
}

/// What came of wanting to be the server.
pub enum Claim {
    Ours(Place),
    Running(Entry),
}

/// The right to be the server, held as long as it lives.
pub struct Place {
    registry: Registry,
    /// Frees itself.
    _lock: LockFile,
}

impl Registry {
    pub fn of(places: &Places) -> anyhow::Result<Self> {
        let folder = folder(places);
        files::create_private_dir(&folder)?;
        // Several machines may share a home folder.
        let machine = files::read_to_string("/proc/sys/kernel/hostname".as_ref()).unwrap_or_default();
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '-';
        let machine: String = machine.chars().filter(is_plain).take(60).collect();
        let machine = if machine.is_empty() { "machine".to_owned() } else { machine };
        Ok(Self {
            lock: folder.join(format!("{machine}.lock")),
            entry: folder.join(format!("{machine}.json")),
        })
    }

    /// Takes the place of the server, or finds who has it.
    pub async fn claim(self) -> anyhow::Result<Claim> {
        // The kernel tells nobody that a lock is free or a file is there.
        let mut looks = tokio::time::interval(LOOK_AGAIN);
        let looking = async {
            loop {
                looks.tick().await;
                let holder = match LockFile::try_take(&self.lock)? {
                    LockAttempt::Taken(lock) => {
                        let place = Place { registry: self.clone(), _lock: lock };
                        place.forget();
                        return Ok(Claim::Ours(place));
                    }
                    LockAttempt::Busy { pid } => pid,
                };
                if let Some(entry) = self.read().filter(|entry| Some(entry.pid) == holder) {
                    return Ok(Claim::Running(entry));
                }
            }
        };
        tokio::time::timeout(TO_START, looking).await.unwrap_or_else(|_| {
            Err(report::failed(
                "another process is starting the server and does not get ready",
                "`stepwell serve stop` ends it",
            ))
        })
    }

    /// The server that runs. What a dead one left is cleaned up.
    pub fn running(&self) -> anyhow::Result<Option<Entry>> {
        match LockFile::try_take(&self.lock)? {
            LockAttempt::Taken(lock) => {
                Place { registry: self.clone(), _lock: lock }.forget();
                Ok(None)
            }
            LockAttempt::Busy { pid } => {
                let entry = self.read().filter(|entry| Some(entry.pid) == pid);
                // One that has only just begun has no port yet.
                Ok(entry
                    .or_else(|| pid.map(|pid| Entry { pid, port: 0, version: String::new(), started_at: 0 })))
            }
        }
    }

    fn read(&self) -> Option<Entry> {
        serde_json::from_str(&files::read_if_exists(&self.entry).ok()??).ok()
    }

    /// Asks a process to end that has the lock.
    pub fn terminate(&self, pid: u32) -> anyhow::Result<()> {
        let process = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        if let (LockAttempt::Busy { pid: holder }, Some(process)) = (LockFile::try_take(&self.lock)?, process)
            && holder == Some(pid)
        {
            rustix::process::kill_process(process, rustix::process::Signal::TERM).ok();
        }
        Ok(())
    }

    /// Waits until no server runs; `false` when the time is over.
    pub async fn wait_until_free(&self, time: Duration) -> bool {
        let lock = self.lock.clone();
        let waiting = tokio::task::spawn_blocking(move || LockFile::take_within(&lock, time).is_ok());
        waiting.await.unwrap_or(false)
    }
}

impl Place {
    /// Tells others where the server is.
    pub fn announce(&self, entry: &Entry) -> anyhow::Result<()> {
        Ok(files::write_atomic(&self.registry.entry, &serde_json::to_vec(entry)?, Privacy::Private)?)
    }

    fn forget(&self) {
        // It may not be there.
        files::remove_file(&self.registry.entry).ok();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Where the registry, the token and the redirects of browsers are kept.
pub fn folder(places: &Places) -> PathBuf {
    places.data.join("serve")
}

pub fn token_file(places: &Places) -> PathBuf {
    folder(places).join("token")
}
