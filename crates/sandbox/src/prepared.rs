//! A sandbox that is built before its command is known, while a model thinks.
//!
//! The launcher builds everything and waits on its standard input. What was mounted then must still be there when the
//! command comes: a file that is replaced meanwhile takes a mount over it away. So every place that the plan names is
//! compared by inode and time of birth, and files also by their last change; where anything differs, the prepared sandbox
//! is dropped and another one built.

use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, StatxFlags, StatxTimestamp, statx};
use stepwell_protocol::OutputStream;
use stepwell_workspace::process::{self, Environment, Finished, OutputFilters, ProgramCall, Waiting};
use tokio_util::sync::CancellationToken;

use crate::plan::{HostPath, Plan};
use crate::wire::{Join, Order};
use crate::{Error, Result};

/// A sandbox that waits for its command. Dropping it ends it.
#[derive(Debug)]
pub struct PreparedSandbox {
    plan: Plan,
    places: Vec<Place>,
    waiting: Waiting,
}

impl PreparedSandbox {
    /// `None` where the file system does not tell when a file was made.
    pub(crate) fn start(plan: Plan, call: impl FnOnce(&Plan) -> Result<ProgramCall>) -> Result<Option<Self>> {
        // Looked at before anything is mounted: what changes in between does not fit afterwards.
        let Some(places) = places(&plan) else { return Ok(None) };
        let waiting = Waiting::start(&call(&plan)?)?;
        Ok(Some(Self { plan, places, waiting }))
    }

    /// Whether a command of this plan can run in it.
    pub(crate) fn fits(&self, plan: &Plan) -> bool {
        let mut wanted = plan.clone();
        // These come with the command.
        wanted.folder.clone_from(&self.plan.folder);
        wanted.watched.clone_from(&self.plan.watched);
        wanted.waits = true;
        wanted == self.plan && places(plan).as_ref() == Some(&self.places) && !self.waiting.has_ended()
    }

    /// The call in this sandbox.
    pub(crate) fn with_call(
        self,
        plan: Plan,
        mut call: ProgramCall,
        environment: impl FnOnce(Environment) -> Environment,
    ) -> Result<ConfinedCall> {
        let environment = environment(std::mem::take(&mut call.environment));
        let inherited = std::env::vars_os().filter(|(name, _)| {
            !environment.removed.contains(name) && !environment.set.iter().any(|(set, _)| set == name)
        });
        let variables = inherited.chain(environment.set.iter().cloned());
        let order = Order {
            watched: plan.watched,
            command: Join {
                program: HostPath(PathBuf::from(&call.program)),
                arguments: call.arguments.iter().map(|word| HostPath(word.into())).collect(),
                folder: call.folder.clone().into(),
                environment: variables
                    .map(|(name, value)| (HostPath(name.into()), HostPath(value.into())))
                    .collect(),
            },
        };
        call.input = Some(serde_json::to_vec(&order).map_err(|error| Error::Plan(error.to_string()))?);
        Ok(ConfinedCall { call, waiting: Some(self.waiting) })
    }
}

/// A call behind walls.
#[derive(Debug)]
pub struct ConfinedCall {
    call: ProgramCall,
    waiting: Option<Waiting>,
}

impl From<ProgramCall> for ConfinedCall {
    fn from(call: ProgramCall) -> Self {
        Self { call, waiting: None }
    }
}

impl ConfinedCall {
    /// Whether it runs in a sandbox that was built ahead.
    pub fn is_prepared(&self) -> bool {
        self.waiting.is_some()
    }

    /// Runs it to its end.
    pub async fn run(
        self,
        filters: OutputFilters,
        cancel: &CancellationToken,
        on_output: impl FnMut(OutputStream, &str) + Send,
    ) -> stepwell_workspace::Result<Finished> {
        match self.waiting {
            Some(waiting) => process::run_waiting(waiting, self.call, filters, cancel, on_output).await,
            None => process::run_filtered(self.call, filters, cancel, on_output).await,
        }
    }
}

/// What stands at a path. Inode numbers are used again; together with the time of birth they are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Nothing,
    Inode {
        device: (u32, u32),
        inode: u64,
        born: (i64, u32),
        /// Of files alone. That of a folder changes with every entry, and no folder has two names.
        changed: Option<(i64, u32)>,
    },
}

/// Everything that is mounted or mounted over, in the order of the plan; `None` where one cannot be told from another.
fn places(plan: &Plan) -> Option<Vec<Place>> {
    let lists = [&plan.writable, &plan.pinned, &plan.locked, &plan.read_only, &plan.revealed, &plan.hidden];
    let all = lists.into_iter().flatten().chain(&plan.temporary).chain(&plan.proxy);
    all.map(place).collect()
}

/// What stands at one path; `None` where that cannot be known.
fn place(path: &HostPath) -> Option<Place> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let found = match statx(CWD, &path.0, AtFlags::SYMLINK_NOFOLLOW, wanted) {
        Ok(found) => found,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Some(Place::Nothing),
        Err(_) => return None,
    };
    if !StatxFlags::from_bits_retain(found.stx_mask).contains(wanted) {
        return None;
    }
    let time = |time: StatxTimestamp| (time.tv_sec, time.tv_nsec);
    let is_folder = rustix::fs::FileType::from_raw_mode(found.stx_mode.into()).is_dir();
    Some(Place::Inode {
        device: (found.stx_dev_major, found.stx_dev_minor),
        inode: found.stx_ino,
        born: time(found.stx_btime),
        changed: (!is_folder).then(|| time(found.stx_ctime)),
    })
}
