//! The list of tasks and the search through them: a cache in SQLite of what the logs say.
//!
//! Nothing is written here when a task goes on. [`Index::refresh`] looks at each log's size and time and reads what
//! was added since. A file that is missing, damaged or of an older kind is built anew; one that cannot be used at
//! the moment (locked, read-only, a full disk, made by a newer Stepwell) is passed over for an index in memory. The
//! person never sees an error of this file.

mod query;
mod refresh;
mod schema;
mod words;

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use stepwell_protocol::Timestamp;
use stepwell_workspace::files::{self, Privacy};

use crate::{Error, Home, Result};

pub use query::{SearchHit, SortOrder, TaskQuery, TaskRow, TaskSort, WorkspaceRow};
pub use refresh::Refreshed;
use schema::Found;

/// How long to wait for another process that writes the index.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct Index {
    home: Home,
    connection: Connection,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    File,
    Memory,
}

impl Index {
    /// Opens the index and brings it up to date.
    pub fn open(home: &Home) -> Result<Self> {
        let (connection, place) = match open_file(home) {
            Ok(connection) => (connection, Place::File),
            Err(_) => (open_memory()?, Place::Memory),
        };
        let mut index = Self { home: home.clone(), connection, place };
        index.refresh()?;
        Ok(index)
    }

    /// Reads what the logs gained since the last time. Costs one look at each log when nothing changed.
    pub fn refresh(&mut self) -> Result<Refreshed> {
        self.attempt(refresh::refresh)
    }

    /// Throws everything away and reads all logs.
    pub fn rebuild(&mut self) -> Result<Refreshed> {
        self.attempt(|connection, home| {
            connection.execute_batch("DELETE FROM words; DELETE FROM texts; DELETE FROM tasks;")?;
            refresh::refresh(connection, home)
        })
    }

    pub fn list(&mut self, query: &TaskQuery) -> Result<Vec<TaskRow>> {
        self.attempt(|connection, home| query::list(connection, home, query))
    }

    /// How many tasks a query finds, whatever its limit.
    pub fn count(&mut self, query: &TaskQuery) -> Result<u64> {
        self.attempt(|connection, _| query::count(connection, query))
    }

    /// Where all the words stand, in titles, messages and answers: the best first, those of one task together.
    pub fn search(&mut self, text: &str, limit: u32) -> Result<Vec<SearchHit>> {
        self.attempt(|connection, _| query::search(connection, text, limit))
    }

    /// The task a person means by an id, the beginning of one, or a number.
    pub fn resolve(&mut self, reference: &str) -> Result<TaskRow> {
        self.attempt(|connection, home| query::resolve(connection, home, reference))
    }

    /// The folders of all tasks, the one used last first.
    pub fn workspaces(&mut self, limit: u32) -> Result<Vec<WorkspaceRow>> {
        self.attempt(|connection, _| query::workspaces(connection, limit))
    }

    /// The task of a workspace that was used last; sub-tasks are not meant.
    pub fn latest(&mut self, workspace: &str) -> Result<Option<TaskRow>> {
        self.attempt(|connection, home| query::latest(connection, home, workspace))
    }

    /// Whether the index is kept for the next time.
    pub fn is_kept(&self) -> bool {
        self.place == Place::File
    }

    /// Does the work; should the file fail, once more on a new one or in memory.
    fn attempt<T>(&mut self, mut work: impl FnMut(&mut Connection, &Home) -> Result<T>) -> Result<T> {
        match work(&mut self.connection, &self.home) {
            Err(Error::Index(error)) if self.place == Place::File => {
                self.recover(&error)?;
                work(&mut self.connection, &self.home)
            }
            other => other,
        }
    }

    fn recover(&mut self, error: &rusqlite::Error) -> Result<()> {
        let code = error.sqlite_error_code();
        // Busy, read-only, full: the file may be fine, only not for us now.
        let unusable_now = matches!(
            code,
            Some(
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::ReadOnly
                    | ErrorCode::DiskFull
                    | ErrorCode::CannotOpen
                    | ErrorCode::PermissionDenied
                    | ErrorCode::SystemIoFailure
            )
        );
        // The old connection must be closed before its file is moved.
        self.connection = open_memory()?;
        self.place = Place::Memory;
        if !unusable_now
            && move_aside(&self.home.index_path()).is_ok()
            && let Ok(connection) = open_file(&self.home)
        {
            self.connection = connection;
            self.place = Place::File;
        }
        refresh::refresh(&mut self.connection, &self.home)?;
        Ok(())
    }
}

fn open_file(home: &Home) -> Result<Connection> {
    let path = home.index_path();
    let mut connection = connect(&path)?;
    match schema::inspect(&connection) {
        Ok(Found::Current) => return Ok(connection),
        Ok(Found::Empty) => {}
        Ok(Found::Newer) => return Err(newer(&path)),
        Ok(Found::Older) => {
            drop(connection);
            remove(&path)?;
            connection = connect(&path)?;
        }
        Err(error) if is_damaged(&error) => {
            drop(connection);
            move_aside(&path)?;
            connection = connect(&path)?;
        }
        Err(error) => return Err(error.into()),
    }
    schema::create(&mut connection)?;
    Ok(connection)
}

fn newer(path: &Path) -> Error {
    Error::SchemaVersion {
        subject: format!("`{}`", path.display()),
        found: "a newer one".to_owned(),
        supported: schema::SCHEMA as u64,
    }
}

fn connect(path: &Path) -> Result<Connection> {
    if files::stamp(path)?.is_none() {
        if let Some(parent) = path.parent() {
            files::create_private_dir(parent)?;
        }
        // SQLite would make the file readable by all; an empty file is an empty database.
        files::write_atomic(path, b"", Privacy::Private)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    match connection.pragma_update(None, "journal_mode", "WAL") {
        // A damaged file is found out by who asks for its tables.
        Err(error) if !is_damaged(&error) => return Err(error.into()),
        _ => {}
    }
    connection.pragma_update(None, "synchronous", "NORMAL").ok();
    Ok(connection)
}

fn open_memory() -> Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    schema::create(&mut connection)?;
    Ok(connection)
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Keeps a file that cannot be read, out of the way.
fn move_aside(path: &Path) -> Result<()> {
    let kept = path.with_extension(format!("damaged-{}", Timestamp::now().0));
    files::rename(path, &kept)?;
    remove_companions(path)
}

fn remove(path: &Path) -> Result<()> {
    files::remove_file(path)?;
    remove_companions(path)
}

fn remove_companions(path: &Path) -> Result<()> {
    for extension in ["sqlite-wal", "sqlite-shm"] {
        match files::remove_file(&path.with_extension(extension)) {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}
