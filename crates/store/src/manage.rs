//! What is done to a task from outside: a new name, a star, away with it.
//!
//! Each takes the task's lock for its moment; a task that is open elsewhere is [`Error::Busy`],
//! and whoever has it open is asked instead.

use stepwell_protocol::{Event, MessageId, TaskId};
use stepwell_workspace::files;

use crate::log::take_lock;
use crate::{Error, Home, Result, TaskLog};

pub fn rename_task(home: &Home, id: &TaskId, title: &str) -> Result<()> {
    append_one(home, id, Event::TaskRenamed { title: title.to_owned() })
}

pub fn set_favourite(home: &Home, id: &TaskId, favourite: bool) -> Result<()> {
    append_one(home, id, Event::FavouriteChanged { favourite })
}

/// Takes back everything from a message on; the originals stay in the log.
pub fn rewind_task(home: &Home, id: &TaskId, to_before: &MessageId) -> Result<()> {
    append_one(home, id, Event::HistoryRewound { to_before: to_before.clone() })
}

/// Removes the task with everything it kept. The index forgets it at its next refresh.
pub fn delete_task(home: &Home, id: &TaskId) -> Result<()> {
    let dir = home.task_dir(id)?;
    if files::stamp(&dir)?.is_none() {
        return Err(Error::UnknownTask { reference: id.to_string() });
    }
    let _lock = take_lock(home, id)?;
    // The log goes first: half a deletion must not look like a task.
    match files::remove_file(&home.log_path(id)?) {
        Err(error) if !error.is_not_found() => return Err(error.into()),
        _ => {}
    }
    files::remove_dir_all(&dir)?;
    Ok(files::sync_dir(&home.tasks_dir())?)
}

fn append_one(home: &Home, id: &TaskId, event: Event) -> Result<()> {
    let mut log = TaskLog::open(home, id)?.log;
    log.append(&[event])?;
    log.sync()
}
